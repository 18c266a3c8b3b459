//! List and watch requests.

use crate::FieldPlan;
use crate::object::{ObjectKey, ResourceVersion};
use std::time::Duration;

/// The default of the shortest timeout of a watch.
pub(crate) const WATCH_TIMEOUT: Duration = Duration::from_secs(300);
/// The longest timeout that is sent, in seconds. Servers store timeouts as 64-bit nanoseconds.
const LONGEST_TIMEOUT: u64 = i32::MAX as u64;

/// Marks a request, in its extensions, whose answer is long. [`client`](crate::client) gives it a connection of its own; other clients
/// ignore it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LongAnswer;

/// One list request.
///
/// ```
/// use kube_informer::source::{ListRequest, ListVersion};
/// let request = ListRequest { limit: Some(500), ..ListRequest::new(ListVersion::Any) };
/// assert_eq!(request.query(), "limit=500&resourceVersion=0");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    /// The acceptable state of the collection.
    pub version: ListVersion,
    /// The maximum number of objects in a page; `None`: all in one page.
    pub limit: Option<u32>,
    /// The continue token of the previous page. `version` is not sent with it, because the token contains it.
    pub continue_token: Option<String>,
    /// The plan for the scan of each object. The server need not send pruned parts.
    pub plan: FieldPlan,
    /// Only this object of the collection, if it belongs to it; `None`: all. It is not part of the [query](Self::query), because it
    /// has to be combined with the source's own selector. A source that cannot select may ignore it.
    pub object: Option<ObjectKey>,
}

/// The states of the collection that a list may return.
///
/// <https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list>
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListVersion {
    /// The most recent state: a quorum read.
    MostRecent,
    /// Any cached state, however old.
    Any,
    /// Any state that is at least as new as this version.
    NotOlderThan(ResourceVersion),
    /// Exactly this version.
    Exact(ResourceVersion),
}

impl ListRequest {
    /// A request for the whole collection in one page.
    pub fn new(version: ListVersion) -> Self {
        Self {
            version,
            limit: None,
            continue_token: None,
            plan: FieldPlan::default(),
            object: None,
        }
    }

    /// Whether servers answer it with the whole collection: most do whatever the limit, if the state need not be the most recent one.
    pub(super) fn is_whole(&self) -> bool {
        let is_cached = matches!(self.version, ListVersion::Any | ListVersion::NotOlderThan(_));
        self.object.is_none() && self.continue_token.is_none() && (self.limit.is_none() || is_cached)
    }

    /// The request's parameters as a URL query.
    pub fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let Some(limit) = self.limit {
            query.append_pair("limit", &limit.to_string());
        }
        match (&self.continue_token, &self.version) {
            (Some(token), _) => {
                query.append_pair("continue", token);
            }
            (None, ListVersion::MostRecent) => {}
            (None, ListVersion::Any) => {
                query.append_pair("resourceVersion", "0");
            }
            (None, ListVersion::NotOlderThan(version)) => {
                query.append_pair("resourceVersion", &version.as_str());
                query.append_pair("resourceVersionMatch", "NotOlderThan");
            }
            (None, ListVersion::Exact(version)) => {
                query.append_pair("resourceVersion", &version.as_str());
                query.append_pair("resourceVersionMatch", "Exact");
            }
        }
        query.finish()
    }
}

/// One watch request.
///
/// ```
/// use kube_informer::source::{WatchFrom, WatchRequest};
/// use std::time::Duration;
///
/// let request = WatchRequest::new(WatchFrom::Version("7".into()), Duration::from_secs(300));
/// assert_eq!(request.query(), "watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=7");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchRequest {
    /// The start of the events.
    pub from: WatchFrom,
    /// The time after which the server ends the watch. Sent in whole seconds, up to 2^31 - 1; zero lets the server
    /// choose.
    pub timeout: Duration,
    /// The plan for the scan of each object. The server need not send pruned parts.
    pub plan: FieldPlan,
}

