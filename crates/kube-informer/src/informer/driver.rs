//! The driver: takes changes from the queue, applies them to the store, publishes, and says what happened.

use super::merge::Change;
use super::processor::Processor;
use super::{Notification, Shared};
use crate::object::{
    DeleteCause, Deleted, Fingerprint, Known, Object, ObjectKey, Partition, ResourceVersion,
};
use crate::queue::{Batch, Delta, DeltaFifo, Entries, Listed, Position, Replace};
use crate::reflector::{Arrived, Held, Sink};
use crate::source::BadObject;
use crate::store::{IndexWriter, Indexer};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, Interval, MissedTickBehavior};

/// What travels from a reflector to the driver.
#[derive(Debug, Clone)]
pub(super) struct Parcel<O: Object> {
    partition: Partition,
    arrived: Arrived<O>,
}

/// The end of the queue that a reflector writes into.
pub(super) struct QueueSink<O: Object> {
    pub(super) partition: Partition,
    pub(super) fifo: DeltaFifo<Parcel<O>>,
    pub(super) store: Indexer<O::Ref>,
}

impl<O: Object> QueueSink<O> {
    fn parcel(&self, arrived: Arrived<O>) -> Parcel<O> {
        Parcel {
            partition: self.partition,
            arrived,
        }
    }

    fn position(&self, resource_version: ResourceVersion) -> Position {
        Position {
            partition: self.partition,
            resource_version,
        }
    }
}

impl<O: Object> Known for QueueSink<O> {
    /// What the store holds, unless that is about to change.
    fn held(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
        let held = self.store.held(key)?;
        (!self.fifo.is_pending(key)).then_some(held)
    }
}

impl<O: Object> Sink<O> for QueueSink<O> {
    async fn replace(&mut self, entries: Vec<Listed<Arrived<O>>>, version: Option<ResourceVersion>) {
        let entries = entries.into_iter().map(|entry| match entry {
            Listed::Kept(key) => Listed::Kept(key),
            Listed::New(key, arrived) => Listed::New(key, self.parcel(arrived)),
        });
        let entries = entries.collect();
        self.fifo
            .replace(Replace {
                partition: self.partition,
                entries,
                resource_version: version,
            })
            .await;
    }

    async fn push(&mut self, key: ObjectKey, delta: Delta<Arrived<O>>, version: Option<ResourceVersion>) {
        let delta = match delta {
            Delta::Added(arrived) => Delta::Added(self.parcel(arrived)),
            Delta::Updated(arrived) => Delta::Updated(self.parcel(arrived)),
            Delta::Replaced(arrived) => Delta::Replaced(self.parcel(arrived)),
            Delta::Sync(arrived) => Delta::Sync(self.parcel(arrived)),
            Delta::Deleted(Deleted {
                key,
                last_known,
                cause,
            }) => {
                let last_known = last_known.map(|arrived| self.parcel(arrived));
                Delta::Deleted(Deleted {
                    key,
                    last_known,
                    cause,
                })
            }
        };
        self.fifo
            .push(key, delta, version.map(|version| self.position(version)))
            .await;
    }

    fn bookmark(&mut self, version: ResourceVersion) {
        self.fifo.bookmark(self.position(version));
    }
}

/// What changes of the parts of a collection.
pub(super) enum Command {
    /// A part is watched from now on. Sent before anything of it is pushed.
    Add(Partition),
    /// A part is no longer wanted. Sent after its reflector has ended; what it pushed may still be on its way. The
    /// answer says that its objects are gone.
    Remove(Partition, oneshot::Sender<()>),
}

/// Applies changes to the store; the only one that writes it.
pub(super) struct Driver<O: Object> {
    pub(super) fifo: DeltaFifo<Parcel<O>>,
    pub(super) writer: IndexWriter<O::Ref>,
    pub(super) shared: Arc<Shared<O>>,
    pub(super) commands: mpsc::UnboundedReceiver<Command>,
}

