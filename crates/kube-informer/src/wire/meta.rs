//! What a scan finds in an object, as places in its bytes.

use crate::object::{Fingerprint, ResourceVersion};
use smallvec::SmallVec;
use std::ops::Range;

/// What a scan finds in an object.
#[derive(Debug, Clone)]
pub(super) struct Meta {
    pub(super) api_version: Text,
    pub(super) kind: Text,
    pub(super) namespace: Text,
    pub(super) name: Text,
    pub(super) uid: Text,
    pub(super) resource_version: Option<ResourceVersion>,
    /// The value of `metadata.labels`, checked to be texts.
    pub(super) labels: Option<Span>,
    /// The value of `metadata.ownerReferences`, whatever it is.
    pub(super) owners: Option<Span>,
    pub(super) fingerprint: Fingerprint,
    /// What is left out, in order.
    pub(super) cuts: SmallVec<[Span; 1]>,
    /// The numbers of fields that were looked for, and their values.
    pub(super) fields: SmallVec<[(u16, Span); 1]>,
}

/// A range of an object's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The object is known to be no larger than 4 GiB.
    pub(super) fn new(range: Range<usize>) -> Self {
        Self {
            start: range.start as u32,
            end: range.end as u32,
        }
    }

    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    pub(super) fn end(self) -> usize {
        self.end as usize
    }

    pub(super) fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..self.end as usize]
    }
}

/// A text in an object.
#[derive(Debug, Clone, Default)]
pub(super) enum Text {
    /// Absent, null or empty.
    #[default]
    None,
    /// Stands in the bytes as it is.
    Plain(Span),
    /// Stands in the bytes with escapes; this is what they mean.
    Unescaped(Box<str>),
}

impl Text {
    pub(super) fn of<'a>(&'a self, bytes: &'a [u8]) -> Option<&'a str> {
        match self {
            Self::None => None,
            // The scan has checked these very bytes; to check some tens of them again is cheaper than to hold more.
            Self::Plain(span) => std::str::from_utf8(span.of(bytes)).ok(),
            Self::Unescaped(text) => Some(text),
        }
    }
}
