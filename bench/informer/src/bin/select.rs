//! A list by label through an informer's lister: 100 of 100,000 small pods: `cargo run --release --bin select`.

use informer_bench::{Memory, processor_time};
use k8s_openapi::api::core::v1::Pod;
use kube_informer::SharedInformer;
use kube_informer::selector::LabelSelector;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PODS: u64 = 100_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let until = Arc::new(AtomicU64::new(0));
    let (informer, runner) = SharedInformer::<Pod>::builder(Memory {
        pods: PODS,
        until: until.clone(),
        labelled: true,
    })
    .build();
    let stop = CancellationToken::new();
    let running = runtime.spawn(runner.run(stop.clone()));
    runtime.block_on(informer.synced()).expect("not stopped");
    let measure = |when: &str| {
        for text in [
            "app=app-7",
            "app in (app-7,app-8),tier=front",
            "app=app-7,tier!=back",
            "tier!=front",
        ] {
            let selector = LabelSelector::parse(text).expect("a selector");
            let lister = informer.lister();
            let mut times: Vec<Duration> = (0..50)
                .map(|_| {
                    let started = processor_time();
                    std::hint::black_box(lister.select(&selector));
                    processor_time() - started
                })
                .collect();
            times.sort_unstable();
            let found = lister.select(&selector).len();
            println!(
                "{when}: {found} with {text}: {:.2} ms",
                times[5].as_secs_f64() * 1e3
            );
        }
    };
    measure("fresh");
    until.store(2 * PODS, Relaxed);
    let all = (2 * PODS).into();
    runtime
        .block_on(async { informer.store().wait_until(&all).await })
        .expect("not stopped");
    measure("after all were replaced in no order");
    stop.cancel();
    let _ = runtime.block_on(running);
}
