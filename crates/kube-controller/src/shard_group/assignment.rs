//! Which term owns which shards: an annotation of the group's Lease.

use super::config::ShardGroupConfig;
use kube::api::DynamicObject;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The annotation.
const ANNOTATION: &str = "kube-informer.dev/shards";

/// The owners of all shards, as the annotation's JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Assignment {
    /// What is hashed: `object.metadata.uid`.
    field: String,
    /// The number of shards.
    shards: u16,
    /// Counts the writes, so that none leaves the Lease as it was: one that is on its way then fails.
    writes: u64,
    /// The shards of each term. A shard that is in none is free.
    owners: BTreeMap<String, BTreeSet<u16>>,
    /// The terms that have shards until work on them has ended, but take no more.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    leaving: BTreeSet<String>,
}

/// An annotation that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    Unreadable(String),
    /// The group was made for these.
    Other {
        field: String,
        shards: u16,
    },
}

impl Assignment {
    /// Nobody owns anything.
    pub(super) fn empty(config: &ShardGroupConfig) -> Self {
        Self {
            field: config.field.path().into(),
            shards: config.shards,
            writes: 0,
            owners: BTreeMap::new(),
            leaving: BTreeSet::new(),
        }
    }

    /// Reads the annotation of the group's Lease; without one, nobody owns anything.
    pub(super) fn of(lease: &DynamicObject, config: &ShardGroupConfig) -> Result<Self, Misfit> {
        let annotations = lease.metadata.annotations.as_ref();
        let Some(text) = annotations.and_then(|annotations| annotations.get(ANNOTATION)) else {
            return Ok(Self::empty(config));
        };
        let found: Self =
            serde_json::from_str(text).map_err(|error| Misfit::Unreadable(error.to_string()))?;
        if (&*found.field, found.shards) != (config.field.path(), config.shards) {
            return Err(Misfit::Other {
                field: found.field,
                shards: found.shards,
            });
        }
        let mut seen = BTreeSet::new();
        let each = found.owners.values().flatten();
        if !each
            .into_iter()
            .all(|shard| *shard < found.shards && seen.insert(*shard))
        {
            let message = "a shard is not one of the group, or has two owners";
            return Err(Misfit::Unreadable(message.to_owned()));
        }
        Ok(found)
    }

    /// Writes the annotation.
    pub(super) fn write(&mut self, lease: &mut DynamicObject) -> serde_json::Result<()> {
        self.writes = self.writes.wrapping_add(1);
        let annotations = lease.metadata.annotations.get_or_insert_default();
        annotations.insert(ANNOTATION.into(), serde_json::to_string(self)?);
        Ok(())
    }

    /// The shards of a term.
    pub(super) fn of_term(&self, term: &str) -> BTreeSet<u16> {
        self.owners.get(term).cloned().unwrap_or_default()
    }

    /// The terms that own shards.
    pub(super) fn terms(&self) -> impl Iterator<Item = &str> {
        self.owners.keys().map(String::as_str)
    }

    /// The shards without an owner, or whose owner's term `has_ended`.
    pub(super) fn free(&self, has_ended: impl Fn(&str) -> bool) -> BTreeSet<u16> {
        let owned = self.owners.iter().filter(|(term, _)| !has_ended(term));
        let owned: BTreeSet<u16> = owned.flat_map(|(_, shards)| shards).copied().collect();
        (0..self.shards).filter(|shard| !owned.contains(shard)).collect()
    }

    /// The term that owns a shard, whether it goes on or not.
    pub(super) fn owner(&self, shard: u16) -> Option<&str> {
        let mut owners = self.owners.iter();
        let (term, _) = owners.find(|(_, shards)| shards.contains(&shard))?;
        Some(term)
    }

    /// Gives shards to a term.
    pub(super) fn take(&mut self, term: &str, shards: &BTreeSet<u16>) {
        self.free_up(shards);
        if !shards.is_empty() {
            self.owners.entry(term.into()).or_default().extend(shards);
        }
    }

    /// Notes that a term is about to leave. Returns whether that is new, and others have to know it, because the term owns shards.
    pub(super) fn announce_leaving(&mut self, term: &str) -> bool {
        self.leaving.insert(term.into()) && self.owners.contains_key(term)
    }

    pub(super) fn is_leaving(&self, term: &str) -> bool {
        self.leaving.contains(term)
    }

    /// The terms that have said that they are about to leave, and that nobody has forgotten yet.
    pub(super) fn leaving(&self) -> impl Iterator<Item = &str> {
        self.leaving.iter().map(String::as_str)
    }

    /// Drops what was noted of terms that have ended.
    pub(super) fn forget_leaving(&mut self, has_ended: impl Fn(&str) -> bool) {
        self.leaving.retain(|term| !has_ended(term));
    }

    /// Makes shards free.
    pub(super) fn free_up(&mut self, shards: &BTreeSet<u16>) {
        for owned in self.owners.values_mut() {
            owned.retain(|shard| !shards.contains(shard));
        }
        self.owners.retain(|_, owned| !owned.is_empty());
    }
}
