//! What a [`Controller`](crate::Controller) selects from the server, and what can go wrong with its watches: the words of
//! kube's `runtime::watcher`.

use kube::core::Selector;
use kube_informer::reflector::{InitialState, LastError, ReflectorOptions};
use kube_informer::source::Selection;
use std::fmt;
use std::time::Duration;

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

    pub(crate) fn selection(&self, namespace: Option<&str>) -> Selection {
        Selection {
            namespace: namespace.map(str::to_owned),
            label_selector: self.label_selector.clone(),
            field_selector: self.field_selector.clone(),
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
    #[error("cannot watch {resource}: {reason}")]
    Refused {
        /// The resource: `pods`, `deployments.apps`.
        resource: String,
        /// What failed.
        reason: Obstacles,
    },
    /// The kind has not been listed in time. The controller goes on without it, and with it when it has been listed. Its own
    /// kind is waited for.
    #[error("{resource} have not synced within {} s: {reason}", .timeout.as_secs_f64())]
    NotSynced {
        /// The resource: `pods`, `deployments.apps`.
        resource: String,
        /// The [time](crate::controller::Config::sync_timeout) it had.
        timeout: Duration,
        /// What stands in the way.
        reason: Obstacles,
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

/// What stands in the way of an informer, as far as is known: a reason for each namespace that it lists separately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacles(pub Vec<(Option<String>, String)>);

impl fmt::Display for Obstacles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (namespace, reason)) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str("; ")?;
            }
            match namespace {
                Some(namespace) => write!(f, "{namespace}: {reason}")?,
                None => f.write_str(reason)?,
            }
        }
        Ok(())
    }
}
