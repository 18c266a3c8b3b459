//! Shared informers: one watch and one store for any number of handlers and readers.
//!
//! Building an informer returns two parts. The [`SharedInformer`] is a handle, cheap to clone, for reading
//! the store and adding handlers, before the informer runs or at any time while it runs. The
//! [`InformerRunner`] is run once.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kube::core::ApiResource;
//! use kube_informer::source::{ClientSource, Selection};
//! use kube_informer::{Notification, SharedInformer};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let source = ClientSource::new(client, ApiResource::erase::<Pod>(&()), Selection::default());
//! let (informer, runner) = SharedInformer::builder(source).build();
//! informer.add_handler("log", |change: Notification<Pod>| println!("{change:?}"))?.detach();
//!
//! let stop = CancellationToken::new();
//! let running = tokio::spawn(runner.run(stop.clone()));
//! informer.synced().await?;
//! println!("{} pods", informer.store().len());
//! stop.cancel();
//! running.await??;
//! # Ok(())
//! # }
//! ```
//!
//! Most programs do not build informers individually but get them from a
//! [factory](crate::SharedInformerFactory).
//!
//! # Data flow
//! The *reflector* reads changes from the server and pushes them into the queue. The *process loop* pops
//! everything that is queued; its *driver* applies it to the store, publishes it as one new state, and passes
//! the notifications to the *listeners*. Each listener has a queue and a task that calls its handler. So an
//! informer has one task for each partition (one, or one for each namespace), one for the process loop, and
//! one for each handler. Large bursts are decoded with the help of tokio's blocking threads.
//!
//! # Consistency
//! The store is changed before the notification of that change is sent, so a handler finds the notified state
//! in the store, or a newer one. Each handler receives one notification at a time, and those of one object in
//! the order of the server's states. A handler that is added late receives initial adds for all stored
//! objects, then every change.
//!
//! # Several namespaces
//! An informer [over a set of namespaces](SharedInformer::over_namespaces) lists and watches each of them
//! separately, and presents them as one collection. Each has its own resource version, errors and recovery: a
//! forbidden or slow namespace does not stop the others, and a relist of one does not affect the others. The
//! [status](InformerStatus::partitions) and errors name the namespace. The set can change at any time:
//!
//! - *A namespace that is added* is listed and watched. The informer [has synced](SharedInformer::has_synced)
//!   again when its objects are in the store. Handlers receive adds for them. These are *initial* only if the
//!   informer had not synced before, because a handler's initial state ends when it has received all of it.
//! - *A namespace that is removed* is no longer watched, and its objects leave the store at once. Handlers
//!   receive deletions with [`DeleteCause::Unselected`](crate::DeleteCause::Unselected), because the objects
//!   may still exist.
//!
//! [`wait_until`](crate::store::Indexer::wait_until) waits for all watched namespaces. A namespace that was
//! just added is included as soon as the informer has started to watch it, so wait for
//! [`synced`](SharedInformer::synced) first. To wait for one namespace only, wait for its
//! [partition](SharedInformer::partition).
//!
//! # Slow handlers
//! A slow handler delays neither other handlers nor the store. Its queue is bounded: beyond a capacity,
//! notifications of one object are [merged](Delivery).
//!
//! # Shards
//! An informer can be [over a set of shards](SharedInformer::over_shards): the objects whose uid or namespace
//! has a hash in some ranges. Shards that are added to the set at the same time are one partition, with one
//! list and one watch; its request becomes narrower when shards are removed, by the next watch. The server
//! must have sharded lists and watches (KEP-5866, feature gate `ShardedListAndWatch`), else it sends all
//! objects, and the informer leaves out those of other shards.
//!
//! While the set is empty, the informer [has synced](SharedInformer::has_synced), with no objects. As with
//! namespaces, adds of a shard's objects are *initial* only if the informer had not synced before, so those
//! of the first shards are not if the informer runs before it has any.
//!
//! When a shard is removed, handlers are told of the deletion of its objects
//! ([`DeleteCause::Unselected`](crate::DeleteCause::Unselected)). Objects of other shards are not listed
//! again. The informer [holds](ShardSet::hold) a shard until its objects have left the store. An informer
//! that is [not shared](InformerBuilder::build_unshared) keeps the shards that were in the set when it was
//! built, and does not hold them.
//!
//! # Stopping
//! [`InformerRunner::run`] returns when every task has ended. Handlers finish their running call; pending
//! notifications are dropped. The store stays readable.

