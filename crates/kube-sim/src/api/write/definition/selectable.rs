//! What is wrong with the fields of a definition by which its objects may be selected.

use std::collections::BTreeSet;

use serde_json::Value;

use super::versions::versions;
use crate::status::{Cause, quoted};

/// The most of one version.
const MOST: usize = 8;

const TYPES: [&str; 3] = ["string", "boolean", "integer"];

/// The faults of all versions. What all versions have in common, fields or schemas, a real server looks for in one place.
pub(super) fn faults(definition: &Value) -> Vec<Cause> {
    let all: Vec<_> = versions(definition).collect();
    let are_same = |name: &str| all.windows(2).all(|pair| pair[0][name] == pair[1][name]);
    let (same_fields, same_schemas) = (are_same("selectableFields"), are_same("schema"));
    let mut causes = Vec::new();
    for (index, version) in all
        .iter()
        .enumerate()
        .take(if same_fields { 1 } else { usize::MAX })
    {
        let (whose, missing) = match same_fields {
            true => (
                "spec.selectableFields".to_owned(),
                "may only be set when validations.schema is included",
            ),
            // A real server says so.
            false => (
                format!("spec.versions[{index}].selectableFields"),
                "may only be set when `version.schema.openAPIV3Schema` is not included",
            ),
        };
        let schema = &version["schema"]["openAPIV3Schema"];
        let fields = version["selectableFields"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        match fields {
            [] => {}
            _ if same_fields != same_schemas || schema.is_null() => {
                causes.push(Cause::invalid(whose, "\"\"", missing));
            }
            fields => of_version(fields, schema, &whose, &mut causes),
        }
    }
    causes
}

fn of_version(fields: &[Value], schema: &Value, whose: &str, causes: &mut Vec<Cause>) {
    let mut seen = BTreeSet::new();
    for (at, field) in fields.iter().enumerate() {
        let place = format!("{whose}[{at}].jsonPath");
        let path = field["jsonPath"].as_str().unwrap_or("");
        if path.is_empty() {
            causes.push(Cause::required(place, ""));
            continue;
        }
        let found = match found(path, schema) {
            Ok(found) => found,
            Err(why) => {
                let why = format!("is an invalid path: {why}");
                causes.push(Cause::invalid(place, quoted(path), &why));
                continue;
            }
        };
        if path.split('.').nth(1) == Some("metadata") {
            let why = "must not point to fields in metadata";
            causes.push(Cause::invalid(place.clone(), quoted(path), why));
        }
        if !found["type"].as_str().is_some_and(|kind| TYPES.contains(&kind)) {
            let why = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are \
                       allowed.";
            causes.push(Cause::invalid(place.clone(), quoted(path), why));
        }
        if !seen.insert(path) {
            causes.push(Cause::duplicate(place, &path.into()));
        }
    }
    if seen.len() > MOST {
        causes.push(Cause::too_many(whose.to_owned(), seen.len(), MOST));
    }
}

/// The schema of the field that a path leads to, or why it leads to none.
fn found<'a>(path: &str, schema: &'a Value) -> Result<&'a Value, String> {
    let mut schema = schema;
    let mut rest = path;
    while !rest.is_empty() {
        let Some(after) = rest.strip_prefix('.') else {
            return Err(match rest.starts_with('[') {
                true => "array notation is not allowed".to_owned(),
                false => format!("expected [ or . but got: {}", next(rest).0),
            });
        };
        if after.is_empty() {
            return Err("unexpected end of JSON path".to_owned());
        }
        let (name, others) = next(after);
        let field = match (&schema["properties"], &schema["additionalProperties"]) {
            (Value::Object(properties), _) => properties.get(name),
            (_, values) => Some(values).filter(|values| values.is_object()),
        };
        schema = field.ok_or("does not refer to a valid field")?;
        rest = others;
    }
    Ok(schema)
}

/// The next part of a path, which is a name or a single delimiter, and what comes after it.
fn next(path: &str) -> (&str, &str) {
    const DELIMITERS: [char; 3] = ['.', '[', ']'];
    match path.find(DELIMITERS) {
        Some(0) => path.split_at(1),
        Some(at) => path.split_at(at),
        None => (path, ""),
    }
}
