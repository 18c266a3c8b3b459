//! Uniqueness of the items of lists that are sets or maps.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{ListType, Schema, walk};
use crate::path::Path;
use crate::status::Cause;

/// The items that are in a set twice, and those of a map whose keys are there twice.
pub(crate) fn duplicates(object: &Map<String, Value>, schema: &Schema) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk::values(
        object,
        schema,
        &mut |value, schema, path| match (value, schema.list_type) {
            (Value::Array(items), ListType::Set) => repeated(items, path, &mut causes),
            (Value::Array(items), ListType::Map) => map(items, schema, path, &mut causes),
            _ => {}
        },
    );
    causes
}

/// The items of the old state of a list, found by their keys; none if nothing tells them apart.
#[derive(Default)]
pub(super) struct OldItems<'a> {
    keys: &'a [String],
    items: HashMap<String, &'a Value>,
}

impl<'a> OldItems<'a> {
    pub(super) fn of(old: Option<&'a Value>, schema: &'a Schema) -> Self {
        let (ListType::Map, Some(Value::Array(list))) = (schema.list_type, old) else {
            return Self::default();
        };
        let keys = &schema.list_map_keys[..];
        let mut items = HashMap::new();
        for item in list {
            items.entry(key_of(item, keys)).or_insert(item);
        }
        Self { keys, items }
    }

    /// The old state of an item.
    pub(super) fn get(&self, item: &Value) -> Option<&'a Value> {
        if self.items.is_empty() {
            return None;
        }
        self.items.get(&key_of(item, self.keys)).copied()
    }
}

/// Whether a value is what it was: the items of a list that is a map may have changed their places.
pub(super) fn is_same(value: &Value, old: &Value, schema: &Schema) -> bool {
    match (value, old) {
        (Value::Array(items), Value::Array(before)) if schema.list_type == ListType::Map => {
            let old_items = OldItems::of(Some(old), schema);
            let is_same = |item: &Value| match (old_items.get(item), &schema.items) {
                (Some(old), Some(node)) => is_same(item, old, node.get()),
                (old, _) => old == Some(item),
            };
            items.len() == before.len() && items.iter().all(is_same)
        }
        (Value::Object(members), Value::Object(before)) => {
            let is_same =
                |(name, value): (&String, &Value)| match (before.get(name), schema.properties.get(name)) {
                    (Some(old), Some(node)) => is_same(value, old, node.get()),
                    (old, _) => old == Some(value),
                };
            members.len() == before.len() && members.iter().all(is_same)
        }
        _ => value == old,
    }
}

fn key_of(item: &Value, keys: &[String]) -> String {
    let values: Vec<_> = keys.iter().map(|key| item.get(key)).collect();
    serde_json::json!(values).to_string()
}

fn map(items: &[Value], schema: &Schema, path: &Path<'_>, causes: &mut Vec<Cause>) {
    if let Some(index) = items.iter().position(|item| !item.is_object() && !item.is_null()) {
        let why = "must be an object for an array of list-type map";
        causes.push(Cause::invalid(path.index(index).to_string(), &items[index], why));
        return;
    }
    let key_of = |item: &Value| {
        let keys = schema.list_map_keys.iter();
        keys.filter_map(|key| Some((key.clone(), item.get(key)?.clone())))
            .collect::<Map<_, _>>()
            .into()
    };
    let keys: Vec<Value> = items.iter().map(key_of).collect();
    repeated(&keys, path, causes);
}

/// Tells of the second one of equal items, not of the third.
fn repeated(items: &[Value], path: &Path<'_>, causes: &mut Vec<Cause>) {
    let mut times: HashMap<String, u32> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        let times = times.entry(item.to_string()).or_default();
        *times += 1;
        if *times == 2 {
            causes.push(Cause::duplicate(path.index(index).to_string(), item));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::validate::validate_object;

    fn causes(old: &Value, new: &Value) -> usize {
        let schema = Schema::parse(&json!({
            "type": "object",
            "properties": {"list": {
                "type": "array", "maxItems": 1, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}},
            }},
        }));
        let object = |list: &Value| Map::from_iter([("list".to_owned(), list.clone())]);
        validate_object(&schema, Some(&object(old)), &object(new), None).len()
    }

    #[test]
    fn the_order_of_a_map_is_no_change_of_it() {
        let [a, b] = ["a", "b"].map(|key| json!({"k": key, "v": 1}));
        let old = json!([a, b]);
        for (new, told) in [
            (json!([a, b]), 0),
            (json!([b, a]), 0),
            (json!([b, {"k": "a", "v": 2}]), 1),
            (json!([b, b]), 1),
            (json!([b, {"k": "c", "v": 1}]), 1),
            (json!([b, a, {"k": "c"}]), 1),
        ] {
            assert_eq!(causes(&old, &new), told, "{new}");
        }
    }
}
