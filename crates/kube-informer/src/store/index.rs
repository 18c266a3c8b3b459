//! Indexes on the reader's side: handles, errors, and the slots of each value.

use super::{slots::SlotSet, table::Table};
use crate::object::ObjectKey;
use crate::panics;
use std::{
    any::Any,
    borrow::{Borrow, Cow},
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
    sync::Arc,
};

/// The name of the index by namespace, which a store has by default.
pub const NAMESPACE_INDEX: &str = "namespace";

/// A handle of one index of one store, whose values are of type `V`.
///
/// [`Indexer::add_index`](super::Indexer::add_index) returns it; lookups take any borrowed form of `V`. A handle
/// belongs to the store that created it: any other store returns [`IndexError::OtherStore`].
#[doc(alias = "IndexName")]
pub struct Index<V> {
    pub(crate) id: IndexId,
    _values: PhantomData<fn() -> V>,
}

impl<V> Index<V> {
    pub(crate) fn new(id: IndexId) -> Self {
        Self {
            id,
            _values: PhantomData,
        }
    }

    /// The name under which the index was added.
    pub fn name(&self) -> &str {
        &self.id.name
    }
}

impl<V> Clone for Index<V> {
    fn clone(&self) -> Self {
        Self::new(self.id.clone())
    }
}

impl<V> fmt::Debug for Index<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Index").field(&self.id.name).finish()
    }
}

/// Identifies an index of a store.
#[derive(Debug, Clone)]
pub(crate) struct IndexId {
    pub(crate) name: Arc<str>,
    pub(crate) store: u64,
    /// Distinguishes indexes that had the same name.
    pub(crate) number: u64,
}

impl PartialEq for IndexId {
    fn eq(&self, other: &Self) -> bool {
        (self.store, self.number) == (other.store, other.number)
    }
}

/// Why an index could not be added or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// An index with this name exists or is being added.
    #[error("an index named {0:?} exists already")]
    Conflict(Arc<str>),
    /// There is no index with this name.
    #[error("index with name {0:?} does not exist")]
    Unknown(String),
    /// The handle belongs to another store.
    #[error("the handle of index {0:?} is of another store")]
    OtherStore(Arc<str>),
    /// The snapshot was taken before the index was added. Take a newer snapshot.
    #[error("the snapshot is older than index {0:?}")]
    NotInSnapshot(Arc<str>),
    /// The values of the index are not strings: look it up by its handle.
    #[error("the values of index {0:?} are not a string: look it up by its handle")]
    NotString(Arc<str>),
    /// The index function panicked.
    #[error("the index function failed")]
    Panic(#[from] IndexPanic),
}

/// An index function panicked; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("index function {index:?} panicked on {key}: {message}")]
#[non_exhaustive]
pub struct IndexPanic {
    /// The index's name.
    pub index: Arc<str>,
    /// The key of the object.
    pub key: ObjectKey,
    /// The panic's message; empty if its payload was not a string.
    pub message: String,
}

impl IndexPanic {
    pub(crate) fn new(index: &Arc<str>, key: &ObjectKey, payload: &(dyn Any + Send)) -> Self {
        Self {
            index: index.clone(),
            key: key.clone(),
            message: panics::message(payload).unwrap_or_default().to_owned(),
        }
    }
}

/// Computes the values of an object; user code.
pub(crate) type IndexFn<R, V> = dyn Fn(&ObjectKey, &R, &mut dyn FnMut(V)) + Send + Sync;

/// An index's identity and function.
pub(crate) struct Definition<R, V> {
    pub(crate) id: IndexId,
    pub(crate) function: Box<IndexFn<R, V>>,
}

/// The slots of each value.
#[derive(Debug)]
pub(crate) struct Postings<V> {
    pub(crate) values: Table<Posting<V>>,
}

/// One value of an index and the slots of the objects that have it; never empty.
#[derive(Debug)]
pub(crate) struct Posting<V> {
    /// Shared, so that copying a leaf does not call user code (`Clone`).
    pub(crate) value: Arc<V>,
    pub(crate) slots: SlotSet,
}

