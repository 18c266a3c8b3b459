//! The entries of a streaming list that is not complete yet.

use crate::object::{ObjectKey, ResourceVersion};
use crate::queue::Listed;
use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table::Entry};
use std::hash::BuildHasher;

/// The entries that a streaming list has received so far. They are not passed on until the list is complete.
///
/// There may be a million entries in addition to as many objects in the store, so entries are small.
pub(super) struct Collected<T> {
    entries: Vec<Received<T>>,
    /// The position of each key's entry.
    places: HashTable<u32>,
    hasher: RandomState,
}

/// The last received state of a key.
struct Received<T> {
    entry: Listed<T>,
    /// Whether it was deleted again; then only the entry's key is used.
    deleted: bool,
    version: Option<ResourceVersion>,
}

/// The error if an event is older than an earlier one of the same key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Older;

impl<T> Collected<T> {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            places: HashTable::new(),
            hasher: RandomState::default(),
        }
    }

    /// The number of received objects, including those that were deleted again.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Replaces the entry with the same key, or appends the entry.
    pub(super) fn put(&mut self, entry: Listed<T>, version: Option<ResourceVersion>) -> Result<(), Older> {
        self.received(Received {
            entry,
            deleted: false,
            version,
        })
    }

    /// Removes the entry of a key.
    pub(super) fn remove(&mut self, key: ObjectKey, version: Option<ResourceVersion>) -> Result<(), Older> {
        self.received(Received {
            entry: Listed::Unchanged(key),
            deleted: true,
            version,
        })
    }

    fn received(&mut self, mut next: Received<T>) -> Result<(), Older> {
        let (entries, hasher) = (&mut self.entries, &self.hasher);
        let key = |place: &u32| entries[*place as usize].entry.key();
        let hash = hasher.hash_one(next.entry.key());
        let same = |place: &u32| key(place) == next.entry.key();
        match (self.places).entry(hash, same, |place| hasher.hash_one(key(place))) {
            Entry::Occupied(place) => {
                let last = &mut entries[*place.get() as usize];
                next.version = newer(last.version.take(), next.version)?;
                *last = next;
            }
            Entry::Vacant(place) => {
                place.insert(u32::try_from(entries.len()).expect("fewer than 2^32 objects"));
                entries.push(next);
            }
        }
        Ok(())
    }

    /// The entries that were not deleted, in the order in which they were received.
    pub(super) fn into_entries(self) -> Vec<Listed<T>> {
        let Self { entries, places, .. } = self;
        drop(places);
        let present = entries.into_iter().filter(|received| !received.deleted);
        present.map(|received| received.entry).collect()
    }
}

/// The newer version, or an error if it is older than the current one.
fn newer(
    last: Option<ResourceVersion>,
    next: Option<ResourceVersion>,
) -> Result<Option<ResourceVersion>, Older> {
    match next {
        Some(_) if next < last => Err(Older),
        Some(_) => Ok(next),
        None => Ok(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflector::DecodeResult;
    use k8s_openapi::api::core::v1::Pod;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn an_entry_is_small() {
        assert_eq!(size_of::<Listed<DecodeResult<Pod>>>(), 32);
        assert_eq!(size_of::<Received<DecodeResult<Pod>>>(), 64);
    }

    #[test]
    fn entries_keep_the_order_in_which_they_were_received() {
        let mut collected = Collected::new();
        for key in ["c", "a", "b", "a"] {
            assert_eq!(collected.put(Listed::Unchanged::<()>(key.into()), None), Ok(()));
        }
        let keys: Vec<_> = collected
            .into_entries()
            .into_iter()
            .map(|entry| entry.key().clone())
            .collect();
        assert_eq!(keys, ["c", "a", "b"].map(ObjectKey::from));
    }

    proptest! {
        #[test]
        fn behaves_as_a_map_and_rejects_older_states(
            steps in prop::collection::vec((0..6u8, any::<bool>(), prop::option::of(1..30u64)), 0..60),
        ) {
            let (mut collected, mut entries) = (Collected::new(), BTreeMap::new());
            let mut versions = BTreeMap::<u8, u64>::new();
            for (step, (key, present, version)) in steps.into_iter().enumerate() {
                let name = ObjectKey::from(format!("ns/{key}").as_str());
                let asked = version.map(|version| ResourceVersion::from(version.to_string().as_str()));
                let result = match present {
                    true => collected.put(Listed::Changed(name, step), asked),
                    false => collected.remove(name, asked),
                };
                if version.is_some_and(|version| versions.get(&key).is_some_and(|last| version < *last)) {
                    // The stream is abandoned after this error.
                    prop_assert_eq!(result, Err(Older));
                    return Ok(());
                }
                prop_assert_eq!(result, Ok(()));
                versions.extend(version.map(|version| (key, version)));
                match present {
                    true => entries.insert(format!("ns/{key}"), step),
                    false => entries.remove(&format!("ns/{key}")),
                };
                prop_assert!(collected.len() >= entries.len().max(1));
            }
            let listed = collected.into_entries().into_iter().map(|entry| match entry {
                Listed::Changed(key, step) => (key.to_string(), step),
                Listed::Unchanged(key) => panic!("{key} is new"),
            });
            prop_assert_eq!(listed.collect::<BTreeMap<_, _>>(), entries);
        }
    }
}
