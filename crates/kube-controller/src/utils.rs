//! The items of kube's `runtime::utils`: backoff for streams that fail, adapters of streams, and predicates.

pub use crate::predicates::{self, Config as PredicateConfig, Predicate};
pub use crate::watch_stream::WatchStreamExt;
pub use streams::{EventDecode, EventModify, PredicateFilter, Reflect};

mod streams;

use futures::{Stream, TryStream};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// A series of pauses after failures. When the series ends, the caller gives up.
///
/// ```
/// use kube_controller::utils::Backoff;
/// use std::time::Duration;
///
/// /// A second each, three times.
/// struct ThreeTries(u8);
///
/// impl Iterator for ThreeTries {
///     type Item = Duration;
///     fn next(&mut self) -> Option<Duration> {
///         self.0 = self.0.checked_sub(1)?;
///         Some(Duration::from_secs(1))
///     }
/// }
///
/// impl Backoff for ThreeTries {
///     fn reset(&mut self) {
///         self.0 = 3;
///     }
/// }
/// ```
pub trait Backoff: Iterator<Item = Duration> + Send + Sync + Unpin {
    /// Starts again with the first pause.
    fn reset(&mut self);
}

impl<B: Backoff + ?Sized> Backoff for Box<B> {
    fn reset(&mut self) {
        (**self).reset();
    }
}

/// A series of pauses that starts again with the first one after a time without failures.
#[derive(Debug, Clone)]
pub struct ResetTimerBackoff<B> {
    backoff: B,
    after: Duration,
    last: Option<Instant>,
}

impl<B: Backoff> ResetTimerBackoff<B> {
    /// The pauses of `backoff`, from the first one again when more than `reset_duration` has passed since the
    /// last failure.
    pub fn new(backoff: B, reset_duration: Duration) -> Self {
        Self {
            backoff,
            after: reset_duration,
            last: None,
        }
    }
}

impl<B: Backoff> Iterator for ResetTimerBackoff<B> {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let now = Instant::now();
        let last = self.last.replace(now);
        if last.is_some_and(|last| now.duration_since(last) > self.after) {
            self.backoff.reset();
        }
        self.backoff.next()
    }
}

impl<B: Backoff> Backoff for ResetTimerBackoff<B> {
    fn reset(&mut self) {
        self.backoff.reset();
    }
}

/// A stream that pauses after each error; see [`WatchStreamExt::backoff`].
#[must_use = "streams do nothing unless polled"]
pub struct StreamBackoff<S, B> {
    stream: Pin<Box<S>>,
    backoff: B,
    /// Boxed, because most of the time there is none.
    pause: Option<Pin<Box<Sleep>>>,
    given_up: bool,
}

impl<S: TryStream, B: Backoff> StreamBackoff<S, B> {
    /// Pauses `stream` after each error, as `backoff` says.
    pub fn new(stream: S, backoff: B) -> Self {
        Self {
            stream: Box::pin(stream),
            backoff,
            pause: None,
            given_up: false,
        }
    }
}

impl<S: TryStream, B: Backoff> Stream for StreamBackoff<S, B> {
    type Item = Result<S::Ok, S::Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.given_up {
            return Poll::Ready(None);
        }
        if let Some(pause) = &mut this.pause {
            std::task::ready!(pause.as_mut().poll(cx));
            this.pause = None;
        }
        let item = std::task::ready!(this.stream.as_mut().try_poll_next(cx));
        match &item {
            Some(Err(_)) => match this.backoff.next() {
                Some(pause) => this.pause = Some(Box::pin(tokio::time::sleep(pause))),
                None => this.given_up = true,
            },
            Some(Ok(_)) | None => this.backoff.reset(),
        }
        Poll::Ready(item)
    }
}

impl<S, B> fmt::Debug for StreamBackoff<S, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamBackoff")
            .field("given_up", &self.given_up)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watcher::DefaultBackoff;
    use futures::{StreamExt, stream};

    /// Two pauses.
    #[derive(Clone)]
    struct Two(u64);

    impl Iterator for Two {
        type Item = Duration;

        fn next(&mut self) -> Option<Duration> {
            self.0 += 1;
            (self.0 <= 2).then(|| Duration::from_secs(self.0))
        }
    }

    impl Backoff for Two {
        fn reset(&mut self) {
            self.0 = 0;
        }
    }

    /// How many seconds pass before each item.
    async fn pauses(items: &[Result<(), ()>], backoff: impl Backoff) -> Vec<u64> {
        let mut stream = StreamBackoff::new(stream::iter(items.to_vec()), backoff);
        let (mut last, mut pauses) = (Instant::now(), Vec::new());
        while stream.next().await.is_some() {
            pauses.push(last.elapsed().as_secs());
            last = Instant::now();
        }
        pauses
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_pauses_after_errors_and_gives_up_at_their_end() {
        let items = [Err(()), Err(()), Ok(()), Err(()), Ok(())];
        assert_eq!(pauses(&items, Two(0)).await, [0, 1, 2, 0, 1]);
        assert_eq!(
            pauses(&[Err(()), Err(()), Err(()), Ok(())], Two(0)).await,
            [0, 1, 2]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_start_again_after_some_time() {
        let mut backoff = ResetTimerBackoff::new(Two(0), Duration::from_secs(10));
        assert_eq!(backoff.next(), Some(Duration::from_secs(1)));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(backoff.next(), Some(Duration::from_secs(2)));
        tokio::time::advance(Duration::from_secs(11)).await;
        assert_eq!(backoff.next(), Some(Duration::from_secs(1)));
    }

    #[tokio::test(start_paused = true)]
    async fn the_usual_pauses_grow_up_to_half_a_minute() {
        let mut backoff = DefaultBackoff::default();
        let pauses: Vec<_> = (0..8).filter_map(|_| backoff.next()).collect();
        let bounds = [800, 1600, 3200, 6400, 12800, 25600, 30000, 30000].map(Duration::from_millis);
        for (pause, least) in pauses.iter().zip(bounds) {
            assert!((least..=least * 2).contains(pause), "{pauses:?}");
        }
        assert_eq!(pauses.len(), bounds.len());
    }
}
