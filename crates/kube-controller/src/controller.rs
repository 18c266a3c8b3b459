//! Controllers: each object of a kind is reconciled when it changes, or when a related object changes.
//!
//! ```no_run
//! use futures::StreamExt;
//! use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
//! use kube::{Api, Client};
//! use kube_controller::controller::{Action, Controller};
//! use kube_controller::watcher;
//! use std::{convert::Infallible, sync::Arc};
//!
//! async fn reconcile(deployment: Arc<Deployment>, _: Arc<()>) -> Result<Action, Infallible> {
//!     println!("{:?}", deployment.metadata.name);
//!     Ok(Action::await_change())
//! }
//!
//! # async fn example(client: Client) {
//! Controller::new(Api::<Deployment>::all(client.clone()), watcher::Config::default())
//!     .owns(Api::<ReplicaSet>::all(client), watcher::Config::default())
//!     .shutdown_on_signal()
//!     .run(reconcile, |_, error, _| match *error {}, Arc::new(()))
//!     .for_each(|result| async move { println!("{result:?}") })
//!     .await;
//! # }
//! ```
//!
//! # The way of a change
//! The handlers of informers put keys on a work queue. When the controller is polled, it takes a key, reads
//! the newest state of the object from its informer, calls the reconciler and polls the future that it
//! returns. If the future is ready, the run has ended; otherwise, the future is spawned. A first poll that
//! takes longer than 100 microseconds delays other objects, so the next hundred futures are spawned without
//! a first poll and use all threads of the runtime, and twice as many after each further long one. A first
//! poll runs in the task that polls the stream. So what a reconciler does before its first `await` must not
//! wait for that task, and must not depend on the task it is in (`block_in_place`, task-locals). Two runs of a key never overlap; changes during a run
//! lead to one further run. A key whose object no longer exists needs no run.
//!
//! Reconciler, error policy and context need not be `Send` or `'static`, because they are called while the
//! stream is polled. So nothing is reconciled unless the stream is polled.
//!
//! # Start
//! The first poll starts all sources together. Reconciling begins when each of them
//!
//! - has synced, and its handler has been notified of every object that exists; or
//! - is refused by the server for a reason that waiting does not change, such as missing permissions; or
//! - has not synced within [`sync_timeout`](Config::sync_timeout).
//!
//! In the last two cases an error in the stream names the kind and the reason, and the controller begins
//! without that kind. Changes of its objects lead to reconciles as soon as it has synced. So a refused kind
//! does not delay the others. The controller waits for its own kind without a limit, because it has nothing
//! to reconcile before.
//!
//! # Namespaces and shards that are added
//! The informers of a controller can be over [namespaces](kube_informer::NamespaceSet) or
//! [shards](kube_informer::ShardSet), which can be added while it runs. Each informer lists them
//! independently. A run waits until all informers that the controller watches have listed the namespace or
//! shard of its object. Otherwise the reconciler could take an object for absent that was only not listed
//! yet. Runs of other objects continue meanwhile. The rules of the start apply: a source that is refused, or
//! exceeds [`sync_timeout`](Config::sync_timeout), is reported once, and runs do not wait for it until it has
//! synced. The controller does not know informers that only the reconciler reads; the reconciler can wait for
//! them with [`synced_for`](kube_informer::SharedInformer::synced_for).
//!
//! # When the next run is
//! | the reconciler | the key | label `result` |
//! |---|---|---|
//! | `Ok(Action::await_change())` | waits for a change; failures are forgotten | `success` |
//! | `Ok(Action::requeue(d))` | is run again after `d`; failures are forgotten | `requeue_after` |
//! | `Ok(Action::backoff())` | is run again after its backoff | `requeue` |
//! | `Err`, and the policy says `Action::requeue(d)` | is run again after `d` | `error` |
//! | `Err`, and the policy says `Action::backoff()` | is run again after its backoff | `error` |
//! | `Err`, and the policy says `Action::await_change()` | waits for a change: a terminal error | `error` |
//! | panics, or takes too long | is run again after its backoff | `error` |
//!
//! A change during a pause is reconciled at once, and the result of that run replaces an earlier `requeue`. A
//! failure counts for the backoff only if the previous pause was over. So changes that arrive during a
//! backoff neither lengthen nor shorten it. [`Attempt::current`] returns how often an object has failed.
//!
//! Objects that exist at the start and resyncs have [low priority](kube_workqueue::Priority::LOW), changes
//! have normal priority. Every eighth run is of the key that has waited longest, whatever its priority, so
//! that no key starves.
//!
//! # Stop
//! The stream ends after [`graceful_shutdown_on`](Controller::graceful_shutdown_on) when the running
//! reconciles have ended, and after [`abort_on`](Controller::abort_on) when they have been dropped. Dropping
//! the stream drops them too, but does not wait for that. Informers that the controller made are stopped
//! last.
//!
//! The stream also ends after an error that only a change of the program can mend: an informer of owned
//! objects is over shards by uid ([`OwnedByUid`](RunnerError::OwnedByUid)), or a source is over
//! other shards than the controller's own kind ([`OtherShards`](RunnerError::OtherShards)). And it
//! ends when the informer of the controller's own kind has stopped
//! ([`Stopped`](RunnerError::Stopped)).
//!
//! # Memory
//! [`Controller::new`] keeps its objects [packed](kube_informer::form::Packed), and of owned objects only the
//! metadata, also packed. To keep them in another form, create the informer yourself and use
//! [`Controller::for_informer`] and [`Controller::source`].
//!
//! # Metrics
//! A controller reports to the recorder of the `metrics` crate that is installed when it is first polled,
//! under controller-runtime's names and with the label `controller`. All metrics exist from the start.
//!
//! | metric | type | what |
//! |---|---|---|
//! | `controller_runtime_reconcile_total` | counter | runs, by the label `result` above |
//! | `controller_runtime_reconcile_errors_total` | counter | runs that failed, and objects that could not be read |
//! | `controller_runtime_terminal_reconcile_errors_total` | counter | failures that are not retried |
//! | `controller_runtime_reconcile_panics_total` | counter | runs that panicked |
//! | `controller_runtime_reconcile_timeouts_total` | counter | runs that took too long |
//! | `controller_runtime_reconcile_time_seconds` | histogram | the time that a run takes |
//! | `controller_runtime_max_concurrent_reconciles` | gauge | the limit; 0: none |
//! | `controller_runtime_active_workers` | gauge | runs in progress |
//!
//! The queue reports [its own](kube_workqueue#metrics) under the controller's name.

