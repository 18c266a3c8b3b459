//! The lister-watcher over a [`kube::Client`].
//!
//! The requests are built here and sent through [`kube::Client::send`], which handles connections, TLS and
//! credentials; responses are read as raw frames. The client's own list and watch calls are not used: they buffer a
//! whole body, lose objects that cannot be decoded, and do not distinguish failures.

use super::body::{Chunks, Patience, silent};
use super::path::{InvalidName, check_namespace, resource_path};
use super::{
    ApiError, ApiStatus, BoxError, InvalidObject, Item, ListEnd, ListPart, ListRequest, ListStream,
    ListerWatcher, NamespacedSource, WatchEvent, WatchRequest, WatchStream,
};
use crate::object::CachedObject;
use crate::wire::{
    self, Encoding, EventType, FieldPlan, FrameError, FrameReason, ListReader, Split, WatchReader,
};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use http::{HeaderValue, Request, Response, StatusCode, header};
use kube::client::Body;
use kube::core::{ApiResource, TypeMeta};
use std::collections::HashMap;
use std::convert::Infallible;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// The time limit for the start of a response. An API server aborts requests that take longer. It starts the response
/// of a watch, including a streaming list, before there are events.
const BEGINNING: Duration = Duration::from_secs(60);
/// The time limits of a list. An API server aborts a list after a minute; the rest of the time is for slow networks,
/// as long as they transfer more than the minimum rate.
const LIST: Patience = Patience {
    silence: Duration::from_secs(60),
    total: Duration::from_secs(300),
    bytes_per_second: NonZeroU64::new(64),
};
/// The time limit for the body of an error. It is short, and adds little to the status code.
const ERROR: Duration = Duration::from_secs(30);
/// The time by which a watch may exceed its requested timeout.
const WATCH_GRACE: Duration = Duration::from_secs(30);
/// The time limit of a watch without a requested timeout. API servers end it after an hour at most.
const WATCH: Duration = Duration::from_secs(3600);
/// `Accept` for a list of objects' metadata, or whole objects if the server does not support it.
const METADATA_LIST: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/// `Accept` for a watch of objects' metadata.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// `Accept` for objects without managed fields (KEP-5958), or whole objects if the server does not support it.
const WITHOUT_MANAGED_FIELDS: &str = "application/json;drop=metadata.managedFields,application/json";
/// The maximum number of bytes of an error's body that are read.
const ERROR_BODY: usize = 1 << 20;

/// Selects objects of a resource.
///
/// An empty string means no restriction, as in client-go: an empty namespace selects all namespaces.
///
/// ```
/// use kube_informer::source::Selection;
///
/// let selection = Selection { namespace: Some("shop".into()), label_selector: Some("app=web".into()), ..Default::default() };
/// assert_eq!(selection.field_selector, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// Selects only this namespace, a DNS label. `None` or empty: all namespaces, or a cluster-scoped resource.
    pub namespace: Option<String>,
    /// A label selector in the API's syntax.
    pub label_selector: Option<String>,
    /// A field selector in the API's syntax.
    pub field_selector: Option<String>,
}

impl Selection {
    /// Validates what can be validated without a server: that the namespace is a DNS label (RFC 1123) or absent.
    ///
    /// A [`ClientSource`] calls this before each request. It sends no request for an invalid namespace; the error has
    /// the class [`Invalid`](super::ErrorClass::Invalid).
    ///
    /// # Errors
    /// The namespace is not a valid name.
    pub fn validate(&self) -> Result<(), InvalidName> {
        self.in_namespace().map_or(Ok(()), check_namespace)
    }

    /// The namespace, if the selection is limited to one.
    fn in_namespace(&self) -> Option<&str> {
        self.namespace
            .as_deref()
            .filter(|namespace| !namespace.is_empty())
    }
}

