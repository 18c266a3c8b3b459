//! The factory: one informer for each collection, shared by all its users.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::{Node, Pod};
//! use kube_informer::{Notification, SharedInformerFactory};
//! use std::time::Duration;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let factory = SharedInformerFactory::new(kube::Client::try_default().await?);
//! let pods = factory.informer::<Pod>();
//! let nodes = factory.informer::<Node>();
//! pods.add_handler("log", |change: Notification<Pod>| println!("{change:?}"))?.detach();
//!
//! factory.start();
//! factory.wait_for_sync(Duration::from_secs(30)).await?;
//! println!("{} pods on {} nodes", pods.store().len(), nodes.store().len());
//! factory.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What is shared
//! Two [requests](InformerRequest) get the same informer if they have the same resource, form, namespaces,
//! selectors, shards, plan and transform. If any of these differs, they get different informers, each with
//! its own watch and store. A different resync period does not matter, because it belongs to the handlers.
//!
//! # Lifetimes
//! An informer runs as long as it has users:
//!
//! - every handle to it, and whatever was created from one: [listers](crate::Lister), clones of its
//!   [store](SharedInformer::store), [`WriteTracker`](crate::informer::WriteTracker);
//! - every handler and stream until it is removed, including [detached](crate::Registration::detach) ones.
//!
//! A [`Snapshot`](crate::store::Snapshot) does not count as a user, because it never changes. When the last
//! user is gone, the informer continues for a [grace period](FactoryBuilder::idle_timeout), which does not
//! start before the factory does. A request within that time gets the same informer with its cache. After
//! that its watch ends and its cache is freed, and a later request gets a new informer. So every store of a
//! factory that code can read is kept up to date, until [`shutdown`](SharedInformerFactory::shutdown).
//!
//! An informer that failed, because a handler panicked, is not restarted.
//! [`failed`](SharedInformerFactory::failed) reports it, and the next request gets a new informer.
//!
//! # The runtime
//! The informers and their handlers run on the runtime on which [`start`](SharedInformerFactory::start) was
//! called. With kube's client, a single-threaded runtime for the informers takes about a sixth less CPU time than a
//! multi-threaded one, because threads need not wake each other for every chunk that is read ([`client`](crate::client)
//! avoids that on any runtime). It also keeps handlers that compute from delaying the rest of the program, and the reverse:
//!
//! ```no_run
//! # use kube_informer::SharedInformerFactory;
//! # fn example(factory: SharedInformerFactory) -> std::io::Result<()> {
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! let entered = runtime.enter();
//! factory.start();
//! drop(entered);
//! // The factory's informers run as long as this thread does.
//! std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
//! # Ok(())
//! # }
//! ```
//!
//! Bursts of objects are decoded on several threads with either runtime. (Measured with the forms
//! `packed-json` and `packed-thread-json` of `bench/run --clients`.)
//!
//! # Shards
//! Replicas of a program can divide the objects among them. Each replica gives its factory the [set of
//! shards](ShardSet) that it owns. The factory's informers and their listers then hold only the objects of
//! these shards, and follow changes of the set:
//!
//! ```
//! # use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
//! # use kube_informer::factory::InformerRequest;
//! # use kube_informer::{ShardSet, SharedInformerFactory};
//! # fn example(client: kube::Client, shards: &ShardSet) {
//! let factory = SharedInformerFactory::builder(client).shards(shards).build();
//! let deployments = factory.informer::<Deployment>();
//! // If uids are hashed: a ReplicaSet has another uid than its Deployment, so it may be in another shard.
//! let sets = factory.informer_with(InformerRequest::<ReplicaSet>::new().all_shards());
//! # }
//! ```
//!
//! Which replica owns which shards is decided by
//! [`kube_controller::shard_group`](https://docs.rs/kube-controller/latest/kube_controller/shard_group/), or by
//! code of yours. An informer over an empty set has synced at once, with no objects: adds of its first shards
//! are not *initial* then, and [`restored`](SharedInformer::restored) has nothing to wait for. A program that
//! minds starts its factory when it has its first shards:
//!
//! ```no_run
//! # use kube_informer::{ShardSet, SharedInformerFactory};
//! # use std::time::Duration;
//! # async fn example(factory: SharedInformerFactory, shards: ShardSet) -> Result<(), Box<dyn std::error::Error>> {
//! shards.subscribe().wait_for(|mine| !mine.is_empty()).await?;
//! factory.start();
//! factory.wait_for_sync(Duration::from_secs(30)).await?;
//! # Ok(()) }
//! ```
//!
//! | field that is hashed | where owned objects are |
//! |---|---|
//! | [namespace](crate::selector::ShardField::Namespace) | in the namespace of their owner, so in the same shard. Every kind can be requested as it is. Objects without a namespace are all in one shard |
//! | [uid](crate::selector::ShardField::Uid) | in any shard, because they have uids of their own and the server cannot select objects by the owner's uid. Request them with [`all_shards`](InformerRequest::all_shards). A `kube_controller::Controller` refuses an informer of owned objects that is over shards by uid |
//!
//! # Kinds that are not installed yet
//! An informer of a kind that the server does not know waits, and lists it within seconds after its
//! definition has been installed. Until then [`wait_for_sync`](SharedInformerFactory::wait_for_sync) names
//! it, and the phase of its reflector is [`NotServed`](crate::reflector::Phase::NotServed).

