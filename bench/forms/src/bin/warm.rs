//! What a warm start costs and saves; the case `warm` of `bench/run`.
//!
//! `warm run URL DIRECTORY SECONDS [INTERVAL]` runs an informer of packed pods for so many seconds after it has synced, as one run
//! of a program, and prints a line of JSON. With INTERVAL, in seconds, the cache is saved so often; without, only at the end. With
//! `-` as the directory there is no warm start.

#[path = "../../../counting.rs"]
mod counting;
#[path = "informer-client/usage.rs"]
#[expect(dead_code, reason = "only the processor time is asked for")]
mod usage;

use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use kube_informer::SharedInformer;
use kube_informer::form::Packed;
use kube_informer::source::{ClientSource, Selection};
use kube_informer::warm_start::WarmStart;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn mib(bytes: i64) -> f64 {
    (bytes as f64 / f64::from(1 << 20) * 10.0).round() / 10.0
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}

fn main() -> anyhow::Result<()> {
    let started = Instant::now();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [run, url, directory, seconds, interval @ ..] = &arguments[..] else {
        anyhow::bail!("usage: warm run URL DIRECTORY SECONDS [INTERVAL]");
    };
    anyhow::ensure!(run == "run", "there is only `run`");
    let seconds = Duration::from_secs(seconds.parse()?);
    let interval = interval.first().map(|interval| interval.parse()).transpose()?;
    tokio::runtime::Runtime::new()?.block_on(measure(started, url, directory, seconds, interval))
}

async fn measure(
    started: Instant,
    url: &str,
    directory: &str,
    seconds: Duration,
    interval: Option<u64>,
) -> anyhow::Result<()> {
    let client = kube::Client::try_from(kube::Config::new(url.parse()?))?;
    let source = ClientSource::new(client, ApiResource::erase::<Pod>(&()), Selection::default());
    let mut builder = SharedInformer::<Packed<Pod>>::builder(source.clone());
    if directory != "-" {
        let every = Duration::from_secs(interval.unwrap_or(1_000_000));
        builder = builder.warm_start(WarmStart::in_directory(directory).interval(every))?;
    }
    let (pods, runner) = builder.build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    let restored = pods.restored().await?;
    let (readable, loaded) = (started.elapsed(), pods.store().len());
    let readable_cpu = usage::cpu_time();
    pods.synced().await?;
    let confirmed = started.elapsed();
    let (peak, received) = (counting::peak(), source.bytes_received());
    // The first save, if there is one, is not part of what follows.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (settled, before) = (counting::bytes(), usage::cpu_time());
    let (begun, saves) = (Instant::now(), saves(&pods));
    tokio::time::sleep(seconds).await;
    let (spent, wall) = (usage::cpu_time().saturating_sub(before), begun.elapsed());
    let saved = self::saves(&pods) - saves;
    let objects = pods.store().len();
    stop.cancel();
    running.await??;
    let status = pods.status().warm_start;
    let line = json!({
        "restored": restored, "objects": objects,
        "readable_ms": restored.then(|| millis(readable)), "readable_cpu_ms": restored.then(|| millis(readable_cpu)), "loaded": loaded,
        "synced_ms": millis(confirmed), "received_bytes": received,
        "peak_mib": mib(peak), "settled_mib": mib(settled), "peak_of_settled": (peak as f64 / settled as f64 * 1000.0).round() / 1000.0,
        "cpu_percent_of_a_core": (spent.as_secs_f64() / wall.as_secs_f64() * 10_000.0).round() / 100.0,
        "saves": saved,
        "save_ms": status.as_ref().map(|status| millis(status.save_took)),
        "saved_bytes": status.as_ref().map(|status| status.saved_bytes),
    });
    println!("{line}");
    Ok(())
}

fn saves(pods: &SharedInformer<Packed<Pod>>) -> u64 {
    pods.status().warm_start.map_or(0, |status| status.saves)
}
