//! What a [`Controller`](crate::Controller) selects from the server, and what can go wrong with its watches; and [`watcher`],
//! the changes of a collection as a stream. The words are those of kube's `runtime::watcher`.
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
//! A stream holds no objects, so it cannot say what an object was before, nor that one was deleted while the watch was
//! interrupted. A [`Controller`](crate::Controller) and a [`SharedInformer`](kube_informer::SharedInformer) can.

use futures::stream::{self, Stream};
use kube::core::{ApiResource, Selector};
use kube::{Api, Resource};
use kube_informer::form::Decode;
use kube_informer::informer::Unsynced;
use kube_informer::low_level::queue::Delta;
use kube_informer::low_level::{DecodeResult, KnownObjects, Sink};
use kube_informer::reflector::{InitialState, LastError, Reflector, ReflectorOptions};
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{Fingerprint, ObjectKey, ResourceVersion};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Which objects are listed and watched, and how.
///
/// ```
/// use kube_controller::watcher::Config;
/// let config = Config::default().labels("app=web").timeout(60);
/// assert_eq!(config.label_selector.as_deref(), Some("app=web"));
/// ```
///
/// kube's options of how to list have no counterpart. An informer reads its first list from the server's cache, in pages or
/// as a streaming list, whichever costs the server less, uses bookmarks, and asks for a newer state where it needs one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Selects objects by their labels. Default: all.
    pub label_selector: Option<String>,
    /// Selects objects by their fields. Default: all.
    pub field_selector: Option<String>,
    /// The shortest time of a watch, in seconds: the actual one is random between this and twice this. Default: 5 minutes.
    pub timeout: Option<u32>,
    streaming_lists: bool,
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

    /// Always asks for a streaming list, also where lists in pages were chosen otherwise. Default: chosen by what the server
    /// can do.
    #[must_use]
    pub fn streaming_lists(mut self) -> Self {
        self.streaming_lists = true;
        self
    }

    /// Does nothing: a first list is read from the server's cache in any case. For programs written for kube.
    #[must_use]
    pub fn any_semantic(self) -> Self {
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
            initial: match self.streaming_lists {
                true => InitialState::WatchList,
                false => defaults.initial,
            },
            ..defaults
        }
    }
}

/// What went wrong with one of a controller's watches. Other watches are not affected, and it is retried, except after
/// [`Stopped`](Self::Stopped).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server refuses the requests, and waiting does not mend it: permissions or credentials are missing, or the kind
    /// is not installed. The controller goes on without this kind, and with it when it is served.
    #[error("cannot watch {resource}: {}", reasons(.unsynced))]
    Refused {
        /// The resource: `pods`, `deployments.apps`.
        resource: String,
        /// What failed, for each namespace that is listed separately.
        unsynced: Vec<Unsynced>,
    },
    /// The kind has not been listed in time. The controller goes on without it, and with it when it has been listed. Its own
    /// kind is waited for.
    #[error("{resource} have not synced within {} s: {}", .timeout.as_secs_f64(), reasons(.unsynced))]
    NotSynced {
        /// The resource: `pods`, `deployments.apps`.
        resource: String,
        /// The [time](crate::controller::Config::sync_timeout) it had.
        timeout: Duration,
        /// What stands in the way, for each namespace that is listed separately.
        unsynced: Vec<Unsynced>,
    },
    /// A request failed after the kind had synced.
    #[error("{} of {} failed: {}", .0.operation, .0.resource, .0.message)]
    Failed(LastError),
    /// The informer has stopped, so there will be no more changes.
    #[error("the informer of {resource} has stopped")]
    Stopped {
        /// The resource: `pods`, `deployments.apps`.
        resource: String,
    },
}

/// The reasons, with their namespaces if the informer is over several.
fn reasons(unsynced: &[Unsynced]) -> String {
    let reasons = unsynced.iter().map(|unsynced| match &unsynced.namespace {
        Some(namespace) => format!("{namespace}: {}", unsynced.why),
        None => unsynced.why.clone(),
    });
    reasons.collect::<Vec<_>>().join("; ")
}

/// What has happened to the objects of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<K> {
    /// An object was created or changed.
    Apply(K),
    /// An object was deleted; this is its last state.
    Delete(K),
    /// A list follows: whatever it does not have is gone.
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

/// How many events are read ahead.
const AHEAD: usize = 64;

/// The changes of a collection as a stream, without a cache; see the [module](self).
///
/// Failures are reported and retried with a backoff, so the stream goes on after an error, and needs no backoff of its own.
/// Objects that do not match their type are logged and left out. Nothing is requested unless the stream is polled; while it is
/// not, reading from the network stops.
pub fn watcher<K>(api: Api<K>, config: Config) -> impl Stream<Item = Result<Event<K>, Error>> + Send
where
    K: Resource<DynamicType: Default> + Clone + DeserializeOwned + Send + Sync + 'static,
{
    watcher_with(api, &K::DynamicType::default(), config)
}

/// [`watcher`], for a kind that is known at run time.
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
) -> impl Stream<Item = Result<Event<K>, Error>> + Send + use<K>
where
    K: Resource + Clone + DeserializeOwned + Send + Sync + 'static,
{
    let selection = config.selection(api.namespace());
    let resource = ApiResource::erase::<K>(dyntype);
    let mut source = ClientSource::new(api.into_client(), resource, selection);
    if K::metadata_api() {
        source = source.metadata_only();
    }
    let (sender, receiver) = mpsc::channel(AHEAD);
    let failures = sender.clone();
    let reflector = Reflector::<K, _>::with_options(Arc::new(source), Events(sender), config.reflector())
        .on_error(move |failure| {
            // If it is full, what waits says enough.
            let _ = failures.try_send(Err(Error::Failed((**failure).clone())));
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
fn object<K: Resource + Clone + Send + Sync + 'static>(result: DecodeResult<K>) -> Option<K> {
    result.into_object().map(Arc::unwrap_or_clone)
}

impl<K> Sink<K> for Events<K>
where
    K: Resource + Clone + DeserializeOwned + Send + Sync + 'static,
    K: Decode,
{
    async fn replace(&mut self, entries: Vec<(ObjectKey, DecodeResult<K>)>, _: Option<ResourceVersion>) {
        self.send(Event::Init).await;
        for object in entries.into_iter().filter_map(|(_, result)| object(result)) {
            self.send(Event::InitApply(object)).await;
        }
        self.send(Event::InitDone).await;
    }

    async fn push(&mut self, _: ObjectKey, delta: Delta<DecodeResult<K>>, _: Option<ResourceVersion>) {
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
