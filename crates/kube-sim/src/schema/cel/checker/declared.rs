//! The types of what is in custom resources, as their schemas declare them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::types::{Fields, Type};
use crate::schema::cel::values::{escaped, is_reserved};

/// Names do not grow beyond about so many bytes: each of many types has one.
const LONGEST_NAME: usize = 200;

/// The type of what a schema describes; none if rules cannot see it. `name` is that of an object's type, which an expression cannot
/// mention.
pub(in crate::schema) fn type_of(schema: &Value, is_root: bool, name: &str) -> Option<Type> {
    if schema["x-kubernetes-int-or-string"] == true {
        return Some(Type::Dyn);
    }
    let below = |of: &Value, part: &str| {
        let is_root = of["x-kubernetes-embedded-resource"] == true;
        match name.len() < LONGEST_NAME {
            true => type_of(of, is_root, &format!("{name}.{part:.LONGEST_NAME$}")),
            false => type_of(of, is_root, name),
        }
    };
    Some(match schema["type"].as_str()? {
        "array" => Type::list(below(&schema["items"], "@idx")?),
        "object" if schema["additionalProperties"].is_object() => {
            Type::map(Type::String, below(&schema["additionalProperties"], "@elem")?)
        }
        "object" => {
            let given = schema["properties"].as_object().into_iter().flatten();
            let mut fields: BTreeMap<_, _> = given
                .filter_map(|(field, of)| {
                    let field = escaped(field)?;
                    let of = below(of, &field)?;
                    Some((field, of))
                })
                .collect();
            if is_root {
                with_metadata(&mut fields, &schema["properties"], name);
            }
            Type::of_fields(name, fields)
        }
        "string" => match schema["format"].as_str().unwrap_or("") {
            "byte" => Type::Bytes,
            "duration" => Type::Duration,
            "date" | "date-time" => Type::Timestamp,
            _ => Type::String,
        },
        "boolean" => Type::Bool,
        "number" => Type::Double,
        "integer" => Type::Int,
        _ => return None,
    })
}

/// What is seen of the metadata of a resource.
pub(in crate::schema::cel) const NAMES: [&str; 2] = ["name", "generateName"];

/// Whether a schema of a resource says all that is seen of every resource.
pub(in crate::schema::cel) fn has_metadata(properties: &Value) -> bool {
    let is = |of: &Value, kind: &str| of["type"] == kind;
    let metadata = &properties["metadata"];
    is(&properties["kind"], "string")
        && is(&properties["apiVersion"], "string")
        && is(metadata, "object")
        && NAMES
            .iter()
            .all(|name| is(&metadata["properties"][*name], "string"))
}

/// Adds what every resource has, unless its schema says all of it.
fn with_metadata(fields: &mut BTreeMap<String, Type>, properties: &Value, name: &str) {
    if has_metadata(properties) {
        return;
    }
    for name in ["kind", "apiVersion"] {
        fields.insert(name.to_owned(), Type::String);
    }
    let names = NAMES.map(|name| (name.to_owned(), Type::String));
    let metadata = Type::of_fields(&format!("{name}.metadata"), names);
    fields.insert("metadata".to_owned(), metadata);
}

/// The type of a property of an object of this type, if rules can see it.
pub(in crate::schema) fn property<'a>(of: &'a Type, name: &str) -> Option<&'a Type> {
    match of {
        Type::Struct(of) => match &of.fields {
            Fields::These(fields) => fields.get(&escaped(name)?),
            Fields::Any => None,
        },
        _ => None,
    }
}

/// The type of each item of a list, or of each value of a map.
pub(in crate::schema) fn each(of: &Type) -> Option<&Type> {
    match of {
        Type::List(item) => Some(item),
        Type::Map(entry) => Some(&entry.1),
        _ => None,
    }
}

/// The type of a field by the name that an expression uses. What is reserved is also called as it is.
pub(super) fn field<'a>(fields: &'a BTreeMap<String, Type>, name: &str) -> Option<&'a Type> {
    let reserved = || fields.get(&format!("__{name}__")).filter(|_| is_reserved(name));
    fields.get(name).or_else(reserved)
}
