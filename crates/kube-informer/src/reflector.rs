//! The reflector: keeps a sink equal to a collection of the server.
//!
//! It lists the collection and hands the list to the sink as one replacement, then watches from the version of that
//! list and hands on each change. When a watch ends normally it opens the next one where the last one stopped; when
//! the server no longer knows that version, or the watch ended in a way that leaves doubt, it lists again. Whatever
//! fails is reported in the [`status`](Reflector::status) and tried again after a pause that grows.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kube_informer::reflector::{DecodeResult, Reflector, Sink};
//! use kube_informer::queue::{Delta, Listed};
//! use kube_informer::source::{ClientSource, Selection};
//! use kube_informer::{Fingerprint, KnownObjects, ObjectKey, ResourceVersion};
//! use tokio_util::sync::CancellationToken;
//!
//! /// A sink of one's own.
//! struct Print;
//!
//! impl KnownObjects for Print {
//!     fn get(&self, _: &str) -> Option<(ObjectKey, Fingerprint)> {
//!         None
//!     }
//! }
//!
//! impl Sink<Pod> for Print {
//!     async fn replace(&mut self, entries: Vec<Listed<DecodeResult<Pod>>>, version: Option<ResourceVersion>) {
//!         println!("{} pods at {version:?}", entries.len());
//!     }
//!
//!     async fn push(&mut self, key: ObjectKey, _: Delta<DecodeResult<Pod>>, _: Option<ResourceVersion>) {
//!         println!("{key} changed");
//!     }
//!
//!     fn bookmark(&mut self, _: ResourceVersion) {}
//! }
//!
//! # async fn example(client: kube::Client) {
//! let resource = kube::core::ApiResource::erase::<Pod>(&());
//! let source = ClientSource::new(client, resource, Selection::default());
//! let reflector = Reflector::new(source, Print);
//! reflector.run(CancellationToken::new()).await;
//! # }
//! ```
//!
//! # The initial state
//! Where the source has it, the collection comes as a *streaming list* (KEP-3157): a watch that starts with what exists
//! and says when that is complete, so the server need not put a list together. Nothing of it is handed on until it is
//! complete. Where it fails, a list is asked for instead; a server whose stream makes no progress is remembered for an
//! hour.
//!
//! # Recovery
//! | what happens | what follows |
//! |---|---|
//! | a streaming list is refused or throttled: 429, or 5xx with a time to wait | a pause, then another |
//! | it fails because its version is too old or too new | at once, another of the newest state |
//! | it breaks off before it is complete | at once, one more; then a list |
//! | it fails otherwise, or its answer does not begin, or it makes no progress, for the deadline | at once, a list |
//! | a list fails | a pause, then a list |
//! | the server does not know the resource | short pauses, until it does |
//! | a list at a version fails because that is too old or too new | at once, a list of the newest state |
//! | a page fails because the continue token is too old | one list in one piece |
//! | a server repeats a continue token, or sends a thousand pages in a row without an object | a pause, then a list |
//! | a watch cannot be opened: refused, or throttled | a pause, then the watch again, no list |
//! | a watch that comes after such a pause is told that its version is too old: the server has restarted | at once, a list |
//! | a watch cannot be opened: anything else, or its answer does not begin for a minute | a pause, then a list |
//! | a watch ends, or its connection breaks | the next watch, at once |
//! | a server that has sent bookmarks sends nothing for [the time that was said](ReflectorOptions::bookmark_deadline) | the next watch, at once: the connection is lost |
//! | it ends within a second without any event | a pause, then a list |
//! | it ends early again and again | the next watches start further and further apart |
//! | the server throttles in the stream | a pause, then the watch again |
//! | the server says anything else in the stream, or garbage comes | a pause, then a list |
//! | a version comes that is older than one seen before | a pause, then a list of the newest state |
//!
//! Whatever the answers, at most four requests (further pages aside) follow each other without a pause.
//!
//! The pauses grow during an incident and start over with the next one. Incidents are separate if between them things
//! worked for as long as the last pause took, and for five seconds at least; a server that works for shorter times is one
//! long incident. See [`Backoff`]. A server can ask for a longer pause (`Retry-After`), up to five minutes: if it asks for
//! more, the [error](LastError::message) says so.
//!
//! Only a stream that is open and makes no progress counts as a streaming list that does not work. A server that throttles,
//! or that cannot be reached, says nothing about it.
//!
//! A list that fails midway changes nothing: the sink hears of it when it is complete. When the new state's version is
//! older than the last one, the server was restored from a backup or replaced: that is reported, and the new state
//! counts.
//!
//! # Resources that come and go
//! A resource that the server does not know ([`Phase::NotServed`]) is asked for again and again, with pauses that stay
//! short, so that it is listed within seconds once its definition is installed. When the definition is deleted later, the
//! server reports the deletion of every object, ends the watch, and does not know the resource any more. This is not treated as a deletion: a version of a definition can stop being served while its objects stay. What was deleted
//! while nobody watched is found missing by the first list after the resource is back.
//!
//! # Memory
//! An object that is listed again unchanged is recognized by its [`Fingerprint`] before it is
//! decoded; the sink gets only its key.

