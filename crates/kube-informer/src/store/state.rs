//! One published state of a store.

use super::{
    digests::Digests,
    index::{FrozenIndex, Index, IndexError, IndexPanic, Postings, StringPostings},
    slots::{self, SlotSet},
    sparse::Cursor,
    table::Table,
    versions::Versions,
};
use crate::object::{Fingerprint, ObjectKey, Partition};
use std::{
    borrow::Borrow,
    hash::Hash,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::AtomicUsize},
};

/// An object and its metadata in the store.
#[derive(Debug, Clone)]
pub(crate) struct Row<R> {
    pub(crate) key: ObjectKey,
    pub(crate) object: R,
    pub(crate) fingerprint: Option<Fingerprint>,
    pub(crate) partition: Partition,
}

impl<R> Row<R> {
    pub(crate) fn known(&self) -> Option<(ObjectKey, Fingerprint)> {
        Some((self.key.clone(), self.fingerprint?))
    }
}

/// A key with a newer state than the stored one, if any is stored.
#[derive(Debug, Clone)]
pub(crate) struct Stale {
    pub(crate) key: ObjectKey,
    pub(crate) partition: Partition,
}

/// Everything that readers can see. Never changes once published.
pub(crate) struct State<R> {
    pub(crate) store: u64,
    pub(crate) rows: Table<Row<R>>,
    pub(crate) labels: Digests,
    pub(crate) stale: Table<Stale>,
    pub(crate) indexes: Vec<Arc<dyn FrozenIndex<R>>>,
    pub(crate) versions: Versions,
    /// The number of snapshots of this state.
    pub(crate) snapshots: AtomicUsize,
}

pub(crate) fn find<'a, R>(rows: &'a Table<Row<R>>, key: &str) -> Option<(u32, &'a Row<R>)> {
    rows.find(rows.hash(key), |row| row.key.as_str() == key)
}

impl<R> State<R> {
    pub(crate) fn row(&self, key: &str) -> Option<&Row<R>> {
        find(&self.rows, key).map(|(_, row)| row)
    }

    pub(crate) fn known(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
        self.row(key)?.known()
    }

    pub(crate) fn is_stale(&self, key: &str) -> bool {
        self.stale
            .find(self.stale.hash(key), |stale| stale.key.as_str() == key)
            .is_some()
    }

    /// The slots of a value of an index.
    pub(crate) fn slots<V, Q>(&self, index: &Index<V>, value: &Q) -> Result<Option<&SlotSet>, IndexError>
    where
        V: Borrow<Q> + 'static,
        Q: Hash + Eq + ?Sized,
    {
        Ok(self.postings(index)?.slots(value))
    }

    pub(crate) fn postings<V: 'static>(&self, index: &Index<V>) -> Result<&Postings<V>, IndexError> {
        if index.id.store != self.store {
            return Err(IndexError::OtherStore(index.id.name.clone()));
        }
        let frozen = self.indexes.iter().find(|frozen| *frozen.id() == index.id);
        frozen
            .and_then(|frozen| frozen.postings().downcast_ref())
            .ok_or_else(|| IndexError::NotInSnapshot(index.id.name.clone()))
    }

    pub(crate) fn named(&self, name: &str) -> Option<&dyn FrozenIndex<R>> {
        self.indexes
            .iter()
            .find(|index| *index.id().name == *name)
            .map(|index| &**index)
    }

    pub(crate) fn string_postings(&self, name: &str) -> Result<&dyn StringPostings, IndexError> {
        let index = self
            .named(name)
            .ok_or_else(|| IndexError::Unknown(name.to_owned()))?;
        index
            .string_postings()
            .ok_or_else(|| IndexError::NotString(index.id().name.clone()))
    }

    /// The rows that share a value of this index with an object.
    pub(crate) fn rows_like(
        &self,
        name: &str,
        key: &ObjectKey,
        object: &R,
    ) -> Result<Rows<'_, R>, IndexError> {
        let index = self
            .named(name)
            .ok_or_else(|| IndexError::Unknown(name.to_owned()))?;
        let slots = catch_unwind(AssertUnwindSafe(|| index.slots_like(key, object)))
            .map_err(|payload| IndexPanic::new(&index.id().name, key, &*payload))?;
        match slots[..] {
            [] => Ok(self.rows_at(None)),
            [one] => Ok(self.rows_at(Some(one))),
            _ => {
                let mut all: Vec<u32> = slots.into_iter().flat_map(SlotSet::iter).collect();
                all.sort_unstable();
                all.dedup();
                Ok(Rows {
                    slots: Slots::Owned(all.into_iter()),
                    rows: self.rows.cursor(),
                })
            }
        }
    }

    pub(crate) fn rows_at<'a>(&'a self, slots: Option<&'a SlotSet>) -> Rows<'a, R> {
        let slots = slots.map_or(Slots::Owned(Vec::new().into_iter()), |slots| {
            Slots::Set(slots.iter(), slots.len())
        });
        Rows {
            slots,
            rows: self.rows.cursor(),
        }
    }
}

/// The rows in some slots.
pub(crate) struct Rows<'a, R> {
    slots: Slots<'a>,
    rows: Cursor<'a, Row<R>>,
}

#[derive(Clone)]
enum Slots<'a> {
    Set(slots::Iter<'a>, usize),
    Owned(std::vec::IntoIter<u32>),
}

impl<R> Clone for Rows<'_, R> {
    fn clone(&self) -> Self {
        Self {
            slots: self.slots.clone(),
            rows: self.rows.clone(),
        }
    }
}

impl<'a, R> Iterator for Rows<'a, R> {
    type Item = &'a Row<R>;

    fn next(&mut self) -> Option<&'a Row<R>> {
        let slot = match &mut self.slots {
            Slots::Set(slots, left) => {
                *left = left.saturating_sub(1);
                slots.next()
            }
            Slots::Owned(slots) => slots.next(),
        }?;
        self.rows.get(slot)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.slots {
            Slots::Set(_, left) => (*left, Some(*left)),
            Slots::Owned(slots) => slots.size_hint(),
        }
    }
}
