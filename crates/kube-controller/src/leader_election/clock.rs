//! The clocks of a candidate.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use std::fmt::Debug;
use tokio::time::Instant;

/// The two clocks of one machine. All waits and comparisons are by the monotonic one.
///
/// The simulation has an implementation whose clocks are wrong.
pub(crate) trait Clock: Debug + Send + Sync + 'static {
    /// The time of the monotonic clock.
    fn now(&self) -> Instant;

    /// Ends when the monotonic clock has reached `deadline`.
    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()>;

    /// The time of day, to be shown to people and never compared.
    fn wall(&self) -> Timestamp;
}

/// tokio's clock and the system's.
#[derive(Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        tokio::time::sleep_until(deadline).boxed()
    }

    fn wall(&self) -> Timestamp {
        Timestamp::now()
    }
}