mod action;
mod any_informer;
mod attempt;
mod config;
mod coverage;
mod engine;
mod error;
mod failures;
mod follower;
mod metrics;
mod own;
mod run;
mod source;
mod streams;
mod trigger;

pub use action::Action;
pub(crate) use any_informer::AnyInformer;
pub use attempt::Attempt;
pub use config::Config;
pub use error::{Error, RunnerError};
#[doc(no_inline)]
pub use kube_informer::informer::enqueue::OwnerKind;
#[doc(no_inline)]
pub use kube_workqueue::Priority;
pub use source::Source;

use crate::own_writes::OwnWrites;
use crate::predicates::Predicate;
use crate::reflector::{ObjectRef, Store};
use crate::utils::Backoff;
use crate::watcher;
use engine::Engine;
use follower::{OwnInformer, Watched, informer_of};
use futures::future::{BoxFuture, select_all};
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt, TryFuture, stream};
use kube::core::discovery::Scope;
use kube::core::{ApiResource, ClusterResourceScope, PartialObjectMeta};
use kube::{Api, Resource};
use kube_informer::HasOwners;
use kube_informer::form::{Packed, WholeObject};
use kube_informer::{CachedObject, ShardSet, SharedInformer};
use serde::de::DeserializeOwned;
use std::any::TypeId;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, Weak};
use trigger::Trigger;

/// The form in which owned objects are held: metadata, packed.
type OwnedObject = Packed<PartialObjectMeta>;
/// Adds a filter to the source of the controller's own kind.
type Main<K> = Box<dyn MainSource<K> + Send>;

