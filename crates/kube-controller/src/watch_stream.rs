//! Adapters for the stream of a watcher.

use crate::predicates::{self, Predicate};
use crate::reflector::{Lookup, Writer};
use crate::utils::{Backoff, EventDecode, EventModify, PredicateFilter, Reflect, StreamBackoff};
use crate::watcher::{Error, Event};
use futures::{Stream, TryStream};
use kube::Resource;

/// Adapters for the stream of a [`watcher`](crate::watcher::watcher), with kube's names.
///
/// ```no_run
/// use futures::TryStreamExt;
/// use k8s_openapi::api::core::v1::Pod;
/// use kube::{Api, Client, ResourceExt};
/// use kube_controller::{WatchStreamExt, predicates, reflector, watcher};
///
/// # async fn example(client: Client) -> Result<(), watcher::Error> {
/// let (reader, writer) = reflector::store();
/// watcher(Api::<Pod>::all(client), watcher::Config::default())
///     .reflect(writer)
///     .applied_objects()
///     .predicate_filter(predicates::labels, Default::default())
///     .try_for_each(async |pod| Ok(println!("{}, one of {}", pod.name_any(), reader.len())))
///     .await
/// # }
/// ```
pub trait WatchStreamExt: Stream {
    // The adapters are types with names, not `impl Stream`: of a stream of which only this trait is known, such
    // as an `impl WatchStreamExt`, the compiler cannot tell whether an `impl Stream` of the trait is `Send`.

    /// Does nothing, because a [`watcher`](crate::watcher::watcher) pauses after failures by itself. It
    /// exists for programs written for kube.
    fn default_backoff(self) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// Pauses after each error, as `backoff` says. The stream ends when `backoff` has no further pause. An
    /// item that is not an error resets it.
    ///
    /// A [`watcher`](crate::watcher::watcher) already pauses after failures. Of the two pauses, the longer
    /// one counts.
    fn backoff<B: Backoff>(self, backoff: B) -> StreamBackoff<Self, B>
    where
        Self: TryStream + Sized,
    {
        StreamBackoff::new(self, backoff)
    }

    /// The objects that are created or changed, or listed.
    fn applied_objects<K>(self) -> EventDecode<Self>
    where
        Self: Stream<Item = Result<Event<K>, Error>> + Sized,
    {
        EventDecode::new(self, false)
    }

    /// The objects that are created, changed, listed or deleted.
    fn touched_objects<K>(self) -> EventDecode<Self>
    where
        Self: Stream<Item = Result<Event<K>, Error>> + Sized,
    {
        EventDecode::new(self, true)
    }

    /// Changes each object.
    fn modify<F, K>(self, change: F) -> EventModify<Self, F>
    where
        Self: Stream<Item = Result<Event<K>, Error>> + Sized,
        F: FnMut(&mut K),
    {
        EventModify::new(self, change)
    }

    /// Skips objects for which the [predicate](crate::predicates) has the same value as before. Objects whose
    /// deletion begins, objects with another uid, and errors are not skipped.
    ///
    /// A stream of objects does not say what happened to them, so a deletion is skipped if the object has not
    /// changed. For a [`Controller`](crate::Controller), filter the
    /// [source](crate::controller::Source::filter), which never hides deletions.
    fn predicate_filter<K, P>(self, predicate: P, config: predicates::Config) -> PredicateFilter<Self, K, P>
    where
        Self: Stream<Item = Result<K, Error>> + Sized,
        K: Resource,
        P: Predicate<K>,
    {
        PredicateFilter::new(self, predicate, config)
    }

    /// Fills the store with what passes through the stream.
    fn reflect<K>(self, writer: Writer<K>) -> Reflect<Self, K>
    where
        Self: Stream<Item = Result<Event<K>, Error>> + Sized,
        K: Lookup + Clone + 'static,
    {
        Reflect::new(self, writer)
    }

    /// The same as [`reflect`](Self::reflect), for a store that [is shared](crate::reflector::store_shared).
    fn reflect_shared<K>(self, writer: Writer<K>) -> Reflect<Self, K>
    where
        Self: Stream<Item = Result<Event<K>, Error>> + Sized,
        K: Lookup + Clone + 'static,
    {
        Reflect::new(self, writer)
    }
}

impl<S: Stream + ?Sized> WatchStreamExt for S {}
