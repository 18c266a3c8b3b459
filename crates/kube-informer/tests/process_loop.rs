//! The parts on their own: the loop that pops any queue, and an informer that is not shared.

mod common;

use common::{Answer::*, Event::*, *};
use futures::FutureExt;
use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_informer::low_level::queue::{
    Batch, Delta, DeltaFifo, Deltas, Entries, Keyed, Process, ProcessLoop,
};
use kube_informer::low_level::{DecodeResult, QueueSink};
use kube_informer::reflector::Reflector;
use kube_informer::{CachedObject, DeleteCause, Notification, ObjectKey, Partition, SharedInformer};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const MOMENT: Duration = Duration::from_millis(1);

type Log = Arc<Mutex<Vec<String>>>;

fn log(log: &Log, line: impl Into<String>) {
    log.lock().unwrap().push(line.into());
}

fn lines(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.lock().unwrap())
}

fn changes<T>(batch: Batch<Deltas<T>>) -> Vec<Keyed<Deltas<T>>> {
    match batch.entries {
        Entries::Changes(changes) => changes,
        other => panic!("only changes were pushed, not {other:?}"),
    }
}

async fn push(queue: &DeltaFifo<u32>, key: &str, value: u32) {
    queue
        .push(Partition::SINGLE, key.into(), Delta::Added(value), None)
        .await;
}

/// A loop that writes down each batch, and how it ends.
fn recording(queue: &DeltaFifo<u32>) -> (Log, ProcessLoop<Deltas<u32>, impl Process<Deltas<u32>> + use<>>) {
    let told = Log::default();
    let written = told.clone();
    let process = move |batch: Batch<Deltas<u32>>| {
        let keys: Vec<_> = changes(batch).iter().map(|(_, key, _)| key.to_string()).collect();
        log(&written, keys.join(" "));
        async {}
    };
    (told, ProcessLoop::new(queue.clone(), process))
}

