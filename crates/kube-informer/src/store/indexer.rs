//! The reader's side of a store.

use super::{
    control::Shared,
    index::{Index, IndexError, NAMESPACE_INDEX, Namespace},
    lease::Lease,
    snapshot::Snapshot,
    wait::Wait,
    writer::StoreWriter,
};
use crate::object::{CachedObject, Fingerprint, KnownObjects, ObjectKey, Partition, ResourceVersion};
use crate::selector::LabelSelector;
use std::{borrow::Borrow, fmt, hash::Hash, sync::Arc};
use tokio::sync::futures::Notified;

/// The reader's side of a store: objects by key, with indexes. Cheap to clone.
///
/// Every read sees one published state and never waits: not for the writer, not for a relist, not for an index that
/// is being added. For reads that must be consistent with each other, take one [`snapshot`](Self::snapshot).
///
/// `R` is the handle by which an object is stored. It must be cheap to clone and must not panic when cloned; an
/// example is [`Arc`].
///
/// ```
/// use kube_informer::{Partition, store::Indexer};
/// use std::sync::Arc;
///
/// let (indexer, mut writer) = Indexer::new();
/// let by_letter = indexer.add_index("letter", |string: &Arc<str>| string.chars().collect::<Vec<_>>())?;
/// writer.upsert("shop/a".into(), Arc::from("ab"), None, Partition::SINGLE)?;
/// writer.upsert("shop/b".into(), Arc::from("bc"), None, Partition::SINGLE)?;
/// assert!(indexer.is_empty(), "nothing is visible before it is published");
///
/// writer.publish();
/// assert_eq!(indexer.by_index(&by_letter, &'b')?.len(), 2);
/// assert_eq!(indexer.list_namespace("shop").len(), 2);
/// assert_eq!(indexer.by_index_name("namespace", "elsewhere")?.len(), 0);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "Store")]
#[doc(alias = "ThreadSafeStore")]
#[doc(alias = "cache.Indexer")]
pub struct Indexer<R> {
    pub(crate) shared: Arc<Shared<R>>,
    lease: Option<Lease>,
}

