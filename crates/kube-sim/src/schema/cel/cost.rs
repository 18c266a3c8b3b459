//! What rules cost.
//!
//! A real server counts what a rule costs while it is evaluated, and gives up a rule, or all rules of an object, that cost too
//! much. Here each round of a loop costs one for each name, selection and call in it, which is about what a real server
//! counts. What is outside of loops is bounded by the length of the rule, and costs nothing.

use std::cell::Cell;

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use cel::common::types::{CelInt, DYN_TYPE, INT_TYPE};
use cel::common::value::CowVal;
use cel::{DeclarationError, Env, ExecutionError};

/// The most that one rule may cost, as in a real server.
const OF_RULE: u64 = 1_000_000;

/// The most that the rules of one object may cost, as in a real server.
const OF_OBJECT: u64 = 10_000_000;

/// The function that charges for a round of a loop: no rule can call it, since its name is none.
const CHARGE: &str = "@charge";

/// What making a list or a map costs.
const CONTAINER: u64 = 10;

thread_local! {
    /// What is left for the rule that this thread evaluates; none if it has cost too much. A function that CEL calls knows
    /// nothing but its arguments.
    static LEFT: Cell<Option<u64>> = const { Cell::new(Some(u64::MAX)) };
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

    /// Evaluates an expression that is [metered].
    pub(super) fn spend<T>(&mut self, evaluate: impl FnOnce() -> T) -> Result<T, Exceeded> {
        let given = self.0.min(OF_RULE);
        LEFT.set(Some(given));
        let result = evaluate();
        match LEFT.replace(Some(u64::MAX)) {
            Some(left) => {
                self.0 -= given.saturating_sub(left);
                Ok(result)
            }
            None if given < OF_RULE => Err(Exceeded::Object),
            None => Err(Exceeded::Rule),
        }
    }
}

/// Declares what metered expressions call.
pub(super) fn declare(environment: &mut Env) -> Result<(), DeclarationError> {
    environment.add_overload(CHARGE, "charge", vec![INT_TYPE, DYN_TYPE], charge)
}

/// Takes the cost, the first argument, and gives the second one back.
fn charge<'b, 'v>(mut arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let cost = arguments
        .first()
        .and_then(|cost| cost.downcast_ref::<CelInt>())
        .and_then(|cost| u64::try_from(*cost.inner()).ok());
    let left = LEFT.get().and_then(|left| left.checked_sub(cost.unwrap_or(1)));
    LEFT.set(left);
    match (left, arguments.pop()) {
        (Some(_), Some(value)) => Ok(value),
        _ => Err(ExecutionError::function_error(
            CHARGE,
            "actual cost limit exceeded",
        )),
    }
}

/// The expression with a charge for each round of its loops.
pub(super) fn metered(mut expression: IdedExpr) -> IdedExpr {
    meter(&mut expression);
    expression
}

/// Returns what the expression costs outside of its loops.
fn meter(expression: &mut IdedExpr) -> u64 {
    match &mut expression.expr {
        Expr::Unspecified | Expr::Literal(_) => 0,
        Expr::Ident(_) => 1,
        Expr::Select(select) => 1 + meter(&mut select.operand),
        Expr::Call(call) => {
            let target = call.target.as_mut().map_or(0, |target| meter(target));
            1 + target + call.args.iter_mut().map(meter).sum::<u64>()
        }
        Expr::List(list) => CONTAINER + list.elements.iter_mut().map(meter).sum::<u64>(),
        Expr::Map(map) => {
            CONTAINER
                + map
                    .entries
                    .iter_mut()
                    .map(|entry| meter_entry(&mut entry.expr))
                    .sum::<u64>()
        }
        Expr::Struct(structure) => {
            let entries = structure.entries.iter_mut();
            CONTAINER + entries.map(|entry| meter_entry(&mut entry.expr)).sum::<u64>()
        }
        Expr::Comprehension(of) => {
            let once = [&mut of.iter_range, &mut of.accu_init, &mut of.result].map(meter);
            let round = meter(&mut of.loop_cond) + meter(&mut of.loop_step);
            // The condition, unless it is none: then `cel` recognizes steps of some shapes, which must stay.
            match of.loop_cond.expr {
                Expr::Literal(_) => charge_for_step(&mut of.loop_step, round.max(1)),
                _ => charge_for(&mut of.loop_cond, round.max(1)),
            }
            once.iter().sum()
        }
    }
}

fn meter_entry(entry: &mut EntryExpr) -> u64 {
    match entry {
        EntryExpr::StructField(field) => meter(&mut field.value),
        EntryExpr::MapEntry(entry) => meter(&mut entry.key) + meter(&mut entry.value),
    }
}

/// Charges in the part of a step that each round evaluates: what a step depends on, what it adds to a list, or all of it.
fn charge_for_step(step: &mut IdedExpr, cost: u64) {
    if let Expr::Call(call) = &mut step.expr {
        let part = match call.func_name.as_str() {
            operators::CONDITIONAL => call.args.first_mut(),
            operators::ADD => match call.args.last_mut().map(|last| &mut last.expr) {
                Some(Expr::List(list)) => list.elements.first_mut(),
                _ => None,
            },
            _ => None,
        };
        if let Some(part) = part {
            return charge_for(part, cost);
        }
    }
    charge_for(step, cost);
}

fn charge_for(part: &mut IdedExpr, cost: u64) {
    let inner = std::mem::take(part);
    let id = inner.id;
    let cost = i64::try_from(cost).unwrap_or(i64::MAX);
    let cost = IdedExpr {
        id,
        expr: Expr::Literal(LiteralValue::Int(cost.into())),
    };
    *part = IdedExpr {
        id,
        expr: Expr::Call(CallExpr {
            func_name: CHARGE.to_owned(),
            target: None,
            args: vec![cost, inner],
        }),
    };
}
