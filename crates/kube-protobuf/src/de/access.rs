//! What visitors read from: objects, arrays and maps.

use super::fields::{Fields, Pending, Scalar};
use super::node::Node;
use crate::Error;
use crate::error::Segment;
use crate::table::{Field, Kind, Type};
use crate::text;
use crate::wire::{Reader, Records, Wire};
use serde::de::value::{BorrowedStrDeserializer, CowStrDeserializer};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess};
use std::borrow::Cow;

/// What an object says of its kind before its fields.
#[derive(Debug, Clone, Copy)]
pub(super) enum TypeMeta<'de> {
    /// Nothing.
    None,
    /// The kind and the apiVersion of its envelope, if it has one.
    Envelope {
        api_version: &'de str,
        kind: &'de str,
    },
    /// The kind and the apiVersion that the field has which it is in.
    Field(&'static Kind),
    ApiVersion(Pending<'de>),
}

impl<'de> TypeMeta<'de> {
    /// The next of what it says.
    fn next(&mut self) -> Option<(&'static str, Pending<'de>)> {
        let (told, rest) = match *self {
            Self::None => return None,
            Self::Envelope { api_version, kind } => match api_version {
                "" => (("kind", Pending::text(kind)), Self::None),
                _ => (
                    ("kind", Pending::text(kind)),
                    Self::ApiVersion(Pending::text(api_version)),
                ),
            },
            Self::Field(kind) => (
                ("kind", Pending::text(kind.kind)),
                Self::ApiVersion(Pending::ApiVersion(kind)),
            ),
            Self::ApiVersion(api_version) => (("apiVersion", api_version), Self::None),
        };
        *self = rest;
        Some(told)
    }
}

/// A message as an object.
pub(super) struct Object<'de> {
    type_meta: TypeMeta<'de>,
    fields: Fields<'de>,
    /// The key that was told last. Its value is that of the fields.
    key: Option<&'static str>,
    depth: usize,
}

impl<'de> Object<'de> {
    pub(super) fn new(fields: Fields<'de>, type_meta: TypeMeta<'de>, depth: usize) -> Self {
        Self {
            type_meta,
            fields,
            key: None,
            depth,
        }
    }

    // It has no copy for each type of keys.
    #[inline(never)]
    fn advance(&mut self) -> Result<Option<&'static str>, Error> {
        self.key = match self.type_meta {
            TypeMeta::None => self.fields.next()?,
            _ => self.type_meta.next().map(|(key, value)| {
                self.fields.value = value;
                key
            }),
        };
        Ok(self.key)
    }
}

impl<'de> MapAccess<'de> for Object<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        match self.advance()? {
            Some(key) => seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some(key) = self.key.take() else {
            return Err(Error::mismatch("a value was asked for before its key"));
        };
        let fields = &mut self.fields;
        Node::read(fields.value, self.depth, || fields.records(), seed)
            .map_err(|error| error.within_field(key))
    }
}

/// Something that is owned here, or by what it is in.
pub(super) enum Handle<'a, T> {
    Borrowed(&'a mut T),
    Owned(Box<T>),
}

impl<T> Handle<'_, T> {
    fn get(&mut self) -> &mut T {
        match self {
            Self::Borrowed(value) => value,
            Self::Owned(value) => value,
        }
    }
}

/// The records of a repeated field as an array.
pub(super) struct Elements<'a, 'de> {
    records: Handle<'a, Records<'de>>,
    field: &'static Field,
    /// Several numbers in one record.
    packed: Reader<'de>,
    index: usize,
    depth: usize,
}

impl<'a, 'de> Elements<'a, 'de> {
    pub(super) fn new(records: Handle<'a, Records<'de>>, field: &'static Field, depth: usize) -> Self {
        Self {
            records,
            field,
            packed: Reader::new(&[]),
            index: 0,
            depth,
        }
    }

