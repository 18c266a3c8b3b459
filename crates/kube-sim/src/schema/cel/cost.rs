//! What rules cost.
//!
//! A real server counts what a rule costs while it is evaluated, and gives up a rule, or all rules of an object, that cost too
//! much. Here each round of a loop costs one for each name, selection and call in it, which is about what a real server
//! counts. What is outside of loops is bounded by the length of the rule, and costs nothing.
//!
//! Values that a call makes or reads as a whole, and what is put into a list or a map, cost a hundredth of their bytes wherever they
//! are, so that no rule takes more memory or time than it may cost. `meter` puts these costs into an expression, `charged` has the
//! functions that take them, `patterns` those of regular expressions.
//!
//! # Where it is evaluated
//!
//! A whole budget is seconds of work. So whoever holds a lock, or must not block, evaluates [lightly] and gives the work to
//! somebody else if it is more than that; who has waited for long enough [stops](until_stopped) it.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use cel::{Context, ExecutionError, IdedExpr, Value as CelValue};

use super::memberless;
use super::parsed::room_of;
use crate::nesting;

mod charged;
mod logic;
mod meter;
mod patterns;

pub(super) use charged::{declare, length};
use patterns::Patterns;

/// The most that one rule may cost, as in a real server.
const OF_RULE: u64 = 1_000_000;

/// The most that the rules of one object may cost, or a policy with one parameter, as in a real server.
const OF_OBJECT: u64 = 10_000_000;

/// The most that match conditions may cost, as in a real server.
const OF_CONDITIONS: u64 = 2_500_000;

/// What may be evaluated where others wait for it: less than a millisecond of an optimized build, and 10 of another one.
const LIGHT: u64 = 5_000;

/// How often it is looked whether an evaluation is to be stopped.
const STEP: u64 = 10_000;

/// So many bytes that are read or made cost one. A real server says ten of many functions and nothing of others, so that what it
/// allows fits in the budget here.
pub(super) const BYTES: u64 = 100;

/// What making a list or a map costs.
const CONTAINER: u64 = 10;

thread_local! {
    /// What is left for the rule that this thread evaluates; none if it has cost too much. A function that CEL calls knows
    /// nothing but its arguments.
    static LEFT: Cell<Option<u64>> = const { Cell::new(Some(u64::MAX)) };
    /// What is left until somebody is asked whether to go on; none if this thread evaluates nothing more.
    static CURBED: Cell<Option<u64>> = const { Cell::new(Some(u64::MAX)) };
    /// Who is asked; nobody if it ends there.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// An expression that charges for what it does, and the stack that it needs.
pub(super) struct Metered {
    expression: IdedExpr,
    patterns: Patterns,
    /// The levels of JSON that need as much stack.
    room: usize,
    /// The same expression and its room for values without members, once there was one.
    memberless: OnceLock<(IdedExpr, usize)>,
}

impl Metered {
    /// `optional_old` says whether `oldSelf` is an optional value.
    pub(super) fn of(mut expression: IdedExpr, optional_old: bool) -> Self {
        let (mut expression, patterns, has_optional) = nesting::with_room(room_of(&expression), || {
            let patterns = Patterns::taken_from(&mut expression);
            let has_optional = meter::has_optional(&expression, optional_old);
            (meter::metered(expression), patterns, has_optional)
        });
        if has_optional {
            nesting::with_room(room_of(&expression), || meter::meter_optional(&mut expression));
        }
        Self {
            room: room_of(&expression),
            expression,
            patterns,
            memberless: OnceLock::new(),
        }
    }

    /// Evaluates within what is given; returns what is left of it, too.
    fn evaluate(
        &self,
        context: &Context<'_, '_>,
        given: u64,
    ) -> (Result<CelValue, ExecutionError>, Option<u64>) {
        let within = |expression: &IdedExpr, room: usize, given: u64| {
            with_room(room, || {
                LEFT.set(Some(given));
                let result = self.patterns.within(|| logic::evaluated(expression, context));
                (result, LEFT.replace(Some(u64::MAX)))
            })
        };
        match within(&self.expression, self.room, given) {
            (Err(error), Some(left)) if memberless::is_reason(&error) => {
                let (expression, room) = self.memberless.get_or_init(|| {
                    nesting::with_room(self.room, || {
                        let mut expression = self.expression.clone();
                        memberless::as_empty(&mut expression);
                        let room = room_of(&expression);
                        (expression, room)
                    })
                });
                within(expression, *room, left)
            }
            evaluated => evaluated,
        }
    }
}

/// Why a rule was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exceeded {
    Rule,
    Object,
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

fn curbed<T>(first: u64, stop: Option<Arc<AtomicBool>>, evaluate: impl FnOnce() -> T) -> Option<T> {
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

pub(super) fn goes_on_by(cost: u64) -> bool {
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

/// What is left for the rules of one object.
#[derive(Debug)]
pub(super) struct Budget(u64);

impl Budget {
    pub(super) fn new() -> Self {
        Self(OF_OBJECT)
    }

    pub(super) fn of_conditions() -> Self {
        Self(OF_CONDITIONS)
    }

    /// Evaluates an expression.
    pub(super) fn spend(
        &mut self,
        expression: &Metered,
        context: &Context<'_, '_>,
    ) -> Result<Result<CelValue, ExecutionError>, Exceeded> {
        // What an expression costs at least, so that a great many of them end, too.
        if !goes_on_by(1) {
            return Err(Exceeded::Object);
        }
        let given = self.0.min(OF_RULE);
        let (result, left) = expression.evaluate(context, given);
        match left {
            Some(left) => {
                self.0 -= given.saturating_sub(left);
                Ok(result)
            }
            None => {
                self.0 -= given;
                Err(match given < OF_RULE {
                    true => Exceeded::Object,
                    false => Exceeded::Rule,
                })
            }
        }
    }
}

/// Takes a cost.
pub(super) fn pay(cost: u64) -> Result<(), ExecutionError> {
    let left = LEFT.get().and_then(|left| left.checked_sub(cost));
    let left = left.filter(|_| goes_on_by(cost));
    LEFT.set(left);
    left.map(|_| ()).ok_or_else(exceeded)
}

fn exceeded() -> ExecutionError {
    ExecutionError::function_error(charged::CHARGE, "actual cost limit exceeded")
}
