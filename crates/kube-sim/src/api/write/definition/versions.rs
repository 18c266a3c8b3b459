//! The versions that a definition lists.

use serde_json::Value;

pub(super) fn versions(definition: &Value) -> impl Iterator<Item = &Value> {
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
    versions.into_iter().flatten()
}
