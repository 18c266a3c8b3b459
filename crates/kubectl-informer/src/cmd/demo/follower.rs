//! A process that holds the pods of a server in one form, and tells what that takes.
//!
//! The demo starts two of them, because only a process's memory and CPU time can be told apart from another's. It prints a
//! [`Status`] as a line of JSON four times a second. A line on standard input is a number of milliseconds that its handler
//! takes from then on; at the end of the input it ends.

use crate::args::{FollowArgs, Held};
use crate::connection::Connection;
use crate::output;
use crate::process::{self, Memory};
use crate::signals::{Meaning, Stop};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use kube_informer::form::{Decode, Packed};
use kube_informer::reflector::Phase;
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{HandlerOptions, SharedInformer};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::BufRead as _;
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

/// How often it tells.
const TICK: Duration = Duration::from_millis(250);
/// The time after a signal at which the program ends even if a task hangs.
const GRACE: Duration = Duration::from_secs(2);

/// What a follower tells of itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Status {
    pub(super) objects: usize,
    pub(super) synced: bool,
    /// What its handler has been told.
    pub(super) handled: u64,
    /// What waits to be told.
    pub(super) waiting: usize,
    pub(super) lists: u64,
    /// Why it does not watch just now.
    pub(super) trouble: Option<String>,
    pub(super) rss_mib: f64,
    pub(super) peak_mib: f64,
    pub(super) cpu_s: f64,
    /// The [`digest`] of its cache.
    pub(super) digest: u64,
}

/// A number that tells the states of collections apart: it adds up what each key and version is hashed to.
pub(super) fn digest(objects: impl Iterator<Item = (String, String)>) -> u64 {
    objects.fold(0, |sum, object| {
        let mut hasher = DefaultHasher::new();
        object.hash(&mut hasher);
        sum.wrapping_add(hasher.finish())
    })
}

pub(crate) async fn run(args: FollowArgs) -> anyhow::Result<ExitCode> {
    let stop = Stop::on_signal(Meaning::End, Some(GRACE))?;
    let connection = Connection::with_config(kube::Config::new(args.server.parse()?))?;
    let source = ClientSource::new(
        connection.client.clone(),
        ApiResource::erase::<Pod>(&()),
        Selection::default(),
    );
    match args.form {
        Held::Typed => follow::<Pod>(source, &stop).await?,
        Held::Packed => follow::<Packed<Pod>>(source, &stop).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn follow<O: Decode>(source: ClientSource, stop: &Stop) -> anyhow::Result<()> {
    let (informer, runner) = SharedInformer::<O>::builder(source).build();
    let mut changes = informer.subscribe(HandlerOptions::named("demo"))?;
    let running = tokio::spawn(runner.run(stop.token.clone()));
    let mut commands = commands();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut handled, mut takes) = (0, Duration::ZERO);
    let told = loop {
        tokio::select! {
            () = stop.token.cancelled() => break Ok(()),
            change = changes.next() => match change {
                Some(_) => {
                    handled += 1;
                    if takes > Duration::ZERO {
                        tokio::time::sleep(takes).await;
                    }
                }
                None => break Ok(()),
            },
            command = commands.recv() => match command {
                Some(slow) => takes = slow,
                None => break Ok(()),
            },
            _ = ticks.tick() => {
                let status = status(&informer, handled, changes.queue_len());
                if let Err(error) = output::line(&serde_json::to_string(&status)?) {
                    break Err(error);
                }
            }
        }
    };
    stop.token.cancel();
    running.await??;
    Ok(told?)
}

fn status<O: Decode>(informer: &SharedInformer<O>, handled: u64, waiting: usize) -> Status {
    let status = informer.status();
    let memory = Memory::now();
    let snapshot = informer.store().snapshot();
    let objects = snapshot.iter().map(|object| {
        let version = O::resource_version_of(object).map(|version| version.to_string());
        (O::key_of(object).to_string(), version.unwrap_or_default())
    });
    let trouble = status
        .reflector
        .last_error
        .filter(|_| status.reflector.phase != Phase::Watching);
    Status {
        objects: status.objects,
        synced: status.synced,
        handled,
        waiting,
        lists: status.reflector.lists,
        trouble: trouble.map(|error| error.message),
        rss_mib: memory.rss_mib,
        peak_mib: memory.peak_mib,
        cpu_s: process::cpu_time().as_secs_f64(),
        digest: digest(objects),
    }
}

/// The lines of standard input. They are read by a thread, which ends with the input or the process.
fn commands() -> mpsc::Receiver<Duration> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let millis = line.ok().and_then(|line| line.parse().ok());
            let Some(millis) = millis else { return };
            if sender.blocking_send(Duration::from_millis(millis)).is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_keys_and_versions_but_no_order() {
        let of = |objects: &[(&str, &str)]| {
            digest(
                objects
                    .iter()
                    .map(|(key, version)| (key.to_string(), version.to_string())),
            )
        };
        assert_eq!(of(&[("a", "1"), ("b", "2")]), of(&[("b", "2"), ("a", "1")]));
        assert_ne!(of(&[("a", "1"), ("b", "2")]), of(&[("a", "2"), ("b", "1")]));
        assert_ne!(of(&[("a", "1")]), of(&[]));
    }
}
