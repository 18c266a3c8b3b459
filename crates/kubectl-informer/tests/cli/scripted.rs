//! Servers that answer from a script, some resources of which can be found.

use kube_sim::script::{Answer, Received, ScriptedListener, ScriptedServer};
use serde_json::{Value, json};

/// A server with config maps and with `unavailable.example.com/v1`, which does not answer; it says this of everything
/// that is no discovery.
pub(crate) async fn server(
    mut otherwise: impl FnMut(&Received) -> Answer + Send + 'static,
) -> (ScriptedServer, ScriptedListener) {
    let config_maps = json!({
        "resource": "configmaps", "responseKind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "scope": "Namespaced", "singularResource": "configmap", "shortNames": ["cm"],
        "verbs": ["list", "watch"],
    });
    let core = group("", "v1", "Current", &[config_maps]);
    let broken = group("unavailable.example.com", "v1", "Stale", &[]);
    let server = ScriptedServer::new().otherwise(move |request| match &*request.path {
        "/api" => Answer::json(groups(&core)),
        "/apis" => Answer::json(groups(&broken)),
        _ => otherwise(request),
    });
    let listener = server.listen().await.unwrap();
    (server, listener)
}

fn group(name: &str, version: &str, freshness: &str, resources: &[Value]) -> Value {
    json!({
        "metadata": {"name": name},
        "versions": [{"version": version, "freshness": freshness, "resources": resources}],
    })
}

fn groups(group: &Value) -> String {
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [group]})
        .to_string()
}