/// Reconciles the objects of the kind `K`; see the [module](self).
#[must_use = "a controller does nothing until the stream of `run` is polled"]
pub struct Controller<K: Resource + 'static> {
    name: String,
    dyntype: K::DynamicType,
    store: Store<K>,
    main: Option<Main<K>>,
    sources: Vec<Watched>,
    triggers: Vec<BoxStream<'static, Trigger>>,
    trigger_backoff: Option<Box<dyn Backoff>>,
    config: Config,
    hold: Vec<BoxFuture<'static, ()>>,
    stop: Vec<BoxFuture<'static, ()>>,
    abort: Vec<BoxFuture<'static, ()>>,
    own_writes: Option<OwnWrites>,
    /// The shards of which it reconciles objects, if not of all.
    shards: Option<ShardSet>,
    /// The informers that it runs itself.
    informers: Vec<Arc<dyn AnyInformer>>,
}

/// The source of the controller's own kind, whatever its form.
trait MainSource<K> {
    fn filter(self: Box<Self>, filter: UpdateFilter<K>) -> Main<K>;
    fn watched(self: Box<Self>) -> Watched;
}

type UpdateFilter<K> = Box<dyn FnMut(&K, &K) -> bool + Send>;

struct Own<O: CachedObject> {
    source: Source<O>,
    informer: Option<OwnInformer>,
}

impl<O: WholeObject> MainSource<O::Object> for Own<O> {
    fn filter(self: Box<Self>, filter: UpdateFilter<O::Object>) -> Main<O::Object> {
        let Self { source, informer } = *self;
        let source = source.filter_updates(filter);
        Box::new(Self { source, informer })
    }

    fn watched(self: Box<Self>) -> Watched {
        Watched::new(self.source, self.informer)
    }
}

impl<K> Controller<K>
where
    K: Clone + Resource + DeserializeOwned + Debug + Send + Sync + 'static,
    K::DynamicType: Eq + Hash + Clone,
{
    /// A controller of the objects of an [`Api`]. It creates an informer, which keeps them
    /// [packed](kube_informer::form::Packed).
    pub fn new(api: Api<K>, config: watcher::Config) -> Self
    where
        K::DynamicType: Default,
    {
        Self::new_with(api, config, Default::default())
    }

    /// [`new`](Self::new), for a kind that is known at run time.
    pub fn new_with(api: Api<K>, config: watcher::Config, dyntype: K::DynamicType) -> Self {
        let resource = ApiResource::erase::<K>(&dyntype);
        let (informer, own) = informer_of::<Packed<K>, K>(api, resource, &config, K::metadata_api(), None);
        let main = Own {
            source: Source::own(&informer),
            informer: Some(own),
        };
        let mut controller = Self::make(dyntype, Store::of(&informer), Some(Box::new(main)));
        controller.informers.push(Arc::new(informer));
        controller
    }
}