#[tokio::test(start_paused = true)]
async fn a_loop_pops_at_most_as_many_keys_as_it_was_told() {
    let queue = DeltaFifo::new(10);
    let (told, processing) = recording(&queue);
    push(&queue, "a", 1).await;
    push(&queue, "b", 2).await;
    push(&queue, "c", 3).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(processing.max_keys(2).run(stop.clone()));
    tokio::time::sleep(MOMENT).await;
    assert_eq!(lines(&told), ["a b", "c"], "at most two keys at once");
    push(&queue, "a", 4).await;
    tokio::time::sleep(MOMENT).await;
    assert_eq!(lines(&told), ["a"]);
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stopped_loop_leaves_the_queue_and_blocks_no_producer() {
    let queue = DeltaFifo::new(1);
    let (told, processing) = recording(&queue);
    push(&queue, "a", 1).await;
    let blocked = tokio::spawn({
        let queue = queue.clone();
        async move { push(&queue, "b", 2).await }
    });
    tokio::time::sleep(MOMENT).await;
    assert!(!blocked.is_finished(), "the queue is full");
    let stopped = CancellationToken::new();
    stopped.cancel();
    processing.run(stopped).await;
    assert!(lines(&told).is_empty());
    blocked.await.unwrap();
    assert_eq!(queue.len(), 1, "what comes after the end is dropped");
}

#[tokio::test(start_paused = true)]
async fn a_closed_queue_is_emptied_first() {
    let queue = DeltaFifo::new(10);
    let (told, processing) = recording(&queue);
    push(&queue, "a", 1).await;
    queue.close();
    push(&queue, "b", 2).await;
    processing.run(CancellationToken::new()).await;
    assert_eq!(lines(&told), ["a"], "what comes after it was closed is dropped");
}

#[tokio::test(start_paused = true)]
async fn the_running_call_is_finished() {
    let queue = DeltaFifo::new(10);
    let told = Log::default();
    let written = told.clone();
    let processing = ProcessLoop::new(queue.clone(), move |_: Batch<Deltas<u32>>| {
        let written = written.clone();
        async move {
            log(&written, "begins");
            tokio::time::sleep(Duration::from_secs(5)).await;
            log(&written, "ends");
        }
    });
    push(&queue, "a", 1).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(processing.run(stop.clone()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    push(&queue, "b", 2).await;
    stop.cancel();
    running.await.unwrap();
    assert_eq!(lines(&told), ["begins", "ends"]);
}

#[tokio::test(start_paused = true)]
async fn changes_that_failed_are_given_back_unless_newer_ones_came() {
    let queue = DeltaFifo::new(10);
    let told = Log::default();
    let (written, again) = (told.clone(), queue.clone());
    let mut failures = 2;
    let processing = ProcessLoop::new(queue.clone(), move |batch: Batch<Deltas<u32>>| {
        for (partition, key, deltas) in changes(batch) {
            let values: Vec<_> = deltas.iter().filter_map(Delta::object).collect();
            log(&written, format!("{key} {values:?}"));
            if failures > 0 {
                failures -= 1;
                assert!(again.requeue(partition, key.clone(), deltas.clone()));
                assert!(!again.requeue(partition, key, deltas), "it is there already");
            }
        }
        async {}
    });
    push(&queue, "a", 1).await;
    tokio::spawn(processing.run(CancellationToken::new()));
    tokio::time::sleep(MOMENT).await;
    assert_eq!(lines(&told), ["a [1]", "a [1]", "a [1]"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_process_function_closes_the_queue() {
    let queue = DeltaFifo::new(1);
    let process = |_: Batch<Deltas<u32>>| async { panic!("cannot cope") };
    let processing = ProcessLoop::new(queue.clone(), process);
    push(&queue, "a", 1).await;
    let running = tokio::spawn(processing.run(CancellationToken::new()));
    let panic = running.await.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"cannot cope"));
    for key in ["a", "b", "c"] {
        push(&queue, key, 1)
            .now_or_never()
            .expect("nobody waits for room");
    }
}

#[tokio::test(start_paused = true)]
async fn resyncs_are_due_in_a_period_or_never() {
    for (period, expected) in [
        (Duration::from_secs(2), 3),
        (Duration::ZERO, 0),
        (Duration::MAX, 0),
    ] {
        let told = Log::default();
        let written = told.clone();
        let queue = DeltaFifo::new(1);
        let processing = ProcessLoop::new(queue, move |batch: Batch<Deltas<u32>>| {
            log(&written, format!("{:?}", batch.entries));
            async {}
        });
        let stop = CancellationToken::new();
        let running = tokio::spawn(processing.resync(period).run(stop.clone()));
        tokio::time::sleep(Duration::from_secs(7)).await;
        stop.cancel();
        running.await.unwrap();
        assert_eq!(lines(&told), vec!["Resync"; expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_never_empty_delays_no_resync() {
    let told = Log::default();
    let queue = DeltaFifo::new(10);
    let (written, refilled) = (told.clone(), queue.clone());
    let processing = ProcessLoop::new(queue.clone(), move |batch: Batch<Deltas<u32>>| {
        if let Entries::Resync = batch.entries {
            log(&written, "resync");
        }
        let queue = refilled.clone();
        async move {
            push(&queue, "a", 1).await;
            tokio::time::sleep(MOMENT).await;
        }
    });
    push(&queue, "a", 1).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(processing.resync(Duration::from_secs(2)).run(stop.clone()));
    tokio::time::sleep(Duration::from_secs(7)).await;
    stop.cancel();
    running.await.unwrap();
    assert_eq!(lines(&told), vec!["resync"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_resync_slower_than_its_period_starves_nothing() {
    let told = Log::default();
    let written = told.clone();
    let queue = DeltaFifo::new(10);
    let processing = ProcessLoop::new(queue.clone(), move |batch: Batch<Deltas<u32>>| {
        log(&written, format!("{:?}", batch.entries));
        tokio::time::sleep(Duration::from_secs(3))
    });
    let stop = CancellationToken::new();
    let running = tokio::spawn(processing.resync(Duration::from_secs(1)).run(stop.clone()));
    tokio::time::sleep(Duration::from_millis(1500)).await;
    push(&queue, "a", 1).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(lines(&told)[..2], ["Resync", r#"Changes(["a"])"#]);
    stop.cancel();
    running.await.unwrap();
}

/// What a consumer of one's own makes of the changes.
fn follow(held: &mut BTreeMap<ObjectKey, Arc<ConfigMap>>, batch: Batch<Deltas<DecodeResult<ConfigMap>>>) {
    let object = |result: DecodeResult<ConfigMap>| result.into_object().expect("readable");
    match batch.entries {
        Entries::Replace { entries, .. } => {
            let listed: Vec<_> = entries.iter().map(|(key, _)| key.clone()).collect();
            held.retain(|key, _| listed.contains(key));
            held.extend(entries.into_iter().map(|(key, result)| (key, object(result))));
        }
        Entries::Changes(changes) => {
            for (_, key, deltas) in changes {
                for delta in deltas {
                    match delta {
                        Delta::Added(result) | Delta::Updated(result) | Delta::Replaced(result) => {
                            held.insert(key.clone(), object(result))
                        }
                        Delta::Deleted(_) => held.remove(&key),
                    };
                }
            }
        }
        other => panic!("a reflector pushes nothing else: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_reflector_fills_any_queue() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![
                Modified("a", 11),
                Deleted("b", 12),
                Added("c", 13),
                After(Duration::from_secs(1)),
                Status(kube_informer::source::ApiStatus::from_code(410, "")),
            ]),
        ),
        ("LIST 13 all", List(20, vec![("c", 13), ("d", 20)])),
        ("WATCH 20", Watch(vec![])),
    ]);
    let queue = DeltaFifo::new(100);
    let reflector = Reflector::new(script, QueueSink::new(queue.clone(), ()));
    let held = Arc::new(Mutex::new(BTreeMap::new()));
    let followed = held.clone();
    let processing = ProcessLoop::new(queue.clone(), move |batch| {
        follow(&mut followed.lock().unwrap(), batch);
        async {}
    });
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let stop = stop.clone();
        async move { tokio::join!(reflector.run(stop.clone()), processing.run(stop)) }
    });
    assert!(!queue.has_synced());
    queue.synced().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let versions = || -> Vec<String> {
        let held = held.lock().unwrap();
        held.iter()
            .map(|(key, object)| format!("{key}@{}", object.metadata.resource_version.as_ref().unwrap()))
            .collect()
    };
    assert_eq!(versions(), ["ns/a@11", "ns/c@13"]);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(versions(), ["ns/c@13", "ns/d@20"]);
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_unshared_informer_calls_its_handler_while_applying() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![
                After(Duration::from_secs(1)),
                Modified("a", 11),
                After(Duration::from_secs(1)),
                Deleted("b", 12),
            ]),
        ),
    ]);
    let told = Log::default();
    let (written, store) = (told.clone(), Arc::new(Mutex::new(None)));
    let seen = store.clone();
    let informer = SharedInformer::builder(script).build_unshared(move |change: Notification<ConfigMap>| {
        let store: &Mutex<Option<kube_informer::store::Indexer<Arc<ConfigMap>>>> = &seen;
        let holds = store.lock().unwrap().as_ref().unwrap().len();
        log(&written, format!("{change:?}, {holds} held"));
    });
    *store.lock().unwrap() = Some(informer.store().clone());
    let (queue, stop) = (informer.queue().clone(), CancellationToken::new());
    let running = tokio::spawn(informer.run(stop.clone()));
    queue.synced().await;
    assert_eq!(
        lines(&told),
        ["Add(ns/a@1, initial), 2 held", "Add(ns/b@2, initial), 2 held"],
        "synced when the handler knows, too"
    );
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(
        lines(&told),
        ["Update(ns/a@1->11), 2 held", "Delete(ns/b@12, Event), 1 held"]
    );
    stop.cancel();
    running.await.unwrap();
}

/// Takes its time over every update, and writes down what it is told.
struct SlowUpdates(Log);

impl kube_informer::ResourceEventHandler<ConfigMap> for SlowUpdates {
    async fn on_add(&mut self, object: Arc<ConfigMap>, _: bool) {
        log(&self.0, format!("add {}", ConfigMap::key_of(&object)));
    }

    async fn on_update(&mut self, old: Arc<ConfigMap>, new: Arc<ConfigMap>) {
        tokio::time::sleep(Duration::from_secs(2)).await;
        if !Arc::ptr_eq(&old, &new) {
            log(&self.0, format!("update {}", ConfigMap::key_of(&new)));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_resync_longer_than_its_period_does_not_starve_changes() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2), ("c", 3)])),
        (
            "WATCH 10",
            Watch(vec![
                After(Duration::from_secs(10)),
                Added("d", 11),
                After(Duration::from_secs(10)),
                Modified("a", 12),
            ]),
        ),
    ]);
    let told = Log::default();
    let informer = SharedInformer::builder(script)
        .resync(Duration::from_secs(1))
        .build_unshared(SlowUpdates(told.clone()));
    let (store, stop) = (informer.store().clone(), CancellationToken::new());
    let running = tokio::spawn(informer.run(stop.clone()));
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert_eq!(lines(&told), ["add ns/a", "add ns/b", "add ns/c"]);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(lines(&told), ["add ns/d"]);
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert_eq!(lines(&told), ["update ns/a"]);
    assert_eq!(store.resource_version(), Some("12".into()));
    stop.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(3), running).await;
    ended.expect("ends with the running call").unwrap();
}

