//! The state of an informer.

use super::PartitionStatus;
use crate::object::ResourceVersion;
use crate::reflector::ReflectorStatus;
use crate::source::InvalidObject;

/// The state of an informer, see [`SharedInformer::status`](super::SharedInformer::status).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InformerStatus {
    /// Whether the store holds the whole collection.
    pub synced: bool,
    /// The number of objects in the store.
    pub objects: usize,
    /// The number of queued changes.
    pub queued: usize,
    /// The version up to which the store is complete: the lowest of all partitions. The reflector's
    /// [`resource_version`](ReflectorStatus::resource_version), up to which changes have been seen, may be ahead.
    pub applied: Option<ResourceVersion>,
    /// The number of objects rejected so far because an index function panicked.
    pub not_indexed: u64,
    /// The last rejected object.
    pub last_not_indexed: Option<InvalidObject>,
    /// The state of the list and watch. With several partitions, counters are summed, and the other fields are those
    /// of the reflector that is furthest from watching.
    pub reflector: ReflectorStatus,
    /// The state of each partition, sorted by namespace.
    pub partitions: Vec<PartitionStatus>,
}
