//! The changes of a key.

use super::Accumulator;
use smallvec::SmallVec;

/// One change of one key.
///
/// The variants are named after the events that caused them. The store determines whether handlers see an add or an
/// update: an `Added` for a stored key is an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta<T> {
    /// The server reported that the object was added.
    Added(T),
    /// The server reported that the object was modified.
    Updated(T),
    /// The object was deleted; this is its last state, if it is known.
    Deleted(Option<T>),
    /// The object was in a new list. Only a [`Fifo`](super::Fifo) queues it: to a [`DeltaFifo`](super::DeltaFifo) a list is one
    /// entry, [`Entries::Replace`](super::Entries::Replace).
    Replaced(T),
}

impl<T> Delta<T> {
    /// The object, or its last known state if it was deleted.
    pub fn object(&self) -> Option<&T> {
        match self {
            Self::Added(object) | Self::Updated(object) | Self::Replaced(object) => Some(object),
            Self::Deleted(last_known) => last_known.as_ref(),
        }
    }
}

/// The pending changes of one key, oldest first; never empty.
///
/// ```
/// use kube_informer::low_level::queue::{Delta, Deltas};
/// let deltas = Deltas::from(Delta::Added("v1"));
/// assert_eq!(deltas.newest(), &Delta::Added("v1"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deltas<T>(SmallVec<[Delta<T>; 1]>);

impl<T> Deltas<T> {
    /// Appends a change. Of two deletions in a row only one is kept: the older, unless only the newer one has the last state.
    pub fn push(&mut self, delta: Delta<T>) {
        match (self.0.last_mut(), delta) {
            (Some(Delta::Deleted(older)), Delta::Deleted(newer)) => *older = older.take().or(newer),
            (_, delta) => self.0.push(delta),
        }
    }

    /// The changes, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Delta<T>> {
        self.0.iter()
    }

    /// The latest change.
    pub fn newest(&self) -> &Delta<T> {
        &self.0[self.0.len() - 1]
    }
}

impl<T> Accumulator for Deltas<T> {
    type Object = T;

    const LIST_REPLACES: bool = false;

    fn start(change: Delta<T>) -> Option<Self> {
        Some(change.into())
    }

    fn add(&mut self, change: Delta<T>) {
        self.push(change);
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T> From<Delta<T>> for Deltas<T> {
    fn from(delta: Delta<T>) -> Self {
        Self(SmallVec::from_buf([delta]))
    }
}

impl<T> IntoIterator for Deltas<T> {
    type Item = Delta<T>;
    type IntoIter = smallvec::IntoIter<[Delta<T>; 1]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_consecutive_deletions_the_more_informed_one_is_kept() {
        let merge = |a: Option<u32>, b: Option<u32>| {
            let mut deltas = Deltas::from(Delta::Deleted(a));
            deltas.push(Delta::Deleted(b));
            assert_eq!(deltas.len(), 1);
            deltas.newest().clone()
        };
        assert_eq!(merge(Some(1), Some(2)), Delta::Deleted(Some(1)));
        assert_eq!(merge(Some(1), None), Delta::Deleted(Some(1)));
        assert_eq!(merge(None, Some(2)), Delta::Deleted(Some(2)));
    }

    #[test]
    fn deletions_that_are_not_consecutive_are_kept() {
        let mut deltas = Deltas::from(Delta::Deleted(Some(1)));
        deltas.push(Delta::Added(2));
        deltas.push(Delta::Deleted(Some(2)));
        assert_eq!(deltas.len(), 3);
    }
}
