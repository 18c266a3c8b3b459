//! The queue's public face: what locks the state, waits for it, and gives items out.

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
    /// Of what is added through this handle.
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
    /// Runs one operation under the lock, and its effects after.
    #[inline]
    fn with<R>(&self, operation: impl FnOnce(&mut State<T>, &mut Effects<T>) -> R) -> R {
        let mut effects = Effects::new();
        let mut state = self.state.lock();
        let result = operation(&mut state, &mut effects);
        drop(state);
        self.metrics.added(effects.added);
        effects.run();
        result
    }
}

impl<T> WorkQueue<T>
where
    T: Eq + Hash + Clone + Send + 'static,
{
    /// A queue without a name, with the default limiter of controllers.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A queue with a name or a rate limiter of its own.
    pub fn builder() -> Builder<T> {
        Builder {
            name: String::new(),
            rate_limiter: None,
        }
    }

    /// Asks for a run of the item.
    ///
    /// If it is queued already, nothing changes (but see [`with_priority`](Self::with_priority)). If a worker has it, it is
    /// queued again when that worker is done. After a shutdown the call is ignored.
    ///
    /// An item that waits for its time ([`add_after`](Self::add_after)) keeps waiting: it runs now, and again then.
    #[doc(alias = "Add")]
    pub fn add(&self, item: T) {
        let hash = self.shared.hasher.hash_one(&item);
        let _unused = self
            .shared
            .with(|state, effects| state.add(item, hash, self.priority, effects));
    }

    /// Asks for a run of the item when `delay` has passed.
    ///
    /// If it waits already, the earlier of the two times counts. Items become ready in the order of their times; equal times
    /// in the order of the calls. A delay of zero is an [`add`](Self::add). A shutdown forgets what waits.
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

    /// Asks for a run of the item when the rate limiter allows it: after a failure, say.
    ///
    /// Call [`forget`](Self::forget) when the item succeeds.
    #[doc(alias = "AddRateLimited")]
    pub fn add_rate_limited(&self, item: T) {
        let delay = self.shared.rate_limiter.when(&item);
        self.add_after(item, delay);
    }

    /// Tells the rate limiter that the item has succeeded, or is given up. An item that waits is not affected.
    #[doc(alias = "Forget")]
    pub fn forget(&self, item: &T) {
        self.shared.rate_limiter.forget(item);
    }

    /// How often the item was added with [`add_rate_limited`](Self::add_rate_limited) since it was last forgotten.
    #[doc(alias = "NumRequeues")]
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.shared.rate_limiter.num_requeues(item)
    }

    /// Takes the next item, and waits for one if there is none. `None`: the queue was shut down, and all it held has been
    /// given out.
    ///
    /// After a shutdown, a getter also waits for items that were added again while others process them.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: neither an item, nor a wake-up that others need.
    ///
    /// # Panics
    ///
    /// If items wait for their time and the future is polled outside a tokio runtime with time enabled.
    #[doc(alias = "Get")]
    pub async fn get(&self) -> Option<Processing<'_, T>> {
        // A worker that always finds something lets other tasks run now and then.
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
                    Found::Untidy => {}
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

    /// How many items are queued: neither those that wait for their time nor those being processed.
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

    /// Stops accepting items and forgets those that wait for their time. What is queued is still given out, then
    /// [`get`](Self::get) returns `None`.
    ///
    /// Returns at once, and releases every [`shut_down_with_drain`](Self::shut_down_with_drain) under way.
    #[doc(alias = "ShutDown")]
    pub fn shut_down(&self) {
        self.shared.with(|state, effects| state.shut_down(true, effects));
    }

    /// Shuts down, and waits until everything queued has been taken and everything taken is done.
    ///
    /// Any number of callers may wait. Returns false if a [`shut_down`](Self::shut_down) released it before.
    ///
    /// # Cancel safety
    ///
    /// The queue is shut down at the first poll and stays so; only the wait is cancelled.
    #[doc(alias = "ShutDownWithDrain")]
    pub async fn shut_down_with_drain(&self) -> bool {
        let began = self.shared.with(|state, effects| {
            state.shut_down(false, effects);
            state.shut_downs()
        });
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
    /// An item that is asked for with several priorities has the highest of them, until it runs.
    #[must_use = "this is another handle; the one it was made from keeps its priority"]
    #[doc(alias = "AddWithOpts")]
    pub fn with_priority(&self, priority: Priority) -> Self {
        Self {
            shared: self.shared.clone(),
            priority,
        }
    }

    /// The priority of what is added through this handle.
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

/// Makes a [`WorkQueue`].
#[must_use = "a builder does nothing until it builds"]
#[doc(alias = "TypedRateLimitingQueueConfig")]
pub struct Builder<T> {
    name: String,
    rate_limiter: Option<Box<dyn RateLimiter<T>>>,
}

impl<T> Builder<T>
where
    T: Eq + Hash + Clone + Send + 'static,
{
    /// The queue's name, in metrics and logs. Default: none, and then no metrics.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// What [`add_rate_limited`](WorkQueue::add_rate_limited) asks. Default: [`default_controller_rate_limiter`].
    pub fn rate_limiter(mut self, rate_limiter: impl RateLimiter<T> + 'static) -> Self {
        self.rate_limiter = Some(Box::new(rate_limiter));
        self
    }

    /// The queue.
    #[must_use]
    pub fn build(self) -> WorkQueue<T> {
        let Self { name, rate_limiter } = self;
        let rate_limiter = rate_limiter.unwrap_or_else(|| Box::new(default_controller_rate_limiter()));
        let shared = Shared {
            hasher: DefaultHashBuilder::default(),
            metrics: Metrics::new(&name),
            state: Mutex::new(State::new()),
            rate_limiter,
            name,
        };
        WorkQueue {
            shared: Arc::new(shared),
            priority: Priority::default(),
        }
    }
}

impl<T> fmt::Debug for Builder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// An item that a worker has; nobody else gets it until this is dropped.
///
/// Dropping it, also in a panic or because the worker was cancelled, says that the worker is done.
///
/// It borrows the queue. [`into_owned`](Self::into_owned) makes one that can go to another task:
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
            run: queue.shared.metrics.taken(taken.queued_for),
        };
        Self {
            claim,
            priority: taken.priority,
            item: taken.item,
        }
    }

    /// The same with a handle of its own to the queue.
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

    /// The priority that the item was queued with.
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

/// The right to an entry; dropping it gives the entry back.
struct Claim<'a, T> {
    /// `None` once the claim has been handed on.
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
            queue.shared.with(|state, effects| state.done(self.slot, effects));
        }
    }
}

/// A future that waits in [`WorkQueue::get`]; gives its place back when it is dropped.
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

/// A future that waits in [`WorkQueue::shut_down_with_drain`].
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
