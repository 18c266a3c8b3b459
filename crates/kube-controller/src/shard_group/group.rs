//! One replica's membership: it joins, takes and gives up shards, and leaves.

use super::assignment::{Assignment, Misfit};
use super::config::{GROUP_LABEL, ShardGroupConfig, ShardGroupConfigError};
use super::members::{Members, Terms};
use super::share::View;
use crate::leader_election::LeaderElectionStatus;
use crate::leader_election::candidate::Candidate;
use crate::leader_election::clock::{Clock, SystemClock};
use crate::leader_election::lock::{LeaseLock, LockError};
use crate::time::after;
use futures::future::{FutureExt as _, select_all};
use kube::Client;
use kube::api::DynamicObject;
use kube_informer::ShardSet;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

/// A pause after a first conflict, at most: others try again, too. It doubles with each that follows.
const CONFLICT: Duration = Duration::from_millis(50);
/// The part of the lease duration after which work that still runs has to stop: the clock of another replica
/// may run by a quarter faster.
const EXPIRY: f64 = 0.8;

/// A replica's membership in a group.
///
/// See the [module](super) for an example and for the rules.
#[must_use = "a replica is no member unless it is run"]
pub struct ShardGroup {
    config: ShardGroupConfig,
    client: Client,
    clock: Arc<dyn Clock>,
    random: SmallRng,
    terms: Terms,
    shards: ShardSet,
    owns_until: OwnsUntil,
}

impl std::fmt::Debug for ShardGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShardGroup")
            .field("config", &self.config)
            .field("shards", &self.shards)
            .finish_non_exhaustive()
    }
}

/// Until when the replica owns what it has; `None` while it is no member.
type OwnsUntil = Arc<Mutex<Option<Instant>>>;

/// How a term has ended.
enum End {
    /// All shards were handed over, after the shutdown.
    Left,
    /// The Lease was not renewed in time, or is somebody else's.
    Lost,
    Failed(ShardGroupError),
}

impl ShardGroup {
    /// A replica of the group, in the cluster of `client`.
    ///
    /// # Errors
    ///
    /// The configuration makes no sense.
    pub fn new(client: Client, config: ShardGroupConfig) -> Result<Self, ShardGroupConfigError> {
        let random = SmallRng::seed_from_u64(fastrand::u64(..));
        Self::with_clock(client, config, Arc::new(SystemClock), random)
    }

    pub(super) fn with_clock(
        client: Client,
        config: ShardGroupConfig,
        clock: Arc<dyn Clock>,
        mut random: SmallRng,
    ) -> Result<Self, ShardGroupConfigError> {
        config.validate()?;
        let terms = Terms::new(&config.identity, random.random());
        let owns_until = OwnsUntil::default();
        let shards = ShardSet::new(config.field, config.shards).held_while({
            let (owns_until, clock) = (owns_until.clone(), clock.clone());
            // Asked at every hold, so that it is right even if the runtime was too busy to end the term in
            // time.
            move || until(&owns_until).is_some_and(|until| clock.now() < until)
        });
        Ok(Self {
            config,
            client,
            clock,
            random,
            terms,
            shards,
            owns_until,
        })
    }

    /// The shards that this replica owns, while it [runs](Self::run).
    pub fn shards(&self) -> &ShardSet {
        &self.shards
    }

    /// Joins the group, owns shards, and leaves when `shutdown` is cancelled. It returns when all shards have
    /// been handed over.
    ///
    /// A replica that could not renew its Lease has lost its shards. It joins again when the work that held
    /// them has ended. It is not an error if the API server cannot be reached or refuses a request: this is
    /// logged, and the request is repeated.
    ///
    /// # Errors
    ///
    /// - [`ShardGroupError::OtherShards`]: the group has another number of shards, or another field, than
    ///   this replica's configuration.
    /// - [`ShardGroupError::StillHeld`]: shards were still held when `graceful_shutdown_timeout` had passed.
    ///   The Lease is not released, and runs out. The process should exit now.
    ///
    /// # Cancel safety
    ///
    /// If this future is dropped, the shards leave the set, and the work that holds them must [stop at
    /// once](kube_informer::ShardHold::expired). The Lease is not released, and runs out. This method can be
    /// called again.
    pub async fn run(&mut self, shutdown: CancellationToken) -> Result<(), ShardGroupError> {
        let dropped = Expire(self.shards.clone());
        while !shutdown.is_cancelled() {
            self.term(&shutdown).await?;
        }
        drop(dropped);
        Ok(())
    }

