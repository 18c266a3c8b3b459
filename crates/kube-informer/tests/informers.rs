//! What users of shared informers rely on: resyncs, registrations, transforms, relists.
//!
//! The scenes are those of client-go's own tests; see the table in `README.md` beside this file.

mod common;

use common::{Answer::*, Event::*, *};
use futures::StreamExt;
use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::DynamicObject;
use kube_informer::source::ApiStatus;
use kube_informer::store::Indexer;
use kube_informer::{
    CachedObject, Delivery, HandlerOptions, Lister, Notification, Registration, ResourceEventHandler,
    SharedInformer,
};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

type Change = Notification<ConfigMap>;
type Log = Arc<Mutex<Vec<String>>>;

const MOMENT: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn two_objects() -> Script {
    Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        ("WATCH 10", Watch(vec![])),
    ])
}

fn gone() -> Event {
    Status(ApiStatus::from_code(410, ""))
}

/// Adds a handler that writes down what it is told.
fn record(informer: &SharedInformer<ConfigMap>, options: HandlerOptions) -> (Log, Registration) {
    let told = Log::default();
    let written = told.clone();
    let write = move |change: Change| written.lock().unwrap().push(format!("{change:?}"));
    (told, informer.add_handler(options, write).unwrap())
}

fn lines(log: &Log) -> Vec<String> {
    let mut lines = std::mem::take(&mut *log.lock().unwrap());
    lines.sort();
    lines
}

fn every(name: &str, seconds: u64) -> HandlerOptions {
    HandlerOptions::named(name).resync(Duration::from_secs(seconds))
}

/// A handler that needs a permit for every add.
struct Gated(Arc<Semaphore>);

impl ResourceEventHandler<ConfigMap> for Gated {
    async fn on_add(&mut self, _: Arc<ConfigMap>, _: bool) {
        self.0.acquire().await.unwrap().forget();
    }
}

#[tokio::test(start_paused = true)]
async fn each_handler_is_told_again_in_its_own_period() {
    // Whether the informer runs at once or late, the handlers are there before.
    for delay in [Duration::ZERO, SECOND] {
        let (informer, runner) = SharedInformer::builder(two_objects()).resync(SECOND).build();
        let handlers = [0, 2, 3].map(|seconds| record(&informer, every("handler", seconds)));
        tokio::time::sleep(delay).await;
        // The periods count from when a handler came, the looks from when the informer ran.
        let running = tokio::spawn(runner.run(CancellationToken::new()));
        tokio::time::sleep(MOMENT).await;
        for (told, _) in &handlers {
            assert_eq!(lines(told), ["Add(ns/a@1, initial)", "Add(ns/b@2, initial)"]);
        }
        let again = ["Update(ns/a@1->1)", "Update(ns/b@2->2)"];
        tokio::time::sleep(2 * SECOND - delay).await;
        assert_eq!(lines(&handlers[0].0), [""; 0]);
        assert_eq!(lines(&handlers[1].0), again);
        assert_eq!(lines(&handlers[2].0), [""; 0]);
        tokio::time::sleep(SECOND).await;
        assert_eq!(lines(&handlers[0].0), [""; 0]);
        assert_eq!(lines(&handlers[1].0), [""; 0]);
        assert_eq!(lines(&handlers[2].0), again);
        running.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn early_handlers_shorten_the_check_period_and_keep_their_own() {
    let (informer, runner) = SharedInformer::builder(two_objects())
        .resync(Duration::from_secs(12 * 3600))
        .build();
    let handlers = [0, 60, 55, 5].map(|seconds| record(&informer, every("handler", seconds)));
    tokio::spawn(runner.run(CancellationToken::new()));
    tokio::time::sleep(MOMENT).await;
    handlers.iter().for_each(|(told, _)| drop(lines(told)));
    tokio::time::sleep(121 * SECOND).await;
    let resyncs = handlers.map(|(told, _)| lines(&told).len() / 2);
    assert_eq!(resyncs, [0, 2, 2, 24]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_can_be_added_while_the_informer_starts() {
    for _ in 0..50 {
        let (informer, runner) = SharedInformer::builder(two_objects()).build();
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        let adding = tokio::spawn(async move {
            let (told, registration) = record(&informer, "racing".into());
            registration.synced().await.unwrap();
            lines(&told)
        });
        assert_eq!(
            adding.await.unwrap(),
            ["Add(ns/a@1, initial)", "Add(ns/b@2, initial)"]
        );
        stop.cancel();
        running.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn only_handlers_with_a_resync_are_told_of_unchanged_objects() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("pod1", 1), ("pod2", 2)])),
        // An update of pod2 and an add of pod3 are lost.
        ("WATCH 10", Watch(vec![After(SECOND), gone()])),
        (
            "LIST 10 all",
            List(20, vec![("pod1", 1), ("pod2", 15), ("pod3", 16)]),
        ),
        ("WATCH 20", Watch(vec![])),
    ]);
    let (informer, runner) = SharedInformer::builder(script).resync(3600 * SECOND).build();
    let (without, _without) = record(&informer, every("without", 0));
    let (with, _with) = record(&informer, every("with", 3600));
    tokio::spawn(runner.run(CancellationToken::new()));
    tokio::time::sleep(SECOND / 2).await;
    assert_eq!(lines(&without), lines(&with));
    tokio::time::sleep(10 * SECOND).await;
    let news = ["Add(ns/pod3@16)", "Update(ns/pod2@2->15)"];
    assert_eq!(lines(&without), news, "not initial: the informer had synced");
    assert_eq!(lines(&with), [news[0], "Update(ns/pod1@1->1)", news[1]]);
}

