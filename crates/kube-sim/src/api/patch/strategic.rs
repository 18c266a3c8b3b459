//! Strategic merge: a merge patch that merges lists of objects by a key.
//!
//! A real server has the keys in its Go types; here they depend on the name of the list. The directives `$patch`
//! (delete, replace, merge), `$deleteFromPrimitiveList/`, `$retainKeys` and `$setElementOrder/` are supported.
//! An order that lacks an element of the patch is taken, which a real server refuses.

use std::collections::HashMap;

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

/// Lists of scalars that are merged.
const MERGED_SCALARS: &[&str] = &["finalizers", "podCIDRs"];

/// Before the name of a list: the order of its elements.
const ORDER: &str = "$setElementOrder/";

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
        } else if let Some(list) = name.strip_prefix(ORDER) {
            if !patch.contains_key(list) {
                set_order(target, list, array(value)?);
            }
        } else if !name.starts_with('$') {
            let order = patch.get(&format!("{ORDER}{name}")).map(array).transpose()?;
            merge_member(target, name, value, order)?;
        }
    }
    Ok(())
}

fn own((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

fn array(order: &Value) -> Result<&[Value], StatusError> {
    order
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| StatusError::bad_request("the order of elements must be a list"))
}

/// The field that identifies these elements of a list with this name.
fn key_of(list: &str, elements: &[Value]) -> &'static str {
    let keys = merge_keys(list);
    let is_there = |key: &&&str| elements.iter().any(|element| element.get(key).is_some());
    keys.iter().find(is_there).or(keys.first()).copied().unwrap_or("")
}

fn merge_member(
    target: &mut Map<String, Value>,
    name: &str,
    value: &Value,
    order: Option<&[Value]>,
) -> Result<(), StatusError> {
    match value {
        Value::Null => {
            target.remove(name);
        }
        Value::Object(_) => merge(target.entry(name).or_insert(Value::Null), value)?,
        Value::Array(changes) if MERGED_SCALARS.contains(&name) => {
            let Value::Array(items) = target.entry(name).or_insert_with(|| Value::Array(Vec::new())) else {
                return Err(StatusError::bad_request(format!("{name} must be a list")));
            };
            let original = std::mem::take(items);
            let new = changes.iter().filter(|change| !original.contains(change));
            let merged = original.iter().chain(new).cloned().collect();
            *items = in_order(merged, &original, order.unwrap_or(changes), |item| item);
        }
        Value::Array(changes) if !merge_keys(name).is_empty() => {
            merge_list(target, name, changes, order)?;
        }
        other => {
            target.insert(name.to_owned(), other.clone());
        }
    }
    Ok(())
}

fn merge_list(
    target: &mut Map<String, Value>,
    name: &str,
    changes: &[Value],
    order: Option<&[Value]>,
) -> Result<(), StatusError> {
    let key = key_of(name, changes);
    let slot = target.entry(name).or_insert(Value::Null);
    let original = match slot.take() {
        Value::Array(items) if changes.iter().all(|c| c["$patch"] != "replace") => items,
        _ => Vec::new(),
    };
    let mut merged: Vec<_> = original.iter().cloned().map(Some).collect();
    let mut places: HashMap<Value, usize> = HashMap::new();
    for (place, item) in original.iter().enumerate() {
        places.entry(item[key].clone()).or_insert(place);
    }
    for change in changes.iter().filter(|c| c["$patch"] != "replace") {
        let Some(id) = change.get(key) else {
            let message = format!("map: {name} does not contain declared merge key: {key}");
            return Err(StatusError::internal(message));
        };
        let place = places.get(id).copied();
        if change["$patch"] == "delete" {
            place.into_iter().for_each(|place| merged[place] = None);
            continue;
        }
        let place = place.unwrap_or(merged.len());
        if place == merged.len() {
            places.insert(id.clone(), place);
            merged.push(None);
        }
        merge(merged[place].get_or_insert(Value::Null), change)?;
    }
    let merged = merged.into_iter().flatten().collect();
    *slot = in_order(merged, &original, order.unwrap_or(changes), |item| &item[key]).into();
    Ok(())
}

/// Orders a list that the patch does not change otherwise.
fn set_order(target: &mut Map<String, Value>, name: &str, order: &[Value]) {
    let Some(Value::Array(items)) = target.get_mut(name) else {
        return;
    };
    let original = std::mem::take(items);
    let key = key_of(name, order);
    *items = match key {
        "" => in_order(original.clone(), &original, order, |item| item),
        _ => in_order(original.clone(), &original, order, |item| &item[key]),
    };
}

/// What `order` names is in this order. The rest stays before those of them before which it was in `original`, where that can be.
fn in_order(
    merged: Vec<Value>,
    original: &[Value],
    order: &[Value],
    id: impl Fn(&Value) -> &Value,
) -> Vec<Value> {
    let places = |list: &[Value]| -> HashMap<Value, usize> {
        let ids = list.iter().rev().map(|item| id(item).clone());
        ids.zip((0..list.len()).rev()).collect()
    };
    let (order, original) = (places(order), places(original));
    let (mut named, rest): (Vec<_>, Vec<_>) =
        merged.into_iter().partition(|item| order.contains_key(id(item)));
    named.sort_by_key(|item| order.get(id(item)).copied());
    let mut rest = rest.into_iter().peekable();
    let mut all = Vec::with_capacity(named.len() + rest.len());
    for item in named {
        let place = original.get(id(&item));
        // What is new comes before all that is left.
        let was_before = |other: &Value| place.is_some_and(|place| original.get(id(other)) < Some(place));
        while let Some(other) = rest.next_if(was_before) {
            all.push(other);
        }
        all.push(item);
    }
    all.extend(rest);
    all
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
            json!({"containers": [{"name": "a", "image": "2"}, {"name": "c"}, {"name": "b"}], "args": ["y"]}),
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
            json!({"finalizers": ["z", "x", "y"]}),
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
    fn the_patch_orders_what_it_names() {
        let names = |names: &str| {
            let name = |name: char| json!({"name": name.to_string()});
            names.chars().map(name).collect::<Vec<_>>()
        };
        // As a real server answers.
        for (before, patch, order, after) in [
            ("ab", "c", None, "cab"),
            ("ab", "ca", None, "cab"),
            ("cab", "", Some("bac"), "bac"),
            ("bac", "d", Some("adb"), "adbc"),
            ("abc", "a", Some("ca"), "bca"),
            ("abc", "", Some("z"), "abc"),
            ("", "ba", Some("ab"), "ab"),
        ] {
            let mut changes = json!({});
            if !patch.is_empty() {
                changes["containers"] = names(patch).into();
            }
            if let Some(order) = order {
                changes["$setElementOrder/containers"] = names(order).into();
            }
            let after = json!({"containers": names(after)});
            check(json!({"containers": names(before)}), changes, after);
        }
        check(
            json!({"finalizers": ["z", "x", "y"]}),
            json!({"$setElementOrder/finalizers": ["y", "x", "w"], "finalizers": ["w"]}),
            json!({"finalizers": ["z", "y", "x", "w"]}),
        );
    }

    #[test]
    fn elements_without_their_key_are_refused() {
        let mut document = json!({"containers": []});
        let error = merge(&mut document, &json!({"containers": [{"image": "x"}]})).unwrap_err();
        assert_eq!(error.code(), 500, "as a real server");
    }
}
