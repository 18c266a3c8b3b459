//! Kubernetes informers: a program keeps an indexed, up-to-date copy of the objects that it selects, and its
//! handlers are called for every change.
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
//!     println!("{} pods, {} of them on node-1", pods.store().len(), pods.store().by_index(&by_node, "node-1")?.len());
//!     factory.shutdown().await?;
//!     Ok(())
//! }
//! ```
//!
//! # Guides
//! [A first informer](guide::first_informer), coming [from client-go](guide::from_client_go) or [from
//! kube-rs](guide::from_kube_rs), [choosing a form](guide::forms), [what is guaranteed and what
//! not](guide::guarantees). The crate
//! [`kube-controller`](https://docs.rs/kube-controller/latest/kube_controller/guide/) has guides for
//! controllers, for tests without a cluster, and for production.
//!
//! # I want to ...
//!
//! | I want to | with |
//! |---|---|
//! | watch a few kinds, each once for the whole program | [`SharedInformerFactory`] |
//! | select by label, field or namespace; follow namespaces that come and go | [`InformerRequest`], [`NamespaceSet`] |
//! | read the objects: one, all, by label | [`Lister`] |
//! | read them by an index, or all from one consistent state | [`store::Indexer`] |
//! | be told of changes | [`SharedInformer::add_handler`], [`ResourceEventHandler`]; as a stream: [`SharedInformer::subscribe`] |
//! | put keys on a work queue, also those of owners | [`enqueue`](informer::enqueue), with the crate [`kube-workqueue`](https://docs.rs/kube-workqueue) |
//! | not act on a cache that has not seen my own write | [`WriteTracker`](informer::WriteTracker) |
//! | keep a large collection in little memory | [`Packed`](form::Packed): `factory.informer::<Packed<Pod>>()` |
//! | start from what the last run knew, without a list | [`warm_start`] |
//! | use less CPU time to receive large lists | [`client`] |
//! | keep only some fields of each object | the derive [`CachedObject`](macro@CachedObject), or a [`FieldPlan`] |
//! | change objects before they are kept | [`FactoryBuilder::transform`](factory::FactoryBuilder::transform), [`Transform`](informer::Transform) |
//! | use a kind that is known only at run time | [`InformerRequest::of`] with [`DynamicObject`](kube::core::DynamicObject) |
//! | divide the objects among several processes | [`ShardSet`], [shards of a factory](factory#shards); who has which: [`kube_controller::shard_group`](https://docs.rs/kube-controller/latest/kube_controller/shard_group/) |
//! | know why it has not synced, and what failed | [`wait_for_sync`](SharedInformerFactory::wait_for_sync), [`on_error`](factory::FactoryBuilder::on_error), [`SharedInformer::status`] |
//! | know that an informer has ended | [`SharedInformer::stopped`] |
//! | wait until something has happened | [`until_with_sync`](informer::until_with_sync); without a cache: [`watcher`] |
//! | list once, in pages | [`Pager`](reflector::Pager) |
//! | match labels as a Deployment's selector does | [`LabelSelector`](selector::LabelSelector) |
//! | read from something that is no API server | [`ListerWatcher`](source::ListerWatcher), [`informer_with_source`](SharedInformerFactory::informer_with_source) |
//! | put the parts together in my own way | [`low_level`] |
//!
//! # Modules
//! What most programs need is at the root. The modules hold the rest, by subject:
//!
//! | module | holds |
//! |---|---|
//! | [`factory`] | sharing and lifetime of informers |
//! | [`informer`] | [`SharedInformer`]: one store, any number of handlers, a reflector for each part of the collection |
//! | [`store`], [`lister`] | objects, indexes, snapshots; typed read views |
//! | [`form`] | how objects are stored: decoded, packed, projected |
//! | [`warm_start`] | caches that are saved to a directory |
//! | [`client`] | a `kube::Client` that uses less CPU time to receive large lists |
//! | [`selector`] | label and field selectors |
//! | [`reflector`] | list and watch: options, status, pages |
//! | [`source`] | requests and their answers; sources of one's own |
//! | [`watcher`] | watching without a cache |
//! | [`low_level`] | queues, readers of bytes, sinks: the parts of an informer |
//!
//! # Metrics
//! Informers and reflectors report to the recorder of the `metrics` crate that is installed when they are
//! built and run, under client-go's names; without a recorder, nothing is counted. All have the labels `name`
//! (the one given to the [informer](informer::InformerBuilder::name) or
//! [reflector](reflector::Reflector::name), else empty), `group`, `version` and `resource`. Equal labels are
//! summed, also over the namespaces of an informer, so names need not be unique. The two resource versions,
//! which cannot be summed, have the label `namespace` as well (empty: all of them). They show the last value
//! that was set, and 0 once the informer no longer watches that namespace.
//!
//! | metric | type | what |
//! |---|---|---|
//! | `reflector_lists_total` | counter | lists that were completed, streaming ones too |
//! | `reflector_list_duration_seconds` | histogram | time from the request for a list to its end |
//! | `reflector_items_per_list` | histogram | objects in a list |
//! | `reflector_received_bytes_total` | counter | size of the objects that came in lists and watches, as JSON or protobuf |
//! | `reflector_watches_total` | counter | watches that were opened; one that goes on from a streaming list counts |
//! | `reflector_short_watches_total` | counter | watches that ended within a second without any event |
//! | `reflector_watch_duration_seconds` | histogram | time from the opening of a watch to its end |
//! | `reflector_items_per_watch` | histogram | changes in a watch, bookmarks aside |
//! | `reflector_last_resource_version` | gauge | the version up to which changes have been seen; its last 15 digits |
//! | `informer_queued_items` | gauge | changes that wait to be applied to the store; a list is one |
//! | `informer_processing_latency_seconds` | histogram | time it takes to apply what was taken from the queue at once |
//! | `informer_store_resource_version` | gauge | the version up to which the store is complete; its last 15 digits |
//!
//! # Features
//! `packed`, on by default, is the form [`Packed`](form::Packed), whose compression (zstd) needs a C
//! compiler. `simd-json`, on by default, decodes whole objects by simd-json instead of `serde_json`, in less
//! time; see [numbers](form#numbers). `protobuf`, on by default, asks for Kubernetes' protobuf where a server
//! may have it ([more](source::ClientSource::encoding)). `rustls-tls`, off by default, is the module [`client`]: a
//! `kube::Client` that uses less CPU time to receive large lists.
//!
//! # Tracing
//! Lists, watches and the application of changes are `tracing` spans `list`, `watch` and `apply` of level
//! debug, with the fields `kind`, `namespace` and `resource_version`. No span, event or metric ever holds an
//! object's content. Handlers and batches that are slow while others wait are warnings.

