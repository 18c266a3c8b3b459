//! Processes a fixed number of pieces of work in parallel, without a queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::workers::join_all;

/// Calls `work` once with each number below `pieces`, from up to `workers` tasks (at least one), and returns when all
/// calls have completed.
///
/// Each task takes `chunk` numbers at a time (at least one): use 1 unless a piece takes less than a microsecond.
/// After `stop` is cancelled, no further piece begins; running ones are finished.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use kube_workqueue::parallelize_until;
/// use tokio_util::sync::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let pods = Arc::new(["web-0", "web-1", "web-2"]);
/// let deleted = Arc::new(AtomicUsize::new(0));
/// let delete = {
///     let deleted = deleted.clone();
///     move |n: usize| {
///         let (pods, deleted) = (pods.clone(), deleted.clone());
///         async move {
///             println!("delete {}", pods[n]);
///             deleted.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// };
/// parallelize_until(CancellationToken::new(), 2, 3, 1, delete).await;
/// assert_eq!(deleted.load(Ordering::Relaxed), 3);
/// # }
/// ```
///
/// # Cancel safety
///
/// Dropping the future cancels the running pieces at their current await point, and begins no other.
///
/// # Panics
///
/// Panics outside a tokio runtime, and if `work` panics; the other pieces are cancelled then.
#[doc(alias = "ParallelizeUntil")]
pub async fn parallelize_until<F, Fut>(
    stop: CancellationToken,
    workers: usize,
    pieces: usize,
    chunk: usize,
    work: F,
) where
    F: Fn(usize) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let chunk = chunk.max(1);
    let chunks = pieces.div_ceil(chunk);
    let shared = Arc::new((AtomicUsize::new(0), work, stop));
    let mut tasks = JoinSet::new();
    for _ in 0..workers.max(1).min(chunks) {
        let shared = shared.clone();
        tasks.spawn(async move {
            let (next, work, stop) = &*shared;
            loop {
                let first = match next.fetch_add(1, Ordering::Relaxed) {
                    number if number < chunks => number * chunk,
                    _ => return,
                };
                for piece in first..pieces.min(first.saturating_add(chunk)) {
                    if stop.is_cancelled() {
                        return;
                    }
                    work(piece).await;
                }
            }
        });
    }
    join_all(tasks).await;
}
