//! The whole informer, fed by an in-memory source with small pods: updates and lists per second.
//!
//! `informer-bench PODS READERS HANDLERS SECONDS [visit]` runs one case and prints one line. Readers are threads that list
//! the one namespace in a loop, as in client-go's `BenchmarkSharedIndexInformer`, into a `Vec` of their own; with `visit`,
//! they look at each object in a snapshot. Handlers count what they are told. `--features mimalloc` changes the allocator.

use informer_bench::{Memory, processor_time};
use k8s_openapi::api::core::v1::Pod;
use kube_informer::{Notification, SharedInformer};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let visit = arguments.last().is_some_and(|last| last == "visit") && arguments.pop().is_some();
    let arguments: Vec<u64> = arguments
        .iter()
        .map(|text| text.parse().expect("a number"))
        .collect();
    let [pods, readers, handlers, seconds] = arguments[..] else {
        panic!("usage: informer-bench PODS READERS HANDLERS SECONDS [visit]")
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let until = Arc::new(AtomicU64::new(0));
    let (informer, runner) = SharedInformer::builder(Memory {
        pods,
        until: until.clone(),
        labelled: false,
    })
    .build();
    let told = Arc::new(AtomicU64::new(0));
    for number in 0..handlers {
        let told = told.clone();
        let count = move |_: Notification<Pod>| {
            told.fetch_add(1, Relaxed);
        };
        informer
            .add_handler(format!("handler-{number}").as_str(), count)
            .expect("not stopped")
            .detach();
    }
    let stop = CancellationToken::new();
    let running = runtime.spawn(runner.run(stop.clone()));
    runtime.block_on(informer.synced()).expect("not stopped");
    let (lists, slowest) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let done = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..readers)
        .map(|_| {
            let (store, lists, slowest, done) = (
                informer.store().clone(),
                lists.clone(),
                slowest.clone(),
                done.clone(),
            );
            std::thread::spawn(move || {
                while !done.load(Relaxed) {
                    let started = Instant::now();
                    let listed = match visit {
                        true => store
                            .snapshot()
                            .namespace("default")
                            .map(|pod| black_box(Arc::as_ptr(pod)))
                            .count(),
                        false => store.list_namespace("default").len(),
                    };
                    assert_eq!(listed as u64, pods);
                    slowest.fetch_max(started.elapsed().as_micros() as u64, Relaxed);
                    lists.fetch_add(1, Relaxed);
                }
            })
        })
        .collect();
    let version = || {
        informer
            .store()
            .resource_version()
            .map_or(0, |v| v.to_string().parse::<u64>().unwrap_or(0))
    };
    std::thread::sleep(Duration::from_millis(500));
    until.store(u64::MAX, Relaxed);
    let (started, before, listed, told_before) =
        (Instant::now(), version(), lists.load(Relaxed), told.load(Relaxed));
    let spent = processor_time();
    std::thread::sleep(Duration::from_secs(seconds));
    let elapsed = started.elapsed().as_secs_f64();
    let spent = processor_time() - spent;
    let (updates, lists, told) = (
        version() - before,
        lists.load(Relaxed) - listed,
        told.load(Relaxed) - told_before,
    );
    println!(
        "{pods} pods, {readers} readers, {handlers} handlers: {:.0} updates/s, {:.0} lists/s (slowest {} us), {:.0} notifications/s, {:.2} processors",
        updates as f64 / elapsed,
        lists as f64 / elapsed,
        slowest.load(Relaxed),
        told as f64 / elapsed,
        spent.as_secs_f64() / elapsed,
    );
    done.store(true, Relaxed);
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("a reader panicked"));
    stop.cancel();
    let _ = runtime.block_on(running);
}
