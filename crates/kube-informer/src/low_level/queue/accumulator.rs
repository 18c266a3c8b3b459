//! Accumulators: the pending changes of one key.

use super::Delta;

/// The pending changes of one key in a [`Queue`](super::Queue).
///
/// A key is in the queue at most once. Changes that arrive while it is pending are added to its accumulator, which
/// determines what is processed: all changes ([`Deltas`](super::Deltas)), or the newest object ([`Newest`]).
pub trait Accumulator: Sized {
    /// The type of the objects.
    type Object;

    /// Whether a new list replaces all pending changes of its partition. If true, each listed object is queued under
    /// its own key, and a resync does nothing. If false, lists and resyncs are separate entries that nothing
    /// overtakes.
    const LIST_REPLACES: bool;

    /// Creates an accumulator from the first change of a key. `None` if there is nothing to process.
    fn start(change: Delta<Self::Object>) -> Option<Self>;

    /// Adds a later change of the key.
    fn add(&mut self, change: Delta<Self::Object>);

    /// The number of changes to process; zero if later changes cancel earlier ones.
    fn len(&self) -> usize;

    /// Whether there is nothing to process. Such a key is skipped when it reaches the front.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The accumulator of [`Fifo`](super::Fifo): the newest state of one object.
///
/// An object that is added and updated several times before it is popped is processed once, in its newest state. An
/// object that is deleted before it is popped is not processed.
///
/// ```
/// use kube_informer::low_level::queue::{Accumulator, Delta, Newest};
///
/// let mut newest = Newest::start(Delta::Added("v1")).expect("an object to process");
/// newest.add(Delta::Updated("v2"));
/// assert_eq!(newest.into_inner(), Some("v2"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest<T>(Option<T>);

impl<T> Newest<T> {
    /// The object; `None` if it has been deleted. Never `None` for accumulators that a queue returns.
    pub fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }

    /// The object; `None` if it has been deleted. Never `None` for accumulators that a queue returns.
    pub fn into_inner(self) -> Option<T> {
        self.0
    }
}

impl<T> Accumulator for Newest<T> {
    type Object = T;

    const LIST_REPLACES: bool = true;

    fn start(change: Delta<T>) -> Option<Self> {
        match change {
            Delta::Added(object) | Delta::Updated(object) | Delta::Replaced(object) => {
                Some(Self(Some(object)))
            }
            Delta::Deleted(_) => None,
        }
    }

    fn add(&mut self, change: Delta<T>) {
        match change {
            Delta::Added(object) | Delta::Updated(object) | Delta::Replaced(object) => self.0 = Some(object),
            Delta::Deleted(_) => self.0 = None,
        }
    }

    fn len(&self) -> usize {
        usize::from(self.0.is_some())
    }
}
