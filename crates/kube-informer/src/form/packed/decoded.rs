//! The decoded forms of a collection's objects: of those that are in use, and of those that were read last.

#[cfg(test)]
mod tests;

use crate::form::DecodeError;
use foldhash::fast::RandomState;
use lru::LruCache;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// The default size of the decoded objects that are kept, in bytes.
pub(super) const DECODED_CACHE: usize = 1 << 20;

/// The currently decoded objects, by the address of the packed object. An entry is removed before its address can be
/// reused.
pub(super) struct DecodedObjects<K> {
    entries: Mutex<Entries<K>>,
    /// The most bytes that are kept alive.
    limit: usize,
}

struct Entries<K> {
    alive: HashMap<usize, Weak<K>, RandomState>,
    /// The number of entries that triggers the removal of those whose object was dropped.
    sweep_at: usize,
    /// The objects that were decoded or read last, with their sizes. They are kept alive, so that reading them again costs
    /// next to nothing.
    recent: LruCache<usize, (Arc<K>, usize), RandomState>,
    /// The size of the recent objects, in bytes.
    size: usize,
}

impl<K> DecodedObjects<K> {
    pub(super) fn new(limit: usize) -> Self {
        let entries = Entries {
            alive: HashMap::default(),
            sweep_at: 64,
            recent: LruCache::unbounded_with_hasher(RandomState::default()),
            size: 0,
        };
        Self {
            entries: Mutex::new(entries),
            limit,
        }
    }

    /// How many objects of this size are kept.
    pub(super) fn room_for(&self, size: usize) -> usize {
        self.limit / size.max(1)
    }

    /// The decoded form of the object at `address`: the existing one if it is alive, otherwise the result of
    /// `decode`, which takes about `size` bytes.
    pub(super) fn get_or_decode(
        &self,
        address: usize,
        size: usize,
        decode: impl FnOnce() -> Result<K, DecodeError>,
    ) -> Result<Arc<K>, DecodeError> {
        // What is evicted is dropped without the lock: that takes a while.
        let known = self.lock().get(address, size, self.limit);
        if let Some((object, _)) = known {
            return Ok(object);
        }
        let object = Arc::new(decode()?);
        let (object, unused) = self.lock().add(address, object, size, self.limit);
        drop(unused);
        Ok(object)
    }

    /// Adds the decoded form of the object at `address`, which has none.
    pub(super) fn add(&self, address: usize, object: Arc<K>, size: usize) {
        let added = self.lock().add(address, object, size, self.limit);
        drop(added);
    }

    /// Removes the entry of the packed object at `address`, which is being dropped.
    pub(super) fn remove(&self, address: usize) {
        let removed = self.lock().remove(address);
        drop(removed);
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Entries<K> {
    /// The object at `address`, and those that are to be dropped without the lock.
    fn get(&mut self, address: usize, size: usize, limit: usize) -> Option<(Arc<K>, Vec<Arc<K>>)> {
        let object = self.alive.get(&address).and_then(Weak::upgrade)?;
        let evicted = self.keep(address, &object, size, limit);
        Some((object, evicted))
    }

    /// Adds an object, unless another thread has added the one at its address meanwhile. Returns the one that is there now,
    /// and those that are to be dropped without the lock.
    fn add(&mut self, address: usize, object: Arc<K>, size: usize, limit: usize) -> (Arc<K>, Vec<Arc<K>>) {
        if self.alive.len() >= self.sweep_at {
            self.alive.retain(|_, object| object.strong_count() > 0);
            self.sweep_at = 64.max(2 * self.alive.len());
        }
        let held = self.alive.entry(address).or_default();
        let (object, unused) = match held.upgrade() {
            Some(known) => (known, Some(object)),
            None => {
                *held = Arc::downgrade(&object);
                (object, None)
            }
        };
        let mut evicted = self.keep(address, &object, size, limit);
        evicted.extend(unused);
        (object, evicted)
    }

    /// Keeps an object alive, as the last one that was read. Returns those that had to go for it.
    fn keep(&mut self, address: usize, object: &Arc<K>, size: usize, limit: usize) -> Vec<Arc<K>> {
        if size > limit || self.recent.get(&address).is_some() {
            return Vec::new();
        }
        self.recent.put(address, (object.clone(), size));
        self.size += size;
        let mut evicted = Vec::new();
        while self.size > limit
            && let Some((_, (object, size))) = self.recent.pop_lru()
        {
            self.size -= size;
            evicted.push(object);
        }
        evicted
    }

    fn remove(&mut self, address: usize) -> Option<Arc<K>> {
        self.alive.remove(&address);
        let (object, size) = self.recent.pop(&address)?;
        self.size -= size;
        Some(object)
    }
}
