//! The sources of a controller: which changes of which objects put which keys on its queue.

use super::own::Own;
use crate::predicates::Predicate;
use crate::watcher;
use futures::FutureExt;
use futures::future::BoxFuture;
use kube::core::ApiResource;
use kube::{Api, Resource};
use kube_informer::HasOwners;
use kube_informer::form::{Decode, WholeObject};
use kube_informer::informer::enqueue::OwnerKind;
use kube_informer::informer::{InformerStatus, PartitionStatus, RunError, Stopped, Unsynced};
use kube_informer::reflector::{LastError, ReflectorOptions, ReflectorStatus};
use kube_informer::selector::ShardField;
use kube_informer::source::ClientSource;
use kube_informer::{
    CachedObject, Delivery, HandlerOptions, Notification, ObjectKey, PanicPolicy, Registration, ShardSet,
    SharedInformer,
};
use kube_workqueue::{Priority, WorkQueue};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Where the keys of a controller come in, from the tasks of its informers.
#[derive(Clone)]
pub(super) struct Intake {
    queue: WorkQueue<ObjectKey>,
    debounce: Duration,
    /// If the controller reads its own writes.
    own: Option<Own>,
}

impl Intake {
    pub(super) fn new(queue: WorkQueue<ObjectKey>, debounce: Duration, own: Option<Own>) -> Self {
        Self { queue, debounce, own }
    }

    /// Puts a key on the queue. Whether this replica owns the object is asked when it is to be reconciled.
    pub(super) fn request(&self, key: ObjectKey, priority: Priority) {
        let queue = self.queue.with_priority(priority);
        match self.debounce {
            Duration::ZERO => queue.add(key),
            debounce => queue.add_after(key, debounce),
        }
    }
}

/// Finds the keys to which an object leads.
type Keys<O> = Box<dyn FnMut(&<O as CachedObject>::Handle, &mut Vec<ObjectKey>) + Send>;
/// Says whether a change from the first state to the second counts.
type Filter<O> = Box<dyn FnMut(&<O as CachedObject>::Handle, &<O as CachedObject>::Handle) -> bool + Send>;

/// A further kind that a controller watches: a shared informer in any form, with a filter of its changes, and
/// a function that returns the objects to be reconciled. Pass it to
/// [`Controller::source`](super::Controller::source).
///
/// ```no_run
/// use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_controller::controller::{Controller, OwnerKind, Source};
/// use kube_controller::predicates;
/// use kube_informer::{ObjectKey, SharedInformerFactory};
///
/// # fn example(factory: SharedInformerFactory) {
/// let sets = Source::owned(&factory.informer::<ReplicaSet>(), OwnerKind::of::<Deployment>().controller_only());
/// let settings = Source::mapped(&factory.informer::<ConfigMap>(), |settings| {
///     settings.metadata.annotations.as_ref()?.get("example.com/used-by").map(|key| ObjectKey::from(&**key))
/// });
/// let controller = Controller::for_informer(&factory.informer::<Deployment>())
///     .source(sets.filter(predicates::generation))
///     .source(settings);
/// # }
/// ```
#[must_use = "pass it to `Controller::source`"]
pub struct Source<O: CachedObject> {
    informer: SharedInformer<O>,
    keys: Keys<O>,
    filter: Option<Filter<O>>,
    priority: Option<Priority>,
    delivery: Delivery,
    /// Whether what belongs together may be in different shards, so that the informer does not have it.
    is_scattered: bool,
}

impl<O: CachedObject> Source<O> {
    /// A change of an object reconciles its owners of one kind. For an update, these are the owners before
    /// and after it, each once; for a deletion, those of the last known state.
    ///
    /// Owners are identified by group and kind; the version is ignored. An owner is in the namespace of the
    /// owned object, unless its kind has no namespaces.
    ///
    /// If the informer is over shards by uid, it may not have all objects that are owned by objects in these
    /// shards. So a controller with such a source ends with [an error](watcher::Error::OwnedByUid). It also
    /// ends with an error if the source is over [other shards](watcher::Error::OtherShards) than the
    /// controller's own kind.
    #[doc(alias = "Owns")]
    #[doc(alias = "EnqueueRequestForOwner")]
    pub fn owned(informer: &SharedInformer<O>, owner: OwnerKind) -> Self
    where
        O: HasOwners,
    {
        let by_uid = |shards: &ShardSet| shards.field() == ShardField::Uid;
        Self {
            is_scattered: informer.shards().is_some_and(by_uid),
            ..Self::new(informer, move |object, keys| keys.extend(owner.keys::<O>(object)))
        }
    }

