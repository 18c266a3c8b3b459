//! Ways to keep objects by key.

use crate::objects::Object;
use arc_swap::ArcSwap;
use kube_informer::{ObjectKey, Partition, low_level::StoreWriter, store::Indexer};
use std::{
    collections::HashMap,
    sync::{Arc, RwLock},
};

/// The reader's side.
pub trait Reader: Clone + Send + Sync + 'static {
    fn get(&self, key: &str) -> Option<Object>;
    fn list(&self) -> Vec<Object>;
}

/// The writer's side. Each batch becomes visible when `write` returns.
pub trait Writer: Send + 'static {
    type Reader: Reader;
    const NAME: &'static str;
    fn new() -> Self;
    fn reader(&self) -> Self::Reader;
    fn write(&mut self, batch: impl Iterator<Item = (ObjectKey, Object)>);
}

pub struct Ours {
    pub indexer: Indexer<Object>,
    pub writer: StoreWriter<Object>,
}

impl Reader for Indexer<Object> {
    fn get(&self, key: &str) -> Option<Object> {
        Indexer::get(self, key)
    }

    fn list(&self) -> Vec<Object> {
        Indexer::list(self)
    }
}

impl Writer for Ours {
    type Reader = Indexer<Object>;
    const NAME: &'static str = "kube-informer";

    fn new() -> Self {
        let (indexer, writer) = Indexer::without_indexes();
        Self { indexer, writer }
    }

    fn reader(&self) -> Indexer<Object> {
        self.indexer.clone()
    }

    fn write(&mut self, batch: impl Iterator<Item = (ObjectKey, Object)>) {
        for (key, object) in batch {
            self.writer.upsert(key, object, None, Partition::SINGLE).unwrap();
        }
        self.writer.publish();
    }
}

/// client-go's way: a lock around a hash map.
#[derive(Clone)]
pub struct Locked(Arc<RwLock<HashMap<ObjectKey, Object>>>);

impl Locked {
    /// As client-go's lister selects: a scan of all objects under the lock.
    pub fn filtered(&self, is_wanted: impl Fn(&Object) -> bool) -> Vec<Object> {
        let objects = self.0.read().unwrap();
        objects
            .values()
            .filter(|object| is_wanted(object))
            .cloned()
            .collect()
    }
}

impl Reader for Locked {
    fn get(&self, key: &str) -> Option<Object> {
        self.0.read().unwrap().get(key).cloned()
    }

    fn list(&self) -> Vec<Object> {
        self.0.read().unwrap().values().cloned().collect()
    }
}

impl Writer for Locked {
    type Reader = Self;
    const NAME: &'static str = "lock + hash map";

    fn new() -> Self {
        Self(Arc::default())
    }

    fn reader(&self) -> Self {
        self.clone()
    }

    fn write(&mut self, batch: impl Iterator<Item = (ObjectKey, Object)>) {
        self.0.write().unwrap().extend(batch);
    }
}

/// A persistent hash map (HAMT) that is swapped.
#[derive(Clone)]
pub struct Persistent(Arc<ArcSwap<imbl::HashMap<ObjectKey, Object>>>);

pub struct PersistentWriter(Persistent, imbl::HashMap<ObjectKey, Object>);

impl Reader for Persistent {
    fn get(&self, key: &str) -> Option<Object> {
        self.0.load().get(key).cloned()
    }

    fn list(&self) -> Vec<Object> {
        self.0.load().values().cloned().collect()
    }
}

impl Writer for PersistentWriter {
    type Reader = Persistent;
    const NAME: &'static str = "imbl + arc-swap";

    fn new() -> Self {
        Self(Persistent(Arc::default()), imbl::HashMap::new())
    }

    fn reader(&self) -> Persistent {
        self.0.clone()
    }

    fn write(&mut self, batch: impl Iterator<Item = (ObjectKey, Object)>) {
        for (key, object) in batch {
            self.1.insert(key, object);
        }
        self.0.0.store(Arc::new(self.1.clone()));
    }
}

/// A concurrent hash map: no snapshots, and no batch is seen as a whole.
#[derive(Clone)]
pub struct Concurrent(Arc<papaya::HashMap<ObjectKey, Object>>);

impl Reader for Concurrent {
    fn get(&self, key: &str) -> Option<Object> {
        self.0.pin().get(key).cloned()
    }

    fn list(&self) -> Vec<Object> {
        self.0.pin().values().cloned().collect()
    }
}

impl Writer for Concurrent {
    type Reader = Self;
    const NAME: &'static str = "papaya";

    fn new() -> Self {
        Self(Arc::default())
    }

    fn reader(&self) -> Self {
        self.clone()
    }

    fn write(&mut self, batch: impl Iterator<Item = (ObjectKey, Object)>) {
        let map = self.0.pin();
        for (key, object) in batch {
            map.insert(key, object);
        }
    }
}
