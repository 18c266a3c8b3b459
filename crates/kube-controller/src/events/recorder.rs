//! The handle with which events are published.

use super::correlator::{Correlator, Observed};
use super::status::{Counts, RecorderStatus};
use super::writer::{REQUEST, Waiting, Writer};
use super::{Event, Reporter};
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How many writes wait in line.
pub(super) const LINE: usize = 1000;

/// Publishes events; see the [module](super).
///
/// Clones are the same recorder. Make one for a process: series, aggregation and spam filter are those of a
/// recorder.
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

struct Shared {
    correlator: Arc<Mutex<Correlator>>,
    line: mpsc::Sender<Waiting>,
    /// Whether the server has not answered the last try.
    silent: watch::Receiver<bool>,
    counts: Arc<Counts>,
    /// Runs from the first event on.
    writer: Mutex<Option<Writer>>,
    stop: CancellationToken,
    _stopped_by_drop: DropGuard,
    /// Cancelled to give up, even what is being written.
    abort: CancellationToken,
    ended: CancellationToken,
}

/// Why an event was not published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event's {field} has to have 1 to 128 bytes, not {bytes}")]
pub struct InvalidEvent {
    /// `reason` or `action`.
    pub field: &'static str,
    /// Its length.
    pub bytes: usize,
}

/// Events were not written before the recorder had to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{writes} events were not written within {timeout:?}")]
pub struct Unwritten {
    /// How many writes were still waiting.
    pub writes: usize,
    /// How long the recorder had.
    pub timeout: Duration,
}