    /// A change of an object reconciles the objects that `map` returns for it. For an update, `map` is called
    /// with the old state and with the new one, and each key counts once; for a deletion, with the last known
    /// state. If `map` panics, this is logged, and the change reconciles nothing.
    ///
    /// `map` runs on a task of the informer, so it must not block.
    #[doc(alias = "Watches")]
    #[doc(alias = "EnqueueRequestsFromMapFunc")]
    pub fn mapped<I>(
        informer: &SharedInformer<O>,
        mut map: impl FnMut(&O::Handle) -> I + Send + 'static,
    ) -> Self
    where
        I: IntoIterator<Item: Into<ObjectKey>>,
    {
        Self::new(informer, move |object, keys| {
            keys.extend(map(object).into_iter().map(Into::into));
        })
    }

    /// Objects that lead to themselves: the controller's own kind.
    pub(super) fn own(informer: &SharedInformer<O>) -> Self {
        Self {
            // Only the newest state matters.
            delivery: Delivery::default(),
            ..Self::new(informer, |object, keys| keys.push(O::key_of(object)))
        }
    }

    fn new(
        informer: &SharedInformer<O>,
        keys: impl FnMut(&O::Handle, &mut Vec<ObjectKey>) + Send + 'static,
    ) -> Self {
        Self {
            informer: informer.clone(),
            keys: Box::new(keys),
            filter: None,
            priority: None,
            // The states in between matter: they may lead to other keys.
            delivery: Delivery::Unbounded,
            is_scattered: false,
        }
    }

    /// Ignores updates for which the predicate's value stays the same. If there are several filters, an
    /// update must pass all of them.
    ///
    /// These changes always pass: an object is new, is deleted, begins to be deleted, or was replaced by
    /// another one of its name, and an object cannot be read. See [`predicates`](crate::predicates).
    #[doc(alias = "WithPredicates")]
    pub fn filter(self, predicate: impl Predicate<O::Object> + Send + 'static) -> Self
    where
        O: WholeObject,
    {
        self.filter_updates(move |old, new| predicate.has_changed(old, new))
    }

    /// Ignores updates for which `passes` returns false. It is called with the state before the update and
    /// the one after it. Otherwise like [`filter`](Self::filter).
    pub fn filter_updates(
        mut self,
        mut passes: impl FnMut(&O::Object, &O::Object) -> bool + Send + 'static,
    ) -> Self
    where
        O: WholeObject,
    {
        let mut others = self.filter.take();
        self.filter = Some(Box::new(move |old, new| {
            let others_pass = others.as_mut().is_none_or(|others| others(old, new));
            let (Ok(old), Ok(new)) = (O::object_of(old), O::object_of(new)) else {
                return true;
            };
            must_pass(&*old, &*new) || others_pass && passes(&old, &new)
        }));
        self
    }

    /// The priority of the reconciles that this source causes. Default: [`Priority::LOW`] for objects that
    /// existed at the start and for resyncs, [`Priority::NORMAL`] for changes.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// The handler of the informer.
    fn handler(self, intake: Intake) -> impl FnMut(Notification<O>) + Send + 'static {
        let Self {
            mut keys,
            mut filter,
            priority,
            informer,
            ..
        } = self;
        let cache = intake.own.as_ref().map(|own| own.track(&informer));
        // The handler is one of the informer's users in any case.
        drop(informer);
        move |change| {
            let (old, usual) = match &change {
                Notification::Add { initial: true, .. } => (None, Priority::LOW),
                Notification::Add { initial: false, .. } | Notification::Delete(_) => {
                    (None, Priority::NORMAL)
                }
                Notification::Update { old, new } => {
                    if filter.as_mut().is_some_and(|passes| !passes(old, new)) {
                        return;
                    }
                    let is_resync = O::resource_version_of(old) == O::resource_version_of(new);
                    (
                        Some(old),
                        if is_resync {
                            Priority::LOW
                        } else {
                            Priority::NORMAL
                        },
                    )
                }
            };
            let mut found = Vec::new();
            for object in old.into_iter().chain(change.object()) {
                keys(object, &mut found);
            }
            found.sort_unstable();
            found.dedup();
            let priority = priority.unwrap_or(usual);
            for key in found {
                match (&cache, &intake.own) {
                    (Some(cache), Some(own)) => {
                        let (run, intake) = (own.run(&key), intake.clone());
                        cache.unless_own(&run, &change, move || intake.request(key, priority));
                    }
                    _ => intake.request(key, priority),
                }
            }
        }
    }
}

