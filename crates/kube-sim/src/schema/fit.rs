//! What an object becomes when it comes in, or is read from what was stored under an older schema.

use serde_json::{Map, Value};

use super::types::Reader;
use super::{Additional, Definition, Schema, builtin, canonical, default, empty, prune, types};
use crate::path::Path;

/// Makes a custom resource one of its schema: drops unknown fields and misplaced nulls, fills in defaults. Returns the paths of
/// the fields that were dropped.
///
/// # Errors
///
/// What Go says about metadata that cannot be decoded.
pub(crate) fn custom(object: &mut Map<String, Value>, schema: &Schema) -> Result<Vec<String>, String> {
    made_custom(object, schema, true)
}

/// The same with what became of an object by applying to it: nulls that were applied stay, and are refused if there may be none.
pub(crate) fn applied(object: &mut Map<String, Value>, schema: &Schema) -> Result<Vec<String>, String> {
    made_custom(object, schema, false)
}

/// Makes an object of one version of a custom resource one of another's schema: drops unknown fields and misplaced nulls.
pub(crate) fn converted(object: &mut Map<String, Value>, schema: &Schema) {
    prune::unknown_fields(object, schema, &mut Vec::new());
    prune::nulls(object, schema);
}

/// Gives a custom resource its defaults.
pub(crate) fn defaulted(object: &mut Map<String, Value>, schema: &Schema) {
    default::fill_in(object, schema);
}

/// Makes a custom resource that is stored what a client reads: without misplaced nulls, with its defaults.
pub(crate) fn read(object: &mut Map<String, Value>, schema: &Schema) {
    prune::nulls(object, schema);
    default::fill_in(object, schema);
}

fn made_custom(
    object: &mut Map<String, Value>,
    schema: &Schema,
    drops_nulls: bool,
) -> Result<Vec<String>, String> {
    let mut dropped = Vec::new();
    if let Some(value) = object.get_mut("metadata") {
        metadata(value, "metadata", &mut dropped)?;
    }
    prune::unknown_fields(object, schema, &mut dropped);
    if drops_nulls {
        prune::nulls(object, schema);
    }
    if schema.has_embedded() {
        let mut found = Vec::new();
        embedded_in(object, schema, &mut found)?;
        found.sort();
        dropped.append(&mut found);
    }
    default::fill_in(object, schema);
    if schema.has_embedded() {
        // Nobody is told of what a default loses.
        embedded_in(object, schema, &mut Vec::new())?;
    }
    Ok(dropped)
}

/// Makes an object of a built-in kind one of its Go type: drops unknown fields and nulls, and writes values as Go does. Returns the
/// paths of the fields that were dropped.
///
/// # Errors
///
/// What Go says about a field of another type.
pub(crate) fn builtin(
    object: &mut Map<String, Value>,
    definition: &'static Definition,
) -> Result<Vec<String>, String> {
    read_builtin(object, definition, Reader::Json)
}

/// The same with what `reader` says.
///
/// # Errors
///
/// What Go says about a field of another type.
pub(crate) fn read_builtin(
    object: &mut Map<String, Value>,
    definition: &'static Definition,
    reader: Reader,
) -> Result<Vec<String>, String> {
    if let Some(error) = types::mismatch_of_object(object, definition, reader) {
        return Err(error);
    }
    let mut dropped = Vec::new();
    fields_of(object, definition, &mut dropped);
    empty::leave_out(object, definition);
    canonical::normalize(object, definition.schema());
    Ok(dropped)
}

/// Why something cannot be the metadata of an object.
pub(super) fn misfit_of_metadata(value: &Value) -> Option<String> {
    types::mismatch(value, builtin::named(builtin::METADATA)?, "")
}

/// Checks the metadata of an object, and drops from it what Go's type does not have.
fn metadata(value: &mut Value, path: &str, dropped: &mut Vec<String>) -> Result<(), String> {
    let Some(definition) = builtin::named(builtin::METADATA) else {
        return Ok(());
    };
    if let Some(error) = misfit_of_metadata(value) {
        return Err(error);
    }
    if let Value::Object(members) = value {
        let mut found = Vec::new();
        fields_of(members, definition, &mut found);
        dropped.extend(found.iter().map(|field| format!("{path}.{field}")));
    }
    empty::in_metadata(value);
    Ok(())
}

fn fields_of(members: &mut Map<String, Value>, definition: &Definition, dropped: &mut Vec<String>) {
    prune::fields(members, definition.schema(), dropped);
    empty::in_maps(members, definition.schema());
    prune::nulls(members, definition.schema());
}

fn embedded_in(
    object: &mut Map<String, Value>,
    schema: &Schema,
    dropped: &mut Vec<String>,
) -> Result<(), String> {
    for (name, value) in object {
        if let Some(node) = schema.properties.get(name).filter(|_| name != "metadata") {
            embedded(value, node.get(), &Path::Root.field(name), dropped)?;
        }
    }
    Ok(())
}

/// Looks for embedded objects, and checks their metadata.
fn embedded(
    value: &mut Value,
    schema: &Schema,
    path: &Path<'_>,
    dropped: &mut Vec<String>,
) -> Result<(), String> {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let path = path.field(name);
                if schema.embedded && name == "metadata" {
                    let at = path.to_string();
                    metadata(value, &at, dropped)
                        .map_err(|error| format!("{at}: Invalid value: {value}: {error}"))?;
                    continue;
                }
                if schema.embedded && matches!(name.as_str(), "apiVersion" | "kind") && !value.is_string() {
                    return Err(format!("{path}: Invalid value: {value}: must be a string"));
                }
                match (schema.properties.get(name), &schema.additional) {
                    (Some(node), _) | (None, Additional::Values(node)) => {
                        embedded(value, node.get(), &path, dropped)?;
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(node) = &schema.items {
                for (index, item) in items.iter_mut().enumerate() {
                    embedded(item, node.get(), &path.index(index), dropped)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

impl Schema {
    /// Whether an embedded object may be somewhere in a value.
    fn has_embedded(&self) -> bool {
        let within = |node: &super::Node| match node {
            super::Node::Here(schema) => schema.embedded || schema.has_embedded(),
            super::Node::There { .. } => false,
        };
        self.properties.values().any(within)
            || self.items.as_ref().is_some_and(within)
            || matches!(&self.additional, Additional::Values(values) if within(values))
    }
}
