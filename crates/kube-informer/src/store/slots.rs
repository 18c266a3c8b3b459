//! A persistent set of slot numbers: the objects with one value of an index.

use std::{slice, sync::Arc};

/// A chunk spans this many slots.
const CHUNK_BITS: u32 = 12;
const WORDS: usize = (1 << CHUNK_BITS) / 64;
/// A set of at most this many slots is a plain list of them.
const FEW: usize = 64;
/// A chunk with at most this many slots is a list; two bytes each against 512 bytes of bits.
const SPARSE: usize = 256;

/// A set of slots in ascending order. A clone is O(1); a change copies one small block and a directory.
///
/// This is a roaring bitmap with small chunks: between 4 bytes and 1 bit for each slot.
#[derive(Debug, Clone)]
pub(crate) struct SlotSet {
    len: usize,
    repr: Repr,
}

#[derive(Debug, Clone)]
enum Repr {
    /// The most common case where values are unique: no allocation.
    One(u32),
    Few(Arc<[u32]>),
    Chunks(Arc<[(u32, Chunk)]>),
}

#[derive(Debug, Clone)]
enum Chunk {
    Sparse(Arc<[u16]>),
    Dense(Arc<[u64; WORDS]>),
}

impl Default for SlotSet {
    fn default() -> Self {
        Self {
            len: 0,
            repr: Repr::Few(Arc::default()),
        }
    }
}

fn split(slot: u32) -> (u32, u16) {
    (slot >> CHUNK_BITS, (slot & ((1 << CHUNK_BITS) - 1)) as u16)
}

/// A copy with `item` at `at`.
fn with<T: Clone>(items: &[T], at: usize, item: T) -> Arc<[T]> {
    let (before, after) = items.split_at(at);
    before
        .iter()
        .cloned()
        .chain([item])
        .chain(after.iter().cloned())
        .collect()
}

/// A copy without the item at `at`.
fn without<T: Clone>(items: &[T], at: usize) -> Arc<[T]> {
    items[..at].iter().chain(&items[at + 1..]).cloned().collect()
}

impl SlotSet {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn contains(&self, slot: u32) -> bool {
        match &self.repr {
            Repr::One(one) => *one == slot,
            Repr::Few(slots) => slots.binary_search(&slot).is_ok(),
            Repr::Chunks(chunks) => {
                let (number, low) = split(slot);
                let found = chunks.binary_search_by_key(&number, |(number, _)| *number);
                found.is_ok_and(|at| chunks[at].1.contains(low))
            }
        }
    }

    /// Adds a slot; returns false if it was there already.
    pub(crate) fn insert(&mut self, slot: u32) -> bool {
        if self.contains(slot) {
            return false;
        }
        self.len += 1;
        match &mut self.repr {
            Repr::One(one) => self.repr = Repr::Few([slot.min(*one), slot.max(*one)].into()),
            Repr::Few(slots) if slots.is_empty() => self.repr = Repr::One(slot),
            Repr::Few(slots) => {
                let at = slots.partition_point(|other| *other < slot);
                let slots = with(slots, at, slot);
                self.repr = if slots.len() > FEW {
                    Repr::Chunks(chunked(&slots))
                } else {
                    Repr::Few(slots)
                };
            }
            Repr::Chunks(chunks) => {
                let (number, low) = split(slot);
                match chunks.binary_search_by_key(&number, |(number, _)| *number) {
                    Ok(at) => Arc::make_mut(chunks)[at].1.insert(low),
                    Err(at) => *chunks = with(chunks, at, (number, Chunk::Sparse([low].into()))),
                }
            }
        }
        true
    }

    /// Removes a slot; returns false if it was not there.
    pub(crate) fn remove(&mut self, slot: u32) -> bool {
        if !self.contains(slot) {
            return false;
        }
        self.len -= 1;
        match &mut self.repr {
            Repr::One(_) => self.repr = Repr::Few(Arc::default()),
            Repr::Few(slots) => {
                let at = slots.partition_point(|other| *other < slot);
                *slots = without(slots, at);
            }
            Repr::Chunks(chunks) => {
                let (number, low) = split(slot);
                let at = chunks.partition_point(|(other, _)| *other < number);
                if Arc::make_mut(chunks)[at].1.remove(low) {
                    *chunks = without(chunks, at);
                }
                if self.len <= FEW / 2 {
                    self.repr = Repr::Few(self.iter().collect());
                }
            }
        }
        true
    }

    pub(crate) fn iter(&self) -> Iter<'_> {
        let (few, chunks): (&[u32], &[(u32, Chunk)]) = match &self.repr {
            Repr::One(slot) => (slice::from_ref(slot), &[]),
            Repr::Few(slots) => (slots, &[]),
            Repr::Chunks(chunks) => (&[], chunks),
        };
        Iter {
            few: few.iter(),
            chunks: chunks.iter(),
            base: 0,
            chunk: ChunkIter::default(),
        }
    }
}

/// The chunks of these slots, which are sorted.
fn chunked(slots: &[u32]) -> Arc<[(u32, Chunk)]> {
    slots
        .chunk_by(|a, b| split(*a).0 == split(*b).0)
        .map(|slots| {
            (
                split(slots[0]).0,
                Chunk::Sparse(slots.iter().map(|slot| split(*slot).1).collect()),
            )
        })
        .collect()
}

