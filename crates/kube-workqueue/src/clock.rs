//! Time as the queue keeps it: nanoseconds since it was made, by tokio's clock.

use std::time::Duration;

#[cfg(loom)]
pub(crate) use crate::loom_clock::{Instant, Sleep, sleep_until};
#[cfg(not(loom))]
pub(crate) use tokio::time::{Instant, Sleep, sleep_until};

/// What tokio's timer counts in.
const TICK: Duration = Duration::from_millis(1);

/// As little as ends with the next tick.
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

/// Sleeps until `due`, or until shortly before it: then the rest is to be slept.
///
/// A timer that counts in ticks is late by up to two: one because it rounds the time up, and one because it counts from
/// the beginning of the tick in which it goes to sleep. Set a tick early it ends less than a tick before or after the
/// time; if before, it ends after it a tick later.
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

/// Half a millennium is as good as never.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
