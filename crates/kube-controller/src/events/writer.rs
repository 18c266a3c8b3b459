//! The task that writes events.

use super::correlator::{Correlator, SERIES_IDLE, SeriesKey};
use super::status::Counts;
use k8s_openapi::api::events::v1::Event as ApiEvent;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Status;
use kube::{Api, Client};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::{CancellationToken, DropGuard};

/// As client-go.
const TRIES: usize = 12;
const PAUSE: Duration = Duration::from_secs(10);
/// How often the counts of series that go on are written.
const REFRESH: Duration = Duration::from_secs(30 * 60);
/// The longest time of a request.
pub(super) const REQUEST: Duration = Duration::from_secs(30);
/// How long the last tries may take, all together.
const LAST_TRIES: Duration = Duration::from_secs(30);

/// A series of which something is to be written.
pub(super) struct Waiting {
    pub(super) series: SeriesKey,
    /// Dropped after the first try.
    pub(super) tried: Option<oneshot::Sender<()>>,
}

pub(super) struct Writer {
    pub(super) client: Client,
    pub(super) correlator: Arc<Mutex<Correlator>>,
    pub(super) line: mpsc::Receiver<Waiting>,
    /// Whether the server has not answered the last try.
    pub(super) silent: watch::Sender<bool>,
    pub(super) counts: Arc<Counts>,
    /// Cancelled when each write has one last try.
    pub(super) stop: CancellationToken,
    /// Cancelled when the time of the last tries is over.
    pub(super) late: CancellationToken,
    pub(super) abort: CancellationToken,
    pub(super) _ended: DropGuard,
}

/// What became of a request.
enum Outcome {
    Written,
    /// It cannot be written.
    Refused(Box<Status>),
    /// It can be tried again.
    Failed(String),
}

impl From<kube::Error> for Outcome {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) if status.code != 429 && status.code < 500 => Self::Refused(status),
            error => Self::Failed(error.to_string()),
        }
    }
}

impl Writer {
    pub(super) async fn run(mut self) {
        let (stop, late, abort) = (self.stop.clone(), self.late.clone(), self.abort.clone());
        let last_tries = async {
            stop.cancelled().await;
            tokio::time::sleep(LAST_TRIES).await;
            // What is left is still counted.
            late.cancel();
            std::future::pending().await
        };
        tokio::select! {
            biased;
            () = abort.cancelled() => {}
            () = last_tries => {}
            () = self.write_all() => {}
        }
    }

    async fn write_all(&mut self) {
        let now = Instant::now();
        let mut finish = interval_at(now + SERIES_IDLE, SERIES_IDLE);
        let mut refresh = interval_at(now + REFRESH, REFRESH);
        // Counts that take longer than that leave the line its turn.
        finish.set_missed_tick_behavior(MissedTickBehavior::Delay);
        refresh.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                // Before the line, which may never be empty.
                _ = finish.tick() => self.write_counts(true).await,
                _ = refresh.tick() => self.write_counts(false).await,
                Some(waiting) = self.line.recv() => self.write_series(waiting).await,
            }
        }
        self.line.close();
        while let Some(waiting) = self.line.recv().await {
            self.write_series(waiting).await;
        }
        self.write_counts(false).await;
    }

    async fn write_series(&self, waiting: Waiting) {
        let told = self.correlator().tell(&waiting.series);
        if let Some((event, is_new)) = told {
            self.write(&event, is_new, waiting.tried).await;
        }
    }

    async fn write_counts(&self, idle_only: bool) {
        let untold = self.correlator().untold(idle_only);
        for event in untold {
            self.write(&event, false, None).await;
        }
    }

    fn correlator(&self) -> MutexGuard<'_, Correlator> {
        self.correlator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, event: &ApiEvent, is_new: bool, mut tried: Option<oneshot::Sender<()>>) {
        let namespace = event.metadata.namespace.as_deref().unwrap_or_default();
        let reason = event.reason.as_deref().unwrap_or_default();
        let mut tries = 0;
        loop {
            tries += 1;
            let attempt = tokio::time::timeout(REQUEST, self.attempt(event, is_new));
            let outcome = match self.late.run_until_cancelled(attempt).await {
                Some(Ok(outcome)) => outcome,
                Some(Err(_)) => Outcome::Failed(format!("no answer within {REQUEST:?}")),
                None => Outcome::Failed(format!("no time is left {LAST_TRIES:?} after the stop")),
            };
            self.silent.send_replace(matches!(outcome, Outcome::Failed(_)));
            drop(tried.take());
            let error = match outcome {
                Outcome::Written => {
                    self.counts.written.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                Outcome::Refused(status) => {
                    self.counts.refused.fetch_add(1, Ordering::Relaxed);
                    match is_terminating(&status) {
                        true => tracing::debug!(namespace, reason, error = %status, "an event was refused"),
                        false => tracing::warn!(namespace, reason, error = %status, "an event was refused"),
                    }
                    return;
                }
                Outcome::Failed(error) => error,
            };
            if tries == TRIES || self.stop.is_cancelled() {
                self.counts.failed.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(namespace, reason, error, tries, "an event was given up");
                return;
            }
            tracing::debug!(namespace, reason, error, "an event is tried again");
            // Many processes that have lost the same server do not come back together.
            let pause = match tries {
                1 => PAUSE.mul_f64(fastrand::f64()),
                _ => PAUSE,
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.stop.cancelled() => {}
            }
        }
    }

    async fn attempt(&self, event: &ApiEvent, is_new: bool) -> Outcome {
        let namespace = event.metadata.namespace.as_deref().unwrap_or_default();
        let name = event.metadata.name.as_deref().unwrap_or_default();
        let api: Api<ApiEvent> = Api::namespaced(self.client.clone(), namespace);
        if !is_new {
            let patch = Patch::Merge(json!({ "series": event.series }));
            match api.patch_metadata(name, &PatchParams::default(), &patch).await {
                Ok(_) => return Outcome::Written,
                // It has expired, or was never written.
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => return error.into(),
            }
        }
        match api.create(&PostParams::default(), event).await {
            Ok(_) => Outcome::Written,
            // The answer to an earlier try was lost: nobody else uses this name.
            Err(kube::Error::Api(status)) if status.code == 409 => Outcome::Written,
            Err(error) => error.into(),
        }
    }
}

/// Whether the namespace is being deleted, in which case nobody needs its events.
fn is_terminating(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes
        .into_iter()
        .any(|cause| cause.reason == "NamespaceTerminating")
}