impl<O: CachedObject> std::fmt::Debug for Source<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("resource", &self.informer.resource())
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}

/// Whether a filter must not hide an update: the deletion begins, or it is another object.
fn must_pass<K: Resource>(old: &K, new: &K) -> bool {
    let (old, new) = (old.meta(), new.meta());
    let begins_deletion = old.deletion_timestamp.is_none() && new.deletion_timestamp.is_some();
    begins_deletion || old.uid != new.uid
}

/// Adds the handler of a source to its informer, for a controller of this name.
type Start = Box<dyn FnOnce(&str, Intake) -> Result<Running, Stopped> + Send>;

/// A source that has not been started.
pub(super) struct Watched {
    start: Start,
    resource: String,
    is_scattered: bool,
    /// The shards of its informer, if that is over some.
    shards: Option<ShardSet>,
    /// Whether the informer's failures are reported, because nobody else is told of them.
    own: Option<OwnInformer>,
}

/// An informer that the controller runs itself.
pub(super) struct OwnInformer {
    run: Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, Result<(), RunError>> + Send>,
    failures: mpsc::Receiver<LastError>,
    reports: Arc<AtomicBool>,
}

/// How many failures of requests are kept until the controller is polled.
const FAILURES: usize = 16;

/// The informer of what an [`Api`] stands for.
pub(super) fn informer_of<O: Decode, A: Resource>(
    api: Api<A>,
    resource: ApiResource,
    config: &watcher::Config,
    metadata_only: bool,
    decoded_cache: Option<usize>,
) -> (SharedInformer<O>, OwnInformer) {
    let selection = config.selection(api.namespace());
    let mut source = ClientSource::new(api.into_client(), resource, selection);
    if metadata_only {
        source = source.metadata_only();
    }
    let (failed, failures) = mpsc::channel(FAILURES);
    let reports = Arc::new(AtomicBool::new(false));
    let reported = reports.clone();
    let (informer, runner) = SharedInformer::<O>::builder(source)
        .reflector_options(ReflectorOptions {
            decoded_cache,
            ..config.reflector()
        })
        .on_error(move |failure| {
            if reported.load(Ordering::Relaxed) {
                // If it is full, those that wait say enough.
                let _ = failed.try_send((**failure).clone());
            }
        })
        .build();
    let own = OwnInformer {
        run: Box::new(|stop| runner.run(stop).boxed()),
        failures,
        reports,
    };
    (informer, own)
}

impl Watched {
    pub(super) fn new<O: CachedObject>(source: Source<O>, own: Option<OwnInformer>) -> Self {
        let resource = source.informer.resource().to_owned();
        let (is_scattered, shards) = (source.is_scattered, source.informer.shards().cloned());
        let start = move |name: &str, intake: Intake| {
            let informer = source.informer.clone();
            let delivery = match intake.own {
                // A change that was merged with others could be taken for an own one.
                Some(_) => Delivery::Unbounded,
                None => source.delivery,
            };
            let options = HandlerOptions::named(format!("controller {name}"))
                .delivery(delivery)
                .on_panic(PanicPolicy::Continue);
            let registration = informer.add_handler(options, source.handler(intake))?;
            Ok(Running {
                registration,
                informer: Arc::new(informer),
            })
        };
        Self {
            start: Box::new(start),
            resource,
            is_scattered,
            shards,
            own,
        }
    }

