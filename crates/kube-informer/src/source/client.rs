//! The lister-watcher over a [`kube::Client`].
//!
//! The requests are built here and sent through [`kube::Client::send`], which does connections, TLS and credentials;
//! the answers are read as raw frames. Nothing of the client's own list and watch calls is used: they hold a whole
//! body, lose objects that do not decode, and do not tell one failure from another.

use super::{
    ApiError, ApiStatus, BadObject, BoxError, Item, ListEnd, ListPart, ListRequest, ListStream,
    ListerWatcher, WatchEvent, WatchRequest, WatchStream,
};
use crate::object::Object;
use crate::wire::{self, Encoding, EventType, ListReader, Raw, WatchReader};
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use kube::client::Body;
use kube::core::{ApiResource, TypeMeta};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// How long a list may be silent.
const LIST_SILENCE: Duration = Duration::from_secs(60);
/// How much longer than the timeout that was asked for a watch may be silent.
const WATCH_SILENCE: Duration = Duration::from_secs(30);
/// How much of the body of an error is read.
const ERROR_BODY: usize = 1 << 20;

/// Which objects of a resource are wanted.
///
/// ```
/// use kube_informer::source::Selection;
///
/// let selection = Selection { namespace: Some("shop".into()), labels: Some("app=web".into()), ..Default::default() };
/// assert_eq!(selection.fields, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// Only this namespace; `None`: all, or a cluster-scoped resource.
    pub namespace: Option<String>,
    /// A label selector as the API has it.
    pub labels: Option<String>,
    /// A field selector as the API has it.
    pub fields: Option<String>,
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
/// A `kube::Client` made from a [`kube::Config`] retries answers 429, 503 and 504 on its own, behind the reflector's
/// back. Set [`kube::Config::default_retry`] to `false` to leave the waiting to the reflector, which reports it.
#[derive(Clone)]
pub struct ClientSource {
    client: kube::Client,
    resource: ApiResource,
    selection: Selection,
    received: Arc<AtomicU64>,
}

impl ClientSource {
    /// The objects of `resource` that `selection` wants.
    pub fn new(client: kube::Client, resource: ApiResource, selection: Selection) -> Self {
        Self {
            client,
            resource,
            selection,
            received: Arc::default(),
        }
    }

    /// How many bytes of answers this source and its clones have read: bodies, without headers. So a clone tells how
    /// much an informer has read that was given the source.
    pub fn bytes_received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// The body of an answer, to be read and counted.
    fn chunks(&self, body: Body, silence: Duration) -> Chunks {
        Chunks {
            body,
            silence,
            received: self.received.clone(),
        }
    }

