//! What a server has, told in either way.

use crate::process::{Running, run};
use crate::scripted;
use kube_sim::script::{Answer, Kind, Received, ScriptedServer};
use serde_json::{Value, json};

/// A server without aggregated discovery, as those before Kubernetes 1.26.
fn plain(request: &Received) -> Answer {
    let versions = |group: &str, versions: &[&str]| {
        let version =
            |version: &&str| json!({"groupVersion": format!("{group}/{version}"), "version": version});
        let versions: Vec<_> = versions.iter().map(version).collect();
        json!({"name": group, "versions": versions, "preferredVersion": versions.last()})
    };
    let resources = |version: &str, resources: Value| json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources});
    let widget = |kind: &str| {
        json!({"name": "widgets", "singularName": "widget", "namespaced": false, "kind": kind,
            "shortNames": ["wd"], "verbs": ["list", "watch"]})
    };
    let body = match &*request.path {
        "/api" => json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}),
        "/api/v1" => resources(
            "v1",
            json!([
                {"name": "configmaps", "singularName": "", "namespaced": true, "kind": "ConfigMap", "verbs": ["list", "watch"]},
                {"name": "configmaps/status", "singularName": "", "namespaced": true, "kind": "ConfigMap", "verbs": ["get"]},
            ]),
        ),
        "/apis" => json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": [
            versions("example.com", &["v1", "v2"]), versions("metrics.k8s.io", &["v1beta1"]),
        ]}),
        "/apis/example.com/v1" => resources("example.com/v1", json!([widget("Old")])),
        "/apis/example.com/v2" => resources("example.com/v2", json!([widget("Widget")])),
        "/apis/metrics.k8s.io/v1beta1" => return Answer::code(503).chunk("service unavailable"),
        _ if request.parameter("watch").is_some() => return Answer::never(),
        "/api/v1/namespaces/default/configmaps" => {
            let maps = Kind::new("v1", "ConfigMap");
            return Answer::json(maps.list("5", [maps.object("default/a", "5")]));
        }
        "/apis/example.com/v2/widgets" => {
            let widgets = Kind::new("example.com/v2", "Widget");
            return Answer::json(widgets.list("5", [widgets.object("w", "5")]));
        }
        _ => return Answer::code(404),
    };
    Answer::json(body.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_without_aggregated_discovery_work() {
    let server = ScriptedServer::new().otherwise(plain);
    let listener = server.listen().await.unwrap();
    for (resource, expected) in [
        ("configmap", "default/a"),
        ("wd", "w"),
        ("widgets.v2.example.com", "w"),
    ] {
        let args = format!(
            "watch {resource} --initial list -o json --server {}",
            listener.url()
        );
        let mut watch = Running::start(&args);
        assert_eq!(watch.json().await["key"], expected, "{resource}");
    }
    let ended = run(&format!("watch nodemetrics --server {}", listener.url())).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("no resource \"nodemetrics\""), "{ended:?}");
    assert!(
        ended
            .err
            .contains("cannot tell what is in metrics.k8s.io/v1beta1"),
        "{ended:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_group_is_named_with_an_unknown_resource() {
    let (_server, listener) = scripted::server(|_| Answer::never()).await;
    let ended = run(&format!(
        "measure things.unavailable.example.com -s {}",
        listener.url()
    ))
    .await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended
            .err
            .contains("cannot tell what is in unavailable.example.com/v1: see `kubectl get apiservices`"),
        "{ended:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn discovery_has_a_limit_and_a_deadline() {
    let endless = || Answer::json(" ".repeat(1 << 20)).in_chunks_of(1 << 20, " ".repeat(32 << 20));
    let slow = || Answer::json("{").pause(std::time::Duration::from_secs(3600));
    let server = ScriptedServer::new()
        .expect("GET /api", endless())
        .expect("GET /api", slow());
    let listener = server.listen().await.unwrap();
    let ended = run(&format!("watch pods --server {}", listener.url())).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("answered with more than 32 MiB"), "{ended:?}");
    let ended = run(&format!(
        "watch pods --server {} --request-timeout 300ms",
        listener.url()
    ))
    .await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("no answer within 300ms"), "{ended:?}");
}
