//! Where something is found in an object.

use std::cell::RefCell;
use std::rc::Rc;

use super::sizes::{Sizes, Step};

/// The steps to a part, the first of which is a variable; none if it is in no object.
///
/// These are slices of Go: steps that are added to one path twice share their memory, if it has room, so that the second one is in both
/// paths. In `x.t.all(y, y == x.k)` the path of `x.t` is one to `x.k` after the loop. What a real server estimates depends on
/// it.
#[derive(Clone, Debug, Default)]
pub(super) struct Path<'a> {
    memory: Rc<Memory<'a>>,
    length: usize,
}

#[derive(Debug, Default)]
struct Memory<'a> {
    steps: RefCell<Vec<Step<'a>>>,
    capacity: usize,
}

impl<'a> Path<'a> {
    /// The path with one more step.
    pub(super) fn with(&self, step: Step<'a>) -> Self {
        let length = self.length + 1;
        let mut steps = self.memory.steps.borrow_mut();
        if length <= self.memory.capacity {
            match steps.get_mut(self.length) {
                Some(place) => *place = step,
                None => steps.push(step),
            }
            let memory = self.memory.clone();
            return Self { memory, length };
        }
        let mut copied = steps[..self.length].to_vec();
        copied.push(step);
        let memory = Memory {
            steps: RefCell::new(copied),
            capacity: (2 * self.memory.capacity).max(1),
        };
        Self {
            memory: Rc::new(memory),
            length,
        }
    }

    /// A path that shares nothing with others.
    pub(super) fn copied(&self) -> Self {
        let steps = self.memory.steps.borrow()[..self.length].to_vec();
        let memory = Memory {
            steps: RefCell::new(steps),
            capacity: self.length,
        };
        Self {
            memory: Rc::new(memory),
            length: self.length,
        }
    }

    pub(super) fn is_somewhere(&self) -> bool {
        self.length > 0
    }

    /// The sizes of what is there, if they are known. A real server takes every variable for `self`.
    pub(super) fn of<'s>(&self, of_self: &'s Sizes) -> Option<&'s Sizes> {
        let steps = self.memory.steps.borrow();
        let (_, steps) = steps.get(..self.length)?.split_first()?;
        steps.iter().try_fold(of_self, |sizes, step| sizes.step(*step))
    }
}
