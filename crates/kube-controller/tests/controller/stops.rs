//! How a controller begins and ends.

use crate::harness::{Cluster, Failure, SECOND, start};
use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use kube_controller::controller::Action;
use kube_controller::reflector::ObjectRef;
use kube_controller::watcher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use tokio::sync::oneshot;
use tokio::time::timeout;

async fn done() -> Result<Action, Failure> {
    Ok(Action::await_change())
}

/// Counts itself for as long as it exists.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn a_graceful_stop_finishes_what_is_running() {
    let cluster = Cluster::new();
    cluster.map("a");
    let controller = cluster.controller();
    let store = controller.store();
    let controller = controller
        .graceful_shutdown_on(tokio::time::sleep(5 * SECOND))
        .graceful_shutdown_on(std::future::pending());
    let mut running = start(controller, |_| async {
        tokio::time::sleep(10 * SECOND).await;
        Ok(Action::requeue(SECOND))
    });
    running.run().await;
    tokio::time::sleep(6 * SECOND).await;
    cluster.map("b");
    tokio::time::sleep(SECOND).await;
    assert_eq!(store.len(), 2, "caches are kept up to date until the end");
    let (object, _) = running.report().await.unwrap();
    assert_eq!(object.name, "a");
    (&mut running.task).await.unwrap();
    running.no_more_runs().await;
}

#[tokio::test(start_paused = true)]
async fn an_abort_drops_what_is_running_and_waits_for_it() {
    let cluster = Cluster::new();
    cluster.map("a");
    cluster.map("b");
    let alive = Arc::new(AtomicUsize::new(0));
    let counted = alive.clone();
    let controller = cluster
        .controller()
        .graceful_shutdown_on(tokio::time::sleep(3 * SECOND))
        .abort_on(tokio::time::sleep(5 * SECOND));
    let mut running = start(controller, move |_| {
        let counted = Counted::new(&counted);
        async move {
            let _counted = counted;
            std::future::pending().await
        }
    });
    running.names(2).await;
    tokio::time::sleep(4 * SECOND).await;
    assert_eq!(alive.load(Ordering::SeqCst), 2);
    assert!(!running.task.is_finished());
    (&mut running.task).await.unwrap();
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

/// A user's function blocks the thread of an informer, so the clock is the real one.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn an_abort_does_not_wait_for_informers() {
    let cluster = Cluster::new();
    cluster.map("a");
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let (stuck, mut is_stuck) = tokio::sync::mpsc::unbounded_channel();
    let (stop, stopping) = oneshot::channel::<()>();
    let (abort, aborting) = oneshot::channel::<()>();
    let secrets = Api::<Secret>::all(cluster.client());
    let controller = cluster
        .controller()
        .watches(secrets, watcher::Config::default(), move |_| {
            stuck.send(()).unwrap();
            // Until the other end is dropped.
            _ = released.lock().unwrap().recv();
            None::<ObjectRef<ConfigMap>>
        })
        .graceful_shutdown_on(async { _ = stopping.await })
        .abort_on(async { _ = aborting.await });
    let mut running = start(controller, |_| done());
    running.run().await;
    cluster.secret("s", &[]);
    is_stuck.recv().await.unwrap();
    stop.send(()).unwrap();
    assert!(
        timeout(SECOND / 5, &mut running.task).await.is_err(),
        "it waits for the function"
    );
    abort.send(()).unwrap();
    timeout(60 * SECOND, &mut running.task).await.unwrap().unwrap();
    drop(release);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_stream_ends_everything() {
    let cluster = Cluster::new();
    cluster.map("a");
    let alive = Arc::new(AtomicUsize::new(0));
    let counted = alive.clone();
    let mut running = start(cluster.controller(), move |_| {
        let counted = Counted::new(&counted);
        async move {
            let _counted = counted;
            std::future::pending().await
        }
    });
    running.run().await;
    running.task.abort();
    while alive.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
}

/// Cases 22, 23, 26, 27 and 73: before the election is won, the caches sync and the queue fills, and nothing is reconciled.
#[tokio::test(start_paused = true)]
async fn a_warm_controller_begins_at_once() {
    let cluster = Cluster::new();
    (0..100).for_each(|number| drop(cluster.map(&format!("map-{number}"))));
    let (won, winning) = oneshot::channel::<()>();
    let controller = cluster.controller().warm_until(async { _ = winning.await });
    let store = controller.store();
    let mut running = start(controller, |_| done());
    running.quiet_for(3600 * SECOND).await;
    assert_eq!(store.len(), 100);
    cluster.map("late");
    won.send(()).unwrap();
    let first = running.run().await;
    assert!((3600..3601).contains(&first.at.as_secs()), "{first:?}");
    running.names(100).await;

    let never = cluster
        .controller()
        .warm_until(std::future::pending())
        .graceful_shutdown_on(tokio::time::sleep(SECOND));
    let mut never = start(never, |_| done());
    (&mut never.task).await.unwrap();
    never.no_more_runs().await;
}

/// Nothing is started before the first poll, and nothing is reconciled without one.
#[tokio::test(start_paused = true)]
async fn nothing_is_reconciled_unless_the_stream_is_polled() {
    let cluster = Cluster::new();
    cluster.map("a");
    let controller = cluster.controller();
    let store = controller.store();
    let calls = AtomicUsize::new(0);
    let reconcile = |_: Arc<ConfigMap>, _: Arc<()>| {
        calls.fetch_add(1, Ordering::Relaxed);
        async { Ok::<_, Failure>(Action::requeue(SECOND)) }
    };
    let mut stream = std::pin::pin!(controller.run(reconcile, |_, _, _| Action::backoff(), Arc::new(())));
    tokio::time::sleep(3600 * SECOND).await;
    assert!(store.is_empty());
    stream.next().await.unwrap().unwrap();
    tokio::time::sleep(3600 * SECOND).await;
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    stream.next().await.unwrap().unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}
