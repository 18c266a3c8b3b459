//! The writer's side of a store.

use super::{
    control::{self, IndexChanges, Shared},
    digests::Digests,
    index::{IndexId, IndexPanic},
    maintainer::IndexMaintainer,
    state::{Row, Stale, State, find},
    table::{FreeSlots, Table},
    versions::Versions,
};
use crate::object::{CachedObject, Fingerprint, ObjectKey, Partition, ResourceVersion};
use crate::selector::LabelDigest;
use std::{
    fmt, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The single writer of a store.
///
/// It changes its own state, in which objects, indexes and resource versions are always consistent.
/// [`publish`](Self::publish) makes that state visible to readers, atomically. Unpublished changes are not visible.
///
/// When it is dropped, the store keeps the last published state, and waits for resource versions fail.
///
/// # Memory
/// The writer frees replaced states, in `publish` or a later one. A reader frees memory only by dropping a
/// [`Snapshot`](super::Snapshot).
pub struct StoreWriter<R> {
    pub(crate) shared: Arc<Shared<R>>,
    rows: Table<Row<R>>,
    labels: Digests,
    free_slots: FreeSlots,
    stale: Table<Stale>,
    free_stale_slots: FreeSlots,
    versions: Versions,
    indexes: Vec<Box<dyn IndexMaintainer<R>>>,
    /// Computes the digest of an object's labels.
    digest: fn(&R) -> LabelDigest,
    /// The last generation of [`Control`](control::Control) that was applied.
    generation: u64,
    /// The slots that have changed since the last publication.
    touched: Vec<u32>,
    /// Replaced states that a reader may still use.
    retired: Vec<Arc<State<R>>>,
}

/// An object in a store with its metadata.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Entry<'a, R> {
    /// The object's key.
    pub key: &'a ObjectKey,
    /// The object.
    pub object: &'a R,
    /// Identifies this state of the object, if known.
    pub fingerprint: Option<Fingerprint>,
    /// The partition to which the object belongs.
    pub partition: Partition,
}

impl<'a, R> From<&'a Row<R>> for Entry<'a, R> {
    fn from(row: &'a Row<R>) -> Self {
        Self {
            key: &row.key,
            object: &row.object,
            fingerprint: row.fingerprint,
            partition: row.partition,
        }
    }
}

impl<R> StoreWriter<R> {
    /// The object under a key in the writer's own state.
    pub fn get(&self, key: &str) -> Option<&R> {
        find(&self.rows, key).map(|(_, row)| &row.object)
    }

