//! An in-memory Kubernetes API server with real list and watch semantics, for tests and demos.
//!
//! ```
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use kube_sim::Sim;
//! use serde_json::json;
//! # use k8s_openapi::api::core::v1::ConfigMap;
//! # use kube::{Api, Client};
//!
//! // A cluster in the process, without a socket; Use `start` instead of `build` for a server with a socket.
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
//! A request goes from `server` (sockets) through `http` (routes and forms) to `api` (what LIST, WATCH and the writes
//! mean) and `storage` (objects, history, snapshots); `control` is what the control plane does about changes. `workload` creates realistic objects and changes them.
//!
//! What goes wrong in a real cluster goes wrong on request: see [`faults`]. For responses that no API server sends, there is a server that answers from a [`script`].
//!
//! # Limits
//!
//! It has no authentication, no admission, no schemas and no server-side apply, and of the [controllers](Controller) only
//! those that end objects; `managedFields` are stored unchanged. See the README for all differences from a real server.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod api;
mod control;
mod discovery;
pub mod faults;
mod http;
mod media;
mod nesting;
mod object;
mod openapi;
mod requests;
mod resources;
mod response;
pub mod script;
mod selector;
mod server;
mod sim;
mod status;
mod storage;
mod store;
mod table;
mod workload;

pub use crate::http::SimService;
pub use control::Controller;
pub use requests::{Eventually, NotYet};
pub use response::SimBody;
pub use server::SimServer;
pub use sim::{Sim, SimBuilder, StartError};
pub use status::StatusError;
pub use store::Store;
