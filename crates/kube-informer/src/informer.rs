//! Shared informers: one watch and one store for any number of handlers and readers.
//!
//! Building one gives two halves. The [`SharedInformer`] is a handle, cheap to clone, to read the store and to add
//! handlers, before the informer runs or any time while it does. The [`InformerRunner`] is run once.
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
//! Most programs do not build informers one by one but ask a [factory](crate::SharedInformerFactory) for them.
//!
//! # The way of a change
//! The *reflector* reads it from the server and pushes it into the queue; the *driver* takes everything that is
//! queued, applies it to the store, publishes that as one new state, and hands the notifications to the *listeners*;
//! each listener has a queue and a task that calls its handler. These are all the tasks there are: one reflector for
//! each partition (one, or one for each namespace), one driver, one for each handler.
//!
//! # Consistency
//! The store is changed before the notification of that change is sent, so a handler finds what it is told of in the
//! store, or something newer. Each handler is told one thing at a time, and for one object in the order of the
//! server's states. A handler that is added late is told of everything that exists as initial adds, then of every
//! change.
//!
//! # Several namespaces
//! An informer [over a set of namespaces](SharedInformer::over_namespaces) lists and watches each on its own, and shows
//! them as one collection. Each has its own resource version, errors and recovery: one that is forbidden or slow does not
//! stop the others, and a relist of one leaves the others alone. The [status](InformerStatus::partitions) and errors name
//! them. The set can change at any time:
//!
//! - *A namespace that is added* is listed and watched. The informer [has synced](SharedInformer::has_synced) again when
//!   its objects are in the store. Handlers are told of them as adds; as *initial* ones only if the informer had not
//!   synced before, since what makes up a handler's initial state is over when it has been told of it.
//! - *A namespace that is removed* is no longer watched, and its objects leave the store at once. Handlers are told of
//!   their deletion, with [`DeleteCause::Unselected`](crate::DeleteCause::Unselected): the objects may well still exist.
//!
//! [`wait_until`](crate::store::Indexer::wait_until) waits for all namespaces that are watched. One that was just added
//! counts as soon as the informer has taken it up, so wait for [`synced`](SharedInformer::synced) first; to depend on no
//! other, wait for its [partition](SharedInformer::partition) alone.
//!
//! # Slow handlers
//! A handler delays neither the others nor the store. Its queue is bounded: beyond a capacity, notifications of one
//! object are [merged](Delivery).
//!
//! # Stopping
//! [`InformerRunner::run`] returns when every task has ended. Handlers finish the call that is running; what they
//! were still to be told is dropped. The store stays readable.

mod applier;
mod blocking;
mod builder;
mod coalescing;
mod driver;
pub mod enqueue;
mod filtered;
mod handler;
mod listener;
mod namespaces;
mod notification;
mod partitions;
mod processor;
mod reflectors;
mod registration;
mod runner;
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
pub use namespaces::NamespaceSet;
pub use notification::Notification;
pub use partitions::PartitionStatus;
pub use registration::{Notifications, Registration};
pub use runner::{InformerRunner, RunError};
pub(crate) use transform::FormlessTransform;
pub use transform::{AnyObject, Transform};
pub use unshared::Informer;
pub use until::until_with_sync;
pub use write_tracker::WriteTracker;

use crate::form::Decode;
use crate::lister::Lister;
use crate::object::{CachedObject, Partition, ResourceVersion};
use crate::queue::DeltaFifo;
use crate::reflector::{DecodeResult, ReflectorStatus};
use crate::source::{InvalidObject, ListerWatcher, NamespacedSource};
use crate::store::{Indexer, Lease};
use listener::Listener;
use partitions::{Partitions, Place};
use processor::Processor;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// The informer has been stopped, or its runner was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the informer was stopped")]
pub struct Stopped;

/// How a handler or stream is told of changes. A name alone does: `"log".into()`.
///
/// ```
/// use kube_informer::{Delivery, HandlerOptions};
/// let options = HandlerOptions::named("audit").delivery(Delivery::Unbounded);
/// assert_eq!(options.name(), "audit");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerOptions {
    name: String,
    delivery: Delivery,
    resync: Option<Duration>,
    on_panic: PanicPolicy,
}

