//! One candidate's life: it waits, works while it leads, and releases.

use super::candidate::Candidate;
use super::clock::{Clock, SystemClock};
use super::config::{ConfigError, LeaderElectionConfig};
use super::leadership::Leadership;
use super::status::LeaderElectionStatus;
use crate::events::{Event, EventType, Recorder};
use crate::time::after;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use std::any::Any;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::info;

/// A candidate for the leadership, which is represented by a Lease.
///
/// See the [module](super) for an example and for the rules.
#[derive(Debug)]
#[must_use = "a candidate does nothing unless it is run"]
pub struct LeaderElector {
    config: Arc<LeaderElectionConfig>,
    clock: Arc<dyn Clock>,
    status: LeaderElectionStatus,
    candidate: Candidate,
    recorder: Option<Recorder>,
    /// Cancelled when the work of the last run has ended, if there was one.
    work_ended: Option<CancellationToken>,
}

/// Why work has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Shutdown,
    Lost,
}

impl LeaderElector {
    /// A candidate that talks to the cluster of `client`.
    ///
    /// It needs the verbs `get`, `create` and `update` on `leases` in `coordination.k8s.io`.
    ///
    /// # Errors
    ///
    /// The configuration is invalid.
    pub fn new(client: Client, config: LeaderElectionConfig) -> Result<Self, ConfigError> {
        Self::with_clock(
            client,
            config,
            Arc::new(SystemClock),
            SmallRng::seed_from_u64(fastrand::u64(..)),
        )
    }

    pub(super) fn with_clock(
        client: Client,
        config: LeaderElectionConfig,
        clock: Arc<dyn Clock>,
        jitter: SmallRng,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let config = Arc::new(config);
        let status = LeaderElectionStatus::new(&config.identity, config.announced_duration(), clock.clone());
        Ok(Self {
            candidate: Candidate::new(client, config.clone(), clock.clone(), status.clone(), jitter),
            config,
            clock,
            status,
            recorder: None,
            work_ended: None,
        })
    }

    /// Publishes an event about the Lease when the leadership begins and when it ends, with the reason
    /// `LeaderElection` as in client-go. Default: no events.
    ///
    /// The last event is written after the end of a run, so [shut the recorder down](Recorder::shutdown)
    /// after that.
    pub fn with_recorder(mut self, recorder: Recorder) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// The state of the election as this candidate knows it. It is updated while the elector runs.
    #[must_use]
    pub fn status(&self) -> LeaderElectionStatus {
        self.status.clone()
    }