    /// Starts to watch, for a controller that reconciles objects of these shards, or of all. Returns the
    /// source, and what to run if the informer is the controller's own.
    pub(super) fn start(
        self,
        name: &str,
        shards: Option<&ShardSet>,
        intake: Intake,
        timeout: Duration,
        stop: CancellationToken,
    ) -> (Follower, Option<BoxFuture<'static, Result<(), RunError>>>) {
        let (run, failures, reports) = match self.own {
            None => (None, None, Arc::default()),
            Some(own) => (Some((own.run)(stop)), Some(own.failures), own.reports),
        };
        let resource = || self.resource.clone();
        let are_others = shards.is_some() && self.shards.is_some() && shards != self.shards.as_ref();
        let phase = if self.is_scattered {
            Phase::Unusable(watcher::Error::OwnedByUid { resource: resource() })
        } else if are_others {
            Phase::Unusable(watcher::Error::OtherShards { resource: resource() })
        } else {
            (self.start)(name, intake).map_or(Phase::Unstarted, Phase::Starting)
        };
        let follower = Follower {
            resource: self.resource,
            timeout,
            failures,
            reports,
            phase,
        };
        (follower, run)
    }
}

/// A source that was started.
struct Running {
    /// Removes the handler when it is dropped.
    registration: Registration,
    informer: Arc<dyn AnyInformer>,
}

/// An informer, whatever its form.
pub(crate) trait AnyInformer: Send + Sync {
    fn resource(&self) -> &str;
    fn status(&self) -> InformerStatus;
    fn shards(&self) -> Option<&ShardSet>;
    fn unsynced(&self) -> Vec<Unsynced>;
    fn unsynced_partitions(&self, namespace: Option<&str>, uid: Option<&str>) -> Vec<PartitionStatus>;
    fn has_synced(&self) -> bool;
    fn synced(&self) -> BoxFuture<'_, Result<(), Stopped>>;
    fn has_synced_for(&self, namespace: Option<&str>, uid: Option<&str>) -> bool;
    fn synced_for<'a>(
        &'a self,
        namespace: Option<&'a str>,
        uid: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), Stopped>>;
    fn stopped(&self) -> BoxFuture<'_, ()>;
}

impl<O: CachedObject> AnyInformer for SharedInformer<O> {
    fn resource(&self) -> &str {
        self.resource()
    }

    fn status(&self) -> InformerStatus {
        self.status()
    }

    fn shards(&self) -> Option<&ShardSet> {
        self.shards()
    }

    fn unsynced(&self) -> Vec<Unsynced> {
        SharedInformer::unsynced(self)
    }

    fn unsynced_partitions(&self, namespace: Option<&str>, uid: Option<&str>) -> Vec<PartitionStatus> {
        self.unsynced_partitions(namespace, uid)
    }

    fn has_synced(&self) -> bool {
        self.has_synced()
    }

    fn synced(&self) -> BoxFuture<'_, Result<(), Stopped>> {
        self.synced().boxed()
    }

    fn has_synced_for(&self, namespace: Option<&str>, uid: Option<&str>) -> bool {
        self.has_synced_for(namespace, uid)
    }

    fn synced_for<'a>(
        &'a self,
        namespace: Option<&'a str>,
        uid: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), Stopped>> {
        self.synced_for(namespace, uid).boxed()
    }

    fn stopped(&self) -> BoxFuture<'_, ()> {
        self.stopped().boxed()
    }
}

/// Follows what becomes of a source.
pub(super) struct Follower {
    resource: String,
    timeout: Duration,
    failures: Option<mpsc::Receiver<LastError>>,
    reports: Arc<AtomicBool>,
    phase: Phase,
}

enum Phase {
    Unstarted,
    /// It does not have what the controller needs.
    Unusable(watcher::Error),
    /// It is waited for.
    Starting(Running),
    /// It is no longer waited for, but may still sync.
    Late(Running),
    Synced(Running),
    Ended,
}

/// What has become of a source.
#[derive(Debug)]
pub(super) enum News {
    /// The queue has the keys of everything that exists.
    Synced,
    /// It has not synced, and waiting may not help.
    Late(watcher::Error),
    Failed(watcher::Error),
    /// There will be nothing more.
    Ended(watcher::Error),
    /// The controller must not run with it.
    Unusable(watcher::Error),
}

/// How often it is looked whether the server refuses a source, until it has synced.
const LOOK: Duration = Duration::from_millis(100);

