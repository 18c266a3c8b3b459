//! Priorities, and the lines of queued items, one for each priority in use.

use crate::entry::{Entries, NONE, Slot};

/// How urgent an item is; higher goes first. See [Ordering](crate#ordering) for how the low ones get their turn.
///
/// The usual scheme is that of controller-runtime: what a controller learns at its start or from a resync is
/// [`LOW`](Priority::LOW), changes are [`NORMAL`](Priority::NORMAL).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[doc(alias = "LowPriority")]
pub struct Priority(pub i8);

impl Priority {
    /// For work that can wait: initial objects, resyncs (-100).
    pub const LOW: Self = Self(-100);
    /// The default (0).
    pub const NORMAL: Self = Self(0);
    /// For work that cannot wait (100).
    pub const HIGH: Self = Self(100);
}

/// One in this many is taken from the longest queued item, whatever its priority.
pub(crate) const FAIR_SHARE: u32 = 8;

/// A first-in, first-out line, linked through the entries.
#[derive(Debug)]
struct Lane {
    priority: Priority,
    head: Slot,
    tail: Slot,
}

/// The queued items.
#[derive(Debug)]
pub(crate) struct Ready {
    /// Lowest priority first; none is empty, so there are at most 256.
    lanes: Vec<Lane>,
    len: usize,
    next_ticket: u64,
    taken: u32,
}

impl Ready {
    pub(crate) fn new() -> Self {
        Self {
            lanes: Vec::new(),
            len: 0,
            next_ticket: 0,
            taken: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Puts an entry at the end of its priority's line.
    pub(crate) fn push<T>(&mut self, entries: &mut Entries<T>, slot: Slot) {
        let entry = &mut entries[slot];
        entry.ticket = self.next_ticket;
        entry.next = NONE;
        let priority = entry.priority;
        self.next_ticket += 1;
        self.len += 1;
        match self.lanes.binary_search_by_key(&priority, |lane| lane.priority) {
            Ok(at) => {
                let tail = std::mem::replace(&mut self.lanes[at].tail, slot);
                entries[slot].prev = tail;
                entries[tail].next = slot;
            }
            Err(at) => {
                entries[slot].prev = NONE;
                self.lanes.insert(
                    at,
                    Lane {
                        priority,
                        head: slot,
                        tail: slot,
                    },
                );
            }
        }
    }

    /// The entry whose turn it is; it stays in line.
    pub(crate) fn front<T>(&self, entries: &Entries<T>) -> Option<Slot> {
        let highest = self.lanes.last()?;
        if self.lanes.len() > 1 && self.taken % FAIR_SHARE == FAIR_SHARE - 1 {
            return self
                .lanes
                .iter()
                .map(|lane| lane.head)
                .min_by_key(|&head| entries[head].ticket);
        }
        Some(highest.head)
    }

    /// Takes the entry that [`front`](Self::front) named out of the line.
    pub(crate) fn take<T>(&mut self, entries: &mut Entries<T>, slot: Slot) {
        self.taken = self.taken.wrapping_add(1);
        self.unlink(entries, slot);
    }

    /// Moves a queued entry to the end of a more urgent line; does nothing if it is as urgent already.
    pub(crate) fn raise<T>(&mut self, entries: &mut Entries<T>, slot: Slot, priority: Priority) {
        if priority > entries[slot].priority {
            self.unlink(entries, slot);
            entries[slot].priority = priority;
            self.push(entries, slot);
        }
    }

    fn unlink<T>(&mut self, entries: &mut Entries<T>, slot: Slot) {
        let (prev, next, priority) = (entries[slot].prev, entries[slot].next, entries[slot].priority);
        self.len -= 1;
        if prev != NONE {
            entries[prev].next = next;
        }
        if next != NONE {
            entries[next].prev = prev;
        }
        if prev != NONE && next != NONE {
            return;
        }
        if let Ok(at) = self.lanes.binary_search_by_key(&priority, |lane| lane.priority) {
            match (prev, next) {
                (NONE, NONE) => drop(self.lanes.remove(at)),
                (NONE, next) => self.lanes[at].head = next,
                (prev, _) => self.lanes[at].tail = prev,
            }
        }
    }
}
