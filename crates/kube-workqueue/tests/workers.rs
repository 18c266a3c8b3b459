//! What a user sees of the workers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_workqueue::{ItemExponential, Priority, Requeue, WorkQueue, Workers};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const MS: Duration = Duration::from_millis(1);

fn queue() -> WorkQueue<&'static str> {
    WorkQueue::builder()
        .rate_limiter(ItemExponential::new(10 * MS, 1000 * MS))
        .build()
}

/// When each run began, in milliseconds.
type Runs = Arc<Mutex<Vec<(&'static str, u128)>>>;

/// Runs `behave(item, n)` for the `n`th run (from 0) of any item, for ten seconds; then shuts the queue down.
async fn run_for_ten_seconds<Fut>(
    workers: Workers<&'static str>,
    queue: &WorkQueue<&'static str>,
    behave: impl Fn(&'static str, usize) -> Fut + Send + Sync + 'static,
) -> Vec<(&'static str, u128)>
where
    Fut: Future<Output = Result<Requeue, &'static str>> + Send + 'static,
{
    let (runs, began) = (Runs::default(), Instant::now());
    let seen = runs.clone();
    let running = tokio::spawn(workers.run(move |item| {
        let mut runs = seen.lock().unwrap();
        runs.push((item, began.elapsed().as_millis()));
        let n = runs.len() - 1;
        drop(runs);
        behave(item, n)
    }));
    sleep(10_000 * MS).await;
    queue.shut_down();
    running.await.unwrap();
    let runs = runs.lock().unwrap();
    runs.clone()
}

#[tokio::test(start_paused = true)]
async fn done_runs_once_and_requeue_after_runs_again() {
    let queue = queue();
    queue.add("a");
    let workers = Workers::new(queue.clone(), 2);
    let stats = workers.stats();
    let runs = run_for_ten_seconds(workers, &queue, |_, n| async move {
        Ok(if n == 0 {
            Requeue::After(300 * MS)
        } else {
            Requeue::No
        })
    });
    assert_eq!(runs.await, [("a", 0), ("a", 300)]);
    assert_eq!((stats.succeeded(), stats.failed()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn errors_back_off_until_a_success_forgets_them() {
    let queue = queue();
    queue.with_priority(Priority::LOW).add("a");
    let workers = Workers::new(queue.clone(), 2);
    let stats = workers.stats();
    let runs = run_for_ten_seconds(workers, &queue, |_, n| async move {
        match n {
            0..3 | 4 => Err("refused"),
            3 => Ok(Requeue::After(100 * MS)),
            _ => Ok(Requeue::No),
        }
    });
    let times: Vec<_> = runs.await.into_iter().map(|(_, at)| at).collect();
    assert_eq!(
        times,
        [0, 10, 30, 70, 170, 180],
        "10, 20, 40; then forgotten: 100, 10"
    );
    assert_eq!((stats.succeeded(), stats.failed()), (2, 4));
    assert_eq!(queue.num_requeues(&"a"), 0);
}

#[tokio::test(start_paused = true)]
async fn panics_are_failures_of_their_item_only() {
    let queue = queue();
    queue.add("a");
    queue.add("b");
    let workers = Workers::new(queue.clone(), 1);
    let stats = workers.stats();
    let runs = run_for_ten_seconds(workers, &queue, |_, n| {
        assert!(n > 0, "a panic before there is a future");
        async move {
            sleep(MS).await;
            assert!(n > 1, "a panic in the future");
            Ok(Requeue::No)
        }
    });
    assert_eq!(runs.await, [("a", 0), ("b", 0), ("a", 10), ("b", 11)]);
    assert_eq!((stats.succeeded(), stats.panicked(), stats.failed()), (2, 2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_takes_too_long_is_dropped_and_fails() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let queue = queue();
    queue.add("a");
    let dropped = Arc::new(AtomicUsize::new(0));
    let witness = dropped.clone();
    let workers = Workers::new(queue.clone(), 1).timeout(100 * MS);
    let stats = workers.stats();
    let runs = run_for_ten_seconds(workers, &queue, move |_, n| {
        let guard = Dropped(witness.clone());
        async move {
            let _guard = guard;
            sleep(if n == 0 { 1000 * MS } else { 99 * MS }).await;
            Ok(Requeue::No)
        }
    });
    assert_eq!(runs.await, [("a", 0), ("a", 110)]);
    assert_eq!((stats.timed_out(), stats.succeeded()), (1, 1));
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_a_late_run_is_dropped_is_its_failure() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("while it is dropped");
        }
    }
    let queue = queue();
    queue.add("a");
    let workers = Workers::new(queue.clone(), 1).timeout(100 * MS);
    let stats = workers.stats();
    let runs = run_for_ten_seconds(workers, &queue, |_, n| async move {
        if n == 0 {
            let _bomb = Bomb;
            std::future::pending::<()>().await;
        }
        Ok(Requeue::No)
    });
    assert_eq!(runs.await, [("a", 0), ("a", 110)]);
    assert_eq!((stats.panicked(), stats.succeeded()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn so_many_workers_run_at_once_and_never_two_on_one_item() {
    let queue = queue();
    ["a", "b", "c"].into_iter().for_each(|item| queue.add(item));
    let workers = Workers::new(queue.clone(), 2);
    let again = queue.clone();
    let runs = run_for_ten_seconds(workers, &queue, move |item, n| {
        let again = again.clone();
        async move {
            if n == 0 {
                again.add(item);
            }
            sleep(10 * MS).await;
            Ok(Requeue::No)
        }
    });
    assert_eq!(runs.await, [("a", 0), ("b", 0), ("c", 10), ("a", 10)]);
}

#[tokio::test(start_paused = true)]
async fn the_stop_token_finishes_what_runs_and_leaves_what_is_queued() {
    let queue = queue();
    ["a", "b", "c"].into_iter().for_each(|item| queue.add(item));
    let token = CancellationToken::new();
    let workers = Workers::new(queue.clone(), 2).stop_on(token.clone());
    let stats = workers.stats();
    let running = tokio::spawn(workers.run(|_| async {
        sleep(100 * MS).await;
        Ok::<_, &str>(Requeue::After(MS))
    }));
    sleep(50 * MS).await;
    token.cancel();
    let began = Instant::now();
    running.await.unwrap();
    assert_eq!(began.elapsed(), 50 * MS);
    assert_eq!((stats.succeeded(), queue.len()), (2, 1));
    assert!(queue.is_shutting_down());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_run_cancels_the_workers() {
    let queue = queue();
    queue.add("a");
    let running = tokio::spawn(Workers::new(queue.clone(), 0).run(|_| async {
        std::future::pending::<()>().await;
        Ok::<_, &str>(Requeue::No)
    }));
    sleep(MS).await;
    queue.add("a");
    assert_eq!(queue.len(), 0, "one worker, though none was asked for, has it");
    running.abort();
    sleep(MS).await;
    assert_eq!(queue.len(), 1);
}
