//! A controller: a queue and a function that processes what comes out of it.
//!
//! This is the consumer's half of an informer, for those who want something else than a store and handlers at the end
//! of a watch. Anything may fill the queue. To have a [`Reflector`](crate::reflector::Reflector) fill it, give that a
//! [`QueueSink`]:
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kube_informer::controller::{Controller, Parcel, QueueSink};
//! use kube_informer::queue::{Batch, DeltaFifo, Entries};
//! use kube_informer::reflector::Reflector;
//! use kube_informer::source::{ClientSource, Selection};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example(client: kube::Client) {
//! let resource = kube::core::ApiResource::erase::<Pod>(&());
//! let source = ClientSource::new(client, resource, Selection::default());
//! let queue = DeltaFifo::new(4096);
//! let reflector = Reflector::new(source, QueueSink::new(queue.clone(), ()));
//! let controller = Controller::new(queue, async |batch: Batch<Parcel<Pod>>| match batch.entries {
//!     Entries::Replace(list) => println!("{} pods exist", list.entries.len()),
//!     Entries::Deltas(deltas) => println!("{} pods changed", deltas.len()),
//! });
//! let stop = CancellationToken::new();
//! tokio::join!(reflector.run(stop.clone()), controller.run(stop));
//! # }
//! ```
//!
//! # Whether it has synced
//! The queue says so: [`DeltaFifo::has_synced`] and [`DeltaFifo::synced`].
//!
//! # Failures
//! The function returns nothing, because nobody but itself knows what a failure means. To try changes again, it gives
//! them back to the queue: [`DeltaFifo::requeue`].
//!
//! # Slow processing
//! A batch that takes longer than a tenth of a second for each of its entries, or than a second, is logged as a warning
//! if more than ten changes wait behind it.

mod sink;

pub use sink::{Parcel, QueueSink};

use crate::queue::{Batch, DeltaFifo, Entries};
use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// What a [`Controller`] does with what it takes from its queue.
///
/// A closure will do: `async |batch| { … }`, or one that returns a future.
#[doc(alias = "PopProcessFunc")]
pub trait Process<T>: Send {
    /// Processes one batch. It counts as processed when `batch.processed` is dropped, so keep that until then.
    fn process(&mut self, batch: Batch<T>) -> impl Future<Output = ()> + Send;

    /// Is called when a [resync](Controller::resync) is due, and returns whether it is complete. If it is not, this is
    /// called again; a batch that waits is processed in between, and cancellation ends the resync. So a long resync
    /// should be done in small steps. Default: nothing happens.
    fn resync(&mut self) -> impl Future<Output = bool> + Send {
        async { true }
    }
}

impl<T: Send, F, R> Process<T> for F
where
    F: FnMut(Batch<T>) -> R + Send,
    R: Future<Output = ()> + Send,
{
    fn process(&mut self, batch: Batch<T>) -> impl Future<Output = ()> + Send {
        self(batch)
    }
}

/// Takes changes from a queue and processes them, one batch at a time; see the [module](self).
#[must_use = "a controller does nothing until it is run"]
pub struct Controller<T, P> {
    queue: DeltaFifo<T>,
    process: P,
    name: String,
    batch: usize,
    resync: Duration,
}

impl<T: Send, P: Process<T>> Controller<T, P> {
    /// A controller of `queue`. A queue has one consumer.
    pub fn new(queue: DeltaFifo<T>, process: P) -> Self {
        Self {
            queue,
            process,
            name: String::new(),
            batch: usize::MAX,
            resync: Duration::ZERO,
        }
    }

    /// A name for the log. Default: none.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The most keys in one batch. Default: all that are queued; at least 1.
    pub fn batch(mut self, keys: usize) -> Self {
        self.batch = keys;
        self
    }

    /// How often [`Process::resync`] is called. Default: zero, which is never. The period counts from the beginning of the
    /// last resync; one that takes longer is followed by the next at once. Batches are processed in between.
    #[doc(alias = "FullResyncPeriod")]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = period;
        self
    }

    /// Runs until `token` is cancelled, or until the queue is closed and empty. The batch that is being processed is
    /// finished; what is still queued when the token is cancelled is left there. In the end the queue is closed, so that
    /// nobody waits for room in it.
    ///
    /// # Panics
    /// If the process function does; the queue is closed then, too.
    ///
    /// # Cancel safety
    /// Dropping the future drops the batch that is being processed. Cancel the token instead.
    pub async fn run(mut self, token: CancellationToken) {
        let _closed = CloseOnDrop(&self.queue);
        let mut cancelled = std::pin::pin!(token.cancelled());
        let mut next_resync = std::pin::pin!(sleep_until(after(Instant::now(), self.resync)));
        // When the resync that is going on began.
        let mut resyncing = None;
        loop {
            tokio::select! {
                biased;
                () = &mut cancelled => return,
                batch = self.queue.pop(self.batch) => match batch {
                    Some(batch) => {
                        let watch = SlowWatch::new(&batch.entries);
                        self.process.process(batch).await;
                        watch.end(&self.name, self.queue.len());
                    }
                    None => return,
                },
                () = &mut next_resync => {}
            }
            // Between any two batches, so that neither a busy queue nor a long resync keeps the other waiting.
            if next_resync.deadline() <= Instant::now() && !token.is_cancelled() {
                let began = *resyncing.get_or_insert_with(Instant::now);
                if self.process.resync().await {
                    next_resync.as_mut().reset(after(began, self.resync));
                    resyncing = None;
                }
            }
            // A queue that is never empty must not keep the thread from everybody else.
            tokio::task::consume_budget().await;
        }
    }
}

/// When a period that begins at `start` is over. A period of zero never is, nor is one that is too long for the clock.
pub(crate) fn after(start: Instant, period: Duration) -> Instant {
    // Thirty years, which is what tokio's own timers take for never.
    const NEVER: Duration = Duration::from_secs(86_400 * 365 * 30);
    let end = start.checked_add(period).filter(|_| !period.is_zero());
    let never = start + NEVER;
    end.map_or(never, |end| end.min(never))
}

struct CloseOnDrop<'a, T>(&'a DeltaFifo<T>);

impl<T> Drop for CloseOnDrop<'_, T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Sees whether the processing of a batch is slow and holds others up.
pub(crate) struct SlowWatch {
    started: Instant,
    entries: usize,
}

/// Slow is what takes longer than this for each entry, up to [`SLOW_AT_MOST`].
const SLOW_PER_ENTRY: Duration = Duration::from_millis(100);
const SLOW_AT_MOST: Duration = Duration::from_secs(1);
/// If no more than this waits, a slow batch holds nobody up.
const FEW: usize = 10;

impl SlowWatch {
    pub(crate) fn new<T>(entries: &Entries<T>) -> Self {
        let entries = match entries {
            Entries::Deltas(deltas) => deltas.len(),
            Entries::Replace(replace) => replace.entries.len(),
        };
        Self {
            started: Instant::now(),
            entries,
        }
    }

    pub(crate) fn end(self, name: &str, waiting: usize) {
        let took = self.started.elapsed();
        let entries = u32::try_from(self.entries).unwrap_or(u32::MAX).max(1);
        if waiting > FEW && took > SLOW_PER_ENTRY.saturating_mul(entries).min(SLOW_AT_MOST) {
            tracing::warn!(name, entries, ?took, waiting, "processing is slow");
        }
    }
}
