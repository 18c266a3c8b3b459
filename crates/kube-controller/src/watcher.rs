//! [`watcher`]: the changes of a collection as a stream. [`Config`]: what a [`Controller`](crate::Controller) selects from the
//! server. [`Error`]: why a watch fails. The names are those of kube's `runtime::watcher`.
//!
//! ```no_run
//! use futures::TryStreamExt;
//! use k8s_openapi::api::core::v1::Node;
//! use kube::{Api, Client, ResourceExt};
//! use kube_controller::{WatchStreamExt, watcher};
//!
//! # async fn example(client: Client) -> Result<(), watcher::Error> {
//! let nodes = watcher(Api::<Node>::all(client), watcher::Config::default()).applied_objects();
//! nodes.try_for_each(async |node| Ok(println!("{}", node.name_any()))).await
//! # }
//! ```
//!
//! A stream keeps no objects. So it has neither the previous state of an object, nor the deletions that
//! happened while the watch was interrupted. A [`Controller`](crate::Controller) and a
//! [`SharedInformer`](kube_informer::SharedInformer) have both.

use crate::utils::{Backoff, ResetTimerBackoff};
use futures::stream::{self, Stream, StreamExt};
use kube::core::{ApiResource, PartialObjectMeta, Selector, Status};
use kube::{Api, Resource, ResourceExt};
use kube_informer::form::Unshared;
use kube_informer::low_level::queue::Delta;
use kube_informer::low_level::{DecodeResult, KnownObjects, Sink};
use kube_informer::reflector::{Failure, InitialState, Reflector, ReflectorOptions};
use kube_informer::selector::FieldSelector;
use kube_informer::source::{ApiError, ClientSource, Selection};
use kube_informer::{Fingerprint, ObjectKey, ResourceVersion};
use serde::de::DeserializeOwned;
use std::any::Any;
use std::fmt;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// An item of a [`watcher`]: usually an [event](Event).
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Which objects are listed and watched, and how.
///
/// ```
/// use kube_controller::watcher::Config;
/// let config = Config::default().labels("app=web").timeout(60);
/// assert_eq!(config.label_selector.as_deref(), Some("app=web"));
/// ```
///
/// The options for lists are those of kube, so that programs written for kube compile. Most of them have no
/// effect here. An informer reads its first list from the server's cache, in pages or as a streaming list,
/// whichever costs the server less. It uses bookmarks, and requests a newer state where it needs one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Selects objects by their labels. Default: all.
    pub label_selector: Option<String>,
    /// Selects objects by their fields. Default: all.
    pub field_selector: Option<String>,
    /// The shortest time of a watch, in seconds: the actual one is random between this and twice this.
    /// Default: 5 minutes.
    pub timeout: Option<u32>,
    /// Has no effect.
    pub list_semantic: ListSemantic,
    /// How existing objects are requested. Default: the informer decides by what the server supports.
    pub initial_list_strategy: InitialListStrategy,
    /// The number of objects in a page, where lists are read in pages. Default: 500.
    pub page_size: Option<u32>,
    /// Has no effect: bookmarks are used if the server sends them.
    pub bookmarks: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            label_selector: None,
            field_selector: None,
            timeout: None,
            list_semantic: ListSemantic::default(),
            initial_list_strategy: InitialListStrategy::default(),
            page_size: Some(500),
            bookmarks: true,
        }
    }
}

/// How new a first list has to be; see [`Config`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListSemantic {
    /// As new as the newest write.
    #[default]
    MostRecent,
    /// Any state that the server has.
    Any,
}

/// How the existing objects are asked for; see [`Config`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InitialListStrategy {
    /// Chosen by what the server can do.
    #[default]
    ListWatch,
    /// Always as a streaming list.
    StreamingList,
}

impl Config {
    /// Selects objects by their labels, in the API's syntax.
    #[must_use]
    pub fn labels(mut self, selector: &str) -> Self {
        self.label_selector = Some(selector.to_owned());
        self
    }

    /// Selects objects by their labels.
    #[must_use]
    pub fn labels_from(mut self, selector: &Selector) -> Self {
        self.label_selector = Some(selector.to_string());
        self
    }

    /// Selects objects by their fields, in the API's syntax. A server knows few fields of each kind.
    #[must_use]
    pub fn fields(mut self, selector: &str) -> Self {
        self.field_selector = Some(selector.to_owned());
        self
    }

    /// Sets the shortest time of a watch in seconds; see [`timeout`](Self::timeout).
    #[must_use]
    pub fn timeout(mut self, seconds: u32) -> Self {
        self.timeout = Some(seconds);
        self
    }

