//! Applies changes to the store and derives notifications.

use super::coalescing::{Change, QueuedNotification};
use super::partitions::{ShardMap, WHOLE};
use crate::drain_shrinking::drain_shrinking;
use crate::metrics::InformerMetrics;
use crate::object::{CachedObject, DeleteCause, ObjectKey, Partition};
use crate::queue::{Batch, Delta, Deltas, Entries, Keyed};
use crate::source::{DecodeResult, InvalidObject, Subject};
use crate::store::{Indexer, StoreWriter};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// Applies changes to the store; its only writer. Changes become visible when they are [published](Self::publish).
pub(super) struct Applier<O: CachedObject> {
    store: Indexer<O::Handle>,
    writer: StoreWriter<O::Handle>,
    subject: Subject,
    metrics: InformerMetrics,
    not_indexed: Arc<NotIndexed>,
    /// What the batch that is being applied comes to.
    changes: Vec<QueuedNotification<O>>,
    /// Whether added objects belong to the initial state.
    initial: bool,
    /// The partitions that were restored: what is added to them later is not initial.
    restored: HashSet<Partition, RandomState>,
    /// Those of them that the server has not confirmed. A handler of an earlier run may know what is added to them.
    unconfirmed: HashSet<Partition, RandomState>,
    /// Whether any handler wants updates for objects that were listed unchanged.
    any_resync: bool,
    /// Which partition the objects of each shard belong to, if there are shards. Others are ignored.
    shards: Option<ShardMap>,
    /// When the application of what has not been [processed](Self::processed) started.
    started: Option<Instant>,
}

/// How many objects could not be indexed, and the last one.
#[derive(Default)]
pub(super) struct NotIndexed(Mutex<(u64, Option<InvalidObject>)>);

impl NotIndexed {
    pub(super) fn get(&self) -> (u64, Option<InvalidObject>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, object: InvalidObject) {
        let mut objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        objects.0 += 1;
        objects.1 = Some(object);
    }
}

impl<O: CachedObject> Applier<O> {
    pub(super) fn new(
        store: Indexer<O::Handle>,
        writer: StoreWriter<O::Handle>,
        subject: Subject,
        metrics: InformerMetrics,
    ) -> Self {
        Self {
            store,
            writer,
            subject,
            metrics,
            not_indexed: Arc::default(),
            changes: Vec::new(),
            initial: false,
            restored: HashSet::default(),
            unconfirmed: HashSet::default(),
            any_resync: false,
            shards: None,
            started: None,
        }
    }

    /// The objects that could not be indexed.
    pub(super) fn not_indexed(&self) -> &Arc<NotIndexed> {
        &self.not_indexed
    }

    pub(super) fn resource(&self) -> &str {
        &self.subject.resource
    }

    pub(super) fn store(&self) -> &Indexer<O::Handle> {
        &self.store
    }

    /// The span of the application of changes.
    pub(super) fn span(&self, batch: &Batch<Deltas<DecodeResult<O>>>) -> tracing::Span {
        if !is_changes(&batch.entries) {
            return tracing::Span::none();
        }
        let reached = batch.positions.last();
        self.subject
            .apply_span(reached.map(|position| &position.resource_version))
    }

    /// Applies a batch and takes its changes out. `initial` is whether added objects belong to the initial state,
    /// `any_resync` whether any handler wants updates for objects that were listed unchanged.
    pub(super) fn apply(
        &mut self,
        batch: &mut Batch<Deltas<DecodeResult<O>>>,
        initial: bool,
        any_resync: bool,
    ) -> Vec<QueuedNotification<O>> {
        self.started = is_changes(&batch.entries).then(Instant::now);
        self.initial = initial;
        self.any_resync = any_resync;
        match &mut batch.entries {
            Entries::Changes(entries) => self.apply_changes(std::mem::take(entries)),
            Entries::Replace { partition, entries } => {
                self.unconfirmed.remove(partition);
                self.replace(*partition, std::mem::take(entries));
            }
            // What was restored turns out to be of another server.
            Entries::Restored { partition, entries } if self.restored.contains(partition) => {
                self.replace(*partition, std::mem::take(entries));
            }
            Entries::Restored { partition, entries } => {
                self.changes.reserve_exact(entries.len());
                self.unconfirmed.insert(*partition);
                for (key, object) in drain_shrinking(std::mem::take(entries)) {
                    self.upsert(*partition, key, object);
                }
                self.restored.insert(*partition);
            }
            Entries::Confirmed(partition) => _ = self.unconfirmed.remove(partition),
            Entries::Resync => {}
            Entries::PartitionAdded(partition) => self.writer.add_partition(*partition),
            Entries::PartitionRemoved(partition) => self.remove_partition(*partition),
        }
        for position in std::mem::take(&mut batch.positions) {
            self.metrics
                .applied(position.partition, &position.resource_version);
            self.writer
                .set_resource_version(position.partition, position.resource_version);
        }
        std::mem::take(&mut self.changes)
    }

