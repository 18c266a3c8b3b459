//! Quantities such as `1Gi`.

use cel::Value;

use super::argument::{Argument, Result, failed, first, mismatch};
use super::value::Own;
use crate::quantity::Quantity;

const RULE: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

fn parsed(arguments: &[Argument<'_>]) -> Result<Option<Quantity>> {
    let text = first(arguments)?.text()?;
    Ok(Quantity::read(&text.into()))
}

fn given(arguments: &[Argument<'_>], at: usize) -> Result<Quantity> {
    match arguments.get(at) {
        // Numbers may be added and taken away.
        Some(Argument::Int(number)) if at > 0 => Ok(Quantity::whole(*number)),
        Some(value) => match value.own()? {
            Own::Quantity(quantity) => Ok(*quantity),
            _ => Err(mismatch()),
        },
        None => Err(mismatch()),
    }
}

pub(super) fn read(arguments: &[Argument<'_>]) -> Result {
    let quantity = parsed(arguments)?.ok_or_else(|| failed(RULE))?;
    Ok(Own::Quantity(quantity).into())
}

pub(super) fn is(arguments: &[Argument<'_>]) -> Result {
    Ok(parsed(arguments)?.is_some().into())
}

pub(super) fn sign(arguments: &[Argument<'_>]) -> Result {
    let order = given(arguments, 0)?.cmp(&Quantity::ZERO);
    Ok(Value::Int(order as i64))
}

pub(super) fn integer(arguments: &[Argument<'_>]) -> Result {
    let number = given(arguments, 0)?.as_i64();
    number
        .map(Value::Int)
        .ok_or_else(|| failed("cannot convert value to integer"))
}

pub(super) fn is_integer(arguments: &[Argument<'_>]) -> Result {
    Ok(given(arguments, 0)?.as_i64().is_some().into())
}

pub(super) fn float(arguments: &[Argument<'_>]) -> Result {
    Ok(Value::Float(given(arguments, 0)?.as_f64()))
}

pub(super) fn add(arguments: &[Argument<'_>]) -> Result {
    let sum = given(arguments, 0)?.plus(given(arguments, 1)?);
    Ok(Own::Quantity(sum).into())
}

pub(super) fn subtract(arguments: &[Argument<'_>]) -> Result {
    let difference = given(arguments, 0)?.minus(given(arguments, 1)?);
    Ok(Own::Quantity(difference).into())
}
