//! Waiting futures, and the effects of an operation that run after the lock is released.

use std::collections::VecDeque;
use std::task::Waker;

use crate::priority::Priority;

/// Identifies a waiting future.
pub(crate) type WaiterId = u64;

/// The effects of an operation that run after the lock is released, because calling and dropping wakers runs
/// user code.
#[derive(Debug)]
pub(crate) struct Effects {
    /// The number of accepted adds, for metrics.
    pub(crate) added: usize,
    /// By how much the number of queued items of this priority has changed, for metrics. `rest` has the other priorities.
    depth: (Priority, i64),
    /// Most operations have none of these effects; a null pointer is cheap to create and drop.
    rest: Option<Box<Rest>>,
}

#[derive(Debug)]
struct Rest {
    depths: Vec<(Priority, i64)>,
    wake: Vec<Waker>,
    unused: Vec<Waker>,
}

impl Effects {
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            added: 0,
            depth: (Priority::NORMAL, 0),
            rest: None,
        }
    }

    /// Notes that there are so many more queued items of this priority.
    #[inline]
    pub(crate) fn deepen(&mut self, priority: Priority, by: i64) {
        match self.depth {
            (_, 0) => self.depth = (priority, by),
            (first, _) if first == priority => self.depth.1 += by,
            _ => self.rest().depths.push((priority, by)),
        }
    }

    /// By how much the number of queued items has changed; a priority can occur several times.
    pub(crate) fn depths(&self) -> impl Iterator<Item = (Priority, i64)> {
        let others = self.rest.iter().flat_map(|rest| &rest.depths);
        let all = std::iter::once(&self.depth).chain(others);
        all.copied().filter(|(_, by)| *by != 0)
    }

    pub(crate) fn wake(&mut self, waker: Waker) {
        self.rest().wake.push(waker);
    }

    /// Drops a waker after the lock is released.
    pub(crate) fn discard(&mut self, waker: Waker) {
        self.rest().unused.push(waker);
    }

    fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_with(|| {
            Box::new(Rest {
                depths: Vec::new(),
                wake: Vec::new(),
                unused: Vec::new(),
            })
        })
    }

    /// Runs the effects; call it without the lock.
    #[inline]
    pub(crate) fn run(self) {
        if let Some(rest) = self.rest {
            (*rest).run();
        }
    }
}

impl Rest {
    #[cold]
    fn run(self) {
        self.wake.into_iter().for_each(Waker::wake);
    }
}

/// Waiting futures in order. There are about as many as workers, so a linear search is sufficient.
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

    /// Returns false if it was not waiting.
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