    fn next(&mut self) -> Result<Option<Pending<'de>>, Error> {
        let kind = self.field.kind;
        loop {
            if !self.packed.is_empty() {
                let value = match kind {
                    Type::Double => Wire::Fixed64(self.packed.fixed64()?),
                    _ => Wire::Varint(self.packed.varint()?),
                };
                return Pending::new(kind, value).map(Some);
            }
            let Some(value) = self.records.get().next_of(self.field.number) else {
                return Ok(None);
            };
            match (kind, value) {
                (Type::Bool | Type::Double | Type::Int32 | Type::Int64, Wire::Bytes(packed)) => {
                    self.packed = Reader::new(packed);
                }
                (_, value) => return Pending::new(kind, value).map(Some),
            }
        }
    }

    /// Fails if there is more than was read, as `serde_json` does.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        match self.next()? {
            None => Ok(()),
            Some(_) => Err(Error::mismatch(format!(
                "the array has more than {} elements",
                self.index
            ))),
        }
    }
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, 'de> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let index = self.index;
        let element = match self.next() {
            Ok(None) => return Ok(None),
            Ok(Some(pending)) => pending,
            Err(error) => return Err(error.at_index(index)),
        };
        self.index += 1;
        let records = self.records.get();
        let value = Node::read(element, self.depth, || records, seed);
        value.map(Some).map_err(|error| error.at_index(index))
    }

    fn size_hint(&self) -> Option<usize> {
        match &self.records {
            Handle::Borrowed(records) => Some(records.count(self.field.number)),
            Handle::Owned(records) => Some(records.count(self.field.number)),
        }
    }
}

/// The records of a map field.
pub(super) struct Entries<'a, 'de> {
    records: &'a mut Records<'de>,
    field: &'static Field,
    /// The key that was told last, and its value.
    next: Option<(Cow<'de, str>, Pending<'de>)>,
    depth: usize,
}

impl<'a, 'de> Entries<'a, 'de> {
    pub(super) fn new(records: &'a mut Records<'de>, field: &'static Field, depth: usize) -> Self {
        Self {
            records,
            field,
            next: None,
            depth,
        }
    }

    /// An entry is a message of a key (1) and a value (2).
    fn entry(&self, bytes: &'de [u8]) -> Result<(Cow<'de, str>, Pending<'de>), Error> {
        let (mut key, mut value) = (&[][..], None);
        let mut reader = Reader::new(bytes);
        while let Some(record) = reader.read()? {
            match record.number {
                1 => key = record.value.bytes()?,
                2 => value = Some(record.value),
                _ => {}
            }
        }
        let key = text::utf8(key);
        let pending = match (value, self.field.kind) {
            (Some(value), kind) => Pending::new(kind, value),
            // Unlike a field of bytes, which is nil.
            (None, Type::Bytes) => Ok(Pending::Scalar(Scalar::Bytes(&[]))),
            (None, kind) => Ok(Pending::zero(kind)),
        };
        match pending {
            Ok(pending) => Ok((key, pending)),
            Err(error) => Err(error.within(Segment::Key(key.into_owned()))),
        }
    }
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(entry) = self.records.next_of(self.field.number) else {
            return Ok(None);
        };
        let (key, value) = self.entry(entry.bytes()?)?;
        let (key, _) = self.next.insert((key, value));
        let read = match &*key {
            Cow::Borrowed(key) => seed.deserialize(BorrowedStrDeserializer::new(key)),
            Cow::Owned(key) => seed.deserialize(CowStrDeserializer::new(Cow::Borrowed(key.as_str()))),
        };
        read.map(Some)
            .map_err(|error: Error| error.within(Segment::Key(key.clone().into_owned())))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some((key, value)) = self.next.take() else {
            return Err(Error::mismatch("a value was asked for before its key"));
        };
        let records = &mut *self.records;
        Node::read(value, self.depth, || records, seed)
            .map_err(|error| error.within(Segment::Key(key.into_owned())))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.records.count(self.field.number))
    }
}
