//! The right to work.

use super::clock::Clock;
use crate::time::after;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The right to work, until it is withdrawn: no other candidate has one that is live.
///
/// Clones are the same leadership.
///
/// A write that is on its way when the leadership ends may still reach the API server, and nothing there refuses it: there is
/// no fencing. So make writes conditional (on a resource version or a uid), and let no request take longer than what
/// `lease_duration` has more than `renew_deadline`.
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
    /// To cancel it yourself means nothing to the election; to stop leading, let the work end.
    #[must_use]
    pub fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Ends when the work has to stop. Safe to be cancelled.
    pub async fn cancelled(&self) {
        self.token.cancelled().await;
    }

    /// Whether work may go on at this moment.
    ///
    /// It looks at the clock, so it is right even if the runtime was too busy to cancel the [`token`](Self::token) in time.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !self.token.is_cancelled() && self.clock.now() < after(*self.renewed.borrow(), self.renew_deadline)
    }
}
