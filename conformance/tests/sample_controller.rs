//! The sample controller in a cluster into which its own manifests were installed: it has the rights that they give it.

use conformance::cluster::Cluster;
use controller::{NAME, Options, definition, program};
use instances as _;
use kube_controller::leader_election::LeaderElectionConfig;
use kube_controller::manager::ManagerError;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

const GROUP: &str = "samplecontroller.example.com/v1alpha1";
const RIGHTS: &str = include_str!("../../examples/sample-controller/deploy/1-rbac.yaml");
const PROGRAM: &str = include_str!("../../examples/sample-controller/deploy/2-deployment.yaml");

/// A client with a token of the controller's account.
async fn client(cluster: &Cluster) -> kube::Client {
    let account = format!("/api/v1/namespaces/{NAME}/serviceaccounts/{NAME}/token");
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let request = http::Request::post(account)
        .header("content-type", "application/json")
        .body(request.to_string().into_bytes())
        .unwrap();
    let answer: Value = cluster.client().request(request).await.unwrap();
    let mut config = cluster.config();
    config.auth_info = kube::config::AuthInfo {
        token: Some(answer["status"]["token"].as_str().unwrap().to_owned().into()),
        ..Default::default()
    };
    kube::Client::try_from(config).unwrap()
}

struct Replica {
    shutdown: CancellationToken,
    running: JoinHandle<Result<(), ManagerError>>,
}

impl Replica {
    fn start(client: kube::Client, identity: &str) -> Self {
        let options = Options {
            address: None,
            election: LeaderElectionConfig {
                retry_period: Duration::from_millis(100),
                ..LeaderElectionConfig::new(NAME, NAME, identity)
            },
        };
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(program(client, options).unwrap().run_until(shutdown.clone()));
        Self { shutdown, running }
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.running.await.unwrap().unwrap();
    }
}

/// Waits until an object is so.
async fn eventually(cluster: &Cluster, api_version: &str, kind: &str, is: impl Fn(Option<&Value>) -> bool) {
    let mut last = None;
    let becomes = async {
        loop {
            let all = cluster.list(api_version, kind).await;
            last = all
                .into_iter()
                .find(|object| object["metadata"]["namespace"] == "default");
            if is(last.as_ref()) {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    if timeout(Duration::from_secs(60), becomes).await.is_err() {
        panic!("the {kind} stays {last:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_does_its_work_with_the_rights_of_its_manifests() {
    let cluster = Cluster::start().await;
    cluster.create(serde_json::to_value(definition()).unwrap()).await;
    for document in RIGHTS.split("\n---\n").chain([PROGRAM]) {
        cluster.create(serde_saphyr::from_str(document).unwrap()).await;
    }
    let client = client(&cluster).await;
    let (first, second) = (
        Replica::start(client.clone(), "first"),
        Replica::start(client, "second"),
    );
    let foo = |replicas: i32| {
        let spec = json!({"deploymentName": "web", "replicas": replicas});
        let metadata = json!({"name": "foo", "namespace": "default"});
        json!({"apiVersion": GROUP, "kind": "Foo", "metadata": metadata, "spec": spec})
    };
    let deployed = async |replicas: i32| {
        let has = |deployment: Option<&Value>| {
            deployment.is_some_and(|found| found["spec"]["replicas"] == replicas)
        };
        eventually(&cluster, "apps/v1", "Deployment", has).await;
    };
    let created = cluster.create(foo(3)).await;
    deployed(3).await;
    let has_status =
        |foo: Option<&Value>| foo.is_some_and(|foo| foo["status"]["conditions"][0]["status"] == "False");
    eventually(&cluster, GROUP, "Foo", has_status).await;
    let is_told = |event: Option<&Value>| event.is_some_and(|event| event["reason"] == "Synced");
    eventually(&cluster, "events.k8s.io/v1", "Event", is_told).await;

    // Whichever leads, the other takes over.
    first.stop().await;
    let mut changed = foo(2);
    changed["metadata"]["finalizers"] = cluster.list(GROUP, "Foo").await[0]["metadata"]["finalizers"].clone();
    cluster.update(changed).await;
    deployed(2).await;

    cluster.delete(&created).await;
    eventually(&cluster, GROUP, "Foo", |foo| foo.is_none()).await;
    second.stop().await;
    cluster.shutdown().await;
}
