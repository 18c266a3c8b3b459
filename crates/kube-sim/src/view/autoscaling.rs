//! HorizontalPodAutoscalers are stored as `autoscaling/v2` has them; `autoscaling/v1` has one target for the CPU, and the rest in
//! annotations.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::schema;
use metrics::Side;

mod metrics;

type Object = Map<String, Value>;

/// The annotations of `autoscaling/v1` for what it has no fields for, and where `autoscaling/v2` has that.
const ANNOTATIONS: [(&str, &str, &str); 4] = [
    ("autoscaling.alpha.kubernetes.io/metrics", "spec", METRICS),
    ("autoscaling.alpha.kubernetes.io/behavior", "spec", BEHAVIOR),
    (
        "autoscaling.alpha.kubernetes.io/current-metrics",
        "status",
        CURRENT_METRICS,
    ),
    ("autoscaling.alpha.kubernetes.io/conditions", "status", CONDITIONS),
];

/// The percentages of the CPU: where version 1 has them, and what version 2 has of them.
const PERCENTAGES: [(&str, &str, &str, Side); 2] = [
    ("spec", "targetCPUUtilizationPercentage", METRICS, Side::Wanted),
    (
        "status",
        "currentCPUUtilizationPercentage",
        CURRENT_METRICS,
        Side::Found,
    ),
];

const METRICS: &str = "metrics";

const CURRENT_METRICS: &str = "currentMetrics";

const CONDITIONS: &str = "conditions";

/// What the annotation has as [`Behavior`].
const BEHAVIOR: &str = "behavior";

/// The behavior as the annotation has it: an internal type of the real server, whose fields have Go's names.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Behavior<'a> {
    scale_up: Option<Rules<'a>>,
    scale_down: Option<Rules<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Rules<'a> {
    stabilization_window_seconds: &'a Value,
    select_policy: &'a Value,
    policies: Option<Vec<Policy<'a>>>,
    tolerance: &'a Value,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Policy<'a> {
    r#type: &'a Value,
    value: &'a Value,
    period_seconds: &'a Value,
}

impl<'a> Behavior<'a> {
    fn of(behavior: &'a Value) -> Self {
        let policy = |policy: &'a Value| Policy {
            r#type: &policy["type"],
            value: &policy["value"],
            period_seconds: &policy["periodSeconds"],
        };
        let rules = |rules: &'a Value| Rules {
            stabilization_window_seconds: &rules["stabilizationWindowSeconds"],
            select_policy: &rules["selectPolicy"],
            policies: rules["policies"]
                .as_array()
                .map(|all| all.iter().map(policy).collect()),
            tolerance: &rules["tolerance"],
        };
        Self {
            scale_up: behavior.get("scaleUp").map(rules),
            scale_down: behavior.get("scaleDown").map(rules),
        }
    }
}

/// The fields of an annotation with the names that they have in version 2, without those that are null.
fn with_names_of_v2(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let given = fields.into_iter().filter(|(_, value)| !value.is_null());
            let renamed = given.map(|(name, value)| {
                let mut letters = name.chars();
                let first = letters.next().map(|first| first.to_ascii_lowercase());
                (
                    first.into_iter().chain(letters).collect(),
                    with_names_of_v2(value),
                )
            });
            Value::Object(renamed.collect())
        }
        Value::Array(all) => all.into_iter().map(with_names_of_v2).collect(),
        other => other,
    }
}

/// A count that version 1 has, and version 2 only if it is not 0.
const CURRENT: &str = "currentReplicas";

/// Whether an object is in the form of version 1.
pub(super) fn is_v1(object: &Object) -> bool {
    object
        .get("apiVersion")
        .is_some_and(|version| version == "autoscaling/v1")
}

