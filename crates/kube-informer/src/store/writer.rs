//! The writer's side of a store.

use super::{
    control::{self, News, Shared},
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

/// The one writer of a store.
///
/// It changes a state of its own, in which objects, indexes and resource versions always fit together;
/// [`publish`](Self::publish) shows that state to readers, all at once. Without it, they see nothing.
///
/// When it is dropped, the store stays as it was last published, and waits for resource versions end.
///
/// # Memory
/// What readers can no longer see is freed here, in `publish` or a later one, never by a reader (unless it kept a
/// [`Snapshot`](super::Snapshot)).
pub struct IndexWriter<R> {
    pub(crate) shared: Arc<Shared<R>>,
    rows: Table<Row<R>>,
    free: FreeSlots,
    stale: Table<Stale>,
    free_stale: FreeSlots,
    versions: Versions,
    indexes: Vec<Box<dyn IndexMaintainer<R>>>,
    /// Gives the digest of an object's labels.
    labels: fn(&R) -> LabelDigest,
    /// How much is known of [`Control`](control::Control).
    generation: u64,
    /// The slots that have changed since the last publication.
    touched: Vec<u32>,
    /// States that have been replaced and that a reader may still be looking at.
    retired: Vec<Arc<State<R>>>,
}

/// An object in a store and what is known of it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Entry<'a, R> {
    /// Its key.
    pub key: &'a ObjectKey,
    /// The object.
    pub object: &'a R,
    /// Identifies this state of it, if known.
    pub fingerprint: Option<Fingerprint>,
    /// The partition it came from.
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

impl<R> IndexWriter<R> {
    /// The object under a key in the writer's own state.
    pub fn get(&self, key: &str) -> Option<&R> {
        find(&self.rows, key).map(|(_, row)| &row.object)
    }

    /// What is held under a key in the writer's own state.
    pub fn entry(&self, key: &str) -> Option<Entry<'_, R>> {
        find(&self.rows, key).map(|(_, row)| row.into())
    }

    /// All that is held in the writer's own state, in no particular order. O(objects), nothing is cloned.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_, R>> {
        self.rows.iter().map(Entry::from)
    }

    /// What is held of one partition, in no particular order. O(objects), nothing is cloned.
    pub fn partition(&self, partition: Partition) -> impl Iterator<Item = Entry<'_, R>> {
        self.entries().filter(move |entry| entry.partition == partition)
    }

    /// How many objects there are in the writer's own state.
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

    /// Marks a key of a partition as stale: a newer state of it exists but could not be applied. Whether anything is
    /// held under the key does not matter. [`upsert`](Self::upsert), [`remove`](Self::remove) and
    /// [`clear_stale`](Self::clear_stale) take the mark away.
    pub fn mark_stale(&mut self, key: &ObjectKey, partition: Partition) {
        if self.is_stale(key.as_str()) {
            return;
        }
        let hash = self.stale.hash(key.as_str());
        let stale = Stale {
            key: key.clone(),
            partition,
        };
        self.stale.insert(self.free_stale.take(), hash, stale);
    }

    /// Says that a key is not stale (any more).
    pub fn clear_stale(&mut self, key: &str) {
        if self.stale.len() > 0
            && let Some(slot) = self.stale_slot(key)
        {
            let hash = self.stale.hash(key);
            self.stale.remove(slot, hash);
            self.free_stale.give(slot);
        }
    }

    /// Makes a partition known, at no version yet: from now on, waits for all partitions wait for it.
    pub fn add_partition(&mut self, partition: Partition) {
        self.versions.add(partition);
    }

    /// Forgets a partition and its resource version: nothing waits for it any more. Its objects stay.
    pub fn remove_partition(&mut self, partition: Partition) {
        self.versions.remove(partition);
    }

    /// Whether a partition is known: it was added, or has a resource version.
    pub fn has_partition(&self, partition: Partition) -> bool {
        self.versions.contains(partition)
    }

    /// Says that everything of `partition` up to `version` has been applied. It may go back: the server's may have.
    pub fn set_resource_version(&mut self, partition: Partition, version: ResourceVersion) {
        self.versions.set(partition, version);
    }

    /// The resource version of a partition in the writer's own state.
    pub fn resource_version(&self, partition: Partition) -> Option<&ResourceVersion> {
        self.versions.get(partition)
    }

    /// Frees what was published once and that no reader can see any more.
    ///
    /// [`publish`](Self::publish) does this, too, so it is of use only to a writer that publishes rarely.
    pub fn reclaim(&mut self) {
        // A state that is no longer published gains no new owner except through a snapshot that owns it already.
        self.retired
            .retain(|state| Arc::strong_count(state) > 1 && state.kept.load(Ordering::Relaxed) == 0);
    }
}

