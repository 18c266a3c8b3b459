//! A simulated cluster and its builder.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::access::{Access, User};
use crate::api::Api;
use crate::control::controller::Controller;
use crate::faults::Faults;
use crate::faults::rules::Rules;
use crate::http::SimService;
use crate::requests::{self, NotYet, PATIENCE};
use crate::resources::Registry;
use crate::script::Received;
use crate::status::StatusError;
use crate::storage::Storage;
use crate::store::Store;
use crate::workload::Workload;
use crate::workload::churn::Churn;

/// The resource version of an empty cluster: not 1, so that no client relies on small versions.
const FIRST_VERSION: u64 = 1000;

/// The priorities that a cluster begins with, and what a real server says of them.
const PRIORITIES: [(&str, i64, &str); 2] = [
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
];

/// Why a cluster or its server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address is in use or may not be used. Choose another port, or 0 for any free one.
    #[error("cannot listen on {address}")]
    Listen {
        /// The requested address.
        address: std::net::SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The server rejected a custom resource definition.
    #[error("custom resource definition {name:?} is refused")]
    Definition {
        /// The name of the definition.
        name: String,
        /// The reason.
        source: StatusError,
    },
}

/// The configuration of a simulated cluster. Created by [`SimServer::builder`](crate::SimServer::builder) or
/// [`Sim::builder`].
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until `start` or `build`"]
pub struct SimBuilder {
    nodes: usize,
    pods: usize,
    churn: f64,
    seed: u64,
    history: usize,
    bookmark_interval: Duration,
    definitions: Vec<Value>,
    controllers: Vec<Controller>,
    control_endpoint: bool,
    sharded_lists: bool,
    access: Option<Access>,
    pub(crate) tls: bool,
    simulated: Option<SystemTime>,
    pub(crate) address: IpAddr,
    pub(crate) port: u16,
}

impl Default for SimBuilder {
    fn default() -> Self {
        Self {
            nodes: 0,
            pods: 0,
            churn: 0.0,
            seed: 0,
            history: 8192,
            bookmark_interval: Duration::from_secs(60),
            definitions: Vec::new(),
            controllers: Controller::DEFAULT.into(),
            control_endpoint: false,
            sharded_lists: true,
            access: None,
            tls: false,
            simulated: None,
            address: Ipv4Addr::LOCALHOST.into(),
            port: 0,
        }
    }
}

impl SimBuilder {
    /// Sets the initial number of nodes. Default: 0.
    pub fn nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// Sets the initial number of pods, spread over namespaces and nodes. Default: 0.
    pub fn pods(mut self, pods: usize) -> Self {
        self.pods = pods;
        self
    }

    /// Sets the number of changes per second by the workload: status updates, label changes, deletions and
    /// creations of pods, heartbeats of nodes. Default: 0, which means none; at most a million.
    pub fn churn(mut self, per_second: f64) -> Self {
        self.churn = per_second;
        self
    }

    /// Sets the seed of the workload's objects and changes, and of [faults](crate::faults) with a
    /// probability. The same seed generates the same ones, byte for byte (but not at the same times).
    /// Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets how many changes of each resource are kept, for watches that resume and lists that continue.
    /// Requests for older ones are answered with 410. Each change keeps one replaced object in memory.
    /// Default: 8192; with 0, only new changes can be watched.
    pub fn history(mut self, changes: usize) -> Self {
        self.history = changes;
        self
    }

    /// Sets the interval of bookmarks in watches that allow them. Default: 60 s, as in a real server. Another
    /// bookmark is sent 2 s before the end of a watch. Watches of events have none.
    pub fn bookmark_interval(mut self, interval: Duration) -> Self {
        self.bookmark_interval = interval;
        self
    }

    /// Adds a `CustomResourceDefinition` to the initial objects. More can be created through the API.
    pub fn crd(mut self, definition: Value) -> Self {
        self.definitions.push(definition);
        self
    }

