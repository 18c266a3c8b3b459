//! Until when a replica owns what it has.

use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// Until when the replica owns what it has; `None` while it is no member. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct OwnsUntil(Arc<Mutex<Option<Instant>>>);

impl OwnsUntil {
    pub(super) fn set(&self, until: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// Whether it still owns them at `now`.
    pub(super) fn holds_at(&self, now: Instant) -> bool {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| now < until)
    }
}
