//! Prefetching: what has arrived already is decoded together, on all cores.
//!
//! Decoding is what costs, and a list or a burst of events brings many objects at once. What is ready is taken together
//! and decoded by several threads; it is handed on one by one in the order in which it came. Objects that are held already
//! are not decoded: this is the only place that decides it.

use super::decoding::{decode, decode_raw};
use crate::form::Decode;
use crate::low_level::wire::RawObject;
use crate::object::{KnownObjects, ObjectKey};
use crate::queue::batching::{DECODED_ALONE, DECODED_TOGETHER};
use crate::source::{ApiError, DecodeResult, Item, ListPart, WatchEvent};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::available_parallelism;

static THREADS: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, usize::from));

/// A stream of a source, and what was taken from it already.
pub(super) struct Prefetch<O: Decode, P> {
    stream: BoxStream<'static, Result<P, ApiError>>,
    decoder: Arc<O::Decoder>,
    ended: bool,
    /// The parts that were read ahead and not returned yet, each with its object if that was decoded early or found unchanged.
    ready: VecDeque<(Result<P, ApiError>, Object<O>)>,
    /// The object of the part that was returned last.
    current: Object<O>,
    key_buffer: String,
}

type Object<O> = Option<(ObjectKey, DecodeResult<O>)>;

/// A part that may carry an object.
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

impl<O: Decode, P: Part<O>> Prefetch<O, P> {
    pub(super) fn new(stream: BoxStream<'static, Result<P, ApiError>>, decoder: Arc<O::Decoder>) -> Self {
        Self {
            stream,
            decoder,
            ended: false,
            ready: VecDeque::new(),
            current: None,
            key_buffer: String::new(),
        }
    }

    /// The next part. Objects that are `known` in the same state are [unchanged](DecodeResult::Unchanged).
    ///
    /// Cancel safe: what is not returned stays here.
    pub(super) async fn next(&mut self, known: Option<&impl KnownObjects>) -> Option<Result<P, ApiError>> {
        if self.ready.is_empty() && !self.ended {
            let first = self.stream.next().await?;
            self.take(first, known);
            if O::EXPENSIVE && *THREADS > 1 {
                self.take_ready(known);
                self.decode_ready().await;
            }
        }
        let (part, object) = self.ready.pop_front()?;
        // Events that were read ahead together with the end of a streaming list were compared with what the sink held before
        // that list. They are decoded.
        self.current =
            object.filter(|(_, object)| known.is_some() || !matches!(object, DecodeResult::Unchanged));
        Some(part)
    }

    /// Decodes the item of the part that was returned last, unless that has been done. The key is `None` if it could not
    /// be read.
    pub(super) fn decode(&mut self, item: Item<O>) -> (Option<ObjectKey>, DecodeResult<O>) {
        match self.current.take() {
            Some((key, object)) => (Some(key), object),
            None => decode::<O>(&self.decoder, item),
        }
    }

    fn take(&mut self, part: Result<P, ApiError>, known: Option<&impl KnownObjects>) {
        let unchanged = known.zip(raw_of(&part)).and_then(|(known, raw)| {
            raw.write_key(&mut self.key_buffer);
            let (key, held) = known.get(&self.key_buffer)?;
            (held == raw.fingerprint()).then_some((key, DecodeResult::Unchanged))
        });
        self.ready.push_back((part, unchanged));
    }

    /// Takes what has arrived.
    fn take_ready(&mut self, known: Option<&impl KnownObjects>) {
        while self.ready.len() < DECODED_TOGETHER {
            match self.stream.next().now_or_never() {
                Some(Some(part)) => self.take(part, known),
                Some(None) => return self.ended = true,
                None => return,
            }
        }
    }

