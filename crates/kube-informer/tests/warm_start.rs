//! Informers that start from a saved cache, against a simulated cluster.

use futures::StreamExt;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::core::{ApiResource, DynamicObject};
use kube_informer::form::Packed;
use kube_informer::informer::{InformerBuilder, InformerRunner, RunError};
use kube_informer::low_level::wire::Encoding;
use kube_informer::reflector::TransformError;
use kube_informer::source::{
    ApiError, ClientSource, ListRequest, ListStream, ListerWatcher, Selection, WatchRequest, WatchStream,
};
use kube_informer::warm_start::{Start, WarmStart, WarmStartError};
use kube_informer::{
    DeleteCause, Deleted, Delivery, FieldPlan, HandlerOptions, NamespaceSet, Notification, Notifications,
    ResourceEventHandler, SharedInformer, SharedInformerFactory,
};
use kube_sim::Sim;
use kube_sim::faults::{ANY, GET, LIST, WATCH};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
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

impl Run {
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
}

/// What two runs after each other are told that is not initial.
async fn told_by_two_runs(sim: &Sim, directory: &Path) -> [Vec<String>; 2] {
    let mut both = [Vec::new(), Vec::new()];
    for told in &mut both {
        let mut run = Run::synced(builder(source(sim), directory)).await;
        *told = run.told().await;
        told.retain(|told| !told.starts_with("initial"));
        run.stop().await;
    }
    both
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_was_not_told_is_told_by_the_next_run() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    run.is_told(3).await;
    put(&sim, "m-1", "last");
    delete(&sim, "m-1");
    run.holds(2).await;
    run.stop().await;
    let [next, last] = told_by_two_runs(&sim, directory.path()).await;
    assert_eq!(next, ["delete default/m-1 last event"]);
    assert!(last.is_empty(), "once: {last:?}");
}

#[tokio::test(start_paused = true)]
async fn a_killed_program_is_told_of_deletions_it_had_saved() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let each = || WarmStart::in_directory(directory.path()).interval(Duration::from_secs(1));
    let builder = SharedInformer::<Maps>::builder(source(&sim)).warm_start(each());
    let mut run = Run::synced(builder.unwrap()).await;
    run.is_told(3).await;
    let saves = |run: &Run| run.maps.status().warm_start.unwrap().saves;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let before = saves(&run);
    delete(&sim, "m-1");
    run.holds(2).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(saves(&run), before + 1, "what is not told is no change");
    run.running.abort();
    let _ = run.running.await;
    let [next, last] = told_by_two_runs(&sim, directory.path()).await;
    assert_eq!(next, ["delete default/m-1 old event"]);
    assert!(last.is_empty(), "once: {last:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_told_after_a_save_is_saved_again() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let each = WarmStart::in_directory(directory.path()).interval(Duration::from_secs(1));
    let builder = SharedInformer::<Maps>::builder(source(&sim)).warm_start(each);
    let mut run = Run::synced(builder.unwrap()).await;
    run.is_told(3).await;
    delete(&sim, "m-1");
    run.holds(2).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(run.told().await, ["delete default/m-1 old event"]);
    tokio::time::sleep(Duration::from_secs(10)).await;
    run.running.abort();
    let _ = run.running.await;
    let [next, _] = told_by_two_runs(&sim, directory.path()).await;
    assert!(next.is_empty(), "{next:?}");
}

#[tokio::test(start_paused = true)]
async fn a_successor_comes_after_a_deletion_that_was_not_told() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    run.is_told(3).await;
    for value in ["second", "third"] {
        delete(&sim, "m-1");
        put(&sim, "m-1", value);
    }
    delete(&sim, "m-2");
    put(&sim, "m-2", "second");
    delete(&sim, "m-2");
    run.holds(2).await;
    while value(&run.maps.store().get("default/m-1").unwrap()) != "third" {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    run.stop().await;
    let [mut next, last] = told_by_two_runs(&sim, directory.path()).await;
    next.sort_by_key(|told| told.contains("m-2"));
    assert_eq!(
        next,
        [
            "delete default/m-1 old missed",
            "add default/m-1 second",
            "delete default/m-1 second missed",
            "add default/m-1 third",
            "delete default/m-2 old missed",
            "add default/m-2 second",
            "delete default/m-2 second event",
        ]
    );
    assert!(last.is_empty(), "once: {last:?}");
}

