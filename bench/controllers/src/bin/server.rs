//! The server of the bench: `server PODS MAPS` is kube-sim with so many pods, those of `bench/forms`, and as many config maps.
//! It prints its URL, and serves until a signal or the end of the process that started it. Besides the API there is
//! `POST /bench/churn?changes=N&rate=R`: N pods, one after the other, get another status, R of them a second. The annotation
//! `bench/at` of each says when that was, in nanoseconds since 1970.

#[path = "../../../forms/src/bin/server/http.rs"]
#[expect(dead_code, reason = "the other server needs more of it")]
mod http;
#[path = "../../../forms/src/bin/server/pods.rs"]
#[expect(dead_code, reason = "the other server needs more of it")]
mod pods;

use anyhow::Context as _;
use http::{Churn, started};
use hyper::Method;
use kube_sim::Sim;
use nix::sys::signal::Signal;
use pods::Pods;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::MissedTickBehavior;
use tower::Service as _;

const TEMPLATES: usize = 1000;
/// More changes than a watch is ever behind.
const HISTORY: usize = 20_000;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    nix::sys::prctl::set_pdeathsig(Signal::SIGTERM)?;
    tokio::select! {
        never = run() => never,
        _ = terminate.recv() => Ok(()),
    }
}

async fn run() -> anyhow::Result<()> {
    let arguments: Vec<usize> = std::env::args()
        .skip(1)
        .map(|argument| argument.parse())
        .collect::<Result<_, _>>()?;
    let [pods, maps] = <[usize; 2]>::try_from(arguments)
        .ok()
        .context("usage: server PODS MAPS")?;
    let generator = Arc::new(Pods::new(pods, TEMPLATES));
    let sim = Sim::builder().history(HISTORY).build()?;
    let filling = {
        let (sim, generator) = (sim.clone(), generator.clone());
        tokio::task::spawn_blocking(move || fill(&sim, &generator, pods, maps))
    };
    filling.await??;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    http::serve(listener, move |request| {
        let (sim, generator) = (sim.clone(), generator.clone());
        async move {
            match (request.method(), request.uri().path()) {
                (&Method::POST, "/bench/churn") => {
                    let churn = Churn::read(&request);
                    Ok(started(
                        async move { change(&sim, &generator, pods, churn).await },
                    ))
                }
                _ => sim.service().call(request).await,
            }
        }
    })
    .await
}

fn fill(sim: &Sim, generator: &Pods, pods: usize, maps: usize) -> anyhow::Result<()> {
    let create = |object: Value| {
        let created = sim.store().create(object);
        created.map(drop).context("an object was refused")
    };
    pods::namespaces().try_for_each(create)?;
    (0..pods).try_for_each(|n| create(generator.pod(n)))?;
    (0..maps).try_for_each(|n| {
        create(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"namespace": "default", "name": format!("settings-{n:06}")},
            "data": {"number": n.to_string()},
        }))
    })
}

async fn change(sim: &Sim, generator: &Pods, pods: usize, churn: Churn) -> anyhow::Result<()> {
    let store = sim.store();
    let mut ticks = tokio::time::interval(Duration::from_secs_f64(1.0 / churn.rate.max(1) as f64));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for number in 1..=churn.changes {
        ticks.tick().await;
        let (namespace, name) = generator.key(pods::changed(number, pods));
        let mut pod = store
            .get("v1", "Pod", Some(&namespace), &name)
            .context("a pod is missing")?;
        pods::restart(&mut pod, number);
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
        pod["metadata"]["annotations"]["bench/at"] = now.to_string().into();
        store.update(pod).context("a change was refused")?;
    }
    Ok(())
}
