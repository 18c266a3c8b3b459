//! The lister-watcher over a [`kube::Client`].
//!
//! The requests are built here and sent through [`kube::Client::send`], which handles connections, TLS and
//! credentials; responses are read as raw frames. The client's own list and watch calls are not used: they buffer a
//! whole body, lose objects that cannot be decoded, and do not distinguish failures.

use super::body::{Chunks, Patience, silent};
use super::negotiation::{Negotiation, Objects, PartialMetadata, accept};
use super::parts::{Expected, list_parts, watch_events};
use super::path::{InvalidName, resource_path};
use super::rejection::rejection;
use super::sharding::{list_of, watch_of};
use super::{
    ApiError, ErrorClass, ListRequest, ListStream, ListerWatcher, LongAnswer, NamespacedSource, Selection,
    ShardedSource, WatchListSupport, WatchRequest, WatchStream,
};
use crate::low_level::wire::{Encoding, FieldPlan};
use crate::object::{CachedObject, ObjectKey};
use crate::selector::{FieldSelector, ShardSelector};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{HeaderValue, Request, Response, StatusCode, header};
use kube::client::Body;
use kube::core::{ApiResource, PartialObjectMeta, TypeMeta};
use std::convert::Infallible;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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
/// The time by which a watch may exceed its requested timeout.
const WATCH_GRACE: Duration = Duration::from_secs(30);
/// The time limit of a watch without a requested timeout. API servers end it after an hour at most.
const WATCH: Duration = Duration::from_secs(3600);
/// The most ranges of shards that a server is asked for, so that a URL has less than the 8 KiB that proxies take. If there are more, it is
/// asked for what is between some of them, too; that is left out when it comes.
const MOST_RANGES: usize = 64;
/// The namespace whose uid identifies a cluster.
const KUBE_SYSTEM: &str = "/api/v1/namespaces/kube-system";
/// The most bytes of that namespace that are read.
const LARGEST_NAMESPACE: usize = 2 << 20;

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
    negotiation: Negotiation,
    metadata_only: bool,
    compression: bool,
    received: Arc<AtomicU64>,
}

impl ClientSource {
    /// A source of the objects of `resource` that match `selection`.
    ///
    /// If the kind of `resource` is empty, because only the path is known, objects are of whatever kind the server says.
    pub fn new(client: kube::Client, resource: ApiResource, selection: Selection) -> Self {
        Self {
            client,
            resource,
            selection,
            streaming: WatchListSupport::default(),
            negotiation: Negotiation::default(),
            metadata_only: false,
            compression: false,
            received: Arc::default(),
        }
    }

    /// Requests only the objects' metadata, to be stored as [`PartialObjectMeta`](kube::core::PartialObjectMeta),
    /// which is without managedFields unless a [plan](crate::form#pruning) says otherwise. Default: whole objects, also for
    /// `PartialObjectMeta`, of which the metadata is kept then.
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

