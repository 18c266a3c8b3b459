//! Requests for certificates: who approves them, and when.

use serde_json::{Value, json};

use super::Object;
use crate::resources::Resource;
use crate::status::{Cause, StatusError};

pub(super) const ID: &str = "certificatesigningrequests.certificates.k8s.io";

/// The conditions that stay once they are there.
const LASTING: [&str; 3] = ["Approved", "Denied", "Failed"];

fn conditions(object: &Object) -> impl Iterator<Item = &Value> {
    let conditions = object
        .get("status")
        .and_then(|status| status["conditions"].as_array());
    conditions.into_iter().flatten()
}

fn has(object: &Object, type_: &str) -> bool {
    conditions(object).any(|condition| condition["type"] == type_)
}

/// Of the status, an approval changes the conditions only.
pub(super) fn keep_all_but_conditions(old: &Object, new: &mut Object) {
    let given = new.get("status").map(|status| status["conditions"].clone());
    super::keep_member(old, new, "status");
    if let Some(status) = new.entry("status").or_insert_with(|| json!({})).as_object_mut() {
        status.remove("conditions");
        status.extend(
            given
                .filter(Value::is_array)
                .map(|given| ("conditions".into(), given)),
        );
    }
}

/// A request is approved or denied, once.
pub(super) fn check(resource: &Resource, name: &str, old: &Object, new: &Object) -> Result<(), StatusError> {
    let gone = LASTING
        .into_iter()
        .filter(|lasting| has(old, lasting) && !has(new, lasting));
    let mut causes: Vec<_> = gone
        .map(|gone| {
            let why = format!("updates may not remove a condition of type \"{gone}\"");
            Cause::forbidden("status.conditions", &why)
        })
        .collect();
    let decided = conditions(new).filter_map(|condition| condition["type"].as_str());
    let mut decided = decided.filter(|decision| matches!(*decision, "Approved" | "Denied"));
    let first = decided.next();
    if let Some(second) = decided.find(|decision| Some(*decision) != first) {
        let why = "Approved and Denied conditions are mutually exclusive";
        causes.push(Cause::invalid("status.conditions", format!("\"{second}\""), why));
    }
    match causes.is_empty() {
        true => Ok(()),
        false => Err(StatusError::invalid(
            &resource.group,
            &resource.kind,
            name,
            &causes,
        )),
    }
}

/// Says when the conditions were made that do not say it.
pub(super) fn stamp(object: &mut Object, now: &str) {
    let conditions = object
        .get_mut("status")
        .and_then(|status| status.get_mut("conditions"));
    for condition in conditions.and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(condition) = condition.as_object_mut() else {
            continue;
        };
        for field in ["lastUpdateTime", "lastTransitionTime"] {
            if condition.get(field).is_none_or(Value::is_null) {
                condition.insert(field.into(), now.into());
            }
        }
    }
}
