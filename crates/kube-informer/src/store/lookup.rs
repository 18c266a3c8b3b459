//! A persistent hash table from hash to slot numbers: the slots that may hold the item with a given hash.
//!
//! The highest digits of a hash lead to a leaf, and the rest of it to one of the leaf's *lines*, each of which fills a
//! cache line. So a search reads one cache line of a leaf, in nearly all cases.
//!
//! An entry is in the first line that had room, from the line of its hash on. So all entries of a hash are in the lines
//! from its own on up to the first one with room.

use std::sync::Arc;

const BITS: u32 = 4;
const FANOUT: usize = 1 << BITS;
const MAX_DEPTH: u32 = u32::BITS / BITS;
/// A leaf with as many entries is split before another one is added.
const LEAF_MAX: usize = 512;
/// A branch with at most as many entries, all in leaves, becomes a leaf again.
const LEAF_MIN: usize = 192;
/// The entries that a line has room for: 64 bytes.
const LINE: usize = 8;
/// How many entries a leaf has for each of its lines at most, so that few lines are full.
const LOAD: usize = 6;
/// A leaf with fewer entries for each of its lines gets fewer lines.
const MIN_LOAD: usize = 3;

/// A set of pairs of hash and slot. A clone is O(1); a change copies the path to one leaf, unless it is not shared.
///
/// It holds numbers only, so that copying a leaf is copying bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lookup {
    root: Node,
}

#[derive(Debug, Clone)]
enum Node {
    Leaf(Leaf),
    /// Indexed by the next digit of the hash, highest digit first.
    Branch(Arc<[Node; FANOUT]>),
}

#[derive(Debug, Clone, Default)]
struct Leaf {
    lines: Arc<[Line]>,
    /// The number of entries.
    len: usize,
}

/// A hash and a slot.
type Entry = (u32, u32);

/// Some entries, the first ones of two arrays, so that all hashes are compared at once.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Line {
    hashes: [u32; LINE],
    /// The slots with all bits inverted; 0, which would be slot `u32::MAX`, where there is no entry.
    inverted: [u32; LINE],
}

impl Default for Node {
    fn default() -> Self {
        Self::Leaf(Leaf::default())
    }
}

fn digit(hash: u32, depth: u32) -> usize {
    (hash >> (u32::BITS - BITS * (depth + 1))) as usize & (FANOUT - 1)
}

impl Line {
    fn is_full(&self) -> bool {
        self.inverted[LINE - 1] != 0
    }

    fn entries(&self) -> impl Iterator<Item = Entry> {
        let entries = self.hashes.into_iter().zip(self.inverted);
        entries
            .take_while(|(_, inverted)| *inverted != 0)
            .map(|(hash, inverted)| (hash, !inverted))
    }

    /// The first `Some` of `is` for the slots under a hash.
    fn find<T>(&self, hash: u32, mut is: impl FnMut(u32) -> Option<T>) -> Option<T> {
        // All at once: which of the entries it is cannot be predicted.
        let equal = |at: usize| u32::from(self.hashes[at] == hash) << at;
        let mut matches = (0..LINE).fold(0, |bits, at| bits | equal(at));
        while matches != 0 {
            let inverted = self.inverted[matches.trailing_zeros() as usize % LINE];
            if inverted != 0
                && let Some(found) = is(!inverted)
            {
                return Some(found);
            }
            matches &= matches - 1;
        }
        None
    }

    /// Adds an entry to a line that is not full.
    fn push(&mut self, (hash, slot): Entry) {
        if let Some(at) = self.inverted.iter().position(|inverted| *inverted == 0) {
            (self.hashes[at], self.inverted[at]) = (hash, !slot);
        }
    }

    /// Removes the entry at a position; the last one takes its place.
    fn remove(&mut self, at: usize) {
        let last = self.entries().count() - 1;
        (self.hashes[at], self.inverted[at]) = (self.hashes[last], self.inverted[last]);
        (self.hashes[last], self.inverted[last]) = (0, 0);
    }
}

impl Leaf {
    /// A leaf at `depth` of these entries, with room for `capacity`, which is not less.
    fn new(entries: impl Iterator<Item = Entry>, capacity: usize, depth: u32) -> Self {
        let mut lines = vec![Line::default(); capacity.div_ceil(LOAD)];
        let mut len = 0;
        for entry in entries {
            len += usize::from(put(&mut lines, entry, depth));
        }
        Self {
            lines: lines.into(),
            len,
        }
    }

