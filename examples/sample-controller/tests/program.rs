//! The program, in two replicas, against a simulated cluster.

use controller::{NAME, Options, definition, program};
use kube::Client;
use kube_controller::leader_election::LeaderElectionConfig;
use kube_controller::manager::ManagerError;
use kube_sim::SimServer;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const GROUP: &str = "samplecontroller.example.com/v1alpha1";

struct Replica {
    identity: String,
    shutdown: CancellationToken,
    running: JoinHandle<Result<(), ManagerError>>,
}

impl Replica {
    fn start(server: &SimServer, identity: &str) -> Self {
        let client = Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap();
        let options = Options {
            address: ([127, 0, 0, 1], 0).into(),
            election: LeaderElectionConfig {
                retry_period: Duration::from_millis(100),
                ..LeaderElectionConfig::new("default", NAME, identity)
            },
        };
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(program(client, options).unwrap().run_until(shutdown.clone()));
        Self {
            identity: identity.to_owned(),
            shutdown,
            running,
        }
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.running.await.unwrap().unwrap();
    }
}

fn get(server: &SimServer, api_version: &str, kind: &str, name: &str) -> Option<Value> {
    server.store().get(api_version, kind, Some("default"), name).ok()
}

fn foo(name: &str, deployment: &str, replicas: i32) -> Value {
    json!({
        "apiVersion": GROUP, "kind": "Foo", "metadata": {"name": name, "namespace": "default"},
        "spec": {"deploymentName": deployment, "replicas": replicas},
    })
}

/// Waits until something is so. A test that waits for ever is stopped by who runs it.
async fn eventually(what: impl Fn() -> bool) {
    while !what() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The reasons of the events about an object.
async fn reasons(server: &SimServer, name: &str) -> Vec<String> {
    let client = Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap();
    let events: kube::Api<k8s_openapi::api::events::v1::Event> = kube::Api::namespaced(client, "default");
    let events = events.list(&Default::default()).await.unwrap();
    let about = events.into_iter().filter(|event| {
        let regarding = event
            .regarding
            .as_ref()
            .and_then(|regarding| regarding.name.as_deref());
        regarding == Some(name)
    });
    about.filter_map(|event| event.reason).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foo_has_its_deployment_until_it_is_deleted() {
    let definition = serde_json::to_value(definition()).unwrap();
    let server = SimServer::builder().crd(definition).start().await.unwrap();
    let replica = Replica::start(&server, "a");
    let deployment = || get(&server, "apps/v1", "Deployment", "web");
    let replicas =
        |count: i32| deployment().is_some_and(|deployment| deployment["spec"]["replicas"] == count);

    server.store().create(foo("foo", "web", 3)).unwrap();
    eventually(|| replicas(3)).await;
    let owner = &deployment().unwrap()["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["controller"]),
        (&"Foo".into(), &true.into())
    );

    // Somebody changes the Deployment; the controller changes it back.
    let mut changed = deployment().unwrap();
    changed["spec"]["replicas"] = 7.into();
    server.store().update(changed).unwrap();
    eventually(|| replicas(3)).await;

    // Pods become available: the status says so.
    let mut available = deployment().unwrap();
    available["status"] = json!({"availableReplicas": 2});
    available["metadata"]["resourceVersion"] = Value::Null;
    server.store().update(available).unwrap();
    eventually(|| get(&server, GROUP, "Foo", "foo").unwrap()["status"]["availableReplicas"] == 2).await;

    server
        .store()
        .delete(GROUP, "Foo", Some("default"), "foo")
        .unwrap();
    eventually(|| get(&server, GROUP, "Foo", "foo").is_none()).await;
    eventually(|| deployment().is_none()).await;
    replica.stop().await;
    let reasons = reasons(&server, "foo").await;
    assert!(
        reasons.contains(&"Synced".into()) && reasons.contains(&"Deleted".into()),
        "{reasons:?}"
    );
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deployment_of_somebody_else_is_left_alone() {
    let definition = serde_json::to_value(definition()).unwrap();
    let server = SimServer::builder().crd(definition).start().await.unwrap();
    let theirs = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "theirs"}},
            "template": {
                "metadata": {"labels": {"app": "theirs"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    });
    let before = server.store().create(theirs).unwrap();
    let replica = Replica::start(&server, "a");
    server.store().create(foo("foo", "web", 3)).unwrap();
    while !reasons(&server, "foo")
        .await
        .contains(&"ErrResourceExists".into())
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(get(&server, "apps/v1", "Deployment", "web").unwrap(), before);
    replica.stop().await;
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_other_replica_takes_over() {
    let definition = serde_json::to_value(definition()).unwrap();
    let server = SimServer::builder().crd(definition).start().await.unwrap();
    let mut replicas = vec![Replica::start(&server, "a"), Replica::start(&server, "b")];
    server.store().create(foo("first", "one", 1)).unwrap();
    eventually(|| get(&server, "apps/v1", "Deployment", "one").is_some()).await;
    let lease = get(&server, "coordination.k8s.io/v1", "Lease", NAME).unwrap();
    let leader = lease["spec"]["holderIdentity"].as_str().unwrap();
    let at = replicas
        .iter()
        .position(|replica| replica.identity == leader)
        .unwrap();
    replicas.remove(at).stop().await;
    server.store().create(foo("second", "two", 2)).unwrap();
    eventually(|| get(&server, "apps/v1", "Deployment", "two").is_some()).await;
    for replica in replicas {
        replica.stop().await;
    }
    server.shutdown().await;
}
