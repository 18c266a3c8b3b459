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
    /// The terms that take part, and the shards of each. A shard that is in none is free.
    owners: BTreeMap<String, BTreeSet<u16>>,
    /// Those of them that have shards until work on them has ended, but take no more.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    leaving: BTreeSet<String>,
    /// Terms that may own shards which this does not say, because it was lost and made anew. Until each has said what it owns, or has ended,
    /// no shard is free.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unconfirmed: BTreeSet<String>,
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
    /// What is said where there is none: nobody owns anything.
    pub(super) fn empty(config: &ShardGroupConfig) -> Self {
        Self {
            field: config.field.path().into(),
            shards: config.shards,
            writes: 0,
            owners: BTreeMap::new(),
            leaving: BTreeSet::new(),
            unconfirmed: BTreeSet::new(),
        }
    }

    /// Reads the annotation of the group's Lease, if it has one.
    pub(super) fn of(lease: &DynamicObject, config: &ShardGroupConfig) -> Result<Option<Self>, Misfit> {
        let annotations = lease.metadata.annotations.as_ref();
        let Some(text) = annotations.and_then(|annotations| annotations.get(ANNOTATION)) else {
            return Ok(None);
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
        Ok(Some(found))
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

    /// The terms that take part, or own shards, or may.
    pub(super) fn terms(&self) -> impl Iterator<Item = &str> {
        self.owners.keys().chain(&self.unconfirmed).map(String::as_str)
    }

    /// Whether the others wait for a term to say what it owns.
    pub(super) fn is_unconfirmed(&self, term: &str) -> bool {
        self.unconfirmed.contains(term)
    }

    /// Notes that others are to wait for a term to say again what it owns.
    pub(super) fn await_confirmation(&mut self, term: &str) {
        self.unconfirmed.insert(term.into());
    }

    /// Notes that this was lost, or is an old one: what it says of `own` is void, and the `live` terms of which it says nothing may own
    /// anything.
    pub(super) fn doubt(&mut self, own: &str, live: BTreeSet<String>) {
        self.owners.remove(own);
        self.leaving.remove(own);
        let unknown = live.into_iter().filter(|term| !self.owners.contains_key(term));
        self.unconfirmed.extend(unknown);
        self.await_confirmation(own);
    }

    /// Whether there are terms that may own shards which this does not say, and whose end is not known.
    pub(super) fn is_unsettled(&self, has_ended: impl Fn(&str) -> bool) -> bool {
        !self.unconfirmed.iter().all(|term| has_ended(term))
    }

    /// Notes all that a term owns.
    pub(super) fn confirm(&mut self, term: &str, owned: &BTreeSet<u16>) {
        self.unconfirmed.remove(term);
        self.take(term, owned);
    }

    /// The shards without an owner, or whose owner's term `has_ended`.
    pub(super) fn free(&self, has_ended: impl Fn(&str) -> bool) -> BTreeSet<u16> {
        if self.is_unsettled(&has_ended) {
            return BTreeSet::new();
        }
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

    /// Notes that a term takes part. Returns whether that is new.
    pub(super) fn join(&mut self, term: &str) -> bool {
        let is_new = !self.owners.contains_key(term);
        if is_new {
            self.owners.insert(term.into(), BTreeSet::new());
        }
        is_new
    }

    /// Notes that a term takes no more. Returns whether that is new.
    pub(super) fn leave(&mut self, term: &str) -> bool {
        match self.owners.get(term) {
            None => false,
            Some(owned) if owned.is_empty() => self.owners.remove(term).is_some(),
            Some(_) => self.leaving.insert(term.into()),
        }
    }

    /// Whether a term takes its share. Its replica has shown that it can write.
    pub(super) fn takes_part(&self, term: &str) -> bool {
        self.owners.contains_key(term) && !self.leaving.contains(term)
    }

    /// Drops terms without shards that are about to leave or have ended, and those that have ended of which nothing is known.
    pub(super) fn forget(&mut self, has_ended: impl Fn(&str) -> bool) {
        let leaving = &mut self.leaving;
        self.owners
            .retain(|term, owned| !owned.is_empty() || !leaving.contains(term) && !has_ended(term));
        leaving.retain(|term| self.owners.contains_key(term));
        self.unconfirmed.retain(|term| !has_ended(term));
    }

    /// Makes shards free.
    pub(super) fn free_up(&mut self, shards: &BTreeSet<u16>) {
        for owned in self.owners.values_mut() {
            owned.retain(|shard| !shards.contains(shard));
        }
    }
}
