//! The kinds of patches.

use json_patch::{AddOperation, PatchOperation, TestOperation};
use serde_json::{Map, Value};

use crate::status::StatusError;

mod strategic;

/// A patch that has been read, not yet applied.
#[derive(Debug)]
pub(crate) enum Patch {
    Merge(Value),
    Json(json_patch::Patch),
    Strategic(Value),
}

impl Patch {
    /// Reads the body of a PATCH; custom resources know no strategic merge.
    pub(crate) fn read(content_type: &str, body: &[u8], custom: bool) -> Result<Self, StatusError> {
        let media_type = content_type.split(';').next().unwrap_or("").trim();
        match media_type {
            "application/merge-patch+json" => Ok(Self::Merge(object(body)?)),
            "application/json-patch+json" => {
                let operations: Vec<Map<String, Value>> =
                    serde_json::from_slice(body).map_err(|e| undecodable(&e))?;
                let patch = serde_json::from_value(operations.into_iter().map(Value::Object).collect());
                Ok(Self::Json(patch.map_err(|_| StatusError::unprocessable())?))
            }
            "application/strategic-merge-patch+json" if !custom => Ok(Self::Strategic(object(body)?)),
            _ if custom => Err(StatusError::unsupported_media_type(
                "application/json-patch+json, application/merge-patch+json",
            )),
            _ => Err(StatusError::unsupported_patch()),
        }
    }

    pub(crate) fn apply(&self, mut document: Value) -> Result<Value, StatusError> {
        match self {
            Self::Merge(patch) => json_patch::merge(&mut document, patch),
            Self::Json(patch) => {
                for operation in &patch.0 {
                    let operation = leniently(operation, &document);
                    json_patch::patch(&mut document, &[operation])
                        .map_err(|_| StatusError::unprocessable())?;
                }
            }
            Self::Strategic(patch) => strategic::merge(&mut document, patch)?,
        }
        Ok(document)
    }
}

/// As a real server takes an operation: what is missing in an object is null, and can be replaced.
fn leniently(operation: &PatchOperation, document: &Value) -> PatchOperation {
    let missing = |path: &json_patch::jsonptr::PointerBuf| {
        let parent = path.parent().and_then(|parent| document.pointer(parent.as_str()));
        parent.is_some_and(Value::is_object) && document.pointer(path.as_str()).is_none()
    };
    match operation {
        PatchOperation::Replace(replace) if missing(&replace.path) => PatchOperation::Add(AddOperation {
            path: replace.path.clone(),
            value: replace.value.clone(),
        }),
        // A test that always holds.
        PatchOperation::Test(test) if test.value.is_null() && missing(&test.path) => {
            PatchOperation::Test(TestOperation {
                path: json_patch::jsonptr::PointerBuf::default(),
                value: document.clone(),
            })
        }
        other => other.clone(),
    }
}

fn object(body: &[u8]) -> Result<Value, StatusError> {
    let value: Value = serde_json::from_slice(body).map_err(|e| undecodable(&e))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(StatusError::bad_request("error decoding patch: not an object"))
    }
}

/// Says where, never what: the body may be a secret.
fn undecodable(error: &serde_json::Error) -> StatusError {
    let (line, column) = (error.line(), error.column());
    StatusError::bad_request(format!(
        "error decoding patch: invalid JSON at line {line}, column {column}"
    ))
}
