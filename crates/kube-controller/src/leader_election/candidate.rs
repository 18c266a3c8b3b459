//! The rules of the election: who may write the Lease, and when.

use super::clock::Clock;
use super::config::{JITTER_FACTOR, LeaderElectionConfig};
use super::lock::{LeaseLock, LockError};
use super::record::Record;
use super::status::LeaderElectionStatus;
use crate::time::after;
use kube::Client;
use kube::api::DynamicObject;
use rand::Rng as _;
use rand::rngs::SmallRng;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

/// What came of a try to write the Lease that met no error.
#[derive(Debug)]
pub(crate) enum Try {
    /// The Lease is ours, by a request that was sent at this time.
    Held(Instant),
    /// It is somebody else's.
    Rival,
}

/// One that wants the Lease, or has it.
///
/// Every future of it may be dropped at any time. A write whose answer was not awaited may still be applied; all writes are
/// conditional, so it is either seen by the next GET or makes the next write fail.
#[derive(Debug)]
pub(crate) struct Candidate {
    config: Arc<LeaderElectionConfig>,
    lock: LeaseLock,
    clock: Arc<dyn Clock>,
    status: LeaderElectionStatus,
    jitter: SmallRng,
    /// What the names of holders begin with that are no rivals: this process has been them, and has stopped to be.
    former: Option<String>,
    /// The record that was seen last, to notice changes.
    seen: Option<Record>,
    /// Until when the other holder that was seen last may believe that it leads.
    ///
    /// It stays when the Lease is then gone, or says that it is ours though we have not taken it: somebody has deleted it
    /// or brought an old state back, of which that holder does not know yet.
    rival_until: Option<Instant>,
    /// The Lease as it was answered to our last write, if it may still be like that.
    held: Option<DynamicObject>,
    /// Whether the Lease may be ours: a write may have been applied, and no other holder was seen since.
    may_hold: bool,
}

impl Candidate {
    pub(crate) fn new(
        client: Client,
        config: Arc<LeaderElectionConfig>,
        clock: Arc<dyn Clock>,
        status: LeaderElectionStatus,
        jitter: SmallRng,
    ) -> Self {
        let timeout = config.request_timeout();
        Self {
            lock: LeaseLock::new(client, &config.namespace, &config.name, clock.clone(), timeout),
            config,
            clock,
            status,
            jitter,
            former: None,
            seen: None,
            rival_until: None,
            held: None,
            may_hold: false,
        }
    }

    /// Has the Lease made with this label.
    pub(crate) fn labelled(mut self, name: &str, value: &str) -> Self {
        self.lock.label(name, value);
        self
    }

    /// Takes the Lease at once from a holder whose name begins like this. Such a holder must have been this process, and what it did as
    /// that holder must have ended.
    pub(crate) fn succeeding(mut self, former: impl Into<String>) -> Self {
        self.former = Some(former.into());
        self
    }

