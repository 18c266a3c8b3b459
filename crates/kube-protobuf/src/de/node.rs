//! One value, as what JSON has in its place.

use super::access::{Elements, Entries, Handle, Object, TypeMeta};
use super::fields::{Fields, Pending, Scalar};
use super::times::{micro_time, time};
use crate::envelope::{APPLICATION_JSON, MAGIC};
use crate::table::{Field, Form, Message, Presence, Type, many, one};
use crate::wire::{Records, Wire, integer, last};
use crate::{Descriptor, Envelope, Error, text};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer as _, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use std::borrow::Cow;

/// A value on its way to a visitor. What it reads from can be owned by what it is in (`'a`).
pub(super) enum Node<'a, 'de> {
    Null,
    EmptyList,
    Scalar(Scalar<'de>),
    /// A string that was made.
    Text(Cow<'static, str>),
    Object {
        message: &'static Message,
        bytes: &'de [u8],
        type_meta: TypeMeta<'de>,
        depth: usize,
    },
    List(Elements<'a, 'de>),
    Map {
        records: &'a mut Records<'de>,
        field: &'static Field,
        depth: usize,
    },
    /// JSON.
    Json(&'de [u8]),
}

/// The strings of [`Form::Strings`].
static STRINGS: Field = many(1, "", Type::String, Presence::Required);
static BYTES: Field = one(1, "", Type::Bytes, Presence::Optional);

impl<'a, 'de> Node<'a, 'de> {
    pub(super) fn envelope(envelope: &Envelope<'de>, depth: usize) -> Result<Self, Error> {
        if !envelope.content_encoding.is_empty() {
            let encoding = envelope.content_encoding;
            return Err(Error::envelope(format!(
                "the content encoding {encoding:?} is not known"
            )));
        }
        if envelope.content_type == APPLICATION_JSON {
            return Ok(Self::Json(envelope.raw));
        }
        let (api_version, kind) = (envelope.api_version, envelope.kind);
        let message =
            Descriptor::of(api_version, kind).ok_or_else(|| Error::unknown_kind(api_version, kind))?;
        let type_meta = TypeMeta::Envelope { api_version, kind };
        Self::message(message.0, envelope.raw, type_meta, depth)
    }

    /// A message. `depth` is how many levels there may be, with this one.
    pub(super) fn message(
        message: &'static Message,
        bytes: &'de [u8],
        type_meta: TypeMeta<'de>,
        depth: usize,
    ) -> Result<Self, Error> {
        let depth = depth.checked_sub(1).ok_or_else(Error::too_deep)?;
        let made = |text: Option<String>| text.map_or(Self::Null, |text| Self::Text(Cow::Owned(text)));
        Ok(match message.form {
            Form::Fields => Self::Object {
                message,
                bytes,
                type_meta,
                depth,
            },
            Form::Time => made(time(bytes)?.map(|seconds| text::time(seconds, None))),
            Form::MicroTime => made(
                micro_time(bytes)?.map(|(seconds, microseconds)| text::time(seconds, Some(microseconds))),
            ),
            Form::Duration => made(Some(text::duration(integer(bytes, 1)?.unwrap_or_default()))),
            Form::Quantity => match last(bytes, 1)? {
                Some(value) => Self::Scalar(Scalar::Text(value.bytes()?)),
                None => Self::Text(Cow::Borrowed("0")),
            },
            Form::IntOrString => int_or_string(bytes)?,
            Form::Json => Self::json(raw(bytes)?),
            Form::RawExtension => match raw(bytes)? {
                raw if raw.starts_with(MAGIC) => Self::envelope(&Envelope::parse(raw)?, depth)?,
                raw => Self::json(raw),
            },
            Form::SchemaOrBool => {
                let allows = integer(bytes, 1)?.unwrap_or_default() != 0;
                let schema = last(bytes, 2)?;
                schema_or(message, 1, schema, Self::Scalar(Scalar::Bool(allows)), depth)?
            }
            Form::SchemaOrArray | Form::SchemaOrStrings => {
                let mut records = Records::new(bytes)?;
                let mut schema = None;
                while let Some(value) = records.next_of(1) {
                    schema = Some(value);
                }
                records.skip_below(2);
                if records.count(2) == 0 {
                    return schema_or(message, 0, schema, Self::Null, depth);
                }
                Self::List(Elements::new(
                    Handle::Owned(Box::new(records)),
                    &message.fields[1],
                    depth,
                ))
            }
            Form::Strings => {
                let records = Records::new(bytes)?;
                if records.count(1) == 0 {
                    return Ok(Self::EmptyList);
                }
                Self::List(Elements::new(Handle::Owned(Box::new(records)), &STRINGS, depth))
            }
        })
    }

    /// Gives the value of a field to `seed`. Arrays and maps read on in the records of their message.
    #[inline]
    pub(super) fn read<S: DeserializeSeed<'de>>(
        pending: Pending<'de>,
        depth: usize,
        records: impl FnOnce() -> &'a mut Records<'de>,
        seed: S,
    ) -> Result<S::Value, Error> {
        match pending {
            Pending::Scalar(scalar) => seed.deserialize(scalar),
            _ => seed.deserialize(Self::pending(pending, depth, records())?),
        }
    }

    // It has no copy for each type of values.
    #[inline(never)]
    fn pending(pending: Pending<'de>, depth: usize, records: &'a mut Records<'de>) -> Result<Self, Error> {
        Ok(match pending {
            Pending::Null => Self::Null,
            Pending::EmptyList => Self::EmptyList,
            Pending::Scalar(scalar) => Self::Scalar(scalar),
            Pending::Message(message, bytes, kind) => {
                let type_meta = kind.map_or(TypeMeta::None, TypeMeta::Field);
                Self::message(message, bytes, type_meta, depth)?
            }
            Pending::ApiVersion(kind) => Self::Text(match kind.group {
                "" => Cow::Borrowed(kind.version),
                group => Cow::Owned(format!("{group}/{}", kind.version)),
            }),
            Pending::Many(field) => Self::List(Elements::new(Handle::Borrowed(records), field, depth)),
            Pending::Map(field) => Self::Map {
                records,
                field,
                depth,
            },
        })
    }

    fn json(bytes: &'de [u8]) -> Self {
        if bytes.is_empty() {
            Self::Null
        } else {
            Self::Json(bytes)
        }
    }
}

fn schema_or<'a, 'de>(
    message: &'static Message,
    field: usize,
    schema: Option<Wire<'de>>,
    otherwise: Node<'a, 'de>,
    depth: usize,
) -> Result<Node<'a, 'de>, Error> {
    match (schema, message.fields[field].kind.message()) {
        (Some(schema), Some(message)) => Node::message(message, schema.bytes()?, TypeMeta::None, depth),
        _ => Ok(otherwise),
    }
}

fn raw(bytes: &[u8]) -> Result<&[u8], Error> {
    last(bytes, BYTES.number)?.map_or(Ok(&[]), Wire::bytes)
}

fn int_or_string<'a, 'de>(bytes: &'de [u8]) -> Result<Node<'a, 'de>, Error> {
    Ok(Node::Scalar(match integer(bytes, 1)?.unwrap_or_default() {
        0 => Scalar::Int(i64::from(integer(bytes, 2)?.unwrap_or_default() as i32)),
        1 => Scalar::Text(last(bytes, 3)?.map_or(Ok(&[][..]), Wire::bytes)?),
        _ => return Err(Error::malformed("it is neither an integer nor a string")),
    }))
}

/// The number that JSON has: Go prints a floating-point number without a fraction as an integer, if it is below 10^21, with
/// as few digits as tell it from its neighbours. Rust prints the same digits.
fn visit_double<'de, V: Visitor<'de>>(value: f64, visitor: V) -> Result<V::Value, Error> {
    if !value.is_finite() {
        return Err(Error::malformed(
            "a number that JSON does not have: it is infinite, or none",
        ));
    }
    let is_minus_zero = value == 0.0 && value.is_sign_negative();
    if value.fract() == 0.0 && value.abs() < 1e21 && !is_minus_zero {
        let digits = value.to_string();
        if let Ok(integer) = digits.parse() {
            return visitor.visit_u64(integer);
        }
        if let Ok(integer) = digits.parse() {
            return visitor.visit_i64(integer);
        }
    }
    visitor.visit_f64(value)
}

/// Most values are scalars: a [`Node`] is much larger.
impl<'de> serde::Deserializer<'de> for Scalar<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Int(value) => match u64::try_from(value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(value),
            },
            Self::Double(value) => visit_double(value, visitor),
            Self::Text(bytes) => match text::utf8(bytes) {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            Self::Bytes(bytes) => visitor.visit_string(BASE64_STANDARD.encode(bytes)),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Text(bytes) => visitor.visit_enum(text::utf8(bytes).into_deserializer()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// Reads JSON, all of it.
fn json<'de, T>(
    bytes: &'de [u8],
    read: impl FnOnce(&mut serde_json::Deserializer<serde_json::de::SliceRead<'de>>) -> serde_json::Result<T>,
) -> Result<T, Error> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = read(&mut json).and_then(|value| json.end().map(|()| value));
    value.map_err(|error| Error::json(&error))
}

#[inline]
fn visit_object<'de, V: Visitor<'de>>(
    message: &'static Message,
    bytes: &'de [u8],
    type_meta: TypeMeta<'de>,
    depth: usize,
    visitor: V,
) -> Result<V::Value, Error> {
    visitor.visit_map(&mut Object::new(Fields::new(message, bytes)?, type_meta, depth))
}

#[inline]
fn visit_list<'de, V: Visitor<'de>>(mut elements: Elements<'_, 'de>, visitor: V) -> Result<V::Value, Error> {
    let value = visitor.visit_seq(&mut elements)?;
    elements.end()?;
    Ok(value)
}

impl<'de> serde::Deserializer<'de> for Node<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::EmptyList => visitor.visit_seq(serde::de::value::SeqDeserializer::<_, Error>::new(
                std::iter::empty::<()>(),
            )),
            Self::Scalar(scalar) => scalar.deserialize_any(visitor),
            Self::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Self::Text(Cow::Owned(text)) => visitor.visit_string(text),
            Self::Object {
                message,
                bytes,
                type_meta,
                depth,
            } => visit_object(message, bytes, type_meta, depth, visitor),
            Self::List(elements) => visit_list(elements, visitor),
            Self::Map {
                records,
                field,
                depth,
            } => visitor.visit_map(&mut Entries::new(records, field, depth)),
            Self::Json(bytes) => json(bytes, |json| serde::Deserializer::deserialize_any(json, visitor)),
        }
    }

