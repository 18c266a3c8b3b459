//! Where items live: each item once, in a slab, found by its hash and named by its slot everywhere else.

use hashbrown::HashTable;
use slab::Slab;

use crate::Priority;

/// Names an entry for as long as the entry exists.
pub(crate) type Slot = u32;

/// "No slot" in links, "no place" in the heap.
pub(crate) const NONE: u32 = u32::MAX;

/// Storage for more entries than this is given back when the last entry goes.
const KEEP: usize = 1024;

/// The dirty and processing sets of the classic queue, as the state of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// In neither set: the entry exists because its time has not come.
    Waiting,
    /// Dirty: in line for a worker.
    Queued,
    /// A worker has it.
    Processing,
    /// A worker has it and it was added again since.
    Redo,
}

#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub(crate) item: T,
    hash: u64,
    /// When it got in line: larger is later.
    pub(crate) ticket: u64,
    pub(crate) prev: Slot,
    pub(crate) next: Slot,
    /// Its place in the heap of waiting items; an item can wait and be queued at once.
    pub(crate) heap_at: u32,
    pub(crate) phase: Phase,
    /// Of the run it is dirty for, or of the one in progress.
    pub(crate) priority: Priority,
    /// Of the run that it waits for.
    pub(crate) waiting_priority: Priority,
    #[cfg(feature = "metrics")]
    pub(crate) dirty_since: u64,
}

#[derive(Debug)]
pub(crate) struct Entries<T> {
    slab: Slab<Entry<T>>,
    index: HashTable<Slot>,
}

impl<T> Entries<T> {
    pub(crate) fn new() -> Self {
        Self {
            slab: Slab::new(),
            index: HashTable::new(),
        }
    }

    pub(crate) fn insert(&mut self, hash: u64, item: T) -> Slot {
        let key = self.slab.insert(Entry {
            item,
            hash,
            ticket: 0,
            prev: NONE,
            next: NONE,
            heap_at: NONE,
            phase: Phase::Waiting,
            priority: Priority::default(),
            waiting_priority: Priority::default(),
            #[cfg(feature = "metrics")]
            dirty_since: 0,
        });
        let slot = Slot::try_from(key).expect("fewer than 2^32 items");
        let slab = &self.slab;
        self.index
            .insert_unique(hash, slot, |&slot| slab[slot as usize].hash);
        slot
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> T {
        let entry = self.slab.remove(slot as usize);
        if let Ok(found) = self.index.find_entry(entry.hash, |&other| other == slot) {
            found.remove();
        }
        if self.slab.is_empty() && self.slab.capacity() > KEEP {
            *self = Self::new();
        }
        entry.item
    }
}

impl<T: Eq> Entries<T> {
    pub(crate) fn find(&self, hash: u64, item: &T) -> Option<Slot> {
        let same = |&slot: &Slot| self.slab[slot as usize].item == *item;
        self.index.find(hash, same).copied()
    }
}

impl<T> std::ops::Index<Slot> for Entries<T> {
    type Output = Entry<T>;

    fn index(&self, slot: Slot) -> &Entry<T> {
        &self.slab[slot as usize]
    }
}

impl<T> std::ops::IndexMut<Slot> for Entries<T> {
    fn index_mut(&mut self, slot: Slot) -> &mut Entry<T> {
        &mut self.slab[slot as usize]
    }
}
