//! Streaming lists (KEP-3157): watches that start with the existing objects.

use super::collected::Collected;
use super::listing::is_version_unavailable;
use super::pacing::VERY_SHORT;
use super::{Events, InitialState, Reflector, Sink, State, Wanted};
use crate::form::Decode;
use crate::object::{ObjectKey, ResourceVersion};
use crate::source::{
    ApiError, DecodeResult, ErrorClass, Subject, WatchEvent, WatchFrom, WatchRequest, random_timeout,
};
use crate::time::later;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument;

/// The number of interrupted streams after which a list is requested instead.
const ATTEMPTS: usize = 2;
/// A process that is this much later than its timers has been suspended.
pub(super) const SUSPENDED: Duration = Duration::from_secs(1);

/// The outcome of a streaming list.
enum Streamed<O: Decode> {
    /// The list is complete; the stream continues as a watch.
    Complete(
        Vec<(ObjectKey, DecodeResult<O>)>,
        Option<ResourceVersion>,
        Events<O>,
    ),
    /// The stream ended before the list was complete, but after it had sent events.
    BrokeOff,
    /// The stream was not opened.
    NotOpened(ApiError),
    Failed(ApiError),
}

impl<O: Decode, S: Sink<O>> Reflector<O, S> {
    /// Replaces the sink's content by a streaming list, whose stream continues as a watch.
    pub(super) async fn stream_list(&mut self, mut wanted: Wanted) -> State<O> {
        let span = self.reporter.subject().list_span(true);
        let streamed = self.stream_collection(&mut wanted).instrument(span.clone()).await;
        match streamed {
            Ok(stream) => {
                Subject::record_version(&span, self.seen.as_ref());
                return State::Watching(Some(stream));
            }
            Err(error) if self.config.options.initial == InitialState::WatchList => {
                self.failed("watch-list", &error);
                return State::Populating(wanted).after_pause(error.retry_after());
            }
            // A timeout is reported, so that users see why the first list took so long.
            Err(error) if error.class() == ErrorClass::Timeout => self.failed("watch-list", &error),
            Err(error) => {
                let resource = self.reporter.resource();
                tracing::debug!(
                    resource,
                    error = error.chain(),
                    "no streaming list; listing instead"
                );
            }
        }
        State::Listing(wanted)
    }