/// Lists and watches a resource of an API server.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::source::{ClientSource, Selection};
///
/// # async fn example() -> Result<(), kube::Error> {
/// let client = kube::Client::try_default().await?;
/// let source = ClientSource::new(client, kube::core::ApiResource::erase::<Pod>(&()), Selection::default());
/// # Ok(())
/// # }
/// ```
///
/// # Retries of the client
/// A `kube::Client` created from a [`kube::Config`] silently retries requests that were answered with 429, 503 or
/// 504, up to 15 times. It does not retry the requests of this source, because their bodies cannot be cloned. (The
/// bodies are empty, so this does not change what is sent.) Instead the caller, such as the
/// [reflector](crate::reflector#recovery), decides how long to wait and reports the failure.
///
/// # Slow networks
/// A list fails if no data arrives for a minute. After five minutes it also fails if its average rate since the start
/// is below 64 bytes per second, measured before decompression. A watch fails 30 seconds after the server should have
/// ended it. Only time spent waiting for the network counts.
#[derive(Clone)]
pub struct ClientSource {
    client: kube::Client,
    resource: ApiResource,
    selection: Selection,
    streaming: WatchListSupport,
    metadata_only: bool,
    compression: bool,
    received: Arc<AtomicU64>,
}

/// Records the resources whose streaming lists do not complete on a server; shared by the sources of one client.
///
/// ```
/// use kube_informer::source::WatchListSupport;
/// let memory = WatchListSupport::default();
/// assert!(memory.is_supported("pods"));
/// memory.mark_unsupported("pods");
/// assert!(!memory.clone().is_supported("pods"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct WatchListSupport(Arc<Mutex<HashMap<String, Instant>>>);

/// How long a failure is remembered.
const STREAMING_FAILURE: Duration = Duration::from_secs(3600);

impl WatchListSupport {
    /// Whether streaming lists of a resource should be tried, that is, none has failed within the last hour.
    pub fn is_supported(&self, resource: &str) -> bool {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures
            .get(resource)
            .is_none_or(|failed| failed.elapsed() >= STREAMING_FAILURE)
    }

    /// Records that a streaming list of a resource did not complete.
    pub fn mark_unsupported(&self, resource: &str) {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures.insert(resource.to_owned(), Instant::now());
    }
}

impl ClientSource {
    /// A source of the objects of `resource` that match `selection`.
    pub fn new(client: kube::Client, resource: ApiResource, selection: Selection) -> Self {
        Self {
            client,
            resource,
            selection,
            streaming: WatchListSupport::default(),
            metadata_only: false,
            compression: false,
            received: Arc::default(),
        }
    }

    /// Requests only the objects' metadata, to be stored as [`PartialObjectMeta`](kube::core::PartialObjectMeta).
    /// Default: whole objects.
    ///
    /// <https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches>
    #[must_use = "this is a builder"]
    pub fn metadata_only(mut self) -> Self {
        self.metadata_only = true;
        self
    }

    /// Requests gzip compression, which servers apply to large lists. It is useful only over slow networks: the
    /// server has to compress, and decompression takes more time than reading. Default: off. A response that is
    /// compressed anyway is decompressed in any case.
    #[must_use = "this is a builder"]
    pub fn compression(mut self) -> Self {
        self.compression = true;
        self
    }

    /// The number of bytes of bodies received so far, before decompression, by this source and its clones.
    pub fn bytes_received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Shares the record of unsupported streaming lists with other sources of the same client.
    #[must_use = "this is a builder"]
    pub fn watch_list_support(mut self, shared: WatchListSupport) -> Self {
        self.streaming = shared;
        self
    }

    /// The resource as `plural` or `plural.group`.
    fn name(&self) -> String {
        match self.resource.group.as_str() {
            "" => self.resource.plural.clone(),
            group => format!("{}.{group}", self.resource.plural),
        }
    }

    /// The path and query of a request, for the server that the client is bound to.
    fn uri(&self, query: &str) -> Result<String, InvalidName> {
        let mut uri = resource_path(&self.resource, self.selection.in_namespace())?;
        let mut pairs = form_urlencoded::Serializer::new(query.to_owned());
        for (name, selector) in [
            ("labelSelector", &self.selection.label_selector),
            ("fieldSelector", &self.selection.field_selector),
        ] {
            if let Some(selector) = selector.as_deref().filter(|s| !s.is_empty()) {
                pairs.append_pair(name, selector);
            }
        }
        let query = pairs.finish();
        if !query.is_empty() {
            uri.push('?');
            uri.push_str(&query);
        }
        Ok(uri)
    }

