//! Writing: the bytes that Go writes for a value's JSON.
//!
//! Written backwards, as Go does it: a length is known when what it is the length of has been written.

use crate::error::Segment;
use crate::table::{Field, Form, Label, Message, Presence, Type};
use crate::{Descriptor, Envelope, Error, MAX_DEPTH, text};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

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
    let mut writer = Writer::new(unknown);
    writer.message(message.0, Some(object), MAX_DEPTH)?;
    Ok(Envelope::new(api_version, kind, &writer.finish()).to_vec())
}

/// Writes a bare message, without an envelope.
///
/// # Errors
///
/// As [`to_vec`].
pub fn message_to_vec(message: Descriptor, value: &Value, unknown: UnknownFields) -> Result<Vec<u8>, Error> {
    let mut writer = Writer::new(unknown);
    writer.message(message.0, Some(value), MAX_DEPTH)?;
    Ok(writer.finish())
}

/// Writes an event of a watch, a bare message. `object` has its envelope, as [`to_vec`] makes it.
///
/// In a stream, its length comes before it, in four bytes, big-endian.
pub fn watch_event_to_vec(kind: &str, object: &[u8]) -> Vec<u8> {
    let mut writer = Writer::new(UnknownFields::Deny);
    let extension = writer.start();
    writer.bytes(1, object);
    writer.end(2, extension);
    writer.bytes(1, kind.as_bytes());
    writer.finish()
}

/// The bytes, last one first.
struct Writer {
    reversed: Vec<u8>,
    unknown: UnknownFields,
}

type Object = Map<String, Value>;

impl Writer {
    fn new(unknown: UnknownFields) -> Self {
        Self {
            reversed: Vec::new(),
            unknown,
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.reversed.reverse();
        self.reversed
    }

    /// Where a message starts that [`end`](Self::end) makes a field of.
    fn start(&self) -> usize {
        self.reversed.len()
    }

    fn end(&mut self, number: u32, start: usize) {
        self.varint((self.reversed.len() - start) as u64);
        self.tag(number, 2);
    }

    fn tag(&mut self, number: u32, wire_type: u32) {
        self.varint(u64::from(number << 3 | wire_type));
    }

    fn varint(&mut self, mut value: u64) {
        let mut bytes = [0; 10];
        let mut length = 0;
        while value >= 0x80 {
            bytes[length] = value as u8 | 0x80;
            value >>= 7;
            length += 1;
        }
        bytes[length] = value as u8;
        self.reversed.extend(bytes[..=length].iter().rev());
    }

    fn integer(&mut self, number: u32, value: i64) {
        self.varint(value as u64);
        self.tag(number, 0);
    }

    fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.reversed.extend(bytes.iter().rev());
        self.varint(bytes.len() as u64);
        self.tag(number, 2);
    }

    /// The fields of a message, without its tag and length. Without a value, its zero.
    fn message(
        &mut self,
        message: &'static Message,
        value: Option<&Value>,
        depth: usize,
    ) -> Result<(), Error> {
        let depth = depth.checked_sub(1).ok_or_else(Error::too_deep)?;
        let value = value.filter(|value| !value.is_null());
        match (message.form, value) {
            (Form::Fields, None) => self.fields(message, None, depth),
            (Form::Fields, Some(value)) => {
                let object = value.as_object().ok_or_else(|| expected("an object", value))?;
                self.find_unknown(message, object)?;
                self.fields(message, Some(object), depth)
            }
            (form, value) => self.form(message, form, value, depth),
        }
    }

    fn find_unknown(&self, message: &'static Message, object: &Object) -> Result<(), Error> {
        if self.unknown == UnknownFields::Ignore {
            return Ok(());
        }
        match object.keys().find(|name| !knows(message, name)) {
            Some(name) => Err(Error::mismatch("there is no such field").within(Segment::Name(name.clone()))),
            None => Ok(()),
        }
    }

