//! Controllers whose replicas divide the objects.

use futures::StreamExt;
use futures::stream::BoxStream;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::Namespace;
use kube::core::ApiResource;
use kube::{Api, Client, ResourceExt};
use kube_controller::Controller;
use kube_controller::controller::{Action, Error, RunnerError, Source};
use kube_controller::manager::Readiness;
use kube_controller::reflector::ObjectRef;
use kube_controller::shard_group::{ShardGroup, ShardGroupConfig};
use kube_controller::watcher;
use kube_informer::factory::{FactoryBuilder, InformerRequest};
use kube_informer::form::Packed;
use kube_informer::selector::ShardField;
use kube_informer::source::{ClientSource, Selection};
use kube_informer::warm_start::WarmStart;
use kube_informer::{NamespaceSet, ShardSet, SharedInformer, SharedInformerFactory};
use kube_sim::Sim;
use kube_sim::faults::{ANY, NewFault};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
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
            let lost = matches!(error, Error::RunnerError(RunnerError::ShardLost(_)));
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

type Report = Result<(ObjectRef<Deployment>, Action), Error<Infallible, watcher::Error>>;

/// A controller of a Deployment in the only shard, which it owns.
struct OneShard {
    sim: Sim,
    deployment: Value,
    shards: ShardSet,
    reports: BoxStream<'static, Report>,
}

impl OneShard {
    fn start<R, Fut>(reconcile: R) -> Self
    where
        R: FnMut(Arc<Deployment>, Arc<()>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Action, Infallible>> + Send + 'static,
    {
        let sim = Sim::builder().build().unwrap();
        let deployment = sim.store().create(deployment("d")).unwrap();
        let client = Client::new(sim.service(), "default");
        let shards = ShardSet::new(ShardField::Uid, 1);
        shards.add([0]);
        let (informer, runner) = deployments(&client, &shards);
        tokio::spawn(runner.run(CancellationToken::new()));
        let reports = Controller::for_informer(&informer)
            .run(reconcile, |_, error, _| match *error {}, Arc::new(()))
            .boxed();
        Self {
            sim,
            deployment,
            shards,
            reports,
        }
    }

    /// Nothing is reported for some time.
    async fn is_quiet(&mut self, why: &str) {
        let report = timeout(10 * SECOND, self.reports.next()).await;
        assert!(report.is_err(), "{why}: {report:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_shard_is_lost_is_dropped() {
    let mut one = OneShard::start(|_, _| std::future::pending());
    one.is_quiet("it runs").await;
    one.shards.remove([0]);
    one.is_quiet("it may end").await;
    assert!(one.shards.is_held(0));
    one.shards.expire([0]);
    let report = one.reports.next().await.unwrap();
    assert!(
        matches!(report, Err(Error::RunnerError(RunnerError::ShardLost(_)))),
        "{report:?}"
    );
    one.shards.idle(0).await;
}

/// The informer keeps the objects of a shard that is held by others, so nothing tells the controller that the shard is back.
#[tokio::test(start_paused = true)]
async fn a_change_is_not_lost_while_its_shard_is_away() {
    let mut one = OneShard::start(|_, _| async { Ok(Action::await_change()) });
    one.reports.next().await.unwrap().unwrap();
    let _other_work = one.shards.hold_number(0).unwrap();
    one.shards.remove([0]);
    let mut changed = one.deployment.clone();
    changed["metadata"]["labels"] = json!({"changed": "yes"});
    one.sim.store().update(changed).unwrap();
    one.is_quiet("the shard is another replica's").await;
    one.shards.add([0]);
    let report = timeout(2 * SECOND, one.reports.next()).await;
    report.expect("a run of what has changed").unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_a_run_without_shard_is_dropped_is_told() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("while it is dropped");
        }
    }
    let mut one = OneShard::start(|_, _| async {
        let _bomb = Bomb;
        std::future::pending().await
    });
    one.is_quiet("it runs").await;
    one.shards.remove([0]);
    one.shards.expire([0]);
    let report = timeout(SECOND, one.reports.next()).await;
    let report = report.expect("the run has ended").unwrap();
    assert!(
        matches!(
            report,
            Err(Error::RunnerError(RunnerError::ReconcilerPanicked { .. }))
        ),
        "{report:?}"
    );
    one.shards.idle(0).await;
}

/// A controller of Deployments over a factory that tells, for each run, of which Deployment it is and how many ReplicaSets of its
/// namespace the store has.
struct Divided {
    sim: Sim,
    factory: SharedInformerFactory,
    runs: mpsc::UnboundedReceiver<(String, usize)>,
    errors: mpsc::UnboundedReceiver<String>,
}

impl Divided {
    /// With a Deployment and its ReplicaSet in each of these namespaces, which have the name of the Deployment.
    fn start(namespaces: &[&str], divide: impl FnOnce(FactoryBuilder) -> FactoryBuilder) -> Self {
        let sim = Sim::builder().build().unwrap();
        for namespace in namespaces {
            let within = |mut object: Value| {
                object["metadata"]["namespace"] = (*namespace).into();
                object
            };
            let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            sim.store().create(space).unwrap();
            let owner = sim.store().create(within(deployment(namespace))).unwrap();
            sim.store()
                .create(within(owned(&owner, &format!("{namespace}-1"))))
                .unwrap();
        }
        let client = Client::new(sim.service(), "default");
        let factory = divide(SharedInformerFactory::builder(client)).build();
        let (deployments, sets) = (factory.informer::<Deployment>(), factory.informer::<ReplicaSet>());
        let (told, runs) = mpsc::unbounded_channel();
        let (failed, errors) = mpsc::unbounded_channel();
        let lister = sets.lister();
        let reconcile = move |deployment: Arc<Deployment>, _| {
            let namespace = deployment.namespace();
            let children = lister.namespace(namespace.as_deref().unwrap()).list().len();
            _ = told.send((deployment.name_any(), children));
            ready(Ok::<_, Infallible>(Action::await_change()))
        };
        let reports = Controller::for_informer(&deployments).owns_informer(&sets).run(
            reconcile,
            |_, error, _| match *error {},
            Arc::new(()),
        );
        tokio::spawn(reports.for_each(move |report| {
            if let Err(error) = report {
                _ = failed.send(error.to_string());
            }
            ready(())
        }));
        factory.start();
        Self {
            sim,
            factory,
            runs,
            errors,
        }
    }

