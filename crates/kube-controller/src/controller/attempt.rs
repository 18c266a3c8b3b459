//! Information for a reconciler about its current run.

use kube_workqueue::Priority;
use tokio::task_local;

task_local! {
    pub(super) static ATTEMPT: Attempt;
}

/// One run of the reconciler for one object.
///
/// ```no_run
/// use kube_controller::controller::{Action, Attempt};
/// use std::time::Duration;
///
/// /// An error policy that gives up after ten failures in a row.
/// fn error_policy<K, E, Ctx>(_: K, _: &E, _: Ctx) -> Action {
///     match Attempt::current().map_or(0, |attempt| attempt.failures) {
///         0..10 => Action::backoff(),
///         _ => Action::requeue(Duration::from_secs(3600)),
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// A number that is unique among the runs of this process. It is the field `reconcile_id` of the run's
    /// span.
    #[doc(alias = "reconcileID")]
    pub id: u64,
    /// How many runs of this object failed in a row before this one. Runs that a change caused during a
    /// backoff do not count.
    pub failures: u32,
    /// The priority with which the object was queued.
    pub priority: Priority,
}

impl Attempt {
    /// The current run, in a reconciler and in an error policy. `None` anywhere else, also in tasks that a
    /// reconciler spawns.
    pub fn current() -> Option<Self> {
        ATTEMPT.try_with(|attempt| *attempt).ok()
    }
}