impl Follower {
    /// The informer of a source that has just started; `None` if it had stopped before.
    pub(super) fn informer(&self) -> Option<Arc<dyn AnyInformer>> {
        match &self.phase {
            Phase::Starting(running) => Some(running.informer.clone()),
            _ => None,
        }
    }

    /// The next news; `None` after the end.
    pub(super) async fn next(&mut self) -> Option<News> {
        let resource = || self.resource.clone();
        let (phase, news) = match std::mem::replace(&mut self.phase, Phase::Ended) {
            Phase::Ended => return None,
            Phase::Unstarted => (Phase::Ended, None),
            Phase::Unusable(error) => (Phase::Ended, Some(News::Unusable(error))),
            Phase::Starting(running) => match running.settle(self.timeout).await {
                Ok(true) => (Phase::Synced(running), Some(News::Synced)),
                Ok(false) => (Phase::Ended, None),
                Err(error) => (Phase::Late(running), Some(News::Late(error))),
            },
            Phase::Late(running) => match running.registration.synced().await {
                Ok(()) => (Phase::Synced(running), Some(News::Synced)),
                Err(Stopped) => (Phase::Ended, None),
            },
            Phase::Synced(running) => {
                self.reports.store(true, Ordering::Relaxed);
                let failure = async {
                    match &mut self.failures {
                        Some(failures) => failures.recv().await,
                        None => None,
                    }
                };
                tokio::select! {
                    () = running.informer.stopped() => (Phase::Ended, None),
                    Some(failure) = failure => {
                        (Phase::Synced(running), Some(News::Failed(watcher::Error::Failed(failure))))
                    }
                }
            }
        };
        self.phase = phase;
        let ended = || News::Ended(watcher::Error::Stopped { resource: resource() });
        Some(news.unwrap_or_else(ended))
    }
}

impl Running {
    /// Waits until the source has synced (true) or ended (false).
    ///
    /// # Errors
    /// It is not worth waiting for any longer.
    async fn settle(&self, timeout: Duration) -> Result<bool, watcher::Error> {
        let is_refused = || is_refused(&self.informer.status().reflector);
        settle(&*self.informer, self.registration.synced(), timeout, is_refused).await
    }
}

/// Waits until `synced` says that an informer has synced (true) or has stopped (false); `is_refused` says
/// whether the server refuses it.
///
/// # Errors
/// It is not worth waiting for any longer: the server refuses what the informer asks for, or the time is
/// over.
pub(super) async fn settle(
    informer: &dyn AnyInformer,
    synced: impl Future<Output = Result<(), Stopped>>,
    timeout: Duration,
    is_refused: impl Fn() -> bool,
) -> Result<bool, watcher::Error> {
    let resource = || informer.resource().to_owned();
    let mut synced = std::pin::pin!(synced);
    let mut deadline = std::pin::pin!(tokio::time::sleep(timeout));
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            biased;
            synced = &mut synced => return Ok(synced.is_ok()),
            () = &mut deadline => {
                return Err(watcher::Error::NotSynced {
                    resource: resource(),
                    timeout,
                    unsynced: informer.unsynced(),
                });
            }
            _ = look.tick() => {
                if is_refused() {
                    return Err(watcher::Error::Refused {
                        resource: resource(),
                        unsynced: informer.unsynced(),
                    });
                }
            }
        }
    }
}

