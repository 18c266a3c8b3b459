//! Lists of what compares and adds up.

use std::cmp::Ordering;

use cel::Value;

use super::{Result, failed, mismatch};

fn items(arguments: &[Value]) -> Result<&[Value]> {
    match arguments.first() {
        Some(Value::List(items)) => Ok(items),
        _ => Err(mismatch()),
    }
}

fn order(one: &Value, other: &Value) -> Result<Ordering> {
    match (one, other) {
        (Value::Opaque(_) | Value::List(_) | Value::Map(_), _) => Err(mismatch()),
        _ => one.partial_cmp(other).ok_or_else(mismatch),
    }
}

pub(super) fn is_sorted(arguments: &[Value]) -> Result {
    for pair in items(arguments)?.windows(2) {
        if order(&pair[0], &pair[1])?.is_gt() {
            return Ok(false.into());
        }
    }
    Ok(true.into())
}

pub(super) fn sum(arguments: &[Value]) -> Result {
    let mut items = items(arguments)?.iter();
    let first = items.next().cloned().unwrap_or(Value::Int(0));
    let is_summable = matches!(
        first,
        Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Duration(_)
    );
    match is_summable {
        true => items.try_fold(first, |sum, item| sum + item.clone()),
        false => Err(mismatch()),
    }
}

pub(super) fn min(arguments: &[Value]) -> Result {
    preferred(arguments, "min", Ordering::Greater)
}

pub(super) fn max(arguments: &[Value]) -> Result {
    preferred(arguments, "max", Ordering::Less)
}

/// The first item to which no other is in this order.
fn preferred(arguments: &[Value], name: &str, worse: Ordering) -> Result {
    let mut items = items(arguments)?.iter();
    let first = items
        .next()
        .ok_or_else(|| failed(format!("{name} called on empty list")))?;
    let best = items.try_fold(first, |best, item| {
        Ok(if order(best, item)? == worse { item } else { best })
    });
    best.cloned()
}