mod ahead;
mod backoff;
mod collected;
mod options;
mod pager;
mod pages;
mod queue_sink;
mod status;
mod streaming;
mod watching;

pub use backoff::Backoff;
pub use options::{InitialState, ReflectorOptions};
pub use pager::{PagedList, Pager};
pub use queue_sink::QueueSink;
pub(crate) use status::ErrorFunction;
pub use status::{Failure, LastError, Phase, ReflectorStatus};

use crate::form::{Collection, Decode};
use crate::object::{CachedObject, Fingerprint, KnownObjects, ObjectKey, ResourceVersion, is_path_segment};
use crate::queue::{Delta, Listed};
use crate::source::{
    ApiError, ErrorClass, InvalidObject, Item, LONGEST_RETRY_AFTER, ListEnd, ListPart, ListRequest,
    ListVersion, ListerWatcher, Subject, WatchEvent,
};
use crate::time::later;
use crate::wire::{FieldPlan, RawObject};
use ahead::{Ahead, Decoded};
use backoff::BackoffState;
use pages::{Pages, Turn};
use status::Reporter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{future::Future, sync::Arc, time::Duration};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use watching::WatchPacer;

/// The most requests that follow each other without a pause.
const QUICK_REQUESTS: u32 = 4;
/// The most objects asked for in one page.
const PAGE_SIZE: u32 = 500;

/// An object as it arrived: in the form in which it is held, or set aside because it could not be read.
pub type DecodeResult<O> = Result<DecodedObject<O>, Box<InvalidObject>>;

/// An object in the form in which it is held.
pub struct DecodedObject<O: CachedObject> {
    /// The object.
    pub object: O::Handle,
    /// Identifies this state of it; `None` if the source gave no bytes.
    pub fingerprint: Option<Fingerprint>,
}

impl<O: CachedObject> Clone for DecodedObject<O> {
    fn clone(&self) -> Self {
        Self {
            object: self.object.clone(),
            fingerprint: self.fingerprint,
        }
    }
}

impl<O: CachedObject> std::fmt::Debug for DecodedObject<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DecodedObject({})", O::key_of(&self.object))
    }
}

/// Why a transform failed. The text is reported, so it must not hold parts of the object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TransformError(pub String);

/// What an object is stored under and told apart by.
struct Identity {
    key: ObjectKey,
    uid: Option<String>,
    version: Option<ResourceVersion>,
}

impl Identity {
    fn of<O: CachedObject>(object: &O::Handle) -> Self {
        Self {
            key: O::key_of(object),
            uid: O::uid_of(object).map(str::to_owned),
            version: O::resource_version_of(object),
        }
    }

    fn is_of<O: CachedObject>(&self, object: &O::Handle) -> bool {
        O::name_of(object) == self.key.name()
            && O::namespace_of(object).filter(|namespace| !namespace.is_empty()) == self.key.namespace()
            && O::uid_of(object) == self.uid.as_deref()
            && O::resource_version_of(object) == self.version
    }

    /// The object with this identity; `None` if it has another one and cannot be given this.
    fn given_to<O: CachedObject>(&self, mut object: O::Handle) -> Option<O::Handle> {
        let is_ours = self.is_of::<O>(&object)
            || O::set_identity(&mut object, &self.key, self.uid.as_deref(), self.version.as_ref())
                && self.is_of::<O>(&object);
        is_ours.then_some(object)
    }
}

/// The user's function that changes objects on their way in.
type Transform<O> =
    Box<dyn FnMut(<O as CachedObject>::Handle) -> Result<<O as CachedObject>::Handle, TransformError> + Send>;

