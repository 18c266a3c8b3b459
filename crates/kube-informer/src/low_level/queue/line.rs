//! Pending keys in order, each with its accumulator.

use super::{Accumulator, Delta};
use crate::object::{ObjectKey, Partition, ResourceVersion};
use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table::Entry};
use std::collections::{BTreeMap, VecDeque};
use std::hash::BuildHasher;

/// A queued key with the partition of its changes and their accumulator.
pub type Keyed<A> = (Partition, ObjectKey, A);

/// The keys between two entries for a whole partition, in the order of their first change.
pub(super) struct Line<A> {
    entries: VecDeque<Keyed<A>>,
    /// The position of each key in `entries`, counted from the first entry that this line ever had.
    places: HashTable<usize>,
    hasher: RandomState,
    popped: usize,
    /// The resource version that each partition reaches with this line.
    pub(super) positions: BTreeMap<Partition, ResourceVersion>,
    /// The partition of a list whose objects are in this line, and the number of leading entries that belong to it.
    pub(super) listed: Option<(Partition, usize)>,
}

impl<A> Default for Line<A> {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            places: HashTable::new(),
            hasher: RandomState::default(),
            popped: 0,
            positions: BTreeMap::new(),
            listed: None,
        }
    }
}

/// The capacity that an entry takes. A key with nothing to process stays in the line until it is popped, and counts
/// as one.
pub(super) fn room<A: Accumulator>(pending: &A) -> usize {
    pending.len().max(1)
}

impl<A: Accumulator> Line<A> {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The number of keys.
    pub(super) fn keys(&self) -> usize {
        self.entries.len()
    }

    /// Adds a change. Returns the capacity that the key took before, and the capacity that it takes now.
    pub(super) fn push(
        &mut self,
        partition: Partition,
        key: ObjectKey,
        change: Delta<A::Object>,
    ) -> (usize, usize) {
        let (entries, popped) = (&mut self.entries, self.popped);
        let is_key = |place: &usize| {
            let (of, other, _) = &entries[place - popped];
            *of == partition && *other == key
        };
        let rehash = |place: &usize| self.hasher.hash_one(&*entries[place - popped].1);
        match self.places.entry(self.hasher.hash_one(&*key), is_key, rehash) {
            Entry::Occupied(place) => {
                let pending = &mut entries[place.get() - popped].2;
                let before = room(pending);
                pending.add(change);
                (before, room(pending))
            }
            Entry::Vacant(place) => match A::start(change) {
                Some(pending) => {
                    place.insert(popped + entries.len());
                    let taken = room(&pending);
                    entries.push_back((partition, key, pending));
                    (0, taken)
                }
                None => (0, 0),
            },
        }
    }

    /// Appends a key that is not in the line.
    fn push_back(&mut self, partition: Partition, key: ObjectKey, pending: A) {
        let hash = self.hasher.hash_one(&*key);
        let (entries, popped) = (&self.entries, self.popped);
        let rehash = |place: &usize| self.hasher.hash_one(&*entries[place - popped].1);
        self.places.insert_unique(hash, popped + entries.len(), rehash);
        self.entries.push_back((partition, key, pending));
    }

    fn place(&self, partition: Partition, key: &str) -> Option<usize> {
        let is_key = |place: &usize| {
            let (of, other, _) = &self.entries[place - self.popped];
            *of == partition && other.as_str() == key
        };
        let place = self.places.find(self.hasher.hash_one(key), is_key)?;
        Some(place - self.popped)
    }

    /// Appends a popped key again. Returns by how much the used capacity grew. Changes of the key must not be
    /// [pending](Self::contains).
    pub(super) fn requeue(&mut self, partition: Partition, key: ObjectKey, pending: A) -> usize {
        let grown = room(&pending);
        match self.place(partition, key.as_str()) {
            // The entry has nothing to process, so it is replaced.
            Some(place) => grown - room(&std::mem::replace(&mut self.entries[place].2, pending)),
            None => {
                self.push_back(partition, key, pending);
                grown
            }
        }
    }

    /// Whether a key stands in this line, even if nothing is left of its changes.
    pub(super) fn has_place(&self, partition: Partition, key: &str) -> bool {
        self.place(partition, key).is_some()
    }

    /// Whether changes of a key are pending and there is something to process.
    pub(super) fn contains(&self, partition: Partition, key: &str) -> bool {
        let place = self.place(partition, key);
        place.is_some_and(|place| !self.entries[place].2.is_empty())
    }

    /// Pops up to `max` keys from the front, without those that have nothing to process. Returns them and the
    /// capacity that all of them took.
    pub(super) fn pop(&mut self, max: usize) -> (Vec<Keyed<A>>, usize) {
        let mut taken: Vec<_> = if max >= self.entries.len() {
            self.places.clear();
            self.popped = 0;
            std::mem::take(&mut self.entries).into()
        } else {
            let taken: Vec<_> = self.entries.drain(..max).collect();
            for (place, (_, key, _)) in (self.popped..).zip(&taken) {
                let hash = self.hasher.hash_one(&**key);
                if let Ok(entry) = self.places.find_entry(hash, |other| *other == place) {
                    entry.remove();
                }
            }
            self.popped += taken.len();
            taken
        };
        if let Some((_, left)) = &mut self.listed {
            *left = left.saturating_sub(taken.len());
        }
        let taken_room = taken.iter().map(|(_, _, pending)| room(pending)).sum();
        taken.retain(|(_, _, pending)| !pending.is_empty());
        (taken, taken_room)
    }

    /// The partition of a list in this line, once the last of its objects has been popped.
    pub(super) fn listed_and_popped(&mut self) -> Option<Partition> {
        let (partition, _) = self.listed.take_if(|(_, left)| *left == 0)?;
        Some(partition)
    }

    /// Removes the pending changes of a partition. Returns them and the capacity that they took.
    pub(super) fn remove_partition(&mut self, partition: Partition) -> (Self, usize) {
        let mut taken = Self::default();
        let listed = self.listed.filter(|(of, _)| *of != partition).map(|(of, left)| {
            let first = self.entries.iter().take(left);
            (of, first.filter(|(other, _, _)| *other != partition).count())
        });
        let mut rest = Self {
            positions: std::mem::take(&mut self.positions),
            listed,
            ..Self::default()
        };
        rest.positions.remove(&partition);
        let mut room_taken = 0;
        for (of, key, pending) in self.entries.drain(..) {
            match of == partition {
                true => {
                    room_taken += room(&pending);
                    taken.push_back(of, key, pending);
                }
                false => rest.push_back(of, key, pending),
            }
        }
        *self = rest;
        (taken, room_taken)
    }
}
