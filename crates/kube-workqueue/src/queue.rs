//! The public queue: locks the state, waits for it, and returns items.

use std::borrow::Cow;
use std::fmt;
use std::future::poll_fn;
use std::hash::{BuildHasher, Hash};
use std::ops::Deref;
use std::pin::pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hashbrown::DefaultHashBuilder;

use crate::clock::{Sleep, sleep_towards};
use crate::entry::Slot;
use crate::metrics::{Metrics, Run};
use crate::priority::Priority;
use crate::rate_limiter::{RateLimiter, default_controller_rate_limiter};
use crate::state::{Found, State, Taken};
use crate::sync::{Arc, Mutex};
use crate::wait::{Effects, WaiterId};

/// A queue of items to be processed, each by one worker at a time. See the [crate documentation](crate).
///
/// A `WorkQueue` is a handle: clones are the same queue.
#[doc(alias = "TypedInterface")]
#[doc(alias = "TypedDelayingInterface")]
#[doc(alias = "TypedRateLimitingInterface")]
#[doc(alias = "PriorityQueue")]
pub struct WorkQueue<T> {
    shared: Arc<Shared<T>>,
    /// The priority of items that are added through this handle.
    priority: Priority,
}

struct Shared<T> {
    name: String,
    hasher: DefaultHashBuilder,
    rate_limiter: Box<dyn RateLimiter<T>>,
    metrics: Metrics,
    state: Mutex<State<T>>,
}

impl<T> Shared<T> {
    /// Runs one operation under the lock, and its effects after. Items that the queue no longer stores are part of the
    /// result, because dropping them runs user code.
    #[inline]
    fn with<R>(&self, operation: impl FnOnce(&mut State<T>, &mut Effects) -> R) -> R {
        let mut effects = Effects::new();
        let mut state = self.state.lock();
        let result = operation(&mut state, &mut effects);
        drop(state);
        self.metrics.added(effects.added, effects.depths());
        effects.run();
        result
    }
}