/// What a reflector writes into.
///
/// [`KnownObjects`] answers which objects are held already, so that a new list can leave them alone. The methods may wait,
/// which makes the reflector stop reading.
///
/// # Cancel safety
/// The futures are dropped when the reflector is cancelled.
pub trait Sink<O: CachedObject>: KnownObjects + Send + 'static {
    /// The collection now consists of exactly these objects. Objects that could not be read are included as errors.
    fn replace(
        &mut self,
        entries: Vec<Listed<DecodeResult<O>>>,
        version: Option<ResourceVersion>,
    ) -> impl Future<Output = ()> + Send;

    /// One object changed; with it, everything up to `version` has been handed over. If more may follow at once, who
    /// consumes it need not be woken before [`flush`](Self::flush).
    fn push(
        &mut self,
        key: ObjectKey,
        delta: Delta<DecodeResult<O>>,
        version: Option<ResourceVersion>,
    ) -> impl Future<Output = ()> + Send;

    /// Nothing more changed up to `version`.
    fn bookmark(&mut self, version: ResourceVersion);

    /// Nothing more follows at once. Default: does nothing.
    fn flush(&mut self) {}
}

/// Keeps a [`Sink`] equal to what a [`ListerWatcher`] shows; see the [module](self).
#[must_use = "a reflector does nothing until it is run"]
pub struct Reflector<O: Decode, S: Sink<O>> {
    source: Arc<dyn ListerWatcher<O>>,
    decoder: Arc<O::Decoder>,
    plan: FieldPlan,
    transform: Option<Transform<O>>,
    sink: S,
    key_buffer: String,
    options: ReflectorOptions,
    backoff: BackoffState,
    pacer: WatchPacer,
    name: String,
    reporter: Reporter,
    /// The version up to which the collection has been seen.
    seen: Option<ResourceVersion>,
    /// Whether the server could not serve a list or watch at `seen`.
    unavailable: bool,
    /// Whether the server does not know the resource.
    absent: bool,
    /// How many requests have followed each other without a pause, and when the last one was sent.
    quick_requests: u32,
    last_request: tokio::time::Instant,
    /// Whether the server has shown that it pages lists of any state, so it has no cache to serve them from.
    paginated: bool,
    /// Whether there was a pause and no request since.
    rested: bool,
    /// Whether the last request was the first one after a pause.
    after_pause: bool,
    /// Whether the server has sent a bookmark in a watch, so that its watches are never silent for long.
    sends_bookmarks: bool,
    /// How many more of those who share it may list now.
    lists: Option<Arc<Semaphore>>,
}

/// The events of a watch.
type Events<O> = Ahead<O, WatchEvent<O>>;

/// When the collection is listed again.
enum Relist {
    AtOnce,
    /// After a pause, of at least what the server asked for.
    AfterPause(Option<Duration>),
}

/// Why watching stopped.
enum Ended {
    /// The collection must be listed again.
    Relist(Relist),
    /// The watch can be opened again at once.
    Again,
    /// The watch can be opened again after a pause.
    AfterPause(Option<Duration>),
}

/// Whether an object is held as it is.
fn is_held<K: KnownObjects>(known: &K) -> impl FnMut(&RawObject) -> bool {
    let mut key = String::new();
    move |raw| {
        raw.write_key(&mut key);
        known.get(&key).is_some_and(|(_, held)| held == raw.fingerprint())
    }
}

impl<O: Decode, S: Sink<O>> Reflector<O, S> {
    /// A reflector with default options.
    pub fn new(source: impl ListerWatcher<O>, sink: S) -> Self {
        Self::with_options(Arc::new(source), sink, ReflectorOptions::default())
    }

    /// A reflector with options.
    pub fn with_options(source: Arc<dyn ListerWatcher<O>>, sink: S, options: ReflectorOptions) -> Self {
        let plan = options.plan.clone().unwrap_or_else(O::plan);
        let collection = Collection {
            types: source.types(),
            plan: plan.clone(),
        };
        Self {
            backoff: BackoffState::new(options.backoff.clone()),
            pacer: WatchPacer::default(),
            name: String::new(),
            reporter: Reporter::new(Subject::of(&*source)),
            decoder: Arc::new(O::decoder(collection)),
            plan,
            transform: None,
            source,
            sink,
            key_buffer: String::new(),
            options,
            seen: None,
            unavailable: false,
            absent: false,
            quick_requests: 0,
            last_request: tokio::time::Instant::now(),
            paginated: false,
            rested: false,
            after_pause: false,
            sends_bookmarks: false,
            lists: None,
        }
    }

