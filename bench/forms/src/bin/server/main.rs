//! The server of the bench: kube-sim with many pods, which changes them and cuts watches off when it is told to.
//!
//! `server PODS TEMPLATES [PORT]` fills the cluster, prints its URL, and serves until it is ended by a signal. Besides the
//! API there are
//!
//! - `POST /bench/churn?changes=N&rate=R`: N pods, none of them twice, get another status, R of them a second; with rate 0
//!   watchers get them in one burst, when all have been made, so that the server's speed does not matter;
//! - `POST /bench/expire`: open watches end with 410 Gone, so that clients relist a collection of which nothing changed;
//! - `GET /bench/lists`: how many lists, streaming or not, have been begun (pages of one list count each).
//!
//! After both of the first two comes one change of the mark: the pod that is last in a list and which nothing else
//! changes. A client that is told of it has been told of everything before.

mod control;
mod pods;

use anyhow::Context as _;
use control::Control;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube_sim::Sim;
use pods::{NAMESPACES, Pods};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// How many changes a watch may be behind: more than are made at once.
const HISTORY: usize = 60_000;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |n: usize, default| {
        arguments
            .get(n)
            .map_or(Ok(default), |text: &String| text.parse::<usize>())
    };
    let (pods, templates, port) = (number(0, 10_000)?, number(1, 1000)?, number(2, 0)?);
    let listener = TcpListener::bind(("127.0.0.1", u16::try_from(port)?)).await?;
    let mut terminate = signal(SignalKind::terminate())?;
    let begun = Instant::now();
    let sim = Sim::builder().history(HISTORY).build()?;
    let generator = Arc::new(Pods::new(pods, templates));
    let filled = tokio::task::spawn_blocking({
        let (sim, generator) = (sim.clone(), generator.clone());
        move || fill(&sim, &generator, pods)
    });
    tokio::select! {
        filled = filled => filled??,
        _ = terminate.recv() => std::process::exit(0),
    };
    let sample = pods.min(500);
    let bytes: usize = (0..sample).map(|n| generator.pod(n).to_string().len()).sum();
    let mean = bytes / sample.max(1);
    eprintln!(
        "{pods} pods of {mean} bytes, made in {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    println!("http://{}", listener.local_addr()?);
    let control = Arc::new(Control::new(sim, generator, pods));
    tokio::select! {
        never = serve(listener, control) => never,
        _ = terminate.recv() => Ok(()),
    }
}

/// Creates all objects, the pods on two threads.
fn fill(sim: &Sim, generator: &Pods, pods: usize) -> anyhow::Result<()> {
    let create = |object: Value| {
        sim.store()
            .create(object)
            .map(drop)
            .context("an object was refused")
    };
    let teams = (0..NAMESPACES).map(|n| format!("team-{n:02}"));
    for name in teams.chain([control::MARK.0.to_owned()]) {
        create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))?;
    }
    let mut mark = generator.pod(pods);
    mark["metadata"]["namespace"] = control::MARK.0.into();
    mark["metadata"]["name"] = control::MARK.1.into();
    create(mark)?;
    let half = |first| {
        (first..pods)
            .step_by(2)
            .try_for_each(|n| create(generator.pod(n)))
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        half(0)?;
        other.join().expect("no panic")
    })
}

async fn serve(listener: TcpListener, control: Arc<Control>) -> anyhow::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let control = control.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| control.clone().answer(request));
            // A client that goes away is not an error here.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
