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
//! each partition, one driver, one for each handler.
//!
//! # Consistency
//! The store is changed before the notification of that change is sent, so a handler finds what it is told of in the
//! store, or something newer. Each handler is told one thing at a time, and for one object in the order of the
//! server's states. A handler that is added late is told of everything that exists as initial adds, then of every
//! change.
//!
//! # Slow handlers
//! A handler delays neither the others nor the store. Its queue is bounded: beyond a capacity, notifications of one
//! object are [merged](Delivery).
//!
//! # Stopping
//! [`InformerRunner::run`] returns when every task has ended. Handlers finish the call that is running; what they
//! were still to be told is dropped. The store stays readable.

mod adapt;
mod applier;
mod driver;
mod handler;
mod listener;
mod merge;
mod notification;
mod own_writes;
mod processor;
mod registration;
mod runner;
mod unshared;

pub use adapt::{Filtered, blocking};
pub use handler::{ResourceEventHandler, ResourceEventHandlerFuncs};
pub use merge::Delivery;
pub use notification::Notification;
pub use own_writes::OwnWrites;
pub use registration::{Notifications, Registration};
pub use runner::{InformerRunner, RunError};
pub use unshared::Informer;

use crate::controller::{Parcel, QueueSink};
use crate::form::Form;
use crate::lister::Lister;
use crate::metrics::{InformerMetrics, QueuedItems};
use crate::object::{Object, Partition, ResourceVersion};
use crate::queue::DeltaFifo;
use crate::reflector::{
    ErrorHook, LastError, Reflector, ReflectorOptions, ReflectorStatus, Transform, TransformError,
};
use crate::source::{BadObject, ListerWatcher, Subject};
use crate::store::Indexer;
use applier::Applier;
use listener::Listener;
use processor::{Processor, Sync};
use runner::StopOnDrop;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// The informer has been stopped, or its runner was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the informer was stopped")]
pub struct Stopped;

/// How an informer behaves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InformerOptions {
    /// For metrics.
    pub(crate) name: String,
    pub(crate) reflector: ReflectorOptions,
    /// How many changes wait between the reader of the network and the writer of the store.
    pub(crate) queue_capacity: usize,
    /// How often handlers are told again of everything; zero: never.
    pub(crate) resync: Duration,
    /// How long handlers have to return when the informer is stopped.
    pub(crate) stop_deadline: Duration,
}

impl Default for InformerOptions {
    fn default() -> Self {
        Self {
            name: String::new(),
            reflector: ReflectorOptions::default(),
            queue_capacity: 4096,
            resync: Duration::ZERO,
            stop_deadline: Duration::from_secs(30),
        }
    }
}

/// How a handler or stream is told of changes. A name alone does: `"log".into()`.
///
/// ```
/// use kube_informer::{Delivery, HandlerOptions};
/// let options = HandlerOptions::named("audit").delivery(Delivery::Every);
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
    Isolate,
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
    /// The period is raised to a second, and rounded up to a multiple of the informer's. Nothing is asked of the server,
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

/// Makes a [`SharedInformer`] and its runner.
#[must_use = "call `build`"]
pub struct InformerBuilder<O: Form> {
    source: Arc<dyn ListerWatcher<O>>,
    options: InformerOptions,
    on_error: Option<ErrorHook>,
    transform: Option<Transform<O>>,
}

impl<O: Form> InformerBuilder<O> {
    pub(crate) fn with_options(source: Arc<dyn ListerWatcher<O>>, options: InformerOptions) -> Self {
        Self {
            source,
            options,
            on_error: None,
            transform: None,
        }
    }

