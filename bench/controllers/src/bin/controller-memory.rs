//! What a key in work takes beside the cache: `controller-memory URL OBJECTS` counts what is allocated, over a controller of config maps,
//! which the cache holds decoded: what is reconciled of packed ones is decoded for it, in addition.

#[path = "../../../counting.rs"]
mod counting;

use anyhow::Context as _;
use futures::{FutureExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller::Controller;
use kube_controller::controller::Action;
use kube_informer::SharedInformerFactory;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::Notify;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, objects] = <[String; 2]>::try_from(arguments)
        .ok()
        .context("usage: controller-memory URL OBJECTS")?;
    let objects: u64 = objects.parse()?;
    let client = kube::Client::try_from(kube::Config::new(url.parse()?))?;
    let factory = SharedInformerFactory::new(client);
    let maps = factory.informer::<ConfigMap>();
    factory.start();
    factory.wait_for_sync(Duration::from_secs(300)).await?;
    let cache = settled().await;
    let say = |what: &str, live: i64| {
        println!("{what}: {} bytes a key", (live - cache) / objects as i64);
    };

    // They wait in the queue.
    let hold = Arc::new(Notify::new());
    let held = hold.clone();
    let runs = Arc::new(AtomicU64::new(0));
    let count = runs.clone();
    let controller = Controller::for_informer(&maps).warm_until(async move { held.notified().await });
    let running = tokio::spawn(
        controller
            .run(
                move |_, _: Arc<()>| {
                    count.fetch_add(1, Relaxed);
                    async { Ok::<_, Infallible>(Action::requeue(Duration::from_secs(3600))) }
                },
                |_, error, _| match *error {},
                Arc::new(()),
            )
            .for_each(async |_| ()),
    );
    say("queued", settled().await);

    // They wait for their next run.
    hold.notify_one();
    while runs.load(Relaxed) < objects {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    say("requeued after an hour", settled().await);
    running.abort();
    _ = running.await;
    say("after the controller's end", settled().await);

    // All of them are reconciled at the same time.
    let running = tokio::spawn(
        Controller::for_informer(&maps)
            .run(
                |_, _: Arc<()>| std::future::pending::<Result<Action, Infallible>>(),
                |_, error, _| match *error {},
                Arc::new(()),
            )
            .for_each(async |_| ()),
    );
    say("reconciled at the same time", settled().await);
    running.abort();
    _ = running.now_or_never();
    Ok(())
}

/// The bytes that are allocated, when they do not change any more.
async fn settled() -> i64 {
    let mut before = counting::bytes();
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let now = counting::bytes();
        if (now - before).abs() < 10_000 {
            return now;
        }
        before = now;
    }
}
