//! The queue of one handler. It is bounded, because pending notifications of one key can be merged.

use super::Notification;
use crate::object::{CachedObject, DeleteCause, Deleted, ObjectKey};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Place;
use std::collections::VecDeque;
use std::hash::BuildHasher;
use tokio::time::Instant;

/// What happens to notifications that a handler has not taken yet.
///
/// ```
/// use kube_informer::Delivery;
/// assert_eq!(Delivery::default(), Delivery::Coalesced { capacity: 1024 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// Up to `capacity` notifications wait. Beyond that, those of one object are merged into one: two updates become one
    /// from the first old state to the newest state, an add and an update become an add of the newest state, and an add
    /// and a deletion cancel out. So a slow handler sees fewer intermediate states, but never a wrong history.
    /// The deletion of an object that a [warm start](crate::warm_start) restored is always delivered, because an earlier
    /// run of the handler may have acted on the object.
    ///
    /// The store contains the intermediate states too, so other code may read one of them. The handler is then not
    /// notified when this state ends: if an object came and went, a worker that has read it meanwhile may still count it.
    /// Where that matters, use a quick handler with [`Unbounded`](Self::Unbounded), or a resync.
    Coalesced {
        /// The number of notifications that wait before merging starts. Zero: merge whatever can be merged.
        capacity: usize,
    },
    /// Every notification waits, however many there are. Memory grows with the handler's delay without bound.
    Unbounded,
}

impl Default for Delivery {
    fn default() -> Self {
        Self::Coalesced { capacity: 1024 }
    }
}

/// One change on its way to handlers. A million of them may be pending.
pub(super) struct QueuedNotification<O: CachedObject> {
    pub(super) key: ObjectKey,
    pub(super) change: Change<O>,
}

/// What has happened to an object: a [`Notification`] without the key, and what the queue has to know about it.
pub(super) enum Change<O: CachedObject> {
    Added {
        object: O::Handle,
        initial: bool,
        /// Whether the object was restored from a file. An earlier run of the handler may know it, so a deletion does not
        /// cancel this.
        is_restored: bool,
    },
    Updated {
        old: O::Handle,
        new: O::Handle,
        /// Whether only handlers with a resync are told: the object is repeated, or has the version that it had.
        is_resync: bool,
    },
    Deleted {
        last: O::Handle,
        cause: DeleteCause,
    },
}

impl<O: CachedObject> QueuedNotification<O> {
    /// A resync of an object.
    pub(super) fn resync(key: ObjectKey, object: O::Handle) -> Self {
        let change = Change::Updated {
            old: object.clone(),
            new: object,
            is_resync: true,
        };
        Self { key, change }
    }

    pub(super) fn is_resync(&self) -> bool {
        matches!(self.change, Change::Updated { is_resync: true, .. })
    }

    /// The last state, if this is a deletion.
    pub(super) fn deleted(&self) -> Option<&O::Handle> {
        match &self.change {
            Change::Deleted { last, .. } => Some(last),
            Change::Added { .. } | Change::Updated { .. } => None,
        }
    }

    /// What the handler receives.
    pub(super) fn into_notification(self) -> Notification<O> {
        match self.change {
            Change::Added { object, initial, .. } => Notification::Add { object, initial },
            Change::Updated { old, new, .. } => Notification::Update { old, new },
            Change::Deleted { last, cause } => Notification::Delete(Deleted {
                key: self.key,
                last_known: Some(last),
                cause,
            }),
        }
    }
}

impl<O: CachedObject> Clone for QueuedNotification<O> {
    fn clone(&self) -> Self {
        let change = match &self.change {
            Change::Added {
                object,
                initial,
                is_restored,
            } => Change::Added {
                object: object.clone(),
                initial: *initial,
                is_restored: *is_restored,
            },
            Change::Updated { old, new, is_resync } => Change::Updated {
                old: old.clone(),
                new: new.clone(),
                is_resync: *is_resync,
            },
            Change::Deleted { last, cause } => Change::Deleted {
                last: last.clone(),
                cause: *cause,
            },
        };
        Self {
            key: self.key.clone(),
            change,
        }
    }
}

/// Pending notifications, oldest first.
pub(super) struct CoalescingQueue<O: CachedObject> {
    capacity: usize,
    entries: Pending<O>,
    /// The number of the first entry behind the mark, if the mark has not been taken.
    mark: Option<u64>,
    /// The last pending entry of each key; built when the queue is full and something may be merged, and dropped when half of
    /// it has been taken.
    last: Option<Last>,
}

/// The entries by number. Numbers grow by one, so that the oldest is at the front.
struct Pending<O: CachedObject> {
    /// Each change, and when the first notification that was merged into it was pushed. An entry that cancelled out
    /// leaves a hole.
    slots: VecDeque<Option<(QueuedNotification<O>, Instant)>>,
    holes: usize,
    /// The number of the first slot.
    first: u64,
}