    /// Sets the controllers of the control plane that run. Default: [`Controller::DEFAULT`], those that
    /// create no objects. With none, the cluster is like a kube-apiserver without a kube-controller-manager:
    /// a namespace that is deleted stays `Terminating`, and nothing is garbage-collected.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use kube_sim::{Controller, Sim};
    ///
    /// let sim = Sim::builder().controllers(Controller::ALL).build()?;
    /// assert!(sim.store().get("v1", "ServiceAccount", Some("default"), "default").is_ok());
    /// assert!(sim.store().get("v1", "Service", Some("default"), "kubernetes").is_ok());
    /// # Ok(()) }
    /// ```
    pub fn controllers(mut self, controllers: impl IntoIterator<Item = Controller>) -> Self {
        self.controllers = controllers.into_iter().collect();
        self
    }

    /// Lets clients create [faults](crate::faults) over HTTP. Default: off, because everybody who reaches the
    /// server could break it.
    ///
    /// | request | does |
    /// |---|---|
    /// | `POST /kube-sim/faults` | creates a fault; answers with its `id` |
    /// | `GET /kube-sim/faults` | lists the faults, with the number of requests (`hits`) on which they acted |
    /// | `DELETE /kube-sim/faults`, `/kube-sim/faults/{id}` | ends all of them, or one |
    /// | `POST /kube-sim/cut-watches?resource=pods` | breaks the open watches of a resource, or of all |
    /// | `POST /kube-sim/compact`, `/kube-sim/restart` | [`compact`](crate::faults::Faults::compact), [`restart`](crate::faults::Faults::restart) |
    /// | `GET /kube-sim/requests` | the last requests |
    ///
    /// A fault is a JSON object: `verbs` (of `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`,
    /// `*`), `resource`, and `fault`: `{"refuse": {"code": 409, "retryAfterSeconds": 1}}`, `{"delay": 100}`
    /// (milliseconds), `"cut"`, `"truncate"`, `"silence"`, `"expireContinue"`, `"withholdInitialEventsEnd"`
    /// or `"holdWatches"`; and if wanted `namespace`, `name`, `skip` (requests that pass first), `times`,
    /// `probability` and `applied`.
    ///
    /// ```console
    /// $ curl http://127.0.0.1:40123/kube-sim/faults -d '{
    ///     "verbs": ["update"], "resource": "deployments/status", "times": 3, "fault": {"refuse": {"code": 409}}}'
    /// {"id":1}
    /// ```
    pub fn control_endpoint(mut self) -> Self {
        self.control_endpoint = true;
        self
    }

    /// Whether the cluster serves sharded lists and watches (KEP-5866): the objects whose uid or namespace
    /// has a hash in the ranges of `shardSelector`. Default: true, as a real server with the feature gate
    /// `ShardedListAndWatch`, which is alpha in Kubernetes 1.36 and off by default there. With false,
    /// `shardSelector` is ignored, as by servers without it.
    pub fn sharded_lists(mut self, sharded: bool) -> Self {
        self.sharded_lists = sharded;
        self
    }

    /// Turns access control on: requests are authenticated, and authorized by RBAC, that is, by Roles,
    /// ClusterRoles and their bindings. The roles with which a real server begins exist
    /// ([`Controller::BootstrapRoles`]). Default: off, everybody may do everything.
    ///
    /// Tokens come from [`token`](Self::token) and from service accounts (`serviceaccounts/token`). A request
    /// without a token is by the user `system:anonymous`. A request with an unknown token is refused with
    /// 401, and one that no role allows with 403. Users who may `impersonate` can act as others
    /// (`Impersonate-User`, `Impersonate-Group`). Users who write roles or bindings must have the rights that
    /// these grant. The kubeconfig of the server has the token of an administrator. In the process,
    /// [`SimService::as_user`] sends requests as a user. The [`Store`] ignores access control.
    ///
    /// ```
    /// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kube_sim::Sim;
    ///
    /// let sim = Sim::builder().rbac().build()?;
    /// let client = kube::Client::new(sim.service().as_user("jane", ["developers"]), "default");
    /// let refused = kube::Api::<Pod>::default_namespaced(client).list(&Default::default()).await;
    /// let Err(kube::Error::Api(status)) = refused else { panic!("jane has no role") };
    /// assert_eq!(
    ///     (status.code, status.message.as_str()),
    ///     (403, r#"pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default""#)
    /// );
    /// # Ok(()) }
    /// ```
    pub fn rbac(mut self) -> Self {
        self.access.get_or_insert_default();
        self
    }

