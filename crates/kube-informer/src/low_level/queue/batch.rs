//! What is popped together.

use super::Accumulator;
use super::fifo::Shared;
use super::line::Keyed;
use super::state::State;
use crate::object::{ObjectKey, Partition, ResourceVersion};
use std::fmt;
use std::sync::Arc;
use tokio::sync::oneshot;

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

/// What [`Queue::pop`](super::Queue::pop) returns.
#[must_use = "what is popped is gone from the queue"]
pub struct Batch<A: Accumulator> {
    /// The changes.
    pub entries: Entries<A>,
    /// For each partition with progress, the version up to which everything has now been popped.
    pub positions: Vec<Position>,
    /// Whether the batch belongs to the initial population: the queue had not synced when it was popped.
    pub initial: bool,
    /// Whether the queue was full, so that a producer may have been waiting for capacity.
    pub(crate) was_full: bool,
    /// Drop this guard when the batch has been processed.
    pub guard: BatchGuard<A>,
}

/// The changes of a [`Batch`].
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

impl<A: Accumulator> fmt::Debug for Batch<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("entries", &self.entries)
            .field("positions", &self.positions)
            .finish_non_exhaustive()
    }
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

/// A guard that marks a batch as processed when it is dropped.
#[must_use = "dropping this says that the batch has been processed"]
pub struct BatchGuard<A: Accumulator> {
    pub(super) shared: Arc<Shared<A>>,
    /// The partition whose first list may have been processed with this batch.
    pub(super) listed: Option<Partition>,
    /// Completed when the batch has been processed.
    pub(super) removed: Option<oneshot::Sender<()>>,
    pub(super) in_flight: bool,
}

impl<A: Accumulator> BatchGuard<A> {
    /// Marks the batch as applied: it is visible in the store, although it has not been processed completely.
    pub(crate) fn applied(&mut self) {
        let shared = self.shared.clone();
        self.land(&mut shared.lock());
    }

    fn land(&mut self, state: &mut State<A>) {
        if std::mem::take(&mut self.in_flight) {
            state.in_flight -= 1;
        }
    }
}

impl<A: Accumulator> Drop for BatchGuard<A> {
    fn drop(&mut self) {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        self.land(&mut state);
        if let Some(partition) = self.listed {
            state.unsynced.remove(&partition);
            shared.update_synced(&state);
        }
        drop(state);
        if let Some(removed) = self.removed.take() {
            let _ = removed.send(());
        }
    }
}