    /// The entry under a key in the writer's own state.
    pub fn entry(&self, key: &str) -> Option<Entry<'_, R>> {
        find(&self.rows, key).map(|(_, row)| row.into())
    }

    /// All entries in the writer's own state, in no particular order. O(objects); nothing is cloned.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_, R>> {
        self.rows.iter().map(Entry::from)
    }

    /// The entries of one partition, in no particular order. O(objects); nothing is cloned.
    pub fn partition(&self, partition: Partition) -> impl Iterator<Item = Entry<'_, R>> {
        self.entries().filter(move |entry| entry.partition == partition)
    }

    /// The keys of a partition's entries that are not `listed`. Fastest if most are listed in the order in which they are stored.
    pub(crate) fn not_listed<'a>(
        &self,
        partition: Partition,
        listed: impl Iterator<Item = &'a ObjectKey>,
    ) -> Vec<ObjectKey> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut is_listed = vec![false; self.free_slots.end() as usize];
        let mut next = 0;
        for key in listed {
            let hash = || self.rows.hash(key.as_str());
            // Keys that came from the store are equal by their address.
            if let Some((slot, _)) = self.rows.find_near(next, hash, |row| row.key == *key) {
                is_listed[slot as usize] = true;
                next = slot + 1;
            }
        }
        let others = self.rows.slots().filter(|(slot, row)| {
            let listed = is_listed[*slot as usize];
            row.partition == partition && !listed
        });
        others.map(|(_, row)| row.key.clone()).collect()
    }

    /// The number of objects in the writer's own state.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no object in the writer's own state.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a key is marked as stale in the writer's own state.
    pub fn is_stale(&self, key: &str) -> bool {
        self.stale_slot(key).is_some()
    }

    fn stale_slot(&self, key: &str) -> Option<u32> {
        self.stale
            .find(self.stale.hash(key), |stale| stale.key.as_str() == key)
            .map(|(slot, _)| slot)
    }

    /// The keys of one partition that are marked as stale in the writer's own state, in no particular order.
    pub fn stale(&self, partition: Partition) -> impl Iterator<Item = &ObjectKey> {
        let of_partition = self
            .stale
            .iter()
            .filter(move |stale| stale.partition == partition);
        of_partition.map(|stale| &stale.key)
    }

    /// Marks a key of a partition as stale: a newer state of it exists but could not be applied. The key need not
    /// have a stored object. [`upsert`](Self::upsert), [`remove`](Self::remove) and
    /// [`clear_stale`](Self::clear_stale) remove the mark.
    pub fn mark_stale(&mut self, key: &ObjectKey, partition: Partition) {
        if self.is_stale(key.as_str()) {
            return;
        }
        let hash = self.stale.hash(key.as_str());
        let stale = Stale {
            key: key.clone(),
            partition,
        };
        self.stale.insert(self.free_stale_slots.allocate(), hash, stale);
    }

    /// Removes the stale mark of a key, if it has one.
    pub fn clear_stale(&mut self, key: &str) {
        if self.stale.len() > 0
            && let Some(slot) = self.stale_slot(key)
        {
            let hash = self.stale.hash(key);
            self.stale.remove(slot, hash);
            self.free_stale_slots.release(slot);
        }
    }

    /// Adds a partition without a version yet. From now on, waits for all partitions include it.
    pub fn add_partition(&mut self, partition: Partition) {
        self.versions.add(partition);
    }

    /// Removes a partition and its resource version, so that waits no longer include it. Its objects stay.
    pub fn remove_partition(&mut self, partition: Partition) {
        self.versions.remove(partition);
    }

    /// Whether a partition was added or has a resource version.
    pub fn has_partition(&self, partition: Partition) -> bool {
        self.versions.contains(partition)
    }

    /// Records that everything of `partition` up to `version` has been applied. The version may be lower than before,
    /// because the server's version may regress.
    pub fn set_resource_version(&mut self, partition: Partition, version: ResourceVersion) {
        self.versions.set(partition, version);
    }

    /// The resource version of a partition in the writer's own state.
    pub fn resource_version(&self, partition: Partition) -> Option<&ResourceVersion> {
        self.versions.get(partition)
    }

    /// Frees replaced states that no reader uses any more.
    ///
    /// [`publish`](Self::publish) does this too, so only a writer that publishes rarely needs to call it.
    pub fn reclaim(&mut self) {
        // A state that is no longer published gains no new owner except through a snapshot that owns it already.
        self.retired
            .retain(|state| Arc::strong_count(state) > 1 && state.snapshots.load(Ordering::Relaxed) == 0);
    }
}

