//! The body of a WATCH in protobuf: frames, which are their length in four bytes and a bare `meta.v1.WatchEvent`.

use super::feed::Feed;
use super::records::Records;
use crate::low_level::wire::error::Fault;
use crate::low_level::wire::{EventType, FrameError, FrameReason};
use bytes::Bytes;

/// What a frame has besides its object takes no more than this.
const MAX_ENVELOPE: usize = 1 << 10;

/// See [`WatchReader`](crate::low_level::wire::WatchReader).
pub(in crate::low_level::wire) struct WatchReader {
    feed: Feed,
    max: usize,
    /// The length of the frame that is being read.
    length: Option<usize>,
    failed: Option<FrameError>,
}

impl WatchReader {
    pub(in crate::low_level::wire) fn new(max: usize) -> Self {
        Self {
            feed: Feed::default(),
            max,
            length: None,
            failed: None,
        }
    }

    pub(in crate::low_level::wire) fn push(&mut self, chunk: Bytes) {
        self.feed.push(chunk);
    }

    /// The number of bytes that were read.
    pub(in crate::low_level::wire) fn offset(&self) -> u64 {
        self.feed.offset()
    }

    /// The next event and its object in its envelope; `None` if it has not arrived yet.
    pub(in crate::low_level::wire) fn next(&mut self) -> Result<Option<(EventType, Bytes)>, FrameError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.advance()
            .inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn advance(&mut self) -> Result<Option<(EventType, Bytes)>, FrameError> {
        let length = match self.length {
            Some(length) => length,
            None => match self.length()? {
                Some(length) => *self.length.insert(length),
                None => return Ok(None),
            },
        };
        let Some(frame) = self.feed.take(length) else {
            return Ok(None);
        };
        self.length = None;
        let (event, object) = event(&frame).map_err(|_| self.error("an event in protobuf"))?;
        let missing = |member| self.feed.error(FrameReason::Missing(member));
        let event = event.ok_or_else(|| missing("type"))?;
        let object = object.ok_or_else(|| missing("object"))?;
        if object.len() > self.max {
            return Err(self.feed.error(FrameReason::TooLarge { limit: self.max }));
        }
        Ok(Some((event, frame.slice_ref(object))))
    }

    fn length(&mut self) -> Result<Option<usize>, FrameError> {
        let Some(bytes) = self.feed.take(4) else {
            return Ok(None);
        };
        let bytes = <[u8; 4]>::try_from(&*bytes).map_err(|_| self.error("the length of a frame"))?;
        let length = u32::from_be_bytes(bytes) as usize;
        if length > self.max.saturating_add(MAX_ENVELOPE) {
            return Err(self.feed.error(FrameReason::TooLarge { limit: self.max }));
        }
        Ok(Some(length))
    }

    fn error(&self, expected: &'static str) -> FrameError {
        self.feed.error(FrameReason::Expected(expected))
    }

    pub(in crate::low_level::wire) fn finish(mut self) -> Result<(), FrameError> {
        if self.next()?.is_some() || self.length.is_some() || !self.feed.is_empty() {
            return Err(self.feed.error(FrameReason::Truncated));
        }
        Ok(())
    }
}

/// The type (1) of a `WatchEvent`, and its object: a `RawExtension` (2) whose bytes (1) are an envelope.
fn event(frame: &[u8]) -> Result<(Option<EventType>, Option<&[u8]>), Fault> {
    let (mut event, mut object) = (None, None);
    let mut records = Records::new(frame, 0..frame.len());
    while let Some(record) = records.next()? {
        let value = record.value.bytes();
        match (record.number, value) {
            (1, Some(place)) => event = std::str::from_utf8(&frame[place]).ok().map(EventType::from),
            (2, Some(place)) => {
                let mut records = Records::new(frame, place);
                while let Some(record) = records.next()? {
                    if record.number == 1 {
                        object = record.value.bytes().map(|place| &frame[place]);
                    }
                }
            }
            _ => {}
        }
    }
    Ok((event.filter(|event| !event.as_str().is_empty()), object))
}
