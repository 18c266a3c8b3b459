//! Quantities, which are written in many ways and shown in one.

use crate::case::{Ask, Case, any, get, json_patch, merge, post};
use crate::objects::PODS;
use serde_json::{Value, json};

const QUOTAS: &str = "/api/v1/namespaces/{ns}/resourcequotas";
const CLAIMS: &str = "/api/v1/namespaces/{ns}/persistentvolumeclaims";
const SCALERS: &str = "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers";

/// A quota of something for each of the quantities.
fn quota(name: &str, quantities: &[Value]) -> Ask {
    let hard: serde_json::Map<String, Value> = quantities
        .iter()
        .enumerate()
        .map(|(index, quantity)| (format!("requests.example.com/r{index}"), quantity.clone()))
        .collect();
    post(
        QUOTAS,
        &json!({"metadata": {"name": name}, "spec": {"hard": hard}}),
    )
    .named(format!("quota {name}"))
    .only(["/message", "/spec"])
}

fn apply(manager: &str, cpu: &str) -> Ask {
    let config = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "applied"}, "spec": {"hard": {"requests.cpu": cpu}},
    });
    any("PATCH", &format!("{QUOTAS}/applied?fieldManager={manager}"))
        .text(&config.to_string())
        .content_type("application/apply-patch+yaml")
        .named(format!("{manager} applies {cpu}"))
}

/// Quantities of resources are kept in thousandths, others as they are.
fn fractions() -> Case {
    let all = json!({"cpu": "100u", "memory": "100.5", "ephemeral-storage": "0.1m"});
    let pod = json!({"metadata": {"name": "fine"}, "spec": {
        "containers": [{"name": "c", "image": "i", "resources": {"requests": all, "limits": {"cpu": "1.23456", "memory": "1G"}}}],
        "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "100u"}}],
    }});
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": pod["spec"]});
    let deployment = json!({
        "metadata": {"name": "fine"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    });
    let claim = json!({
        "metadata": {"name": "fine"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "100u"}}},
    });
    let range = json!({"metadata": {"name": "fine"}, "spec": {"limits": [{"type": "Container", "default": {"cpu": "1n"}}]}});
    let node = json!({"metadata": {"name": "{ns}"}, "status": {"capacity": {"cpu": "100u"}, "allocatable": {"memory": "1.0001"}}});
    let class =
        json!({"metadata": {"name": "{ns}"}, "handler": "x", "overhead": {"podFixed": {"cpu": "100u"}}});
    let resources = "/spec/containers/0/resources";
    Case::new("quantities-fractions")
        .ask(
            post(PODS, &pod)
                .named("pod")
                .only(["/message", resources, "/spec/volumes"]),
        )
        .ask(get(&format!("{PODS}/fine")).named("read").only([resources]))
        .ask(
            post("/apis/apps/v1/namespaces/{ns}/deployments", &deployment)
                .named("deployment")
                .only(["/message", "/spec/template/spec/containers/0/resources"]),
        )
        .ask(
            post(CLAIMS, &claim)
                .named("claim")
                .only(["/message", "/spec/resources"]),
        )
        .ask(quota("fine", &[json!("1n"), json!("1.0001")]))
        .ask(
            post("/api/v1/namespaces/{ns}/limitranges", &range)
                .named("range")
                .only(["/message", "/spec"]),
        )
        .ask(post("/api/v1/nodes", &node).named("node").only([
            "/message",
            "/status/capacity",
            "/status/allocatable",
        ]))
        .ask(
            post("/apis/node.k8s.io/v1/runtimeclasses", &class)
                .named("class")
                .only(["/message", "/overhead"]),
        )
        .ask(
            any("DELETE", "/api/v1/nodes/{ns}")
                .named("delete the node")
                .only(["/status"]),
        )
        .ask(
            any("DELETE", "/apis/node.k8s.io/v1/runtimeclasses/{ns}")
                .named("delete the class")
                .only(["/status"]),
        )
}

fn forms() -> Case {
    let scaler = json!({
        "metadata": {"name": "scaler"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}, "maxReplicas": 2,
            "metrics": [{
                "type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1000m"}},
            }],
        },
    });
    let pod = json!({
        "metadata": {"name": "pod"},
        "spec": {
            "containers": [{
                "name": "c", "image": "i",
                "resources": {"limits": {"cpu": 1, "memory": "0.5Gi"}, "requests": {"cpu": "0.1", "memory": "100e6"}},
            }],
            "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1024Mi"}}],
        },
    });
    let claim = json!({
        "metadata": {"name": "claim"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Gi"}}},
    });
    let texts = |all: &[&str]| all.iter().map(|text| json!(text)).collect::<Vec<_>>();
    Case::new("quantities-forms")
        .ask(quota(
            "whole",
            &texts(&[
                "1000", "1024", "1000000", "+5", "0", "0Gi", "999", "1500", "100000",
            ]),
        ))
        .ask(quota(
            "binary",
            &texts(&["1024Ki", "1536Mi", "1.5Gi", "1Ei", "100Ki", "2048Ti", "0.5Ki"]),
        ))
        .ask(quota(
            "decimal",
            &texts(&["1000k", "1M", "1500M", "2E", "1000m", "2000m", "1k"]),
        ))
        .ask(quota(
            "exponents",
            &texts(&["1e3", "10e2", "1E3", "1500e3", "1e0", "5e1", "0.5e1", "1e-3"]),
        ))
        .ask(quota(
            "kept",
            &texts(&[
                "007",
                "1.500k",
                "12Ki",
                "24Ki",
                "16777217Ki",
                "1.0",
                "1.500",
                "8Ei",
                "9000000000G",
                "1000000000000000001",
            ]),
        ))
        .ask(quota("numbers", &[json!(3), json!(1000), json!(1e3)]))
        .ask(quota("broken", &texts(&["1.5"])))
        .ask(post(PODS, &pod).named("a pod").only([
            "/message",
            "/spec/overhead",
            "/spec/containers/0/resources",
            "/spec/volumes",
        ]))
        .ask(
            post(CLAIMS, &claim)
                .named("a claim")
                .only(["/message", "/spec/resources"]),
        )
        .ask(
            post(SCALERS, &scaler)
                .named("a scaler")
                .only(["/message", "/spec/metrics"]),
        )
        .ask(
            merge(
                &format!("{QUOTAS}/whole"),
                &json!({"spec": {"hard": {"requests.example.com/r0": "3000m"}}}),
            )
            .named("a merge patch")
            .only(["/spec/hard/requests.example.com~1r0"]),
        )
        .ask(
            json_patch(
                &format!("{QUOTAS}/whole"),
                &json!([
                    {"op": "test", "path": "/spec/hard/requests.example.com~1r0", "value": "3"},
                    {"op": "replace", "path": "/spec/hard/requests.example.com~1r0", "value": "4000m"},
                ]),
            )
            .named("a JSON patch")
            .only(["/spec/hard/requests.example.com~1r0"]),
        )
}

fn applied() -> Case {
    Case::new("quantities-applied")
        .ask(apply("one", "1000m"))
        .ask(apply("one", "1000m").named("the same again"))
        .ask(apply("three", "1000m"))
        .ask(apply("two", "1"))
        .ask(get(&format!("{QUOTAS}/applied")))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![forms(), fractions(), applied()]
}
