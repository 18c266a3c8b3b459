//! Watching without a cache: a watch that resumes itself, and waiting for a condition.
//!
//! This is for the few programs that need no store: one that waits until an object is in a certain state, or one that
//! only forwards events. Any other program should use a [`SharedInformer`](crate::SharedInformer): when the server's
//! history no longer reaches back to the last version, it lists again, where a [`RetryWatcher`] can only return an
//! error.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kube::core::ApiResource;
//! use kube_informer::source::{ClientSource, Selection};
//! use kube_informer::watcher::{RetryWatcher, until};
//!
//! # async fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let selection = Selection {
//!     namespace: Some("shop".into()),
//!     field_selector: Some("metadata.name=migration".into()),
//!     ..Default::default()
//! };
//! let source = ClientSource::new(client, ApiResource::erase::<Pod>(&()), selection);
//! let mut events = RetryWatcher::<Pod>::new(source, "1234".into());
//! let succeeded = |pod: &Pod| pod.status.as_ref().and_then(|s| s.phase.as_deref()) == Some("Succeeded");
//! let done = until(&mut events, |event| event.object().is_some_and(|pod| succeeded(pod)));
//! tokio::time::timeout(std::time::Duration::from_secs(60), done).await??;
//! # Ok(())
//! # }
//! ```

use crate::form::{self, Decode, DecoderConfig};
use crate::low_level::wire::FieldPlan;
use crate::object::{CachedObject, ResourceVersion};
use crate::source::{
    ApiError, ApiStatus, ErrorClass, InvalidObject, Item, LONGEST_RETRY_AFTER, ListerWatcher, WATCH_TIMEOUT,
    WatchEvent, WatchFrom, WatchRequest, WatchStream, random_timeout,
};
use futures::stream::{BoxStream, Stream, StreamExt};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// The minimum time between the starts of two watches.
const SPACING: Duration = Duration::from_secs(1);

/// One event of a [`RetryWatcher`].
pub enum RetryWatchEvent<O: CachedObject> {
    /// An object appeared.
    Added(O::Handle),
    /// An object changed.
    Modified(O::Handle),
    /// An object is gone; this is its last state.
    Deleted(O::Handle),
    /// An object that could not be read appeared, changed or was deleted.
    Invalid(InvalidObject),
}

impl<O: CachedObject> RetryWatchEvent<O> {
    /// The object, unless it could not be read.
    pub fn object(&self) -> Option<&O::Handle> {
        match self {
            Self::Added(object) | Self::Modified(object) | Self::Deleted(object) => Some(object),
            Self::Invalid(_) => None,
        }
    }
}

/// A watch that is reopened where it stopped, until that would lose events.
///
/// It yields the events after a resource version. When the connection breaks, the server ends the watch, or a
/// transient error occurs, it opens another watch from the last event or bookmark: at most one in a second, and later
/// if the server asks for it (by at most five minutes). Each request has a random timeout of five to ten minutes.
/// Bookmarks are not yielded.
///
/// [`PartialObjectMeta`](kube::core::PartialObjectMeta) and packed objects are without managedFields, which [their form's
/// plan](Decode::plan) prunes. With [a plan of your own](RetryWatcher::with_plan), `FieldPlan::default()`, they have them.
///
/// # Errors
/// The stream ends with an error when the version is too old for the server (list again, then watch from there), when
/// the server forbids the watch or does not know the resource or the user, and when it sends malformed data. `""` and
/// `"0"` are not versions to watch from: the only item is an error then.
#[must_use = "a stream does nothing unless it is polled"]
pub struct RetryWatcher<O: CachedObject>(BoxStream<'static, Result<RetryWatchEvent<O>, ApiError>>);

impl<O: Decode> RetryWatcher<O> {
    /// Watches from the first change after `from`, which is the version of a list or of an object.
    pub fn new(source: impl ListerWatcher<O>, from: ResourceVersion) -> Self {
        Self::with_plan(source, from, O::plan())
    }

    /// [`new`](Self::new) with the fields that the scan of each object extracts and prunes, instead of [those of
    /// the form](Decode::plan). What is extracted can be read of packed objects only.
    ///
    /// ```no_run
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kube::core::PartialObjectMeta;
    /// use kube_informer::{FieldPlan, source::ClientSource, watcher::RetryWatcher};
    ///
    /// # fn example(source: ClientSource) {
    /// // Metadata with managedFields.
    /// let source = source.metadata_only();
    /// let events = RetryWatcher::<PartialObjectMeta<Pod>>::with_plan(source, "1234".into(), FieldPlan::default());
    /// # }
    /// ```
    pub fn with_plan(source: impl ListerWatcher<O>, from: ResourceVersion, plan: FieldPlan) -> Self {
        if !from.is_version() {
            let text = format!("{from:?} is no version to watch from");
            let error = ApiError::Request(text.into());
            return Self(futures::stream::once(async { Err(error) }).boxed());
        }
        let source: Arc<dyn ListerWatcher<O>> = Arc::new(source);
        let config = DecoderConfig {
            types: source.type_meta(),
            plan: plan.clone(),
            decoded_cache: None,
        };
        let resumed = Resumed {
            source,
            plan,
            decoder: O::decoder(config),
            from,
            open: None,
            next_start: Instant::now(),
        };
        Self(futures::stream::try_unfold(resumed, Resumed::next).boxed())
    }
}

impl<O: CachedObject> Stream for RetryWatcher<O> {
    type Item = Result<RetryWatchEvent<O>, ApiError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }
}

