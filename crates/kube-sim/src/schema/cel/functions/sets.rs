//! Lists as sets.

use cel::Value;

use super::super::cost::pay;
use super::{Result, mismatch};

fn both(arguments: &[Value]) -> Result<(&[Value], &[Value])> {
    match arguments {
        [Value::List(one), Value::List(other)] => Ok((one, other)),
        _ => Err(mismatch()),
    }
}

/// Whether some items of a list, or all of them, are in another. Each is compared with each, and paid for before.
fn compared(one: &[Value], other: &[Value], all: bool) -> Result<bool> {
    pay((one.len() as u64).saturating_mul(other.len() as u64))?;
    let mut found = other.iter().map(|item| one.contains(item));
    Ok(if all {
        found.all(|is| is)
    } else {
        found.any(|is| is)
    })
}

pub(super) fn contains(arguments: &[Value]) -> Result {
    let (one, other) = both(arguments)?;
    Ok(compared(one, other, true)?.into())
}

pub(super) fn are_equivalent(arguments: &[Value]) -> Result {
    let (one, other) = both(arguments)?;
    Ok((compared(one, other, true)? && compared(other, one, true)?).into())
}

pub(super) fn intersect(arguments: &[Value]) -> Result {
    let (one, other) = both(arguments)?;
    Ok(compared(one, other, false)?.into())
}
