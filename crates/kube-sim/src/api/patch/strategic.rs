//! Strategic merge: a merge patch that merges lists of objects by a key.
//!
//! A real server has the keys in its Go types; here they depend on the name of the list and on the field that it is in. The
//! directives `$patch` (delete, replace, merge), `$deleteFromPrimitiveList/`, `$retainKeys` and `$setElementOrder/` are supported.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::meta::go_type;
use crate::status::StatusError;

/// Before the name of a list: the order of its elements.
const ORDER: &str = "$setElementOrder/";

/// What tells the elements of a list apart that is merged.
#[derive(Clone, Copy)]
enum Identity {
    /// They are scalars.
    Itself,
    Field(&'static str),
}

/// `None` for a list that is replaced as a whole. `within` is the field that the list's object is in, or the list that it is an element
/// of.
fn identity(within: &str, list: &str) -> Option<Identity> {
    let field = match (within, list) {
        (_, "finalizers" | "podCIDRs") => return Some(Identity::Itself),
        (
            _,
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
            | "variables",
        ) => "name",
        ("containers" | "initContainers" | "ephemeralContainers", "ports") => "containerPort",
        // Those of an EndpointSlice are in no field.
        ("spec", "ports") => "port",
        (_, "volumeMounts") => "mountPath",
        (_, "volumeDevices") => "devicePath",
        (_, "conditions" | "addresses") => "type",
        (_, "ownerReferences" | "reservedFor") => "uid",
        (_, "hostAliases" | "podIPs" | "hostIPs") => "ip",
        (_, "topologySpreadConstraints") => "topologyKey",
        _ => return None,
    };
    Some(Identity::Field(field))
}

/// Applies `patch`, an object, to `document`.
pub(super) fn merge(document: &mut Value, patch: &Value) -> Result<(), StatusError> {
    merge_within("", document, patch)
}

fn merge_within(within: &str, document: &mut Value, patch: &Value) -> Result<(), StatusError> {
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
            let gone: HashSet<_> = value.as_array().into_iter().flatten().collect();
            if let Some(Value::Array(items)) = target.get_mut(list) {
                items.retain(|item| !gone.contains(item));
            }
        } else if let Some(list) = name.strip_prefix(ORDER) {
            let order = array(value)?;
            if !patch.contains_key(list)
                && let Some(identity) = identity(within, list)
                && let Some(Value::Array(items)) = target.get_mut(list)
            {
                let list = List { name: list, identity };
                *items = list.merged(std::mem::take(items), &[], Some(order))?;
            }
        } else if !name.starts_with('$') {
            let order = patch.get(&format!("{ORDER}{name}")).map(array).transpose()?;
            merge_member(within, target, (name, value), order)?;
        }
    }
    Ok(())
}

fn own((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

fn array(value: &Value) -> Result<&[Value], StatusError> {
    let found = || {
        StatusError::internal(format!(
            "expected a []interface {{}}, but received a {}",
            go_type(value)
        ))
    };
    value.as_array().map(Vec::as_slice).ok_or_else(found)
}

fn merge_member(
    within: &str,
    target: &mut Map<String, Value>,
    (name, value): (&str, &Value),
    order: Option<&[Value]>,
) -> Result<(), StatusError> {
    match (value, identity(within, name)) {
        (Value::Null, _) => {
            target.remove(name);
        }
        (Value::Object(_), _) => merge_within(name, target.entry(name).or_insert(Value::Null), value)?,
        (Value::Array(changes), Some(identity)) => {
            let before = match target.get_mut(name).map(Value::take) {
                Some(Value::Array(items)) if changes.iter().all(|c| c["$patch"] != "replace") => items,
                _ => Vec::new(),
            };
            let merged = List { name, identity }.merged(before, changes, order)?;
            target.insert(name.to_owned(), merged.into());
        }
        _ => {
            target.insert(name.to_owned(), value.clone());
        }
    }
    Ok(())
}

/// A list that is merged.
struct List<'a> {
    name: &'a str,
    identity: Identity,
}

impl List<'_> {
    fn id<'v>(&self, element: &'v Value) -> Result<&'v Value, StatusError> {
        match self.identity {
            Identity::Itself => Ok(element),
            Identity::Field(field) => element.get(field).ok_or_else(|| {
                let name = self.name;
                StatusError::internal(format!(
                    "map: {name} does not contain declared merge key: {field}"
                ))
            }),
        }
    }

    /// Where the elements are. Of equal ones the first counts.
    fn places(&self, elements: &[Value]) -> Result<HashMap<Value, usize>, StatusError> {
        let mut places = HashMap::new();
        for (place, element) in elements.iter().enumerate() {
            places.entry(self.id(element)?.clone()).or_insert(place);
        }
        Ok(places)
    }

    /// The list after `changes`, in the order of the patch.
    fn merged(
        &self,
        before: Vec<Value>,
        changes: &[Value],
        order: Option<&[Value]>,
    ) -> Result<Vec<Value>, StatusError> {
        let known = self.places(&before)?;
        let mut places = known.clone();
        let mut merged: Vec<_> = before.into_iter().map(Some).collect();
        let mut written = Vec::new();
        for change in changes.iter().filter(|change| change["$patch"] != "replace") {
            let id = self.id(change)?;
            if change["$patch"] == "delete" {
                places
                    .remove(id)
                    .into_iter()
                    .for_each(|place| merged[place] = None);
                continue;
            }
            let place = *places.entry(id.clone()).or_insert_with(|| {
                merged.push(None);
                merged.len() - 1
            });
            merge_within(self.name, merged[place].get_or_insert(Value::Null), change)?;
            written.push(id);
        }
        let order = match order {
            Some(order) => order
                .iter()
                .map(|element| self.id(element))
                .collect::<Result<Vec<_>, _>>()?,
            None => written.clone(),
        };
        let mut ordered = order.iter();
        if !written.iter().all(|id| ordered.any(|other| other == id)) {
            let why = format!("The order in patch list doesn't match {ORDER}{}", self.name);
            return Err(StatusError::internal(why));
        }
        self.in_order(merged.into_iter().flatten().collect(), &known, &order)
    }

    /// What `order` names is in this order. The rest stays before those of them before which it was, where that can be.
    fn in_order(
        &self,
        elements: Vec<Value>,
        known: &HashMap<Value, usize>,
        order: &[&Value],
    ) -> Result<Vec<Value>, StatusError> {
        let order: HashMap<_, _> = order.iter().rev().zip((0..order.len()).rev()).collect();
        let (mut named, mut rest) = (Vec::new(), Vec::new());
        for element in elements {
            let id = self.id(&element)?;
            let place = known.get(id).copied();
            match order.get(&id) {
                Some(rank) => named.push((*rank, place, element)),
                None => rest.push((place, element)),
            }
        }
        named.sort_by_key(|(rank, ..)| *rank);
        let mut rest = rest.into_iter().peekable();
        let mut all = Vec::with_capacity(named.len() + rest.len());
        for (_, place, element) in named {
            // What is new comes before all that is left: nothing is less than `None`.
            while let Some((_, other)) = rest.next_if(|(other, _)| other.is_some() && *other < place) {
                all.push(other);
            }
            all.push(element);
        }
        all.extend(rest.map(|(_, element)| element));
        Ok(all)
    }
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
            ("", "ac", Some("abc"), "ac"),
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
