//! The cases of controller-runtime's consistent reads, on a cache that is a second behind, on a paused clock.

use super::state::Written;
use super::tracked_informer::Change;
use super::tracked_informer::{AnyCache, Lists};
use super::*;
use crate::controller::{Action, Controller};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use http::{Request, Response};
use http_body_util::{BodyExt as _, StreamBody};
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::Api;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube_informer::form::Packed;
use kube_informer::selector::ShardField;
use kube_informer::warm_start::WarmStart;
use kube_informer::{Notification, Partition, ResourceVersion, ShardSet, SharedInformerFactory};
use kube_sim::Sim;
use kube_sim::faults::{LIST, WATCH};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use tokio::time::{Instant, sleep};

const LAG: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(60);

/// A client of which the watches of config maps are late.
fn late(sim: &Sim) -> Client {
    let client = Client::new(sim.service(), "default");
    let service = tower::service_fn(move |request: Request<Body>| {
        let client = client.clone();
        async move {
            let uri = request.uri().to_string();
            let is_late = uri.contains("watch=true") && uri.contains("configmaps");
            let response = client.send(request).await?;
            // One change at a time is enough here.
            let body = |body: Body| {
                let next = move |mut body: Body| async move {
                    let frame = body.frame().await?;
                    if is_late {
                        sleep(LAG).await;
                    }
                    Some((frame, body))
                };
                stream::unfold(body, next)
            };
            let body = |from: Body| StreamBody::new(body(from).boxed());
            Ok::<Response<_>, kube::Error>(response.map(body))
        }
    });
    Client::new(service, "default")
}

struct Scene {
    sim: Sim,
    writes: OwnWrites,
    maps: SharedInformer<ConfigMap>,
    cache: TrackedInformer,
    api: Api<ConfigMap>,
    nodes: Api<Node>,
    run: ReconcileKey,
}

impl Scene {
    async fn new() -> Self {
        Self::over(None).await
    }

    async fn over(shards: Option<ShardSet>) -> Self {
        let sim = Sim::builder().build().unwrap();
        let mut factory = SharedInformerFactory::builder(late(&sim));
        if let Some(shards) = shards {
            factory = factory.shards(&shards);
        }
        let factory = factory.build();
        let (maps, nodes) = (factory.informer::<ConfigMap>(), factory.informer::<Node>());
        let writes = OwnWrites::new();
        let cache = writes.track(&maps);
        writes.track(&nodes);
        factory.start();
        factory.wait_for_sync(LONG).await.unwrap();
        let client = writes.client(Client::new(sim.service(), "default"));
        let run = ReconcileKey::new("test", "ns/owner");
        Self {
            sim,
            writes,
            maps,
            cache,
            api: Api::namespaced(client.clone(), "default"),
            nodes: Api::all(client),
            run,
        }
    }

    fn create(&self, name: &str, finalizers: &[&str]) {
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "default", "finalizers": finalizers},
        });
        self.sim.store().create(map).unwrap();
    }

    /// Makes a write as the run, sees that it is not in the cache, and waits until it is.
    async fn awaits<T>(&self, write: impl Future<Output = kube::Result<T>>) -> T {
        let written = self.writes.scope(&self.run, write).await.unwrap();
        assert!(!self.writes.caught_up(&self.run));
        let began = Instant::now();
        self.writes.wait(&self.run, LONG).await.unwrap();
        assert!(began.elapsed() > LAG / 2, "{:?}", began.elapsed());
        assert!(self.writes.caught_up(&self.run));
        written
    }

    /// A create by the run.
    async fn create_as(&self, run: &ReconcileKey, name: &str) -> kube::Result<ConfigMap> {
        let (params, map) = (PostParams::default(), map(name, "1"));
        self.writes.scope(run, self.api.create(&params, &map)).await
    }

    /// What is told of the changes from now on: whose key it is, and the change.
    fn tells(&self) -> Arc<Mutex<Vec<String>>> {
        let told = Arc::new(Mutex::new(Vec::new()));
        let (cache, run, tell) = (self.cache.clone(), self.run.clone(), told.clone());
        let handler = move |change: Notification<ConfigMap>| {
            for run in [run.clone(), ReconcileKey::new("test", "ns/other")] {
                let (what, tell) = (format!("{} {change:?}", run.key.name()), tell.clone());
                let what = what.split('@').next().unwrap().replace("default/", "");
                cache.unless_own(&run, &change, move || tell.lock().unwrap().push(what));
            }
        };
        self.maps.add_handler("test", handler).unwrap().detach();
        told
    }

    /// The cache's `data.k` of an object.
    fn held(&self, name: &str) -> Option<String> {
        let map = self.maps.store().get(&format!("default/{name}"))?;
        map.data.as_ref()?.get("k").cloned()
    }
}

