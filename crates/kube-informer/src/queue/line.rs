//! Keys in line, each with its accumulator.

use super::{Accumulator, Delta};
use crate::object::{ObjectKey, Partition, ResourceVersion};
use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table::Entry};
use std::collections::{BTreeMap, VecDeque};
use std::hash::BuildHasher;

/// A key in line: the partition that its changes came from, and what they come to.
pub type Keyed<A> = (Partition, ObjectKey, A);

/// The keys that wait between two entries that concern a whole partition, in the order in which they first came.
pub(super) struct Line<A> {
    entries: VecDeque<Keyed<A>>,
    /// Where each key stands in `entries`, counted from the first entry that this line ever had.
    places: HashTable<usize>,
    hasher: RandomState,
    popped: usize,
    /// How far each partition has been pushed with what is in this line.
    pub(super) positions: BTreeMap<Partition, ResourceVersion>,
    /// The partition of a list whose objects stand in this line, and how many of the first entries are theirs.
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

/// How much of the capacity an entry takes: a key of which nothing is left stays in line until its turn, and counts as one.
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

    /// Adds a change. Returns how much room the key took before, and how much it takes now.
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

    /// Puts a key at the end of the line, in which it does not stand.
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

    /// Puts a key that was popped back in line. Returns by how much the room that the line takes grew. Changes of the key
    /// must not be [pending](Self::contains).
    pub(super) fn put_back(&mut self, partition: Partition, key: ObjectKey, pending: A) -> usize {
        let grown = room(&pending);
        match self.place(partition, key.as_str()) {
            // Nothing is left of what waits there.
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

    /// Whether changes of a key wait, of which something is left.
    pub(super) fn contains(&self, partition: Partition, key: &str) -> bool {
        let place = self.place(partition, key);
        place.is_some_and(|place| !self.entries[place].2.is_empty())
    }

    /// Takes up to `max` keys from the front, without those of which nothing is left. Returns them and how much room all
    /// of them took.
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

    /// The partition of which a list stood in this line, once the last of its objects has been popped.
    pub(super) fn listed_and_popped(&mut self) -> Option<Partition> {
        let (partition, _) = self.listed.take_if(|(_, left)| *left == 0)?;
        Some(partition)
    }

    /// Takes out what waits of a partition. Returns it, and how much room it took.
    pub(super) fn take_partition(&mut self, partition: Partition) -> (Self, usize) {
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