    /// Adds a bearer token and the user whose requests have it; turns [`rbac`](Self::rbac) on. The group
    /// `system:masters` may do everything.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let sim = kube_sim::Sim::builder().token("secret", "jane", ["developers"]).build()?;
    /// # Ok(()) }
    /// ```
    pub fn token<G: Into<String>>(
        mut self,
        token: impl Into<String>,
        user: impl Into<String>,
        groups: impl IntoIterator<Item = G>,
    ) -> Self {
        let user = User::new(user, "", groups.into_iter().map(Into::into));
        self.access.get_or_insert_default().add(token.into(), user);
        self
    }

    /// Serves HTTPS, with a certificate of the server's own, which the server's
    /// [kubeconfig](crate::SimServer::kubeconfig) lets clients trust. Default: off, HTTP. kubectl and other
    /// programs that are made with client-go send tokens over HTTPS only.
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// Sets the address on which [`start`](Self::start) listens. Default: 127.0.0.1. Without
    /// [`rbac`](Self::rbac), anybody who reaches it may do everything, so do not listen on an address that
    /// others can reach.
    pub fn address(mut self, address: IpAddr) -> Self {
        self.address = address;
        self
    }

    /// Sets the port on which [`start`](Self::start) listens. Default: 0, any free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Makes the cluster one of a simulated run, which starts at this time.
    #[cfg(feature = "simulation")]
    pub(crate) fn simulated(mut self, time: SystemTime) -> Self {
        self.simulated = Some(time);
        self
    }

    /// Creates the cluster without a socket, for use in this process through [`Sim::service`].
    ///
    /// # Errors
    ///
    /// A custom resource definition that is not valid.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime if there is churn.
    pub fn build(self) -> Result<Sim, StartError> {
        let storage = Storage::new(FIRST_VERSION, self.history);
        let api = Api::new(
            storage,
            Registry::builtin(),
            self.bookmark_interval,
            self.controllers,
            Rules::new(self.seed),
            self.control_endpoint,
        );
        let has_roles = self.access.is_some() || api.controllers.contains(&Controller::BootstrapRoles);
        let api = api.sharded_lists(self.sharded_lists).guarded(self.access);
        let api = Arc::new(match self.simulated {
            Some(time) => api.simulated(time),
            None => api,
        });
        let store = Store::new(api.clone());
        for namespace in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            let object = serde_json::json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace},
            });
            store
                .create(object)
                .expect("an empty cluster takes its namespaces");
        }
        if has_roles {
            api.create_default_roles();
        }
        if api.controllers.contains(&Controller::BootstrapObjects) {
            api.create_first_objects();
        }
        for (name, value, description) in PRIORITIES {
            let object = serde_json::json!({
                "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value,
                "description": description, "preemptionPolicy": "PreemptLowerPriority",
            });
            store
                .create(object)
                .expect("an empty cluster takes its priorities");
        }
        for definition in self.definitions {
            let name = definition["metadata"]["name"].as_str().unwrap_or("").to_owned();
            if let Err(source) = store.create(definition) {
                return Err(StartError::Definition { name, source });
            }
        }
        let workload = Workload::new(self.seed, self.nodes);
        for object in workload.initial_objects(self.pods) {
            store.add(object).expect("the workload's objects are valid");
        }
        let churn = (self.churn > 0.0).then(|| Churn::start(api.clone(), workload, self.pods, self.churn));
        Ok(Sim {
            api,
            churn: Arc::new(Mutex::new(churn)),
        })
    }
}

/// A simulated cluster: its objects, their history and their changes.
///
/// Clones are handles to the same cluster. It needs no socket: [`service`](Self::service) answers requests in
/// this process and uses tokio's clock, paused or not. [`SimServer`](crate::SimServer) is one with a socket.
#[derive(Clone)]
pub struct Sim {
    api: Arc<Api>,
    churn: Arc<Mutex<Option<Churn>>>,
}

impl std::fmt::Debug for Sim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let version = self.store().resource_version();
        f.debug_struct("Sim")
            .field("resource_version", &version)
            .finish_non_exhaustive()
    }
}

