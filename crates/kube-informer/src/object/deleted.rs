//! The deletion of an object.

use super::ObjectKey;

/// A deletion: the key of the deleted object and its last known state, if any.
///
/// In client-go, a deletion that the watch missed is delivered as a different Go type
/// (`DeletedFinalStateUnknown`), and handlers that do not check for it panic. Here every deletion has this
/// type, and [`cause`](Deleted::cause) tells whether `last_known` is the final state or only the last one
/// seen.
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
    /// The key of the deleted object.
    pub key: ObjectKey,
    /// The last known state; `None` if there is none (a deletion of a key that was never seen).
    pub last_known: Option<R>,
    /// How the deletion was detected.
    pub cause: DeleteCause,
}

/// How a deletion was detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeleteCause {
    /// A watch event reported it; the last state is the final one.
    Event,
    /// The object was missing from a new list: the watch missed its deletion, and its last state may be
    /// stale. client-go calls this a tombstone.
    Missed,
    /// The object may still exist, but is no longer selected: its namespace or shard was removed from the
    /// informer, or a filter no longer passes it.
    Unselected,
}

impl<R> Deleted<R> {
    /// Whether the deletion itself was missed, so that [`last_known`](Deleted::last_known) may be stale.
    pub fn is_tombstone(&self) -> bool {
        self.cause == DeleteCause::Missed
    }
}
