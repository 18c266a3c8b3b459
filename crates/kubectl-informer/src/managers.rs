//! Who changed a field, as far as `metadata.managedFields` tell.
//!
//! The server notes for each field manager which fields it owns, and when it last changed any of them.

use crate::field_path::Step;
use serde_json::{Map, Value};

/// The field managers of an object.
pub(crate) struct Managers<'o>(Vec<Entry<'o>>);

struct Entry<'o> {
    manager: &'o str,
    /// In RFC 3339 and UTC, so that later is greater.
    time: &'o str,
    /// Whether the update made it or changed it.
    new: bool,
    fields: &'o Value,
}

impl<'o> Managers<'o> {
    /// The managers of an object, and what has changed among them since an older state.
    pub(crate) fn of(object: &'o Value, before: &Value) -> Self {
        let before = entries(before);
        let entries = entries(object).iter().map(|entry| Entry {
            manager: entry["manager"].as_str().unwrap_or_default(),
            time: entry["time"].as_str().unwrap_or_default(),
            new: !before.contains(entry),
            fields: &entry["fieldsV1"],
        });
        Self(entries.filter(|entry| !entry.manager.is_empty()).collect())
    }

    /// Who changed a field: of its owners the one that wrote last; of a field without an owner, because it was removed,
    /// who wrote last of those whose entries the update changed. `None` for what the server itself changed.
    pub(crate) fn of_field(&self, path: &[Step]) -> Option<&'o str> {
        let latest = |entry: &&Entry<'o>| (entry.time, entry.new);
        let owners = self.0.iter().filter(|entry| owns(entry.fields, path));
        let changed = self.0.iter().filter(|entry| entry.new);
        let found = owners.max_by_key(latest).or_else(|| changed.max_by_key(latest));
        found.map(|entry| entry.manager)
    }
}

fn entries(object: &Value) -> &[Value] {
    let entries = object["metadata"]["managedFields"].as_array();
    entries.map_or(&[], Vec::as_slice)
}

/// Whether these fields contain what is at a path. What has no fields below it is owned whole.
fn owns(fields: &Value, path: &[Step]) -> bool {
    let Some(map) = fields.as_object() else {
        return false;
    };
    let Some((step, rest)) = path.split_first() else {
        return true;
    };
    let below = match step {
        Step::Field(name) => map.get(&format!("f:{name}")),
        Step::Element { element, .. } => element_of(map, element),
        Step::Index(index) => map.get(&format!("i:{index}")),
    };
    match below {
        Some(below) if below.as_object().is_some_and(Map::is_empty) => true,
        Some(below) => owns(below, rest),
        None => false,
    }
}

/// What is below the key of an element, such as `k:{"type":"Ready"}`. All keys of a list have the same names.
fn element_of<'m>(map: &'m Map<String, Value>, element: &Value) -> Option<&'m Value> {
    let mut keys = map.keys().filter_map(|key| key.strip_prefix("k:"));
    let mut key: Map<String, Value> = serde_json::from_str(keys.next()?).ok()?;
    for (name, value) in &mut key {
        *value = element[name].clone();
    }
    map.get(&format!("k:{}", Value::Object(key)))
}

#[cfg(test)]
mod tests {
    use crate::args::Diff;
    use crate::diff::changes;
    use serde_json::{Value, json};

    fn entry(manager: &str, second: u8, fields: Value) -> Value {
        json!({"manager": manager, "time": format!("2026-01-01T00:00:{second:02}Z"), "fieldsV1": fields})
    }

    fn check(entries_before: Value, entries: Value, old: Value, new: Value, expected: &[(&str, &str)]) {
        let object = |mut object: Value, entries: Value| {
            object["metadata"] = json!({"managedFields": entries});
            object
        };
        let found = changes(&object(old, entries_before), &object(new, entries), Diff::Content);
        let found: Vec<_> = found
            .iter()
            .map(|change| {
                (
                    change.path.to_string(),
                    change.manager.clone().unwrap_or_default(),
                )
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(path, manager)| (path.to_string(), manager.to_string()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_owner_of_a_field_is_named() {
        let ready = json!({"f:status": {"f:conditions": {
            ".": {}, "k:{\"type\":\"Ready\"}": {".": {}, "f:type": {}, "f:status": {}},
        }}});
        let entries = json!([
            entry("kubectl", 9, json!({"f:spec": {"f:replicas": {}, "f:args": {}}})),
            entry("kubelet", 5, ready),
            entry("autoscaler", 3, json!({"f:spec": {"f:replicas": {}}})),
        ]);
        let state = |n: u64| {
            json!({
                "spec": {"replicas": n, "args": {"deep": n}},
                "status": {"conditions": [{"type": "Ready", "status": n}]},
            })
        };
        let expected = [
            ("spec.args.deep", "kubectl"),
            ("spec.replicas", "kubectl"),
            ("status.conditions[type=Ready].status", "kubelet"),
        ];
        check(json!([]), entries, state(1), state(2), &expected);
    }

    #[test]
    fn what_nobody_owns_was_changed_by_the_latest() {
        let one = entry("one", 5, json!({"f:x": {}}));
        let two = entry("two", 5, json!({"f:y": {}}));
        let three = entry("three", 4, json!({"f:z": {}}));
        let entries = json!([two, one, three]);
        // In the same second: the entry that has changed.
        check(
            json!([one]),
            entries,
            json!({"gone": 1}),
            json!({}),
            &[("gone", "two")],
        );
        check(
            json!([]),
            json!([]),
            json!({"a": 1}),
            json!({"a": 2}),
            &[("a", "")],
        );
    }
}
