//! Defaults.

use serde_json::{Map, Value};

use super::{Additional, Node, Schema};

/// Fills in the defaults of a schema: for what is not there, and for nulls where there may be none.
pub(crate) fn fill_in(object: &mut Map<String, Value>, schema: &Schema) {
    for (name, node) in &schema.properties {
        let Some(default) = node.default() else { continue };
        let value = object.get(name);
        if value.is_none_or(|value| is_misplaced_null(value, node)) {
            object.insert(name.clone(), default.clone());
        }
    }
    for (name, value) in object {
        match (schema.properties.get(name), &schema.additional) {
            (Some(node), _) => below(value, node.get()),
            (None, Additional::Values(node)) => item(value, node),
            _ => {}
        }
    }
}

fn below(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(object) => fill_in(object, schema),
        Value::Array(items) => {
            if let Some(node) = &schema.items {
                items.iter_mut().for_each(|value| item(value, node));
            }
        }
        _ => {}
    }
}

fn item(value: &mut Value, node: &Node) {
    if is_misplaced_null(value, node) {
        *value = node.default().cloned().unwrap_or_default();
    }
    below(value, node.get());
}

fn is_misplaced_null(value: &Value, node: &Node) -> bool {
    value.is_null() && !node.get().nullable
}
