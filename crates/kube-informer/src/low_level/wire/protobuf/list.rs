//! The body of a LIST in protobuf: an envelope whose message is a list, of metadata (1) and items (2).

use super::MAGIC;
use super::envelope::type_meta;
use super::feed::{Feed, Head, HeadValue};
use super::records::{Records, Value};
use crate::low_level::wire::{FrameError, FrameReason, ListMeta};
use bytes::Bytes;

/// The longest type or metadata of a list.
const MAX_ENVELOPE_VALUE: u64 = 1 << 20;

/// See [`ListReader`](crate::low_level::wire::ListReader).
#[derive(Debug)]
pub(in crate::low_level::wire) struct ListReader {
    feed: Feed,
    max: usize,
    at: At,
    /// How much of the list has not begun yet; `None` before the list.
    left: Option<u64>,
    end: ListMeta,
    failed: Option<FrameError>,
}

/// The position in the body.
#[derive(Debug, Clone, Copy)]
enum At {
    Magic,
    /// At a record of the envelope, or at its end.
    Envelope,
    /// At a record of the list.
    List,
    /// In a value of so many bytes.
    Value(Field, u64),
    /// In a value that is not read.
    Skip(u64),
}

/// The fields that are read.
#[derive(Debug, Clone, Copy)]
enum Field {
    TypeMeta,
    Metadata,
    Item,
}

impl ListReader {
    pub(in crate::low_level::wire) fn new(max: usize) -> Self {
        Self {
            feed: Feed::default(),
            max,
            at: At::Magic,
            left: None,
            end: ListMeta::default(),
            failed: None,
        }
    }

    pub(in crate::low_level::wire) fn push(&mut self, chunk: Bytes) {
        self.feed.push(chunk);
    }

    pub(in crate::low_level::wire) fn metadata(&self) -> &ListMeta {
        &self.end
    }

    /// The next item; `None` if it has not arrived yet.
    pub(in crate::low_level::wire) fn next(&mut self) -> Result<Option<Bytes>, FrameError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.advance()
            .inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn advance(&mut self) -> Result<Option<Bytes>, FrameError> {
        loop {
            match self.at {
                At::Magic => {
                    let Some(magic) = self.feed.take(MAGIC.len()) else {
                        return Ok(None);
                    };
                    if *magic != *MAGIC {
                        return Err(FrameError::new(FrameReason::Expected("an object in protobuf"), 0));
                    }
                    self.at = At::Envelope;
                }
                At::Envelope => match self.feed.head()? {
                    Some(head) => self.at = self.envelope(&head)?,
                    None => return Ok(None),
                },
                At::List if self.left == Some(0) => self.at = At::Envelope,
                At::List => match self.feed.head()? {
                    Some(head) => self.at = self.list(&head)?,
                    None => return Ok(None),
                },
                At::Value(field, length) => {
                    // It fits: longer values are errors.
                    let Some(value) = self.feed.take(length as usize) else {
                        return Ok(None);
                    };
                    self.at = self.behind();
                    match field {
                        Field::Item => return Ok(Some(value)),
                        Field::Metadata => self.set_metadata(&value)?,
                        Field::TypeMeta => self.set_types(&value)?,
                    }
                }
                At::Skip(length) => match length - self.feed.skip(length) {
                    0 => self.at = self.behind(),
                    left => {
                        self.at = At::Skip(left);
                        return Ok(None);
                    }
                },
            }
        }
    }

    /// Where a value is followed by the next record.
    fn behind(&self) -> At {
        match self.left {
            Some(1..) => At::List,
            Some(0) | None => At::Envelope,
        }
    }