/// The start of the events of a watch.
///
/// <https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-watch>
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchFrom {
    /// The first change after this version.
    Version(ResourceVersion),
    /// An `ADDED` event for each object of the most recent state, in no order. For servers whose lists have no
    /// version.
    MostRecent,
    /// An `ADDED` event for each object of any state, in no order.
    Any,
    /// A *streaming list* (KEP-3157): an `ADDED` event for each object of a state at least as new as `not_older_than`
    /// (`None`: the most recent state), then a bookmark that marks their end, then the changes.
    InitialEvents {
        /// The oldest acceptable state.
        not_older_than: Option<ResourceVersion>,
    },
}

impl WatchRequest {
    /// A request with an empty plan.
    pub fn new(from: WatchFrom, timeout: Duration) -> Self {
        Self {
            from,
            timeout,
            plan: FieldPlan::default(),
        }
    }

    /// The request's parameters as a URL query.
    pub fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("watch", "true")
            .append_pair("allowWatchBookmarks", "true");
        let timeout = self.timeout.as_secs().min(LONGEST_TIMEOUT);
        if timeout > 0 {
            query.append_pair("timeoutSeconds", &timeout.to_string());
        }
        match &self.from {
            WatchFrom::Version(version) => {
                query.append_pair("resourceVersion", &version.as_str());
            }
            WatchFrom::MostRecent => {}
            WatchFrom::Any => {
                query.append_pair("resourceVersion", "0");
            }
            WatchFrom::InitialEvents { not_older_than } => {
                query.append_pair("sendInitialEvents", "true");
                query.append_pair("resourceVersionMatch", "NotOlderThan");
                if let Some(version) = not_older_than {
                    query.append_pair("resourceVersion", &version.as_str());
                }
            }
        }
        query.finish()
    }
}

/// A random timeout between `shortest` and twice that, so that watches do not end together.
pub(crate) fn random_timeout(shortest: Duration) -> Duration {
    let shortest = shortest.as_secs().clamp(1, LONGEST_TIMEOUT / 2);
    Duration::from_secs(fastrand::u64(shortest..=2 * shortest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_limited_to_what_servers_accept() {
        let sent = |timeout| WatchRequest::new(WatchFrom::MostRecent, timeout).query();
        for timeout in [Duration::MAX, Duration::from_secs(u64::MAX)] {
            assert!(
                sent(timeout).ends_with("&timeoutSeconds=2147483647"),
                "{timeout:?}"
            );
            assert!(random_timeout(timeout) >= Duration::from_secs(1 << 29));
        }
        assert!(sent(Duration::from_millis(999)).ends_with("allowWatchBookmarks=true"));
        assert!((1..=2).contains(&random_timeout(Duration::ZERO).as_secs()));
    }

    #[test]
    fn a_version_is_not_sent_with_a_continue_token() {
        let mut request = ListRequest::new(ListVersion::NotOlderThan("5".into()));
        assert_eq!(
            request.query(),
            "resourceVersion=5&resourceVersionMatch=NotOlderThan"
        );
        request.continue_token = Some("a b&c".into());
        assert_eq!(request.query(), "continue=a+b%26c");
    }

    #[test]
    fn the_most_recent_state_is_requested_without_a_version() {
        assert_eq!(ListRequest::new(ListVersion::MostRecent).query(), "");
        let exact = ListRequest::new(ListVersion::Exact("5".into()));
        assert_eq!(exact.query(), "resourceVersion=5&resourceVersionMatch=Exact");
    }

    #[test]
    fn watches() {
        let query = |from| WatchRequest::new(from, Duration::ZERO).query();
        let plain = "watch=true&allowWatchBookmarks=true";
        assert_eq!(query(WatchFrom::MostRecent), plain);
        assert_eq!(query(WatchFrom::Any), format!("{plain}&resourceVersion=0"));
        let initial = format!("{plain}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
        assert_eq!(query(WatchFrom::InitialEvents { not_older_than: None }), initial);
        let from = WatchFrom::InitialEvents {
            not_older_than: Some("9".into()),
        };
        assert_eq!(query(from), format!("{initial}&resourceVersion=9"));
    }
}
