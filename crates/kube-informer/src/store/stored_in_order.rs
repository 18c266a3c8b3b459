//! Looks up the stored states of listed objects.

use super::Indexer;
use crate::object::{Fingerprint, KnownObjects, ObjectKey};
use std::sync::atomic::{AtomicU32, Ordering};

/// The states that a store holds, for a list that has most objects in the order in which they are stored.
///
/// Servers sort lists by key, and the first list is stored in its own order. So each lookup first tries the slot behind that of the last
/// one. A list of a million objects reads the store from one end to the other then, and not a cache line of the lookup, a row and a key
/// anywhere in memory for each object.
pub(crate) struct StoredInOrder<R> {
    store: Indexer<R>,
    next: AtomicU32,
}

impl<R> StoredInOrder<R> {
    pub(crate) fn new(store: Indexer<R>) -> Self {
        Self {
            store,
            next: AtomicU32::new(0),
        }
    }
}

impl<R> KnownObjects for StoredInOrder<R> {
    fn get(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
        let state = self.store.shared.published.load();
        let (rows, next) = (&state.rows, self.next.load(Ordering::Relaxed));
        let (slot, row) = rows.find_near(next, || rows.hash(key), |row| row.key.as_str() == key)?;
        self.next.store(slot + 1, Ordering::Relaxed);
        row.known()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Partition;

    #[test]
    fn objects_are_found_in_any_order() {
        let (store, mut writer) = Indexer::new();
        let keys = ["a", "b", "c", "d", "e"];
        for (number, key) in (1..).zip(keys) {
            let fingerprint = Some(Fingerprint::new(number));
            writer
                .upsert(key.into(), number, fingerprint, Partition::SINGLE)
                .unwrap();
        }
        writer.remove("c");
        writer.publish();
        let stored = StoredInOrder::new(store);
        for asked in ["a", "b", "d", "e", "e", "a", "x", "b", "c", "d", "a"] {
            let number = (1..).zip(keys).find(|(_, key)| *key == asked && asked != "c");
            let expected = number.map(|(number, key)| (key.into(), Fingerprint::new(number)));
            assert_eq!(stored.get(asked), expected, "{asked}");
        }
    }

    #[test]
    fn a_search_begins_behind_the_last_hit() {
        let (store, mut writer) = Indexer::new();
        for key in ["a", "b", "c"] {
            let fingerprint = Some(Fingerprint::new(1));
            writer
                .upsert(key.into(), (), fingerprint, Partition::SINGLE)
                .unwrap();
        }
        writer.publish();
        let stored = StoredInOrder::new(store);
        for (key, next) in [("b", 2), ("c", 3), ("x", 3), ("a", 1)] {
            stored.get(key);
            assert_eq!(stored.next.load(Ordering::Relaxed), next, "after {key}");
        }
    }
}
