//! The kinds of patches.

use serde_json::Value;

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
                let patch = serde_json::from_slice(body).map_err(|e| undecodable(&e))?;
                Ok(Self::Json(patch))
            }
            "application/strategic-merge-patch+json" if !custom => Ok(Self::Strategic(object(body)?)),
            _ => Err(StatusError::unsupported_media_type(match custom {
                true => "application/json-patch+json, application/merge-patch+json",
                false => {
                    "application/json-patch+json, application/merge-patch+json, \
                     application/strategic-merge-patch+json"
                }
            })),
        }
    }

    pub(crate) fn apply(&self, mut document: Value) -> Result<Value, StatusError> {
        match self {
            Self::Merge(patch) => json_patch::merge(&mut document, patch),
            Self::Json(patch) => {
                json_patch::patch(&mut document, patch).map_err(|_| StatusError::unprocessable())?;
            }
            Self::Strategic(patch) => strategic::merge(&mut document, patch)?,
        }
        Ok(document)
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
