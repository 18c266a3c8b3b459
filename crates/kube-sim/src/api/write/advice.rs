//! What a client is warned of although its object is taken: what may do harm later.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::{Object, Writer, definition, finalizers};
use crate::resources::Resource;
use crate::schema;

/// What the client of a request is to be warned of, once.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, warning: String) {
        let mut warnings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

/// They are those of one request.
impl PartialEq for Warnings {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Warnings {}

/// Warns of what `new` brings that `old` did not have.
pub(super) fn warn(resource: &Resource, old: Option<&Object>, new: &Object, writer: Writer<'_>) {
    let Some(warnings) = writer.warnings() else {
        return;
    };
    if resource.custom {
        for finalizer in unqualified_finalizers(old, new) {
            warnings.add(finalizer);
        }
    }
    if resource.id() == definition::ID {
        let mut known = Vec::new();
        old.into_iter().for_each(|old| unknown_formats(old, &mut known));
        let mut formats = Vec::new();
        unknown_formats(new, &mut formats);
        for format in formats.into_iter().filter(|format| !known.contains(format)) {
            warnings.add(format!("unrecognized format {}", crate::status::quoted(format)));
        }
    }
}

/// What is said of finalizers whose names have no prefix.
fn unqualified_finalizers(old: Option<&Object>, new: &Object) -> Vec<String> {
    let before = old.map(finalizers).unwrap_or_default();
    let added = finalizers(new).into_iter().collect::<BTreeSet<_>>();
    let unqualified = |name: &&str| !before.contains(name) && !name.contains('/');
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
fn unknown_formats<'a>(definition: &'a Object, found: &mut Vec<&'a str>) {
    let versions = definition
        .get("spec")
        .and_then(|spec| spec["versions"].as_array());
    for version in versions.into_iter().flatten() {
        if let Some(schema) = version.pointer("/schema/openAPIV3Schema") {
            formats_in(schema, found);
        }
    }
}

fn formats_in<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    let text = |name: &str| schema[name].as_str().unwrap_or("");
    let format = text("format");
    if !format.is_empty() && !schema::is_known_format(text("type"), format) && !found.contains(&format) {
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
