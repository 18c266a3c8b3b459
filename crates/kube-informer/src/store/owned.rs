//! A store without an informer, written by its owner.

use super::{Indexer, index::IndexPanic, writer::StoreWriter};
use crate::object::{ObjectKey, Partition, ResourceVersion};
use std::{collections::HashSet, fmt, ops::Deref};

/// An [`Indexer`] that its owner writes, with its own key function.
///
/// Each call publishes all its changes before it returns. It dereferences to [`Indexer`] for reads;
/// [`reader`](Self::reader) returns an [`Indexer`] that can be cloned and given to other readers.
///
/// ```
/// use kube_informer::store::OwnedIndexer;
///
/// let mut words = OwnedIndexer::new(|word: &&'static str| word.to_lowercase().into());
/// let by_length = words.add_index("length", |word| [word.len()])?;
/// words.upsert("Alpha")?;
/// words.upsert("alpha")?;
/// words.upsert("gamma")?;
/// assert_eq!(words.len(), 2);
/// assert_eq!(words.keys_by_index(&by_length, &5)?, ["alpha".into(), "gamma".into()]);
///
/// words.replace(["beta", "gamma"], None)?;
/// assert_eq!(words.get("alpha"), None);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "NewIndexer")]
#[doc(alias = "NewStore")]
pub struct OwnedIndexer<R> {
    reader: Indexer<R>,
    writer: StoreWriter<R>,
    key: Box<dyn Fn(&R) -> ObjectKey + Send + Sync>,
}

/// One step of a batch, see [`OwnedIndexer::apply`].
#[doc(alias = "Transaction")]
#[derive(Debug, Clone)]
pub enum Change<R> {
    /// Adds an object or replaces the one under its key.
    Upsert(R),
    /// Removes the object under a key, if there is one.
    Delete(ObjectKey),
}

/// Some objects of a batch could not be indexed. Everything else was applied.
///
/// For each of them, the object stored under its key stays, and the key is marked as stale.
#[doc(alias = "TransactionError")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} of {total} objects could not be indexed", failed.len())]
#[non_exhaustive]
pub struct BatchError {
    /// The position in the batch and the panic of each object that failed. Never empty.
    pub failed: Vec<(usize, IndexPanic)>,
    /// The number of objects in the batch.
    pub total: usize,
}

impl<R: Clone + Send + Sync + 'static> OwnedIndexer<R> {
    /// An empty store of objects whose key is `key(object)`.
    ///
    /// If the key function panics, the panic propagates from the call that needs the key, and that call changes
    /// nothing.
    pub fn new(key: impl Fn(&R) -> ObjectKey + Send + Sync + 'static) -> Self {
        let (reader, writer) = Indexer::new();
        Self {
            reader,
            writer,
            key: Box::new(key),
        }
    }

    /// The reader's side, which can be cloned.
    pub fn reader(&self) -> &Indexer<R> {
        &self.reader
    }

    /// The key of an object.
    pub fn key(&self, object: &R) -> ObjectKey {
        (self.key)(object)
    }

    /// Adds an object, or replaces the one under its key and returns the replaced object.
    ///
    /// # Errors
    /// An index function panicked; nothing was changed.
    #[doc(alias = "Add")]
    #[doc(alias = "Update")]
    pub fn upsert(&mut self, object: R) -> Result<Option<R>, IndexPanic> {
        let old = self
            .writer
            .upsert(self.key(&object), object, None, Partition::SINGLE)?;
        self.writer.publish();
        Ok(old)
    }

    /// Removes the object under a key and returns it.
    #[doc(alias = "Delete")]
    pub fn delete(&mut self, key: &str) -> Option<R> {
        let old = self.writer.remove(key)?;
        self.writer.publish();
        Some(old)
    }

    /// Applies changes in order and publishes them at once.
    ///
    /// # Errors
    /// The objects on which an index function panicked; all other changes were applied.
    #[doc(alias = "Transaction")]
    pub fn apply(&mut self, changes: impl IntoIterator<Item = Change<R>>) -> Result<(), BatchError> {
        let keyed = |change| match change {
            Change::Upsert(object) => ((self.key)(&object), Some(object)),
            Change::Delete(key) => (key, None),
        };
        let changes: Vec<_> = changes.into_iter().map(keyed).collect();
        let result = self.write(changes);
        self.writer.publish();
        result
    }

    /// Replaces everything: afterwards the store holds exactly these objects, at this resource version. If two
    /// objects have the same key, the last one is stored.
    ///
    /// # Errors
    /// As [`apply`](Self::apply); an object that could not be indexed counts as present.
    #[doc(alias = "Replace")]
    pub fn replace(
        &mut self,
        objects: impl IntoIterator<Item = R>,
        version: Option<ResourceVersion>,
    ) -> Result<(), BatchError> {
        let objects: Vec<_> = objects
            .into_iter()
            .map(|object| ((self.key)(&object), Some(object)))
            .collect();
        let present: HashSet<&str> = objects.iter().map(|(key, _)| key.as_str()).collect();
        let vanished = |key: &&ObjectKey| !present.contains(key.as_str());
        let stale = self.reader.stale_keys();
        let stored = self.writer.entries().map(|entry| entry.key);
        let gone: Vec<_> = stored.chain(&stale).filter(vanished).cloned().collect();
        for key in gone {
            self.writer.remove(key.as_str());
            self.writer.clear_stale(key.as_str());
        }
        let result = self.write(objects);
        if let Some(version) = version {
            self.writer.set_resource_version(Partition::SINGLE, version);
        }
        self.writer.publish();
        result
    }

    fn write(&mut self, changes: Vec<(ObjectKey, Option<R>)>) -> Result<(), BatchError> {
        let total = changes.len();
        let mut failed = Vec::new();
        for (at, (key, object)) in changes.into_iter().enumerate() {
            let Some(object) = object else {
                self.writer.remove(key.as_str());
                continue;
            };
            if let Err(panic) = self.writer.upsert(key.clone(), object, None, Partition::SINGLE) {
                self.writer.mark_stale(&key, Partition::SINGLE);
                failed.push((at, panic));
            }
        }
        if failed.is_empty() {
            Ok(())
        } else {
            Err(BatchError { failed, total })
        }
    }
}

impl<R> Deref for OwnedIndexer<R> {
    type Target = Indexer<R>;

    fn deref(&self) -> &Indexer<R> {
        &self.reader
    }
}

impl<R> fmt::Debug for OwnedIndexer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedIndexer").field(&self.reader).finish()
    }
}