/// What was told, when the cache has caught up.
async fn after_lag(told: &Mutex<Vec<String>>) -> Vec<String> {
    sleep(LAG * 3).await;
    std::mem::take(&mut *told.lock().unwrap())
}

fn map(name: &str, value: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.into());
    map.data = Some([("k".into(), value.into())].into());
    map
}

fn merge(value: Value) -> Patch<Value> {
    Patch::Merge(value)
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_reads_what_the_one_before_it_wrote() {
    // Case 119.
    let scene = Scene::new().await;
    let (api, params) = (&scene.api, PatchParams::default());
    let created = scene
        .awaits(api.create(&PostParams::default(), &map("a", "1")))
        .await;
    assert_eq!(scene.held("a").unwrap(), "1");
    let mut next = map("a", "2");
    next.metadata.resource_version = created.metadata.resource_version;
    scene
        .awaits(api.replace("a", &PostParams::default(), &next))
        .await;
    assert_eq!(scene.held("a").unwrap(), "2");
    scene
        .awaits(api.patch("a", &params, &merge(json!({"data": {"k": "3"}}))))
        .await;
    assert_eq!(scene.held("a").unwrap(), "3");
    let label = merge(json!({"metadata": {"labels": {"l": "v"}}}));
    scene.awaits(api.patch_metadata("a", &params, &label)).await;
    assert!(
        scene
            .maps
            .store()
            .get("default/a")
            .unwrap()
            .metadata
            .labels
            .is_some()
    );
    scene.awaits(api.delete("a", &DeleteParams::default())).await;
    assert!(!scene.maps.store().contains("default/a"));

    scene.create("b", &[]);
    scene.create("c", &["a/b"]);
    sleep(LAG * 3).await;
    scene
        .awaits(api.delete_collection(&DeleteParams::default(), &ListParams::default()))
        .await;
    assert!(!scene.maps.store().contains("default/b"));
}

#[tokio::test(start_paused = true)]
async fn what_was_created_in_some_shard_is_waited_for() {
    let shards = ShardSet::new(ShardField::Uid, 4);
    shards.add(0..4);
    let scene = Scene::over(Some(shards.clone())).await;
    let create = async |name: &'static str| {
        let (params, map) = (PostParams::default(), map(name, "1"));
        scene.awaits(scene.api.create(&params, &map)).await
    };
    create("a").await;
    assert_eq!(scene.held("a").unwrap(), "1");

    // Without any shard, the cache sees nothing.
    scene.create_as(&scene.run, "b").await.unwrap();
    let waits = tokio::spawn({
        let (writes, run) = (scene.writes.clone(), scene.run.clone());
        async move { writes.wait(&run, LONG).await }
    });
    tokio::task::yield_now().await;
    shards.remove(0..4);
    let waited = tokio::time::timeout(LAG / 2, waits).await;
    waited.expect("it ends with the last shard").unwrap().unwrap();
    assert!(scene.writes.caught_up(&scene.run));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_a_finalizer_holds_up_is_seen_as_marked() {
    // Case 122.
    let scene = Scene::new().await;
    scene.create("a", &["a/b"]);
    sleep(LAG * 2).await;
    scene
        .awaits(scene.api.delete("a", &DeleteParams::default()))
        .await;
    let held = scene.maps.store().get("default/a").unwrap();
    assert!(held.metadata.deletion_timestamp.is_some());
    // To remove the last finalizer deletes it.
    let finalizers = merge(json!({"metadata": {"finalizers": null}}));
    scene
        .awaits(scene.api.patch("a", &PatchParams::default(), &finalizers))
        .await;
    assert!(!scene.maps.store().contains("default/a"));
}

#[tokio::test(start_paused = true)]
async fn what_was_not_written_is_not_waited_for() {
    // Case 121.
    let scene = Scene::new().await;
    scene.create("a", &[]);
    sleep(LAG * 2).await;
    let (again, dry) = (
        PostParams::default(),
        PostParams {
            dry_run: true,
            ..PostParams::default()
        },
    );
    let failed = scene
        .writes
        .scope(&scene.run, scene.api.create(&again, &map("a", "1")))
        .await;
    failed.unwrap_err();
    scene
        .writes
        .scope(&scene.run, scene.api.create(&dry, &map("b", "1")))
        .await
        .unwrap();
    scene.writes.scope(&scene.run, scene.api.get("a")).await.unwrap();
    assert!(scene.writes.caught_up(&scene.run));
}

#[tokio::test(start_paused = true)]
async fn a_later_write_does_not_hold_up_an_earlier_wait() {
    // Case 120.
    for in_scope in [true, false] {
        let scene = Scene::new().await;
        let write = |name: &'static str| {
            let (writes, run, api) = (scene.writes.clone(), scene.run.clone(), scene.api.clone());
            async move {
                let map = map(name, "1");
                let options = PostParams::default();
                let create = api.create(&options, &map);
                let created = match in_scope {
                    true => writes.scope(&run, create).await,
                    false => create.await,
                };
                created.unwrap();
            }
        };
        write("a").await;
        let (writes, run) = (scene.writes.clone(), scene.run.clone());
        let waits = tokio::spawn(async move { writes.wait(&run, LONG).await });
        sleep(LAG / 2).await;
        write("b").await;
        sleep(LAG * 3 / 4).await;
        assert!(waits.is_finished() && scene.held("b").is_none());
        assert!(!scene.writes.caught_up(&scene.run));
    }
}

