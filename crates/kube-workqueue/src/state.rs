//! The queue's state behind one lock: the sets, the queues, and their invariants.
//!
//! Nothing here waits, sleeps or calls a waker. Every operation ends with [`State::settle`], which restores the
//! invariant of wake-ups: as many getters are awake as there are queued items (or all getters), and if there are
//! delayed items, a sleeping getter is the timekeeper, or an awake one will become it.

use std::task::Waker;
use std::time::Duration;

use crate::clock::{Clock, Instant, nanos};
use crate::delay::Delayed;
use crate::entry::{Entries, NONE, Phase, Slot};
use crate::priority::Priority;
use crate::ready::Ready;
use crate::wait::{Effects, Line, WaiterId};

/// The maximum number of due items that are queued in one operation, so that a million due items do not hold the lock
/// for long.
const BATCH: usize = 256;

#[derive(Debug)]
pub(crate) struct State<T> {
    clock: Clock,
    /// Whether an item that is taken is no longer delayed.
    drop_delay_when_taken: bool,
    entries: Entries<T>,
    ready: Ready,
    delayed: Delayed,
    /// Items in `Phase::Processing` or `Phase::Redo`.
    processing: usize,
    /// Items in `Phase::Redo`.
    redo: usize,
    shutting_down: bool,
    /// The number of calls of `shut_down`. Each call ends the drains that began before it.
    shut_downs: u64,
    next_waiter: WaiterId,
    getters: Line,
    /// The getter whose sleep ends when the next waiting item is due.
    timekeeper: Option<(WaiterId, Waker)>,
    /// The number of getters that were woken and have not been polled yet.
    awake: usize,
    drainers: Line,
}

/// The result of a `get`.
#[derive(Debug)]
pub(crate) enum Found<T> {
    Item(Taken<T>),
    /// The queue is shut down and empty.
    ShutDown,
    /// No item yet: sleep until woken.
    Nothing,
    /// No item yet: sleep until woken, or until this time.
    NothingUntil(Instant),
}

/// An item that was taken for a worker.
#[derive(Debug)]
pub(crate) struct Taken<T> {
    pub(crate) item: T,
    pub(crate) slot: Slot,
    pub(crate) priority: Priority,
    /// Zero for a queue without metrics.
    pub(crate) queued_for: Duration,
}