    // What has the expected shape. Each type has its own copy of these: a few instructions, where `deserialize_any` has
    // hundreds, on pages that are in no cache when a process has been idle.
    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Object {
                message,
                bytes,
                type_meta,
                depth,
            } => visit_object(message, bytes, type_meta, depth, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::List(elements) => visit_list(elements, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Null => visitor.visit_none(),
            Self::Json(bytes) => json(bytes, |json| {
                serde::Deserializer::deserialize_option(json, visitor)
            }),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            // `RawValue` is one.
            Self::Json(bytes) => json(bytes, |json| {
                serde::Deserializer::deserialize_newtype_struct(json, name, visitor)
            }),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Scalar(scalar) => scalar.deserialize_enum(name, variants, visitor),
            Self::Text(text) => visitor.visit_enum(text.into_deserializer()),
            Self::Object {
                message,
                bytes,
                type_meta,
                depth,
            } => {
                let mut object = Object::new(Fields::new(message, bytes)?, type_meta, depth);
                visitor.visit_enum(MapAccessDeserializer::new(&mut object))
            }
            Self::Map {
                records,
                field,
                depth,
            } => visitor.visit_enum(MapAccessDeserializer::new(&mut Entries::new(
                records, field, depth,
            ))),
            Self::Json(bytes) => json(bytes, |json| {
                serde::Deserializer::deserialize_enum(json, name, variants, visitor)
            }),
            Self::Null => Err(serde::de::Error::invalid_type(Unexpected::Unit, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple
        tuple_struct map identifier
    }
}