    fn envelope(&mut self, head: &Head) -> Result<At, FrameError> {
        let HeadValue::Length(length) = head.value else {
            return Ok(At::Envelope);
        };
        match head.number {
            1..=4 if !head.is_bytes => Err(self.feed.error(FrameReason::Expected("an envelope"))),
            1 => self.bounded(Field::TypeMeta, length, MAX_ENVELOPE_VALUE),
            2 if self.left.is_some() => Err(self.feed.error(FrameReason::RepeatedItems)),
            2 => {
                self.check_kind()?;
                self.left = Some(length);
                Ok(At::List)
            }
            3 | 4 if length > 0 => Err(self.feed.error(FrameReason::Invalid("encoding of the list"))),
            _ => Ok(At::Skip(length)),
        }
    }

    /// The type comes first. Other kinds than lists use the number of this field for something else.
    fn check_kind(&self) -> Result<(), FrameError> {
        match self.end.kind.as_deref() {
            Some(kind) if kind.ends_with("List") => Ok(()),
            Some("Table") => Err(self.feed.error(FrameReason::Table)),
            kind => Err(self.feed.error(FrameReason::NotAList {
                kind: kind.map(str::to_owned),
            })),
        }
    }

    fn list(&mut self, head: &Head) -> Result<At, FrameError> {
        let length = match head.value {
            HeadValue::Varint => 0,
            HeadValue::Length(length) => length,
        };
        let taken = head.size.saturating_add(length);
        let left = self.left.unwrap_or_default().checked_sub(taken);
        self.left = Some(left.ok_or_else(|| self.feed.error(FrameReason::Invalid("length of a value")))?);
        match head.number {
            1 | 2 if !head.is_bytes => Err(self.feed.error(FrameReason::Expected("a list"))),
            1 => self.bounded(Field::Metadata, length, MAX_ENVELOPE_VALUE),
            2 => self.bounded(Field::Item, length, self.max as u64),
            _ => Ok(At::Skip(length)),
        }
    }

    fn bounded(&self, field: Field, length: u64, limit: u64) -> Result<At, FrameError> {
        if length > limit {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            return Err(self.feed.error(FrameReason::TooLarge { limit }));
        }
        Ok(At::Value(field, length))
    }

    fn set_types(&mut self, value: &[u8]) -> Result<(), FrameError> {
        let invalid = |_| self.feed.error(FrameReason::Invalid("kind"));
        let (api_version, kind) = type_meta(value, 0..value.len()).map_err(invalid)?;
        let text = |place| std::str::from_utf8(&value[place]).ok().map(str::to_owned);
        self.end.api_version = api_version.and_then(text);
        self.end.kind = kind.and_then(text);
        Ok(())
    }

    fn set_metadata(&mut self, value: &[u8]) -> Result<(), FrameError> {
        let invalid = || self.feed.error(FrameReason::Invalid("metadata"));
        let mut records = Records::new(value, 0..value.len());
        while let Some(record) = records.next().map_err(|_| invalid())? {
            let text = || {
                let text = record
                    .value
                    .bytes()
                    .map(|place| std::str::from_utf8(&value[place]));
                text.and_then(Result::ok).ok_or_else(invalid)
            };
            match record.number {
                2 => {
                    self.end.resource_version = Some(text()?).filter(|text| !text.is_empty()).map(Into::into)
                }
                3 => {
                    self.end.continue_token = Some(text()?).filter(|text| !text.is_empty()).map(str::to_owned)
                }
                4 => {
                    self.end.remaining_item_count = match record.value {
                        // A negative number, which no server sends, has its highest bit set.
                        Value::Varint(count) => i64::try_from(count).ok().map(|count| count as u64),
                        Value::Fixed | Value::Bytes(_) => None,
                    };
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(in crate::low_level::wire) fn finish(mut self) -> Result<ListMeta, FrameError> {
        let ended = self.next()?.is_none() && matches!(self.at, At::Envelope) && self.feed.is_empty();
        match (ended, self.left) {
            (true, Some(0)) => Ok(self.end),
            // Even an empty list has a message, with its version.
            _ => Err(self.feed.error(FrameReason::Truncated)),
        }
    }
}
