//! The status of a reflector.

use crate::low_level::wire::{Encoding, RawObject};
use crate::metrics::ReflectorMetrics;
use crate::object::{ObjectKey, ResourceVersion};
use crate::source::{ApiError, ErrorClass, InvalidObject, LONGEST_RETRY_AFTER, Subject};
use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The state of a reflector, a value that can be read and awaited.
///
/// ```
/// use kube_informer::reflector::{Phase, ReflectorStatus};
/// let status = ReflectorStatus::default();
/// assert_eq!((status.phase, status.failures), (Phase::Connecting, 0));
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReflectorStatus {
    /// The current phase.
    pub phase: Phase,
    /// The version up to which the collection has been *seen*; the store has the version that has been *applied*.
    pub resource_version: Option<ResourceVersion>,
    /// The number of failures since the last success.
    pub failures: u32,
    /// The last failure; it is kept after later successes.
    pub last_error: Option<LastError>,
    /// The number of objects rejected so far because they could not be read.
    pub invalid_objects: u64,
    /// The last rejected object.
    pub last_invalid_object: Option<InvalidObject>,
    /// The number of completed lists. Each is counted before its objects are passed on.
    pub lists: u64,
    /// The number of opened watches.
    pub watches: u64,
    /// The number of bookmarks received.
    pub bookmarks: u64,
    /// Whether the server has sent a bookmark in this watch. From then on, it sends one about every minute.
    ///
    /// Not every watch has bookmarks: kube-apiserver sends none of kinds that it does not cache, which are events by default, and if nothing
    /// has changed since it was started, the first one may take long.
    pub sends_bookmarks: bool,
    /// When the server last sent a list, a change or a bookmark. In a flood of changes it may lag by some of them.
    ///
    /// A watch without changes is silent. If the server [sends bookmarks](Self::sends_bookmarks), a silence that is much longer than a minute
    /// means that the connection is dead, or that the server is.
    pub last_heard: Option<Instant>,
    /// The encoding of the last object that came as bytes.
    pub encoding: Option<Encoding>,
}

impl ReflectorStatus {
    /// Whether the last request was refused in a way that [waiting may not help](ErrorClass::is_retryable), such as with 403.
    ///
    /// ```
    /// use kube_informer::reflector::ReflectorStatus;
    /// assert!(!ReflectorStatus::default().is_refused());
    /// ```
    pub fn is_refused(&self) -> bool {
        let refused = |error: &LastError| self.failures > 0 && !error.class.is_retryable();
        self.last_error.as_ref().is_some_and(refused)
    }

    /// Why it does not follow the server, as far as that is known, for people: the last error, or what it does now. It means nothing of a
    /// reflector that has listed and whose `failures` are 0.
    ///
    /// ```
    /// use kube_informer::reflector::ReflectorStatus;
    /// assert_eq!(ReflectorStatus::default().reason(), "no error so far, connecting");
    /// ```
    pub fn reason(&self) -> String {
        match (&self.last_error, self.phase) {
            (Some(error), phase @ Phase::NotServed { .. }) => {
                format!("{}: {}: {}", error.class, phase.in_words(), error.message)
            }
            (Some(error), _) => format!("{}: {}", error.class, error.message),
            (None, phase) => format!("no error so far, {}", phase.in_words()),
        }
    }

    /// Combines the status of several reflectors: counters are summed, and the other fields are those of the
    /// reflector that is furthest from watching.
    pub(crate) fn together<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let order = |status: &&Self| (status.phase.distance(), Reverse(status.failures));
        let Some(worst) = all.clone().min_by_key(order) else {
            return Self::default();
        };
        Self {
            invalid_objects: all.clone().map(|status| status.invalid_objects).sum(),
            last_invalid_object: all.clone().find_map(|status| status.last_invalid_object.clone()),
            lists: all.clone().map(|status| status.lists).sum(),
            watches: all.clone().map(|status| status.watches).sum(),
            bookmarks: all.map(|status| status.bookmarks).sum(),
            ..worst.clone()
        }
    }
}

