//! A map of bounded size.

use std::collections::HashMap;
use std::hash::Hash;

/// When it is full, the entry that was used least recently makes room.
#[derive(Debug)]
pub(super) struct Lru<K, V> {
    entries: HashMap<K, (u64, V)>,
    capacity: usize,
    uses: u64,
}

impl<K: Hash + Eq + Clone, V> Lru<K, V> {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            entries: HashMap::new(),
            capacity,
            uses: 0,
        }
    }

    /// Looks an entry up, which uses it.
    pub(super) fn get(&mut self, key: &K) -> Option<&mut V> {
        self.uses += 1;
        let (used, value) = self.entries.get_mut(key)?;
        *used = self.uses;
        Some(value)
    }

    /// Adds an entry, and returns the one that made room for it.
    pub(super) fn insert(&mut self, key: K, value: V) -> Option<(K, V)> {
        self.uses += 1;
        let full = self.entries.len() >= self.capacity && !self.entries.contains_key(&key);
        // To search all of them costs less than the request that a new entry stands for.
        let oldest = || self.entries.iter().min_by_key(|(_, (used, _))| *used);
        let oldest = full.then(oldest).flatten().map(|(key, _)| key.clone());
        let evicted = oldest.and_then(|key| Some((key.clone(), self.remove(&key)?)));
        self.entries.insert(key, (self.uses, value));
        evicted
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        self.entries.remove(key).map(|(_, value)| value)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(key, (_, value))| (key, value))
    }

    /// Takes out the entries for which `take` is true.
    pub(super) fn extract_if(&mut self, take: impl Fn(&V) -> bool) -> Vec<V> {
        let taken = self.entries.extract_if(|_, (_, value)| take(value));
        taken.map(|(_, (_, value))| value).collect()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}
