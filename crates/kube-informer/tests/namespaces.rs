//! An informer over several namespaces: one view, many watches.

mod common;

use common::{Answer::*, Event::*, *};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use instances as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_informer::informer::{RunError, WriteTracker};
use kube_informer::reflector::Phase;
use kube_informer::source::{
    ApiError, ListMeta, ListPart, ListRequest, ListStream, ListerWatcher, NamespacedSource, WatchRequest,
    WatchStream,
};
use kube_informer::store::WaitError;
use kube_informer::{NamespaceSet, Notification, ResourceVersion, SharedInformer};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const MOMENT: Duration = Duration::from_millis(1);

/// A script for each time that a namespace is watched.
#[derive(Clone, Default)]
struct Scripts(Arc<Mutex<HashMap<&'static str, VecDeque<Script>>>>);

impl Scripts {
    fn with(self, namespace: &'static str, script: impl IntoIterator<Item = (&'static str, Answer)>) -> Self {
        let script = Script::new(script);
        let mut scripts = self.0.lock().unwrap();
        scripts.entry(namespace).or_default().push_back(script);
        drop(scripts);
        self
    }
}

impl NamespacedSource<ConfigMap> for Scripts {
    fn resource(&self) -> String {
        "configmaps".into()
    }

    fn in_namespace(&self, namespace: &str) -> Arc<dyn ListerWatcher<ConfigMap>> {
        let mut scripts = self.0.lock().unwrap();
        let script = scripts.get_mut(namespace).and_then(VecDeque::pop_front);
        Arc::new(script.unwrap_or_else(|| panic!("no script for {namespace}")))
    }
}

struct Scene {
    namespaces: NamespaceSet,
    informer: SharedInformer<ConfigMap>,
    told: Arc<Mutex<Vec<String>>>,
    stop: CancellationToken,
    running: JoinHandle<Result<(), RunError>>,
}

impl Scene {
    fn start<const N: usize>(namespaces: [&str; N], scripts: Scripts) -> Self {
        let namespaces = NamespaceSet::new(namespaces);
        let (informer, runner) = SharedInformer::over_namespaces(scripts, &namespaces).build();
        let told = Arc::<Mutex<Vec<String>>>::default();
        let record = told.clone();
        let handler = move |change: Notification<ConfigMap>| {
            record.lock().unwrap().push(format!("{change:?}"));
        };
        informer.add_handler("record", handler).unwrap().detach();
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        Self {
            namespaces,
            informer,
            told,
            stop,
            running,
        }
    }

    /// What the handler was told since the last time, sorted.
    async fn told(&self) -> Vec<String> {
        tokio::time::sleep(MOMENT).await;
        let mut told = std::mem::take(&mut *self.told.lock().unwrap());
        told.sort();
        told
    }

    fn keys(&self) -> Vec<String> {
        let mut keys: Vec<_> = self
            .informer
            .store()
            .list_keys()
            .iter()
            .map(ToString::to_string)
            .collect();
        keys.sort();
        keys
    }

    async fn end(self) {
        self.stop.cancel();
        self.running.await.unwrap().unwrap();
    }
}

fn quiet(version: u64, objects: Vec<(&'static str, u64)>) -> [(&'static str, Answer); 2] {
    let watch: &'static str = format!("WATCH {version}").leak();
    [("LIST any 500", List(version, objects)), (watch, Watch(vec![]))]
}

