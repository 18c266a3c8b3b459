//! Changes to the store, and what they mean for those who are told.

use super::Notification;
use super::merge::Change;
use super::partitions::WHOLE;
use crate::controller::Parcel;
use crate::giving_back::giving_back;
use crate::metrics::InformerMetrics;
use crate::object::{DeleteCause, Deleted, Object, ObjectKey, Partition};
use crate::queue::{Batch, Delta, Deltas, Entries, Listed, Position, Replace};
use crate::reflector::Held;
use crate::source::{BadObject, Subject};
use crate::store::{IndexWriter, Indexer};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use tokio::time::Instant;

/// So many keys are looked up before the changes of the first of them are applied.
const AHEAD: usize = 64;

/// Applies changes to the store; the only one that writes it. What it did is visible when it is
/// [published](Self::publish).
pub(super) struct Applier<O: Object> {
    store: Indexer<O::Ref>,
    writer: IndexWriter<O::Ref>,
    subject: Subject,
    metrics: InformerMetrics,
}

/// What one batch leads to.
pub(super) struct Outcome<O: Object> {
    pub(super) changes: Vec<Change<O>>,
    /// Objects that could not be indexed.
    pub(super) set_aside: Vec<BadObject>,
    /// The part of which there was a list.
    pub(super) replaced: Option<Partition>,
    initial: bool,
    wants_sync: bool,
    started: Instant,
}

impl<O: Object> Applier<O> {
    pub(super) fn new(
        store: Indexer<O::Ref>,
        writer: IndexWriter<O::Ref>,
        subject: Subject,
        metrics: InformerMetrics,
    ) -> Self {
        Self {
            store,
            writer,
            subject,
            metrics,
        }
    }

    pub(super) fn resource(&self) -> &str {
        &self.subject.resource
    }

    pub(super) fn store(&self) -> &Indexer<O::Ref> {
        &self.store
    }

    /// A span around the application of a batch.
    pub(super) fn span(&self, batch: &Batch<Parcel<O>>) -> tracing::Span {
        let reached = batch.positions.last();
        self.subject
            .apply_span(reached.map(|position| &position.resource_version))
    }

    /// Applies a batch. `wants_sync` says whether somebody wants to be told of what was listed unchanged.
    pub(super) fn apply(
        &mut self,
        entries: Entries<Parcel<O>>,
        positions: Vec<Position>,
        initial: bool,
        wants_sync: bool,
    ) -> Outcome<O> {
        let mut outcome = Outcome::new(initial, wants_sync);
        match entries {
            Entries::Deltas(entries) => self.deltas(entries, &mut outcome),
            Entries::Replace(replace) if !self.writer.has_partition(replace.partition) => {}
            Entries::Replace(replace) => {
                outcome.replaced = Some(replace.partition);
                self.replace(replace, &mut outcome);
            }
        }
        for position in positions {
            if self.writer.has_partition(position.partition) {
                self.metrics
                    .applied(position.partition, &position.resource_version);
                self.writer
                    .set_resource_version(position.partition, position.resource_version);
            }
        }
        outcome
    }

    /// A part of the collection is watched from now on: this namespace, or [the whole of it](WHOLE).
    pub(super) fn add_partition(&mut self, partition: Partition, name: &str) {
        let namespace = self.subject.namespace().filter(|_| name == WHOLE);
        self.metrics.added(partition, namespace.unwrap_or(name));
        self.writer.add_partition(partition);
        self.writer.publish();
    }

    /// Deletes what is held of a part.
    pub(super) fn take_out(&mut self, partition: Partition) -> Outcome<O> {
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
        self.metrics.removed(partition);
        outcome
    }

    /// Makes what was applied visible.
    pub(super) fn publish(&mut self) {
        self.writer.publish();
    }

    /// What was applied has been published and is on its way to those who are told.
    pub(super) fn processed(&self, outcome: &Outcome<O>) {
        self.metrics.processed(outcome.started.elapsed());
    }

    /// Each object that is held and for which `settled` is true, as something to be told of again.
    pub(super) fn again(&self, settled: impl Fn(&ObjectKey) -> bool) -> Vec<Change<O>> {
        let entries = self.writer.entries().filter(|entry| settled(entry.key));
        entries
            .map(|entry| Change::sync(entry.key.clone(), entry.object.clone()))
            .collect()
    }

    /// The keys that are held, in no particular order.
    pub(super) fn keys(&self) -> Vec<ObjectKey> {
        self.writer.entries().map(|entry| entry.key.clone()).collect()
    }

    /// The object under a key, if it is held, as something to be told of again.
    pub(super) fn one_again(&self, key: ObjectKey) -> Option<Change<O>> {
        let object = self.writer.get(&key)?.clone();
        Some(Change::sync(key, object))
    }

    fn deltas(&mut self, entries: Vec<(ObjectKey, Deltas<Parcel<O>>)>, outcome: &mut Outcome<O>) {
        outcome.changes.reserve(entries.len());
        let mut entries = entries.into_iter();
        while !entries.as_slice().is_empty() {
            let keys = entries.as_slice().iter().take(AHEAD).map(|(key, _)| key.as_str());
            self.writer.look_ahead(keys, look::<O>);
            for (key, deltas) in entries.by_ref().take(AHEAD) {
                for delta in deltas {
                    self.delta(key.clone(), delta, outcome);
                }
            }
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
        let listed: HashSet<&ObjectKey, RandomState> = replace.entries.iter().map(Listed::key).collect();
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
        for entry in giving_back(replace.entries) {
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
                outcome.set_aside.push(BadObject {
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

/// Reads what is compared of an object that is about to be replaced; what it gives means nothing.
fn look<O: Object>(object: &O::Ref) -> bool {
    O::uid(object).is_some_and(|uid| uid.starts_with('-'))
}

impl<O: Object> Outcome<O> {
    fn new(initial: bool, wants_sync: bool) -> Self {
        Self {
            changes: Vec::new(),
            set_aside: Vec::new(),
            replaced: None,
            initial,
            wants_sync,
            started: Instant::now(),
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