    fn fields(
        &mut self,
        message: &'static Message,
        object: Option<&Object>,
        depth: usize,
    ) -> Result<(), Error> {
        for field in message.fields.iter().rev() {
            if field.presence == Presence::Inline {
                if let Some(inlined) = field.kind.message() {
                    let start = self.start();
                    self.fields(inlined, object, depth)?;
                    self.end(field.number, start);
                }
                continue;
            }
            let value = object
                .and_then(|object| object.get(field.name))
                .filter(|value| !value.is_null());
            self.field(field, value, depth)
                .map_err(|error| error.within_field(field.name))?;
        }
        Ok(())
    }

    fn field(&mut self, field: &Field, value: Option<&Value>, depth: usize) -> Result<(), Error> {
        match (field.label, value) {
            (Label::One, None) if field.presence.is_pointer() || is_slice(field.kind) => Ok(()),
            (Label::One, value) => self.value(field.number, field.kind, value, depth),
            (_, None) => Ok(()),
            (Label::Many, Some(value)) => {
                let elements = value.as_array().ok_or_else(|| expected("an array", value))?;
                for (index, element) in elements.iter().enumerate().rev() {
                    self.value(field.number, field.kind, Some(element), depth)
                        .map_err(|error| error.at_index(index))?;
                }
                Ok(())
            }
            (Label::Map, Some(value)) => {
                let object = value.as_object().ok_or_else(|| expected("an object", value))?;
                let mut entries: Vec<_> = object.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                for (key, value) in entries.into_iter().rev() {
                    self.entry(field, key, value, depth)
                        .map_err(|error| error.within(Segment::Key(key.clone())))?;
                }
                Ok(())
            }
        }
    }

    fn entry(&mut self, field: &Field, key: &str, value: &Value, depth: usize) -> Result<(), Error> {
        let start = self.start();
        // A slice of bytes can be nil, and is missing then.
        if !(value.is_null() && matches!(field.kind, Type::Bytes)) {
            self.value(2, field.kind, Some(value), depth)?;
        }
        self.bytes(1, key.as_bytes());
        self.end(field.number, start);
        Ok(())
    }

    /// A value with its tag; null and none are the zero.
    fn value(&mut self, number: u32, kind: Type, value: Option<&Value>, depth: usize) -> Result<(), Error> {
        let value = value.filter(|value| !value.is_null());
        match (kind, value) {
            (Type::Msg(_) | Type::Object(_), value) => {
                if let Some(message) = kind.message() {
                    let start = self.start();
                    self.message(message, value, depth)?;
                    self.end(number, start);
                }
            }
            (Type::Bool, None) => self.integer(number, 0),
            (Type::Bool, Some(Value::Bool(value))) => self.integer(number, i64::from(*value)),
            (Type::Bool, Some(value)) => return Err(expected("a boolean", value)),
            (Type::Int32 | Type::Int64, None) => self.integer(number, 0),
            (Type::Int32, Some(value)) => self.integer(number, i64::from(int32(value)?)),
            (Type::Int64, Some(value)) => {
                let value = value
                    .as_i64()
                    .ok_or_else(|| expected("an integer of 64 bits", value))?;
                self.integer(number, value);
            }
            (Type::Double, value) => {
                let value = value.map_or(Some(0.0), Value::as_f64);
                let value = value.ok_or_else(|| Error::mismatch("a number is expected"))?;
                self.reversed.extend(value.to_le_bytes().iter().rev());
                self.tag(number, 1);
            }
            (Type::String, None) | (Type::Bytes, None) => self.bytes(number, b""),
            (Type::String, Some(value)) => self.bytes(number, string(value)?.as_bytes()),
            (Type::Bytes, Some(value)) => {
                let bytes = BASE64_STANDARD
                    .decode(string(value)?)
                    .map_err(|_| Error::mismatch("base64 is expected"))?;
                self.bytes(number, &bytes);
            }
        }
        Ok(())
    }

