//! Exponential backoff with jitter.

use std::time::Duration;
use tokio::time::Instant;

/// The pauses after failures.
///
/// The first pause is `initial`. Each further one is `factor` times the previous one, up to `cap`. A random part of
/// the pause, up to `jitter` times its length, is added to each. In the first 10 s of an outage no pause exceeds 5 s
/// including jitter (unless `initial` is longer), so that a restarted server is found soon. The pauses start over
/// after requests have succeeded without a failure for as long as the last pause, and for at least `reset_after`; a
/// later failure is a new incident. Failures of a server that works for shorter times belong to one incident, and
/// their pauses grow.
///
/// (client-go's first pause is 800 ms, and its pauses start over every two minutes, even during an outage. With the
/// default here, a server that returns within 10 s is found with as many requests in half of the time.)
///
/// ```
/// use kube_informer::reflector::Backoff;
/// use std::time::Duration;
///
/// let default = Backoff::default();
/// assert_eq!((default.initial, default.cap), (Duration::from_secs(1), Duration::from_secs(30)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Backoff {
    /// The first pause. Default: 1 s.
    pub initial: Duration,
    /// The longest pause, before jitter. Default: 30 s.
    pub cap: Duration,
    /// The factor between consecutive pauses; less than 1 counts as 1. Default: 2.
    pub factor: f64,
    /// The largest random part that is added, relative to the pause; less than 0 counts as 0. Default: 1, which at
    /// most doubles a pause.
    pub jitter: f64,
    /// The minimum time without failures after which the pauses start over. Default: 5 s.
    pub reset_after: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            initial: Duration::from_secs(1),
            cap: Duration::from_secs(30),
            factor: 2.0,
            jitter: 1.0,
            reset_after: Duration::from_secs(5),
        }
    }
}

/// The length up to which an outage is short.
const SHORT_OUTAGE: Duration = Duration::from_secs(10);
/// The longest pause during a short outage, including jitter.
const SHORT_PAUSE: Duration = Duration::from_secs(5);

/// The state of a sequence of pauses.
#[derive(Debug)]
pub(super) struct BackoffState {
    backoff: Backoff,
    next: Duration,
    /// When the incident began.
    failing_since: Option<Instant>,
    /// The last pause.
    last: Duration,
    healthy_since: Option<Instant>,
    /// When the failed request was sent, if that is known. The wait for its answer does not count as healthy time.
    healthy_until: Option<Instant>,
}

impl BackoffState {
    pub(super) fn new(backoff: Backoff) -> Self {
        Self {
            next: backoff.initial.min(backoff.cap),
            backoff,
            failing_since: None,
            last: Duration::ZERO,
            healthy_since: None,
            healthy_until: None,
        }
    }

    /// Records that requests succeed again; starts the time that counts for `reset_after`.
    pub(super) fn healthy(&mut self) {
        self.healthy_since.get_or_insert_with(Instant::now);
        self.healthy_until = None;
    }

    /// Records that a request that was sent then has failed.
    pub(super) fn unhealthy_since(&mut self, request: Instant) {
        self.healthy_until = Some(request);
    }

    /// Restarts the sequence: the next pause is the first one.
    pub(super) fn start_over(&mut self) {
        self.next = self.backoff.initial.min(self.backoff.cap);
        self.failing_since = None;
    }

    /// The pause after a failure that happened now. It and later pauses are at most `cap` before jitter.
    pub(super) fn next(&mut self, cap: Option<Duration>) -> Duration {
        let until = self.healthy_until.take().unwrap_or_else(Instant::now);
        let healthy_since = self.healthy_since.take();
        let healthy_for = healthy_since.map(|since| until.saturating_duration_since(since));
        if healthy_for.is_some_and(|healthy| healthy >= self.backoff.reset_after.max(self.last)) {
            self.start_over();
        }
        let Backoff { initial, factor, .. } = self.backoff;
        // `f64::max` returns the other number if one is NaN.
        let jitter = self.backoff.jitter.max(0.0);
        let cap = cap.unwrap_or(self.backoff.cap).min(self.backoff.cap);
        let mut pause = self.next.min(cap);
        self.next = times(pause, factor.max(1.0)).min(cap);
        if self.failing_since.get_or_insert_with(Instant::now).elapsed() < SHORT_OUTAGE {
            pause = pause.min(times(SHORT_PAUSE, 1.0 / (1.0 + jitter)).max(initial));
        }
        self.last = pause.saturating_add(times(pause, jitter * fastrand::f64()));
        self.last
    }
}

