//! What a user sees of pieces of work that are done in parallel.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kube_workqueue::parallelize_until;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Counts the visits of each piece, and how many are under way at most.
struct Visits {
    of: Vec<AtomicUsize>,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Visits {
    fn new(pieces: usize) -> Arc<Self> {
        Arc::new(Self {
            of: (0..pieces).map(|_| AtomicUsize::new(0)).collect(),
            now: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        })
    }

    async fn visit(self: Arc<Self>, piece: usize) {
        self.of[piece].fetch_add(1, Ordering::Relaxed);
        self.most
            .fetch_max(self.now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        sleep(Duration::from_millis(1)).await;
        self.now.fetch_sub(1, Ordering::Relaxed);
    }

    fn of_each(&self) -> Vec<usize> {
        self.of
            .iter()
            .map(|visits| visits.load(Ordering::Relaxed))
            .collect()
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

/// Visits every piece; the most that were under way at once.
async fn most_at_once(workers: usize, pieces: usize, chunk: usize) -> usize {
    let visits = Visits::new(pieces);
    let seen = visits.clone();
    let work = move |piece| seen.clone().visit(piece);
    parallelize_until(CancellationToken::new(), workers, pieces, chunk, work).await;
    assert_eq!(visits.of_each(), vec![1; pieces], "chunks of {chunk}");
    visits.most()
}

#[tokio::test(start_paused = true)]
async fn every_piece_is_visited_once() {
    for (pieces, chunk) in [(1000, 1), (1000, 10), (1000, 100), (999, 13)] {
        assert_eq!(most_at_once(10, pieces, chunk).await, 10);
    }
}

#[tokio::test(start_paused = true)]
async fn there_are_no_more_tasks_than_chunks_and_at_least_one() {
    assert_eq!(most_at_once(10, 25, 10).await, 3);
    assert_eq!(most_at_once(10, 2, usize::MAX).await, 1);
    assert_eq!(most_at_once(0, 3, 0).await, 1);
    assert_eq!(most_at_once(10, 0, 1).await, 0);
}

#[tokio::test(start_paused = true)]
async fn no_piece_begins_once_it_is_cancelled() {
    let (visits, stop) = (Visits::new(100), CancellationToken::new());
    let (seen, stopper) = (visits.clone(), stop.clone());
    let work = move |piece| {
        let (visits, stopper) = (seen.clone(), stopper.clone());
        async move {
            visits.visit(piece).await;
            if piece == 20 {
                stopper.cancel();
            }
        }
    };
    parallelize_until(stop, 2, 100, 10, work).await;
    let visited = visits.of_each().iter().sum::<usize>();
    assert!((21..=22).contains(&visited), "{visited}");
    assert_eq!(
        visits.now.load(Ordering::Relaxed),
        0,
        "what was under way is finished"
    );
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "piece 3")]
async fn a_panic_is_passed_on() {
    let work = |piece| async move { assert!(piece != 3, "piece 3") };
    parallelize_until(CancellationToken::new(), 2, 10, 1, work).await;
}