mod entry;
mod error;
mod request;
mod scope;

pub use crate::informer::Unsynced;
pub use entry::InformerInfo;
pub use error::{ShutdownError, SyncError};
pub use request::{InformerRequest, Namespaces};

use crate::form::{Decode, StaticResource};
use crate::informer::{
    AnyObject, FormlessTransform, InformerBuilder, InformerOptions, RunError, ShardSet, SharedInformer,
};
use crate::low_level::wire::Encoding;
use crate::reflector::{ErrorFunction, Failure, ReflectorOptions, TransformError};
use crate::source::{ListerWatcher, Selection, WatchListSupport};
use crate::warm_start::WarmStart;
use entry::SharedEntry;
use futures::future::join_all;
use kube::core::{ApiResource, PartialObjectMeta};
use request::{Defaults, Key, Shards};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, time::Duration};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The default grace period of an informer without users.
const GRACE: Duration = Duration::from_secs(60);
/// The number of failures that are kept for the report at the end.
const FAILURES: usize = 100;

/// Creates informers, shares them, runs them, and stops them together; see the [module](self).
///
/// A clone is another handle to the same factory. Dropping the last one does not stop informers that have
/// users; [`shutdown`](Self::shutdown) does.
#[derive(Clone)]
pub struct SharedInformerFactory {
    shared: Arc<Shared>,
}

struct Shared {
    client: kube::Client,
    defaults: Defaults,
    options: InformerOptions,
    on_error: Option<ErrorFunction>,
    transform: Option<FormlessTransform>,
    grace: Duration,
    streaming: WatchListSupport,
    stop: CancellationToken,
    tasks: TaskTracker,
    state: Mutex<State>,
    /// Signalled when an informer has failed.
    failed: Notify,
}

#[derive(Default)]
struct State {
    entries: HashMap<Key, SharedEntry>,
    /// The number of entries ever created.
    numbered: u64,
    /// The runtime of the informers; `None` before the factory is started.
    runtime: Option<Handle>,
    /// The first failures.
    failures: Vec<RunError>,
}

/// Sets up a [`SharedInformerFactory`].
///
/// ```no_run
/// # async fn example() -> Result<(), kube::Error> {
/// use kube_informer::SharedInformerFactory;
/// use std::time::Duration;
///
/// let client = kube::Client::try_default().await?;
/// let factory = SharedInformerFactory::builder(client)
///     .namespaces(["shop", "bank"])
///     .on_error(|error| eprintln!("{} {:?}: {}", error.resource, error.namespace, error.message))
///     .idle_timeout(Duration::from_secs(10))
///     .build();
/// # Ok(())
/// # }
/// ```
#[must_use = "call `build`"]
pub struct FactoryBuilder {
    client: kube::Client,
    defaults: Defaults,
    options: InformerOptions,
    on_error: Option<ErrorFunction>,
    transform: Option<FormlessTransform>,
    grace: Duration,
}

impl FactoryBuilder {
    /// The selection of requests that do not set their own. Cluster-scoped kinds ignore the namespace.
    /// Default: everything.
    pub fn selection(mut self, selection: Selection) -> Self {
        self.defaults.select(selection);
        self
    }

    /// The namespaces of requests that do not set their own: an array of names, or a
    /// [set](crate::NamespaceSet) that may change. Cluster-scoped kinds ignore them. Default: all.
    pub fn namespaces(mut self, namespaces: impl Into<Namespaces>) -> Self {
        self.defaults.namespaces = namespaces.into();
        self
    }

