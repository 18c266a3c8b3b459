//! The server of the bench: many pods, which it changes when it is told to.
//!
//! `pod-server sim|real PODS TEMPLATES [MAPS]` starts kube-sim or a real API server (`conformance/server/build` makes it), fills it, and
//! prints how clients reach the API, which is a URL or a kubeconfig file, and the URL of what is below. It serves until a
//! signal or the end of the process that started it. With MAPS kube-sim has so many config maps, too. For both there is
//!
//! - `POST /bench/churn?changes=N&rate=R[&stamp=1][&wait=1]`: N pods, none of them twice, get another status, R of them a second. With
//!   `stamp` each says when that was, in the annotation `bench/at`; with `wait` the answer comes when all were made. With rate 0
//!   they come as fast as they can be made; kube-sim's watchers get these in one burst, when all have been made, so that
//!   the server's speed does not matter.
//!
//! After that comes one change of the mark: the pod that is last in a list and which nothing else changes. A client that
//! is told of it has been told of everything before. kube-sim alone has
//!
//! - `POST /bench/expire`: open watches end with 410 Gone, so that clients relist a collection of which nothing changed,
//!   and the mark changes;
//! - `GET /bench/lists`: how many lists, streaming or not, have been begun (pages of one list count each).

mod control;
mod http;
mod pods;
mod real;
mod sim;

use anyhow::bail;
use nix::sys::signal::Signal;
use pods::Pods;
use std::sync::Arc;
use std::time::Instant;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// How many changes kube-sim's watches may be behind: more than are made at once.
const HISTORY: usize = 60_000;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    nix::sys::prctl::set_pdeathsig(Signal::SIGTERM)?;
    // The real server ends when its value is dropped, wherever this stops.
    tokio::select! {
        never = run() => never,
        _ = terminate.recv() => Ok(()),
    }
}

async fn run() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, pods, templates, maps @ ..] = &arguments[..] else {
        bail!("usage: pod-server sim|real PODS TEMPLATES [MAPS]");
    };
    let (pods, templates) = (pods.parse()?, templates.parse()?);
    let maps = maps.first().map_or(Ok(0), |maps| maps.parse())?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let begun = Instant::now();
    let generator = Arc::new(Pods::new(pods, templates));
    match &**kind {
        "sim" => {
            let sim = sim::filled(&generator, pods, maps).await?;
            told(begun, pods, sim::mean_size(&generator, pods), &url, &url);
            let control = Arc::new(control::Control::new(sim, generator, pods));
            http::serve(listener, move |request| control.clone().answer(request)).await
        }
        "real" => {
            let real = real::Real::filled(generator, pods).await?;
            let kubeconfig = real.kubeconfig();
            told(begun, pods, real.mean_size().await?, &kubeconfig, &url);
            let writer = real.writer();
            http::serve(listener, move |request| writer.clone().answer(request)).await
        }
        other => bail!("no server is called {other}"),
    }
}

fn told(begun: Instant, pods: usize, mean: pods::Size, api: &str, control: &str) {
    let pods::Size { whole, pruned } = mean;
    let seconds = begun.elapsed().as_secs_f64();
    eprintln!("{pods} pods of {whole} bytes ({pruned} without managedFields), made in {seconds:.1} s");
    println!("{api} {control}");
}
