//! RuntimeClasses: what running a pod in a way of its own costs, and on which nodes it can run.

use serde_json::{Value, json};

use crate::api::Api;
use crate::meta::Object;
use crate::quantity::{Amount, Quantity};
use crate::resources::Resource;
use crate::status::StatusError;
use crate::storage::Transaction;

impl Api {
    /// Gives a new pod what its class says, and refuses one that says something else.
    pub(super) fn admit_runtime_class(
        &self,
        transaction: &mut Transaction<'_>,
        pods: &Resource,
        name: &str,
        pod: &mut Object,
    ) -> Result<(), StatusError> {
        let classes = self.find("node.k8s.io", "v1", "runtimeclasses");
        let (Some(classes), Some(Value::Object(spec))) = (classes, pod.get_mut("spec")) else {
            return Ok(());
        };
        let forbidden = |why: &str| Err(StatusError::forbidden(pods, name, why));
        let class = match spec.get("runtimeClassName").and_then(Value::as_str) {
            None => None,
            Some(wanted) => match transaction.get(&classes, wanted) {
                Some(class) => Some(class.decode(&classes.head("v1"))),
                None => return forbidden(&format!("pod rejected: RuntimeClass {wanted:?} not found")),
            },
        };
        let part = |name: &str| class.as_ref().and_then(|class| class.get(name));
        let overhead = part("overhead").map(|overhead| &overhead["podFixed"]);
        let given = spec.get("overhead").filter(|given| given.is_object());
        match (overhead, given) {
            (None, Some(_)) => {
                return forbidden(
                    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
                );
            }
            (Some(overhead), Some(given)) if !is_empty(given) && !are_equal(overhead, given) => {
                return forbidden(
                    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
                );
            }
            (Some(overhead), _) if overhead.is_object() => {
                spec.insert("overhead".into(), overhead.clone());
            }
            _ => {}
        }
        let scheduling = part("scheduling").unwrap_or(&Value::Null);
        select_nodes(spec, &scheduling["nodeSelector"]).or_else(|why| forbidden(&why))?;
        tolerate(spec, &scheduling["tolerations"]);
        Ok(())
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(|members| members.is_empty())
}

/// Whether two objects have the same quantities.
fn are_equal(one: &Value, other: &Value) -> bool {
    let read = |value: &Value| -> Vec<(String, Quantity)> {
        let all = Amount::read_all(value).into_iter();
        all.map(|(name, amount)| (name, amount.quantity())).collect()
    };
    read(one) == read(other)
}

/// Adds what the nodes must be labelled with.
fn select_nodes(spec: &mut Object, more: &Value) -> Result<(), String> {
    let Some(more) = more.as_object().filter(|more| !more.is_empty()) else {
        return Ok(());
    };
    let selector = spec.entry("nodeSelector").or_insert_with(|| json!({}));
    let Some(selector) = selector.as_object_mut() else {
        return Ok(());
    };
    for (key, value) in more {
        if let Some(given) = selector.get(key).filter(|given| *given != value) {
            let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
            return Err(format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                text(value),
                text(given)
            ));
        }
        selector.insert(key.clone(), value.clone());
    }
    Ok(())
}

/// Adds what the pod tolerates, but for what is a part of something else that it tolerates.
fn tolerate(spec: &mut Object, more: &Value) {
    let Some(more) = more.as_array().filter(|more| !more.is_empty()) else {
        return;
    };
    let own = spec.get("tolerations").and_then(Value::as_array);
    let all: Vec<&Value> = own.into_iter().flatten().chain(more).collect();
    let mut merged: Vec<Value> = Vec::new();
    for (at, toleration) in all.iter().enumerate() {
        let later = all[at + 1..].iter().filter(|other| *other != toleration);
        let is_covered = merged.iter().any(|other| covers(other, toleration))
            || later.into_iter().any(|other| covers(other, toleration));
        if !is_covered {
            merged.push((*toleration).clone());
        }
    }
    spec.insert("tolerations".into(), merged.into());
}

/// Whether who tolerates the one tolerates the other, too.
fn covers(one: &Value, other: &Value) -> bool {
    let text = |of: &Value, name: &str| of[name].as_str().unwrap_or("").to_owned();
    let same = |name: &str| text(one, name) == text(other, name);
    let is_any = |name: &str| text(one, name).is_empty();
    let exists = text(one, "operator") == "Exists";
    let in_time = |seconds: i64| {
        other["tolerationSeconds"]
            .as_i64()
            .is_some_and(|others| others <= seconds)
    };
    if one == other {
        return true;
    }
    let of_time = match one["tolerationSeconds"].as_i64() {
        Some(seconds) if text(one, "effect") == "NoExecute" => in_time(seconds),
        _ => true,
    };
    let of_value = match text(one, "operator").as_str() {
        "Exists" => true,
        "" | "Equal" => text(other, "operator") == "Equal" && same("value"),
        _ => false,
    };
    let of_key = same("key") || (exists && is_any("key"));
    let of_effect = same("effect") || is_any("effect");
    of_key && of_effect && of_time && of_value
}
