//! What is asked of a server.

use crate::object::ResourceVersion;
use crate::wire::FieldPlan;
use rand::Rng;
use std::time::Duration;

/// The shortest time for which a watch is asked, unless the user says otherwise.
pub(crate) const WATCH_TIMEOUT: Duration = Duration::from_secs(300);
/// The longest timeout that is sent, in seconds. Servers count them in nanoseconds, in 64 bits.
const LONGEST_TIMEOUT: u64 = i32::MAX as u64;

/// One list request.
///
/// ```
/// use kube_informer::source::{ListRequest, ListVersion};
/// let request = ListRequest { limit: Some(500), ..ListRequest::new(ListVersion::Any) };
/// assert_eq!(request.query(), "limit=500&resourceVersion=0");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    /// Which state of the collection will do.
    pub version: ListVersion,
    /// The most objects in one page; `None`: all in one.
    pub limit: Option<u32>,
    /// Where the page starts, as the page before said. `version` is not sent with it: the token holds it.
    pub continue_token: Option<String>,
    /// What the scan of each object is to look for, and what the server need not send.
    pub plan: FieldPlan,
}

/// Which state of the collection a list may show.
///
/// <https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list>
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListVersion {
    /// The most recent one: a quorum read.
    MostRecent,
    /// Any that the server has at hand, however old.
    Any,
    /// Any that is at least as new as this one.
    NotOlderThan(ResourceVersion),
    /// Exactly this one.
    Exact(ResourceVersion),
}

impl ListRequest {
    /// A request for the whole collection in one piece.
    pub fn new(version: ListVersion) -> Self {
        Self {
            version,
            limit: None,
            continue_token: None,
            plan: FieldPlan::default(),
        }
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
    /// Where the events start.
    pub from: WatchFrom,
    /// After how long the server shall end the watch. Whole seconds are sent, up to 2^31 - 1; zero leaves it to the
    /// server.
    pub timeout: Duration,
    /// What the scan of each object is to look for, and what the server need not send.
    pub plan: FieldPlan,
}

/// Where the events of a watch start.
///
/// <https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-watch>
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchFrom {
    /// With the first change after this version.
    Version(ResourceVersion),
    /// With an unordered `ADDED` for each object of the most recent state. For servers whose lists have no version.
    MostRecent,
    /// With an unordered `ADDED` for each object of any state.
    Any,
    /// With an `ADDED` for each object of a state that is at least as new as this one (`None`: the most recent), then
    /// a bookmark that says so, then the changes: a *streaming list* (KEP-3157).
    InitialEvents {
        /// The oldest state that will do.
        not_older_than: Option<ResourceVersion>,
    },
}

impl WatchRequest {
    /// A request for whole objects.
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
    Duration::from_secs(rand::rng().random_range(shortest..=2 * shortest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_timeout_is_longer_than_servers_understand() {
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
    fn the_newest_state_is_asked_for_without_a_version() {
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