impl<T> WorkQueue<T>
where
    T: Eq + Hash + Clone + Send + 'static,
{
    /// A queue without a name, with the default rate limiter.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Builds a queue with a name or another rate limiter.
    pub fn builder() -> WorkQueueBuilder<T> {
        WorkQueueBuilder {
            name: String::new(),
            rate_limiter: None,
            drop_delay_when_taken: false,
        }
    }

    /// Adds an item to be processed.
    ///
    /// If it is queued already, nothing changes (but see [`with_priority`](Self::with_priority)). If a worker is
    /// processing it, it is queued again when that worker is done. After a shutdown the call is ignored.
    ///
    /// A delayed item ([`add_after`](Self::add_after)) stays delayed: it is processed now, and again when it is due, unless
    /// the queue [drops the delay](WorkQueueBuilder::drop_delay_when_taken).
    #[doc(alias = "Add")]
    pub fn add(&self, item: T) {
        let hash = self.shared.hasher.hash_one(&item);
        let _unused = self
            .shared
            .with(|state, effects| state.add(item, hash, self.priority, effects));
    }

    /// Adds an item to be processed after `delay`.
    ///
    /// If it is delayed already, the earlier of the two times counts. Items are queued in the order of their times,
    /// and those with equal times in the order of the calls. A delay of zero is the same as [`add`](Self::add). A
    /// shutdown drops delayed items.
    #[doc(alias = "AddAfter")]
    pub fn add_after(&self, item: T, delay: Duration) {
        self.shared.metrics.retried();
        if delay.is_zero() {
            return self.add(item);
        }
        let hash = self.shared.hasher.hash_one(&item);
        let _unused = self
            .shared
            .with(|state, effects| state.add_after(item, hash, self.priority, delay, effects));
    }

    /// Adds an item to be processed when the rate limiter allows it, for example after a failure.
    ///
    /// Call [`forget`](Self::forget) when the item succeeds.
    #[doc(alias = "AddRateLimited")]
    pub fn add_rate_limited(&self, item: T) {
        let delay = self.shared.rate_limiter.when(&item);
        self.add_after(item, delay);
    }

    /// Tells the rate limiter that the item has succeeded or is given up. A delayed item is not affected.
    #[doc(alias = "Forget")]
    pub fn forget(&self, item: &T) {
        self.shared.rate_limiter.forget(item);
    }

    /// How often the item was added with [`add_rate_limited`](Self::add_rate_limited) since it was last forgotten.
    #[doc(alias = "NumRequeues")]
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.shared.rate_limiter.num_requeues(item)
    }

    /// Takes the next item, and waits for one if there is none. Returns `None` if the queue was shut down and all its
    /// items have been returned.
    ///
    /// After a shutdown, a getter also waits for items that were added again while others process them.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses neither an item nor a wake-up that others need.
    ///
    /// # Panics
    ///
    /// Panics if there are delayed items and the future is polled outside a tokio runtime with time enabled.
    #[doc(alias = "Get")]
    pub async fn get(&self) -> Option<Processing<'_, T>> {
        // A worker that always finds an item must not starve other tasks.
        #[cfg(not(loom))]
        tokio::task::coop::consume_budget().await;
        let taken = match self.shared.with(|state, effects| state.take(effects)) {
            Some(taken) => taken,
            None => self.wait().await?,
        };
        Some(Processing::new(self, taken))
    }

    async fn wait(&self) -> Option<Taken<T>> {
        let mut getter = Getter {
            shared: &self.shared,
            waiter: None,
        };
        let mut sleep = pin!(None::<Sleep>);
        poll_fn(|cx| {
            loop {
                match getter.poll(cx) {
                    Found::Item(taken) => return Poll::Ready(Some(taken)),
                    Found::ShutDown => return Poll::Ready(None),
                    Found::Nothing => {
                        sleep.set(None);
                        return Poll::Pending;
                    }
                    Found::NothingUntil(due) => {
                        sleep.set(Some(sleep_towards(due)));
                        if let Some(sleep) = sleep.as_mut().as_pin_mut() {
                            ready!(sleep.poll(cx));
                        }
                    }
                }
            }
        })
        .await
    }

    /// The number of queued items, without those that are delayed or being processed.
    #[doc(alias = "Len")]
    pub fn len(&self) -> usize {
        loop {
            let (more, queued) = self.shared.with(|state, effects| {
                let more = state.release_due(effects);
                state.settle(effects);
                (more, state.queued())
            });
            if !more {
                return queued;
            }
        }
    }

    /// Whether nothing is queued; see [`len`](Self::len).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stops accepting items and drops delayed ones. Queued items are still returned, then [`get`](Self::get) returns
    /// `None`.
    ///
    /// Returns at once, and ends the wait of every current [`shut_down_with_drain`](Self::shut_down_with_drain).
    #[doc(alias = "ShutDown")]
    pub fn shut_down(&self) {
        let _unused = self.shared.with(|state, effects| state.shut_down(true, effects));
    }

    /// Shuts down, and waits until all queued items have been taken and processed.
    ///
    /// Any number of callers may wait. Returns false if a [`shut_down`](Self::shut_down) ended the wait.
    ///
    /// # Cancel safety
    ///
    /// The queue is shut down at the first poll and stays shut down; only the wait is cancelled.
    #[doc(alias = "ShutDownWithDrain")]
    pub async fn shut_down_with_drain(&self) -> bool {
        let (unused, began) = self
            .shared
            .with(|state, effects| (state.shut_down(false, effects), state.shut_downs()));
        drop(unused);
        let mut drainer = Drainer {
            shared: &self.shared,
            waiter: None,
        };
        poll_fn(|cx| drainer.poll(began, cx)).await
    }

    /// Whether the queue was shut down.
    #[doc(alias = "ShuttingDown")]
    pub fn is_shutting_down(&self) -> bool {
        self.shared.state.lock().is_shutting_down()
    }
}

