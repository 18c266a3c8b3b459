//! What the generated tables are made of.

use std::fmt;

/// A message: its fields, or the form that it has in JSON instead of an object.
pub(crate) struct Message {
    /// Such as `k8s.io.api.core.v1.Pod`.
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    /// Whether its JSON can have an `apiVersion` and a `kind`, which are not in the message.
    pub(crate) has_type_meta: bool,
    /// By ascending number, the order in which Go writes them.
    pub(crate) fields: &'static [Field],
}

/// Its name only: messages refer to each other in circles.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What a message is in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An object.
    Fields,
    /// `{1: seconds}`; RFC 3339 with seconds, null for Go's zero time.
    Time,
    /// `{1: seconds, 2: nanoseconds}`; RFC 3339 with microseconds, null for Go's zero time.
    MicroTime,
    /// `{1: nanoseconds}`; a string such as `1h0m0s`.
    Duration,
    /// `{1: string}`; the string.
    Quantity,
    /// `{1: type, 2: integer, 3: string}`; an integer (type 0) or a string (type 1).
    IntOrString,
    /// `{1: bytes}`; the bytes are JSON.
    Json,
    /// `{1: bytes}`; the bytes are JSON, or an envelope.
    RawExtension,
    /// `{1: schema, 2: schemas}`; an object or an array.
    SchemaOrArray,
    /// `{1: bool, 2: schema}`; an object or a boolean.
    SchemaOrBool,
    /// `{1: schema, 2: strings}`; an object or an array of strings.
    SchemaOrStrings,
    /// `{1: strings}`; an array of strings. In Go it is a slice, so it can be nil.
    Strings,
}

/// One field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    /// Its name in JSON; empty if [`Presence::Inline`], and in a [`Form`].
    pub(crate) name: &'static str,
    pub(crate) label: Label,
    /// Of a map, the values'; its keys are strings.
    pub(crate) kind: Type,
    pub(crate) presence: Presence,
    /// Whether neither has it when it has no value.
    pub(crate) is_optional: bool,
}

impl Field {
    /// The message whose fields are among those of this one in JSON.
    pub(crate) fn embedded(&self) -> Option<&'static Message> {
        match self.presence {
            Presence::Inline => self.kind.message(),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    One,
    Many,
    Map,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Type {
    Bool,
    Bytes,
    Double,
    Int32,
    Int64,
    String,
    Msg(&'static Message),
    /// A message to which the API server gives an `apiVersion` and a `kind` in JSON.
    Object(&'static Kind),
}

impl Type {
    pub(crate) fn message(&self) -> Option<&'static Message> {
        match self {
            Self::Msg(message) => Some(message),
            Self::Object(kind) => Some(kind.message),
            _ => None,
        }
    }
}

/// What Go's pointers, `omitempty` and `omitzero` make of a field that has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// No pointer: Go always writes it, in JSON too (null if it is a nil slice or map).
    Required,
    /// No pointer, but `omitempty`: Go always writes it in protobuf; JSON has no empty scalar, array or map.
    OmitEmpty,
    /// A message, no pointer, but `omitzero`: Go always writes it in protobuf, JSON drops what Go calls zero.
    OmitZero,
    /// A pointer with `omitempty`: neither has it when it is nil, both have a zero.
    Optional,
    /// A pointer without `omitempty`: null in JSON when it is nil.
    Nullable,
    /// An embedded struct: its fields are those of the outer object in JSON.
    Inline,
    /// The items of a list: the API server makes them an empty array when there are none.
    Items,
}

impl Presence {
    /// Whether Go writes nothing in protobuf when there is no value.
    pub(crate) fn is_pointer(self) -> bool {
        matches!(self, Self::Optional | Self::Nullable)
    }
}

/// A kind of object, and its message.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) message: &'static Message,
}

pub(crate) const fn kind(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    message: &'static Message,
) -> Kind {
    Kind {
        group,
        version,
        kind,
        message,
    }
}

pub(crate) const fn message(name: &'static str, fields: &'static [Field]) -> Message {
    Message {
        name,
        form: Form::Fields,
        has_type_meta: false,
        fields,
    }
}

pub(crate) const fn object(name: &'static str, fields: &'static [Field]) -> Message {
    Message {
        name,
        form: Form::Fields,
        has_type_meta: true,
        fields,
    }
}

pub(crate) const fn special(name: &'static str, form: Form, fields: &'static [Field]) -> Message {
    Message {
        name,
        form,
        has_type_meta: false,
        fields,
    }
}

const fn field(number: u32, name: &'static str, label: Label, kind: Type, presence: Presence) -> Field {
    Field {
        number,
        name,
        label,
        kind,
        presence,
        is_optional: match (presence, label, kind) {
            (Presence::OmitEmpty, Label::One, Type::Msg(_) | Type::Object(_)) => false,
            (Presence::Optional | Presence::OmitEmpty, ..) | (Presence::OmitZero, Label::One, _) => true,
            _ => false,
        },
    }
}

pub(crate) const fn one(number: u32, name: &'static str, kind: Type, presence: Presence) -> Field {
    field(number, name, Label::One, kind, presence)
}

pub(crate) const fn many(number: u32, name: &'static str, kind: Type, presence: Presence) -> Field {
    field(number, name, Label::Many, kind, presence)
}

pub(crate) const fn map(number: u32, name: &'static str, kind: Type, presence: Presence) -> Field {
    field(number, name, Label::Map, kind, presence)
}

#[cfg(test)]
mod tests {
    use crate::tables::{KINDS, MESSAGES, OPTIONS};

    #[test]
    fn each_kind_is_there_once() {
        for kinds in [KINDS, OPTIONS] {
            let keys = kinds.iter().map(|kind| (kind.group, kind.version, kind.kind));
            assert!(keys.is_sorted_by(|one, next| one < next));
        }
        // They are found by their kinds alone.
        assert!(OPTIONS.is_sorted_by(|one, next| one.kind < next.kind));
    }

    #[test]
    fn fields_are_in_order() {
        for message in MESSAGES {
            let numbers = message.fields.iter().map(|field| field.number);
            assert!(numbers.is_sorted_by(|one, next| one < next), "{message:?}");
        }
    }
}