    /// The namespace of a partition, or [the whole collection](WHOLE), for the metrics.
    pub(super) fn name_partition(&mut self, partition: Partition, name: &str) {
        let namespace = self.subject.namespace().filter(|_| name == WHOLE);
        self.metrics.added(partition, namespace.unwrap_or(name));
    }

    /// Follows a change of the shards. If some were `lost`, deletes their objects; they are among the changes of the next batch.
    pub(super) fn follow_shards(&mut self, map: ShardMap, lost: bool) {
        if lost {
            let held = self.writer.entries();
            let gone = held.filter(|held| {
                let object = held.object;
                map.is_of_none(O::uid_of(object), O::namespace_of(object))
            });
            for key in gone.map(|gone| gone.key.clone()).collect::<Vec<_>>() {
                self.delete(key, None, DeleteCause::Unselected);
            }
        }
        self.shards = Some(map);
    }

    /// Whether an object is of a shard that belongs to another partition, or to none. A partition's queue may still hold some of
    /// a shard that it has lost.
    fn is_foreign(&self, partition: Partition, object: &O::Handle) -> bool {
        let map = self.shards.as_ref();
        map.is_some_and(|map| !map.is_of(partition, O::uid_of(object), O::namespace_of(object)))
    }

    /// Whether another partition has a newer object of the same name: shards by uid put the two into different partitions, whose
    /// streams know nothing of one another.
    fn has_successor(&self, partition: Partition, key: &ObjectKey, object: &O::Handle) -> bool {
        let Some(held) = self.shards.as_ref().and_then(|_| self.writer.entry(key.as_str())) else {
            return false;
        };
        let versions = (
            O::resource_version_of(held.object),
            O::resource_version_of(object),
        );
        held.partition != partition
            && O::uid_of(held.object) != O::uid_of(object)
            && matches!(versions, (Some(held), Some(new)) if held > new)
    }

    /// Deletes the objects of a partition and removes it.
    fn remove_partition(&mut self, partition: Partition) {
        let held = self.writer.partition(partition).map(|entry| entry.key.clone());
        for key in held.collect::<Vec<_>>() {
            self.delete(key, None, DeleteCause::Unselected);
        }
        let stale: Vec<_> = self.writer.stale(partition).cloned().collect();
        for key in stale {
            self.writer.clear_stale(key.as_str());
        }
        self.writer.remove_partition(partition);
        self.restored.remove(&partition);
        self.unconfirmed.remove(&partition);
        self.metrics.removed(partition);
    }

    /// Publishes the applied changes.
    pub(super) fn publish(&mut self) {
        self.writer.publish();
    }

    /// Called when the applied changes have been published and passed to the listeners.
    pub(super) fn processed(&mut self) {
        if let Some(started) = self.started.take() {
            self.metrics.processed(started.elapsed());
        }
    }

    /// A resync change for every stored object.
    pub(super) fn resync_changes(&self) -> Vec<QueuedNotification<O>> {
        let entries = self.writer.entries();
        entries
            .map(|entry| QueuedNotification::resync(entry.key.clone(), entry.object.clone()))
            .collect()
    }

    /// The stored keys, in no particular order.
    pub(super) fn keys(&self) -> Vec<ObjectKey> {
        self.writer.entries().map(|entry| entry.key.clone()).collect()
    }

    /// A resync change for the object under a key, if it is stored.
    pub(super) fn resync_change(&self, key: ObjectKey) -> Option<QueuedNotification<O>> {
        let object = self.writer.get(&key)?.clone();
        Some(QueuedNotification::resync(key, object))
    }

    fn apply_changes(&mut self, entries: Vec<Keyed<Deltas<DecodeResult<O>>>>) {
        self.changes.reserve(entries.len());
        for (partition, key, deltas) in entries {
            for delta in deltas {
                match delta {
                    Delta::Added(object) | Delta::Updated(object) | Delta::Replaced(object) => {
                        self.upsert(partition, key.clone(), object);
                    }
                    Delta::Deleted(last_known) => self.deleted(partition, key.clone(), last_known),
                }
            }
        }
    }

