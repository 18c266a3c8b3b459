//! What an earlier run has saved, until its partitions start.

use super::partitions::{Started, shards_of};
use super::shards::ShardSet;
use crate::form::Decode;
use crate::reflector::Saved;
use std::collections::{BTreeSet, HashMap};

/// What was saved of partitions that have not started.
///
/// A partition of shards need not start as it was saved: which shards are added, and when, others decide. So each takes the objects of
/// its shards from here.
pub(super) struct SavedPartitions<O: Decode> {
    /// By the names of the partitions.
    by_name: HashMap<String, Saved<O>>,
    /// The shards that are left of each, if they are of shards.
    shards: HashMap<String, BTreeSet<u16>>,
}

impl<O: Decode> Default for SavedPartitions<O> {
    fn default() -> Self {
        Self {
            by_name: HashMap::new(),
            shards: HashMap::new(),
        }
    }
}

impl<O: Decode> SavedPartitions<O> {
    /// Adds what was saved of a partition. `set` is that of an informer over shards.
    pub(super) fn add(&mut self, saved: Saved<O>, set: Option<&ShardSet>) {
        if let Some(set) = set {
            let shards = shards_of(&saved.name, set).unwrap_or_default();
            self.shards.insert(saved.name.clone(), shards);
        }
        self.by_name.insert(saved.name.clone(), saved);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.by_name.keys()
    }

    /// The name under which a shard was saved.
    pub(super) fn name_of(&self, shard: u16) -> Option<String> {
        let mut names = self.shards.iter();
        let (name, _) = names.find(|(_, shards)| shards.contains(&shard))?;
        Some(name.clone())
    }

    /// Takes what was saved of a partition that starts.
    pub(super) fn take(&mut self, started: &Started, set: Option<&ShardSet>) -> Option<Saved<O>> {
        let Some(set) = set else {
            return self.by_name.remove(&*started.name);
        };
        let name = started.saved_as.as_ref()?;
        let left = self.shards.get_mut(name)?;
        let wanted = shards_of(&started.name, set)?;
        left.retain(|shard| !wanted.contains(shard));
        let is_last = left.is_empty();
        let of =
            |object: &O::Handle| wanted.contains(&set.shard_of(O::uid_of(object), O::namespace_of(object)));
        let saved = self.by_name.get_mut(name)?;
        let taken = saved.take(started.name.to_string(), of, is_last);
        if is_last {
            self.by_name.remove(name);
            self.shards.remove(name);
        }
        Some(taken)
    }

    /// What is left is not needed.
    pub(super) fn give_up(&mut self, why: &str) {
        self.shards.clear();
        for (_, unused) in self.by_name.drain() {
            unused.give_up(why);
        }
    }
}
