//! Informers that start from a saved cache, against a simulated cluster.

mod files;
mod namespaces;
mod panics;
mod servers;
mod told;

use futures::StreamExt;
use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::ApiResource;
use kube_informer::form::Packed;
use kube_informer::informer::{InformerBuilder, RunError};
use kube_informer::low_level::wire::Encoding;
use kube_informer::source::{ClientSource, Selection};
use kube_informer::warm_start::{Start, WarmStart};
use kube_informer::{DeleteCause, Notification, Notifications, SharedInformer};
use kube_sim::Sim;
use kube_sim::faults::{LIST, WATCH};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

type Maps = Packed<ConfigMap>;

/// A cluster with so many config maps.
fn cluster(maps: usize) -> Sim {
    let sim = Sim::builder().build().unwrap();
    for number in 0..maps {
        put(&sim, &format!("m-{number}"), "old");
    }
    sim
}

/// Creates or changes a config map.
fn put(sim: &Sim, name: &str, value: &str) {
    put_in(sim, "default", name, value);
}

fn put_in(sim: &Sim, namespace: &str, name: &str, value: &str) {
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "name": name},
        "data": {"value": value, "rest": "x".repeat(1000)},
    });
    match sim.store().get("v1", "ConfigMap", Some(namespace), name) {
        Ok(_) => sim.store().update(map).unwrap(),
        Err(_) => sim.store().create(map).unwrap(),
    };
}

fn delete(sim: &Sim, name: &str) {
    sim.store()
        .delete("v1", "ConfigMap", Some("default"), name)
        .unwrap();
}

fn source(sim: &Sim) -> ClientSource {
    let client = kube::Client::new(sim.service(), "default");
    ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default())
}

fn builder(source: ClientSource, directory: &Path) -> InformerBuilder<Maps> {
    SharedInformer::<Maps>::builder(source)
        .warm_start(WarmStart::in_directory(directory))
        .unwrap()
}

/// The only file.
fn saved_file(directory: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(directory).unwrap();
    files.next().unwrap().unwrap().path()
}

/// One run of a program.
struct Run {
    maps: SharedInformer<Maps>,
    told: Notifications<Maps>,
    stop: CancellationToken,
    running: JoinHandle<Result<(), RunError>>,
}

impl Run {
    fn start(builder: InformerBuilder<Maps>) -> Self {
        let (maps, runner) = builder.build();
        let told = maps.subscribe("told").unwrap();
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        Self {
            maps,
            told,
            stop,
            running,
        }
    }

    /// The same, and waits until it has synced.
    async fn synced(builder: InformerBuilder<Maps>) -> Self {
        let run = Self::start(builder);
        run.maps.synced().await.unwrap();
        run
    }

    /// What the subscriber was told until nothing more comes.
    async fn told(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        while let Ok(Some(change)) = tokio::time::timeout(Duration::from_secs(5), self.told.next()).await {
            told.push(text(&change));
        }
        told
    }

    /// Is told of as many changes, and asks for no more.
    async fn is_told(&mut self, changes: usize) {
        for _ in 0..changes {
            self.told.next().await.unwrap();
        }
    }