#[tokio::test(start_paused = true)]
async fn several_namespaces_are_one_collection() {
    let scripts = Scripts::default()
        .with("x", quiet(10, vec![("x/a", 1), ("x/b", 2)]))
        .with(
            "y",
            [
                ("LIST any 500", List(12, vec![("y/a", 3)])),
                (
                    "WATCH 12",
                    Watch(vec![After(Duration::from_secs(5)), Modified("y/a", 15)]),
                ),
            ],
        );
    let scene = Scene::start(["x", "y"], scripts);
    assert!(!scene.informer.has_synced());
    scene.informer.synced().await.unwrap();
    assert_eq!(scene.keys(), ["x/a", "x/b", "y/a"]);
    assert_eq!(
        scene.told().await,
        [
            "Add(x/a@1, initial)",
            "Add(x/b@2, initial)",
            "Add(y/a@3, initial)"
        ]
    );
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(scene.told().await, ["Update(y/a@3->15)"]);

    let status = scene.informer.status();
    assert_eq!((status.objects, status.synced), (3, true));
    assert_eq!(status.applied, Some(ResourceVersion::from(10)), "the lowest");
    let parts = status.partitions.iter().map(|part| {
        (
            part.namespace.as_deref().unwrap(),
            part.synced,
            part.applied.as_ref().unwrap().to_string(),
        )
    });
    assert_eq!(
        parts.collect::<Vec<_>>(),
        [("x", true, "10".to_owned()), ("y", true, "15".to_owned())]
    );
    assert_eq!(
        (status.reflector.phase, status.reflector.lists),
        (Phase::Watching, 2)
    );
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_added_namespace_is_listed_and_not_initial() {
    let scripts = Scripts::default()
        .with("x", quiet(10, vec![("x/a", 1)]))
        .with("y", [("LIST any 500", Hang)])
        .with("z", quiet(30, vec![("z/a", 3)]));
    let scene = Scene::start(["x"], scripts);
    scene.informer.synced().await.unwrap();
    let late = scene
        .informer
        .add_handler("late", |_: Notification<ConfigMap>| ())
        .unwrap();
    late.synced().await.unwrap();
    scene.told().await;

    assert!(scene.namespaces.add("z") && !scene.namespaces.add("z"));
    assert!(
        !scene.informer.has_synced(),
        "at once, whether the informer has noticed or not"
    );
    scene.informer.synced().await.unwrap();
    assert_eq!(scene.told().await, ["Add(z/a@3)"]);
    scene.namespaces.add("y");
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(
        !scene.informer.has_synced() && late.has_synced(),
        "what is initial for a handler is over"
    );
    assert_eq!(
        scene.informer.status().partitions[1].reflector.phase,
        Phase::Listing {
            received: 0,
            remaining: None
        }
    );
    scene.namespaces.remove("y");
    assert!(scene.informer.has_synced());
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_added_before_the_informer_has_synced_is_initial() {
    let scripts = Scripts::default()
        .with(
            "x",
            [
                ("LIST any 500", Error(status(500, "not yet"))),
                ("LIST any 500", List(10, vec![("x/a", 1)])),
                ("WATCH 10", Watch(vec![])),
            ],
        )
        .with("y", quiet(20, vec![("y/a", 2)]));
    let scene = Scene::start(["x"], scripts);
    tokio::time::sleep(MOMENT).await;
    scene.namespaces.add("y");
    assert_eq!(scene.told().await, ["Add(y/a@2, initial)"]);
    assert!(!scene.informer.has_synced());
    scene.informer.synced().await.unwrap();
    assert_eq!(scene.told().await, ["Add(x/a@1, initial)"]);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_removed_namespace_unselects_its_objects() {
    let scripts = Scripts::default()
        .with("x", quiet(10, vec![("x/a", 1), ("x/b", 2)]))
        .with("y", quiet(12, vec![("y/a", 3)]))
        .with("x", quiet(30, vec![("x/b", 2), ("x/c", 21)]));
    let scene = Scene::start(["x", "y"], scripts);
    scene.informer.synced().await.unwrap();
    scene.told().await;
    let index = scene
        .informer
        .store()
        .add_index("first", |object| object.metadata.name.clone())
        .unwrap();

    let part = scene.informer.partition(Some("x")).unwrap();
    scene.namespaces.remove("x");
    assert_eq!(
        scene.told().await,
        ["Delete(x/a@1, Unselected)", "Delete(x/b@2, Unselected)"]
    );
    assert_eq!(scene.keys(), ["y/a"]);
    assert_eq!(scene.informer.store().by_index(&index, "b").unwrap().len(), 0);
    assert!(scene.informer.has_synced());
    assert_eq!(scene.informer.partition(Some("x")), None);
    assert_eq!(
        scene.informer.store().resource_version(),
        Some(12.into()),
        "of what is left"
    );

    scene.namespaces.add("x");
    scene.informer.synced().await.unwrap();
    assert_eq!(scene.told().await, ["Add(x/b@2)", "Add(x/c@21)"]);
    assert_ne!(
        scene.informer.partition(Some("x")),
        Some(part),
        "a number means one part only"
    );
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn all_namespaces_and_some_of_them_take_turns() {
    let scripts = Scripts::default()
        .with("x", quiet(10, vec![("x/a", 1)]))
        .with("", quiet(20, vec![("x/a", 1), ("y/a", 2)]))
        .with("x", quiet(30, vec![("x/a", 1)]));
    let scene = Scene::start(["x"], scripts);
    scene.informer.synced().await.unwrap();
    scene.told().await;

    scene.namespaces.add("");
    assert!(!scene.informer.has_synced());
    scene.informer.synced().await.unwrap();
    assert_eq!(
        scene.told().await,
        ["Add(x/a@1)", "Add(y/a@2)", "Delete(x/a@1, Unselected)"]
    );
    let parts = scene.informer.status().partitions;
    assert_eq!((parts.len(), &parts[0].namespace), (1, &None));
    assert_eq!(scene.informer.partition(Some("y")), Some(parts[0].partition));

    scene.namespaces.remove("");
    scene.informer.synced().await.unwrap();
    assert_eq!(
        scene.told().await,
        [
            "Add(x/a@1)",
            "Delete(x/a@1, Unselected)",
            "Delete(y/a@2, Unselected)"
        ]
    );
    assert_eq!(
        (scene.keys(), scene.informer.partition(Some("y"))),
        (vec!["x/a".into()], None)
    );
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_that_comes_and_goes_unnoticed_is_none() {
    let scripts = Scripts::default().with("x", quiet(10, vec![("x/a", 1)]));
    let scene = Scene::start(["x"], scripts);
    scene.informer.synced().await.unwrap();
    scene.told().await;
    scene.namespaces.remove("x");
    scene.namespaces.add("x");
    assert!(scene.informer.has_synced());
    assert!(scene.told().await.is_empty());
    scene.namespaces.replace(["x"]);
    assert!(scene.told().await.is_empty());
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_namespace_stops_no_other_and_is_named() {
    let forbidden = || Error(status(403, "configmaps is forbidden"));
    let scripts = Scripts::default().with("x", quiet(10, vec![("x/a", 1)])).with(
        "secret",
        [
            ("LIST any 500", forbidden()),
            ("LIST any 500", forbidden()),
            ("LIST any 500", forbidden()),
        ],
    );
    let errors = Arc::<Mutex<Vec<_>>>::default();
    let record = errors.clone();
    let namespaces = NamespaceSet::new(["secret", "x"]);
    let (informer, runner) = SharedInformer::over_namespaces(scripts, &namespaces)
        .on_error(move |error| {
            record
                .lock()
                .unwrap()
                .push((error.resource.clone(), error.namespace.clone()))
        })
        .build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    let registration = informer
        .add_handler("test", |_: Notification<ConfigMap>| ())
        .unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!informer.has_synced());
    assert_eq!(informer.store().len(), 1, "what can be seen is there");
    let status = informer.status();
    assert!(!status.partitions[0].synced && status.partitions[1].synced);
    assert!(status.reflector.failures > 0, "the worst of all");
    let error = status.partitions[0].reflector.last_error.as_ref().unwrap();
    assert!(error.message.contains("configmaps is forbidden"));
    assert_eq!(
        errors.lock().unwrap()[0],
        ("configmaps".into(), Some("secret".into()))
    );

    namespaces.remove("secret");
    informer.synced().await.unwrap();
    registration.synced().await.unwrap();
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_relist_of_one_namespace_leaves_the_others_alone() {
    let scripts = Scripts::default()
        .with(
            "x",
            [
                ("LIST any 500", BadList(10, vec![("x/a", 1)], vec![Some("x/bad")])),
                (
                    "WATCH 10",
                    Watch(vec![After(Duration::from_secs(5)), Status(status_of(expired()))]),
                ),
                ("LIST 10 all", List(20, vec![("x/b", 15)])),
                ("WATCH 20", Watch(vec![])),
            ],
        )
        .with(
            "y",
            [
                ("LIST any 500", BadList(11, vec![("y/a", 2)], vec![Some("y/bad")])),
                ("WATCH 11", Watch(vec![])),
            ],
        );
    let scene = Scene::start(["x", "y"], scripts);
    scene.informer.synced().await.unwrap();
    let stale = || {
        scene
            .informer
            .store()
            .stale_keys()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(stale(), ["x/bad", "y/bad"]);
    scene.told().await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(scene.told().await, ["Add(x/b@15)", "Delete(x/a@1, Missed)"]);
    assert_eq!(stale(), ["y/bad"], "known to be bad still");
    scene.namespaces.remove("y");
    assert_eq!(scene.told().await, ["Delete(y/a@2, Unselected)"]);
    assert!(stale().is_empty());
    scene.end().await;
}

fn status_of(error: kube_informer::source::ApiError) -> kube_informer::source::ApiStatus {
    error.status().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn writes_are_read_where_they_were_made() {
    let scripts = Scripts::default()
        .with(
            "x",
            [
                ("LIST any 500", List(10, vec![("x/a", 1)])),
                (
                    "WATCH 10",
                    Watch(vec![
                        After(Duration::from_secs(5)),
                        Modified("x/a", 25),
                        Bookmark(30),
                    ]),
                ),
            ],
        )
        .with("slow", [("LIST any 500", Hang)]);
    let scene = Scene::start(["x", "slow"], scripts);
    tokio::time::sleep(MOMENT).await;
    let (store, version) = (scene.informer.store(), ResourceVersion::from(25));
    let part = scene.informer.partition(Some("x")).unwrap();
    let slow = scene.informer.partition(Some("slow")).unwrap();
    let early = store
        .wait_until(&version)
        .partition(part)
        .timeout(Duration::from_secs(1))
        .await;
    assert!(matches!(early, Err(WaitError::Timeout { .. })), "{early:?}");

    let writes = WriteTracker::new(scene.informer.clone());
    for key in ["x/a", "x/deleted", "slow/a", "elsewhere/a"] {
        writes.record(key.into(), version.clone());
    }
    assert!(!writes.caught_up("x/a") && !writes.caught_up("x/deleted") && !writes.caught_up("slow/a"));
    assert!(writes.caught_up("elsewhere/a"), "the cache will never tell of it");
    writes.wait("x/a").await.unwrap();
    assert_eq!(
        store.get("x/a").unwrap().metadata.resource_version.as_deref(),
        Some("25")
    );
    assert!(
        writes.caught_up("x/deleted") && !writes.caught_up("slow/a"),
        "each by its own namespace"
    );
    let all = store.wait_until(&version).timeout(Duration::from_secs(1)).await;
    assert!(
        matches!(all, Err(WaitError::Timeout { partition, .. }) if partition == slow),
        "{all:?}"
    );

    let waiting = {
        let writes = writes.clone();
        tokio::spawn(async move { writes.wait("slow/a").await })
    };
    let removed = {
        let (store, version) = (store.clone(), version.clone());
        tokio::spawn(async move { store.wait_until(&version).partition(slow).await })
    };
    tokio::time::sleep(MOMENT).await;
    scene.namespaces.remove("slow");
    assert_eq!(waiting.await.unwrap(), Ok(()));
    assert!(matches!(removed.await.unwrap(), Err(WaitError::Removed { .. })));
    assert_eq!(store.wait_until(&version).await, Ok(()));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_informer_over_no_namespaces_has_synced() {
    let scripts = Scripts::default().with("x", quiet(10, vec![("x/a", 1)]));
    let scene = Scene::start([], scripts);
    scene.informer.synced().await.unwrap();
    assert_eq!(
        (scene.keys().len(), scene.informer.status().partitions.len()),
        (0, 0)
    );
    scene.namespaces.add("x");
    scene.informer.synced().await.unwrap();
    assert_eq!(scene.told().await, ["Add(x/a@1)"]);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn every_task_ends_with_its_namespace_or_with_the_informer() {
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let mut scripts = Scripts::default().with("x", quiet(10, vec![("x/a", 1)]));
    for _ in 0..3 {
        scripts = scripts
            .with("y", quiet(20, vec![("y/a", 2)]))
            .with("hangs", [("LIST any 500", Hang)]);
    }
    let scene = Scene::start(["x"], scripts);
    scene.informer.synced().await.unwrap();
    let settled = before + 4;
    assert_eq!(
        metrics.num_alive_tasks(),
        settled,
        "the run, driver, reflector, and a handler"
    );
    for _ in 0..3 {
        scene.namespaces.replace(["x", "y", "hangs"]);
        tokio::time::sleep(MOMENT).await;
        assert_eq!(metrics.num_alive_tasks(), settled + 2);
        scene.namespaces.replace(["x"]);
        tokio::time::sleep(MOMENT).await;
        assert_eq!(metrics.num_alive_tasks(), settled);
    }
    let (informer, namespaces) = (scene.informer.clone(), scene.namespaces.clone());
    scene.end().await;
    assert_eq!(metrics.num_alive_tasks(), before);
    assert_eq!(
        informer.store().len(),
        1,
        "what was watched to the end stays readable"
    );
    assert!(informer.has_synced());
    namespaces.add("y");
    assert!(
        !informer.has_synced() && informer.synced().await.is_err(),
        "nobody follows any more"
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_of_a_namespace_that_was_not_asked_for_is_set_aside() {
    let scripts = Scripts::default().with("x", quiet(10, vec![("x/a", 1)])).with(
        "y",
        [
            ("LIST any 500", List(12, vec![("x/a", 1), ("y/a", 3)])),
            ("WATCH 12", Watch(vec![Deleted("x/a", 13), Added("x/b", 14)])),
        ],
    );
    let scene = Scene::start(["x", "y"], scripts);
    scene.informer.synced().await.unwrap();
    assert_eq!(scene.told().await, ["Add(x/a@1, initial)", "Add(y/a@3, initial)"]);
    let status = scene.informer.status();
    assert_eq!(status.reflector.invalid_objects, 3);
    let bad = status.partitions[1]
        .reflector
        .last_invalid_object
        .clone()
        .unwrap();
    assert_eq!(
        bad.to_string(),
        "(no key): x/b is of another namespace than was asked for"
    );
    scene.namespaces.remove("y");
    assert_eq!(scene.told().await, ["Delete(y/a@3, Unselected)"]);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_source_that_panics_ends_the_run_and_nobody_waits_for_ever() {
    let scene = Scene::start(["x"], Scripts::default().with("x", quiet(10, vec![])));
    scene.informer.synced().await.unwrap();
    scene.namespaces.add("unexpected");
    let error = scene.running.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the informer for configmaps failed: no script for unexpected"
    );
    assert!(scene.informer.synced().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn the_first_namespace_may_come_at_any_moment() {
    let namespaces = NamespaceSet::default();
    let scripts = Scripts::default().with("x", quiet(5, vec![("x/a", 4)]));
    let (informer, runner) = SharedInformer::over_namespaces(scripts, &namespaces).build();
    let stop = CancellationToken::new();
    let mut running = std::pin::pin!(runner.run(stop.clone()));
    assert!(futures::poll!(&mut running).is_pending());
    // Before anything has been processed.
    namespaces.add("x");
    assert!(futures::poll!(&mut running).is_pending());
    let synced = tokio::time::timeout(Duration::from_secs(60), informer.synced());
    let synced = async {
        let synced = synced.await;
        stop.cancel();
        synced
    };
    let (synced, ended) = tokio::join!(synced, running);
    assert_eq!(ended, Ok(()));
    assert!(synced.is_ok_and(|synced| synced.is_ok()));
    assert_eq!(informer.store().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn unshared_informers_watch_all_namespaces_once_too() {
    // No other script is there.
    let scripts = Scripts::default().with("", quiet(5, vec![("x/a", 4)]));
    let namespaces = NamespaceSet::new(["", "x"]);
    let informer =
        SharedInformer::over_namespaces(scripts, &namespaces).build_unshared(|_: Notification<ConfigMap>| {});
    assert_eq!(informer.status().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_nobodys_turn_to_list() {
    let broken = || Watch(vec![Added("x/a", 1), Close]);
    let pausing = Script::streaming([
        ("STREAM newest", broken()),
        ("STREAM newest", broken()),
        ("LIST any 500", Error(expired())),
        ("LIST newest 500", Page(10, vec![("x/a", 1)], "t1")),
        ("LIST newest 500 t1", Error(expired())),
        // It comes after a pause: four requests were sent already.
        ("LIST newest all", List(11, vec![("x/a", 1)])),
        ("WATCH 11", Watch(vec![])),
    ]);
    let scripts = Scripts::default().with("y", quiet(5, vec![("y/b", 4)]));
    scripts.0.lock().unwrap().insert("x", [pausing.clone()].into());
    let namespaces = NamespaceSet::new(["x"]);
    let (informer, runner) = SharedInformer::over_namespaces(scripts, &namespaces)
        .concurrent_lists(1)
        .build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    tokio::time::sleep(MOMENT).await;
    assert_eq!(pausing.requests().len(), 5);
    namespaces.add("y");
    tokio::time::sleep(MOMENT).await;
    assert!(informer.lister().get("y/b").is_ok());
    assert_eq!(pausing.requests().len(), 5);
    informer.synced().await.unwrap();
    assert!(pausing.is_over());
    stop.cancel();
    running.await.unwrap().unwrap();
}

/// Lists take a minute; it is counted how many are under way.
#[derive(Clone, Default)]
struct Slow {
    listing: Arc<Mutex<usize>>,
    most: Arc<Mutex<usize>>,
    watches: Arc<Mutex<usize>>,
}

impl NamespacedSource<ConfigMap> for Slow {
    fn resource(&self) -> String {
        "configmaps".into()
    }

    fn in_namespace(&self, _: &str) -> Arc<dyn ListerWatcher<ConfigMap>> {
        Arc::new(self.clone())
    }
}

impl ListerWatcher<ConfigMap> for Slow {
    fn resource(&self) -> String {
        "configmaps".into()
    }

    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<ConfigMap>, ApiError>> {
        let (listing, most) = (self.listing.clone(), self.most.clone());
        async move {
            *listing.lock().unwrap() += 1;
            let now = *listing.lock().unwrap();
            let highest = now.max(*most.lock().unwrap());
            *most.lock().unwrap() = highest;
            tokio::time::sleep(Duration::from_secs(60)).await;
            *listing.lock().unwrap() -= 1;
            let end = ListMeta {
                resource_version: Some("10".into()),
                ..Default::default()
            };
            Ok(stream::iter([Ok(ListPart::End(end))]).boxed())
        }
        .boxed()
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<ConfigMap>, ApiError>> {
        *self.watches.lock().unwrap() += 1;
        async { Ok(stream::pending().boxed()) }.boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn only_so_many_namespaces_are_listed_at_once() {
    // The number that may list at once, and how long ten lists of a minute take then.
    for (lists, most, minutes) in [(Some(4), 4, 3), (Some(0), 1, 10), (None, 10, 1)] {
        let source = Slow::default();
        let namespaces = (0..10).map(|number| format!("ns-{number}"));
        let namespaces = NamespaceSet::new(namespaces);
        let mut builder = SharedInformer::over_namespaces(source.clone(), &namespaces);
        if let Some(lists) = lists {
            builder = builder.concurrent_lists(lists);
        }
        let (informer, runner) = builder.build();
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        let started = tokio::time::Instant::now();
        informer.synced().await.unwrap();
        assert_eq!(started.elapsed().as_secs() / 60, minutes, "{lists:?}");
        tokio::time::sleep(MOMENT).await;
        assert_eq!(*source.most.lock().unwrap(), most, "{lists:?}");
        assert_eq!(*source.watches.lock().unwrap(), 10, "watches do not count");
        stop.cancel();
        running.await.unwrap().unwrap();
    }
}
