//! What is left to be spent on this thread, and how it is spent.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cel::ExecutionError;

use crate::nesting;

/// Charges for a round of a loop.
pub(super) const CHARGE: &str = "@charge";

/// What may be evaluated where others wait for it: less than a millisecond of an optimized build, and 10 of another one.
const LIGHT: u64 = 5_000;

/// How often it is looked whether an evaluation is to be stopped.
const STEP: u64 = 10_000;

/// So many bytes that are read or made cost one. A real server says ten of many functions and nothing of others, so that what it
/// allows fits in the budget here.
pub(in crate::schema::cel) const BYTES: u64 = 100;

thread_local! {
    /// What is left for the rule that this thread evaluates; none if it has cost too much. A function that CEL calls knows
    /// nothing but its arguments.
    static LEFT: Cell<Option<u64>> = const { Cell::new(Some(u64::MAX)) };
    /// What is left until somebody is asked whether to go on; none if this thread evaluates nothing more.
    static CURBED: Cell<Option<u64>> = const { Cell::new(Some(u64::MAX)) };
    /// Who is asked; nobody if it ends there.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Evaluates as little as others can wait for; none if that was not enough, and all that was evaluated counts for nothing.
pub(crate) fn lightly<T>(evaluate: impl FnOnce() -> T) -> Option<T> {
    curbed(LIGHT, None, evaluate)
}

/// Evaluates until somebody sets the flag; none if somebody has.
pub(crate) fn until_stopped<T>(stop: Arc<AtomicBool>, evaluate: impl FnOnce() -> T) -> Option<T> {
    curbed(STEP, Some(stop), evaluate)
}

/// Puts back what was there when it is dropped, also by a panic.
struct Curb {
    before: Option<u64>,
    stop: Option<Arc<AtomicBool>>,
}

impl Drop for Curb {
    fn drop(&mut self) {
        CURBED.set(self.before);
        STOP.set(self.stop.take());
    }
}

pub(super) fn curbed<T>(
    first: u64,
    stop: Option<Arc<AtomicBool>>,
    evaluate: impl FnOnce() -> T,
) -> Option<T> {
    let curb = Curb {
        before: CURBED.replace(Some(first)),
        stop: STOP.replace(stop),
    };
    let result = evaluate();
    let completed = CURBED.get().is_some();
    drop(curb);
    completed.then_some(result)
}

/// Runs something with a stack for values of so many levels, where it is stopped as on this thread.
pub(crate) fn with_room<T: Send>(levels: usize, f: impl FnOnce() -> T + Send) -> T {
    let (curbed, stop) = (CURBED.get(), STOP.with_borrow(Clone::clone));
    let (result, left) = nesting::with_room(levels, || {
        let curb = Curb {
            before: CURBED.replace(curbed),
            stop: STOP.replace(stop),
        };
        let result = f();
        let left = CURBED.get();
        drop(curb);
        (result, left)
    });
    CURBED.set(left);
    result
}

/// Takes what somebody does for an evaluation, such as reading a parameter of so many bytes; false if it is to end.
pub(crate) fn goes_on(bytes: usize) -> bool {
    goes_on_by(bytes as u64 / BYTES)
}

pub(in crate::schema::cel) fn goes_on_by(cost: u64) -> bool {
    let left = match CURBED.get() {
        None => return false,
        Some(left) => left.checked_sub(cost),
    };
    let left = left.or_else(|| {
        STOP.with_borrow(|stop| {
            let goes_on = |stop: &Arc<AtomicBool>| !stop.load(Ordering::Relaxed);
            stop.as_ref().is_some_and(goes_on).then_some(STEP)
        })
    });
    CURBED.set(left);
    left.is_some()
}

/// Evaluates within what is given; returns what is left of it, too.
pub(super) fn spending<T>(given: u64, evaluate: impl FnOnce() -> T) -> (T, Option<u64>) {
    LEFT.set(Some(given));
    let result = evaluate();
    (result, LEFT.replace(Some(u64::MAX)))
}

/// Takes a cost.
pub(in crate::schema::cel) fn pay(cost: u64) -> Result<(), ExecutionError> {
    let left = LEFT.get().and_then(|left| left.checked_sub(cost));
    let left = left.filter(|_| goes_on_by(cost));
    LEFT.set(left);
    left.map(|_| ()).ok_or_else(exceeded)
}

/// That nothing is left.
pub(super) fn exceeded() -> ExecutionError {
    ExecutionError::function_error(CHARGE, "actual cost limit exceeded")
}
