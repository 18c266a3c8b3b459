//! The watch phase of a reflector.

use super::ahead::Prefetched;
use super::{Decoded, Ended, Events, Reflector, Relist, Sink};
use crate::form::Decode;
use crate::object::{DeleteCause, Deleted, ResourceVersion};
use crate::queue::Delta;
use crate::source::{
    ApiError, ApiStatus, ErrorClass, Item, WatchEvent, WatchFrom, WatchRequest, random_timeout,
};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument;

/// A watch that ends sooner than this without any event counts as very short.
pub(super) const VERY_SHORT: Duration = Duration::from_secs(1);
/// The number of consecutive watches that may end early before their starts are delayed.
const EARLY_ENDS: u32 = 3;
const FIRST_SPACING: Duration = Duration::from_secs(1);
const LAST_SPACING: Duration = Duration::from_secs(30);

/// After this many events the seen version is reported even if more are about to follow.
const UNREPORTED: u64 = 128;

/// Prevents a hot loop with a server that ends every watch at once.
#[derive(Debug)]
pub(super) struct WatchPacer {
    early_ends: u32,
    spacing: Duration,
}

impl Default for WatchPacer {
    fn default() -> Self {
        Self {
            early_ends: 0,
            spacing: FIRST_SPACING,
        }
    }
}

impl WatchPacer {
    /// The pause before the next watch, after one that lasted this long.
    pub(super) fn after(&mut self, lasted: Duration) -> Duration {
        if lasted >= self.spacing {
            *self = Self::default();
            return Duration::ZERO;
        }
        self.early_ends += 1;
        if self.early_ends < EARLY_ENDS {
            return Duration::ZERO;
        }
        let wait = self.spacing - lasted;
        self.spacing = (self.spacing * 2).min(LAST_SPACING);
        wait
    }
}

/// The outcome of one watch.
struct Watched {
    /// Events other than bookmarks.
    events: u64,
    bookmarks: u64,
    lasted: Duration,
}

impl Watched {
    fn end(&mut self, started: Instant) {
        self.lasted = started.elapsed();
    }

    /// Whether it ended at once without any event.
    fn is_very_short(&self) -> bool {
        self.events == 0 && self.bookmarks == 0 && self.lasted < VERY_SHORT
    }
}

/// The next event; an error if nothing, not even a bookmark, arrives within the deadline.
async fn next<O: Decode>(
    stream: &mut Events<O>,
    decoder: &Arc<O::Decoder>,
    deadline: Option<Duration>,
) -> Option<Prefetched<O, WatchEvent<O>>> {
    let next = stream.next(decoder, |_| false);
    let Some(deadline) = deadline else {
        return next.await;
    };
    tokio::time::timeout(deadline, next).await.unwrap_or_else(|_| {
        let text = format!("not even a bookmark came for {} s", deadline.as_secs());
        Some((Err(ApiError::Timeout(text.into())), None))
    })
}

impl<O: Decode, S: Sink<O>> Reflector<O, S> {
    /// Watches until the collection must be listed again, and returns when to do so. The first stream may be open
    /// already.
    pub(super) async fn watch(&mut self, mut open: Option<Events<O>>) -> Relist {
        loop {
            let span = self.reporter.subject().watch_span(self.seen.as_ref());
            let ended = self.watch_once(open.take()).instrument(span).await;
            match ended {
                Ended::Again => {}
                Ended::AfterPause(asked) => self.pause(asked).await,
                Ended::Relist(when) => return when,
            }
        }
    }

    async fn watch_once(&mut self, open: Option<Events<O>>) -> Ended {
        let opened = match open {
            Some(stream) => Ok(stream),
            None => {
                self.before_request().await;
                self.source.watch(self.watch_request()).await.map(Events::new)
            }
        };
        match opened {
            Ok(stream) => {
                let ended = self.follow(stream).await;
                self.show_seen();
                ended
            }
            Err(error) => self.not_opened(error),
        }
    }

    fn watch_request(&self) -> WatchRequest {
        let from = match &self.seen {
            Some(version) => WatchFrom::Version(version.clone()),
            None => WatchFrom::MostRecent,
        };
        WatchRequest {
            from,
            timeout: random_timeout(self.options.watch_timeout),
            plan: self.plan.clone(),
        }
    }

