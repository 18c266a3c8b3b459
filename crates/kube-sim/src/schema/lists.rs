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
            if let Some(key) = key_of(item, keys) {
                items.entry(key).or_insert(item);
            }
        }
        Self { keys, items }
    }

    /// The old state of an item.
    pub(super) fn get(&self, item: &Value) -> Option<&'a Value> {
        if self.items.is_empty() {
            return None;
        }
        self.items.get(&key_of(item, self.keys)?).copied()
    }
}

/// The keys of an item, unless one of them is absent or no scalar.
fn key_of(item: &Value, keys: &[String]) -> Option<String> {
    let scalar = |key: &String| {
        let value = item.get(key)?;
        let is_scalar = !matches!(value, Value::Null | Value::Array(_) | Value::Object(_));
        is_scalar.then(|| value.to_string())
    };
    let values: Option<Vec<_>> = keys.iter().map(scalar).collect();
    Some(values?.join("\0"))
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