    /// A name for the metrics. Default: none.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Calls `hook` for each [failure](Failure), on the reflector's task: it must not block. The [`status`](Self::status) shows
    /// only the last one. A hook that panics is not called again.
    #[doc(alias = "SetWatchErrorHandler")]
    pub fn on_error(mut self, hook: impl FnMut(&Failure<'_>) + Send + 'static) -> Self {
        self.reporter.set_hook(Box::new(hook));
        self
    }

    /// Changes every object once, after it was decoded and before the sink gets it. Objects that a list shows unchanged are
    /// not transformed again. It runs on the reflector's task: it must not block.
    ///
    /// An object keeps its identity. If `transform` changes or removes its name, namespace, uid or resource version, they
    /// are put back; so removing them saves nothing. All other metadata may go. They cannot be put back into an
    /// [`Arc`] that somebody else holds, too, nor into a form that does not say how
    /// ([`CachedObject::set_identity`]).
    ///
    /// An object whose identity cannot be put back, or for which `transform` fails or panics, is set aside like one that
    /// cannot be read.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # use kube_informer::source::ListerWatcher;
    /// # use kube_informer::{SharedInformer, informer::InformerBuilder};
    /// # use std::sync::Arc;
    /// # fn example(source: impl ListerWatcher<Pod>) -> InformerBuilder<Pod> {
    /// SharedInformer::<Pod>::builder(source).transform(|mut pod| {
    ///     Arc::make_mut(&mut pod).metadata.managed_fields = None;
    ///     Ok(pod)
    /// })
    /// # }
    /// ```
    pub fn transform(
        mut self,
        transform: impl FnMut(O::Handle) -> Result<O::Handle, TransformError> + Send + 'static,
    ) -> Self {
        self.transform = Some(Box::new(transform));
        self
    }

    /// Makes the objects with what others share.
    pub(crate) fn with_decoder(mut self, decoder: Arc<O::Decoder>) -> Self {
        self.decoder = decoder;
        self
    }

    /// Lists only with a permit of `lists`.
    pub(crate) fn limited_by(mut self, lists: Arc<Semaphore>) -> Self {
        self.lists = Some(lists);
        self
    }

    /// The namespace whose objects these are, for logs and errors.
    pub(crate) fn named_after(mut self, namespace: &str) -> Self {
        self.reporter.set_namespace(namespace);
        self
    }

    /// Reports to this channel.
    pub(crate) fn reporting_to(mut self, status: watch::Sender<ReflectorStatus>) -> Self {
        self.reporter.set_status(status);
        self
    }

    /// The reflector's state, to be read and awaited from elsewhere.
    pub fn status(&self) -> watch::Receiver<ReflectorStatus> {
        self.reporter.subscribe()
    }

    /// Runs until `token` is cancelled. No request, pause or wait for the sink delays that.
    pub async fn run(mut self, token: CancellationToken) {
        self.reporter.start_metrics(&self.name);
        token.run_until_cancelled(self.reflect()).await;
        self.show_seen();
        self.reporter.phase(Phase::Stopped);
    }

    async fn reflect(&mut self) {
        loop {
            let relist = match self.populate().await {
                Ok(stream) => self.watch(stream).await,
                Err(error) => Relist::AfterPause(error.retry_after()),
            };
            if let Relist::AfterPause(asked) = relist {
                self.pause(asked).await;
            }
        }
    }

    /// Makes the sink equal to the collection. A stream that comes with it goes on as a watch.
    async fn populate(&mut self) -> Result<Option<Events<O>>, ApiError> {
        let streaming = match self.options.initial {
            // One request is enough to ask whether the server knows the resource by now.
            InitialState::Auto => !self.absent && self.source.supports_watch_list(),
            InitialState::List => false,
            InitialState::WatchList => true,
        };
        if streaming {
            let span = self.reporter.subject().list_span(true);
            let streamed = self.stream_list().instrument(span.clone()).await;
            match streamed {
                Ok(stream) => {
                    Subject::record_version(&span, self.seen.as_ref());
                    return Ok(Some(stream));
                }
                Err(error) if self.options.initial == InitialState::WatchList => {
                    self.failed("watch-list", &error);
                    return Err(error);
                }
                // The time that it took would otherwise be a riddle.
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
        }
        let span = self.reporter.subject().list_span(false);
        let listed = self.list().instrument(span.clone()).await;
        match &listed {
            Ok(()) => Subject::record_version(&span, self.seen.as_ref()),
            Err(error) => span.in_scope(|| self.failed("list", error)),
        }
        listed.map(|()| None)
    }

    /// Comes before every request but those for further pages: whatever the server answers, only so many follow each
    /// other at once.
    async fn before_request(&mut self) {
        if self.last_request.elapsed() >= watching::VERY_SHORT {
            self.quick_requests = 0;
        }
        if self.quick_requests >= QUICK_REQUESTS {
            self.pause(None).await;
        }
        self.quick_requests += 1;
        self.after_pause = std::mem::take(&mut self.rested);
        self.last_request = tokio::time::Instant::now();
    }

    /// Waits until no more of the reflectors that share the limit list at the same time than may. The turn lasts until
    /// it is dropped.
    async fn turn_to_list(&mut self) -> Option<OwnedSemaphorePermit> {
        // It is never closed, so there is no error.
        self.lists.clone()?.acquire_owned().await.ok()
    }

    /// A request failed.
    fn failed(&mut self, operation: &'static str, error: &ApiError) {
        let absent = error.class() == ErrorClass::NotFound;
        if self.absent && !absent {
            // The resource is about to appear, or the outage is another one.
            self.backoff.start_over();
        }
        self.reporter.failed(operation, error, absent && self.absent);
        self.absent = absent;
    }

    /// Waits a backoff step, or as long as the server asked for if that is longer, within reason.
    async fn pause(&mut self, asked: Option<Duration>) {
        self.quick_requests = 0;
        let cap = self.absent.then_some(self.options.not_served_cap);
        let asked = asked.unwrap_or_default().min(LONGEST_RETRY_AFTER);
        let until = later(tokio::time::Instant::now(), self.backoff.next(cap).max(asked));
        self.reporter.phase(match self.absent {
            true => Phase::NotServed { until },
            false => Phase::BackingOff { until },
        });
        tokio::time::sleep_until(until).await;
        self.rested = true;
    }

    /// Lists the collection and replaces the sink's content.
    async fn list(&mut self) -> Result<(), ApiError> {
        self.before_request().await;
        let _turn = self.turn_to_list().await;
        let started = tokio::time::Instant::now();
        self.reporter.listing();
        let (entries, end) = match self.list_at(self.list_version()).await {
            Err(ApiError::Status(status))
                if !self.unavailable && (status.is_expired() || status.is_too_large_resource_version()) =>
            {
                self.unavailable = true;
                tracing::debug!(resource = self.reporter.resource(), %status, "listing the newest state instead");
                self.before_request().await;
                self.list_at(ListVersion::MostRecent).await?
            }
            result => result?,
        };
        self.complete(entries, end.resource_version, started).await;
        Ok(())
    }

    /// Hands a complete list to the sink.
    async fn complete(
        &mut self,
        entries: Vec<Listed<DecodeResult<O>>>,
        version: Option<ResourceVersion>,
        started: tokio::time::Instant,
    ) {
        let (objects, took) = (entries.len(), started.elapsed());
        let version = version.filter(ResourceVersion::is_version);
        if let (Some(seen), Some(version)) = (&self.seen, &version)
            && version < seen
        {
            self.reporter.went_back(seen, version);
        }
        self.unavailable = false;
        self.absent = false;
        self.after_pause = false;
        self.seen = version.clone();
        self.sink.replace(entries, version).await;
        self.reporter.listed(self.seen.clone(), objects, took);
        self.backoff.healthy();
    }

    fn list_version(&self) -> ListVersion {
        match &self.seen {
            _ if self.unavailable => ListVersion::MostRecent,
            None => ListVersion::Any,
            Some(seen) => ListVersion::NotOlderThan(seen.clone()),
        }
    }

    /// Lists the collection in pages where that is a good idea: a list at a version is served from the server's
    /// cache, and only in one piece.
    async fn list_at(
        &mut self,
        version: ListVersion,
    ) -> Result<(Vec<Listed<DecodeResult<O>>>, ListEnd), ApiError> {
        let paged = self.paginated || matches!(version, ListVersion::MostRecent | ListVersion::Any);
        let mut pages = Pages::new(ListRequest {
            version,
            limit: paged.then_some(PAGE_SIZE),
            continue_token: None,
            plan: self.plan.clone(),
        });
        let mut entries = Vec::new();
        loop {
            let page = self.page(pages.request(), &mut entries).await;
            match pages.turn(page, entries.len())? {
                Turn::Next => self.paginated |= pages.request().version == ListVersion::Any,
                Turn::Restart => {
                    tracing::debug!(
                        resource = self.reporter.resource(),
                        "a page expired; listing in one piece"
                    );
                    entries.clear();
                    self.before_request().await;
                }
                Turn::Complete(end) => return Ok((entries, end)),
            }
        }
    }

    /// Reads one page and appends its objects.
    async fn page(
        &mut self,
        request: &ListRequest,
        entries: &mut Vec<Listed<DecodeResult<O>>>,
    ) -> Result<ListEnd, ApiError> {
        let mut parts = Ahead::new(self.source.list(request.clone()).await?);
        while let Some((part, made)) = parts.next(&self.decoder, is_held(&self.sink)).await {
            tokio::task::consume_budget().await;
            match part? {
                ListPart::Item(item) => {
                    entries.extend(self.listed(item, made));
                    self.reporter.received(entries.len());
                }
                ListPart::End(end) => {
                    self.reporter.remaining(end.remaining_item_count);
                    return Ok(end);
                }
            }
        }
        Err(ApiError::while_reading("the list has no end"))
    }

    /// One object of a list; not decoded if it is held as it is.
    fn listed(&mut self, item: Item<O>, made: Option<Decoded<O>>) -> Option<Listed<DecodeResult<O>>> {
        if let Item::Raw(raw) = &item {
            raw.write_key(&mut self.key_buffer);
            if let Some((key, fingerprint)) = self.sink.get(&self.key_buffer)
                && fingerprint == raw.fingerprint()
            {
                return Some(Listed::Unchanged(key));
            }
        }
        self.arrived(item, made)
            .map(|(key, arrived, _)| Listed::Changed(key, arrived))
    }

    /// Makes an object, unless that was done ahead. One that is bad is reported; if it has no key either, there is nothing to hand on.
    fn arrived(
        &mut self,
        item: Item<O>,
        made: Option<Decoded<O>>,
    ) -> Option<(ObjectKey, DecodeResult<O>, Option<ResourceVersion>)> {
        let version = item.version().filter(ResourceVersion::is_version);
        let (key, decoded) = decoded(&self.decoder, item, made);
        let (key, decoded) = match key {
            Some(key) if self.reporter.is_foreign(&key) => (
                None,
                Err(format!("{key} is of another namespace than was asked for")),
            ),
            key => (key, decoded),
        };
        let arrived = decoded.and_then(|held| self.transformed(held)).map_err(|reason| {
            let bad = InvalidObject {
                key: key.clone(),
                reason,
            };
            self.reporter.bad(&bad);
            Box::new(bad)
        });
        key.map(|key| (key, arrived, version))
    }

    fn transformed(&mut self, held: DecodedObject<O>) -> Result<DecodedObject<O>, String> {
        let Some(transform) = &mut self.transform else {
            return Ok(held);
        };
        let DecodedObject { object, fingerprint } = held;
        let identity = Identity::of::<O>(&object);
        match catch_unwind(AssertUnwindSafe(|| transform(object))) {
            Ok(Ok(object)) => match identity.given_to::<O>(object) {
                Some(object) => Ok(DecodedObject { object, fingerprint }),
                None => Err("the transform changed its name, namespace, uid or resource version".to_owned()),
            },
            Ok(Err(error)) => Err(format!("the transform failed: {error}")),
            Err(_) => Err("the transform panicked".to_owned()),
        }
    }
}

/// The key of an object and the object in the form in which it is held, unless that was made ahead; or why there is none.
fn decoded<O: Decode>(
    decoder: &Arc<O::Decoder>,
    item: Item<O>,
    made: Option<Decoded<O>>,
) -> (Option<ObjectKey>, Result<DecodedObject<O>, String>) {
    match item {
        Item::Raw(raw) => {
            let key = raw.key();
            let made = made.unwrap_or_else(|| ahead::decode::<O>(decoder, &key, &raw));
            let held = made.map(|object| DecodedObject {
                object,
                fingerprint: Some(raw.fingerprint()),
            });
            (Some(key), held)
        }
        Item::Object(object) if O::name_of(&object).is_empty() => {
            (None, Err("the object has no name".to_owned()))
        }
        Item::Object(object) if !has_valid_names::<O>(&object) => (
            None,
            Err("the object's name or namespace is not one segment of a path".to_owned()),
        ),
        Item::Object(object) => (
            Some(O::key_of(&object)),
            Ok(DecodedObject {
                object,
                fingerprint: None,
            }),
        ),
        Item::Invalid(bad) => (bad.key, Err(bad.reason)),
    }
}

/// Whether no other object has the same key.
fn has_valid_names<O: CachedObject>(object: &O::Handle) -> bool {
    is_path_segment(O::name_of(object)) && O::namespace_of(object).is_none_or(is_path_segment)
}