#[tokio::test(start_paused = true)]
async fn each_registration_is_one_of_its_own() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1)])),
        (
            "WATCH 10",
            Watch(vec![After(SECOND), Added("b", 11), After(SECOND), Added("c", 12)]),
        ),
    ]);
    let (informer, runner) = SharedInformer::builder(script).build();
    // The same name and the same log, twice.
    let told = Log::default();
    let add = || {
        let written = told.clone();
        let write = move |change: Change| written.lock().unwrap().push(format!("{change:?}"));
        informer.add_handler("same", write).unwrap()
    };
    let (first, second) = (add(), add());
    assert_eq!(informer.handlers().len(), 2);
    tokio::spawn(runner.run(CancellationToken::new()));
    tokio::time::sleep(MOMENT).await;
    assert_eq!(lines(&told), ["Add(ns/a@1, initial)"; 2]);
    first.remove().await;
    assert_eq!(informer.handlers().len(), 1);
    tokio::time::sleep(SECOND).await;
    assert_eq!(lines(&told), ["Add(ns/b@11)"], "the other one goes on");
    second.remove().await;
    assert_eq!(informer.handlers(), []);
    tokio::time::sleep(SECOND).await;
    assert_eq!(lines(&told), [""; 0]);
    assert_eq!(informer.store().len(), 3, "the informer goes on without handlers");
}

