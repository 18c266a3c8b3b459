//! A persistent sparse array: copies share their common nodes.

use std::{slice, sync::Arc};

/// A change of one item copies its whole leaf and increments the reference counts of the other items, so leaves are
/// small.
const LEAF_BITS: u32 = 2;
const LEAF: usize = 1 << LEAF_BITS;
const BRANCH_BITS: u32 = 4;
const BRANCH: usize = 1 << BRANCH_BITS;

/// A map from number to item. A clone is O(1); a change copies the path to one leaf, unless it is not shared.
///
/// Empty leaves are not allocated, so memory and iteration time depend on how many items there are, not on their
/// numbers.
#[derive(Debug)]
pub(crate) struct SparseArray<T> {
    root: Option<Arc<Node<T>>>,
    /// How many branches are above each leaf.
    height: u32,
}

#[derive(Debug, Clone)]
enum Node<T> {
    Branch([Option<Arc<Node<T>>>; BRANCH]),
    Leaf([Option<T>; LEAF]),
}

impl<T> Node<T> {
    fn for_each(&self, each: &mut impl FnMut(&T)) {
        match self {
            Self::Leaf(items) => items.iter().flatten().for_each(each),
            Self::Branch(children) => children.iter().flatten().for_each(|child| child.for_each(each)),
        }
    }
}

impl<T> Clone for SparseArray<T> {
    fn clone(&self) -> Self {
        Self {
            root: self.root.clone(),
            height: self.height,
        }
    }
}

impl<T> Default for SparseArray<T> {
    fn default() -> Self {
        Self {
            root: None,
            height: 0,
        }
    }
}

fn digit(at: u32, height: u32) -> usize {
    (at >> (LEAF_BITS + BRANCH_BITS * (height - 1))) as usize & (BRANCH - 1)
}

fn place(at: u32) -> usize {
    at as usize & (LEAF - 1)
}

impl<T> SparseArray<T> {
    /// Whether item number `at` could exist at this height.
    fn spans(&self, at: u32) -> bool {
        u64::from(at) >> (LEAF_BITS + BRANCH_BITS * self.height) == 0
    }

    fn leaf(&self, at: u32) -> Option<&[Option<T>; LEAF]> {
        if !self.spans(at) {
            return None;
        }
        let mut node = self.root.as_deref()?;
        let mut height = self.height;
        loop {
            match node {
                Node::Leaf(items) => return Some(items),
                Node::Branch(children) => node = children[digit(at, height)].as_deref()?,
            }
            height -= 1;
        }
    }

    /// The item number `at`.
    pub(crate) fn get(&self, at: u32) -> Option<&T> {
        self.leaf(at)?[place(at)].as_ref()
    }

    /// All items and their numbers, in order.
    pub(crate) fn iter(&self) -> Iter<'_, T> {
        let children = slice::from_ref(&self.root).iter();
        let root = Level {
            children,
            at: 0,
            bits: LEAF_BITS + BRANCH_BITS * self.height,
        };
        Iter {
            leaf: [].iter(),
            at: 0,
            above: vec![root],
        }
    }

    /// Calls `each` with every item in the order of their numbers: faster than [`iter`](Self::iter).
    pub(crate) fn for_each(&self, mut each: impl FnMut(&T)) {
        if let Some(root) = &self.root {
            root.for_each(&mut each);
        }
    }

    /// A cursor for reading many items in the order of their numbers.
    pub(crate) fn cursor(&self) -> Cursor<'_, T> {
        Cursor {
            array: self,
            leaf: None,
            number: u32::MAX,
        }
    }
}

impl<T: Clone> SparseArray<T> {
    /// The item number `at`, for changing it in this copy only.
    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        // Do not copy the path if there is no item.
        self.get(at)?;
        let mut node = Arc::make_mut(self.root.as_mut()?);
        let mut height = self.height;
        loop {
            match node {
                Node::Leaf(items) => return items[place(at)].as_mut(),
                Node::Branch(children) => node = Arc::make_mut(children[digit(at, height)].as_mut()?),
            }
            height -= 1;
        }
    }

    /// Inserts an item at number `at` and returns the previous one.
    pub(crate) fn insert(&mut self, at: u32, item: T) -> Option<T> {
        while !self.spans(at) {
            if let Some(root) = self.root.take() {
                let mut children = [const { None }; BRANCH];
                children[0] = Some(root);
                self.root = Some(Arc::new(Node::Branch(children)));
            }
            self.height += 1;
        }
        let mut height = self.height;
        let mut node = &mut self.root;
        loop {
            let inner = node.get_or_insert_with(|| {
                Arc::new(match height {
                    0 => Node::Leaf([const { None }; LEAF]),
                    _ => Node::Branch([const { None }; BRANCH]),
                })
            });
            match Arc::make_mut(inner) {
                Node::Leaf(items) => return items[place(at)].replace(item),
                Node::Branch(children) => node = &mut children[digit(at, height)],
            }
            height -= 1;
        }
    }

    /// Removes the item number `at`.
    pub(crate) fn remove(&mut self, at: u32) -> Option<T> {
        self.get(at)?;
        let removed = remove(&mut self.root, at, self.height);
        if self.root.is_none() {
            self.height = 0;
        }
        removed
    }
}