    /// Waits for the leadership, runs `work` while this candidate leads, and releases the Lease.
    ///
    /// `work` runs in its own task. It must end when its [`Leadership`] is cancelled:
    /// - after `shutdown`, within
    ///   [`graceful_shutdown_timeout`](LeaderElectionConfig::graceful_shutdown_timeout). The lease is renewed
    ///   until the work has ended, and released then;
    /// - if the lease could not be renewed for [`renew_deadline`](LeaderElectionConfig::renew_deadline),
    ///   within a part of the time until [`lease_duration`](LeaderElectionConfig::lease_duration), because another candidate may lead
    ///   then, and its clock may be faster: [2.2 seconds by default](LeaderElectionConfig::graceful_shutdown_timeout). The elector still tries to renew meanwhile; if the server answers again, the work has more
    ///   time to end.
    ///
    /// If the work ends by itself, the leadership ends too. Call this again to become a candidate again. Many
    /// programs exit instead, so that nothing of the interrupted work is left.
    ///
    /// Returns what the work returned, or `None` if the shutdown came before the work began.
    ///
    /// # Errors
    ///
    /// - [`LeaderElectionError::Lost`]: the lease was lost, and the work has ended.
    /// - [`LeaderElectionError::WorkNotStopped`]: the work did not end in time. Its task was aborted, which
    ///   ends it at its next await, but not threads and tasks that it has started. The lease is *not*
    ///   released: others wait until it runs out. It is not renewed either, so the process should exit now. A
    ///   further run first waits until that task has ended.
    /// - [`LeaderElectionError::WorkPanicked`]: the work panicked. The lease was released, unless it was
    ///   lost.
    ///
    /// It is not an error if the API server cannot be reached or refuses a request: this is logged, and the
    /// request is repeated.
    ///
    /// # Cancel safety
    ///
    /// If this future is dropped, the work is cancelled and aborted, and the lease runs out by itself. The
    /// elector can be run again.
    pub async fn run<W, F, T>(
        &mut self,
        shutdown: CancellationToken,
        work: W,
    ) -> Result<Option<T>, LeaderElectionError>
    where
        W: FnOnce(Leadership) -> F + Send + 'static,
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        if let Some(ended) = &self.work_ended {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return Ok(None),
                () = ended.cancelled() => self.work_ended = None,
            }
        }
        let since = self.candidate.acquire(&shutdown).await;
        let Some(since) = since.filter(|_| !shutdown.is_cancelled()) else {
            self.candidate.release().await;
            return Ok(None);
        };
        self.tell("became leader");
        let output = self.lead(since, &shutdown, work).await;
        self.tell("stopped leading");
        output
    }

    fn tell(&self, what: &str) {
        let LeaderElectionConfig {
            namespace,
            name,
            identity,
            ..
        } = &*self.config;
        info!(%namespace, lease = %name, %identity, "{what}");
        let Some(recorder) = &self.recorder else { return };
        let event = Event {
            type_: EventType::Normal,
            reason: "LeaderElection".into(),
            note: Some(format!("{identity} {what}")),
            action: "LeaderElection".into(),
            secondary: None,
        };
        let lease = ObjectReference {
            api_version: Some("coordination.k8s.io/v1".into()),
            kind: Some("Lease".into()),
            namespace: Some(namespace.clone()),
            name: Some(name.clone()),
            ..ObjectReference::default()
        };
        // It is valid, and the recorder says itself what it cannot write.
        _ = recorder.record(&event, &lease);
    }

    async fn lead<W, F, T>(
        &mut self,
        since: Instant,
        shutdown: &CancellationToken,
        work: W,
    ) -> Result<Option<T>, LeaderElectionError>
    where
        W: FnOnce(Leadership) -> F + Send + 'static,
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let lease = format!("{}/{}", self.config.namespace, self.config.name);
        let (renewed, mut renewals) = watch::channel(since);
        // Cancelled by the drop of its guard, too, when this future is dropped.
        let term = CancellationToken::new();
        let _term_ends = term.clone().drop_guard();
        let leadership = Leadership::new(
            term.child_token(),
            renewals.clone(),
            self.config.renew_deadline,
            self.clock.clone(),
        );
        self.status.leads(Some(leadership.clone()));
        let mut task = self.spawn(leadership, work);

        let mut stopping: Option<(Cause, Instant)> = None;
        let mut rival = false;
        let joined = {
            let mut keep = pin!(self.candidate.keep(&renewed));
            loop {
                let last = *renewals.borrow_and_update();
                // Until then we may lead; after the second, the work must not go on, as another may lead soon.
                let deadline = after(last, self.config.renew_deadline);
                let expiry = after(last, self.config.work_deadline());
                let wake = match stopping {
                    None => deadline,
                    Some((_, since)) => expiry.min(after(since, self.config.graceful_shutdown_timeout)),
                };
                let cause = tokio::select! {
                    biased;
                    Some(joined) = task.join_next() => break joined,
                    () = shutdown.cancelled(), if stopping.is_none() => Cause::Shutdown,
                    () = self.clock.sleep_until(wake) => match stopping {
                        None => Cause::Lost,
                        Some(_) => return Err(LeaderElectionError::WorkNotStopped { lease }),
                    },
                    Ok(()) = renewals.changed() => continue,
                    () = &mut keep, if !rival => {
                        rival = true;
                        Cause::Lost
                    }
                };
                term.cancel();
                stopping.get_or_insert((cause, self.clock.now()));
            }
        };
        // Whoever has the leadership still sees it end before the lease is given away.
        term.cancel();
        self.status.leads(None);

        let lost = matches!(stopping, Some((Cause::Lost, _)));
        let deadline = after(*renewals.borrow(), self.config.renew_deadline);
        // A lease that could not be renewed runs out as soon as it could be released.
        if !lost || self.clock.now() < deadline {
            self.candidate.release().await;
        }
        match joined {
            Ok(_) if lost => Err(LeaderElectionError::Lost { lease }),
            Ok(output) => Ok(Some(output)),
            Err(error) => Err(LeaderElectionError::WorkPanicked {
                message: panic_message(error),
            }),
        }
    }

    /// Starts the work. It is aborted when the set is dropped.
    fn spawn<W, F, T>(&mut self, leadership: Leadership, work: W) -> JoinSet<T>
    where
        W: FnOnce(Leadership) -> F + Send + 'static,
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let ended = CancellationToken::new();
        self.work_ended = Some(ended.clone());
        let ended = ended.drop_guard();
        let mut task = JoinSet::new();
        task.spawn(async move {
            // Dropped after the work, also if the task is aborted.
            let _ended = ended;
            work(leadership).await
        });
        task
    }
}

/// Why a run ended, if neither by its work nor by the shutdown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeaderElectionError {
    /// The lease was not renewed in time, or somebody else has it. The work has ended. The elector can be run
    /// again.
    #[error("the leadership of lease {lease} was lost")]
    Lost {
        /// The Lease, as `namespace/name`.
        lease: String,
    },
    /// The work did not end in time after it was cancelled, and was aborted. The lease was not released, and
    /// runs out. The process should exit now, because tasks and threads of the work may still run while another
    /// process leads.
    #[error("the work did not stop in time; lease {lease} was not released")]
    WorkNotStopped {
        /// The Lease, as `namespace/name`.
        lease: String,
    },
    /// The work panicked. The lease was released, if it was not lost.
    #[error("the work panicked: {message}")]
    WorkPanicked {
        /// The message of the panic, if that is a string.
        message: String,
    },
}

/// What a task panicked with.
pub(crate) fn panic_message(error: JoinError) -> String {
    let Ok(payload) = error.try_into_panic() else {
        return "its task was aborted".into();
    };
    let payload: &(dyn Any + Send) = &*payload;
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("not a string")
        .into()
}
