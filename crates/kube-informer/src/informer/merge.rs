//! The queue in front of one handler: bounded, because pending notifications of one key can be merged.

use super::Notification;
use crate::object::{Object, ObjectKey};
use std::collections::{BTreeMap, HashMap};
use tokio::time::Instant;

/// What happens to notifications that a handler has not taken yet.
///
/// ```
/// use kube_informer::Delivery;
/// assert_eq!(Delivery::default(), Delivery::Merged { capacity: 1024 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// Up to `capacity` notifications wait; beyond that, those of one object are merged into one that says the same:
    /// two updates are one from the first old state to the newest, an add and an update are an add of the newest, an
    /// add and a delete are nothing. A handler that is slow sees fewer intermediate states, and never a wrong history.
    Merged {
        /// The number of notifications that wait before merging starts. Zero: merge whatever can be merged.
        capacity: usize,
    },
    /// Every notification waits, however many there are. Memory grows with the handler's delay without bound.
    Every,
}

impl Default for Delivery {
    fn default() -> Self {
        Self::Merged { capacity: 1024 }
    }
}

/// One change on its way to handlers.
pub(super) struct Change<O: Object> {
    pub(super) key: ObjectKey,
    pub(super) notification: Notification<O>,
    /// Whether nothing changed: only for handlers that want to be told again of what they know.
    pub(super) sync: bool,
}

impl<O: Object> Change<O> {
    /// Nothing changed; somebody wants to be told again.
    pub(super) fn sync(key: ObjectKey, object: O::Ref) -> Self {
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

impl<O: Object> Clone for Change<O> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            notification: self.notification.clone(),
            sync: self.sync,
        }
    }
}

/// What is taken from the queue.
pub(super) enum Entry<O: Object> {
    Change(Change<O>),
    /// All initial adds have been taken.
    Synced,
}

struct Pending<O: Object> {
    entry: Entry<O>,
    /// When the first notification that went into it was pushed.
    since: Instant,
}

/// Pending notifications, oldest first.
pub(super) struct MergeQueue<O: Object> {
    capacity: usize,
    /// By number; numbers grow and are never used again.
    entries: BTreeMap<u64, Pending<O>>,
    /// How many entries are marks; at most one.
    marks: usize,
    next: u64,
    /// The last pending entry of each key; kept only while the queue is over its capacity.
    last: Option<HashMap<ObjectKey, u64>>,
}

impl<O: Object> MergeQueue<O> {
    pub(super) fn new(delivery: Delivery) -> Self {
        let capacity = match delivery {
            Delivery::Merged { capacity } => capacity,
            Delivery::Every => usize::MAX,
        };
        Self {
            capacity,
            entries: BTreeMap::new(),
            marks: 0,
            next: 0,
            last: None,
        }
    }

    /// The number of pending notifications.
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.marks
    }

    fn changes(&self) -> impl Iterator<Item = &Pending<O>> {
        self.entries
            .values()
            .filter(|pending| matches!(pending.entry, Entry::Change(_)))
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.marks = 0;
        self.last = None;
    }

    /// When the oldest pending notification was pushed.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.changes().next().map(|pending| pending.since)
    }

    pub(super) fn push_synced(&mut self, now: Instant) {
        self.append(Entry::Synced, now);
        self.marks += 1;
    }

    pub(super) fn push(&mut self, change: Change<O>, now: Instant) {
        if self.len() < self.capacity {
            self.last = None;
            self.append(Entry::Change(change), now);
            return;
        }
        let entries = &self.entries;
        let last = self.last.get_or_insert_with(|| last_of_each_key(entries));
        let pending = last
            .get(&change.key)
            .copied()
            .and_then(|number| Some((number, self.entries.remove(&number)?)));
        let Some((
            number,
            Pending {
                entry: Entry::Change(pending),
                since,
            },
        )) = pending
        else {
            last.insert(change.key.clone(), self.next);
            self.append(Entry::Change(change), now);
            return;
        };
        let (first, second) = match merge(pending, change) {
            Merged::Nothing(key) => {
                last.remove(&key);
                return;
            }
            Merged::One(merged) => (merged, None),
            Merged::Two(first, second) => (first, Some(second)),
        };
        self.entries.insert(
            number,
            Pending {
                entry: Entry::Change(first),
                since,
            },
        );
        if let Some(second) = second {
            last.insert(second.key.clone(), self.next);
            self.append(Entry::Change(second), now);
        }
    }

    fn append(&mut self, entry: Entry<O>, since: Instant) {
        self.entries.insert(self.next, Pending { entry, since });
        self.next += 1;
    }

    pub(super) fn pop(&mut self) -> Option<Entry<O>> {
        let (number, Pending { entry, .. }) = self.entries.pop_first()?;
        match (&mut self.last, &entry) {
            (_, Entry::Synced) => self.marks -= 1,
            (Some(last), Entry::Change(change)) if last.get(&change.key) == Some(&number) => {
                last.remove(&change.key);
            }
            _ => {}
        }
        Some(entry)
    }
}

fn last_of_each_key<O: Object>(entries: &BTreeMap<u64, Pending<O>>) -> HashMap<ObjectKey, u64> {
    let changes = entries
        .iter()
        .filter_map(|(number, pending)| match &pending.entry {
            Entry::Change(change) => Some((change.key.clone(), *number)),
            Entry::Synced => None,
        });
    changes.collect()
}

/// What two successive notifications of one key come to.
enum Merged<O: Object> {
    Nothing(ObjectKey),
    One(Change<O>),
    Two(Change<O>, Change<O>),
}

fn merge<O: Object>(first: Change<O>, second: Change<O>) -> Merged<O> {
    use Notification::{Add, Delete, Update};
    let (key, sync) = (second.key, first.sync && second.sync);
    let one = |key, notification| {
        Merged::One(Change {
            key,
            notification,
            sync,
        })
    };
    match (first.notification, second.notification) {
        (Add { initial, .. }, Update { new, .. }) => one(key, Add { object: new, initial }),
        (Add { .. }, Delete(_)) => Merged::Nothing(key),
        (Update { old, .. }, Update { new, .. }) => one(key, Update { old, new }),
        (Update { .. }, Delete(deleted)) => one(key, Delete(deleted)),
        // A deletion and what comes after it are two histories.
        (a, b) => Merged::Two(
            Change {
                key: first.key,
                notification: a,
                sync: first.sync,
            },
            Change {
                key,
                notification: b,
                sync: second.sync,
            },
        ),
    }
}

#[cfg(test)]
mod tests;