impl<T> State<T> {
    /// `timed` says whether to measure for how long items are queued.
    pub(crate) fn new(timed: bool, drop_delay_when_taken: bool) -> Self {
        Self {
            clock: Clock::new(),
            drop_delay_when_taken,
            entries: Entries::new(timed),
            ready: Ready::new(),
            delayed: Delayed::new(),
            processing: 0,
            redo: 0,
            shutting_down: false,
            shut_downs: 0,
            next_waiter: 0,
            getters: Line::default(),
            timekeeper: None,
            awake: 0,
            drainers: Line::default(),
        }
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    pub(crate) fn queued(&self) -> usize {
        self.ready.len()
    }

    /// Ends a worker's run of an item. Returns the item if the queue no longer stores it.
    #[inline]
    pub(crate) fn done(&mut self, slot: Slot, effects: &mut Effects) -> Option<T> {
        self.release_due(effects);
        self.processing -= 1;
        let mut unused = None;
        let entry = &mut self.entries[slot];
        if entry.phase == Phase::Redo {
            self.redo -= 1;
            let priority = entry.priority;
            self.ready.push(&mut self.entries, slot, priority);
        } else {
            entry.phase = Phase::Idle;
            if entry.heap_at == NONE {
                unused = Some(self.entries.remove(slot));
            }
        }
        self.settle(effects);
        unused
    }

    /// Queues due items, up to a batch. Returns whether there may be more.
    #[inline]
    pub(crate) fn release_due(&mut self, effects: &mut Effects) -> bool {
        self.delayed
            .next_due()
            .is_some_and(|due| self.release_until(due, effects))
    }

    #[cold]
    fn release_until(&mut self, next_due: u64, effects: &mut Effects) -> bool {
        let now = self.clock.now();
        if now < next_due {
            return false;
        }
        for _ in 0..BATCH {
            let Some(slot) = self.delayed.pop_due(&mut self.entries, now) else {
                return false;
            };
            let priority = self.entries[slot].waiting_priority;
            self.mark_dirty(slot, priority, effects);
        }
        true
    }

    /// Stops accepting items and returns the delayed ones, which it no longer stores.
    pub(crate) fn shut_down(&mut self, release_drains: bool, effects: &mut Effects) -> Vec<T> {
        self.shutting_down = true;
        while self.release_due(effects) {}
        let mut unused = Vec::new();
        for slot in self.delayed.clear(&mut self.entries) {
            if self.entries[slot].phase == Phase::Idle {
                unused.push(self.entries.remove(slot));
            }
        }
        if release_drains {
            self.shut_downs += 1;
            while self.drainers.wake_first(effects) {}
        }
        self.settle(effects);
        unused
    }

    pub(crate) fn shut_downs(&self) -> u64 {
        self.shut_downs
    }

    /// Whether nothing is queued, processed or about to be queued again.
    pub(crate) fn is_drained(&self) -> bool {
        self.shutting_down && self.processing == 0 && self.ready.len() == 0
    }

    pub(crate) fn join_drain(&mut self, waker: Waker) -> WaiterId {
        let id = self.new_waiter();
        self.drainers.join(id, waker);
        id
    }

    pub(crate) fn leave_drain(&mut self, id: WaiterId, effects: &mut Effects) {
        self.drainers.leave(id, effects);
    }

    /// Ends a getter's wait, when it is polled or dropped.
    pub(crate) fn leave(&mut self, waiter: &mut Option<WaiterId>, effects: &mut Effects) {
        if let Some(id) = waiter.take() {
            self.end_wait(id, effects);
        }
    }

    #[cold]
    fn end_wait(&mut self, id: WaiterId, effects: &mut Effects) {
        if let Some((_, waker)) = self.timekeeper.take_if(|(other, _)| *other == id) {
            effects.discard(waker);
        } else if !self.getters.leave(id, effects) {
            self.awake -= 1;
        }
    }

    /// Wakes the getters and drains that can proceed; every operation ends with it.
    #[inline]
    pub(crate) fn settle(&mut self, effects: &mut Effects) {
        if !self.getters.is_empty() || self.timekeeper.is_some() || !self.drainers.is_empty() {
            self.wake_concerned(effects);
        }
    }

    #[cold]
    fn wake_concerned(&mut self, effects: &mut Effects) {
        while self.awake < self.ready.len() && self.wake_getter(effects) {}
        let timeless = self.timekeeper.is_none() && self.delayed.next_due().is_some();
        if timeless && self.awake == 0 {
            self.wake_getter(effects);
        }
        if self.is_exhausted() {
            while self.wake_getter(effects) {}
        }
        if self.is_drained() {
            while self.drainers.wake_first(effects) {}
        }
    }

    /// Whether nothing is queued and nothing will be.
    fn is_exhausted(&self) -> bool {
        self.shutting_down && self.redo == 0 && self.ready.len() == 0
    }

    /// Wakes a getter that sleeps, the timekeeper last. False if there is none.
    fn wake_getter(&mut self, effects: &mut Effects) -> bool {
        let found = self.getters.wake_first(effects) || self.wake_timekeeper(effects);
        self.awake += usize::from(found);
        found
    }

    fn wake_timekeeper(&mut self, effects: &mut Effects) -> bool {
        let timekeeper = self.timekeeper.take();
        let found = timekeeper.is_some();
        if let Some((_, waker)) = timekeeper {
            effects.wake(waker);
        }
        found
    }

    fn new_waiter(&mut self) -> WaiterId {
        self.next_waiter += 1;
        self.next_waiter
    }

    #[inline]
    fn mark_dirty(&mut self, slot: Slot, priority: Priority, effects: &mut Effects) {
        let entry = &mut self.entries[slot];
        match entry.phase {
            Phase::Queued | Phase::Redo if priority <= entry.priority => return,
            Phase::Queued => {
                effects.deepen(entry.priority, -1);
                effects.deepen(priority, 1);
                return self.ready.raise(&mut self.entries, slot, priority);
            }
            Phase::Redo => {
                effects.deepen(entry.priority, -1);
                effects.deepen(priority, 1);
                return entry.priority = priority;
            }
            Phase::Idle | Phase::Processing => {}
        }
        effects.added += 1;
        effects.deepen(priority, 1);
        if entry.phase == Phase::Idle {
            self.ready.push(&mut self.entries, slot, priority);
        } else {
            (entry.phase, entry.priority) = (Phase::Redo, priority);
            self.redo += 1;
        }
        self.entries.set_dirty_since(slot, || self.clock.now());
    }
}

impl<T: Eq> State<T> {
    /// Returns the item if the queue does not store it.
    #[inline]
    pub(crate) fn add(&mut self, item: T, hash: u64, priority: Priority, effects: &mut Effects) -> Option<T> {
        if self.shutting_down {
            return Some(item);
        }
        self.release_due(effects);
        let (slot, unused) = self.entries.enter(hash, item);
        self.mark_dirty(slot, priority, effects);
        self.settle(effects);
        unused
    }