impl Phase {
    /// Orders phases by the remaining steps until changes are watched.
    fn distance(self) -> u8 {
        match self {
            Self::NotServed { .. } => 0,
            Self::BackingOff { .. } => 1,
            Self::Connecting => 2,
            Self::Listing { .. } => 3,
            Self::Watching => 4,
            Self::Stopped => 5,
        }
    }

    fn in_words(self) -> String {
        match self {
            Self::Connecting => "connecting".into(),
            Self::Listing {
                received,
                remaining: None,
            } => format!("listing: {received} objects received"),
            Self::Listing {
                received,
                remaining: Some(remaining),
            } => format!("listing: {received} objects received, {remaining} remain"),
            Self::Watching => "listed, being applied".into(),
            Self::NotServed { .. } => "the server has no such resource (yet)".into(),
            Self::BackingOff { .. } => "waiting before the next request".into(),
            Self::Stopped => "stopped".into(),
        }
    }
}

/// What a reflector is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Phase {
    /// A watch is being opened for the first time, or again after a pause; or no request was sent yet.
    #[default]
    Connecting,
    /// A list is being read, or waits for [its turn](crate::factory::FactoryBuilder::concurrent_lists).
    Listing {
        /// The number of objects received.
        received: usize,
        /// The number of remaining objects, if the server reports it.
        remaining: Option<u64>,
    },
    /// Changes are passed on as they arrive.
    Watching,
    /// The server does not serve the resource: its definition is not installed (yet) or was deleted. The request is
    /// retried at `until`.
    NotServed {
        /// When the pause ends.
        until: Instant,
    },
    /// A request failed, or watches end early again and again; the next request is sent at `until`.
    BackingOff {
        /// When the pause ends.
        until: Instant,
    },
    /// The reflector was stopped.
    Stopped,
}

/// A failure as strings, which can be cloned and stored; an [error hook](Failure) receives the error itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastError {
    /// The resource: `pods`, `deployments.apps`.
    pub resource: String,
    /// The namespace, if the informer is over several.
    pub namespace: Option<String>,
    /// The failed operation: `list`, `watch` or `watch-list`.
    pub operation: &'static str,
    /// The kind of failure.
    pub class: ErrorClass,
    /// The error and its causes.
    pub message: String,
    /// The number of this failure, counted from 1, so that two equal failures can be distinguished.
    pub number: u64,
}

/// A failure as passed to an error hook: the error itself, and the [`LastError`] that the status will show, to which
/// this dereferences.
///
/// ```no_run
/// # use kube_informer::{SharedInformerFactory, factory::FactoryBuilder};
/// # fn example(client: kube::Client) -> FactoryBuilder {
/// SharedInformerFactory::builder(client).on_error(|failure| {
///     let reason = failure.error().and_then(|error| error.status()).map(|status| &status.reason);
///     eprintln!("{} of {}: {} ({reason:?})", failure.operation, failure.resource, failure.message);
/// })
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Failure<'a> {
    last: &'a LastError,
    error: Option<&'a ApiError>,
}

impl<'a> Failure<'a> {
    /// The error of the request. `None` if no request failed: the server's versions went back
    /// ([`ErrorClass::VersionRegressed`]).
    pub fn error(&self) -> Option<&'a ApiError> {
        self.error
    }
}

impl std::ops::Deref for Failure<'_> {
    type Target = LastError;

    fn deref(&self) -> &LastError {
        self.last
    }
}

