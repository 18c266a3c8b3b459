//! Partitions: parts of a collection that are listed and watched separately.

use std::fmt;

/// One part of an informer's collection: the objects of one reflector.
///
/// Most informers have one partition, [`Partition::SINGLE`]. An informer over several namespaces or shards has one
/// for each. Every partition has its own list, watch and resource version, and a relist of one does not affect the
/// objects of the others.
///
/// ```
/// use kube_informer::Partition;
/// assert_eq!(Partition::default(), Partition::SINGLE);
/// assert_ne!(Partition::new(1), Partition::SINGLE);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Partition(u32);

impl Partition {
    /// The only partition of an informer over a single list and watch.
    pub const SINGLE: Self = Self(0);

    /// The partition with this number; numbers start at zero.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The partition's number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
