//! Time as the queue keeps it: nanoseconds since it was made, by tokio's clock.

use std::time::Duration;

#[cfg(loom)]
pub(crate) use crate::loom_clock::{Instant, Sleep, sleep_until};
#[cfg(not(loom))]
pub(crate) use tokio::time::{Instant, Sleep, sleep_until};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    epoch: Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            epoch: Instant::now(),
        }
    }

    pub(crate) fn now(&self) -> u64 {
        nanos(Instant::now().saturating_duration_since(self.epoch))
    }

    pub(crate) fn instant(&self, at: u64) -> Instant {
        self.epoch + Duration::from_nanos(at)
    }
}

/// Half a millennium is as good as never.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
