//! Which fields of a message its JSON has.

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
}

impl<'de> Pending<'de> {
    fn message(kind: Type, bytes: &'de [u8]) -> Option<Self> {
        match kind {
            Type::Msg(message) => Some(Self::Message(message, bytes, None)),
            Type::Object(kind) => Some(Self::Message(kind.message, bytes, Some(kind))),
            _ => None,
        }
    }

    /// A value that is there.
    pub(super) fn new(kind: Type, value: Wire<'de>) -> Result<Self, Error> {
        if kind.message().is_some() {
            let bytes = value.bytes()?;
            return Self::message(kind, bytes).ok_or_else(wrong_wire_type);
        }
        Scalar::new(kind, value).map(Self::Scalar)
    }

    /// A value that is not there.
    pub(super) fn zero(kind: Type) -> Self {
        let message = Self::message(kind, &[]);
        let scalar = || Scalar::zero(kind).map(Self::Scalar);
        message.or_else(scalar).unwrap_or(Self::Null)
    }
}

/// Goes through the fields of a message.
#[derive(Debug)]
pub(super) struct Fields<'de> {
    records: Records<'de>,
    fields: slice::Iter<'static, Field>,
    /// An embedded message, whose fields are next.
    inlined: Option<Box<Fields<'de>>>,
}

impl<'de> Fields<'de> {
    pub(super) fn new(message: &'static Message, bytes: &'de [u8]) -> Result<Self, Error> {
        Ok(Self {
            records: Records::new(bytes)?,
            fields: message.fields.iter(),
            inlined: None,
        })
    }

    /// The next field that the JSON has, and its value.
    pub(super) fn next(&mut self) -> Result<Option<(&'static str, Pending<'de>)>, Error> {
        loop {
            if let Some(inlined) = &mut self.inlined {
                match inlined.next()? {
                    Some(found) => return Ok(Some(found)),
                    None => self.inlined = None,
                }
            }
            let Some(field) = self.fields.next() else {
                return Ok(None);
            };
            self.records.skip_below(field.number);
            let found = match field.label {
                Label::One => self.one(field),
                Label::Many => Ok(self.several(field, Pending::Many(field))),
                Label::Map => Ok(self.several(field, Pending::Map(field))),
            };
            if let Some(found) = found.map_err(|error| error.within_field(field.name))? {
                return Ok(Some((field.name, found)));
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

    fn one(&mut self, field: &'static Field) -> Result<Option<Pending<'de>>, Error> {
        let Some(record) = self.records.next_of(field.number) else {
            return self.absent(field);
        };
        let mut value = record.value;
        while let Some(again) = self.records.next_of(field.number) {
            if field.kind.message().is_some() {
                return Err(Error::malformed("the message is there twice"));
            }
            // Of scalars the last one counts.
            value = again.value;
        }
        let pending = Pending::new(field.kind, value)?;
        match (field.presence, pending) {
            (Presence::Inline, Pending::Message(message, bytes, _)) => {
                self.inlined = Some(Box::new(Self::new(message, bytes)?));
                Ok(None)
            }
            (Presence::OmitEmpty, Pending::Scalar(scalar)) if scalar.is_empty() => Ok(None),
            (Presence::OmitEmpty, Pending::Message(message, [], _)) if message.form == Form::Strings => {
                Ok(None)
            }
            (Presence::OmitZero, Pending::Message(message, bytes, _)) if is_zero(message, bytes)? => Ok(None),
            _ => Ok(Some(pending)),
        }
    }

    fn absent(&mut self, field: &'static Field) -> Result<Option<Pending<'de>>, Error> {
        let is_message = field.kind.message();
        Ok(match (field.presence, is_message) {
            (Presence::Optional | Presence::OmitZero, _) | (Presence::OmitEmpty, None) => None,
            (Presence::Nullable, _) => Some(Pending::Null),
            (Presence::Inline, Some(message)) => {
                self.inlined = Some(Box::new(Self::new(message, &[])?));
                None
            }
            // A nil slice.
            (Presence::OmitEmpty, Some(message)) if message.form == Form::Strings => None,
            (_, Some(message)) if message.form == Form::Strings => Some(Pending::Null),
            _ => Some(Pending::zero(field.kind)),
        })
    }

    fn several(&mut self, field: &'static Field, pending: Pending<'de>) -> Option<Pending<'de>> {
        let is_there = self
            .records
            .peek()
            .is_some_and(|record| record.number == field.number);
        match field.presence {
            _ if is_there => Some(pending),
            Presence::Items => Some(Pending::EmptyList),
            Presence::OmitEmpty | Presence::Optional => None,
            _ => Some(Pending::Null),
        }
    }
}

/// Whether Go's `omitzero` drops it. Only times have it, of which the empty message and the zero time are zero.
fn is_zero(message: &'static Message, bytes: &[u8]) -> Result<bool, Error> {
    match message.form {
        Form::Time => Ok(super::node::time(bytes)?.is_none()),
        _ => Ok(bytes.is_empty()),
    }
}
