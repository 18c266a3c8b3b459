//! The program, in two replicas, against a simulated cluster.

use controller::{NAME, Options, definition, program};
use kube::Client;
use kube::api::PostParams;
use kube_controller::leader_election::LeaderElectionConfig;
use kube_controller::manager::ManagerError;
use kube_sim::script::Received;
use kube_sim::{Sim, SimServer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;
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
        Self::with(client, Some(([127, 0, 0, 1], 0).into()), identity)
    }

    fn with(client: Client, address: Option<SocketAddr>, identity: &str) -> Self {
        let options = Options {
            address,
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

fn get(sim: &Sim, api_version: &str, kind: &str, name: &str) -> Option<Value> {
    sim.store().get(api_version, kind, Some("default"), name).ok()
}

fn foo(name: &str, deployment: &str, replicas: i32) -> Value {
    json!({
        "apiVersion": GROUP, "kind": "Foo", "metadata": {"name": name, "namespace": "default"},
        "spec": {"deploymentName": deployment, "replicas": replicas},
    })
}

/// Whether a `Foo` is available, by its status.
fn condition(status: &Value) -> &Value {
    assert!(status["conditions"].as_array().is_none_or(|all| all.len() == 1));
    &status["conditions"][0]["status"]
}

/// Waits until something is so, for a minute at most.
async fn eventually(sim: &Sim, what: impl Fn() -> bool) {
    let within = Duration::from_secs(60);
    sim.eventually_within(within, async || what().then_some(()))
        .await
        .unwrap();
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
    eventually(&server, || replicas(3)).await;
    let owner = &deployment().unwrap()["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["controller"]),
        (&"Foo".into(), &true.into())
    );

    // Somebody changes the Deployment; the controller changes it back.
    let mut changed = deployment().unwrap();
    changed["spec"]["replicas"] = 7.into();
    server.store().update(changed).unwrap();
    eventually(&server, || replicas(3)).await;

    // Pods become available: the status says so.
    for (replicas, status) in [(2, "False"), (3, "True")] {
        let mut available = deployment().unwrap();
        available["status"] = json!({"availableReplicas": replicas});
        available["metadata"]["resourceVersion"] = Value::Null;
        server.store().update(available).unwrap();
        eventually(&server, || {
            let told = &get(&server, GROUP, "Foo", "foo").unwrap()["status"];
            told["availableReplicas"] == replicas && condition(told) == status
        })
        .await;
    }

    server
        .store()
        .delete(GROUP, "Foo", Some("default"), "foo")
        .unwrap();
    eventually(&server, || get(&server, GROUP, "Foo", "foo").is_none()).await;
    eventually(&server, || deployment().is_none()).await;
    replica.stop().await;
    let reasons = reasons(&server, "foo").await;
    assert!(
        reasons.contains(&"Synced".into()) && reasons.contains(&"Deleted".into()),
        "{reasons:?}"
    );
    server.shutdown().await;
}

// Without an address it has no socket, so time can stand still.
#[tokio::test(start_paused = true)]
async fn without_an_address_it_runs_on_a_paused_clock() {
    let definition = serde_json::to_value(definition()).unwrap();
    let sim = Sim::builder().crd(definition).build().unwrap();
    let replica = Replica::with(Client::new(sim.service(), "default"), None, "a");
    sim.store().create(foo("foo", "web", 3)).unwrap();
    eventually(&sim, || get(&sim, "apps/v1", "Deployment", "web").is_some()).await;
    replica.stop().await;
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
    let refuses = async || {
        let reasons = reasons(&server, "foo").await;
        reasons.contains(&"ErrResourceExists".into()).then_some(())
    };
    server
        .eventually_within(Duration::from_secs(60), refuses)
        .await
        .unwrap();
    eventually(&server, || {
        let told = &get(&server, GROUP, "Foo", "foo").unwrap()["status"];
        condition(told) == "False" && told["conditions"][0]["reason"] == "ErrResourceExists"
    })
    .await;
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
    eventually(&server, || get(&server, "apps/v1", "Deployment", "one").is_some()).await;
    let lease = get(&server, "coordination.k8s.io/v1", "Lease", NAME).unwrap();
    let leader = lease["spec"]["holderIdentity"].as_str().unwrap();
    let at = replicas
        .iter()
        .position(|replica| replica.identity == leader)
        .unwrap();
    replicas.remove(at).stop().await;
    server.store().create(foo("second", "two", 2)).unwrap();
    eventually(&server, || get(&server, "apps/v1", "Deployment", "two").is_some()).await;
    for replica in replicas {
        replica.stop().await;
    }
    server.shutdown().await;
}

/// What a request needs by the rules of RBAC: the group, the resource with its subresource, and the verb.
fn needed(request: &Received) -> Option<(String, String, String)> {
    let mut parts = request.path.trim_start_matches('/').split('/');
    let group = match parts.next()? {
        "api" => String::new(),
        "apis" => parts.next()?.to_owned(),
        _ => return None,
    };
    let mut rest: Vec<_> = parts.skip(1).collect();
    if rest.first() == Some(&"namespaces") && rest.len() > 2 {
        rest.drain(..2);
    }
    let resource = [rest.first().copied(), rest.get(2).copied()];
    let resource = resource.into_iter().flatten().collect::<Vec<_>>().join("/");
    let verb = match (request.method.as_str(), request.parameter("watch"), rest.get(1)) {
        ("GET", Some(_), _) => "watch",
        ("GET", None, None) => "list",
        ("GET", None, Some(_)) => "get",
        ("POST", ..) => "create",
        ("PUT", ..) => "update",
        ("PATCH", ..) => "patch",
        ("DELETE", ..) => "delete",
        (method, ..) => panic!("{method}"),
    };
    Some((group, resource, verb.to_owned()))
}

/// The documents of `deploy/`, in the order in which `kubectl apply -f deploy/` creates them.
fn manifests() -> Vec<String> {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/deploy")).unwrap();
    let mut files: Vec<_> = folder.map(|file| file.unwrap().path()).collect();
    files.sort();
    let texts = files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect::<Vec<_>>();
    let documents = texts.iter().flat_map(|text| text.split("\n---\n"));
    documents.map(str::to_owned).collect()
}

/// Creates what is in `deploy/`. Returns the permissions, as the server has read them.
async fn granted(server: &SimServer) -> BTreeSet<(String, String, String)> {
    let client = Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap();
    let mut granted = BTreeSet::new();
    for document in manifests() {
        let field = |name: &str| {
            document
                .lines()
                .find_map(|line| line.trim_start().strip_prefix(name))
        };
        let namespace = format!("namespaces/{}", field("namespace: ").unwrap_or_default());
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        let kind = document.lines().find_map(|line| line.strip_prefix("kind: "));
        let path = match kind.unwrap() {
            "Namespace" => "/api/v1/namespaces".to_owned(),
            "ServiceAccount" => format!("/api/v1/{namespace}/serviceaccounts"),
            "ClusterRole" => format!("{rbac}/clusterroles"),
            "ClusterRoleBinding" => format!("{rbac}/clusterrolebindings"),
            "Role" => format!("{rbac}/{namespace}/roles"),
            "RoleBinding" => format!("{rbac}/{namespace}/rolebindings"),
            "Deployment" => format!("/apis/apps/v1/{namespace}/deployments"),
            kind => panic!("{kind}"),
        };
        let request = kube::core::Request::new(path);
        let mut request = request.create(&PostParams::default(), document.into()).unwrap();
        let yaml = "application/yaml".parse().unwrap();
        request.headers_mut().insert("content-type", yaml);
        let answer: Value = client.request(request).await.unwrap();
        for rule in answer["rules"].as_array().into_iter().flatten() {
            let texts = |field: &str| {
                let texts = rule[field].as_array().unwrap().iter();
                texts
                    .map(|text| text.as_str().unwrap().to_owned())
                    .collect::<Vec<_>>()
            };
            for group in texts("apiGroups") {
                for resource in texts("resources") {
                    let verbs = texts("verbs").into_iter();
                    granted.extend(verbs.map(|verb| (group.clone(), resource.clone(), verb)));
                }
            }
        }
    }
    granted
}

// A kubelet refuses to run a name as `runAsNonRoot`, because it cannot know whose it is.
#[test]
fn the_image_runs_as_a_user_that_is_a_number() {
    let dockerfile = include_str!("../Dockerfile");
    let user = dockerfile
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("USER "));
    let (user, _) = user.unwrap().split_once(':').unwrap();
    assert!(user.parse::<u32>().unwrap() > 0);
}

// Without a `rust-version`, `Cargo.lock` takes dependencies that the compiler of the image may be too old for.
#[test]
fn the_image_is_built_by_the_compiler_of_the_manifest() {
    let file = |name: &str| std::fs::read_to_string(format!("{}/{name}", env!("CARGO_MANIFEST_DIR")));
    let manifest = file("Cargo.toml.liquid").or_else(|_| file("Cargo.toml")).unwrap();
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "));
    let version = version.unwrap().trim_matches('"');
    assert!(
        file("Dockerfile")
            .unwrap()
            .contains(&format!("FROM rust:{version}-"))
    );
    assert_eq!(version, env!("CARGO_PKG_RUST_VERSION"));
}

// It does all that it can do; what it asks for is what its roles grant.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_permissions_are_those_that_it_uses() {
    let definition = serde_json::to_value(definition()).unwrap();
    let server = SimServer::builder().crd(definition).start().await.unwrap();
    let mut granted = granted(&server).await;
    let before = server.requests().len();
    let replica = Replica::start(&server, "a");
    server.store().create(foo("foo", "web", 3)).unwrap();
    let deployment = || get(&server, "apps/v1", "Deployment", "web");
    eventually(&server, || deployment().is_some()).await;
    let change = |field: &str, value: Value| {
        let mut changed = deployment().unwrap();
        changed[field] = value;
        changed["metadata"]["resourceVersion"] = Value::Null;
        server.store().update(changed).unwrap();
    };
    change("status", json!({"availableReplicas": 2}));
    eventually(&server, || {
        get(&server, GROUP, "Foo", "foo").unwrap()["status"]["availableReplicas"] == 2
    })
    .await;
    // It publishes the same event each time, and says so in the first one.
    for replicas in [7, 8] {
        eventually(&server, || deployment().unwrap()["spec"]["replicas"] == 3).await;
        let mut spec = deployment().unwrap()["spec"].take();
        spec["replicas"] = replicas.into();
        change("spec", spec);
    }
    eventually(&server, || deployment().unwrap()["spec"]["replicas"] == 3).await;
    server
        .store()
        .delete(GROUP, "Foo", Some("default"), "foo")
        .unwrap();
    eventually(&server, || get(&server, GROUP, "Foo", "foo").is_none()).await;
    replica.stop().await;
    let requests = server.requests();
    let mut used: BTreeSet<_> = requests.iter().skip(before).filter_map(needed).collect();
    // What is watched from the start is listed where a server cannot do that.
    let watched = used.clone().into_iter().filter(|(_, _, verb)| verb == "watch");
    used.extend(watched.map(|(group, resource, _)| (group, resource, "list".to_owned())));
    let exception = |resource: &str, verb: &str| {
        (
            "samplecontroller.example.com".to_owned(),
            resource.to_owned(),
            verb.to_owned(),
        )
    };
    // Only a server with the plugin OwnerReferencesPermissionEnforcement asks for it.
    assert!(granted.remove(&exception("foos/finalizers", "update")));
    // `finalizer` reads the object when its patch is refused.
    used.remove(&exception("foos", "get"));
    assert!(granted.remove(&exception("foos", "get")));
    assert_eq!(used, granted);
    server.shutdown().await;
}
