//! Applies changes to the store and derives notifications.

use super::Notification;
use super::coalescing::Change;
use super::partitions::WHOLE;
use crate::drain_shrinking::drain_shrinking;
use crate::metrics::InformerMetrics;
use crate::object::{CachedObject, DeleteCause, Deleted, ObjectKey, Partition};
use crate::queue::{Batch, Delta, Deltas, Entries, Keyed, Listed, Processed, Replace};
use crate::reflector::{DecodeResult, DecodedObject};
use crate::source::{InvalidObject, Subject};
use crate::store::{IndexWriter, Indexer};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use tokio::time::Instant;

/// The accumulator of the informer's queue.
type Pending<O> = Deltas<DecodeResult<O>>;

/// Applies changes to the store; its only writer. Changes become visible when they are [published](Self::publish).
pub(super) struct Applier<O: CachedObject> {
    store: Indexer<O::Handle>,
    writer: IndexWriter<O::Handle>,
    subject: Subject,
    metrics: InformerMetrics,
}

/// The outcome of applying one batch.
pub(super) struct Outcome<O: CachedObject> {
    pub(super) changes: Vec<Change<O>>,
    /// Objects that could not be indexed.
    pub(super) set_aside: Vec<InvalidObject>,
    /// The partition that was replaced by a list.
    pub(super) replaced: Option<Partition>,
    /// The partition that was added.
    pub(super) added: Option<Partition>,
    /// The partition that was removed.
    pub(super) removed: Option<Partition>,
    /// Whether a resync was popped: handlers may be due.
    pub(super) resync: bool,
    initial: bool,
    any_resync: bool,
    /// The start of the application; `None` if the batch had no changes.
    started: Option<Instant>,
}