    /// The shards of requests that do not set their own: those that are in this set at any time; see
    /// [shards](self#shards). Default: all.
    pub fn shards(mut self, shards: impl Into<ShardSet>) -> Self {
        self.defaults.shards = Shards::Set(shards.into());
        self
    }

    /// A name for the [metrics](crate#metrics) of all informers of this factory. Default: none.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = name.into();
        self
    }

    /// The options of all reflectors. A plan in them replaces [those of the forms](Decode::plan) of all informers
    /// whose [requests](InformerRequest::plan) have none. A plan with fields makes all kinds be requested in JSON: plan fields in the
    /// request of one kind.
    pub fn reflector_options(mut self, options: ReflectorOptions) -> Self {
        self.options.reflector = options;
        self
    }

    /// Sets the encoding that all informers of this factory ask for, except for [those over other
    /// sources](SharedInformerFactory::informer_with_source). Default: protobuf first, then JSON, where a
    /// server may have protobuf; see [`ClientSource::encoding`](crate::source::ClientSource::encoding).
    ///
    /// ```no_run
    /// # use kube_informer::{SharedInformerFactory, factory::FactoryBuilder};
    /// use kube_informer::low_level::wire::Encoding;
    ///
    /// # fn example(client: kube::Client) -> FactoryBuilder {
    /// SharedInformerFactory::builder(client).encoding(Encoding::Json)
    /// # }
    /// ```
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.defaults.encoding = Some(encoding);
        self
    }

    /// Calls `hook` for each failed request of any informer; the failure names the informer's resource. See
    /// [`InformerBuilder::on_error`](crate::informer::InformerBuilder::on_error).
    #[doc(alias = "SetWatchErrorHandler")]
    pub fn on_error(mut self, hook: impl Fn(&Failure<'_>) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Arc::new(hook));
        self
    }

    /// The number of namespaces that each informer may list at the same time; see
    /// [`InformerBuilder::concurrent_lists`]. Default: 16; at least 1.
    pub fn concurrent_lists(mut self, lists: usize) -> Self {
        self.options.concurrent_lists = lists;
        self
    }

    /// Changes every object of every informer once, before it is stored, in any form. It runs before the
    /// transform of a [request](InformerRequest::transform). See
    /// [`Reflector::transform`](crate::reflector::Reflector::transform) for what it may do, and for what
    /// happens if it fails.
    ///
    /// To prune parts of all objects, including packed ones, a [plan](ReflectorOptions::plan) is cheaper:
    /// these parts are not even decoded.
    ///
    /// ```no_run
    /// # use kube_informer::{SharedInformerFactory, factory::FactoryBuilder};
    /// # fn example(client: kube::Client) -> FactoryBuilder {
    /// SharedInformerFactory::builder(client).transform(|object| {
    ///     if let Some(metadata) = object.metadata_mut() {
    ///         metadata.managed_fields = None;
    ///     }
    ///     Ok(())
    /// })
    /// # }
    /// ```
    #[doc(alias = "WithTransform")]
    pub fn transform(
        mut self,
        transform: impl Fn(&mut AnyObject<'_>) -> Result<(), TransformError> + Send + Sync + 'static,
    ) -> Self {
        self.transform = Some(FormlessTransform::new(transform));
        self
    }

    /// The resync period of handlers that do not set their own; see
    /// [`InformerBuilder::resync`](crate::informer::InformerBuilder::resync). Default: zero, which is never.
    pub fn resync(mut self, period: Duration) -> Self {
        self.defaults.resync = period;
        self
    }

    /// How long an informer without users continues to run; see [lifetimes](self#lifetimes). Default: one
    /// minute, so that the next request often finds it running. Zero: it stops immediately.
    /// [`Duration::MAX`]: it never stops.
    pub fn idle_timeout(mut self, period: Duration) -> Self {
        self.grace = period;
        self
    }

    /// Saves the caches of all informers that can be saved to a directory, and starts them from what was
    /// saved; see [warm start](crate::warm_start). For informers that cannot, the
    /// [status](crate::informer::InformerStatus::warm_start) says why; they start as always. Default: no.
    ///
    /// ```no_run
    /// # use kube_informer::{SharedInformerFactory, factory::FactoryBuilder};
    /// use kube_informer::warm_start::WarmStart;
    ///
    /// # fn example(client: kube::Client) -> FactoryBuilder {
    /// SharedInformerFactory::builder(client).warm_start(WarmStart::in_directory("/var/cache/shop-controller"))
    /// # }
    /// ```
    pub fn warm_start(mut self, options: WarmStart) -> Self {
        self.options.warm_start = Some(options);
        self
    }

    /// How long a shutdown waits for running calls of handlers. Default: 30 s.
    pub fn stop_timeout(mut self, deadline: Duration) -> Self {
        self.options.stop_timeout = deadline;
        self
    }

    /// Builds the factory.
    pub fn build(self) -> SharedInformerFactory {
        let shared = Shared {
            client: self.client,
            defaults: self.defaults,
            options: self.options,
            on_error: self.on_error,
            transform: self.transform,
            grace: self.grace,
            streaming: WatchListSupport::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            state: Mutex::default(),
            failed: Notify::new(),
        };
        SharedInformerFactory {
            shared: Arc::new(shared),
        }
    }
}

impl SharedInformerFactory {
    /// A factory with default options.
    pub fn new(client: kube::Client) -> Self {
        Self::builder(client).build()
    }

    /// A factory with options.
    pub fn builder(client: kube::Client) -> FactoryBuilder {
        FactoryBuilder {
            client,
            defaults: Defaults::default(),
            options: InformerOptions::default(),
            on_error: None,
            transform: None,
            grace: GRACE,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the informer for a request, and creates it if necessary.
    ///
    /// The first request creates it, and later ones get the same informer as long as it has users. If the
    /// factory was started, it runs immediately. After [`shutdown`](Self::shutdown) the returned informer is
    /// a stopped one.
    pub fn informer_with<O: Decode>(&self, request: InformerRequest<O>) -> SharedInformer<O> {
        let wanted = request.resolve(&self.shared.defaults, &self.shared.options.reflector.plan);
        let (key, resync) = (wanted.key.clone(), wanted.resync);
        let (client, streaming) = (&self.shared.client, &self.shared.streaming);
        let encoding = self.shared.defaults.encoding;
        self.shared_informer(key, resync, || {
            wanted.builder(client.clone(), streaming.clone(), encoding)
        })
    }

    /// The informer over a source of the caller, identified by name: calls with the same name and form get
    /// the same informer. `source` is called if there is none yet.
    ///
    /// The factory's lifetimes, resync period, options, error hook and transform apply. Its namespaces and
    /// selectors do not: the source decides what it selects.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # fn example(factory: kube_informer::SharedInformerFactory, other_cluster: kube::Client) {
    /// use kube::core::ApiResource;
    /// use kube_informer::source::{ClientSource, Selection};
    ///
    /// let pods = factory.informer_with_source::<Pod, _>("pods-of-the-other-cluster", || {
    ///     ClientSource::new(other_cluster, ApiResource::erase::<Pod>(&()), Selection::default())
    /// });
    /// # }
    /// ```
    #[doc(alias = "InformerFor")]
    pub fn informer_with_source<O: Decode, S: ListerWatcher<O>>(
        &self,
        name: impl Into<String>,
        source: impl FnOnce() -> S,
    ) -> SharedInformer<O> {
        let plan = self.shared.options.reflector.plan.clone().unwrap_or_else(O::plan);
        let name = name.into();
        let key = Key::named::<O>(name.clone(), plan);
        self.shared_informer(key, self.shared.defaults.resync, || {
            SharedInformer::builder(source()).own_source(&name)
        })
    }

    /// The informer of a key, which `make` creates if there is none.
    fn shared_informer<O: Decode>(
        &self,
        key: Key,
        resync: Duration,
        make: impl FnOnce() -> InformerBuilder<O>,
    ) -> SharedInformer<O> {
        let known = |state: &State| {
            let entry = state.entries.get(&key).filter(|entry| entry.failure.is_none());
            entry.and_then(|entry| entry.handle(resync))
        };
        if let Some(informer) = known(&self.lock()) {
            return informer;
        }
        // Not under the lock: it calls the user's code.
        let builder = make();
        let mut state = self.lock();
        if let Some(informer) = known(&state) {
            return informer;
        }
        let mut options = InformerOptions {
            resync,
            ..self.shared.options.clone()
        };
        options.reflector.plan = Some(key.plan.clone());
        let (informer, runner) = builder
            .options(options)
            .error_function(self.shared.on_error.clone())
            .first_transform(self.shared.transform.clone())
            .build();
        if self.shared.stop.is_cancelled() {
            return informer;
        }
        state.numbered += 1;
        let entry = SharedEntry::new(state.numbered, informer.clone(), runner);
        let handle = entry.handle(resync).unwrap_or(informer);
        state.entries.insert(key, entry);
        self.start_new(&mut state);
        handle
    }

    /// The informer of a kind that is known at compile time, in any [form of it](StaticResource), with the
    /// factory's selection.
    ///
    /// ```no_run
    /// # #[cfg(feature = "packed")]
    /// # fn example(factory: kube_informer::SharedInformerFactory) {
    /// use k8s_openapi::api::core::v1::{Node, Pod};
    /// use kube_informer::form::Packed;
    ///
    /// let pods = factory.informer::<Pod>();
    /// let nodes = factory.informer::<Packed<Node>>();
    /// # }
    /// ```
    #[doc(alias = "InformerFor")]
    pub fn informer<O: StaticResource>(&self) -> SharedInformer<O> {
        self.informer_with(InformerRequest::new())
    }

    /// The informer of any resource, in any form, with a selection of its own. Each selection has its own
    /// informer.
    ///
    /// ```no_run
    /// # fn example(factory: kube_informer::SharedInformerFactory) {
    /// use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
    /// use kube_informer::source::Selection;
    ///
    /// let widgets = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    /// let informer = factory.informer_for_resource::<DynamicObject>(widgets, Selection::default());
    /// # }
    /// ```
    #[doc(alias = "ForResource")]
    pub fn informer_for_resource<O: Decode>(
        &self,
        resource: ApiResource,
        selection: Selection,
    ) -> SharedInformer<O> {
        self.informer_with(InformerRequest::of(resource).selection(selection))
    }

    /// The informer of a kind's metadata: names, labels, owners. The server sends nothing else. Unless a
    /// [plan](InformerRequest::plan), of the request or the factory, says otherwise, `metadata.managedFields` is
    /// [pruned](crate::form#pruning).
    ///
    /// ```no_run
    /// # fn example(factory: kube_informer::SharedInformerFactory) {
    /// use k8s_openapi::api::core::v1::Pod;
    /// let informer = factory.metadata_informer::<Pod>();
    /// # }
    /// ```
    pub fn metadata_informer<K>(&self) -> SharedInformer<PartialObjectMeta<K>>
    where
        K: kube::Resource<DynamicType = ()> + Send + Sync + 'static,
        K::Scope: 'static,
    {
        self.informer_with(InformerRequest::new())
    }

    /// The informer of any resource's metadata, with a selection of its own; [without
    /// managedFields](Self::metadata_informer). For a resource that is known only at run time, `K` is
    /// [`DynamicObject`](kube::core::DynamicObject).
    pub fn metadata_informer_for_resource<K>(
        &self,
        resource: ApiResource,
        selection: Selection,
    ) -> SharedInformer<PartialObjectMeta<K>>
    where
        K: kube::Resource + Send + Sync + 'static,
    {
        self.informer_with(InformerRequest::of(resource).metadata_only().selection(selection))
    }

    /// Starts all informers, on [the runtime](self#the-runtime) of the caller. Informers that are requested
    /// later start immediately, also if the request is made outside the runtime. A second call does nothing.
    ///
    /// # Panics
    /// Panics outside a tokio runtime.
    #[doc(alias = "Start")]
    pub fn start(&self) {
        let mut state = self.lock();
        state.runtime.get_or_insert_with(Handle::current);
        self.start_new(&mut state);
    }

    /// Starts the informers that have not been, if the factory was started.
    fn start_new(&self, state: &mut State) {
        let Some(runtime) = &state.runtime else { return };
        for (key, entry) in &mut state.entries {
            let Some(run) = entry.runner.take() else { continue };
            let task = entry::run_while_used(self.clone(), key.clone(), entry.number, run, entry.users());
            self.shared.tasks.spawn_on(task, runtime);
        }
    }

    /// Removes an entry, unless it has users again.
    fn retire(&self, key: &Key, number: u64, users: &watch::Receiver<usize>) -> bool {
        let mut state = self.lock();
        if users.has_changed().unwrap_or(true) {
            return false;
        }
        let retired = match state.entries.get(key) {
            Some(entry) if entry.number == number => state.entries.remove(key),
            _ => None,
        };
        drop(state);
        if let Some(entry) = retired {
            tracing::debug!(resource = entry.informer.resource(), "an unused informer stops");
        }
        true
    }

    fn note_failure(&self, key: &Key, number: u64, error: RunError) {
        tracing::error!(%error, "an informer failed");
        let mut state = self.lock();
        if let Some(entry) = state.entries.get_mut(key).filter(|entry| entry.number == number) {
            entry.failure = Some(error.clone());
        }
        if state.failures.len() < FAILURES {
            state.failures.push(error);
        }
        drop(state);
        self.shared.failed.notify_waiters();
    }

    /// Waits until all informers that have been requested so far have synced. Informers that have stopped
    /// because they had no users are ignored. It does not wait for handlers; for one handler, await
    /// [`Registration::synced`](crate::Registration::synced).
    ///
    /// # Errors
    /// Some have not synced within `timeout`. The error names them and the reasons; for an informer over
    /// namespaces it names the namespaces that have not synced. If only failed informers have not synced, the
    /// error is returned immediately.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    #[doc(alias = "WaitForCacheSync")]
    pub async fn wait_for_sync(&self, timeout: Duration) -> Result<(), SyncError> {
        let numbers = 1..=self.lock().numbered;
        let informers: Vec<_> = self
            .lock()
            .entries
            .values()
            .map(|entry| entry.informer.clone())
            .collect();
        let all = join_all(informers.iter().map(|informer| informer.synced()));
        let _ = tokio::time::timeout(timeout, all).await;
        let state = self.lock();
        let entries = state.entries.values();
        let mut unsynced: Vec<_> = entries
            .filter(|entry| numbers.contains(&entry.number) && !entry.informer.has_synced())
            .flat_map(unsynced)
            .collect();
        unsynced.sort();
        if unsynced.is_empty() {
            Ok(())
        } else {
            Err(SyncError { unsynced, timeout })
        }
    }

    /// The informers that the factory has now, sorted by resource: for health checks and metrics.
    ///
    /// ```no_run
    /// # fn example(factory: kube_informer::SharedInformerFactory) {
    /// for informer in factory.informers() {
    ///     println!("{}: {} objects", informer.resource, informer.status.objects);
    /// }
    /// # }
    /// ```
    pub fn informers(&self) -> Vec<InformerInfo> {
        let entries = {
            let state = self.lock();
            let entries = state.entries.values();
            entries
                .map(|entry| (entry.informer.clone(), entry.failure.clone()))
                .collect::<Vec<_>>()
        };
        let states = entries.into_iter().map(|(informer, failure)| InformerInfo {
            resource: informer.resource().to_owned(),
            status: informer.status(),
            failure,
        });
        let mut states: Vec<_> = states.collect();
        states.sort_by(|a, b| a.resource.cmp(&b.resource));
        states
    }

    /// Waits until an informer has failed because a handler panicked. The others continue. Returns the first
    /// failure.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing: the factory keeps the failure, and the next call returns it.
    pub async fn failed(&self) -> RunError {
        loop {
            let mut failed = std::pin::pin!(self.shared.failed.notified());
            failed.as_mut().enable();
            if let Some(error) = self.lock().failures.first() {
                return error.clone();
            }
            failed.await;
        }
    }

    /// Stops all informers and waits until all their tasks have ended. Their stores stay readable.
    ///
    /// Concurrent and repeated calls are allowed; each waits for the same end.
    ///
    /// # Errors
    /// Some informers failed before, or did not stop cleanly; the error names a handler that is stuck.
    ///
    /// # Cancel safety
    /// If the future is dropped, the informers still stop; another call can wait for their end.
    #[doc(alias = "Shutdown")]
    pub async fn shutdown(&self) -> Result<(), ShutdownError> {
        {
            let mut state = self.lock();
            self.shared.stop.cancel();
            // Stops informers that were never started, too, so that their handlers do not wait for ever.
            state.runtime.get_or_insert_with(Handle::current);
            self.start_new(&mut state);
        }
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        let failures = self.lock().failures.clone();
        if failures.is_empty() {
            Ok(())
        } else {
            Err(ShutdownError { failures })
        }
    }
}

/// The parts of an entry that have not synced.
fn unsynced(entry: &SharedEntry) -> Vec<Unsynced> {
    match &entry.failure {
        None => entry.informer.unsynced(),
        Some(failure) => vec![Unsynced {
            resource: entry.informer.resource().to_owned(),
            form: entry.informer.form(),
            namespace: None,
            why: format!("it failed: {failure}"),
        }],
    }
}

impl fmt::Debug for SharedInformerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        let entries = state.entries.values();
        let mut resources: Vec<_> = entries.map(|entry| entry.informer.resource()).collect();
        resources.sort_unstable();
        f.debug_struct("SharedInformerFactory")
            .field("informers", &resources)
            .finish_non_exhaustive()
    }
}
