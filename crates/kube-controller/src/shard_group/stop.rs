//! How a replica is told to end, in two steps.

use tokio_util::sync::CancellationToken;

/// The part that a replica takes in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// It takes its share.
    Full,
    /// It keeps what it has, and takes no more.
    Retiring,
    /// It hands over what it has.
    Leaving,
}

#[derive(Debug, Clone)]
pub(super) struct Stop {
    /// It takes no more shards.
    pub(super) retire: CancellationToken,
    /// It hands over its shards.
    pub(super) leave: CancellationToken,
}

impl Stop {
    pub(super) fn part(&self) -> Part {
        if self.leave.is_cancelled() {
            Part::Leaving
        } else if self.retire.is_cancelled() {
            Part::Retiring
        } else {
            Part::Full
        }
    }

    /// Ends when it takes less part than this; pends if there is no less.
    pub(super) async fn less_than(&self, part: Part) {
        match part {
            Part::Full => tokio::select! {
                () = self.retire.cancelled() => {}
                () = self.leave.cancelled() => {}
            },
            Part::Retiring => self.leave.cancelled().await,
            Part::Leaving => std::future::pending().await,
        }
    }
}
