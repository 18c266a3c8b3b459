//! The program as its users see it: run as a process, against a cluster: a simulated one, or a real one when
//! `KUBE_INFORMER_SERVER` says so. Tests of what only one of the two can do say it.

mod advise;
mod bad_input;
mod cache;
mod completion;
mod connection;
mod demo;
mod discovery;
mod hostile;
mod measure;
mod outages;
mod process;
mod record;
mod scripted;
mod shards;
mod tables;
mod top;
mod until;
mod watch;
mod watch_formats;

use conformance::cluster::Cluster;
use kube_sim::SimServer;
use serde_json::{Value, json};

/// A custom resource, `widgets.example.com`.
fn widgets() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    })
}

/// A pod that no kubelet runs.
fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "default", "name": name, "annotations": {"example.com/filling": "x".repeat(500)}},
        "spec": {"containers": [{"name": "c", "image": "registry.example/image:1"}]},
    })
}

/// What the API says of an object, but for `managedFields`.
fn without_managers(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    object
}

/// Another server in the place of one that has ended. Its versions are ahead, and it has no history from before, as after a long
/// outage.
async fn in_its_place(port: u16) -> SimServer {
    let server = SimServer::builder().nodes(50).history(0).port(port);
    server.start().await.unwrap()
}

/// A cluster with custom resources.
async fn cluster() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.create(widgets()).await;
    cluster
}

/// A secret of no use. Unlike config maps, no server makes any of its own.
fn secret(namespace: &str, name: &str, label: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": label}}, "data": {"password": "aHVudGVyMg=="},
    })
}

fn config_map(namespace: &str, name: &str, label: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": label}}, "data": {"k": "v"},
    })
}