/// What follows when a handler panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PanicPolicy {
    /// The informer's run ends with an error that names the handler.
    #[default]
    Stop,
    /// The panic is logged, the notification counts as handled, and the next one follows. The handler must be prepared
    /// to find itself in the state in which it panicked.
    Continue,
}

impl HandlerOptions {
    /// The default options for a handler of this name, which appears in errors and logs.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            delivery: Delivery::default(),
            resync: None,
            on_panic: PanicPolicy::default(),
        }
    }

    /// The handler's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What happens to notifications that the handler has not taken yet. Default: merged beyond 1024.
    #[must_use = "this is a builder"]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// How often the handler is told again of every object as an update from a state to itself. Default: as often as the
    /// [informer](InformerBuilder::resync) says; zero: never.
    ///
    /// The period is raised to a second, and rounded up to a multiple of the informer's, if that has one (a handler that
    /// is added before the informer runs shortens it). Nothing is asked of the server,
    /// and relists do not delay it. A handler with a resync is also told of objects that a relist showed unchanged.
    #[must_use = "this is a builder"]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }

    /// What follows when the handler panics. Default: the informer's run ends with an error.
    #[must_use = "this is a builder"]
    pub fn on_panic(mut self, policy: PanicPolicy) -> Self {
        self.on_panic = policy;
        self
    }
}

impl From<&str> for HandlerOptions {
    fn from(name: &str) -> Self {
        Self::named(name)
    }
}

/// What the informer's handles and tasks share.
struct Shared<O: CachedObject> {
    resource: String,
    store: Indexer<O::Handle>,
    processor: Arc<Processor<O>>,
    fifo: DeltaFifo<DecodeResult<O>>,
    partitions: Partitions,
    /// Objects that could not be indexed: how many, and the last one.
    set_aside: Mutex<(u64, Option<InvalidObject>)>,
    new_jobs: mpsc::UnboundedSender<runner::Job>,
    /// Cancelled when every task has ended.
    ended: CancellationToken,
}

impl<O: CachedObject> Shared<O> {
    fn set_aside(&self, bad: InvalidObject) {
        tracing::warn!(resource = self.resource, object = %bad, "an object was set aside");
        let mut set_aside = self.set_aside.lock().unwrap_or_else(PoisonError::into_inner);
        set_aside.0 += 1;
        set_aside.1 = Some(bad);
    }
}

/// A collection of objects that is kept up to date, with handlers that are told of changes; see the
/// [module](self).
///
/// A clone is another handle to the same informer.
#[doc(alias = "SharedIndexInformer")]
pub struct SharedInformer<O: CachedObject> {
    shared: Arc<Shared<O>>,
    /// The store; the handle's lease is in it.
    store: Indexer<O::Handle>,
    /// The resync period of handlers that are added through this handle and do not say otherwise.
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
    /// An informer of what `source` shows.
    pub fn builder(source: impl ListerWatcher<O>) -> InformerBuilder<O> {
        InformerBuilder::whole(Arc::new(source))
    }

    /// An informer of what `source` shows in several namespaces: one store, one set of handlers, and a list and watch of
    /// each namespace. When the [set](NamespaceSet) changes, the informer follows; see [there](self#several-namespaces).
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
}

impl<O: CachedObject> SharedInformer<O> {
    /// The resource, for messages: `pods`, `deployments.apps`.
    pub fn resource(&self) -> &str {
        &self.shared.resource
    }

    /// The store, to read from and to add indexes to. It stays readable after the informer has stopped.
    #[doc(alias = "GetIndexer")]
    #[doc(alias = "GetStore")]
    pub fn store(&self) -> &Indexer<O::Handle> {
        &self.store
    }

    /// A typed view of the store.
    pub fn lister(&self) -> Lister<O> {
        Lister::new(self.shared.resource.clone(), self.store.clone())
    }

    /// Adds a handler; it gets a task of its own. It is told of everything that exists as initial adds, then of every
    /// change. `options` can be just a name.
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

    /// Whether the store holds the whole collection as it was at one point in time; of an informer over several
    /// namespaces, each as it was at some point. It says nothing about handlers: see [`Registration::has_synced`].
    ///
    /// When a namespace is added, the informer has not synced until that one has been listed, too.
    #[doc(alias = "HasSynced")]
    pub fn has_synced(&self) -> bool {
        self.shared.partitions.have_synced()
    }

