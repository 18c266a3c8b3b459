//! What a streaming list has brought so far.

use crate::object::{ObjectKey, ResourceVersion};
use crate::queue::Listed;
use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table::Entry};
use std::collections::HashMap;
use std::hash::BuildHasher;

/// What a streaming list has brought so far. The store sees nothing of it until it is complete.
///
/// There may be a million entries beside as many objects in the store, so an entry is no larger than it must be.
pub(super) struct Collected<T> {
    entries: Vec<(Listed<T>, Option<ResourceVersion>)>,
    /// Where the entry of a key stands.
    places: HashTable<u32>,
    /// What came and is gone again, and the version that came last.
    gone: HashMap<ObjectKey, Option<ResourceVersion>, RandomState>,
    hasher: RandomState,
}

/// Something came that is older than what came before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Older;

impl<T> Collected<T> {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            places: HashTable::new(),
            gone: HashMap::default(),
            hasher: RandomState::default(),
        }
    }

    /// How many objects there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing has come, not even what is gone again.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.gone.is_empty()
    }

    /// Puts an entry in the place of one with its key, or at the end.
    pub(super) fn put(&mut self, entry: Listed<T>, version: Option<ResourceVersion>) -> Result<(), Older> {
        let Self {
            entries,
            places,
            gone,
            hasher,
        } = self;
        let mut last = None;
        if !gone.is_empty()
            && let Some(version) = gone.remove(entry.key())
        {
            last = version;
        }
        let hash = hasher.hash_one(entry.key());
        let same = |place: &u32| entries[*place as usize].0.key() == entry.key();
        let hash_of = |place: &u32| hasher.hash_one(entries[*place as usize].0.key());
        match places.entry(hash, same, hash_of) {
            Entry::Occupied(place) => {
                let (old, last) = &mut entries[*place.get() as usize];
                *last = newer(last.take(), version)?;
                *old = entry;
            }
            Entry::Vacant(place) => {
                let version = newer(last, version)?;
                place.insert(u32::try_from(entries.len()).expect("fewer than 2^32 objects"));
                entries.push((entry, version));
            }
        }
        Ok(())
    }

    /// Takes the entry of a key out.
    pub(super) fn take_out(&mut self, key: ObjectKey, version: Option<ResourceVersion>) -> Result<(), Older> {
        let Self {
            entries,
            places,
            gone,
            hasher,
        } = self;
        let hash = hasher.hash_one(&key);
        let found = places.find_entry(hash, |place| *entries[*place as usize].0.key() == key);
        let last = match found {
            Ok(place) => {
                let (place, _) = place.remove();
                let (_, last) = entries.swap_remove(place as usize);
                // The one that was at the end stands here now.
                if let Some((moved, _)) = entries.get(place as usize) {
                    let from = entries.len() as u32;
                    let hash = hasher.hash_one(moved.key());
                    *places
                        .find_mut(hash, |other| *other == from)
                        .expect("each entry has a place") = place;
                }
                last
            }
            Err(_) => gone.remove(&key).flatten(),
        };
        gone.insert(key, newer(last, version)?);
        Ok(())
    }

    /// What is there, in the order in which it came unless something is gone.
    pub(super) fn into_entries(self) -> Vec<Listed<T>> {
        let Self {
            entries,
            places,
            gone,
            ..
        } = self;
        drop((places, gone));
        entries.into_iter().map(|(entry, _)| entry).collect()
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
    use crate::reflector::Arrived;
    use k8s_openapi::api::core::v1::Pod;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn an_entry_is_small() {
        assert_eq!(size_of::<Listed<Arrived<Pod>>>(), 32);
        assert!(size_of::<(Listed<Arrived<Pod>>, Option<ResourceVersion>)>() <= 56);
    }

    #[test]
    fn entries_come_in_the_order_in_which_they_came() {
        let mut collected = Collected::new();
        for key in ["c", "a", "b", "a"] {
            assert_eq!(collected.put(Listed::Kept::<()>(key.into()), None), Ok(()));
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
                    true => collected.put(Listed::New(name, step), asked),
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
                prop_assert_eq!(collected.len(), entries.len());
                prop_assert!(!collected.is_empty());
            }
            let listed = collected.into_entries().into_iter().map(|entry| match entry {
                Listed::New(key, step) => (key.to_string(), step),
                Listed::Kept(key) => panic!("{key} is new"),
            });
            prop_assert_eq!(listed.collect::<BTreeMap<_, _>>(), entries);
        }
    }
}