impl<R: Clone + Send + Sync + 'static> Indexer<R> {
    /// An empty store with an index of the keys' namespaces, named [`NAMESPACE_INDEX`].
    #[doc(alias = "NewIndexer")]
    pub fn new() -> (Self, StoreWriter<R>) {
        let (indexer, mut writer) = Self::without_indexes();
        let namespaces = indexer.shared.add_index(NAMESPACE_INDEX, |key, _, emit| {
            Namespace::of(key).into_iter().for_each(emit)
        });
        debug_assert!(namespaces.is_ok());
        writer.publish();
        (indexer, writer)
    }

    /// An empty store without any index, for cluster-scoped kinds. Without an index, `list_namespace` reads every
    /// object.
    pub fn without_indexes() -> (Self, StoreWriter<R>) {
        let writer = StoreWriter::new();
        (
            Self {
                shared: writer.shared.clone(),
                lease: None,
            },
            writer,
        )
    }

    /// Adds an index: `function` returns the values under which an object is indexed. An index may be added at any
    /// time. It is complete when this function returns, even if the writer is idle or in the middle of a batch.
    ///
    /// The function is called on every stored object (on the caller's thread) and on every object that is written
    /// later (by the writer). No lock is held during the call, so the function may be slow, read the store or add
    /// another index. It should depend only on the object.
    ///
    /// ```
    /// use kube_informer::store::Indexer;
    /// use k8s_openapi::api::core::v1::Pod;
    /// use std::sync::Arc;
    ///
    /// let (pods, writer) = Indexer::<Arc<Pod>>::new();
    /// let by_node = pods.add_index("node", |pod| pod.spec.as_ref().and_then(|spec| spec.node_name.clone()))?;
    /// assert!(pods.by_index(&by_node, "node-1")?.is_empty());
    /// # Ok::<_, kube_informer::store::IndexError>(())
    /// ```
    ///
    /// # Errors
    /// [`IndexError::Conflict`] if there is an index with this name; [`IndexError::Panic`] if the function panics on
    /// a stored object. In both cases no index is added.
    ///
    /// # Complexity
    /// O(objects).
    #[doc(alias = "AddIndexers")]
    pub fn add_index<V, I>(
        &self,
        name: &str,
        function: impl Fn(&R) -> I + Send + Sync + 'static,
    ) -> Result<Index<V>, IndexError>
    where
        V: Hash + Eq + Send + Sync + 'static,
        I: IntoIterator<Item = V>,
    {
        self.shared.add_index(name, move |_, object, emit| {
            function(object).into_iter().for_each(emit)
        })
    }

    /// The object under a key.
    #[doc(alias = "GetByKey")]
    pub fn get(&self, key: &str) -> Option<R> {
        self.shared
            .published
            .load()
            .row(key)
            .map(|row| row.object.clone())
    }

    /// All objects, in no particular order. O(objects). [`Snapshot::iter`] iterates without collecting them.
    pub fn list(&self) -> Vec<R> {
        self.shared.published.load().list(None)
    }

    /// The objects whose key has this namespace, or all if it is empty, in no particular order; see
    /// [`Snapshot::namespace`].
    pub fn list_namespace(&self, namespace: &str) -> Vec<R> {
        self.shared.published.load().list(Some(namespace))
    }

    /// The objects of a namespace, or of all namespaces, that match a selector.
    pub(crate) fn select<O: CachedObject<Handle = R>>(
        &self,
        namespace: Option<&str>,
        selector: &LabelSelector,
    ) -> Vec<R> {
        self.shared.published.load().select::<O>(namespace, selector)
    }

    /// The objects under a value of an index, in no particular order. An unknown value has none.
    ///
    /// # Errors
    /// [`IndexError::OtherStore`].
    #[doc(alias = "ByIndex")]
    pub fn by_index<V, Q>(&self, index: &Index<V>, value: &Q) -> Result<Vec<R>, IndexError>
    where
        V: Borrow<Q> + 'static,
        Q: Hash + Eq + ?Sized,
    {
        let state = self.shared.published.load();
        Ok(state
            .rows_at(state.slots(index, value)?)
            .map(|row| row.object.clone())
            .collect())
    }

    /// Like [`by_index`](Self::by_index), but takes the name of an index whose values are strings.
    ///
    /// # Errors
    /// [`IndexError::Unknown`], [`IndexError::NotString`].
    #[doc(alias = "ByIndex")]
    pub fn by_index_name(&self, name: &str, value: &str) -> Result<Vec<R>, IndexError> {
        let state = self.shared.published.load();
        Ok(state
            .rows_at(state.string_postings(name)?.slots(value))
            .map(|row| row.object.clone())
            .collect())
    }

    /// All objects that share at least one index value with `object`, each once; see [`Snapshot::sharing_index`].
    ///
    /// # Errors
    /// [`IndexError::Unknown`]; [`IndexError::Panic`] if the index function panics.
    #[doc(alias = "Index")]
    pub fn sharing_index(&self, name: &str, key: &ObjectKey, object: &R) -> Result<Vec<R>, IndexError> {
        let state = self.shared.published.load();
        Ok(state
            .rows_like(name, key, object)?
            .map(|row| row.object.clone())
            .collect())
    }
}

impl<R> Indexer<R> {
    /// Another handle to the same store; it and its clones hold this lease.
    pub(crate) fn leased(&self, lease: Option<Lease>) -> Self {
        Self {
            shared: self.shared.clone(),
            lease,
        }
    }

    /// The lease that this handle holds.
    pub(crate) fn lease(&self) -> Option<Lease> {
        self.lease.clone()
    }

    /// The current state. O(1).
    pub fn snapshot(&self) -> Snapshot<R> {
        Snapshot::new(self.shared.published.load_full())
    }

    /// Whether there is an object under this key.
    pub fn contains(&self, key: &str) -> bool {
        self.shared.published.load().row(key).is_some()
    }

    /// All keys, in no particular order.
    pub fn list_keys(&self) -> Vec<ObjectKey> {
        self.shared
            .published
            .load()
            .rows
            .iter()
            .map(|row| row.key.clone())
            .collect()
    }

