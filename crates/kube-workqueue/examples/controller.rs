//! A complete small controller: keeps every deployment at the number of replicas it asks for.
//!
//! The cluster is a map in memory; elsewhere an informer would stand in its place. Everything else is what a real controller
//! does: handlers only add keys, one function brings one object in line, errors back off, Ctrl-C stops cleanly.
//!
//! ```text
//! cargo run -p kube-workqueue --example controller
//! ```
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_workqueue::{Priority, Requeue, WorkQueue, Workers};
use tokio_util::sync::CancellationToken;

/// The cache that informers keep: by key, how many replicas are wanted and how many there are.
type Cluster = Arc<Mutex<BTreeMap<String, Deployment>>>;

#[derive(Debug, Clone, Copy)]
struct Deployment {
    wanted: u32,
    running: u32,
}

#[derive(Debug)]
struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the server refused the write")
    }
}

/// Brings one deployment a step nearer to what it asks for.
async fn reconcile(cluster: Cluster, key: String) -> Result<Requeue, Refused> {
    // Always from the cache: the key says which object, never what happened to it.
    let Some(deployment) = cluster.lock().unwrap().get(&key).copied() else {
        println!("{key}: gone, nothing to do");
        return Ok(Requeue::No);
    };
    if deployment.running == deployment.wanted {
        println!(
            "{key}: {} of {} running, all is well",
            deployment.running, deployment.wanted
        );
        return Ok(Requeue::No);
    }
    start_one(&cluster, &key).await?;
    // Look again soon, rather than hold the worker until the pod runs.
    Ok(Requeue::After(Duration::from_millis(100)))
}

/// A write to the API server; every third one fails.
async fn start_one(cluster: &Cluster, key: &str) -> Result<(), Refused> {
    tokio::time::sleep(Duration::from_millis(20)).await;
    static WRITES: AtomicU32 = AtomicU32::new(1);
    if WRITES.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) {
        println!("{key}: refused, will back off");
        return Err(Refused);
    }
    if let Some(deployment) = cluster.lock().unwrap().get_mut(key) {
        deployment.running += 1;
        println!("{key}: started {} of {}", deployment.running, deployment.wanted);
    }
    Ok(())
}

/// What an informer's handlers do: note which object changed.
async fn handle_events(cluster: Cluster, queue: WorkQueue<String>) {
    let set = |key: &str, wanted| {
        cluster
            .lock()
            .unwrap()
            .entry(key.to_owned())
            .or_insert(Deployment { wanted, running: 0 })
            .wanted = wanted;
    };
    let initial = queue.with_priority(Priority::LOW);
    for (key, wanted) in [("default/web", 3), ("default/db", 1), ("kube-system/dns", 2)] {
        set(key, wanted);
        initial.add(key.to_owned());
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    set("default/db", 2);
    queue.add("default/db".to_owned());
    tokio::time::sleep(Duration::from_millis(300)).await;
    cluster.lock().unwrap().remove("default/web");
    queue.add("default/web".to_owned());
}

#[tokio::main]
async fn main() {
    let cluster = Cluster::default();
    let queue = WorkQueue::builder().name("deployments").build();
    let stop = CancellationToken::new();

    let workers = Workers::new(queue.clone(), 2)
        .timeout(Duration::from_secs(10))
        .stop_on(stop.clone());
    let stats = workers.stats();
    let state = cluster.clone();
    let running = tokio::spawn(workers.run(move |key| reconcile(state.clone(), key)));
    let events = tokio::spawn(handle_events(cluster, queue));

    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = tokio::time::sleep(Duration::from_secs(2)) => println!("(stopping by itself after two seconds)"),
    }
    stop.cancel();
    events.abort();
    if let Err(error) = running.await {
        println!("the workers ended badly: {error}");
    }
    println!("{} runs succeeded, {} failed", stats.succeeded(), stats.failed());
}