/// Takes its time over every add.
struct Slow;

impl kube_informer::ResourceEventHandler<ConfigMap> for Slow {
    async fn on_add(&mut self, _: Arc<ConfigMap>, _: bool) {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_unshared_handler_delays_its_store_and_loses_nothing() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![Modified("a", 11), Modified("a", 12)])),
    ]);
    let informer = SharedInformer::builder(script)
        .queue_capacity(1)
        .build_unshared(Slow);
    let store = informer.store().clone();
    tokio::spawn(informer.run(CancellationToken::new()));
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert_eq!(store.resource_version(), Some("10".into()));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(store.resource_version(), Some("12".into()));
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_ones_own_handler_comes_out_of_run() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let informer =
        SharedInformer::builder(script).build_unshared(|_: Notification<ConfigMap>| panic!("cannot cope"));
    let running = tokio::spawn(informer.run(CancellationToken::new()));
    let panic = running.await.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"cannot cope"));
}

#[tokio::test(start_paused = true)]
async fn an_informer_of_ones_own_resyncs_and_says_what_vanished() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![
                After(Duration::from_secs(15)),
                Status(kube_informer::source::ApiStatus::from_code(410, "")),
            ]),
        ),
        ("LIST 10 all", List(20, vec![("a", 1)])),
        ("WATCH 20", Watch(vec![])),
    ]);
    let told = Arc::new(Mutex::new(vec![]));
    let written = told.clone();
    let informer = SharedInformer::builder(script)
        .resync(Duration::from_secs(10))
        .build_unshared(move |change: Notification<ConfigMap>| written.lock().unwrap().push(change));
    tokio::spawn(informer.run(CancellationToken::new()));
    tokio::time::sleep(Duration::from_secs(21)).await;
    let told = told.lock().unwrap();
    let text: Vec<_> = told.iter().map(|change| format!("{change:?}")).collect();
    let mut resync = text[2..4].to_vec();
    resync.sort();
    assert_eq!(text[..2], ["Add(ns/a@1, initial)", "Add(ns/b@2, initial)"]);
    assert_eq!(resync, ["Update(ns/a@1->1)", "Update(ns/b@2->2)"], "after 10 s");
    assert_eq!(
        text[4..],
        ["Delete(ns/b@2, Missed)", "Update(ns/a@1->1)", "Update(ns/a@1->1)"],
        "the list, then the resync after 20 s"
    );
    assert!(matches!(&told[4], Notification::Delete(gone) if gone.cause == DeleteCause::Missed));
}
