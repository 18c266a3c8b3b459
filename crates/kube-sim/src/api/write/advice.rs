//! What a client is warned of although its object is taken: what may do harm later.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::{Object, Writer, check, definition};
use crate::schema;
use crate::specs::{self, Change};
use crate::target::Target;

/// Warns of what a change brings to `object`.
pub(super) fn warn(target: &Target, change: Change<'_>, object: &Object, writer: Writer<'_>) {
    let Some(warnings) = writer.warnings() else {
        return;
    };
    let resource = &target.resource;
    for warning in specs::warnings(resource, change, object) {
        warnings.add(warning);
    }
    let old = match change {
        Change::Create => None,
        Change::Update { old, .. } => Some(old),
        Change::Status => return,
    };
    if resource.custom {
        for finalizer in unqualified_finalizers(old, object) {
            warnings.add(finalizer);
        }
    }
    if resource.id() == definition::ID {
        let known: HashSet<_> = old.map(unknown_formats).unwrap_or_default().into_iter().collect();
        for format in unknown_formats(object)
            .into_iter()
            .filter(|format| !known.contains(format))
        {
            warnings.add(format!("unrecognized format {}", crate::status::quoted(format)));
        }
    }
}

/// What is said of finalizers whose names have no prefix.
fn unqualified_finalizers(old: Option<&Object>, new: &Object) -> Vec<String> {
    let added: BTreeSet<_> = check::added_finalizers(old, new).into_iter().collect();
    let unqualified = |name: &&str| !name.contains('/');
    let advice = |name: &str| {
        let path = if name.contains('.') {
            " including a path (/)"
        } else {
            ""
        };
        format!(
            "metadata.finalizers: {}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with \
             other finalizer writers",
            crate::status::quoted(name)
        )
    };
    added.into_iter().filter(unqualified).map(advice).collect()
}

/// The formats in the schemas of a definition that nothing is known of.
fn unknown_formats(definition: &Object) -> Vec<&str> {
    let mut found = Vec::new();
    let versions = definition
        .get("spec")
        .and_then(|spec| spec["versions"].as_array());
    for version in versions.into_iter().flatten() {
        if let Some(schema) = version.pointer("/schema/openAPIV3Schema") {
            formats_in(schema, &mut found);
        }
    }
    found
}

fn formats_in<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    let text = |name: &str| schema[name].as_str().unwrap_or("");
    let format = text("format");
    if !format.is_empty() && !schema::is_known_format(text("type"), format) {
        found.push(format);
    }
    for name in ["items", "additionalProperties", "not"] {
        if schema[name].is_object() {
            formats_in(&schema[name], found);
        }
    }
    for name in ["allOf", "anyOf", "oneOf"] {
        for schema in schema[name].as_array().into_iter().flatten() {
            formats_in(schema, found);
        }
    }
    for schema in schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|all| all.values())
    {
        formats_in(schema, found);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap_or_default()
    }

    // Each compared with each other, this would take minutes.
    #[test]
    fn very_many_finalizers_and_formats_are_looked_through() {
        let finalizers: Vec<_> = (0..300_000).map(|n| format!("x.io/{n}")).collect();
        let held = object(json!({"metadata": {"finalizers": finalizers}}));
        assert!(check::added_finalizers(Some(&held), &held).is_empty());
        let properties = (0..100_000).map(|n| (n.to_string(), json!({"format": n.to_string()})));
        let schema = json!({"openAPIV3Schema": {"properties": Object::from_iter(properties)}});
        let definition = object(json!({"spec": {"versions": [{"schema": schema}]}}));
        assert_eq!(unknown_formats(&definition).len(), 100_000);
    }
}
