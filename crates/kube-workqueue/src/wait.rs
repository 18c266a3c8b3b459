//! Who waits for the queue, and what an operation leaves to do once the lock is released.

use std::collections::VecDeque;
use std::task::Waker;

/// Names a waiting future.
pub(crate) type WaiterId = u64;

/// What an operation leaves to do once the lock is released: calling wakers, and dropping them, runs code that is not
/// ours.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// How many runs were accepted, for the metrics.
    pub(crate) added: usize,
    /// Most operations have none: a null pointer is quickly made and dropped.
    wakers: Option<Box<Wakers>>,
}

#[derive(Debug, Default)]
struct Wakers {
    wake: Vec<Waker>,
    unused: Vec<Waker>,
}

impl Effects {
    pub(crate) fn wake(&mut self, waker: Waker) {
        self.wakers.get_or_insert_default().wake.push(waker);
    }

    /// The waker is only dropped.
    pub(crate) fn discard(&mut self, waker: Waker) {
        self.wakers.get_or_insert_default().unused.push(waker);
    }
}

impl Drop for Effects {
    #[inline]
    fn drop(&mut self) {
        if let Some(wakers) = self.wakers.take() {
            wakers.wake.into_iter().for_each(Waker::wake);
        }
    }
}

/// Futures in line. There are about as many as there are workers, so that finding one by looking is fine.
#[derive(Debug, Default)]
pub(crate) struct Line {
    waiters: VecDeque<(WaiterId, Waker)>,
}

impl Line {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiters.is_empty()
    }

    pub(crate) fn join(&mut self, id: WaiterId, waker: Waker) {
        self.waiters.push_back((id, waker));
    }

    /// False if it was not in line.
    pub(crate) fn leave(&mut self, id: WaiterId, effects: &mut Effects) -> bool {
        let Some(at) = self.waiters.iter().position(|&(other, _)| other == id) else {
            return false;
        };
        if let Some((_, waker)) = self.waiters.remove(at) {
            effects.discard(waker);
        }
        true
    }

    pub(crate) fn wake_first(&mut self, effects: &mut Effects) -> bool {
        let first = self.waiters.pop_front();
        let found = first.is_some();
        if let Some((_, waker)) = first {
            effects.wake(waker);
        }
        found
    }
}