impl<O: CachedObject> Applier<O> {
    pub(super) fn new(
        store: Indexer<O::Handle>,
        writer: IndexWriter<O::Handle>,
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

    pub(super) fn store(&self) -> &Indexer<O::Handle> {
        &self.store
    }

    /// The span of the application of changes.
    pub(super) fn span(&self, batch: &Batch<Pending<O>>) -> tracing::Span {
        if !is_changes(&batch.entries) {
            return tracing::Span::none();
        }
        let reached = batch.positions.last();
        self.subject
            .apply_span(reached.map(|position| &position.resource_version))
    }

    /// Applies a batch. `initial` is whether added objects belong to the initial state, `any_resync` whether any
    /// handler wants updates for objects that were listed unchanged. Drop the returned guard after all handlers have
    /// been notified.
    pub(super) fn apply(
        &mut self,
        batch: Batch<Pending<O>>,
        initial: bool,
        any_resync: bool,
    ) -> (Outcome<O>, Processed<Pending<O>>) {
        let mut outcome = Outcome::new(initial, any_resync);
        if is_changes(&batch.entries) {
            outcome.started = Some(Instant::now());
        }
        match batch.entries {
            Entries::Changes(entries) => self.changes(entries, &mut outcome),
            Entries::Replace(replace) => {
                outcome.replaced = Some(replace.partition);
                self.replace(replace, &mut outcome);
            }
            Entries::Resync => outcome.resync = true,
            Entries::PartitionAdded(partition) => {
                outcome.added = Some(partition);
                self.writer.add_partition(partition);
            }
            Entries::PartitionRemoved(partition) => {
                outcome.removed = Some(partition);
                self.remove_partition(partition, &mut outcome);
            }
        }
        for position in batch.positions {
            self.metrics
                .applied(position.partition, &position.resource_version);
            self.writer
                .set_resource_version(position.partition, position.resource_version);
        }
        (outcome, batch.processed)
    }

    /// The namespace of a partition, or [the whole collection](WHOLE), for the metrics.
    pub(super) fn name_partition(&mut self, partition: Partition, name: &str) {
        let namespace = self.subject.namespace().filter(|_| name == WHOLE);
        self.metrics.added(partition, namespace.unwrap_or(name));
    }

    /// Deletes the objects of a partition and removes it.
    fn remove_partition(&mut self, partition: Partition, outcome: &mut Outcome<O>) {
        let held = self.writer.partition(partition).map(|entry| entry.key.clone());
        for key in held.collect::<Vec<_>>() {
            self.delete(key, None, DeleteCause::Unselected, outcome);
        }
        let stale: Vec<_> = self.writer.stale(partition).cloned().collect();
        for key in stale {
            self.writer.clear_stale(key.as_str());
        }
        self.writer.remove_partition(partition);
        self.metrics.removed(partition);
    }

    /// Publishes the applied changes.
    pub(super) fn publish(&mut self) {
        self.writer.publish();
    }

    /// Called when the applied changes have been published and passed to the listeners.
    pub(super) fn processed(&self, outcome: &Outcome<O>) {
        if let Some(started) = outcome.started {
            self.metrics.processed(started.elapsed());
        }
    }

    /// A resync change for every stored object.
    pub(super) fn resync_changes(&self) -> Vec<Change<O>> {
        let entries = self.writer.entries();
        entries
            .map(|entry| Change::sync(entry.key.clone(), entry.object.clone()))
            .collect()
    }

    /// The stored keys, in no particular order.
    pub(super) fn keys(&self) -> Vec<ObjectKey> {
        self.writer.entries().map(|entry| entry.key.clone()).collect()
    }

    /// A resync change for the object under a key, if it is stored.
    pub(super) fn resync_change(&self, key: ObjectKey) -> Option<Change<O>> {
        let object = self.writer.get(&key)?.clone();
        Some(Change::sync(key, object))
    }

    fn changes(&mut self, entries: Vec<Keyed<Pending<O>>>, outcome: &mut Outcome<O>) {
        outcome.changes.reserve(entries.len());
        for (partition, key, deltas) in entries {
            for delta in deltas {
                match delta {
                    Delta::Added(object) | Delta::Updated(object) | Delta::Replaced(object) => {
                        self.upsert(partition, key.clone(), object, outcome);
                    }
                    Delta::Deleted(deleted) => self.deleted(partition, deleted, outcome),
                }
            }
        }
    }

    /// Handles the deletion of an object of a partition. The object may belong to another partition by now.
    fn deleted(&mut self, partition: Partition, deleted: Deleted<DecodeResult<O>>, outcome: &mut Outcome<O>) {
        let Deleted {
            key,
            last_known,
            cause,
        } = deleted;
        let held = self.writer.entry(key.as_str());
        if held.is_none_or(|held| held.partition == partition) {
            let last_known = last_known.and_then(Result::ok).map(|decoded| decoded.object);
            self.delete(key, last_known, cause, outcome);
        }
    }

    /// Replaces a partition of the store by the listed objects, with deletions first. Other partitions do not change.
    fn replace(&mut self, replace: Replace<DecodeResult<O>>, outcome: &mut Outcome<O>) {
        let listed: HashSet<&ObjectKey, RandomState> = replace.entries.iter().map(Listed::key).collect();
        let held = self.writer.partition(replace.partition).map(|entry| entry.key);
        let vanished: Vec<ObjectKey> = held.filter(|key| !listed.contains(key)).cloned().collect();
        // An object that could never be read is not stored but stale; it can be deleted as well.
        let stale = self.writer.stale(replace.partition);
        let gone: Vec<ObjectKey> = stale.filter(|key| !listed.contains(key)).cloned().collect();
        drop(listed);
        for key in gone {
            self.writer.clear_stale(key.as_str());
        }
        for key in vanished {
            self.delete(key, None, DeleteCause::Missed, outcome);
        }
        for entry in drain_shrinking(replace.entries) {
            match entry {
                Listed::Changed(key, object) => self.upsert(replace.partition, key, object, outcome),
                Listed::Unchanged(key) => self.unchanged(&key, outcome),
            }
        }
    }

    /// Stores an object. If it could not be read, the last good state stays and is marked as stale.
    fn upsert(
        &mut self,
        partition: Partition,
        key: ObjectKey,
        object: DecodeResult<O>,
        outcome: &mut Outcome<O>,
    ) {
        let Ok(DecodedObject { object, fingerprint }) = object else {
            self.writer.mark_stale(&key, partition);
            return;
        };
        match self
            .writer
            .upsert(key.clone(), object.clone(), fingerprint, partition)
        {
            Ok(old) => outcome.upsert(key, old, object),
            Err(error) => {
                self.writer.mark_stale(&key, partition);
                outcome.set_aside.push(InvalidObject {
                    key: Some(key),
                    reason: error.to_string(),
                });
            }
        }
    }

    /// Handles an object that was listed unchanged.
    fn unchanged(&mut self, key: &ObjectKey, outcome: &mut Outcome<O>) {
        self.writer.clear_stale(key.as_str());
        if outcome.any_resync
            && let Some(object) = self.writer.get(key)
        {
            outcome.changes.push(Change::sync(key.clone(), object.clone()));
        }
    }

    /// Removes an object from the store. The deletion of an object that was never stored is not notified.
    fn delete(
        &mut self,
        key: ObjectKey,
        last: Option<O::Handle>,
        cause: DeleteCause,
        outcome: &mut Outcome<O>,
    ) {
        if let Some(held) = self.writer.remove(&key) {
            outcome.delete(Deleted {
                key,
                last_known: last.or(Some(held)),
                cause,
            });
        }
    }
}

fn is_changes<O: CachedObject>(entries: &Entries<Pending<O>>) -> bool {
    matches!(entries, Entries::Changes(_) | Entries::Replace(_))
}

impl<O: CachedObject> Outcome<O> {
    fn new(initial: bool, any_resync: bool) -> Self {
        Self {
            changes: Vec::new(),
            set_aside: Vec::new(),
            replaced: None,
            added: None,
            removed: None,
            resync: false,
            initial,
            any_resync,
            started: None,
        }
    }

    fn push(&mut self, key: ObjectKey, notification: Notification<O>) {
        self.changes.push(Change {
            key,
            notification,
            sync: false,
        });
    }

    fn delete(&mut self, deleted: Deleted<O::Handle>) {
        self.push(deleted.key.clone(), Notification::Delete(deleted));
    }

    /// Records an add if the store did not hold the object, a missed deletion and an add if the uid differs, else an
    /// update.
    fn upsert(&mut self, key: ObjectKey, old: Option<O::Handle>, new: O::Handle) {
        let initial = self.initial;
        match old {
            None => self.push(key, Notification::Add { object: new, initial }),
            Some(old) if O::uid_of(&old) != O::uid_of(&new) => {
                self.delete(Deleted {
                    key: key.clone(),
                    last_known: Some(old),
                    cause: DeleteCause::Missed,
                });
                self.push(key, Notification::Add { object: new, initial });
            }
            Some(old) => {
                let version = O::resource_version_of(&new);
                let sync = version.is_some() && O::resource_version_of(&old) == version;
                self.changes.push(Change {
                    key,
                    notification: Notification::Update { old, new },
                    sync,
                });
            }
        }
    }
}
