//! Which error an expression ends with.
//!
//! If both sides of `&&` or `||` fail, Go's CEL says why the left one did, `cel` why the right one did. So these operators are evaluated
//! here, with those that lead to them; inside of a loop they are left to `cel`.

use cel::common::ast::{Expr, IdedExpr, operators};
use cel::{Context, ExecutionError, Value};

use super::purse::{CHARGE, pay};

/// Evaluates an expression.
pub(super) fn evaluated(expression: &IdedExpr, context: &Context<'_, '_>) -> Result<Value, ExecutionError> {
    let Expr::Call(call) = &expression.expr else {
        return Value::resolve(expression, context);
    };
    match (call.func_name.as_str(), &call.args[..]) {
        (operators::LOGICAL_OR, [one, other]) => joined(true, one, other, context),
        (operators::LOGICAL_AND, [one, other]) => joined(false, one, other, context),
        (operators::LOGICAL_NOT, [of]) => Ok(Value::Bool(!truth(of, context)?)),
        (operators::CONDITIONAL, [condition, one, other]) => {
            let chosen = if truth(condition, context)? { one } else { other };
            evaluated(chosen, context)
        }
        (CHARGE, [cost, of]) => {
            let value = evaluated(of, context)?;
            if let Value::Int(cost) = Value::resolve(cost, context)? {
                pay(u64::try_from(cost).unwrap_or(0))?;
            }
            Ok(value)
        }
        _ => Value::resolve(expression, context),
    }
}

/// Joins two sides by `||`, which `true` decides, or by `&&`, which `false` decides, whatever the other side is.
fn joined(
    decides: bool,
    one: &IdedExpr,
    other: &IdedExpr,
    context: &Context<'_, '_>,
) -> Result<Value, ExecutionError> {
    let one = truth(one, context);
    if matches!(one, Ok(one) if one == decides) {
        return Ok(Value::Bool(decides));
    }
    match (one, truth(other, context)) {
        (_, Ok(other)) if other == decides => Ok(Value::Bool(decides)),
        (Err(error), _) => Err(error),
        (Ok(_), other) => other.map(Value::Bool),
    }
}

fn truth(expression: &IdedExpr, context: &Context<'_, '_>) -> Result<bool, ExecutionError> {
    match evaluated(expression, context)? {
        Value::Bool(truth) => Ok(truth),
        _ => Err(ExecutionError::no_such_overload("", Vec::new())),
    }
}