    /// Waits until [`has_synced`](Self::has_synced).
    ///
    /// # Errors
    /// The informer was stopped first. While it runs, it tries for ever: look at the [status](Self::status) for what
    /// is in the way.
    #[doc(alias = "WaitForCacheSync")]
    pub async fn synced(&self) -> Result<(), Stopped> {
        self.shared.partitions.synced().await
    }

    /// Whether the informer has ended: its run has returned, or its runner was dropped. It is never started again; its store
    /// stays as it is, and no handler can be added. Right after the informer was told to stop it has not ended yet: handlers
    /// finish the call that is running.
    #[doc(alias = "IsStopped")]
    pub fn is_stopped(&self) -> bool {
        self.shared.ended.is_cancelled()
    }

    /// Waits until [`is_stopped`](Self::is_stopped): every task of the informer, handlers too, has ended. Waiting does not
    /// stop it. Why it ended is what [`InformerRunner::run`] returns, or the
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
    pub async fn stopped(&self) {
        self.shared.ended.cancelled().await;
    }

    /// The part of the collection that holds a namespace's objects: to wait for a resource version
    /// [there alone](crate::store::Wait::partition), for example. An informer that is not over several namespaces has one
    /// part, for all of them and for objects without one.
    ///
    /// `None`: the informer is over several namespaces, and does not watch this one (yet).
    pub fn partition(&self, namespace: Option<&str>) -> Option<Partition> {
        match self.shared.partitions.place(namespace) {
            Place::Part(partition) => Some(partition),
            Place::NotYet | Place::Nowhere => None,
        }
    }

    /// The state of the informer now.
    pub fn status(&self) -> InformerStatus {
        let (not_indexed, last_not_indexed) = self
            .shared
            .set_aside
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let partitions = self
            .shared
            .partitions
            .status(|partition| self.store.resource_version_of(partition));
        InformerStatus {
            synced: self.has_synced(),
            objects: self.store.len(),
            queued: self.shared.fifo.len(),
            applied: self.store.resource_version(),
            not_indexed,
            last_not_indexed,
            reflector: ReflectorStatus::together(partitions.iter().map(|partition| &partition.reflector)),
            partitions,
        }
    }

    /// The state of the reflector of one part, to be awaited. That of a part that is not there (any more) does not
    /// change. An informer that is not over several namespaces has the one part [`Partition::SINGLE`].
    pub fn reflector_status(&self, partition: Partition) -> watch::Receiver<ReflectorStatus> {
        self.shared.partitions.reflector(partition)
    }

    /// The parts of the collection that are not in the store yet, by their namespaces, and why.
    pub(crate) fn obstacles(&self) -> Vec<(Option<String>, String)> {
        self.shared.partitions.obstacles()
    }

    /// Another handle, that holds this lease; handlers added through it are told again of everything this often.
    pub(crate) fn handle(&self, lease: Lease, resync: Duration) -> Self {
        self.shared.processor.shorten_resync(resync);
        Self {
            shared: self.shared.clone(),
            store: self.shared.store.leased(Some(lease)),
            resync: Some(resync),
        }
    }

    /// The handlers and streams, each with the number of notifications that wait for it.
    pub fn handlers(&self) -> Vec<(String, usize)> {
        let listeners = self.shared.processor.listeners();
        listeners
            .iter()
            .map(|listener| (listener.name().to_owned(), listener.queue_len()))
            .collect()
    }
}

/// The state of an informer, see [`SharedInformer::status`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InformerStatus {
    /// Whether the store holds the whole collection.
    pub synced: bool,
    /// How many objects the store holds.
    pub objects: usize,
    /// How many changes wait to be applied.
    pub queued: usize,
    /// The version up to which the store is complete: the lowest of all parts. The reflector's
    /// [`resource_version`](ReflectorStatus::resource_version), up to which changes have been seen, may be ahead.
    pub applied: Option<ResourceVersion>,
    /// How many objects were set aside so far because an index function panicked.
    pub not_indexed: u64,
    /// The last of them.
    pub last_not_indexed: Option<InvalidObject>,
    /// The state of the list and watch; of several, what they have done in all, and for the rest the state of the one
    /// that is furthest from watching.
    pub reflector: ReflectorStatus,
    /// The state of each part of the collection, sorted by namespace.
    pub partitions: Vec<PartitionStatus>,
}