impl Sim {
    /// A builder with its defaults: an empty cluster.
    pub fn builder() -> SimBuilder {
        SimBuilder::default()
    }

    /// The API as a tower service, as accepted by `kube::Client::new`.
    pub fn service(&self) -> SimService {
        SimService::new(self.api.clone())
    }

    /// Direct access to the objects, without HTTP.
    pub fn store(&self) -> Store {
        Store::new(self.api.clone())
    }

    /// Makes requests fail, and breaks watches: see [`faults`](crate::faults).
    pub fn faults(&self) -> Faults {
        Faults::new(self.api.clone())
    }

    /// The last requests, the oldest first: 4,096 of them, fewer if their bodies take more than 16 MiB.
    ///
    /// ```
    /// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kube_sim::Sim;
    ///
    /// let sim = Sim::builder().build()?;
    /// let pods = kube::Api::<Pod>::all(kube::Client::new(sim.service(), "default"));
    /// pods.list(&Default::default()).await?;
    /// assert_eq!(sim.requests()[0].to_string(), "GET /api/v1/pods");
    /// # Ok(()) }
    /// ```
    pub fn requests(&self) -> Vec<Received> {
        self.api.requests.all()
    }

    /// Waits until `condition` returns `Some`, and returns the value. The condition is called whenever an
    /// object changes, and every 50 ms, so it may depend on anything: objects, requests, a counter of the
    /// test.
    ///
    /// ```
    /// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kube_sim::Sim;
    /// # use serde_json::json;
    ///
    /// let sim = Sim::builder().build()?;
    /// let maps = kube::Api::<ConfigMap>::default_namespaced(kube::Client::new(sim.service(), "default"));
    /// # sim.store().create(json!({
    /// #     "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"k": "v"},
    /// # }))?;
    /// // A controller runs, which creates a ConfigMap.
    /// let data = sim.eventually(async || maps.get_opt("a").await.ok()??.data).await?;
    /// assert_eq!(data["k"], "v");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The condition did not come true within 10 s of tokio's clock. The error lists the last requests.
    ///
    /// # Cancel safety
    ///
    /// The future can be dropped at any time. Side effects of the condition remain.
    pub async fn eventually<F, T>(&self, condition: impl FnMut() -> F) -> Result<T, NotYet>
    where
        F: Future<Output = Option<T>>,
    {
        self.eventually_within(PATIENCE, condition).await
    }

    /// [`eventually`](Self::eventually) with another time limit than 10 s. With 0, the condition is called
    /// once.
    ///
    /// # Errors
    ///
    /// The condition did not come true in time. The error lists the last requests.
    ///
    /// # Cancel safety
    ///
    /// As for [`eventually`](Self::eventually).
    pub async fn eventually_within<F, T>(
        &self,
        time: Duration,
        condition: impl FnMut() -> F,
    ) -> Result<T, NotYet>
    where
        F: Future<Output = Option<T>>,
    {
        requests::eventually(&self.api.requests, &self.api.storage, time, condition).await
    }

    /// The number of changes by the workload since the start.
    pub fn changes(&self) -> u64 {
        let churn = self.churn.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        churn.as_ref().map_or(0, Churn::changes)
    }

    /// Stops the workload: when this returns, it makes no more changes.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped early, the workload still stops, after its current change.
    pub async fn stop_churn(&self) {
        let stopped = {
            let churn = self.churn.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            churn.as_ref().map(Churn::stop)
        };
        if let Some(stopped) = stopped {
            stopped.await;
        }
    }

    /// Ends all watches and the workload. Later requests are still answered, but new watches end at once.
    ///
    /// # Cancel safety
    ///
    /// Once polled, everything ends even if the future is dropped; only the waiting for the workload stops.
    pub async fn close(&self) {
        self.api.closing.cancel();
        self.stop_churn().await;
    }

    /// A token of an administrator, if the cluster asks for one.
    pub(crate) fn admin_token(&self) -> Option<&str> {
        self.api.access.as_ref().map(Access::admin_token)
    }

    pub(crate) fn closing(&self) -> &tokio_util::sync::CancellationToken {
        &self.api.closing
    }
}
