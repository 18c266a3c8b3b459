//! Informers over shards: one view of the objects whose uid or namespace has a hash in some ranges.

use instances as _;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Client;
use kube::core::ApiResource;
use kube_informer::form::{Decode, Packed};
use kube_informer::informer::InformerRunner;
use kube_informer::selector::{HashRange, ShardField, ShardSelector};
use kube_informer::source::{ClientSource, Selection};
use kube_informer::warm_start::{Start, WarmStart};
use kube_informer::{
    CachedObject, DeleteCause, Delivery, HandlerOptions, InformerRequest, Notification, ShardSet,
    SharedInformer, SharedInformerFactory,
};
use kube_sim::Sim;
use kube_sim::faults::ANY;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const SHARDS: u16 = 8;

/// A cluster, and an informer over some shards of its ConfigMaps.
struct Scene<O: CachedObject = ConfigMap> {
    sim: Sim,
    shards: ShardSet,
    informer: SharedInformer<O>,
    told: Arc<Mutex<Vec<Notification<O>>>>,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

fn sim(sharded: bool) -> Sim {
    let sim = Sim::builder().sharded_lists(sharded).build().unwrap();
    for number in 0..60 {
        create(&sim, number);
    }
    sim
}

fn create(sim: &Sim, number: u32) {
    let name = format!("m-{number:03}");
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"},
    });
    sim.store().create(object).unwrap();
}

/// Creates a ConfigMap and a Secret in a namespace.
fn create_in(sim: &Sim, namespace: &str) {
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    sim.store().create(space).unwrap();
    for kind in ["ConfigMap", "Secret"] {
        let metadata = json!({"name": "a", "namespace": namespace});
        let object = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata});
        sim.store().create(object).unwrap();
    }
}

fn source(sim: &Sim, selection: Selection) -> ClientSource {
    let client = Client::new(sim.service(), "default");
    ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), selection)
}

impl Scene {
    fn start(sim: Sim, shards: ShardSet) -> Self {
        let (informer, runner) =
            SharedInformer::over_shards(source(&sim, Selection::default()), &shards).build();
        Self::run(sim, shards, informer, runner)
    }
}

impl<O: CachedObject> Scene<O> {
    fn run(sim: Sim, shards: ShardSet, informer: SharedInformer<O>, runner: InformerRunner<O>) -> Self
    where
        O: Decode,
    {
        let told = Arc::<Mutex<Vec<_>>>::default();
        let record = told.clone();
        let handler = move |change: Notification<O>| record.lock().unwrap().push(change);
        informer.add_handler("record", handler).unwrap().detach();
        let stop = CancellationToken::new();
        let run = runner.run(stop.clone());
        let running = tokio::spawn(async move { run.await.unwrap() });
        Self {
            sim,
            shards,
            informer,
            told,
            stop,
            running,
        }
    }

    /// The keys of the cluster's objects in the shards of the set.
    fn expected(&self) -> BTreeSet<String> {
        let objects = self.sim.store().list("v1", "ConfigMap", Some("default")).unwrap();
        let selected = self.shards.shards();
        let text = |object: &Value, field: &str| object["metadata"][field].as_str().unwrap().to_owned();
        let of_shards = objects.iter().filter(|object| {
            let shard = self.shards.shard_of(Some(&text(object, "uid")), Some("default"));
            selected.contains(&shard)
        });
        of_shards
            .map(|object| format!("default/{}", text(object, "name")))
            .collect()
    }

    fn held(&self) -> BTreeSet<String> {
        let keys = self.informer.store().list_keys();
        keys.iter().map(ToString::to_string).collect()
    }

    async fn settled(&self) {
        for _ in 0..600 {
            if self.informer.has_synced() && self.held() == self.expected() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let status = self.informer.status();
        panic!("{:?} is held, not {:?}: {status:?}", self.held(), self.expected());
    }

    fn told(&self) -> Vec<Notification<O>> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }

    async fn end(self) {
        self.stop.cancel();
        self.running.await.unwrap();
    }
}

fn set(field: ShardField, shards: impl IntoIterator<Item = u16>) -> ShardSet {
    let set = ShardSet::new(field, SHARDS);
    set.add(shards);
    set
}

