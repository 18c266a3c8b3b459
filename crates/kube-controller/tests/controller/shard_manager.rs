//! A manager whose informers are over the shards of a group, with a warm start.

use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube_controller::Controller;
use kube_controller::controller::{Action, RunnerError};
use kube_controller::manager::{Cause, Manager, RunContext, RunWhen};
use kube_controller::shard_group::{ShardGroup, ShardGroupConfig};
use kube_informer::form::Packed;
use kube_informer::selector::ShardField;
use kube_informer::warm_start::{Start, WarmStart};
use kube_informer::{ShardSet, SharedInformer, SharedInformerFactory};
use kube_sim::Sim;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

const SECOND: Duration = Duration::from_secs(1);
type Maps = Packed<ConfigMap>;

fn create(sim: &Sim, name: &str) {
    let map =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}});
    sim.store().create(map).unwrap();
}

/// A program with a manager, whose reconciles take a while.
struct Program {
    shards: ShardSet,
    maps: SharedInformer<Maps>,
    /// The reconciles that run.
    running: Arc<AtomicU32>,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl Program {
    fn start(sim: &Sim, identity: &str, directory: &Path, reconcile_takes: Duration) -> Self {
        let client = Client::new(sim.service(), "default");
        let config = ShardGroupConfig {
            shards: 8,
            ..ShardGroupConfig::new("default", "workers", identity)
        };
        let mut group = ShardGroup::new(client.clone(), config).unwrap();
        let shards = group.shards().clone();
        let factory = SharedInformerFactory::builder(client.clone())
            .shards(&shards)
            .warm_start(WarmStart::in_directory(directory))
            .build();
        let maps = factory.informer::<Maps>();
        let manager = Manager::with_factory(client, "tests", factory);
        let run = async move |context: RunContext| {
            group.retire_on(context.stopping().clone());
            group.run(context.token().clone()).await
        };
        manager.add("shards", RunWhen::AroundInformers, run).unwrap();
        let running = Arc::<AtomicU32>::default();
        let (runs, owned) = (running.clone(), shards.clone());
        let reconcile = move |_, _| {
            let (runs, owned) = (runs.clone(), owned.clone());
            async move {
                runs.fetch_add(1, Ordering::SeqCst);
                sleep(reconcile_takes).await;
                assert_eq!(owned.shards().len(), 8, "the shards are given up after the work");
                runs.fetch_sub(1, Ordering::SeqCst);
                Ok::<_, Infallible>(Action::await_change())
            }
        };
        let controller = Controller::for_informer(&maps);
        manager
            .add_controller(controller, reconcile, |_, _, _| Action::backoff(), Arc::new(()))
            .unwrap();
        let shutdown = CancellationToken::new();
        let stop = shutdown.clone();
        let task = tokio::spawn(async move { manager.run_until(stop).await.unwrap() });
        Self {
            shards,
            maps,
            running,
            shutdown,
            task,
        }
    }

    async fn owns_all(&self) {
        let mut selected = self.shards.subscribe();
        let all = selected.wait_for(|selected| selected.len() == 8);
        timeout(60 * SECOND, all).await.expect("in time").unwrap();
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.unwrap();
    }
}

// It would end alone, and a program would live on that does nothing.
#[tokio::test(start_paused = true)]
async fn a_controller_that_cannot_use_its_shards_ends_the_manager() {
    let client = Client::new(Sim::builder().build().unwrap().service(), "default");
    let shards = ShardSet::new(ShardField::Uid, 4);
    let factory = SharedInformerFactory::builder(client.clone())
        .shards(&shards)
        .build();
    let (deployments, sets) = (factory.informer::<Deployment>(), factory.informer::<ReplicaSet>());
    let manager = Manager::with_factory(client, "tests", factory);
    let reconcile = async |_, _| Ok::<_, Infallible>(Action::await_change());
    let controller = Controller::for_informer(&deployments).owns_informer(&sets);
    manager
        .add_controller(controller, reconcile, |_, _, _| Action::backoff(), Arc::new(()))
        .unwrap();
    let ended = timeout(60 * SECOND, manager.run_until(CancellationToken::new()));
    let error = ended.await.expect("in time").unwrap_err();
    let [Cause::Failed { source, .. }] = error.causes() else {
        panic!("{error}");
    };
    let source = source.downcast_ref::<RunnerError>();
    assert!(
        matches!(source, Some(RunnerError::OwnedByUid { .. })),
        "{source:?}"
    );
}

/// The lists of the config maps. One of a single object is to learn of the server's state.
fn lists(sim: &Sim) -> usize {
    let requests = sim.requests().into_iter();
    let lists = requests.filter(|request| {
        let streams = request.parameter("sendInitialEvents").is_some();
        let lists = request.parameter("watch").is_none() && request.parameter("limit") != Some("1");
        request.path.ends_with("/configmaps") && (streams || lists)
    });
    lists.count()
}

/// What the group's Lease says of the owners.
fn owners(sim: &Sim) -> Value {
    let store = sim.store();
    let lease = store.get("coordination.k8s.io/v1", "Lease", Some("default"), "workers");
    let lease = lease.unwrap();
    let text = lease["metadata"]["annotations"]["kube-informer.dev/shards"]
        .as_str()
        .unwrap();
    serde_json::from_str::<Value>(text).unwrap()["owners"].take()
}

#[tokio::test(start_paused = true)]
async fn caches_are_saved_before_shards_are_given_up() {
    let (sim, directory) = (Sim::builder().build().unwrap(), TempDir::new().unwrap());
    for name in ["a", "b", "c"] {
        create(&sim, name);
    }
    let first = Program::start(&sim, "first", directory.path(), 5 * SECOND);
    first.owns_all().await;
    first.maps.synced().await.unwrap();
    sleep(20 * SECOND).await;
    // Not in what was saved since.
    create(&sim, "d");
    sleep(SECOND).await;
    assert_eq!(
        first.running.load(Ordering::SeqCst),
        1,
        "it works when it is stopped"
    );
    let running = first.running.clone();
    first.stop().await;
    assert_eq!(running.load(Ordering::SeqCst), 0, "the work has ended");
    assert_eq!(owners(&sim), json!({}), "the shards were handed over");

    let before = lists(&sim);
    assert!(before > 0);
    let second = Program::start(&sim, "second", directory.path(), SECOND);
    second.owns_all().await;
    second.maps.synced().await.unwrap();
    assert_eq!(second.maps.store().len(), 4);
    let start = second.maps.status().warm_start.unwrap().start;
    assert!(matches!(start, Start::Restored { objects: 4, .. }), "{start:?}");
    assert_eq!(lists(&sim), before, "nothing is listed again");
    second.stop().await;
}

// It does not take longer than its time, and others need not wait for more than the Lease.
#[tokio::test(start_paused = true)]
async fn a_stop_that_takes_too_long_leaves_the_lease_to_run_out() {
    let (sim, directories) = (
        Sim::builder().build().unwrap(),
        [(); 2].map(|()| TempDir::new().unwrap()),
    );
    create(&sim, "a");
    let first = Program::start(&sim, "first", directories[0].path(), 3600 * SECOND);
    first.owns_all().await;
    sleep(5 * SECOND).await;
    first.shutdown.cancel();
    let stopped = timeout(31 * SECOND, first.task)
        .await
        .expect("after the grace period");
    assert!(stopped.unwrap_err().is_panic(), "the error names the controller");
    let second = Program::start(&sim, "second", directories[1].path(), SECOND);
    timeout(18 * SECOND, second.owns_all())
        .await
        .expect("after the Lease");
    second.stop().await;
}

/// A program whose manager runs a group and something that takes this long to stop.
fn program_that_stops_slowly(sim: &Sim, identity: &str, takes: Duration) -> (ShardSet, Manager) {
    let client = Client::new(sim.service(), "default");
    let config = ShardGroupConfig {
        shards: 8,
        ..ShardGroupConfig::new("default", "workers", identity)
    };
    let mut group = ShardGroup::new(client.clone(), config).unwrap();
    let shards = group.shards().clone();
    let manager = Manager::new(client, "tests");
    let run = async move |context: RunContext| {
        group.retire_on(context.stopping().clone());
        group.run(context.token().clone()).await
    };
    manager.add("shards", RunWhen::AroundInformers, run).unwrap();
    let slow = async move |context: RunContext| {
        context.stopped().await;
        sleep(takes).await;
        Ok::<_, Infallible>(())
    };
    manager.add("slow", RunWhen::Always, slow).unwrap();
    (shards, manager)
}

// Nobody would work on them until the stop is over.
#[tokio::test(start_paused = true)]
async fn a_program_that_stops_takes_no_shards() {
    let sim = Sim::builder().build().unwrap();
    let has = async |shards: &ShardSet, count| {
        let mut selected = shards.subscribe();
        let has = selected.wait_for(|selected| selected.len() == count);
        timeout(60 * SECOND, has).await.expect("in time").unwrap().len()
    };
    let start = |identity, takes| {
        let (shards, manager) = program_that_stops_slowly(&sim, identity, takes);
        let shutdown = CancellationToken::new();
        (
            shards,
            shutdown.clone(),
            tokio::spawn(manager.run_until(shutdown)),
        )
    };
    let (slow, stop_slow, slow_stops) = start("slow", 20 * SECOND);
    let (quick, stop_quick, quick_stops) = start("quick", SECOND);
    has(&slow, 4).await;
    has(&quick, 4).await;
    stop_slow.cancel();
    stop_quick.cancel();
    quick_stops.await.unwrap().unwrap();
    let (next, _, _) = start("next", SECOND);
    has(&next, 4).await;
    assert_eq!(slow.shards().len(), 4, "it keeps what it had");
    slow_stops.await.unwrap().unwrap();
    has(&next, 8).await;
}