/// Multiplies, saturating at the maximum of [`Duration`].
fn times(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_JITTER: Backoff = Backoff {
        initial: Duration::from_secs(1),
        cap: Duration::from_secs(30),
        factor: 2.0,
        jitter: 0.0,
        reset_after: Duration::from_secs(5),
    };

    #[tokio::test(start_paused = true)]
    async fn the_time_that_a_failed_request_took_is_no_health() {
        let mut state = BackoffState::new(NO_JITTER);
        let mut pauses = Vec::new();
        for _ in 0..3 {
            state.healthy();
            let request = Instant::now();
            tokio::time::advance(Duration::from_secs(60)).await;
            state.unhealthy_since(request);
            pauses.push(state.next(None).as_secs());
        }
        assert_eq!(pauses, [1, 2, 4]);
        state.healthy();
        tokio::time::advance(Duration::from_secs(60)).await;
        state.unhealthy_since(Instant::now());
        assert_eq!(state.next(None).as_secs(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_to_the_cap_during_an_outage() {
        let mut state = BackoffState::new(NO_JITTER);
        let mut pauses = vec![];
        for _ in 0..12 {
            let pause = state.next(None);
            pauses.push(pause.as_secs_f64());
            tokio::time::advance(pause).await;
        }
        assert_eq!(
            pauses,
            [1.0, 2.0, 4.0, 5.0, 16.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0],
            "5 s at the most in the first 10 s"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn success_as_long_as_the_last_pause_resets_the_backoff() {
        let second = Duration::from_secs(1);
        let mut state = BackoffState::new(NO_JITTER);
        assert_eq!(state.next(None), second);
        state.healthy();
        tokio::time::advance(4 * second).await;
        state.healthy();
        assert_eq!(state.next(None), 2 * second, "a few seconds at least");
        tokio::time::advance(100 * second).await;
        assert_eq!(state.next(None), 4 * second, "time without health does not count");
        for pause in [8, 16] {
            state.healthy();
            tokio::time::advance(second).await;
            assert_eq!(state.next(None), pause * second, "a server that flaps");
        }
        state.healthy();
        tokio::time::advance(15 * second).await;
        assert_eq!(state.next(None), 30 * second, "not as long as the last pause");
        state.healthy();
        tokio::time::advance(30 * second).await;
        assert_eq!(state.next(None), second);
        state.healthy();
        tokio::time::advance(5 * second).await;
        assert_eq!(state.next(None), second);
    }

    #[test]
    fn jitter_at_most_doubles_a_pause() {
        let mut state = BackoffState::new(Backoff {
            factor: 1.0,
            ..Backoff::default()
        });
        let pauses: Vec<_> = (0..200).map(|_| state.next(None)).collect();
        assert!(
            pauses.iter().all(|p| (1000..=2000).contains(&p.as_millis())),
            "{pauses:?}"
        );
        assert!(pauses.iter().any(|p| p.as_millis() > 1600) && pauses.iter().any(|p| p.as_millis() < 1400));
    }

    #[tokio::test(start_paused = true)]
    async fn no_options_cause_a_panic() {
        let durations = [Duration::ZERO, Duration::from_nanos(1), Duration::MAX];
        let factors = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            -1.0,
            0.0,
            2.0,
        ];
        for (initial, cap) in durations.iter().flat_map(|a| durations.map(|b| (*a, b))) {
            for (factor, jitter) in factors.iter().flat_map(|a| factors.map(|b| (*a, b))) {
                let backoff = Backoff {
                    initial,
                    cap,
                    factor,
                    jitter,
                    reset_after: Duration::MAX,
                };
                let mut state = BackoffState::new(backoff.clone());
                for cap in [None, Some(Duration::MAX), Some(Duration::ZERO)] {
                    let pause = state.next(cap);
                    assert!(jitter > 0.0 || pause <= backoff.cap, "{pause:?} of {backoff:?}");
                    state.healthy();
                    tokio::time::advance(Duration::from_secs(20)).await;
                }
            }
        }
        let patient = Backoff {
            initial: Duration::MAX,
            ..Backoff::default()
        };
        assert!(BackoffState::new(patient).next(None) <= Duration::from_secs(60));
    }
}
