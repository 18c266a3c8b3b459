//! Delayed items: a heap ordered by time, in which every entry stores its index.

use crate::entry::{Entries, NONE, Slot};

/// Children of a node. Four keep the heap half as deep as two, and siblings share cache lines.
const ARITY: usize = 4;

/// Storage for more nodes than this is freed when the last node is removed.
const KEEP: usize = 1024;

#[derive(Debug, Clone, Copy)]
struct Node {
    due: u64,
    /// Orders entries with equal times by call.
    ticket: u64,
    slot: Slot,
}

impl Node {
    fn key(&self) -> (u64, u64) {
        (self.due, self.ticket)
    }
}

#[derive(Debug)]
pub(crate) struct Delayed {
    heap: Vec<Node>,
    next_ticket: u64,
}

impl Delayed {
    pub(crate) fn new() -> Self {
        Self {
            heap: Vec::new(),
            next_ticket: 0,
        }
    }

    /// The earliest time, in the queue's nanoseconds.
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.heap.first().map(|node| node.due)
    }

    /// Delays an entry until `due`, or, if it is delayed already, until the earlier of the two times.
    pub(crate) fn insert<T>(&mut self, entries: &mut Entries<T>, slot: Slot, due: u64) {
        let at = match entries[slot].heap_at {
            NONE => self.heap.len(),
            at if due < self.heap[at as usize].due => at as usize,
            _ => return,
        };
        let node = Node {
            due,
            ticket: self.next_ticket,
            slot,
        };
        self.next_ticket += 1;
        if at == self.heap.len() {
            self.heap.push(node);
        }
        self.sift_up(entries, at, node);
    }

    /// Removes the earliest entry, if it is due.
    pub(crate) fn pop_due<T>(&mut self, entries: &mut Entries<T>, now: u64) -> Option<Slot> {
        let first = *self.heap.first().filter(|node| node.due <= now)?;
        entries[first.slot].heap_at = NONE;
        self.fill(entries, 0);
        Some(first.slot)
    }

    /// Removes an entry, if it is delayed.
    pub(crate) fn remove<T>(&mut self, entries: &mut Entries<T>, slot: Slot) {
        let at = std::mem::replace(&mut entries[slot].heap_at, NONE);
        if at != NONE {
            self.fill(entries, at as usize);
        }
    }

    /// Fills the hole at `at` with the last node.
    fn fill<T>(&mut self, entries: &mut Entries<T>, at: usize) {
        let last = self.heap.pop().filter(|_| at < self.heap.len());
        match last {
            Some(last) if at > 0 && last.key() < self.heap[(at - 1) / ARITY].key() => {
                self.sift_up(entries, at, last);
            }
            Some(last) => self.sift_down(entries, at, last),
            None if self.heap.is_empty() && self.heap.capacity() > KEEP => self.heap = Vec::new(),
            None => {}
        }
    }

    /// Empties the heap and returns its entries in no order.
    pub(crate) fn clear<T>(&mut self, entries: &mut Entries<T>) -> impl Iterator<Item = Slot> + use<T> {
        let heap = std::mem::take(&mut self.heap);
        for node in &heap {
            entries[node.slot].heap_at = NONE;
        }
        heap.into_iter().map(|node| node.slot)
    }

    fn place<T>(&mut self, entries: &mut Entries<T>, at: usize, node: Node) {
        self.heap[at] = node;
        // A heap has at most as many nodes as there are slots, which fit into a `u32`.
        entries[node.slot].heap_at = at as u32;
    }

    fn sift_up<T>(&mut self, entries: &mut Entries<T>, mut at: usize, node: Node) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent].key() <= node.key() {
                break;
            }
            self.place(entries, at, self.heap[parent]);
            at = parent;
        }
        self.place(entries, at, node);
    }

    /// Fills the hole at `at` with `node`, whose place is there or below.
    fn sift_down<T>(&mut self, entries: &mut Entries<T>, mut at: usize, node: Node) {
        loop {
            let first = at * ARITY + 1;
            let children = first..(first + ARITY).min(self.heap.len());
            match children.min_by_key(|&child| self.heap[child].key()) {
                Some(child) if self.heap[child].key() < node.key() => {
                    self.place(entries, at, self.heap[child]);
                    at = child;
                }
                _ => break,
            }
        }
        self.place(entries, at, node);
    }
}
