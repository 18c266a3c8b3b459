//! Objects in the order of their keys: cheap to copy, and to change while copies are read.
//!
//! The objects are in chunks, and the chunks in a vector; copies share both. A copy increments one reference count. A
//! change of a shared collection copies the vector and the changed chunk; the other chunks stay shared.

use std::ops::Bound;
use std::sync::Arc;

use crate::object::Stored;

/// A chunk is split when it has more objects than this.
const CHUNK: usize = 256;

/// No chunk is empty.
#[derive(Clone, Default)]
pub(super) struct Sorted {
    chunks: Arc<Vec<Chunk>>,
}

type Chunk = Arc<Vec<Arc<Stored>>>;

impl std::fmt::Debug for Sorted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let objects: usize = self.chunks.iter().map(|chunk| chunk.len()).sum();
        write!(f, "Sorted({objects})")
    }
}

impl Sorted {
    pub(super) fn get(&self, key: &str) -> Option<&Arc<Stored>> {
        let chunk = self.chunks.get(self.chunk_of(key))?;
        let at = place(chunk, key).ok()?;
        Some(&chunk[at])
    }

    /// Inserts an object under its key, and returns the previous one.
    pub(super) fn insert(&mut self, object: Arc<Stored>) -> Option<Arc<Stored>> {
        let number = self.chunk_of(&object.key);
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(number) else {
            chunks.push(Arc::new(vec![object]));
            return None;
        };
        let chunk = Arc::make_mut(chunk);
        match place(chunk, &object.key) {
            Ok(at) => return Some(std::mem::replace(&mut chunk[at], object)),
            Err(at) => chunk.insert(at, object),
        }
        if chunk.len() > CHUNK {
            let upper = chunk.split_off(CHUNK / 2);
            chunks.insert(number + 1, Arc::new(upper));
        }
        None
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Arc<Stored>> {
        let number = self.chunk_of(key);
        let at = place(self.chunks.get(number)?, key).ok()?;
        let chunks = Arc::make_mut(&mut self.chunks);
        let chunk = Arc::make_mut(&mut chunks[number]);
        let removed = chunk.remove(at);
        let left = chunk.len();
        let next = chunks.get(number + 1).map(|next| next.len());
        if left == 0 {
            chunks.remove(number);
        } else if next.is_some_and(|next| left + next < CHUNK / 2) {
            let next = chunks.remove(number + 1);
            Arc::make_mut(&mut chunks[number]).extend(next.iter().cloned());
        }
        Some(removed)
    }

    /// The objects from a key on, in order.
    pub(super) fn from<'a>(&'a self, start: Bound<&str>) -> impl Iterator<Item = &'a Arc<Stored>> + use<'a> {
        let (Bound::Included(key) | Bound::Excluded(key)) = start else {
            return self.iter(0, 0);
        };
        let number = self.chunk_of(key);
        let at = self
            .chunks
            .get(number)
            .map_or(0, |chunk| match place(chunk, key) {
                Ok(at) if matches!(start, Bound::Excluded(_)) => at + 1,
                Ok(at) | Err(at) => at,
            });
        self.iter(number, at)
    }

    fn iter(&self, number: usize, at: usize) -> impl Iterator<Item = &Arc<Stored>> {
        let first = self.chunks.get(number).map_or(&[][..], |chunk| &chunk[at..]);
        let rest = self.chunks.get(number + 1..).unwrap_or_default();
        first.iter().chain(rest.iter().flat_map(|chunk| chunk.iter()))
    }

    /// The index of the chunk that contains the key or would contain it: the last one that does not start after it.
    fn chunk_of(&self, key: &str) -> usize {
        let after = self.chunks.partition_point(|chunk| &*chunk[0].key <= key);
        after.saturating_sub(1)
    }
}

fn place(chunk: &[Arc<Stored>], key: &str) -> Result<usize, usize> {
    chunk.binary_search_by(|object| (*object.key).cmp(key))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use serde_json::{Map, json};

    use super::*;
    use crate::resources::{Registry, Resource};

    fn node(resource: &Resource, name: &str, version: u64) -> Arc<Stored> {
        let mut node = Map::new();
        node.insert("metadata".into(), json!({"name": name}));
        Arc::new(Stored::encode(resource, &node, version))
    }

    fn versions<'a>(objects: impl Iterator<Item = &'a Arc<Stored>>) -> Vec<u64> {
        objects.map(|object| object.resource_version).collect()
    }

    /// After random changes, including growth and shrinking to nothing, it equals a `BTreeMap`, and so do old copies.
    #[test]
    fn it_is_an_ordered_map_and_its_copies_stay() {
        let resource = Registry::builtin()
            .find("", "v1", "nodes")
            .expect("a built-in kind");
        let mut rng = StdRng::seed_from_u64(7);
        let (mut sorted, mut model) = (Sorted::default(), BTreeMap::new());
        let mut copies = Vec::new();
        let mut most = 0;
        for version in 1..30_000 {
            let name = format!("n{}", rng.random_range(0..2_000));
            // Grows for 10,000 changes, then shrinks.
            if rng.random_bool(if version < 10_000 { 0.2 } else { 0.95 }) {
                let removed = sorted.remove(&name).map(|object| object.resource_version);
                assert_eq!(removed, model.remove(&name));
            } else {
                let replaced = sorted.insert(node(&resource, &name, version));
                let replaced = replaced.map(|object| object.resource_version);
                assert_eq!(replaced, model.insert(name, version));
            }
            if version % 1000 == 0 {
                copies.push((sorted.clone(), model.clone()));
            }
            let name = format!("n{}", rng.random_range(0..2_000));
            let found = sorted.get(&name).map(|object| object.resource_version);
            assert_eq!(found.as_ref(), model.get(&name));
            most = most.max(sorted.chunks.len());
        }
        assert!(
            most > 6 && sorted.chunks.len() < 4,
            "{most} chunks, then {}",
            sorted.chunks.len()
        );
        copies.push((sorted, model));
        for (sorted, model) in copies {
            assert_eq!(
                versions(sorted.from(Bound::Unbounded)),
                model.values().copied().collect::<Vec<_>>()
            );
            for _ in 0..50 {
                let name = format!("n{}", rng.random_range(0..2_100));
                for start in [Bound::Included(&*name), Bound::Excluded(&*name)] {
                    let expected = model.range::<str, _>((start, Bound::Unbounded));
                    let expected: Vec<_> = expected.map(|(_, version)| *version).collect();
                    assert_eq!(versions(sorted.from(start)), expected, "{start:?}");
                }
            }
        }
    }
}