    /// The number of objects. O(1).
    pub fn len(&self) -> usize {
        self.shared.published.load().rows.len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys of the objects under a value of an index, sorted.
    ///
    /// # Errors
    /// As [`by_index`](Self::by_index).
    #[doc(alias = "IndexKeys")]
    pub fn keys_by_index<V, Q>(&self, index: &Index<V>, value: &Q) -> Result<Vec<ObjectKey>, IndexError>
    where
        V: Borrow<Q> + 'static,
        Q: Hash + Eq + ?Sized,
    {
        let state = self.shared.published.load();
        Ok(sorted(
            state
                .rows_at(state.slots(index, value)?)
                .map(|row| row.key.clone()),
        ))
    }

    /// Like [`keys_by_index`](Self::keys_by_index), but takes the name of an index whose values are strings.
    ///
    /// # Errors
    /// As [`by_index_name`](Self::by_index_name).
    #[doc(alias = "IndexKeys")]
    pub fn keys_by_index_name(&self, name: &str, value: &str) -> Result<Vec<ObjectKey>, IndexError> {
        let state = self.shared.published.load();
        Ok(sorted(
            state
                .rows_at(state.string_postings(name)?.slots(value))
                .map(|row| row.key.clone()),
        ))
    }

    /// All values of an index that have objects, in no particular order. [`Snapshot::index_values`] also has the number
    /// of objects of each.
    ///
    /// # Errors
    /// As [`by_index`](Self::by_index).
    #[doc(alias = "ListIndexFuncValues")]
    pub fn index_values<V: Clone + 'static>(&self, index: &Index<V>) -> Result<Vec<V>, IndexError> {
        let state = self.shared.published.load();
        let postings = state.postings(index)?;
        Ok(postings
            .values
            .iter()
            .map(|posting| V::clone(&posting.value))
            .collect())
    }

    /// Like [`index_values`](Self::index_values), but takes the name of an index whose values are strings, and sorts
    /// them.
    ///
    /// # Errors
    /// As [`by_index_name`](Self::by_index_name).
    #[doc(alias = "ListIndexFuncValues")]
    pub fn index_values_by_name(&self, name: &str) -> Result<Vec<String>, IndexError> {
        let state = self.shared.published.load();
        Ok(sorted(
            state
                .string_postings(name)?
                .values()
                .into_iter()
                .map(str::to_owned),
        ))
    }

    /// The names of all indexes.
    #[doc(alias = "GetIndexers")]
    pub fn index_names(&self) -> Vec<String> {
        let state = self.shared.published.load();
        state
            .indexes
            .iter()
            .map(|index| index.id().name.to_string())
            .collect()
    }

    /// Whether a newer state of this key is known to exist but could not be applied, so that the stored object is out
    /// of date.
    pub fn is_stale(&self, key: &str) -> bool {
        self.shared.published.load().is_stale(key)
    }

    /// The keys for which [`is_stale`](Self::is_stale) is true, sorted.
    pub fn stale_keys(&self) -> Vec<ObjectKey> {
        sorted(
            self.shared
                .published
                .load()
                .stale
                .iter()
                .map(|stale| stale.key.clone()),
        )
    }

    /// The resource version up to which everything has been applied: the lowest of all partitions.
    ///
    /// `None` if a partition has none yet, or if they cannot be compared.
    #[doc(alias = "LastStoreSyncResourceVersion")]
    pub fn resource_version(&self) -> Option<ResourceVersion> {
        self.shared.published.load().versions.lowest().cloned()
    }

    /// Completes with the next publication, if it is created before that.
    pub(crate) fn changed(&self) -> Notified<'_> {
        self.shared.changed.notified()
    }

    /// How many times the version of a partition regressed because the server was restored or replaced.
    pub(crate) fn rewinds(&self) -> u64 {
        self.shared.published.load().versions.rewinds()
    }

    /// The resource version up to which everything of one partition has been applied.
    pub fn resource_version_of(&self, partition: Partition) -> Option<ResourceVersion> {
        self.shared.published.load().versions.get(partition).cloned()
    }

    /// Waits until everything up to `version` has been applied in every partition, which gives read-your-writes
    /// consistency.
    ///
    /// Returns immediately if it has. See [`Wait`] for waiting for one partition only and for timeouts.
    ///
    /// ```
    /// # use kube_informer::{Partition, ResourceVersion, store::Indexer};
    /// # use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (indexer, mut writer) = Indexer::<u32>::new();
    /// writer.set_resource_version(Partition::SINGLE, ResourceVersion::from("41"));
    /// writer.publish();
    ///
    /// indexer.wait_until(&"41".into()).await?;
    /// let error = indexer.wait_until(&"42".into()).timeout(Duration::from_millis(1)).await.unwrap_err();
    /// assert_eq!(error.to_string(), "timed out waiting for resource version 42: partition 0 is at 41");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// See [`WaitError`](super::WaitError).
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    #[must_use = "awaited, it waits"]
    pub fn wait_until<'a>(&'a self, version: &'a ResourceVersion) -> Wait<'a, R> {
        Wait::new(&self.shared, version)
    }
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items
}

impl<R> KnownObjects for Indexer<R> {
    fn get(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
        self.shared.published.load().known(key)
    }
}

impl<R> Clone for Indexer<R> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            lease: self.lease.clone(),
        }
    }
}

impl<R> fmt::Debug for Indexer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Indexer").field(&self.snapshot()).finish()
    }
}
