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
use tokio::time::{Instant, MissedTickBehavior};

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

/// Applies changes to the store; the only one that writes it.
pub(super) struct Driver<O: Object> {
    pub(super) fifo: DeltaFifo<Parcel<O>>,
    pub(super) writer: IndexWriter<O::Ref>,
    pub(super) shared: Arc<Shared<O>>,
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
        let check = self.processor().start_resync();
        // A year is never; a select wants a branch all the same.
        let period = if check.is_zero() {
            Duration::from_secs(365 * 86_400)
        } else {
            check
        };
        let mut resync = tokio::time::interval_at(Instant::now() + period, period);
        resync.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                batch = self.fifo.pop(usize::MAX) => match batch {
                    Some(batch) => self.apply(batch),
                    None => return,
                },
                now = resync.tick(), if !check.is_zero() => self.resync(now),
            }
            // A queue that is never empty must not keep the thread from everybody else.
            tokio::task::consume_budget().await;
        }
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
        let wants_sync = self.processor().wants_sync();
        let mut outcome = Outcome {
            changes: Vec::new(),
            initial,
            wants_sync,
        };
        match entries {
            Entries::Deltas(entries) => {
                for (key, deltas) in entries {
                    for delta in deltas {
                        self.delta(key.clone(), delta, &mut outcome);
                    }
                }
            }
            Entries::Replace(replace) => self.replace(replace, &mut outcome),
        }
        for position in positions {
            self.writer
                .set_resource_version(position.partition, position.resource_version);
        }
        let writer = &mut self.writer;
        self.shared
            .processor
            .publish(&outcome.changes, || writer.publish());
        drop(processed);
        if self.fifo.has_synced() {
            self.processor().set_synced();
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
                let last_known = last_known
                    .and_then(|parcel| parcel.arrived.ok())
                    .map(|held| held.object);
                self.delete(key, last_known, cause, outcome);
            }
        }
    }

    /// Makes the store's partition consist of what was listed: deletions first.
    fn replace(&mut self, replace: Replace<Parcel<O>>, outcome: &mut Outcome<O>) {
        let listed: HashSet<&ObjectKey> = replace.entries.iter().map(Listed::key).collect();
        let held = self.writer.partition(replace.partition).map(|entry| entry.key);
        let vanished: Vec<ObjectKey> = held.filter(|key| !listed.contains(key)).cloned().collect();
        // What could never be read is not held, but can vanish all the same.
        for key in self.shared.store.stale_keys() {
            if !listed.contains(&key) {
                self.writer.mark_stale(&key, false);
            }
        }
        drop(listed);
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
        let Held { object, fingerprint } = match parcel.arrived {
            Ok(held) => held,
            Err(_) => {
                self.writer.mark_stale(&key, true);
                return;
            }
        };
        match self
            .writer
            .upsert(key.clone(), object.clone(), fingerprint, parcel.partition)
        {
            Ok(old) => outcome.put(key, old, object),
            Err(error) => {
                self.writer.mark_stale(&key, true);
                self.shared.set_aside(BadObject {
                    key: Some(key),
                    reason: error.to_string(),
                });
            }
        }
    }

    /// An object was listed exactly as it is held.
    fn keep(&mut self, key: &ObjectKey, outcome: &mut Outcome<O>) {
        self.writer.mark_stale(key, false);
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

impl<O: Object> Outcome<O> {
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