struct Resumed<O: Decode> {
    source: Arc<dyn ListerWatcher<O>>,
    plan: FieldPlan,
    decoder: O::Decoder,
    from: ResourceVersion,
    open: Option<WatchStream<O>>,
    next_start: Instant,
}

impl<O: Decode> Resumed<O> {
    async fn next(mut self) -> Result<Option<(RetryWatchEvent<O>, Self)>, ApiError> {
        loop {
            let mut stream = match self.open.take() {
                Some(stream) => stream,
                None => match self.start().await {
                    Ok(stream) => stream,
                    Err(error) => {
                        self.retry(error)?;
                        continue;
                    }
                },
            };
            let event = match stream.next().await {
                None => continue,
                Some(Err(error)) => {
                    self.retry(error)?;
                    continue;
                }
                Some(Ok(WatchEvent::Error(status))) => {
                    self.retry(status.into_event().into())?;
                    continue;
                }
                Some(Ok(event)) => event,
            };
            self.open = Some(stream);
            if let Some(event) = self.event(event)? {
                return Ok(Some((event, self)));
            }
        }
    }

    async fn start(&mut self) -> Result<WatchStream<O>, ApiError> {
        tokio::time::sleep_until(self.next_start).await;
        self.next_start = Instant::now() + SPACING;
        let request = WatchRequest {
            from: WatchFrom::Version(self.from.clone()),
            timeout: random_timeout(WATCH_TIMEOUT),
            plan: self.plan.clone(),
        };
        self.source.watch(request).await
    }

    /// Plans the next start, unless it would be futile.
    fn retry(&mut self, error: ApiError) -> Result<(), ApiError> {
        let hopeless = !error.class().is_retryable()
            || matches!(error.class(), ErrorClass::Gone | ErrorClass::Decode)
            || error
                .status()
                .is_some_and(ApiStatus::is_too_large_resource_version);
        if hopeless {
            return Err(error);
        }
        tracing::debug!(
            resource = self.source.resource(),
            error = error.chain(),
            "watching again"
        );
        if let Some(asked) = error.retry_after() {
            let asked = asked.min(LONGEST_RETRY_AFTER);
            self.next_start = self.next_start.max(Instant::now() + asked);
        }
        Ok(())
    }

    /// Converts an event to an item, if it has one; the next watch starts after it.
    fn event(&mut self, event: WatchEvent<O>) -> Result<Option<RetryWatchEvent<O>>, ApiError> {
        Ok(match event {
            WatchEvent::Added(item) => Some(
                self.object(item)?
                    .map_or_else(RetryWatchEvent::Invalid, RetryWatchEvent::Added),
            ),
            WatchEvent::Modified(item) => Some(
                self.object(item)?
                    .map_or_else(RetryWatchEvent::Invalid, RetryWatchEvent::Modified),
            ),
            WatchEvent::Deleted(item) => Some(
                self.object(item)?
                    .map_or_else(RetryWatchEvent::Invalid, RetryWatchEvent::Deleted),
            ),
            WatchEvent::Bookmark { resource_version, .. } => {
                if let Some(version) = resource_version.filter(ResourceVersion::is_version) {
                    self.from = version;
                }
                None
            }
            WatchEvent::Error(_) => None,
        })
    }

    fn object(&mut self, item: Item<O>) -> Result<Result<O::Handle, InvalidObject>, ApiError> {
        let version = item.version();
        match (version, &item) {
            (Some(version), _) => self.from = version,
            (None, Item::Invalid(_)) => {}
            (None, _) => return Err(ApiError::Protocol("an object without a resource version".into())),
        }
        Ok(match item {
            Item::Object(object) => Ok(object),
            Item::Invalid(bad) => Err(bad),
            Item::Raw(raw) => {
                let key = raw.key();
                form::decode_raw::<O>(&self.decoder, &key, &raw).map_err(|reason| InvalidObject {
                    key: Some(key),
                    reason,
                })
            }
        })
    }
}

/// Why [`until`] ended without the condition being met.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UntilError {
    /// The events ended.
    #[error("the watch ended before the condition was met")]
    Ended,
    /// The watch failed.
    #[error("the watch failed before the condition was met")]
    Failed(#[source] ApiError),
}

/// Reads events until one meets the condition, and returns it. For a time limit use [`tokio::time::timeout`].
///
/// # Errors
/// The events ended or failed first.
///
/// # Cancel safety
/// Events that did not meet the condition are lost; later ones are still in the stream.
pub async fn until<O: CachedObject>(
    mut events: impl Stream<Item = Result<RetryWatchEvent<O>, ApiError>> + Unpin,
    mut condition: impl FnMut(&RetryWatchEvent<O>) -> bool,
) -> Result<RetryWatchEvent<O>, UntilError> {
    loop {
        match events.next().await {
            None => return Err(UntilError::Ended),
            Some(Err(error)) => return Err(UntilError::Failed(error)),
            Some(Ok(event)) if condition(&event) => return Ok(event),
            Some(Ok(_)) => {}
        }
    }
}