mod applier;
mod blocking;
mod builder;
mod coalescing;
mod driver;
pub mod enqueue;
mod filtered;
mod handler;
mod handler_options;
mod listener;
mod loader;
mod namespaces;
mod notification;
mod partitions;
mod processor;
mod reflectors;
mod registration;
mod runner;
mod saved;
mod saver;
mod shards;
mod status;
mod transform;
mod unshared;
mod until;
mod write_tracker;

pub use blocking::blocking;
pub use builder::InformerBuilder;
pub(crate) use builder::InformerOptions;
pub use coalescing::Delivery;
pub use filtered::Filtered;
pub use handler::{ResourceEventHandler, ResourceEventHandlerFuncs};
pub use handler_options::{HandlerOptions, PanicPolicy};
pub use namespaces::NamespaceSet;
pub use notification::Notification;
pub use partitions::PartitionStatus;
pub use registration::{Notifications, Registration};
pub use runner::{InformerRunner, RunError};
pub use shards::{ShardHold, ShardSet};
pub(crate) use status::short_name;
pub use status::{InformerStatus, Unsynced};
pub(crate) use transform::FormlessTransform;
pub use transform::{AnyObject, Transform};
pub use unshared::UnsharedInformer;
pub use until::until_with_sync;
pub use write_tracker::WriteTracker;

use crate::form::Decode;
use crate::lister::Lister;
use crate::object::{CachedObject, Partition};
use crate::queue::DeltaFifo;
use crate::reflector::ReflectorStatus;
use crate::source::{DecodeResult, ListerWatcher, NamespacedSource, ShardedSource};
use crate::store::{Indexer, Lease};
use crate::warm_start::{Progress, Start};
use applier::NotIndexed;
use listener::Listener;
use partitions::{Location, Partitions};
use processor::Processor;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// The informer has been stopped, or its runner was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the informer was stopped")]
pub struct Stopped;

/// State shared by the informer's handles and tasks.
struct Shared<O: CachedObject> {
    resource: String,
    store: Indexer<O::Handle>,
    processor: Arc<Processor<O>>,
    fifo: DeltaFifo<DecodeResult<O>>,
    partitions: Partitions,
    not_indexed: Arc<NotIndexed>,
    /// The size of the objects, as far as their decoder counts it and is still there.
    held_bytes: Box<dyn Fn() -> Option<u64> + Send + Sync>,
    /// `None` if no warm start was asked for.
    warm_start: Option<Arc<Progress>>,
    new_jobs: mpsc::UnboundedSender<runner::Job>,
    /// Cancelled when every task has ended.
    ended: CancellationToken,
}

impl<O: CachedObject> Shared<O> {
    /// So many restored objects of a partition are in the store.
    fn restored(&self, partition: Partition, objects: usize) {
        self.partitions.set_restored(partition, objects > 0);
        if let (Some(progress), Some(name)) = (&self.warm_start, self.partitions.name(partition)) {
            progress.restored(&name, objects);
        }
    }

    /// Forgets a partition, whose objects have left the store.
    fn removed(&self, partition: Partition) {
        if let (Some(progress), Some(name)) = (&self.warm_start, self.partitions.name(partition)) {
            progress.rejected(&name, "its namespace is no longer selected".to_owned());
        }
        self.partitions.remove(partition);
    }
}

/// A cache of a collection, with handlers that are notified of changes; see the [module](self).
///
/// A clone is another handle to the same informer.
#[doc(alias = "SharedIndexInformer")]
pub struct SharedInformer<O: CachedObject> {
    shared: Arc<Shared<O>>,
    /// The store; it contains the handle's lease.
    store: Indexer<O::Handle>,
    /// The default resync period of handlers that are added through this handle.
    resync: Option<Duration>,
}

impl<O: CachedObject> Clone for SharedInformer<O> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            store: self.store.clone(),
            resync: self.resync,
        }
    }
}

impl<O: CachedObject> std::fmt::Debug for SharedInformer<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let status = self.status();
        f.debug_struct("SharedInformer")
            .field("resource", &self.shared.resource)
            .field("synced", &status.synced)
            .field("objects", &status.objects)
            .finish_non_exhaustive()
    }
}

impl<O: Decode> SharedInformer<O> {
    /// Builds an informer of the objects of `source`.
    pub fn builder(source: impl ListerWatcher<O>) -> InformerBuilder<O> {
        InformerBuilder::whole(Arc::new(source))
    }