    /// Replaces the sink's content by a streaming list and returns the stream.
    ///
    /// # Errors
    /// A list should be requested instead.
    async fn stream_collection(&mut self, wanted: &mut Wanted) -> Result<Events<O>, ApiError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let turn = self.turn_to_list().await;
            let started = Instant::now();
            let streamed = self.stream_once(*wanted).await;
            // Unless the list is complete, the permit is given back before a pause or another attempt.
            let _turn = turn.filter(|_| matches!(streamed, Streamed::Complete(..)));
            let early = match &streamed {
                Streamed::Complete(..) | Streamed::NotOpened(_) => Duration::ZERO,
                Streamed::Failed(error) if must_wait(error) => Duration::ZERO,
                // It counts as a watch that ended early.
                _ => self.pacing.watches.after(started.elapsed()),
            };
            if !matches!(streamed, Streamed::Complete(..)) {
                self.pacing.not_fulfilled();
            }
            match streamed {
                Streamed::Complete(entries, version, _) if self.must_list_afresh(&entries, &version) => {
                    *wanted = Wanted::Afresh;
                }
                Streamed::Complete(entries, version, stream) => {
                    self.replace(entries, version, started).await;
                    return Ok(stream);
                }
                Streamed::BrokeOff if attempts < ATTEMPTS && early.is_zero() => {}
                Streamed::BrokeOff if attempts < ATTEMPTS => {
                    self.sleep_until(later(Instant::now(), early)).await;
                }
                Streamed::BrokeOff => {
                    return Err(ApiError::while_reading(
                        "streaming lists broke off before they were complete",
                    ));
                }
                Streamed::NotOpened(ApiError::Status(status))
                | Streamed::Failed(ApiError::Status(status))
                    if is_version_unavailable(&status) && *wanted == Wanted::NotOlderThanSeen =>
                {
                    *wanted = Wanted::MostRecent;
                }
                Streamed::NotOpened(error) | Streamed::Failed(error) if must_wait(&error) => {
                    self.failed("watch-list", &error);
                    self.pause(error.retry_after()).await;
                    attempts = 0;
                }
                Streamed::NotOpened(error) | Streamed::Failed(error) => return Err(error),
            }
        }
    }

    async fn stream_once(&mut self, wanted: Wanted) -> Streamed<O> {
        let not_older_than = self.seen.clone().filter(|_| wanted == Wanted::NotOlderThanSeen);
        let from = WatchFrom::InitialEvents { not_older_than };
        let timeout = random_timeout(self.config.options.watch_timeout);
        let request = WatchRequest {
            from,
            timeout,
            plan: self.config.plan.clone(),
        };
        let started = Instant::now();
        let deadline = self.config.options.streaming_timeout;
        let opened = tokio::time::timeout(deadline, self.config.source.watch(request)).await;
        let mut stream = match opened {
            Ok(Ok(stream)) => Events::new(stream, self.config.decoder.clone()),
            Ok(Err(error)) => return Streamed::NotOpened(error),
            // Without a response it is not known whether the server supports streaming lists. There may be no connection.
            Err(_) => {
                let text = format!("no answer within {} s", deadline.as_secs_f64());
                return Streamed::NotOpened(ApiError::Timeout(text.into()));
            }
        };
        self.pacing.served();
        let mut collected = Collected::new();
        let mut progress = Instant::now();
        // The objects that exist come first, then changes, and then the end.
        let mut changes = false;
        loop {
            let next = stream.next(self.known(wanted));
            let Ok(event) = tokio::time::timeout_at(later(progress, deadline), next).await else {
                return self.stalled(progress, collected.len());
            };
            let came = collected.len();
            changes |= matches!(event, Some(Ok(WatchEvent::Modified(_) | WatchEvent::Deleted(_))));
            match event {
                Some(Ok(WatchEvent::Bookmark {
                    resource_version,
                    initial_events_end: true,
                })) => {
                    return Streamed::Complete(collected.into_entries(), resource_version, stream);
                }
                Some(Ok(WatchEvent::Bookmark { .. })) => {}
                Some(Ok(WatchEvent::Error(status))) => return Streamed::Failed(status.into_event().into()),
                Some(Ok(WatchEvent::Added(item) | WatchEvent::Modified(item))) => {
                    let version = item.version();
                    if let Some((key, object)) = self.object(&mut stream, item) {
                        if collected.put(key, object, version).is_err() {
                            return Streamed::Failed(older());
                        }
                        self.reporter.received(collected.len());
                    }
                }
                Some(Ok(WatchEvent::Deleted(item))) => {
                    let version = item.version();
                    if let Some((key, _)) = self.object(&mut stream, item)
                        && collected.remove(key, version).is_err()
                    {
                        return Streamed::Failed(older());
                    }
                }
                // In all that time it has sent objects, but not said that these are all.
                None if collected.len() > 0 && started.elapsed() >= timeout => {
                    self.config.source.watch_list_failed();
                    return Streamed::Failed(ApiError::Protocol(
                        "a streaming list ended without the end of the initial events".into(),
                    ));
                }
                None
                | Some(Err(ApiError::Interrupted(_) | ApiError::Timeout(_) | ApiError::Unreachable(_))) => {
                    let nothing = collected.len() == 0 && started.elapsed() < VERY_SHORT;
                    return match nothing {
                        true => Streamed::Failed(ApiError::while_reading("a streaming list ended at once")),
                        false => Streamed::BrokeOff,
                    };
                }
                Some(Err(error)) => return Streamed::Failed(error),
            }
            // Changes may go on for ever. The number of objects that exist is finite.
            if collected.len() > came && !changes {
                progress = Instant::now();
            } else if progress.elapsed() >= deadline {
                return self.stalled(progress, collected.len());
            }
            tokio::task::consume_budget().await;
        }
    }

    /// Handles an open stream that has made no progress since then, after so many objects. If the time limit has passed
    /// long ago, this process has been suspended, which says nothing about the server.
    fn stalled(&self, progress: Instant, received: usize) -> Streamed<O> {
        let deadline = self.config.options.streaming_timeout;
        if progress.elapsed() > deadline.saturating_add(SUSPENDED) {
            return Streamed::BrokeOff;
        }
        self.config.source.watch_list_failed();
        Streamed::Failed(no_progress(deadline, received))
    }
}

/// The error of an open stream that makes no progress.
fn no_progress(deadline: Duration, received: usize) -> ApiError {
    let seconds = deadline.as_secs_f64();
    let text =
        format!("no progress for {seconds} s, after {received} objects and no end of the initial events");
    ApiError::Timeout(text.into())
}

/// The error of an object in an older state than before, after which the stream cannot be trusted.
fn older() -> ApiError {
    ApiError::Protocol("a streaming list went back to an older state of an object".into())
}

/// Whether the same request can succeed later, so that a list would not help.
fn must_wait(error: &ApiError) -> bool {
    error.class() == ErrorClass::Unreachable || error.is_throttling()
}
