//! The factory: one informer for each collection, however many ask for it.
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

use crate::form::Form;
use crate::informer::{InformerBuilder, InformerOptions, RunError, SharedInformer};
use crate::reflector::ReflectorOptions;
use crate::source::{ClientSource, Selection, StreamingLists};
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use kube::core::{ApiResource, ClusterResourceScope, PartialObjectMeta};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, time::Duration};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Makes informers, shares them, runs them, and stops them together; see the [module](self).
///
/// A clone is another handle to the same factory. Dropping the last one does not stop the informers:
/// [`shutdown`](Self::shutdown) does.
#[derive(Clone)]
pub struct SharedInformerFactory {
    shared: Arc<Shared>,
}

struct Shared {
    client: kube::Client,
    selection: Selection,
    options: InformerOptions,
    streaming: StreamingLists,
    stop: CancellationToken,
    state: Mutex<State>,
    /// Signalled when an informer has failed.
    failed: Notify,
    /// Whether all informers have been joined.
    joined: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    members: HashMap<Collection, Member>,
    started: bool,
    tasks: JoinSet<()>,
    failures: Vec<RunError>,
}

/// What makes two requests mean the same informer.
#[derive(PartialEq, Eq, Hash)]
struct Collection {
    form: TypeId,
    group: String,
    version: String,
    plural: String,
    selection: Selection,
    metadata_only: bool,
}

struct Member {
    /// A `SharedInformer` of the form that the collection names.
    informer: Box<dyn Any + Send>,
    watched: Arc<dyn Watched>,
    /// What is run when the factory is started; taken then.
    runner: Option<Run>,
}

type Run = Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, Result<(), RunError>> + Send>;

/// An informer, whatever its form.
trait Watched: Send + Sync {
    fn resource(&self) -> String;
    fn has_synced(&self) -> bool;
    fn synced(&self) -> BoxFuture<'_, ()>;
    /// Why it has not synced, as far as is known.
    fn obstacle(&self) -> String;
}

impl<O: Form> Watched for SharedInformer<O> {
    fn resource(&self) -> String {
        SharedInformer::resource(self).to_owned()
    }

    fn has_synced(&self) -> bool {
        SharedInformer::has_synced(self)
    }

    fn synced(&self) -> BoxFuture<'_, ()> {
        async {
            let _ = SharedInformer::synced(self).await;
        }
        .boxed()
    }

    fn obstacle(&self) -> String {
        let status = self.status().reflector;
        match status.last_error {
            Some(error) => format!("{}: {}", error.class, error.message),
            None => format!("no error so far, {:?}", status.phase),
        }
    }
}

/// Sets up a [`SharedInformerFactory`].
///
/// ```no_run
/// # async fn example() -> Result<(), kube::Error> {
/// use kube_informer::{SharedInformerFactory, source::Selection};
///
/// let client = kube::Client::try_default().await?;
/// let factory = SharedInformerFactory::builder(client)
///     .selection(Selection { namespace: Some("shop".into()), ..Default::default() })
///     .build();
/// # Ok(())
/// # }
/// ```
#[must_use = "call `build`"]
pub struct FactoryBuilder {
    client: kube::Client,
    selection: Selection,
    options: InformerOptions,
}

impl FactoryBuilder {
    /// What informers select unless they are asked for with another selection. Cluster-scoped kinds ignore the
    /// namespace. Default: everything.
    pub fn selection(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// A name for the [metrics](crate#metrics) of all informers of this factory. Default: none.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = name.into();
        self
    }

    /// How reflectors behave.
    pub fn reflector(mut self, options: ReflectorOptions) -> Self {
        self.options.reflector = options;
        self
    }

    /// How often handlers that do not say otherwise are told again of every object; see
    /// [`InformerBuilder::resync`](crate::informer::InformerBuilder::resync). Default: zero, which is never.
    pub fn resync(mut self, period: Duration) -> Self {
        self.options.resync = period;
        self
    }

    /// How long handlers have to return from the running call at shutdown. Default: 30 s.
    pub fn stop_deadline(mut self, deadline: Duration) -> Self {
        self.options.stop_deadline = deadline;
        self
    }

