//! Kubernetes informers: a local, indexed copy of the objects you care about, and notice of every change.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kube_informer::{Notification, SharedInformerFactory};
//! use std::time::Duration;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let factory = SharedInformerFactory::new(kube::Client::try_default().await?);
//!     let pods = factory.informer::<Pod>();
//!     let by_node = pods.store().add_index("by-node", |pod| pod.spec.as_ref()?.node_name.clone())?;
//!     pods.add_handler("log", |change: Notification<Pod>| println!("{change:?}"))?.detach();
//!
//!     factory.start();
//!     factory.wait_for_sync(Duration::from_secs(30)).await?;
//!     println!("{} pods, {} of them on node-1", pods.store().len(), pods.store().by(&by_node, "node-1")?.len());
//!     factory.shutdown().await?;
//!     Ok(())
//! }
//! ```
//!
//! # The parts
//! From the network to the user's code, each usable on its own:
//!
//! | module | holds |
//! |---|---|
//! | [`object`] | keys, resource versions, what it takes to be held by an informer |
//! | [`wire`] | bytes to raw objects: frames, lists as they arrive, a scan for metadata |
//! | [`form`] | raw objects to the form in which they are held |
//! | [`source`] | list and watch requests and their answers |
//! | [`queue`] | [`DeltaFifo`](queue::DeltaFifo): changes by key, bounded |
//! | [`store`] | [`Indexer`](store::Indexer): objects, indexes, snapshots |
//! | [`reflector`] | keeps a sink equal to a collection |
//! | [`informer`] | [`SharedInformer`]: one store, any number of handlers, a reflector for each part of the collection |
//! | [`factory`], [`lister`] | sharing and lifetime; typed read views |
//! | [`watcher`] | watching without a cache |

pub mod factory;
mod field_path;
pub mod form;
pub mod informer;
pub mod lister;
pub mod object;
pub mod queue;
pub mod reflector;
pub mod selector;
pub mod source;
pub mod store;
pub mod watcher;
pub mod wire;

pub use factory::{InformerRequest, SharedInformerFactory};
pub use field_path::{FieldPath, ParseFieldPathError};
pub use informer::{
    Delivery, HandlerOptions, NamespaceSet, Notification, Notifications, PanicPolicy, Registration,
    ResourceEventHandler, ResourceEventHandlerFuncs, SharedInformer,
};
pub use kube_informer_derive::Object;
pub use lister::Lister;
pub use object::{
    DeleteCause, Deleted, Fingerprint, Known, Object, ObjectKey, ParseKeyError, Partition, ResourceVersion,
};
