//! Predicates: which updates of an object count. The names are those of kube's `runtime::predicates`.
//!
//! A predicate hashes a part of an object. An update counts if that part has changed, or if that cannot be
//! decided. Pass it to [`Controller::filter`](crate::Controller::filter) for the controller's own kind, or to
//! [`Source::filter`](crate::controller::Source::filter).
//!
//! ```no_run
//! use k8s_openapi::api::apps::v1::Deployment;
//! use kube_controller::predicates::{self, Predicate};
//! use kube_controller::Controller;
//!
//! # fn example(factory: kube_informer::SharedInformerFactory) {
//! let controller = Controller::for_informer(&factory.informer::<Deployment>())
//!     .filter(predicates::generation.combine(predicates::annotations));
//! # }
//! ```
//!
//! # What no predicate hides
//! An object is always reconciled if it is new, if it is deleted, if its deletion begins (it gets a
//! `deletionTimestamp`), and if it replaces another one of its name (it has another uid). Both states of an
//! update come from the informer, so no hashes are remembered that could be out of date.
//!
//! # Generations
//! An API server increments the generation with every change of the spec, and when a deletion begins, but not
//! with a change of the metadata. So [`generation`] hides a new finalizer. Some kinds have no generation, or
//! it is always 0: ConfigMaps, Secrets, Pods of old servers. If the generation is absent, [`generation`]
//! hides no update; if it is always 0, it hides all.

use kube::{Resource, ResourceExt};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Hashes a part of an object, to tell whether an update has changed it. A function `Fn(&K) -> Option<u64>`
/// is one.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_controller::predicates::{self, Predicate};
///
/// let mut old = ConfigMap::default();
/// old.metadata.generation = Some(1);
/// let mut new = old.clone();
/// new.metadata.resource_version = Some("7".into());
/// assert!(!predicates::generation.has_changed(&old, &new));
/// assert!(predicates::generation.combine(predicates::resource_version).has_changed(&old, &new));
/// ```
pub trait Predicate<K> {
    /// The hash; `None` if the object does not have that part, so that a change cannot be decided.
    fn hash_property(&self, object: &K) -> Option<u64>;

    /// Whether the part has changed, or that cannot be decided.
    fn has_changed(&self, old: &K, new: &K) -> bool {
        let hash = self.hash_property(new);
        hash.is_none() || hash != self.hash_property(old)
    }

    /// Uses another predicate for objects that do not have this part.
    fn fallback<F: Predicate<K>>(self, other: F) -> Fallback<Self, F>
    where
        Self: Sized,
    {
        Fallback(self, other)
    }

    /// Combines two predicates: an update counts if one of the parts has changed. A part that the object does
    /// not have counts as unchanged, unless the object has neither.
    fn combine<F: Predicate<K>>(self, other: F) -> Combine<Self, F>
    where
        Self: Sized,
    {
        Combine(self, other)
    }
}

impl<K, F: Fn(&K) -> Option<u64>> Predicate<K> for F {
    fn hash_property(&self, object: &K) -> Option<u64> {
        self(object)
    }
}

/// How long the filter of a [stream](crate::WatchStreamExt::predicate_filter) remembers an object. The filter
/// of a [source](crate::controller::Source::filter) needs no memory.
///
/// ```
/// let config = kube_controller::predicates::Config::default().ttl(std::time::Duration::from_secs(600));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub(crate) ttl: Duration,
}

impl Config {
    /// The time since an object was last seen after which it passes again. Default: 1 hour.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(3600),
        }
    }
}

/// See [`Predicate::fallback`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fallback<A, B>(A, B);

impl<K, A: Predicate<K>, B: Predicate<K>> Predicate<K> for Fallback<A, B> {
    fn hash_property(&self, object: &K) -> Option<u64> {
        let Self(first, other) = self;
        first
            .hash_property(object)
            .or_else(|| other.hash_property(object))
    }
}

/// See [`Predicate::combine`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Combine<A, B>(A, B);

impl<K, A: Predicate<K>, B: Predicate<K>> Predicate<K> for Combine<A, B> {
    fn hash_property(&self, object: &K) -> Option<u64> {
        match (self.0.hash_property(object), self.1.hash_property(object)) {
            (None, None) => None,
            both => Some(hash(&both)),
        }
    }
}

/// The generation: changes of the spec, see [Generations](self#generations).
pub fn generation<K: Resource>(object: &K) -> Option<u64> {
    object.meta().generation.as_ref().map(hash)
}

/// The resource version: every change, but not resyncs.
pub fn resource_version<K: Resource>(object: &K) -> Option<u64> {
    object.meta().resource_version.as_ref().map(hash)
}

/// The labels.
pub fn labels<K: Resource>(object: &K) -> Option<u64> {
    Some(hash(object.labels()))
}

/// The annotations.
pub fn annotations<K: Resource>(object: &K) -> Option<u64> {
    Some(hash(object.annotations()))
}

/// The finalizers.
pub fn finalizers<K: Resource>(object: &K) -> Option<u64> {
    Some(hash(object.finalizers()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::core::ObjectMeta;

    fn map(change: impl FnOnce(&mut ObjectMeta)) -> ConfigMap {
        let mut map = ConfigMap::default();
        change(&mut map.metadata);
        map
    }

    /// Cases 64 to 66.
    #[test]
    fn each_predicate_looks_at_its_own_part() {
        let none = map(|_| ());
        let generation_1 = map(|metadata| metadata.generation = Some(1));
        let generation_2 = map(|metadata| metadata.generation = Some(2));
        let version_1 = map(|metadata| metadata.resource_version = Some("1".into()));
        let labelled = map(|metadata| metadata.labels = Some([("a".into(), "b".into())].into()));
        let annotated = map(|metadata| metadata.annotations = Some([("a".into(), "b".into())].into()));
        let finalized = map(|metadata| metadata.finalizers = Some(vec!["a".into()]));
        assert!(generation.has_changed(&generation_1, &generation_2));
        assert!(!generation.has_changed(&generation_1, &generation_1));
        assert!(generation.has_changed(&none, &none), "nothing can be told");
        assert!(!resource_version.has_changed(&version_1, &version_1));
        assert!(resource_version.has_changed(&version_1, &none));
        for (changed, by) in [(&labelled, 0), (&annotated, 1), (&finalized, 2)] {
            let seen = [
                labels.has_changed(&none, changed),
                annotations.has_changed(&none, changed),
                finalizers.has_changed(&none, changed),
            ];
            assert_eq!(
                seen.map(usize::from),
                std::array::from_fn(|at| usize::from(at == by))
            );
        }
    }

    /// Case 67: what kube's predicates have of it; anything else is a function of both states.
    #[test]
    fn predicates_can_be_combined() {
        let old = map(|metadata| metadata.generation = Some(1));
        let mut new = old.clone();
        new.metadata.labels = Some([("a".into(), "b".into())].into());
        assert!(!generation.has_changed(&old, &new));
        assert!(generation.combine(labels).has_changed(&old, &new));
        assert!(!generation.combine(annotations).has_changed(&old, &new));
        assert!(
            !generation.fallback(labels).has_changed(&old, &new),
            "it has a generation"
        );
        let without = (
            map(|_| ()),
            map(|metadata| metadata.labels = new.metadata.labels.clone()),
        );
        assert!(generation.fallback(labels).has_changed(&without.0, &without.1));
        assert!(
            !generation
                .fallback(annotations)
                .has_changed(&without.0, &without.1)
        );
        let by_function = |object: &ConfigMap| Some(u64::from(object.data.is_some()));
        assert!(!by_function.has_changed(&old, &new));
    }
}