    /// Builds an informer of the objects of `source` in several namespaces: one store, one set of handlers,
    /// and one list and watch for each namespace. The informer follows changes of the [set](NamespaceSet);
    /// see [Several namespaces](self#several-namespaces).
    ///
    /// ```no_run
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kube::core::ApiResource;
    /// use kube_informer::source::{ClientSource, Selection};
    /// use kube_informer::{NamespaceSet, SharedInformer};
    ///
    /// # fn example(client: kube::Client) {
    /// let source = ClientSource::new(client, ApiResource::erase::<Pod>(&()), Selection::default());
    /// let tenants = NamespaceSet::new(["shop", "bank"]);
    /// let (informer, runner) = SharedInformer::<Pod>::over_namespaces(source, &tenants).build();
    /// tenants.add("games");
    /// # }
    /// ```
    pub fn over_namespaces(
        source: impl NamespacedSource<O>,
        namespaces: impl Into<NamespaceSet>,
    ) -> InformerBuilder<O> {
        InformerBuilder::namespaced(Arc::new(source), namespaces.into())
    }

    /// Builds an informer of the objects of `source` in some shards: only these are asked for (KEP-5866), and
    /// only these are held, also if the server sends others because it has no shards. The informer follows
    /// changes of the [set](ShardSet): it lists shards that are added, together, and drops the objects of
    /// those that are removed. See [Shards](self#shards).
    ///
    /// ```no_run
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kube::core::ApiResource;
    /// use kube_informer::selector::ShardField;
    /// use kube_informer::source::{ClientSource, Selection};
    /// use kube_informer::{SharedInformer, ShardSet};
    ///
    /// # fn example(client: kube::Client) {
    /// let source = ClientSource::new(client, ApiResource::erase::<Pod>(&()), Selection::default());
    /// let shards = ShardSet::new(ShardField::Uid, 4);
    /// let (informer, runner) = SharedInformer::<Pod>::over_shards(source, &shards).build();
    /// shards.add([0, 1]);
    /// # }
    /// ```
    pub fn over_shards(source: impl ShardedSource<O>, shards: impl Into<ShardSet>) -> InformerBuilder<O> {
        InformerBuilder::sharded(Arc::new(source), shards.into())
    }
}

impl<O: CachedObject> SharedInformer<O> {
    /// The resource, used in messages: `pods`, `deployments.apps`.
    pub fn resource(&self) -> &str {
        &self.shared.resource
    }

    /// The shards whose objects it holds; `None` unless it is [over a set of shards](Self::over_shards).
    pub fn shards(&self) -> Option<&ShardSet> {
        self.shared.partitions.shards()
    }

    /// The store, for reads and for adding indexes. It stays readable after the informer has stopped.
    #[doc(alias = "GetIndexer")]
    #[doc(alias = "GetStore")]
    pub fn store(&self) -> &Indexer<O::Handle> {
        &self.store
    }

    /// A typed view of the store.
    pub fn lister(&self) -> Lister<O> {
        Lister::new(self.shared.resource.clone(), self.store.clone())
    }

    /// Adds a handler, which runs on its own task. It receives initial adds for all stored objects, then
    /// every change. `options` can be just a name.
    ///
    /// # Errors
    /// The informer was stopped.
    #[doc(alias = "AddEventHandler")]
    pub fn add_handler(
        &self,
        options: impl Into<HandlerOptions>,
        handler: impl ResourceEventHandler<O>,
    ) -> Result<Registration, Stopped> {
        let listener = self.add_listener(options.into())?;
        let job = runner::job(self.shared.resource.clone(), listener.clone(), handler);
        let registration = Registration::new(listener, self.shared.processor.clone());
        self.shared.new_jobs.send(job).map_err(|_| Stopped)?;
        Ok(registration)
    }

    /// The same notifications as a stream. `options` can be just a name.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # use kube_informer::{SharedInformer, informer::Stopped};
    /// # async fn example(informer: SharedInformer<Pod>) -> Result<(), Stopped> {
    /// use futures::StreamExt;
    ///
    /// let mut changes = informer.subscribe("log")?;
    /// while let Some(change) = changes.next().await {
    ///     println!("{change:?}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The informer was stopped.
    pub fn subscribe(&self, options: impl Into<HandlerOptions>) -> Result<Notifications<O>, Stopped> {
        let listener = self.add_listener(options.into())?;
        let registration = Registration::new(listener.clone(), self.shared.processor.clone());
        Ok(Notifications::new(listener, registration))
    }

