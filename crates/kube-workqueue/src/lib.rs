//! The work queue of Kubernetes controllers: it tracks which items need processing, gives each to one worker at a
//! time, and loses none.
//!
//! Handlers [`add`](WorkQueue::add) the key of a changed object; workers [`get`](WorkQueue::get) keys and reconcile
//! them. Adds of a key that is queued or being processed are coalesced into one further run.
//!
//! ```text
//!  add ----------------------------------> queued --get--> processing --drop of the guard--> gone
//!  add_after --> waiting for its time --->   ^                  |
//!  add_rate_limited --> (rate limiter) --^   +--- added again --+
//! ```
//!
//! ```
//! use kube_workqueue::WorkQueue;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let queue = WorkQueue::new();
//! queue.add("default/web");
//! queue.add("default/db");
//! queue.add("default/web"); // queued already
//!
//! let worker = tokio::spawn({
//!     let queue = queue.clone();
//!     async move {
//!         let mut seen = Vec::new();
//!         while let Some(item) = queue.get().await {
//!             // Until `item` is dropped, no other worker gets this key.
//!             seen.push(*item);
//!             queue.forget(&item);
//!         }
//!         seen
//!     }
//! });
//! queue.shut_down_with_drain().await;
//! assert_eq!(worker.await.unwrap(), ["default/web", "default/db"]);
//! # }
//! ```
//!
//! The crate does not depend on Kubernetes: an item is any `T: Eq + Hash + Clone`. It is cloned once for each run, so
//! use `Arc<str>` for long keys.
//!
//! # Ordering
//!
//! Items of one [`Priority`] are returned in the order in which they were queued; higher priorities come first. To
//! prevent starvation, every eighth `get` takes the item that has been queued longest, whatever its priority. A
//! queued item that is added with a higher priority moves to the end of the queue of that priority.
//!
//! A delayed item is queued when it is due. If very many are due at once, they are queued in batches, so that no call
//! takes long; an item added meanwhile may be queued before some of them.
//!
//! # Delays
//!
//! Delayed items are in one heap, without a task or timer for each. The queue has no task either: one of the idle
//! getters sleeps until the next item is due. It uses tokio's clock, paused or not, and wakes half a millisecond late
//! on average (`bench/run --only queue` in the repository), because tokio's timer has a resolution of one millisecond.
//!
//! # Shutdown
//!
//! After [`shut_down`](WorkQueue::shut_down) adds are ignored, delayed items are dropped, queued items are still
//! returned, and then `get` returns `None`. [`shut_down_with_drain`](WorkQueue::shut_down_with_drain) also waits
//! until these items have been processed.
//!
//! # Cancel safety
//!
//! Every future may be dropped at any time. An item is taken in the same step in which `get` returns it; a wake-up
//! that a dropped `get` had received is passed on. Dropping a [`Processing`] guard, whether by return, panic or
//! cancellation, ends the run.
//!
//! A woken `get` holds its wake-up until it is polled or dropped, so do not keep a `get` future without polling it.
//!
//! # Workers
//!
//! [`Workers`] is the loop that most controllers need: a number of tasks, a function that reconciles one item and
//! returns the next action, a timeout, and retries with backoff after errors and panics. For many calls within one
//! reconcile use [`parallelize_until`].
//!
//! # Metrics
//!
//! A queue that has a [name](WorkQueueBuilder::name) reports to the recorder of the `metrics` crate that is installed when the
//! queue is built, under client-go's names and with the label `name`:
//! `workqueue_depth`, `workqueue_adds_total`, `workqueue_retries_total`, `workqueue_queue_duration_seconds`,
//! `workqueue_work_duration_seconds`, and every half second `workqueue_unfinished_work_seconds` and
//! `workqueue_longest_running_processor_seconds`, also after a shutdown. The last two need a task, so build the queue
//! inside the runtime. The depth has a second label, `priority`, as in controller-runtime: sum it up for the length of the
//! queue. When the last handle is dropped, the depth is reduced by the number of queued items, and these
//! two are set to 0. The metrics of queues with the same name are summed, except for these two, which show the last
//! value that was set.
//!
//! # Memory
//!
//! The queue stores an item once while it is queued, delayed or processed (its worker has another copy). The overhead
//! is 60 to 80 bytes for each item, and up to twice that after the storage has grown, as with any vector
//! (`bench/run --only queue`). The storage is freed when no item is left. The per-item rate limiters track an item until `forget` is called.
//!
//! # Locks
//!
//! One lock is held during each operation, which is short. Under the lock the queue calls `T`'s `Eq` and `Clone` and
//! no other user code: hashing, rate limiters, wakers and drops run before or after.

// `cfg(loom)` is for the model checker: RUSTFLAGS="--cfg loom" cargo test -p kube-workqueue --release --lib
#![allow(unexpected_cfgs)]

mod clock;
mod delay;
mod entry;
#[cfg(loom)]
mod loom_clock;
#[cfg(all(loom, test))]
mod loom_tests;
mod metrics;
#[cfg(not(loom))]
mod parallelize;
mod priority;
mod queue;
mod rate_limiter;
mod ready;
mod state;
mod sync;
mod wait;
#[cfg(not(loom))]
mod workers;

#[cfg(not(loom))]
pub use parallelize::parallelize_until;
pub use priority::Priority;
pub use queue::{Processing, WorkQueue, WorkQueueBuilder};
pub use rate_limiter::{
    ItemExponential, ItemFastSlow, MaxOf, RateLimiter, TokenBucket, WithMaxWait,
    default_controller_rate_limiter,
};
#[cfg(not(loom))]
pub use workers::{Requeue, WorkerStats, Workers};