    /// Sends a request and returns the response if its status is 200.
    async fn send(&self, query: String, accept: &'static str) -> Result<Response<Body>, ApiError> {
        let request = Request::get(self.uri(&query)?)
            .header(header::ACCEPT, HeaderValue::from_static(accept))
            .header(
                header::ACCEPT_ENCODING,
                HeaderValue::from_static(if self.compression { "gzip" } else { "identity" }),
            )
            .body(sent_once().await.map_err(ApiError::from_client)?)
            .map_err(|error| ApiError::Request(error.into()))?;
        let response = tokio::time::timeout(BEGINNING, self.client.send(request))
            .await
            .map_err(|_| silent(BEGINNING))?
            .map_err(ApiError::from_client)?;
        if response.status() == StatusCode::OK {
            return Ok(response);
        }
        Err(rejection(response, self.received.clone()).await)
    }

    /// The `Accept` header: whole objects or another form. This is the only place where an encoding is negotiated.
    fn accept(&self, metadata: &'static str, plan: &FieldPlan) -> &'static str {
        if self.metadata_only {
            metadata
        } else if plan.prunes_managed_fields() {
            WITHOUT_MANAGED_FIELDS
        } else {
            "application/json"
        }
    }

    /// Whether this is the kind of the requested objects.
    fn expects(&self, kind: &str) -> bool {
        kind == self.resource.kind || (self.metadata_only && kind == "PartialObjectMetadata")
    }

    /// An object of a list or event, scanned but not decoded.
    fn item<O: CachedObject>(
        &self,
        object: Split,
        plan: &FieldPlan,
        place: impl FnOnce() -> String,
    ) -> Item<O> {
        match object.scan_with(Encoding::Json, plan) {
            Ok(raw) => match raw.kind() {
                Some(kind) if !self.expects(kind) => {
                    let reason = format!("expected kind {}, got {kind:.100}", self.resource.kind);
                    Item::Invalid(InvalidObject {
                        key: Some(raw.key()),
                        reason,
                    })
                }
                _ => Item::Raw(raw),
            },
            Err(error) => {
                let key = error.key().cloned();
                let reason = format!("{} (byte {} of {})", error.reason(), error.offset(), place());
                Item::Invalid(InvalidObject { key, reason })
            }
        }
    }
}

/// An empty body that the layers of a client cannot clone, so that none of them retries the request: the caller
/// decides how long to wait.
///
/// Only response bodies are of that kind, so one is created from a response.
async fn sent_once() -> Result<Body, kube::Error> {
    let server = tower::service_fn(|_| async { Ok::<_, Infallible>(Response::new(Body::empty())) });
    let client = kube::Client::new(server, "");
    let answer = client.send(Request::new(Body::empty())).await?;
    Ok(answer.into_body())
}

/// The error for a response with a status other than 200.
async fn rejection(response: Response<Body>, received: Arc<AtomicU64>) -> ApiError {
    let code = response.status().as_u16();
    let retry_after = retry_after(response.headers());
    let media_type = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok());
    let media_type = media_type.unwrap_or("no media type").to_owned();
    let mut chunks = Chunks::new(response, Patience::of(ERROR), received);
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = chunks.next().await {
        body.extend_from_slice(&chunk);
        if body.len() > ERROR_BODY {
            break;
        }
    }
    let Some(mut status) = ApiStatus::from_json(&body, code) else {
        let status = match code {
            404 => ApiStatus::from_code(
                404,
                format!("not found, and the answer ({media_type}) is no API status"),
            ),
            _ => ApiStatus::from_code(code, format!("the answer ({media_type}) is no API status")),
        };
        return ApiError::Status(ApiStatus {
            retry_after,
            ..status
        });
    };
    status.retry_after = retry_after.or(status.retry_after);
    ApiError::Status(status)
}

/// A `Retry-After` header: seconds, or a date.
fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

fn not_a_list(what: impl Into<BoxError>) -> ApiError {
    ApiError::Protocol(what.into().to_string())
}