#[tokio::test(start_paused = true)]
async fn a_successor_that_was_told_is_told_deleted_too() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    run.is_told(3).await;
    // Another handler knows of the successor, this one not.
    let mut quick = run.maps.subscribe("quick").unwrap();
    delete(&sim, "m-1");
    put(&sim, "m-1", "second");
    while text(&quick.next().await.unwrap()) != "add default/m-1 second" {}
    run.stop().await;
    drop(quick);
    delete(&sim, "m-1");
    let mut run = Run::start(builder(source(&sim), directory.path()));
    let merged = Delivery::Coalesced { capacity: 0 };
    let options = HandlerOptions::named("slow").delivery(merged);
    run.told = run.maps.subscribe(options).unwrap();
    run.maps.synced().await.unwrap();
    // Everything was pending until now.
    let mut told = run.told().await;
    told.retain(|told| told.contains("m-1") && !told.starts_with("initial"));
    assert_eq!(
        told.last().unwrap(),
        "delete default/m-1 second event",
        "{told:?}"
    );
    run.stop().await;
}

/// A run of a program whose handler panics when it is told this. What it was told, and whether it has panicked.
async fn panicking(sim: &Sim, directory: &Path, at: &'static str) -> (Vec<String>, bool) {
    let (maps, runner) = builder(source(sim), directory).build();
    panicking_run(maps, runner, at).await
}

