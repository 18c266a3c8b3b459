//! A replica in one term: it looks at the group, and takes and gives up shards.

use super::assignment::{Assignment, Misfit};
use super::config::{GROUP_LABEL, ShardGroupConfig};
use super::group::{End, OwnsUntil, ShardGroupError, until};
use super::members::Members;
use super::share::{Moves, View};
use crate::leader_election::clock::Clock;
use crate::leader_election::lock::{LeaseLock, LockError};
use crate::time::after;
use futures::future::{BoxFuture, FutureExt as _, select_all};
use kube::Client;
use kube::api::DynamicObject;
use kube_informer::ShardSet;
use rand::Rng as _;
use rand::rngs::SmallRng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

/// A pause after a first conflict, at most: others try again, too. It doubles with each that follows.
const CONFLICT: Duration = Duration::from_millis(50);
/// How often it doubles the time for which it keeps what others did not take.
const MOST_DOUBLINGS: u32 = 4;
/// Why a term ends that has given shards up.
const STUCK: &str = "it could not write that shards are free";

/// A replica in one term.
pub(super) struct Member {
    config: ShardGroupConfig,
    term: String,
    /// The group's Lease.
    lock: LeaseLock,
    clock: Arc<dyn Clock>,
    random: SmallRng,
    shards: ShardSet,
    owns_until: OwnsUntil,
    members: Members,
    joined: Instant,
    free: BTreeMap<u16, FreeShard>,
    /// The terms that took part at the last look.
    active: BTreeSet<String>,
    /// It gives nothing up until then, because others did not take what was theirs.
    keeps_shards_until: Option<Instant>,
    /// How often that has happened since other terms took part.
    stepped_in: u32,
    /// Since when all looks have failed.
    failing_since: Option<Instant>,
    /// Whether it has removed shards from the set that the group's Lease says are its own.
    gives_up: bool,
    /// The removed shards whose end of work is not known yet.
    awaited: BTreeSet<u16>,
    /// The shards that a write may still free, and the version of the group's Lease that it replaces.
    freeing: (Option<String>, BTreeSet<u16>),
    /// How many looks in a row have met a conflict.
    conflicts: u32,
    /// When the shutdown was seen.
    leaving_since: Option<Instant>,
    /// It deletes no Leases until then, because that has failed.
    keeps_leases_until: Option<Instant>,
    /// The shards that somebody has taken away, and that are held all the same.
    foreign: BTreeSet<u16>,
}

/// A shard that nobody owns.
struct FreeShard {
    since: Instant,
    /// Its owner's Lease has run out.
    owner_died: bool,
}

/// What a look has read.
struct Read {
    /// When the list was asked for.
    asked: Instant,
    leases: Vec<DynamicObject>,
    group: Option<DynamicObject>,
}

/// What a look has come to.
enum Looked {
    /// To be repeated at this time.
    Until(Instant),
    /// Somebody else has written first, or others have to be waited for.
    Again,
    Left,
}

impl Member {
    /// A replica that has just joined.
    pub(super) fn new(
        client: Client,
        config: ShardGroupConfig,
        clock: Arc<dyn Clock>,
        term: String,
        random: SmallRng,
        shards: ShardSet,
        owns_until: OwnsUntil,
    ) -> Self {
        let timeout = config.lease_of(&term).request_timeout();
        let mut lock = LeaseLock::new(client, &config.namespace, &config.name, clock.clone(), timeout);
        lock.label(GROUP_LABEL, &config.name);
        Self {
            lock,
            // Others that were cut off, too, are about to be back: what was noticed of them before would make them look dead.
            members: Members::new(config.clone()),
            joined: clock.now(),
            config,
            term,
            clock,
            random,
            shards,
            owns_until,
            free: BTreeMap::new(),
            active: BTreeSet::new(),
            keeps_shards_until: None,
            stepped_in: 0,
            failing_since: None,
            gives_up: false,
            awaited: BTreeSet::new(),
            freeing: Default::default(),
            conflicts: 0,
            leaving_since: None,
            keeps_leases_until: None,
            foreign: BTreeSet::new(),
        }
    }

