//! What JSON has in a place, and how it is read there.

use super::UnknownFields;
use super::records::{Encoder, Part, Span, put_double, put_int_or_string, put_integer};
use crate::error::Segment;
use crate::table::{Field, Form, Kind, Label, Message, Type};
use crate::{Error, text};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// What JSON should have in a place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expected {
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
pub(super) struct Place<'a> {
    encoder: &'a mut Encoder,
    expected: Expected,
    number: u32,
    /// How many levels of messages there may be.
    depth: usize,
}

impl Encoder {
    pub(super) fn place(&mut self, expected: Expected, number: u32, depth: usize) -> Place<'_> {
        Place {
            encoder: self,
            expected,
            number,
            depth,
        }
    }
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
        match field.embedded() {
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
    let mut embedded = message.fields.iter().filter_map(Field::embedded);
    (message.has_type_meta && matches!(name, "apiVersion" | "kind"))
        || embedded.any(|message| has_type_meta(message, name))
}
