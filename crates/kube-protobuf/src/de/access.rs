//! What visitors read from: objects, arrays and maps.

use super::fields::{Fields, Pending, Scalar};
use super::node::Node;
use crate::Error;
use crate::error::Segment;
use crate::table::{Field, Type};
use crate::text;
use crate::wire::{Reader, Records, Wire};
use serde::de::value::{BorrowedStrDeserializer, CowStrDeserializer};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess};
use std::borrow::Cow;

/// What an object is: its apiVersion, if it has one, and its kind.
pub(super) type TypeMeta<'de> = (Option<Cow<'de, str>>, &'de str);

/// A message as an object.
pub(super) struct Object<'de> {
    fields: Fields<'de>,
    kind: Option<&'de str>,
    api_version: Option<Cow<'de, str>>,
    /// The value of the key that was told last.
    next: Option<Next<'de>>,
    depth: usize,
}

enum Next<'de> {
    Kind(&'de str),
    ApiVersion(Cow<'de, str>),
    Field(&'static str, Pending<'de>),
}

impl<'de> Object<'de> {
    pub(super) fn new(fields: Fields<'de>, type_meta: Option<TypeMeta<'de>>, depth: usize) -> Self {
        let (api_version, kind) = type_meta.unzip();
        Self {
            fields,
            kind,
            api_version: api_version.flatten(),
            next: None,
            depth,
        }
    }

    fn advance(&mut self) -> Result<Option<&'static str>, Error> {
        let (key, next) = if let Some(kind) = self.kind.take() {
            ("kind", Next::Kind(kind))
        } else if let Some(api_version) = self.api_version.take() {
            ("apiVersion", Next::ApiVersion(api_version))
        } else if let Some((name, pending)) = self.fields.next()? {
            (name, Next::Field(name, pending))
        } else {
            return Ok(None);
        };
        self.next = Some(next);
        Ok(Some(key))
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
        match self.next.take() {
            Some(Next::Kind(text) | Next::ApiVersion(Cow::Borrowed(text))) => {
                seed.deserialize(Node::Scalar(Scalar::Text(text.as_bytes())))
            }
            Some(Next::ApiVersion(Cow::Owned(text))) => seed.deserialize(Node::Text(Cow::Owned(text))),
            Some(Next::Field(name, pending)) => {
                let fields = &mut self.fields;
                Node::pending(pending, self.depth, || fields.records())
                    .and_then(|node| seed.deserialize(node))
                    .map_err(|error| error.within_field(name))
            }
            None => Err(Error::mismatch("a value was asked for before its key")),
        }
    }
}

/// Something that is owned here, or by what it is in.
pub(super) enum Handle<'a, T> {
    Borrowed(&'a mut T),
    Owned(T),
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
            let Some(record) = self.records.get().next_of(self.field.number) else {
                return Ok(None);
            };
            match (kind, record.value) {
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
        let value = Node::pending(element, self.depth, || records).and_then(|node| seed.deserialize(node));
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
        let Some(record) = self.records.next_of(self.field.number) else {
            return Ok(None);
        };
        let (key, value) = self.entry(record.value.bytes()?)?;
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
        Node::pending(value, self.depth, || records)
            .and_then(|node| seed.deserialize(node))
            .map_err(|error| error.within(Segment::Key(key.into_owned())))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.records.count(self.field.number))
    }
}