pub(super) fn to_v2(object: &mut Object) {
    let annotations = object
        .get_mut("metadata")
        .and_then(|metadata| metadata.get_mut("annotations"));
    let mut found = Vec::new();
    if let Some(Value::Object(annotations)) = annotations {
        for (annotation, part, field) in ANNOTATIONS {
            let Some(Value::String(text)) = annotations.remove(annotation) else {
                continue;
            };
            // What cannot be read is lost, as in a real server.
            found.extend(read(&text, part, field).map(|value| (part, field, value)));
        }
    }
    for (part, field, value) in found {
        if let Some(part) = part_of(object, part) {
            part.insert(field.into(), value);
        }
    }
    for (part, percentage, metrics, side) in PERCENTAGES {
        let Some(part) = object.get_mut(part).and_then(Value::as_object_mut) else {
            continue;
        };
        let Some(percentage) = part.remove(percentage).filter(|given| !given.is_null()) else {
            continue;
        };
        let values = match side {
            Side::Wanted => json!({"type": "Utilization", "averageUtilization": percentage}),
            Side::Found => json!({"averageUtilization": percentage}),
        };
        let metric = json!({"type": "Resource", "resource": {"name": "cpu", side.name(): values}});
        match (part.entry(metrics).or_insert(Value::Null), side) {
            (Value::Array(metrics), Side::Wanted) => metrics.push(metric),
            // The annotation says more.
            (Value::Array(_), Side::Found) => {}
            (other, _) => *other = json!([metric]),
        }
    }
    if let Some(Value::Object(status)) = object.get_mut("status")
        && status.get(CURRENT).is_some_and(|replicas| *replicas == 0)
    {
        status.remove(CURRENT);
    }
}

/// What an annotation has for a field of version 2, if it fits there.
fn read(text: &str, part: &str, field: &str) -> Option<Value> {
    let value = match field {
        METRICS => metrics::of_text(text, Side::Wanted)?,
        CURRENT_METRICS => metrics::of_text(text, Side::Found)?,
        BEHAVIOR => with_names_of_v2(serde_json::from_str(text).ok()?),
        _ => serde_json::from_str(text).ok()?,
    };
    let mut of_v2 = Object::from_iter([(part.to_owned(), json!({field: value}))]);
    let definition = schema::of_kind("autoscaling", "v2", "HorizontalPodAutoscaler")?;
    schema::fit::builtin(&mut of_v2, definition).ok()?;
    let value = of_v2.get_mut(part)?.get_mut(field)?.take();
    let says_nothing = value.is_null() || value == json!({});
    (!says_nothing).then_some(value)
}

