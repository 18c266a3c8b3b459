//! What is to be done with an object after a run.

use kube_workqueue::Priority;
use std::time::Duration;

/// When an object is reconciled next, unless it changes before. Returned by reconcilers and error policies.
///
/// ```
/// use kube_controller::controller::Action;
/// use std::time::Duration;
/// assert_ne!(Action::requeue(Duration::from_secs(60)), Action::await_change());
/// ```
#[doc(alias = "Result")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    pub(super) next: Next,
    pub(super) priority: Option<Priority>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    AwaitChange,
    After(Duration),
    Backoff,
}

impl Action {
    const fn new(next: Next) -> Self {
        Self { next, priority: None }
    }

    /// Reconciles the object again after this time.
    ///
    /// From a reconciler it means success, and earlier failures are forgotten. From an error policy it is a
    /// retry after a time of the program's choice; the failure is counted.
    #[doc(alias = "RequeueAfter")]
    #[must_use]
    pub const fn requeue(after: Duration) -> Self {
        Self::new(Next::After(after))
    }

    /// Does nothing until the object or a related object changes.
    ///
    /// From a reconciler it means success, and earlier failures are forgotten. From an error policy it means
    /// that a retry does not help: a *terminal* error.
    #[doc(alias = "TerminalError")]
    #[must_use]
    pub const fn await_change() -> Self {
        Self::new(Next::AwaitChange)
    }

    /// Reconciles the object again after a pause that doubles with each failure in a row, by default from 5
    /// ms to 1000 s; see [`Config::backoff`](super::Config::backoff). A panic and a timeout always lead to
    /// this action.
    #[doc(alias = "AddRateLimited")]
    #[doc(alias = "Requeue")]
    #[must_use]
    pub const fn backoff() -> Self {
        Self::new(Next::Backoff)
    }

    /// The priority of the next run that this action asks for. Default: that of the current run.
    #[must_use]
    pub const fn with_priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }
}