async fn panicking_run(
    maps: SharedInformer<Maps>,
    runner: InformerRunner<Maps>,
    at: &'static str,
) -> (Vec<String>, bool) {
    let told = Arc::<Mutex<Vec<String>>>::default();
    let record = told.clone();
    let handler = move |change: Notification<Maps>| {
        record.lock().unwrap().push(text(&change));
        assert!(!text(&change).starts_with(at), "it cannot bear {at}");
    };
    maps.add_handler("panics", handler).unwrap().detach();
    // A run that goes on is killed then.
    let running = runner.run(CancellationToken::new());
    let ended = tokio::time::timeout(Duration::from_secs(30), running).await;
    let panicked = matches!(ended, Ok(Err(RunError::HandlerPanicked { .. })));
    let told = told.lock().unwrap().clone();
    (told, panicked)
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

// The server does not answer, so that the file is not replaced: each deletion is told once all the same.
#[tokio::test(start_paused = true)]
async fn a_deletion_that_a_handler_cannot_bear_is_told_once() {
    let (sim, directory) = (cluster(4), TempDir::new().unwrap());
    save_with_deletions(&sim, directory.path()).await;
    sim.faults().silence(ANY, "*").start();
    let mut deletions = Vec::new();
    for _ in 0..2 {
        let (told, panicked) = panicking(&sim, directory.path(), "delete").await;
        assert!(panicked, "{told:?}");
        deletions.extend(told.into_iter().filter(|told| told.starts_with("delete")));
    }
    deletions.sort();
    assert_eq!(
        deletions,
        ["delete default/m-1 old event", "delete default/m-2 old event"]
    );
    let (told, panicked) = panicking(&sim, directory.path(), "delete").await;
    assert!(
        !panicked && told.is_empty(),
        "the rest waits for the server: {told:?}"
    );
    sim.faults().clear();
    let (told, panicked) = panicking(&sim, directory.path(), "delete").await;
    assert_eq!((told.len(), panicked), (2, false), "{told:?}");
}

// The deletion is told by an add first.
#[tokio::test(start_paused = true)]
async fn a_deleted_object_that_a_handler_cannot_bear_is_told_once() {
    let (sim, directory) = (cluster(4), TempDir::new().unwrap());
    save_with_deletions(&sim, directory.path()).await;
    sim.faults().silence(ANY, "*").start();
    let (told, panicked) = panicking(&sim, directory.path(), "initial default/m-1").await;
    assert!(panicked, "{told:?}");
    let (told, panicked) = panicking(&sim, directory.path(), "initial default/m-1").await;
    assert!(!panicked, "{told:?}");
    assert!(told.iter().all(|told| told.contains("m-2")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn what_one_handler_cannot_bear_is_told_again_to_none() {
    let (sim, directory) = (cluster(4), TempDir::new().unwrap());
    save_with_deletions(&sim, directory.path()).await;
    sim.faults().silence(ANY, "*").start();
    for has_panicked in [true, false] {
        let (maps, runner) = builder(source(&sim), directory.path()).build();
        // It takes nothing, so that it was told of no deletion.
        let slow = maps.subscribe("slow").unwrap();
        let (told, panicked) = panicking_run(maps, runner, "delete default/m-1").await;
        assert_eq!(panicked, has_panicked, "{told:?}");
        drop(slow);
    }
}

// The file has all that there is, and need not be written again but for what is beside it.
#[tokio::test(start_paused = true)]
async fn a_confirmed_file_is_restored_again_after_a_panic() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    let mut told = saved_file(directory.path()).into_os_string();
    told.push(".told");
    std::fs::write(&told, r#"{"deletions": [], "panicked": true}"#).unwrap();
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    assert!(run.cold().contains("panicked"));
    run.stop().await;
    assert!(!Path::new(&told).exists());
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    assert_eq!(run.restored(), 3);
    run.stop().await;
}

// What made the handler panic is gone from the server, so a restart must mend it.
#[tokio::test(start_paused = true)]
async fn an_object_that_is_gone_makes_no_handler_panic_again() {
    let (sim, directory) = (cluster(4), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    delete(&sim, "m-3");
    let slow = sim.faults().delay(ANY, "*", Duration::from_secs(5)).start();
    let (told, panicked) = panicking(&sim, directory.path(), "initial default/m-3").await;
    assert!(panicked, "the server has not confirmed it: {told:?}");
    let (mut told, panicked) = panicking(&sim, directory.path(), "initial default/m-3").await;
    told.sort();
    let left = ["m-0", "m-1", "m-2"].map(|name| format!("initial default/{name} old"));
    assert_eq!((told.as_slice(), panicked), (left.as_slice(), false));
    slow.remove();
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    assert_eq!(run.told().await.len(), 3);
    assert_eq!(run.restored(), 3, "the file was replaced");
    run.stop().await;
}

// A program that is stopped before the server has confirmed the file repeats no deletion.
#[tokio::test(start_paused = true)]
async fn deletions_told_before_the_confirmation_are_not_repeated() {
    let (sim, directory) = (cluster(4), TempDir::new().unwrap());
    save_with_deletions(&sim, directory.path()).await;
    sim.faults().silence(ANY, "*").start();
    let mut run = Run::start(builder(source(&sim), directory.path()));
    let told = run.told().await;
    assert_eq!(told.iter().filter(|told| told.starts_with("delete")).count(), 2);
    run.stop().await;
    let mut run = Run::start(builder(source(&sim), directory.path()));
    let mut told = run.told().await;
    told.sort();
    assert_eq!(told, ["initial default/m-0 old", "initial default/m-3 old"]);
    run.stop().await;
}

// Made anew under another uid while the program was down: the old one is deleted before the new one is added.
#[tokio::test(start_paused = true)]
async fn an_object_made_anew_while_down_is_a_deletion_and_an_add() {
    for lists in [false, true] {
        let (sim, directory) = (cluster(2), TempDir::new().unwrap());
        save(&sim, directory.path()).await;
        delete(&sim, "m-1");
        put(&sim, "m-1", "new");
        if lists {
            sim.faults().compact();
        }
        let mut run = Run::start(builder(source(&sim), directory.path()));
        let mut told = run.told().await;
        told.retain(|told| told.contains("m-1"));
        let cause = if lists { "missed" } else { "event" };
        let deleted = format!("delete default/m-1 old {cause}");
        assert_eq!(told, ["initial default/m-1 old", &deleted, "add default/m-1 new"]);
        run.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_being_handled_at_the_stop_is_told_once() {
    // A call that returns in time has told it; one that does not is repeated.
    for (takes, again) in [(3, false), (20, true)] {
        let (sim, directory) = (cluster(3), TempDir::new().unwrap());
        let run = Run::synced(builder(source(&sim), directory.path())).await;
        let (begins, mut begun) = tokio::sync::mpsc::unbounded_channel();
        let slow = Slow(Duration::from_secs(takes), begins);
        let handler = run.maps.add_handler("slow", slow).unwrap();
        handler.synced().await.unwrap();
        drop(run.told);
        delete(&sim, "m-1");
        begun.recv().await.unwrap();
        run.stop.cancel();
        run.running.await.unwrap().unwrap();
        let [next, _] = told_by_two_runs(&sim, directory.path()).await;
        assert_eq!(next.len(), usize::from(again), "{takes} s: {next:?}");
        drop(handler);
    }
}

#[tokio::test(start_paused = true)]
async fn of_too_many_untold_deletions_the_oldest_are_dropped() {
    let (sim, directory) = (cluster(1030), TempDir::new().unwrap());
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    run.is_told(1030).await;
    for number in 0..1030 {
        delete(&sim, &format!("m-{number}"));
    }
    run.holds(0).await;
    run.stop().await;
    let [mut next, last] = told_by_two_runs(&sim, directory.path()).await;
    next.sort();
    let first: Vec<_> = (0..6)
        .map(|number| format!("delete default/m-{number} old event"))
        .collect();
    assert_eq!((next.len(), last.len()), (1024, 0));
    assert!(first.iter().all(|told| !next.contains(told)), "{next:?}");
}

/// Takes so long for a deletion, of which it says that it has begun.
struct Slow(Duration, tokio::sync::mpsc::UnboundedSender<()>);

impl ResourceEventHandler<Maps> for Slow {
    async fn on_delete(&mut self, _: Deleted<Maps>) {
        let _ = self.1.send(());
        tokio::time::sleep(self.0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_file_of_another_cluster_is_not_used() {
    let directory = TempDir::new().unwrap();
    save(&cluster(10), directory.path()).await;
    let other = cluster(3);
    let mut run = Run::synced(builder(source(&other), directory.path())).await;
    assert!(run.cold().contains("another cluster"), "{}", run.cold());
    let told = run.told().await;
    assert_eq!(told.len(), 3, "{told:?}");
    run.stop().await;
    // It has been replaced by one of this cluster.
    let run = Run::synced(builder(source(&other), directory.path())).await;
    assert_eq!(run.restored(), 3);
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_file_of_a_server_that_went_back_is_not_used() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    let backup = sim.faults().backup();
    put(&sim, "m-lost", "lost");
    put(&sim, "m-1", "lost");
    save(&sim, directory.path()).await;
    sim.faults().restore(&backup);
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    assert!(run.cold().contains("went back"), "{}", run.cold());
    let told = run.told().await;
    assert_eq!(told.len(), 10, "{told:?}");
    assert!(!told.iter().any(|told| told.contains("lost")), "{told:?}");
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_restored_server_that_has_moved_on_is_found_out() {
    for undone in [&["m-1"][..], &["m-1", "m-lost"]] {
        let (sim, directory) = (cluster(10), TempDir::new().unwrap());
        let backup = sim.faults().backup();
        for name in undone {
            put(&sim, name, "lost");
        }
        save(&sim, directory.path()).await;
        sim.faults().restore(&backup);
        for number in 0..10 {
            put(&sim, "m-2", &number.to_string());
        }
        let mut run = Run::synced(builder(source(&sim), directory.path())).await;
        assert!(run.cold().contains("it was restored"), "{}", run.cold());
        let told = run.told().await;
        assert_eq!(told.len(), 10, "{told:?}");
        assert!(!told.iter().any(|told| told.contains("lost")), "{told:?}");
        run.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_resumes_although_the_newest_object_is_gone() {
    for (gone, resumes) in [(3, true), (4, false)] {
        let (sim, directory) = (cluster(10), TempDir::new().unwrap());
        save(&sim, directory.path()).await;
        for number in 10 - gone..10 {
            delete(&sim, &format!("m-{number}"));
        }
        let skip = sim.requests().len();
        let mut run = Run::synced(builder(source(&sim), directory.path())).await;
        let asked = requests(&sim, skip);
        let questions = asked.iter().filter(|request| *request == "get 1 configmaps");
        assert_eq!(questions.count(), 4);
        assert_eq!(run.restored(), 10);
        let told = run.told().await;
        let event = told.iter().filter(|told| told.ends_with("event")).count();
        assert_eq!((told.len(), event), (10 + gone, if resumes { gone } else { 0 }));
        run.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_throttles_is_not_asked_for_a_list() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    let version = sim.store().resource_version();
    let busy = sim.faults().refuse(GET, "namespaces", 429).start();
    let skip = sim.requests().len();
    let run = Run::start(builder(source(&sim), directory.path()));
    assert!(run.maps.restored().await.unwrap());
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(busy.hits() > 3);
    busy.remove();
    run.maps.synced().await.unwrap();
    let asked = requests(&sim, skip);
    let for_maps = asked.iter().filter(|request| request.ends_with("configmaps"));
    let expected = [
        "get 1 configmaps".to_owned(),
        format!("watch {version} configmaps"),
    ];
    assert_eq!(for_maps.cloned().collect::<Vec<_>>(), expected);
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn another_cluster_that_cannot_be_listed_is_not_served() {
    let directory = TempDir::new().unwrap();
    save(&cluster(3), directory.path()).await;
    let other = cluster(1);
    let late = other
        .faults()
        .delay(GET, "namespaces", Duration::from_secs(3))
        .start();
    let forbidden = other.faults().refuse(ANY, "configmaps", 403).start();
    let mut run = Run::start(builder(source(&other), directory.path()));
    assert!(run.maps.restored().await.unwrap());
    assert_eq!(run.maps.store().len(), 3);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(run.cold().contains("another cluster"), "{}", run.cold());
    let status = run.maps.status();
    assert_eq!(
        (status.objects, status.unconfirmed, status.synced),
        (0, false, false)
    );
    let told = run.told().await;
    let deleted = told.iter().filter(|told| told.starts_with("delete"));
    assert_eq!(deleted.count(), 3, "{told:?}");
    forbidden.remove();
    run.maps.synced().await.unwrap();
    assert_eq!(run.maps.store().len(), 1);
    run.stop().await;
    late.remove();
}

#[tokio::test(start_paused = true)]
async fn without_proof_of_the_server_a_list_follows() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    delete(&sim, "m-5");
    let forbidden = sim.faults().refuse(GET, "namespaces", 403).start();
    let skip = sim.requests().len();
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    assert_eq!(run.restored(), 10);
    let asked = requests(&sim, skip);
    assert!(!asked.contains(&"get 1 configmaps".to_owned()), "{asked:?}");
    let told = run.told().await;
    assert_eq!(told.last().unwrap(), "delete default/m-5 old missed");
    assert_eq!(told.len(), 11);
    run.stop().await;
    forbidden.remove();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_down_does_not_keep_the_file_from_readers() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    put(&sim, "m-new", "new");
    delete(&sim, "m-5");
    let down = sim.faults().refuse(ANY, "*", 503).start();
    let run = Run::start(builder(source(&sim), directory.path()));
    let mut waits = run
        .maps
        .subscribe(HandlerOptions::named("waits").after_sync())
        .unwrap();
    assert!(run.maps.restored().await.unwrap());
    tokio::time::sleep(Duration::from_secs(20)).await;
    let status = run.maps.status();
    assert!(status.unconfirmed && !status.synced, "{status:?}");
    assert_eq!((status.objects, run.maps.unsynced().len()), (10, 1));
    let none = tokio::time::timeout(Duration::from_secs(1), waits.next()).await;
    assert!(none.is_err(), "nothing is confirmed");

    down.remove();
    run.maps.synced().await.unwrap();
    let mut told = Vec::new();
    while let Ok(Some(change)) = tokio::time::timeout(Duration::from_secs(5), waits.next()).await {
        told.push(text(&change));
    }
    assert_eq!(told.len(), 10);
    assert!(told.contains(&"initial default/m-new new".to_owned()), "{told:?}");
    assert!(!told.iter().any(|told| told.contains("m-5")), "{told:?}");
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn another_cluster_that_answers_late_replaces_what_was_served() {
    let directory = TempDir::new().unwrap();
    save(&cluster(3), directory.path()).await;
    let other = cluster(1);
    let wait = Duration::from_secs(3);
    let late = other.faults().delay(GET, "namespaces", wait).start();
    let mut run = Run::start(builder(source(&other), directory.path()));
    assert!(run.maps.restored().await.unwrap());
    assert_eq!(run.maps.store().len(), 3);
    run.maps.synced().await.unwrap();
    assert_eq!(run.maps.store().len(), 1);
    assert!(run.cold().contains("another cluster"));
    let told = run.told().await;
    // The one with the same name is another object.
    let after: Vec<_> = told[3..]
        .iter()
        .map(|told| told.split(' ').next().unwrap())
        .collect();
    assert_eq!(after, ["delete", "delete", "delete", "add"], "{told:?}");
    run.stop().await;
    late.remove();
}

#[tokio::test(start_paused = true)]
async fn a_file_belongs_to_one_selection_plan_and_encoding() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    let client = || kube::Client::new(sim.service(), "default");
    let resource = ApiResource::erase::<ConfigMap>(&());
    let select = |selection| ClientSource::new(client(), resource.clone(), selection);
    let in_namespace = Selection {
        namespace: Some("default".into()),
        ..Selection::default()
    };
    let labelled = Selection {
        label_selector: Some("!absent".into()),
        ..Selection::default()
    };
    for other in [
        builder(select(in_namespace), directory.path()),
        builder(select(labelled), directory.path()),
        builder(source(&sim).encoding(Encoding::Json), directory.path()),
        builder(source(&sim), directory.path()).plan(FieldPlan::default()),
        builder(source(&sim), directory.path()).name("other"),
    ] {
        let run = Run::synced(other).await;
        assert_eq!(run.cold(), "there is no file yet");
        run.stop().await;
    }
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    assert_eq!(run.restored(), 3, "its own file is still there");
    run.stop().await;
}

#[tokio::test]
async fn what_cannot_be_saved_is_refused_with_the_reason() {
    let sim = cluster(0);
    let directory = || WarmStart::in_directory("/nowhere");
    let form = SharedInformer::<ConfigMap>::builder(source(&sim)).warm_start(directory());
    let form = form.err().unwrap();
    assert_eq!(
        form.to_string(),
        "objects held as ConfigMap cannot be saved; Packed and DynamicObject can"
    );
    let secrets = || {
        let client = kube::Client::new(sim.service(), "default");
        let source = ClientSource::new(client, ApiResource::erase::<Secret>(&()), Selection::default());
        SharedInformer::<Packed<Secret>>::builder(source)
    };
    assert_eq!(
        secrets().warm_start(directory()).err(),
        Some(WarmStartError::Secrets)
    );
    assert!(secrets().warm_start(directory().allow_secrets()).is_ok());
    let transform = SharedInformer::<Maps>::builder(source(&sim))
        .transform(Ok::<_, TransformError>)
        .warm_start(directory());
    assert!(matches!(transform.err(), Some(WarmStartError::Transform { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_factory_saves_what_can_be_saved() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    for restored in [false, true] {
        let client = kube::Client::new(sim.service(), "default");
        let factory = SharedInformerFactory::builder(client)
            .warm_start(WarmStart::in_directory(directory.path()))
            .build();
        let packed = factory.informer::<Maps>();
        let typed = factory.informer::<ConfigMap>();
        factory.start();
        assert_eq!(packed.restored().await, Ok(restored));
        assert_eq!(typed.restored().await, Ok(false));
        factory.wait_for_sync(Duration::from_secs(60)).await.unwrap();
        let status = typed.status().warm_start.unwrap();
        assert!(matches!(
            status.start,
            Start::Disabled(WarmStartError::Form { .. })
        ));
        factory.shutdown().await.unwrap();
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn dynamic_objects_are_saved_too() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    for restored in [false, true] {
        let (maps, runner) = SharedInformer::<DynamicObject>::builder(source(&sim))
            .warm_start(WarmStart::in_directory(directory.path()))
            .unwrap()
            .build();
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        assert_eq!(maps.restored().await, Ok(restored));
        let held = maps.store().get("default/m-1");
        maps.synced().await.unwrap();
        let now = maps.store().get("default/m-1").unwrap();
        assert_eq!(now.types.as_ref().unwrap().kind, "ConfigMap");
        assert_eq!(now.data["data"]["value"], "old");
        if restored {
            assert!(std::sync::Arc::ptr_eq(&held.unwrap(), &now));
        }
        stop.cancel();
        running.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_informer_works_where_it_cannot_be_saved() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let run = Run::synced(builder(source(&sim), &file)).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let status = run.maps.status().warm_start.unwrap();
    let error = status.save_error.expect("an error");
    assert!(error.starts_with(file.to_str().unwrap()), "{error}");
    assert_eq!((status.saves, run.maps.store().len()), (0, 3));
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn each_namespace_goes_on_from_its_own_version() {
    let (sim, directory) = (cluster(2), TempDir::new().unwrap());
    for namespace in ["a", "b", "c"] {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        sim.store().create(object).unwrap();
        put_in(&sim, namespace, "m", "old");
    }
    let over = |namespaces: &[&str]| {
        let set = NamespaceSet::new(namespaces.iter().copied());
        SharedInformer::<Maps>::over_namespaces(source(&sim), set)
            .warm_start(WarmStart::in_directory(directory.path()))
            .unwrap()
    };
    Run::synced(over(&["a", "b"])).await.stop().await;
    put_in(&sim, "a", "m", "new");
    // One is no longer wanted, one is new.
    let skip = sim.requests().len();
    let mut run = Run::synced(over(&["a", "c"])).await;
    assert_eq!(run.restored(), 1);
    let mut told = run.told().await;
    told.sort();
    assert_eq!(told, ["initial a/m old", "initial c/m old", "update a/m old new"]);
    let identity = requests(&sim, skip).into_iter();
    assert!(
        identity
            .filter(|request| request == "get all kube-system")
            .count()
            <= 2
    );
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_did_not_sync_leaves_its_file() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    let file = saved_file(directory.path());
    let saved = std::fs::read(&file).unwrap();
    let down = sim.faults().refuse(ANY, "*", 503).start();
    let run = Run::start(builder(source(&sim), directory.path()));
    assert!(run.maps.restored().await.unwrap());
    run.stop().await;
    down.remove();
    assert_eq!(std::fs::read(&file).unwrap(), saved);
}

#[tokio::test(start_paused = true)]
async fn a_cache_is_saved_after_each_interval_in_which_it_changed() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let options = WarmStart::in_directory(directory.path()).interval(Duration::from_secs(60));
    let builder = SharedInformer::<Maps>::builder(source(&sim)).warm_start(options);
    let run = Run::synced(builder.unwrap()).await;
    let saves = || run.maps.status().warm_start.unwrap().saves;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(saves(), 1, "soon after it has synced");
    put(&sim, "m-1", "new");
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(saves(), 1);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(saves(), 2);
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_cache_whose_version_moves_on_is_saved_hourly() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let options = WarmStart::in_directory(directory.path()).interval(Duration::from_secs(1));
    let informer = SharedInformer::<Maps>::builder(source(&sim)).warm_start(options);
    let run = Run::synced(informer.unwrap()).await;
    let saves = || run.maps.status().warm_start.unwrap().saves;
    let minutes = async |numbers: std::ops::Range<u32>| {
        for number in numbers {
            // Another resource moves the version on, which bookmarks show.
            let name = format!("n-{number}");
            let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}});
            sim.store().create(node).unwrap();
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
    };
    minutes(0..10).await;
    assert_eq!(saves(), 1);
    minutes(10..130).await;
    assert!((2..=3).contains(&saves()), "{}", saves());
    put(&sim, "m-1", "new");
    let before = saves();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(saves(), before + 1);
    run.stop().await;
}

/// A source that panics when it is asked who the server is.
struct Panics(ClientSource);

impl ListerWatcher<Maps> for Panics {
    fn resource(&self) -> String {
        "configmaps".into()
    }

    fn cache_identity(&self) -> Option<String> {
        ListerWatcher::<Maps>::cache_identity(&self.0)
    }

    fn server_identity(&self) -> BoxFuture<'_, Result<Option<String>, ApiError>> {
        panic!("in the source")
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<Maps>, ApiError>> {
        self.0.list(request)
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<Maps>, ApiError>> {
        self.0.watch(request)
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_saving_is_shown_in_the_status() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let informer = SharedInformer::<Maps>::builder(Panics(source(&sim)));
    let informer = informer.warm_start(WarmStart::in_directory(directory.path()));
    let run = Run::synced(informer.unwrap()).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let error = run.maps.status().warm_start.unwrap().save_error;
    assert_eq!(
        error.as_deref(),
        Some("the task that saves the cache has panicked")
    );
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn saved_secrets_are_removed_when_they_are_not_allowed() {
    let (sim, directory) = (cluster(0), TempDir::new().unwrap());
    let secrets = |options: WarmStart| {
        let client = kube::Client::new(sim.service(), "default");
        let source = ClientSource::new(client, ApiResource::erase::<Secret>(&()), Selection::default());
        SharedInformer::<Packed<Secret>>::builder(source).warm_start(options)
    };
    let options = || WarmStart::in_directory(directory.path());
    let (informer, runner) = secrets(options().allow_secrets()).unwrap().build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.unwrap();
    stop.cancel();
    running.await.unwrap().unwrap();
    let files = || std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(files(), 1);
    assert!(secrets(options()).is_err());
    assert_eq!(files(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_damaged_file_is_not_used() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    let file = saved_file(directory.path());
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    assert_eq!(run.cold(), "it is damaged or incomplete: a checksum is wrong");
    assert_eq!(run.maps.store().len(), 3);
    run.stop().await;
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    assert_eq!(run.restored(), 3, "it was replaced");
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_handler_is_told_of_what_was_deleted() {
    let (sim, directory) = (cluster(20), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    delete(&sim, "m-5");
    let mut run = Run::start(builder(source(&sim), directory.path()));
    let merged = Delivery::Coalesced { capacity: 0 };
    run.told = run
        .maps
        .subscribe(HandlerOptions::named("slow").delivery(merged))
        .unwrap();
    run.maps.synced().await.unwrap();
    // Everything was pending until now.
    let told = run.told().await;
    assert_eq!((run.restored(), told.len()), (20, 21), "{told:?}");
    assert_eq!(told.last().unwrap(), "delete default/m-5 old event");
    run.stop().await;
}

// After a panic nothing is restored, but a namespace that cannot be listed then does not lose what was saved.
#[tokio::test(start_paused = true)]
async fn a_namespace_in_error_keeps_its_state_after_a_panic() {
    namespaces_with_one_in_error(true).await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_in_error_keeps_its_saved_state() {
    namespaces_with_one_in_error(false).await;
}

async fn namespaces_with_one_in_error(after_panic: bool) {
    let (sim, directory) = (cluster(0), TempDir::new().unwrap());
    for namespace in ["a", "b"] {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        sim.store().create(object).unwrap();
        put_in(&sim, namespace, "m", "old");
        put_in(&sim, namespace, "gone", "old");
    }
    let over = || {
        let options = WarmStart::in_directory(directory.path()).interval(Duration::from_secs(1));
        SharedInformer::<Maps>::over_namespaces(source(&sim), NamespaceSet::new(["a", "b"]))
            .warm_start(options)
            .unwrap()
    };
    Run::synced(over()).await.stop().await;
    sim.store().delete("v1", "ConfigMap", Some("b"), "gone").unwrap();
    put_in(&sim, "a", "m", "new");
    let mut panicked = saved_file(directory.path()).into_os_string();
    panicked.push(".told");
    if after_panic {
        std::fs::write(&panicked, r#"{"deletions": [], "panicked": true}"#).unwrap();
    }
    let forbidden = sim.faults().refuse(ANY, "configmaps", 403).namespace("b").start();
    let run = Run::start(over());
    if !after_panic {
        assert!(run.maps.restored().await.unwrap());
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(run.maps.status().warm_start.unwrap().saves, 0);
    run.stop().await;
    forbidden.remove();
    let _ = std::fs::remove_file(panicked);
    let mut run = Run::synced(over()).await;
    let told = run.told().await;
    assert!(
        told.iter().any(|told| told.starts_with("delete b/gone old")),
        "{told:?}"
    );
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_without_a_readable_uid_is_listed() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    let cut = sim.faults().truncate(GET, "namespaces").start();
    let run = Run::start(builder(source(&sim), directory.path()));
    let synced = tokio::time::timeout(Duration::from_secs(600), run.maps.synced()).await;
    synced.expect("a list follows").unwrap();
    assert!(cut.hits() > 0);
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hides_its_uid_later_is_listed() {
    let (sim, directory) = (cluster(10), TempDir::new().unwrap());
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(run.maps.status().warm_start.unwrap().saves, 1);
    let forbidden = sim.faults().refuse(GET, "namespaces", 403).start();
    put(&sim, "m-1", "new");
    tokio::time::sleep(Duration::from_secs(5)).await;
    run.stop().await;
    forbidden.remove();
    let skip = sim.requests().len();
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    let asked = requests(&sim, skip);
    assert!(!asked.contains(&"get 1 configmaps".to_owned()), "{asked:?}");
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn sources_of_ones_own_have_files_of_their_own() {
    let (sim, other, directory) = (cluster(3), cluster(5), TempDir::new().unwrap());
    for restored in [false, true] {
        let client = kube::Client::new(sim.service(), "default");
        let factory = SharedInformerFactory::builder(client)
            .warm_start(WarmStart::in_directory(directory.path()))
            .build();
        let here = factory.informer_with_source::<Maps, _>("here", || source(&sim));
        let there = factory.informer_with_source::<Maps, _>("there", || source(&other));
        factory.start();
        assert_eq!(here.restored().await, Ok(restored));
        assert_eq!(there.restored().await, Ok(restored));
        factory.wait_for_sync(Duration::from_secs(60)).await.unwrap();
        assert_eq!((here.store().len(), there.store().len()), (3, 5));
        factory.shutdown().await.unwrap();
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}