    /// The path and query of a request, for the server that the client is bound to.
    fn uri(&self, query: &str) -> String {
        let ApiResource {
            group,
            version,
            plural,
            ..
        } = &self.resource;
        let mut uri = match group.as_str() {
            "" => format!("/api/{version}"),
            group => format!("/apis/{group}/{version}"),
        };
        if let Some(namespace) = &self.selection.namespace {
            uri.push_str("/namespaces/");
            uri.push_str(namespace);
        }
        uri.push('/');
        uri.push_str(plural);
        let mut pairs = form_urlencoded::Serializer::new(query.to_owned());
        for (name, selector) in [
            ("labelSelector", &self.selection.labels),
            ("fieldSelector", &self.selection.fields),
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
        uri
    }

    /// Sends a request and returns the answer if it is a good one.
    async fn send(&self, query: String, silence: Duration) -> Result<Response<Body>, ApiError> {
        let request = Request::get(self.uri(&query))
            .header(header::ACCEPT, HeaderValue::from_static("application/json"))
            .header(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"))
            .body(Body::empty())
            .map_err(|error| ApiError::Request(error.into()))?;
        let response = tokio::time::timeout(silence, self.client.send(request))
            .await
            .map_err(|_| silent(silence))?
            .map_err(ApiError::from_client)?;
        if response.status() == StatusCode::OK {
            return Ok(response);
        }
        let (head, body) = response.into_parts();
        Err(rejection(&head, self.chunks(body, silence)).await)
    }

    /// An object of a list or event, scanned but not decoded.
    fn item<O: Object>(&self, bytes: Bytes, place: impl FnOnce() -> String) -> Item<O> {
        match Raw::scan(Encoding::Json, bytes) {
            Ok(raw) => match raw.kind() {
                Some(kind) if kind != self.resource.kind => {
                    let reason = format!("expected kind {}, got {kind}", self.resource.kind);
                    Item::Bad(BadObject {
                        key: Some(raw.key()),
                        reason,
                    })
                }
                _ => Item::Raw(raw),
            },
            Err(error) => {
                let key = error.key().cloned();
                let reason = format!("{} (byte {} of {})", error.reason(), error.offset(), place());
                Item::Bad(BadObject { key, reason })
            }
        }
    }
}

/// The body of an answer, chunk by chunk.
struct Chunks {
    body: Body,
    silence: Duration,
    received: Arc<AtomicU64>,
}

impl Chunks {
    /// The next chunk; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            let frame = tokio::time::timeout(self.silence, self.body.frame());
            match frame.await.map_err(|_| silent(self.silence))? {
                None => return Ok(None),
                Some(Err(error)) => return Err(ApiError::while_reading(error)),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.received.fetch_add(data.len() as u64, Ordering::Relaxed);
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}

fn silent(silence: Duration) -> ApiError {
    ApiError::Timeout(format!("nothing came for {} s", silence.as_secs()).into())
}

/// The error that an answer other than 200 stands for.
async fn rejection(head: &http::response::Parts, mut chunks: Chunks) -> ApiError {
    let code = head.status.as_u16();
    let retry_after = retry_after(&head.headers);
    let media_type = head
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok());
    let media_type = media_type.unwrap_or("no media type").to_owned();
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

/// Reads a list: an item at a time, then the end.
struct ListBody {
    source: ClientSource,
    chunks: Chunks,
    reader: ListReader,
    items: usize,
}

impl ListBody {
    async fn next<O: Object>(mut self) -> Result<Option<(ListPart<O>, Option<Self>)>, ApiError> {
        loop {
            if let Some(wire::ListPart::Item(bytes)) = self.reader.next().map_err(not_a_list)? {
                let position = self.items;
                self.items += 1;
                let item = self.source.item(bytes, || format!("item {position} of a list"));
                return Ok(Some((ListPart::Item(item), Some(self))));
            }
            match self.chunks.next().await? {
                Some(chunk) => self.reader.push(chunk),
                None => {
                    let end = self.reader.finish().map_err(not_a_list)?;
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

/// Reads a watch: an event at a time.
struct WatchBody {
    source: ClientSource,
    chunks: Chunks,
    reader: WatchReader,
}

impl WatchBody {
    async fn next<O: Object>(mut self) -> Result<Option<(WatchEvent<O>, Self)>, ApiError> {
        loop {
            if let Some(frame) = self.reader.next().map_err(not_a_list)? {
                let event = self.event(frame)?;
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

    fn event<O: Object>(&self, frame: wire::WatchFrame) -> Result<WatchEvent<O>, ApiError> {
        let item = |bytes| self.source.item(bytes, || "an event of the watch".to_owned());
        Ok(match frame.event {
            EventType::Added => WatchEvent::Added(item(frame.object)),
            EventType::Modified => WatchEvent::Modified(item(frame.object)),
            EventType::Deleted => WatchEvent::Deleted(item(frame.object)),
            EventType::Bookmark => {
                let bookmark = wire::bookmark(Encoding::Json, &frame.object).map_err(not_a_list)?;
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
            EventType::Error => match ApiStatus::from_json(&frame.object, 500) {
                Some(status) => WatchEvent::Error(status),
                None => return Err(ApiError::Protocol("an ERROR event that is no API status".into())),
            },
            EventType::Unknown(name) => {
                return Err(ApiError::Protocol(format!(
                    "unknown type of watch event {name:?}"
                )));
            }
        })
    }
}

impl<O: Object> ListerWatcher<O> for ClientSource {
    fn resource(&self) -> String {
        match self.resource.group.as_str() {
            "" => self.resource.plural.clone(),
            group => format!("{}.{group}", self.resource.plural),
        }
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
            let response = self.send(request.query(), LIST_SILENCE).await?;
            let chunks = self.chunks(response.into_body(), LIST_SILENCE);
            let reader = ListReader::new(Encoding::Json);
            let body = ListBody {
                source: self.clone(),
                chunks,
                reader,
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
            let silence = request.timeout + WATCH_SILENCE;
            let response = self.send(request.query(), silence).await?;
            let chunks = self.chunks(response.into_body(), silence);
            let body = WatchBody {
                source: self.clone(),
                chunks,
                reader: WatchReader::new(Encoding::Json),
            };
            Ok(stream::try_unfold(body, WatchBody::next).boxed())
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{ListVersion, WatchFrom};
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
        assert_eq!(source::<Pod>(Selection::default()).uri(""), "/api/v1/pods");
        let selection = Selection {
            namespace: Some("shop".into()),
            labels: Some("app=web,tier!=x".into()),
            fields: Some("metadata.name=a".into()),
        };
        assert_eq!(
            source::<Deployment>(selection).uri("limit=5"),
            "/apis/apps/v1/namespaces/shop/deployments?limit=5&labelSelector=app%3Dweb%2Ctier%21%3Dx\
             &fieldSelector=metadata.name%3Da"
        );
    }

    #[tokio::test]
    async fn bytes_are_counted_of_good_answers_and_bad_ones() {
        const LIST: &str =
            r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}"#;
        let service = tower::service_fn(|request: Request<Body>| async move {
            let (code, body) = match request.uri().query() {
                Some(query) if query.contains("watch") => (403, "no"),
                _ => (200, LIST),
            };
            let response = Response::builder()
                .status(code)
                .body(Body::from(body.as_bytes().to_vec()));
            Ok::<_, std::convert::Infallible>(response.unwrap())
        });
        let client = kube::Client::new(service, "default");
        let source = ClientSource::new(client, ApiResource::erase::<Pod>(&()), Selection::default());
        let used: Box<dyn ListerWatcher<Pod>> = Box::new(source.clone());
        let list = used.list(ListRequest::new(ListVersion::Newest)).await.unwrap();
        assert_eq!(source.bytes_received(), 0);
        assert_eq!(list.count().await, 1);
        assert_eq!(source.bytes_received(), LIST.len() as u64);
        let watch = WatchRequest {
            from: WatchFrom::Newest,
            timeout: Duration::ZERO,
        };
        assert!(used.watch(watch).await.is_err());
        assert_eq!(source.bytes_received(), LIST.len() as u64 + 2);
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
}
