//! Lists as sets.

use cel::Value;

use super::{Result, mismatch};

fn both(arguments: &[Value]) -> Result<(&[Value], &[Value])> {
    match arguments {
        [Value::List(one), Value::List(other)] => Ok((one, other)),
        _ => Err(mismatch()),
    }
}

fn has_all(one: &[Value], other: &[Value]) -> bool {
    other.iter().all(|item| one.contains(item))
}

pub(super) fn contains(arguments: &[Value]) -> Result {
    let (one, other) = both(arguments)?;
    Ok(has_all(one, other).into())
}

pub(super) fn are_equivalent(arguments: &[Value]) -> Result {
    let (one, other) = both(arguments)?;
    Ok((has_all(one, other) && has_all(other, one)).into())
}

pub(super) fn intersect(arguments: &[Value]) -> Result {
    let (one, other) = both(arguments)?;
    Ok(other.iter().any(|item| one.contains(item)).into())
}