    /// From now on, the ReplicaSets of one namespace meet this.
    fn sets(&self, fault: impl FnOnce(kube_sim::faults::Faults) -> NewFault) -> kube_sim::faults::Fault {
        fault(self.sim.faults()).start()
    }

    fn touch(&self, namespace: &str) {
        let mut changed = deployment(namespace);
        changed["metadata"]["namespace"] = namespace.into();
        changed["spec"]["replicas"] = 3.into();
        self.sim.store().update(changed).unwrap();
    }

    async fn run(&mut self) -> (String, usize) {
        let run = timeout(600 * SECOND, self.runs.recv()).await;
        run.expect("a run in time").expect("the controller runs")
    }

    async fn is_quiet(&mut self) {
        let run = timeout(10 * SECOND, self.runs.recv()).await;
        assert!(run.is_err(), "{run:?}");
    }
}

/// Two namespaces in different shards.
fn two_namespaces(shards: &ShardSet) -> [String; 2] {
    let of = |name: &str| shards.shard_of(None, Some(name));
    let mut others = (0..).map(|number| format!("n-{number}"));
    let other = others.find(|name| of(name) != of("shop")).unwrap();
    ["shop".to_owned(), other]
}

// The ReplicaSets of a gained shard are listed late: its Deployments wait, others do not.
#[tokio::test(start_paused = true)]
async fn a_run_waits_until_what_it_owns_is_listed() {
    let shards = ShardSet::new(ShardField::Namespace, 16);
    let [one, two] = two_namespaces(&shards);
    shards.add([shards.shard_of(None, Some(&one))]);
    let mut divided = Divided::start(&[&one, &two], |factory| factory.shards(&shards));
    assert_eq!(divided.run().await, (one.clone(), 1));
    let late = divided.sets(|faults| faults.delay(ANY, "replicasets.apps", 40 * SECOND));
    shards.add([shards.shard_of(None, Some(&two))]);
    divided.is_quiet().await;
    divided.touch(&one);
    assert_eq!(divided.run().await.0, one, "it need not wait");
    late.remove();
    assert_eq!(divided.run().await, (two.clone(), 1));
    // What it owns may lead to another run.
    while let Ok(run) = timeout(10 * SECOND, divided.runs.recv()).await {
        assert_eq!(run, Some((two.clone(), 1)));
    }
    // A shard that is lost while its runs wait is waited for by nobody.
    shards.remove([shards.shard_of(None, Some(&two))]);
    divided.sets(|faults| faults.delay(ANY, "replicasets.apps", 40 * SECOND));
    sleep(SECOND).await;
    shards.add([shards.shard_of(None, Some(&two))]);
    sleep(SECOND).await;
    shards.remove([shards.shard_of(None, Some(&two))]);
    shards.idle(shards.shard_of(None, Some(&two))).await;
    divided.is_quiet().await;
    assert!(divided.errors.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_refused_source_of_a_gained_shard_is_not_waited_for() {
    let shards = ShardSet::new(ShardField::Namespace, 16);
    let [one, two] = two_namespaces(&shards);
    shards.add([shards.shard_of(None, Some(&one))]);
    let mut divided = Divided::start(&[&one, &two], |factory| factory.shards(&shards));
    assert_eq!(divided.run().await, (one, 1));
    let refused = divided.sets(|faults| faults.refuse(ANY, "replicasets.apps", 403));
    shards.add([shards.shard_of(None, Some(&two))]);
    assert_eq!(divided.run().await, (two.clone(), 0), "as at the start");
    let error = divided.errors.recv().await.unwrap();
    assert!(error.contains("cannot watch replicasets.apps"), "{error}");
    divided.touch(&two);
    assert_eq!(divided.run().await, (two.clone(), 0));
    assert!(divided.errors.try_recv().is_err(), "it is said once");
    refused.remove();
    assert_eq!(
        divided.run().await,
        (two, 1),
        "what it owns comes when it is served"
    );
}

// Several shards that are gained together are listed together.
#[tokio::test(start_paused = true)]
async fn a_refused_list_of_many_gained_shards_is_reported_once() {
    let shards = ShardSet::new(ShardField::Namespace, 64);
    let names: Vec<_> = (0..8)
        .map(|number| format!("{number}-tenant-of-shards"))
        .collect();
    let names: Vec<_> = names.iter().map(|name| &**name).collect();
    let of: HashSet<_> = names
        .iter()
        .map(|name| shards.shard_of(None, Some(name)))
        .collect();
    assert!(of.len() > 4, "they are in different shards");
    let mut divided = Divided::start(&names, |factory| factory.shards(&shards));
    sleep(SECOND).await;
    divided.sets(|faults| faults.refuse(ANY, "replicasets.apps", 403));
    shards.add(0..64);
    let mut ran = HashSet::new();
    for _ in &names {
        let (name, children) = divided.run().await;
        assert_eq!(children, 0);
        ran.insert(name);
    }
    assert_eq!(ran.len(), names.len());
    divided.is_quiet().await;
    assert!(divided.errors.try_recv().is_ok());
    assert!(divided.errors.try_recv().is_err(), "it is said once");
}

// One namespace is refused for ever. What is gained later is waited for, and the first one again when it was gained anew.
#[tokio::test(start_paused = true)]
async fn a_refused_namespace_is_late_for_itself_only() {
    let tenants = NamespaceSet::new(["shop", "bank"]);
    let mut divided = Divided::start(&["shop", "bank", "mill"], |factory| factory.namespaces(&tenants));
    let mut first = [divided.run().await, divided.run().await];
    first.sort();
    assert_eq!(first, [("bank".to_owned(), 1), ("shop".to_owned(), 1)]);
    tenants.remove("bank");
    sleep(SECOND).await;
    let refused = divided.sets(|faults| faults.refuse(ANY, "replicasets.apps", 403).namespace("bank"));
    tenants.add("bank");
    while divided.run().await != ("bank".to_owned(), 0) {}
    let error = divided.errors.recv().await.unwrap();
    assert!(error.contains("cannot watch replicasets.apps"), "{error}");
    let late = divided.sets(|faults| {
        faults
            .delay(ANY, "replicasets.apps", 40 * SECOND)
            .namespace("mill")
    });
    tenants.add("mill");
    divided.is_quiet().await;
    late.remove();
    assert_eq!(divided.run().await, ("mill".to_owned(), 1));
    assert!(divided.errors.try_recv().is_err(), "it is said once");

    refused.remove();
    while divided.run().await != ("bank".to_owned(), 1) {}
    tenants.remove("bank");
    sleep(SECOND).await;
    divided.sets(|faults| {
        faults
            .delay(ANY, "replicasets.apps", 40 * SECOND)
            .namespace("bank")
    });
    tenants.add("bank");
    divided.is_quiet().await;
}

// One namespace is refused at the start while the list of another one takes long.
#[tokio::test(start_paused = true)]
async fn a_refused_namespace_hurries_no_other() {
    let tenants = NamespaceSet::new(["shop", "bank"]);
    let mut divided = Divided::start(&["shop", "bank"], |factory| factory.namespaces(&tenants));
    let of = |name: &'static str| move |fault: NewFault| fault.namespace(name);
    divided.sets(|faults| of("bank")(faults.refuse(ANY, "replicasets.apps", 403)));
    divided.sets(|faults| of("shop")(faults.delay(ANY, "replicasets.apps", 20 * SECOND)));
    assert_eq!(divided.run().await, ("bank".to_owned(), 0));
    let error = divided.errors.recv().await.unwrap();
    assert!(error.contains("cannot watch replicasets.apps"), "{error}");
    divided.is_quiet().await;
    assert_eq!(divided.run().await, ("shop".to_owned(), 1));
    assert!(divided.errors.try_recv().is_err(), "it is said once");
}

// What belongs to an object without a namespace may be in all of them. One is refused, another one is added later.
#[tokio::test(start_paused = true)]
async fn what_is_needed_whole_waits_beside_what_is_refused() {
    let tenants = NamespaceSet::new(["shop", "bank"]);
    let divided = Divided::start(&["shop", "bank", "mill"], |factory| factory.namespaces(&tenants));
    divided.sets(|faults| faults.refuse(ANY, "replicasets.apps", 403).namespace("bank"));
    let client = Client::new(divided.sim.service(), "default");
    let cluster = SharedInformerFactory::new(client);
    let (spaces, sets) = (
        cluster.informer::<Namespace>(),
        divided.factory.informer::<ReplicaSet>(),
    );
    let (told, mut runs) = mpsc::unbounded_channel();
    let lister = sets.lister();
    let reconcile = move |space: Arc<Namespace>, _| {
        _ = told.send((space.name_any(), lister.list().len()));
        ready(Ok::<_, Infallible>(Action::await_change()))
    };
    let keys = |set: &Arc<ReplicaSet>| set.namespace().map(|name| ObjectRef::new(&name));
    let reports = Controller::for_informer(&spaces)
        .watches_informer(&sets, keys)
        .run(reconcile, |_, error, _| match *error {}, Arc::new(()));
    tokio::spawn(reports.for_each(|_| ready(())));
    cluster.start();
    let mut next = async || timeout(10 * SECOND, runs.recv()).await;
    while let Ok(run) = next().await {
        assert_eq!(run.expect("the controller runs").1, 1, "those of shop");
    }

    divided.sets(|faults| {
        faults
            .delay(ANY, "replicasets.apps", 20 * SECOND)
            .namespace("mill")
    });
    tenants.add("mill");
    let mut shop = divided.sim.store().get("v1", "Namespace", None, "shop").unwrap();
    shop["metadata"]["labels"]["changed"] = "yes".into();
    divided.sim.store().update(shop).unwrap();
    let early = next().await;
    assert!(early.is_err(), "{early:?}");
    sleep(5 * SECOND).await;
    let (_, sets) = next().await.expect("a run").expect("the controller runs");
    assert_eq!(sets, 2, "those of shop and mill");
}

// The Deployments of a gained shard are restored from a file, but the server does not confirm them.
#[tokio::test(start_paused = true)]
async fn a_refused_main_kind_is_reported_once_and_waited_for() {
    let (sim, directory) = (Sim::builder().build().unwrap(), TempDir::new().unwrap());
    let shards = ShardSet::new(ShardField::Namespace, 16);
    let namespaces = two_namespaces(&shards);
    for namespace in &namespaces {
        let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        sim.store().create(space).unwrap();
        for name in ["a", "b"] {
            let mut object = deployment(name);
            object["metadata"]["namespace"] = namespace.as_str().into();
            sim.store().create(object).unwrap();
        }
    }
    let [one, two] = namespaces.map(|namespace| shards.shard_of(None, Some(&namespace)));
    let build = || {
        let client = Client::new(sim.service(), "default");
        let resource = ApiResource::erase::<Deployment>(&());
        let source = ClientSource::new(client, resource, Selection::default());
        let builder = SharedInformer::<Packed<Deployment>>::over_shards(source, &shards);
        let warm = WarmStart::in_directory(directory.path());
        builder.warm_start(warm).unwrap().build()
    };
    shards.add([one]);
    let (informer, runner) = build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.unwrap();
    shards.add([two]);
    informer.synced().await.unwrap();
    stop.cancel();
    running.await.unwrap().unwrap();
    shards.remove([two]);

    let (informer, runner) = build();
    tokio::spawn(runner.run(CancellationToken::new()));
    let reports = Controller::for_informer(&informer).run(
        |_, _| ready(Ok::<_, Infallible>(Action::await_change())),
        |_, error, _| match *error {},
        Arc::new(()),
    );
    let mut reports = std::pin::pin!(reports);
    for _ in 0..2 {
        assert!(reports.next().await.unwrap().is_ok());
    }
    let refused = sim.faults().refuse(ANY, "deployments.apps", 403).start();
    shards.add([two]);
    let error = reports.next().await.unwrap().unwrap_err().to_string();
    assert!(error.contains("cannot watch deployments.apps"), "{error}");
    let more = timeout(600 * SECOND, reports.next()).await;
    assert!(more.is_err(), "it is said once, and nothing runs: {more:?}");
    refused.remove();
    for _ in 0..2 {
        assert!(reports.next().await.unwrap().is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_waits_for_the_lists_of_an_added_namespace() {
    let tenants = NamespaceSet::new(["shop"]);
    let mut divided = Divided::start(&["shop", "bank"], |factory| factory.namespaces(&tenants));
    assert_eq!(divided.run().await, ("shop".to_owned(), 1));
    let late = divided.sets(|faults| faults.delay(ANY, "replicasets.apps", 40 * SECOND));
    tenants.add("bank");
    divided.is_quiet().await;
    late.remove();
    assert_eq!(divided.run().await, ("bank".to_owned(), 1));
    divided.factory.shutdown().await.unwrap();
}

// Its lister does not have what the replica's own Deployments own.
#[tokio::test(start_paused = true)]
async fn owned_objects_over_shards_by_uid_are_refused() {
    let shards = ShardSet::new(ShardField::Uid, 4);
    shards.add(0..4);
    let mut divided = Divided::start(&["shop"], |factory| factory.shards(&shards));
    let error = divided.errors.recv().await.unwrap();
    assert!(error.contains("request it for all shards"), "{error}");
    assert!(divided.runs.recv().await.is_none(), "nothing was reconciled");
    let whole = InformerRequest::<ReplicaSet>::new().all_shards();
    assert!(divided.factory.informer_with(whole).shards().is_none());
}

#[tokio::test(start_paused = true)]
async fn sources_over_another_set_of_shards_are_refused() {
    let client = Client::new(Sim::builder().build().unwrap().service(), "default");
    let of_namespaces = || ShardSet::new(ShardField::Namespace, 4);
    let (informer, _runner) = deployments(&client, &of_namespaces());
    let (others, _others_runner) = deployments(&client, &of_namespaces());
    let source = Source::mapped(&others, |other| [other.name_any()]);
    let reports = Controller::for_informer(&informer).source(source).run(
        |_, _| ready(Ok::<_, Infallible>(Action::await_change())),
        |_, error, _| match *error {},
        Arc::new(()),
    );
    let reports: Vec<_> = reports
        .map(|report| report.unwrap_err().to_string())
        .collect()
        .await;
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(
        reports[0].contains("deployments.apps is over other shards"),
        "{reports:?}"
    );
}

// Its Lease is renewed, so it owns them; nobody else could list them either.
#[tokio::test(start_paused = true)]
async fn a_replica_that_cannot_list_keeps_its_shards_and_says_so() {
    let sim = Sim::builder().build().unwrap();
    for number in 0..10 {
        sim.store().create(deployment(&format!("d-{number}"))).unwrap();
    }
    let refused = sim.faults().refuse(ANY, "deployments.apps", 403).start();
    let replicas = ["a", "b"].map(|name| {
        let client = Client::new(sim.service(), "default");
        let config = ShardGroupConfig::new("default", "workers", name);
        let mut group = ShardGroup::new(client.clone(), config).unwrap();
        let shards = group.shards().clone();
        let factory = SharedInformerFactory::builder(client).shards(&shards).build();
        let deployments = factory.informer::<Deployment>();
        factory.start();
        tokio::spawn(async move { group.run(CancellationToken::new()).await });
        (shards, Readiness::new(factory), deployments)
    });
    sleep(20 * SECOND).await;
    let lease = || {
        let lease = sim
            .store()
            .get("coordination.k8s.io/v1", "Lease", Some("default"), "workers");
        lease.unwrap()["metadata"]["resourceVersion"].clone()
    };
    let divided = lease();
    sleep(120 * SECOND).await;
    for (shards, readiness, _) in &replicas {
        assert_eq!(shards.shards().len(), 32);
        let error = readiness.check().unwrap_err().to_string();
        assert!(error.starts_with("deployments.apps in shards 0x"), "{error}");
        assert!(error.contains("not synced: forbidden"), "{error}");
    }
    assert_eq!(lease(), divided, "no shard has moved");
    refused.remove();
    sleep(120 * SECOND).await;
    for (_, readiness, _) in &replicas {
        assert_eq!(readiness.check(), Ok(()));
    }
    let held = replicas
        .iter()
        .map(|(_, _, deployments)| deployments.store().len());
    assert_eq!((held.sum::<usize>(), lease()), (10, divided));
}