    /// When the shutdown was seen.
    pub(super) fn leaving_since(&self) -> Option<Instant> {
        self.leaving_since
    }

    /// Looks at the group and takes part, until all shards are handed over after the shutdown.
    pub(super) async fn steps(&mut self, shutdown: &CancellationToken) -> End {
        let mut expired_since = None;
        loop {
            let is_leaving = shutdown.is_cancelled();
            if is_leaving && let Some(end) = self.end_of_grace(&mut expired_since) {
                return end;
            }
            let began = self.clock.now();
            let stuck = self.stuck();
            let looked = tokio::select! {
                biased;
                looked = self.look(is_leaving) => looked,
                () = stuck => return End::Lost(STUCK),
            };
            let looked = match looked {
                Ok(looked) => {
                    (self.failing_since, self.conflicts) = (None, 0);
                    looked
                }
                Err(Fault::Fatal(error)) => return End::Failed(error),
                Err(Fault::Lock(error)) => {
                    let looked = self.failed(&error, began);
                    if is_leaving && self.failing_since.is_some() && self.held().next().is_none() {
                        return self.left_without_a_write();
                    }
                    looked
                }
            };
            let wake = match looked {
                Looked::Left => return End::Left,
                Looked::Until(wake) => wake,
                Looked::Again => self.after_conflict(),
            };
            tokio::select! {
                biased;
                () = self.clock.sleep_until(wake) => {}
                () = self.stuck() => return End::Lost(STUCK),
                () = shutdown.cancelled(), if !is_leaving => {}
                () = self.any_idle() => {}
            }
        }
    }

    /// Notes the shutdown, and tells what holds a shard to stop when the time to hand over has passed: however long the last look took, it
    /// has some time to do so. How the term ends, if that has passed, too.
    fn end_of_grace(&mut self, expired_since: &mut Option<Instant>) -> Option<End> {
        let now = self.clock.now();
        let since = *self.leaving_since.get_or_insert(now);
        if now < after(since, self.config.graceful_shutdown_timeout) {
            return None;
        }
        let since = *expired_since.get_or_insert(now);
        let all = 0..self.config.shards;
        self.shards.remove(all.clone());
        self.shards.expire(all);
        if now < after(since, self.config.retry_period) {
            return None;
        }
        if self.held().next().is_some() {
            return Some(End::Failed(ShardGroupError::StillHeld));
        }
        Some(self.left_without_a_write())
    }

    fn left_without_a_write(&self) -> End {
        let group = &self.config.name;
        warn!(
            group,
            "the shards could not be handed over: they are free with the release of the Lease"
        );
        End::Left
    }

