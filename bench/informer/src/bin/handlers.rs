//! What handlers cost: time, allocations and memory. Each prints lines of JSON.
//!
//! `handlers notify UPDATES ROUNDS`: what one notification of one handler costs, as the difference between an informer
//! with 20 handlers and one with 10, all on one thread. Time is processor time, the least of all rounds.
//!
//! `handlers stalled PODS UPDATES ROUNDS`: 90 handlers alone, 100 handlers, and 100 of which 10 never return, with the
//! throughput of those that do, and how much memory those that do not hold after the updates and after as many again.
//!
//! `handlers run HANDLERS STALLED PODS UPDATES`: one case, for callgrind.

#[path = "../../../counting.rs"]
mod counting;

use informer_bench::Memory;
use k8s_openapi::api::core::v1::Pod;
use kube_informer::{CachedObject, Deleted, Notification, ResourceEventHandler, SharedInformer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The processor time of this thread so far.
fn thread_time() -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists and `now` is a valid place for its time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Never returns from its first call.
struct Stalled;

impl ResourceEventHandler<Pod> for Stalled {
    async fn on_add(&mut self, _: Arc<Pod>, _: bool) {
        std::future::pending().await
    }

    async fn on_update(&mut self, _: Arc<Pod>, _: Arc<Pod>) {
        std::future::pending().await
    }

    async fn on_delete(&mut self, _: Deleted<Arc<Pod>>) {
        std::future::pending().await
    }
}

/// What one phase of updates took.
struct Phase {
    time: Duration,
    allocations: u64,
    told: u64,
    /// Bytes in use at its end, beyond those at its beginning.
    grown: i64,
    /// The longest queue at its end.
    longest_queue: usize,
}

/// Runs an informer on this thread: so many handlers that work, so many that stall, and as many phases of updates.
fn run(handlers: u64, stalled: u64, pods: u64, phases: &[u64]) -> Vec<Phase> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let until = Arc::new(AtomicU64::new(0));
        let (informer, runner) = SharedInformer::builder(Memory {
            pods,
            until: until.clone(),
            labelled: false,
        })
        .build();
        let told = Arc::new(AtomicU64::new(0));
        // How many handlers have been told of the last update.
        let (done, all_done) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
        for number in 0..handlers {
            let (told, done, all_done, until) = (told.clone(), done.clone(), all_done.clone(), until.clone());
            let count = move |change: Notification<Pod>| {
                told.fetch_add(1, Relaxed);
                let version = change.object().and_then(Pod::resource_version_of);
                if version.is_some_and(|version| version >= until.load(Relaxed).into())
                    && done.fetch_add(1, Relaxed) + 1 == handlers
                {
                    all_done.notify_one();
                }
            };
            informer
                .add_handler(format!("handler-{number}").as_str(), count)
                .expect("not stopped")
                .detach();
        }
        for number in 0..stalled {
            informer
                .add_handler(format!("stalled-{number}").as_str(), Stalled)
                .expect("not stopped")
                .detach();
        }
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        informer.synced().await.expect("not stopped");
        tokio::time::sleep(Duration::from_millis(50)).await;
        let mut results = vec![];
        let mut last = pods;
        for updates in phases {
            last += updates;
            done.store(0, Relaxed);
            let (bytes, allocations, before) =
                (counting::bytes(), counting::allocations(), told.load(Relaxed));
            let started = thread_time();
            until.store(last, Relaxed);
            if handlers > 0 {
                all_done.notified().await;
            } else {
                informer.store().wait_until(&last.into()).await.expect("reached");
            }
            results.push(Phase {
                time: thread_time() - started,
                allocations: counting::allocations() - allocations,
                told: told.load(Relaxed) - before,
                grown: counting::bytes() - bytes,
                longest_queue: informer
                    .handlers()
                    .into_iter()
                    .map(|(_, len)| len)
                    .max()
                    .unwrap_or_default(),
            });
        }
        stop.cancel();
        // Those that stall are aborted at the deadline; nobody waits for that here.
        running.abort();
        results
    })
}

fn least(mut phases: Vec<Phase>) -> Phase {
    phases.sort_by_key(|phase| phase.time);
    phases.swap_remove(0)
}

fn notify(updates: u64, rounds: u64) {
    let (mut few, mut many) = (vec![], vec![]);
    for _ in 0..rounds {
        few.append(&mut run(10, 0, 1000, &[updates]));
        many.append(&mut run(20, 0, 1000, &[updates]));
    }
    let (few, many) = (least(few), least(many));
    let notifications = many.told - few.told;
    assert_eq!(
        (few.told, notifications),
        (10 * updates, 10 * updates),
        "nothing is merged"
    );
    println!(
        "{{\"ns\":{:.1},\"allocations\":{:.3},\"update_with_10_ns\":{:.0}}}",
        (many.time.as_nanos() as f64 - few.time.as_nanos() as f64) / notifications as f64,
        (many.allocations as f64 - few.allocations as f64) / notifications as f64,
        few.time.as_nanos() as f64 / updates as f64,
    );
}

fn stalled(pods: u64, updates: u64, rounds: u64) {
    let cases = [(90, 0), (100, 0), (90, 10)];
    let mut results = cases.map(|_| vec![]);
    for _ in 0..rounds {
        for (result, (handlers, stalled)) in results.iter_mut().zip(cases) {
            // The first phase is not measured: in it, the stalled ones fill up.
            let mut phases = run(handlers, stalled, pods, &[updates, updates, updates]);
            let third = phases.pop().expect("three");
            let mut second = phases.pop().expect("three");
            second.grown = third.grown;
            result.push(second);
        }
    }
    for (phases, (handlers, stalled)) in results.into_iter().zip(cases) {
        let best = least(phases);
        println!(
            "{{\"pods\":{pods},\"handlers\":{handlers},\"stalled\":{stalled},\"updates_per_s\":{:.0},\"notifications_per_s\":{:.0},\
             \"longest_queue\":{},\"grown_kib\":{}}}",
            updates as f64 / best.time.as_secs_f64(),
            best.told as f64 / best.time.as_secs_f64(),
            best.longest_queue,
            best.grown / 1024,
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments
        .iter()
        .skip(1)
        .map(|text| text.parse().expect("a number"))
        .collect();
    match (arguments.first().map(String::as_str), &numbers[..]) {
        (Some("notify"), [updates, rounds]) => notify(*updates, *rounds),
        (Some("stalled"), [pods, updates, rounds]) => stalled(*pods, *updates, *rounds),
        (Some("run"), [handlers, stalled, pods, updates]) => {
            for phase in run(*handlers, *stalled, *pods, &[*updates]) {
                println!(
                    "{} told, {:?}, {} allocations",
                    phase.told, phase.time, phase.allocations
                );
            }
        }
        _ => panic!(
            "usage: handlers notify UPDATES ROUNDS | stalled PODS UPDATES ROUNDS | run HANDLERS STALLED PODS UPDATES"
        ),
    }
}