// Links to what a feature that is off would hold.
#![cfg_attr(
    not(all(feature = "packed", feature = "rustls-tls")),
    allow(rustdoc::broken_intra_doc_links)
)]

#[cfg(feature = "rustls-tls")]
pub mod client;
mod drain_shrinking;
pub mod factory;
mod field_path;
pub mod form;
#[cfg(any(doc, doctest))]
pub mod guide;
pub mod informer;
pub mod lister;
pub mod low_level;
mod metrics;
mod object;
mod panics;
pub mod reflector;
pub mod selector;
pub mod source;
pub mod store;
mod time;
pub mod warm_start;
pub mod watcher;

#[doc(inline)]
pub use factory::{InformerRequest, SharedInformerFactory};
#[doc(inline)]
pub use field_path::{FieldPath, ParseFieldPathError};
#[doc(inline)]
pub use informer::{
    Delivery, HandlerOptions, NamespaceSet, Notification, Notifications, PanicPolicy, Registration,
    ResourceEventHandler, ResourceEventHandlerFuncs, ShardHold, ShardSet, SharedInformer,
};
#[doc(inline)]
pub use kube_informer_derive::CachedObject;
#[doc(inline)]
pub use lister::Lister;
#[doc(inline)]
pub use low_level::wire::plan::{FieldPlan, PruneError};
#[doc(inline)]
pub use object::{
    CachedObject, DeleteCause, Deleted, Fingerprint, HasOwners, ObjectKey, ParseKeyError, Partition,
    ResourceVersion,
};

// The layers above `low_level` name these two as if they were at the root.
use low_level::{queue, wire};
