//! The watch phase of a reflector.

use super::history::{self, ASK_AGAIN, LONGEST_AGAIN};
use super::pacing::VERY_SHORT;
use super::streaming::SUSPENDED;
use super::{Config, Events, Reflector, Sink, State, Wanted};
use crate::form::Decode;
use crate::object::ResourceVersion;
use crate::queue::Delta;
use crate::queue::batching::UNREPORTED;
use crate::source::{
    ApiError, ApiStatus, DecodeResult, ErrorClass, Item, WatchEvent, WatchFrom, WatchRequest, random_timeout,
};
use crate::time::later;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument;

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

impl<O: Decode, S: Sink<O>> Reflector<O, S> {
    /// Passes on changes until the stream ends. The stream may be open already.
    pub(super) async fn watch(&mut self, open: Option<Events<O>>) -> State<O> {
        let span = self.reporter.subject().watch_span(self.seen.as_ref());
        self.watch_once(open).instrument(span).await
    }

    async fn watch_once(&mut self, open: Option<Events<O>>) -> State<O> {
        let opened = match open {
            Some(stream) => Ok(stream),
            None => {
                self.before_request().await;
                self.reporter.connecting();
                let opened = self.config.source.watch(self.watch_request()).await;
                opened.map(|stream| Events::new(stream, self.config.decoder.clone()))
            }
        };
        match opened {
            Ok(stream) => {
                let next = self.follow(stream).await;
                self.show_seen();
                next
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
            timeout: random_timeout(self.config.options.watch_timeout),
            plan: self.config.plan.clone(),
        }
    }

    fn not_opened(&mut self, error: ApiError) -> State<O> {
        self.pacing.not_fulfilled();
        self.failed("watch", &error);
        match error.class() {
            ErrorClass::Unreachable => {
                self.history.was_away();
                State::Watching(None).after_pause(None)
            }
            ErrorClass::Gone => self.too_old(&error),
            _ if error.is_throttling() => {
                self.history.was_away();
                State::Watching(None).after_pause(error.retry_after())
            }
            _ => must_relist(&error),
        }
    }

    /// Handles a version that is too old to watch from. A restarted server reports this right after a pause, so the
    /// list that follows needs no further pause.
    fn too_old(&self, error: &ApiError) -> State<O> {
        let relist = State::Populating(Wanted::NotOlderThanSeen);
        match self.pacing.is_first_after_pause() {
            true => relist,
            false => relist.after_pause(error.retry_after()),
        }
    }

    /// Passes on the events of one watch until it ends.
    async fn follow(&mut self, mut stream: Events<O>) -> State<O> {
        self.reporter.watching();
        self.pacing.answered();
        let started = Instant::now();
        let mut watched = Watched {
            events: 0,
            bookmarks: 0,
            lasted: Duration::ZERO,
        };
        // Without a start version, the server first sends the existing objects in no order. The versions of these
        // events do not tell how much of the collection has been seen.
        let mut ordered = self.seen.is_some();
        let ask_at = self.history.ask_at(started, self.server.sends_bookmarks);
        let mut ask_at = ask_at.filter(|_| self.seen.is_some());
        let error = loop {
            if self.is_confirmed() {
                if self.is_disproved() {
                    self.sink.flush();
                    watched.end(started);
                    self.reporter.watched(watched.events, watched.lasted, false);
                    return State::Populating(Wanted::NotOlderThanSeen);
                }
                self.confirmed().await;
            }
            // A source that always has an event must not starve other tasks, nor delay cancellation.
            tokio::task::consume_budget().await;
            if watched.events.is_multiple_of(UNREPORTED) {
                self.show_seen();
            }
            let event = match self.next_event(&mut stream, started, &mut ask_at).await {
                None => break None,
                Some(Err(error)) => break Some(error),
                Some(Ok(WatchEvent::Error(status))) => break Some(status.into_event().into()),
                Some(Ok(event)) => event,
            };
            ordered |= !matches!(event, WatchEvent::Added(_));
            if ordered && self.is_older_than_seen(&event) {
                self.sink.flush();
                watched.end(started);
                self.reporter.watched(watched.events, watched.lasted, false);
                return State::Populating(Wanted::Afresh).after_pause(None);
            }
            ask_at = None;
            match &event {
                WatchEvent::Bookmark { resource_version, .. } => {
                    watched.bookmarks += 1;
                    self.reporter.bookmark();
                    self.server.sends_bookmarks |= resource_version.is_some();
                }
                _ => watched.events += 1,
            }
            self.reporter.succeeded();
            self.handle(&mut stream, event, ordered).await;
        };
        self.sink.flush();
        watched.end(started);
        if watched.events + watched.bookmarks > 0 {
            self.history.heard();
        }
        self.reporter
            .watched(watched.events, watched.lasted, watched.is_very_short());
        match error {
            Some(error) => self.broken(error, &watched).await,
            None => self.over(&watched).await,
        }
    }

    /// The next event of a watch that `started` then. A watch that lasts is a success, even without an event; and a server that
    /// sends nothing for a while has sent what it had, which confirms a restored state, unless it was away. One that is silent until `ask_at`
    /// is asked for its version.
    async fn next_event(
        &mut self,
        stream: &mut Events<O>,
        started: Instant,
        ask_at: &mut Option<Instant>,
    ) -> Option<Result<WatchEvent<O>, ApiError>> {
        let since = Instant::now();
        if self.reporter.is_failing() {
            let first = self.next_in_time(stream, since);
            match tokio::time::timeout_at(later(started, VERY_SHORT), first).await {
                Ok(event) => return event,
                Err(_) => self.reporter.succeeded(),
            }
        }
        while self.unconfirmed.is_some() && !self.history.is_uncertain() {
            let second = Instant::now();
            match tokio::time::timeout(VERY_SHORT, self.next_in_time(stream, since)).await {
                Ok(event) => return event,
                // Nothing could arrive while the process was suspended.
                Err(_) if second.elapsed() > VERY_SHORT.saturating_add(SUSPENDED) => {}
                Err(_) if self.is_confirmed_by_silence().await => {}
                // The next watch, from there on, is not followed.
                Err(_) => return None,
            }
        }
        let mut again = ASK_AGAIN;
        while let Some(at) = *ask_at {
            if let Ok(event) = tokio::time::timeout_at(at, self.next_in_time(stream, since)).await {
                return event;
            }
            match self.ask_version(stream, since).await {
                ControlFlow::Break(event) => return event,
                ControlFlow::Continue(answered) => {
                    *ask_at = (!answered).then(|| later(Instant::now(), again));
                    again = again.saturating_mul(2).min(LONGEST_AGAIN);
                }
            }
        }
        self.next_in_time(stream, since).await
    }

    /// Asks a silent server for its version, and goes on with whether it has answered. Breaks with an event that comes meanwhile, or with
    /// a bookmark if the version is older than what was seen.
    async fn ask_version(
        &mut self,
        stream: &mut Events<O>,
        since: Instant,
    ) -> ControlFlow<Option<Result<WatchEvent<O>, ApiError>>, bool> {
        let Config {
            source, plan, lists, ..
        } = &self.config;
        let asked = history::ask(source.clone(), plan.clone(), lists.clone());
        let answer = tokio::select! {
            biased;
            event = self.next_in_time(stream, since) => return ControlFlow::Break(event),
            answer = asked => answer,
        };
        let version = match answer {
            Ok(version) => version,
            // The watch may be silent because the server hangs.
            Err(error) if matches!(error.class(), ErrorClass::Timeout | ErrorClass::Unreachable) => {
                let known = self.reporter.is_failing();
                self.reporter.failed("list", &error, known);
                return ControlFlow::Continue(false);
            }
            // It may refuse lists and not watches.
            Err(error) => {
                let (resource, error) = (self.reporter.resource(), error.chain());
                tracing::debug!(resource, error, "the server does not say its version");
                return ControlFlow::Continue(false);
            }
        };
        self.reporter.succeeded();
        if let (Some(version), Some(seen)) = (version, &self.seen)
            && version < *seen
        {
            self.history.doubt();
            self.reporter.went_back(seen, &version);
            return ControlFlow::Break(Some(Ok(WatchEvent::Bookmark {
                resource_version: Some(version),
                initial_events_end: false,
            })));
        }
        self.history.heard();
        if self.unconfirmed.is_some() && !self.is_confirmed_by_silence().await {
            return ControlFlow::Break(None);
        }
        ControlFlow::Continue(true)
    }

    /// The next event of a watch. If it is not available immediately, announces and reports the events before it. An
    /// error if nothing, not even a bookmark, arrives within the deadline, which counts from `since`.
    async fn next_in_time(
        &mut self,
        stream: &mut Events<O>,
        since: Instant,
    ) -> Option<Result<WatchEvent<O>, ApiError>> {
        let next = stream.next(None::<&()>);
        let deadline = self.config.options.bookmark_timeout;
        let deadline = deadline.filter(|_| self.server.sends_bookmarks);
        let next = async {
            let Some(deadline) = deadline else {
                return next.await;
            };
            let next = tokio::time::timeout_at(later(since, deadline), next);
            next.await.unwrap_or_else(|_| {
                let text = format!("not even a bookmark came for {} s", deadline.as_secs());
                Some(Err(ApiError::Timeout(text.into())))
            })
        };
        let mut next = pin!(next);
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
    async fn handle(&mut self, stream: &mut Events<O>, event: WatchEvent<O>, ordered: bool) {
        let (item, delta): (_, fn(_) -> _) = match event {
            WatchEvent::Added(item) => (item, Delta::Added),
            WatchEvent::Modified(item) => (item, Delta::Updated),
            WatchEvent::Deleted(item) => return self.deleted(stream, item).await,
            WatchEvent::Bookmark { resource_version, .. } => {
                if let Some(version) = resource_version.filter(ResourceVersion::is_version) {
                    self.advance(Some(&version));
                    self.sink.bookmark(version);
                }
                return;
            }
            WatchEvent::Error(_) => return,
        };
        let version = item.version().filter(|_| ordered);
        if let Some((key, object)) = self.object(stream, item) {
            self.advance(version.as_ref());
            self.sink.push(key, delta(object), version).await;
        }
    }

    /// Handles a deletion, which needs only a key, even if the object's body is invalid.
    async fn deleted(&mut self, stream: &mut Events<O>, item: Item<O>) {
        let version = item.version();
        if let Some((key, object)) = self.object(stream, item) {
            self.advance(version.as_ref());
            self.is_gone(&key);
            let last_known = Some(object).filter(|object| matches!(object, DecodeResult::Decoded { .. }));
            self.sink.push(key, Delta::Deleted(last_known), version).await;
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
    async fn over(&mut self, watched: &Watched) -> State<O> {
        let resource = self.reporter.resource();
        if watched.is_very_short() {
            tracing::debug!(resource, "a watch ended at once without any event; listing again");
            return State::Populating(Wanted::NotOlderThanSeen).after_pause(None);
        }
        let wait = self.pacing.watches.after(watched.lasted);
        if !wait.is_zero() {
            tracing::debug!(resource, ?wait, "watches end early again and again");
            self.sleep_until(later(Instant::now(), wait)).await;
        }
        State::Watching(None)
    }

    /// Handles a watch that ended with an error.
    async fn broken(&mut self, error: ApiError, watched: &Watched) -> State<O> {
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
                    false => State::Populating(Wanted::NotOlderThanSeen).after_pause(None),
                }
            }
            _ => {
                self.failed("watch", &error);
                if !error.is_throttling() {
                    return must_relist(&error);
                }
                self.history.was_away();
                State::Watching(None).after_pause(error.retry_after())
            }
        }
    }
}

/// The collection must be listed again after an error.
fn must_relist<O: Decode>(error: &ApiError) -> State<O> {
    let status = error.status();
    let wanted = match status.is_some_and(ApiStatus::is_too_large_resource_version) {
        true => Wanted::MostRecent,
        false => Wanted::NotOlderThanSeen,
    };
    State::Populating(wanted).after_pause(error.retry_after())
}
