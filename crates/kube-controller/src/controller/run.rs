//! One run of a reconciler, and how it ends.

use super::Action;
use super::attempt::Attempt;
use crate::time::after;
use futures::FutureExt;
use kube_informer::{ObjectKey, ShardHold};
use kube_workqueue::Processing;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Span;

/// How a run has ended.
pub(super) enum Ended<E> {
    Returned(Result<Action, E>),
    Panicked(Box<dyn Any + Send>),
    TimedOut(Duration),
    /// It was dropped, because its shard may be another replica's.
    ShardLost,
}

/// A run that has ended. Dropping it allows the next one of the key.
pub(super) struct Finished<K, E> {
    pub(super) item: Processing<'static, ObjectKey>,
    pub(super) object: Arc<K>,
    pub(super) attempt: Attempt,
    /// In which the error policy is called, too.
    pub(super) span: Span,
    pub(super) began: Instant,
    pub(super) took: Duration,
    pub(super) ended: Ended<E>,
}

/// Drops a run when its shard may be another replica's. The shard is held until the run has ended.
pub(super) async fn while_held<E>(hold: ShardHold, run: impl Future<Output = Ended<E>>) -> Ended<E> {
    // Boxed, so that it can be dropped before the hold is.
    let mut run = Box::pin(run);
    let ended = tokio::select! {
        biased;
        () = hold.expired() => None,
        ended = &mut run => Some(ended),
    };
    // A panic of its destructor is one of the run.
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(run)));
    let lost = || dropped.map_or_else(Ended::Panicked, |()| Ended::ShardLost);
    ended.unwrap_or_else(lost)
}

/// Runs a reconciler's future, of a run that began then, to its end, whatever that is.
pub(super) fn until_end<E: Send + 'static>(
    future: Pin<Box<impl Future<Output = Result<Action, E>> + Send + 'static>>,
    timeout: Option<Duration>,
    began: Instant,
) -> impl Future<Output = Ended<E>> + Send {
    // The future is dropped in here, so that a panic of its destructor is caught too.
    let limited = match timeout {
        None => async move { Ended::Returned(future.await) }.left_future(),
        Some(limit) => async move {
            match tokio::time::timeout_at(after(began, limit), future).await {
                Ok(result) => Ended::Returned(result),
                Err(_) => Ended::TimedOut(limit),
            }
        }
        .boxed()
        .right_future(),
    };
    let caught = AssertUnwindSafe(limited).catch_unwind();
    caught.map(|ended| ended.unwrap_or_else(Ended::Panicked))
}