/// The error of a list that has ended. A truncated list counts as a broken connection, even if the connection was
/// closed cleanly.
fn incomplete(error: FrameError) -> ApiError {
    match error.reason() {
        FrameReason::Truncated if error.offset() > 0 => ApiError::while_reading(error),
        _ => not_a_list(error),
    }
}

/// Reads a list item by item, then its end.
struct ListBody {
    source: ClientSource,
    chunks: Chunks,
    reader: ListReader,
    plan: FieldPlan,
    items: usize,
}

impl ListBody {
    async fn next<O: CachedObject>(mut self) -> Result<Option<(ListPart<O>, Option<Self>)>, ApiError> {
        loop {
            if let Some(object) = self.reader.next_with(&self.plan).map_err(not_a_list)? {
                let position = self.items;
                self.items += 1;
                let item = self
                    .source
                    .item(object, &self.plan, || format!("item {position} of a list"));
                return Ok(Some((ListPart::Item(item), Some(self))));
            }
            match self.chunks.next().await? {
                Some(chunk) => self.reader.push(chunk),
                None => {
                    let end = self.reader.finish().map_err(incomplete)?;
                    let part = ListPart::End(ListEnd {
                        resource_version: end.resource_version,
                        continue_token: end.continue_token,
                        remaining_item_count: end.remaining_item_count,
                    });
                    return Ok(Some((part, None)));
                }
            }
        }
    }
}

/// Reads a watch event by event.
struct WatchBody {
    source: ClientSource,
    chunks: Chunks,
    reader: WatchReader,
    plan: FieldPlan,
}

impl WatchBody {
    async fn next<O: CachedObject>(mut self) -> Result<Option<(WatchEvent<O>, Self)>, ApiError> {
        loop {
            if let Some((event, object)) = self.reader.next_with(&self.plan).map_err(not_a_list)? {
                let event = self.event(event, object)?;
                return Ok(Some((event, self)));
            }
            match self.chunks.next().await? {
                Some(chunk) => self.reader.push(chunk),
                None => {
                    self.reader.finish().map_err(ApiError::while_reading)?;
                    return Ok(None);
                }
            }
        }
    }

    fn event<O: CachedObject>(&self, event: EventType, object: Split) -> Result<WatchEvent<O>, ApiError> {
        let place = || "an event of the watch".to_owned();
        let item = |object| self.source.item(object, &self.plan, place);
        Ok(match event {
            EventType::Added => WatchEvent::Added(item(object)),
            EventType::Modified => WatchEvent::Modified(item(object)),
            EventType::Deleted => WatchEvent::Deleted(item(object)),
            EventType::Bookmark => {
                let bookmark = wire::bookmark(Encoding::Json, &object.into_bytes()).map_err(not_a_list)?;
                let wire::Bookmark {
                    resource_version,
                    initial_events_end,
                    ..
                } = bookmark;
                WatchEvent::Bookmark {
                    resource_version,
                    initial_events_end,
                }
            }
            EventType::Error => match ApiStatus::from_json(&object.into_bytes(), 500) {
                Some(status) => WatchEvent::Error(status),
                None => return Err(ApiError::Protocol("an ERROR event that is no API status".into())),
            },
            EventType::Unknown(name) => {
                let name: String = name.chars().take(40).collect();
                return Err(ApiError::Protocol(format!(
                    "unknown type of watch event {name:?}"
                )));
            }
        })
    }
}

impl<O: CachedObject> ListerWatcher<O> for ClientSource {
    fn resource(&self) -> String {
        self.name()
    }

    fn namespace(&self) -> Option<String> {
        self.selection.in_namespace().map(str::to_owned)
    }

    fn supports_watch_list(&self) -> bool {
        self.streaming.is_supported(&self.name())
    }

    fn watch_list_failed(&self) {
        self.streaming.mark_unsupported(&self.name());
    }

