//! Which fields of a message its JSON has.

use super::times;
use crate::Error;
use crate::table::{Field, Form, Kind, Label, Message, Presence, Type};
use crate::wire::{Records, Wire, wrong_wire_type};
use std::slice;

/// A scalar of a message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scalar<'de> {
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(&'de [u8]),
    Bytes(&'de [u8]),
}

impl<'de> Scalar<'de> {
    #[inline]
    pub(super) fn new(kind: Type, value: Wire<'de>) -> Result<Self, Error> {
        Ok(match (kind, value) {
            (Type::Bool, Wire::Varint(value)) => Self::Bool(value != 0),
            // Go takes the lower half of what does not fit.
            (Type::Int32, Wire::Varint(value)) => Self::Int(i64::from(value as i32)),
            (Type::Int64, Wire::Varint(value)) => Self::Int(value as i64),
            (Type::Double, Wire::Fixed64(bits)) => Self::Double(f64::from_bits(bits)),
            (Type::String, Wire::Bytes(bytes)) => Self::Text(bytes),
            (Type::Bytes, Wire::Bytes(bytes)) => Self::Bytes(bytes),
            _ => return Err(wrong_wire_type()),
        })
    }

    /// What a field is without a value; `None` for bytes, which are nil in Go.
    pub(super) fn zero(kind: Type) -> Option<Self> {
        Some(match kind {
            Type::Bool => Self::Bool(false),
            Type::Int32 | Type::Int64 => Self::Int(0),
            Type::Double => Self::Double(0.0),
            Type::String => Self::Text(b""),
            Type::Bytes | Type::Msg(_) | Type::Object(_) => return None,
        })
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Bool(value) => !value,
            Self::Int(value) => *value == 0,
            Self::Double(value) => *value == 0.0,
            Self::Text(bytes) | Self::Bytes(bytes) => bytes.is_empty(),
        }
    }
}

