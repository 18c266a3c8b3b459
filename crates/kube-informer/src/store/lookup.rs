//! A persistent hash table from hash to slot numbers: the slots that may hold the item with a given hash.

use std::sync::Arc;

const BITS: u32 = 4;
const FANOUT: usize = 1 << BITS;
const MAX_DEPTH: u32 = u32::BITS / BITS;
/// A leaf with more entries is split.
const LEAF_MAX: usize = 64;
/// A branch with fewer entries, all in leaves, becomes a leaf again.
const LEAF_MIN: usize = 24;

/// A set of pairs of hash and slot. A clone is O(1); a change copies the path to one leaf.
///
/// It holds numbers only, so that copying a leaf is copying bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lookup {
    root: Node,
}

/// The hash in the upper half, the slot in the lower.
type Entry = u64;

#[derive(Debug, Clone)]
enum Node {
    /// Sorted.
    Leaf(Arc<[Entry]>),
    /// Indexed by the next digit of the hash, highest digit first.
    Branch(Arc<[Node; FANOUT]>),
}

impl Default for Node {
    fn default() -> Self {
        Self::Leaf(Arc::default())
    }
}

fn entry(hash: u32, slot: u32) -> Entry {
    u64::from(hash) << 32 | u64::from(slot)
}

fn digit(hash: u32, depth: u32) -> usize {
    (hash >> (u32::BITS - BITS * (depth + 1))) as usize & (FANOUT - 1)
}

/// The position of the first entry with this hash in a leaf at `depth`, or the position at which it would be
/// inserted.
///
/// Hashes are distributed evenly, so the position can be interpolated: this reads one or two cache lines, where a
/// binary search reads six.
fn first(entries: &[Entry], hash: u32, depth: u32) -> usize {
    let rest = u64::from(hash) << (BITS * depth) & u64::from(u32::MAX);
    let guess = ((rest * entries.len() as u64) >> u32::BITS) as usize;
    let wanted = entry(hash, 0);
    let back = entries[..guess]
        .iter()
        .rev()
        .take_while(|entry| **entry >= wanted)
        .count();
    let on = entries[guess..]
        .iter()
        .take_while(|entry| **entry < wanted)
        .count();
    guess - back + on
}

impl Lookup {
    /// The slots under `hash`.
    pub(crate) fn candidates(&self, hash: u32) -> impl Iterator<Item = u32> {
        let mut node = &self.root;
        let mut depth = 0;
        let entries = loop {
            match node {
                Node::Leaf(entries) => break entries,
                Node::Branch(children) => node = &children[digit(hash, depth)],
            }
            depth += 1;
        };
        let start = first(entries, hash, depth);
        entries[start..]
            .iter()
            .take_while(move |entry| (**entry >> 32) as u32 == hash)
            .map(|entry| *entry as u32)
    }

    /// Adds a pair that is not there yet.
    pub(crate) fn insert(&mut self, hash: u32, slot: u32) {
        let entry = entry(hash, slot);
        let mut node = &mut self.root;
        let mut depth = 0;
        while let Node::Branch(children) = node {
            node = &mut Arc::make_mut(children)[digit(hash, depth)];
            depth += 1;
        }
        let Node::Leaf(entries) = node else { return };
        let at = entries.partition_point(|other| *other < entry);
        let (before, after) = entries.split_at(at);
        let all: Arc<[Entry]> = before
            .iter()
            .copied()
            .chain([entry])
            .chain(after.iter().copied())
            .collect();
        *node = match all.len() > LEAF_MAX && depth < MAX_DEPTH {
            true => Node::Branch(Arc::new(split(&all, depth))),
            false => Node::Leaf(all),
        };
    }

    /// Removes a pair.
    pub(crate) fn remove(&mut self, hash: u32, slot: u32) {
        remove(&mut self.root, hash, slot, 0);
    }
}

/// The children of a branch at `depth` over these entries.
fn split(mut entries: &[Entry], depth: u32) -> [Node; FANOUT] {
    std::array::from_fn(|child| {
        let end = entries.partition_point(|entry| digit((entry >> 32) as u32, depth) <= child);
        let (own, rest) = entries.split_at(end);
        entries = rest;
        Node::Leaf(own.into())
    })
}

fn remove(node: &mut Node, hash: u32, slot: u32, depth: u32) {
    match node {
        Node::Branch(children) => {
            let children = Arc::make_mut(children);
            remove(&mut children[digit(hash, depth)], hash, slot, depth + 1);
            if let Some(entries) = joined(children) {
                *node = Node::Leaf(entries);
            }
        }
        Node::Leaf(entries) => {
            if let Ok(at) = entries.binary_search(&entry(hash, slot)) {
                *entries = entries[..at].iter().chain(&entries[at + 1..]).copied().collect();
            }
        }
    }
}

/// All entries below a branch, if they are few.
fn joined(children: &[Node; FANOUT]) -> Option<Arc<[Entry]>> {
    let mut total = 0;
    for child in children {
        match child {
            Node::Leaf(entries) => total += entries.len(),
            Node::Branch(_) => return None,
        }
        if total > LEAF_MIN {
            return None;
        }
    }
    let entries = children.iter().flat_map(|child| match child {
        Node::Leaf(entries) => &entries[..],
        Node::Branch(_) => &[],
    });
    Some(entries.copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Generates hashes that fill one leaf, that share long prefixes, and that are all equal.
    fn hash() -> impl Strategy<Value = u32> {
        prop_oneof![
            any::<u32>(),
            (0..64u32).prop_map(|low| 0xabcd_ef00 | low),
            Just(7)
        ]
    }

    fn check(lookup: &Lookup, model: &BTreeSet<(u32, u32)>) {
        for hash in model.iter().flat_map(|(hash, _)| [*hash, hash ^ 1]) {
            let expected: Vec<_> = model
                .range((hash, 0)..=(hash, u32::MAX))
                .map(|(_, slot)| *slot)
                .collect();
            assert_eq!(lookup.candidates(hash).collect::<Vec<_>>(), expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn behaves_as_a_set_and_clones_do_not_change(
            pairs in prop::collection::vec((hash(), 0..500u32), 0..600),
            removals in prop::collection::vec(any::<prop::sample::Index>(), 0..600),
        ) {
            let (mut lookup, mut model) = (Lookup::default(), BTreeSet::new());
            for (hash, slot) in pairs {
                if model.insert((hash, slot)) {
                    lookup.insert(hash, slot);
                }
            }
            check(&lookup, &model);
            let copy = (lookup.clone(), model.clone());
            for removal in removals {
                let Some(pair) = (!model.is_empty()).then(|| *model.iter().nth(removal.index(model.len())).unwrap()) else {
                    break;
                };
                model.remove(&pair);
                lookup.remove(pair.0, pair.1);
            }
            check(&lookup, &model);
            check(&copy.0, &copy.1);
            model.iter().for_each(|(hash, slot)| lookup.remove(*hash, *slot));
            prop_assert!(matches!(&lookup.root, Node::Leaf(entries) if entries.is_empty()), "{lookup:?}");
        }
    }
}
