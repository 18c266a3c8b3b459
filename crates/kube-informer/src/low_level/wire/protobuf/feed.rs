//! Reads parts of a body from chunks.

use super::records::{Varint, tag, varint};
use crate::low_level::wire::{FrameError, FrameReason};
use bytes::{Buf, Bytes, BytesMut};
use std::collections::VecDeque;
use std::fmt;

/// The unread bytes of a body. Each byte is processed once, however many chunks a part spans.
#[derive(Default)]
pub(super) struct Feed {
    chunks: VecDeque<Bytes>,
    /// The number of bytes that were read.
    read: u64,
    /// What has been read of the part under way, if it spans chunks.
    head: BytesMut,
}

/// The start of a record: what it is, and how long.
pub(super) struct Head {
    pub(super) number: u32,
    pub(super) value: HeadValue,
    /// Whether the value is a string, bytes or a message.
    pub(super) is_bytes: bool,
    /// How many bytes the start itself takes.
    pub(super) size: u64,
}

pub(super) enum HeadValue {
    /// There is no more to it: it was a number.
    Varint,
    /// How long the value is that follows.
    Length(u64),
}

impl Feed {
    pub(super) fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.chunks.push_back(chunk);
        }
    }

    /// Whether all of what was pushed has been read.
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.head.is_empty()
    }

    pub(super) fn offset(&self) -> u64 {
        self.read
    }

    pub(super) fn error(&self, reason: FrameReason) -> FrameError {
        FrameError::new(reason, self.read)
    }

    /// Reads the start of a record; `None` until all of it has arrived.
    pub(super) fn head(&mut self) -> Result<Option<Head>, FrameError> {
        let mut bytes = self.chunks.iter().flatten().copied();
        let mut size = 0;
        let mut number = || match varint(&mut bytes) {
            Varint::Complete(number, taken) => {
                size += taken;
                Ok(Some(number))
            }
            Varint::Incomplete => Ok(None),
            Varint::TooLong => Err("a number of at most ten bytes"),
        };
        let mut head = || {
            let Some(first) = number()? else { return Ok(None) };
            let (field, wire_type) = tag(first).ok_or("a protobuf field")?;
            let value = match wire_type {
                0 => number()?.map(|_| HeadValue::Varint),
                1 => Some(HeadValue::Length(8)),
                2 => number()?.map(HeadValue::Length),
                5 => Some(HeadValue::Length(4)),
                _ => return Err("a protobuf value"),
            };
            Ok(value.map(|value| (field, value, wire_type == 2)))
        };
        let head = head().map_err(|expected| self.error(FrameReason::Expected(expected)))?;
        let Some((number, value, is_bytes)) = head else {
            return Ok(None);
        };
        self.consume(size);
        Ok(Some(Head {
            number,
            value,
            is_bytes,
            size: size as u64,
        }))
    }

    /// Reads as many bytes; `None` until all of them have arrived. Then call it again with the same number.
    pub(super) fn take(&mut self, count: usize) -> Option<Bytes> {
        if self.head.is_empty() {
            match self.chunks.front_mut() {
                Some(chunk) if chunk.len() >= count => {
                    let taken = chunk.split_to(count);
                    self.consumed(count);
                    return Some(taken);
                }
                None if count == 0 => return Some(Bytes::new()),
                _ => {}
            }
        }
        while self.head.len() < count {
            let chunk = self.chunks.front()?;
            let part = chunk.len().min(count - self.head.len());
            self.head.extend_from_slice(&chunk[..part]);
            self.consume(part);
        }
        Some(std::mem::take(&mut self.head).freeze())
    }

    /// Passes over at most as many bytes. Returns how many.
    pub(super) fn skip(&mut self, count: u64) -> u64 {
        let mut left = count;
        while left > 0
            && let Some(chunk) = self.chunks.front()
        {
            let part = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.consume(part);
            left -= part as u64;
        }
        count - left
    }

    /// Removes bytes that have been read.
    fn consume(&mut self, mut count: usize) {
        while count > 0
            && let Some(chunk) = self.chunks.front_mut()
        {
            let part = chunk.len().min(count);
            chunk.advance(part);
            self.consumed(part);
            count -= part;
        }
    }

    fn consumed(&mut self, count: usize) {
        self.read += count as u64;
        if self.chunks.front().is_some_and(Bytes::is_empty) {
            self.chunks.pop_front();
        }
    }
}

/// Shows offsets, never content.
impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("offset", &self.read)
            .finish_non_exhaustive()
    }
}