impl<R: Clone + Send + Sync + 'static> IndexWriter<R> {
    pub(crate) fn new() -> Self {
        static STORE: AtomicU64 = AtomicU64::new(0);
        let state = State {
            store: STORE.fetch_add(1, Ordering::Relaxed),
            rows: Table::default(),
            stale: Table::default(),
            indexes: Vec::new(),
            versions: Versions::default(),
            kept: Default::default(),
        };
        Self {
            rows: state.rows.clone(),
            free: FreeSlots::default(),
            stale: state.stale.clone(),
            free_stale: FreeSlots::default(),
            versions: state.versions.clone(),
            indexes: Vec::new(),
            labels: |_| LabelDigest::UNKNOWN,
            generation: 0,
            touched: Vec::new(),
            retired: Vec::new(),
            shared: Arc::new(Shared::new(state)),
        }
    }

    /// Says what the objects are, so that lists by label need not look at each. For a store that is still empty.
    pub(crate) fn of<O: CachedObject<Handle = R>>(mut self) -> Self {
        self.labels = digest::<O>;
        self
    }

    /// Puts an object under a key and gives the one that was there.
    ///
    /// # Errors
    /// An index function panicked; nothing was changed then, the object that was there stays.
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
        let labels = (self.labels)(&object);
        let row = Row {
            key,
            object,
            fingerprint,
            partition,
            labels,
        };
        let hash = self.rows.hash(row.key.as_str());
        let found = self
            .rows
            .find(hash, |other| other.key == row.key)
            .map(|(slot, _)| slot);
        self.compute(found, &row)?;
        self.clear_stale(row.key.as_str());
        let slot = found.unwrap_or_else(|| self.free.take());
        let old = match self.rows.get_mut(slot) {
            Some(held) => Some(mem::replace(held, row).object),
            None => {
                self.rows.insert(slot, hash, row);
                None
            }
        };
        self.indexes.iter_mut().for_each(|index| index.apply(slot));
        self.touched.push(slot);
        Ok(old)
    }

    /// Removes the object under a key and gives it.
    #[doc(alias = "Delete")]
    pub fn remove(&mut self, key: &str) -> Option<R> {
        self.clear_stale(key);
        let hash = self.rows.hash(key);
        let (slot, _) = self.rows.find(hash, |row| row.key.as_str() == key)?;
        let row = self.rows.remove(slot, hash)?;
        self.indexes.iter_mut().for_each(|index| index.clear(slot));
        self.free.give(slot);
        self.touched.push(slot);
        Some(row.object)
    }

    /// Computes the values of a row for every index; `slot` is where an object of its key is already.
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

    /// Shows the writer's own state to readers, and wakes those who wait for a resource version.
    ///
    /// Never waits for a reader; for somebody who adds an index, at most while what was written meanwhile is indexed.
    ///
    /// # Complexity
    /// O(indexes), and freeing what this replaces.
    #[doc(alias = "Transaction")]
    pub fn publish(&mut self) {
        let shared = self.shared.clone();
        let old = loop {
            let mut control = shared.control();
            if control.generation == self.generation {
                self.indexes.iter_mut().for_each(|index| index.published());
                break shared.published.swap(Arc::new(self.state(&shared)));
            }
            let news = control.news();
            drop(control);
            self.learn(news);
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
            stale: self.stale.clone(),
            indexes: self
                .indexes
                .iter_mut()
                .filter_map(|index| index.freeze())
                .collect(),
            versions: self.versions.clone(),
            kept: Default::default(),
        }
    }

    /// Takes over indexes that others have added, and computes what those that are being added need. See [`control`].
    fn learn(&mut self, news: News<R>) {
        self.generation = news.generation;
        self.retired.extend(news.replaced);
        for adding in &news.adding {
            if self.position(adding.id()).is_none() {
                self.catch_up(adding.recorder());
            }
        }
        for mut ready in news.ready {
            match self.position(ready.id()) {
                Some(at) => {
                    let recorder = self.indexes.swap_remove(at);
                    ready.repeat(recorder);
                    self.indexes.push(ready);
                }
                None => self.catch_up(ready),
            }
        }
        // Those that are not complete and no longer being added have been given up.
        self.indexes.retain_mut(|index| {
            index.freeze().is_some() || news.adding.iter().any(|adding| adding.id() == index.id())
        });
    }

    fn position(&self, id: &IndexId) -> Option<usize> {
        self.indexes.iter().position(|index| index.id() == id)
    }

    /// Tells an index of everything that has changed since the last publication.
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

impl<R> Drop for IndexWriter<R> {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
        self.shared.changed.notify_waiters();
    }
}

impl<R> fmt::Debug for IndexWriter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexWriter")
            .field("len", &self.len())
            .field("unpublished", &self.touched.len())
            .finish_non_exhaustive()
    }
}
