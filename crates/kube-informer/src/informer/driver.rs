//! The driver of a shared informer: takes changes from the queue, applies them to the store, publishes, and tells the
//! listeners.

use super::Shared;
use super::applier::{Applier, Outcome};
use super::processor::Processor;
use crate::controller::{Parcel, SlowWatch};
use crate::object::{Object, Partition};
use crate::queue::{Batch, DeltaFifo};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, Interval, MissedTickBehavior};

/// What changes of the parts of a collection.
pub(super) enum Command {
    /// A part of this name is watched from now on. Sent before anything of it is pushed.
    Add(Partition, Arc<str>),
    /// A part is no longer wanted. Sent after its reflector has ended; what it pushed may still be on its way. The
    /// answer says that its objects are gone.
    Remove(Partition, oneshot::Sender<()>),
}

/// Applies changes and tells of them.
pub(super) struct Driver<O: Object> {
    pub(super) applier: Applier<O>,
    pub(super) shared: Arc<Shared<O>>,
    pub(super) commands: mpsc::UnboundedReceiver<Command>,
}

impl<O: Object> Driver<O> {
    /// Runs until the queue is closed.
    pub(super) async fn run(mut self) {
        let mut check = self.processor().start_resync();
        let mut resync = ticks(*check.borrow_and_update());
        // There may be nothing to wait for.
        self.note_synced();
        loop {
            tokio::select! {
                Some(command) = self.commands.recv() => self.obey(command),
                batch = take(&self.shared.fifo) => match batch {
                    Some(batch) => {
                        if batch.was_full {
                            // Who waited for room was woken on this thread. It has to be gone from here, to run on
                            // another one while this applies a long batch.
                            tokio::task::yield_now().await;
                        }
                        self.catch_up();
                        let watch = SlowWatch::new(&batch.entries);
                        self.apply(batch);
                        watch.end(&self.shared.resource, self.shared.fifo.len());
                    }
                    None => return,
                },
                now = resync.tick() => self.resync(now),
                Ok(()) = check.changed() => resync = ticks(*check.borrow_and_update()),
            }
            // A queue that is never empty must not keep the thread from everybody else.
            tokio::task::consume_budget().await;
        }
    }

    /// Obeys every command that was sent before what is about to be applied.
    fn catch_up(&mut self) {
        while let Ok(command) = self.commands.try_recv() {
            self.obey(command);
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Add(partition, name) => self.applier.add_partition(partition, &name),
            Command::Remove(partition, done) => {
                self.take_out(partition);
                let _ = done.send(());
            }
        }
    }

    fn take_out(&mut self, partition: Partition) {
        let mut outcome = self.applier.take_out(partition);
        self.publish(&mut outcome);
        self.shared.partitions.remove(partition);
        self.shared.fifo.remove_partition(partition);
        self.note_synced();
    }

    /// Tells the handlers that are due of everything again, except for objects that are about to change anyway.
    fn resync(&mut self, now: Instant) {
        let due = self.processor().due_for_resync(now);
        if due.is_empty() {
            return;
        }
        let changes = self.applier.again(|key| !self.shared.fifo.is_pending(key));
        for listener in due {
            listener.push(changes.iter().cloned(), now);
        }
    }

    fn processor(&self) -> &Processor<O> {
        &self.shared.processor
    }

    fn apply(&mut self, batch: Batch<Parcel<O>>) {
        let _span = self.applier.span(&batch).entered();
        let Batch {
            entries,
            positions,
            initial,
            processed,
            ..
        } = batch;
        let wants_sync = self.processor().wants_sync();
        let mut outcome = self.applier.apply(entries, positions, initial, wants_sync);
        self.publish(&mut outcome);
        drop(processed);
        self.note_synced();
        if let Some(partition) = outcome.replaced {
            self.shared.partitions.set_synced(partition);
        }
    }

    fn publish(&mut self, outcome: &mut Outcome<O>) {
        for bad in std::mem::take(&mut outcome.set_aside) {
            self.shared.set_aside(bad);
        }
        self.shared
            .processor
            .publish(std::mem::take(&mut outcome.changes), || self.applier.publish());
        self.applier.processed(outcome);
    }

    /// Tells everybody once the initial state has been published.
    fn note_synced(&self) {
        if self.shared.fifo.has_synced() {
            self.processor().set_synced();
            self.shared.partitions.set_populated();
        }
    }
}

/// So many changes that come while the driver gives way once are a flood.
const FLOOD: usize = 64;
/// The longest that a flood delays those who wait for its beginning.
const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// Takes all that is queued. In a flood, it lets the queue fill up before: applied together, changes cost less.
///
/// A flood comes from a reflector on this thread, as where other work leaves no second one to the informer. What comes
/// from another thread meanwhile is little, and goes on coming while a batch is applied.
async fn take<T>(queue: &DeltaFifo<T>) -> Option<Batch<T>> {
    queue.readable().await;
    let (started, mut waiting) = (Instant::now(), queue.len());
    while waiting < queue.capacity() && started.elapsed() < LONGEST_WAIT {
        tokio::task::yield_now().await;
        let before = std::mem::replace(&mut waiting, queue.len());
        if waiting < before + FLOOD {
            break;
        }
    }
    queue.pop(usize::MAX).await
}

/// Ticks of this period; a period of zero is never.
fn ticks(period: Duration) -> Interval {
    // A year is never.
    let period = match period {
        Duration::ZERO => Duration::from_secs(365 * 86_400),
        period => period,
    };
    let mut ticks = tokio::time::interval_at(Instant::now() + period, period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Delta, Entries};

    async fn taken(queue: &DeltaFifo<u32>) -> usize {
        match take(queue).await.expect("not closed").entries {
            Entries::Deltas(entries) => entries.len(),
            Entries::Replace(_) => 0,
        }
    }

    /// Pushes so many changes from a task of its own, which gives way after each, or only when tokio makes it.
    fn push(queue: &DeltaFifo<u32>, count: u32, gives_way: bool) {
        let queue = queue.clone();
        tokio::spawn(async move {
            for number in 0..count {
                let key = format!("key-{number}").into();
                queue.push(key, Delta::Added(number), None).await;
                match gives_way {
                    true => tokio::task::yield_now().await,
                    false => tokio::task::consume_budget().await,
                }
            }
        });
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_one_batch_up_to_the_capacity() {
        let queue = DeltaFifo::new(1000);
        push(&queue, 1500, false);
        assert_eq!(taken(&queue).await, 1000);
        assert_eq!(taken(&queue).await, 500);
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickle_is_taken_as_it_comes() {
        let queue = DeltaFifo::new(1000);
        push(&queue, 20, true);
        assert!(taken(&queue).await < 10);
    }
}