fn remove<T: Clone>(node: &mut Option<Arc<Node<T>>>, at: u32, height: u32) -> Option<T> {
    let (removed, empty) = match Arc::make_mut(node.as_mut()?) {
        Node::Leaf(items) => {
            let removed = items[place(at)].take();
            (removed, items.iter().all(Option::is_none))
        }
        Node::Branch(children) => {
            let child = &mut children[digit(at, height)];
            let removed = remove(child, at, height - 1);
            let empty = child.is_none() && children.iter().all(Option::is_none);
            (removed, empty)
        }
    };
    if empty {
        *node = None;
    }
    removed
}

/// Items and their numbers, see [`SparseArray::iter`].
#[derive(Debug)]
pub(crate) struct Iter<'a, T> {
    leaf: slice::Iter<'a, Option<T>>,
    /// The number of the next item of the leaf.
    at: u64,
    above: Vec<Level<'a, T>>,
}

#[derive(Debug)]
struct Level<'a, T> {
    children: slice::Iter<'a, Option<Arc<Node<T>>>>,
    /// The number of the first item of the next child.
    at: u64,
    /// How many numbers a child spans, as a power of two.
    bits: u32,
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = (u32, &'a T);

    fn next(&mut self) -> Option<(u32, &'a T)> {
        loop {
            for item in self.leaf.by_ref() {
                self.at += 1;
                if let Some(item) = item {
                    return Some(((self.at - 1) as u32, item));
                }
            }
            let level = self.above.last_mut()?;
            let (at, bits) = (level.at, level.bits);
            level.at += 1 << bits;
            match level.children.next().map(Option::as_deref) {
                Some(Some(Node::Leaf(items))) => (self.leaf, self.at) = (items.iter(), at),
                Some(Some(Node::Branch(children))) => {
                    self.above.push(Level {
                        children: children.iter(),
                        at,
                        bits: bits - BRANCH_BITS,
                    });
                }
                Some(None) => {}
                None => {
                    self.above.pop();
                }
            }
        }
    }
}

/// See [`SparseArray::cursor`].
#[derive(Debug)]
pub(crate) struct Cursor<'a, T> {
    array: &'a SparseArray<T>,
    leaf: Option<&'a [Option<T>; LEAF]>,
    /// The number of the leaf that was read last.
    number: u32,
}

impl<T> Clone for Cursor<'_, T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, T> Cursor<'a, T> {
    /// The item number `at`; fast when it is near the previous one.
    pub(crate) fn get(&mut self, at: u32) -> Option<&'a T> {
        if at >> LEAF_BITS != self.number {
            self.number = at >> LEAF_BITS;
            self.leaf = self.array.leaf(at);
        }
        self.leaf?[place(at)].as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![0..40u32, 0..3000u32, any::<u32>(), Just(u32::MAX)]
    }

    fn check(array: &SparseArray<u32>, model: &BTreeMap<u32, u32>) {
        assert_eq!(
            array.iter().collect::<Vec<_>>(),
            model.iter().map(|(at, item)| (*at, item)).collect::<Vec<_>>()
        );
        let mut items = Vec::new();
        array.for_each(|item| items.push(*item));
        assert!(items.iter().eq(model.values()));
        let mut cursor = array.cursor();
        for at in model.keys().flat_map(|at| [*at, at ^ 1, at ^ 1 << 20]) {
            assert_eq!(array.get(at), model.get(&at));
            assert_eq!(cursor.get(at), model.get(&at));
        }
    }

    proptest! {
        #[test]
        fn behaves_as_a_map_and_clones_do_not_change(ops in prop::collection::vec((number(), 0..4u8), 0..300)) {
            let (mut array, mut model) = (SparseArray::default(), BTreeMap::new());
            let mut copies = Vec::new();
            for (step, (at, what)) in (0..).zip(ops) {
                match what {
                    0 => prop_assert_eq!(array.remove(at), model.remove(&at)),
                    1 => {
                        if let Some(item) = array.get_mut(at) {
                            *item += 1;
                        }
                        model.entry(at).and_modify(|item| *item += 1);
                    }
                    _ => prop_assert_eq!(array.insert(at, step), model.insert(at, step)),
                }
                if step % 50 == 0 {
                    copies.push((array.clone(), model.clone()));
                }
            }
            check(&array, &model);
            copies.iter().for_each(|(array, model)| check(array, model));
            model.iter().for_each(|(at, item)| assert_eq!(array.remove(*at), Some(*item)));
            prop_assert!(array.root.is_none(), "an empty array keeps no nodes");
        }
    }
}
