//! The kinds of patches.

use json_patch::{AddOperation, PatchOperation};
use serde_json::{Map, Value};

use crate::nesting::{self, Unreadable};
use crate::status::{StatusError, go_kind};
use crate::yaml::{self, RepeatedKeys};

mod strategic;

/// The maximum number of operations of a JSON patch, as in a real server.
const MAX_OPERATIONS: usize = 10_000;

/// The maximum total size of the copies of a JSON patch, in bytes, as in a real server.
pub(crate) const MAX_COPIED: usize = 3 * 1024 * 1024;

/// Whether a patch is a configuration for server-side apply.
pub(crate) fn is_apply(content_type: &str) -> bool {
    media_type(content_type) == "application/apply-patch+yaml"
}

/// Reads what is applied, and the keys that are in it twice: YAML, and so JSON. An empty body is an object without fields.
pub(crate) fn read_config(body: &[u8]) -> Result<(Map<String, Value>, RepeatedKeys), StatusError> {
    let (value, repeated) = match nesting::parse(body) {
        // JSON is read as YAML, too, as far as its levels are not too many for that.
        Ok(value) => (
            value,
            yaml::read(body).map(|(_, repeated)| repeated).unwrap_or_default(),
        ),
        Err(error @ Unreadable::TooDeep(_)) => return Err(undecodable_yaml(&error.to_string())),
        Err(_) if body.trim_ascii().is_empty() => (Value::Null, RepeatedKeys::default()),
        Err(_) => yaml::read(body)
            .map_err(|error| undecodable_yaml(&format!("error converting YAML to JSON: {error}")))?,
    };
    match value {
        Value::Object(config) => Ok((config, repeated)),
        Value::Null => Ok((Map::new(), repeated)),
        Value::Array(_) => Err(not_a_map("array")),
        Value::String(_) => Err(not_a_map("string")),
        Value::Number(_) => Err(not_a_map("number")),
        Value::Bool(_) => Err(not_a_map("bool")),
    }
}

fn not_a_map(found: &str) -> StatusError {
    undecodable_yaml(&format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type \
         map[string]interface {{}}"
    ))
}

fn undecodable_yaml(why: &str) -> StatusError {
    StatusError::bad_request(format!("error decoding YAML: {why}"))
}

fn media_type(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or("").trim()
}

/// A patch that has been parsed but not applied.
#[derive(Debug)]
pub(crate) enum Patch {
    Merge(Value),
    Json(json_patch::Patch),
    Strategic(Value),
}

impl Patch {
    /// Parses the body of a PATCH. Custom resources do not support strategic merge.
    pub(crate) fn read(content_type: &str, body: &[u8], custom: bool) -> Result<Self, StatusError> {
        match media_type(content_type) {
            "application/merge-patch+json" => {
                let read = nesting::parse(body).map_err(|error| undecodable(&error))?;
                match read {
                    Value::Object(_) => Ok(Self::Merge(read)),
                    Value::Null => Err(StatusError::bad_request("Invalid JSON Patch")),
                    other => Err(undecodable(&misfit(&other, "map[string]interface {}"))),
                }
            }
            "application/json-patch+json" => {
                let operations = operations(nesting::parse(body).map_err(|error| undecodable(&error))?)?;
                if operations.len() > MAX_OPERATIONS {
                    return Err(StatusError::too_many_operations(MAX_OPERATIONS, operations.len()));
                }
                let patch = serde_json::from_value(operations.into());
                Ok(Self::Json(patch.map_err(|_| StatusError::unprocessable())?))
            }
            "application/strategic-merge-patch+json" if !custom => match nesting::parse::<Value>(body) {
                Err(error) => Err(StatusError::bad_request(error.to_string())),
                Ok(read @ Value::Object(_)) => Ok(Self::Strategic(read)),
                Ok(Value::Null) => Ok(Self::Strategic(Value::Object(Map::new()))),
                Ok(other) => Err(StatusError::bad_request(misfit(
                    &other,
                    "map[string]interface {}",
                ))),
            },
            _ if custom => Err(StatusError::unsupported_media_type(
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            )),
            _ => Err(StatusError::unsupported_patch()),
        }
    }

    pub(crate) fn apply(&self, mut document: Value) -> Result<Value, StatusError> {
        match self {
            Self::Merge(patch) => merge(&mut document, patch),
            Self::Json(patch) => apply_operations(&mut document, &patch.0)?,
            Self::Strategic(patch) => strategic::merge(&mut document, patch)?,
        }
        Ok(document)
    }
}

