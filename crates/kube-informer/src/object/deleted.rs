//! What remains of an object that is gone.

use super::ObjectKey;

/// A deletion: the key that is gone and, if it is known, the last state the object had.
///
/// In client-go the deletion of an object whose end was missed arrives as another Go type than the object
/// (`DeletedFinalStateUnknown`), and handlers that forget to look crash. Here every deletion has this one shape, and
/// [`cause`](Deleted::cause) says whether `last_known` is the final state or only the last one seen.
///
/// ```
/// use kube_informer::{DeleteCause, Deleted};
///
/// let deleted = Deleted { key: "shop/web-0".into(), last_known: Some("state"), cause: DeleteCause::Missed };
/// assert!(deleted.is_tombstone());
/// ```
#[doc(alias = "DeletedFinalStateUnknown")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted<R> {
    /// The key that is gone.
    pub key: ObjectKey,
    /// The last state known; `None` if there was none (a deletion of a key that was never seen).
    pub last_known: Option<R>,
    /// How the deletion was learned.
    pub cause: DeleteCause,
}

/// How a deletion was learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeleteCause {
    /// The server said so; the last state is the final one.
    Event,
    /// The object was missing from a new list: its deletion was not seen, and its last state may be stale. client-go
    /// calls this a tombstone.
    Missed,
    /// The object may still exist, but is no longer selected: its namespace was taken out of the informer.
    Unselected,
}

impl<R> Deleted<R> {
    /// Whether the deletion itself was missed, so that [`last_known`](Deleted::last_known) may be stale.
    pub fn is_tombstone(&self) -> bool {
        self.cause == DeleteCause::Missed
    }
}