    async fn holds(&self, objects: usize) {
        while self.maps.store().len() != objects {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.running.await.unwrap().unwrap();
    }

    fn start_status(&self) -> Start {
        self.maps.status().warm_start.unwrap().start
    }

    /// Why it started without a file.
    fn cold(&self) -> String {
        match self.start_status() {
            Start::Cold { reason } => reason,
            other => panic!("{other:?}"),
        }
    }

    fn restored(&self) -> u64 {
        match self.start_status() {
            Start::Restored { objects, .. } => objects,
            other => panic!("{other:?}"),
        }
    }
}

fn value(map: &Maps) -> String {
    map.decode().unwrap().data.as_ref().unwrap()["value"].clone()
}

fn text(change: &Notification<Maps>) -> String {
    let key = change.key();
    match change {
        Notification::Add {
            object,
            initial: true,
        } => format!("initial {key} {}", value(object)),
        Notification::Add { object, .. } => format!("add {key} {}", value(object)),
        Notification::Update { old, new } => format!("update {key} {} {}", value(old), value(new)),
        Notification::Delete(deleted) => {
            let last = deleted.last_known.as_ref().map(value).unwrap_or_default();
            let cause = match deleted.cause {
                DeleteCause::Event => "event",
                DeleteCause::Missed => "missed",
                _ => "other",
            };
            format!("delete {key} {last} {cause}")
        }
    }
}

/// The requests since the first `skip` ones.
fn requests(sim: &Sim, skip: usize) -> Vec<String> {
    let requests = sim.requests().into_iter().skip(skip);
    let shown = requests.map(|request| {
        let kind = match request.parameter("watch") {
            Some(_) => format!(
                "watch {}",
                request.parameter("resourceVersion").unwrap_or("newest")
            ),
            None => format!("get {}", request.parameter("limit").unwrap_or("all")),
        };
        format!("{kind} {}", request.path.rsplit('/').next().unwrap())
    });
    shown.collect()
}

/// Saves the config maps of a cluster.
async fn save(sim: &Sim, directory: &Path) {
    Run::synced(builder(source(sim), directory)).await.stop().await;
}

/// A file with two deletions of which the handlers were not told.
async fn save_with_deletions(sim: &Sim, directory: &Path) {
    let mut run = Run::synced(builder(source(sim), directory)).await;
    run.is_told(4).await;
    delete(sim, "m-1");
    delete(sim, "m-2");
    run.holds(2).await;
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_restart_without_changes_sends_next_to_nothing() {
    let (sim, directory) = (cluster(500), TempDir::new().unwrap());
    let first = source(&sim);
    let run = Run::synced(builder(first.clone(), directory.path())).await;
    assert_eq!(run.cold(), "there is no file yet");
    run.stop().await;
    let version = sim.store().resource_version();

    let skip = sim.requests().len();
    let second = source(&sim);
    let mut run = Run::synced(builder(second.clone(), directory.path())).await;
    assert_eq!(run.restored(), 500);
    assert_eq!(
        requests(&sim, skip),
        [
            "get all kube-system".to_owned(),
            "get 1 configmaps".to_owned(),
            format!("watch {version} configmaps"),
        ]
    );
    let told = run.told().await;
    assert_eq!(told.len(), 500);
    assert!(told.iter().all(|told| told.starts_with("initial")));
    assert!(second.bytes_received() * 50 < first.bytes_received());
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn handlers_are_told_what_changed_while_down_once() {
    // The server still has the history; or it does not, and the bodies or the versions of what it lists are compared.
    for (compacted, encoding) in [(false, None), (true, None), (true, Some(Encoding::Json))] {
        let (sim, directory) = (cluster(10), TempDir::new().unwrap());
        let source = || match encoding {
            Some(encoding) => source(&sim).encoding(encoding),
            None => source(&sim),
        };
        Run::synced(builder(source(), directory.path()))
            .await
            .stop()
            .await;
        put(&sim, "m-new", "new");
        put(&sim, "m-3", "newer");
        put(&sim, "m-3", "newest");
        delete(&sim, "m-5");
        if compacted {
            sim.faults().compact();
        }

        let half = Duration::from_millis(500);
        let slow = sim.faults().delay(LIST | WATCH, "configmaps", half).start();
        let mut run = Run::start(builder(source(), directory.path()));
        assert!(run.maps.restored().await.unwrap());
        assert_eq!((run.maps.store().len(), run.maps.has_synced()), (10, false));
        assert!(run.maps.status().unconfirmed);
        let held = run.maps.store().get("default/m-7").unwrap().decode().unwrap();
        run.maps.synced().await.unwrap();
        slow.remove();
        assert!(!run.maps.status().unconfirmed);
        assert_eq!(run.maps.store().len(), 10);
        // It is held in the same packed object: a list does not decode what is not new.
        let still = run.maps.store().get("default/m-7").unwrap().decode().unwrap();
        assert!(std::sync::Arc::ptr_eq(&held, &still), "{encoding:?}");

        let mut told = run.told().await;
        let mut changes = told.split_off(10);
        assert!(told.iter().all(|told| told.starts_with("initial")), "{told:?}");
        changes.sort();
        let expected: &[&str] = match compacted {
            false => &[
                "add default/m-new new",
                "delete default/m-5 old event",
                "update default/m-3 newer newest",
                "update default/m-3 old newer",
            ],
            true => &[
                "add default/m-new new",
                "delete default/m-5 old missed",
                "update default/m-3 old newest",
            ],
        };
        assert_eq!(changes, expected, "compacted: {compacted}");
        run.stop().await;

        let mut run = Run::synced(builder(source(), directory.path())).await;
        assert_eq!(run.restored(), 10);
        let told = run.told().await;
        assert!(
            told.iter().all(|told| told.starts_with("initial")),
            "not again: {told:?}"
        );
        run.stop().await;
    }
}
