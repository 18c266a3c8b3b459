//! The shards that nobody owns, and for how long they are left to others.

use crate::time::after;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

/// The shards that nobody owns.
pub(super) struct FreeShards {
    look_period: Duration,
    shards: BTreeMap<u16, FreeShard>,
}

struct FreeShard {
    since: Instant,
    /// Its owner's Lease has run out.
    owner_died: bool,
}

impl FreeShards {
    pub(super) fn new(look_period: Duration) -> Self {
        Self {
            look_period,
            shards: BTreeMap::new(),
        }
    }

    /// Notes which are free now, and of those that are new whether their owner's Lease has run out.
    pub(super) fn note(&mut self, free: &BTreeSet<u16>, owner_died: impl Fn(u16) -> bool, now: Instant) {
        self.shards.retain(|shard, _| free.contains(shard));
        for shard in free {
            self.shards.entry(*shard).or_insert_with(|| FreeShard {
                since: now,
                owner_died: owner_died(*shard),
            });
        }
    }

    /// Those that others should have taken by now.
    pub(super) fn overdue(&self, now: Instant) -> BTreeSet<u16> {
        let overdue = self
            .shards
            .iter()
            .filter(|(_, shard)| now >= self.overdue_at(shard));
        overdue.map(|(number, _)| *number).collect()
    }

    /// When the next one is overdue.
    pub(super) fn next_overdue(&self, now: Instant) -> Option<Instant> {
        let overdue = self.shards.values().map(|shard| self.overdue_at(shard));
        overdue.filter(|at| *at > now).min()
    }

    /// Until when a free shard is left to others. Those of a dead owner were without one for a whole lease
    /// already, also when it has been started again. An owner that has begun another term is about to take
    /// its share.
    fn overdue_at(&self, shard: &FreeShard) -> Instant {
        let patience = match shard.owner_died {
            true => self.look_period.mul_f64(0.75),
            false => self.look_period * 3,
        };
        after(shard.since, patience)
    }
}