impl<R: Clone + Send + Sync + 'static> StoreWriter<R> {
    pub(crate) fn new() -> Self {
        static STORE: AtomicU64 = AtomicU64::new(0);
        let state = State {
            store: STORE.fetch_add(1, Ordering::Relaxed),
            rows: Table::default(),
            labels: Digests::default(),
            stale: Table::default(),
            indexes: Vec::new(),
            versions: Versions::default(),
            snapshots: Default::default(),
        };
        Self {
            rows: state.rows.clone(),
            labels: state.labels.clone(),
            free_slots: FreeSlots::default(),
            stale: state.stale.clone(),
            free_stale_slots: FreeSlots::default(),
            versions: state.versions.clone(),
            indexes: Vec::new(),
            digest: |_| LabelDigest::UNKNOWN,
            generation: 0,
            touched: Vec::new(),
            retired: Vec::new(),
            shared: Arc::new(Shared::new(state)),
        }
    }

    /// Sets the type of the objects, so that lists by label need not read each object. Call it while the store is
    /// empty.
    pub(crate) fn of<O: CachedObject<Handle = R>>(mut self) -> Self {
        self.digest = digest::<O>;
        self
    }

    /// Stores an object under a key and returns the previous one.
    ///
    /// # Errors
    /// An index function panicked. Nothing was changed; the previous object stays.
    ///
    /// # Complexity
    /// O(log objects), and a call of every index function.
    #[doc(alias = "Add")]
    #[doc(alias = "Update")]
    pub fn upsert(
        &mut self,
        key: ObjectKey,
        object: R,
        fingerprint: Option<Fingerprint>,
        partition: Partition,
    ) -> Result<Option<R>, IndexPanic> {
        let digest = (self.digest)(&object);
        let row = Row {
            key,
            object,
            fingerprint,
            partition,
        };
        let hash = self.rows.hash(row.key.as_str());
        let found = self
            .rows
            .find(hash, |other| other.key == row.key)
            .map(|(slot, _)| slot);
        self.compute(found, &row)?;
        self.clear_stale(row.key.as_str());
        let slot = found.unwrap_or_else(|| self.free_slots.allocate());
        let old = match self.rows.get_mut(slot) {
            Some(stored) => Some(mem::replace(stored, row).object),
            None => {
                self.rows.insert(slot, hash, row);
                None
            }
        };
        self.labels.set(slot, digest);
        self.indexes.iter_mut().for_each(|index| index.apply(slot));
        self.touched.push(slot);
        Ok(old)
    }

    /// Removes the object under a key and returns it.
    #[doc(alias = "Delete")]
    pub fn remove(&mut self, key: &str) -> Option<R> {
        self.clear_stale(key);
        let hash = self.rows.hash(key);
        let (slot, _) = self.rows.find(hash, |row| row.key.as_str() == key)?;
        let row = self.rows.remove(slot, hash)?;
        self.indexes.iter_mut().for_each(|index| index.clear(slot));
        self.free_slots.release(slot);
        if self.rows.len() == 0 {
            self.labels = Digests::default();
        }
        self.touched.push(slot);
        Some(row.object)
    }

    /// Computes the values of a row for every index; `slot` is the slot of the stored object with the same key.
    fn compute(&mut self, slot: Option<u32>, row: &Row<R>) -> Result<(), IndexPanic> {
        let mut at = 0;
        catch_unwind(AssertUnwindSafe(|| {
            for (number, index) in self.indexes.iter_mut().enumerate() {
                at = number;
                index.compute(slot, &row.key, &row.object);
            }
        }))
        .map_err(|payload| IndexPanic::new(&self.indexes[at].id().name, &row.key, &*payload))
    }

    /// Makes the writer's own state visible to readers, and wakes waits for a resource version.
    ///
    /// Never waits for a reader. May wait for a concurrent `add_index`, but only while it indexes what was written in
    /// the meantime.
    ///
    /// # Complexity
    /// O(indexes), plus freeing the replaced state.
    #[doc(alias = "Transaction")]
    pub fn publish(&mut self) {
        let shared = self.shared.clone();
        let old = loop {
            let mut control = shared.control();
            if control.generation == self.generation {
                self.indexes.iter_mut().for_each(|index| index.published());
                break shared.published.swap(Arc::new(self.state(&shared)));
            }
            let changes = control.take_changes();
            drop(control);
            self.apply_index_changes(changes);
        };
        shared.changed.notify_waiters();
        self.touched.clear();
        self.retired.push(old);
        self.reclaim();
    }

    fn state(&mut self, shared: &Shared<R>) -> State<R> {
        State {
            store: shared.published.load().store,
            rows: self.rows.clone(),
            labels: self.labels.clone(),
            stale: self.stale.clone(),
            indexes: self
                .indexes
                .iter_mut()
                .filter_map(|index| index.freeze())
                .collect(),
            versions: self.versions.clone(),
            snapshots: Default::default(),
        }
    }

    /// Takes over indexes that were added, and computes values for those that are being added. See [`control`].
    fn apply_index_changes(&mut self, changes: IndexChanges<R>) {
        self.generation = changes.generation;
        self.retired.extend(changes.replaced);
        for adding in &changes.adding {
            if self.position(adding.id()).is_none() {
                self.catch_up(adding.recorder());
            }
        }
        for mut ready in changes.ready {
            match self.position(ready.id()) {
                Some(at) => {
                    let recorder = self.indexes.swap_remove(at);
                    ready.replay(recorder);
                    self.indexes.push(ready);
                }
                None => self.catch_up(ready),
            }
        }
        // An index that is neither complete nor being added has been abandoned.
        self.indexes.retain_mut(|index| {
            index.freeze().is_some() || changes.adding.iter().any(|adding| adding.id() == index.id())
        });
    }

    fn position(&self, id: &IndexId) -> Option<usize> {
        self.indexes.iter().position(|index| index.id() == id)
    }

    /// Updates an index with everything that has changed since the last publication.
    fn catch_up(&mut self, mut index: Box<dyn IndexMaintainer<R>>) {
        for slot in mem::take(&mut self.touched) {
            match self.rows.get(slot) {
                None => index.clear(slot),
                Some(row) => match control::compute(&mut *index, slot, row) {
                    Ok(()) => index.apply(slot),
                    Err(panic) => {
                        tracing::error!(%panic, "object is missing from an index that was just added");
                        let (key, partition) = (row.key.clone(), row.partition);
                        index.clear(slot);
                        // The next list must not find it unchanged: it is to be indexed again.
                        if let Some(row) = self.rows.get_mut(slot) {
                            row.fingerprint = None;
                        }
                        self.mark_stale(&key, partition);
                    }
                },
            }
            self.touched.push(slot);
        }
        self.indexes.push(index);
    }
}

