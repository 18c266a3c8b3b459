//! The right to work.

use super::clock::Clock;
use crate::time::after;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The right to work. At most one candidate has a live leadership at a time. Clones are handles to the same
/// leadership.
///
/// There is no fencing: a request that was sent before the leadership ended may reach the API server later,
/// and the server does not refuse it. So make writes conditional (on a resource version or a uid), and give
/// each request a time limit of less than `lease_duration - renew_deadline`.
#[derive(Debug, Clone)]
pub struct Leadership {
    token: CancellationToken,
    renewed: watch::Receiver<Instant>,
    renew_deadline: Duration,
    clock: Arc<dyn Clock>,
}

impl Leadership {
    pub(super) fn new(
        token: CancellationToken,
        renewed: watch::Receiver<Instant>,
        renew_deadline: Duration,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            token,
            renewed,
            renew_deadline,
            clock,
        }
    }

    /// Cancelled when the work has to stop: the shutdown has begun, or the lease was not renewed in time.
    ///
    /// Cancelling it yourself has no effect on the election. To stop leading, let the work end.
    #[must_use]
    pub fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Waits until the work has to stop.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn cancelled(&self) {
        self.token.cancelled().await;
    }

    /// Whether work may continue at this moment.
    ///
    /// It compares the clock with the deadline, so it is right even if the runtime was too busy to cancel the
    /// [`token`](Self::token) in time.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !self.token.is_cancelled() && self.clock.now() < after(*self.renewed.borrow(), self.renew_deadline)
    }
}
