//! The work queue of Kubernetes controllers: tells which items need work, hands each to one worker at a time, and forgets
//! nothing.
//!
//! Handlers [`add`](WorkQueue::add) the key of whatever changed; workers [`get`](WorkQueue::get) keys and bring the world in
//! line. Adds of a key that is queued, or being processed, collapse into one further run.
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
//! The crate knows nothing of Kubernetes: an item is any `T: Eq + Hash + Clone`. It is cloned once for each run, so a long
//! key may want to be an `Arc<str>`.
//!
//! # Ordering
//!
//! Items of one [`Priority`] come out in the order in which they got in line; a higher priority goes first. So that nothing
//! starves, every eighth `get` takes the item that has been in line longest, whatever its priority. An item added with a
//! higher priority than it has moves to the end of the higher line.
//!
//! An item whose time comes gets in line at that time. If very many are due at once, they get in line in batches, so that
//! no call takes long; an item added meanwhile may get in line before some of them.
//!
//! # Waiting
//!
//! Items that wait for their time sit in one heap: no task, no timer each. The queue has no task of its own either: one of
//! the getters that have nothing to do sleeps until the next item is due. It follows tokio's clock, paused or not, and comes
//! half a millisecond late on average: tokio's timer counts in milliseconds.
//!
//! # Shutdown
//!
//! After [`shut_down`](WorkQueue::shut_down) adds are ignored, what waits is forgotten, what is queued is still given out,
//! and then `get` returns `None`. [`shut_down_with_drain`](WorkQueue::shut_down_with_drain) also waits until all of that is
//! done.
//!
//! # Cancel safety
//!
//! Every future may be dropped at any time. An item is taken in the same step in which `get` returns it; a wake-up that a
//! dropped `get` had received is passed on. Dropping a [`Processing`] guard, be it by return, panic or cancellation, ends the
//! run.
//!
//! A `get` that was woken holds that wake-up until it is polled or dropped. So do not keep one that you no longer poll.
//!
//! # Workers
//!
//! [`Workers`] are the loop that most controllers want around this: so many tasks, a function that reconciles one item and
//! says what is next, a timeout, and retries with backoff after errors and panics. For many calls within one reconcile
//! there is [`parallelize_until`].
//!
//! # Metrics
//!
//! With the feature `metrics`, a queue that has a [name](Builder::name) reports to the recorder of the `metrics` crate that
//! is installed when the queue is built, under client-go's names and with the label `name`: `workqueue_depth`,
//! `workqueue_adds_total`, `workqueue_retries_total`, `workqueue_queue_duration_seconds`,
//! `workqueue_work_duration_seconds`, and every half second `workqueue_unfinished_work_seconds` and
//! `workqueue_longest_running_processor_seconds`, also after a shutdown. The last two need a task, so build the queue inside
//! the runtime. When the last handle is gone, the depth is reduced by what was queued, and those two are set to 0. Of queues
//! with the same name the rest is summed; these two show the one that set them last.
//!
//! # Memory
//!
//! An item is held once while it is queued, waits, or is processed (and once by its worker). The rest is 60 to 80 bytes for
//! each, up to twice that after the storage has grown, as with any vector. An item that is done is held for some time more, in
//! case it is added again: until a `get` finds nothing, the queue is shut down, or 1,088 others are done. The storage is given
//! back when no item is left. The per-item rate limiters remember an item until it is forgotten.
//!
//! # Locks
//!
//! One lock is held for the length of an operation, which is short. Under it the queue calls `T`'s `Eq` and `Clone`, and
//! nothing else of yours: hashing, rate limiters, wakers and drops come before or after. A thread that finds the lock taken
//! tries again after some microseconds, and then sleeps until it is free.

// `cfg(loom)` is for the model checker: RUSTFLAGS="--cfg loom" cargo test -p kube-workqueue --release --lib
#![allow(unexpected_cfgs)]

mod clock;
mod delay;
mod entry;
#[cfg(loom)]
mod loom_clock;
#[cfg(all(loom, test))]
mod loom_tests;
#[cfg_attr(not(feature = "metrics"), path = "no_metrics.rs")]
mod metrics;
#[cfg(not(loom))]
mod parallelize;
mod priority;
mod queue;
mod rate_limiter;
mod state;
mod sync;
mod wait;
#[cfg(not(loom))]
mod workers;

#[cfg(not(loom))]
pub use parallelize::parallelize_until;
pub use priority::Priority;
pub use queue::{Builder, Processing, WorkQueue};
pub use rate_limiter::{
    ItemExponential, ItemFastSlow, MaxOf, RateLimiter, TokenBucket, WithMaxWait,
    default_controller_rate_limiter,
};
#[cfg(not(loom))]
pub use workers::{Action, WorkerStats, Workers};
