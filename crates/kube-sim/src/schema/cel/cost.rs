//! What rules cost.
//!
//! A real server counts what a rule costs while it is evaluated, and gives up a rule, or all rules of an object, that cost too
//! much. Here each round of a loop costs one for each name, selection and call in it, which is about what a real server
//! counts. What is outside of loops is bounded by the length of the rule, and costs nothing.
//!
//! Strings, bytes, lists and maps that a call makes, and what is put into a list or a map, cost a tenth of their length wherever they
//! are made, so that no rule takes more memory than it may cost. `replace` and `join` are charged before they make anything.

use std::cell::Cell;

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use cel::common::types::{CelBytes, CelInt, CelList, CelMap, CelString, DYN_TYPE, INT_TYPE};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError};

/// The most that one rule may cost, as in a real server.
const OF_RULE: u64 = 1_000_000;

/// The most that the rules of one object may cost, as in a real server.
const OF_OBJECT: u64 = 10_000_000;

/// The function that charges for a round of a loop: no rule can call it, since its name is none.
const CHARGE: &str = "@charge";

/// Charges for the size of a value.
const SIZED: &str = "@sized";

/// What `replace` and `join` are called instead.
const REPLACE: &str = "@replace";
const JOIN: &str = "@join";

/// So many bytes cost one, as in a real server.
const BYTES: u64 = 10;

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

/// Declares what metered expressions call.
pub(super) fn declare(environment: &mut Env) -> Result<(), DeclarationError> {
    environment.add_overload(CHARGE, "charge", vec![INT_TYPE, DYN_TYPE], charge)?;
    environment.add_overload(SIZED, "sized", vec![DYN_TYPE], sized)?;
    let any = |count: usize| (0..count).map(|_| DYN_TYPE).collect();
    environment.add_overload(REPLACE, "replace", any(3), replace)?;
    environment.add_overload(REPLACE, "replace_some", any(4), replace)?;
    environment.add_overload(JOIN, "join", any(1), join)?;
    environment.add_overload(JOIN, "join_with", any(2), join)
}

/// Takes what a value costs, and gives the value back.
fn sized<'b, 'v>(mut arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let Some(value) = arguments.pop() else {
        return Err(exceeded());
    };
    pay(length(value.as_ref()) / BYTES)?;
    Ok(value)
}

/// The bytes of a value's strings, and an element for each other.
fn length(value: &dyn Val) -> u64 {
    let of = |length: usize| length as u64;
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        return of(text.inner().len());
    }
    if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        return of(bytes.inner().len());
    }
    if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        return list.inner().iter().map(|item| 1 + length(&**item)).sum();
    }
    if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        return map.inner().values().map(|item| 1 + length(&**item)).sum();
    }
    0
}

/// `replace` of the extension for strings, which may make a string of the product of two lengths.
fn replace<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let text = |at: usize| {
        let argument = arguments
            .get(at)
            .and_then(|argument| argument.downcast_ref::<CelString<'_>>());
        argument
            .map(|text| text.inner().to_owned())
            .ok_or_else(|| mismatch("replace"))
    };
    let (target, old, new) = (text(0)?, text(1)?, text(2)?);
    let count = match arguments.get(3) {
        None => None,
        Some(count) => match count.downcast_ref::<CelInt>() {
            Some(count) => usize::try_from(*count.inner()).ok(),
            None => return Err(mismatch("replace")),
        },
    };
    let places = match old.len() {
        0 => target.chars().count() + 1,
        _ => target.matches(&*old).count(),
    };
    let places = places.min(count.unwrap_or(usize::MAX)) as u64;
    pay((target.len() as u64).saturating_add(places.saturating_mul(new.len() as u64)) / BYTES)?;
    let replaced = match count {
        Some(count) => target.replacen(&*old, &new, count),
        None => target.replace(&*old, &new),
    };
    Ok(CowVal::owned(CelString::from(replaced)))
}

