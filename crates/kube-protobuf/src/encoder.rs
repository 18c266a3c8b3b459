//! Writing: the bytes that Go writes for a value's JSON.
//!
//! The value is read once, as whatever serde has, and its scalars are written as records at once. But JSON has its members in
//! any order, and protobuf has a length before what it is the length of. So every message is kept as a list of what it
//! consists of, and put together when all of it has been read.

use crate::error::Segment;
use crate::table::{Field, Form, Kind, Label, Message, Presence, Type};
use crate::wire::{put_bytes, put_tag, put_varint, varint_length};
use crate::{Descriptor, Envelope, Error, MAX_DEPTH, text};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::fmt;

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
    encode(message, value, unknown)
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
    let bytes = encode(message, &mut deserializer, unknown)?;
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

fn encode<'de, D>(message: Descriptor, deserializer: D, unknown: UnknownFields) -> Result<Vec<u8>, Error>
where
    D: Deserializer<'de, Error = serde_json::Error>,
{
    let mut encoder = Encoder {
        unknown,
        records: Vec::new(),
        parts: Vec::new(),
        open: Vec::new(),
        error: None,
    };
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

/// A value that has been read.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// Null in JSON.
    Null,
    /// Records that are written.
    Records(Span),
    /// A record with a message in it.
    Message { number: u32, parts: Span, length: usize },
    /// The records of an array or a map.
    Several { parts: Span, length: usize },
}

/// Where something is.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
}

impl Part {
    /// How many bytes it has.
    fn length(self) -> usize {
        match self {
            Self::Null => 0,
            Self::Records(span) => span.end - span.start,
            Self::Message { number, length, .. } => {
                varint_length(u64::from(number << 3)) + varint_length(length as u64) + length
            }
            Self::Several { length, .. } => length,
        }
    }
}

struct Encoder {
    unknown: UnknownFields,
    /// Scalars with their tags, in the order of the JSON.
    records: Vec<u8>,
    /// What messages, arrays and maps consist of, each in one piece and in the order of its records.
    parts: Vec<Part>,
    /// What those consist of that are being read, and its order in them: the innermost one is last.
    open: Vec<(u32, Part)>,
    /// Why it cannot be written.
    error: Option<Error>,
}