    /// Always asks for a streaming list, also where lists in pages were chosen otherwise. Default: chosen by
    /// what the server can do.
    #[must_use]
    pub fn streaming_lists(mut self) -> Self {
        self.initial_list_strategy = InitialListStrategy::StreamingList;
        self
    }

    /// Has no effect; see [`Config`].
    #[must_use]
    pub fn list_semantic(mut self, semantic: ListSemantic) -> Self {
        self.list_semantic = semantic;
        self
    }

    /// Has no effect: a first list is read from the server's cache in any case.
    #[must_use]
    pub fn any_semantic(self) -> Self {
        self.list_semantic(ListSemantic::Any)
    }

    /// The number of objects in a page; see [`Config`].
    #[must_use]
    pub fn page_size(mut self, objects: u32) -> Self {
        self.page_size = Some(objects);
        self
    }

    /// Has no effect; see [`Config`].
    #[must_use]
    pub fn disable_bookmarks(mut self) -> Self {
        self.bookmarks = false;
        self
    }

    pub(crate) fn selection(&self, namespace: Option<&str>) -> Selection {
        Selection {
            namespace: namespace.map(str::to_owned),
            label_selector: self.label_selector.clone(),
            field_selector: self.field_selector.clone(),
            shards: None,
        }
    }

    pub(crate) fn reflector(&self) -> ReflectorOptions {
        let defaults = ReflectorOptions::default();
        ReflectorOptions {
            watch_timeout: self.timeout.map_or(defaults.watch_timeout, |seconds| {
                Duration::from_secs(seconds.into())
            }),
            initial: match self.initial_list_strategy {
                InitialListStrategy::StreamingList => InitialState::WatchList,
                InitialListStrategy::ListWatch => defaults.initial,
            },
            page_size: self.page_size.or(defaults.page_size),
            ..defaults
        }
    }
}

/// Why a watch failed. It is retried. A [`Controller`](crate::Controller) has [further
/// reasons](crate::controller::RunnerError).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The existing objects could not be listed.
    #[error("failed to perform initial object list: {0}")]
    InitialListFailed(#[source] kube::Error),
    /// The server has not begun to answer the request for a watch, or has refused it.
    #[error("failed to start watching object: {0}")]
    WatchStartFailed(#[source] kube::Error),
    /// The server ended a watch with an error. An error that only asks for a new list is not reported.
    #[error("error returned by apiserver during watch: {0}")]
    WatchError(#[source] Box<Status>),
    /// A watch broke off and cannot be resumed.
    #[error("watch stream failed: {0}")]
    WatchFailed(#[source] kube::Error),
    /// An answer has no resource version. A [`watcher`] never reports this. It is there for programs written
    /// for kube, which match all variants, or make this one in tests.
    #[error("no metadata.resourceVersion in watch result (does resource support watch?)")]
    NoResourceVersion,
}

/// A change of the objects of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<K> {
    /// An object was created or changed.
    Apply(K),
    /// An object was deleted; this is its last state.
    Delete(K),
    /// A list follows. Objects that are not in it no longer exist.
    Init,
    /// An object of the list.
    InitApply(K),
    /// The end of the list.
    InitDone,
}

impl<K> Event<K> {
    /// Changes the object, if there is one.
    #[must_use]
    pub fn modify(mut self, mut change: impl FnMut(&mut K)) -> Self {
        match &mut self {
            Self::Apply(object) | Self::Delete(object) | Self::InitApply(object) => change(object),
            Self::Init | Self::InitDone => {}
        }
        self
    }
}

/// What has happened, and to which object: `Apply(web-0)`.
impl<K: Resource> fmt::Display for Event<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Apply(object) => write!(f, "Apply({})", object.name_any()),
            Self::Delete(object) => write!(f, "Delete({})", object.name_any()),
            Self::Init => f.write_str("Init"),
            Self::InitApply(object) => write!(f, "InitApply({})", object.name_any()),
            Self::InitDone => f.write_str("InitDone"),
        }
    }
}

/// The pauses that kube's programs take after failures: from 0.8 to 30 s, with up to as much again at random,
/// and from the first again after two minutes without a failure. A [`watcher`] does not need them.
#[derive(Debug, Clone)]
pub struct DefaultBackoff(ResetTimerBackoff<Doubling>);

impl Default for DefaultBackoff {
    fn default() -> Self {
        let pauses = Doubling { next: FIRST_PAUSE };
        Self(ResetTimerBackoff::new(pauses, Duration::from_secs(120)))
    }
}

impl Iterator for DefaultBackoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.0.next()
    }
}