/// `join` of the extension for lists.
fn join<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let list = arguments
        .first()
        .and_then(|list| list.downcast_ref::<CelList<'_>>());
    let items = list.ok_or_else(|| mismatch("join"))?.inner().iter();
    let items: Option<Vec<&str>> = items
        .map(|item| item.downcast_ref::<CelString<'_>>().map(|text| text.inner()))
        .collect();
    let items = items.ok_or_else(|| mismatch("join"))?;
    let between = match arguments.get(1) {
        None => "",
        Some(text) => match text.downcast_ref::<CelString<'_>>() {
            Some(text) => text.inner(),
            None => return Err(mismatch("join")),
        },
    };
    let own: u64 = items.iter().map(|item| item.len() as u64).sum();
    pay(own.saturating_add((items.len() as u64).saturating_mul(between.len() as u64)) / BYTES)?;
    Ok(CowVal::owned(CelString::from(items.join(between))))
}

/// Takes a cost.
fn pay(cost: u64) -> Result<(), ExecutionError> {
    let left = LEFT.get().and_then(|left| left.checked_sub(cost));
    LEFT.set(left);
    left.map(|_| ()).ok_or_else(exceeded)
}

/// Arguments of other types.
fn mismatch(function: &str) -> ExecutionError {
    ExecutionError::no_such_overload(function, Vec::new())
}

fn exceeded() -> ExecutionError {
    ExecutionError::function_error(CHARGE, "actual cost limit exceeded")
}

/// Takes the cost, the first argument, and gives the second one back.
fn charge<'b, 'v>(mut arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let cost = arguments
        .first()
        .and_then(|cost| cost.downcast_ref::<CelInt>())
        .and_then(|cost| u64::try_from(*cost.inner()).ok());
    pay(cost.unwrap_or(1))?;
    arguments.pop().ok_or_else(exceeded)
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
            let cost = 1 + target + call.args.iter_mut().map(meter).sum::<u64>();
            bound(call);
            if makes(call) {
                size(expression);
            }
            cost
        }
        Expr::List(list) => CONTAINER + list.elements.iter_mut().map(meter_part).sum::<u64>(),
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
            let round = meter(&mut of.loop_cond) + meter_step(&mut of.loop_step);
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
        EntryExpr::StructField(field) => meter_part(&mut field.value),
        EntryExpr::MapEntry(entry) => meter_part(&mut entry.key) + meter_part(&mut entry.value),
    }
}

/// The same of what is copied into a list or a map.
fn meter_part(part: &mut IdedExpr) -> u64 {
    let cost = meter(part);
    let is_sized = matches!(&part.expr, Expr::Call(call) if call.func_name == SIZED);
    if !is_sized && !matches!(part.expr, Expr::Literal(_)) {
        size(part);
    }
    cost
}

/// The same of the step of a loop, in which `cel` recognizes what adds to a list: only what is added has a size.
fn meter_step(step: &mut IdedExpr) -> u64 {
    match &mut step.expr {
        Expr::Call(call) if matches!(&*call.func_name, operators::CONDITIONAL | operators::ADD) => {
            1 + call.args.iter_mut().map(meter_step).sum::<u64>()
        }
        _ => meter(step),
    }
}

/// Whether a call may make something large.
fn makes(call: &CallExpr) -> bool {
    const OTHERS: [&str; 13] = [
        operators::ADD,
        "format",
        "lowerAscii",
        "upperAscii",
        "reverse",
        "trim",
        "split",
        "substring",
        "string",
        "bytes",
        "flatten",
        "quote",
        "strings.quote",
    ];
    OTHERS.contains(&&*call.func_name)
}

/// Has `replace` and `join` charged before they make something.
fn bound(call: &mut CallExpr) {
    let name = match (call.func_name.as_str(), call.args.len(), &call.target) {
        ("replace", 2 | 3, Some(_)) => REPLACE,
        ("join", 0 | 1, Some(_)) => JOIN,
        _ => return,
    };
    call.func_name = name.to_owned();
    call.args.splice(0..0, call.target.take().map(|target| *target));
}

/// Charges for the size of what an expression comes to.
fn size(expression: &mut IdedExpr) {
    let inner = std::mem::take(expression);
    *expression = IdedExpr {
        id: inner.id,
        expr: Expr::Call(CallExpr {
            func_name: SIZED.to_owned(),
            target: None,
            args: vec![inner],
        }),
    };
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