    /// One term, from joining to leaving or losing.
    async fn term(&mut self, shutdown: &CancellationToken) -> Result<(), ShardGroupError> {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return Ok(()),
            // A run before this one may have been dropped.
            () = self.idle() => {}
        }
        let term = self.terms.next();
        let lease = self.config.lease_of(&term);
        let status = LeaderElectionStatus::new(&term, lease.announced_duration(), self.clock.clone());
        let jitter = SmallRng::seed_from_u64(self.random.random());
        let (timeout, lease_duration) = (lease.request_timeout(), lease.announced_duration());
        let mut candidate = Candidate::new(
            self.client.clone(),
            lease.into(),
            self.clock.clone(),
            status,
            jitter,
        )
        .labelled(GROUP_LABEL, &self.config.name)
        // Nobody holds a shard of a term before this one, so its Lease need not run out.
        .succeeding(self.terms.prefix());
        let Some(since) = candidate.acquire(shutdown).await else {
            candidate.release().await;
            return Ok(());
        };
        info!(group = self.config.name, %term, "joined the shard group");
        let (renewed, mut renewals) = watch::channel(since);
        let mut member = Member {
            lock: LeaseLock::new(
                self.client.clone(),
                &self.config.namespace,
                &self.config.name,
                self.clock.clone(),
                timeout,
            ),
            // Others that were cut off, too, are about to be back: what was noticed of them before would make them look dead.
            members: Members::new(self.config.clone()),
            config: self.config.clone(),
            term,
            clock: self.clock.clone(),
            random: SmallRng::seed_from_u64(self.random.random()),
            shards: self.shards.clone(),
            owns_until: self.owns_until.clone(),
            joined: self.clock.now(),
            free: BTreeMap::new(),
            keeps_shards_until: None,
            failing: false,
            conflicts: 0,
            leaving_since: None,
            keeps_leases_until: None,
        };
        member.lock.label(GROUP_LABEL, &self.config.name);
        let end = {
            let mut keep = pin!(candidate.keep(&renewed));
            let mut steps = pin!(member.steps(shutdown));
            loop {
                let last = *renewals.borrow_and_update();
                let deadline = after(last, self.config.renew_deadline);
                set_until(&self.owns_until, Some(deadline));
                tokio::select! {
                    biased;
                    () = self.clock.sleep_until(deadline) => break End::Lost,
                    end = &mut steps => break end,
                    Ok(()) = renewals.changed() => {}
                    () = &mut keep => break End::Lost,
                }
            }
        };
        let leaving_since = member.leaving_since;
        set_until(&self.owns_until, None);
        self.shards.remove(0..self.config.shards);
        // Another replica may take the shards when its own clock says that the Lease has run out, and that
        // may go faster.
        let stop = self.config.renew_deadline.max(lease_duration.mul_f64(EXPIRY));
        let expiry = after(*renewals.borrow(), stop);
        match end {
            End::Left => {
                candidate.release().await;
                info!(group = self.config.name, "left the shard group");
                Ok(())
            }
            End::Lost => {
                warn!(
                    group = self.config.name,
                    "lost the shards: the Lease was not renewed in time"
                );
                self.wind_down(expiry, shutdown, leaving_since).await?;
                // It runs out as soon as it could be released, but others need not wait for that.
                candidate.release().await;
                Ok(())
            }
            // It runs out.
            End::Failed(ShardGroupError::StillHeld) => Err(ShardGroupError::StillHeld),
            End::Failed(error) => {
                self.wind_down(expiry, shutdown, leaving_since).await?;
                candidate.release().await;
                Err(error)
            }
        }
    }

    async fn idle(&self) {
        for shard in 0..self.config.shards {
            self.shards.idle(shard).await;
        }
    }

    /// Waits until nobody holds a shard. Who does at the expiry has to stop at once. The replica may be
    /// leaving already.
    async fn wind_down(
        &self,
        expiry: Instant,
        shutdown: &CancellationToken,
        leaving_since: Option<Instant>,
    ) -> Result<(), ShardGroupError> {
        let all = 0..self.config.shards;
        let mut idle = pin!(self.idle());
        tokio::select! {
            biased;
            () = &mut idle => return Ok(()),
            () = self.clock.sleep_until(expiry) => self.shards.expire(all.clone()),
        }
        let told = self.clock.now();
        let give_up = async {
            shutdown.cancelled().await;
            let since = leaving_since.unwrap_or_else(|| self.clock.now());
            let grace = after(since, self.config.graceful_shutdown_timeout);
            // What was told to stop just now has this time to do so, however long ago the shutdown was.
            let stopped = after(told, self.config.retry_period);
            self.clock.sleep_until(grace.max(stopped)).await;
        };
        tokio::select! {
            biased;
            () = idle => Ok(()),
            () = give_up => Err(ShardGroupError::StillHeld),
        }
    }
}