impl Chunk {
    fn contains(&self, low: u16) -> bool {
        match self {
            Self::Sparse(slots) => slots.binary_search(&low).is_ok(),
            Self::Dense(words) => words[usize::from(low / 64)] >> (low % 64) & 1 == 1,
        }
    }

    /// Adds a slot that is not in the chunk.
    fn insert(&mut self, low: u16) {
        match self {
            Self::Sparse(slots) if slots.len() < SPARSE => {
                let at = slots.partition_point(|other| *other < low);
                *slots = with(slots, at, low);
            }
            Self::Sparse(slots) => {
                let mut words = [0; WORDS];
                for low in slots.iter().chain([&low]) {
                    words[usize::from(low / 64)] |= 1 << (low % 64);
                }
                *self = Self::Dense(Arc::new(words));
            }
            Self::Dense(words) => Arc::make_mut(words)[usize::from(low / 64)] |= 1 << (low % 64),
        }
    }

    /// Removes a slot that is in the chunk; returns whether the chunk is now empty.
    fn remove(&mut self, low: u16) -> bool {
        match self {
            Self::Sparse(slots) => {
                let at = slots.partition_point(|other| *other < low);
                *slots = without(slots, at);
                slots.is_empty()
            }
            Self::Dense(words) => {
                let words = Arc::make_mut(words);
                words[usize::from(low / 64)] &= !(1 << (low % 64));
                if words.iter().map(|word| word.count_ones() as usize).sum::<usize>() <= SPARSE / 2 {
                    *self = Self::Sparse(bits(words).collect());
                }
                false
            }
        }
    }
}

fn bits(words: &[u64; WORDS]) -> impl Iterator<Item = u16> {
    (0..1 << CHUNK_BITS).filter(|low: &u16| words[usize::from(low / 64)] >> (low % 64) & 1 == 1)
}

/// Slots in ascending order, see [`SlotSet::iter`].
#[derive(Debug, Clone)]
pub(crate) struct Iter<'a> {
    few: slice::Iter<'a, u32>,
    chunks: slice::Iter<'a, (u32, Chunk)>,
    /// The first slot that the current chunk could hold.
    base: u32,
    chunk: ChunkIter<'a>,
}

#[derive(Debug, Clone)]
enum ChunkIter<'a> {
    Sparse(slice::Iter<'a, u16>),
    Dense {
        words: slice::Iter<'a, u64>,
        word: u64,
        /// The first slot of the word *after* the current one.
        next: u32,
    },
}

impl Default for ChunkIter<'_> {
    fn default() -> Self {
        Self::Sparse([].iter())
    }
}

impl Iterator for ChunkIter<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            Self::Sparse(slots) => slots.next().map(|low| u32::from(*low)),
            Self::Dense { words, word, next } => {
                while *word == 0 {
                    *word = *words.next()?;
                    *next += 64;
                }
                let low = *next - 64 + word.trailing_zeros();
                *word &= *word - 1;
                Some(low)
            }
        }
    }
}

impl Iterator for Iter<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some(low) = self.chunk.next() {
                return Some(self.base + low);
            }
            if let Some(slot) = self.few.next() {
                return Some(*slot);
            }
            let (number, chunk) = self.chunks.next()?;
            self.base = number << CHUNK_BITS;
            self.chunk = match chunk {
                Chunk::Sparse(slots) => ChunkIter::Sparse(slots.iter()),
                Chunk::Dense(words) => ChunkIter::Dense {
                    words: words.iter(),
                    word: 0,
                    next: 0,
                },
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Ranges to add or to remove: single slots, and ranges long enough to make chunks dense.
    fn range() -> impl Strategy<Value = (u32, u32, bool)> {
        let from = prop_oneof![0..100u32, 0..20_000u32, Just(u32::MAX - 2000)];
        (from, prop_oneof![Just(1u32), 1..4u32, 1..2000u32], any::<bool>())
    }

    fn check(set: &SlotSet, model: &BTreeSet<u32>) {
        assert_eq!(set.len(), model.len());
        assert_eq!(set.is_empty(), model.is_empty());
        assert!(set.iter().eq(model.iter().copied()));
        for slot in model
            .iter()
            .flat_map(|slot| [*slot, slot.saturating_add(1), slot ^ 1 << 13])
            .take(500)
        {
            assert_eq!(set.contains(slot), model.contains(&slot));
        }
    }

    proptest! {
        #[test]
        fn behaves_as_a_set_and_clones_do_not_change(ranges in prop::collection::vec(range(), 0..12)) {
            let (mut set, mut model) = (SlotSet::default(), BTreeSet::new());
            let mut copies = Vec::new();
            for (from, count, add) in ranges {
                copies.push((set.clone(), model.clone()));
                for slot in from..from + count {
                    match add {
                        true => prop_assert_eq!(set.insert(slot), model.insert(slot)),
                        false => prop_assert_eq!(set.remove(slot), model.remove(&slot)),
                    }
                }
                check(&set, &model);
            }
            copies.iter().for_each(|(set, model)| check(set, model));
            model.iter().for_each(|slot| assert!(set.remove(*slot)));
            prop_assert!(matches!(&set.repr, Repr::Few(slots) if slots.is_empty()), "{set:?}");
        }
    }
}
