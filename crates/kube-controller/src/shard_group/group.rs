//! One replica's membership: it joins, and has lost its shards, or leaves. What it does in between is in [`Member`].

use super::config::{GROUP_LABEL, ShardGroupConfig, ShardGroupConfigError};
use super::error::ShardGroupError;
use super::member::{End, Member};
use super::members::Terms;
use super::owns_until::OwnsUntil;
use super::stop::{Part, Stop};
use crate::leader_election::LeaderElectionStatus;
use crate::leader_election::candidate::Candidate;
use crate::leader_election::clock::{Clock, SystemClock};
use crate::time::after;
use kube::Client;
use kube_informer::ShardSet;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

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
    retire: CancellationToken,
}

impl std::fmt::Debug for ShardGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShardGroup")
            .field("config", &self.config)
            .field("shards", &self.shards)
            .finish_non_exhaustive()
    }
}

impl ShardGroup {
    /// A replica of the group, in the cluster of `client`.
    ///
    /// # Errors
    ///
    /// The configuration makes no sense.
    pub fn new(client: Client, config: ShardGroupConfig) -> Result<Self, ShardGroupConfigError> {
        let random = SmallRng::seed_from_u64(fastrand::u64(..));
        let mut group = Self::with_clock(client, config, Arc::new(SystemClock), random)?;
        // It tells this process from others of its name. The program may have seeded the generator above.
        group.terms = Terms::new(&group.config.identity, rand::random());
        Ok(group)
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
            move || owns_until.holds_at(clock.now())
        });
        Ok(Self {
            config,
            client,
            clock,
            random,
            terms,
            shards,
            owns_until,
            retire: CancellationToken::new(),
        })
    }

    /// The shards that this replica owns, while it [runs](Self::run).
    pub fn shards(&self) -> &ShardSet {
        &self.shards
    }

    /// Has the replica take no more shards once `retire` is cancelled, because the program is about to stop:
    /// nobody may begin to work on them. It keeps those that it has until the shutdown of [`run`](Self::run),
    /// so set a limit to what ends before that, as the manager does with its graceful shutdown timeout.
    /// The other replicas learn of it, and divide the rest. Default: it takes shards until the shutdown.
    ///
    /// A replica that then loses its shards does not join again, and `run` returns.
    pub fn retire_on(&mut self, retire: CancellationToken) {
        self.retire = retire;
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
    /// - [`ShardGroupError::Unreadable`]: the group's Lease does not say who owns what.
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
        let stop = Stop {
            retire: self.retire.clone(),
            leave: shutdown,
        };
        while stop.part() == Part::Full {
            self.term(&stop).await?;
        }
        drop(dropped);
        Ok(())
    }

    /// One term, from joining to leaving or losing.
    async fn term(&mut self, stop: &Stop) -> Result<(), ShardGroupError> {
        tokio::select! {
            biased;
            () = stop.less_than(Part::Full) => return Ok(()),
            // A run before this one may have been dropped.
            () = self.idle() => {}
        }
        let term = self.terms.next();
        let mut candidate = self.candidate(&term);
        let acquired = tokio::select! {
            biased;
            () = stop.less_than(Part::Full) => None,
            since = candidate.acquire(&stop.leave) => since,
        };
        let Some(since) = acquired else {
            candidate.release().await;
            return Ok(());
        };
        info!(group = self.config.name, %term, "joined the shard group");
        let mut member = Member::new(
            self.client.clone(),
            self.config.clone(),
            self.clock.clone(),
            term,
            SmallRng::seed_from_u64(self.random.random()),
            self.shards.clone(),
            self.owns_until.clone(),
        );
        let (end, expiry) = self.membership(&mut candidate, &mut member, since, stop).await;
        match end {
            End::Left => {
                candidate.release().await;
                info!(group = self.config.name, "left the shard group");
                Ok(())
            }
            End::Lost(why) => {
                warn!(group = self.config.name, "lost the shards: {why}");
                self.wind_down(expiry, &stop.leave, member.leaving_since())
                    .await?;
                // It runs out as soon as it could be released, but others need not wait for that.
                candidate.release().await;
                Ok(())
            }
            // It runs out.
            End::Failed(ShardGroupError::StillHeld) => Err(ShardGroupError::StillHeld),
            End::Failed(error) => {
                self.wind_down(expiry, &stop.leave, member.leaving_since())
                    .await?;
                candidate.release().await;
                Err(error)
            }
        }
    }

    /// The candidate for the replica's own Lease, in a term.
    fn candidate(&mut self, term: &str) -> Candidate {
        let lease = self.config.lease_of(term);
        let status = LeaderElectionStatus::new(term, lease.announced_duration(), self.clock.clone());
        let jitter = SmallRng::seed_from_u64(self.random.random());
        Candidate::new(
            self.client.clone(),
            lease.into(),
            self.clock.clone(),
            status,
            jitter,
        )
        .labelled(GROUP_LABEL, &self.config.name)
        // Nobody holds a shard of a term before this one, so its Lease need not run out.
        .succeeding(self.terms.prefix())
    }

    /// Takes part in the group while the Lease is renewed. Returns how that has ended, and when what still works on shards has to stop.
    async fn membership(
        &self,
        candidate: &mut Candidate,
        member: &mut Member,
        since: Instant,
        stop: &Stop,
    ) -> (End, Instant) {
        let (renewed, mut renewals) = watch::channel(since);
        let mut is_taken = false;
        let end = {
            let mut keep = pin!(candidate.keep(&renewed));
            let mut steps = pin!(member.steps(stop));
            loop {
                let last = *renewals.borrow_and_update();
                let deadline = after(last, self.config.renew_deadline);
                self.owns_until.set(Some(deadline));
                tokio::select! {
                    biased;
                    () = self.clock.sleep_until(deadline) => break End::Lost("the Lease was not renewed in time"),
                    end = &mut steps => break end,
                    Ok(()) = renewals.changed() => {}
                    () = &mut keep => {
                        is_taken = true;
                        break End::Lost("the Lease is somebody else's");
                    }
                }
            }
        };
        self.owns_until.set(None);
        self.shards.remove(0..self.config.shards);
        if is_taken {
            // To others, the term has ended with its Lease.
            return (end, self.clock.now());
        }
        // Another replica may take the shards when its own clock says that the Lease has run out, and that
        // may go faster.
        let lease_duration = self.config.lease_of("").announced_duration();
        let runs = self.config.renew_deadline.max(lease_duration.mul_f64(EXPIRY));
        (end, after(*renewals.borrow(), runs))
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

/// Takes all shards away when it is dropped.
struct Expire(ShardSet);

impl Drop for Expire {
    fn drop(&mut self) {
        let all = 0..self.0.count();
        self.0.remove(all.clone());
        self.0.expire(all);
    }
}