    fn add_listener(&self, mut options: HandlerOptions) -> Result<Arc<Listener<O>>, Stopped> {
        if self.shared.new_jobs.is_closed() {
            return Err(Stopped);
        }
        options.resync = options.resync.or(self.resync);
        let resource = self.shared.resource.clone();
        let listener = Arc::new(Listener::new(resource, options, self.store.lease()));
        self.shared.processor.add(listener.clone(), &self.shared.store)?;
        Ok(listener)
    }

    /// Whether the store holds the whole collection as of one point in time; with several namespaces, each
    /// namespace as of some point in time. What was [restored from a file](crate::warm_start) counts when the
    /// server has confirmed it. This does not include handlers: see [`Registration::has_synced`].
    ///
    /// When a namespace is added, this is false until that namespace has been listed.
    #[doc(alias = "HasSynced")]
    pub fn has_synced(&self) -> bool {
        self.shared.partitions.have_synced()
    }

    /// Waits until [`has_synced`](Self::has_synced).
    ///
    /// # Errors
    /// The informer was stopped first. A running informer retries for ever; its [status](Self::status) shows
    /// why it has not synced.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    #[doc(alias = "WaitForCacheSync")]
    pub async fn synced(&self) -> Result<(), Stopped> {
        self.shared.partitions.synced().await
    }

    /// Whether everything selected in this object's namespace and shard has been listed. An informer over
    /// namespaces looks at `namespace`, one over shards at the field that is hashed: `uid`, or `namespace`.
    /// If an informer over namespaces gets no namespace, or one over shards by uid no uid, and for any other
    /// informer, this is [`has_synced`](Self::has_synced). It is true for objects of a namespace or shard
    /// that is not selected.
    ///
    /// When a namespace or a shard is added, [`has_synced`](Self::has_synced) is false until it has been
    /// listed, but the others stay synced. So work on an object needs to wait only for this object's
    /// namespace and shard, in each informer that it reads. A [controller](https://docs.rs/kube-controller)
    /// does so by itself.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::{ConfigMap, Pod};
    /// # use kube_informer::{SharedInformer, informer::Stopped};
    /// # async fn example(map: &ConfigMap, pods: SharedInformer<Pod>) -> Result<(), Stopped> {
    /// let namespace = map.metadata.namespace.as_deref();
    /// pods.synced_for(namespace, None).await?;
    /// assert!(pods.has_synced_for(namespace, None), "unless it was added again just now");
    /// # Ok(())
    /// # }
    /// ```
    pub fn has_synced_for(&self, namespace: Option<&str>, uid: Option<&str>) -> bool {
        self.shared.partitions.have_synced_for(namespace, uid)
    }

