//! The clock for the model checker: time advances only when the model advances it.

use std::future::Future;
use std::ops::{Add, Sub};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use loom::sync::Mutex;

loom::lazy_static! {
    static ref TIME: Mutex<Time> = Mutex::new(Time { now: Duration::ZERO, sleepers: Vec::new() });
}

struct Time {
    now: Duration,
    sleepers: Vec<(Duration, Waker)>,
}

/// Advances time, and wakes the sleepers that are due.
#[cfg(test)]
pub(crate) fn advance(by: Duration) {
    let mut time = TIME.lock().unwrap();
    time.now += by;
    let now = time.now;
    let due: Vec<_> = time.sleepers.extract_if(.., |(until, _)| *until <= now).collect();
    drop(time);
    due.into_iter().for_each(|(_, waker)| waker.wake());
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant(Duration);

impl Instant {
    pub(crate) fn now() -> Self {
        Self(TIME.lock().unwrap().now)
    }

    pub(crate) fn saturating_duration_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    pub(crate) fn checked_add(self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0 - earlier.0
    }
}

pub(crate) fn sleep_until(until: Instant) -> Sleep {
    Sleep { until: until.0 }
}

pub(crate) struct Sleep {
    until: Duration,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut time = TIME.lock().unwrap();
        if self.until <= time.now {
            return Poll::Ready(());
        }
        time.sleepers.push((self.until, cx.waker().clone()));
        Poll::Pending
    }
}
