//! What a controller costs this process.

use crate::usage::{at_rest, cpu_time, memory, percentiles};
use anyhow::Context as _;
use k8s_openapi::api::core::v1::Pod;
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Notify;

/// How often each object is reconciled.
const ROUNDS: u64 = 10;
/// Changes a second, and how many.
const REST: (usize, usize) = (20, 300);
const LOAD: (usize, usize) = (1000, 15_000);
/// When a client gives up.
const PATIENCE: Duration = Duration::from_secs(300);

/// Counts reconciles until there were enough.
pub struct Runs {
    last: u64,
    count: AtomicU64,
    first: OnceLock<(Instant, Duration)>,
    ended: Notify,
}

impl Runs {
    /// Counts a reconcile. Returns whether its object should have another one.
    pub fn another(&self) -> bool {
        let number = self.count.fetch_add(1, Relaxed) + 1;
        if number == 1 {
            _ = self.first.set((Instant::now(), cpu_time()));
        }
        if number == self.last {
            self.ended.notify_one();
        }
        number < self.last
    }
}

/// Measures reconciles of nothing, from the first to the last.
pub async fn nothing<F: Future<Output = ()> + Send + 'static>(
    who: &str,
    objects: u64,
    run: impl FnOnce(Arc<Runs>) -> F,
) -> anyhow::Result<()> {
    let runs = Arc::new(Runs {
        last: objects * ROUNDS,
        count: AtomicU64::new(0),
        first: OnceLock::new(),
        ended: Notify::new(),
    });
    let running = tokio::spawn(run(runs.clone()));
    tokio::time::timeout(PATIENCE, runs.ended.notified())
        .await
        .context("too few reconciles")?;
    let (now, cpu) = (Instant::now(), cpu_time());
    let (first, cpu_first) = runs.first.get().context("no reconcile")?;
    running.abort();
    let (wall, cpu) = (now - *first, cpu - *cpu_first);
    print(json!({
        "who": who, "job": "nothing", "reconciles": runs.last,
        "per_s": runs.last as f64 / wall.as_secs_f64(), "per_cpu_s": runs.last as f64 / cpu.as_secs_f64(),
    }));
    Ok(())
}

/// How late pods are reconciled.
#[derive(Default)]
pub struct Latencies {
    count: AtomicU64,
    told: Mutex<HashMap<String, Instant>>,
    /// Since the server changed the pod, and since the controller was told, if there is one.
    late: Mutex<Vec<(Duration, Option<Duration>)>>,
}

impl Latencies {
    /// The controller is told of a pod.
    pub fn told(&self, key: &str) {
        self.told.lock().unwrap().insert(key.to_owned(), Instant::now());
    }

    /// The reconciler is called.
    pub fn reconciled(&self, pod: &Pod) {
        let (now, wall) = (Instant::now(), SystemTime::now());
        self.count.fetch_add(1, Relaxed);
        let key = format!("{}/{}", pod.namespace().unwrap_or_default(), pod.name_any());
        let Some(told) = self.told.lock().unwrap().remove(&key) else {
            return;
        };
        let Some(at) = pod.annotations().get("bench/at").and_then(|at| at.parse().ok()) else {
            return;
        };
        self.late.lock().unwrap().push((since(at, wall), Some(now - told)));
    }

    /// The bytes of a pod have come, which was changed at this time, and nobody is told of it.
    pub fn arrived(&self, at: u64) {
        let since_change = since(at, SystemTime::now());
        self.late.lock().unwrap().push((since_change, None));
    }

    /// All objects that there are at first have been reconciled, so to speak.
    pub fn settled(&self, objects: u64) {
        self.count.fetch_add(objects, Relaxed);
    }
}

/// How long before `now` that was, in nanoseconds since 1970.
fn since(at: u64, now: SystemTime) -> Duration {
    now.duration_since(UNIX_EPOCH + Duration::from_nanos(at))
        .unwrap_or_default()
}

/// Measures a controller of pods: its memory, then how late it is.
pub async fn pods<F: Future<Output = ()> + Send + 'static>(
    who: &str,
    control: Client,
    objects: u64,
    run: impl FnOnce(Arc<Latencies>) -> F,
) -> anyhow::Result<()> {
    let latencies = Arc::new(Latencies::default());
    let running = tokio::spawn(run(latencies.clone()));
    let begun = Instant::now();
    while latencies.count.load(Relaxed) < objects {
        anyhow::ensure!(
            begun.elapsed() < PATIENCE,
            "{} pods of {objects}",
            latencies.count.load(Relaxed)
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    latencies.told.lock().unwrap().shrink_to_fit();
    at_rest().await;
    let settled = cpu_time();
    print(json!({
        "who": who, "job": "pods", "phase": "settled", "rss_mib": memory()?.0, "cpu_s": settled.as_secs_f64(),
    }));
    for (phase, (rate, changes)) in [("rest", REST), ("load", LOAD)] {
        latencies.late.lock().unwrap().clear();
        let cpu = cpu_time();
        let churn = format!("/bench/churn?changes={changes}&rate={rate}&stamp=1");
        control
            .request_text(http::Request::post(&churn).body(Vec::new())?)
            .await?;
        let until = Instant::now() + Duration::from_secs((changes / rate) as u64 + 20);
        loop {
            let seen = latencies.late.lock().unwrap().len();
            if seen >= changes || Instant::now() > until {
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        at_rest().await;
        let cpu = cpu_time() - cpu;
        let late = std::mem::take(&mut *latencies.late.lock().unwrap());
        let since_change = percentiles(late.iter().map(|(since_change, _)| *since_change).collect());
        let since_told = percentiles(late.iter().filter_map(|(_, since_told)| *since_told).collect());
        print(json!({
            "who": who, "job": "pods", "phase": phase, "reconciles": late.len(), "changes": changes,
            "told_us": since_told, "change_us": since_change, "cpu_us": cpu.as_secs_f64() * 1e6 / changes as f64,
            "rss_mib": memory()?.0,
        }));
    }
    running.abort();
    Ok(())
}

fn print(line: Value) {
    println!("{line}");
}
