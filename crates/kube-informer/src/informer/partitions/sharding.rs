//! Partitions of shards: those that are added together are one, until they are removed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::informer::shards::{ShardHold, ShardSet};
use crate::object::Partition;
use crate::selector::ShardField;

use super::names::name_of;
use super::sync::Location;
use super::{Partitions, Stage, Started, State, Wanted};

impl Partitions {
    /// Follows the selected shards, and those that were and that work still holds. Those that are lost leave their partition, and
    /// those that are new form one, or several if they were saved.
    pub(in crate::informer) fn follow_shards(
        &self,
        set: &ShardSet,
        stop: &CancellationToken,
        saved_as: impl Fn(u16) -> Option<String>,
    ) -> Vec<Started> {
        let selected = set.kept();
        let (mut left, mut started) = (Vec::new(), Vec::new());
        self.state.send_if_modified(|state| {
            let lost: Vec<_> = state.shards.keys().copied().collect();
            let lost = lost.into_iter().filter(|shard| !selected.contains(shard));
            let lost: Vec<_> = lost.filter_map(|shard| state.shards.remove(&shard)).collect();
            let narrowed: BTreeSet<_> = lost.iter().map(|lost| lost.partition).collect();
            let changed = !lost.is_empty();
            state.lost.extend(lost.into_iter().map(|lost| lost.hold));
            for partition in narrowed {
                left.extend(state.narrow(partition, set));
            }
            // A shard that was lost and is selected again is listed after its objects are gone: else they could be kept as
            // unchanged that are just about to be deleted.
            let leaving = state.lost.iter().map(ShardHold::shard);
            let leaving: BTreeSet<_> = leaving.chain(state.dropping.iter().copied()).collect();
            let new = selected.iter().copied();
            let new = new.filter(|shard| !state.shards.contains_key(shard) && !leaving.contains(shard));
            let mut together = BTreeMap::<_, Vec<_>>::new();
            for hold in new.filter_map(|shard| set.hold_for_informer(shard)) {
                together.entry(saved_as(hold.shard())).or_default().push(hold);
            }
            for (saved_as, new) in together {
                started.extend(state.add_shards(new, saved_as, set, stop));
            }
            let changed = changed || !started.is_empty();
            state.shard_changes += u64::from(changed);
            changed
        });
        left.iter().for_each(CancellationToken::cancel);
        started
    }

    /// What has changed of the shards since there were `seen` changes.
    pub(in crate::informer) fn shard_change(&self, seen: &mut u64) -> Option<ShardChange> {
        let Wanted::Shards(set) = &self.wanted else {
            return None;
        };
        if self.state.borrow().shard_changes == *seen {
            return None;
        }
        let mut change = None;
        self.state.send_if_modified(|state| {
            *seen = state.shard_changes;
            state.dropping.extend(state.lost.iter().map(ShardHold::shard));
            let of = state.shards.iter();
            let of = of.map(|(shard, state)| (*shard, state.partition)).collect();
            change = Some(ShardChange {
                map: ShardMap { set: set.clone(), of },
                lost: state.lost.drain(..).collect(),
            });
            false
        });
        change
    }

    /// The objects of lost shards are gone from the store.
    pub(in crate::informer) fn have_dropped(&self, lost: Vec<ShardHold>) {
        if !lost.is_empty() {
            self.state.send_if_modified(|state| {
                lost.iter()
                    .for_each(|hold| _ = state.dropping.remove(&hold.shard()));
                false
            });
            drop(lost);
            self.dropped.notify_one();
        }
    }

    /// Waits until objects of lost shards are gone from the store.
    pub(in crate::informer) async fn dropped(&self) {
        self.dropped.notified().await;
    }

    /// The partition of an object of a shard. The shard of an object is not known without its uid, if uids are hashed.
    pub(in crate::informer) fn location_in_shards(
        &self,
        set: &ShardSet,
        uid: Option<&str>,
        namespace: Option<&str>,
    ) -> Location {
        if set.field() == ShardField::Uid && uid.is_none() {
            return Location::NotSelected;
        }
        let shard = set.shard_of(uid, namespace);
        match self.state.borrow().shards.get(&shard) {
            Some(found) => Location::Partition(found.partition),
            None if set.kept().contains(&shard) => Location::NotYet,
            None => Location::NotSelected,
        }
    }
}

impl State {
    /// Forms a partition of new shards. `None` if one with the same name is about to leave: then the shards have to wait.
    fn add_shards(
        &mut self,
        new: Vec<ShardHold>,
        saved_as: Option<String>,
        set: &ShardSet,
        stop: &CancellationToken,
    ) -> Option<Started> {
        let selector = set.selector(&new.iter().map(ShardHold::shard).collect());
        let name: Arc<str> = name_of(&selector).into();
        if self.by_name.contains_key(&name) {
            return None;
        }
        let entry = self.get_or_add(name.clone());
        let (asked, receiver) = watch::channel(selector);
        let (status, leave) = (watch::Sender::default(), stop.child_token());
        entry.status = status.subscribe();
        entry.stage = Stage::Running(leave.clone());
        entry.selector = Some(asked);
        entry.starts_saved = saved_as.is_some();
        let partition = entry.partition;
        for hold in new {
            self.shards.insert(hold.shard(), ShardState { partition, hold });
        }
        Some(Started {
            name,
            partition,
            status,
            leave,
            selector: Some(receiver),
            saved_as,
        })
    }

    /// Asks only for the shards that a partition still has. Without any, the partition leaves; returns what ends its reflector.
    fn narrow(&mut self, partition: Partition, set: &ShardSet) -> Option<CancellationToken> {
        let left = self.shards.iter();
        let left = left.filter(|(_, state)| state.partition == partition);
        let left: BTreeSet<_> = left.map(|(shard, _)| *shard).collect();
        let entry = self
            .by_name
            .values_mut()
            .find(|entry| entry.partition == partition)?;
        if !left.is_empty() {
            if let Some(selector) = &entry.selector {
                selector.send_replace(set.selector(&left));
            }
            return None;
        }
        match std::mem::replace(&mut entry.stage, Stage::Leaving) {
            Stage::Running(leave) => Some(leave),
            Stage::Waiting(_) | Stage::Leaving => None,
        }
    }
}

/// Which partition each shard belongs to.
#[derive(Clone)]
pub(in crate::informer) struct ShardMap {
    set: ShardSet,
    of: BTreeMap<u16, Partition>,
}

impl ShardMap {
    /// Whether an object with this uid and namespace belongs to a partition.
    pub(in crate::informer) fn is_of(
        &self,
        partition: Partition,
        uid: Option<&str>,
        namespace: Option<&str>,
    ) -> bool {
        self.of.get(&self.set.shard_of(uid, namespace)) == Some(&partition)
    }

    /// Whether an object with this uid and namespace belongs to no partition.
    pub(in crate::informer) fn is_of_none(&self, uid: Option<&str>, namespace: Option<&str>) -> bool {
        !self.of.contains_key(&self.set.shard_of(uid, namespace))
    }
}

/// A change of the shards that the store has to follow.
pub(in crate::informer) struct ShardChange {
    pub(in crate::informer) map: ShardMap,
    /// Held until the objects of these shards are gone from the store.
    pub(in crate::informer) lost: Vec<ShardHold>,
}

pub(super) struct ShardState {
    pub(super) partition: Partition,
    pub(super) hold: ShardHold,
}
