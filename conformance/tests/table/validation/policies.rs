//! Policies: who may do what, and how much.

use serde_json::{Value, json};

use super::{Kind, with};
use crate::case::Case;

pub(super) fn policies() -> Vec<Case> {
    let scaler = Kind::new(
        "autoscaler",
        "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers",
        json!({"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3}),
    );
    let metric = |metric: Value| json!({"metrics": [metric]});
    let cpu = |target: Value| json!({"metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]});
    let down = |rules: Value| json!({"behavior": {"scaleDown": rules}});
    let budget = || {
        Kind::new(
            "budget",
            "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets",
            json!({"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}),
        )
    };
    let quota = Kind::new(
        "quota",
        "/api/v1/namespaces/{ns}/resourcequotas",
        json!({"hard": {"pods": "5"}}),
    );
    let limit = |limit: Value| json!({"limits": [with(json!({"type": "Container"}), limit)]});
    let range = Kind::new(
        "limitrange",
        "/api/v1/namespaces/{ns}/limitranges",
        json!({"limits": []}),
    );
    let class = || {
        Kind::whole(
            "priorityclass",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            json!({"value": 5}),
        )
    };
    vec![
        scaler.specs([
            ("no maximum", json!({"maxReplicas": 0})),
            ("a minimum", json!({"minReplicas": 0})),
            ("a minimum over the maximum", json!({"minReplicas": 5})),
            ("no kind", json!({"scaleTargetRef": {"kind": ""}})),
            ("no name", json!({"scaleTargetRef": {"name": ""}})),
            ("a metric's type", metric(json!({"type": "X"}))),
            ("a metric without its part", metric(json!({"type": "Resource"}))),
            ("a metric with another's part", metric(json!({"type": "Resource", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}}}))),
            ("no target", cpu(json!({"type": "Utilization"}))),
            ("a target's type", cpu(json!({"type": "X", "averageUtilization": 5}))),
            ("a negative utilization", cpu(json!({"type": "Utilization", "averageUtilization": -5}))),
            ("two targets", cpu(json!({"type": "Utilization", "averageUtilization": 5, "averageValue": "1"}))),
            ("a resource without a name", metric(json!({"type": "Resource", "resource": {"name": "", "target": {"type": "Utilization", "averageUtilization": 5}}}))),
            ("pods without a value", metric(json!({"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}}))),
            ("a window", down(json!({"stabilizationWindowSeconds": 5000}))),
            ("a policy's choice", down(json!({"selectPolicy": "X"}))),
            ("no policies", down(json!({"policies": []}))),
            ("a policy", down(json!({"policies": [{"type": "X", "value": 0, "periodSeconds": 5000}]}))),
        ]),
        budget().specs([
            ("two bounds", json!({"maxUnavailable": 1})),
            ("too large a percentage", json!({"minAvailable": "150%"})),
            ("no percentage", json!({"minAvailable": "x"})),
            ("a negative number", json!({"minAvailable": -1})),
            ("a negative number of others", json!({"minAvailable": null, "maxUnavailable": -1})),
            ("a selector", json!({"selector": {"matchLabels": {"a b": "c"}}})),
            ("a policy", json!({"unhealthyPodEvictionPolicy": "X"})),
        ]),
        quota.specs([
            ("a negative number", json!({"hard": {"pods": "-5"}})),
            ("a part of a pod", json!({"hard": {"pods": "500m"}})),
            ("a resource", json!({"hard": {"bogus": "5"}})),
            ("a resource's name", json!({"hard": {"a b/c": "5"}})),
            ("a scope", json!({"scopes": ["X"]})),
            ("two scopes", json!({"scopes": ["BestEffort", "NotBestEffort"]})),
            ("a scope's resources", json!({"hard": {"cpu": "5"}, "scopes": ["BestEffort"]})),
        ]),
        range.specs([
            ("a type", limit(json!({"type": "a b"}))),
            ("a type twice", json!({"limits": [{"type": "Container"}, {"type": "Container"}]})),
            ("a minimum over the maximum", limit(json!({"min": {"cpu": "2"}, "max": {"cpu": "1"}}))),
            ("a default over the maximum", limit(json!({"default": {"cpu": "2"}, "max": {"cpu": "1"}}))),
            ("a request over the default", limit(json!({"default": {"cpu": "1"}, "defaultRequest": {"cpu": "2"}}))),
            ("a default of pods", limit(json!({"type": "Pod", "default": {"cpu": "1"}}))),
            ("a ratio", limit(json!({"maxLimitRequestRatio": {"cpu": "500m"}}))),
        ]),
        class().objects([
            ("a large value", json!({"value": 2000000000})),
            ("a name of the system", json!({"metadata": {"name": "system-x"}})),
            ("a policy", json!({"preemptionPolicy": "X"})),
        ]),
    ]
}