    /// A message that is not an object in JSON.
    fn form(
        &mut self,
        message: &'static Message,
        form: Form,
        value: Option<&Value>,
        depth: usize,
    ) -> Result<(), Error> {
        match (form, value) {
            (Form::Fields, value) => return self.message(message, value, depth),
            (Form::Quantity, None) => self.bytes(1, b"0"),
            (Form::Quantity, Some(value)) => {
                let text = match value {
                    Value::Number(number) => number.to_string(),
                    value => string(value)?.to_owned(),
                };
                let text = text.trim();
                if !text::is_quantity(text) {
                    return Err(Error::mismatch("a quantity is expected, such as 500m or 2Gi"));
                }
                self.bytes(1, text.as_bytes());
            }
            (Form::IntOrString, Some(Value::String(text))) => {
                self.bytes(3, text.as_bytes());
                self.integer(2, 0);
                self.integer(1, 1);
            }
            (Form::IntOrString, value) => {
                self.bytes(3, b"");
                self.integer(2, i64::from(value.map_or(Ok(0), int32)?));
                self.integer(1, 0);
            }
            (Form::Duration, value) => {
                let nanoseconds = match value {
                    None => 0,
                    Some(value) => text::parse_duration(string(value)?)
                        .ok_or_else(|| Error::mismatch("a duration is expected, such as 1h30m"))?,
                };
                self.integer(1, nanoseconds);
            }
            (Form::SchemaOrBool, None) => self.integer(1, 0),
            (Form::SchemaOrBool, Some(Value::Bool(allows))) => self.integer(1, i64::from(*allows)),
            (Form::SchemaOrBool, Some(schema)) => {
                self.value(2, message.fields[1].kind, Some(schema), depth)?;
                self.integer(1, 1);
            }
            (_, None) => {}
            (Form::Time | Form::MicroTime, Some(value)) => {
                let (seconds, nanoseconds) = text::parse_time(string(value)?)
                    .ok_or_else(|| Error::mismatch("a time is expected, such as 2006-01-02T15:04:05Z"))?;
                let nanoseconds = if form == Form::Time {
                    0
                } else {
                    nanoseconds / 1000 * 1000
                };
                if (seconds, nanoseconds) != (text::ZERO_TIME, 0) {
                    self.integer(2, i64::from(nanoseconds));
                    self.integer(1, seconds);
                }
            }
            (Form::Json | Form::RawExtension, Some(value)) => {
                check_depth(value, depth)?;
                self.bytes(1, value.to_string().as_bytes());
            }
            (Form::Strings, Some(value)) => self.several(1, Type::String, value, depth)?,
            (Form::SchemaOrArray | Form::SchemaOrStrings, Some(value)) if value.is_array() => {
                self.several(2, message.fields[1].kind, value, depth)?;
            }
            (Form::SchemaOrArray | Form::SchemaOrStrings, Some(schema)) => {
                self.value(1, message.fields[0].kind, Some(schema), depth)?;
            }
        }
        Ok(())
    }

    fn several(&mut self, number: u32, kind: Type, value: &Value, depth: usize) -> Result<(), Error> {
        let elements = value.as_array().ok_or_else(|| expected("an array", value))?;
        for (index, element) in elements.iter().enumerate().rev() {
            self.value(number, kind, Some(element), depth)
                .map_err(|error| error.at_index(index))?;
        }
        Ok(())
    }
}

/// Whether a value can be nil in Go although it is no pointer.
fn is_slice(kind: Type) -> bool {
    matches!(kind, Type::Bytes)
        || kind
            .message()
            .is_some_and(|message| message.form == Form::Strings)
}

fn knows(message: &'static Message, name: &str) -> bool {
    (message.has_type_meta && matches!(name, "apiVersion" | "kind"))
        || message
            .fields
            .iter()
            .any(|field| match (field.presence, field.kind.message()) {
                (Presence::Inline, Some(inlined)) => knows(inlined, name),
                _ => field.name == name,
            })
}

fn string(value: &Value) -> Result<&str, Error> {
    value.as_str().ok_or_else(|| expected("a string", value))
}

fn int32(value: &Value) -> Result<i32, Error> {
    let integer = value.as_i64().and_then(|value| i32::try_from(value).ok());
    integer.ok_or_else(|| expected("an integer of 32 bits", value))
}

fn expected(what: &str, value: &Value) -> Error {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) if what.starts_with("an integer") => "a larger one",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Error::mismatch(format!("{what} is expected, not {found}"))
}

/// Printing JSON recurses.
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
