//! Splits the body of a WATCH into events.

use super::{
    DEFAULT_MAX_OBJECT_SIZE, Encoding, FieldPlan, FrameError, RawObject, ScanError, json, meta::Meta,
};
use crate::object::ResourceVersion;
use bytes::Bytes;
use std::fmt;

/// Splits the body of a WATCH into its events as it arrives.
///
/// [Push](WatchReader::push) each chunk, then call [next](WatchReader::next) until it returns `None`. Call
/// [finish](WatchReader::finish) when the stream has ended.
///
/// ```
/// use kube_informer::low_level::wire::{Encoding, EventType, WatchReader};
///
/// let mut reader = WatchReader::new(Encoding::Json);
/// reader.push(r#"{"type":"ADDED","obj"#.into());
/// assert_eq!(reader.next()?, None);
///
/// reader.push("ect\":{\"a\":1}}\n".into());
/// assert_eq!(reader.next()?, Some((EventType::Added, r#"{"a":1}"#.into())));
/// assert_eq!(reader.next()?, None);
/// reader.finish()?;
/// # Ok::<_, kube_informer::low_level::wire::FrameError>(())
/// ```
pub struct WatchReader {
    inner: Inner,
    /// What a scan found in the object that was returned last, if it was scanned in the same pass.
    scanned: Option<Meta>,
}

#[cfg_attr(
    feature = "protobuf",
    expect(clippy::large_enum_variant, reason = "there is one for a watch")
)]
enum Inner {
    Json(json::WatchReader),
    #[cfg(feature = "protobuf")]
    Protobuf(super::protobuf::WatchReader),
}

/// What happened to an object.
///
/// ```
/// use kube_informer::low_level::wire::EventType;
/// assert_eq!(EventType::from("DELETED"), EventType::Deleted);
/// assert_eq!(EventType::from("PAUSED").to_string(), "PAUSED");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventType {
    /// The object was created, or is new to this watch.
    Added,
    /// The object has a new state.
    Modified,
    /// The object was deleted; this is its last state.
    Deleted,
    /// No change: reports the resource version up to which everything was sent, see [`parse_bookmark`].
    Bookmark,
    /// The watch failed; the object is a `Status` with the reason.
    Error,
    /// A type that this version of the crate does not know.
    Unknown(Box<str>),
}

impl EventType {
    /// The type as a string.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
            Self::Unknown(text) => text,
        }
    }
}

impl From<&str> for EventType {
    fn from(text: &str) -> Self {
        match text {
            "ADDED" => Self::Added,
            "MODIFIED" => Self::Modified,
            "DELETED" => Self::Deleted,
            "BOOKMARK" => Self::Bookmark,
            "ERROR" => Self::Error,
            other => Self::Unknown(other.into()),
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl WatchReader {
    /// A reader at the start of a body, for objects up to [`DEFAULT_MAX_OBJECT_SIZE`].
    pub fn new(encoding: Encoding) -> Self {
        Self::with_max_object_size(encoding, DEFAULT_MAX_OBJECT_SIZE)
    }

    /// A reader that rejects objects of more than `max` bytes.
    pub fn with_max_object_size(encoding: Encoding, max: usize) -> Self {
        let inner = match encoding {
            Encoding::Json => Inner::Json(json::WatchReader::new(max)),
            #[cfg(feature = "protobuf")]
            Encoding::Protobuf => Inner::Protobuf(super::protobuf::WatchReader::new(max)),
        };
        Self { inner, scanned: None }
    }

    /// Adds the next chunk of the body.
    ///
    /// Read all events before pushing more, because unread chunks are kept in memory.
    pub fn push(&mut self, chunk: Bytes) {
        match &mut self.inner {
            Inner::Json(reader) => reader.push(chunk),
            #[cfg(feature = "protobuf")]
            Inner::Protobuf(reader) => reader.push(chunk),
        }
    }

    /// The type and the bytes of the next event's object; `None` until more is pushed. The `Debug` of the bytes shows them: do
    /// not log it. The object of an [`EventType::Error`] is a `Status`.
    ///
    /// # Errors
    /// The stream is not a sequence of events. Every later call returns the same error.
    #[expect(
        clippy::should_implement_trait,
        reason = "None is not the end: more may be pushed"
    )]
    pub fn next(&mut self) -> Result<Option<(EventType, Bytes)>, FrameError> {
        match &mut self.inner {
            Inner::Json(reader) => Ok(reader.next(None)?.map(|(event, (object, _))| (event, object))),
            #[cfg(feature = "protobuf")]
            Inner::Protobuf(reader) => reader.next(),
        }
    }

    /// The next event, whose object is scanned for `plan` if that needs no separate pass; see [`scan`](Self::scan).
    pub(crate) fn next_with(&mut self, plan: &FieldPlan) -> Result<Option<(EventType, Bytes)>, FrameError> {
        match &mut self.inner {
            Inner::Json(reader) => Ok(reader.next(Some(plan))?.map(|(event, (object, scanned))| {
                self.scanned = scanned;
                (event, object)
            })),
            #[cfg(feature = "protobuf")]
            Inner::Protobuf(reader) => reader.next(),
        }
    }

    /// Scans the object that [`next_with`](Self::next_with) has returned last, for the same plan.
    pub(crate) fn scan(&mut self, object: Bytes, plan: &FieldPlan) -> Result<RawObject, ScanError> {
        RawObject::scan_split(self.encoding(), (object, self.scanned.take()), plan)
    }

    fn encoding(&self) -> Encoding {
        match &self.inner {
            Inner::Json(_) => Encoding::Json,
            #[cfg(feature = "protobuf")]
            Inner::Protobuf(_) => Encoding::Protobuf,
        }
    }

    /// Ends the body.
    ///
    /// # Errors
    /// The stream is truncated in the middle of an event, or has events that were not read.
    pub fn finish(self) -> Result<(), FrameError> {
        match self.inner {
            Inner::Json(reader) => reader.finish(),
            #[cfg(feature = "protobuf")]
            Inner::Protobuf(reader) => reader.finish(),
        }
    }
}

impl fmt::Debug for WatchReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = match &self.inner {
            Inner::Json(reader) => reader.offset(),
            #[cfg(feature = "protobuf")]
            Inner::Protobuf(reader) => reader.offset(),
        };
        f.debug_struct("WatchReader")
            .field("offset", &offset)
            .finish_non_exhaustive()
    }
}

/// The content of a bookmark event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bookmark {
    /// The version up to which the watch has sent everything.
    pub resource_version: Option<ResourceVersion>,
    /// Whether the initial events end here: the annotation `k8s.io/initial-events-end` is exactly `true`.
    pub initial_events_end: bool,
}

/// Reads the object of a bookmark event.
///
/// ```
/// use kube_informer::low_level::wire::{Encoding, parse_bookmark};
///
/// let object = r#"{"kind":"Pod","metadata":{"resourceVersion":"12",
///     "annotations":{"k8s.io/initial-events-end":"true"}}}"#;
/// let bookmark = parse_bookmark(Encoding::Json, &object.into())?;
/// assert_eq!(bookmark.resource_version, Some("12".into()));
/// assert!(bookmark.initial_events_end);
/// # Ok::<_, kube_informer::low_level::wire::ScanError>(())
/// ```
///
/// # Errors
/// The bytes are not one object, or a member that is read has the wrong type.
pub fn parse_bookmark(encoding: Encoding, object: &Bytes) -> Result<Bookmark, ScanError> {
    match encoding {
        Encoding::Json => json::bookmark(object),
        #[cfg(feature = "protobuf")]
        Encoding::Protobuf => super::protobuf::bookmark(object),
    }
}
