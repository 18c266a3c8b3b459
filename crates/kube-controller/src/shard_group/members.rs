//! Who is alive: what one replica has noticed of the Leases of all.

use super::config::ShardGroupConfig;
use crate::leader_election::record::Record;
use crate::time::after;
use kube::api::DynamicObject;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;

/// After how many lease durations without a change a Lease is deleted.
const FORGOTTEN: u32 = 10;

/// The Leases of the replicas, and when they were seen to change.
#[derive(Debug)]
pub(super) struct Members {
    config: ShardGroupConfig,
    /// For how long a Lease is held that does not say it.
    announced: Duration,
    /// By name.
    seen: HashMap<String, Seen>,
    /// Terms without a Lease, because somebody has deleted it, and until when they may believe that it is held.
    missing: HashMap<String, Instant>,
    /// When the list was asked for whose state this is.
    asked: Option<Instant>,
}

#[derive(Debug)]
struct Seen {
    record: Record,
    changed: Instant,
}

impl Seen {
    /// Until when its holder may believe that the Lease is held.
    fn until(&self, announced: Duration) -> Instant {
        after(self.changed, self.record.duration().unwrap_or(announced))
    }
}

impl Members {
    pub(super) fn new(config: ShardGroupConfig) -> Self {
        Self {
            announced: config.lease_of("").announced_duration(),
            config,
            seen: HashMap::new(),
            missing: HashMap::new(),
            asked: None,
        }
    }

    /// Notes a list of the Leases that was asked for and answered at these times. `terms` are those that the group's
    /// Lease names.
    pub(super) fn observe<'a>(
        &mut self,
        leases: &[DynamicObject],
        terms: impl Iterator<Item = &'a str>,
        asked: Instant,
        answered: Instant,
    ) {
        self.asked = Some(asked);
        let mut present = HashSet::new();
        for lease in leases {
            let name = lease.metadata.name.clone().unwrap_or_default();
            if name == self.config.name {
                continue;
            }
            present.insert(name.clone());
            let record = Record::of(&lease.data);
            if self.seen.get(&name).is_none_or(|seen| seen.record != record) {
                let changed = answered;
                self.seen.insert(name, Seen { record, changed });
            }
        }
        let missing = terms.filter(|term| !present.contains(&self.config.lease_name(identity_of(term))));
        let missing = missing.map(|term| (term.to_owned(), self.missing_until(term, answered)));
        self.missing = missing.collect();
        self.seen.retain(|name, _| present.contains(name));
    }

    /// Until when a term whose Lease is not in a list that was answered now may believe that it is held. What the Lease said may be longer than
    /// what we would say: replicas may be configured differently.
    fn missing_until(&self, term: &str, now: Instant) -> Instant {
        let said = self.lease(term).and_then(|seen| seen.record.duration());
        let duration = said.map_or(self.announced, |said| said.max(self.announced));
        let noticed = self.missing.get(term).copied();
        noticed.unwrap_or_else(|| after(now, duration))
    }

    /// The Lease of a term's replica.
    fn lease(&self, term: &str) -> Option<&Seen> {
        let identity = identity_of(term);
        self.seen.get(&self.config.lease_name(identity))
    }

    /// When a term ends unless it is heard of before; `None` if it has ended already, by a release or by another term.
    fn until(&self, term: &str) -> Option<Instant> {
        match self.lease(term) {
            Some(seen) if seen.record.holder() == Some(term) => Some(seen.until(self.announced)),
            Some(_) => None,
            None => {
                let missing = self.missing.get(term).copied();
                // One of which nothing is known is as good as just noticed.
                missing.or_else(|| Some(after(self.asked?, self.announced)))
            }
        }
    }

    /// Whether a term has ended, so that others may have its shards: the last list was asked for after its Lease had run out.
    pub(super) fn has_ended(&self, term: &str) -> bool {
        match (self.until(term), self.asked) {
            (None, _) => true,
            (Some(until), Some(asked)) => asked >= until,
            (Some(_), None) => false,
        }
    }

    /// Whether a term has [ended](Self::has_ended) because its Lease was not renewed. Its replica may have been started again since then, and
    /// hold the Lease in a term of another handle, which had to wait for that, too.
    pub(super) fn has_run_out(&self, term: &str) -> bool {
        match self.lease(term).and_then(|seen| seen.record.holder()) {
            Some(holder) if holder != term => handle_of(holder) != handle_of(term),
            _ => self.until(term).is_some() && self.has_ended(term),
        }
    }

    /// The terms that hold a Lease.
    pub(super) fn live(&self) -> impl Iterator<Item = &str> {
        let holders = self.seen.values().filter_map(|seen| seen.record.holder());
        holders.filter(|term| !self.has_ended(term))
    }

    /// When the first of some terms ends that has not ended.
    pub(super) fn next_end<'a>(&self, terms: impl Iterator<Item = &'a str>) -> Option<Instant> {
        let going_on = terms.filter(|term| !self.has_ended(term));
        going_on.filter_map(|term| self.until(term)).min()
    }

    /// The terms that have renewed their Lease so lately that they own what is theirs.
    pub(super) fn active(&self, now: Instant) -> BTreeSet<&str> {
        let active = self
            .seen
            .values()
            .filter(|seen| now < after(seen.changed, self.config.renew_deadline));
        active.filter_map(|seen| seen.record.holder()).collect()
    }

    /// A Lease among these that nobody needs any more.
    pub(super) fn forgotten<'a>(
        &self,
        leases: &'a [DynamicObject],
        now: Instant,
    ) -> Option<&'a DynamicObject> {
        let long = |seen: &Seen| {
            let long = self
                .config
                .lease_duration
                .checked_mul(FORGOTTEN)
                .unwrap_or(Duration::MAX);
            now >= after(seen.until(self.announced), long)
        };
        let own = self.config.lease_name(&self.config.identity);
        leases.iter().find(|lease| {
            let name = lease.metadata.name.as_ref().filter(|name| **name != own);
            name.and_then(|name| self.seen.get(name)).is_some_and(long)
        })
    }
}

