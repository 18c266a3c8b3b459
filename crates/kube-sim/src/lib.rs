//! An in-memory Kubernetes API server with real list and watch semantics, for tests and demos.
//!
//! ```
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use kube_sim::Sim;
//! use serde_json::json;
//! # use k8s_openapi::api::core::v1::ConfigMap;
//! # use kube::{Api, Client};
//!
//! // A cluster in the process, without a socket. `start` instead of `build` makes a server with a socket.
//! let sim = Sim::builder().nodes(3).pods(20).build()?;
//! let client = Client::new(sim.service(), "default");
//!
//! sim.store().create(json!({
//!     "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"},
//! }))?;
//! let found = Api::<ConfigMap>::default_namespaced(client).get("a").await?;
//! assert_eq!(found.metadata.name.as_deref(), Some("a"));
//! # Ok(()) }
//! ```
//!
//! # Your first controller test
//!
//! The controller below keeps a ConfigMap for each Service. Replace it by yours, which needs only a
//! [`kube::Client`](https://docs.rs/kube/latest/kube/struct.Client.html). The test makes two creations fail,
//! and deletes the Service at the end. It takes a few milliseconds, because it runs on tokio's paused clock.
//!
//! ```toml
//! [dev-dependencies]
//! kube-sim = { version = "0.1", features = ["kube"] }
//! serde_json = "1"
//! tokio = { version = "1", features = ["macros", "rt", "test-util"] }
//! ```
//!
//! ```
//! use std::time::Duration;
//!
//! use k8s_openapi::api::core::v1::{ConfigMap, Service};
//! use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams};
//! use kube::{Client, Resource as _, ResourceExt as _};
//! use kube_sim::Sim;
//! use kube_sim::faults::POST;
//!
//! // The controller.
//! async fn reconcile(client: &Client, service: &Service) -> kube::Result<()> {
//!     let maps = Api::<ConfigMap>::default_namespaced(client.clone());
//!     let map = ConfigMap {
//!         metadata: ObjectMeta {
//!             name: service.metadata.name.clone(),
//!             owner_references: service.controller_owner_ref(&()).map(|owner| vec![owner]),
//!             ..ObjectMeta::default()
//!         },
//!         ..ConfigMap::default()
//!     };
//!     match maps.create(&PostParams::default(), &map).await {
//!         Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
//!         created => created.map(drop),
//!     }
//! }
//!
//! async fn run(client: Client) {
//!     let services = Api::<Service>::default_namespaced(client.clone());
//!     loop {
//!         for service in services.list(&ListParams::default()).await.into_iter().flatten() {
//!             if let Err(error) = reconcile(&client, &service).await {
//!                 eprintln!("{}: {error}", service.name_any());
//!             }
//!         }
//!         tokio::time::sleep(Duration::from_secs(30)).await;
//!     }
//! }
//!
//! // The test: in yours, `#[tokio::test(start_paused = true)]`.
//! #[tokio::main(flavor = "current_thread", start_paused = true)]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let sim = Sim::builder().build()?;
//!     let client = Client::new(sim.service(), "default");
//!     let services = Api::<Service>::default_namespaced(client.clone());
//!     let maps = Api::<ConfigMap>::default_namespaced(client.clone());
//!     sim.faults().refuse(POST, "configmaps", 500).times(2);
//!     let controller = tokio::spawn(run(client));
//!
//!     let web = serde_json::from_value(serde_json::json!({"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}))?;
//!     services.create(&PostParams::default(), &web).await?;
//!     let within = Duration::from_secs(300);
//!     let map = sim.eventually_within(within, async || maps.get_opt("web").await.ok()?).await?;
//!     assert_eq!(map.owner_references()[0].name, "web");
//!     let tries = sim.requests().into_iter().filter(|request| request.method == "POST" && request.path.ends_with("maps"));
//!     assert!(tries.count() >= 3);
//!
//!     // The ConfigMap is deleted with its owner.
//!     services.delete("web", &DeleteParams::default()).await?;
//!     assert!(maps.get_opt("web").await?.is_none());
//!     controller.abort();
//!     Ok(())
//! }
//! ```
//!
//! What to read next:
//!
//! - **A guide.** [Testing](https://docs.rs/kube-controller/latest/kube_controller/guide/testing/) in
//!   `kube-controller` describes what to test of a controller, and how.
//! - **Objects.** [`Store`] creates and changes objects without HTTP, [`SimBuilder::crd`] adds custom
//!   resource definitions, and [`SimBuilder::pods`] adds pods and nodes.
//! - **Faults.** [`faults`] makes conflicts, broken and silent watches, stale reads, restarts and restored
//!   backups, with one line each. You need no layers around the client for that:
//!
//!   ```
//!   # fn main() -> Result<(), Box<dyn std::error::Error>> {
//!   # use k8s_openapi::api::core::v1::Pod;
//!   # use kube_sim::{Sim, faults::*};
//!   # let sim = Sim::builder().build()?;
//!   sim.faults().refuse(PUT | PATCH, "deployments/status", 409).times(3);
//!   sim.faults().refuse(LIST, "pods", 429).retry_after(5).nth(2);
//!   sim.faults().cut(POST, "pods").applied().probability(0.1);
//!   sim.faults().cut_watches::<Pod>();
//!   let silence = sim.faults().hold_watches::<Pod>().start();
//!   silence.remove();
//!   # Ok(()) }
//!   ```
//!
//!   Methods with a type parameter need the feature `kube`; without it, use `cut_watches_of("pods")`.
//! - **Random faults.** The module `simulation` (feature `simulation`) runs the controller through thousands
//!   of schedules of crashes, stale reads and lost answers, and shows the smallest schedule that breaks one
//!   of your conditions.
//! - **Assertions.** [`Sim::eventually`] waits until a condition holds. [`Sim::requests`] returns the
//!   requests that were sent.
//! - **Time.** In the process, everything uses tokio's clock: while it is paused, an hour of backoff takes no
//!   time. Do not pause it over a socket ([`SimServer`]).
//! - **The control plane.** Garbage collection, the end of namespaces and the end of pods happen before the
//!   request that causes them is answered; see [`Controller`] for what runs. Nothing acts on Deployments or
//!   Jobs: the test plays their controllers, and writes a status with [`Store::update`].
//!
//! # Inside
//!
//! A request goes from `server` (sockets) through `media` (protobuf, YAML; `compression` comes last) and
//! `http` (routes and forms), past the `faults`, to `api` (LIST, WATCH and the writes) and `storage`
//! (objects, history, snapshots). `apply` computes which manager owns which field, `specs` has the server's
//! defaults and validation, `limits` what a namespace may use, and `control` is the control plane. `simulation` stands between a program's
//! client and all of it. `workload` creates realistic objects and changes them.
//!
//! For answers that no API server sends, there is a server that answers from a [`script`].
//!
//! # Limits
//!
//! Access control is off by default ([`SimBuilder::rbac`] turns it on). Admission is by webhooks and by policies in CEL. Of the
//! [controllers](Controller), only those that create no objects run by default. The README lists all
//! differences from a real server.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod access;
mod admission;
mod api;
mod apply;
mod carried;
mod certificates;
mod compression;
mod control;
mod conversion;
mod discovery;
pub mod faults;
mod http;
mod issuer;
mod limits;
mod media;
mod meta;
mod metrics;
mod names;
mod nesting;
mod number;
mod object;
mod openapi;
mod path;
mod pod_security;
mod quantity;
mod refusals;
mod requests;
mod resources;
mod response;
mod schema;
pub mod script;
mod selector;
mod server;
mod sim;
#[cfg(feature = "simulation")]
pub mod simulation;
mod specs;
mod status;
mod storage;
mod store;
mod table;
mod target;
mod tls;
mod version;
mod view;
mod warnings;
mod webhook;
mod workload;
mod yaml;

pub use crate::http::SimService;
pub use control::controller::Controller;
pub use requests::NotYet;
pub use response::SimBody;
pub use server::SimServer;
pub use sim::{Sim, SimBuilder, StartError};
pub use status::StatusError;
pub use store::Store;
