//! The options of a controller.

use std::time::Duration;

/// How a controller runs.
///
/// ```
/// use kube_controller::controller::Config;
/// use std::time::Duration;
/// let config = Config::default().concurrency(4).reconcile_timeout(Duration::from_secs(30));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "pass it to `Controller::with_config`"]
pub struct Config {
    pub(super) debounce: Duration,
    pub(super) concurrency: u16,
    pub(super) reconcile_timeout: Option<Duration>,
    pub(super) sync_timeout: Duration,
    pub(super) backoff: (Duration, Duration),
    pub(super) recover_panic: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            debounce: Duration::ZERO,
            concurrency: 0,
            reconcile_timeout: None,
            sync_timeout: Duration::from_secs(120),
            backoff: (Duration::from_millis(5), Duration::from_secs(1000)),
            recover_panic: true,
        }
    }
}

impl Config {
    /// How long a change is delayed, so that a burst of changes leads to one run. The delay starts with the
    /// first change of a burst, and later changes do not prolong it, so an object that changes all the time
    /// is reconciled too. Retries are not delayed. Default: zero.
    pub fn debounce(mut self, debounce: Duration) -> Self {
        self.debounce = debounce;
        self
    }

    /// How many objects are reconciled at the same time. Two runs of one object never overlap. Default: 0,
    /// which means no limit.
    #[doc(alias = "MaxConcurrentReconciles")]
    pub fn concurrency(mut self, concurrency: u16) -> Self {
        self.concurrency = concurrency;
        self
    }

    /// The longest time of one run. After it the reconciler's future is dropped, which is a failure of the
    /// object. Default, and with zero: no limit.
    #[doc(alias = "ReconciliationTimeout")]
    pub fn reconcile_timeout(mut self, timeout: Duration) -> Self {
        self.reconcile_timeout = Some(timeout).filter(|timeout| !timeout.is_zero());
        self
    }

    /// How long the start waits for each kind to be listed; see [Start](super#start). Default: 2 minutes.
    #[doc(alias = "CacheSyncTimeout")]
    pub fn sync_timeout(mut self, timeout: Duration) -> Self {
        self.sync_timeout = timeout;
        self
    }

    /// The pauses of [`Action::backoff`](super::Action::backoff): after the first failure, and the longest.
    /// Default: 5 ms and 1000 s.
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.backoff = (first, longest);
        self
    }

    /// Whether a panic of a reconciler or an error policy becomes an error of the object. If false, the panic
    /// continues in the task that polls the controller. Default: true.
    pub fn recover_panic(mut self, recover: bool) -> Self {
        self.recover_panic = recover;
        self
    }
}
