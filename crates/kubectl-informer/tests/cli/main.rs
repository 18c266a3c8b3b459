//! The program as its users see it: run as a process, against a simulated cluster.

mod bad_input;
mod demo;
mod measure;
mod process;
mod watch;

use kube_sim::{SimBuilder, SimServer};
use serde_json::{Value, json};

/// A cluster with a custom resource, `widgets.example.com`.
fn cluster() -> SimBuilder {
    SimServer::builder().crd(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    }))
}

fn config_map(namespace: &str, name: &str, label: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": label}}, "data": {"k": "v"},
    })
}
