//! How a reflector behaves.

use super::Backoff;
use crate::source::WATCH_TIMEOUT;
use crate::wire::FieldPlan;
use std::time::Duration;

/// How a [`Reflector`](super::Reflector) behaves; the defaults are those of client-go, where it has the option, but for
/// [`Backoff`].
///
/// ```
/// use kube_informer::reflector::ReflectorOptions;
/// use std::time::Duration;
///
/// let options = ReflectorOptions { watch_timeout: Duration::from_secs(600), ..Default::default() };
/// assert_eq!(options.absent_cap, Duration::from_secs(3));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReflectorOptions {
    /// The pause after a failure.
    pub backoff: Backoff,
    /// The shortest time for which a watch is asked; the longest is twice that, and the actual one is random so that
    /// watches do not end together. Default: 5 minutes.
    pub watch_timeout: Duration,
    /// How the initial state is asked for, and the state after a gap. Default: [`InitialState::Auto`].
    pub initial: InitialState,
    /// The longest pause, before jitter, while the server does not know the resource: its definition is not installed
    /// yet, or was deleted. Such an answer costs the server little, and the objects are wanted as soon as there are any.
    /// Default: 3 s.
    pub absent_cap: Duration,
    /// How long a streaming list may go without progress, be it another object or its end, before a list is asked for
    /// instead. The same for the beginning of its answer. Default: 30 s.
    pub streaming_deadline: Duration,
    /// How long a watch may be silent if the server is known to send bookmarks, which it does about every minute. A
    /// connection that a router forgot says nothing for ever, and `kube`'s client sends no pings that would find it; the
    /// next watch starts where this one stopped. Three minutes are reasonable. Default: `None`, which is the watch's
    /// timeout and half a minute.
    pub bookmark_deadline: Option<Duration>,
    /// What the scan of each object looks for, and what it leaves out. Default:
    /// [what the form says](crate::form::Decode::plan).
    pub plan: Option<FieldPlan>,
}

/// How a reflector asks for the state of a collection.
///
/// ```
/// use kube_informer::reflector::{InitialState, ReflectorOptions};
/// let options = ReflectorOptions { initial: InitialState::List, ..Default::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum InitialState {
    /// A streaming list where the source has it, a list where it does not, or where it fails.
    #[default]
    Auto,
    /// A list, in pages where that spares the server.
    List,
    /// A streaming list and nothing else: a watch that starts with what exists. It spares the server's memory; servers
    /// have it since Kubernetes 1.32.
    WatchList,
}

impl Default for ReflectorOptions {
    fn default() -> Self {
        Self {
            backoff: Backoff::default(),
            watch_timeout: WATCH_TIMEOUT,
            initial: InitialState::default(),
            absent_cap: Duration::from_secs(3),
            streaming_deadline: Duration::from_secs(30),
            bookmark_deadline: None,
            plan: None,
        }
    }
}
