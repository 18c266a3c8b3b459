//! The queue in front of one handler: bounded, because pending notifications of one key can be merged.

use super::Notification;
use crate::object::{Object, ObjectKey};
use std::collections::{BTreeMap, HashMap};

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
    pub(super) notification: Notification<O>,
    /// Whether nothing changed: only for handlers that want to be told again of what they know.
    pub(super) sync: bool,
}

impl<O: Object> Clone for Change<O> {
    fn clone(&self) -> Self {
        Self {
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

/// Pending notifications, oldest first.
pub(super) struct MergeQueue<O: Object> {
    capacity: usize,
    /// By number; numbers grow and are never used again.
    entries: BTreeMap<u64, Entry<O>>,
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
            next: 0,
            last: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.last = None;
    }

    pub(super) fn push_synced(&mut self) {
        self.append(Entry::Synced);
    }

    pub(super) fn push(&mut self, change: Change<O>) {
        if self.entries.len() < self.capacity {
            self.last = None;
            self.append(Entry::Change(change));
            return;
        }
        let entries = &self.entries;
        let last = self.last.get_or_insert_with(|| {
            let changes = entries.iter().filter_map(|(number, entry)| match entry {
                Entry::Change(change) => Some((change.notification.key(), *number)),
                Entry::Synced => None,
            });
            changes.collect()
        });
        let key = change.notification.key();
        let pending = last
            .get(&key)
            .and_then(|number| self.entries.remove(number).map(|entry| (*number, entry)));
        match pending {
            Some((number, Entry::Change(pending))) => match merge(pending, change) {
                Merged::Nothing => {
                    last.remove(&key);
                }
                Merged::One(merged) => {
                    self.entries.insert(number, Entry::Change(merged));
                }
                Merged::Two(first, second) => {
                    self.entries.insert(number, Entry::Change(first));
                    last.insert(key, self.next);
                    self.append(Entry::Change(second));
                }
            },
            _ => {
                last.insert(key, self.next);
                self.append(Entry::Change(change));
            }
        }
    }

    fn append(&mut self, entry: Entry<O>) {
        self.entries.insert(self.next, entry);
        self.next += 1;
    }

    pub(super) fn pop(&mut self) -> Option<Entry<O>> {
        let (number, entry) = self.entries.pop_first()?;
        if let (Some(last), Entry::Change(change)) = (&mut self.last, &entry) {
            let key = change.notification.key();
            if last.get(&key) == Some(&number) {
                last.remove(&key);
            }
        }
        Some(entry)
    }
}

/// What two successive notifications of one key come to.
enum Merged<O: Object> {
    Nothing,
    One(Change<O>),
    Two(Change<O>, Change<O>),
}

fn merge<O: Object>(first: Change<O>, second: Change<O>) -> Merged<O> {
    use Notification::{Add, Delete, Update};
    let sync = first.sync && second.sync;
    let one = |notification| Merged::One(Change { notification, sync });
    match (first.notification, second.notification) {
        (Add { initial, .. }, Update { new, .. }) => one(Add { object: new, initial }),
        (Add { .. }, Delete(_)) => Merged::Nothing,
        // A state that is merely told of again says nothing that the update does not.
        (Update { old, .. }, Update { new, .. }) if !first.sync => one(Update { old, new }),
        (Update { .. }, Update { old, new }) => one(Update { old, new }),
        (Update { .. }, Delete(deleted)) => one(Delete(deleted)),
        // A deletion and what comes after it are two histories.
        (a, b) => Merged::Two(
            Change {
                notification: a,
                sync: first.sync,
            },
            Change {
                notification: b,
                sync: second.sync,
            },
        ),
    }
}

#[cfg(test)]
mod tests;
