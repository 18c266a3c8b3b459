//! Controllers whose replicas divide the objects.

use futures::StreamExt;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use kube::core::ApiResource;
use kube::{Api, Client, ResourceExt};
use kube_controller::Controller;
use kube_controller::controller::{Action, Error};
use kube_controller::shard_group::{ShardGroup, ShardGroupConfig};
use kube_controller::watcher;
use kube_informer::selector::ShardField;
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{ShardSet, SharedInformer};
use kube_sim::Sim;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

const SECOND: Duration = Duration::from_secs(1);

/// Who reconciles what.
#[derive(Default)]
struct Work {
    /// The objects that are being reconciled, by whom.
    running: Mutex<HashMap<String, usize>>,
    /// How often each was reconciled, and by whom the last time.
    done: Mutex<BTreeMap<String, (u32, usize)>>,
}

impl Work {
    async fn reconcile(self: Arc<Self>, replica: usize, name: String) -> Result<Action, Infallible> {
        let running = Running {
            work: self.clone(),
            name: name.clone(),
        };
        let other = self.running.lock().unwrap().insert(name.clone(), replica);
        assert_eq!(other, None, "{name} is reconciled by two");
        let takes = fastrand::u64(0..3_000);
        sleep(Duration::from_millis(takes)).await;
        let mut done = self.done.lock().unwrap();
        let (count, last) = done.entry(name).or_default();
        (*count, *last) = (*count + 1, replica);
        drop((done, running));
        Ok(Action::await_change())
    }
}

/// A run, which ends also when it is dropped.
struct Running {
    work: Arc<Work>,
    name: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.work.running.lock().unwrap().remove(&self.name);
    }
}

fn deployments(
    client: &Client,
    shards: &ShardSet,
) -> (
    SharedInformer<Deployment>,
    kube_informer::informer::InformerRunner<Deployment>,
) {
    let source = ClientSource::new(
        client.clone(),
        ApiResource::erase::<Deployment>(&()),
        Selection::default(),
    );
    SharedInformer::over_shards(source, shards).build()
}

/// A replica, until it is dropped: then it has crashed.
fn replica(sim: &Sim, number: usize, work: &Arc<Work>, panics: &Arc<Mutex<Vec<String>>>) -> JoinSet<()> {
    let client = Client::new(sim.service(), "default");
    let config = ShardGroupConfig {
        shards: 16,
        ..ShardGroupConfig::new("default", "workers", format!("replica-{number}"))
    };
    let mut group = ShardGroup::new(client.clone(), config).unwrap();
    let (informer, runner) = deployments(&client, group.shards());
    let (work, panics) = (work.clone(), panics.clone());
    let controller = Controller::for_informer(&informer)
        .owns(Api::<ReplicaSet>::all(client), watcher::Config::default())
        .run(
            move |deployment, _| work.clone().reconcile(number, deployment.name_any()),
            |_, error, _| match *error {},
            Arc::new(()),
        );
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { runner.run(CancellationToken::new()).await.unwrap() });
    tasks.spawn(async move { group.run(CancellationToken::new()).await.unwrap() });
    tasks.spawn(async move {
        let errors = controller.filter_map(|report| async { report.err() });
        let errors = errors.filter(|error| {
            let lost = matches!(error, Error::ShardLost(_));
            async move { !lost }
        });
        errors
            .for_each(|error| {
                panics.lock().unwrap().push(error.to_string());
                async {}
            })
            .await;
    });
    tasks
}

fn deployment(name: &str) -> Value {
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "c", "image": "registry.example/image:1"}]},
            },
        },
    })
}

fn owned(owner: &Value, name: &str) -> Value {
    let mut set = deployment(name);
    set["kind"] = "ReplicaSet".into();
    set["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "apps/v1", "kind": "Deployment", "controller": true,
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
    }]);
    set
}

// Replicas come, and one crashes: each Deployment is reconciled by one at a time, also when what it owns changes.
#[tokio::test(start_paused = true)]
async fn no_object_is_reconciled_by_two_replicas() {
    let sim = Sim::builder().build().unwrap();
    let mut owners = Vec::new();
    for number in 0..40 {
        owners.push(sim.store().create(deployment(&format!("d-{number:02}"))).unwrap());
    }
    let (work, errors) = (Arc::<Work>::default(), Arc::default());
    let a = replica(&sim, 0, &work, &errors);
    sleep(10 * SECOND).await;
    let b = replica(&sim, 1, &work, &errors);
    sleep(2 * SECOND).await;
    let c = replica(&sim, 2, &work, &errors);
    sleep(20 * SECOND).await;
    let by_replica = || {
        let done = work.done.lock().unwrap();
        let replicas: HashSet<_> = done.values().map(|(_, replica)| *replica).collect();
        (done.len(), replicas.len())
    };
    assert_eq!(by_replica(), (40, 3));

    work.done.lock().unwrap().clear();
    for owner in &owners {
        let name = owner["metadata"]["name"].as_str().unwrap();
        sim.store().create(owned(owner, &format!("{name}-1"))).unwrap();
    }
    sleep(10 * SECOND).await;
    assert_eq!(by_replica(), (40, 3), "the owners of what has changed");
    let counts: HashSet<_> = work
        .done
        .lock()
        .unwrap()
        .values()
        .map(|(count, _)| *count)
        .collect();
    assert_eq!(counts, [1].into(), "each by its replica only");

    work.done.lock().unwrap().clear();
    drop(b);
    work.running.lock().unwrap().clear();
    sleep(20 * SECOND).await;
    for number in 0..40 {
        let mut changed = deployment(&format!("d-{number:02}"));
        changed["spec"]["replicas"] = 3.into();
        sim.store().update(changed).unwrap();
    }
    sleep(10 * SECOND).await;
    assert_eq!(by_replica(), (40, 2));
    drop((a, c));
    assert_eq!(*errors.lock().unwrap(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_shard_is_lost_is_dropped() {
    let sim = Sim::builder().build().unwrap();
    sim.store().create(deployment("d")).unwrap();
    let client = Client::new(sim.service(), "default");
    let shards = ShardSet::new(ShardField::Uid, 1);
    let (informer, runner) = deployments(&client, &shards);
    tokio::spawn(runner.run(CancellationToken::new()));
    let reports = Controller::for_informer(&informer).run(
        |_, _| std::future::pending::<Result<Action, Infallible>>(),
        |_, error, _| match *error {},
        Arc::new(()),
    );
    let mut reports = std::pin::pin!(reports);
    shards.add([0]);
    let waits = tokio::time::timeout(SECOND, reports.next()).await;
    assert!(waits.is_err(), "it runs");
    shards.remove([0]);
    let waits = tokio::time::timeout(SECOND, reports.next()).await;
    assert!(waits.is_err(), "it may end");
    assert!(shards.is_held(0));
    shards.expire([0]);
    let report = reports.next().await.unwrap();
    assert!(matches!(report, Err(Error::ShardLost(_))), "{report:?}");
    shards.idle(0).await;
}