impl<T> WorkQueue<T> {
    /// The name given by the builder; empty if none was.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// A handle to the same queue that adds with another priority.
    ///
    /// An item that is added with several priorities has the highest of them until it is processed.
    #[must_use = "this is another handle; the one it was made from keeps its priority"]
    #[doc(alias = "AddWithOpts")]
    pub fn with_priority(&self, priority: Priority) -> Self {
        Self {
            shared: self.shared.clone(),
            priority,
        }
    }

    /// The priority of items that are added through this handle.
    pub fn priority(&self) -> Priority {
        self.priority
    }
}

impl<T> Clone for WorkQueue<T> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            priority: self.priority,
        }
    }
}

impl<T> Default for WorkQueue<T>
where
    T: Eq + Hash + Clone + Send + 'static,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for WorkQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueue")
            .field("name", &self.shared.name)
            .finish_non_exhaustive()
    }
}

/// Builds a [`WorkQueue`].
#[must_use = "a builder does nothing until it builds"]
#[doc(alias = "TypedRateLimitingQueueConfig")]
pub struct WorkQueueBuilder<T> {
    name: String,
    rate_limiter: Option<Box<dyn RateLimiter<T>>>,
    drop_delay_when_taken: bool,
}

impl<T> WorkQueueBuilder<T>
where
    T: Eq + Hash + Clone + Send + 'static,
{
    /// Sets the queue's name, for metrics and logs. Default: none, which disables metrics.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the rate limiter of [`add_rate_limited`](WorkQueue::add_rate_limited). Default:
    /// [`default_controller_rate_limiter`].
    pub fn rate_limiter(mut self, rate_limiter: impl RateLimiter<T> + 'static) -> Self {
        self.rate_limiter = Some(Box::new(rate_limiter));
        self
    }

    /// Makes [`get`](WorkQueue::get) drop the delay of the item it returns: an item that is delayed, and added before it is
    /// due, is processed once, now, and its worker decides anew when the next run is due. This is what
    /// controller-runtime's priority queue does. Default: as in client-go, such an item is processed now, and again
    /// when it is due.
    ///
    /// ```
    /// use kube_workqueue::WorkQueue;
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let queue = WorkQueue::builder().drop_delay_when_taken().build();
    /// queue.add_after("default/web", Duration::from_secs(10));
    /// queue.add("default/web");
    /// drop(queue.get().await);
    /// tokio::time::advance(Duration::from_secs(10)).await;
    /// assert!(queue.is_empty());
    /// # }
    /// ```
    pub fn drop_delay_when_taken(mut self) -> Self {
        self.drop_delay_when_taken = true;
        self
    }

    /// Builds the queue.
    #[must_use]
    pub fn build(self) -> WorkQueue<T> {
        let Self {
            name,
            rate_limiter,
            drop_delay_when_taken,
        } = self;
        let rate_limiter = rate_limiter.unwrap_or_else(|| Box::new(default_controller_rate_limiter()));
        let shared = Shared {
            hasher: DefaultHashBuilder::default(),
            metrics: Metrics::new(&name),
            state: Mutex::new(State::new(!name.is_empty(), drop_delay_when_taken)),
            rate_limiter,
            name,
        };
        WorkQueue {
            shared: Arc::new(shared),
            priority: Priority::default(),
        }
    }
}

