//! A snapshot: one consistent state of a store, kept for as long as the caller needs it.

use super::{
    index::{Index, IndexError},
    state::{Row, Rows, State},
    writer::Entry,
};
use crate::object::{Fingerprint, KnownObjects, ObjectKey, Partition, ResourceVersion};
use std::{
    borrow::Borrow,
    collections::HashSet,
    fmt,
    hash::Hash,
    sync::{Arc, atomic::Ordering},
};

/// One consistent state of a store: objects, every index and the resource versions, all from the same moment.
///
/// Taking a snapshot and cloning it are O(1). It never changes, and it keeps alive only what has changed in the store
/// since it was taken. All reads borrow from the snapshot; nothing is collected or cloned.
///
/// ```
/// use kube_informer::{Partition, store::Indexer};
///
/// let (indexer, mut writer) = Indexer::new();
/// writer.upsert("shop/web-0".into(), 1, None, Partition::SINGLE)?;
/// writer.publish();
///
/// let before = indexer.snapshot();
/// writer.upsert("shop/web-0".into(), 2, None, Partition::SINGLE)?;
/// writer.publish();
/// assert_eq!(before.get("shop/web-0"), Some(&1));
/// assert_eq!(indexer.get("shop/web-0"), Some(2));
/// # Ok::<_, kube_informer::store::IndexPanic>(())
/// ```
#[must_use = "a snapshot keeps a state of the store alive"]
pub struct Snapshot<R> {
    state: Arc<State<R>>,
}

impl<R> Snapshot<R> {
    pub(crate) fn new(state: Arc<State<R>>) -> Self {
        state.snapshots.fetch_add(1, Ordering::Relaxed);
        Self { state }
    }

    /// The object under a key.
    #[doc(alias = "GetByKey")]
    pub fn get(&self, key: &str) -> Option<&R> {
        self.state.row(key).map(|row| &row.object)
    }

    /// Whether there is an object under this key.
    pub fn contains(&self, key: &str) -> bool {
        self.state.row(key).is_some()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.state.rows.len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All objects, in an unspecified order that is the same in every read of this snapshot.
    #[doc(alias = "List")]
    pub fn iter(&self) -> impl Iterator<Item = &R> {
        self.state.rows.iter().map(|row| &row.object)
    }

    /// All keys, in the order of [`iter`](Self::iter).
    #[doc(alias = "ListKeys")]
    pub fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.state.rows.iter().map(|row| &row.key)
    }

    /// All keys and objects, in the order of [`iter`](Self::iter).
    pub fn entries(&self) -> impl Iterator<Item = (&ObjectKey, &R)> {
        self.state.rows.iter().map(|row| (&row.key, &row.object))
    }

