//! Writing: the bytes that Go writes for a value's JSON.
//!
//! The value is read once, as whatever serde has, and its scalars are written as records at once. But JSON has its members in
//! any order, and protobuf has a length before what it is the length of. So every message is kept as a list of what it
//! consists of, and put together when all of it has been read.

mod place;
mod records;

use crate::table::Type;
use crate::wire::{put_bytes, put_tag, put_varint, varint_length};
use crate::{Descriptor, Envelope, Error, MAX_DEPTH};
use place::Expected;
use records::{Encoder, Part};
use serde::de::{DeserializeSeed, Deserializer};
use serde_json::Value;

/// What becomes of fields that a message does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnknownFields {
    /// They are left out.
    Ignore,
    /// They are an error that names them.
    Deny,
}

/// Writes an object in its [`Envelope`](crate::Envelope); its `apiVersion` and `kind` say which message it is.
///
/// The bytes are those that Go writes after it has read the object's JSON: fields by number, maps by key. That includes zeros
/// that are not in the JSON, and leaves out nulls. Only a quantity that is not in its canonical form (`1000m` for `1`) is
/// written as it is; who reads it makes it canonical.
///
/// ```
/// use kube_protobuf::{UnknownFields, to_vec};
///
/// let object = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": 1}});
/// let error = to_vec(&object, UnknownFields::Ignore).unwrap_err();
/// assert_eq!(error.to_string(), "data[\"a\"]: a string is expected, not a number");
/// ```
///
/// # Errors
///
/// [`ErrorKind::UnknownKind`](crate::ErrorKind::UnknownKind) if there is no message,
/// [`Mismatch`](crate::ErrorKind::Mismatch) for what does not fit it, and [`TooDeep`](crate::ErrorKind::TooDeep).
pub fn to_vec(object: &Value, unknown: UnknownFields) -> Result<Vec<u8>, Error> {
    let name = |field: &'static str| match object.get(field) {
        Some(Value::String(name)) => Ok(name.as_str()),
        None | Some(Value::Null) => Ok(""),
        Some(_) => Err(Error::mismatch("it must be a string").within_field(field)),
    };
    let (api_version, kind) = (name("apiVersion")?, name("kind")?);
    let message = Descriptor::of(api_version, kind).ok_or_else(|| Error::unknown_kind(api_version, kind))?;
    let message = message_to_vec(message, object, unknown)?;
    Ok(Envelope::new(api_version, kind, &message).to_vec())
}

/// Writes a bare message, without an envelope.
///
/// # Errors
///
/// As [`to_vec`].
pub fn message_to_vec(message: Descriptor, value: &Value, unknown: UnknownFields) -> Result<Vec<u8>, Error> {
    check_depth(value, DEEPEST_VALUE)?;
    encode(message, value, unknown, 0)
}

/// Writes a bare message from its JSON, without a [`Value`] in between: in less than half the time.
///
/// ```
/// use kube_protobuf::{Descriptor, UnknownFields, from_message, json_to_vec};
/// use serde_json::{Value, json};
///
/// let message = Descriptor::of("v1", "ConfigMap").unwrap();
/// let bytes = json_to_vec(message, r#"{"metadata": {"name": "a"}, "data": {"k": "v"}}"#, UnknownFields::Deny)?;
/// let read: Value = from_message(message, &bytes)?;
/// assert_eq!(read["data"], json!({"k": "v"}));
/// # Ok::<(), kube_protobuf::Error>(())
/// ```
///
/// Of members that are there twice the last one counts. JSON in a message, such as that of managed fields, is kept as it is
/// written.
///
/// # Errors
///
/// As [`to_vec`], and [`Malformed`](crate::ErrorKind::Malformed) for what is no JSON.
pub fn json_to_vec(message: Descriptor, json: &str, unknown: UnknownFields) -> Result<Vec<u8>, Error> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    // The depth of messages is limited here; what is kept as it is, or passed over, takes no stack.
    deserializer.disable_recursion_limit();
    let bytes = encode(message, &mut deserializer, unknown, json.len())?;
    deserializer.end().map_err(|error| Error::json(&error))?;
    Ok(bytes)
}

/// Writes an event of a watch, a bare message. `object` has its envelope, as [`to_vec`] makes it.
///
/// In a stream, its length comes before it, in four bytes, big-endian.
pub fn watch_event_to_vec(kind: &str, object: &[u8]) -> Vec<u8> {
    let extension = 1 + varint_length(object.len() as u64) + object.len();
    // Three fields, each with a tag of a byte and a length of ten bytes at most.
    let mut event = Vec::with_capacity(3 * 11 + kind.len() + object.len());
    put_bytes(&mut event, 1, kind.as_bytes());
    put_tag(&mut event, 2, 2);
    put_varint(&mut event, extension as u64);
    put_bytes(&mut event, 1, object);
    event
}

/// A message is at most two levels of JSON: an array or a map, and an object.
const DEEPEST_VALUE: usize = 2 * MAX_DEPTH;

/// Printing the JSON in a value recurses.
fn check_depth(value: &Value, depth: usize) -> Result<(), Error> {
    let depth = depth.checked_sub(1).ok_or_else(Error::too_deep)?;
    match value {
        Value::Array(elements) => elements
            .iter()
            .try_for_each(|element| check_depth(element, depth)),
        Value::Object(object) => object.values().try_for_each(|value| check_depth(value, depth)),
        _ => Ok(()),
    }
}

/// `json` is how long the JSON is, if that is known.
fn encode<'de, D>(
    message: Descriptor,
    deserializer: D,
    unknown: UnknownFields,
    json: usize,
) -> Result<Vec<u8>, Error>
where
    D: Deserializer<'de, Error = serde_json::Error>,
{
    let mut encoder = Encoder::new(unknown, json);
    let kind = Type::Msg(message.0);
    let read = encoder
        .place(Expected::One(kind), 0, MAX_DEPTH)
        .deserialize(deserializer);
    let part = match read {
        Ok(Part::Null) => encoder.zero(0, kind, MAX_DEPTH)?,
        Ok(part) => part,
        Err(error) => return Err(encoder.error.unwrap_or_else(|| Error::json(&error))),
    };
    let mut bytes = Vec::with_capacity(part.length());
    if let Part::Message { parts, .. } = part {
        encoder.put_all(&mut bytes, parts);
    }
    Ok(bytes)
}
