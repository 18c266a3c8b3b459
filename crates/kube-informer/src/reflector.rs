//! The reflector: keeps a sink equal to a collection of the server.
//!
//! It lists the collection and hands the list to the sink as one replacement, then watches from the version of that
//! list and hands on each change. When a watch ends normally it opens the next one where the last one stopped; when
//! the server no longer knows that version, or the watch ended in a way that leaves doubt, it lists again. Whatever
//! fails is reported in the [`status`](Reflector::status) and tried again after a pause that grows.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kube_informer::low_level::{DecodeResult, KnownObjects, Sink};
//! use kube_informer::reflector::Reflector;
//! use kube_informer::low_level::queue::Delta;
//! use kube_informer::source::{ClientSource, Selection};
//! use kube_informer::{Fingerprint, ObjectKey, ResourceVersion};
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
//!     async fn replace(&mut self, entries: Vec<(ObjectKey, DecodeResult<Pod>)>, version: Option<ResourceVersion>) {
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
//! With a [warm start](crate::warm_start), the reflector passes on what an earlier run has saved. It asks the server whether
//! that is a state of its history; if so, it watches from there, else it compares the saved state with a list.
//!
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
//! | a watch sends nothing for 75 to 90 s, though the server sends bookmarks or could not be watched before | a list of one object, which says the server's version, while the watch stays open; again after 30 s, and then every minute, if that fails |
//! | a watch that comes after such a pause is told that its version is too old: the server has restarted | at once, a list |
//! | a watch cannot be opened: anything else, or its answer does not begin for a minute | a pause, then a list |
//! | a watch ends, or its connection breaks | the next watch, at once |
//! | a server that has sent bookmarks sends nothing for [the time that was said](ReflectorOptions::bookmark_timeout) | the next watch, at once: the connection is lost |
//! | it ends within a second without any event | a pause, then a list |
//! | it ends early again and again | the next watches start further and further apart |
//! | the server throttles in the stream | a pause, then the watch again |
//! | the server says anything else in the stream, or garbage comes | a pause, then a list |
//! | a version comes that is older than one seen before: the server was restored, or replaced | a pause, then a list of the newest state |
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
//! An object that is listed again unchanged is recognized by its [`Fingerprint`](crate::Fingerprint) before it is
//! decoded; the sink gets only its key.

mod backoff;
mod collected;
mod decoding;
mod history;
mod listing;
mod options;
mod pacing;
mod pager;
mod pages;
mod prefetch;
pub(crate) mod queue_sink;
mod restoring;
pub(crate) mod sink;
mod status;
mod streaming;
mod watching;

pub use backoff::Backoff;
pub use decoding::TransformError;
pub use options::{InitialState, ReflectorOptions};
pub use pager::{PagedList, Pager};
pub(crate) use queue_sink::QueueSink;
pub(crate) use restoring::{Saved, SavedRun};
pub(crate) use sink::Sink;
pub(crate) use status::ErrorFunction;
pub use status::{Failure, LastError, Phase, ReflectorStatus};

use crate::FieldPlan;
use crate::form::{Decode, DecoderConfig};
use crate::object::{ObjectKey, ResourceVersion};
use crate::source::{
    ApiError, DecodeResult, ErrorClass, Item, LONGEST_RETRY_AFTER, ListerWatcher, Subject, WatchEvent,
};
use crate::time::later;
use decoding::Transform;
use history::History;
use pacing::Pacing;
use prefetch::{Part, Prefetch};
use restoring::{Origin, Unconfirmed};
use status::Reporter;
use std::{sync::Arc, time::Duration};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The most objects asked for in one page.
const PAGE_SIZE: u32 = 500;

/// Keeps a [`Sink`] equal to what a [`ListerWatcher`] shows; see the [module](self).
#[must_use = "a reflector does nothing until it is run"]
pub struct Reflector<O: Decode, S: Sink<O>> {
    config: Config<O>,
    transform: Option<Transform<O>>,
    sink: S,
    reporter: Reporter,
    pacing: Pacing,
    server: ServerTraits,
    history: History,
    /// The version up to which the collection has been seen.
    seen: Option<ResourceVersion>,
    /// What an earlier run has saved, until it is passed on.
    saved: Option<Saved<O>>,
    /// What must be seen before what was saved is confirmed; `None` if there is nothing to confirm.
    unconfirmed: Option<Unconfirmed>,
}

