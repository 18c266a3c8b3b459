//! Workers, which take items from a queue, reconcile them, and add those again that need another run.

use std::any::Any;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::queue::{Processing, WorkQueue};

/// Whether an item that was reconciled is processed again without being added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(alias = "Result")]
pub enum Requeue {
    /// Not until the item is added again. Clears its failures.
    No,
    /// After this time. Clears its failures.
    #[doc(alias = "RequeueAfter")]
    After(Duration),
}

/// Tasks that reconcile the items of a queue, each item in one of them at a time.
///
/// If the reconcile function returns an error, takes too long or panics, the failure is logged and counted
/// ([`WorkerStats`]), and the item is retried with the same priority when the queue's rate limiter allows it.
///
/// ```
/// use std::convert::Infallible;
/// use kube_workqueue::{Requeue, WorkQueue, Workers};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let queue = WorkQueue::new();
/// queue.add("default/web");
/// let workers = Workers::new(queue.clone(), 4);
/// let stats = workers.stats();
/// let running = tokio::spawn(workers.run(|_key| async { Ok::<_, Infallible>(Requeue::No) }));
///
/// queue.shut_down();
/// running.await.unwrap();
/// assert_eq!(stats.succeeded(), 1);
/// # }
/// ```
#[derive(Debug)]
#[must_use = "workers do nothing until they run"]
#[doc(alias = "MaxConcurrentReconciles")]
pub struct Workers<T> {
    queue: WorkQueue<T>,
    count: usize,
    timeout: Option<Duration>,
    stop: CancellationToken,
    stats: WorkerStats,
}

impl<T> Workers<T>
where
    T: Eq + Hash + Clone + Debug + Send + Sync + 'static,
{
    /// Creates `count` workers, at least one.
    pub fn new(queue: WorkQueue<T>, count: usize) -> Self {
        Self {
            queue,
            count: count.max(1),
            timeout: None,
            stop: CancellationToken::new(),
            stats: WorkerStats::default(),
        }
    }

    /// Sets a time limit for one run of an item. After it the future is dropped, and the run has failed.
    /// Default: no limit.
    #[doc(alias = "ReconciliationTimeout")]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets a token that stops the workers when it is cancelled: the queue is shut down, and the workers
    /// finish their current runs and leave queued items in the queue. Default: they stop when the queue is
    /// shut down and empty.
    pub fn stop_on(mut self, token: CancellationToken) -> Self {
        self.stop = token;
        self
    }

    /// The workers' counters, which are updated while they run.
    pub fn stats(&self) -> WorkerStats {
        self.stats.clone()
    }

    /// Runs until the queue is shut down and empty, or the token of [`stop_on`](Self::stop_on) is cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the workers at their current await point; their items count as done.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime, and if the queue's rate limiter panics. A panic of `reconcile` is a
    /// failure of its item.
    pub async fn run<F, Fut, E>(self, reconcile: F)
    where
        F: Fn(T) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Requeue, E>> + Send + 'static,
        E: Display + Send + 'static,
    {
        let Self {
            queue,
            count,
            timeout,
            stop,
            stats,
        } = self;
        let reconcile = Arc::new(reconcile);
        let mut workers = JoinSet::new();
        for _ in 0..count {
            let worker = Worker {
                queue: queue.clone(),
                timeout,
                stop: stop.clone(),
                stats: stats.clone(),
            };
            workers.spawn(worker.run(reconcile.clone()));
        }
        join_all(workers).await;
    }
}

/// Waits for all tasks. If one panics the others are cancelled, and this panics too.
pub(crate) async fn join_all(mut tasks: JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        if let Some(panic) = ended.err().and_then(|error| error.try_into_panic().ok()) {
            resume_unwind(panic);
        }
    }
}

/// Counters of [`Workers`]. Clones share the same counters.
#[derive(Debug, Clone, Default)]
pub struct WorkerStats(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    succeeded: AtomicU64,
    failed: AtomicU64,
    timed_out: AtomicU64,
    panicked: AtomicU64,
}

impl WorkerStats {
    /// The number of runs that returned a [`Requeue`].
    pub fn succeeded(&self) -> u64 {
        self.0.succeeded.load(Ordering::Relaxed)
    }

    /// The number of runs that returned an error.
    pub fn failed(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// The number of runs that exceeded the time limit.
    pub fn timed_out(&self) -> u64 {
        self.0.timed_out.load(Ordering::Relaxed)
    }

    /// The number of runs that panicked.
    pub fn panicked(&self) -> u64 {
        self.0.panicked.load(Ordering::Relaxed)
    }
}

/// Why a run failed.
enum Failure<E> {
    Error(E),
    TimedOut(Duration),
    Panicked(Box<dyn Any + Send>),
}

impl<E: Display> Display for Failure<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::TimedOut(limit) => write!(f, "not done within {limit:?}"),
            Self::Panicked(panic) => {
                let message = panic.downcast_ref::<&str>().copied();
                let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
                write!(f, "panicked: {}", message.unwrap_or("no message"))
            }
        }
    }
}

struct Worker<T> {
    queue: WorkQueue<T>,
    timeout: Option<Duration>,
    stop: CancellationToken,
    stats: WorkerStats,
}

impl<T> Worker<T>
where
    T: Eq + Hash + Clone + Debug + Send + Sync + 'static,
{
    async fn run<F, Fut, E>(self, reconcile: Arc<F>)
    where
        F: Fn(T) -> Fut,
        Fut: Future<Output = Result<Requeue, E>>,
        E: Display,
    {
        loop {
            let item = tokio::select! {
                biased;
                () = self.stop.cancelled() => return self.queue.shut_down(),
                item = self.queue.get() => item,
            };
            let Some(item) = item else { return };
            // In an async block, so that a panic before the future is created is caught too.
            let outcome = self.attempt(async { reconcile(item.clone()).await }).await;
            self.conclude(item, outcome);
        }
    }

    async fn attempt<E>(&self, run: impl Future<Output = Result<Requeue, E>>) -> Result<Requeue, Failure<E>> {
        let timeout = self.timeout;
        // The run is dropped in here, so that a panic of its destructor is caught too.
        let limited = async move {
            match timeout {
                None => run.await.map_err(Failure::Error),
                Some(limit) => match tokio::time::timeout(limit, run).await {
                    Ok(result) => result.map_err(Failure::Error),
                    Err(_) => Err(Failure::TimedOut(limit)),
                },
            }
        };
        caught(limited)
            .await
            .unwrap_or_else(|panic| Err(Failure::Panicked(panic)))
    }

    /// The item is added again before the guard is dropped, so that a drain does not end in between.
    fn conclude<E: Display>(&self, item: Processing<'_, T>, outcome: Result<Requeue, Failure<E>>) {
        let queue = self.queue.with_priority(item.priority());
        let counts = &self.stats.0;
        let counter = match &outcome {
            Ok(_) => &counts.succeeded,
            Err(Failure::Error(_)) => &counts.failed,
            Err(Failure::TimedOut(_)) => &counts.timed_out,
            Err(Failure::Panicked(_)) => &counts.panicked,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        match outcome {
            Ok(requeue) => {
                queue.forget(&item);
                if let Requeue::After(delay) = requeue {
                    queue.add_after(item.clone(), delay);
                }
            }
            Err(failure) => {
                tracing::warn!(queue = queue.name(), item = ?*item, "reconcile failed, will back off: {failure}");
                queue.add_rate_limited(item.clone());
            }
        }
    }
}

/// The output of the future, or its panic payload.
async fn caught<T>(future: impl Future<Output = T>) -> Result<T, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        match polled {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}
