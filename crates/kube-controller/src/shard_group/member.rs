//! A replica in one term: it looks at the group, and takes and gives up shards.

use super::assignment::{Assignment, Misfit};
use super::config::{GROUP_LABEL, ShardGroupConfig};
use super::group::{End, OwnsUntil, ShardGroupError, until};
use super::members::Members;
use super::share::View;
use crate::leader_election::clock::Clock;
use crate::leader_election::lock::{LeaseLock, LockError};
use crate::time::after;
use futures::future::{FutureExt as _, select_all};
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
    /// It gives nothing up until then, because others did not take what was theirs.
    keeps_shards_until: Option<Instant>,
    /// Whether the last look has failed.
    failing: bool,
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
            keeps_shards_until: None,
            failing: false,
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
            if shutdown.is_cancelled() {
                let now = self.clock.now();
                let since = *self.leaving_since.get_or_insert(now);
                if now >= after(since, self.config.graceful_shutdown_timeout) {
                    // What holds a shard is told now, however long the last look took, and has this time to
                    // stop.
                    let since = *expired_since.get_or_insert(now);
                    let all = 0..self.config.shards;
                    self.shards.remove(all.clone());
                    self.shards.expire(all);
                    if now >= after(since, self.config.retry_period) {
                        if self.held().next().is_some() {
                            return End::Failed(ShardGroupError::StillHeld);
                        }
                        let group = &self.config.name;
                        warn!(
                            group,
                            "the shards could not be handed over: they are free with the release of the Lease"
                        );
                        return End::Left;
                    }
                }
            }
            let looked = match self.look(shutdown.is_cancelled()).await {
                Ok(looked) => {
                    (self.failing, self.conflicts) = (false, 0);
                    looked
                }
                Err(Fault::Fatal(error)) => return End::Failed(error),
                Err(Fault::Lock(error)) => self.failed(&error),
            };
            let wake = match looked {
                Looked::Left => return End::Left,
                Looked::Until(wake) => wake,
                Looked::Again => {
                    let longest = CONFLICT.saturating_mul(1 << self.conflicts.min(16));
                    self.conflicts = self.conflicts.saturating_add(1);
                    let pause = longest
                        .min(self.config.look_period())
                        .mul_f64(self.random.random());
                    after(self.clock.now(), pause)
                }
            };
            let is_leaving = shutdown.is_cancelled();
            tokio::select! {
                biased;
                () = self.clock.sleep_until(wake) => {}
                () = shutdown.cancelled(), if !is_leaving => {}
                () = self.any_idle() => {}
            }
        }
    }

    fn failed(&mut self, error: &LockError) -> Looked {
        let group = &self.config.name;
        match error {
            LockError::Conflict => {
                debug!(group, %error, "lost try");
                return Looked::Again;
            }
            _ if self.failing => debug!(group, %error, "the shard group cannot be read or written"),
            _ => warn!(group, %error, "the shard group cannot be read or written"),
        }
        self.failing = true;
        Looked::Until(after(self.clock.now(), self.config.look_period()))
    }

    /// Ends when a shard that is being given up is idle; pends if none is.
    async fn any_idle(&self) {
        let selected = self.shards.shards();
        let held = self.held().filter(|shard| !selected.contains(shard));
        let idle: Vec<_> = held.map(|shard| self.shards.idle(shard).boxed()).collect();
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
        let selected = self.shards.shards();
        let free = assignment.free(|term| term != self.term && self.members.has_ended(term));
        self.note_free(&free, &assignment, now);
        let announces = is_leaving && assignment.announce_leaving(&self.term);
        let mut active = self.members.active(now);
        active.insert(&self.term);
        active.retain(|term| !assignment.is_leaving(term));
        // Those that start together see each other before anybody takes everything.
        let may_take = now >= after(self.joined, self.config.look_period());
        let view = View {
            shards: self.config.shards,
            active,
            kept: &mine & &selected,
            leaving: &mine - &selected,
            overdue: if may_take {
                self.overdue(now)
            } else {
                BTreeSet::new()
            },
            free: if may_take { free } else { BTreeSet::new() },
        };
        let mut moves = view.moves(&self.term);
        let leaving = view.leaving;
        if self.keeps_shards_until.is_some_and(|until| now < until) && !is_leaving {
            moves.give_up.clear();
        }
        if moves.steps_in {
            self.keeps_shards_until = Some(after(now, self.config.lease_duration));
        }

        if !moves.give_up.is_empty() {
            info!(group = self.config.name, shards = ?moves.give_up, "giving up shards");
            self.shards.remove(moves.give_up.iter().copied());
        }
        let given: BTreeSet<u16> = (&(&leaving - &moves.keep) | &moves.give_up)
            .into_iter()
            .filter(|shard| !self.shards.is_held(*shard))
            .collect();
        // What it keeps, it was giving up: a write that frees it may still be on its way, so that it is
        // written, too.
        let taken = &moves.take | &moves.keep;
        if announces || !given.is_empty() || !taken.is_empty() {
            assignment.forget_leaving(|term| self.members.has_ended(term));
            assignment.free_up(&given);
            assignment.take(&self.term, &taken);
            self.write(group, &mut assignment).await?;
            self.add(&taken);
        }
        if is_leaving && assignment.of_term(&self.term).is_empty() && self.held().next().is_none() {
            return Ok(Looked::Left);
        }
        self.forget(&leases, now).await;
        Ok(Looked::Until(self.next_look(&assignment)))
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
