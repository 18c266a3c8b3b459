//! The loop that pops a queue and processes each batch.

use super::{Accumulator, Batch, Entries, Queue};
use crate::time::later;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Pops changes from a queue and processes them, one batch at a time.
///
/// An informer is a [`Reflector`](crate::reflector::Reflector), a queue, and this loop with a function that updates a
/// store and notifies handlers. These parts can be used without an informer, to process changes in another way:
///
/// ```no_run
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::low_level::queue::{Batch, DeltaFifo, Deltas, Entries, ProcessLoop};
/// use kube_informer::low_level::{DecodeResult, QueueSink};
/// use kube_informer::reflector::Reflector;
/// use kube_informer::source::{ClientSource, Selection};
/// use tokio_util::sync::CancellationToken;
///
/// # async fn example(client: kube::Client) {
/// let resource = kube::core::ApiResource::erase::<Pod>(&());
/// let source = ClientSource::new(client, resource, Selection::default());
/// let queue = DeltaFifo::new(4096);
/// let reflector = Reflector::new(source, QueueSink::new(queue.clone(), ()));
/// let processing = ProcessLoop::new(queue, async |batch: Batch<Deltas<DecodeResult<Pod>>>| match batch.entries {
///     Entries::Replace { entries, .. } => println!("{} pods exist", entries.len()),
///     Entries::Changes(changes) => println!("{} pods changed", changes.len()),
///     _ => {}
/// });
/// let stop = CancellationToken::new();
/// tokio::join!(reflector.run(stop.clone()), processing.run(stop));
/// # }
/// ```
///
/// # Sync
/// See [`Queue::has_synced`] and [`Queue::synced`].
///
/// # Failures
/// The function returns nothing, because only it knows how to handle a failure. To retry changes, it adds them to the
/// queue again with [`Queue::requeue`].
///
/// # Slow processing
/// A batch that takes longer than 100 ms for each of its entries, or longer than one second, is logged as a warning
/// if more than ten changes are pending behind it.
#[doc(alias = "Controller")]
#[doc(alias = "processLoop")]
#[must_use = "nothing is processed until it is run"]
pub struct ProcessLoop<A: Accumulator, P> {
    queue: Queue<A>,
    process: P,
    name: String,
    max_keys: usize,
    resync: watch::Receiver<Duration>,
}

/// The function that a [`ProcessLoop`] calls with each batch.
///
/// Implemented for closures: `async |batch| { … }`, or one that returns a future.
#[doc(alias = "PopProcessFunc")]
pub trait Process<A: Accumulator>: Send {
    /// Processes one batch. The batch counts as processed when `batch.guard` is dropped, so keep that guard until
    /// processing is complete.
    fn process(&mut self, batch: Batch<A>) -> impl Future<Output = ()> + Send;
}

impl<A: Accumulator, F, R> Process<A> for F
where
    F: FnMut(Batch<A>) -> R + Send,
    R: Future<Output = ()> + Send,
{
    fn process(&mut self, batch: Batch<A>) -> impl Future<Output = ()> + Send {
        self(batch)
    }
}

impl<A: Accumulator, P: Process<A>> ProcessLoop<A, P> {
    /// A loop over `queue`. A queue has one consumer.
    pub fn new(queue: Queue<A>, process: P) -> Self {
        Self {
            queue,
            process,
            name: String::new(),
            max_keys: usize::MAX,
            resync: watch::channel(Duration::ZERO).1,
        }
    }

    /// Sets a name for log messages. Default: none.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The most keys in one batch. Default: all that are queued; at least 1.
    pub fn max_keys(mut self, keys: usize) -> Self {
        self.max_keys = keys;
        self
    }

    /// Sets the period of [resyncs](Queue::resync), counted from the end of the previous one. Default: zero, which
    /// disables them.
    #[doc(alias = "FullResyncPeriod")]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = watch::channel(period).1;
        self
    }

    /// Like [`resync`](Self::resync), with a period that can change.
    pub(crate) fn resync_as(mut self, period: watch::Receiver<Duration>) -> Self {
        self.resync = period;
        self
    }

    /// Runs until `token` is cancelled, or until the queue is closed and empty. The batch that is being processed is
    /// finished; changes that are still queued when the token is cancelled stay in the queue. Before this returns, it
    /// closes the queue, so that no producer waits for capacity.
    ///
    /// # Panics
    /// Panics if the process function panics. The queue is closed in that case too.
    ///
    /// # Cancel safety
    /// Dropping the future drops the batch that is being processed. Cancel the token instead.
    pub async fn run(mut self, token: CancellationToken) {
        let _closed = CloseOnDrop(&self.queue);
        let mut cancelled = pin!(token.cancelled());
        let mut resync = pin!(sleep_until(after(
            Instant::now(),
            *self.resync.borrow_and_update()
        )));
        loop {
            // A resync is queued like every other entry, so it cannot delay the batches before it.
            tokio::select! {
                biased;
                () = &mut cancelled => return,
                () = &mut resync => {
                    resync.as_mut().reset(after(Instant::now(), *self.resync.borrow()));
                    self.queue.resync();
                }
                Ok(()) = self.resync.changed() => {
                    resync.as_mut().reset(after(Instant::now(), *self.resync.borrow_and_update()));
                }
                batch = self.queue.pop(self.max_keys) => {
                    let Some(batch) = batch else { return };
                    if batch.was_full {
                        // A producer that waited for capacity was woken on this thread. Yielding lets another thread
                        // steal its task before a long batch is processed.
                        tokio::task::yield_now().await;
                    }
                    let watch = SlowWatch::new(&batch.entries);
                    let resyncs = matches!(batch.entries, Entries::Resync);
                    self.process.process(batch).await;
                    watch.end(&self.name, self.queue.len());
                    if resyncs {
                        // The resync may have waited behind other entries. The next one follows no sooner than one
                        // period later, because handlers with that period would not be due yet.
                        resync.as_mut().reset(after(Instant::now(), *self.resync.borrow()));
                    }
                }
            }
            // A queue that is never empty must not starve the other tasks of this thread.
            tokio::task::consume_budget().await;
        }
    }
}

