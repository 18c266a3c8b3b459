//! The changes that are popped together.

use super::Accumulator;
use super::line::Keyed;
use crate::object::{ObjectKey, Partition, ResourceVersion};
use std::fmt;

/// The resource version up to which the changes of one partition have been pushed or popped.
///
/// ```
/// use kube_informer::{Partition, low_level::queue::Position};
/// let position = Position { partition: Partition::SINGLE, resource_version: "7".into() };
/// assert_eq!(position.resource_version.as_str(), "7");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The partition.
    pub partition: Partition,
    /// The version up to which everything has been pushed or popped.
    pub resource_version: ResourceVersion,
}

/// The changes of a [`Batch`](super::Batch).
#[non_exhaustive]
pub enum Entries<A: Accumulator> {
    /// Changes of single keys, with each key of a partition at most once; empty if only a bookmark was
    /// pushed.
    Changes(Vec<Keyed<A>>),
    /// A new list of a partition. It is popped alone. Objects of the partition that are not in it were
    /// deleted.
    Replace {
        /// The listed partition.
        partition: Partition,
        /// The listed objects, in the list's order.
        entries: Vec<(ObjectKey, A::Object)>,
    },
    /// The objects of a partition that an earlier run has saved, complete up to a version. The server has not
    /// confirmed them: the queue syncs only with [`Confirmed`](Self::Confirmed) or a list.
    Restored {
        /// The restored partition.
        partition: Partition,
        /// Its objects.
        entries: Vec<(ObjectKey, A::Object)>,
    },
    /// The server has confirmed what was restored of this partition, with the changes since.
    Confirmed(Partition),
    /// A resync: the consumer notifies handlers of every object again. Everything pushed before it has been
    /// popped.
    Resync,
    /// This partition was added; changes of it follow.
    PartitionAdded(Partition),
    /// This partition was removed; no more changes of it follow, and its objects are no longer selected.
    PartitionRemoved(Partition),
}

/// Shows keys, never objects.
impl<A: Accumulator> fmt::Debug for Entries<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changes(changes) => {
                let keys: Vec<_> = changes.iter().map(|(_, key, _)| key.as_str()).collect();
                f.debug_tuple("Changes").field(&keys).finish()
            }
            Self::Replace { entries, .. } => f.debug_tuple("Replace").field(&entries.len()).finish(),
            Self::Restored { entries, .. } => f.debug_tuple("Restored").field(&entries.len()).finish(),
            Self::Confirmed(partition) => f.debug_tuple("Confirmed").field(partition).finish(),
            Self::Resync => f.write_str("Resync"),
            Self::PartitionAdded(partition) => f.debug_tuple("PartitionAdded").field(partition).finish(),
            Self::PartitionRemoved(partition) => f.debug_tuple("PartitionRemoved").field(partition).finish(),
        }
    }
}
