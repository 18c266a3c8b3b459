//! A replica in one term: it looks at the group, and takes and gives up shards.

use super::assignment::{Assignment, Misfit};
use super::config::{GROUP_LABEL, ShardGroupConfig};
use super::error::ShardGroupError;
use super::free::FreeShards;
use super::members::Members;
use super::owns_until::OwnsUntil;
use super::share::{Moves, View};
use super::stop::{Part, Stop};
use super::unanswered::Unanswered;
use crate::leader_election::clock::Clock;
use crate::leader_election::lock::{LeaseLock, LockError};
use crate::time::after;
use futures::future::{BoxFuture, FutureExt as _, select_all};
use kube::Client;
use kube::api::DynamicObject;
use kube_informer::ShardSet;
use rand::Rng as _;
use rand::rngs::SmallRng;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::{debug, error, info, warn};

/// A pause after a first conflict, at most: others try again, too. It doubles with each that follows.
const CONFLICT: Duration = Duration::from_millis(50);
/// How often it doubles the time for which it keeps what others did not take.
const MOST_DOUBLINGS: u32 = 4;
/// Why a term ends that may own shards on which it does not work.
const STUCK: &str = "the group's Lease could not be read or written, and others wait for that: it may say that this replica owns shards \
     that it gave up";

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
    /// The terms that the group's Lease named at the last look.
    terms: BTreeSet<String>,
    /// The uid of the Lease that says what this replica owns. One with another uid does not: somebody has deleted this one.
    uid: Option<String>,
    /// It was said that the group's Lease was deleted.
    says_lost: bool,
    joined: Instant,
    free: FreeShards,
    /// The terms that took part at the last look.
    active: BTreeSet<String>,
    /// It gives nothing up until then, because others did not take what was theirs.
    keeps_shards_until: Option<Instant>,
    /// How often that has happened since other terms took part.
    stepped_in: u32,
    /// When the answer was asked for that the look waits for.
    asked: Instant,
    /// Since when all looks have failed.
    failing_since: Option<Instant>,
    /// Whether others wait for a write of this replica: the group's Lease says that it owns shards that are not in the set, or does not say
    /// what it owns.
    owes: bool,
    /// Since when all looks have failed, while others may wait for a write of this replica.
    stuck_since: Option<Instant>,
    /// The removed shards whose end of work is not known yet.
    awaited: BTreeSet<u16>,
    unanswered: Unanswered,
    /// How many looks in a row have met a conflict.
    conflicts: u32,
    /// When the shutdown was seen.
    leaving_since: Option<Instant>,
    /// It deletes no Leases until then, because that has failed.
    keeps_leases_until: Option<Instant>,
    /// The shards that somebody has taken away, and that are held all the same.
    foreign: BTreeSet<u16>,
}