    /// Sets the encoding to ask for. Default: protobuf first, then JSON, where a server may have protobuf; else JSON.
    ///
    /// Protobuf (feature `protobuf`, on by default) costs the server and the client much less than JSON. Whatever is
    /// set here, custom resources and aggregated APIs are asked for in JSON, unless it is [only for their
    /// metadata](Self::metadata_only), which a kube-apiserver has in protobuf for every kind; and so is what a [`FieldPlan`] finds fields
    /// in or prunes more of than `metadata.managedFields`. A server that answers in JSON, or that it has no protobuf (406), is asked for
    /// JSON for an hour, by this source and its clones. The [status](crate::reflector::ReflectorStatus::encoding) says what comes.
    ///
    /// Protobuf is read by tables of the newest Kubernetes version that this crate knows. Fields that only newer servers have
    /// are missing then, as from any type that was made before them. So only types of `k8s-openapi`, packed or not, and
    /// metadata are asked for in protobuf by default; all others [may keep unknown
    /// fields](CachedObject::keeps_unknown_fields). Set [`Encoding::Protobuf`] for a type of yours that need not see them and has
    /// no `RawValue` of `serde_json`, which reads JSON only.
    ///
    /// Bytes in two encodings cannot be compared. So where protobuf may come, the
    /// [fingerprint](crate::low_level::wire::RawObject::fingerprint) of an object, in either encoding, is one of its uid and resource
    /// version; an object that has not both is compared by its bytes. A list in another encoding than the last one is an
    /// unchanged list, and so is one of a newer API server that shows the same versions with other defaults.
    ///
    /// <https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding>
    #[must_use = "this is a builder"]
    pub fn encoding(mut self, preferred: Encoding) -> Self {
        self.negotiation = Negotiation::new(preferred);
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
    fn uri(&self, query: &str, object: Option<&ObjectKey>) -> Result<String, InvalidName> {
        let mut uri = resource_path(&self.resource, self.selection.in_namespace())?;
        let mut pairs = form_urlencoded::Serializer::new(query.to_owned());
        let own = |selector: &Option<String>| selector.clone().filter(|s| !s.is_empty());
        let labels = own(&self.selection.label_selector);
        let fields = own(&self.selection.field_selector);
        let fields = fields.into_iter().chain(object.map(selects_object));
        let fields = fields.collect::<Vec<_>>().join(",");
        for (name, selector) in [
            ("labelSelector", labels),
            ("fieldSelector", Some(fields).filter(|fields| !fields.is_empty())),
        ] {
            if let Some(selector) = selector {
                pairs.append_pair(name, &selector);
            }
        }
        if let Some(shards) = &self.selection.shards {
            pairs.append_pair("shardSelector", &shards.widened(MOST_RANGES).to_string());
        }
        let query = pairs.finish();
        if !query.is_empty() {
            uri.push('?');
            uri.push_str(&query);
        }
        Ok(uri)
    }

    /// Sends a request, in the encoding that is preferred if the server has it. Returns the response if its status is
    /// 200, and what to expect of it.
    async fn send<O: CachedObject>(
        &self,
        query: String,
        object: Option<&ObjectKey>,
        metadata: PartialMetadata,
        plan: &FieldPlan,
        length: Option<LongAnswer>,
    ) -> Result<(Response<Body>, Expected), ApiError> {
        let objects = Objects {
            resource: &self.resource,
            plan,
            keep_unknown_fields: O::keeps_unknown_fields() && !self.metadata_only,
            metadata_only: self.metadata_only,
        };
        let asked = self.negotiation.asked(&objects);
        let sent = self
            .send_once(&query, object, objects.accept(asked, metadata), length)
            .await;
        let (asked, response) = match sent {
            Err(ApiError::Status(status)) if status.code == 406 && asked != Encoding::Json => {
                self.negotiation.refused();
                let json = objects.accept(Encoding::Json, metadata);
                (
                    Encoding::Json,
                    self.send_once(&query, object, json, length).await?,
                )
            }
            sent => (asked, sent?),
        };
        let expected = Expected {
            encoding: self.negotiation.answered(asked, &response),
            kind: self.resource.kind.clone(),
            metadata_only: self.metadata_only,
            // Bytes of two encodings cannot be compared.
            plan: match self.negotiation.preferred(&objects) == Encoding::Json {
                true => plan.clone(),
                false => plan.by_version(),
            },
        };
        Ok((response, expected))
    }

    async fn send_once(
        &self,
        query: &str,
        object: Option<&ObjectKey>,
        accept: HeaderValue,
        length: Option<LongAnswer>,
    ) -> Result<Response<Body>, ApiError> {
        self.get(self.uri(query, object)?, accept, length).await
    }

    /// What is selected, whatever the namespace.
    fn selects(&self) -> String {
        let resource = &self.resource;
        let selector = |selector: &Option<String>| selector.clone().unwrap_or_default();
        let (labels, fields) = (
            selector(&self.selection.label_selector),
            selector(&self.selection.field_selector),
        );
        let encoding = self.negotiation.chosen();
        let what = if self.metadata_only { "metadata of " } else { "" };
        let shards = self.selection.shards.as_ref();
        let shards = shards
            .map(|shards| format!(", shards {shards}"))
            .unwrap_or_default();
        format!(
            "{what}{} {} {:?}, labels {labels:?}, fields {fields:?}{shards}, encoding {encoding:?}",
            resource.api_version, resource.kind, resource.plural
        )
    }

    /// The uid of the namespace `kube-system`, which identifies a cluster; `None` if it may not be read or does not exist.
    async fn kube_system(&self) -> Result<Option<String>, ApiError> {
        let accept = accept(
            Encoding::Json,
            PartialMetadata::Object.parameters(),
            Encoding::Json,
        );
        let response = match self.get(KUBE_SYSTEM.to_owned(), accept, None).await {
            Ok(response) => response,
            Err(error) => {
                return match error.class() {
                    ErrorClass::Forbidden | ErrorClass::NotFound => Ok(None),
                    _ => Err(error),
                };
            }
        };
        let mut chunks = Chunks::new(response, Patience::of(BEGINNING), self.received.clone());
        let mut body = Vec::new();
        while let Some(chunk) = chunks.next().await? {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST_NAMESPACE {
                return Err(ApiError::Protocol(
                    "the namespace kube-system is too large".into(),
                ));
            }
        }
        let namespace: PartialObjectMeta = serde_json::from_slice(&body)
            .map_err(|_| ApiError::Protocol("the namespace kube-system cannot be read".into()))?;
        Ok(namespace.metadata.uid.filter(|uid| !uid.is_empty()))
    }

    async fn get(
        &self,
        uri: String,
        accept: HeaderValue,
        length: Option<LongAnswer>,
    ) -> Result<Response<Body>, ApiError> {
        let path = uri.split('?').next().unwrap_or_default().to_owned();
        let mut request = Request::get(uri)
            .header(header::ACCEPT, accept)
            .header(
                header::ACCEPT_ENCODING,
                HeaderValue::from_static(if self.compression { "gzip" } else { "identity" }),
            )
            .body(sent_once().await.map_err(ApiError::from_client)?)
            .map_err(|error| ApiError::Request(error.into()))?;
        if let Some(long) = length {
            request.extensions_mut().insert(long);
        }
        let response = tokio::time::timeout(BEGINNING, self.client.send(request))
            .await
            .map_err(|_| silent(BEGINNING))?
            .map_err(ApiError::from_client)?;
        if response.status() == StatusCode::OK {
            return Ok(response);
        }
        Err(rejection(&path, response, self.received.clone()).await)
    }
}

/// The field selector of one object.
fn selects_object(key: &ObjectKey) -> String {
    let is = |field, value| FieldSelector::one_term_equal(field, value).to_string();
    let name = is("metadata.name", key.name());
    match key.namespace() {
        Some(namespace) => format!("{name},{}", is("metadata.namespace", namespace)),
        None => name,
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

    fn cache_identity(&self) -> Option<String> {
        let namespace = self.selection.in_namespace().unwrap_or_default();
        Some(format!("{}, namespace {namespace:?}", self.selects()))
    }

    fn server_identity(&self) -> BoxFuture<'_, Result<Option<String>, ApiError>> {
        self.kube_system().boxed()
    }

    fn type_meta(&self) -> Option<TypeMeta> {
        let ApiResource {
            api_version, kind, ..
        } = &self.resource;
        (!kind.is_empty()).then(|| TypeMeta {
            api_version: api_version.clone(),
            kind: kind.clone(),
        })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<O>, ApiError>> {
        async move {
            let is_whole = request.is_whole();
            let (response, expected) = self
                .send::<O>(
                    request.query(),
                    request.object.as_ref(),
                    PartialMetadata::List,
                    &request.plan,
                    is_whole.then_some(LongAnswer),
                )
                .await?;
            let chunks = Chunks::new(response, LIST, self.received.clone());
            let parts = list_parts(chunks, expected);
            Ok(list_of(self.selection.shards.clone(), parts))
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
            let (response, expected) = self
                .send::<O>(
                    request.query(),
                    None,
                    PartialMetadata::Object,
                    &request.plan,
                    Some(LongAnswer),
                )
                .await?;
            let chunks = Chunks::new(response, patience, self.received.clone());
            let events = watch_events(chunks, expected);
            Ok(watch_of(self.selection.shards.clone(), events))
        }
        .boxed()
    }
}

/// Ignores the namespace of the source's own selection.
impl<O: CachedObject> NamespacedSource<O> for ClientSource {
    fn resource(&self) -> String {
        self.name()
    }

    fn type_meta(&self) -> Option<TypeMeta> {
        ListerWatcher::<O>::type_meta(self)
    }

    fn cache_identity(&self) -> Option<String> {
        Some(self.selects())
    }

    fn in_namespace(&self, namespace: &str) -> Arc<dyn ListerWatcher<O>> {
        let mut source = self.clone();
        source.selection.namespace = Some(namespace.to_owned());
        Arc::new(source)
    }
}

/// Ignores the shards of the source's own selection.
impl<O: CachedObject> ShardedSource<O> for ClientSource {
    fn resource(&self) -> String {
        self.name()
    }

    fn type_meta(&self) -> Option<TypeMeta> {
        ListerWatcher::<O>::type_meta(self)
    }

    fn cache_identity(&self) -> Option<String> {
        let mut source = self.clone();
        source.selection.shards = None;
        ListerWatcher::<O>::cache_identity(&source)
    }

    fn in_shards(&self, shards: ShardSelector) -> Arc<dyn ListerWatcher<O>> {
        let mut source = self.clone();
        source.selection.shards = Some(shards);
        Arc::new(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::{HashRange, ShardField};
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
            source::<Pod>(Selection::default()).uri("", None).unwrap(),
            "/api/v1/pods"
        );
        let selection = Selection {
            namespace: Some("shop".into()),
            label_selector: Some("app=web,tier!=x".into()),
            field_selector: Some("metadata.name=a".into()),
            shards: None,
        };
        assert_eq!(
            source::<Deployment>(selection.clone())
                .uri("limit=5", None)
                .unwrap(),
            "/apis/apps/v1/namespaces/shop/deployments?limit=5&labelSelector=app%3Dweb%2Ctier%21%3Dx\
             &fieldSelector=metadata.name%3Da"
        );
        let selection = Selection {
            label_selector: None,
            ..selection
        };
        let one = source::<Deployment>(selection).uri("", Some(&"shop/a=b".into()));
        assert_eq!(
            one.unwrap(),
            "/apis/apps/v1/namespaces/shop/deployments?fieldSelector=metadata.name%3Da%2Cmetadata.name%3Da%5C%3Db\
             %2Cmetadata.namespace%3Dshop"
        );
    }

    #[tokio::test]
    async fn many_ranges_fit_into_a_url() {
        let shards = HashRange::equal(u16::MAX).step_by(2);
        let selection = Selection {
            shards: Some(ShardSelector::new(ShardField::Namespace, shards)),
            ..Selection::default()
        };
        let uri = source::<Deployment>(selection)
            .uri("limit=500&continue=abc", None)
            .unwrap();
        assert_eq!(uri.matches("shardRange").count(), MOST_RANGES);
        assert!(uri.len() < 8000, "{}", uri.len());
    }

    #[tokio::test]
    async fn requests_have_empty_bodies_that_cannot_be_cloned() {
        use http_body::Body as _;
        let body = sent_once().await.unwrap();
        assert!(body.try_clone().is_none());
        assert!(body.is_end_stream() && body.size_hint().exact() == Some(0));
    }
}