/// What a reflector is told before it runs.
struct Config<O: Decode> {
    source: Arc<dyn ListerWatcher<O>>,
    decoder: Arc<O::Decoder>,
    plan: FieldPlan,
    options: ReflectorOptions,
    /// The name for metrics.
    name: String,
    /// The permits to list, shared with the informer's other reflectors.
    lists: Option<Arc<Semaphore>>,
}

/// What the server has shown of itself.
#[derive(Default)]
struct ServerTraits {
    /// It pages lists of any state, so it has no cache to serve them from.
    paginates: bool,
    /// It has sent a bookmark in a watch, so its watches are never silent for long.
    sends_bookmarks: bool,
    /// The states of its objects are identified by uid and version, not by their bodies.
    identified_by_version: bool,
}

/// What a reflector does now.
enum State<O: Decode> {
    /// It is about to pass on what an earlier run has saved.
    Restoring(Saved<O>),
    /// It has passed that on, and asks the server whether it is one of its states.
    Verifying(Origin),
    /// It is about to make the sink equal to the collection.
    Populating(Wanted),
    /// It reads a streaming list.
    StreamingList(Wanted),
    /// It reads a list, in pages if need be.
    Listing(Wanted),
    /// It passes on changes, from a stream that is open already, or from one that it opens.
    Watching(Option<Events<O>>),
    /// It waits a step of the backoff, or for the time that the server asked for if that is longer.
    Waiting {
        asked: Option<Duration>,
        then: Box<Self>,
    },
}

impl<O: Decode> State<O> {
    /// This state, after a pause of at least what the server asked for.
    fn after_pause(self, asked: Option<Duration>) -> Self {
        Self::Waiting {
            asked,
            then: Box::new(self),
        }
    }
}

/// Which state of the collection will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// None that is older than what was seen.
    NotOlderThanSeen,
    /// The most recent one: the server could not serve what was seen.
    MostRecent,
    /// The most recent one, after the server went back: an equal version does not identify an equal state.
    Afresh,
}

/// The events of a watch.
type Events<O> = Prefetch<O, WatchEvent<O>>;

impl<O: Decode, S: Sink<O>> Reflector<O, S> {
    /// A reflector with default options.
    pub fn new(source: impl ListerWatcher<O>, sink: S) -> Self {
        Self::with_options(Arc::new(source), sink, ReflectorOptions::default())
    }

    /// A reflector with options.
    pub fn with_options(source: Arc<dyn ListerWatcher<O>>, sink: S, options: ReflectorOptions) -> Self {
        let plan = options.plan.clone().unwrap_or_else(O::plan);
        let config = DecoderConfig {
            types: source.type_meta(),
            plan: plan.clone(),
            decoded_cache: options.decoded_cache,
        };
        Self {
            reporter: Reporter::new(Subject::of(&*source)),
            pacing: Pacing::new(options.backoff.clone()),
            server: ServerTraits::default(),
            history: History::default(),
            seen: None,
            saved: None,
            unconfirmed: None,
            transform: None,
            sink,
            config: Config {
                source,
                decoder: Arc::new(O::decoder(config)),
                plan,
                options,
                name: String::new(),
                lists: None,
            },
        }
    }

    /// A name for the metrics. Default: none.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.config.name = name.into();
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
    /// are put back; so removing them saves nothing. All other metadata may go. This is not possible
    /// for an [`Arc`] of which there is another clone, nor for a form that does not implement
    /// [`CachedObject::set_identity`](crate::CachedObject::set_identity).
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

    /// Uses a decoder that other reflectors use, too.
    pub(crate) fn with_decoder(mut self, decoder: Arc<O::Decoder>) -> Self {
        self.config.decoder = decoder;
        self
    }

    /// Lists only with a permit of `lists`.
    pub(crate) fn limited_by(mut self, lists: Arc<Semaphore>) -> Self {
        self.config.lists = Some(lists);
        self
    }

    /// Starts with what an earlier run has saved.
    pub(crate) fn starting_with(mut self, saved: Option<Saved<O>>) -> Self {
        self.saved = saved;
        self
    }

    /// The namespace whose objects these are, for logs and errors.
    pub(crate) fn named_after(mut self, namespace: &str) -> Self {
        self.reporter.set_namespace(namespace);
        self
    }