impl Backoff for DefaultBackoff {
    fn reset(&mut self) {
        self.0.reset();
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(800);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Pauses that double.
#[derive(Debug, Clone)]
struct Doubling {
    next: Duration,
}

impl Iterator for Doubling {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let pause = self.next;
        self.next = (pause * 2).min(LONGEST_PAUSE);
        Some(pause.mul_f64(1.0 + fastrand::f64()))
    }
}

impl Backoff for Doubling {
    fn reset(&mut self) {
        self.next = FIRST_PAUSE;
    }
}

/// How many events are read ahead.
const AHEAD: usize = 64;

/// The changes of a collection as a stream, without a cache; see the [module](self).
///
/// Failures are reported and retried with a backoff, so the stream goes on after an error, and needs no
/// backoff of its own. Objects that do not match their type are logged and left out. Nothing is requested
/// unless the stream is polled; while it is not, reading from the network stops.
#[doc(alias = "informer")]
pub fn watcher<K>(api: Api<K>, config: Config) -> impl Stream<Item = Result<Event<K>>> + Send
where
    K: Resource + Clone + DeserializeOwned + Send + 'static,
{
    let resource = resource_of(&api);
    events(api, resource, K::metadata_api(), &config)
}

/// [`watcher`], for a kind that is known at run time. An `Api` does not say of which kind it is, and neither
/// do the objects of a list of a built-in kind: with this function they have it.
///
/// ```no_run
/// # use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
/// # use kube_controller::watcher::{self, watcher_with};
/// # fn example(client: kube::Client) {
/// let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
/// let widgets = kube::Api::<DynamicObject>::all_with(client, &resource);
/// let events = watcher_with(widgets, &resource, watcher::Config::default());
/// # }
/// ```
pub fn watcher_with<K>(
    api: Api<K>,
    dyntype: &K::DynamicType,
    config: Config,
) -> impl Stream<Item = Result<Event<K>>> + Send + use<K>
where
    K: Resource + Clone + DeserializeOwned + Send + 'static,
{
    events(api, ApiResource::erase::<K>(dyntype), K::metadata_api(), &config)
}

/// [`watcher`] of the metadata of a collection. The same as a `watcher` of `Api<PartialObjectMeta<K>>`.
///
/// It yields what kube's does, so it has managedFields, unlike an informer of metadata. [Drop](crate::WatchStreamExt::modify) them before objects
/// are stored, or take a [metadata informer](kube_informer::SharedInformerFactory::metadata_informer), which leaves them out.
pub fn metadata_watcher<K>(
    api: Api<K>,
    config: Config,
) -> impl Stream<Item = Result<Event<PartialObjectMeta<K>>>> + Send
where
    K: Resource + Clone + DeserializeOwned + Send + 'static,
{
    let resource = resource_of(&api);
    events(api, resource, true, &config)
}

/// The states of one object: each change of it, and `None` when it does not exist.
///
/// ```no_run
/// use futures::TryStreamExt;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_controller::watcher::{self, watch_object};
///
/// # async fn example(maps: kube::Api<ConfigMap>) -> Result<(), watcher::Error> {
/// let settings = watch_object(maps, "settings");
/// settings.try_for_each(async |map| Ok(println!("{:?}", map.and_then(|map| map.data)))).await
/// # }
/// ```
///
/// An API of all namespaces has every object of that name.
pub fn watch_object<K>(api: Api<K>, name: &str) -> impl Stream<Item = Result<Option<K>>> + Send + use<K>
where
    K: Resource + Clone + DeserializeOwned + Send + 'static,
{
    let by_name = FieldSelector::one_term_equal("metadata.name", name);
    let config = Config::default().fields(&by_name.to_string());
    let mut listed = false;
    watcher(api, config).filter_map(move |event| {
        ready(match event {
            Ok(Event::Init) => {
                listed = false;
                None
            }
            Ok(Event::InitApply(object)) => {
                listed = true;
                Some(Ok(Some(object)))
            }
            Ok(Event::InitDone) => (!listed).then_some(Ok(None)),
            Ok(Event::Apply(object)) => Some(Ok(Some(object))),
            Ok(Event::Delete(_)) => Some(Ok(None)),
            Err(error) => Some(Err(error)),
        })
    })
}

/// What an [`Api`] asks for. It does not say of which kind that is; if the type does not either, the kind is
/// left open.
fn resource_of<K: Resource>(api: &Api<K>) -> ApiResource {
    let static_type: Box<dyn Any> = Box::new(());
    if let Ok(dyntype) = static_type.downcast::<K::DynamicType>() {
        return ApiResource::erase::<K>(&dyntype);
    }
    // `/api/v1/namespaces/shop/pods`, `/apis/apps/v1/deployments`
    let path = api.resource_url().trim_matches('/');
    let (group, version) = match *path.split('/').collect::<Vec<_>>() {
        ["apis", group, version, ..] => (group, version),
        [_, version, ..] => ("", version),
        _ => ("", ""),
    };
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version: match group {
            "" => version.to_owned(),
            _ => format!("{group}/{version}"),
        },
        kind: String::new(),
        plural: path.rsplit('/').next().unwrap_or_default().to_owned(),
    }
}