/// Storage for more entries than this is freed when the queue is empty.
const KEPT_STORAGE: usize = 1024;

impl<O: CachedObject> Pending<O> {
    fn new() -> Self {
        Self {
            slots: VecDeque::new(),
            holes: 0,
            first: 0,
        }
    }

    fn len(&self) -> usize {
        self.slots.len() - self.holes
    }

    fn next_number(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    /// The number that has this lower half.
    fn number(&self, lower: u32) -> u64 {
        self.first + u64::from(lower.wrapping_sub(self.first as u32))
    }

    fn slot(&mut self, number: u64) -> &mut Option<(QueuedNotification<O>, Instant)> {
        &mut self.slots[(number - self.first) as usize]
    }

    fn key(&self, number: u64) -> Option<&ObjectKey> {
        let (change, _) = self.slots[(number - self.first) as usize].as_ref()?;
        Some(&change.key)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &(QueuedNotification<O>, Instant))> {
        let numbered = (self.first..).zip(&self.slots);
        numbered.filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    fn push(&mut self, change: QueuedNotification<O>, since: Instant) {
        self.slots.push_back(Some((change, since)));
    }

    /// The number of the oldest entry, or of the next one if there is none. Holes before it are removed.
    fn front(&mut self) -> u64 {
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.first += 1;
            self.holes -= 1;
        }
        self.first
    }

    fn pop(&mut self) -> Option<(u64, QueuedNotification<O>)> {
        let number = self.front();
        let Some(slot) = self.slots.pop_front() else {
            self.slots.shrink_to(KEPT_STORAGE);
            return None;
        };
        self.first += 1;
        let (change, _) = slot?;
        Some((number, change))
    }

    /// Leaves a hole. Returns whether there are so many holes that they should be [closed](Self::close_holes).
    fn remove(&mut self, number: u64) -> bool {
        *self.slot(number) = None;
        self.holes += 1;
        self.holes > self.slots.len() / 2
    }

    /// Renumbers the entries. Returns the new number of the entry that had the number `of`.
    fn close_holes(&mut self, of: u64) -> u64 {
        let before = self.slots.iter().take((of - self.first) as usize).flatten();
        let number = self.first + before.count() as u64;
        self.slots.retain(Option::is_some);
        self.holes = 0;
        number
    }
}

/// Finds the last pending entry of a key by its number; the keys stay where they are.
struct Last {
    numbers: HashTable<Numbered>,
    hasher: RandomState,
}

/// The number of an entry, with the hash of its key: the table grows without a look at the keys. Of both it has the lower
/// half, because a million of them may be pending.
struct Numbered {
    hash: u32,
    number: u32,
}

impl Last {
    fn of<O: CachedObject>(entries: &Pending<O>) -> Self {
        let mut last = Self {
            numbers: HashTable::with_capacity(entries.len()),
            hasher: RandomState::default(),
        };
        for (number, (change, _)) in entries.iter() {
            last.set(&change.key, number, entries);
        }
        last
    }

    fn hash(&self, key: &ObjectKey) -> u32 {
        self.hasher.hash_one(key) as u32
    }

    fn get<O: CachedObject>(&self, key: &ObjectKey, entries: &Pending<O>) -> Option<u64> {
        let hash = self.hash(key);
        let found = (self.numbers).find(in_table(hash), |last| last.is(hash, key, entries));
        found.map(|last| entries.number(last.number))
    }

    /// Records that `number` is the last entry of `key`; the entry need not exist yet.
    fn set<O: CachedObject>(&mut self, key: &ObjectKey, number: u64, entries: &Pending<O>) {
        let (hash, number) = (self.hash(key), number as u32);
        let of_key = |last: &Numbered| last.is(hash, key, entries);
        match (self.numbers).entry(in_table(hash), of_key, |last| in_table(last.hash)) {
            Place::Occupied(mut last) => last.get_mut().number = number,
            Place::Vacant(place) => {
                place.insert(Numbered { hash, number });
            }
        }
    }