/// The end of a period that starts at `start`. A period of zero never ends, nor does one that is too long for the
/// clock.
pub(crate) fn after(start: Instant, period: Duration) -> Instant {
    match period {
        Duration::ZERO => later(start, Duration::MAX),
        period => later(start, period),
    }
}

struct CloseOnDrop<'a, A: Accumulator>(&'a Queue<A>);

impl<A: Accumulator> Drop for CloseOnDrop<'_, A> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Detects batches whose slow processing delays others.
struct SlowWatch {
    started: Instant,
    entries: usize,
}

/// A batch is slow if it takes longer than this for each entry, up to [`SLOW_AT_MOST`].
const SLOW_PER_ENTRY: Duration = Duration::from_millis(100);
const SLOW_AT_MOST: Duration = Duration::from_secs(1);
/// A slow batch is reported only if more changes than this are pending.
const FEW: usize = 10;

impl SlowWatch {
    fn new<A: Accumulator>(entries: &Entries<A>) -> Self {
        let entries = match entries {
            Entries::Changes(changes) => changes.len(),
            Entries::Replace { entries, .. } | Entries::Restored { entries, .. } => entries.len(),
            Entries::Resync
            | Entries::Confirmed(_)
            | Entries::PartitionAdded(_)
            | Entries::PartitionRemoved(_) => 1,
        };
        Self {
            started: Instant::now(),
            entries,
        }
    }

    fn end(self, name: &str, waiting: usize) {
        let took = self.started.elapsed();
        let entries = u32::try_from(self.entries).unwrap_or(u32::MAX).max(1);
        if waiting > FEW && took > SLOW_PER_ENTRY.saturating_mul(entries).min(SLOW_AT_MOST) {
            tracing::warn!(name, entries, ?took, waiting, "processing is slow");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Partition;
    use crate::queue::{Delta, DeltaFifo};

    async fn taken(queue: &DeltaFifo<u32>) -> usize {
        match queue.pop(usize::MAX).await.expect("not closed").entries {
            Entries::Changes(changes) => changes.len(),
            _ => 0,
        }
    }

    /// Pushes `count` changes from a separate task, which yields after each one, or only when tokio's budget is used
    /// up.
    fn push(queue: &DeltaFifo<u32>, count: u32, yields: bool) {
        let queue = queue.clone();
        tokio::spawn(async move {
            for number in 0..count {
                let key = format!("key-{number}").into();
                queue
                    .push(Partition::SINGLE, key, Delta::Added(number), None)
                    .await;
                match yields {
                    true => tokio::task::yield_now().await,
                    false => tokio::task::consume_budget().await,
                }
            }
        });
    }

    #[tokio::test(start_paused = true)]
    async fn a_period_begins_with_the_last_resync() {
        let second = Duration::from_secs(1);
        let queue = DeltaFifo::<u32>::new(10);
        let (pushed, resyncs) = (queue.clone(), std::sync::Arc::new(std::sync::Mutex::new(vec![])));
        let (start, told) = (Instant::now(), resyncs.clone());
        let process = move |batch: Batch<crate::queue::Deltas<u32>>| {
            let told = told.clone();
            async move {
                match batch.entries {
                    Entries::Resync => told.lock().unwrap().push(start.elapsed().as_secs()),
                    _ => tokio::time::sleep(3 * second).await,
                }
            }
        };
        let stop = CancellationToken::new();
        let running = tokio::spawn(
            ProcessLoop::new(queue, process)
                .resync(10 * second)
                .run(stop.clone()),
        );
        tokio::time::sleep(9 * second).await;
        for _ in 0..3 {
            pushed.replace(Partition::SINGLE, vec![], None).await;
        }
        tokio::time::sleep(31 * second).await;
        stop.cancel();
        running.await.unwrap();
        // Two lists were in front of the first one.
        assert_eq!(*resyncs.lock().unwrap(), [18, 28, 38]);
    }

    #[tokio::test(start_paused = true)]
    async fn single_changes_are_processed_without_delay() {
        let queue = DeltaFifo::new(1000);
        push(&queue, 20, true);
        assert!(taken(&queue).await < 10);
    }
}