fn digest<O: CachedObject>(object: &O::Handle) -> LabelDigest {
    let mut digest = LabelDigest::NO_LABELS;
    match O::visit_labels(object, &mut |name, value| digest.add(name, value)) {
        true => digest,
        false => LabelDigest::UNKNOWN,
    }
}

impl<R> Drop for StoreWriter<R> {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
        self.shared.changed.notify_waiters();
    }
}

impl<R> fmt::Debug for StoreWriter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreWriter")
            .field("len", &self.len())
            .field("unpublished", &self.touched.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn key(number: u8) -> ObjectKey {
        format!("ns/{number}").as_str().into()
    }

    proptest! {
        #[test]
        fn what_is_not_listed_is_found_in_any_order(
            steps in prop::collection::vec((0..40u8, 0..3u32), 0..80),
            listed in prop::collection::vec(0..50u8, 0..60),
            sorted: bool,
        ) {
            let (mut writer, mut model) = (StoreWriter::new(), BTreeMap::new());
            for (number, partition) in steps {
                match partition {
                    2 => {
                        writer.remove(key(number).as_str());
                        model.remove(&number);
                    }
                    _ => {
                        let partition = Partition::new(partition);
                        prop_assert!(writer.upsert(key(number), number, None, partition).is_ok());
                        model.insert(number, partition);
                    }
                }
            }
            let mut listed = listed;
            if sorted {
                listed.sort_unstable();
            }
            // Some of the keys are those that are stored, others equal them.
            let keys: Vec<_> = listed
                .iter()
                .map(|number| match writer.entry(key(*number).as_str()) {
                    Some(entry) if number % 2 == 0 => entry.key.clone(),
                    _ => key(*number),
                })
                .collect();
            for partition in [0, 1].map(Partition::new) {
                let expected = model.iter().filter(|(number, of)| **of == partition && !listed.contains(number));
                let expected: BTreeSet<_> = expected.map(|(number, _)| key(*number)).collect();
                let found = writer.not_listed(partition, keys.iter());
                prop_assert_eq!(found.len(), expected.len());
                prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
            }
        }
    }
}
