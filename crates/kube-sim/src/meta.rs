//! What is in an object of JSON: its metadata, and what goes into it.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

pub(crate) mod faults;

pub(crate) type Object = Map<String, Value>;

pub(crate) fn metadata(object: &Object) -> &Object {
    static EMPTY: LazyLock<Object> = LazyLock::new(Map::new);
    object
        .get("metadata")
        .and_then(Value::as_object)
        .unwrap_or(&EMPTY)
}

pub(crate) fn metadata_mut(object: &mut Object) -> &mut Object {
    let slot = object.entry("metadata").or_insert_with(|| json!({}));
    if !slot.is_object() {
        *slot = json!({});
    }
    slot.as_object_mut().expect("it was just made an object")
}

pub(crate) fn text<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or("")
}

pub(crate) fn finalizers(object: &Object) -> Vec<&str> {
    let list = metadata(object).get("finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

pub(crate) fn is_being_deleted(object: &Object) -> bool {
    metadata(object)
        .get("deletionTimestamp")
        .is_some_and(|at| !at.is_null())
}

/// The version 4 UUID with these random bits.
pub(crate) fn uid_from(bits: u128) -> String {
    let bits = bits & !(0xf000 << 64) & !(0xc000 << 48) | (0x4000 << 64) | (0x8000 << 48);
    let hex = format!("{bits:032x}");
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

/// A timestamp as Kubernetes writes it: whole seconds.
pub(crate) fn rfc3339(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Puts a value at a path, through objects that are made if need be.
pub(crate) fn put_at(object: &mut Object, path: &str, value: Value) {
    let Some((first, rest)) = path.split_once('.') else {
        object.insert(path.to_owned(), value);
        return;
    };
    let inner = object.entry(first).or_insert_with(|| json!({}));
    if let Some(inner) = inner.as_object_mut() {
        put_at(inner, rest, value);
    }
}

/// The type of a decoded value in Go.
pub(crate) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
