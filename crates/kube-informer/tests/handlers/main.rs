//! What handlers may rely on, on scripted sources and a paused clock.

mod blocking;
#[path = "../common/mod.rs"]
mod common;
mod resync;
mod stopping;
mod transforms;

use common::{Answer::*, Event::*, *};
use futures::{FutureExt, StreamExt, future::BoxFuture};
use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_informer::informer::{RunError, Stopped, WriteTracker, blocking};
use kube_informer::reflector::TransformError;
use kube_informer::source::{ApiError, Item, ListRequest, ListStream, WatchEvent, WatchRequest, WatchStream};
use kube_informer::{
    CachedObject, Delivery, HandlerOptions, Notification, PanicPolicy, Registration, ResourceEventHandler,
    ResourceEventHandlerFuncs, SharedInformer,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

type Change = Notification<ConfigMap>;

const MOMENT: Duration = Duration::from_millis(1);

fn start(
    script: impl IntoIterator<Item = (&'static str, Answer)>,
) -> (
    SharedInformer<ConfigMap>,
    CancellationToken,
    JoinHandle<Result<(), RunError>>,
) {
    let (informer, runner) = SharedInformer::builder(Script::new(script))
        .stop_timeout(Duration::from_secs(5))
        .build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    (informer, stop, running)
}

/// A handler that writes down what it is told.
fn recorder() -> (Arc<Mutex<Vec<String>>>, impl FnMut(Change) + Send + 'static) {
    let told = Arc::new(Mutex::new(vec![]));
    let record = told.clone();
    (told, move |change: Change| {
        record.lock().unwrap().push(format!("{change:?}"))
    })
}

/// A handler that needs a permit for every call.
struct Gated {
    gate: Arc<Semaphore>,
    told: Arc<Mutex<Vec<String>>>,
}

impl Gated {
    fn new() -> (Arc<Semaphore>, Arc<Mutex<Vec<String>>>, Self) {
        let (gate, told) = (Arc::new(Semaphore::new(0)), Arc::new(Mutex::new(vec![])));
        (gate.clone(), told.clone(), Self { gate, told })
    }

    async fn note(&mut self, change: Change) {
        self.gate.acquire().await.unwrap().forget();
        self.told.lock().unwrap().push(format!("{change:?}"));
    }
}

impl ResourceEventHandler<ConfigMap> for Gated {
    async fn on_add(&mut self, object: Arc<ConfigMap>, initial: bool) {
        self.note(Notification::Add { object, initial }).await;
    }

    async fn on_update(&mut self, old: Arc<ConfigMap>, new: Arc<ConfigMap>) {
        self.note(Notification::Update { old, new }).await;
    }

    async fn on_delete(&mut self, deleted: kube_informer::Deleted<Arc<ConfigMap>>) {
        self.note(Notification::Delete(deleted)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn all_handlers_are_told_and_each_knows_when_it_has_synced() {
    let (informer, stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![After(Duration::from_secs(1)), Deleted("a", 11)]),
        ),
    ]);
    let (told, record) = recorder();
    let (gate, slow_told, slow) = Gated::new();
    let quick = informer.add_handler("quick", record).unwrap();
    let slow = informer.add_handler("slow", slow).unwrap();
    assert!(!quick.has_synced());
    quick.synced().await.unwrap();
    informer.synced().await.unwrap();
    assert_eq!(
        *told.lock().unwrap(),
        ["Add(ns/a@1, initial)", "Add(ns/b@2, initial)"]
    );

    gate.add_permits(1);
    tokio::time::sleep(MOMENT).await;
    assert!(!slow.has_synced(), "one initial add is still being handled");
    gate.add_permits(1);
    slow.synced().await.unwrap();
    gate.add_permits(1);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(told.lock().unwrap().last().unwrap(), "Delete(ns/a@11, Event)");
    assert_eq!(*told.lock().unwrap(), *slow_told.lock().unwrap());
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_late_handler_is_told_what_exists_and_then_every_change() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![
                Modified("a", 11),
                After(Duration::from_secs(10)),
                Deleted("b", 12),
                Added("c", 13),
            ]),
        ),
    ]);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let mut late = informer.subscribe("late").unwrap();
    assert_eq!(late.queue_len(), 2);
    let mut told = vec![];
    for _ in 0..4 {
        told.push(format!("{:?}", late.next().await.unwrap()));
    }
    told[..2].sort();
    assert_eq!(
        told,
        [
            "Add(ns/a@11, initial)",
            "Add(ns/b@2, initial)",
            "Delete(ns/b@12, Event)",
            "Add(ns/c@13)"
        ]
    );
    assert!(late.has_synced());
}

