//! Streaming lists (KEP-3157): watches that start with the existing objects.

use super::collected::Collected;
use super::{DecodeResult, Events, Reflector, Sink, is_held};
use crate::form::Decode;
use crate::object::ResourceVersion;
use crate::queue::Listed;
use crate::source::{ApiError, ApiStatus, ErrorClass, WatchEvent, WatchFrom, WatchRequest, random_timeout};
use crate::time::later;
use std::time::Duration;

/// The number of interrupted streams after which a list is requested instead.
const ATTEMPTS: usize = 2;

/// The outcome of a streaming list.
enum Streamed<O: Decode> {
    /// The list is complete; the stream continues as a watch.
    Complete(Vec<Listed<DecodeResult<O>>>, Option<ResourceVersion>, Events<O>),
    /// The stream ended before the list was complete, but after it had sent events.
    BrokeOff,
    Failed(ApiError),
}

impl<O: Decode, S: Sink<O>> Reflector<O, S> {
    /// Replaces the sink's content by a streaming list and returns the stream, which continues as a watch.
    ///
    /// # Errors
    /// A list should be requested instead.
    pub(super) async fn stream_list(&mut self) -> Result<Events<O>, ApiError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            self.before_request().await;
            let turn = self.turn_to_list().await;
            let started = tokio::time::Instant::now();
            let streamed = self.stream_once().await;
            // A pause is nobody's turn.
            let _turn = turn.filter(|_| matches!(streamed, Streamed::Complete(..)));
            let early = match &streamed {
                Streamed::Complete(..) => Duration::ZERO,
                Streamed::Failed(error) if must_wait(error) => Duration::ZERO,
                // It counts as a watch that ended early.
                _ => self.pacer.after(started.elapsed()),
            };
            match streamed {
                Streamed::Complete(entries, version, stream) => {
                    self.complete(entries, version, started).await;
                    return Ok(stream);
                }
                Streamed::BrokeOff if attempts < ATTEMPTS => tokio::time::sleep(early).await,
                Streamed::BrokeOff => {
                    return Err(ApiError::while_reading(
                        "streaming lists broke off before they were complete",
                    ));
                }
                Streamed::Failed(ApiError::Status(status))
                    if is_unavailable(&status) && !self.unavailable =>
                {
                    self.unavailable = true;
                }
                Streamed::Failed(error) if must_wait(&error) => {
                    self.failed("watch-list", &error);
                    self.pause(error.retry_after()).await;
                    attempts = 0;
                }
                Streamed::Failed(error) => return Err(error),
            }
        }
    }

    async fn stream_once(&mut self) -> Streamed<O> {
        let not_older_than = self.seen.clone().filter(|_| !self.unavailable);
        let from = WatchFrom::InitialEvents { not_older_than };
        let request = WatchRequest {
            from,
            timeout: random_timeout(self.options.watch_timeout),
            plan: self.plan.clone(),
        };
        self.reporter.listing();
        let started = tokio::time::Instant::now();
        let deadline = self.options.streaming_deadline;
        let opened = tokio::time::timeout(deadline, self.source.watch(request)).await;
        let mut stream = match opened {
            Ok(Ok(stream)) => Events::new(stream),
            Ok(Err(error)) => return Streamed::Failed(error),
            // No response says nothing about the support of streaming lists; there may not even be a connection.
            Err(_) => {
                let text = format!("no answer within {} s", deadline.as_secs_f64());
                return Streamed::Failed(ApiError::Timeout(text.into()));
            }
        };
        let mut collected = Collected::new();
        let mut progress = tokio::time::Instant::now();
        loop {
            let next = stream.next(&self.decoder, is_held(&self.sink));
            let (next, made) = match tokio::time::timeout_at(later(progress, deadline), next).await {
                Ok(Some((next, made))) => (Some(next), made),
                Ok(None) => (None, None),
                Err(_) => {
                    self.source.watch_list_failed();
                    return Streamed::Failed(no_progress(deadline, collected.len()));
                }
            };
            let came = collected.len();
            match next {
                Some(Ok(WatchEvent::Bookmark {
                    resource_version,
                    initial_events_end: true,
                })) => {
                    return Streamed::Complete(collected.into_entries(), resource_version, stream);
                }
                Some(Ok(WatchEvent::Bookmark { .. })) => continue,
                Some(Ok(WatchEvent::Error(status))) => return Streamed::Failed(status.into()),
                Some(Ok(WatchEvent::Added(item) | WatchEvent::Modified(item))) => {
                    let version = item.version();
                    // Nobody knows whether what has no key has come before.
                    let Some(entry) = self.listed(item, made) else {
                        progress = tokio::time::Instant::now();
                        tokio::task::consume_budget().await;
                        continue;
                    };
                    if collected.put(entry, version).is_err() {
                        return Streamed::Failed(older());
                    }
                    self.reporter.received(collected.len());
                }
                Some(Ok(WatchEvent::Deleted(item))) => {
                    if let Some((key, _, version)) = self.arrived(item, made)
                        && collected.remove(key, version).is_err()
                    {
                        return Streamed::Failed(older());
                    }
                }
                None
                | Some(Err(ApiError::Interrupted(_) | ApiError::Timeout(_) | ApiError::Unreachable(_))) => {
                    let nothing = collected.len() == 0 && started.elapsed() < super::watching::VERY_SHORT;
                    return match nothing {
                        true => Streamed::Failed(ApiError::while_reading("a streaming list ended at once")),
                        false => Streamed::BrokeOff,
                    };
                }
                Some(Err(error)) => return Streamed::Failed(error),
            }
            // Changes of what has come go on for ever, the objects that exist do not.
            if collected.len() > came {
                progress = tokio::time::Instant::now();
            }
            tokio::task::consume_budget().await;
        }
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

fn is_unavailable(status: &ApiStatus) -> bool {
    status.is_expired() || status.is_too_large_resource_version()
}

/// Whether the same request can succeed later, so that a list would not help.
fn must_wait(error: &ApiError) -> bool {
    error.class() == ErrorClass::Unreachable || error.is_throttling()
}
