//! Errors about received bytes. They never contain a part of the bytes, which may be a Secret.

use crate::object::ObjectKey;
use std::fmt;

/// A body cannot be split into its parts. Nothing after [`offset`](FrameError::offset) can be read.
///
/// ```
/// use kube_informer::low_level::wire::{Encoding, FrameReason, ListReader};
///
/// let mut reader = ListReader::new(Encoding::Json);
/// reader.push("<html>".into());
/// let error = reader.next().unwrap_err();
/// assert_eq!(error.offset(), 0);
/// assert_eq!(error.to_string(), "expected an object at byte 0 of the body");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameError {
    reason: FrameReason,
    offset: u64,
}

impl FrameError {
    pub(super) fn new(reason: FrameReason, offset: u64) -> Self {
        Self { reason, offset }
    }

    /// What is wrong.
    pub fn reason(&self) -> &FrameReason {
        &self.reason
    }

    /// The offset of the error in the body, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {} of the body", self.reason, self.offset)
    }
}

impl std::error::Error for FrameError {}

/// The reason of a [`FrameError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameReason {
    /// This was expected, but something else was found.
    #[error("expected {0}")]
    Expected(&'static str),
    /// The body ends prematurely.
    #[error("the body is cut off")]
    Truncated,
    /// There is data after the end of a list.
    #[error("unexpected data after the list")]
    TrailingData,
    /// A part is larger than the limit.
    #[error("a part is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The exceeded limit in bytes.
        limit: usize,
    },
    /// A list has two members `items`.
    #[error("repeated items")]
    RepeatedItems,
    /// The body is a `Table`, the form for printing, because it was requested or the server ignored the requested
    /// form.
    #[error("the body is a Table, not a list of objects")]
    Table,
    /// The body is an object, but not a list.
    #[error("the body is no list (kind {:.100})", kind.as_deref().unwrap_or("unknown"))]
    NotAList {
        /// The object's kind, such as `Status`.
        kind: Option<String>,
    },
    /// An event lacks this member.
    #[error("an event without {0}")]
    Missing(&'static str),
    /// This member has an invalid value.
    #[error("invalid {0}")]
    Invalid(&'static str),
}

/// The bytes of an object cannot be read.
///
/// ```
/// use kube_informer::low_level::wire::{Encoding, RawObject};
///
/// let body = r#"{"metadata":{"name":"web-0","namespace":"shop","labels":[]}}"#;
/// let error = RawObject::scan(Encoding::Json, body.into()).unwrap_err();
/// assert_eq!(error.key(), Some(&"shop/web-0".into()));
/// assert_eq!(error.to_string(), "object shop/web-0: metadata.labels is not an object (byte 56)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanError {
    key: Option<ObjectKey>,
    reason: ScanReason,
    offset: usize,
}

impl ScanError {
    pub(super) fn new(key: Option<ObjectKey>, reason: ScanReason, offset: usize) -> Self {
        Self { key, reason, offset }
    }

    /// The object's key, if its metadata could be read.
    pub fn key(&self) -> Option<&ObjectKey> {
        self.key.as_ref()
    }

    /// What is wrong.
    pub fn reason(&self) -> &ScanReason {
        &self.reason
    }

    /// The offset of the error in the object's bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            // Long enough to show every name that a server allows in full.
            Some(key) => write!(
                f,
                "object {:.320}: {} (byte {})",
                key.as_str(),
                self.reason,
                self.offset
            ),
            None => write!(
                f,
                "object without a known key: {} (byte {})",
                self.reason, self.offset
            ),
        }
    }
}

impl std::error::Error for ScanError {}

/// A reason and its offset; callers add the object's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) reason: ScanReason,
    pub(super) offset: usize,
}

/// The reason of a [`ScanError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScanReason {
    /// This was expected, but something else was found.
    #[error("expected {0}")]
    Expected(&'static str),
    /// The bytes end prematurely.
    #[error("the object is cut off")]
    Truncated,
    /// There is data after the end of the object.
    #[error("unexpected data after the object")]
    TrailingData,
    /// The object is larger than 4 GiB.
    #[error("the object is larger than 4 GiB")]
    TooLarge,
    /// The object has no name, so there is no key to store it under.
    #[error("the object has no metadata.name")]
    NoName,
    /// This member is not a valid name: with a slash in it, two objects could have the same key.
    #[error("{0} is no name of an object: it is \".\" or \"..\", or has \"/\" or \"%\"")]
    InvalidName(&'static str),
    /// A member has a value of another type.
    #[error("{field} is not {expected}")]
    WrongType {
        /// The member.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A string has an invalid escape or a control character, or is not UTF-8.
    #[error("{0} is not valid text")]
    InvalidText(&'static str),
}