#[tokio::test(start_paused = true)]
async fn the_cache_of_another_kind_may_lag_alone() {
    // Case 124.
    let scene = Scene::new().await;
    let mut node = Node::default();
    node.metadata.name = Some("n".into());
    scene
        .writes
        .scope(&scene.run, scene.nodes.create(&PostParams::default(), &node))
        .await
        .unwrap();
    scene
        .writes
        .wait(&scene.run, LAG / 10)
        .await
        .expect("nodes are not late");
    scene.create_as(&scene.run, "a").await.unwrap();
    let error = scene.writes.wait(&scene.run, LAG / 10).await.unwrap_err();
    let expected = "the cache of configmaps has not seen the own write of default/a within 100ms";
    assert_eq!(error.to_string(), expected);
    let other = ReconcileKey::new("test", "ns/other");
    assert!(scene.writes.caught_up(&other), "it has not written it");
    scene.writes.wait(&scene.run, LONG).await.unwrap();
    // A task of its own is nobody's run.
    scene
        .api
        .create(&PostParams::default(), &map("b", "1"))
        .await
        .unwrap();
    assert!(!scene.writes.caught_up(&other));
}

#[tokio::test(start_paused = true)]
async fn writes_for_keys_that_are_gone_are_forgotten() {
    // Case 125.
    let scene = Scene::new().await;
    for number in 0..300 {
        let run = ReconcileKey::new("test", format!("ns/{number}").as_str());
        scene.create_as(&run, &format!("map-{number}")).await.unwrap();
        sleep(LAG * 2).await;
    }
    assert!(
        scene.writes.lock().remembered() <= 64,
        "{}",
        scene.writes.lock().remembered()
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_by_oneself_is_told_from_others() {
    let scene = Scene::new().await;
    let told = scene.tells();
    let told = async || after_lag(&told).await;
    let (api, params) = (&scene.api, PatchParams::default());
    let created = scene.create_as(&scene.run, "a").await.unwrap();
    assert_eq!(told().await, ["other Add(a"]);
    let version = created.metadata.resource_version;
    let patch = merge(json!({"metadata": {"resourceVersion": version}, "data": {"k": "2"}}));
    scene
        .writes
        .scope(&scene.run, api.patch("a", &params, &patch))
        .await
        .unwrap();
    assert_eq!(told().await, ["other Update(a"]);
    let patch = merge(json!({"data": {"k": "2"}}));
    // It changes nothing, so nothing is told, and later changes are told all the same.
    scene
        .writes
        .scope(&scene.run, api.patch("a", &params, &patch))
        .await
        .unwrap();
    let patch = merge(json!({"data": {"k": "3"}}));
    scene
        .writes
        .scope(&scene.run, with_echo(api.patch("a", &params, &patch)))
        .await
        .unwrap();
    assert_eq!(told().await, ["owner Update(a", "other Update(a"]);
    let patch = merge(json!({"data": {"k": "4"}}));
    let spawned = tokio::spawn({
        let (api, params) = (api.clone(), params.clone());
        async move { api.patch("a", &params, &patch).await }
    });
    spawned.await.unwrap().unwrap();
    assert_eq!(told().await, ["owner Update(a", "other Update(a"]);
    scene
        .writes
        .scope(&scene.run, api.delete("a", &DeleteParams::default()))
        .await
        .unwrap();
    assert_eq!(told().await, ["other Delete(a"]);
}

#[tokio::test(start_paused = true)]
async fn a_relist_of_shards_hides_no_change_behind_an_echo() {
    let shards = ShardSet::new(ShardField::Uid, 4);
    shards.add(0..4);
    let scene = Scene::over(Some(shards)).await;
    scene.create("a", &[]);
    let told = scene.tells();
    after_lag(&told).await;
    let faults = scene.sim.faults();
    let held = faults.hold_watches_of("configmaps").start();
    let mut changed = scene
        .sim
        .store()
        .get("v1", "ConfigMap", Some("default"), "a")
        .unwrap();
    changed["data"] = json!({"k": "theirs"});
    let changed = scene.sim.store().update(changed).unwrap();
    let version = &changed["metadata"]["resourceVersion"];
    let patch = merge(json!({"metadata": {"resourceVersion": version, "labels": {"l": "ours"}}}));
    let params = PatchParams::default();
    let patch = scene.api.patch("a", &params, &patch);
    scene.writes.scope(&scene.run, patch).await.unwrap();
    faults.restart();
    held.remove();
    sleep(LONG).await;
    assert_eq!(scene.held("a").unwrap(), "theirs");
    assert_eq!(after_lag(&told).await, ["owner Update(a", "other Update(a"]);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_changes_nothing_hides_no_change() {
    let scene = Scene::new().await;
    scene.create("a", &["a/b"]);
    let told = scene.tells();
    after_lag(&told).await;
    let store = scene.sim.store();
    store.delete("v1", "ConfigMap", Some("default"), "a").unwrap();
    let same = merge(json!({"metadata": {"finalizers": ["a/b"]}}));
    let params = PatchParams::default();
    let patch = scene.api.patch("a", &params, &same);
    let patched = scene.writes.scope(&scene.run, patch).await.unwrap();
    assert!(patched.metadata.deletion_timestamp.is_some());
    assert!(!scene.writes.caught_up(&scene.run), "it is waited for");
    assert_eq!(after_lag(&told).await, ["owner Update(a", "other Update(a"]);
}

#[tokio::test(start_paused = true)]
async fn an_own_deletion_that_only_marks_is_told() {
    let scene = Scene::new().await;
    scene.create("a", &["a/b"]);
    let told = scene.tells();
    after_lag(&told).await;
    scene
        .awaits(scene.api.delete("a", &DeleteParams::default()))
        .await;
    assert_eq!(after_lag(&told).await, ["owner Update(a", "other Update(a"]);
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_has_stopped_is_let_go() {
    let writes = OwnWrites::new();
    let mut objects = Vec::new();
    for _ in 0..3 {
        let sim = Sim::builder().build().unwrap();
        let client = Client::new(sim.service(), "default");
        let (api, own) = (Api::default_namespaced(client.clone()), Api::all(client));
        api.create(&PostParams::default(), &map("a", "1")).await.unwrap();
        let controller = Controller::<ConfigMap>::new(own, Default::default()).read_your_writes(&writes);
        let store = controller.store();
        let results = controller.run(
            async |_, _| Ok::<_, kube::Error>(Action::await_change()),
            |_, _, _| Action::await_change(),
            Arc::new(()),
        );
        // It has reconciled, and is dropped.
        std::pin::pin!(results).next().await.unwrap().unwrap();
        objects.push(Arc::downgrade(&store.state()[0]));
    }
    let kept = async || {
        sleep(LAG).await;
        let kept = objects.iter().filter(|object| object.strong_count() > 0);
        kept.count()
    };
    assert_eq!(kept().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_cache_makes_room_for_the_next() {
    let (sim, writes) = (Sim::builder().build().unwrap(), OwnWrites::new());
    for _ in 0..3 {
        let factory = SharedInformerFactory::new(Client::new(sim.service(), "default"));
        writes.track(&factory.informer::<ConfigMap>());
        factory.start();
        factory.shutdown().await.unwrap();
    }
    assert_eq!(writes.lock().caches_of("configmaps", None).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_wait_can_be_without_end() {
    let scene = Scene::new().await;
    scene.create_as(&scene.run, "a").await.unwrap();
    scene.writes.wait(&scene.run, Duration::MAX).await.unwrap();
    assert!(scene.held("a").is_some());
}

/// A cache that is as a test says, and counts how often it is asked.
#[derive(Default)]
struct Fake {
    lists: AtomicU64,
    has_seen_all: AtomicBool,
    asked: AtomicUsize,
}

impl AnyCache for Fake {
    fn resource(&self) -> &str {
        "maps"
    }

    fn is_stopped(&self) -> bool {
        false
    }

    fn record(&self, _: ObjectKey, _: ResourceVersion) {}

    fn record_deletion(&self, _: ObjectKey, _: &str) {}

    fn caught_up(&self, _: &str) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.has_seen_all.load(Ordering::SeqCst)
    }

    fn wait<'a>(&'a self, _: &'a ObjectKey) -> BoxFuture<'a, ()> {
        async {
            while !self.has_seen_all.load(Ordering::SeqCst) {
                sleep(LAG).await;
            }
        }
        .boxed()
    }

    fn lists(&self, _: Option<&str>) -> Lists {
        vec![(Partition::SINGLE, self.lists.load(Ordering::SeqCst))]
    }

    fn is_refused(&self, _: Option<&str>) -> bool {
        false
    }
}

/// Every run waits for what was written outside of any scope, so that must not cost as much as both together.
#[tokio::test(start_paused = true)]
async fn many_runs_wait_for_many_writes_of_others() {
    const MANY: usize = 1000;
    let (writes, cache) = (OwnWrites::new(), Arc::new(Fake::default()));
    writes.lock().add(cache.clone());
    for number in 0..MANY {
        let written = Written {
            key: format!("ns/{number}").into(),
            uid: "u".into(),
            version: Some(7.into()),
            created: false,
            proven: true,
            gone: false,
        };
        let mut state = writes.lock();
        let lists = state.caches_of("maps", None);
        state.note(&lists, &written, None, false);
        state.note(&lists, &written, None, false);
        assert_eq!(state.remembered(), number + 1);
    }
    cache.asked.store(0, Ordering::SeqCst);
    let runs = (0..MANY).map(|number| ReconcileKey::new("test", format!("ns/{number}")));
    let waits: Vec<_> = runs
        .map(|run| {
            assert!(!writes.caught_up(&run));
            let writes = writes.clone();
            tokio::spawn(async move { writes.wait(&run, LONG).await })
        })
        .collect();
    sleep(LAG).await;
    assert!(waits.iter().all(|wait| !wait.is_finished()));
    cache.has_seen_all.store(true, Ordering::SeqCst);
    for wait in waits {
        wait.await.unwrap().unwrap();
    }
    assert!(writes.caught_up(&ReconcileKey::new("test", "ns/0")));
    assert_eq!(writes.lock().remembered(), 0);
    let asked = cache.asked.load(Ordering::SeqCst);
    assert!(asked < 5 * MANY, "{asked}");
}

/// What a change leads to.
#[derive(Debug, PartialEq)]
enum Told {
    AtOnce,
    Later,
    Never,
}

#[test]
fn a_relist_hides_no_change_behind_an_echo() {
    let mut state = State::default();
    let cache = Arc::new(Fake::default());
    state.add(cache.clone());
    let run = ReconcileKey::new("test", "ns/owner");
    let mut told = |version: u64, created: bool, lists: u64| {
        let before = state.caches_of("maps", None);
        let written = Written {
            key: "ns/a".into(),
            uid: "u".into(),
            version: Some(version.into()),
            created,
            proven: true,
            gone: false,
        };
        state.note(&before, &written, Some(&run), false);
        cache.lists.fetch_add(lists, Ordering::SeqCst);
        let change = Change {
            cache: 0,
            uid: "u".into(),
            version: version.into(),
            deleted: false,
            lists: cache.lists(None),
        };
        state.unless_echo(&run, change, || ()).is_some()
    };
    assert!(!told(7, false, 0));
    assert!(told(8, false, 1), "something else may have changed before");
    assert!(!told(9, true, 1), "nothing was before");
}

#[test]
fn a_change_that_outruns_the_answer_waits_for_the_run() {
    let mut state = State::default();
    state.add(Arc::new(Fake::default()));
    let run = ReconcileKey::new("test", "ns/owner");
    let lists = state.caches_of("maps", None);
    let change = |version: u64| Change {
        cache: 0,
        uid: "u".into(),
        version: version.into(),
        deleted: false,
        lists: lists[0].1.clone(),
    };
    let told = |state: &mut State, version: u64, called: &Arc<Mutex<Vec<u64>>>| {
        let called = called.clone();
        let enqueue = move || called.lock().unwrap().push(version);
        match state.unless_echo(&run, change(version), enqueue) {
            Some(enqueue) => {
                enqueue();
                Told::AtOnce
            }
            None if state.is_active(&run) => Told::Later,
            None => Told::Never,
        }
    };
    let called = Arc::default();
    state.begin(&run);
    assert_eq!(told(&mut state, 7, &called), Told::Later);
    assert_eq!(told(&mut state, 8, &called), Told::Later);
    let written = Written {
        key: "ns/a".into(),
        uid: "u".into(),
        version: Some(7.into()),
        created: false,
        proven: true,
        gone: false,
    };
    state.note(&lists, &written, Some(&run), false);
    for enqueue in state.end(&run) {
        enqueue();
    }
    assert_eq!(*called.lock().unwrap(), [8], "that is another's");
    assert_eq!(told(&mut state, 9, &called), Told::AtOnce);
}

/// A factory, and a cache of config maps that it has not started; with what an earlier run has saved, if that is given.
fn refused_later(
    sim: &Sim,
    saved: Option<&std::path::Path>,
) -> (SharedInformerFactory, SharedInformer<Packed<ConfigMap>>) {
    let mut factory = SharedInformerFactory::builder(Client::new(sim.service(), "default"));
    if let Some(directory) = saved {
        factory = factory.warm_start(WarmStart::in_directory(directory));
    }
    let factory = factory.build();
    let maps = factory.informer();
    (factory, maps)
}

/// A run that has created a config map.
async fn a_run_that_creates(sim: &Sim, writes: &OwnWrites) -> ReconcileKey {
    let run = ReconcileKey::new("test", "ns/owner");
    let api = Api::default_namespaced(writes.client(Client::new(sim.service(), "default")));
    let (params, map) = (PostParams::default(), map("a", "1"));
    writes.scope(&run, api.create(&params, &map)).await.unwrap();
    run
}

// It has been listed by an earlier run of the program, so it is as good as one that was listed by this run.
#[tokio::test(start_paused = true)]
async fn a_restored_cache_that_is_refused_later_is_waited_for() {
    let sim = Sim::builder().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let (first, maps) = refused_later(&sim, Some(directory.path()));
    let kept = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept", "namespace": "default"}});
    sim.store().create(kept).unwrap();
    first.start();
    maps.synced().await.unwrap();
    first.shutdown().await.unwrap();

    let (second, maps) = refused_later(&sim, Some(directory.path()));
    let writes = OwnWrites::new();
    writes.track(&maps);
    second.start();
    second.wait_for_sync(LONG).await.unwrap();
    assert_eq!(maps.status().reflector.lists, 0, "it was restored");
    sim.faults().refuse(LIST | WATCH, "configmaps", 403);
    sim.faults().cut_watches::<ConfigMap>();
    while !maps.status().reflector.is_refused() {
        sleep(LAG).await;
    }
    let run = a_run_that_creates(&sim, &writes).await;
    assert!(!writes.caught_up(&run));
    writes.wait(&run, LONG).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_when_the_cache_is_refused() {
    let sim = Sim::builder().build().unwrap();
    let (factory, maps) = refused_later(&sim, None);
    let writes = OwnWrites::new();
    writes.track(&maps);
    sim.faults().delay(LIST | WATCH, "configmaps", LAG);
    sim.faults().refuse(LIST | WATCH, "configmaps", 403);
    factory.start();
    let run = a_run_that_creates(&sim, &writes).await;
    assert!(!writes.caught_up(&run), "the server has not answered yet");
    let began = Instant::now();
    writes.wait(&run, LONG).await.unwrap();
    assert!(began.elapsed() < 5 * LAG, "{:?}", began.elapsed());
}