/// What one batch leads to.
struct Outcome<O: Object> {
    changes: Vec<Change<O>>,
    initial: bool,
    wants_sync: bool,
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
                batch = self.fifo.pop(usize::MAX) => match batch {
                    Some(batch) => {
                        self.catch_up();
                        self.apply(batch);
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
            Command::Add(partition) => {
                self.writer.add_partition(partition);
                self.writer.publish();
            }
            Command::Remove(partition, done) => {
                self.take_out(partition);
                let _ = done.send(());
            }
        }
    }

    /// Deletes what is held of a part.
    fn take_out(&mut self, partition: Partition) {
        let mut outcome = Outcome::new(false, false);
        let held: Vec<_> = self
            .writer
            .partition(partition)
            .map(|entry| entry.key.clone())
            .collect();
        for key in held {
            self.delete(key, None, DeleteCause::Unselected, &mut outcome);
        }
        let stale: Vec<_> = self.writer.stale(partition).cloned().collect();
        for key in stale {
            self.writer.clear_stale(key.as_str());
        }
        self.writer.remove_partition(partition);
        self.publish(&outcome);
        self.shared.partitions.remove(partition);
        self.fifo.remove_partition(partition);
        self.note_synced();
    }

    /// Tells the handlers that are due of everything again, except for objects that are about to change anyway.
    fn resync(&mut self, now: Instant) {
        let due = self.processor().due_for_resync(now);
        if due.is_empty() {
            return;
        }
        let settled = self
            .writer
            .entries()
            .filter(|entry| !self.fifo.is_pending(entry.key));
        let changes: Vec<_> = settled
            .map(|entry| Change::sync(entry.key.clone(), entry.object.clone()))
            .collect();
        for listener in due {
            listener.push(&changes, now);
        }
    }

    fn processor(&self) -> &Processor<O> {
        &self.shared.processor
    }

    fn apply(&mut self, batch: Batch<Parcel<O>>) {
        let Batch {
            entries,
            positions,
            initial,
            processed,
        } = batch;
        let mut outcome = Outcome::new(initial, self.processor().wants_sync());
        let mut replaced = None;
        match entries {
            Entries::Deltas(entries) => {
                for (key, deltas) in entries {
                    for delta in deltas {
                        self.delta(key.clone(), delta, &mut outcome);
                    }
                }
            }
            Entries::Replace(replace) if !self.writer.has_partition(replace.partition) => {}
            Entries::Replace(replace) => {
                replaced = Some(replace.partition);
                self.replace(replace, &mut outcome);
            }
        }
        for position in positions {
            if self.writer.has_partition(position.partition) {
                self.writer
                    .set_resource_version(position.partition, position.resource_version);
            }
        }
        self.publish(&outcome);
        drop(processed);
        self.note_synced();
        if let Some(partition) = replaced {
            self.shared.partitions.set_synced(partition);
        }
    }

    fn publish(&mut self, outcome: &Outcome<O>) {
        let writer = &mut self.writer;
        self.shared
            .processor
            .publish(&outcome.changes, || writer.publish());
    }

    /// Tells everybody once the initial state has been published.
    fn note_synced(&self) {
        if self.fifo.has_synced() {
            self.processor().set_synced();
            self.shared.partitions.set_populated();
        }
    }

    fn delta(&mut self, key: ObjectKey, delta: Delta<Parcel<O>>, outcome: &mut Outcome<O>) {
        match delta {
            Delta::Added(parcel) | Delta::Updated(parcel) | Delta::Replaced(parcel) | Delta::Sync(parcel) => {
                self.put(key, parcel, outcome);
            }
            Delta::Deleted(Deleted {
                last_known, cause, ..
            }) => {
                let left = last_known
                    .as_ref()
                    .is_some_and(|parcel| !self.writer.has_partition(parcel.partition));
                if !left {
                    let last_known = last_known.and_then(|parcel| parcel.arrived.ok());
                    self.delete(key, last_known.map(|held| held.object), cause, outcome);
                }
            }
        }
    }