/// The names of the terms of one [`ShardGroup`](super::ShardGroup): the replica's identity, a random number of the group's handle, and
/// the number of the term.
#[derive(Debug)]
pub(super) struct Terms {
    prefix: String,
    number: u64,
}

impl Terms {
    pub(super) fn new(identity: &str, random: u64) -> Self {
        Self {
            prefix: format!("{identity}_{random:016x}-"),
            number: 0,
        }
    }

    /// What all names begin with, and no other's.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The name of the next term.
    pub(super) fn next(&mut self) -> String {
        self.number += 1;
        format!("{}{}", self.prefix, self.number)
    }
}

/// The identity and the random number of a term's name.
fn handle_of(term: &str) -> &str {
    term.rsplit_once('-').map_or(term, |(handle, _)| handle)
}

/// The identity in a term's name.
pub(super) fn identity_of(term: &str) -> &str {
    term.rsplit_once('_').map_or(term, |(identity, _)| identity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TERM: &str = "a_00000000000000ff-1";

    /// Whether the term has run out when its replica's Lease has this holder, a second after it had the term.
    fn runs_out_at(holder: &str) -> bool {
        let config = ShardGroupConfig::new("default", "workers", "b");
        let lease = |holder| -> DynamicObject {
            serde_json::from_value(json!({
                "metadata": {"name": config.lease_name("a")},
                "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15},
            }))
            .unwrap()
        };
        let mut members = Members::new(config.clone());
        let mut now = Instant::now();
        for holder in [TERM, holder] {
            now += Duration::from_secs(1);
            members.observe(&[lease(holder)], [TERM].into_iter(), now, now);
        }
        members.has_run_out(TERM)
    }

    #[test]
    fn a_lease_that_was_deleted_is_held_for_as_long_as_it_said() {
        let config = ShardGroupConfig::new("default", "workers", "b");
        let lease: DynamicObject = serde_json::from_value(json!({
            "metadata": {"name": config.lease_name("a")},
            "spec": {"holderIdentity": TERM, "leaseDurationSeconds": 60},
        }))
        .unwrap();
        let mut members = Members::new(config);
        let start = Instant::now();
        let mut ends_after = |seconds, leases: &[DynamicObject]| {
            let now = start + Duration::from_secs(seconds);
            members.observe(leases, [TERM].into_iter(), now, now);
            members.has_ended(TERM)
        };
        assert!(!ends_after(0, &[lease]));
        assert!(!ends_after(1, &[]), "it was deleted");
        assert!(
            !ends_after(59, &[]),
            "its holder was configured for more than we were"
        );
        assert!(ends_after(61, &[]));
    }

    #[test]
    fn who_is_started_again_had_to_wait_for_its_lease() {
        assert!(!runs_out_at(TERM), "it is still held");
        assert!(!runs_out_at(""), "it was released");
        assert!(!runs_out_at("a_00000000000000ff-2"), "the same process");
        assert!(
            runs_out_at("a_0000000000000abc-1"),
            "another process of that name"
        );
    }
}
