//! What the methods of [`WatchStreamExt`](super::WatchStreamExt) return.

use super::{Predicate, PredicateConfig};
use crate::reflector::{Lookup, Writer};
use crate::watcher::{Error, Event};
use futures::Stream;
use kube::Resource;
use kube_informer::ObjectKey;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::Instant;

/// The objects of a stream of events; see [`WatchStreamExt::applied_objects`](super::WatchStreamExt::applied_objects)
/// and [`touched_objects`](super::WatchStreamExt::touched_objects).
#[must_use = "streams do nothing unless polled"]
pub struct EventDecode<S> {
    stream: Pin<Box<S>>,
    deleted: bool,
}

impl<S> EventDecode<S> {
    pub(crate) fn new(stream: S, deleted: bool) -> Self {
        Self {
            stream: Box::pin(stream),
            deleted,
        }
    }
}

impl<S, K> Stream for EventDecode<S>
where
    S: Stream<Item = Result<Event<K>, Error>>,
{
    type Item = Result<K, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let object = match ready!(self.stream.as_mut().poll_next(cx)) {
                Some(Ok(Event::Apply(object) | Event::InitApply(object))) => Ok(object),
                Some(Ok(Event::Delete(object))) if self.deleted => Ok(object),
                Some(Ok(Event::Delete(_) | Event::Init | Event::InitDone)) => continue,
                Some(Err(error)) => Err(error),
                None => return Poll::Ready(None),
            };
            return Poll::Ready(Some(object));
        }
    }
}

/// A stream of which each object is changed; see [`WatchStreamExt::modify`](super::WatchStreamExt::modify).
#[must_use = "streams do nothing unless polled"]
pub struct EventModify<S, F> {
    stream: Pin<Box<S>>,
    change: F,
}

impl<S, F> EventModify<S, F> {
    pub(crate) fn new(stream: S, change: F) -> Self {
        Self {
            stream: Box::pin(stream),
            change,
        }
    }
}

impl<S, F> Unpin for EventModify<S, F> {}

impl<S, F, K> Stream for EventModify<S, F>
where
    S: Stream<Item = Result<Event<K>, Error>>,
    F: FnMut(&mut K),
{
    type Item = Result<Event<K>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = ready!(self.stream.as_mut().poll_next(cx));
        Poll::Ready(item.map(|event| event.map(|event| event.modify(&mut self.change))))
    }
}

/// A stream that skips objects; see [`WatchStreamExt::predicate_filter`](super::WatchStreamExt::predicate_filter).
#[must_use = "streams do nothing unless polled"]
pub struct PredicateFilter<S, K, P> {
    stream: Pin<Box<S>>,
    predicate: P,
    seen: Seen,
    _objects: PhantomData<fn() -> K>,
}

impl<S, K, P> PredicateFilter<S, K, P> {
    pub(crate) fn new(stream: S, predicate: P, config: PredicateConfig) -> Self {
        Self {
            stream: Box::pin(stream),
            predicate,
            seen: Seen {
                config,
                last: HashMap::new(),
                swept: Instant::now(),
            },
            _objects: PhantomData,
        }
    }
}

impl<S, K, P> Unpin for PredicateFilter<S, K, P> {}

impl<S, K, P> Stream for PredicateFilter<S, K, P>
where
    S: Stream<Item = Result<K, Error>>,
    K: Resource,
    P: Predicate<K>,
{
    type Item = Result<K, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            let item = ready!(this.stream.as_mut().poll_next(cx));
            if let Some(Ok(object)) = &item
                && !this.seen.passes(object, this.predicate.hash_property(object))
            {
                continue;
            }
            return Poll::Ready(item);
        }
    }
}

/// A stream that fills a store; see [`WatchStreamExt::reflect`](super::WatchStreamExt::reflect) and
/// [`reflector`](crate::reflector()).
#[must_use = "streams do nothing unless polled"]
pub struct Reflect<S, K: Lookup + Clone + 'static> {
    stream: Pin<Box<S>>,
    /// None after the end of the stream, so that the streams of a shared store end then as well.
    writer: Option<Writer<K>>,
}

impl<S, K: Lookup + Clone + 'static> Reflect<S, K> {
    pub(crate) fn new(stream: S, writer: Writer<K>) -> Self {
        Self {
            stream: Box::pin(stream),
            writer: Some(writer),
        }
    }
}

impl<S, K: Lookup + Clone + 'static> Unpin for Reflect<S, K> {}

impl<S, K> Stream for Reflect<S, K>
where
    S: Stream<Item = Result<Event<K>, Error>>,
    K: Lookup + Clone + 'static,
{
    type Item = Result<Event<K>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let item = ready!(this.stream.as_mut().poll_next(cx));
        match (&item, &mut this.writer) {
            (Some(Ok(event)), Some(writer)) => writer.apply_watcher_event(event),
            (Some(_), _) => {}
            (None, writer) => *writer = None,
        }
        Poll::Ready(item)
    }
}

/// No bounds: what is in a stream need not be `Debug`.
macro_rules! debug {
    ($name:ident<$($parameter:ident),+>) => {
        impl<$($parameter),+> fmt::Debug for $name<$($parameter),+> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

debug!(EventDecode<S>);
debug!(EventModify<S, F>);
debug!(PredicateFilter<S, K, P>);

impl<S, K: Lookup + Clone + 'static> fmt::Debug for Reflect<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflect").finish_non_exhaustive()
    }
}

/// What a filter remembers.
struct Seen {
    config: PredicateConfig,
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
