//! The bodies of lists and watches, part by part.

use super::body::Chunks;
use super::negotiation::status;
use super::{ApiError, BoxError, InvalidObject, Item, ListPart, ListStream, WatchEvent, WatchStream};
use crate::low_level::wire::{
    self, Encoding, EventType, FieldPlan, FrameError, FrameReason, ListReader, RawObject, ScanError,
    WatchReader,
};
use crate::object::CachedObject;
use bytes::Bytes;
use futures::{StreamExt, stream};

/// The objects that were asked for.
pub(super) struct Expected {
    pub(super) encoding: Encoding,
    /// Empty if it is not known.
    pub(super) kind: String,
    pub(super) metadata_only: bool,
    /// What their scans look for.
    pub(super) plan: FieldPlan,
}

/// The parts of a list.
pub(super) fn list_parts<O: CachedObject>(chunks: Chunks, expected: Expected) -> ListStream<O> {
    // It is passed on with every item, so it is not moved itself.
    let body = Box::new(ListBody {
        reader: ListReader::new(expected.encoding),
        expected,
        chunks,
        items: 0,
    });
    let parts = stream::try_unfold(Some(body), |body| async {
        match body {
            Some(body) => body.next().await,
            None => Ok(None),
        }
    });
    parts.boxed()
}

/// The events of a watch.
pub(super) fn watch_events<O: CachedObject>(chunks: Chunks, expected: Expected) -> WatchStream<O> {
    let body = Box::new(WatchBody {
        reader: WatchReader::new(expected.encoding),
        expected,
        chunks,
    });
    stream::try_unfold(body, WatchBody::next).boxed()
}

impl Expected {
    /// Whether this is the kind of the requested objects.
    fn expects(&self, kind: &str) -> bool {
        self.kind.is_empty() || kind == self.kind || (self.metadata_only && kind == "PartialObjectMetadata")
    }

    /// An object of a list or event, scanned but not decoded.
    fn item<O: CachedObject>(
        &self,
        scanned: Result<RawObject, ScanError>,
        place: impl FnOnce() -> String,
    ) -> Item<O> {
        match scanned {
            Ok(raw) => match raw.kind() {
                Some(kind) if !self.expects(kind) => {
                    let reason = format!("expected kind {}, got {kind:.100}", self.kind);
                    Item::Invalid(InvalidObject {
                        key: Some(raw.key()),
                        reason,
                    })
                }
                _ => Item::Raw(raw),
            },
            Err(error) => {
                let key = error.key().cloned();
                let reason = format!("{} (byte {} of {})", error.reason(), error.offset(), place());
                Item::Invalid(InvalidObject { key, reason })
            }
        }
    }
}

fn not_a_list(what: impl Into<BoxError>) -> ApiError {
    ApiError::Protocol(what.into().to_string())
}

/// The error of a list that has ended. A truncated list counts as a broken connection, even if the connection was
/// closed cleanly.
fn incomplete(error: FrameError) -> ApiError {
    match error.reason() {
        FrameReason::Truncated if error.offset() > 0 => ApiError::while_reading(error),
        _ => not_a_list(error),
    }
}

/// Reads a list item by item, then its end.
struct ListBody {
    expected: Expected,
    chunks: Chunks,
    reader: ListReader,
    items: usize,
}

impl ListBody {
    async fn next<O: CachedObject>(
        mut self: Box<Self>,
    ) -> Result<Option<(ListPart<O>, Option<Box<Self>>)>, ApiError> {
        loop {
            if let Some(scanned) = self
                .reader
                .next_scanned(&self.expected.plan)
                .map_err(not_a_list)?
            {
                let position = self.items;
                self.items += 1;
                let item = self
                    .expected
                    .item(scanned, || format!("item {position} of a list"));
                return Ok(Some((ListPart::Item(item), Some(self))));
            }
            match self.chunks.next().await? {
                Some(chunk) => self.reader.push(chunk),
                None => {
                    let end = self.reader.finish().map_err(incomplete)?;
                    return Ok(Some((ListPart::End(end), None)));
                }
            }
        }
    }
}

/// Reads a watch event by event.
struct WatchBody {
    expected: Expected,
    chunks: Chunks,
    reader: WatchReader,
}

impl WatchBody {
    async fn next<O: CachedObject>(
        mut self: Box<Self>,
    ) -> Result<Option<(WatchEvent<O>, Box<Self>)>, ApiError> {
        loop {
            if let Some((event, object)) = self.reader.next_with(&self.expected.plan).map_err(not_a_list)? {
                let event = self.event(event, object)?;
                return Ok(Some((event, self)));
            }
            match self.chunks.next().await? {
                Some(chunk) => self.reader.push(chunk),
                None => {
                    self.reader.finish().map_err(ApiError::while_reading)?;
                    return Ok(None);
                }
            }
        }
    }

    fn event<O: CachedObject>(&mut self, event: EventType, object: Bytes) -> Result<WatchEvent<O>, ApiError> {
        let encoding = self.expected.encoding;
        let mut item = |object| {
            let scanned = self.reader.scan(object, &self.expected.plan);
            self.expected.item(scanned, || "an event of the watch".to_owned())
        };
        Ok(match event {
            EventType::Added => WatchEvent::Added(item(object)),
            EventType::Modified => WatchEvent::Modified(item(object)),
            EventType::Deleted => WatchEvent::Deleted(item(object)),
            EventType::Bookmark => {
                let bookmark = wire::parse_bookmark(encoding, &object).map_err(not_a_list)?;
                let wire::Bookmark {
                    resource_version,
                    initial_events_end,
                    ..
                } = bookmark;
                WatchEvent::Bookmark {
                    resource_version,
                    initial_events_end,
                }
            }
            EventType::Error => match status(encoding, &object, 500) {
                Some(status) => WatchEvent::Error(status),
                None => return Err(ApiError::Protocol("an ERROR event that is no API status".into())),
            },
            EventType::Unknown(name) => {
                let name: String = name.chars().take(40).collect();
                return Err(ApiError::Protocol(format!(
                    "unknown type of watch event {name:?}"
                )));
            }
        })
    }
}
