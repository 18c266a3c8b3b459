//! Splits the bytes of a response into raw objects and scans them, without decoding.
//!
//! ```text
//! body of a LIST  --chunks--> ListReader  --items--+
//!                                                  +--> RawObject::scan --> RawObject: key, uid, version, labels, fingerprint, bytes
//! body of a WATCH --chunks--> WatchReader --frames-+
//!                                  |
//!                                  +--> parse_bookmark(): resource version, end of the initial events
//! ```
//!
//! A reader receives the chunks of a body as they arrive and returns each part as soon as it is complete. It searches
//! for the end of each part without interpreting its content. [`RawObject::scan`] then scans an object once and
//! extracts the metadata that an informer needs; everything else remains bytes until it is decoded. A
//! [`ClientSource`](crate::source::ClientSource) does both in one pass if an object has arrived in one chunk.
//!
//! ```
//! use kube_informer::low_level::wire::{Encoding, ListReader, RawObject};
//!
//! let mut reader = ListReader::new(Encoding::Json);
//! let mut keys = Vec::new();
//! for chunk in [
//!     r#"{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"#,
//!     r#""web-0","namespace":"shop"}}]}"#,
//! ] {
//!     reader.push(chunk.into());
//!     while let Some(item) = reader.next()? {
//!         keys.push(RawObject::scan(Encoding::Json, item)?.key());
//!     }
//! }
//! assert_eq!(keys, ["shop/web-0".into()]);
//! assert_eq!(reader.finish()?.resource_version, Some("9".into()));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # Encodings
//! The types here are the same for every [`Encoding`]; each has its own functions to split and to scan. Modules above
//! this one interpret bytes only according to their encoding.
//!
//! # Validity
//! Valid input is never split or read incorrectly. Invalid input is accepted if the invalid parts are not read: a
//! scan of JSON follows strings and brackets through such parts, but does not check literals, commas or escapes
//! there. Decoding reports these errors. Since broken JSON may have no end, a watch event is checked token by token
//! from its first line break on. The API server writes an event as one line, so a broken event is detected there and
//! does not swallow the following ones. If a member occurs twice, the last one counts, as in `serde_json`; only a
//! second `items` in a list is an error, because the first may have been returned already. The nesting depth is
//! limited only by the size of an object; nothing here recurses.
//!
//! # Errors
//! A [`FrameError`] ends a body, because the following parts cannot be delimited. A [`ScanError`] concerns one
//! object. It contains the object's key if that could be read, so that a broken object still counts as present or
//! deleted. Neither error contains any part of an object's body, which may be a Secret.
//!
//! # Memory
//! A part within one chunk is a slice of that chunk and is not copied; a part across chunks is copied once. A reader
//! holds at most one part and the chunks that were pushed and not read yet. A part larger than a limit
//! ([`DEFAULT_MAX_OBJECT_SIZE`]) is an error. A slice keeps its whole chunk alive, so copy ([`RawObject::into_owned`]),
//! pack or decode an object to store it.

mod error;
mod fingerprint;
mod json;
mod list;
mod meta;
pub(crate) mod plan;
#[cfg(feature = "protobuf")]
mod protobuf;
mod raw;
#[cfg(test)]
mod tests;
mod watch;

pub use error::{FrameError, FrameReason, ScanError, ScanReason};
pub use list::{ListMeta, ListReader};
pub(crate) use plan::FieldPlan;
pub use raw::RawObject;
pub use watch::{Bookmark, EventType, WatchReader, parse_bookmark};

/// The bytes of an object that was split off a body, and what a scan found if it was scanned in the same pass.
type Split = (bytes::Bytes, Option<meta::Meta>);

/// The default limit of an object's size in bytes: 64 MiB. Readers reject larger objects.
///
/// etcd accepts objects of up to 1.5 MiB; aggregated API servers may have larger ones. The limit prevents a server
/// that never ends an object from exhausting memory.
pub const DEFAULT_MAX_OBJECT_SIZE: usize = 64 << 20;

/// The encoding of objects.
///
/// ```
/// use kube_informer::low_level::wire::Encoding;
/// assert_eq!(Encoding::default(), Encoding::Json);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Encoding {
    /// JSON, in UTF-8.
    #[default]
    Json,
    /// Kubernetes' protobuf, which servers have for built-in kinds (feature `protobuf`). An object that stands alone is in
    /// an envelope (`k8s\0` and a `runtime.Unknown`), the items of a list are bare messages. A scan reads the metadata; of a
    /// [`FieldPlan`] it does no more than prune `metadata.managedFields`.
    ///
    /// <https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding>
    #[cfg(feature = "protobuf")]
    Protobuf,
}
