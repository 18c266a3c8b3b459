//! What all handles of a queue share.

use super::Accumulator;
use super::state::State;
use crate::metrics::QueuedItems;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};

pub(super) struct Shared<A: Accumulator> {
    pub(super) capacity: usize,
    pub(super) state: Mutex<State<A>>,
    /// Signalled when there is something to pop, or when the queue is closed.
    pub(super) readable: Notify,
    /// Signalled when there is room again, or when the queue is closed.
    pub(super) writable: Notify,
    pub(super) synced: watch::Sender<bool>,
    /// Updated with every change of the length, and reset when the queue is dropped.
    pub(super) gauge: QueuedItems,
}

impl<A: Accumulator> Drop for Shared<A> {
    fn drop(&mut self) {
        let len = self.lock().len;
        self.gauge.moved(len, 0);
    }
}

impl<A: Accumulator> Shared<A> {
    /// The state is consistent at every point that can panic, so a poisoned lock can be used.
    pub(super) fn lock(&self) -> MutexGuard<'_, State<A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn update_synced(&self, state: &State<A>) {
        if state.unsynced.is_empty() {
            self.synced
                .send_if_modified(|synced| !std::mem::replace(synced, true));
        }
    }
}
