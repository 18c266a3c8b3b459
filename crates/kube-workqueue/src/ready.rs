//! The queues of items, one for each priority in use.

use crate::entry::{Entries, NONE, Phase, Slot};
use crate::priority::Priority;

/// One in this many `get`s takes the item that has been queued longest, whatever its priority.
const FAIR_SHARE: u32 = 8;

/// A first-in, first-out list, linked through the entries.
#[derive(Debug)]
struct Lane {
    priority: Priority,
    /// `NONE` if the lane is empty.
    head: Slot,
    tail: Slot,
}

/// The queued items.
#[derive(Debug)]
pub(crate) struct Ready {
    /// One lane for each priority ever used, the highest first; at most 256.
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

    /// Appends an entry to the lane of its priority.
    #[inline]
    pub(crate) fn push<T>(&mut self, entries: &mut Entries<T>, slot: Slot, priority: Priority) {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.len += 1;
        let lane = self.lane(priority);
        let tail = std::mem::replace(&mut lane.tail, slot);
        match tail {
            NONE => lane.head = slot,
            tail => entries[tail].next = slot,
        }
        let entry = &mut entries[slot];
        (entry.phase, entry.priority) = (Phase::Queued, priority);
        (entry.ticket, entry.prev, entry.next) = (ticket, tail, NONE);
    }

    /// The next entry and its lane, without removing it.
    #[inline]
    pub(crate) fn front<T>(&self, entries: &Entries<T>) -> Option<(usize, Slot)> {
        let heads = self.lanes.iter().map(|lane| lane.head).enumerate();
        let mut heads = heads.filter(|&(_, head)| head != NONE);
        if self.lanes.len() > 1 && self.taken % FAIR_SHARE == FAIR_SHARE - 1 {
            return heads.min_by_key(|&(_, head)| entries[head].ticket);
        }
        heads.next()
    }

    /// Removes the entry that [`front`](Self::front) returned; `next` becomes the head of its lane.
    #[inline]
    pub(crate) fn take<T>(&mut self, entries: &mut Entries<T>, lane: usize, next: Slot) {
        let lane = &mut self.lanes[lane];
        lane.head = next;
        match next {
            NONE => lane.tail = NONE,
            head => entries[head].prev = NONE,
        }
        self.len -= 1;
        self.taken = self.taken.wrapping_add(1);
    }

    #[inline]
    fn lane(&mut self, priority: Priority) -> &mut Lane {
        let at = self.lanes.iter().position(|lane| lane.priority == priority);
        let at = at.unwrap_or_else(|| self.add_lane(priority));
        &mut self.lanes[at]
    }

    #[cold]
    fn add_lane(&mut self, priority: Priority) -> usize {
        let at = self.lanes.partition_point(|lane| lane.priority > priority);
        let (head, tail) = (NONE, NONE);
        self.lanes.insert(at, Lane { priority, head, tail });
        at
    }

    /// Moves a queued entry to the end of a higher priority's lane.
    pub(crate) fn raise<T>(&mut self, entries: &mut Entries<T>, slot: Slot, priority: Priority) {
        self.unlink(entries, slot);
        self.push(entries, slot, priority);
    }

    fn unlink<T>(&mut self, entries: &mut Entries<T>, slot: Slot) {
        let (prev, next, priority) = (entries[slot].prev, entries[slot].next, entries[slot].priority);
        self.len -= 1;
        match prev {
            NONE => self.lane(priority).head = next,
            prev => entries[prev].next = next,
        }
        match next {
            NONE => self.lane(priority).tail = prev,
            next => entries[next].prev = prev,
        }
    }
}