#[tokio::test(start_paused = true)]
async fn a_late_handler_has_synced_when_its_own_adds_are_handled() {
    let (informer, runner) = SharedInformer::builder(two_objects()).build();
    tokio::spawn(runner.run(CancellationToken::new()));
    informer.synced().await.unwrap();
    let gate = Arc::new(Semaphore::new(0));
    let late = informer.add_handler("late", Gated(gate.clone())).unwrap();
    tokio::time::sleep(SECOND).await;
    assert!(!late.has_synced(), "its first add is being handled");
    gate.add_permits(1);
    tokio::time::sleep(SECOND).await;
    assert!(!late.has_synced(), "its second one");
    gate.add_permits(1);
    late.synced().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn removing_returns_whenever_it_is_done() {
    // Never run.
    let (informer, runner) = SharedInformer::builder(two_objects()).build();
    let (_, unused) = record(&informer, "unused".into());
    unused.remove().await;
    // Added before and after the start, removed after the stop.
    let (_, before) = record(&informer, "before".into());
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.unwrap();
    let (_, after) = record(&informer, "after".into());
    let (_, drained) = record(&informer, "drained".into());
    stop.cancel();
    running.await.unwrap().unwrap();
    before.remove().await;
    after.remove().await;
    drained.drain().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_come_and_go_during_changes_and_the_stop() {
    let names = ["a", "b", "c", "d"];
    let events = (0..10_000u64).map(|n| match n % 4 {
        0..3 => Modified(names[n as usize % 4], 100 + n),
        _ => Deleted(names[n as usize / 4 % 4], 100 + n),
    });
    let script = Script::new([
        ("LIST any 500", List(10, vec![])),
        ("WATCH 10", Watch(events.collect())),
    ]);
    let (informer, runner) = SharedInformer::builder(script).build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    let workers: Vec<_> = (0..100)
        .map(|number| {
            let informer = informer.clone();
            tokio::spawn(async move {
                let mut added = 0;
                // The only error there is says that the informer was stopped.
                while let Ok(registration) = informer.add_handler("abuse", |_: Change| ()) {
                    added += 1;
                    match (number + added) % 4 {
                        0 => registration.remove().await,
                        1 => registration.drain().await,
                        2 => drop(registration),
                        _ => drop(registration.synced().await),
                    }
                    tokio::task::yield_now().await;
                }
                added
            })
        })
        .collect();
    let last = "10099".into();
    tokio::time::timeout(60 * SECOND, informer.store().wait_until(&last))
        .await
        .expect("nobody is in the way")
        .unwrap();
    stop.cancel();
    running.await.unwrap().unwrap();
    for worker in workers {
        assert!(worker.await.unwrap() > 0);
    }
    assert_eq!(informer.handlers(), []);
}

#[tokio::test(start_paused = true)]
async fn objects_are_transformed_once_then_stored_and_told() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2)])),
        (
            "WATCH 10",
            Watch(vec![After(SECOND / 2), Modified("a", 11), Deleted("b", 12)]),
        ),
    ]);
    let transformed = Arc::new(Mutex::new(0));
    let counted = transformed.clone();
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(script)
        .resync(SECOND)
        .transform(move |mut object| {
            *counted.lock().unwrap() += 1;
            let metadata = &mut Arc::make_mut(&mut object).metadata;
            let version = metadata.resource_version.take();
            metadata.labels = version.map(|version| [("version".to_owned(), version)].into());
            Ok(object)
        })
        .build();
    let mut changes = informer
        .subscribe(HandlerOptions::named("test").delivery(Delivery::Unbounded))
        .unwrap();
    let running = tokio::spawn(runner.run(CancellationToken::new()));
    let label = |object: &Arc<ConfigMap>| ConfigMap::label_of(object, "version").unwrap().to_owned();
    let mut told = vec![];
    while let Ok(Some(change)) = tokio::time::timeout(5 * SECOND / 2, changes.next()).await {
        told.push(match &change {
            Notification::Add { object, .. } => format!("add {}", label(object)),
            Notification::Update { old, new } => format!("update {} {}", label(old), label(new)),
            Notification::Delete(deleted) => {
                format!("delete {}", label(deleted.last_known.as_ref().unwrap()))
            }
        });
        if told.len() == 6 {
            break;
        }
    }
    assert_eq!(
        told,
        [
            "add 1",
            "add 2",
            "update 1 11",
            "delete 12",
            "update 11 11",
            "update 11 11"
        ],
        "two resyncs at the end"
    );
    assert_eq!(*transformed.lock().unwrap(), 4, "resyncs transform nothing");
    assert_eq!(label(&informer.store().get("ns/a").unwrap()), "11");
    assert_eq!(
        informer.store().resource_version(),
        Some("12".into()),
        "the versions are the server's, whatever the transform makes of them"
    );
    running.abort();
}

/// What a handler of one's own sees of the store while it is told of a change.
fn with_store(script: Script) -> (Log, Arc<OnceLock<Indexer<Arc<ConfigMap>>>>, CancellationToken) {
    let (told, store) = (
        Log::default(),
        Arc::new(OnceLock::<Indexer<Arc<ConfigMap>>>::new()),
    );
    let (written, seen) = (told.clone(), store.clone());
    let informer = SharedInformer::builder(script).build_unshared(move |change: Change| {
        let store = seen.get().unwrap();
        let versions = store
            .list()
            .into_iter()
            .map(|object| object.metadata.resource_version.clone().unwrap());
        let mut versions: Vec<_> = versions.collect();
        versions.sort();
        let line = format!(
            "{change:?} of {} in {}",
            versions.join(" "),
            store.resource_version().unwrap()
        );
        written.lock().unwrap().push(line);
    });
    assert!(store.set(informer.store().clone()).is_ok());
    let stop = CancellationToken::new();
    tokio::spawn(informer.run(stop.clone()));
    (told, store, stop)
}