    /// Makes the store's partition consist of what was listed: deletions first. Other partitions stay as they are.
    fn replace(&mut self, replace: Replace<Parcel<O>>, outcome: &mut Outcome<O>) {
        let listed: HashSet<&ObjectKey> = replace.entries.iter().map(Listed::key).collect();
        let held = self.writer.partition(replace.partition).map(|entry| entry.key);
        let vanished: Vec<ObjectKey> = held.filter(|key| !listed.contains(key)).cloned().collect();
        // What could never be read is not held, but can vanish all the same.
        let stale = self.writer.stale(replace.partition);
        let gone: Vec<ObjectKey> = stale.filter(|key| !listed.contains(key)).cloned().collect();
        drop(listed);
        for key in gone {
            self.writer.clear_stale(key.as_str());
        }
        for key in vanished {
            self.delete(key, None, DeleteCause::Missed, outcome);
        }
        for entry in replace.entries {
            match entry {
                Listed::New(key, parcel) => self.put(key, parcel, outcome),
                Listed::Kept(key) => self.keep(&key, outcome),
            }
        }
    }

    /// Puts an object into the store; one that could not be read leaves the last good state, marked stale.
    fn put(&mut self, key: ObjectKey, parcel: Parcel<O>, outcome: &mut Outcome<O>) {
        let Parcel { partition, arrived } = parcel;
        if !self.writer.has_partition(partition) {
            // Its part was taken out while it was on its way.
            return;
        }
        let Held { object, fingerprint } = match arrived {
            Ok(held) => held,
            Err(_) => {
                self.writer.mark_stale(&key, partition);
                return;
            }
        };
        match self
            .writer
            .upsert(key.clone(), object.clone(), fingerprint, partition)
        {
            Ok(old) => outcome.put(key, old, object),
            Err(error) => {
                self.writer.mark_stale(&key, partition);
                self.shared.set_aside(BadObject {
                    key: Some(key),
                    reason: error.to_string(),
                });
            }
        }
    }

    /// An object was listed exactly as it is held.
    fn keep(&mut self, key: &ObjectKey, outcome: &mut Outcome<O>) {
        self.writer.clear_stale(key.as_str());
        if outcome.wants_sync
            && let Some(object) = self.writer.get(key)
        {
            outcome.changes.push(Change::sync(key.clone(), object.clone()));
        }
    }

    /// Takes an object out of the store. What was never in it was never told of, so its end is not either.
    fn delete(&mut self, key: ObjectKey, last: Option<O::Ref>, cause: DeleteCause, outcome: &mut Outcome<O>) {
        if let Some(held) = self.writer.remove(&key) {
            outcome.delete(Deleted {
                key,
                last_known: last.or(Some(held)),
                cause,
            });
        }
    }
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

impl<O: Object> Outcome<O> {
    fn new(initial: bool, wants_sync: bool) -> Self {
        Self {
            changes: Vec::new(),
            initial,
            wants_sync,
        }
    }

    fn push(&mut self, key: ObjectKey, notification: Notification<O>) {
        self.changes.push(Change {
            key,
            notification,
            sync: false,
        });
    }

    fn delete(&mut self, deleted: Deleted<O::Ref>) {
        self.push(deleted.key.clone(), Notification::Delete(deleted));
    }

    /// The store decides: what it did not hold is an add; another uid is a deletion that was missed, and an add.
    fn put(&mut self, key: ObjectKey, old: Option<O::Ref>, new: O::Ref) {
        let initial = self.initial;
        match old {
            None => self.push(key, Notification::Add { object: new, initial }),
            Some(old) if O::uid(&old) != O::uid(&new) => {
                self.delete(Deleted {
                    key: key.clone(),
                    last_known: Some(old),
                    cause: DeleteCause::Missed,
                });
                self.push(key, Notification::Add { object: new, initial });
            }
            Some(old) => {
                let version = O::resource_version(&new);
                let sync = version.is_some() && O::resource_version(&old) == version;
                self.changes.push(Change {
                    key,
                    notification: Notification::Update { old, new },
                    sync,
                });
            }
        }
    }
}