    /// The shards whose objects these are, for logs.
    pub(crate) fn of_shards(mut self, ranges: &str) -> Self {
        self.reporter.set_shards(ranges);
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
        self.reporter.start_metrics(&self.config.name);
        token.run_until_cancelled(self.reflect()).await;
        self.show_seen();
        self.reporter.phase(Phase::Stopped);
    }

    async fn reflect(&mut self) {
        let mut state = match self.saved.take() {
            Some(saved) => State::Restoring(saved),
            None => State::Populating(Wanted::NotOlderThanSeen),
        };
        loop {
            state = match state {
                State::Restoring(saved) => self.restore(saved).await,
                State::Verifying(origin) => self.verify(origin).await,
                State::Populating(wanted) if self.streams_lists() => State::StreamingList(wanted),
                State::StreamingList(wanted) => self.stream_list(wanted).await,
                State::Populating(wanted) | State::Listing(wanted) => self.list(wanted).await,
                State::Watching(open) => self.watch(open).await,
                State::Waiting { asked, then } => {
                    self.pause(asked).await;
                    *then
                }
            }
        }
    }

    /// The objects with which a list is compared.
    fn known(&self, wanted: Wanted) -> Option<&S> {
        (wanted != Wanted::Afresh || !self.server.identified_by_version).then_some(&self.sink)
    }

    /// Whether the collection is asked for as a streaming list.
    fn streams_lists(&self) -> bool {
        match self.config.options.initial {
            // One request is enough to ask whether the server knows the resource by now.
            InitialState::Auto => !self.pacing.is_not_served() && self.config.source.supports_watch_list(),
            InitialState::List => false,
            InitialState::WatchList => true,
        }
    }

    /// Called before every request, except for further pages. Pauses if too many requests have followed each other without a
    /// pause, whatever the server answered.
    async fn before_request(&mut self) {
        if self.pacing.must_pause() {
            self.pause(None).await;
        }
        self.pacing.requesting();
    }

    /// Called before every request for a list. Waits for a permit, of which the informer has as many as reflectors may list
    /// at the same time. A reflector gives its permit back before it pauses.
    async fn turn_to_list(&mut self) -> Option<OwnedSemaphorePermit> {
        self.before_request().await;
        self.reporter.listing();
        // It is never closed, so there is no error.
        self.config.lists.clone()?.acquire_owned().await.ok()
    }

    /// A request failed.
    fn failed(&mut self, operation: &'static str, error: &ApiError) {
        let not_served = error.class() == ErrorClass::NotFound;
        let known = not_served && self.pacing.is_not_served();
        self.pacing.failed(not_served);
        self.reporter.failed(operation, error, known);
    }

    /// Waits a backoff step, or as long as the server asked for if that is longer, within reason.
    async fn pause(&mut self, asked: Option<Duration>) {
        let asked = asked.unwrap_or_default().min(LONGEST_RETRY_AFTER);
        let step = self.pacing.next_pause(self.config.options.not_served_cap);
        let until = later(Instant::now(), step.max(asked));
        self.sleep_until(until).await;
        self.pacing.rested();
    }

    /// Waits, and shows that it does.
    async fn sleep_until(&mut self, until: Instant) {
        self.reporter.phase(match self.pacing.is_not_served() {
            true => Phase::NotServed { until },
            false => Phase::BackingOff { until },
        });
        tokio::time::sleep_until(until).await;
    }

    /// Decodes and transforms the item of the part that was read last, and returns it with its key. An invalid object is
    /// reported; one without a key is not returned.
    fn object<P: Part<O>>(
        &mut self,
        parts: &mut Prefetch<O, P>,
        item: Item<O>,
    ) -> Option<(ObjectKey, DecodeResult<O>)> {
        if let Item::Raw(raw) = &item {
            self.reporter.received_object(raw);
            self.server.identified_by_version |= raw.is_identified_by_version();
        }
        let (mut key, mut object) = parts.decode(item);
        if let Some(foreign) = key.take_if(|key| self.reporter.is_foreign(key)) {
            let fault = format!("{foreign} is of another namespace than was asked for");
            object = DecodeResult::invalid(None, fault);
        }
        if let Some(transform) = &mut self.transform {
            object = decoding::transform(transform, key.as_ref(), object);
        }
        if let DecodeResult::Invalid(invalid) = &object {
            self.reporter.invalid(invalid);
        }
        key.map(|key| (key, object))
    }
}

#[cfg(test)]
mod tests;
