//! The sources of a controller: which changes of which objects put which keys on its queue.

use super::own::Own;
use crate::predicates::Predicate;
use kube::Resource;
use kube_informer::form::WholeObject;
use kube_informer::informer::enqueue::OwnerKind;
use kube_informer::selector::ShardField;
use kube_informer::{CachedObject, Delivery, HasOwners, Notification, ObjectKey, ShardSet, SharedInformer};
use kube_workqueue::{Priority, WorkQueue};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

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

    pub(super) fn reads_own_writes(&self) -> bool {
        self.own.is_some()
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
    pub(super) informer: SharedInformer<O>,
    keys: Keys<O>,
    filter: Option<Filter<O>>,
    priority: Option<Priority>,
    pub(super) delivery: Delivery,
    /// Whether what belongs together may be in different shards, so that the informer does not have it.
    pub(super) is_scattered: bool,
}

impl<O: CachedObject> Source<O> {
    /// A change of an object reconciles its owners of one kind. For an update, these are the owners before
    /// and after it, each once; for a deletion, those of the last known state.
    ///
    /// Owners are identified by group and kind; the version is ignored. An owner is in the namespace of the
    /// owned object, unless its kind has no namespaces.
    ///
    /// If the informer is over shards by uid, it may not have all objects that are owned by objects in these
    /// shards. So a controller with such a source ends with [an error](super::RunnerError::OwnedByUid). It also
    /// ends with an error if the source is over [other shards](super::RunnerError::OtherShards) than the
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
    /// another one of its name, and an object cannot be read. If the predicate panics, this is logged, and the
    /// update passes. See [`predicates`](crate::predicates).
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
    pub(super) fn handler(self, intake: Intake) -> impl FnMut(Notification<O>) + Send + 'static {
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
                    if filter
                        .as_mut()
                        .is_some_and(|filter| !passes::<O>(filter, old, new))
                    {
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

/// Whether an update passes a filter. If that panics, nobody knows.
fn passes<O: CachedObject>(filter: &mut Filter<O>, old: &O::Handle, new: &O::Handle) -> bool {
    let passes = catch_unwind(AssertUnwindSafe(|| filter(old, new)));
    passes.unwrap_or_else(|_| {
        tracing::error!(object = %O::key_of(new), "a filter panicked, so the update reconciles");
        true
    })
}

/// Whether a filter must not hide an update: the deletion begins, or it is another object.
fn must_pass<K: Resource>(old: &K, new: &K) -> bool {
    let (old, new) = (old.meta(), new.meta());
    let begins_deletion = old.deletion_timestamp.is_none() && new.deletion_timestamp.is_some();
    begins_deletion || old.uid != new.uid
}

#[cfg(test)]
mod tests;
