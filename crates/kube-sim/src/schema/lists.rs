//! Uniqueness of the items of lists that are sets or maps.

use serde_json::{Map, Value};

use super::{Additional, ListType, Schema};
use crate::path::Path;
use crate::status::Cause;

/// The items that are in a set twice, and those of a map whose keys are there twice.
pub(crate) fn duplicates(object: &Map<String, Value>, schema: &Schema) -> Vec<Cause> {
    let mut causes = Vec::new();
    members(object, schema, &Path::Root, &mut causes);
    causes
}

fn members(object: &Map<String, Value>, schema: &Schema, path: &Path<'_>, causes: &mut Vec<Cause>) {
    for (name, value) in object {
        match (schema.properties.get(name), &schema.additional) {
            (Some(super::Node::Here(schema)), _) => below(value, schema, &path.field(name), causes),
            (None, Additional::Values(node)) => below(value, node.get(), &path.key(name), causes),
            _ => {}
        }
    }
}

fn below(value: &Value, schema: &Schema, path: &Path<'_>, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(object) => members(object, schema, path, causes),
        Value::Array(items) => {
            match schema.list_type {
                ListType::Set => repeated(items, path, causes),
                ListType::Map => map(items, schema, path, causes),
                ListType::Atomic => {}
            }
            if let Some(node) = &schema.items {
                for (index, item) in items.iter().enumerate() {
                    below(item, node.get(), &path.index(index), causes);
                }
            }
        }
        _ => {}
    }
}

/// The item of the old list that is this item of a map; none if items cannot be told apart.
pub(super) fn same_item<'a>(old: &'a Value, item: &Value, schema: &Schema) -> Option<&'a Value> {
    let keys = &schema.list_map_keys;
    let same = |other: &&Value| keys.iter().all(|key| other.get(key) == item.get(key));
    match schema.list_type {
        ListType::Map => old.as_array()?.iter().find(same),
        _ => None,
    }
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
    for (index, item) in items.iter().enumerate() {
        if items[..index].iter().filter(|other| *other == item).count() == 1 {
            causes.push(Cause::duplicate(path.index(index).to_string(), item));
        }
    }
}
