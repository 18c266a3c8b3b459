//! Lists as sets.

use cel::common::value::Val;

use super::super::cost::purse::{BYTES, pay};
use super::argument::{Argument, Result, length, mismatch};

type Items<'a> = &'a [Box<dyn Val + 'a>];

fn both<'a>(arguments: &[Argument<'a>]) -> Result<(Items<'a>, Items<'a>)> {
    match arguments {
        [Argument::List(one), Argument::List(other)] => Ok((one, other)),
        _ => Err(mismatch()),
    }
}

/// Whether some items of a list, or all of them, are in another. Each is compared with each, and paid for before.
fn compared(one: Items<'_>, other: Items<'_>, all: bool) -> Result<bool> {
    let bytes: u64 = other.iter().map(|item| length(&**item)).sum();
    let round = (other.len() as u64).max(bytes / BYTES);
    pay(round.saturating_mul(one.len() as u64))?;
    let mut found = other.iter().map(|item| one.iter().any(|one| one.equals(&**item)));
    Ok(if all {
        found.all(|is| is)
    } else {
        found.any(|is| is)
    })
}

pub(super) fn contains(arguments: &[Argument<'_>]) -> Result {
    let (one, other) = both(arguments)?;
    Ok(compared(one, other, true)?.into())
}

pub(super) fn are_equivalent(arguments: &[Argument<'_>]) -> Result {
    let (one, other) = both(arguments)?;
    Ok((compared(one, other, true)? && compared(other, one, true)?).into())
}

pub(super) fn intersect(arguments: &[Argument<'_>]) -> Result {
    let (one, other) = both(arguments)?;
    Ok(compared(one, other, false)?.into())
}
