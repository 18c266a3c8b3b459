//! A server that answers from a script, for tests of a client's requests and of its handling of any response.
//!
//! A [`Sim`](crate::Sim) behaves like an API server; a [`ScriptedServer`] behaves as the script says, down to single
//! bytes: it refuses, is late, falls silent, cuts an object in two or sends garbage. It is a tower service, so with a
//! [`kube::Client`](https://docs.rs/kube/latest/kube/struct.Client.html) in the same process hours of pauses take no
//! time on tokio's paused clock; [`listen`](ScriptedServer::listen) puts it behind a socket.
//!
//! ```
//! # use std::time::Duration;
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::{Api, Client, api::ListParams};
//! use kube_sim::script::{Answer, Kind, ScriptedServer};
//!
//! let maps = Kind::new("v1", "ConfigMap");
//! let server = ScriptedServer::new()
//!     .expect("GET /api/v1/namespaces/ns/configmaps?limit=2", Answer::status(410, "Expired", "too old"))
//!     .expect("GET /api/v1/namespaces/ns/configmaps?limit=2", Answer::json(maps.list("7", [maps.object("ns/a", "5")])));
//!
//! let api: Api<ConfigMap> = Api::namespaced(Client::new(server.service(), "default"), "ns");
//! let two = ListParams::default().limit(2);
//! assert!(api.list(&two).await.is_err());
//! assert_eq!(api.list(&two).await?.items.len(), 1);
//! server.assert_finished();
//! # Ok(()) }
//! ```
//!
//! A server that behaves, but for some requests, needs no script: see [`faults`](crate::faults), which take the same
//! [`Answer`]s.
//!
//! # Order
//! The requests for one method and path have to come in the order of the script. Those for different paths are
//! independent of each other, so that one script serves several informers.
//!
//! # Deviations
//! A request that differs from the one that is expected panics in the task that made it, with both in the message;
//! behind a socket, the panic is that of the connection, which closes. So does a request for a path that the script
//! never mentions. A request *beyond* the script, when all that was expected for its path has come, is never answered.
//! [`assert_finished`](ScriptedServer::assert_finished) reports both, and what has not come.

mod answer;
mod request;
mod server;

pub use answer::{Answer, Kind, event, status};
pub use request::{Expected, Received};
pub use server::{ScriptedListener, ScriptedServer, ScriptedService};
