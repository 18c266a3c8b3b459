//! Whether what is applied fits its schema, in a real server's words.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::types::{Members, Shape, Type};
use crate::meta::go_type;
use crate::path::below;
use crate::schema::{Schema, Type as Kind};

/// What is wrong with the object; empty if nothing is.
pub(super) fn faults(object: &Value, ty: Type<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    check(object, ty, "", &mut faults);
    faults
}

fn check(value: &Value, ty: Type<'_>, path: &str, faults: &mut Vec<String>) {
    if let Type::Schema { schema, .. } = ty
        && let Some(fault) = wrong_type(value, schema)
    {
        let colon = if path.is_empty() { "" } else { ": " };
        faults.push(format!("{path}{colon}{fault}"));
        return;
    }
    match (ty.shape(value), value) {
        (Shape::Map(of), Value::Object(object)) => members(object, of, path, faults),
        (Shape::List(items), Value::Array(list)) => {
            let mut seen = BTreeSet::new();
            for (at, item) in list.iter().enumerate() {
                let step = match items.step(item) {
                    Ok(step) => step,
                    Err(fault) => {
                        faults.push(format!("{path}: element {at}: {fault}"));
                        return;
                    }
                };
                let path_of_item = below(path, format_args!("{step}"));
                if !seen.insert(step.clone()) {
                    faults.push(format!("{path}: duplicate entries for key {step}"));
                }
                check(item, items.item(), &path_of_item, faults);
            }
        }
        // Owned as a whole, but their parts have types all the same.
        (Shape::Leaf, Value::Array(list)) => {
            if let Type::Schema { schema, .. } = ty
                && let Some(items) = &schema.items
            {
                for (at, item) in list.iter().enumerate() {
                    check(item, ty.item(items), &below(path, format_args!("[{at}]")), faults);
                }
            }
        }
        (Shape::Leaf, Value::Object(object)) => {
            if let Some(of) = ty.members() {
                members(object, of, path, faults);
            }
        }
        _ => {}
    }
}

/// Checks the members of an object up to one that its schema does not have.
fn members(object: &Map<String, Value>, of: Members<'_>, path: &str, faults: &mut Vec<String>) {
    for (name, value) in object {
        let path = below(path, format_args!(".{name}"));
        let Some(ty) = of.get(name) else {
            faults.push(format!("{path}: field not declared in schema"));
            return;
        };
        check(value, ty, &path, faults);
    }
}

fn wrong_type(value: &Value, schema: &Schema) -> Option<String> {
    let found = || match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("&{{{text}}}"),
        scalar => format!("&{{{scalar}}}"),
    };
    if value.is_null() {
        return None;
    }
    let is_scalar = !matches!(value, Value::Array(_) | Value::Object(_));
    match schema.kind? {
        Kind::Object if !value.is_object() => Some(format!("expected map, got {}", found())),
        Kind::Array if !value.is_array() => Some(format!("expected list, got {}", found())),
        Kind::Integer | Kind::Number if !value.is_number() => {
            Some(format!("expected numeric (int or float), got {}", go_type(value)))
        }
        Kind::Boolean if !value.is_boolean() => Some(format!("expected boolean, got {}", found())),
        // A string with a format may be another scalar.
        Kind::String if matches!(&*schema.format, "" | "byte") && !value.is_string() => {
            Some(match is_scalar {
                true => format!("expected string, got &value.valueUnstructured{{Value:{value}}}"),
                false => format!("expected string, got {}", found()),
            })
        }
        Kind::String if !is_scalar => Some(format!("expected any scalar, got {}", found())),
        _ => None,
    }
}
