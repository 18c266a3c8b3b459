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

use std::sync::OnceLock;

use cel::{Context, ExecutionError, IdedExpr, Value as CelValue};

use super::memberless;
use super::parsed::room_of;
use crate::nesting;

mod charged;
mod logic;
mod meter;
mod patterns;
pub(super) mod purse;

pub(super) use charged::declare;
pub(crate) use purse::{goes_on, lightly, until_stopped, with_room};

use patterns::Patterns;
use purse::goes_on_by;

/// The most that one rule may cost, as in a real server.
const OF_RULE: u64 = 1_000_000;

/// The most that the rules of one object may cost, or a policy with one parameter, as in a real server.
const OF_OBJECT: u64 = 10_000_000;

/// The most that match conditions may cost, as in a real server.
const OF_CONDITIONS: u64 = 2_500_000;

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
                purse::spending(given, || {
                    self.patterns.within(|| logic::evaluated(expression, context))
                })
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
