//! A cluster for a test that any API server can answer: simulated by default, a real one on demand.
//!
//! The environment variable [`VARIABLE`] says which: `simulator` (or nothing) or `real`. Such a test changes objects
//! only through the API, and expects of the cluster only what all have: four namespaces, and config maps in some of
//! them. `conformance/run` runs these tests twice.

use std::path::PathBuf;
use std::time::Duration;

use kube::api::{Api, DeleteParams, DynamicObject, ListParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind, TypeMeta};
use kube_sim::SimServer;
use serde_json::Value;

use crate::real_server::{RealServer, User};

/// The name of the environment variable that chooses the cluster.
pub const VARIABLE: &str = "KUBE_INFORMER_SERVER";

/// A cluster of a test's own. It ends when it is dropped.
#[must_use = "the cluster ends when it is dropped"]
pub struct Cluster {
    server: Server,
    client: kube::Client,
    config: kube::Config,
}

#[derive(Debug)]
enum Server {
    Simulated(SimServer, tempfile::TempDir),
    Real(Box<RealServer>),
}

impl Cluster {
    /// A cluster as the environment wants it, with nothing in it but its namespaces.
    ///
    /// # Panics
    ///
    /// When it cannot be started, or the environment asks for one that is not known.
    pub async fn start() -> Self {
        match std::env::var(VARIABLE).as_deref().unwrap_or("simulator") {
            "simulator" => Self::simulated().await,
            "real" => Self::real(RealServer::start().await.expect("a real server")).await,
            other => panic!("{VARIABLE} is {other:?}, must be `simulator` or `real`"),
        }
    }

    async fn simulated() -> Self {
        // A real one has no controllers either.
        let server = SimServer::builder().controllers([]).start().await;
        let server = server.expect("a free port");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("kubeconfig.yaml"), server.kubeconfig()).expect("a file");
        let config = kube::Config::new(server.url().parse().expect("a URL"));
        Self::new(Server::Simulated(server, folder), config)
    }

    /// This real server as the cluster.
    ///
    /// # Panics
    ///
    /// When there can be no client of it.
    pub async fn real(server: RealServer) -> Self {
        let config = server.config(&User::admin()).await.expect("a configuration");
        Self::new(Server::Real(Box::new(server)), config)
    }

    fn new(server: Server, mut config: kube::Config) -> Self {
        config.default_retry = false;
        let client = kube::Client::try_from(config.clone()).expect("a client");
        Self {
            server,
            client,
            config,
        }
    }

    /// A client of somebody who may everything, in the namespace `default`; it leaves retries to its user.
    pub fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// The configuration of such a client.
    pub fn config(&self) -> kube::Config {
        self.config.clone()
    }

    /// A kubeconfig file; its current context is [`context`](Self::context).
    pub fn kubeconfig(&self) -> PathBuf {
        match &self.server {
            Server::Simulated(_, folder) => folder.path().join("kubeconfig.yaml"),
            Server::Real(server) => server.kubeconfig(),
        }
    }

    /// The server, if it is a real one.
    pub fn real_server(&self) -> Option<&RealServer> {
        match &self.server {
            Server::Simulated(..) => None,
            Server::Real(server) => Some(server),
        }
    }

    /// The name of the context.
    pub fn context(&self) -> &'static str {
        match &self.server {
            Server::Simulated(..) => "kube-sim",
            Server::Real(_) => "admin",
        }
    }

    /// What leads a command line here: `--server URL`, where no credentials are needed, or `--kubeconfig FILE`.
    pub fn arguments(&self) -> String {
        match &self.server {
            Server::Simulated(server, _) => format!("--server {}", server.url()),
            Server::Real(server) => format!("--kubeconfig {}", server.kubeconfig().display()),
        }
    }

    /// Creates an object; its `apiVersion`, `kind` and metadata say where. A custom resource definition is served when
    /// this returns.
    ///
    /// # Panics
    ///
    /// When the server refuses it.
    pub async fn create(&self, object: Value) -> Value {
        let created = self
            .api(&object)
            .create(&PostParams::default(), &read(object))
            .await;
        let created = written(created.expect("the server takes the object"));
        if created["kind"] == "CustomResourceDefinition" {
            self.served(&created).await;
        }
        created
    }

    /// Replaces an object, whatever its version.
    ///
    /// # Panics
    ///
    /// When the server refuses it.
    pub async fn update(&self, mut object: Value) -> Value {
        let api = self.api(&object);
        let name = object["metadata"]["name"].as_str().expect("a name").to_owned();
        let current = api.get_metadata(&name).await.expect("it is there");
        object["metadata"]["resourceVersion"] = current.metadata.resource_version.into();
        let updated = api.replace(&name, &PostParams::default(), &read(object)).await;
        written(updated.expect("the server takes the object"))
    }

    /// Deletes an object.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    pub async fn delete(&self, object: &Value) {
        let name = object["metadata"]["name"].as_str().expect("a name");
        let deleted = self.api(object).delete(name, &DeleteParams::default()).await;
        deleted.expect("the server deletes the object");
    }

    /// All objects of a kind, of all namespaces, with their kind.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    pub async fn list(&self, api_version: &str, kind: &str) -> Vec<Value> {
        let api: Api<DynamicObject> = Api::all_with(self.client(), &resource(api_version, kind));
        let list = api.list(&ListParams::default()).await.expect("the server lists");
        let types = TypeMeta {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        };
        let typed = list.items.into_iter().map(|mut object| {
            object.types = Some(types.clone());
            written(object)
        });
        typed.collect()
    }

    /// The newest resource version of a kind's objects, or a later one.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    pub async fn resource_version(&self, api_version: &str, kind: &str) -> String {
        let api: Api<DynamicObject> = Api::all_with(self.client(), &resource(api_version, kind));
        let list = api
            .list(&ListParams::default().limit(1))
            .await
            .expect("the server lists");
        list.metadata.resource_version.expect("lists have a version")
    }

    /// Ends it: nobody answers any more.
    pub async fn shutdown(self) {
        if let Server::Simulated(server, _) = self.server {
            server.shutdown().await;
        }
    }

    fn api(&self, object: &Value) -> Api<DynamicObject> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let resource = resource(&text(&object["apiVersion"]), &text(&object["kind"]));
        match object["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(self.client(), namespace, &resource),
            None => Api::all_with(self.client(), &resource),
        }
    }

    /// Waits until clients that ask for all resources are told of this one.
    async fn served(&self, definition: &Value) {
        let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        let name = definition["spec"]["names"]["plural"].to_string();
        for _ in 0..600 {
            let discovery = http::Request::get("/apis").header("accept", accept);
            let discovery = discovery.body(Vec::new()).expect("a request");
            let known = self
                .client
                .request_text(discovery)
                .await
                .expect("discovery is answered");
            if known.contains(&format!("\"resource\":{name}")) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{name} is not served in time");
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.server.fmt(f)
    }
}

fn resource(api_version: &str, kind: &str) -> ApiResource {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

fn read(object: Value) -> DynamicObject {
    serde_json::from_value(object).expect("an object")
}

fn written(object: DynamicObject) -> Value {
    serde_json::to_value(object).expect("an object")
}
