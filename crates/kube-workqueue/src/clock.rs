//! The queue's time: nanoseconds since the queue was created, by tokio's clock.

use std::time::Duration;

#[cfg(loom)]
pub(crate) use crate::loom_clock::{Instant, Sleep, sleep_until};
#[cfg(not(loom))]
pub(crate) use tokio::time::{Instant, Sleep, sleep_until};

/// The resolution of tokio's timer.
const TICK: Duration = Duration::from_millis(1);

/// A delay that ends with the next tick.
const NEXT_TICK: Duration = Duration::from_nanos(1);

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

/// Sleeps until `due` or shortly before it; in the second case the caller must sleep for the rest.
///
/// A timer with ticks is late by up to two ticks: one because it rounds up, and one because it counts from the start
/// of the current tick. Set one tick early, it ends less than a tick before or after `due`; if it ends before,
/// sleeping for one more tick ends after it.
pub(crate) fn sleep_towards(due: Instant) -> Sleep {
    let now = Instant::now();
    let left = due.saturating_duration_since(now);
    let sleep = if left > TICK {
        left - TICK
    } else {
        left.min(NEXT_TICK)
    };
    sleep_until(now + sleep)
}

/// Saturates after about 584 years.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
