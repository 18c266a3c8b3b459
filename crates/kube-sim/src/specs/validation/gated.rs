//! What may still change of where a pod is to run while scheduling gates hold it back: it may only get narrower.

use serde_json::{Map, Value, json};

use super::at::Causes;
use crate::status::{self, Cause};

/// Puts back what `spec`, the changed one, may have other than `before`, and says what of it is not narrower.
pub(super) fn put_back(before: &Value, spec: &mut Map<String, Value>, causes: &mut Causes) {
    if before["schedulingGates"].as_array().is_none_or(Vec::is_empty) {
        return;
    }
    let selector = spec.remove("nodeSelector").unwrap_or_default();
    let mut had = before["nodeSelector"].as_object().into_iter().flatten();
    if had.any(|(name, value)| selector.get(name) != Some(value)) {
        let why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        causes.push(Cause::invalid(
            "spec.nodeSelector",
            status::go_json(&selector),
            why,
        ));
    }
    put(spec, "nodeSelector", &before["nodeSelector"]);
    let mut affinity = spec.remove("affinity").unwrap_or_default();
    let was = &before["affinity"]["nodeAffinity"];
    if *was != affinity["nodeAffinity"] {
        node_affinity(was, &affinity["nodeAffinity"], causes);
        let members = affinity.as_object_mut();
        if let Some(members) = members {
            put(members, "nodeAffinity", was);
        } else if !was.is_null() {
            affinity = json!({"nodeAffinity": was});
        }
        if before["affinity"].is_null() && affinity.as_object().is_some_and(Map::is_empty) {
            affinity = Value::Null;
        }
    }
    put(spec, "affinity", &affinity);
}

fn put(members: &mut Map<String, Value>, name: &str, value: &Value) {
    match value {
        Value::Null => drop(members.remove(name)),
        value => drop(members.insert(name.into(), value.clone())),
    }
}

/// The terms are alternatives: another one would be more nodes, another requirement in one of them is less.
fn node_affinity(was: &Value, now: &Value, causes: &mut Causes) {
    const TERMS: &str =
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    let terms = |affinity: &Value| {
        let required = &affinity["requiredDuringSchedulingIgnoredDuringExecution"];
        required["nodeSelectorTerms"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    let (was, now) = (terms(was), terms(now));
    if !was.is_empty() && was.len() != now.len() {
        let why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        let shown: Vec<_> = now.iter().map(term_shown).collect();
        let shown = match shown.is_empty() {
            true => "null".to_owned(),
            false => format!("[{}]", shown.join(",")),
        };
        causes.push(Cause::invalid(TERMS, shown, why));
        return;
    }
    for (n, (was, now)) in was.iter().zip(&now).enumerate() {
        if !has_only_more(was, now) {
            let why = "only additions are allowed (no mutations or deletions)";
            causes.push(Cause::invalid(format!("{TERMS}[{n}]"), term_shown(now), why));
        }
    }
}

const KINDS: [&str; 2] = ["matchExpressions", "matchFields"];

fn has_only_more(was: &Value, now: &Value) -> bool {
    let [before, after] =
        [was, now].map(|term| KINDS.map(|kind| term[kind].as_array().map_or(&[][..], Vec::as_slice)));
    // A term without requirements is for no node.
    let was_empty = before.iter().all(|requirements| requirements.is_empty());
    if was_empty {
        return after.iter().all(|requirements| requirements.is_empty());
    }
    before
        .iter()
        .zip(after)
        .all(|(before, after)| after.starts_with(before))
}

/// A term as Go shows it: by the names of its own fields.
fn term_shown(term: &Value) -> String {
    let requirements = KINDS.map(|kind| {
        let Some(requirements) = term[kind].as_array() else {
            return "null".to_owned();
        };
        let shown = requirements.iter().map(|requirement| {
            let [key, operator, values] =
                ["key", "operator", "values"].map(|name| status::go_json(&requirement[name]));
            format!("{{\"Key\":{key},\"Operator\":{operator},\"Values\":{values}}}")
        });
        format!("[{}]", shown.collect::<Vec<_>>().join(","))
    });
    format!(
        "{{\"MatchExpressions\":{},\"MatchFields\":{}}}",
        requirements[0], requirements[1]
    )
}