    /// Waits until [`has_synced_for`](Self::has_synced_for).
    ///
    /// # Errors
    /// The informer was stopped first.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn synced_for(&self, namespace: Option<&str>, uid: Option<&str>) -> Result<(), Stopped> {
        self.shared.partitions.synced_for(namespace, uid).await
    }

    /// Waits until what was [saved](crate::warm_start) is in the store, where it is stale until the informer
    /// has [synced](Self::synced), and returns true. If there is nothing to restore, or once the informer has
    /// synced without, it returns false: over shards, also as long as the set is empty. The [status](InformerStatus::warm_start) says why.
    ///
    /// # Errors
    /// The informer was stopped first.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn restored(&self) -> Result<bool, Stopped> {
        let Some(progress) = &self.shared.warm_start else {
            return Ok(false);
        };
        tokio::select! {
            biased;
            () = progress.settled() => {}
            synced = self.synced() => synced?,
        }
        Ok(matches!(progress.status().start, Start::Restored { .. }))
    }

    /// Whether the informer has ended: its run has returned, or its runner was dropped. It is never started
    /// again; its store stays as it is, and no handler can be added. Right after the informer was told to
    /// stop it has not ended yet: handlers finish the call that is running.
    #[doc(alias = "IsStopped")]
    pub fn is_stopped(&self) -> bool {
        self.shared.ended.is_cancelled()
    }

    /// Waits until [`is_stopped`](Self::is_stopped): every task of the informer, handlers too, has ended.
    /// Waiting does not stop it. Why it ended is what [`InformerRunner::run`] returns, or the
    /// [factory](crate::SharedInformerFactory::failed) says.
    ///
    /// An informer whose runner is neither run nor dropped does not end.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # async fn example(pods: kube_informer::SharedInformer<Pod>) {
    /// pods.stopped().await;
    /// println!("{} pods when the informer ended", pods.store().len());
    /// # }
    /// ```
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn stopped(&self) {
        self.shared.ended.cancelled().await;
    }

    /// The partition that holds a namespace's objects, for example to wait for a resource version [in that
    /// partition only](crate::store::Wait::partition). An informer that is not over several namespaces has
    /// one partition, which also holds cluster-scoped objects.
    ///
    /// `None` if the informer is over several namespaces and does not watch this one (yet), or is over shards
    /// by uid.
    pub fn partition(&self, namespace: Option<&str>) -> Option<Partition> {
        match self.shared.partitions.location(namespace, None) {
            Location::Partition(partition) => Some(partition),
            Location::NotYet | Location::NotSelected => None,
        }
    }

    /// The current state of the informer.
    pub fn status(&self) -> InformerStatus {
        let (not_indexed, last_not_indexed) = self.shared.not_indexed.get();
        let partitions = self
            .shared
            .partitions
            .status(|partition| self.store.resource_version_of(partition));
        InformerStatus {
            synced: self.has_synced(),
            unconfirmed: partitions.iter().any(|partition| partition.unconfirmed),
            warm_start: self.shared.warm_start.as_ref().map(|progress| progress.status()),
            objects: self.store.len(),
            bytes: (self.shared.held_bytes)(),
            queued: self.shared.fifo.len(),
            applied: self.store.resource_version(),
            not_indexed,
            last_not_indexed,
            reflector: ReflectorStatus::together(partitions.iter().map(|partition| &partition.reflector)),
            partitions,
        }
    }

    /// The state of one partition's reflector, which can be awaited. The state of a missing or removed
    /// partition does not change. An informer that is not over several namespaces has the single partition
    /// [`Partition::SINGLE`].
    pub fn reflector_status(&self, partition: Partition) -> watch::Receiver<ReflectorStatus> {
        self.shared.partitions.reflector(partition)
    }

    /// What has not synced yet, with the reason as far as it is known: the namespaces, or `None` for an
    /// informer that is not over several. Empty if the informer [has synced](Self::has_synced).
    ///
    /// ```no_run
    /// # fn example(pods: kube_informer::SharedInformer<k8s_openapi::api::core::v1::Pod>) {
    /// for unsynced in pods.unsynced() {
    ///     println!("{}: {}", unsynced.namespace.as_deref().unwrap_or("everywhere"), unsynced.why);
    /// }
    /// # }
    /// ```
    pub fn unsynced(&self) -> Vec<Unsynced> {
        let unsynced = self.shared.partitions.unsynced().into_iter();
        let unsynced = unsynced.map(|(namespace, why)| Unsynced {
            resource: self.resource().to_owned(),
            form: short_name::<O>(),
            namespace,
            why,
        });
        unsynced.collect()
    }

    /// The partitions that keep the informer from [having synced](Self::has_synced_for) the objects with this
    /// namespace and this uid: usually one. Empty if it has, or if the objects are of a namespace or a shard
    /// that is not watched yet.
    ///
    /// ```no_run
    /// # fn example(pods: kube_informer::SharedInformer<k8s_openapi::api::core::v1::Pod>) {
    /// for partition in pods.unsynced_partitions(Some("shop"), None) {
    ///     println!("{:?}", partition.reflector.last_error);
    /// }
    /// # }
    /// ```
    pub fn unsynced_partitions(&self, namespace: Option<&str>, uid: Option<&str>) -> Vec<PartitionStatus> {
        let applied = |partition| self.store.resource_version_of(partition);
        self.shared.partitions.unsynced_for(namespace, uid, applied)
    }

    /// Another handle, which holds this lease and has this default resync period.
    pub(crate) fn handle(&self, lease: Lease, resync: Duration) -> Self {
        self.shared.processor.shorten_resync(resync);
        Self {
            shared: self.shared.clone(),
            store: self.shared.store.leased(Some(lease)),
            resync: Some(resync),
        }
    }

    /// The names of the handlers and streams, each with its number of pending notifications.
    pub fn handlers(&self) -> Vec<(String, usize)> {
        let listeners = self.shared.processor.listeners();
        listeners
            .iter()
            .map(|listener| (listener.name().to_owned(), listener.queue_len()))
            .collect()
    }
}
