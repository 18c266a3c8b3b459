//! Goes over the values of an object, each with its schema.

use serde_json::{Map, Value};

use super::{Additional, Node, Schema};
use crate::path::Path;

/// Calls `visit` with each value below the object's root that has a schema, from the outside in.
///
/// The parts of built-in kinds that are definitions of their own are left out.
pub(super) fn values(
    object: &Map<String, Value>,
    schema: &Schema,
    visit: &mut dyn FnMut(&Value, &Schema, &Path<'_>),
) {
    members(object, schema, &Path::Root, visit);
}

fn members(
    object: &Map<String, Value>,
    schema: &Schema,
    path: &Path<'_>,
    visit: &mut dyn FnMut(&Value, &Schema, &Path<'_>),
) {
    for (name, value) in object {
        match (schema.properties.get(name), &schema.additional) {
            (Some(Node::Here(schema)), _) => below(value, schema, &path.field(name), visit),
            (None, Additional::Values(node)) => below(value, node.get(), &path.key(name), visit),
            _ => {}
        }
    }
}

fn below(value: &Value, schema: &Schema, path: &Path<'_>, visit: &mut dyn FnMut(&Value, &Schema, &Path<'_>)) {
    visit(value, schema, path);
    match (value, &schema.items) {
        (Value::Object(object), _) => members(object, schema, path, visit),
        (Value::Array(items), Some(node)) => {
            for (index, item) in items.iter().enumerate() {
                below(item, node.get(), &path.index(index), visit);
            }
        }
        _ => {}
    }
}