#[tokio::test(start_paused = true)]
async fn a_stalled_handler_gets_its_initial_adds_then_the_changes() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2), ("c", 3)])),
        ("WATCH 10", Watch(vec![Modified("b", 11), Deleted("c", 12)])),
    ]);
    let (gate, told, handler) = Gated::new();
    let early = informer.add_handler("early", handler).unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (_gate, _, handler) = Gated::new();
    let late = informer.add_handler("late", handler).unwrap();
    tokio::time::sleep(Duration::from_secs(7)).await;
    // The first add of each is being handled.
    assert_eq!((early.queue_len(), late.queue_len()), (4, 1));
    assert!(early.lag() >= Duration::from_secs(7) && late.lag() >= Duration::from_secs(7));
    gate.add_permits(10);
    early.synced().await.unwrap();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(
        *told.lock().unwrap(),
        [
            "Add(ns/a@1, initial)",
            "Add(ns/b@2, initial)",
            "Add(ns/c@3, initial)",
            "Update(ns/b@2->11)",
            "Delete(ns/c@12, Event)"
        ]
    );
    assert_eq!((early.queue_len(), early.lag()), (0, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn an_item_of_a_stream_is_handled_when_the_next_is_asked_for() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let mut stream = informer.subscribe("stream").unwrap();
    stream.next().await.unwrap();
    tokio::time::sleep(MOMENT).await;
    assert!(!stream.has_synced());
    assert!(tokio::time::timeout(MOMENT, stream.next()).await.is_err());
    assert!(stream.has_synced());
}

#[tokio::test(start_paused = true)]
async fn a_stalled_handler_stops_nobody_and_holds_little() {
    let names = ["a", "b", "c", "d"];
    let events = (0..10_000u64)
        .map(|n| Modified(names[n as usize % 4], 100 + n))
        .collect();
    let initial = names.iter().map(|name| (*name, 1)).collect();
    let (informer, _stop, _running) =
        start([("LIST any 500", List(10, initial)), ("WATCH 10", Watch(events))]);
    let (told, record) = recorder();
    let (gate, slow_told, slow) = Gated::new();
    informer.add_handler("quick", record).unwrap().detach();
    let options = HandlerOptions::named("slow").delivery(Delivery::Coalesced { capacity: 10 });
    let slow = informer.add_handler(options, slow).unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        informer
            .store()
            .get("ns/d")
            .unwrap()
            .metadata
            .resource_version
            .as_deref(),
        Some("10099")
    );
    assert!(
        told.lock()
            .unwrap()
            .iter()
            .any(|change| change.ends_with("->10099)"))
    );
    assert!(slow.queue_len() <= 10 + 2 * 4, "{} wait", slow.queue_len());
    gate.add_permits(100);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let slow_told = slow_told.lock().unwrap();
    assert!(slow_told.len() < 30);
    // As an update, or as the add that it was merged into.
    assert!(
        slow_told.iter().any(|change| change.contains("10099")),
        "{slow_told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_finds_what_it_is_told_of_in_the_store() {
    let events = (0..200u64).map(|n| {
        if n % 3 == 2 {
            Deleted("a", 100 + n)
        } else {
            Modified("a", 100 + n)
        }
    });
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(events.collect())),
    ]);
    let store = informer.store().clone();
    let wrong = Arc::new(Mutex::new(vec![]));
    let found = wrong.clone();
    let version = |object: &Arc<ConfigMap>| {
        object
            .metadata
            .resource_version
            .as_ref()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let check = move |change: Change| {
        let told = version(change.object().unwrap());
        match store.get("ns/a").as_ref().map(version) {
            Some(stored) if stored < told => found.lock().unwrap().push((told, stored)),
            _ => {}
        }
    };
    let handler = informer.add_handler("check", check).unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(handler.has_synced());
    assert_eq!(*wrong.lock().unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn all_who_wait_for_sync_are_woken() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", Error(refused())),
        ("LIST any 500", List(10, vec![])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let waiting: Vec<_> = (0..5)
        .map(|_| {
            let informer = informer.clone();
            tokio::spawn(async move { informer.synced().await })
        })
        .collect();
    for task in waiting {
        tokio::time::timeout(Duration::from_secs(10), task)
            .await
            .expect("woken")
            .unwrap()
            .unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_filter_turns_updates_into_adds_and_deletions() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![
                After(MOMENT),
                Modified("b", 11),
                After(MOMENT),
                Modified("b", 13),
                After(MOMENT),
                Modified("a", 14),
                After(MOMENT),
                Deleted("a", 16),
                Modified("b", 18),
                Deleted("b", 20),
            ]),
        ),
    ]);
    let (told, record) = recorder();
    let odd = |object: &Arc<ConfigMap>| {
        object
            .metadata
            .resource_version
            .as_ref()
            .unwrap()
            .parse::<u64>()
            .unwrap()
            % 2
            == 1
    };
    informer
        .add_handler("odd", record.filtered(odd))
        .unwrap()
        .detach();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        *told.lock().unwrap(),
        [
            "Add(ns/a@1, initial)",
            "Add(ns/b@11)",
            "Update(ns/b@11->13)",
            "Delete(ns/a@1, Unselected)",
            "Delete(ns/b@13, Unselected)",
        ],
        "the end of a@16 and b@20 is not told: they did not pass before"
    );
}

