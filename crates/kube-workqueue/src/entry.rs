//! The storage of items: each item is stored once in a slab, found by its hash, and identified by its slot.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Place;
use slab::Slab;

use crate::priority::Priority;

/// Identifies an entry as long as it exists.
pub(crate) type Slot = u32;

/// The half of a hash that is stored. The table stores it next to the slot, so that growing the table reads no entry.
type Hash = u32;

/// Spreads a stored hash over the bits that the table uses, without collisions.
fn spread(hash: Hash) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// No slot (in links), or no index (in the heap).
pub(crate) const NONE: u32 = u32::MAX;

/// Storage for more entries than this is freed when the last entry is removed.
const KEEP: usize = 1024;

/// The dirty and processing sets of the classic queue, as the state of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// In neither set: it is delayed.
    Idle,
    /// Dirty: queued for a worker.
    Queued,
    /// A worker is processing it.
    Processing,
    /// A worker is processing it, and it was added again meanwhile.
    Redo,
}

#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub(crate) item: T,
    hash: Hash,
    /// The order in which it was queued: larger is later.
    pub(crate) ticket: u64,
    pub(crate) prev: Slot,
    pub(crate) next: Slot,
    /// Its index in the heap of delayed items; an item can be delayed and queued at the same time.
    pub(crate) heap_at: u32,
    pub(crate) phase: Phase,
    /// The priority of the queued run, or of the current one.
    pub(crate) priority: Priority,
    /// The priority of the delayed run.
    pub(crate) waiting_priority: Priority,
}

#[derive(Debug)]
pub(crate) struct Entries<T> {
    slab: Slab<Entry<T>>,
    index: HashTable<(Hash, Slot)>,
    /// When each slot's run was requested; `None` for a queue without metrics.
    dirty_since: Option<Vec<u64>>,
}

impl<T> Entries<T> {
    pub(crate) fn new(timed: bool) -> Self {
        Self {
            slab: Slab::new(),
            index: HashTable::new(),
            dirty_since: timed.then(Vec::new),
        }
    }

    #[inline]
    pub(crate) fn set_dirty_since(&mut self, slot: Slot, now: impl FnOnce() -> u64) {
        if let Some(times) = &mut self.dirty_since {
            let at = slot as usize;
            times.resize(times.len().max(at + 1), 0);
            times[at] = now();
        }
    }

    #[inline]
    pub(crate) fn dirty_since(&self, slot: Slot) -> Option<u64> {
        self.dirty_since.as_ref().map(|times| times[slot as usize])
    }

    /// Removes an entry that is neither queued, nor processed, nor delayed, and returns its item.
    pub(crate) fn remove(&mut self, slot: Slot) -> T {
        let entry = self.slab.remove(slot as usize);
        if let Ok(found) = self
            .index
            .find_entry(spread(entry.hash), |&(_, other)| other == slot)
        {
            found.remove();
        }
        if self.slab.is_empty() && self.slab.capacity() > KEEP {
            *self = Self::new(self.dirty_since.is_some());
        }
        entry.item
    }
}

impl<T: Eq> Entries<T> {
    /// Finds or creates the entry of an item. Also returns the item if there was an entry already.
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
            priority: Priority::default(),
            waiting_priority: Priority::default(),
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
