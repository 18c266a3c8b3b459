//! Who changed a field, as far as `metadata.managedFields` tell.
//!
//! The server notes for each field manager which fields it owns, and when it last changed any of them.

use crate::field_path::Step;
use serde_json::{Map, Value};

/// The field managers of an object.
pub(crate) struct Managers<'o>(Vec<Entry<'o>>);

struct Entry<'o> {
    manager: &'o str,
    /// In RFC 3339 and UTC, so that later is greater; empty if there is none.
    time: &'o str,
    news: News,
    fields: &'o Value,
}

/// What an update did to an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum News {
    Nothing,
    /// It lost fields, while its time stayed the same: to a manager that took or removed them; or, within a second, its manager
    /// removed them.
    Less,
    /// Its manager wrote.
    Written,
}

impl<'o> Managers<'o> {
    /// The managers of an object, and what has changed among them since an older state.
    pub(crate) fn of(object: &'o Value, before: &Value) -> Self {
        let before = entries(before);
        let entries = entries(object).iter().map(|entry| Entry {
            manager: entry["manager"].as_str().unwrap_or_default(),
            time: entry["time"].as_str().unwrap_or_default(),
            news: News::of(entry, before),
            fields: &entry["fieldsV1"],
        });
        Self(entries.filter(|entry| !entry.manager.is_empty()).collect())
    }

    /// Who changed a field: of its owners one that the update shows to have written, and of those the last one. Writes of the subresource
    /// `scale` have no time. Of a field without an owner, because it was removed: who wrote last of those who wrote in the update.
    /// `None` for what the server itself changed, and for an update that only removed fields: it leaves no trace of who made it.
    pub(crate) fn of_field(&self, path: &[Step]) -> Option<&'o str> {
        let latest = |entry: &&Entry<'o>| (entry.news, entry.time);
        let owners = self.0.iter().filter(|entry| owns(entry.fields, path));
        let written = self.0.iter().filter(|entry| entry.news == News::Written);
        let found = owners.max_by_key(latest).or_else(|| written.max_by_key(latest));
        found.map(|entry| entry.manager)
    }
}

impl News {
    fn of(entry: &Value, before: &[Value]) -> Self {
        if before.contains(entry) {
            return Self::Nothing;
        }
        let names = ["manager", "operation", "subresource", "apiVersion", "time"];
        let same = before
            .iter()
            .find(|before| names.iter().all(|name| before[name] == entry[name]));
        match same {
            Some(before) if !has_more(&entry["fieldsV1"], &before["fieldsV1"]) => Self::Less,
            _ => Self::Written,
        }
    }
}

/// Whether some fields are not among others.
fn has_more(fields: &Value, others: &Value) -> bool {
    let fields = fields.as_object().into_iter().flatten();
    let more = |(name, below): (&String, &Value)| others.get(name).is_none_or(|other| has_more(below, other));
    fields.into_iter().any(more)
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
        // In the same second, one took a field from another.
        let creator = |fields: Value| entry("creator", 5, json!({"f:spec": fields}));
        let taken = json!([
            entry("scaler", 5, json!({"f:spec": {"f:replicas": {}}})),
            creator(json!({"f:paused": {}})),
        ]);
        let state = |n: u64| json!({"generation": n, "spec": {"replicas": n}});
        check(
            json!([creator(json!({"f:paused": {}, "f:replicas": {}}))]),
            taken,
            state(1),
            state(2),
            &[("generation", "scaler"), ("spec.replicas", "scaler")],
        );
        // A scale has no time.
        let mut scaler = entry("scaler", 0, json!({"f:spec": {"f:replicas": {}}}));
        scaler.as_object_mut().unwrap().remove("time");
        check(
            json!([creator(json!({"f:paused": {}, "f:replicas": {}}))]),
            json!([scaler, creator(json!({"f:paused": {}}))]),
            state(1),
            state(2),
            &[("generation", "scaler"), ("spec.replicas", "scaler")],
        );
        // Who took it from "two" and did nothing else is not noted.
        check(
            json!([one, entry("two", 5, json!({"f:y": {}, "f:gone": {}}))]),
            json!([two, one]),
            json!({"gone": 1}),
            json!({}),
            &[("gone", "")],
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
