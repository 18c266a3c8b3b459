//! The result of a scan: the positions of an object's metadata in its bytes.

use crate::object::{Fingerprint, ResourceVersion};
use smallvec::SmallVec;
use std::ops::Range;

/// The result of scanning an object.
#[derive(Debug, Clone)]
pub(super) struct Meta {
    pub(super) api_version: Text,
    pub(super) kind: Text,
    pub(super) namespace: Text,
    pub(super) name: Text,
    pub(super) uid: Text,
    pub(super) resource_version: Option<ResourceVersion>,
    /// The value of `metadata.labels`, validated to be a map of strings.
    pub(super) labels: Option<Span>,
    /// The value of `metadata.ownerReferences`, not validated.
    pub(super) owners: Option<Span>,
    pub(super) fingerprint: Fingerprint,
    /// Whether the fingerprint stands for uid and version, not for the body.
    pub(super) by_version: bool,
    /// The pruned parts, in order.
    pub(super) cuts: SmallVec<[Span; 1]>,
    /// The numbers of the plan's fields that were found, and their values.
    pub(super) fields: SmallVec<[(u16, Span); 1]>,
}

/// A range of an object's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The object must be at most 4 GiB.
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

/// A string in an object.
#[derive(Debug, Clone, Default)]
pub(super) enum Text {
    /// Absent, null or empty.
    #[default]
    None,
    /// Without escapes: a part of the bytes.
    Plain(Span),
    /// With escapes in the bytes; this is the unescaped string.
    Unescaped(Box<str>),
}

impl Text {
    pub(super) fn of<'a>(&'a self, bytes: &'a [u8]) -> Option<&'a str> {
        match self {
            Self::None => None,
            // The scan has validated these bytes. Validating a few tens of bytes again is cheaper than storing a
            // `str`.
            Self::Plain(span) => std::str::from_utf8(span.of(bytes)).ok(),
            Self::Unescaped(text) => Some(text),
        }
    }
}

/// Appends this range of `bytes` without the cuts within it, which are in order, and without the uid. Returns where in `out` the
/// uid was left out; `None` if it is not in the range, or in a cut.
pub(super) fn write_without<'c>(
    bytes: &[u8],
    range: Range<usize>,
    cuts: impl IntoIterator<Item = &'c Span>,
    uid: Option<Span>,
    out: &mut Vec<u8>,
) -> Option<usize> {
    let mut place = None;
    let mut write = |from: usize, to: usize| {
        let uid = uid.filter(|uid| from <= uid.start() && uid.end() <= to);
        let Some(uid) = uid else {
            return out.extend_from_slice(&bytes[from..to]);
        };
        out.extend_from_slice(&bytes[from..uid.start()]);
        place = Some(out.len());
        out.extend_from_slice(&bytes[uid.end()..to]);
    };
    let mut from = range.start;
    for cut in cuts {
        write(from, cut.start());
        from = cut.end();
    }
    write(from, range.end);
    place
}
