//! Making objects ahead: of what has arrived already, on all cores.
//!
//! Decoding is what costs, and a list or a burst of events brings many objects at once. What is ready is taken together
//! and made by several threads; it is handed on one by one in the order in which it came.

use crate::form::Form;
use crate::object::ObjectKey;
use crate::source::{ApiError, Item, ListPart, WatchEvent};
use crate::wire::Raw;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

/// At most so many parts are taken at once.
const MOST: usize = 128;
/// Fewer bytes are not worth waking another thread for.
const WORTHWHILE: usize = 128 << 10;

static THREADS: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, usize::from));

/// An object that was made, or why it could not be.
pub(super) type Made<O> = Result<<O as crate::object::Object>::Ref, String>;

/// Makes an object; user code that panics is an object that cannot be read.
pub(super) fn make<O: Form>(maker: &O::Maker, key: &ObjectKey, raw: &Raw) -> Made<O> {
    match catch_unwind(AssertUnwindSafe(|| O::make(maker, key, raw))) {
        Ok(made) => made.map_err(|error| error.to_string()),
        Err(_) => Err("decoding it panicked".to_owned()),
    }
}

/// What may carry an object.
pub(super) trait Part<O: Form> {
    fn item(&self) -> Option<&Item<O>>;
}

impl<O: Form> Part<O> for ListPart<O> {
    fn item(&self) -> Option<&Item<O>> {
        match self {
            Self::Item(item) => Some(item),
            Self::End(_) => None,
        }
    }
}

impl<O: Form> Part<O> for WatchEvent<O> {
    fn item(&self) -> Option<&Item<O>> {
        match self {
            Self::Added(item) | Self::Modified(item) | Self::Deleted(item) => Some(item),
            Self::Bookmark { .. } | Self::Error(_) => None,
        }
    }
}

/// A stream of a source, and what was taken from it already.
pub(super) struct Ahead<O: Form, P> {
    stream: BoxStream<'static, Result<P, ApiError>>,
    ended: bool,
    ready: VecDeque<Arrival<O, P>>,
}

/// A part of a stream, with its object if that was made ahead.
pub(super) type Arrival<O, P> = (Result<P, ApiError>, Option<Made<O>>);

impl<O: Form, P: Part<O>> Ahead<O, P> {
    pub(super) fn new(stream: BoxStream<'static, Result<P, ApiError>>) -> Self {
        Self {
            stream,
            ended: false,
            ready: VecDeque::new(),
        }
    }

    /// The next part. Objects that `is_held` need not be made.
    pub(super) async fn next(
        &mut self,
        maker: &Arc<O::Maker>,
        is_held: impl FnMut(&Raw) -> bool,
    ) -> Option<Arrival<O, P>> {
        if self.ready.is_empty() && !self.ended {
            let first = self.stream.next().await?;
            self.ready.push_back((first, None));
            if O::COSTLY && *THREADS > 1 {
                self.take_ready();
                self.make_ready(maker, is_held).await;
            }
        }
        self.ready.pop_front()
    }

    /// Takes what has arrived.
    fn take_ready(&mut self) {
        while self.ready.len() < MOST {
            match self.stream.next().now_or_never() {
                Some(Some(part)) => self.ready.push_back((part, None)),
                Some(None) => return self.ended = true,
                None => return,
            }
        }
    }

    /// Makes what was taken, if it is enough for several threads.
    async fn make_ready(&mut self, maker: &Arc<O::Maker>, mut is_held: impl FnMut(&Raw) -> bool) {
        let mut jobs: Vec<(usize, Raw)> = Vec::new();
        for (place, (part, _)) in self.ready.iter().enumerate() {
            if let Ok(part) = part
                && let Some(Item::Raw(raw)) = part.item()
                && !is_held(raw)
            {
                jobs.push((place, raw.clone()));
            }
        }
        let bytes: usize = jobs.iter().map(|(_, raw)| raw.bytes().len()).sum();
        if jobs.len() < 2 || bytes < WORTHWHILE {
            return;
        }
        let share = jobs.len().div_ceil(*THREADS);
        let mut others = Vec::new();
        while jobs.len() > share {
            let (jobs, maker) = (jobs.split_off(jobs.len() - share), maker.clone());
            others.push(tokio::task::spawn_blocking(move || make_all::<O>(&maker, jobs)));
        }
        let mut made = make_all::<O>(maker, jobs);
        for other in others {
            // One that was not run, because the runtime ends, is made when its turn comes.
            made.extend(other.await.unwrap_or_default());
        }
        for (place, object) in made {
            self.ready[place].1 = Some(object);
        }
    }
}

fn make_all<O: Form>(maker: &O::Maker, jobs: Vec<(usize, Raw)>) -> Vec<(usize, Made<O>)> {
    let made = jobs
        .into_iter()
        .map(|(place, raw)| (place, make::<O>(maker, &raw.key(), &raw)));
    made.collect()
}
