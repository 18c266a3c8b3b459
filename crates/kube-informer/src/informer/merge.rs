//! The queue in front of one handler: bounded, because pending notifications of one key can be merged.

use super::Notification;
use crate::object::{CachedObject, ObjectKey};
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
    /// Up to `capacity` notifications wait; beyond that, those of one object are merged into one that says the same:
    /// two updates are one from the first old state to the newest, an add and an update are an add of the newest, an
    /// add and a delete are nothing. A handler that is slow sees fewer intermediate states, and never a wrong history.
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

/// One change on its way to handlers.
pub(super) struct Change<O: CachedObject> {
    pub(super) key: ObjectKey,
    pub(super) notification: Notification<O>,
    /// Whether nothing changed: only for handlers that want to be told again of what they know.
    pub(super) sync: bool,
}

impl<O: CachedObject> Change<O> {
    /// Nothing changed; somebody wants to be told again.
    pub(super) fn sync(key: ObjectKey, object: O::Handle) -> Self {
        Self {
            key,
            notification: Notification::Update {
                old: object.clone(),
                new: object,
            },
            sync: true,
        }
    }
}

impl<O: CachedObject> Clone for Change<O> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            notification: self.notification.clone(),
            sync: self.sync,
        }
    }
}

/// What is taken from the queue.
pub(super) enum Entry<O: CachedObject> {
    Change(Change<O>),
    /// All initial adds have been taken.
    Synced,
}

struct Pending<O: CachedObject> {
    entry: Entry<O>,
    /// When the first notification that went into it was pushed.
    since: Instant,
}

/// Pending notifications, oldest first.
pub(super) struct MergeQueue<O: CachedObject> {
    capacity: usize,
    entries: Entries<O>,
    /// How many entries are marks; at most one.
    marks: usize,
    /// The last pending entry of each key; made when the queue is full, and kept until half of it is taken.
    last: Option<Last>,
}

/// The entries by number. Numbers grow by one, so that the oldest is at the front.
struct Entries<O: CachedObject> {
    /// An entry that was merged into nothing leaves a hole.
    slots: VecDeque<Option<Pending<O>>>,
    holes: usize,
    /// The number of the first slot.
    first: u64,
}

/// When nothing waits any more, storage for more than this is given back.
const KEPT_STORAGE: usize = 1024;

impl<O: CachedObject> Entries<O> {
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

    fn slot(&mut self, number: u64) -> &mut Option<Pending<O>> {
        &mut self.slots[(number - self.first) as usize]
    }

    /// The key of an entry that is no mark.
    fn key(&self, number: u64) -> Option<&ObjectKey> {
        match &self.slots[(number - self.first) as usize].as_ref()?.entry {
            Entry::Change(change) => Some(&change.key),
            Entry::Synced => None,
        }
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &Pending<O>)> {
        let numbered = (self.first..).zip(&self.slots);
        numbered.filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    fn push(&mut self, entry: Entry<O>, since: Instant) {
        self.slots.push_back(Some(Pending { entry, since }));
    }

    fn pop(&mut self) -> Option<(u64, Pending<O>)> {
        loop {
            let Some(slot) = self.slots.pop_front() else {
                self.slots.shrink_to(KEPT_STORAGE);
                return None;
            };
            self.first += 1;
            match slot {
                Some(pending) => return Some((self.first - 1, pending)),
                None => self.holes -= 1,
            }
        }
    }

    /// Leaves a hole; true if so many are holes now that they should be [closed](Self::close_holes).
    fn remove(&mut self, number: u64) -> bool {
        *self.slot(number) = None;
        self.holes += 1;
        self.holes > self.slots.len() / 2
    }

    /// The entries get new numbers.
    fn close_holes(&mut self) {
        self.slots.retain(Option::is_some);
        self.holes = 0;
    }
}

/// Finds the last pending entry of a key by its number; the keys stay where they are.
struct Last {
    numbers: HashTable<u64>,
    hasher: RandomState,
}

impl Last {
    fn of<O: CachedObject>(entries: &Entries<O>) -> Self {
        let mut last = Self {
            numbers: HashTable::new(),
            hasher: RandomState::default(),
        };
        for (number, pending) in entries.iter() {
            if let Entry::Change(change) = &pending.entry {
                last.set(&change.key, number, entries);
            }
        }
        last
    }

    fn get<O: CachedObject>(&self, key: &ObjectKey, entries: &Entries<O>) -> Option<u64> {
        let hash = self.hasher.hash_one(key);
        let found = self
            .numbers
            .find(hash, |number| entries.key(*number) == Some(key));
        found.copied()
    }