#[tokio::test(start_paused = true)]
async fn a_list_is_told_deletions_first_from_the_new_store() {
    let (told, store, _) = with_store(Script::new([
        ("LIST any 500", List(10, vec![("1", 1), ("2", 2), ("3", 3)])),
        ("WATCH 10", Watch(vec![gone()])),
        ("LIST 10 all", List(20, vec![("1", 4), ("2", 5), ("4", 6)])),
        (
            "WATCH 20",
            Watch(vec![After(SECOND), Modified("1", 21), Deleted("2", 22), gone()]),
        ),
        ("LIST 22 all", List(30, vec![])),
        ("WATCH 30", Watch(vec![])),
    ]));
    tokio::time::sleep(60 * SECOND).await;
    let told = std::mem::take(&mut *told.lock().unwrap());
    assert_eq!(
        told[..7],
        [
            "Add(ns/1@1, initial) of 1 2 3 in 10",
            "Add(ns/2@2, initial) of 1 2 3 in 10",
            "Add(ns/3@3, initial) of 1 2 3 in 10",
            "Delete(ns/3@3, Missed) of 4 5 6 in 20",
            "Update(ns/1@1->4) of 4 5 6 in 20",
            "Update(ns/2@2->5) of 4 5 6 in 20",
            "Add(ns/4@6) of 4 5 6 in 20",
        ]
    );
    assert_eq!(
        told[7..9],
        [
            "Update(ns/1@4->21) of 21 6 in 22",
            "Delete(ns/2@22, Event) of 21 6 in 22"
        ],
        "the store has the version of what it was told, or a later one"
    );
    let mut emptied = told[9..].to_vec();
    emptied.sort();
    assert_eq!(
        emptied,
        [
            "Delete(ns/1@21, Missed) of  in 30",
            "Delete(ns/4@6, Missed) of  in 30"
        ]
    );
    assert!(store.get().unwrap().is_empty());
}

/// Deletes every object that is added, and writes down what is gone.
struct Reaper {
    sim: kube_sim::Sim,
    gone: Log,
}

impl ResourceEventHandler<ConfigMap> for Reaper {
    async fn on_add(&mut self, object: Arc<ConfigMap>, _: bool) {
        let name = ConfigMap::name_of(&object).to_owned();
        let (sim, namespace) = (self.sim.clone(), ConfigMap::namespace_of(&object));
        sim.store().delete("v1", "ConfigMap", namespace, &name).unwrap();
    }

    async fn on_delete(&mut self, deleted: kube_informer::Deleted<Arc<ConfigMap>>) {
        self.gone.lock().unwrap().push(deleted.key.name().to_owned());
    }
}

#[tokio::test]
async fn a_controller_is_told_of_the_deletions_that_it_causes() {
    let sim = kube_sim::Sim::builder().build().unwrap();
    let client = kube::Client::new(sim.service(), "default");
    let resource = kube::core::ApiResource::erase::<ConfigMap>(&());
    let source = kube_informer::source::ClientSource::new(client, resource, Default::default());
    let gone = Log::default();
    let reaper = Reaper {
        sim: sim.clone(),
        gone: gone.clone(),
    };
    let informer = SharedInformer::builder(source).build_unshared(reaper);
    let stop = CancellationToken::new();
    let store = informer.store().clone();
    let running = tokio::spawn(informer.run(stop.clone()));
    for name in ["a-hello", "b-controller", "c-framework"] {
        sim.store().create(config_map("default", name)).unwrap();
    }
    let told = async {
        while gone.lock().unwrap().len() < 3 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(30 * SECOND, told).await.expect("in time");
    assert_eq!(lines(&gone), ["a-hello", "b-controller", "c-framework"]);
    assert!(store.is_empty());
    stop.cancel();
    running.await.unwrap();
}

fn config_map(namespace: &str, name: &str) -> serde_json::Value {
    serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace},
    })
}