    /// Removes an entry that no longer exists.
    fn remove(&mut self, key: &ObjectKey, number: u64) {
        let (hash, number) = (self.hash(key), number as u32);
        if let Ok(last) = (self.numbers).find_entry(in_table(hash), |last| last.number == number) {
            last.remove();
        }
    }
}

impl Numbered {
    /// Whether it is the entry of this key, which has this hash.
    fn is<O: CachedObject>(&self, hash: u32, key: &ObjectKey, entries: &Pending<O>) -> bool {
        self.hash == hash && entries.key(entries.number(self.number)) == Some(key)
    }
}

/// The hash that the table goes by: it looks at the lowest and at the uppermost bits.
fn in_table(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

impl<O: CachedObject> CoalescingQueue<O> {
    pub(super) fn new(delivery: Delivery) -> Self {
        let capacity = match delivery {
            Delivery::Coalesced { capacity } => capacity,
            Delivery::Unbounded => usize::MAX,
        };
        Self {
            capacity,
            entries: Pending::new(),
            mark: None,
            last: None,
        }
    }

    /// The number of pending notifications.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Takes everything that is pending out, the mark too.
    pub(super) fn clear(&mut self) -> impl Iterator<Item = QueuedNotification<O>> + use<O> {
        self.mark = None;
        self.last = None;
        let pending = std::mem::replace(&mut self.entries, Pending::new());
        pending.slots.into_iter().flatten().map(|(change, _)| change)
    }

    /// The last states of the objects whose deletions are pending.
    pub(super) fn deleted(&self) -> impl Iterator<Item = &O::Handle> {
        let pending = self.entries.iter();
        pending.filter_map(|(_, (change, _))| change.deleted())
    }

    /// When the oldest pending notification was pushed.
    pub(super) fn oldest(&self) -> Option<Instant> {
        let (_, (_, since)) = self.entries.iter().next()?;
        Some(*since)
    }

    /// Marks the end of the initial adds, behind everything that is pending. There is one mark.
    pub(super) fn push_mark(&mut self) {
        self.mark = Some(self.entries.next_number());
    }

    /// Takes the mark, if everything before it has been taken. Returns whether it did.
    pub(super) fn take_mark(&mut self) -> bool {
        let front = self.entries.front();
        self.mark.take_if(|mark| *mark <= front).is_some()
    }

    pub(super) fn push(&mut self, change: QueuedNotification<O>, now: Instant) {
        let len = self.len();
        if len < self.capacity {
            if len < self.capacity / 2 {
                self.last = None;
            }
            return self.append(change, now);
        }
        // Nothing that is pending is merged with an add, so the adds of a first list need no index.
        if matches!(change.change, Change::Added { .. }) {
            return self.append(change, now);
        }
        let last = self.last.get_or_insert_with(|| Last::of(&self.entries));
        let Some(number) = last.get(&change.key, &self.entries) else {
            return self.append(change, now);
        };
        let Some((pending, _)) = self.entries.slot(number) else {
            unreachable!("holes have no key")
        };
        match coalesce(pending, change) {
            Coalesced::One => {}
            Coalesced::Two(second) => self.append(second, now),
            Coalesced::Nothing(key) => {
                last.remove(&key, number);
                if self.entries.remove(number) {
                    let mark = self.mark.unwrap_or(self.entries.first);
                    let mark = self.entries.close_holes(mark.max(self.entries.first));
                    self.mark = self.mark.map(|_| mark);
                    self.last = Some(Last::of(&self.entries));
                }
            }
        }
    }

    fn append(&mut self, change: QueuedNotification<O>, since: Instant) {
        if let Some(last) = &mut self.last {
            // Found under its key at its number when the entry is there.
            last.set(&change.key, self.entries.next_number(), &self.entries);
        }
        self.entries.push(change, since);
    }

    /// The oldest notification. Those before the mark come first, whether or not [it is taken](Self::take_mark).
    pub(super) fn pop(&mut self) -> Option<QueuedNotification<O>> {
        let Some((number, change)) = self.entries.pop() else {
            self.last.take_if(|last| last.numbers.capacity() > KEPT_STORAGE);
            return None;
        };
        if let Some(last) = &mut self.last {
            last.remove(&change.key, number);
        }
        Some(change)
    }
}

/// The result of merging two successive notifications of one key.
enum Coalesced<O: CachedObject> {
    Nothing(ObjectKey),
    /// The first one now contains both.
    One,
    /// Both remain.
    Two(QueuedNotification<O>),
}

fn coalesce<O: CachedObject>(
    first: &mut QueuedNotification<O>,
    second: QueuedNotification<O>,
) -> Coalesced<O> {
    let QueuedNotification { key, change } = second;
    match (&mut first.change, change) {
        (
            Change::Added {
                is_restored: false, ..
            },
            Change::Deleted { .. },
        ) => Coalesced::Nothing(key),
        (Change::Added { object: newest, .. }, Change::Updated { new, .. }) => {
            *newest = new;
            Coalesced::One
        }
        (
            Change::Updated {
                new: newest,
                is_resync,
                ..
            },
            Change::Updated {
                new,
                is_resync: is_second_resync,
                ..
            },
        ) => {
            *newest = new;
            *is_resync &= is_second_resync;
            Coalesced::One
        }
        (pending @ Change::Updated { .. }, deleted @ Change::Deleted { .. }) => {
            *pending = deleted;
            Coalesced::One
        }
        // A deletion and a later add belong to two histories, and so do a restored add and a deletion.
        (_, change) => Coalesced::Two(QueuedNotification { key, change }),
    }
}

#[cfg(test)]
mod tests;
