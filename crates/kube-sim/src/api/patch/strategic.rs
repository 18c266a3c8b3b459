//! Strategic merge: a merge patch that merges lists of objects by a key.
//!
//! A real server has the keys in its Go types; here they depend on the name of the list. The directives `$patch`
//! (delete, replace, merge), `$deleteFromPrimitiveList/` and `$retainKeys` are supported. `$setElementOrder/` is
//! accepted and ignored: elements keep their order.

use serde_json::{Map, Value};

use crate::status::StatusError;

/// The field that identifies the elements of a list; `None` for a list that is replaced as a whole.
fn merge_keys(list: &str) -> &'static [&'static str] {
    match list {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "volumes"
        | "env"
        | "imagePullSecrets"
        | "secrets"
        | "resourceClaims"
        | "resourceClaimStatuses"
        | "allocatedResourcesStatus"
        | "drivers"
        | "schedulingGates"
        | "webhooks"
        | "matchConditions"
        | "variables" => &["name"],
        "ports" => &["containerPort", "port"],
        "volumeMounts" => &["mountPath"],
        "volumeDevices" => &["devicePath"],
        "conditions" | "addresses" => &["type"],
        "ownerReferences" | "reservedFor" => &["uid"],
        "hostAliases" | "podIPs" | "hostIPs" => &["ip"],
        "topologySpreadConstraints" => &["topologyKey"],
        _ => &[],
    }
}

/// Applies `patch`, an object, to `document`.
pub(super) fn merge(document: &mut Value, patch: &Value) -> Result<(), StatusError> {
    let Value::Object(patch) = patch else {
        *document = patch.clone();
        return Ok(());
    };
    if !document.is_object() {
        *document = Value::Object(Map::new());
    }
    let Value::Object(target) = document else {
        return Ok(());
    };
    match patch.get("$patch").and_then(Value::as_str) {
        None | Some("merge") => {}
        Some("replace") => {
            *target = patch
                .iter()
                .filter(|(name, _)| *name != "$patch")
                .map(own)
                .collect();
            return Ok(());
        }
        Some("delete") => {
            target.clear();
            return Ok(());
        }
        Some(other) => {
            return Err(StatusError::internal(format!("unknown patch type: {other}")));
        }
    }
    if let Some(kept) = patch.get("$retainKeys").and_then(Value::as_array) {
        target.retain(|name, _| kept.iter().any(|k| k == name.as_str()));
    }
    for (name, value) in patch {
        if let Some(list) = name.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = value.as_array().map_or(&[][..], Vec::as_slice);
            if let Some(Value::Array(items)) = target.get_mut(list) {
                items.retain(|item| !gone.contains(item));
            }
        } else if !name.starts_with('$') {
            merge_member(target, name, value)?;
        }
    }
    Ok(())
}

fn own((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

fn merge_member(target: &mut Map<String, Value>, name: &str, value: &Value) -> Result<(), StatusError> {
    match value {
        Value::Null => {
            target.remove(name);
        }
        Value::Object(_) => merge(target.entry(name).or_insert(Value::Null), value)?,
        Value::Array(changes) if name == "finalizers" => {
            let Value::Array(items) = target.entry(name).or_insert_with(|| Value::Array(Vec::new())) else {
                return Err(StatusError::bad_request("finalizers must be a list"));
            };
            // The elements of the patch come first.
            let kept: Vec<_> = items
                .iter()
                .filter(|item| !changes.contains(item))
                .cloned()
                .collect();
            *items = changes.iter().cloned().chain(kept).collect();
        }
        Value::Array(changes) if !merge_keys(name).is_empty() => merge_list(target, name, changes)?,
        other => {
            target.insert(name.to_owned(), other.clone());
        }
    }
    Ok(())
}

fn merge_list(target: &mut Map<String, Value>, name: &str, changes: &[Value]) -> Result<(), StatusError> {
    let slot = target.entry(name).or_insert(Value::Null);
    if !slot.is_array() || changes.iter().any(|c| c["$patch"] == "replace") {
        *slot = Value::Array(Vec::new());
    }
    let Value::Array(items) = slot else { return Ok(()) };
    for change in changes.iter().filter(|c| c["$patch"] != "replace") {
        let key = merge_keys(name).iter().find(|key| change.get(key).is_some());
        let Some(key) = key else {
            let message = format!(
                "map: {name} does not contain declared merge key: {}",
                merge_keys(name)[0]
            );
            return Err(StatusError::internal(message));
        };
        let place = items.iter().position(|item| item.get(key) == change.get(key));
        match (place, change["$patch"] == "delete") {
            (Some(place), true) => {
                items.remove(place);
            }
            (None, true) => {}
            (Some(place), false) => merge(&mut items[place], change)?,
            (None, false) => {
                let mut item = Value::Null;
                merge(&mut item, change)?;
                items.push(item);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(document: Value, patch: Value, expected: Value) {
        let mut result = document;
        merge(&mut result, &patch).unwrap();
        assert_eq!(result, expected);
    }

    #[test]
    fn lists_are_merged_by_key() {
        check(
            json!({"containers": [{"name": "a", "image": "1"}, {"name": "b"}], "args": ["x"]}),
            json!({"containers": [{"name": "a", "image": "2"}, {"name": "c"}], "args": ["y"]}),
            json!({"containers": [{"name": "a", "image": "2"}, {"name": "b"}, {"name": "c"}], "args": ["y"]}),
        );
    }

    #[test]
    fn directives_delete_and_replace() {
        check(
            json!({"containers": [{"name": "a"}, {"name": "b"}], "finalizers": ["x", "y"], "m": {"k": 1}}),
            json!({
                "containers": [{"name": "a", "$patch": "delete"}],
                "$setElementOrder/containers": [{"name": "b"}],
                "$deleteFromPrimitiveList/finalizers": ["x"],
                "m": {"$patch": "replace", "n": 2},
            }),
            json!({"containers": [{"name": "b"}], "finalizers": ["y"], "m": {"n": 2}}),
        );
        check(
            json!({"finalizers": ["x", "y"]}),
            json!({"finalizers": ["z", "y"]}),
            json!({"finalizers": ["z", "y", "x"]}),
        );
        check(
            json!({"strategy": {"a": 1, "b": 2}}),
            json!({"strategy": {"$retainKeys": ["b"]}}),
            json!({"strategy": {"b": 2}}),
        );
        check(
            json!({"a": {"b": 1}}),
            json!({"a": {"b": null}}),
            json!({"a": {}}),
        );
    }

    #[test]
    fn elements_without_their_key_are_refused() {
        let mut document = json!({"containers": []});
        let error = merge(&mut document, &json!({"containers": [{"image": "x"}]})).unwrap_err();
        assert_eq!(error.code(), 500, "as a real server");
    }
}