impl Encoder {
    fn place(&mut self, expected: Expected, number: u32, depth: usize) -> Place<'_> {
        Place {
            encoder: self,
            expected,
            number,
            depth,
        }
    }

    /// Keeps an error, which a deserializer's own has no room for.
    fn fail<E: serde::de::Error>(&mut self, error: Error) -> E {
        self.error = Some(error);
        E::custom("the value does not fit")
    }

    /// Adds to an error where it is.
    fn within(&mut self, segment: Segment) {
        self.error = self.error.take().map(|error| error.within(segment));
    }

    fn put_all(&self, out: &mut Vec<u8>, parts: Span) {
        for part in &self.parts[parts.start..parts.end] {
            match *part {
                Part::Null => {}
                Part::Records(span) => out.extend_from_slice(&self.records[span.start..span.end]),
                Part::Message {
                    number,
                    parts,
                    length,
                } => {
                    put_tag(out, number, 2);
                    put_varint(out, length as u64);
                    self.put_all(out, parts);
                }
                Part::Several { parts, .. } => self.put_all(out, parts),
            }
        }
    }

    /// Writes records.
    fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Part {
        let start = self.records.len();
        write(&mut self.records);
        Part::Records(Span {
            start,
            end: self.records.len(),
        })
    }

    fn integer(&mut self, number: u32, value: i64) -> Part {
        self.write(|out| put_integer(out, number, value))
    }

    fn bytes(&mut self, number: u32, bytes: &[u8]) -> Part {
        self.write(|out| put_bytes(out, number, bytes))
    }

    /// Takes what was opened from `start` on.
    fn close(&mut self, start: usize) -> (Span, usize) {
        let first = self.parts.len();
        self.parts.extend(self.open.drain(start..).map(|(_, part)| part));
        let parts = Span {
            start: first,
            end: self.parts.len(),
        };
        (parts, self.parts[first..].iter().map(|part| part.length()).sum())
    }

    fn message(&mut self, number: u32, parts: &[Part]) -> Part {
        let start = self.open.len();
        self.open.extend(parts.iter().map(|part| (0, *part)));
        let (parts, length) = self.close(start);
        Part::Message {
            number,
            parts,
            length,
        }
    }

    /// Puts the fields of a message, and of those that are embedded in it, in order, between those that the JSON does not have.
    /// `read` are those that it has, by their order, which is counted in `order`.
    fn fields(
        &mut self,
        number: u32,
        message: &'static Message,
        read: &mut Span,
        order: &mut u32,
        depth: usize,
    ) -> Result<Part, Error> {
        let start = self.open.len();
        for field in message.fields {
            if let Some(embedded) = embedded(field) {
                let part = self.fields(field.number, embedded, read, order, depth)?;
                self.open.push((0, part));
                continue;
            }
            let mut part = Part::Null;
            while read.start < read.end && self.open[read.start].0 == *order {
                part = self.open[read.start].1;
                read.start += 1;
            }
            if let Part::Null = part {
                part = self
                    .absent(field, depth)
                    .map_err(|error| error.within_field(field.name))?;
            }
            if !matches!(part, Part::Null) {
                self.open.push((0, part));
            }
            *order += 1;
        }
        let (parts, length) = self.close(start);
        Ok(Part::Message {
            number,
            parts,
            length,
        })
    }

    /// What Go writes for a field that has no value.
    fn absent(&mut self, field: &Field, depth: usize) -> Result<Part, Error> {
        match field.label {
            Label::One if !field.presence.is_pointer() && !is_slice(field.kind) => {
                self.zero(field.number, field.kind, depth)
            }
            _ => Ok(Part::Null),
        }
    }

    fn zero(&mut self, number: u32, kind: Type, depth: usize) -> Result<Part, Error> {
        Ok(match kind {
            Type::Bool | Type::Int32 | Type::Int64 => self.integer(number, 0),
            Type::Double => self.write(|out| put_double(out, number, 0.0)),
            Type::String | Type::Bytes => self.bytes(number, b""),
            Type::Msg(message) | Type::Object(&Kind { message, .. }) => {
                let depth = depth.checked_sub(1).ok_or_else(Error::too_deep)?;
                let nothing = &mut Span { start: 0, end: 0 };
                let zero = match message.form {
                    Form::Fields => return self.fields(number, message, nothing, &mut 0, depth),
                    Form::Quantity => self.bytes(1, b"0"),
                    Form::IntOrString => self.write(|out| put_int_or_string(out, 0, 0, "")),
                    Form::Duration | Form::SchemaOrBool => self.integer(1, 0),
                    _ => Part::Null,
                };
                self.message(number, &[zero])
            }
        })
    }
}

/// What JSON should have in a place.
#[derive(Debug, Clone, Copy)]
enum Expected {
    One(Type),
    Many(Type),
    Map(Type),
}

impl Expected {
    fn of(field: &Field) -> Self {
        match field.label {
            Label::One => Self::One(field.kind),
            Label::Many => Self::Many(field.kind),
            Label::Map => Self::Map(field.kind),
        }
    }

    /// The form of a message.
    fn form(self) -> Option<(&'static Message, Form)> {
        match self {
            Self::One(kind) => kind.message().map(|message| (message, message.form)),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Many(_) => "an array",
            Self::Map(_) => "an object",
            Self::One(Type::Bool) => "a boolean",
            Self::One(Type::Int32) => "an integer of 32 bits",
            Self::One(Type::Int64) => "an integer of 64 bits",
            Self::One(Type::Double) => "a number",
            Self::One(Type::String | Type::Bytes) => "a string",
            Self::One(Type::Msg(message) | Type::Object(&Kind { message, .. })) => match message.form {
                Form::Time | Form::MicroTime | Form::Duration | Form::Quantity => "a string",
                Form::IntOrString => "an integer of 32 bits",
                Form::Strings => "an array",
                _ => "an object",
            },
        }
    }
}

