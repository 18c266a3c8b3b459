//! What an object loses when it comes in: fields that its schema does not have, and nulls.

use serde_json::{Map, Value};

use super::{Additional, Schema};
use crate::nesting::MOST_STRICT_ERRORS;
use crate::path::Path;

/// What every object has, whatever its schema says.
const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Removes the fields that the schema of a resource does not have; adds their paths to `dropped`, sorted.
///
/// Everything stays below `x-kubernetes-preserve-unknown-fields`, except below the properties that are named there.
pub(crate) fn unknown_fields(object: &mut Map<String, Value>, schema: &Schema, dropped: &mut Vec<String>) {
    let mut pruning = Pruning {
        dropped: Vec::new(),
        of_resource: true,
    };
    pruning.members(object, Some(schema), schema.preserves_unknown, &Path::Root);
    pruning.dropped.sort();
    dropped.append(&mut pruning.dropped);
}

/// The same for what is no resource, or names all its fields.
pub(crate) fn fields(object: &mut Map<String, Value>, schema: &Schema, dropped: &mut Vec<String>) {
    let mut pruning = Pruning {
        dropped: Vec::new(),
        of_resource: false,
    };
    pruning.members(object, Some(schema), schema.preserves_unknown, &Path::Root);
    pruning.dropped.sort();
    dropped.append(&mut pruning.dropped);
}

/// Removes the fields that a value of any type should not have; returns whether there were any.
pub(crate) fn unknown_in(value: &mut Value, schema: &Schema) -> bool {
    let mut pruning = Pruning {
        dropped: Vec::new(),
        of_resource: false,
    };
    pruning.prune(value, Some(schema), false, &Path::Root);
    !pruning.dropped.is_empty()
}

struct Pruning {
    dropped: Vec<String>,
    /// At its root, the fields of every object are there and are not looked at.
    of_resource: bool,
}

impl Pruning {
    fn members(
        &mut self,
        object: &mut Map<String, Value>,
        schema: Option<&Schema>,
        preserves: bool,
        path: &Path<'_>,
    ) {
        let is_object = (self.of_resource && path.is_root()) || schema.is_some_and(|schema| schema.embedded);
        object.retain(|name, value| {
            if is_object && OBJECT_FIELDS.contains(&name.as_str()) {
                return true;
            }
            let property = schema.and_then(|schema| schema.properties.get(name));
            let additional = schema.map(|schema| &schema.additional);
            match (property, additional) {
                (Some(node), _) | (None, Some(Additional::Values(node))) => {
                    let told = self.dropped.len();
                    self.prune(value, Some(node.get()), false, &path.field(name));
                    if node.reads_itself() {
                        self.dropped.truncate(told);
                    }
                }
                (None, Some(Additional::Anything | Additional::Nothing)) => {
                    self.prune(value, None, false, &path.field(name));
                }
                _ if preserves => {}
                _ => {
                    if self.dropped.len() < MOST_STRICT_ERRORS {
                        self.dropped.push(path.field(name).to_string());
                    }
                    return false;
                }
            }
            true
        });
    }

    fn prune(&mut self, value: &mut Value, schema: Option<&Schema>, inherited: bool, path: &Path<'_>) {
        let preserves = inherited || schema.is_some_and(|schema| schema.preserves_unknown);
        match value {
            Value::Object(object) if schema.is_some() || !preserves => {
                self.members(object, schema, preserves, path);
            }
            Value::Array(items) => {
                let node = schema.and_then(|schema| schema.items.as_ref());
                for (index, item) in items.iter_mut().enumerate() {
                    self.prune(
                        item,
                        node.map(|node| &**node.get()),
                        preserves,
                        &path.index(index),
                    );
                }
            }
            _ => {}
        }
    }
}

/// Removes nulls from fields that can neither be null nor have a default in its place.
pub(crate) fn nulls(object: &mut Map<String, Value>, schema: &Schema) {
    object.retain(|name, value| {
        let node = match (schema.properties.get(name), &schema.additional) {
            (Some(property), _) => property,
            (None, Additional::Values(values)) => values,
            _ => return true,
        };
        if value.is_null() {
            return node.get().nullable || node.default().is_some();
        }
        nulls_below(value, node.get());
        true
    });
}

fn nulls_below(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(object) => nulls(object, schema),
        Value::Array(items) => {
            if let Some(node) = &schema.items {
                items.iter_mut().for_each(|item| nulls_below(item, node.get()));
            }
        }
        _ => {}
    }
}
