//! The objects that the table is about.

use serde_json::{Value, json};

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/{ns}/configmaps";
pub(crate) const PODS: &str = "/api/v1/namespaces/{ns}/pods";
pub(crate) const SECRETS: &str = "/api/v1/namespaces/{ns}/secrets";

pub(crate) fn config_map(name: &str, label: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"app": label}},
        "data": {"k": "v"},
    })
}

/// With everything that a real server would fill in.
pub(crate) fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {
            "containers": [container("main"), container("side")],
            "nodeName": "n1", "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler",
            "terminationGracePeriodSeconds": 30, "securityContext": {}, "enableServiceLinks": true, "priority": 0,
            "preemptionPolicy": "PreemptLowerPriority",
            "tolerations": [
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
                {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            ],
        },
    })
}

fn container(name: &str) -> Value {
    json!({
        "name": name, "image": "registry.example/image:1", "imagePullPolicy": "IfNotPresent", "resources": {},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
    })
}

/// The group of a case's own kinds; definitions belong to the whole cluster.
pub(crate) const GROUP: &str = "{ns}.example.com";
pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub(crate) const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{ns}.example.com";
pub(crate) const WIDGETS: &str = "/apis/{ns}.example.com/v1/namespaces/{ns}/widgets";
pub(crate) const OLD_WIDGETS: &str = "/apis/{ns}.example.com/v1beta1/namespaces/{ns}/widgets";

/// Widgets in two versions, with a status, columns and a field that selectors know.
pub(crate) fn definition() -> Value {
    let version = |name: &str, storage: bool| {
        json!({
            "name": name, "served": true, "storage": storage, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"spec": {"type": "object", "properties": {
                    "size": {"type": "integer"}, "colour": {"type": "string"},
                }, "x-kubernetes-preserve-unknown-fields": true}},
            }},
            "additionalPrinterColumns": [
                {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                {"name": "Colour", "type": "string", "jsonPath": ".spec.colour", "priority": 1},
            ],
            "selectableFields": [{"jsonPath": ".spec.colour"}],
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "conversion": {"strategy": "None"},
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList", "shortNames": ["wd"]},
            "versions": [version("v1", true), version("v1beta1", false)],
        },
    })
}

pub(crate) fn widget(name: &str, size: u32) -> Value {
    json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "Widget", "metadata": {"name": name},
        "spec": {"size": size, "colour": if size.is_multiple_of(2) { "red" } else { "blue" }},
    })
}