    /// Returns the item if the queue does not store it.
    pub(crate) fn add_after(
        &mut self,
        item: T,
        hash: u64,
        priority: Priority,
        delay: Duration,
        effects: &mut Effects,
    ) -> Option<T> {
        if self.shutting_down {
            return Some(item);
        }
        self.release_due(effects);
        let due = self.clock.now().saturating_add(nanos(delay));
        let next_due = self.delayed.next_due();
        let (slot, unused) = self.entries.enter(hash, item);
        let entry = &mut self.entries[slot];
        entry.waiting_priority = match entry.heap_at {
            NONE => priority,
            _ => entry.waiting_priority.max(priority),
        };
        self.delayed.insert(&mut self.entries, slot, due);
        if next_due.is_none_or(|next| due < next) && self.wake_timekeeper(effects) {
            self.awake += 1;
        }
        self.settle(effects);
        unused
    }
}

impl<T: Clone> State<T> {
    /// Takes the next item for a getter, or registers the getter as waiting.
    pub(crate) fn get(
        &mut self,
        waiter: &mut Option<WaiterId>,
        waker: &Waker,
        effects: &mut Effects,
    ) -> Found<T> {
        match self.take(effects) {
            Some(taken) => {
                self.leave(waiter, effects);
                self.settle(effects);
                Found::Item(taken)
            }
            None => self.wait(waiter, waker, effects),
        }
    }

    /// Takes the next item for a caller that is not registered as waiting.
    #[inline]
    pub(crate) fn take(&mut self, effects: &mut Effects) -> Option<Taken<T>> {
        self.release_due(effects);
        let (lane, slot) = self.ready.front(&self.entries)?;
        let queued_for = match self.entries.dirty_since(slot) {
            Some(since) => Duration::from_nanos(self.clock.now().saturating_sub(since)),
            None => Duration::ZERO,
        };
        let entry = &mut self.entries[slot];
        // Before any change, because it may panic.
        let item = entry.item.clone();
        let taken = Taken {
            item,
            slot,
            priority: entry.priority,
            queued_for,
        };
        entry.phase = Phase::Processing;
        let next = entry.next;
        self.ready.take(&mut self.entries, lane, next);
        if self.drop_delay_when_taken {
            self.delayed.remove(&mut self.entries, slot);
        }
        self.processing += 1;
        self.settle(effects);
        Some(taken)
    }

    #[cold]
    fn wait(&mut self, waiter: &mut Option<WaiterId>, waker: &Waker, effects: &mut Effects) -> Found<T> {
        self.leave(waiter, effects);
        if self.is_exhausted() {
            self.settle(effects);
            return Found::ShutDown;
        }
        let id = self.new_waiter();
        *waiter = Some(id);
        match self.delayed.next_due() {
            Some(due) if self.timekeeper.is_none() => {
                self.timekeeper = Some((id, waker.clone()));
                Found::NothingUntil(self.clock.instant(due))
            }
            _ => {
                self.getters.join(id, waker.clone());
                Found::Nothing
            }
        }
    }
}
