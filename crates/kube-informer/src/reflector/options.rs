//! The options of a reflector.

use super::Backoff;
use super::PAGE_SIZE;
use crate::FieldPlan;
use crate::source::WATCH_TIMEOUT;
use std::time::Duration;

/// The options of a [`Reflector`](super::Reflector). Except for [`Backoff`], the defaults are those of
/// client-go, where it has the option.
///
/// ```
/// use kube_informer::reflector::ReflectorOptions;
/// use std::time::Duration;
///
/// let options = ReflectorOptions { watch_timeout: Duration::from_secs(600), ..Default::default() };
/// assert_eq!(options.not_served_cap, Duration::from_secs(3));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReflectorOptions {
    /// The pauses after failures.
    pub backoff: Backoff,
    /// The shortest timeout of a watch. The actual timeout is random between this and twice this, so that
    /// watches do not end together. Default: 5 minutes.
    pub watch_timeout: Duration,
    /// How the initial state, and the state after a gap, is requested. Default: [`InitialState::Auto`].
    pub initial: InitialState,
    /// The longest pause, before jitter, while the server does not serve the resource, because its definition
    /// is not installed yet or was deleted. Such a response costs the server little, and objects should be
    /// listed as soon as the resource is served. Default: 3 s.
    pub not_served_cap: Duration,
    /// The number of objects in a page of a list. `None`: all objects in one answer. Default: 500, as in
    /// client-go. The reflector reads a list in pages only where that costs the server less than one answer.
    pub page_size: Option<u32>,
    /// The longest pause between two objects of a streaming list, before its end, and before its answer
    /// begins. After that, the reflector sends an ordinary list instead. Default: 30 s.
    pub streaming_timeout: Duration,
    /// The longest silence of a watch, for servers that send bookmarks, which they do about every minute. A
    /// connection that was dropped by a router stays silent for ever, and `kube`'s client sends no pings that
    /// would detect this. The next watch starts where this one ended. Three minutes are reasonable. Default:
    /// `None`, which means the watch's timeout plus 30 s.
    pub bookmark_timeout: Option<Duration>,
    /// The plan for the scan of each object: the fields to extract and the paths to prune. Default: [the
    /// form's plan](crate::form::Decode::plan).
    pub plan: Option<FieldPlan>,
    /// Estimated size in bytes of the cache of decoded objects, for forms that decode on demand. The cache
    /// holds the objects that were decoded last, so that reading them again costs next to nothing. While most
    /// of the objects that change are read soon, changes are decoded as they arrive, into the cache. `Some(0)`:
    /// no cache. Default: `None`, the size that the form chooses: 1 MiB for [`Packed`](crate::form::Packed).
    /// Other forms of this crate decode each object once, and ignore this.
    pub decoded_cache: Option<usize>,
}

/// How a reflector requests the state of a collection.
///
/// ```
/// use kube_informer::reflector::{InitialState, ReflectorOptions};
/// let options = ReflectorOptions { initial: InitialState::List, ..Default::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum InitialState {
    /// A streaming list if the source supports it; a list if it does not, or if the streaming list fails.
    #[default]
    Auto,
    /// A list, in pages if that reduces the load of the server.
    List,
    /// Always a streaming list: a watch that starts with the existing objects. It saves memory in the server;
    /// servers support it since Kubernetes 1.32.
    WatchList,
}

impl Default for ReflectorOptions {
    fn default() -> Self {
        Self {
            backoff: Backoff::default(),
            watch_timeout: WATCH_TIMEOUT,
            initial: InitialState::default(),
            not_served_cap: Duration::from_secs(3),
            page_size: Some(PAGE_SIZE),
            streaming_timeout: Duration::from_secs(30),
            bookmark_timeout: None,
            plan: None,
            decoded_cache: None,
        }
    }
}