fn until(owns_until: &OwnsUntil) -> Option<Instant> {
    *owns_until.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set_until(owns_until: &OwnsUntil, until: Option<Instant>) {
    *owns_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
}

/// Takes all shards away when it is dropped.
struct Expire(ShardSet);

impl Drop for Expire {
    fn drop(&mut self) {
        let all = 0..self.0.count();
        self.0.remove(all.clone());
        self.0.expire(all);
    }
}

/// A replica in one term.
struct Member {
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
    /// Looks at the group and takes part, until all shards are handed over after the shutdown.
    async fn steps(&mut self, shutdown: &CancellationToken) -> End {
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
                    self.shards.expire(all.clone());
                    if now >= after(since, self.config.retry_period) {
                        if all.into_iter().any(|shard| self.shards.is_held(shard)) {
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
        let held =
            (0..self.config.shards).filter(|shard| !selected.contains(shard) && self.shards.is_held(*shard));
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
        let owners: Vec<_> = assignment.terms().map(str::to_owned).collect();
        self.members
            .observe(&leases, owners.iter().map(String::as_str), read.asked, now);

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
        if is_leaving && assignment.of_term(&self.term).is_empty() {
            return Ok(Looked::Left);
        }
        self.forget(&leases, now).await;
        Ok(Looked::Until(self.next_look(&assignment)))
    }

    /// Adds shards that were written to be ours, if we still own what is ours.
    fn add(&self, shards: &BTreeSet<u16>) {
        let owns = until(&self.owns_until).is_some_and(|until| self.clock.now() < until);
        if owns && !shards.is_empty() {
            info!(group = self.config.name, ?shards, "owning shards");
            self.shards.add(shards.iter().copied());
        }
    }

    /// Shards that somebody has taken away by other means than the group's are no longer ours.
    fn drop_foreign(&self, mine: &BTreeSet<u16>) {
        let foreign = &self.shards.shards() - mine;
        if !foreign.is_empty() {
            error!(group = self.config.name, shards = ?foreign, "somebody has taken shards away");
            self.shards.remove(foreign.iter().copied());
            self.shards.expire(foreign);
        }
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

/// Why a run has ended, if not by the shutdown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardGroupError {
    /// The group has another number of shards, or another field. Configure all replicas alike, or delete the
    /// group's Lease while no replica runs.
    #[error("the shard group {group} has {shards} shards by {field}; this replica is configured for others")]
    OtherShards {
        /// The group.
        group: String,
        /// What is hashed in it.
        field: String,
        /// The number of shards.
        shards: u16,
    },
    /// The group's Lease does not say who owns what. Delete it while no replica runs.
    #[error("the shards of the group's Lease cannot be read: {message}")]
    Unreadable {
        /// Why.
        message: String,
    },
    /// Shards were still held when the time to hand them over had passed. The Lease was not released. The
    /// process should exit, because the work that holds the shards may still run while another replica owns
    /// them.
    #[error("what works on the shards did not stop in time")]
    StillHeld,
}

/// Whether a Lease has a holder, as those of a leader election and of replicas do.
fn has_holder(lease: &DynamicObject) -> bool {
    let holder = lease.data.pointer("/spec/holderIdentity");
    holder
        .and_then(serde_json::Value::as_str)
        .is_some_and(|holder| !holder.is_empty())
}