impl<T> fmt::Debug for WorkQueueBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueueBuilder")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// An item that a worker is processing. No other worker gets it until this guard is dropped.
///
/// Dropping it marks the item as done, also in a panic or when the worker is cancelled.
///
/// It borrows the queue. [`into_owned`](Self::into_owned) returns one that can be moved to another task:
///
/// ```
/// # use kube_workqueue::{Processing, WorkQueue};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let queue = WorkQueue::new();
/// queue.add("default/web");
/// queue.shut_down();
/// while let Some(item) = queue.get().await.map(Processing::into_owned) {
///     tokio::spawn(async move { println!("{}", *item) });
/// }
/// # }
/// ```
#[must_use = "dropping it says that the item is done"]
#[doc(alias = "Done")]
pub struct Processing<'a, T> {
    // Dropped before the item.
    claim: Claim<'a, T>,
    priority: Priority,
    item: T,
}

impl<'a, T> Processing<'a, T> {
    #[inline]
    fn new(queue: &'a WorkQueue<T>, taken: Taken<T>) -> Self {
        let claim = Claim {
            queue: Some(Cow::Borrowed(queue)),
            slot: taken.slot,
            run: queue.shared.metrics.taken(taken.priority, taken.queued_for),
        };
        Self {
            claim,
            priority: taken.priority,
            item: taken.item,
        }
    }

    /// Converts it into a guard with its own handle to the queue.
    pub fn into_owned(self) -> Processing<'static, T>
    where
        T: 'static,
    {
        Processing {
            claim: self.claim.into_owned(),
            priority: self.priority,
            item: self.item,
        }
    }

    /// The priority with which the item was queued.
    #[doc(alias = "GetWithPriority")]
    pub fn priority(&self) -> Priority {
        self.priority
    }
}

impl<T> Deref for Processing<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.item
    }
}

impl<T: fmt::Debug> fmt::Debug for Processing<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Processing").field(&self.item).finish()
    }
}

/// The exclusive claim to an entry; dropping it releases the entry.
struct Claim<'a, T> {
    /// `None` once the claim has been passed on.
    queue: Option<Cow<'a, WorkQueue<T>>>,
    slot: Slot,
    run: Run,
}

impl<T> Claim<'_, T> {
    fn into_owned(mut self) -> Claim<'static, T>
    where
        T: 'static,
    {
        Claim {
            queue: self.queue.take().map(|queue| Cow::Owned(queue.into_owned())),
            slot: self.slot,
            run: self.run,
        }
    }
}

impl<T> Drop for Claim<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(queue) = &self.queue {
            queue.shared.metrics.done(self.run);
            let _unused = queue.shared.with(|state, effects| state.done(self.slot, effects));
        }
    }
}

/// The future of [`WorkQueue::get`]; deregisters itself when it is dropped.
struct Getter<'a, T> {
    shared: &'a Shared<T>,
    waiter: Option<WaiterId>,
}

impl<T: Clone> Getter<'_, T> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Found<T> {
        self.shared
            .with(|state, effects| state.get(&mut self.waiter, cx.waker(), effects))
    }
}

impl<T> Drop for Getter<'_, T> {
    fn drop(&mut self) {
        if self.waiter.is_some() {
            self.shared.with(|state, effects| {
                state.leave(&mut self.waiter, effects);
                state.settle(effects);
            });
        }
    }
}

/// The future of [`WorkQueue::shut_down_with_drain`].
struct Drainer<'a, T> {
    shared: &'a Shared<T>,
    waiter: Option<WaiterId>,
}

impl<T> Drainer<'_, T> {
    fn poll(&mut self, began: u64, cx: &mut Context<'_>) -> Poll<bool> {
        self.shared.with(|state, effects| {
            if let Some(id) = self.waiter.take() {
                state.leave_drain(id, effects);
            }
            if state.is_drained() {
                return Poll::Ready(true);
            }
            if state.shut_downs() != began {
                return Poll::Ready(false);
            }
            self.waiter = Some(state.join_drain(cx.waker().clone()));
            Poll::Pending
        })
    }
}

impl<T> Drop for Drainer<'_, T> {
    fn drop(&mut self) {
        if let Some(id) = self.waiter.take() {
            self.shared.with(|state, effects| state.leave_drain(id, effects));
        }
    }
}