fn events<A, K>(
    api: Api<A>,
    resource: ApiResource,
    metadata_only: bool,
    config: &Config,
) -> impl Stream<Item = Result<Event<K>>> + Send + use<A, K>
where
    A: Resource,
    K: Resource + Clone + DeserializeOwned + Send + 'static,
{
    let selection = config.selection(api.namespace());
    let mut source = ClientSource::new(api.into_client(), resource, selection);
    if metadata_only {
        source = source.metadata_only();
    }
    let (sender, receiver) = mpsc::channel(AHEAD);
    let failures = sender.clone();
    let reflector =
        Reflector::<Unshared<K>, _>::with_options(Arc::new(source), Events(sender), config.reflector())
            .on_error(move |failure| {
                // If it is full, what waits says enough.
                let _ = failures.try_send(Err(error_of(failure)));
            });
    let running = Box::pin(reflector.run(CancellationToken::new()));
    stream::unfold((running, receiver), |(mut running, mut receiver)| async {
        let event = tokio::select! {
            biased;
            event = receiver.recv() => event,
            () = &mut running => None,
        };
        event.map(|event| (event, (running, receiver)))
    })
}

/// A failure in kube's words.
fn error_of(failure: &Failure<'_>) -> Error {
    let status = failure.error().and_then(ApiError::status);
    let kube = match status {
        Some(status) => {
            let failed = Status::failure(&status.message, &status.reason.to_string());
            kube::Error::Api(failed.with_code(status.code).boxed())
        }
        None => kube::Error::Service(failure.message.clone().into()),
    };
    let is_event = status.is_some_and(|status| status.is_event);
    match (failure.operation, failure.error(), kube) {
        ("list", _, error) => Error::InitialListFailed(error),
        (_, _, kube::Error::Api(status)) if is_event => Error::WatchError(status),
        (_, Some(ApiError::Interrupted(_)), error) => Error::WatchFailed(error),
        (_, _, error) => Error::WatchStartFailed(error),
    }
}

/// Passes what a reflector finds to a stream.
struct Events<K>(mpsc::Sender<Result<Event<K>, Error>>);

impl<K> Events<K> {
    /// Waits for room; nothing happens if the stream was dropped, since the reflector ends with it.
    async fn send(&self, event: Event<K>) {
        let _ = self.0.send(Ok(event)).await;
    }
}

impl<K> KnownObjects for Events<K> {
    fn get(&self, _: &str) -> Option<(ObjectKey, Fingerprint)> {
        None
    }
}

/// The object itself, unless it could not be read; the reflector has logged that.
fn object<K: Resource + Clone + Send + 'static>(result: DecodeResult<Unshared<K>>) -> Option<K> {
    result.into_object().map(Unshared::into_object)
}

type Entries<K> = Vec<(ObjectKey, DecodeResult<Unshared<K>>)>;

impl<K> Sink<Unshared<K>> for Events<K>
where
    K: Resource + Clone + DeserializeOwned + Send + 'static,
{
    async fn replace(&mut self, entries: Entries<K>, _: Option<ResourceVersion>) {
        self.send(Event::Init).await;
        for object in entries.into_iter().filter_map(|(_, result)| object(result)) {
            self.send(Event::InitApply(object)).await;
        }
        self.send(Event::InitDone).await;
    }

    async fn push(
        &mut self,
        _: ObjectKey,
        delta: Delta<DecodeResult<Unshared<K>>>,
        _: Option<ResourceVersion>,
    ) {
        let event = match delta {
            Delta::Added(result) | Delta::Updated(result) | Delta::Replaced(result) => {
                object(result).map(Event::Apply)
            }
            Delta::Deleted(last_known) => last_known.and_then(object).map(Event::Delete),
        };
        if let Some(event) = event {
            self.send(event).await;
        }
    }

    fn bookmark(&mut self, _: ResourceVersion) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_as_large_as_asked_for() {
        assert_eq!(Config::default().reflector().page_size, Some(500));
        assert_eq!(Config::default().page_size(7).reflector().page_size, Some(7));
    }
}