    fn not_opened(&mut self, error: ApiError) -> Ended {
        self.failed("watch", &error);
        match error.class() {
            ErrorClass::Unreachable => Ended::AfterPause(None),
            ErrorClass::Gone => self.too_old(&error),
            _ if error.is_throttling() => Ended::AfterPause(error.retry_after()),
            _ => self.must_relist(&error),
        }
    }

    fn must_relist(&mut self, error: &ApiError) -> Ended {
        if error
            .status()
            .is_some_and(ApiStatus::is_too_large_resource_version)
        {
            self.unavailable = true;
        }
        Ended::Relist(Relist::AfterPause(error.retry_after()))
    }

    /// Handles a version that is too old to watch from. A restarted server reports this right after a pause, so the
    /// list that follows needs no further pause.
    fn too_old(&self, error: &ApiError) -> Ended {
        Ended::Relist(match self.after_pause {
            true => Relist::AtOnce,
            false => Relist::AfterPause(error.retry_after()),
        })
    }

    /// Passes on the events of one watch until it ends.
    async fn follow(&mut self, mut stream: Events<O>) -> Ended {
        self.reporter.watching();
        self.absent = false;
        self.backoff.healthy();
        let started = Instant::now();
        let mut watched = Watched {
            events: 0,
            bookmarks: 0,
            lasted: Duration::ZERO,
        };
        // Without a start version, the server first sends the existing objects in no order. The versions of these
        // events do not tell how much of the collection has been seen.
        let mut ordered = self.seen.is_some();
        let error = loop {
            // A source that always has an event must not starve other tasks, nor delay cancellation.
            tokio::task::consume_budget().await;
            if watched.events.is_multiple_of(UNREPORTED) {
                self.show_seen();
            }
            let (event, made) = match self.next_event(&mut stream).await {
                None => break None,
                Some((Err(error), _)) => break Some(error),
                Some((Ok(WatchEvent::Error(status)), _)) => break Some(ApiError::Status(status)),
                Some((Ok(event), made)) => (event, made),
            };
            ordered |= !matches!(event, WatchEvent::Added(_));
            if ordered && self.is_older_than_seen(&event) {
                self.unavailable = true;
                self.sink.flush();
                watched.end(started);
                self.reporter.watched(watched.events, watched.lasted, false);
                return Ended::Relist(Relist::AfterPause(None));
            }
            match &event {
                WatchEvent::Bookmark { resource_version, .. } => {
                    watched.bookmarks += 1;
                    self.sends_bookmarks |= resource_version.is_some();
                }
                _ => watched.events += 1,
            }
            self.reporter.succeeded();
            self.handle(event, made, ordered).await;
        };
        self.sink.flush();
        watched.end(started);
        self.reporter
            .watched(watched.events, watched.lasted, watched.is_very_short());
        match error {
            Some(error) => self.broken(error, &watched).await,
            None => self.over(&watched).await,
        }
    }

    /// The next event of a watch. If it is not available immediately, announces and reports the events before it.
    async fn next_event(&mut self, stream: &mut Events<O>) -> Option<Prefetched<O, WatchEvent<O>>> {
        let deadline = self.options.bookmark_deadline.filter(|_| self.sends_bookmarks);
        let mut next = pin!(next(stream, &self.decoder, deadline));
        let (sink, reporter, seen) = (&mut self.sink, &mut self.reporter, &self.seen);
        poll_fn(move |cx| {
            let event = next.as_mut().poll(cx);
            if event.is_pending() {
                sink.flush();
                seen.iter().for_each(|version| reporter.seen(version));
            }
            event
        })
        .await
    }

    /// Whether an event is older than the seen version. Then either the server's history was replaced, or the event
    /// was sent out of order; in both cases later events cannot be trusted.
    fn is_older_than_seen(&self, event: &WatchEvent<O>) -> bool {
        let version = match event {
            WatchEvent::Added(item) | WatchEvent::Modified(item) | WatchEvent::Deleted(item) => {
                item.version()
            }
            WatchEvent::Bookmark { resource_version, .. } => resource_version.clone(),
            WatchEvent::Error(_) => None,
        };
        let (Some(version), Some(seen)) = (version, &self.seen) else {
            return false;
        };
        let older = version < *seen;
        if older {
            tracing::warn!(resource = self.reporter.resource(), %seen, %version, "the resource version went back");
        }
        older
    }

