//! Quantities such as `1Gi`.

use cel::Value;

use super::value::Own;
use super::{Result, failed, mismatch, own, text};
use crate::quantity::Quantity;

const RULE: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

fn parsed(arguments: &[Value]) -> Result<Option<Quantity>> {
    let text = text(arguments.first().ok_or_else(mismatch)?)?;
    Ok(Quantity::read(&text.into()))
}

fn given(arguments: &[Value], at: usize) -> Result<Quantity> {
    match arguments.get(at) {
        // Numbers may be added and taken away.
        Some(Value::Int(number)) if at > 0 => Ok(Quantity::whole(*number)),
        Some(value) => match own(value)? {
            Own::Quantity(quantity) => Ok(*quantity),
            _ => Err(mismatch()),
        },
        None => Err(mismatch()),
    }
}

pub(super) fn read(arguments: &[Value]) -> Result {
    let quantity = parsed(arguments)?.ok_or_else(|| failed(RULE))?;
    Ok(Own::Quantity(quantity).into())
}

pub(super) fn is(arguments: &[Value]) -> Result {
    Ok(parsed(arguments)?.is_some().into())
}

pub(super) fn sign(arguments: &[Value]) -> Result {
    let order = given(arguments, 0)?.cmp(&Quantity::ZERO);
    Ok(Value::Int(order as i64))
}

pub(super) fn integer(arguments: &[Value]) -> Result {
    let number = given(arguments, 0)?.as_i64();
    number
        .map(Value::Int)
        .ok_or_else(|| failed("cannot convert value to integer"))
}

pub(super) fn is_integer(arguments: &[Value]) -> Result {
    Ok(given(arguments, 0)?.as_i64().is_some().into())
}

pub(super) fn float(arguments: &[Value]) -> Result {
    Ok(Value::Float(given(arguments, 0)?.as_f64()))
}

pub(super) fn add(arguments: &[Value]) -> Result {
    let sum = given(arguments, 0)?.plus(given(arguments, 1)?);
    Ok(Own::Quantity(sum).into())
}

pub(super) fn subtract(arguments: &[Value]) -> Result {
    let difference = given(arguments, 0)?.minus(given(arguments, 1)?);
    Ok(Own::Quantity(difference).into())
}
