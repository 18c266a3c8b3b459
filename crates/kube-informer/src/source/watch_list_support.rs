//! Remembers where streaming lists do not work.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Records the resources whose streaming lists do not complete on a server; shared by the sources of one client.
///
/// ```
/// use kube_informer::source::WatchListSupport;
/// let memory = WatchListSupport::default();
/// assert!(memory.is_supported("pods"));
/// memory.mark_unsupported("pods");
/// assert!(!memory.clone().is_supported("pods"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct WatchListSupport(Arc<Mutex<HashMap<String, Instant>>>);

/// How long a failure is remembered.
const STREAMING_FAILURE: Duration = Duration::from_secs(3600);

impl WatchListSupport {
    /// Whether streaming lists of a resource should be tried, that is, none has failed within the last hour.
    pub fn is_supported(&self, resource: &str) -> bool {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures
            .get(resource)
            .is_none_or(|failed| failed.elapsed() >= STREAMING_FAILURE)
    }

    /// Records that a streaming list of a resource did not complete.
    pub fn mark_unsupported(&self, resource: &str) {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures.insert(resource.to_owned(), Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_failed_streaming_list_is_tried_again_after_an_hour() {
        let memory = WatchListSupport::default();
        memory.mark_unsupported("pods");
        tokio::time::advance(STREAMING_FAILURE - Duration::from_secs(1)).await;
        assert!(!memory.is_supported("pods") && memory.is_supported("nodes"));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(memory.is_supported("pods"));
    }
}
