//! The driver of a shared informer: applies changes to the store, publishes, and tells the listeners.

use super::Shared;
use super::applier::Applier;
use crate::controller::{Parcel, Process};
use crate::object::Object;
use crate::queue::Batch;
use std::sync::Arc;
use tokio::time::Instant;

/// What the controller of a shared informer does.
pub(super) struct Driver<O: Object> {
    pub(super) applier: Applier<O>,
    pub(super) shared: Arc<Shared<O>>,
}

impl<O: Object> Process<Parcel<O>> for Driver<O> {
    async fn process(&mut self, batch: Batch<Parcel<O>>) {
        self.apply(batch);
    }

    /// Tells the handlers that are due of everything again, except for objects that are about to change anyway.
    async fn resync(&mut self) {
        let now = Instant::now();
        let due = self.shared.processor.due_for_resync(now);
        if due.is_empty() {
            return;
        }
        let changes = self.applier.again(|key| !self.shared.fifo.is_pending(key));
        for listener in due {
            listener.push(&changes, now);
        }
    }
}

impl<O: Object> Driver<O> {
    fn apply(&mut self, batch: Batch<Parcel<O>>) {
        let _span = self.applier.span(&batch).entered();
        let Batch {
            entries,
            positions,
            initial,
            processed,
        } = batch;
        let processor = &self.shared.processor;
        let mut outcome = self
            .applier
            .apply(entries, positions, initial, processor.wants_sync());
        for bad in std::mem::take(&mut outcome.set_aside) {
            self.shared.set_aside(bad);
        }
        processor.publish(&outcome.changes, || self.applier.publish());
        self.applier.processed(&outcome);
        drop(processed);
        if self.shared.fifo.has_synced() {
            processor.set_synced();
        }
    }
}