    /// Handles the deletion of an object of a partition. The object may belong to another partition by now.
    fn deleted(&mut self, partition: Partition, key: ObjectKey, last_known: Option<DecodeResult<O>>) {
        let held = self.writer.entry(key.as_str());
        if held.is_none_or(|held| held.partition == partition) {
            let last_known = last_known.and_then(DecodeResult::into_object);
            self.delete(key, last_known, DeleteCause::Event);
        }
    }

    /// Replaces a partition of the store by the listed objects, with deletions first. Other partitions do not change.
    fn replace(&mut self, partition: Partition, entries: Vec<(ObjectKey, DecodeResult<O>)>) {
        let listed = || entries.iter().map(|(key, _)| key);
        let vanished = self.writer.not_listed(partition, listed());
        // An object that could never be read is not stored but stale; it can be deleted as well.
        let mut gone: HashSet<ObjectKey, RandomState> = self.writer.stale(partition).cloned().collect();
        if !gone.is_empty() {
            listed().for_each(|key| _ = gone.remove(key));
        }
        for key in gone {
            self.writer.clear_stale(key.as_str());
        }
        for key in vanished {
            self.delete(key, None, DeleteCause::Missed);
        }
        for (key, object) in drain_shrinking(entries) {
            self.upsert(partition, key, object);
        }
    }

    /// Stores an object. If it could not be read, the last good state stays and is marked as stale.
    fn upsert(&mut self, partition: Partition, key: ObjectKey, object: DecodeResult<O>) {
        let (object, fingerprint) = match object {
            DecodeResult::Decoded { object, fingerprint } => (object, fingerprint),
            DecodeResult::Unchanged => return self.unchanged(&key),
            DecodeResult::Invalid(_) => return self.writer.mark_stale(&key, partition),
        };
        if self.is_foreign(partition, &object) || self.has_successor(partition, &key, &object) {
            return;
        }
        match self
            .writer
            .upsert(key.clone(), object.clone(), fingerprint, partition)
        {
            Ok(old) => {
                let initial = self.initial && !self.restored.contains(&partition);
                let is_restored = self.unconfirmed.contains(&partition);
                self.notify_upsert(key, old, object, initial, is_restored);
            }
            Err(error) => {
                self.writer.mark_stale(&key, partition);
                let invalid = InvalidObject {
                    key: Some(key),
                    reason: error.to_string(),
                };
                tracing::warn!(resource = self.resource(), object = %invalid, "an object was set aside");
                self.not_indexed.add(invalid);
            }
        }
    }

    /// Handles an object that was listed unchanged.
    fn unchanged(&mut self, key: &ObjectKey) {
        self.writer.clear_stale(key.as_str());
        if self.any_resync
            && let Some(object) = self.writer.get(key)
        {
            let change = QueuedNotification::resync(key.clone(), object.clone());
            self.changes.push(change);
        }
    }

    /// Removes an object from the store. The deletion of an object that was never stored is not notified.
    fn delete(&mut self, key: ObjectKey, last: Option<O::Handle>, cause: DeleteCause) {
        if let Some(held) = self.writer.remove(&key) {
            self.notify_delete(key, last.unwrap_or(held), cause);
        }
    }

    fn notify(&mut self, key: ObjectKey, change: Change<O>) {
        self.changes.push(QueuedNotification { key, change });
    }

    fn notify_delete(&mut self, key: ObjectKey, last: O::Handle, cause: DeleteCause) {
        self.notify(key, Change::Deleted { last, cause });
    }

    /// Notifies of an add if the store did not hold the object, of a missed deletion and an add if the uid differs, else
    /// of an update.
    fn notify_upsert(
        &mut self,
        key: ObjectKey,
        old: Option<O::Handle>,
        new: O::Handle,
        initial: bool,
        is_restored: bool,
    ) {
        let added = |object| Change::Added {
            object,
            initial,
            is_restored,
        };
        match old {
            None => self.notify(key, added(new)),
            Some(old) if O::uid_of(&old) != O::uid_of(&new) => {
                self.notify_delete(key.clone(), old, DeleteCause::Missed);
                self.notify(key, added(new));
            }
            Some(old) => {
                let version = O::resource_version_of(&new);
                let is_resync = version.is_some() && O::resource_version_of(&old) == version;
                self.notify(key, Change::Updated { old, new, is_resync });
            }
        }
    }
}

fn is_changes<O: CachedObject>(entries: &Entries<Deltas<DecodeResult<O>>>) -> bool {
    matches!(
        entries,
        Entries::Changes(_) | Entries::Replace { .. } | Entries::Restored { .. }
    )
}