/// Whether the server refuses what a reflector asks for, so that waiting may not help.
pub(super) fn is_refused(status: &ReflectorStatus) -> bool {
    let refused = |error: &LastError| status.failures > 0 && !error.class.is_retryable();
    status.last_error.as_ref().is_some_and(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicates;
    use futures::FutureExt;
    use k8s_openapi::api::apps::v1::ReplicaSet;
    use k8s_openapi::api::core::v1::{Node, Pod};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
    use kube_informer::source::Selection;
    use kube_informer::{DeleteCause, Deleted};

    /// An informer that does not run.
    fn pods() -> SharedInformer<Pod> {
        let client = kube::Client::new(kube_sim::Sim::builder().build().unwrap().service(), "default");
        let source = ClientSource::new(client, ApiResource::erase::<Pod>(&()), Selection::default());
        SharedInformer::builder(source).build().0
    }

    fn pod(change: impl FnOnce(&mut Pod)) -> Arc<Pod> {
        let mut pod = Pod::default();
        (pod.metadata.namespace, pod.metadata.name) = (Some("shop".into()), Some("web-0".into()));
        (pod.metadata.uid, pod.metadata.resource_version) = (Some("1".into()), Some("1".into()));
        change(&mut pod);
        pod.into()
    }

    /// A pod with these owners: apiVersion, kind, name, whether it is the controller.
    fn owned(owners: &[(&str, &str, &str, bool)]) -> Arc<Pod> {
        let owners = owners
            .iter()
            .map(|&(api_version, kind, name, controller)| OwnerReference {
                api_version: api_version.into(),
                kind: kind.into(),
                name: name.into(),
                controller: Some(controller),
                ..Default::default()
            });
        pod(|pod| pod.metadata.owner_references = Some(owners.collect()))
    }

    fn add(object: &Arc<Pod>, initial: bool) -> Notification<Pod> {
        let object = object.clone();
        Notification::Add { object, initial }
    }

    fn update(old: &Arc<Pod>, new: &Arc<Pod>) -> Notification<Pod> {
        let (old, new) = (old.clone(), new.clone());
        Notification::Update { old, new }
    }

    fn delete(last_known: Option<&Arc<Pod>>, cause: DeleteCause) -> Notification<Pod> {
        Notification::Delete(Deleted {
            key: "shop/web-0".into(),
            last_known: last_known.cloned(),
            cause,
        })
    }

    /// What a change puts on the queue, in the order of the queue: keys and priorities.
    fn requested(source: Source<Pod>, change: Notification<Pod>) -> Vec<(String, i8)> {
        let queue = WorkQueue::new();
        let mut handler = source.handler(Intake::new(queue.clone(), Duration::ZERO, None));
        handler(change);
        let mut requested = Vec::new();
        while let Some(item) = queue.get().now_or_never().flatten() {
            requested.push((item.to_string(), item.priority().0));
        }
        requested
    }

    fn keys(source: Source<Pod>, change: Notification<Pod>) -> Vec<String> {
        let requested = requested(source, change);
        requested.into_iter().map(|(key, _)| key).collect()
    }

    /// Cases 53 and 62.
    #[tokio::test]
    async fn each_change_requests_its_object() {
        let pods = pods();
        let (old, new) = (
            pod(|_| ()),
            pod(|pod| pod.metadata.resource_version = Some("2".into())),
        );
        for (change, priority) in [
            (add(&old, true), -100),
            (add(&old, false), 0),
            (update(&old, &new), 0),
            (update(&old, &old), -100),
            (delete(Some(&old), DeleteCause::Event), 0),
            (delete(Some(&old), DeleteCause::Missed), 0),
        ] {
            let requested = requested(Source::own(&pods), change);
            assert_eq!(requested, [("shop/web-0".to_owned(), priority)]);
        }
    }

    /// Cases 55 to 61.
    #[tokio::test]
    async fn owners_are_told_by_group_and_kind() {
        let pods = pods();
        let sets = || Source::owned(&pods, OwnerKind::of::<ReplicaSet>());
        let controllers = || Source::owned(&pods, OwnerKind::of::<ReplicaSet>().controller_only());
        let old = owned(&[
            ("apps/v1", "ReplicaSet", "a", false),
            ("apps/v1beta1", "ReplicaSet", "b", true),
            ("example.com/v1", "ReplicaSet", "other-group", true),
            ("v1", "ReplicaSet", "no-group", false),
            ("apps/v1", "StatefulSet", "other-kind", false),
            ("", "ReplicaSet", "no-version", false),
            ("apps/v1/beta", "ReplicaSet", "bad-version", false),
        ]);
        let new = owned(&[
            ("apps/v1", "ReplicaSet", "b", true),
            ("apps/v1", "ReplicaSet", "c", false),
        ]);
        assert_eq!(keys(sets(), add(&old, false)), ["shop/a", "shop/b"]);
        assert_eq!(keys(sets(), update(&old, &new)), ["shop/a", "shop/b", "shop/c"]);
        assert_eq!(keys(sets(), update(&new, &new)), ["shop/b", "shop/c"]);
        assert_eq!(
            keys(sets(), delete(Some(&new), DeleteCause::Event)),
            ["shop/b", "shop/c"]
        );
        assert_eq!(keys(controllers(), update(&old, &new)), ["shop/b"]);
        assert_eq!(keys(sets(), add(&pod(|_| ()), false)), [""; 0]);
        assert_eq!(keys(sets(), delete(None, DeleteCause::Missed)), [""; 0]);

        let nodes = Source::owned(&pods, OwnerKind::of::<Node>());
        assert_eq!(
            keys(nodes, add(&owned(&[("v1", "Node", "node", false)]), false)),
            ["node"]
        );
        let other = owned(&[("apps/v1", "StatefulSet", "other-kind", true)]);
        assert_eq!(keys(controllers(), add(&other, false)), [""; 0]);
    }

    /// Cases 54 and 63.
    #[tokio::test]
    async fn mapped_keys_are_a_union_with_the_sources_priority() {
        let pods = pods();
        let node = |name: &str| pod(|pod| pod.spec.get_or_insert_default().node_name = Some(name.into()));
        let source = || {
            Source::mapped(&pods, |pod: &Arc<Pod>| {
                let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
                node.into_iter().chain(["all".to_owned()])
            })
        };
        assert_eq!(keys(source(), update(&node("a"), &node("b"))), ["a", "all", "b"]);
        let urgent = source().priority(Priority(7));
        let expected = [("a".to_owned(), 7), ("all".to_owned(), 7)];
        assert_eq!(requested(urgent, add(&node("a"), true)), expected);
    }

    /// Cases 62, 64 to 66 and 68, and the rule that deletions, their beginnings and other uids pass.
    #[tokio::test]
    async fn filters_judge_updates_only_and_hide_no_deletion() {
        let pods = pods();
        let source = || Source::own(&pods).filter(predicates::generation);
        let passes = |source: Source<Pod>, change| !keys(source, change).is_empty();
        let old = pod(|pod| pod.metadata.generation = Some(1));
        let new = |change: fn(&mut Pod)| {
            let mut pod = (*old).clone();
            change(&mut pod);
            update(&old, &pod.into())
        };
        assert!(!passes(source(), update(&old, &old)));
        assert!(!passes(
            source(),
            new(|pod| pod.metadata.resource_version = Some("2".into()))
        ));
        assert!(passes(source(), new(|pod| pod.metadata.generation = Some(2))));
        assert!(passes(source(), add(&old, false)));
        assert!(passes(source(), delete(Some(&old), DeleteCause::Event)));
        let deleted = |pod: &mut Pod| {
            pod.metadata.deletion_timestamp = Some(Time(Default::default()));
        };
        assert!(passes(source(), new(deleted)));
        let being_deleted = pod(|pod| {
            pod.metadata.generation = Some(1);
            deleted(pod);
        });
        assert!(
            !passes(source(), update(&being_deleted, &being_deleted)),
            "only its beginning"
        );
        assert!(passes(source(), new(|pod| pod.metadata.uid = Some("2".into()))));
        let versions = || Source::own(&pods).filter(predicates::resource_version);
        assert!(!passes(versions(), new(|pod| pod.metadata.generation = Some(2))));
        assert!(passes(
            versions(),
            new(|pod| pod.metadata.resource_version = Some("2".into()))
        ));
        // A selector's filter, for the objects that it selects before or after.
        let selects = |pod: &Pod| pod.metadata.generation == Some(1);
        let selected = || Source::own(&pods).filter_updates(move |old, new| selects(old) || selects(new));
        assert!(
            passes(selected(), new(|pod| pod.metadata.generation = Some(2))),
            "it leaves"
        );
        assert!(passes(
            selected(),
            delete(Some(&being_deleted), DeleteCause::Event)
        ));
    }

    #[tokio::test]
    async fn a_stream_of_keys_is_debounced_by_the_queue() {
        tokio::time::pause();
        let queue = WorkQueue::new();
        let intake = Intake::new(queue.clone(), Duration::from_secs(1), None);
        intake.request("a".into(), Priority::NORMAL);
        assert!(queue.is_empty());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(queue.len(), 1);
    }
}