    fn entries(&self) -> impl Iterator<Item = Entry> {
        self.lines.iter().flat_map(Line::entries)
    }

    /// The first `Some` of `is` for the slots under a hash.
    fn find<T>(&self, hash: u32, depth: u32, mut is: impl FnMut(u32) -> Option<T>) -> Option<T> {
        let mut at = home(self.lines.len(), hash, depth);
        for _ in 0..self.lines.len() {
            let line = &self.lines[at];
            if let Some(found) = line.find(hash, &mut is) {
                return Some(found);
            }
            if !line.is_full() {
                return None;
            }
            at = if at + 1 == self.lines.len() { 0 } else { at + 1 };
        }
        None
    }

    fn insert(&mut self, entry: Entry, depth: u32) {
        if self.len == self.lines.len() * LOAD {
            *self = Self::new(self.entries(), grown(self.len) + 1, depth);
        }
        self.len += usize::from(put(Arc::make_mut(&mut self.lines), entry, depth));
    }

    fn remove(&mut self, entry: Entry, depth: u32) {
        let home = home(self.lines.len(), entry.0, depth);
        let found = (home..self.lines.len()).chain(0..home).find_map(|at| {
            let place = self.lines[at].entries().position(|other| other == entry)?;
            Some((at, place))
        });
        let Some((at, place)) = found else { return };
        if self.lines[at].is_full() || self.len <= self.lines.len() * MIN_LOAD {
            // Entries of a full line may be in those after it.
            let others = self.entries().filter(|other| *other != entry);
            *self = Self::new(others, grown(self.len - 1), depth);
        } else {
            Arc::make_mut(&mut self.lines)[at].remove(place);
            self.len -= 1;
        }
    }

    /// The children of the branch at `depth` that replaces this leaf.
    fn split(&self, depth: u32) -> [Node; FANOUT] {
        let mut parts: [Vec<Entry>; FANOUT] = Default::default();
        for entry in self.entries() {
            parts[digit(entry.0, depth)].push(entry);
        }
        parts.map(|part| {
            let capacity = grown(part.len());
            Node::Leaf(Self::new(part.into_iter(), capacity, depth + 1))
        })
    }
}

/// Which of the lines of a leaf at `depth` is that of a hash. Hashes are distributed evenly.
fn home(lines: usize, hash: u32, depth: u32) -> usize {
    let rest = u64::from(hash) << (BITS * depth) & u64::from(u32::MAX);
    ((rest * lines as u64) >> u32::BITS) as usize
}

/// Adds an entry to the first line with room. Returns false if there is none.
fn put(lines: &mut [Line], entry: Entry, depth: u32) -> bool {
    let (before, after) = lines.split_at_mut(home(lines.len(), entry.0, depth));
    let line = after.iter_mut().chain(before).find(|line| !line.is_full());
    line.map(|line| line.push(entry)).is_some()
}

/// The capacity of a new leaf with `len` entries.
fn grown(len: usize) -> usize {
    len + len / 4
}

impl Lookup {
    /// The first `Some` of `is` for the slots under `hash`.
    pub(crate) fn find<T>(&self, hash: u32, is: impl FnMut(u32) -> Option<T>) -> Option<T> {
        let mut node = &self.root;
        let mut depth = 0;
        let leaf = loop {
            match node {
                Node::Leaf(leaf) => break leaf,
                Node::Branch(children) => node = &children[digit(hash, depth)],
            }
            depth += 1;
        };
        leaf.find(hash, depth, is)
    }

    /// Adds a pair that is not there yet. The slot is not `u32::MAX`.
    pub(crate) fn insert(&mut self, hash: u32, slot: u32) {
        let mut node = &mut self.root;
        let mut depth = 0;
        loop {
            match node {
                Node::Leaf(leaf) if leaf.len < LEAF_MAX || depth == MAX_DEPTH => {
                    return leaf.insert((hash, slot), depth);
                }
                Node::Leaf(leaf) => *node = Node::Branch(Arc::new(leaf.split(depth))),
                Node::Branch(children) => {
                    node = &mut Arc::make_mut(children)[digit(hash, depth)];
                    depth += 1;
                }
            }
        }
    }

    /// Removes a pair.
    pub(crate) fn remove(&mut self, hash: u32, slot: u32) {
        remove(&mut self.root, (hash, slot), 0);
    }
}