    /// Passes on one event.
    async fn handle(&mut self, event: WatchEvent<O>, made: Option<Decoded<O>>, ordered: bool) {
        let (item, added) = match event {
            WatchEvent::Added(item) => (item, true),
            WatchEvent::Modified(item) => (item, false),
            WatchEvent::Deleted(item) => return self.deleted(item, made).await,
            WatchEvent::Bookmark { resource_version, .. } => {
                if let Some(version) = resource_version.filter(ResourceVersion::is_version) {
                    self.advance(Some(&version));
                    self.sink.bookmark(version);
                }
                return;
            }
            WatchEvent::Error(_) => return,
        };
        if let Some((key, arrived, version)) = self.arrived(item, made) {
            let version = version.filter(|_| ordered);
            self.advance(version.as_ref());
            let delta = if added {
                Delta::Added(arrived)
            } else {
                Delta::Updated(arrived)
            };
            self.sink.push(key, delta, version).await;
        }
    }

    /// Handles a deletion, which needs only a key, even if the object's body is invalid.
    async fn deleted(&mut self, item: Item<O>, made: Option<Decoded<O>>) {
        if let Some((key, arrived, version)) = self.arrived(item, made) {
            self.advance(version.as_ref());
            let last_known = arrived.ok().map(Ok);
            let deleted = Deleted {
                key: key.clone(),
                last_known,
                cause: DeleteCause::Event,
            };
            self.sink.push(key, Delta::Deleted(deleted), version).await;
        }
    }

    fn advance(&mut self, version: Option<&ResourceVersion>) {
        if let Some(version) = version {
            self.seen = Some(version.clone());
        }
    }

    /// Reports the seen version.
    pub(super) fn show_seen(&self) {
        if let Some(version) = &self.seen {
            self.reporter.seen(version);
        }
    }

    /// Handles the normal end of a watch or of its connection.
    async fn over(&mut self, watched: &Watched) -> Ended {
        let resource = self.reporter.resource();
        if watched.is_very_short() {
            tracing::debug!(resource, "a watch ended at once without any event; listing again");
            return Ended::Relist(Relist::AfterPause(None));
        }
        let wait = self.pacer.after(watched.lasted);
        if !wait.is_zero() {
            tracing::debug!(resource, ?wait, "watches end early again and again");
            tokio::time::sleep(wait).await;
        }
        Ended::Again
    }

    /// Handles a watch that ended with an error.
    async fn broken(&mut self, error: ApiError, watched: &Watched) -> Ended {
        match &error {
            ApiError::Interrupted(_) | ApiError::Timeout(_) | ApiError::Unreachable(_) => {
                tracing::debug!(
                    resource = self.reporter.resource(),
                    error = error.chain(),
                    "a watch broke off"
                );
                self.over(watched).await
            }
            ApiError::Status(status) if status.is_expired() => {
                tracing::debug!(resource = self.reporter.resource(), %status, "too old to watch from; listing again");
                match watched.is_very_short() {
                    true => self.too_old(&error),
                    false => Ended::Relist(Relist::AfterPause(None)),
                }
            }
            _ => {
                self.failed("watch", &error);
                match error.is_throttling() {
                    true => Ended::AfterPause(error.retry_after()),
                    false => self.must_relist(&error),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_between_watches_that_end_early_grow() {
        let mut pacer = WatchPacer::default();
        let waits: Vec<_> = (0..9).map(|_| pacer.after(Duration::ZERO).as_secs()).collect();
        assert_eq!(waits, [0, 0, 1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(pacer.after(Duration::from_secs(12)), Duration::from_secs(18));
        assert_eq!(pacer.after(Duration::from_secs(31)), Duration::ZERO);
        assert_eq!(
            pacer.after(Duration::ZERO),
            Duration::ZERO,
            "starts over after one that lasted"
        );
    }
}
