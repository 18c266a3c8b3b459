//! What handlers may rely on, on scripted sources and a paused clock.

mod common;

use common::{Answer::*, Event::*, *};
use futures::{FutureExt, StreamExt, future::BoxFuture};
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
        .stop_deadline(Duration::from_secs(5))
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
async fn a_panicking_handler_ends_the_run_and_is_named() {
    let (informer, _stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (_, other, gated) = Gated::new();
    let waiting = informer.add_handler("other", gated).unwrap();
    let bad = ResourceEventHandlerFuncs::new().on_add(|_, _| panic!("cannot cope"));
    let registration = informer.add_handler("bad", bad).unwrap();
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "handler \"bad\" of the informer for configmaps panicked: cannot cope"
    );
    assert_eq!(registration.synced().await, Err(Stopped));
    assert_eq!(waiting.synced().await, Err(Stopped));
    assert!(other.lock().unwrap().is_empty());
    assert!(informer.add_handler("more", |_: Change| ()).is_err());
}

#[tokio::test(start_paused = true)]
async fn remove_drops_what_is_pending_and_waits_for_the_running_call() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (gate, told, handler) = Gated::new();
    let registration = informer.add_handler("slow", handler).unwrap();
    tokio::time::sleep(MOMENT).await;
    let removal = tokio::spawn(registration.remove());
    tokio::time::sleep(MOMENT).await;
    assert!(!removal.is_finished(), "the call is still running");
    gate.add_permits(5);
    removal.await.unwrap();
    assert_eq!(told.lock().unwrap().len(), 1);
    assert_eq!(informer.handlers(), []);
}

#[tokio::test(start_paused = true)]
async fn drain_delivers_what_is_pending_first() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![After(Duration::from_secs(1)), Modified("a", 11)]),
        ),
    ]);
    let (gate, told, handler) = Gated::new();
    let registration = informer.add_handler("slow", handler).unwrap();
    tokio::time::sleep(MOMENT).await;
    let drained = tokio::spawn(registration.drain());
    tokio::time::sleep(Duration::from_secs(2)).await;
    gate.add_permits(5);
    drained.await.unwrap();
    assert_eq!(
        *told.lock().unwrap(),
        ["Add(ns/a@1, initial)", "Add(ns/b@2, initial)"]
    );
}

#[tokio::test(start_paused = true)]
async fn dropping_a_registration_removes_its_handler() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![])),
        (
            "WATCH 10",
            Watch(vec![After(Duration::from_secs(1)), Added("a", 11)]),
        ),
    ]);
    let (dropped_told, dropped) = recorder();
    let (kept_told, kept) = recorder();
    drop(informer.add_handler("dropped", dropped).unwrap());
    informer.add_handler("kept", kept).unwrap().detach();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(dropped_told.lock().unwrap().len(), 0);
    assert_eq!(*kept_told.lock().unwrap(), ["Add(ns/a@11)"]);
}

/// A handler that takes itself out when it is first told of something.
struct Once {
    registration: Arc<Mutex<Option<kube_informer::Registration>>>,
    calls: Arc<Mutex<usize>>,
}