fn remove(node: &mut Node, entry: Entry, depth: u32) {
    match node {
        Node::Branch(children) => {
            let children = Arc::make_mut(children);
            remove(&mut children[digit(entry.0, depth)], entry, depth + 1);
            if let Some(leaf) = joined(children, depth) {
                *node = Node::Leaf(leaf);
            }
        }
        Node::Leaf(leaf) => leaf.remove(entry, depth),
    }
}

/// A leaf of all entries below a branch at `depth`, if they are few.
fn joined(children: &[Node; FANOUT], depth: u32) -> Option<Leaf> {
    let mut total = 0;
    for child in children {
        match child {
            Node::Leaf(leaf) => total += leaf.len,
            Node::Branch(_) => return None,
        }
        if total > LEAF_MIN {
            return None;
        }
    }
    let leaves = children.iter().filter_map(|child| match child {
        Node::Leaf(leaf) => Some(leaf),
        Node::Branch(_) => None,
    });
    Some(Leaf::new(leaves.flat_map(Leaf::entries), grown(total), depth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Generates hashes that are spread, that share long prefixes, and that are all equal; 0 is that of unused entries.
    fn hash() -> impl Strategy<Value = u32> {
        prop_oneof![
            any::<u32>(),
            (0..64u32).prop_map(|low| 0xabcd_ef00 | low),
            Just(7),
            Just(0)
        ]
    }

    fn slot() -> impl Strategy<Value = u32> {
        prop_oneof![8 => 0..500u32, 1 => Just(u32::MAX - 1)]
    }

    fn check(lookup: &Lookup, model: &BTreeSet<Entry>) {
        for hash in model.iter().flat_map(|(hash, _)| [*hash, hash ^ 1]) {
            let expected: Vec<_> = model
                .range((hash, 0)..=(hash, u32::MAX))
                .map(|(_, slot)| *slot)
                .collect();
            let mut found = Vec::new();
            lookup.find(hash, |slot| {
                found.push(slot);
                None::<()>
            });
            found.sort_unstable();
            assert_eq!(found, expected);
        }
    }

    fn lines(node: &Node) -> usize {
        match node {
            Node::Leaf(leaf) => leaf.lines.len(),
            Node::Branch(children) => children.iter().map(lines).sum(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn behaves_as_a_set_and_clones_do_not_change(
            pairs in prop::collection::vec((hash(), slot()), 0..1500),
            removals in prop::collection::vec(any::<prop::sample::Index>(), 0..1500),
        ) {
            let (mut lookup, mut model) = (Lookup::default(), BTreeSet::new());
            let mut copies = Vec::new();
            for (step, (hash, slot)) in pairs.into_iter().enumerate() {
                if step % 500 == 499 {
                    copies.push((lookup.clone(), model.clone()));
                }
                if model.insert((hash, slot)) {
                    lookup.insert(hash, slot);
                }
            }
            check(&lookup, &model);
            copies.push((lookup.clone(), model.clone()));
            let mut left: Vec<Entry> = model.iter().copied().collect();
            for removal in removals {
                if left.is_empty() {
                    break;
                }
                let pair = left.swap_remove(removal.index(left.len()));
                model.remove(&pair);
                lookup.remove(pair.0, pair.1);
                lookup.remove(pair.0, pair.1);
            }
            check(&lookup, &model);
            copies.iter().for_each(|(lookup, model)| check(lookup, model));
            left.iter().for_each(|(hash, slot)| lookup.remove(*hash, *slot));
            prop_assert!(matches!(&lookup.root, Node::Leaf(_)), "{lookup:?}");
            prop_assert_eq!(lines(&lookup.root), 0, "an empty table keeps no lines");
        }
    }

    #[test]
    fn lines_follow_the_number_of_entries() {
        let mut lookup = Lookup::default();
        let hash = |number: u32| number.wrapping_mul(2_654_435_761);
        (0..20_000).for_each(|number| lookup.insert(hash(number), number));
        let most = lines(&lookup.root);
        assert!((20_000 / LOAD..=20_000 / MIN_LOAD).contains(&most), "{most}");
        (100..20_000).for_each(|number| lookup.remove(hash(number), number));
        let few = lines(&lookup.root);
        assert!(few <= 100 / MIN_LOAD + FANOUT, "{few}");
        (0..100).for_each(|number| assert_eq!(lookup.find(hash(number), Some), Some(number)));
    }
}