impl<K> Controller<K>
where
    K: Resource + Send + Sync + 'static,
    K::DynamicType: Eq + Hash + Clone,
{
    /// A controller of the objects of a shared informer, in any form that keeps whole objects. The controller
    /// does not run the informer; its creator does, for example a factory.
    ///
    /// If the informer is [over shards](SharedInformer::over_shards), each run
    /// [holds](kube_informer::ShardSet::hold) the shard of its object. An object is not reconciled if its
    /// shard has gone to another replica. A run is dropped if its shard
    /// [expires](kube_informer::ShardSet::expire). See [`shard_group`](crate::shard_group).
    pub fn for_informer<O: WholeObject<Object = K>>(informer: &SharedInformer<O>) -> Self
    where
        K::DynamicType: Default,
    {
        Self::for_informer_with(informer, Default::default())
    }

    /// [`for_informer`](Self::for_informer), for a kind that is known at run time.
    pub fn for_informer_with<O: WholeObject<Object = K>>(
        informer: &SharedInformer<O>,
        dyntype: K::DynamicType,
    ) -> Self {
        let main = Own {
            source: Source::own(informer),
            informer: None,
        };
        let shards = informer.shards().cloned();
        Self {
            shards,
            ..Self::make(dyntype, Store::of(informer), Some(Box::new(main)))
        }
    }

    fn make(dyntype: K::DynamicType, store: Store<K>, main: Option<Main<K>>) -> Self {
        Self {
            name: K::kind(&dyntype).to_lowercase(),
            dyntype,
            store,
            main,
            sources: Vec::new(),
            triggers: Vec::new(),
            trigger_backoff: None,
            config: Config::default(),
            hold: Vec::new(),
            stop: Vec::new(),
            abort: Vec::new(),
            own_writes: None,
            shards: None,
            informers: Vec::new(),
        }
    }

    /// Sets the name for metrics and logs. Default: the kind in lower case. The counters of two controllers
    /// with the same name are summed.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Its [name](Self::named).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the controller runs.
    pub fn with_config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Makes each run of an object wait until the informers that the controller watches have seen what its
    /// last run wrote with [`writes.client()`](OwnWrites::client). Changes that are certainly such writes do
    /// not lead to another run; [`own_writes`](crate::own_writes) says which these are. Add other informers
    /// that the reconciler reads to `writes` with [`track`](OwnWrites::track). Default: off, so the
    /// reconciler may read an older state than it has written.
    ///
    /// This is for controllers of this crate. For a loop of your own, use [`OwnWrites`] directly; see
    /// [which of them to use](crate::own_writes#which-of-the-three-to-use).
    ///
    /// A change that was merged with others could not be told from an own one, so pending changes of watched objects are not merged.
    ///
    /// A run waits for 90 seconds at most; then it continues, and the log says why. Controllers that share
    /// `writes` must have different [names](Self::named).
    #[doc(alias = "EnableReadYourWritesConsistency")]
    pub fn read_your_writes(mut self, writes: &OwnWrites) -> Self {
        self.own_writes = Some(writes.clone());
        self
    }

    /// The objects of the controller's kind.
    pub fn store(&self) -> Store<K> {
        self.store.clone()
    }

    /// Ignores updates of objects of the controller's kind for which the predicate's value stays the same;
    /// see [`Source::filter`]. Has no effect on a controller [for a stream](Self::for_stream).
    pub fn filter(self, predicate: impl Predicate<K> + Send + 'static) -> Self {
        self.filter_updates(move |old, new| predicate.has_changed(old, new))
    }

    /// Ignores updates of objects of the controller's kind for which `passes` is false; see
    /// [`Source::filter_updates`].
    pub fn filter_updates(mut self, passes: impl FnMut(&K, &K) -> bool + Send + 'static) -> Self {
        self.main = self.main.map(|main| main.filter(Box::new(passes)));
        self
    }

    /// Watches another kind, and reconciles the owners of its objects when these change. Only the metadata of
    /// the owned objects is requested and kept.
    ///
    /// All owners of the kind `K` are reconciled. Use [`source`](Self::source) to reconcile only the owner
    /// with `controller: true`, or to filter changes.
    pub fn owns<Child: Resource<DynamicType = ()>>(self, api: Api<Child>, config: watcher::Config) -> Self {
        self.owns_with(api, (), config)
    }

    /// [`owns`](Self::owns), for a kind that is known at run time.
    pub fn owns_with<Child: Resource>(
        mut self,
        api: Api<Child>,
        dyntype: Child::DynamicType,
        config: watcher::Config,
    ) -> Self {
        let resource = ApiResource::erase::<Child>(&dyntype);
        let (informer, own) = informer_of::<OwnedObject, Child>(api, resource, &config, true, None);
        let source = Source::owned(&informer, self.owner_kind());
        self.sources.push(Watched::new(source, Some(own)));
        self.informers.push(Arc::new(informer));
        self
    }

    /// Reconciles the owners of the objects of a shared informer when these change. See [`Source::owned`].
    pub fn owns_informer<O: HasOwners>(self, informer: &SharedInformer<O>) -> Self {
        let source = Source::owned(informer, self.owner_kind());
        self.source(source)
    }

    /// Watches another kind, and reconciles the objects that `mapper` returns for a changed object. For an
    /// update, `mapper` is called with the state before and with the state after it.
    pub fn watches<Other, I>(
        self,
        api: Api<Other>,
        config: watcher::Config,
        mapper: impl Fn(Other) -> I + Send + Sync + 'static,
    ) -> Self
    where
        Other: Clone + Resource<DynamicType: Default> + DeserializeOwned + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectRef<K>>,
    {
        self.watches_with(api, Default::default(), config, mapper)
    }

    /// [`watches`](Self::watches), for a kind that is known at run time.
    pub fn watches_with<Other, I>(
        mut self,
        api: Api<Other>,
        dyntype: Other::DynamicType,
        config: watcher::Config,
        mapper: impl Fn(Other) -> I + Send + Sync + 'static,
    ) -> Self
    where
        Other: Clone + Resource + DeserializeOwned + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectRef<K>>,
    {
        let resource = ApiResource::erase::<Other>(&dyntype);
        // The mapper takes its object: what is kept would have to be cloned for it.
        let (informer, own) =
            informer_of::<Packed<Other>, Other>(api, resource, &config, Other::metadata_api(), Some(0));
        let source = Source::mapped(&informer, move |object: &Packed<Other>| {
            let object = object.decode().inspect_err(
                |error| tracing::warn!(object = %object.key(), %error, "an object leads to no others"),
            );
            let object = object.ok().map(Arc::unwrap_or_clone);
            object.map(&mapper).into_iter().flatten()
        });
        self.sources.push(Watched::new(source, Some(own)));
        self.informers.push(Arc::new(informer));
        self
    }

    /// Reconciles the objects that `mapper` returns for a changed object of a shared informer. See
    /// [`Source::mapped`].
    pub fn watches_informer<O, I>(
        self,
        informer: &SharedInformer<O>,
        mapper: impl FnMut(&O::Handle) -> I + Send + 'static,
    ) -> Self
    where
        O: CachedObject,
        I: IntoIterator<Item = ObjectRef<K>>,
    {
        self.source(Source::mapped(informer, mapper))
    }

    /// Watches another kind. The [`Source`] says which of its changes count, and which objects are then
    /// reconciled.
    pub fn source<O: CachedObject>(mut self, source: Source<O>) -> Self {
        self.sources.push(Watched::new(source, None));
        self
    }

    /// Pauses the streams that were given to this controller after one of them returned an error: all of them
    /// together, as kube does. Default: no pauses. The informers that the controller runs have [their own
    /// backoff](kube_informer::reflector::Backoff).
    pub fn trigger_backoff(mut self, backoff: impl Backoff + 'static) -> Self {
        self.trigger_backoff = Some(Box::new(backoff));
        self
    }

    /// Reconciles all objects, with low priority, whenever the stream yields an item.
    pub fn reconcile_all_on(mut self, trigger: impl Stream<Item = ()> + Send + 'static) -> Self {
        self.triggers.push(trigger.map(|()| Trigger::All).boxed());
        self
    }

    /// Reconciles the objects that a stream yields. One that does not exist is an
    /// [error](Error::ObjectNotFound) in the controller's stream.
    #[doc(alias = "Channel")]
    pub fn reconcile_on(mut self, trigger: impl Stream<Item = ObjectRef<K>> + Send + 'static) -> Self
    where
        K::DynamicType: Send,
    {
        let keys = trigger.map(|object| Trigger::Named(object.key()));
        self.triggers.push(keys.boxed());
        self
    }

    /// Reconciles nothing before this future completes. Meanwhile the sources sync and fill the queue, so
    /// that reconciling begins without delay, for example when an election is won. If this is called several
    /// times, all futures must complete.
    #[doc(alias = "Warmup")]
    pub fn warm_until(mut self, begin: impl Future<Output = ()> + Send + 'static) -> Self {
        self.hold.push(begin.boxed());
        self
    }

    /// Stops when this future completes: no further reconcile starts, and the stream ends when the running
    /// reconciles have ended. If this is called several times, the first future that completes counts.
    pub fn graceful_shutdown_on(mut self, trigger: impl Future<Output = ()> + Send + 'static) -> Self {
        self.stop.push(trigger.boxed());
        self
    }

    /// Stops at once when this future completes: running reconciles are dropped at their current await point,
    /// and the stream ends when all of them have been dropped. It does not wait for the controller's informers. If this is
    /// called several times, the first future that completes counts.
    pub fn abort_on(mut self, trigger: impl Future<Output = ()> + Send + 'static) -> Self {
        self.abort.push(trigger.boxed());
        self
    }

    /// Stops on the first SIGINT or SIGTERM as [`graceful_shutdown_on`](Self::graceful_shutdown_on) does, and
    /// at once on the second. Signals are caught from the first poll of the stream.
    ///
    /// # Panics
    /// The stream panics if the signal handlers cannot be installed.
    pub fn shutdown_on_signal(self) -> Self {
        let (graceful, first) = tokio::sync::oneshot::channel();
        let signals = async {
            signal().await;
            tracing::info!("stopping after what is running; another signal stops at once");
            let _ = graceful.send(());
            signal().await;
            tracing::info!("stopping at once");
        };
        let first = async {
            if first.await.is_err() {
                futures::future::pending().await
            }
        };
        self.graceful_shutdown_on(first).abort_on(signals)
    }

    /// The informers that it runs itself, for as long as it exists or runs.
    pub(crate) fn informers(&self) -> impl Iterator<Item = Weak<dyn AnyInformer>> {
        self.informers.iter().map(Arc::downgrade)
    }

    /// Which owners are objects of this controller.
    fn owner_kind(&self) -> OwnerKind {
        let scope = match TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>() {
            true => Scope::Cluster,
            // For a kind whose scope is unknown, the engine looks again.
            false => Scope::Namespaced,
        };
        OwnerKind::new(&ApiResource::erase::<K>(&self.dyntype), scope)
    }

    /// Runs the controller while the stream is polled. The items are the results of the runs, and errors of
    /// the sources.
    ///
    /// `error_policy` is called when `reconciler` has returned an error, and returns when to retry. See [When
    /// the next run is](self#when-the-next-run-is).
    ///
    /// # Panics
    /// The stream panics outside a tokio runtime with time enabled. It also panics if a reconciler panics and
    /// [`recover_panic`](Config::recover_panic) is off.
    pub fn run<ReconcilerFut, Ctx>(
        self,
        reconciler: impl FnMut(Arc<K>, Arc<Ctx>) -> ReconcilerFut,
        error_policy: impl Fn(Arc<K>, &ReconcilerFut::Error, Arc<Ctx>) -> Action,
        context: Arc<Ctx>,
    ) -> impl Stream<Item = Result<(ObjectRef<K>, Action), Error<ReconcilerFut::Error, watcher::Error>>>
    where
        ReconcilerFut: TryFuture<Ok = Action> + Send + 'static,
        ReconcilerFut::Error: std::error::Error + Send + 'static,
    {
        let unstarted = Machine::Unstarted(Box::new((self, reconciler, error_policy, context)));
        stream::unfold(unstarted, |machine| async move {
            let mut engine = match machine {
                Machine::Running(engine) => engine,
                Machine::Unstarted(parts) => {
                    let (controller, reconciler, error_policy, context) = *parts;
                    Box::new(Engine::start(controller, reconciler, error_policy, context))
                }
            };
            let item = engine.next().await?;
            Some((item, Machine::Running(engine)))
        })
    }
}

type Unstarted<K, R, P, Ctx> = (Controller<K>, R, P, Arc<Ctx>);

/// A controller before and after its first poll. Boxed, since it is moved with each item of the stream.
enum Machine<K: Resource + 'static, R, P, Ctx, E> {
    Unstarted(Box<Unstarted<K, R, P, Ctx>>),
    Running(Box<Engine<K, R, P, Ctx, E>>),
}

/// Waits for SIGINT or SIGTERM.
async fn signal() {
    let interrupt = async {
        tokio::signal::ctrl_c().await.expect("SIGINT can be listened for");
    };
    #[cfg(unix)]
    let terminate = async {
        use tokio::signal::unix::{SignalKind, signal};
        let mut signals = signal(SignalKind::terminate()).expect("SIGTERM can be listened for");
        signals.recv().await;
    };
    #[cfg(not(unix))]
    let terminate = futures::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}

/// The first of these futures; none: never.
fn first(futures: Vec<BoxFuture<'static, ()>>) -> BoxFuture<'static, ()> {
    match futures.is_empty() {
        true => futures::future::pending().boxed(),
        false => select_all(futures).map(|_| ()).boxed(),
    }
}

impl<K: Resource> Debug for Controller<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name)
            .field("sources", &self.sources.len())
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