    /// A name for the [metrics](crate#metrics), to tell this informer from others of the same resource. Default: none.
    #[doc(alias = "InformerName")]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = name.into();
        self
    }

    /// How the reflector behaves.
    pub fn reflector(mut self, options: ReflectorOptions) -> Self {
        self.options.reflector = options;
        self
    }

    /// Calls `hook` for each failed request, on the reflector's task: it must not block. Failures are tried again in
    /// any case; the [status](SharedInformer::status) shows the last one. A hook that panics is not called again.
    #[doc(alias = "SetWatchErrorHandler")]
    pub fn on_error(mut self, hook: impl FnMut(&LastError) + Send + 'static) -> Self {
        self.on_error = Some(Box::new(hook));
        self
    }

    /// Changes every object once, before it gets into the store: to drop what is not needed, for example. See
    /// [`Reflector::transform`].
    #[doc(alias = "SetTransform")]
    pub fn transform(
        mut self,
        transform: impl FnMut(O::Ref) -> Result<O::Ref, TransformError> + Send + 'static,
    ) -> Self {
        self.transform = Some(Box::new(transform));
        self
    }

    /// How many changes may wait between the reader of the network and the writer of the store before reading stops.
    /// Default: 4096; at least 1.
    pub fn queue_capacity(mut self, capacity: usize) -> Self {
        self.options.queue_capacity = capacity;
        self
    }

    /// How often handlers that do not say otherwise are told again of every object, and how often the informer looks
    /// whether a handler is due. Default: zero, which is never, whatever handlers ask for.
    #[doc(alias = "ResyncPeriod")]
    pub fn resync(mut self, period: Duration) -> Self {
        self.options.resync = period;
        self
    }

    /// How long handlers have to return from the running call when the informer is stopped. Default: 30 s.
    pub fn stop_deadline(mut self, deadline: Duration) -> Self {
        self.options.stop_deadline = deadline;
        self
    }

    /// What every informer is made of.
    fn parts(self) -> Parts<O> {
        let subject = Subject::of(&*self.source);
        let labels = subject.labels(&self.options.name);
        let (store, writer) = Indexer::new();
        let gauge = QueuedItems::new(&labels);
        let queue = DeltaFifo::with_gauge(self.options.queue_capacity, [Partition::ONLY], gauge);
        let sink = QueueSink::new(queue.clone(), store.clone());
        let mut reflector = Reflector::with_options(self.source, sink, self.options.reflector.clone())
            .named(self.options.name.as_str());
        if let Some(hook) = self.on_error {
            reflector = reflector.on_error(hook);
        }
        if let Some(transform) = self.transform {
            reflector = reflector.transform(transform);
        }
        let metrics = InformerMetrics::new(&labels);
        Parts {
            applier: Applier::new(store, writer, subject, metrics),
            queue,
            reflector,
            options: self.options,
        }
    }

    /// The informer and what runs it.
    pub fn build(self) -> (SharedInformer<O>, InformerRunner<O>) {
        let Parts {
            applier,
            queue,
            reflector,
            options,
        } = self.parts();
        let (new_jobs, jobs) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            resource: applier.resource().to_owned(),
            store: applier.store().clone(),
            processor: Arc::new(Processor::new(options.resync)),
            fifo: queue,
            reflector: reflector.status(),
            set_aside: Mutex::default(),
            new_jobs,
        });
        let runner = InformerRunner {
            shared: shared.clone(),
            applier,
            jobs,
            options,
            reflector,
            stopped: StopOnDrop(shared.clone()),
        };
        (SharedInformer { shared }, runner)
    }

    /// An informer of one's own: one handler, no sharing; see [`Informer`].
    pub fn build_unshared<H: ResourceEventHandler<O>>(self, handler: H) -> Informer<O, H> {
        Informer::new(self.parts(), handler)
    }
}

/// What every informer is made of.
struct Parts<O: Form> {
    applier: Applier<O>,
    queue: DeltaFifo<Parcel<O>>,
    reflector: Reflector<O, QueueSink<O, Indexer<O::Ref>>>,
    options: InformerOptions,
}

