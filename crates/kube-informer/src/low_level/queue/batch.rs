//! What is popped together.

use super::Accumulator;
use super::entries::{Entries, Position};
use super::shared::Shared;
use super::state::State;
use crate::object::Partition;
use std::fmt;
use std::sync::Arc;
use tokio::sync::oneshot;

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

impl<A: Accumulator> fmt::Debug for Batch<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("entries", &self.entries)
            .field("positions", &self.positions)
            .finish_non_exhaustive()
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