/// A place that is read into: a field with this number, an element of an array, a value of a map, or the whole.
struct Place<'a> {
    encoder: &'a mut Encoder,
    expected: Expected,
    number: u32,
    /// How many levels of messages there may be.
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Part;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Part, D::Error> {
        match self.expected.form() {
            Some((_, Form::Json | Form::RawExtension)) => {
                let json = Box::<RawValue>::deserialize(deserializer)?;
                self.json(json.get())
            }
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected.name())
    }

    fn visit_unit<E>(self) -> Result<Part, E> {
        Ok(Part::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Part, E> {
        let value_or_zero = i64::from(value);
        match (self.expected, self.expected.form()) {
            (Expected::One(Type::Bool), _) => Ok(self.encoder.integer(self.number, value_or_zero)),
            (_, Some((_, Form::SchemaOrBool))) => {
                let allows = self.encoder.integer(1, value_or_zero);
                self.form(&[allows])
            }
            _ => Err(self.refuse("a boolean")),
        }
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Part, E> {
        self.number(&value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Part, E> {
        self.number(&value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Part, E> {
        match Number::from_f64(value) {
            Some(number) => self.number(&number),
            None => Err(self.refuse("a number that is not finite")),
        }
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Part, E> {
        match (self.expected, self.expected.form()) {
            (Expected::One(Type::String), _) => Ok(self.encoder.bytes(self.number, value.as_bytes())),
            (Expected::One(Type::Bytes), _) => match BASE64_STANDARD.decode(value) {
                Ok(bytes) => Ok(self.encoder.bytes(self.number, &bytes)),
                Err(_) => Err(self.encoder.fail(Error::mismatch("base64 is expected"))),
            },
            (_, Some((_, form))) => self.text(form, value),
            _ => Err(self.refuse("a string")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, elements: A) -> Result<Part, A::Error> {
        match (self.expected, self.expected.form()) {
            (Expected::Many(kind), _) => self.elements(kind, elements),
            (_, Some((message, form))) => {
                let (number, kind) = match form {
                    Form::Strings => (1, Type::String),
                    Form::SchemaOrArray | Form::SchemaOrStrings => (2, message.fields[1].kind),
                    _ => return Err(self.refuse("an array")),
                };
                let depth = self.deeper()?;
                let place = self.encoder.place(Expected::Many(kind), number, depth);
                let several = place.elements(kind, elements)?;
                Ok(self.encoder.message(self.number, &[several]))
            }
            _ => Err(self.refuse("an array")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, entries: A) -> Result<Part, A::Error> {
        match (self.expected, self.expected.form()) {
            (Expected::Map(kind), _) => self.entries(kind, entries),
            (_, Some((message, Form::Fields))) => self.fields(message, entries),
            (_, Some((message, form))) => {
                let (number, is_schema, kind) = match form {
                    Form::SchemaOrArray | Form::SchemaOrStrings => (1, false, message.fields[0].kind),
                    Form::SchemaOrBool => (2, true, message.fields[1].kind),
                    _ => return Err(self.refuse("an object")),
                };
                let depth = self.deeper()?;
                let place = self.encoder.place(Expected::One(kind), number, depth);
                let schema = place.visit_map(entries)?;
                let allows = match is_schema {
                    true => self.encoder.integer(1, 1),
                    false => Part::Null,
                };
                Ok(self.encoder.message(self.number, &[allows, schema]))
            }
            _ => Err(self.refuse("an object")),
        }
    }
}

impl Place<'_> {
    fn refuse<E: serde::de::Error>(self, found: &str) -> E {
        let expected = self.expected.name();
        let error = Error::mismatch(format!("{expected} is expected, not {found}"));
        self.encoder.fail(error)
    }

    /// The depth in a message.
    fn deeper<E: serde::de::Error>(&mut self) -> Result<usize, E> {
        let deeper = self.depth.checked_sub(1);
        deeper.ok_or_else(|| self.encoder.fail(Error::too_deep()))
    }

    /// A message that is not an object in JSON.
    fn form<E: serde::de::Error>(mut self, parts: &[Part]) -> Result<Part, E> {
        self.deeper()?;
        Ok(self.encoder.message(self.number, parts))
    }

    fn json<E: serde::de::Error>(self, json: &str) -> Result<Part, E> {
        if json == "null" {
            return Ok(Part::Null);
        }
        let bytes = self.encoder.bytes(1, json.as_bytes());
        self.form(&[bytes])
    }

    fn number<E: serde::de::Error>(self, number: &Number) -> Result<Part, E> {
        let int32 = || number.as_i64().and_then(|value| i32::try_from(value).ok());
        match (self.expected, self.expected.form()) {
            (Expected::One(Type::Int32), _) => {
                if let Some(value) = int32() {
                    return Ok(self.encoder.integer(self.number, value.into()));
                }
            }
            (Expected::One(Type::Int64), _) => {
                if let Some(value) = number.as_i64() {
                    return Ok(self.encoder.integer(self.number, value));
                }
            }
            (Expected::One(Type::Double), _) => {
                if let Some(value) = number.as_f64() {
                    let number = self.number;
                    return Ok(self.encoder.write(|out| put_double(out, number, value)));
                }
            }
            (_, Some((_, Form::Quantity))) => return self.text(Form::Quantity, &number.to_string()),
            (_, Some((_, Form::IntOrString))) => {
                if let Some(value) = int32() {
                    let port = self.encoder.write(|out| put_int_or_string(out, 0, value, ""));
                    return self.form(&[port]);
                }
            }
            _ => {}
        }
        let found = match self.expected.name().starts_with("an integer") {
            _ if number.is_f64() => "a number with a fraction",
            true => "a larger one",
            false => "a number",
        };
        Err(self.refuse(found))
    }

    /// A message that is a string in JSON.
    fn text<E: serde::de::Error>(self, form: Form, text: &str) -> Result<Part, E> {
        let encoder = &mut *self.encoder;
        let part = match form {
            Form::Quantity => {
                let text = text.trim();
                match text::is_quantity(text) {
                    true => Ok(encoder.bytes(1, text.as_bytes())),
                    false => Err("a quantity is expected, such as 500m or 2Gi"),
                }
            }
            Form::IntOrString => Ok(encoder.write(|out| put_int_or_string(out, 1, 0, text))),
            Form::Duration => text::parse_duration(text)
                .map(|nanoseconds| encoder.integer(1, nanoseconds))
                .ok_or("a duration is expected, such as 1h30m"),
            Form::Time | Form::MicroTime => text::parse_time(text)
                .map(|(seconds, nanoseconds)| {
                    let nanoseconds = match form {
                        Form::Time => 0,
                        _ => nanoseconds / 1000 * 1000,
                    };
                    if (seconds, nanoseconds) == (text::ZERO_TIME, 0) {
                        return Part::Null;
                    }
                    encoder.write(|out| {
                        put_integer(out, 1, seconds);
                        put_integer(out, 2, nanoseconds.into());
                    })
                })
                .ok_or("a time is expected, such as 2006-01-02T15:04:05Z"),
            _ => return Err(self.refuse("a string")),
        };
        match part {
            Ok(part) => self.form(&[part]),
            Err(why) => Err(self.encoder.fail(Error::mismatch(why))),
        }
    }

    fn elements<'de, A: SeqAccess<'de>>(mut self, kind: Type, mut elements: A) -> Result<Part, A::Error> {
        let start = self.encoder.open.len();
        for index in 0.. {
            let place = self.encoder.place(Expected::One(kind), self.number, self.depth);
            let element = match elements.next_element_seed(place) {
                Ok(Some(Part::Null)) => self.zero(self.number, kind),
                Ok(Some(part)) => Ok(part),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            match element {
                Ok(part) => self.encoder.open.push((0, part)),
                Err(error) => {
                    self.encoder.within(Segment::Index(index));
                    return Err(error);
                }
            }
        }
        let (parts, length) = self.encoder.close(start);
        Ok(Part::Several { parts, length })
    }

    fn zero<E: serde::de::Error>(&mut self, number: u32, kind: Type) -> Result<Part, E> {
        let zero = self.encoder.zero(number, kind, self.depth);
        zero.map_err(|error| self.encoder.fail(error))
    }

    fn entries<'de, A: MapAccess<'de>>(mut self, kind: Type, mut entries: A) -> Result<Part, A::Error> {
        let mut read = Vec::new();
        while let Some(Key(key)) = entries.next_key()? {
            let place = self.encoder.place(Expected::One(kind), 2, self.depth);
            let value = match entries.next_value_seed(place) {
                // A slice of bytes can be nil, and is missing then.
                Ok(Part::Null) if matches!(kind, Type::Bytes) => Ok(Part::Null),
                Ok(Part::Null) => self.zero(2, kind),
                value => value,
            };
            match value {
                Ok(value) => read.push((key, value)),
                Err(error) => {
                    self.encoder.within(Segment::Key(key.into_owned()));
                    return Err(error);
                }
            }
        }
        // Of two with the same key the last one counts.
        read.reverse();
        read.sort_by(|(one, _), (other, _)| one.cmp(other));
        read.dedup_by(|(one, _), (other, _)| one == other);
        let start = self.encoder.open.len();
        for (key, value) in read {
            let key = self.encoder.bytes(1, key.as_bytes());
            let entry = self.encoder.message(self.number, &[key, value]);
            self.encoder.open.push((0, entry));
        }
        let (parts, length) = self.encoder.close(start);
        Ok(Part::Several { parts, length })
    }

    fn fields<'de, A: MapAccess<'de>>(
        mut self,
        message: &'static Message,
        mut entries: A,
    ) -> Result<Part, A::Error> {
        let depth = self.deeper()?;
        let start = self.encoder.open.len();
        loop {
            let name = FieldName {
                message,
                encoder: &mut *self.encoder,
            };
            let (order, field) = match entries.next_key_seed(name)? {
                None => break,
                Some(None) => {
                    entries.next_value::<IgnoredAny>()?;
                    continue;
                }
                Some(Some(found)) => found,
            };
            let place = self.encoder.place(Expected::of(field), field.number, depth);
            match entries.next_value_seed(place) {
                Ok(part) => self.encoder.open.push((order, part)),
                Err(error) => {
                    self.encoder.within(Segment::Field(field.name));
                    return Err(error);
                }
            }
        }
        let end = self.encoder.open.len();
        // Stable: of two with the same name the last one counts.
        self.encoder.open[start..].sort_by_key(|(order, _)| *order);
        let read = &mut Span { start, end };
        let fields = self.encoder.fields(self.number, message, read, &mut 0, depth);
        self.encoder.open.truncate(start);
        fields.map_err(|error| self.encoder.fail(error))
    }
}

/// The name of a field, as the field and its order; none if it is to be passed over.
struct FieldName<'a> {
    message: &'static Message,
    encoder: &'a mut Encoder,
}

impl<'de> DeserializeSeed<'de> for FieldName<'_> {
    type Value = Option<(u32, &'static Field)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FieldName<'_> {
    type Value = Option<(u32, &'static Field)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        let found = find(self.message, name, &mut 0);
        let is_known = found.is_some() || has_type_meta(self.message, name);
        if !is_known && self.encoder.unknown == UnknownFields::Deny {
            let error = Error::mismatch("there is no such field").within(Segment::Name(name.to_owned()));
            return Err(self.encoder.fail(error));
        }
        Ok(found)
    }
}

/// A key of a map.
#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// A field by its name, and its order among all fields, with those of embedded messages in their place.
fn find(message: &'static Message, name: &str, order: &mut u32) -> Option<(u32, &'static Field)> {
    for field in message.fields {
        match embedded(field) {
            Some(embedded) => {
                if let Some(found) = find(embedded, name, order) {
                    return Some(found);
                }
            }
            None if field.name == name => return Some((*order, field)),
            None => *order += 1,
        }
    }
    None
}

/// Whether this is the kind of an object or its version, which are not in the message.
fn has_type_meta(message: &'static Message, name: &str) -> bool {
    let mut embedded = message.fields.iter().filter_map(embedded);
    (message.has_type_meta && matches!(name, "apiVersion" | "kind"))
        || embedded.any(|message| has_type_meta(message, name))
}

fn embedded(field: &Field) -> Option<&'static Message> {
    field
        .kind
        .message()
        .filter(|_| field.presence == Presence::Inline)
}

/// Whether a value can be nil in Go although it is no pointer.
fn is_slice(kind: Type) -> bool {
    matches!(kind, Type::Bytes)
        || kind
            .message()
            .is_some_and(|message| message.form == Form::Strings)
}

fn put_integer(out: &mut Vec<u8>, number: u32, value: i64) {
    put_tag(out, number, 0);
    put_varint(out, value as u64);
}

fn put_double(out: &mut Vec<u8>, number: u32, value: f64) {
    put_tag(out, number, 1);
    out.extend(value.to_le_bytes());
}

fn put_int_or_string(out: &mut Vec<u8>, kind: i64, integer: i32, text: &str) {
    put_integer(out, 1, kind);
    put_integer(out, 2, integer.into());
    put_bytes(out, 3, text.as_bytes());
}
