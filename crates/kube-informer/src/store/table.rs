//! A persistent hash table whose items keep their slot, so that indexes can refer to them by a small number.

use super::{
    lookup::Lookup,
    sparse::{Cursor, SparseArray},
};
use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    hash::{BuildHasher, Hash},
};

/// Items, each in a slot, found by hash. A clone is O(1) and shares everything.
///
/// The lookup and the items are separate, so a change of an item does not change the lookup.
#[derive(Debug)]
pub(crate) struct Table<T> {
    items: SparseArray<T>,
    lookup: Lookup,
    len: usize,
    hasher: foldhash::quality::RandomState,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            items: SparseArray::default(),
            lookup: Lookup::default(),
            len: 0,
            hasher: Default::default(),
        }
    }
}

impl<T> Clone for Table<T> {
    fn clone(&self) -> Self {
        Self {
            items: self.items.clone(),
            lookup: self.lookup.clone(),
            len: self.len,
            hasher: self.hasher.clone(),
        }
    }
}

impl<T> Table<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn hash(&self, value: &(impl Hash + ?Sized)) -> u32 {
        (self.hasher.hash_one(value) >> 32) as u32
    }

    /// The item with this hash for which `is` holds, and its slot.
    pub(crate) fn find(&self, hash: u32, is: impl Fn(&T) -> bool) -> Option<(u32, &T)> {
        self.lookup.find(hash, |slot| {
            Some((slot, self.items.get(slot).filter(|item| is(item))?))
        })
    }

    /// The same, looked for in one slot first. Items that are asked for in the order of their slots are read in the order in which
    /// they are in memory, with nothing to search.
    pub(crate) fn find_near(
        &self,
        slot: u32,
        hash: impl FnOnce() -> u32,
        is: impl Fn(&T) -> bool,
    ) -> Option<(u32, &T)> {
        match self.items.get(slot).filter(|item| is(item)) {
            Some(item) => Some((slot, item)),
            None => self.find(hash(), is),
        }
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&T> {
        self.items.get(slot)
    }

    /// All items in the order of their slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(_, item)| item)
    }

    /// Calls `each` with every item in the order of their slots: faster than [`iter`](Self::iter).
    pub(crate) fn for_each(&self, each: impl FnMut(&T)) {
        self.items.for_each(each);
    }

    /// All items and their slots.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (u32, &T)> {
        self.items.iter()
    }

    pub(crate) fn cursor(&self) -> Cursor<'_, T> {
        self.items.cursor()
    }
}

impl<T: Clone> Table<T> {
    /// The item in this slot, for changing it in this copy only; its hash must not change.
    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.items.get_mut(slot)
    }

    /// Inserts a new item into a free slot.
    pub(crate) fn insert(&mut self, slot: u32, hash: u32, item: T) {
        self.items.insert(slot, item);
        self.lookup.insert(hash, slot);
        self.len += 1;
    }

    /// Empties a slot.
    pub(crate) fn remove(&mut self, slot: u32, hash: u32) -> Option<T> {
        let item = self.items.remove(slot)?;
        self.lookup.remove(hash, slot);
        self.len -= 1;
        Some(item)
    }
}

/// The free slots of a table, used by its writer. The lowest is allocated first, so that a table stays dense.
#[derive(Debug, Default)]
pub(crate) struct FreeSlots {
    holes: BinaryHeap<Reverse<u32>>,
    /// Every slot from here on is free.
    end: u32,
}

impl FreeSlots {
    /// A number behind all slots that are taken.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// Allocates the lowest free slot.
    pub(crate) fn allocate(&mut self) -> u32 {
        self.holes.pop().map_or_else(
            || {
                self.end += 1;
                self.end - 1
            },
            |Reverse(slot)| slot,
        )
    }

    /// Frees a slot.
    pub(crate) fn release(&mut self, slot: u32) {
        if slot + 1 == self.end {
            self.end = slot;
        } else {
            self.holes.push(Reverse(slot));
        }
        if self.holes.len() == self.end as usize {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_lowest_free_slot_is_allocated_first(steps in prop::collection::vec(any::<Option<prop::sample::Index>>(), 0..200)) {
            let (mut free, mut taken) = (FreeSlots::default(), BTreeSet::new());
            for step in steps {
                match step {
                    Some(which) if !taken.is_empty() => {
                        let slot = *taken.iter().nth(which.index(taken.len())).unwrap();
                        taken.remove(&slot);
                        free.release(slot);
                    }
                    _ => {
                        let lowest = (0..).find(|slot| !taken.contains(slot)).unwrap();
                        prop_assert_eq!(free.allocate(), lowest);
                        taken.insert(lowest);
                    }
                }
            }
        }
    }
}
