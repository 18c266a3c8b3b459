//! Arithmetic on time with durations from outside, which can be of any length.

use std::time::Duration;
use tokio::time::Instant;

/// As good as never, and small enough to be added to any instant.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 100);

/// `at + duration`, or a century later if that cannot be said.
pub(crate) fn after(at: Instant, duration: Duration) -> Instant {
    at + duration.min(FAR)
}
