//! What has been read, as records and what messages consist of.

use super::UnknownFields;
use crate::Error;
use crate::error::Segment;
use crate::table::{Field, Form, Kind, Label, Message, Type};
use crate::wire::{put_bytes, put_tag, put_varint, varint_length};

/// A value that has been read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
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
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Part {
    /// How many bytes it has.
    pub(super) fn length(self) -> usize {
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

pub(super) struct Encoder {
    pub(super) unknown: UnknownFields,
    /// Scalars with their tags, in the order of the JSON.
    records: Vec<u8>,
    /// What messages, arrays and maps consist of, each in one piece and in the order of its records.
    parts: Vec<Part>,
    /// What those consist of that are being read, and its order in them: the innermost one is last.
    pub(super) open: Vec<(u32, Part)>,
    /// Why it cannot be written.
    pub(super) error: Option<Error>,
}

impl Encoder {
    /// One with room for the records of some JSON of so many bytes.
    pub(super) fn new(unknown: UnknownFields, json: usize) -> Self {
        Self {
            unknown,
            records: Vec::with_capacity(json),
            parts: Vec::with_capacity(json / 16),
            open: Vec::with_capacity(64),
            error: None,
        }
    }

    /// Keeps an error, which a deserializer's own has no room for.
    pub(super) fn fail<E: serde::de::Error>(&mut self, error: Error) -> E {
        self.error = Some(error);
        E::custom("the value does not fit")
    }

    /// Adds to an error where it is.
    pub(super) fn within(&mut self, segment: Segment) {
        self.error = self.error.take().map(|error| error.within(segment));
    }

    pub(super) fn put_all(&self, out: &mut Vec<u8>, parts: Span) {
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
    pub(super) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Part {
        let start = self.records.len();
        write(&mut self.records);
        Part::Records(Span {
            start,
            end: self.records.len(),
        })
    }

    pub(super) fn integer(&mut self, number: u32, value: i64) -> Part {
        self.write(|out| put_integer(out, number, value))
    }

    pub(super) fn bytes(&mut self, number: u32, bytes: &[u8]) -> Part {
        self.write(|out| put_bytes(out, number, bytes))
    }

    /// Takes what was opened from `start` on.
    pub(super) fn close(&mut self, start: usize) -> (Span, usize) {
        let first = self.parts.len();
        self.parts.extend(self.open.drain(start..).map(|(_, part)| part));
        let parts = Span {
            start: first,
            end: self.parts.len(),
        };
        (parts, self.parts[first..].iter().map(|part| part.length()).sum())
    }

    pub(super) fn message(&mut self, number: u32, parts: &[Part]) -> Part {
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
    pub(super) fn fields(
        &mut self,
        number: u32,
        message: &'static Message,
        read: &mut Span,
        order: &mut u32,
        depth: usize,
    ) -> Result<Part, Error> {
        let start = self.open.len();
        for field in message.fields {
            if let Some(embedded) = field.embedded() {
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

    pub(super) fn zero(&mut self, number: u32, kind: Type, depth: usize) -> Result<Part, Error> {
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

/// Whether a value can be nil in Go although it is no pointer.
pub(super) fn is_slice(kind: Type) -> bool {
    matches!(kind, Type::Bytes)
        || kind
            .message()
            .is_some_and(|message| message.form == Form::Strings)
}

pub(super) fn put_integer(out: &mut Vec<u8>, number: u32, value: i64) {
    put_tag(out, number, 0);
    put_varint(out, value as u64);
}

pub(super) fn put_double(out: &mut Vec<u8>, number: u32, value: f64) {
    put_tag(out, number, 1);
    out.extend(value.to_le_bytes());
}

pub(super) fn put_int_or_string(out: &mut Vec<u8>, kind: i64, integer: i32, text: &str) {
    put_integer(out, 1, kind);
    put_integer(out, 2, integer.into());
    put_bytes(out, 3, text.as_bytes());
}