#[tokio::test]
async fn listers_find_objects_by_namespace_and_name_missing_ones() {
    let sim = kube_sim::Sim::builder().build().unwrap();
    for (namespace, name) in [("default", "a"), ("default", "b"), ("kube-system", "a")] {
        sim.store().create(config_map(namespace, name)).unwrap();
    }
    let factory = kube_informer::SharedInformerFactory::new(kube::Client::new(sim.service(), "default"));
    let resource = kube::core::ApiResource::erase::<ConfigMap>(&());
    let typed = factory.informer::<ConfigMap>().lister();
    let dynamic = (factory.informer_for_resource::<DynamicObject>(resource, Default::default())).lister();
    let metadata = factory.metadata_informer::<ConfigMap>().lister();
    factory.start();
    factory.wait_for_sync(30 * SECOND).await.unwrap();
    factory
        .wait_for_sync(Duration::ZERO)
        .await
        .expect("what has synced needs no time");
    check_lister(&typed);
    check_lister(&dynamic);
    check_lister(&metadata);
    factory.shutdown().await.unwrap();
}

fn check_lister<O: CachedObject>(lister: &Lister<O>) {
    assert_eq!(lister.list().len(), 3);
    assert_eq!(lister.namespace("default").list().len(), 2);
    assert_eq!(lister.namespace("elsewhere").list().len(), 0);
    let found = lister.namespace("kube-system").get("a").unwrap();
    assert_eq!(O::key_of(&found).as_str(), "kube-system/a");
    let found = lister.get("default/b").unwrap();
    assert_eq!(O::key_of(&found).as_str(), "default/b");
    assert!(
        lister.namespace("kube-system").get("b").is_err(),
        "it is in another namespace"
    );
    assert!(lister.get("a").is_err(), "what has a namespace has no bare name");
    let missing = lister.namespace("default").get("c").map(|_| ()).unwrap_err();
    assert_eq!(missing.to_string(), "configmaps \"default/c\" not found");
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_is_transformed_once() {
    let script = Script::streaming([(
        "STREAM newest",
        Watch(vec![Added("a", 1), Added("b", 2), End(10), Modified("a", 11)]),
    )]);
    let seen = Log::default();
    let written = seen.clone();
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(script)
        .transform(move |object| {
            written
                .lock()
                .unwrap()
                .push(ConfigMap::name_of(&object).to_owned());
            Ok(object)
        })
        .build();
    tokio::spawn(runner.run(CancellationToken::new()));
    informer.store().wait_until(&"11".into()).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["a", "b", "a"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_an_index_function_sets_one_object_aside() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("c", 3)])),
        (
            "WATCH 10",
            Watch(vec![
                After(SECOND),
                Added("b", 12),
                Added("d", 13),
                After(SECOND),
                Modified("b", 14),
                Modified("c", 666),
                Bookmark(700),
            ]),
        ),
    ]);
    let (informer, runner) = SharedInformer::builder(script).build();
    let version = |object: &Arc<ConfigMap>| object.metadata.resource_version.clone();
    let by_version = informer
        .store()
        .add_index("version", move |object| match version(object).as_deref() {
            Some("12" | "666") => panic!("cannot cope"),
            version => version.map(str::to_owned),
        })
        .unwrap();
    let (told, _registration) = record(&informer, "test".into());
    tokio::spawn(runner.run(CancellationToken::new()));
    tokio::time::sleep(3 * SECOND / 2).await;
    assert_eq!(
        lines(&told),
        ["Add(ns/a@1, initial)", "Add(ns/c@3, initial)", "Add(ns/d@13)"]
    );
    let status = informer.status();
    assert_eq!((status.objects, status.not_indexed), (3, 1));
    let text = status.last_not_indexed.unwrap().to_string();
    assert!(text.starts_with("ns/b: ") && text.contains("version"), "{text}");
    assert_eq!(informer.store().stale_keys(), ["ns/b".into()]);

    informer.store().wait_until(&"700".into()).await.unwrap();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(lines(&told), ["Add(ns/b@14)"], "good again");
    assert_eq!(informer.store().stale_keys(), ["ns/c".into()]);
    assert_eq!(informer.status().not_indexed, 2);
    let found = |version: &str| informer.store().by_index(&by_version, version).unwrap().len();
    assert_eq!(
        (found("1"), found("14"), found("3"), found("666")),
        (1, 1, 1, 0),
        "the last good state stays, also in the index"
    );
}
