//! What has no members, such as null: Go's CEL says of it what it says of a map without the member. `cel` fails otherwise, so what has
//! failed so is evaluated again, with empty maps in the place of such values.

use cel::common::ast::{CallExpr, Expr, IdedExpr, operators};
use cel::common::types::{CelMap, DYN_TYPE, Kind};
use cel::common::value::CowVal;
use cel::{DeclarationError, Env, ExecutionError};

use super::parsed::each_part;

/// Gives a map in the place of what has no members.
const MEMBERS: &str = "@members";

/// How `cel` calls what fails.
const SELECT: &str = "_._";

pub(super) fn declare(environment: &mut Env) -> Result<(), DeclarationError> {
    environment.add_overload(MEMBERS, "members", vec![DYN_TYPE], members)
}

/// Whether an expression may have failed since it selected a member of what has none.
pub(super) fn is_reason(error: &ExecutionError) -> bool {
    matches!(error, ExecutionError::NoSuchOverload(of) if matches!(of.function(), SELECT | operators::INDEX))
}

/// Has an expression take what has no members for an empty map.
pub(super) fn as_empty(expression: &mut IdedExpr) {
    each_part(expression, &mut as_empty);
    let of = match &mut expression.expr {
        Expr::Select(select) => &mut *select.operand,
        Expr::Call(call) if call.func_name == operators::INDEX => match call.args.first_mut() {
            Some(of) => of,
            None => return,
        },
        _ => return,
    };
    // The name of a type has dots.
    if matches!(&of.expr, Expr::Ident(name) if name == "google") {
        return;
    }
    let inner = std::mem::take(of);
    *of = IdedExpr {
        id: inner.id,
        expr: Expr::Call(CallExpr {
            func_name: MEMBERS.to_owned(),
            target: None,
            args: vec![inner],
        }),
    };
}

fn members<'b, 'v>(mut arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let value = arguments.pop();
    let value = value.ok_or_else(|| ExecutionError::no_such_overload(MEMBERS, Vec::new()))?;
    let is_single = matches!(
        value.get_type().kind(),
        Kind::NullType | Kind::Boolean | Kind::Int | Kind::UInt | Kind::Double | Kind::String | Kind::Bytes
    );
    match is_single {
        true => Ok(CowVal::owned(CelMap::default())),
        false => Ok(value),
    }
}
