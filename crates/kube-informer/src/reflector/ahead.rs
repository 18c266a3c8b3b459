//! Decoding ahead: what has arrived already, on all cores.
//!
//! Decoding is what costs, and a list or a burst of events brings many objects at once. What is ready is taken together
//! and decoded by several threads; it is handed on one by one in the order in which it came.

use crate::form::Decode;
use crate::object::ObjectKey;
use crate::queue::batching::{DECODED_ALONE, DECODED_TOGETHER};
use crate::source::{ApiError, Item, ListPart, WatchEvent};
use crate::wire::RawObject;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::available_parallelism;

static THREADS: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, usize::from));

/// An object that was decoded, or why it could not be.
pub(super) type Decoded<O> = Result<<O as crate::object::CachedObject>::Handle, String>;

/// Decodes an object. User code that panics makes it an object that could not be decoded.
pub(super) fn decode<O: Decode>(decoder: &O::Decoder, key: &ObjectKey, raw: &RawObject) -> Decoded<O> {
    match catch_unwind(AssertUnwindSafe(|| O::decode_raw(decoder, key, raw))) {
        Ok(made) => made.map_err(|error| error.to_string()),
        Err(_) => Err("decoding it panicked".to_owned()),
    }
}

/// What may carry an object.
pub(super) trait Part<O: Decode> {
    fn item(&self) -> Option<&Item<O>>;
}

impl<O: Decode> Part<O> for ListPart<O> {
    fn item(&self) -> Option<&Item<O>> {
        match self {
            Self::Item(item) => Some(item),
            Self::End(_) => None,
        }
    }
}

impl<O: Decode> Part<O> for WatchEvent<O> {
    fn item(&self) -> Option<&Item<O>> {
        match self {
            Self::Added(item) | Self::Modified(item) | Self::Deleted(item) => Some(item),
            Self::Bookmark { .. } | Self::Error(_) => None,
        }
    }
}

/// A stream of a source, and what was taken from it already.
pub(super) struct Ahead<O: Decode, P> {
    stream: BoxStream<'static, Result<P, ApiError>>,
    ended: bool,
    ready: VecDeque<Prefetched<O, P>>,
}

/// A part of a stream, with its object if that was decoded ahead.
pub(super) type Prefetched<O, P> = (Result<P, ApiError>, Option<Decoded<O>>);

impl<O: Decode, P: Part<O>> Ahead<O, P> {
    pub(super) fn new(stream: BoxStream<'static, Result<P, ApiError>>) -> Self {
        Self {
            stream,
            ended: false,
            ready: VecDeque::new(),
        }
    }

    /// The next part. Objects for which `is_held` returns true are not decoded.
    pub(super) async fn next(
        &mut self,
        decoder: &Arc<O::Decoder>,
        is_held: impl FnMut(&RawObject) -> bool,
    ) -> Option<Prefetched<O, P>> {
        if self.ready.is_empty() && !self.ended {
            let first = self.stream.next().await?;
            self.ready.push_back((first, None));
            if O::EXPENSIVE && *THREADS > 1 {
                self.take_ready();
                self.decode_ready(decoder, is_held).await;
            }
        }
        self.ready.pop_front()
    }

    /// Takes what has arrived.
    fn take_ready(&mut self) {
        while self.ready.len() < DECODED_TOGETHER {
            match self.stream.next().now_or_never() {
                Some(Some(part)) => self.ready.push_back((part, None)),
                Some(None) => return self.ended = true,
                None => return,
            }
        }
    }

    /// Decodes what was taken, if it is enough for several threads.
    async fn decode_ready(&mut self, decoder: &Arc<O::Decoder>, mut is_held: impl FnMut(&RawObject) -> bool) {
        let mut jobs: Vec<(usize, RawObject)> = Vec::new();
        for (place, (part, _)) in self.ready.iter().enumerate() {
            if let Ok(part) = part
                && let Some(Item::Raw(raw)) = part.item()
                && !is_held(raw)
            {
                jobs.push((place, raw.clone()));
            }
        }
        let bytes: usize = jobs.iter().map(|(_, raw)| raw.bytes().len()).sum();
        if jobs.len() < 2 || bytes < DECODED_ALONE {
            return;
        }
        let share = jobs.len().div_ceil(*THREADS);
        let mut offered = Vec::new();
        while jobs.len() > share
            && let Some(idle) = Idle::new()
        {
            let offer = Arc::new(Mutex::new(jobs.split_off(jobs.len() - share)));
            let (theirs, decoder) = (offer.clone(), decoder.clone());
            let helper = tokio::task::spawn_blocking(move || {
                drop(idle);
                decode_all::<O>(&decoder, take(&theirs))
            });
            offered.push((offer, helper));
        }
        let mut made = decode_all::<O>(decoder, jobs);
        // No helper is waited for that has not begun: what is in its way may last for ever.
        let mut begun = Vec::new();
        for (offer, helper) in offered {
            match take(&offer) {
                jobs if jobs.is_empty() => begun.push(helper),
                jobs => made.extend(decode_all::<O>(decoder, jobs)),
            }
        }
        for helper in begun {
            made.extend(helper.await.unwrap_or_default());
        }
        for (place, object) in made {
            self.ready[place].1 = Some(object);
        }
    }
}

/// A helper that was asked for and has not begun. Threads of tokio's pool may all be held by the user's code, so there are
/// only so many of them.
struct Idle;

static IDLE: AtomicUsize = AtomicUsize::new(0);

impl Idle {
    fn new() -> Option<Self> {
        let more = |idle| (idle < *THREADS).then_some(idle + 1);
        let added = IDLE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        added.ok().map(|_| Self)
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        IDLE.fetch_sub(1, Ordering::Relaxed);
    }
}

fn take<T: Default>(offer: &Mutex<T>) -> T {
    std::mem::take(&mut *offer.lock().unwrap_or_else(PoisonError::into_inner))
}

fn decode_all<O: Decode>(decoder: &O::Decoder, jobs: Vec<(usize, RawObject)>) -> Vec<(usize, Decoded<O>)> {
    let made = jobs
        .into_iter()
        .map(|(place, raw)| (place, decode::<O>(decoder, &raw.key(), &raw)));
    made.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Collection;
    use crate::wire::Encoding;
    use k8s_openapi::api::core::v1::ConfigMap;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn decoding_does_not_wait_for_a_thread_of_the_pool() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(1)
            .enable_time()
            .build()
            .unwrap();
        let (hang, hung) = mpsc::channel::<()>();
        runtime.spawn_blocking(move || hung.recv());
        let parts = (0..1000).map(|number| {
            let data = "x".repeat(4 << 10);
            let body = format!(r#"{{"metadata":{{"name":"m-{number}"}},"data":{{"k":"{data}"}}}}"#);
            Ok(ListPart::Item(Item::Raw(
                RawObject::scan(Encoding::Json, body.into()).unwrap(),
            )))
        });
        let mut ahead = Ahead::<ConfigMap, _>::new(futures::stream::iter(parts).boxed());
        let decoder = Arc::new(ConfigMap::decoder(Collection::default()));
        let all = runtime.spawn(async move {
            let mut made = 0;
            while let Some((_, object)) = ahead.next(&decoder, |_| false).await {
                made += usize::from(matches!(object, None | Some(Ok(_))));
            }
            made
        });
        let all = async { tokio::time::timeout(Duration::from_secs(60), all).await };
        let made = runtime.block_on(all);
        drop(hang);
        assert_eq!(made.expect("in time").unwrap(), 1000);
        assert!(IDLE.load(Ordering::Relaxed) <= *THREADS);
    }
}
