//! What follows a reconcile.

use std::time::Duration;

/// When to reconcile an object again after a reconcile.
///
/// ```
/// use kube_controller::controller::Action;
/// use std::time::Duration;
///
/// const HOURLY: Action = Action::requeue(Duration::from_secs(3600));
/// assert_ne!(HOURLY, Action::await_change());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    requeue_after: Option<Duration>,
}

impl Action {
    /// Reconciles again after `duration`, or earlier if something changes.
    #[must_use]
    pub const fn requeue(duration: Duration) -> Self {
        Self {
            requeue_after: Some(duration),
        }
    }

    /// Reconciles again when something changes.
    #[must_use]
    pub const fn await_change() -> Self {
        Self { requeue_after: None }
    }
}
