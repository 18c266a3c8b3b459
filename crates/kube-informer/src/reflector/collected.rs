//! The entries of a streaming list that is not complete yet.

use crate::object::{ObjectKey, ResourceVersion};
use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table::Entry};
use std::hash::BuildHasher;

/// The entries that a streaming list has received so far. They are not passed on until the list is complete.
///
/// There may be a million entries in addition to as many objects in the store, so entries are small. Servers send what exists in the
/// order of the keys, so the first entries need no table to be found.
pub(super) struct Collected<T> {
    entries: Vec<Received<T>>,
    /// How many of the first entries have come in the order of their keys.
    sorted: usize,
    /// The position of each key's entry among the others.
    places: HashTable<u32>,
    hasher: RandomState,
}

/// The last received state of a key.
struct Received<T> {
    key: ObjectKey,
    /// The object; `None` if it was deleted again.
    object: Option<T>,
    version: Option<ResourceVersion>,
}

/// The error if an event is older than an earlier one of the same key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Older;

impl<T> Collected<T> {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            sorted: 0,
            places: HashTable::new(),
            hasher: RandomState::default(),
        }
    }

    /// The number of received objects, including those that were deleted again.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Replaces the entry with the same key, or appends one.
    pub(super) fn put(
        &mut self,
        key: ObjectKey,
        object: T,
        version: Option<ResourceVersion>,
    ) -> Result<(), Older> {
        self.received(key, Some(object), version)
    }

    /// Removes the entry of a key.
    pub(super) fn remove(&mut self, key: ObjectKey, version: Option<ResourceVersion>) -> Result<(), Older> {
        self.received(key, None, version)
    }

    fn received(
        &mut self,
        key: ObjectKey,
        object: Option<T>,
        version: Option<ResourceVersion>,
    ) -> Result<(), Older> {
        let entries = &mut self.entries;
        let comes_last = entries.last().is_none_or(|last| last.key < key);
        if comes_last && self.sorted == entries.len() {
            self.sorted += 1;
            entries.push(Received { key, object, version });
            return Ok(());
        }
        let sorted = &mut entries[..self.sorted];
        if let Ok(place) = sorted.binary_search_by(|entry| entry.key.cmp(&key)) {
            return sorted[place].update(object, version);
        }
        let hasher = &self.hasher;
        let key_at = |place: &u32| &entries[*place as usize].key;
        let (hash, same) = (hasher.hash_one(&key), |place: &u32| *key_at(place) == key);
        match (self.places).entry(hash, same, |place| hasher.hash_one(key_at(place))) {
            Entry::Occupied(place) => entries[*place.get() as usize].update(object, version),
            Entry::Vacant(place) => {
                place.insert(u32::try_from(entries.len()).expect("fewer than 2^32 objects"));
                entries.push(Received { key, object, version });
                Ok(())
            }
        }
    }

    /// The entries that were not deleted, in the order in which they were received.
    pub(super) fn into_entries(self) -> Vec<(ObjectKey, T)> {
        let Self { entries, places, .. } = self;
        drop(places);
        let present = entries.into_iter();
        let present = present.filter_map(|received| Some((received.key, received.object?)));
        present.collect()
    }
}

impl<T> Received<T> {
    fn update(&mut self, object: Option<T>, version: Option<ResourceVersion>) -> Result<(), Older> {
        self.version = newer(self.version.take(), version)?;
        self.object = object;
        Ok(())
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
    use crate::source::DecodeResult;
    use k8s_openapi::api::core::v1::Pod;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn an_entry_is_small() {
        assert_eq!(size_of::<(ObjectKey, DecodeResult<Pod>)>(), 32);
        assert_eq!(size_of::<Received<DecodeResult<Pod>>>(), 48);
    }

    #[test]
    fn entries_keep_the_order_in_which_they_were_received() {
        let mut collected = Collected::new();
        for key in ["c", "a", "b", "a"] {
            assert_eq!(collected.put(key.into(), (), None), Ok(()));
        }
        let keys: Vec<_> = collected
            .into_entries()
            .into_iter()
            .map(|(key, ())| key)
            .collect();
        assert_eq!(keys, ["c", "a", "b"].map(ObjectKey::from));
    }

    #[test]
    fn entries_that_come_in_order_are_in_no_table() {
        let mut collected = Collected::new();
        let put = |collected: &mut Collected<_>, key: &str| collected.put(key.into(), (), None);
        ["a", "b", "d", "b", "d"]
            .into_iter()
            .for_each(|key| assert_eq!(put(&mut collected, key), Ok(())));
        assert_eq!((collected.len(), collected.places.len()), (3, 0));
        // From the first one that does not, all are.
        ["c", "e", "e", "a"]
            .into_iter()
            .for_each(|key| assert_eq!(put(&mut collected, key), Ok(())));
        assert_eq!((collected.len(), collected.places.len()), (5, 2));
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
                    true => collected.put(name, step, asked),
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
            let listed = collected.into_entries().into_iter().map(|(key, step)| (key.to_string(), step));
            prop_assert_eq!(listed.collect::<BTreeMap<_, _>>(), entries);
        }
    }
}
