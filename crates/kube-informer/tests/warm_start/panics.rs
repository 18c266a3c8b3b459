//! What a handler or a source that panics leaves to the next run.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use kube_informer::informer::{InformerRunner, RunError};
use kube_informer::source::{
    ApiError, ClientSource, ListRequest, ListStream, ListerWatcher, WatchRequest, WatchStream,
};
use kube_informer::warm_start::WarmStart;
use kube_informer::{Notification, SharedInformer};
use kube_sim::Sim;
use kube_sim::faults::ANY;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Maps, Run, builder, cluster, delete, save, save_with_deletions, saved_file, source, text};

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
    let file = saved_file(directory.path());
    // After the magic and the version of the format.
    let number = std::fs::read(&file).unwrap()[12..20].try_into().unwrap();
    let number = u64::from_le_bytes(number);
    let mut told = file.into_os_string();
    told.push(".told");
    let panicked = format!(r#"{{"of": {number}, "deletions": [], "panicked": true}}"#);
    std::fs::write(&told, panicked).unwrap();
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    assert!(run.cold().contains("panicked"));
    run.stop().await;
    assert!(!Path::new(&told).exists());
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    assert_eq!(run.restored(), 3);
    run.stop().await;
}

// A crash of the machine may undo that the record was removed, and not that the file was replaced.
#[tokio::test(start_paused = true)]
async fn a_record_of_an_older_file_is_not_used() {
    let (sim, directory) = (cluster(4), TempDir::new().unwrap());
    save_with_deletions(&sim, directory.path()).await;
    let mut told = saved_file(directory.path()).into_os_string();
    told.push(".told");
    sim.faults().silence(ANY, "*").start();
    let (_, panicked) = panicking(&sim, directory.path(), "delete").await;
    assert!(panicked);
    let record = std::fs::read(&told).unwrap();
    sim.faults().clear();
    save(&sim, directory.path()).await;
    assert!(!Path::new(&told).exists());
    std::fs::write(&told, record).unwrap();
    delete(&sim, "m-3");
    let mut run = Run::synced(builder(source(&sim), directory.path())).await;
    let changes = run.told().await;
    let gone = |change: &String| change.starts_with("delete default/m-3");
    assert!(changes.iter().any(gone), "{changes:?}");
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
