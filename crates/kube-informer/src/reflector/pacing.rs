//! When the next request may be sent.

use super::backoff::{Backoff, BackoffState};
use std::time::Duration;
use tokio::time::Instant;

/// The maximum number of consecutive requests without a pause.
const QUICK_REQUESTS: u32 = 4;
/// A watch that ends sooner than this without any event counts as very short.
pub(super) const VERY_SHORT: Duration = Duration::from_secs(1);
/// The number of consecutive watches that may end early before their starts are delayed.
const EARLY_ENDS: u32 = 3;
const FIRST_SPACING: Duration = Duration::from_secs(1);
const LAST_SPACING: Duration = Duration::from_secs(30);

/// Prevents hot loops: determines the pauses between requests from their results.
pub(super) struct Pacing {
    backoff: BackoffState,
    pub(super) watches: WatchPacer,
    /// The number of consecutive requests without a pause, and when the last one was sent.
    quick_requests: u32,
    last_request: Instant,
    last_pause: LastPause,
    /// Whether the server did not know the resource at the last request.
    not_served: bool,
}

/// When the last pause was.
#[derive(PartialEq)]
enum LastPause {
    /// More than one request ago, or never.
    Earlier,
    /// It has just ended; no request has been sent since.
    Now,
    /// The last request was the first one after it.
    BeforeLastRequest,
}

impl Pacing {
    pub(super) fn new(backoff: Backoff) -> Self {
        Self {
            backoff: BackoffState::new(backoff),
            watches: WatchPacer::default(),
            quick_requests: 0,
            last_request: Instant::now(),
            last_pause: LastPause::Earlier,
            not_served: false,
        }
    }

    /// Whether there must be a pause before the next request, because so many have been sent without one.
    pub(super) fn must_pause(&mut self) -> bool {
        if self.last_request.elapsed() >= VERY_SHORT {
            self.quick_requests = 0;
        }
        self.quick_requests >= QUICK_REQUESTS
    }

    /// Records that a request is about to be sent.
    pub(super) fn requesting(&mut self) {
        self.quick_requests += 1;
        self.last_request = Instant::now();
        self.last_pause = match self.last_pause {
            LastPause::Now => LastPause::BeforeLastRequest,
            LastPause::Earlier | LastPause::BeforeLastRequest => LastPause::Earlier,
        };
    }

    /// Whether the last request was the first one after a pause.
    pub(super) fn is_first_after_pause(&self) -> bool {
        self.last_pause == LastPause::BeforeLastRequest
    }

    /// Whether the server did not know the resource at the last request.
    pub(super) fn is_not_served(&self) -> bool {
        self.not_served
    }

    /// Records that a request failed, possibly because the server does not know the resource.
    pub(super) fn failed(&mut self, not_served: bool) {
        if self.not_served && !not_served {
            // The resource is about to be served, or this is another outage.
            self.backoff.start_over();
        }
        self.not_served = not_served;
    }

    /// Records that the last request was not fulfilled, however long its failure took.
    pub(super) fn not_fulfilled(&mut self) {
        self.backoff.unhealthy_since(self.last_request);
    }

    /// Records that the server knows the resource.
    pub(super) fn served(&mut self) {
        self.not_served = false;
    }

    /// Records that the collection has been listed.
    pub(super) fn listed(&mut self) {
        self.last_pause = LastPause::Earlier;
        self.answered();
    }

    /// Records that the server fulfils the request.
    pub(super) fn answered(&mut self) {
        self.served();
        self.backoff.healthy();
    }

    /// How long to pause now; at most `not_served_cap`, before jitter, if the server does not know the resource.
    pub(super) fn next_pause(&mut self, not_served_cap: Duration) -> Duration {
        self.quick_requests = 0;
        self.backoff.next(self.not_served.then_some(not_served_cap))
    }

    /// Records that a pause is over.
    pub(super) fn rested(&mut self) {
        self.last_pause = LastPause::Now;
    }
}

/// Prevents a hot loop with a server that ends every watch at once.
#[derive(Debug)]
pub(super) struct WatchPacer {
    early_ends: u32,
    spacing: Duration,
}

impl Default for WatchPacer {
    fn default() -> Self {
        Self {
            early_ends: 0,
            spacing: FIRST_SPACING,
        }
    }
}

impl WatchPacer {
    /// The pause before the next watch, after one that lasted this long.
    pub(super) fn after(&mut self, lasted: Duration) -> Duration {
        if lasted >= self.spacing {
            *self = Self::default();
            return Duration::ZERO;
        }
        self.early_ends += 1;
        if self.early_ends < EARLY_ENDS {
            return Duration::ZERO;
        }
        let wait = self.spacing - lasted;
        self.spacing = (self.spacing * 2).min(LAST_SPACING);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_between_watches_that_end_early_grow() {
        let mut pacer = WatchPacer::default();
        let waits: Vec<_> = (0..9).map(|_| pacer.after(Duration::ZERO).as_secs()).collect();
        assert_eq!(waits, [0, 0, 1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(pacer.after(Duration::from_secs(12)), Duration::from_secs(18));
        assert_eq!(pacer.after(Duration::from_secs(31)), Duration::ZERO);
        assert_eq!(
            pacer.after(Duration::ZERO),
            Duration::ZERO,
            "starts over after one that lasted"
        );
    }
}