/// The value of a field, still in protobuf.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pending<'de> {
    Null,
    EmptyList,
    Scalar(Scalar<'de>),
    Message(&'static Message, &'de [u8], Option<&'static Kind>),
    /// The next records of this number.
    Many(&'static Field),
    Map(&'static Field),
    /// That of an object of this kind.
    ApiVersion(&'static Kind),
}

impl<'de> Pending<'de> {
    pub(super) fn text(text: &'de str) -> Self {
        Self::Scalar(Scalar::Text(text.as_bytes()))
    }

    /// A value that is there.
    #[inline]
    pub(super) fn new(kind: Type, value: Wire<'de>) -> Result<Self, Error> {
        match kind {
            Type::Msg(message) => Ok(Self::Message(message, value.bytes()?, None)),
            Type::Object(kind) => Ok(Self::Message(kind.message, value.bytes()?, Some(kind))),
            _ => Scalar::new(kind, value).map(Self::Scalar),
        }
    }

    /// A value that is not there.
    pub(super) fn zero(kind: Type) -> Self {
        match kind {
            Type::Msg(message) => Self::Message(message, &[], None),
            Type::Object(kind) => Self::Message(kind.message, &[], Some(kind)),
            _ => Scalar::zero(kind).map_or(Self::Null, Self::Scalar),
        }
    }
}

/// Goes through the fields of a message.
#[derive(Debug)]
pub(super) struct Fields<'de> {
    records: Records<'de>,
    fields: slice::Iter<'static, Field>,
    /// An embedded message, whose fields are next.
    inlined: Option<Box<Fields<'de>>>,
    /// The value of the field that came last.
    pub(super) value: Pending<'de>,
}

impl<'de> Fields<'de> {
    pub(super) fn new(message: &'static Message, bytes: &'de [u8]) -> Result<Self, Error> {
        Ok(Self {
            records: Records::new(bytes)?,
            fields: message.fields.iter(),
            inlined: None,
            value: Pending::Null,
        })
    }

    /// The name of the next field that the JSON has.
    pub(super) fn next(&mut self) -> Result<Option<&'static str>, Error> {
        loop {
            if let Some(inlined) = &mut self.inlined {
                if let Some(name) = inlined.next()? {
                    self.value = inlined.value;
                    return Ok(Some(name));
                }
                self.inlined = None;
            }
            let number = self.records.next_number();
            let may_be_told = |field: &&Field| field.number >= number || !field.is_optional;
            let Some(field) = self.fields.find(may_be_told) else {
                return Ok(None);
            };
            self.records.skip_below(field.number);
            let is_told = match field.label {
                Label::One => self.one(field),
                Label::Many => Ok(self.several(field, Pending::Many(field))),
                Label::Map => Ok(self.several(field, Pending::Map(field))),
            };
            match is_told {
                Ok(true) => return Ok(Some(field.name)),
                Ok(false) => {}
                Err(error) => return Err(error.within_field(field.name)),
            }
        }
    }

    /// Where the records of a pending array or map are.
    pub(super) fn records(&mut self) -> &mut Records<'de> {
        match &mut self.inlined {
            Some(inlined) => inlined.records(),
            None => &mut self.records,
        }
    }

    /// Reads the value of a field. Returns whether the JSON has it.
    #[inline]
    fn one(&mut self, field: &'static Field) -> Result<bool, Error> {
        let Some(value) = self.records.next_of(field.number) else {
            return self.absent(field);
        };
        let value = match self.records.next_number() == field.number {
            true => self.last(field)?,
            false => value,
        };
        self.value = Pending::new(field.kind, value)?;
        match (field.presence, self.value) {
            (Presence::Inline, Pending::Message(message, bytes, _)) => {
                self.inlined = Some(Box::new(Self::new(message, bytes)?));
                Ok(false)
            }
            (Presence::OmitEmpty, Pending::Scalar(scalar)) => Ok(!scalar.is_empty()),
            (Presence::OmitEmpty, Pending::Message(message, [], _)) => Ok(message.form != Form::Strings),
            (Presence::OmitZero, Pending::Message(message, bytes, _)) => Ok(!is_zero(message, bytes)?),
            _ => Ok(true),
        }
    }

    /// The value of a field that is there again: of scalars the last one counts.
    #[cold]
    fn last(&mut self, field: &'static Field) -> Result<Wire<'de>, Error> {
        if field.kind.message().is_some() {
            return Err(Error::malformed("the message is there twice"));
        }
        let values = std::iter::from_fn(|| self.records.next_of(field.number));
        values.last().ok_or_else(wrong_wire_type)
    }

    /// What a field is that has no value. Returns whether the JSON has it.
    fn absent(&mut self, field: &'static Field) -> Result<bool, Error> {
        let is_message = field.kind.message();
        self.value = match (field.presence, is_message) {
            (Presence::Optional | Presence::OmitZero, _) | (Presence::OmitEmpty, None) => return Ok(false),
            (Presence::Nullable, _) => Pending::Null,
            (Presence::Inline, Some(message)) => {
                self.inlined = Some(Box::new(Self::new(message, &[])?));
                return Ok(false);
            }
            // A nil slice.
            (Presence::OmitEmpty, Some(message)) if message.form == Form::Strings => return Ok(false),
            (_, Some(message)) if message.form == Form::Strings => Pending::Null,
            _ => Pending::zero(field.kind),
        };
        Ok(true)
    }

    /// Leaves it to the array or the map to read on. Returns whether the JSON has it.
    fn several(&mut self, field: &'static Field, pending: Pending<'de>) -> bool {
        let is_there = self.records.next_number() == field.number;
        self.value = match field.presence {
            _ if is_there => pending,
            Presence::Items => Pending::EmptyList,
            Presence::OmitEmpty | Presence::Optional => return false,
            _ => Pending::Null,
        };
        true
    }
}

/// Whether Go's `omitzero` drops it. Only times have it, of which the empty message and the zero time are zero.
fn is_zero(message: &'static Message, bytes: &[u8]) -> Result<bool, Error> {
    match message.form {
        Form::Time => Ok(times::time(bytes)?.is_none()),
        _ => Ok(bytes.is_empty()),
    }
}
