//! Protobuf: splitting and scanning.
//!
//! Every object that stands alone is in an *envelope*: four bytes, then a `runtime.Unknown`, which says what is in it. The
//! items of a list are bare messages. [`records`] reads a message that has arrived completely, [`feed`] a body as it
//! arrives. Lengths say where everything ends, so what is not read is not looked at.
//!
//! <https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding>

mod body;
mod bookmark;
mod envelope;
mod feed;
mod labels;
mod list;
mod records;
mod scan;
mod watch;

pub(super) use body::write_body;
pub(super) use bookmark::bookmark;
pub(super) use labels::labels;
pub(super) use list::ListReader;
pub(super) use scan::scan;
pub(super) use watch::WatchReader;

/// The first bytes of an envelope. No message starts with them.
const MAGIC: &[u8; 4] = b"k8s\0";

/// The fields of `meta.v1.ObjectMeta` that are read, by their numbers.
mod object_meta {
    pub(super) const NAME: u32 = 1;
    pub(super) const NAMESPACE: u32 = 3;
    pub(super) const UID: u32 = 5;
    pub(super) const RESOURCE_VERSION: u32 = 6;
    pub(super) const LABELS: u32 = 11;
    pub(super) const ANNOTATIONS: u32 = 12;
    pub(super) const OWNER_REFERENCES: u32 = 13;
    pub(super) const MANAGED_FIELDS: u32 = 17;
}

/// The number of an object's metadata, which is the same in all kinds.
const METADATA: u32 = 1;
