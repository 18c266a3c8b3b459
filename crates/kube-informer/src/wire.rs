//! From the bytes of a response to raw objects, paying only for what is read.
//!
//! ```text
//! body of a LIST  --chunks--> ListReader  --items--+
//!                                                  +--> RawObject::scan --> RawObject: key, uid, version, labels, fingerprint, bytes
//! body of a WATCH --chunks--> WatchReader --frames-+
//!                                  |
//!                                  +--> bookmark(): resource version, end of the initial events
//! ```
//!
//! A reader is pushed the chunks of a body as they arrive and gives its parts as soon as they are complete. It looks
//! for the end of each part and at nothing inside. [`RawObject::scan`] then goes over an object once and finds what an
//! informer needs to file it; everything else stays bytes until somebody decodes them. A
//! [`ClientSource`](crate::source::ClientSource) does both in one pass where an object has arrived in one piece.
//!
//! ```
//! use kube_informer::wire::{Encoding, ListPart, ListReader, RawObject};
//!
//! let mut reader = ListReader::new(Encoding::Json);
//! let mut keys = Vec::new();
//! for chunk in [
//!     r#"{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"#,
//!     r#""web-0","namespace":"shop"}}]}"#,
//! ] {
//!     reader.push(chunk.into());
//!     while let Some(ListPart::Item(item)) = reader.next()? {
//!         keys.push(RawObject::scan(Encoding::Json, item)?.key());
//!     }
//! }
//! assert_eq!(keys, ["shop/web-0".into()]);
//! assert_eq!(reader.finish()?.resource_version, Some("9".into()));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # Encodings
//! The types here are the same for every [`Encoding`]; each has its own way to split and to scan. Nothing above this
//! module looks into bytes without asking for their encoding.
//!
//! # Validity
//! What is valid is never split or read wrongly. What is not valid may pass, as long as it stands in parts that are
//! not read: a scan of JSON follows strings and brackets through such parts, but does not check literals, commas or
//! escapes there. Decoding catches that. Since broken JSON may have no end, what comes in an event of a watch is followed
//! token by token from its first line break on: the API server writes an event as one line, so a broken one is noticed
//! there and does not take the next ones with it. Where a member occurs twice, the last one counts, as in `serde_json`; only a
//! second `items` in a list is an error, because the first may be on its way already. How deep values nest is
//! limited by the size of an object alone; nothing here recurses.
//!
//! # Errors
//! A [`FrameError`] ends a body: what follows cannot be told apart any more. A [`ScanError`] concerns one object; it
//! names the object's key if that could be read, so that a broken object still counts as present or as deleted.
//! Neither carries a part of an object's body, which may be a Secret.
//!
//! # Memory
//! A part that lies in one chunk is a slice of it, without a copy; one that straddles chunks is copied once. Readers
//! hold at most one part and the chunks that were pushed and not read yet; a part larger than a limit
//! ([`DEFAULT_MAX_OBJECT_SIZE`]) is an error. A slice keeps its whole chunk alive: whoever stores an object copies
//! ([`RawObject::detach`]), packs or decodes it.

mod error;
mod fingerprint;
mod json;
mod list;
mod meta;
mod plan;
mod raw;
#[cfg(test)]
mod tests;
mod watch;

pub use error::{FrameError, FrameReason, ScanError, ScanReason};
pub use list::{ListEnd, ListPart, ListReader};
pub use plan::{FieldPlan, PruneError};
pub use raw::RawObject;
pub(crate) use raw::Split;
pub use watch::{Bookmark, EventType, WatchFrame, WatchReader, bookmark};

/// The size, in bytes, above which a reader refuses an object unless it is told otherwise: 64 MiB.
///
/// The largest objects that etcd takes are 1.5 MiB; aggregated API servers may have larger ones. The limit is there so
/// that a server that never ends an object cannot take all memory.
pub const DEFAULT_MAX_OBJECT_SIZE: usize = 64 << 20;

/// How an object is written as bytes.
///
/// ```
/// use kube_informer::wire::Encoding;
/// assert_eq!(Encoding::default(), Encoding::Json);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Encoding {
    /// JSON, in UTF-8.
    #[default]
    Json,
}
