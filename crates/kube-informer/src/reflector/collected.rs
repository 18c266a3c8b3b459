//! What a streaming list has brought so far.

use crate::object::{ObjectKey, ResourceVersion};
use crate::queue::Listed;
use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table::Entry};
use std::hash::BuildHasher;

/// What a streaming list has brought so far. The store sees nothing of it until it is complete.
///
/// There may be a million entries beside as many objects in the store, so an entry is no larger than it must be.
pub(super) struct Collected<T> {
    entries: Vec<Came<T>>,
    /// Where the entry of a key stands.
    places: HashTable<u32>,
    hasher: RandomState,
}

/// What came last of a key.
struct Came<T> {
    entry: Listed<T>,
    /// It is gone again; of the entry only the key counts.
    gone: bool,
    version: Option<ResourceVersion>,
}

/// Something came that is older than what came before.
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

    /// How many objects have come, also those that are gone again.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Puts an entry in the place of one with its key, or at the end.
    pub(super) fn put(&mut self, entry: Listed<T>, version: Option<ResourceVersion>) -> Result<(), Older> {
        self.came(Came {
            entry,
            gone: false,
            version,
        })
    }

    /// Takes the entry of a key out.
    pub(super) fn take_out(&mut self, key: ObjectKey, version: Option<ResourceVersion>) -> Result<(), Older> {
        self.came(Came {
            entry: Listed::Unchanged(key),
            gone: true,
            version,
        })
    }

    fn came(&mut self, mut next: Came<T>) -> Result<(), Older> {
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

    /// What is there, in the order in which it came.
    pub(super) fn into_entries(self) -> Vec<Listed<T>> {
        let Self { entries, places, .. } = self;
        drop(places);
        let there = entries.into_iter().filter(|came| !came.gone);
        there.map(|came| came.entry).collect()
    }
}

/// The version that comes last, unless it is older.
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
        assert_eq!(size_of::<Came<DecodeResult<Pod>>>(), 64);
    }

    #[test]
    fn entries_come_in_the_order_in_which_they_came() {
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
        fn it_is_a_map_that_refuses_what_is_older(
            steps in prop::collection::vec((0..6u8, any::<bool>(), prop::option::of(1..30u64)), 0..60),
        ) {
            let (mut collected, mut entries) = (Collected::new(), BTreeMap::new());
            let mut versions = BTreeMap::<u8, u64>::new();
            for (step, (key, there, version)) in steps.into_iter().enumerate() {
                let name = ObjectKey::from(format!("ns/{key}").as_str());
                let asked = version.map(|version| ResourceVersion::from(version.to_string().as_str()));
                let result = match there {
                    true => collected.put(Listed::Changed(name, step), asked),
                    false => collected.take_out(name, asked),
                };
                if version.is_some_and(|version| versions.get(&key).is_some_and(|last| version < *last)) {
                    // The stream is given up then.
                    prop_assert_eq!(result, Err(Older));
                    return Ok(());
                }
                prop_assert_eq!(result, Ok(()));
                versions.extend(version.map(|version| (key, version)));
                match there {
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
