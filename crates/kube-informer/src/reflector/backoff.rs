//! Pauses that grow.

use rand::Rng;
use std::time::Duration;
use tokio::time::Instant;

/// How long to wait after a failure: `initial`, then `factor` times as long after each further one, up to `cap`, each
/// time plus a random share of up to `jitter` of it.
///
/// The pauses start over after `reset_after` of health: a list and watch that worked for that long without a failure
/// between. (client-go starts over every two minutes, even in the middle of an outage.)
///
/// ```
/// use kube_informer::reflector::Backoff;
/// use std::time::Duration;
///
/// let default = Backoff::default();
/// assert_eq!((default.initial, default.cap), (Duration::from_millis(800), Duration::from_secs(30)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Backoff {
    /// The first pause. Default: 800 ms.
    pub initial: Duration,
    /// The longest pause, before jitter. Default: 30 s.
    pub cap: Duration,
    /// By how much a pause is longer than the one before. Default: 2.
    pub factor: f64,
    /// The largest random share that is added. Default: 1, which doubles a pause at the most.
    pub jitter: f64,
    /// After how long without a failure the pauses start over. Default: 2 minutes.
    pub reset_after: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            initial: Duration::from_millis(800),
            cap: Duration::from_secs(30),
            factor: 2.0,
            jitter: 1.0,
            reset_after: Duration::from_secs(120),
        }
    }
}

/// Where a sequence of pauses stands.
#[derive(Debug)]
pub(super) struct BackoffState {
    backoff: Backoff,
    next: Duration,
    healthy_since: Option<Instant>,
}

impl BackoffState {
    pub(super) fn new(backoff: Backoff) -> Self {
        Self {
            next: backoff.initial.min(backoff.cap),
            backoff,
            healthy_since: None,
        }
    }

    /// Says that things work now; the time until the next failure counts.
    pub(super) fn healthy(&mut self) {
        self.healthy_since.get_or_insert_with(Instant::now);
    }

    /// The next pause is the first one again.
    pub(super) fn start_over(&mut self) {
        self.next = self.backoff.initial.min(self.backoff.cap);
    }

    /// The pause after a failure that happened now; before jitter, it and those after it are no longer than `cap`.
    pub(super) fn next(&mut self, cap: Option<Duration>) -> Duration {
        let healthy_for = self.healthy_since.take().map(|since| since.elapsed());
        if healthy_for.is_some_and(|healthy| healthy >= self.backoff.reset_after) {
            self.start_over();
        }
        let cap = cap.unwrap_or(self.backoff.cap).min(self.backoff.cap);
        let pause = self.next.min(cap);
        self.next = pause.mul_f64(self.backoff.factor.max(1.0)).min(cap);
        let jitter = self.backoff.jitter.max(0.0);
        pause + pause.mul_f64(rand::rng().random_range(0.0..=jitter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_JITTER: Backoff = Backoff {
        initial: Duration::from_millis(800),
        cap: Duration::from_secs(30),
        factor: 2.0,
        jitter: 0.0,
        reset_after: Duration::from_secs(120),
    };

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_to_the_cap_and_stay_there_during_an_outage() {
        let mut state = BackoffState::new(NO_JITTER);
        let mut pauses = vec![];
        for _ in 0..12 {
            let pause = state.next(None);
            pauses.push(pause.as_secs_f64());
            tokio::time::advance(pause).await;
        }
        assert_eq!(
            pauses,
            [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn only_two_minutes_of_health_start_over() {
        let mut state = BackoffState::new(NO_JITTER);
        state.next(None);
        state.healthy();
        tokio::time::advance(Duration::from_secs(119)).await;
        state.healthy();
        assert_eq!(state.next(None), Duration::from_millis(1600));
        tokio::time::advance(Duration::from_secs(1000)).await;
        assert_eq!(
            state.next(None),
            Duration::from_millis(3200),
            "time without health does not count"
        );
        state.healthy();
        tokio::time::advance(Duration::from_secs(120)).await;
        assert_eq!(state.next(None), Duration::from_millis(800));
    }

    #[test]
    fn jitter_adds_up_to_the_pause_itself() {
        let mut state = BackoffState::new(Backoff {
            factor: 1.0,
            ..Backoff::default()
        });
        let pauses: Vec<_> = (0..200).map(|_| state.next(None)).collect();
        assert!(
            pauses.iter().all(|p| (800..=1600).contains(&p.as_millis())),
            "{pauses:?}"
        );
        assert!(pauses.iter().any(|p| p.as_millis() > 1300) && pauses.iter().any(|p| p.as_millis() < 1100));
    }
}