impl ResourceEventHandler<ConfigMap> for Once {
    async fn on_add(&mut self, _: Arc<ConfigMap>, _: bool) {
        *self.calls.lock().unwrap() += 1;
        let registration = self.registration.lock().unwrap().take();
        registration.expect("called once").remove().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_can_remove_itself() {
    let (informer, runner) = SharedInformer::builder(Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]))
    .build();
    let (registration, calls) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(0)));
    let handler = Once {
        registration: registration.clone(),
        calls: calls.clone(),
    };
    *registration.lock().unwrap() = Some(informer.add_handler("once", handler).unwrap());
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(*calls.lock().unwrap(), 1);
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn stopping_joins_every_task_and_ends_streams() {
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let (informer, stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let mut stream = informer.subscribe("stream").unwrap();
    for name in ["one", "two"] {
        informer.add_handler(name, |_: Change| ()).unwrap().detach();
    }
    informer.synced().await.unwrap();
    stream.next().await.unwrap();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(
        metrics.num_alive_tasks() - before,
        1 + 2 + 2,
        "the run, reflector and driver, two handlers"
    );
    stop.cancel();
    running.await.unwrap().unwrap();
    assert_eq!(metrics.num_alive_tasks(), before);
    assert!(stream.next().await.is_none());
    assert_eq!(informer.store().len(), 1, "the store stays readable");
    assert_eq!(informer.subscribe("late").err(), Some(Stopped));
}

#[tokio::test(start_paused = true)]
async fn a_stuck_handler_is_named_at_the_deadline() {
    let (informer, stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (_gate, _, handler) = Gated::new();
    informer.add_handler("stuck", handler).unwrap().detach();
    informer.add_handler("fine", |_: Change| ()).unwrap().detach();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = tokio::time::Instant::now();
    stop.cancel();
    let error = running.await.unwrap().unwrap_err();
    assert!(
        matches!(error, RunError::Stuck { ref handlers, .. } if handlers == &["stuck"]),
        "{error}"
    );
    assert_eq!(before.elapsed().as_secs(), 5);
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

/// The notifications of a handler that does not ask for more than its name.
fn counter(informer: &SharedInformer<ConfigMap>, options: HandlerOptions) -> Arc<Mutex<usize>> {
    let count = Arc::new(Mutex::new(0));
    let counted = count.clone();
    informer
        .add_handler(options, move |_: Change| *counted.lock().unwrap() += 1)
        .unwrap()
        .detach();
    count
}

#[tokio::test(start_paused = true)]
async fn resyncs_are_rounded_and_raised() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (informer, runner) = SharedInformer::builder(script)
        .resync(Duration::from_secs(2))
        .build();
    let by_default = counter(&informer, "default".into());
    let never = counter(&informer, HandlerOptions::named("never").resync(Duration::ZERO));
    let often = counter(
        &informer,
        HandlerOptions::named("often").resync(Duration::from_millis(100)),
    );
    tokio::spawn(runner.run(CancellationToken::new()));
    tokio::time::sleep(MOMENT).await;
    let late = counter(
        &informer,
        HandlerOptions::named("late").resync(Duration::from_millis(500)),
    );
    tokio::time::sleep(Duration::from_millis(2600)).await;
    let counts = [&by_default, &never, &often, &late].map(|count| *count.lock().unwrap());
    // Two initial adds each, then: one resync after 2 s; none; two, because 100 ms were raised to a second; for the
    // late one the time counts from when it came, so it is due at the second look.
    assert_eq!(counts, [4, 2, 6, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_gets_its_resync_where_the_informer_has_none() {
    let (informer, _stop, _running) = start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let every = |seconds| HandlerOptions::named("h").resync(Duration::from_secs(seconds));
    let early = counter(&informer, every(30));
    tokio::time::sleep(MOMENT).await;
    // The informer runs already.
    let late = counter(&informer, every(10));
    let (without, rare) = (counter(&informer, "h".into()), counter(&informer, every(3600)));
    tokio::time::sleep(Duration::from_secs(101)).await;
    let counts = [&early, &late, &without, &rare].map(|count| *count.lock().unwrap());
    // One add each, then what is due: looked for every 10 s.
    assert_eq!(counts, [1 + 3, 1 + 10, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn the_longest_resync_period_is_never() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (informer, runner) = SharedInformer::builder(script)
        .resync(Duration::MAX)
        .stop_deadline(Duration::MAX)
        .build();
    let early = counter(&informer, HandlerOptions::named("early").resync(Duration::MAX));
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.unwrap();
    let often = HandlerOptions::named("often").resync(Duration::from_secs(1));
    let (late, often) = (counter(&informer, "late".into()), counter(&informer, often));
    let wait = informer
        .store()
        .wait_until(&"10".into())
        .timeout(Duration::MAX)
        .await;
    assert_eq!(wait, Ok(()));
    tokio::time::sleep(Duration::from_secs(100 * 86_400)).await;
    assert_eq!([early, late, often].map(|count| *count.lock().unwrap()), [1; 3]);
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_relist_does_not_delay_a_resync() {
    let relists = (0..5).flat_map(|_| {
        [
            (
                "WATCH 10",
                Watch(vec![
                    After(Duration::from_secs(3)),
                    Status(kube_informer::source::ApiStatus::from_code(410, "")),
                ]),
            ),
            ("LIST 10 all", List(10, vec![("a", 1)])),
        ]
    });
    let script = Script::new(
        [("LIST any 500", List(10, vec![("a", 1)]))]
            .into_iter()
            .chain(relists),
    );
    let (informer, runner) = SharedInformer::builder(script)
        .resync(Duration::from_secs(10))
        .build();
    let without = counter(&informer, HandlerOptions::named("without").resync(Duration::ZERO));
    let with = counter(&informer, "with".into());
    tokio::spawn(runner.run(CancellationToken::new()));
    tokio::time::sleep(Duration::from_millis(9_900)).await;
    let before = *with.lock().unwrap();
    assert!(before >= 2, "an add and at least one relist: {before}");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(*with.lock().unwrap() > before, "relists do not restart the timer");
    assert_eq!(*without.lock().unwrap(), 1);
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
async fn an_isolated_panic_is_one_lost_call() {
    let (informer, _stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let calls = Arc::new(Mutex::new(0));
    let counted = calls.clone();
    let bad = move |_: Change| {
        *counted.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
        panic!("cannot cope")
    };
    let options = HandlerOptions::named("bad").on_panic(PanicPolicy::Continue);
    let registration = informer.add_handler(options, bad).unwrap();
    registration.synced().await.unwrap();
    assert_eq!(*calls.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), 2);
    assert!(!running.is_finished());
}

#[tokio::test]
async fn a_blocking_handler_blocks_nobody() {
    let (informer, stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let (told, mut record) = recorder();
    let slow = informer
        .add_handler(
            "slow",
            blocking(move |change: Change| {
                gate.recv().unwrap();
                record(change);
            }),
        )
        .unwrap();
    let quick = informer.add_handler("quick", |_: Change| ()).unwrap();
    quick.synced().await.unwrap();
    assert_eq!(told.lock().unwrap().len(), 0);
    release.send(()).unwrap();
    release.send(()).unwrap();
    slow.synced().await.unwrap();
    assert_eq!(told.lock().unwrap().len(), 2);
    stop.cancel();
    running.await.unwrap().unwrap();
}

/// A blocking handler that ends its own registration in its first call.
async fn ends_itself<F: Future<Output = ()>>(end: impl Fn(Registration) -> F + Send + 'static) {
    let (informer, stop, running) = start([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ]);
    let (give, take) = std::sync::mpsc::channel::<Registration>();
    let (told, mut record) = recorder();
    let (returned, mut calls) = tokio::sync::mpsc::unbounded_channel();
    let function = move |change: Change| {
        record(change);
        if let Ok(own) = take.recv() {
            tokio::runtime::Handle::current().block_on(end(own));
        }
        returned.send(()).unwrap();
    };
    let registration = informer.add_handler("own", blocking(function)).unwrap();
    give.send(registration).unwrap();
    drop(give);
    let first = tokio::time::timeout(Duration::from_secs(20), calls.recv()).await;
    assert_eq!(first.expect("does not hang"), Some(()));
    while calls.recv().await.is_some() {}
    assert!(!told.lock().unwrap().is_empty() && informer.handlers().is_empty());
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocking_handler_may_remove_or_drain_itself() {
    ends_itself(Registration::remove).await;
    ends_itself(Registration::drain).await;
}

#[test]
fn blocking_handlers_that_hang_stop_nothing_else() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let gate = Arc::new(Mutex::new(gate));
    runtime.block_on(async {
        let (informer, stop, running) = start([
            ("LIST any 500", List(10, vec![("a", 1)])),
            ("WATCH 10", Watch(vec![])),
        ]);
        for number in 0..4 {
            let gate = gate.clone();
            let hang = move |_: Change| _ = gate.lock().map(|gate| gate.recv());
            let name = HandlerOptions::named(format!("hangs-{number}"));
            informer.add_handler(name, blocking(hang)).unwrap().detach();
        }
        let quick = informer.add_handler("quick", blocking(|_: Change| ())).unwrap();
        let patience = Duration::from_secs(20);
        let synced = tokio::time::timeout(patience, quick.synced()).await;
        synced.expect("another blocking handler").unwrap();
        let pool = tokio::time::timeout(patience, tokio::task::spawn_blocking(|| ())).await;
        pool.expect("a thread of the pool").unwrap();
        drop(release);
        stop.cancel();
        running.await.unwrap().unwrap();
    });
}

/// What is told by name and uid, by a plain handler and by a filtered one, if the objects are changed like this.
async fn told_after(
    transform: impl Fn(Arc<ConfigMap>) -> Arc<ConfigMap> + Send + Sync + 'static,
) -> (Vec<String>, Vec<String>, SharedInformer<ConfigMap>) {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1)])),
        (
            "WATCH 10",
            Watch(vec![
                After(Duration::from_secs(1)),
                Modified("a", 11),
                After(Duration::from_secs(1)),
                // The deletion was missed.
                Modified("a#2", 12),
                After(Duration::from_secs(1)),
                Deleted("a#2", 13),
            ]),
        ),
    ]);
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(script)
        .transform(move |object| Ok(transform(object)))
        .build();
    let (plain, record) = recorder();
    informer.add_handler("plain", record).unwrap().detach();
    let (filtered, record) = recorder();
    let even = |object: &Arc<ConfigMap>| ConfigMap::resource_version_of(object) != Some("13".into());
    informer
        .add_handler("filtered", record.filtered(even))
        .unwrap()
        .detach();
    tokio::spawn(runner.run(CancellationToken::new()));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let told = [plain, filtered].map(|told| told.lock().unwrap().clone());
    let [plain, filtered] = told;
    (plain, filtered, informer)
}

#[tokio::test(start_paused = true)]
async fn a_transform_that_strips_all_metadata_takes_no_identity() {
    let expected = [
        "Add(ns/a@1, initial)",
        "Update(ns/a@1->11)",
        "Delete(ns/a@11, Missed)",
        "Add(ns/a@12)",
        "Delete(ns/a@13, Event)",
    ];
    let strip = |mut object: Arc<ConfigMap>| {
        Arc::make_mut(&mut object).metadata = Default::default();
        object
    };
    let (plain, filtered, _) = told_after(strip).await;
    assert_eq!(plain, expected);
    assert_eq!(filtered, expected);

    // The same object for all can have no identity.
    let shared = Arc::<ConfigMap>::default();
    let (plain, filtered, informer) = told_after(move |_| shared.clone()).await;
    assert!(plain.is_empty() && filtered.is_empty());
    let status = informer.status().reflector;
    assert!(
        status
            .last_invalid_object
            .unwrap()
            .reason
            .contains("the transform changed its name")
    );
}

#[tokio::test(start_paused = true)]
async fn a_transform_sees_each_object_once_and_may_fail() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2), ("c", 3)])),
        ("WATCH 10", Watch(vec![Modified("a", 11), Deleted("a", 12)])),
    ]);
    let seen = Arc::new(Mutex::new(vec![]));
    let record = seen.clone();
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(script)
        .transform(move |mut object| {
            record
                .lock()
                .unwrap()
                .push(format!("{}", ConfigMap::key_of(&object)));
            match ConfigMap::name_of(&object) {
                "b" => Err(TransformError("not b".into())),
                "c" => panic!("not c either"),
                _ => {
                    let metadata = &mut Arc::make_mut(&mut object).metadata;
                    metadata.namespace = Some("elsewhere".into());
                    metadata.labels = Some([("changed".to_owned(), "yes".to_owned())].into());
                    Ok(object)
                }
            }
        })
        .build();
    let mut changes = informer.subscribe("test").unwrap();
    tokio::spawn(runner.run(CancellationToken::new()));
    let mut told = vec![];
    while let Ok(Some(change)) = tokio::time::timeout(Duration::from_secs(5), changes.next()).await {
        told.push((
            change.key().to_string(),
            ConfigMap::label_of(change.object().unwrap(), "changed") == Some("yes"),
        ));
    }
    assert_eq!(*seen.lock().unwrap(), ["ns/a", "ns/b", "ns/c", "ns/a", "ns/a"]);
    let expected = ("ns/a".to_owned(), true);
    assert_eq!(
        told,
        [&expected; 3].map(Clone::clone),
        "changed, but for the namespace"
    );
    let status = informer.status().reflector;
    assert_eq!(status.invalid_objects, 2);
    assert_eq!(
        status.last_invalid_object.unwrap().to_string(),
        "ns/c: the transform panicked"
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

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_an_informer_that_will_never_run() {
    let (informer, runner) = SharedInformer::builder(Script::new([])).build();
    let handler = informer.add_handler("handler", |_: Change| ()).unwrap();
    let drained = tokio::spawn(informer.add_handler("drained", |_: Change| ()).unwrap().drain());
    let mut stream = informer.subscribe("stream").unwrap();
    tokio::time::sleep(MOMENT).await;
    drop(runner);
    assert_eq!(informer.synced().await, Err(Stopped));
    assert_eq!(handler.synced().await, Err(Stopped));
    assert!(stream.next().await.is_none());
    drained.await.unwrap();
    assert_eq!(informer.add_handler("late", |_: Change| ()).err(), Some(Stopped));
}

/// A source that is never at a loss for an event.
struct Endless;

impl kube_informer::source::ListerWatcher<ConfigMap> for Endless {
    fn resource(&self) -> String {
        "configmaps".into()
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<ConfigMap>, ApiError>> {
        async move {
            let script = Script::new([("LIST any 500", List(10, vec![("a", 1)]))]);
            kube_informer::source::ListerWatcher::list(&script, request).await
        }
        .boxed()
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<ConfigMap>, ApiError>> {
        let events = (11..).map(|version| Ok(WatchEvent::Modified(Item::Object(object("a", version)))));
        async { Ok(futures::stream::iter(events).boxed()) }.boxed()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_informer_stops_even_if_its_source_never_pauses() {
    let (informer, runner) = SharedInformer::builder(Endless).build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.unwrap();
    informer.store().wait_until(&"5000".into()).await.unwrap();
    let seen = informer.status().reflector.resource_version;
    assert!(
        seen.as_ref().is_some_and(|seen| *seen >= "4800".into()),
        "{seen:?}"
    );
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(20), running)
        .await
        .expect("in time")
        .unwrap()
        .unwrap();
}