#[tokio::test(start_paused = true)]
async fn a_controller_waits_for_its_own_writes() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![
                After(Duration::from_secs(5)),
                Modified("a", 20),
                After(Duration::from_secs(5)),
                Bookmark(31),
            ]),
        ),
    ]);
    informer.synced().await.unwrap();
    let writes = WriteTracker::new(informer.clone());
    assert!(writes.caught_up("ns/a"));
    writes.record("ns/a".into(), "20".into());
    writes.record("ns/a".into(), "15".into());
    writes.record("ns/b".into(), "30".into());
    assert!(!writes.caught_up("ns/a") && !writes.caught_up("ns/b"));
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(writes.caught_up("ns/a") && !writes.caught_up("ns/b"));
    tokio::time::timeout(Duration::from_secs(10), writes.wait("ns/b"))
        .await
        .unwrap()
        .unwrap();
    assert!(writes.caught_up("ns/b"), "a bookmark counts");
}

#[tokio::test(start_paused = true)]
async fn lag_is_the_age_of_what_waits() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        (
            "WATCH 10",
            Watch(vec![After(Duration::from_secs(1)), Modified("a", 11)]),
        ),
    ]);
    let (gate, _, handler) = Gated::new();
    let registration = informer.add_handler("slow", handler).unwrap();
    tokio::time::sleep(Duration::from_secs(8)).await;
    assert_eq!((registration.queue_len(), registration.lag().as_secs()), (1, 7));
    gate.add_permits(2);
    registration.synced().await.unwrap();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(
        (registration.queue_len(), registration.lag()),
        (0, Duration::ZERO)
    );
}