/// What the informer's handles and tasks share.
struct Shared<O: Object> {
    resource: String,
    store: Indexer<O::Ref>,
    processor: Arc<Processor<O>>,
    fifo: DeltaFifo<Parcel<O>>,
    reflector: watch::Receiver<ReflectorStatus>,
    /// Objects that could not be indexed: how many, and the last one.
    set_aside: Mutex<(u64, Option<BadObject>)>,
    new_jobs: mpsc::UnboundedSender<runner::Job>,
}

impl<O: Object> Shared<O> {
    fn set_aside(&self, bad: BadObject) {
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
pub struct SharedInformer<O: Object> {
    shared: Arc<Shared<O>>,
}

impl<O: Object> Clone for SharedInformer<O> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<O: Object> std::fmt::Debug for SharedInformer<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let status = self.status();
        f.debug_struct("SharedInformer")
            .field("resource", &self.shared.resource)
            .field("synced", &status.synced)
            .field("objects", &status.objects)
            .finish_non_exhaustive()
    }
}

impl<O: Form> SharedInformer<O> {
    /// An informer of what `source` shows.
    pub fn builder(source: impl ListerWatcher<O>) -> InformerBuilder<O> {
        InformerBuilder::with_options(Arc::new(source), InformerOptions::default())
    }
}

impl<O: Object> SharedInformer<O> {
    /// The resource, for messages: `pods`, `deployments.apps`.
    pub fn resource(&self) -> &str {
        &self.shared.resource
    }

    /// The store, to read from and to add indexes to. It stays readable after the informer has stopped.
    #[doc(alias = "GetIndexer")]
    #[doc(alias = "GetStore")]
    pub fn store(&self) -> &Indexer<O::Ref> {
        &self.shared.store
    }

    /// A typed view of the store.
    pub fn lister(&self) -> Lister<O> {
        Lister::new(self.shared.resource.clone(), self.shared.store.clone())
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

    fn add_listener(&self, options: HandlerOptions) -> Result<Arc<Listener<O>>, Stopped> {
        if self.shared.new_jobs.is_closed() {
            return Err(Stopped);
        }
        let listener = Arc::new(Listener::new(self.shared.resource.clone(), options));
        self.shared.processor.add(listener.clone(), &self.shared.store)?;
        Ok(listener)
    }

    /// Whether the store holds the whole collection as it was at one point in time. It says nothing about handlers:
    /// see [`Registration::has_synced`].
    #[doc(alias = "HasSynced")]
    pub fn has_synced(&self) -> bool {
        *self.shared.processor.synced().borrow() == Sync::Synced
    }

    /// Waits until [`has_synced`](Self::has_synced).
    ///
    /// # Errors
    /// The informer was stopped first. While it runs, it tries for ever: look at the [status](Self::status) for what
    /// is in the way.
    #[doc(alias = "WaitForCacheSync")]
    pub async fn synced(&self) -> Result<(), Stopped> {
        let mut synced = self.shared.processor.synced();
        match synced.wait_for(|synced| *synced != Sync::NotYet).await {
            Ok(synced) if *synced == Sync::Synced => Ok(()),
            _ => Err(Stopped),
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
        let reflector = self.shared.reflector.borrow().clone();
        InformerStatus {
            synced: self.has_synced(),
            objects: self.shared.store.len(),
            queued: self.shared.fifo.len(),
            applied: self.shared.store.resource_version(),
            not_indexed,
            last_not_indexed,
            reflector,
        }
    }

    /// The reflector's state, to be awaited.
    pub fn reflector_status(&self) -> watch::Receiver<ReflectorStatus> {
        self.shared.reflector.clone()
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
    /// The version up to which the store is complete. The reflector's
    /// [`resource_version`](ReflectorStatus::resource_version), up to which changes have been seen, may be ahead.
    pub applied: Option<ResourceVersion>,
    /// How many objects were set aside so far because an index function panicked.
    pub not_indexed: u64,
    /// The last of them.
    pub last_not_indexed: Option<BadObject>,
    /// The state of the list and watch.
    pub reflector: ReflectorStatus,
}