/// Merges a patch into a document as a real server does.
fn merge(document: &mut Value, patch: &Value) {
    let (Value::Object(members), Value::Object(patch)) = (&mut *document, patch) else {
        *document = patch.clone();
        return;
    };
    for (name, value) in patch {
        match members.get_mut(name) {
            _ if value.is_null() => _ = members.remove(name),
            Some(found @ Value::Object(_)) => merge(found, value),
            _ => _ = members.insert(name.clone(), without_nulls(value)),
        }
    }
}

/// What takes the place of no object has no members that are null, not in its lists either.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            members
                .map(|(name, value)| (name.clone(), without_nulls(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

/// Applies operations one by one, within the limits for copied bytes and for depth.
fn apply_operations(document: &mut Value, operations: &[PatchOperation]) -> Result<(), StatusError> {
    let mut copied = 0;
    // An upper bound of the document's depth.
    let mut levels = nesting::of(document);
    for operation in operations {
        let Some(operation) = leniently(operation, document) else {
            continue;
        };
        let value = match &operation {
            PatchOperation::Add(add) => Some(&add.value),
            PatchOperation::Replace(replace) => Some(&replace.value),
            PatchOperation::Move(moved) => document.pointer(moved.from.as_str()),
            PatchOperation::Copy(copy) => document.pointer(copy.from.as_str()),
            PatchOperation::Remove(_) | PatchOperation::Test(_) => None,
        };
        if let (PatchOperation::Copy(_), Some(value)) = (&operation, value) {
            copied += value.to_string().len();
        }
        if let Some(value) = value {
            let above = operation.path().count();
            // The moved value may be large, so its depth is computed only if necessary.
            let moves = matches!(operation, PatchOperation::Move(_));
            let below = match moves && above + levels <= nesting::MAX {
                true => levels,
                false => nesting::of(value),
            };
            levels = levels.max(above + below);
        }
        if copied > MAX_COPIED || levels > nesting::MAX {
            return Err(StatusError::unprocessable());
        }
        json_patch::patch(document, &[operation]).map_err(|_| StatusError::unprocessable())?;
    }
    Ok(())
}

/// Treats an operation as a real server does: a missing member of an object is null, and can be replaced and copied. `None`
/// if it is a test that passes.
fn leniently(operation: &PatchOperation, document: &Value) -> Option<PatchOperation> {
    let missing = |path: &json_patch::jsonptr::PointerBuf| {
        let parent = path.parent().and_then(|parent| document.pointer(parent.as_str()));
        parent.is_some_and(Value::is_object) && document.pointer(path.as_str()).is_none()
    };
    match operation {
        PatchOperation::Replace(replace) if missing(&replace.path) => {
            Some(PatchOperation::Add(AddOperation {
                path: replace.path.clone(),
                value: replace.value.clone(),
            }))
        }
        PatchOperation::Copy(copy) if missing(&copy.from) => Some(PatchOperation::Add(AddOperation {
            path: copy.path.clone(),
            value: Value::Null,
        })),
        PatchOperation::Test(test) if test.value.is_null() && missing(&test.path) => None,
        other => Some(other.clone()),
    }
}

/// The operations of a JSON patch. As for a real server, the first part of a path that does not begin with a slash is nothing, and a
/// value that is not there is null.
fn operations(read: Value) -> Result<Vec<Value>, StatusError> {
    let mut operations = match read {
        Value::Array(operations) => operations,
        Value::Null => Vec::new(),
        other => return Err(undecodable(&misfit(&other, "[]handlers.jsonPatchOp"))),
    };
    for operation in &mut operations {
        let Value::Object(members) = operation else {
            return Err(undecodable(&misfit(operation, "handlers.jsonPatchOp")));
        };
        members.entry("value").or_insert(Value::Null);
        for name in ["path", "from"] {
            if let Some(Value::String(path)) = members.get_mut(name)
                && let Some(slash) = path.find('/')
            {
                path.replace_range(..slash, "");
            }
        }
    }
    Ok(operations)
}

/// What Go says of a value that is not of a type.
fn misfit(value: &Value, wanted: &str) -> String {
    let found = go_kind(value);
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
}

fn undecodable(error: &impl std::fmt::Display) -> StatusError {
    StatusError::bad_request(format!("error decoding patch: {error}"))
}