    /// `number` is the last entry of `key`, which the entry need not hold yet.
    fn set<O: CachedObject>(&mut self, key: &ObjectKey, number: u64, entries: &Entries<O>) {
        let hash = self.hasher.hash_one(key);
        let rehash = |number: &u64| entries.key(*number).map_or(0, |key| self.hasher.hash_one(key));
        match (self.numbers).entry(hash, |number| entries.key(*number) == Some(key), rehash) {
            Place::Occupied(mut last) => *last.get_mut() = number,
            Place::Vacant(place) => {
                place.insert(number);
            }
        }
    }

    /// An entry is gone.
    fn remove(&mut self, key: &ObjectKey, number: u64) {
        let hash = self.hasher.hash_one(key);
        if let Ok(last) = self.numbers.find_entry(hash, |last| *last == number) {
            last.remove();
        }
    }
}

impl<O: CachedObject> MergeQueue<O> {
    pub(super) fn new(delivery: Delivery) -> Self {
        let capacity = match delivery {
            Delivery::Coalesced { capacity } => capacity,
            Delivery::Unbounded => usize::MAX,
        };
        Self {
            capacity,
            entries: Entries::new(),
            marks: 0,
            last: None,
        }
    }

    /// The number of pending notifications.
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.marks
    }

    pub(super) fn clear(&mut self) {
        self.entries = Entries::new();
        self.marks = 0;
        self.last = None;
    }

    /// When the oldest pending notification was pushed.
    pub(super) fn oldest(&self) -> Option<Instant> {
        let mut changes = self
            .entries
            .iter()
            .filter(|(_, pending)| matches!(pending.entry, Entry::Change(_)));
        changes.next().map(|(_, pending)| pending.since)
    }

    pub(super) fn push_synced(&mut self, now: Instant) {
        self.entries.push(Entry::Synced, now);
        self.marks += 1;
    }

    pub(super) fn push(&mut self, change: Change<O>, now: Instant) {
        let len = self.len();
        if len < self.capacity {
            if len < self.capacity / 2 {
                self.last = None;
            }
            return self.append(change, now);
        }
        let last = self.last.get_or_insert_with(|| Last::of(&self.entries));
        let Some(number) = last.get(&change.key, &self.entries) else {
            return self.append(change, now);
        };
        let Some(Pending {
            entry: Entry::Change(pending),
            ..
        }) = self.entries.slot(number)
        else {
            unreachable!("only changes have a key")
        };
        match merge(pending, change) {
            Merged::One => {}
            Merged::Two(second) => self.append(second, now),
            Merged::Nothing(key) => {
                last.remove(&key, number);
                if self.entries.remove(number) {
                    self.entries.close_holes();
                    self.last = Some(Last::of(&self.entries));
                }
            }
        }
    }

    fn append(&mut self, change: Change<O>, since: Instant) {
        if let Some(last) = &mut self.last {
            // Found under its key at its number when the entry is there.
            last.set(&change.key, self.entries.next_number(), &self.entries);
        }
        self.entries.push(Entry::Change(change), since);
    }

    pub(super) fn pop(&mut self) -> Option<Entry<O>> {
        let (number, Pending { entry, .. }) = self.entries.pop()?;
        match (&mut self.last, &entry) {
            (_, Entry::Synced) => self.marks -= 1,
            (Some(last), Entry::Change(change)) => last.remove(&change.key, number),
            (None, Entry::Change(_)) => {}
        }
        Some(entry)
    }
}

/// What two successive notifications of one key come to.
enum Merged<O: CachedObject> {
    Nothing(ObjectKey),
    /// The first one says it all now.
    One,
    /// Both remain.
    Two(Change<O>),
}

fn merge<O: CachedObject>(first: &mut Change<O>, second: Change<O>) -> Merged<O> {
    use Notification::{Add, Delete, Update};
    let Change {
        key,
        notification,
        sync,
    } = second;
    let merged = match (&mut first.notification, notification) {
        (Add { .. }, Delete(_)) => return Merged::Nothing(key),
        (Add { object: newest, .. } | Update { new: newest, .. }, Update { new, .. }) => {
            *newest = new;
            None
        }
        (Update { .. }, Delete(deleted)) => Some(Delete(deleted)),
        // A deletion and what comes after it are two histories.
        (_, notification) => {
            return Merged::Two(Change {
                key,
                notification,
                sync,
            });
        }
    };
    if let Some(notification) = merged {
        first.notification = notification;
    }
    first.sync &= sync;
    Merged::One
}

#[cfg(test)]
mod tests;
