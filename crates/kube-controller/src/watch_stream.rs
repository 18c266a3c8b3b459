//! Adapters for the stream of a watcher.

use crate::predicates::{self, Predicate};
use crate::reflector::{Lookup, Writer, reflector};
use crate::utils::{Backoff, StreamBackoff};
use crate::watcher::{Error, Event};
use futures::{Stream, StreamExt, TryStream, future};
use kube::Resource;
use kube_informer::ObjectKey;
use std::collections::HashMap;
use tokio::time::Instant;

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
    fn applied_objects<K>(self) -> impl Stream<Item = Result<K, Error>>
    where
        Self: Stream<Item = Result<Event<K>, Error>> + Sized,
    {
        self.filter_map(|event| {
            future::ready(match event {
                Ok(Event::Apply(object) | Event::InitApply(object)) => Some(Ok(object)),
                Ok(Event::Delete(_) | Event::Init | Event::InitDone) => None,
                Err(error) => Some(Err(error)),
            })
        })
    }

    /// The objects that are created, changed, listed or deleted.
    fn touched_objects<K>(self) -> impl Stream<Item = Result<K, Error>>
    where
        Self: Stream<Item = Result<Event<K>, Error>> + Sized,
    {
        self.filter_map(|event| {
            future::ready(match event {
                Ok(Event::Apply(object) | Event::InitApply(object) | Event::Delete(object)) => {
                    Some(Ok(object))
                }
                Ok(Event::Init | Event::InitDone) => None,
                Err(error) => Some(Err(error)),
            })
        })
    }

    /// Changes each object.
    fn modify<F, K>(self, mut change: F) -> impl Stream<Item = Result<Event<K>, Error>>
    where
        Self: Stream<Item = Result<Event<K>, Error>> + Sized,
        F: FnMut(&mut K),
    {
        self.map(move |event| event.map(|event| event.modify(&mut change)))
    }

    /// Skips objects for which the [predicate](crate::predicates) has the same value as before. Objects whose
    /// deletion begins, objects with another uid, and errors are not skipped.
    ///
    /// A stream of objects does not say what happened to them, so a deletion is skipped if the object has not
    /// changed. For a [`Controller`](crate::Controller), filter the
    /// [source](crate::controller::Source::filter), which never hides deletions.
    fn predicate_filter<K, P>(
        self,
        predicate: P,
        config: predicates::Config,
    ) -> impl Stream<Item = Result<K, Error>>
    where
        Self: Stream<Item = Result<K, Error>> + Sized,
        K: Resource,
        P: Predicate<K>,
    {
        let mut seen = Seen {
            config,
            last: HashMap::new(),
            swept: Instant::now(),
        };
        self.filter(move |object| {
            let passes = match object {
                Ok(object) => seen.passes(object, predicate.hash_property(object)),
                Err(_) => true,
            };
            future::ready(passes)
        })
    }

    /// Fills the store with what passes through the stream.
    fn reflect<K>(self, writer: Writer<K>) -> impl Stream<Item = Self::Item>
    where
        Self: Stream<Item = Result<Event<K>, Error>> + Sized,
        K: Lookup + Clone + 'static,
    {
        reflector(writer, self)
    }

    /// The same as [`reflect`](Self::reflect), for a store that [is shared](crate::reflector::store_shared).
    fn reflect_shared<K>(self, writer: Writer<K>) -> impl Stream<Item = Self::Item>
    where
        Self: Stream<Item = Result<Event<K>, Error>> + Sized,
        K: Lookup + Clone + 'static,
    {
        reflector(writer, self)
    }
}

impl<S: Stream + ?Sized> WatchStreamExt for S {}

/// What a filter remembers.
struct Seen {
    config: predicates::Config,
    last: HashMap<(ObjectKey, Option<String>), Last>,
    swept: Instant,
}

struct Last {
    hash: u64,
    deleting: bool,
    at: Instant,
}

impl Seen {
    fn passes<K: Resource>(&mut self, object: &K, hash: Option<u64>) -> bool {
        let Some(hash) = hash else { return true };
        let (now, ttl) = (Instant::now(), self.config.ttl);
        if now.duration_since(self.swept) >= ttl {
            self.last.retain(|_, last| now.duration_since(last.at) < ttl);
            self.swept = now;
        }
        let deleting = object.meta().deletion_timestamp.is_some();
        let key = (ObjectKey::of(object), object.meta().uid.clone());
        let last = self.last.insert(
            key,
            Last {
                hash,
                deleting,
                at: now,
            },
        );
        last.is_none_or(|last| {
            last.hash != hash || deleting && !last.deleting || now.duration_since(last.at) >= ttl
        })
    }
}
