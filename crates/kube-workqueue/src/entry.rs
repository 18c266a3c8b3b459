//! Where items live: each item once, in a slab, found by its hash and named by its slot everywhere else.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Place;
use slab::Slab;
use std::collections::VecDeque;

use crate::priority::Priority;

/// Names an entry for as long as the entry exists.
pub(crate) type Slot = u32;

/// The half of a hash that is kept. The table keeps it beside the slot, so that growing it touches no entry.
type Hash = u32;

/// Spreads a kept hash over the bits that the table looks at; no two become one.
fn spread(hash: Hash) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// "No slot" in links, "no place" in the heap.
pub(crate) const NONE: u32 = u32::MAX;

/// Storage for more entries than this is given back when the last entry goes.
const KEEP: usize = 1024;

/// So many entries that nobody has a use for stay while there is something to do: an item that is added again soon finds
/// its entry.
const SPARE: usize = 1024;

/// So many entries are removed together. Each removal waits for memory that has not been touched for long; one after
/// the other in a short loop, they wait at the same time.
const SWEEP: usize = 64;

/// The dirty and processing sets of the classic queue, as the state of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// In neither set: its time has not come, or it is done and about to be removed.
    Idle,
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
    hash: Hash,
    /// When it got in line: larger is later.
    pub(crate) ticket: u64,
    pub(crate) prev: Slot,
    pub(crate) next: Slot,
    /// Its place in the heap of waiting items; an item can wait and be queued at once.
    pub(crate) heap_at: u32,
    pub(crate) phase: Phase,
    /// Whether it is in the line of those to be removed.
    retired: bool,
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
    index: HashTable<(Hash, Slot)>,
    /// Entries that were done, and may have got a new use since; each once.
    retired: VecDeque<Slot>,
}

impl<T> Entries<T> {
    pub(crate) fn new() -> Self {
        Self {
            slab: Slab::new(),
            index: HashTable::new(),
            retired: VecDeque::new(),
        }
    }

    pub(crate) fn has_retired(&self) -> bool {
        !self.retired.is_empty()
    }

    /// Leaves an entry that nobody has a use for to a later sweep. Returns whether one is due.
    #[inline]
    pub(crate) fn retire(&mut self, slot: Slot) -> bool {
        if !std::mem::replace(&mut self[slot].retired, true) {
            self.retired.push_back(slot);
        }
        self.retired.len() >= SPARE + SWEEP
    }

    /// Removes some entries of those that were done first, unless they have got a new use since; hands over their items.
    pub(crate) fn sweep(&mut self, items: &mut Vec<T>) {
        let count = SWEEP.min(self.retired.len());
        for _ in 0..count {
            let Some(slot) = self.retired.pop_front() else {
                break;
            };
            let entry = &mut self[slot];
            entry.retired = false;
            if entry.phase == Phase::Idle && entry.heap_at == NONE {
                items.push(self.remove(slot));
            }
        }
        if self.slab.is_empty() && self.slab.capacity() > KEEP {
            *self = Self::new();
        }
    }

    fn remove(&mut self, slot: Slot) -> T {
        let entry = self.slab.remove(slot as usize);
        if let Ok(found) = self
            .index
            .find_entry(spread(entry.hash), |&(_, other)| other == slot)
        {
            found.remove();
        }
        entry.item
    }
}

impl<T: Eq> Entries<T> {
    /// The entry of an item; and the item itself, if there was an entry already.
    pub(crate) fn enter(&mut self, hash: u64, item: T) -> (Slot, Option<T>) {
        let Self { slab, index, .. } = self;
        let hash = hash as Hash;
        let same = |&(other, slot): &(Hash, Slot)| other == hash && slab[slot as usize].item == item;
        match index.entry(spread(hash), same, |&(hash, _)| spread(hash)) {
            Place::Occupied(place) => (place.get().1, Some(item)),
            Place::Vacant(place) => {
                let slot = Slot::try_from(slab.vacant_key()).expect("fewer than 2^32 items");
                place.insert((hash, slot));
                slab.insert(Entry::new(item, hash));
                (slot, None)
            }
        }
    }
}

impl<T> Entry<T> {
    fn new(item: T, hash: Hash) -> Self {
        Self {
            item,
            hash,
            ticket: 0,
            prev: NONE,
            next: NONE,
            heap_at: NONE,
            phase: Phase::Idle,
            retired: false,
            priority: Priority::default(),
            waiting_priority: Priority::default(),
            #[cfg(feature = "metrics")]
            dirty_since: 0,
        }
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