/// How a term has ended.
pub(super) enum End {
    /// All shards were handed over, after the shutdown.
    Left,
    /// The shards are lost, for this reason.
    Lost(&'static str),
    Failed(ShardGroupError),
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
            terms: BTreeSet::new(),
            uid: None,
            says_lost: false,
            joined: clock.now(),
            asked: clock.now(),
            free: FreeShards::new(config.look_period()),
            config,
            term,
            clock,
            random,
            shards,
            owns_until,
            active: BTreeSet::new(),
            keeps_shards_until: None,
            stepped_in: 0,
            failing_since: None,
            // Who has joined since the Lease was lost may be waited for.
            owes: true,
            stuck_since: None,
            awaited: BTreeSet::new(),
            unanswered: Unanswered::default(),
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
    pub(super) async fn steps(&mut self, stop: &Stop) -> End {
        let mut expired_since = None;
        loop {
            let part = stop.part();
            let is_leaving = part == Part::Leaving;
            if is_leaving {
                // They are free with the release of the Lease at the latest.
                self.shards.remove(0..self.config.shards);
                if let Some(end) = self.end_of_grace(&mut expired_since) {
                    return end;
                }
            }
            let looked = match self.look(stop).await {
                Ok(looked) => {
                    (self.failing_since, self.stuck_since, self.conflicts) = (None, None, 0);
                    looked
                }
                Err(Fault::Fatal(error)) => return End::Failed(error),
                Err(Fault::Stuck) => return End::Lost(STUCK),
                Err(Fault::Lock(error)) => {
                    let looked = self.failed(&error);
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
                () = stop.less_than(part) => {}
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
        self.shards.expire(0..self.config.shards);
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
    /// if there is no such thing. After a shutdown, the term ends anyway.
    fn stuck(&self) -> BoxFuture<'static, ()> {
        match self.stuck_since {
            Some(since) if self.leaving_since.is_none() => {
                let until = after(since, self.config.renew_deadline);
                self.clock.sleep_until(until)
            }
            _ => std::future::pending().boxed(),
        }
    }

    async fn unless_stuck<T>(&self, request: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        tokio::select! {
            biased;
            answer = request => answer,
            () = self.stuck() => Err(Fault::Stuck),
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

    /// A look has failed.
    fn failed(&mut self, error: &LockError) -> Looked {
        if self.owes || !self.unanswered.takes.is_empty() {
            self.stuck_since.get_or_insert(self.asked);
        }
        let group = &self.config.name;
        match error {
            LockError::Conflict => {
                debug!(group, %error, "lost try");
                // The server answers. The next look will show whether somebody has written.
                self.failing_since = None;
                return Looked::Again;
            }
            _ if self.failing_since.is_some() => {
                debug!(group, %error, "the shard group cannot be read or written");
            }
            _ => warn!(group, %error, "the shard group cannot be read or written"),
        }
        self.failing_since.get_or_insert(self.asked);
        self.conflicts = 0;
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
    async fn look(&mut self, stop: &Stop) -> Result<Looked, Fault> {
        self.awaited.clear();
        self.asked = self.clock.now();
        let read = self.unless_stuck(self.read()).await?;
        let (now, part) = (self.clock.now(), stop.part());
        // What follows is a write, if it waits for anything.
        self.asked = now;
        let (leases, group) = (read.leases, read.group.as_ref());
        if self.conflicts > 0 && self.unanswered.is_decided_by(group) {
            // Somebody else has written first, so that the try was no failure.
            self.stuck_since = None;
        }
        let found = match group {
            Some(lease) => self.assignment(lease)?,
            None => None,
        };
        let uid = group.and_then(|lease| lease.metadata.uid.clone());
        let is_another = found.is_none() || self.uid.is_some() && self.uid != uid;
        let mut assignment = found.unwrap_or_else(|| Assignment::empty(&self.config));
        let terms = self.terms.iter().map(String::as_str);
        self.members
            .observe(&leases, terms.chain(assignment.terms()), read.asked, now);
        let confirms = self.confirm(&mut assignment, is_another);

        let mine = assignment.of_term(&self.term);
        self.drop_foreign(&mine);
        let decided = self.unanswered.decided_by(group);
        let changes = match part {
            Part::Full => {
                self.add_taken(&decided, &mine, now);
                assignment.join(&self.term)
            }
            Part::Retiring => assignment.leave(&self.term),
            // Who has nothing just goes.
            Part::Leaving => assignment.leave(&self.term) && !mine.is_empty(),
        };
        let mut moves = self.moves(&mine, &assignment, now);
        // A write that frees what it keeps may still be on its way, so that it is written, too. Else it is its own already.
        let sure = &moves.keep - &self.unanswered.frees;
        self.add(&sure);
        let given = self.given(&mine, &moves);
        moves.take.extend(&moves.keep - &sure);
        if confirms || changes || !given.is_empty() || !moves.take.is_empty() || !moves.give_up.is_empty() {
            self.change(group, &mut assignment, given, moves, stop).await?;
        } else {
            self.uid = uid;
        }
        if part == Part::Leaving && assignment.of_term(&self.term).is_empty() && self.held().next().is_none()
        {
            return Ok(Looked::Left);
        }
        let next = self.next_look(&assignment);
        self.forget(&leases, now, next).await;
        Ok(Looked::Until(next))
    }

    /// Says what it works on, if others wait for that, or if the group's Lease `is_another`: the work goes on. Returns whether this is to be
    /// written.
    fn confirm(&mut self, assignment: &mut Assignment, is_another: bool) -> bool {
        let is_waited_for = assignment.is_unconfirmed(&self.term);
        self.owes = is_waited_for;
        if is_another {
            // Whoever took part, or takes part by now, may own shards.
            let mut live = std::mem::take(&mut self.terms);
            live.extend(self.members.live().map(str::to_owned));
            assignment.doubt(&self.term, live);
        }
        self.terms = assignment.terms().map(str::to_owned).collect();
        if !is_another && !is_waited_for {
            self.says_lost = false;
            return false;
        }
        let mut owned = self.shards.shards();
        owned.extend(self.held());
        if !owned.is_empty() && !std::mem::replace(&mut self.says_lost, true) {
            warn!(
                group = self.config.name,
                shards = ?owned,
                "the group's Lease was deleted: writing the shards of this replica again"
            );
        }
        assignment.confirm(&self.term, &owned);
        true
    }

    /// Adds what it took by a write that seemed to fail.
    fn add_taken(&mut self, decided: &Unanswered, mine: &BTreeSet<u16>, now: Instant) {
        let taken = &decided.takes & mine;
        if decided.steps_in && !taken.is_empty() {
            self.keep_for_others(now);
        }
        self.add(&taken);
    }

    /// Writes which shards become free, with what it takes, and then has what it took and gives up what it has to.
    async fn change(
        &mut self,
        group: Option<&DynamicObject>,
        assignment: &mut Assignment,
        given: BTreeSet<u16>,
        moves: Moves,
        stop: &Stop,
    ) -> Result<(), Fault> {
        assignment.free_up(&given);
        assignment.take(&self.term, &moves.take);
        assignment.forget(|term| *term != self.term && self.members.has_ended(term));
        self.unanswered.sent(given, &moves.take, moves.steps_in);
        self.uid = self.unless_stuck(self.write(group, assignment)).await?;
        self.unanswered = Unanswered::default();
        if moves.steps_in {
            self.keep_for_others(self.clock.now());
        }
        // Nobody may begin to work on what comes during the stop: it is given up with the next look.
        if stop.part() == Part::Full {
            self.add(&moves.take);
        }
        let written = assignment.of_term(&self.term);
        let is_awaited = assignment.is_unconfirmed(&self.term);
        self.owes = is_awaited || !(&written - &self.shards.shards()).is_empty();
        self.give_up(moves.give_up);
        Ok(())
    }

    /// What it takes and gives up, now that it has these shards.
    fn moves(&mut self, mine: &BTreeSet<u16>, assignment: &Assignment, now: Instant) -> Moves {
        let free = assignment.free(|term| term != self.term && self.members.has_ended(term));
        let owner_died = |shard| {
            let owner = assignment.owner(shard);
            owner.is_some_and(|term| self.members.has_run_out(term))
        };
        self.free.note(&free, owner_died, now);
        let mut active = self.members.active(now);
        active.insert(&self.term);
        active.retain(|term| assignment.takes_part(term));
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
        View {
            shards: self.config.shards,
            active,
            // Nobody may take what is given up before that.
            keeps: self.keeps_shards_until.is_some_and(|until| now < until)
                || assignment.is_unsettled(|term| self.members.has_ended(term)),
            kept: mine & &selected,
            leaving: mine - &selected,
            overdue: if may_take {
                self.free.overdue(now)
            } else {
                BTreeSet::new()
            },
            free: if may_take { free } else { BTreeSet::new() },
        }
        .moves(&self.term)
    }

    /// The removed shards on which the work has ended. Notes those that are still held.
    fn given(&mut self, mine: &BTreeSet<u16>, moves: &Moves) -> BTreeSet<u16> {
        let selected = self.shards.shards();
        let removed = mine - &selected;
        self.owes |= !removed.is_empty();
        if !self.owes {
            self.stuck_since = None;
        }
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
        self.owes = true;
        self.awaited.extend(shards);
    }

    /// Adds shards that were written to be ours, if we still own what is ours.
    fn add(&mut self, shards: &BTreeSet<u16>) {
        self.foreign.retain(|shard| !shards.contains(shard));
        let owns = self.owns_until.holds_at(self.clock.now());
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

    /// When there is something new to be seen.
    fn next_look(&self, assignment: &Assignment) -> Instant {
        let others = assignment.terms().filter(|term| *term != self.term);
        let end = self.members.next_end(others);
        let now = self.clock.now();
        let next = after(now, self.config.look_period());
        let overdue = self.free.next_overdue(now);
        end.into_iter().chain(overdue).fold(next, Instant::min)
    }

    /// Writes the group's Lease, and returns its uid.
    async fn write(
        &self,
        group: Option<&DynamicObject>,
        assignment: &mut Assignment,
    ) -> Result<Option<String>, Fault> {
        let unwritable = |error: serde_json::Error| ShardGroupError::Unreadable {
            message: error.to_string(),
        };
        let written = match group {
            Some(lease) => {
                let mut lease = lease.clone();
                assignment.write(&mut lease).map_err(unwritable)?;
                self.lock.update(&lease).await?
            }
            None => {
                let mut lease = self.lock.absent();
                lease.data = serde_json::json!({"spec": {}});
                // A creation has no condition: should it come late, what it says of this replica is old.
                assignment.await_confirmation(&self.term);
                assignment.write(&mut lease).map_err(unwritable)?;
                self.lock.create(&lease).await?
            }
        };
        Ok(written.metadata.uid)
    }

    /// Deletes a Lease of a replica that has been gone for long, and waits for that until the `next` look at most.
    async fn forget(&mut self, leases: &[DynamicObject], now: Instant, next: Instant) {
        if self.keeps_leases_until.is_some_and(|until| now < until) {
            return;
        }
        let Some(forgotten) = self.members.forgotten(leases, now) else {
            return;
        };
        let deleted = tokio::select! {
            biased;
            deleted = self.lock.delete(forgotten) => deleted,
            () = self.clock.sleep_until(next) => Err(LockError::TimedOut(next.saturating_duration_since(now))),
        };
        if let Err(error) = deleted {
            self.keeps_leases_until = Some(after(self.clock.now(), self.config.lease_duration));
            debug!(group = self.config.name, %error, "a Lease of a replica that is gone was not deleted");
        }
    }

    fn assignment(&self, lease: &DynamicObject) -> Result<Option<Assignment>, ShardGroupError> {
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
    /// The term has to end.
    Stuck,
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
