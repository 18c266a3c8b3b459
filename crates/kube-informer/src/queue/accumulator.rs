//! What changes of one key come to while they wait.

use super::Delta;

/// What waits in a [`Queue`](super::Queue) under one key.
///
/// A key stands in line once. Changes that come while it waits are added to its accumulator, which decides what is left
/// to process: all of them ([`Deltas`](super::Deltas)), or the newest object ([`Newest`]).
pub trait Accumulator: Sized {
    /// The objects that the changes are of.
    type Object;

    /// Whether a new list replaces everything of its partition that is waiting. Then each listed object waits under its
    /// own key, and a resync does nothing. Otherwise lists and resyncs are entries of their own, which nothing overtakes.
    const LIST_REPLACES: bool;

    /// Starts with the first change of a key. `None` if it leaves nothing to process.
    fn start(change: Delta<Self::Object>) -> Option<Self>;

    /// Adds a later change of the key.
    fn add(&mut self, change: Delta<Self::Object>);

    /// The number of changes to process; zero if later changes have undone the earlier ones.
    fn len(&self) -> usize;

    /// Whether nothing is left to process. Such a key is skipped when its turn comes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The accumulator of [`Fifo`](super::Fifo): the newest state of one object.
///
/// An object that is added and updated several times before its turn is processed once, in its newest state. One that is
/// deleted before its turn is not processed.
///
/// ```
/// use kube_informer::queue::{Accumulator, Delta, Newest};
///
/// let mut newest = Newest::start(Delta::Added("v1")).expect("an object to process");
/// newest.add(Delta::Updated("v2"));
/// assert_eq!(newest.into_inner(), Some("v2"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest<T>(Option<T>);

impl<T> Newest<T> {
    /// The object; `None` if it has been deleted. What a queue returns is never `None`.
    pub fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }

    /// The object; `None` if it has been deleted. What a queue returns is never `None`.
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