pub(super) fn to_v1(object: &mut Object) {
    for (part, percentage, metrics, side) in PERCENTAGES {
        let Some(part) = object.get_mut(part).and_then(Value::as_object_mut) else {
            continue;
        };
        let utilization = |metric: &Value| {
            let of_cpu = metric["type"] == "Resource" && metric["resource"]["name"] == "cpu";
            let value = &metric["resource"][side.name()]["averageUtilization"];
            (of_cpu && !value.is_null()).then(|| value.clone())
        };
        let Some(Value::Array(all)) = part.get_mut(metrics) else {
            continue;
        };
        let mut found = all.iter().filter_map(utilization);
        let value = match side {
            Side::Wanted => found.next(),
            Side::Found => found.next_back(),
        };
        if side == Side::Wanted {
            all.retain(|metric| utilization(metric).is_none());
        }
        part.extend(value.map(|value| (percentage.to_owned(), value)));
    }
    for (annotation, part, field) in ANNOTATIONS {
        let Some(part) = object.get_mut(part).and_then(Value::as_object_mut) else {
            continue;
        };
        let Some(value) = part.remove(field) else { continue };
        let empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if empty {
            continue;
        }
        let text = match field {
            METRICS => metrics::to_text(items(&value), Side::Wanted),
            CURRENT_METRICS => metrics::to_text(items(&value), Side::Found),
            CONDITIONS => conditions(&value),
            _ => serde_json::to_string(&Behavior::of(&value)).unwrap_or_default(),
        };
        if let Some(metadata) = part_of(object, "metadata") {
            let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
            annotations[annotation] = text.into();
        }
    }
    if let Some(Value::Object(status)) = object.get_mut("status") {
        status.entry(CURRENT).or_insert_with(|| 0.into());
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Conditions as the annotation has them.
fn conditions(conditions: &Value) -> String {
    let of_one = |condition: &Value| {
        let names = ["type", "status", "lastTransitionTime", "reason", "message"];
        let given = names.into_iter().filter_map(|name| {
            let value = condition.get(name);
            // Go always writes a time.
            let value = value.or((name == "lastTransitionTime").then_some(&Value::Null));
            Some((name, value?.to_string()))
        });
        metrics::object_of(given)
    };
    let all: Vec<_> = items(conditions).map(of_one).collect();
    format!("[{}]", all.join(","))
}

fn part_of<'a>(object: &'a mut Object, name: &str) -> Option<&'a mut Object> {
    object.entry(name).or_insert_with(|| json!({})).as_object_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_on_the_way_to_version_1_and_back() {
        let v2 = json!({
            "apiVersion": "autoscaling/v1",
            "metadata": {"name": "a"},
            "spec": {"maxReplicas": 5, "behavior": {"scaleUp": {"selectPolicy": "Max"}}, "metrics": [
                {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
                {"type": "Object", "object": {
                    "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "s"}, "metric": {"name": "m"},
                    "target": {"type": "Value", "value": "5"},
                }},
                {"type": "Pods", "pods": {
                    "metric": {"name": "m", "selector": {"matchLabels": {"a": "b"}}},
                    "target": {"type": "AverageValue", "averageValue": "5"},
                }},
                {"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "5"}}},
                {"type": "ContainerResource", "containerResource": {
                    "name": "cpu", "container": "c", "target": {"type": "Utilization", "averageUtilization": 40},
                }},
                {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}},
            ]},
            "status": {"desiredReplicas": 1, "conditions": [{"type": "AbleToScale", "status": "True"}]},
        });
        let Value::Object(mut object) = v2.clone() else {
            unreachable!("it is an object")
        };
        to_v1(&mut object);
        assert_eq!(object["spec"]["targetCPUUtilizationPercentage"], 70);
        assert_eq!(object["spec"].get("metrics"), None);
        let annotations = object["metadata"]["annotations"].as_object().unwrap();
        assert_eq!(annotations.len(), 3);
        assert_eq!(
            annotations["autoscaling.alpha.kubernetes.io/metrics"],
            r#"[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}},{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"m","targetValue":"5"}},{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"5","selector":{"matchLabels":{"a":"b"}}}},{"type":"External","external":{"metricName":"m","targetValue":"5"}},{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":40,"container":"c"}}]"#
        );
        assert_eq!(
            annotations["autoscaling.alpha.kubernetes.io/behavior"],
            r#"{"ScaleUp":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":null,"Tolerance":null},"ScaleDown":null}"#
        );
        assert_eq!(object["status"]["currentReplicas"], 0);
        to_v2(&mut object);
        object["metadata"].as_object_mut().unwrap().remove("annotations");
        assert_eq!(Value::Object(object), v2);
    }

    #[test]
    fn annotations_that_do_not_fit_are_lost() {
        for behavior in [
            "5",
            "{}",
            r#"{"ScaleUp":5}"#,
            r#"{"ScaleUp":null}"#,
            r#"{"Foo":1}"#,
            "[",
        ] {
            let annotations = json!({"autoscaling.alpha.kubernetes.io/behavior": behavior, "autoscaling.alpha.kubernetes.io/metrics": "{}"});
            let object = json!({"apiVersion": "autoscaling/v1", "metadata": {"annotations": annotations}, "spec": {"maxReplicas": 1}});
            let Value::Object(mut object) = object else {
                unreachable!("it is an object")
            };
            to_v2(&mut object);
            assert_eq!(object["spec"], json!({"maxReplicas": 1}), "{behavior}");
        }
    }
}