#[tokio::test(start_paused = true)]
async fn only_objects_of_the_selected_shards_are_held() {
    for sharded in [true, false] {
        let scene = Scene::start(sim(sharded), set(ShardField::Uid, [1, 2, 7]));
        scene.settled().await;
        assert!(!scene.held().is_empty() && scene.held().len() < 60);
        (60..90).for_each(|number| create(&scene.sim, number));
        scene.settled().await;
        for number in 0..90 {
            let name = format!("m-{number:03}");
            scene
                .sim
                .store()
                .delete("v1", "ConfigMap", Some("default"), &name)
                .unwrap();
        }
        scene.settled().await;
        assert!(scene.held().is_empty());
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_plain_informer_can_be_of_some_ranges() {
    let shards = ShardSelector::new(ShardField::Uid, HashRange::equal(2).take(1));
    for sharded in [true, false] {
        let sim = sim(sharded);
        let selection = Selection {
            shards: Some(shards.clone()),
            ..Selection::default()
        };
        let (informer, runner) = SharedInformer::<ConfigMap>::builder(source(&sim, selection)).build();
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        informer.synced().await.unwrap();
        let held = informer.store().snapshot();
        assert!(!held.is_empty() && held.len() < 60);
        for object in held.iter() {
            assert!(shards.matches(object.metadata.uid.as_deref(), None));
        }
        stop.cancel();
        running.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn added_shards_are_listed_and_others_stay() {
    let scene = Scene::start(sim(true), set(ShardField::Uid, [0, 1]));
    scene.settled().await;
    let before = scene.told().len();
    assert_eq!(before, scene.held().len());
    scene.shards.add([3, 4]);
    assert!(!scene.informer.has_synced());
    scene.settled().await;
    // Each object was told once.
    assert_eq!(scene.told().len(), scene.held().len() - before);
    let partitions = scene.informer.status().partitions;
    let shards: Vec<_> = partitions
        .iter()
        .flat_map(|partition| &partition.shards)
        .collect();
    assert_eq!(shards.len(), 2);
    assert_eq!(shards[0].ranges().len(), 1, "shards that touch are one range");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn removed_shards_leave_without_a_request() {
    let scene = Scene::start(sim(true), set(ShardField::Uid, [0, 1, 5]));
    scene.settled().await;
    scene.told();
    let lists = scene.informer.status().reflector.lists;
    let before = scene.held();
    assert!(scene.shards.is_held(5), "the informer holds its shards");
    scene.shards.remove([1, 5]);
    scene.shards.idle(1).await;
    scene.shards.idle(5).await;
    assert_eq!(scene.held(), scene.expected(), "idle after its objects are gone");
    scene.settled().await;
    let gone: BTreeSet<_> = scene
        .told()
        .into_iter()
        .map(|change| match change {
            Notification::Delete(deleted) => {
                assert_eq!(deleted.cause, DeleteCause::Unselected);
                deleted.key.to_string()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(gone, &before - &scene.held());
    assert_eq!(scene.informer.status().reflector.lists, lists);
    // The watch goes on for what is left, and asks for no more.
    (60..80).for_each(|number| create(&scene.sim, number));
    scene.settled().await;
    let asked = &scene.informer.status().partitions[0].shards;
    assert_eq!(asked.as_ref().unwrap().ranges(), &scene.shards.ranges());
    scene.shards.remove([0]);
    scene.shards.idle(0).await;
    assert!(scene.informer.store().is_empty());
    scene.end().await;
}

// What works on a shard that is given up goes on, and must find what it has made before.
#[tokio::test(start_paused = true)]
async fn objects_of_a_removed_shard_stay_while_it_is_worked_on() {
    let scene = Scene::start(sim(true), set(ShardField::Uid, 0..SHARDS));
    scene.settled().await;
    let (before, object) = (scene.held(), scene.informer.store().list().remove(0));
    scene.told();
    let uid = object.metadata.uid.clone();
    let (uid, namespace) = (uid.as_deref(), Some("default"));
    let work = scene.shards.hold(uid, namespace).unwrap();
    let another = scene.shards.hold(uid, namespace).unwrap();
    let shard = work.shard();
    scene.shards.remove([shard]);
    drop(another);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(scene.held(), before);
    assert!(scene.informer.has_synced_for(namespace, uid));
    // Its changes come, too.
    (60..100).for_each(|number| create(&scene.sim, number));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(scene.held().len(), 100);
    drop(work);
    scene.shards.idle(shard).await;
    assert_eq!(scene.held(), scene.expected(), "idle after its objects are gone");
    assert!(scene.held().len() < 100);
    scene.shards.add([shard]);
    scene.settled().await;
    assert_eq!(scene.held().len(), 100);

    // Nor are they gone if the shard comes back meanwhile.
    scene.told();
    let work = scene.shards.hold(uid, namespace).unwrap();
    scene.shards.remove([shard]);
    scene.shards.add([shard]);
    drop(work);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(scene.told().len(), 0);
    scene.end().await;
}

// Whoever holds a shard must not be told that an informer has it that has not even looked.
#[tokio::test(start_paused = true)]
async fn a_shard_that_work_holds_is_synced_when_it_is_listed() {
    let scene = Scene::start(sim(true), set(ShardField::Namespace, []));
    scene.informer.synced().await.unwrap();
    let (home, namespace) = (scene.shards.shard_of(None, Some("default")), Some("default"));
    scene.shards.add([home]);
    let work = scene.shards.hold(None, namespace).unwrap();
    scene.shards.remove([home]);
    assert!(!scene.informer.has_synced_for(namespace, None));
    assert_eq!(
        scene.informer.unsynced().len(),
        1,
        "the shard that is not watched yet is named"
    );
    scene.informer.synced_for(namespace, None).await.unwrap();
    assert_eq!(scene.held().len(), 60);
    drop(work);
    scene.shards.idle(home).await;
    assert!(scene.held().is_empty());
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_stopped_informer_holds_no_shard() {
    let scene = Scene::start(sim(true), set(ShardField::Uid, [0]));
    scene.settled().await;
    let shards = scene.shards.clone();
    scene.end().await;
    assert!(!shards.is_held(0));
}

#[tokio::test(start_paused = true)]
async fn namespaces_are_whole_in_one_shard() {
    let shards = set(ShardField::Namespace, []);
    let home = shards.shard_of(None, Some("default"));
    let scene = Scene::start(sim(true), shards);
    scene.informer.synced().await.unwrap();
    scene.shards.add((0..SHARDS).filter(|shard| *shard != home));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(scene.informer.has_synced() && scene.held().is_empty());
    scene.shards.add([home]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(scene.held().len(), 60);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn other_shards_stay_synced_while_one_is_listed() {
    let (sim, shards) = (sim(true), set(ShardField::Namespace, []));
    let home = shards.shard_of(None, Some("default"));
    let scene = Scene::start(sim, shards);
    let slow = scene
        .sim
        .faults()
        .delay(ANY, "configmaps", Duration::from_secs(30))
        .start();
    assert!(
        scene.informer.has_synced_for(Some("default"), None),
        "it is not selected"
    );
    scene.shards.add([home]);
    assert!(!scene.informer.has_synced_for(Some("default"), None));
    slow.remove();
    scene.informer.synced_for(Some("default"), None).await.unwrap();
    assert_eq!(scene.held().len(), 60);
    scene
        .sim
        .faults()
        .delay(ANY, "configmaps", Duration::from_secs(30))
        .start();
    scene.shards.add((0..SHARDS).filter(|shard| *shard != home));
    assert!(!scene.informer.has_synced() && scene.informer.has_synced_for(Some("default"), None));
    scene.shards.remove([home]);
    scene.shards.idle(home).await;
    scene.end().await;
}

/// A packed informer whose cache is saved to a directory.
fn warm(sim: &Sim, shards: &ShardSet, directory: &Path) -> Scene<Packed<ConfigMap>> {
    let builder = SharedInformer::<Packed<ConfigMap>>::over_shards(source(sim, Selection::default()), shards);
    let builder = builder.warm_start(WarmStart::in_directory(directory)).unwrap();
    let (informer, runner) = builder.build();
    Scene::run(sim.clone(), shards.clone(), informer, runner)
}

/// So many of the lists that were asked for since the first `skip` requests were not about one object.
fn lists(sim: &Sim, skip: usize) -> usize {
    let requests = sim.requests().into_iter().skip(skip);
    let all = requests.filter(|request| {
        let maps = request.path.ends_with("/configmaps");
        let streams = request.parameter("sendInitialEvents").is_some();
        let lists = request.parameter("watch").is_none() && request.parameter("limit") != Some("1");
        maps && (streams || lists)
    });
    all.count()
}

// The file has the ranges 1 to 5 in two parts, without 3, which was lost before the end.
#[tokio::test(start_paused = true)]
async fn saved_shards_are_restored_when_they_are_added() {
    let (sim, directory) = (sim(true), TempDir::new().unwrap());
    let scene = warm(&sim, &set(ShardField::Uid, [1, 2, 3]), directory.path());
    scene.settled().await;
    scene.shards.add([4, 5]);
    scene.settled().await;
    scene.shards.remove([3]);
    scene.shards.idle(3).await;
    scene.end().await;
    for number in 0..10 {
        let name = format!("m-{number:03}");
        sim.store()
            .delete("v1", "ConfigMap", Some("default"), &name)
            .unwrap();
    }
    (60..80).for_each(|number| create(&sim, number));

    let before = sim.requests().len();
    let scene = warm(&sim, &set(ShardField::Uid, []), directory.path());
    tokio::time::sleep(Duration::from_secs(5)).await;
    scene.shards.add([2, 4]);
    scene.settled().await;
    assert_eq!(lists(&sim, before), 0, "the watch goes on");
    let start = scene.informer.status().warm_start.unwrap().start;
    assert!(matches!(start, Start::Restored { .. }), "{start:?}");
    // One that was saved, one that was lost before, and one that was never there.
    scene.shards.add([1, 3, 7]);
    scene.settled().await;
    assert_eq!(lists(&sim, before), 1, "of what was not saved");
    let told = scene.told();
    let gone = told
        .iter()
        .filter(|change| matches!(change, Notification::Delete(_)));
    assert!(gone.count() > 0, "what was deleted meanwhile is told");
    // A shard that is lost and comes back is listed, and what nobody adds is forgotten.
    scene.shards.remove([2]);
    scene.shards.idle(2).await;
    scene.shards.add([2]);
    scene.settled().await;
    assert_eq!(lists(&sim, before), 2);
    tokio::time::sleep(Duration::from_secs(120)).await;
    scene.shards.add([5]);
    scene.settled().await;
    assert_eq!(lists(&sim, before), 3);
    scene.end().await;

    // Now all of them are in the file.
    let before = sim.requests().len();
    let scene = warm(&sim, &set(ShardField::Uid, [1, 2, 3, 4, 5, 7]), directory.path());
    scene.settled().await;
    assert_eq!(lists(&sim, before), 0);
    scene.end().await;
    // Another division, or another field, has another file.
    let before = sim.requests().len();
    let other = ShardSet::new(ShardField::Uid, 4);
    other.add([1]);
    let scene = warm(&sim, &other, directory.path());
    scene.settled().await;
    assert_eq!(lists(&sim, before), 1);
    scene.end().await;
}

// A handler that was behind is told of deletions by the next run, also of shards.
#[tokio::test(start_paused = true)]
async fn deletions_in_saved_shards_are_told_by_the_next_run() {
    let (sim, directory) = (sim(true), TempDir::new().unwrap());
    let shards = set(ShardField::Uid, 0..SHARDS);
    let scene = warm(&sim, &shards, directory.path());
    let options = HandlerOptions::named("behind").delivery(Delivery::Unbounded);
    let behind = scene.informer.subscribe(options).unwrap();
    scene.settled().await;
    for number in 0..5 {
        let name = format!("m-{number:03}");
        sim.store()
            .delete("v1", "ConfigMap", Some("default"), &name)
            .unwrap();
    }
    scene.settled().await;
    scene.end().await;
    drop(behind);
    let scene = warm(&sim, &shards, directory.path());
    scene.settled().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let told = scene.told();
    let gone = told
        .iter()
        .filter(|change| matches!(change, Notification::Delete(_)));
    assert_eq!(gone.count(), 5);
    scene.end().await;
}

// One line: informers and listers of a factory hold the shards of the set, and owned kinds follow if namespaces are hashed.
#[tokio::test(start_paused = true)]
async fn a_factorys_informers_are_over_its_shards() {
    let sim = sim(true);
    create_in(&sim, "shop");
    let shards = set(ShardField::Namespace, []);
    let client = Client::new(sim.service(), "default");
    let factory = SharedInformerFactory::builder(client).shards(&shards).build();
    let (maps, secrets) = (factory.informer::<ConfigMap>(), factory.informer::<Secret>());
    let all = factory.informer_with(InformerRequest::<ConfigMap>::new().all_shards());
    let one = factory.informer_with(InformerRequest::<ConfigMap>::new().namespaces(["shop"]));
    assert_eq!(maps.shards(), Some(&shards));
    assert_eq!(one.shards(), Some(&shards));
    factory.start();
    shards.add([shards.shard_of(None, Some("shop"))]);
    factory.wait_for_sync(Duration::from_secs(30)).await.unwrap();
    assert_eq!(
        (maps.lister().list().len(), secrets.lister().list().len()),
        (1, 1)
    );
    assert_eq!((all.lister().list().len(), one.lister().list().len()), (61, 1));
    shards.remove(0..SHARDS);
    shards.idle(shards.shard_of(None, Some("shop"))).await;
    assert!(maps.store().is_empty() && secrets.store().is_empty() && one.store().is_empty());
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn shards_of_several_namespaces_are_refused() {
    let sim = sim(true);
    let shards = set(ShardField::Uid, 0..SHARDS);
    let client = Client::new(sim.service(), "default");
    let factory = SharedInformerFactory::builder(client).shards(&shards).build();
    let _maps = factory.informer_with(InformerRequest::<ConfigMap>::new().namespaces(["a", "b"]));
    factory.start();
    let error = factory.wait_for_sync(Duration::from_secs(5)).await.unwrap_err();
    assert!(
        error.to_string().contains("of one namespace or of all"),
        "{error}"
    );
}

// Shards and objects come and go at random; objects are told as added and deleted in turn.
#[test]
fn any_history_of_shards_ends_with_their_objects() {
    for seed in 0..20 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(history(seed));
    }
}

async fn history(seed: u64) {
    let mut random = SmallRng::seed_from_u64(seed);
    let scene = Scene::start(sim(random.random()), set(ShardField::Uid, []));
    let mut next = 60;
    for _ in 0..60 {
        let shard = random.random_range(0..SHARDS);
        let several = shard..random.random_range(shard..=SHARDS);
        match random.random_range(0..7) {
            0 | 1 => scene.shards.add(several),
            2 | 3 => scene.shards.remove(several),
            4 => {
                create(&scene.sim, next);
                next += 1;
            }
            5 => {
                let name = format!("m-{:03}", random.random_range(0..next));
                let _gone_already = scene
                    .sim
                    .store()
                    .delete("v1", "ConfigMap", Some("default"), &name);
            }
            _ => {
                let pause = Duration::from_micros(random.random_range(0..5_000));
                tokio::time::sleep(pause).await;
            }
        }
        if random.random_bool(0.5) {
            tokio::task::yield_now().await;
        }
    }
    scene.settled().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(scene.held(), scene.expected(), "seed {seed}");
    let mut present = BTreeSet::new();
    for change in scene.told() {
        match change {
            Notification::Add { object, .. } => {
                let name = object.metadata.name.clone().unwrap();
                assert!(
                    present.insert(name.clone()),
                    "seed {seed}: {name} was added twice"
                );
            }
            Notification::Delete(deleted) => {
                let name = deleted.key.name();
                assert!(present.remove(name), "seed {seed}: {name} was deleted twice");
            }
            Notification::Update { .. } => {}
        }
    }
    assert_eq!(present.len(), scene.held().len(), "seed {seed}");
    scene.end().await;
}