    /// Decodes what was taken, if it is enough for several threads.
    async fn decode_ready(&mut self) {
        let mut jobs: Vec<(usize, RawObject)> = Vec::new();
        for (place, (part, known)) in self.ready.iter().enumerate() {
            if let (Some(raw), None) = (raw_of(part), known) {
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
            let (theirs, decoder) = (offer.clone(), self.decoder.clone());
            let helper = tokio::task::spawn_blocking(move || {
                drop(idle);
                decode_all::<O>(&decoder, take(&theirs))
            });
            offered.push((offer, helper));
        }
        let mut decoded = decode_all::<O>(&self.decoder, jobs);
        // Jobs whose helper has not started yet are done here: all threads of the pool may be blocked for ever.
        let mut begun = Vec::new();
        for (offer, helper) in offered {
            match take(&offer) {
                jobs if jobs.is_empty() => begun.push(helper),
                jobs => decoded.extend(decode_all::<O>(&self.decoder, jobs)),
            }
        }
        for helper in begun {
            decoded.extend(helper.await.unwrap_or_default());
        }
        for (place, object) in decoded {
            self.ready[place].1 = Some(object);
        }
    }
}

/// A decoding job that was spawned and has not started. There are at most [`THREADS`] of them, so that they do not pile up
/// while user code blocks all threads of tokio's pool.
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

fn raw_of<O: Decode, P: Part<O>>(part: &Result<P, ApiError>) -> Option<&RawObject> {
    match part.as_ref().ok()?.item()? {
        Item::Raw(raw) => Some(raw),
        Item::Object(_) | Item::Invalid(_) => None,
    }
}

/// The objects of some parts, by the places of these.
type Placed<O> = Vec<(usize, (ObjectKey, DecodeResult<O>))>;

fn decode_all<O: Decode>(decoder: &O::Decoder, jobs: Vec<(usize, RawObject)>) -> Placed<O> {
    let decoded = jobs
        .into_iter()
        .map(|(place, raw)| (place, decode_raw(decoder, &raw)));
    decoded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::DecoderConfig;
    use crate::low_level::wire::Encoding;
    use crate::object::Fingerprint;
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
        let decoder = Arc::new(ConfigMap::decoder(DecoderConfig::default()));
        let mut parts = Prefetch::<ConfigMap, _>::new(futures::stream::iter(parts).boxed(), decoder);
        let all = runtime.spawn(async move {
            let mut read = 0;
            while let Some(Ok(ListPart::Item(item))) = parts.next(None::<&()>).await {
                read += usize::from(matches!(parts.decode(item).1, DecodeResult::Decoded { .. }));
            }
            read
        });
        let all = async { tokio::time::timeout(Duration::from_secs(60), all).await };
        let read = runtime.block_on(all);
        drop(hang);
        assert_eq!(read.expect("in time").unwrap(), 1000);
        assert!(IDLE.load(Ordering::Relaxed) <= *THREADS);
    }

    /// Holds every object in one state.
    struct Holds(RawObject);

    impl KnownObjects for Holds {
        fn get(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
            Some((key.into(), self.0.fingerprint()))
        }
    }

    #[tokio::test]
    async fn only_what_is_asked_for_as_known_is_unchanged() {
        let scan = |data: &str| {
            let body = format!(r#"{{"metadata":{{"name":"m"}},"data":{{"k":"{data}"}}}}"#);
            RawObject::scan(Encoding::Json, body.into()).unwrap()
        };
        let events = ["new", "held", "held"].map(|data| Ok(WatchEvent::Modified(Item::Raw(scan(data)))));
        let decoder = Arc::new(ConfigMap::decoder(DecoderConfig::default()));
        let mut events = Prefetch::<ConfigMap, _>::new(futures::stream::iter(events).boxed(), decoder);
        let known = Holds(scan("held"));
        for (known, unchanged) in [(Some(&known), false), (Some(&known), true), (None, false)] {
            let Some(Ok(WatchEvent::Modified(item))) = events.next(known).await else {
                panic!("an event")
            };
            let (_, object) = events.decode(item);
            assert_eq!(matches!(object, DecodeResult::Unchanged), unchanged);
        }
    }
}
