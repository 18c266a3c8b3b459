//! Lists of what compares and adds up.

use std::cmp::Ordering;

use cel::Value;
use cel::common::value::Val;

use super::argument::{Argument, Result, failed, mismatch};

fn items<'a>(arguments: &[Argument<'a>]) -> Result<&'a [Box<dyn Val + 'a>]> {
    match arguments.first() {
        Some(Argument::List(items)) => Ok(items),
        _ => Err(mismatch()),
    }
}

fn order(one: &dyn Val, other: &dyn Val) -> Result<Ordering> {
    let comparer = one.as_comparer().ok_or_else(mismatch)?;
    comparer.compare(other).map_err(|_| mismatch())
}

pub(super) fn is_sorted(arguments: &[Argument<'_>]) -> Result {
    for pair in items(arguments)?.windows(2) {
        if order(&*pair[0], &*pair[1])?.is_gt() {
            return Ok(false.into());
        }
    }
    Ok(true.into())
}

/// What can be added.
fn summand(item: &dyn Val) -> Result {
    let is_summable = item.as_sizer().is_none();
    match is_summable.then(|| Value::try_from(item)) {
        Some(Ok(value @ (Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Duration(_)))) => {
            Ok(value)
        }
        _ => Err(mismatch()),
    }
}

pub(super) fn sum(arguments: &[Argument<'_>]) -> Result {
    let mut items = items(arguments)?.iter();
    let Some(first) = items.next() else {
        return Ok(Value::Int(0));
    };
    items.try_fold(summand(&**first)?, |sum, item| sum + summand(&**item)?)
}

pub(super) fn min(arguments: &[Argument<'_>]) -> Result {
    preferred(arguments, "min", Ordering::Greater)
}

pub(super) fn max(arguments: &[Argument<'_>]) -> Result {
    preferred(arguments, "max", Ordering::Less)
}

/// The first item to which no other is in this order.
fn preferred(arguments: &[Argument<'_>], name: &str, worse: Ordering) -> Result {
    let mut items = items(arguments)?.iter();
    let first = items
        .next()
        .ok_or_else(|| failed(format!("{name} called on empty list")))?;
    let best = items.try_fold(first, |best, item| {
        Ok(if order(&**best, &**item)? == worse {
            item
        } else {
            best
        })
    });
    Value::try_from(&**best?)
}
