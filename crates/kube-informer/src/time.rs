//! Arithmetic on time with durations from outside, which can be of any length.

use std::time::Duration;
use tokio::time::Instant;

/// As long as for ever, and an [`Instant`] can still hold it.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// The moment this long after `start`; about thirty years from then if that is later than an [`Instant`] can be.
pub(crate) fn later(start: Instant, by: Duration) -> Instant {
    start.checked_add(by).unwrap_or_else(|| start + FOREVER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_duration_is_too_long() {
        let now = Instant::now();
        assert_eq!(later(now, Duration::from_secs(7)), now + Duration::from_secs(7));
        assert_eq!(later(now, Duration::MAX), now + FOREVER);
        assert_eq!(later(now, Duration::from_secs(u64::MAX)), now + FOREVER);
    }
}