    fn types(&self) -> Option<TypeMeta> {
        let ApiResource {
            api_version, kind, ..
        } = &self.resource;
        Some(TypeMeta {
            api_version: api_version.clone(),
            kind: kind.clone(),
        })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<O>, ApiError>> {
        async move {
            let response = self
                .send(request.query(), self.accept(METADATA_LIST, &request.plan))
                .await?;
            let chunks = Chunks::new(response, LIST, self.received.clone());
            let reader = ListReader::new(Encoding::Json);
            let body = ListBody {
                source: self.clone(),
                chunks,
                reader,
                plan: request.plan,
                items: 0,
            };
            let parts = stream::try_unfold(Some(body), |body| async {
                match body {
                    Some(body) => body.next().await,
                    None => Ok(None),
                }
            });
            Ok(parts.boxed())
        }
        .boxed()
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<O>, ApiError>> {
        async move {
            let total = match request.timeout {
                Duration::ZERO => WATCH,
                timeout => timeout,
            };
            let patience = Patience::of(total.saturating_add(WATCH_GRACE));
            let response = self
                .send(request.query(), self.accept(METADATA, &request.plan))
                .await?;
            let chunks = Chunks::new(response, patience, self.received.clone());
            let body = WatchBody {
                source: self.clone(),
                chunks,
                reader: WatchReader::new(Encoding::Json),
                plan: request.plan,
            };
            Ok(stream::try_unfold(body, WatchBody::next).boxed())
        }
        .boxed()
    }
}

/// Ignores the namespace of the source's own selection.
impl<O: CachedObject> NamespacedSource<O> for ClientSource {
    fn resource(&self) -> String {
        self.name()
    }

    fn types(&self) -> Option<TypeMeta> {
        ListerWatcher::<O>::types(self)
    }

    fn in_namespace(&self, namespace: &str) -> Arc<dyn ListerWatcher<O>> {
        let mut source = self.clone();
        source.selection.namespace = Some(namespace.to_owned());
        Arc::new(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
    use kube::Resource;

    fn source<K: Resource<DynamicType = ()>>(selection: Selection) -> ClientSource {
        let service =
            tower::service_fn(|_| async { Ok::<_, std::convert::Infallible>(Response::new(Body::empty())) });
        ClientSource::new(
            kube::Client::new(service, "default"),
            ApiResource::erase::<K>(&()),
            selection,
        )
    }

    #[tokio::test]
    async fn paths() {
        assert_eq!(
            source::<Pod>(Selection::default()).uri("").unwrap(),
            "/api/v1/pods"
        );
        let selection = Selection {
            namespace: Some("shop".into()),
            label_selector: Some("app=web,tier!=x".into()),
            field_selector: Some("metadata.name=a".into()),
        };
        assert_eq!(
            source::<Deployment>(selection).uri("limit=5").unwrap(),
            "/apis/apps/v1/namespaces/shop/deployments?limit=5&labelSelector=app%3Dweb%2Ctier%21%3Dx\
             &fieldSelector=metadata.name%3Da"
        );
    }

    #[tokio::test]
    async fn requests_have_empty_bodies_that_cannot_be_cloned() {
        use http_body::Body as _;
        let body = sent_once().await.unwrap();
        assert!(body.try_clone().is_none());
        assert!(body.is_end_stream() && body.size_hint().exact() == Some(0));
    }

    #[test]
    fn retry_after_in_both_forms() {
        let header =
            |text: String| http::HeaderMap::from_iter([(header::RETRY_AFTER, text.parse().unwrap())]);
        assert_eq!(retry_after(&header("7".into())), Some(Duration::from_secs(7)));
        let soon = SystemTime::now() + Duration::from_secs(100);
        let parsed = retry_after(&header(httpdate::fmt_http_date(soon))).unwrap();
        assert!(
            parsed > Duration::from_secs(90) && parsed <= Duration::from_secs(100),
            "{parsed:?}"
        );
        let past = SystemTime::now() - Duration::from_secs(100);
        assert_eq!(
            retry_after(&header(httpdate::fmt_http_date(past))),
            Some(Duration::ZERO)
        );
        assert_eq!(retry_after(&header("soon".into())), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_streaming_list_is_tried_again_after_an_hour() {
        let memory = WatchListSupport::default();
        memory.mark_unsupported("pods");
        tokio::time::advance(STREAMING_FAILURE - Duration::from_secs(1)).await;
        assert!(!memory.is_supported("pods") && memory.is_supported("nodes"));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(memory.is_supported("pods"));
    }
}