impl<V> Clone for Posting<V> {
    fn clone(&self) -> Self {
        Self {
            value: self.value.clone(),
            slots: self.slots.clone(),
        }
    }
}

impl<V> Clone for Postings<V> {
    fn clone(&self) -> Self {
        Self {
            values: self.values.clone(),
        }
    }
}

impl<V> Default for Postings<V> {
    fn default() -> Self {
        Self {
            values: Table::default(),
        }
    }
}

impl<V> Postings<V> {
    /// The slots of a value.
    pub(crate) fn slots<Q>(&self, value: &Q) -> Option<&SlotSet>
    where
        V: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.values.hash(value);
        let (_, posting) = self
            .values
            .find(hash, |posting| (*posting.value).borrow() == value)?;
        Some(&posting.slots)
    }
}

/// An index in a snapshot, with its value type erased.
pub(crate) trait FrozenIndex<R>: Send + Sync {
    fn id(&self) -> &IndexId;

    /// Its [`Postings`], to be downcast.
    fn postings(&self) -> &dyn Any;

    /// The postings, if the values are strings.
    fn string_postings(&self) -> Option<&dyn StringPostings>;

    /// The slots that share a value with this object. Calls the index function.
    fn slots_like(&self, key: &ObjectKey, object: &R) -> Vec<&SlotSet>;
}

pub(crate) struct Frozen<R, V> {
    pub(crate) definition: Arc<Definition<R, V>>,
    pub(crate) postings: Postings<V>,
}

impl<R: 'static, V: Hash + Eq + Send + Sync + 'static> FrozenIndex<R> for Frozen<R, V> {
    fn id(&self) -> &IndexId {
        &self.definition.id
    }

    fn postings(&self) -> &dyn Any {
        &self.postings
    }

    fn string_postings(&self) -> Option<&dyn StringPostings> {
        as_string_postings(&self.postings)
    }

    fn slots_like(&self, key: &ObjectKey, object: &R) -> Vec<&SlotSet> {
        let mut found = Vec::new();
        (self.definition.function)(key, object, &mut |value| {
            found.extend(self.postings.slots(&value))
        });
        found
    }
}

/// [`Postings`] whose values are strings.
pub(crate) trait StringPostings {
    fn slots(&self, value: &str) -> Option<&SlotSet>;
    fn values(&self) -> Vec<&str>;
}

impl<V: Borrow<str> + Hash + Eq> StringPostings for Postings<V> {
    fn slots(&self, value: &str) -> Option<&SlotSet> {
        self.slots(value)
    }

    fn values(&self) -> Vec<&str> {
        self.values
            .iter()
            .map(|posting| (*posting.value).borrow())
            .collect()
    }
}

/// Downcasts postings whose values are of any of the usual string types.
fn as_string_postings(postings: &dyn Any) -> Option<&dyn StringPostings> {
    fn of<V: Borrow<str> + Hash + Eq + 'static>(postings: &dyn Any) -> Option<&dyn StringPostings> {
        Some(postings.downcast_ref::<Postings<V>>()?)
    }
    of::<String>(postings)
        .or_else(|| of::<&'static str>(postings))
        .or_else(|| of::<Arc<str>>(postings))
        .or_else(|| of::<Box<str>>(postings))
        .or_else(|| of::<Cow<'static, str>>(postings))
        .or_else(|| of::<ObjectKey>(postings))
        .or_else(|| of::<Namespace>(postings))
}

/// A namespace as an index value: the key of one of its objects, so that no string is allocated.
#[derive(Debug, Clone)]
pub(crate) struct Namespace(ObjectKey);

impl Namespace {
    pub(crate) fn of(key: &ObjectKey) -> Option<Self> {
        key.namespace().map(|_| Self(key.clone()))
    }
}

impl Borrow<str> for Namespace {
    fn borrow(&self) -> &str {
        self.0.namespace().unwrap_or_default()
    }
}

impl PartialEq for Namespace {
    fn eq(&self, other: &Self) -> bool {
        self.0.namespace() == other.0.namespace()
    }
}

impl Eq for Namespace {}

impl Hash for Namespace {
    fn hash<H: Hasher>(&self, state: &mut H) {
        <Self as Borrow<str>>::borrow(self).hash(state);
    }
}