/// The user's function that is called for each failure of one reflector.
type ErrorHook = Box<dyn FnMut(&Failure<'_>) + Send>;

/// The user's function that is called for each failure of several reflectors.
pub(crate) type ErrorFunction = Arc<dyn Fn(&Failure<'_>) + Send + Sync>;

/// Updates the status, the log and the metrics.
pub(super) struct Reporter {
    subject: Subject,
    /// The resource for logs, with its namespace if there are several.
    resource: String,
    namespace: Option<String>,
    metrics: ReflectorMetrics,
    status: watch::Sender<ReflectorStatus>,
    /// Whether there were failures since the last success.
    failing: bool,
    encoding: Option<Encoding>,
    errors: u64,
    hook: Option<ErrorHook>,
}

/// Lists that take longer than this are logged.
const SLOW_LIST: Duration = Duration::from_secs(10);

/// The list's progress is published after every this many objects, so that its cost is negligible.
const PROGRESS_EVERY: usize = 256;

impl Reporter {
    pub(super) fn new(subject: Subject) -> Self {
        Self {
            resource: subject.resource.clone(),
            namespace: None,
            subject,
            metrics: ReflectorMetrics::none(),
            status: watch::Sender::default(),
            failing: false,
            encoding: None,
            errors: 0,
            hook: None,
        }
    }

    pub(super) fn set_hook(&mut self, hook: ErrorHook) {
        self.hook = Some(hook);
    }

    /// Starts to report metrics under this name.
    pub(super) fn start_metrics(&mut self, name: &str) {
        let namespace = self.namespace.as_deref().or(self.subject.namespace());
        self.metrics = ReflectorMetrics::new(&self.subject.labels(name), namespace.unwrap_or_default());
    }

    pub(super) fn subject(&self) -> &Subject {
        &self.subject
    }

    pub(super) fn set_namespace(&mut self, namespace: &str) {
        self.resource = format!("{} in {namespace:?}", self.subject.resource);
        self.namespace = Some(namespace.to_owned());
    }

    pub(super) fn set_shards(&mut self, ranges: &str) {
        self.resource = format!("{} in shards {ranges}", self.subject.resource);
    }

    /// Whether a key belongs to a namespace other than the reflector's.
    pub(super) fn is_foreign(&self, key: &ObjectKey) -> bool {
        let namespace = self.namespace.as_deref();
        namespace.is_some_and(|namespace| key.namespace() != Some(namespace))
    }

    pub(super) fn set_status(&mut self, status: watch::Sender<ReflectorStatus>) {
        self.status = status;
    }

    /// The resource for logs, with its namespace if there are several.
    pub(super) fn resource(&self) -> &str {
        &self.resource
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<ReflectorStatus> {
        self.status.subscribe()
    }

    pub(super) fn listing(&self) {
        self.phase(Phase::Listing {
            received: 0,
            remaining: None,
        });
    }

    /// Reports that a watch is being opened, unless it is just the next one.
    pub(super) fn connecting(&self) {
        self.status.send_if_modified(|status| {
            let first = !matches!(status.phase, Phase::Watching | Phase::Connecting);
            if first {
                status.phase = Phase::Connecting;
            }
            first
        });
    }

    pub(super) fn phase(&self, phase: Phase) {
        self.status.send_modify(|status| status.phase = phase);
    }

    pub(super) fn received(&self, received: usize) {
        if received.is_multiple_of(PROGRESS_EVERY) {
            self.status.send_modify(|status| {
                if let Phase::Listing { received: shown, .. } = &mut status.phase {
                    *shown = received;
                }
            });
        }
    }

    pub(super) fn remaining(&self, count: Option<u64>) {
        self.status.send_modify(|status| {
            if let Phase::Listing { remaining, .. } = &mut status.phase {
                *remaining = count;
            }
        });
    }

    pub(super) fn listed(&mut self, version: Option<ResourceVersion>, objects: usize, took: Duration) {
        self.metrics.listed(objects, took);
        let resource = self.resource();
        if took > SLOW_LIST {
            tracing::info!(resource, version = ?version, objects, ?took, "a list took long");
        } else {
            tracing::debug!(resource, version = ?version, objects, ?took, "listed");
        }
        if let Some(version) = &version {
            self.metrics.seen(version);
        }
        self.failing = false;
        self.status.send_modify(|status| {
            status.resource_version = version;
            status.lists += 1;
            status.failures = 0;
            status.last_heard = Some(Instant::now());
        });
    }

    pub(super) fn watching(&self) {
        self.metrics.watching();
        self.status.send_modify(|status| {
            status.phase = Phase::Watching;
            status.watches += 1;
            status.sends_bookmarks = false;
        });
    }

    /// Reports the end of a watch after `events` events other than bookmarks.
    pub(super) fn watched(&self, events: u64, lasted: Duration, short: bool) {
        self.metrics.watched(events, lasted, short);
    }

    /// Whether there were failures since the last success.
    pub(super) fn is_failing(&self) -> bool {
        self.failing
    }

    /// Reports success: a watch received an event, or lasted.
    pub(super) fn succeeded(&mut self) {
        if std::mem::take(&mut self.failing) {
            self.status.send_modify(|status| status.failures = 0);
        }
    }

    /// Reports that the collection has been seen up to this version.
    pub(super) fn seen(&self, version: &ResourceVersion) {
        self.metrics.seen(version);
        self.status.send_if_modified(|status| {
            let news = status.resource_version.as_ref() != Some(version);
            if news {
                status.resource_version = Some(version.clone());
                status.last_heard = Some(Instant::now());
            }
            news
        });
    }

    /// Reports a bookmark, which may have the version that was seen already.
    pub(super) fn bookmark(&self) {
        self.status.send_if_modified(|status| {
            status.bookmarks += 1;
            status.sends_bookmarks = true;
            status.last_heard = Some(Instant::now());
            // Not worth waking up those who wait for a change of the state.
            false
        });
    }

    /// Reports a failed request. Logs repeated failures below the level of a warning.
    pub(super) fn failed(&mut self, operation: &'static str, error: &ApiError, known: bool) {
        let (class, mut message) = (error.class(), error.chain());
        if let Some(asked) = error.retry_after().filter(|asked| *asked > LONGEST_RETRY_AFTER) {
            let (asked, longest) = (asked.as_secs(), LONGEST_RETRY_AFTER.as_secs());
            message.push_str(&format!(
                " (it asks for a pause of {asked} s, which is cut to {longest} s)"
            ));
        }
        match known {
            true => {
                tracing::debug!(resource = self.resource, operation, %class, error = message, "request failed again");
            }
            false => {
                tracing::warn!(resource = self.resource, operation, %class, error = message, "request failed")
            }
        }
        self.error(operation, class, message, Some(error));
        self.failing = true;
        self.status
            .send_modify(|status| status.failures = status.failures.saturating_add(1));
    }

    /// Reports that the server is not the one from which a state was saved.
    pub(super) fn is_another_server(&mut self, why: &str) {
        let message = format!("a saved state is not used: {why}");
        tracing::warn!(resource = self.resource(), "{message}");
        self.error("list", ErrorClass::VersionRegressed, message, None);
    }

    /// Reports that the server's version regressed, so that its history was replaced.
    pub(super) fn went_back(&mut self, from: &ResourceVersion, to: &ResourceVersion) {
        let message = format!(
            "the server's resource version went back from {from} to {to}: it was restored or replaced"
        );
        tracing::warn!(resource = self.resource(), "{message}");
        self.error("list", ErrorClass::VersionRegressed, message, None);
    }

    fn error(
        &mut self,
        operation: &'static str,
        class: ErrorClass,
        message: String,
        error: Option<&ApiError>,
    ) {
        self.errors += 1;
        let last = LastError {
            resource: self.subject.resource.clone(),
            namespace: self.namespace.clone(),
            operation,
            class,
            message,
            number: self.errors,
        };
        self.status
            .send_modify(|status| status.last_error = Some(last.clone()));
        if let Some(hook) = &mut self.hook
            && catch_unwind(AssertUnwindSafe(|| hook(&Failure { last: &last, error }))).is_err()
        {
            tracing::error!(
                resource = self.resource(),
                "the error hook panicked and is not called again"
            );
            self.hook = None;
        }
    }

    /// Reports an object that came as bytes.
    pub(super) fn received_object(&mut self, raw: &RawObject) {
        self.metrics.received(raw.bytes().len());
        let encoding = raw.encoding();
        if self.encoding.replace(encoding) != Some(encoding) {
            self.status.send_modify(|status| status.encoding = Some(encoding));
        }
    }

    pub(super) fn invalid(&self, invalid: &InvalidObject) {
        tracing::warn!(resource = self.resource(), object = %invalid, "an object was set aside");
        self.status.send_modify(|status| {
            status.invalid_objects += 1;
            status.last_invalid_object = Some(invalid.clone());
        });
    }
}