    /// The factory.
    pub fn build(self) -> SharedInformerFactory {
        let Self {
            client,
            selection,
            options,
        } = self;
        let shared = Shared {
            client,
            selection,
            options,
            streaming: StreamingLists::default(),
            stop: CancellationToken::new(),
            state: Mutex::default(),
            failed: Notify::new(),
            joined: watch::Sender::default(),
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
            selection: Selection::default(),
            options: InformerOptions::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The informer of a kind that is known at compile time, with the factory's selection.
    ///
    /// The first request makes it, later ones get the same one. If the factory was started, it runs at once.
    #[doc(alias = "InformerFor")]
    pub fn informer<K: Form + kube::Resource<DynamicType = ()>>(&self) -> SharedInformer<K>
    where
        K::Scope: 'static,
    {
        self.informer_for(ApiResource::erase::<K>(&()), self.selection_of::<K>())
    }

    /// The informer of any resource, in any form, with a selection of its own. What is selected differently is another
    /// informer.
    ///
    /// ```no_run
    /// # fn example(factory: kube_informer::SharedInformerFactory) {
    /// use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
    /// use kube_informer::source::Selection;
    ///
    /// let widgets = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    /// let informer = factory.informer_for::<DynamicObject>(widgets, Selection::default());
    /// # }
    /// ```
    #[doc(alias = "ForResource")]
    pub fn informer_for<O: Form>(&self, resource: ApiResource, selection: Selection) -> SharedInformer<O> {
        self.member(resource, selection, false)
    }

    /// The informer of a kind's metadata only: names, labels, owners. The server sends nothing else.
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
        self.metadata_informer_for(ApiResource::erase::<K>(&()), self.selection_of::<K>())
    }

    /// The informer of any resource's metadata only, with a selection of its own. For a resource that is known only at
    /// run time, `K` is [`DynamicObject`](kube::core::DynamicObject).
    pub fn metadata_informer_for<K>(
        &self,
        resource: ApiResource,
        selection: Selection,
    ) -> SharedInformer<PartialObjectMeta<K>>
    where
        K: kube::Resource + Send + Sync + 'static,
    {
        self.member(resource, selection, true)
    }

    /// The factory's selection for a kind: without the namespace if the kind has none.
    fn selection_of<K: kube::Resource>(&self) -> Selection
    where
        K::Scope: 'static,
    {
        let mut selection = self.shared.selection.clone();
        if TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>() {
            selection.namespace = None;
        }
        selection
    }

    fn member<O: Form>(
        &self,
        resource: ApiResource,
        selection: Selection,
        metadata_only: bool,
    ) -> SharedInformer<O> {
        let collection = Collection {
            form: TypeId::of::<O>(),
            group: resource.group.clone(),
            version: resource.version.clone(),
            plural: resource.plural.clone(),
            selection: selection.clone(),
            metadata_only,
        };
        let mut state = self.lock();
        let known = state
            .members
            .get(&collection)
            .and_then(|member| member.informer.downcast_ref());
        if let Some(informer) = known {
            return SharedInformer::clone(informer);
        }
        let mut source = ClientSource::new(self.shared.client.clone(), resource, selection)
            .streaming_lists(self.shared.streaming.clone());
        if metadata_only {
            source = source.metadata_only();
        }
        let (informer, runner) =
            InformerBuilder::<O>::with_options(Arc::new(source), self.shared.options.clone()).build();
        let member = Member {
            informer: Box::new(informer.clone()),
            watched: Arc::new(informer.clone()),
            runner: Some(Box::new(|stop| runner.run(stop).boxed())),
        };
        state.members.insert(collection, member);
        if state.started {
            self.start_new(&mut state);
        }
        informer
    }

    /// Starts all informers; those that are asked for later start at once. A second call does nothing.
    ///
    /// # Panics
    /// If it is not called from within a tokio runtime.
    #[doc(alias = "Start")]
    pub fn start(&self) {
        let mut state = self.lock();
        state.started = true;
        self.start_new(&mut state);
    }

    fn start_new(&self, state: &mut State) {
        let State { members, tasks, .. } = state;
        for runner in members.values_mut().filter_map(|member| member.runner.take()) {
            let run = runner(self.shared.stop.child_token());
            let shared = Arc::downgrade(&self.shared);
            tasks.spawn(async move {
                let Err(error) = run.await else { return };
                let Some(shared) = shared.upgrade() else { return };
                tracing::error!(%error, "an informer failed");
                shared
                    .state
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .failures
                    .push(error);
                shared.failed.notify_waiters();
            });
        }
    }

    fn watched(&self) -> Vec<Arc<dyn Watched>> {
        self.lock()
            .members
            .values()
            .map(|member| member.watched.clone())
            .collect()
    }

    /// Waits until all informers that were asked for so far have synced.
    ///
    /// # Errors
    /// Some have not within `timeout`: the error names them, each with what stands in its way.
    #[doc(alias = "WaitForCacheSync")]
    pub async fn wait_for_sync(&self, timeout: Duration) -> Result<(), SyncError> {
        let watched = self.watched();
        let all = join_all(watched.iter().map(|informer| informer.synced()));
        let _ = tokio::time::timeout(timeout, all).await;
        let unsynced = watched.iter().filter(|informer| !informer.has_synced());
        let mut unsynced: Vec<_> = unsynced
            .map(|i| Unsynced {
                resource: i.resource(),
                why: i.obstacle(),
            })
            .collect();
        unsynced.sort();
        if unsynced.is_empty() {
            Ok(())
        } else {
            Err(SyncError { unsynced, timeout })
        }
    }

    /// Waits until an informer has failed: a handler panicked. The others go on.
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

    /// Stops all informers and waits until every task of theirs has ended. Their stores stay readable.
    ///
    /// It may be called repeatedly and at the same time; every call waits for the same end.
    ///
    /// # Errors
    /// Some informers failed before or did not stop cleanly.
    #[doc(alias = "Shutdown")]
    pub async fn shutdown(&self) -> Result<(), ShutdownError> {
        self.shared.stop.cancel();
        let tasks = {
            let mut state = self.lock();
            // Those that were never started stop as well: their handlers must not wait for ever.
            self.start_new(&mut state);
            std::mem::take(&mut state.tasks)
        };
        if tasks.is_empty() {
            let members = self.lock().members.is_empty();
            if !members {
                let _ = self.shared.joined.subscribe().wait_for(|joined| *joined).await;
            }
        } else {
            tasks.join_all().await;
            self.shared.joined.send_replace(true);
        }
        let failures = self.lock().failures.clone();
        if failures.is_empty() {
            Ok(())
        } else {
            Err(ShutdownError { failures })
        }
    }
}

impl fmt::Debug for SharedInformerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resources: Vec<_> = self
            .watched()
            .iter()
            .map(|informer| informer.resource())
            .collect();
        f.debug_struct("SharedInformerFactory")
            .field("informers", &resources)
            .finish_non_exhaustive()
    }
}

/// Some informers have not synced in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncError {
    /// The informers, sorted by resource.
    pub unsynced: Vec<Unsynced>,
    /// How long they had.
    pub timeout: Duration,
}

/// An informer that has not synced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unsynced {
    /// Its resource.
    pub resource: String,
    /// What stands in its way: the last error, or what it is doing.
    pub why: String,
}

impl fmt::Display for SyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not synced within {} s: ", self.timeout.as_secs_f64())?;
        for (index, unsynced) in self.unsynced.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{} ({})", unsynced.resource, unsynced.why)?;
        }
        Ok(())
    }
}

impl std::error::Error for SyncError {}

/// Informers that failed, or did not stop cleanly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShutdownError {
    /// The failures; at least one.
    pub failures: Vec<RunError>,
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failures: Vec<_> = self.failures.iter().map(RunError::to_string).collect();
        f.write_str(&failures.join("; "))
    }
}

impl std::error::Error for ShutdownError {}