    /// All entries, with what the store knows of them.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Entry<'_, R>> {
        self.state.rows.iter().map(Entry::from)
    }

    /// The partitions that have stale keys.
    pub(crate) fn stale_partitions(&self) -> HashSet<Partition> {
        self.state.stale.iter().map(|stale| stale.partition).collect()
    }

    /// The objects whose key has this namespace, or all objects if it is empty. With the index named `namespace` this
    /// is O(objects of the namespace), else O(all objects).
    pub fn namespace<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a R> {
        self.state.namespace(namespace).map(|row| &row.object)
    }

    /// The objects under a value of an index, in no particular order. An unknown value has none.
    ///
    /// # Errors
    /// [`IndexError::OtherStore`], [`IndexError::NotInSnapshot`].
    #[doc(alias = "ByIndex")]
    pub fn by_index<V, Q>(
        &self,
        index: &Index<V>,
        value: &Q,
    ) -> Result<impl ExactSizeIterator<Item = &R>, IndexError>
    where
        V: Borrow<Q> + 'static,
        Q: Hash + Eq + ?Sized,
    {
        Ok(Objects(self.state.rows_at(self.state.slots(index, value)?)))
    }

    /// Like [`by_index`](Self::by_index), but takes the name of an index whose values are strings.
    ///
    /// # Errors
    /// [`IndexError::Unknown`], [`IndexError::NotString`].
    #[doc(alias = "ByIndex")]
    pub fn by_index_name(
        &self,
        name: &str,
        value: &str,
    ) -> Result<impl ExactSizeIterator<Item = &R>, IndexError> {
        Ok(Objects(
            self.state.rows_at(self.state.string_postings(name)?.slots(value)),
        ))
    }

    /// How many objects are under a value of an index. O(1).
    ///
    /// # Errors
    /// As [`by_index`](Self::by_index).
    pub fn count<V, Q>(&self, index: &Index<V>, value: &Q) -> Result<usize, IndexError>
    where
        V: Borrow<Q> + 'static,
        Q: Hash + Eq + ?Sized,
    {
        Ok(self.state.slots(index, value)?.map_or(0, |slots| slots.len()))
    }

    /// The keys of the objects under a value of an index, in no particular order.
    ///
    /// # Errors
    /// As [`by_index`](Self::by_index).
    #[doc(alias = "IndexKeys")]
    pub fn keys_by_index<V, Q>(
        &self,
        index: &Index<V>,
        value: &Q,
    ) -> Result<impl ExactSizeIterator<Item = &ObjectKey>, IndexError>
    where
        V: Borrow<Q> + 'static,
        Q: Hash + Eq + ?Sized,
    {
        Ok(Keys(self.state.rows_at(self.state.slots(index, value)?)))
    }

    /// Like [`keys_by_index`](Self::keys_by_index), but takes the name of an index whose values are strings.
    ///
    /// # Errors
    /// As [`by_index_name`](Self::by_index_name).
    #[doc(alias = "IndexKeys")]
    pub fn keys_by_index_name(
        &self,
        name: &str,
        value: &str,
    ) -> Result<impl ExactSizeIterator<Item = &ObjectKey>, IndexError> {
        Ok(Keys(
            self.state.rows_at(self.state.string_postings(name)?.slots(value)),
        ))
    }

    /// All values of an index that have objects, each with its number of objects, in no particular order.
    ///
    /// # Errors
    /// As [`by_index`](Self::by_index).
    #[doc(alias = "ListIndexFuncValues")]
    pub fn index_values<V: 'static>(
        &self,
        index: &Index<V>,
    ) -> Result<impl Iterator<Item = (&V, usize)>, IndexError> {
        let postings = self.state.postings(index)?;
        Ok(postings
            .values
            .iter()
            .map(|posting| (&*posting.value, posting.slots.len())))
    }

    /// Like [`index_values`](Self::index_values), but takes the name of an index whose values are strings, and returns
    /// only the values.
    ///
    /// # Errors
    /// As [`by_index_name`](Self::by_index_name).
    #[doc(alias = "ListIndexFuncValues")]
    pub fn index_values_by_name(&self, name: &str) -> Result<Vec<&str>, IndexError> {
        Ok(self.state.string_postings(name)?.values())
    }

    /// All objects that share at least one index value with `object`, each once, in no particular order.
    ///
    /// The index function is called on `object`, which need not be in the store; `key` is its key.
    ///
    /// # Errors
    /// [`IndexError::Unknown`]; [`IndexError::Panic`] if the index function panics.
    #[doc(alias = "Index")]
    pub fn sharing_index(
        &self,
        name: &str,
        key: &ObjectKey,
        object: &R,
    ) -> Result<impl ExactSizeIterator<Item = &R>, IndexError> {
        self.state.rows_like(name, key, object).map(Objects)
    }

    /// Whether a newer state of this key is known to exist but could not be applied, so that the stored object is out
    /// of date.
    pub fn is_stale(&self, key: &str) -> bool {
        self.state.is_stale(key)
    }

    /// The keys for which [`is_stale`](Self::is_stale) is true, including keys without a stored object.
    pub fn stale_keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.state.stale.iter().map(|stale| &stale.key)
    }

    /// How many keys are stale. O(1).
    pub fn stale_len(&self) -> usize {
        self.state.stale.len()
    }

    /// The resource version up to which this state is complete: the lowest of all partitions.
    ///
    /// `None` if a partition has none yet, or if they cannot be compared.
    #[doc(alias = "LastStoreSyncResourceVersion")]
    pub fn resource_version(&self) -> Option<&ResourceVersion> {
        self.state.versions.lowest()
    }

    /// The resource version of every partition; `None` for one that has none yet.
    pub fn resource_versions(&self) -> impl ExactSizeIterator<Item = (Partition, Option<&ResourceVersion>)> {
        self.state.versions.iter()
    }
}

impl<R> KnownObjects for Snapshot<R> {
    fn get(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
        self.state.known(key)
    }
}

impl<R> Clone for Snapshot<R> {
    fn clone(&self) -> Self {
        Self::new(self.state.clone())
    }
}

impl<R> Drop for Snapshot<R> {
    fn drop(&mut self) {
        self.state.snapshots.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<R> fmt::Debug for Snapshot<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("len", &self.len())
            .field("resource_version", &self.resource_version())
            .finish_non_exhaustive()
    }
}

struct Objects<'a, R>(Rows<'a, R>);

impl<'a, R> Iterator for Objects<'a, R> {
    type Item = &'a R;

    fn next(&mut self) -> Option<&'a R> {
        self.0.next().map(|row| &row.object)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<R> ExactSizeIterator for Objects<'_, R> {}

struct Keys<'a, R>(Rows<'a, R>);

impl<'a, R> Iterator for Keys<'a, R> {
    type Item = &'a ObjectKey;

    fn next(&mut self) -> Option<&'a ObjectKey> {
        self.0.next().map(|row: &Row<R>| &row.key)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<R> ExactSizeIterator for Keys<'_, R> {}