    /// Ends when all looks have failed for so long that it gives up the term, so that others can take what it cannot write to be free; pends
    /// if it gives nothing up. After a shutdown, the term ends anyway.
    fn stuck(&self) -> BoxFuture<'static, ()> {
        match self.failing_since {
            Some(since) if self.gives_up && self.leaving_since.is_none() => {
                let until = after(since, self.config.renew_deadline);
                self.clock.sleep_until(until)
            }
            _ => std::future::pending().boxed(),
        }
    }

    fn after_conflict(&mut self) -> Instant {
        let longest = CONFLICT.saturating_mul(1 << self.conflicts.min(16));
        self.conflicts = self.conflicts.saturating_add(1);
        let pause = longest
            .min(self.config.look_period())
            .mul_f64(self.random.random());
        after(self.clock.now(), pause)
    }

    /// A look that `began` at this time has failed.
    fn failed(&mut self, error: &LockError, began: Instant) -> Looked {
        let group = &self.config.name;
        match error {
            LockError::Conflict => {
                debug!(group, %error, "lost try");
                return Looked::Again;
            }
            _ if self.failing_since.is_some() => {
                debug!(group, %error, "the shard group cannot be read or written");
            }
            _ => warn!(group, %error, "the shard group cannot be read or written"),
        }
        self.failing_since.get_or_insert(began);
        Looked::Until(after(self.clock.now(), self.config.look_period()))
    }

    /// Ends when the work on an awaited shard has ended; pends if none is.
    async fn any_idle(&self) {
        let idle: Vec<_> = self
            .awaited
            .iter()
            .map(|shard| self.shards.idle(*shard).boxed())
            .collect();
        match idle.is_empty() {
            true => std::future::pending().await,
            false => _ = select_all(idle).await,
        }
    }

    /// Reads the Leases of the replicas and the group's, which may have lost its label.
    ///
    /// The Leases are not older than the group's. Else it could name a term that they do not know, which would seem to have ended.
    async fn read(&self) -> Result<Read, Fault> {
        let name = &self.config.name;
        let list = async || {
            let asked = self.clock.now();
            let leases = self.lock.list(GROUP_LABEL, name).await?;
            let group = leases
                .iter()
                .find(|lease| lease.metadata.name.as_ref() == Some(name));
            let group = group.cloned();
            Ok::<_, LockError>(Read { asked, leases, group })
        };
        let read = list().await?;
        if read.group.is_some() {
            return Ok(read);
        }
        let Some(group) = self.lock.get().await? else {
            return Ok(read);
        };
        if has_holder(&group) {
            let message = format!(
                "the Lease {name} has a holder, so it is not one of a shard group: choose another name"
            );
            return Err(ShardGroupError::Unreadable { message }.into());
        }
        let mut read = list().await?;
        read.group.get_or_insert(group);
        Ok(read)
    }

    /// Reads the Leases, decides, and writes what has changed.
    async fn look(&mut self, is_leaving: bool) -> Result<Looked, Fault> {
        self.awaited.clear();
        if is_leaving {
            // They are free with the release of the Lease at the latest.
            self.shards.remove(0..self.config.shards);
        }
        let read = self.read().await?;
        let now = self.clock.now();
        let (leases, group) = (read.leases, read.group.as_ref());
        let mut assignment = match group {
            Some(lease) => self.assignment(lease)?,
            None => Assignment::empty(&self.config),
        };
        let terms = assignment.terms().chain(assignment.leaving());
        self.members.observe(&leases, terms, read.asked, now);

        let mine = assignment.of_term(&self.term);
        self.drop_foreign(&mine);
        let announces = is_leaving && assignment.announce_leaving(&self.term);
        let mut moves = self.moves(&mine, &assignment, now);
        self.forget_freeing(group);
        // A write that frees what it keeps may still be on its way, so that it is written, too. Else it is its own already: it was giving it
        // up, or the answer to the write that took it was lost.
        let sure = &moves.keep - &self.freeing.1;
        self.add(&sure);
        let given = self.given(&mine, &moves);
        moves.take.extend(&moves.keep - &sure);
        let taken = moves.take;
        if announces || !given.is_empty() || !taken.is_empty() || !moves.give_up.is_empty() {
            assignment.forget_leaving(|term| self.members.has_ended(term));
            assignment.free_up(&given);
            assignment.take(&self.term, &taken);
            self.freeing.1.extend(given);
            // If the answer is lost, it has what it takes and does not work on it.
            self.gives_up |= !taken.is_empty();
            self.write(group, &mut assignment).await?;
            self.add(&taken);
            let written = assignment.of_term(&self.term);
            self.gives_up = !(&written - &self.shards.shards()).is_empty();
            if moves.steps_in {
                self.keep_for_others(now);
            }
            self.give_up(moves.give_up);
        }
        if is_leaving && assignment.of_term(&self.term).is_empty() && self.held().next().is_none() {
            return Ok(Looked::Left);
        }
        self.forget(&leases, now).await;
        Ok(Looked::Until(self.next_look(&assignment)))
    }

    /// A write frees nothing any more once the Lease has another version than the one that it replaces.
    fn forget_freeing(&mut self, group: Option<&DynamicObject>) {
        let version = group.and_then(|lease| lease.metadata.resource_version.clone());
        if self.freeing.0 != version {
            self.freeing = (version, BTreeSet::new());
        }
    }

    /// What it takes and gives up, now that it has these shards.
    fn moves(&mut self, mine: &BTreeSet<u16>, assignment: &Assignment, now: Instant) -> Moves {
        let free = assignment.free(|term| term != self.term && self.members.has_ended(term));
        self.note_free(&free, assignment, now);
        let mut active = self.members.active(now);
        active.insert(&self.term);
        active.retain(|term| !assignment.is_leaving(term));
        if !active.iter().eq(&self.active) {
            // Others may take what is theirs.
            self.active = active.iter().map(|term| (*term).to_owned()).collect();
            self.stepped_in = 0;
            let soon = after(now, self.config.lease_duration);
            self.keeps_shards_until = self.keeps_shards_until.map(|until| until.min(soon));
        }
        // Those that start together see each other before anybody takes everything.
        let may_take = now >= after(self.joined, self.config.look_period());
        let selected = self.shards.shards();
        let view = View {
            shards: self.config.shards,
            active,
            kept: mine & &selected,
            leaving: mine - &selected,
            overdue: if may_take {
                self.overdue(now)
            } else {
                BTreeSet::new()
            },
            free: if may_take { free } else { BTreeSet::new() },
        };
        let mut moves = view.moves(&self.term);
        let keeps = self.keeps_shards_until.is_some_and(|until| now < until);
        if keeps || moves.steps_in {
            moves.give_up.clear();
        }
        moves
    }

    /// The removed shards on which the work has ended. Notes those that are still held.
    fn given(&mut self, mine: &BTreeSet<u16>, moves: &Moves) -> BTreeSet<u16> {
        let selected = self.shards.shards();
        let removed = mine - &selected;
        self.gives_up = !removed.is_empty();
        self.awaited = self.held().filter(|shard| !selected.contains(shard)).collect();
        &(&removed - &moves.keep) - &self.awaited
    }

    /// Notes that it has taken what others did not take. They may never do so, because they cannot write the group's Lease: each time, the
    /// shards are without a replica for a while. So they get less and less opportunity, until other replicas take part.
    fn keep_for_others(&mut self, now: Instant) {
        let doubled = 1 << self.stepped_in.min(MOST_DOUBLINGS);
        self.stepped_in = self.stepped_in.saturating_add(1);
        let keeps = self.config.lease_duration.saturating_mul(doubled);
        self.keeps_shards_until = Some(after(now, keeps));
    }

    /// Removes shards from the set, after a write that shows that it can write that they are free, too.
    fn give_up(&mut self, shards: BTreeSet<u16>) {
        if shards.is_empty() {
            return;
        }
        info!(group = self.config.name, ?shards, "giving up shards");
        self.shards.remove(shards.iter().copied());
        self.gives_up = true;
        self.awaited.extend(shards);
    }

    /// Adds shards that were written to be ours, if we still own what is ours.
    fn add(&mut self, shards: &BTreeSet<u16>) {
        self.foreign.retain(|shard| !shards.contains(shard));
        let owns = until(&self.owns_until).is_some_and(|until| self.clock.now() < until);
        if owns && !shards.is_empty() {
            info!(group = self.config.name, ?shards, "owning shards");
            self.shards.add(shards.iter().copied());
        }
    }

    /// Shards that somebody has taken away by other means than the group's are no longer ours. What was being given up may be held, too.
    fn drop_foreign(&mut self, mine: &BTreeSet<u16>) {
        let mut foreign = self.shards.shards();
        foreign.extend(self.held());
        foreign.retain(|shard| !mine.contains(shard));
        let new = &foreign - &self.foreign;
        if !new.is_empty() {
            error!(group = self.config.name, shards = ?new, "somebody has taken shards away");
            self.shards.remove(new.iter().copied());
            self.shards.expire(new);
        }
        self.foreign = foreign;
    }

    /// The shards that somebody holds.
    fn held(&self) -> impl Iterator<Item = u16> {
        (0..self.config.shards).filter(|shard| self.shards.is_held(*shard))
    }

    fn note_free(&mut self, free: &BTreeSet<u16>, assignment: &Assignment, now: Instant) {
        self.free.retain(|shard, _| free.contains(shard));
        for shard in free {
            let owner_died = assignment
                .owner(*shard)
                .is_some_and(|term| self.members.has_run_out(term));
            self.free.entry(*shard).or_insert(FreeShard {
                since: now,
                owner_died,
            });
        }
    }

    /// Until when a free shard is left to others. Those of a dead owner were without one for a whole lease
    /// already, also when it has been started again. An owner that has begun another term is about to take
    /// its share.
    fn overdue_at(&self, shard: &FreeShard) -> Instant {
        let patience = match shard.owner_died {
            true => self.config.look_period().mul_f64(0.75),
            false => self.config.look_period() * 3,
        };
        after(shard.since, patience)
    }

    fn overdue(&self, now: Instant) -> BTreeSet<u16> {
        let overdue = self
            .free
            .iter()
            .filter(|(_, shard)| now >= self.overdue_at(shard));
        overdue.map(|(number, _)| *number).collect()
    }

    /// When there is something new to be seen.
    fn next_look(&self, assignment: &Assignment) -> Instant {
        let others = assignment.terms().filter(|term| *term != self.term);
        let end = self.members.next_end(others);
        let overdue = self.free.values().map(|shard| self.overdue_at(shard));
        let now = self.clock.now();
        let next = after(now, self.config.look_period());
        end.into_iter()
            .chain(overdue.filter(|at| *at > now))
            .fold(next, Instant::min)
    }

    async fn write(&self, group: Option<&DynamicObject>, assignment: &mut Assignment) -> Result<(), Fault> {
        let unwritable = |error: serde_json::Error| ShardGroupError::Unreadable {
            message: error.to_string(),
        };
        match group {
            Some(lease) => {
                let mut lease = lease.clone();
                assignment.write(&mut lease).map_err(unwritable)?;
                self.lock.update(&lease).await?;
            }
            None => {
                let mut lease = self.lock.absent();
                lease.data = serde_json::json!({"spec": {}});
                assignment.write(&mut lease).map_err(unwritable)?;
                self.lock.create(&lease).await?;
            }
        }
        Ok(())
    }

    /// Deletes a Lease of a replica that has been gone for long.
    async fn forget(&mut self, leases: &[DynamicObject], now: Instant) {
        if self.keeps_leases_until.is_none_or(|until| now >= until)
            && let Some(forgotten) = self.members.forgotten(leases, now)
            && let Err(error) = self.lock.delete(forgotten).await
        {
            self.keeps_leases_until = Some(after(self.clock.now(), self.config.lease_duration));
            debug!(group = self.config.name, %error, "a Lease of a replica that is gone was not deleted");
        }
    }

    fn assignment(&self, lease: &DynamicObject) -> Result<Assignment, ShardGroupError> {
        Assignment::of(lease, &self.config).map_err(|misfit| match misfit {
            Misfit::Unreadable(message) => ShardGroupError::Unreadable { message },
            Misfit::Other { field, shards } => ShardGroupError::OtherShards {
                group: self.config.name.clone(),
                field,
                shards,
            },
        })
    }
}

/// Why a look has failed.
enum Fault {
    /// It is tried again.
    Lock(LockError),
    Fatal(ShardGroupError),
}

impl From<LockError> for Fault {
    fn from(error: LockError) -> Self {
        Self::Lock(error)
    }
}

impl From<ShardGroupError> for Fault {
    fn from(error: ShardGroupError) -> Self {
        Self::Fatal(error)
    }
}

/// Whether a Lease has a holder, as those of a leader election and of replicas do.
fn has_holder(lease: &DynamicObject) -> bool {
    let holder = lease.data.pointer("/spec/holderIdentity");
    holder
        .and_then(serde_json::Value::as_str)
        .is_some_and(|holder| !holder.is_empty())
}