impl Recorder {
    /// A recorder that writes to the cluster of `client`.
    #[must_use]
    pub fn new(client: Client, reporter: Reporter) -> Self {
        let (line, waiting) = mpsc::channel(LINE);
        let correlator = Arc::new(Mutex::new(Correlator::new(reporter)));
        let counts = Arc::new(Counts::default());
        let (is_silent, silent) = watch::channel(false);
        let (stop, abort) = (CancellationToken::new(), CancellationToken::new());
        let ended = CancellationToken::new();
        let writer = Writer {
            client,
            correlator: correlator.clone(),
            line: waiting,
            silent: is_silent,
            counts: counts.clone(),
            stop: stop.clone(),
            late: CancellationToken::new(),
            abort: abort.clone(),
            _ended: ended.clone().drop_guard(),
        };
        let shared = Shared {
            correlator,
            line,
            silent,
            counts,
            writer: Mutex::new(Some(writer)),
            _stopped_by_drop: stop.clone().drop_guard(),
            stop,
            abort,
            ended,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Publishes an event about the object `reference`, in its namespace; in `default` if it has none. It may wait for the
    /// server, up to 30 seconds, as kube's does: in a reconcile, [`record`](Self::record) is better.
    ///
    /// It waits until the server has answered the first attempt to write the event. So later requests come
    /// after the event, and a program that ends then has not lost it. It waits for 30 seconds at most, and
    /// not at all while the server does not answer; the event is written later then. An event that is only
    /// counted, or dropped, is not waited for: the [status](Self::status) tells the two apart.
    /// [`record`](Self::record) never waits.
    ///
    /// # Errors
    ///
    /// [`kube::Error::Service`] with [`InvalidEvent`]: the reason or the action is empty or too long. If the
    /// server refuses the event, that is not an error here: it is logged and counted.
    ///
    /// # Cancel safety
    ///
    /// The first poll queues the event. If the future is dropped later, the event is still written; only the
    /// waiting ends.
    pub async fn publish(&self, ev: &Event, reference: &ObjectReference) -> Result<(), kube::Error> {
        let (tried, mut answered) = oneshot::channel();
        let published = self.put(ev, reference, Some(tried));
        published.map_err(|invalid| kube::Error::Service(invalid.into()))?;
        if answered.try_recv() == Err(oneshot::error::TryRecvError::Closed) {
            return Ok(()); // It needs no answer.
        }
        let mut silent = self.shared.silent.clone();
        let answered = async {
            tokio::select! {
                _ = answered => {}
                _ = silent.wait_for(|silent| *silent) => {}
            }
        };
        let _ = tokio::time::timeout(REQUEST, answered).await;
        Ok(())
    }

    /// [`publish`](Self::publish) without waiting for the server: the event is counted, queued or dropped. It
    /// can be called where nothing can be awaited, such as in a `Drop`.
    ///
    /// # Errors
    ///
    /// The reason or the action is empty or too long.
    pub fn record(&self, event: &Event, regarding: &ObjectReference) -> Result<(), InvalidEvent> {
        self.put(event, regarding, None)
    }

    /// Puts the event in line. `tried` is dropped after the first try to write it, or when there will be
    /// none.
    fn put(
        &self,
        event: &Event,
        regarding: &ObjectReference,
        tried: Option<oneshot::Sender<()>>,
    ) -> Result<(), InvalidEvent> {
        for (text, field) in [(&event.reason, "reason"), (&event.action, "action")] {
            let bytes = text.len();
            if !(1..=128).contains(&bytes) {
                return Err(InvalidEvent { field, bytes });
            }
        }
        let counts = &self.shared.counts;
        if self.shared.stop.is_cancelled() || !self.start() {
            counts.dropped.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        let mut correlator = self.correlator();
        match correlator.observe(event, regarding) {
            Observed::New(key) => {
                let series = key.clone();
                if self.shared.line.try_send(Waiting { series, tried }).is_ok() {
                    counts.overflowing.store(false, Ordering::Relaxed);
                } else {
                    correlator.forget(&key);
                    drop(correlator);
                    self.overflow();
                }
            }
            // If there is no room, the count is written later, with the others.
            Observed::Repeated(series) => _ = self.shared.line.try_send(Waiting { series, tried }),
            Observed::Counted => {}
            Observed::Spam => _ = counts.spam.fetch_add(1, Ordering::Relaxed),
        }
        Ok(())
    }

    fn overflow(&self) {
        let counts = &self.shared.counts;
        counts.dropped.fetch_add(1, Ordering::Relaxed);
        if !counts.overflowing.swap(true, Ordering::Relaxed) {
            tracing::warn!("{LINE} events wait to be written, others are dropped");
        }
    }

    /// Starts the writer. Returns whether it runs: it does not outside of a runtime.
    fn start(&self) -> bool {
        let mut writer = self.shared.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.is_none() {
            return true;
        }
        let Ok(runtime) = Handle::try_current() else {
            return false;
        };
        if let Some(writer) = writer.take() {
            runtime.spawn(writer.run());
        }
        true
    }

    pub(super) fn correlator(&self) -> MutexGuard<'_, Correlator> {
        let correlator = &self.shared.correlator;
        correlator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What became of the events so far.
    #[must_use]
    pub fn status(&self) -> RecorderStatus {
        let counts = &self.shared.counts;
        RecorderStatus {
            waiting: self.shared.line.max_capacity() - self.shared.line.capacity(),
            written: counts.written.load(Ordering::Relaxed),
            dropped: counts.dropped.load(Ordering::Relaxed),
            spam: counts.spam.load(Ordering::Relaxed),
            refused: counts.refused.load(Ordering::Relaxed),
            failed: counts.failed.load(Ordering::Relaxed),
        }
    }

    /// Tries once to write each event that waits, for 30 seconds at most, and stops. Events that are
    /// published later are dropped. What the server has not answered in that time is counted as
    /// [failed](RecorderStatus::failed).
    ///
    /// # Errors
    ///
    /// Not everything was written within `timeout`, and the rest was given up. Zero gives up everything.
    ///
    /// # Cancel safety
    ///
    /// If this future is dropped, the recorder stops all the same, within 30 seconds.
    pub async fn shutdown(&self, timeout: Duration) -> Result<(), Unwritten> {
        self.shared.stop.cancel();
        // One that never ran ends here.
        drop(
            self.shared
                .writer
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        if tokio::time::timeout(timeout, self.shared.ended.cancelled())
            .await
            .is_ok()
        {
            return Ok(());
        }
        let writes = self.status().waiting.max(1);
        self.shared.abort.cancel();
        self.shared.ended.cancelled().await;
        Err(Unwritten { writes, timeout })
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