    /// Tries until the Lease is ours, and returns when the request that got it was sent; `None` after the shutdown.
    pub(crate) async fn acquire(&mut self, shutdown: &CancellationToken) -> Option<Instant> {
        loop {
            let attempt = tokio::select! {
                biased;
                () = shutdown.cancelled() => return None,
                attempt = self.try_acquire() => attempt,
            };
            match attempt {
                // An answer that came so late that it is no good is a lost try.
                Ok(Try::Held(since)) if self.clock.now() < after(since, self.config.renew_deadline) => {
                    return Some(since);
                }
                Ok(Try::Held(_) | Try::Rival) => {}
                Err(error) => self.report("get", &error),
            }
            let pause = self.config.retry_period;
            let pause = pause + pause.mul_f64(JITTER_FACTOR * self.jitter.random::<f64>());
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return None,
                () = self.clock.sleep_until(after(self.clock.now(), pause)) => {}
            }
        }
    }

    pub(crate) async fn try_acquire(&mut self) -> Result<Try, LockError> {
        let found = self.look().await?;
        if self.rival_until.is_some_and(|until| self.clock.now() < until) {
            return Ok(Try::Rival);
        }
        match found {
            Some((lease, _)) => self.update(lease).await,
            None => self.create().await,
        }
    }

    /// Renews the Lease until it is somebody else's. `renewed` is told when the request of each renewal was sent.
    pub(crate) async fn keep(&mut self, renewed: &watch::Sender<Instant>) {
        let mut last_try = *renewed.borrow();
        loop {
            self.clock
                .sleep_until(after(last_try, self.config.retry_period))
                .await;
            last_try = self.clock.now();
            match self.try_renew().await {
                Ok(Try::Held(since)) => _ = renewed.send_replace(since),
                Ok(Try::Rival) => return,
                Err(error) => self.report("renew", &error),
            }
        }
    }

    pub(crate) async fn try_renew(&mut self) -> Result<Try, LockError> {
        if let Some(lease) = self.held.take() {
            match self.update(lease).await {
                Err(error) => debug!(lease = %self.config.name, %error, "renewing with a GET"),
                renewed => return renewed,
            }
        }
        match self.look().await? {
            Some((_, record)) if self.is_rivals(&record) => Ok(Try::Rival),
            Some((lease, _)) => self.update(lease).await,
            None => self.create().await,
        }
    }

    /// Reads the Lease, and notes what it says.
    async fn look(&mut self) -> Result<Option<(DynamicObject, Record)>, LockError> {
        self.held = None;
        let found = self.lock.get().await?.map(|lease| {
            let record = Record::of(&lease.data);
            (lease, record)
        });
        match &found {
            Some((_, record)) => self.observe(record),
            None => self.observe_absence(),
        }
        Ok(found)
    }

    fn is_rivals(&self, record: &Record) -> bool {
        let was_us = |holder: &str| {
            self.former
                .as_ref()
                .is_some_and(|former| holder.starts_with(former))
        };
        record
            .holder()
            .is_some_and(|holder| holder != self.config.identity && !was_us(holder))
    }

    async fn create(&mut self) -> Result<Try, LockError> {
        let seconds = self.config.announced_seconds();
        let mut lease = self.lock.absent();
        Record::first(&self.config.identity, seconds, self.clock.wall()).write(&mut lease.data);
        let since = self.before_write();
        let answer = self.lock.create(&lease).await?;
        self.written(answer, since)
    }

    async fn update(&mut self, mut lease: DynamicObject) -> Result<Try, LockError> {
        let seconds = self.config.announced_seconds();
        let record = Record::of(&lease.data);
        record
            .held_by(&self.config.identity, seconds, self.clock.wall())
            .write(&mut lease.data);
        let since = self.before_write();
        let answer = self.lock.update(&lease).await?;
        self.written(answer, since)
    }

    fn before_write(&mut self) -> Instant {
        self.may_hold = true;
        self.clock.now()
    }

    fn written(&mut self, lease: DynamicObject, since: Instant) -> Result<Try, LockError> {
        let record = Record::of(&lease.data);
        self.observe(&record);
        if record.holder() != Some(&self.config.identity) {
            return Err(LockError::OtherHolder);
        }
        self.rival_until = None;
        self.held = Some(lease);
        self.status.renewed(since);
        Ok(Try::Held(since))
    }

    /// Notes the record and, if it has changed, the time: the only one that says whether a holder is alive.
    fn observe(&mut self, record: &Record) {
        if self.seen.as_ref() == Some(record) {
            return;
        }
        let now = self.clock.now();
        if self.is_rivals(record) {
            // A holder that does not say for how long is given as much time as we would take.
            let duration = record.duration().unwrap_or(self.config.announced_duration());
            self.rival_until = Some(after(now, duration));
            self.may_hold = false;
        } else if record.holder().is_none() {
            self.rival_until = None;
        }
        self.status.observed(record.holder(), now);
        self.seen = Some(record.clone());
    }

    fn observe_absence(&mut self) {
        self.seen = None;
        self.status.observed(None, self.clock.now());
    }

    /// Says in the Lease that nobody holds it, if it is ours.
    ///
    /// Tries for another `renew_deadline`, since what was asked for before may be cancelled or have used up its time.
    pub(crate) async fn release(&mut self) {
        if !self.may_hold {
            return;
        }
        let give_up = self
            .clock
            .sleep_until(after(self.clock.now(), self.config.renew_deadline));
        tokio::select! {
            biased;
            () = self.release_until_done() => {}
            () = give_up => warn!(lease = %self.config.name, "the lease could not be released, it has to run out"),
        }
    }

    async fn release_until_done(&mut self) {
        // A conflict is most likely with our own last renewal, so not much time has to pass.
        let pause = (self.config.retry_period / 10).max(Duration::from_millis(1));
        while let Err(error) = self.try_release().await {
            self.report("release", &error);
            self.clock.sleep_until(after(self.clock.now(), pause)).await;
        }
        self.may_hold = false;
    }

    async fn try_release(&mut self) -> Result<(), LockError> {
        if let Some((mut lease, record)) = self.look().await?
            && record.holder() == Some(&self.config.identity)
        {
            record.released(self.clock.wall()).write(&mut lease.data);
            let answer = self.lock.update(&lease).await?;
            self.observe(&Record::of(&answer.data));
        }
        Ok(())
    }

    fn report(&self, action: &str, error: &LockError) {
        let (namespace, lease) = (&self.config.namespace, &self.config.name);
        match error {
            LockError::Conflict => debug!(%namespace, %lease, action, %error, "lost try"),
            _ => warn!(%namespace, %lease, action, %error, "failed try"),
        }
    }
}
