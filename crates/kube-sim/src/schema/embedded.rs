//! Objects within objects (`x-kubernetes-embedded-resource`): what they must have.

use serde_json::{Map, Value};

use super::{Additional, Schema};
use crate::path::Path;
use crate::selector::{label_key_fault, label_value_fault};
use crate::status::Cause;

/// What is wrong with the type and the metadata of objects within an object.
pub(super) fn faults(object: &Map<String, Value>, schema: &Schema) -> Vec<Cause> {
    let mut causes = Vec::new();
    members(object, schema, &Path::Root, &mut causes);
    causes
}

fn members(object: &Map<String, Value>, schema: &Schema, path: &Path<'_>, causes: &mut Vec<Cause>) {
    if schema.embedded && !path.is_root() {
        check(object, path, causes);
    }
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
            if let Some(node) = &schema.items {
                for (index, item) in items.iter().enumerate() {
                    below(item, node.get(), &path.index(index), causes);
                }
            }
        }
        _ => {}
    }
}

fn check(object: &Map<String, Value>, path: &Path<'_>, causes: &mut Vec<Cause>) {
    for name in ["apiVersion", "kind"] {
        let field = path.field(name).to_string();
        match object.get(name).and_then(Value::as_str) {
            None => causes.push(Cause::required(field, "")),
            Some("") => causes.push(Cause::invalid(field, "\"\"", "must not be empty")),
            Some(_) => {}
        }
    }
    let labels = object
        .get("metadata")
        .and_then(|metadata| metadata["labels"].as_object());
    let metadata = path.field("metadata");
    let field = metadata.field("labels").to_string();
    for (key, value) in labels.into_iter().flatten() {
        let value = value.as_str().unwrap_or("");
        for (text, fault) in [
            (key.as_str(), label_key_fault(key)),
            (value, label_value_fault(value).map(str::to_owned)),
        ] {
            if let Some(fault) = fault {
                causes.push(Cause::invalid(field.clone(), format_args!("{text:?}"), &fault));
            }
        }
    }
}
