//! Objects whose types an expression names, as policies make them: `Object{spec: Object.spec{replicas: 3}}`,
//! `JSONPatch{op: "remove", path: "/spec/replicas"}`.
//!
//! Kubernetes knows of these types that they may have any field. So they are maps here, with one member more for the name of the type,
//! which no JSON has.

use std::sync::Arc;

use cel::common::ast::{
    EntryExpr, Expr, IdedEntryExpr, IdedExpr, LiteralValue, MapEntryExpr, MapExpr, StructExpr,
};
use cel::common::types::{CelString, STRING_TYPE};
use cel::common::value::CowVal;
use cel::objects::{Key, Opaque, OptionalValue};
use cel::{DeclarationError, Env, ExecutionError, Value as CelValue};
use serde_json::{Map, Number, Value};

use super::parsed::each_part;

/// The member with the name of the type.
pub(crate) const TYPE: &str = "@type";

/// Makes maps of the objects that have the types of policies.
pub(super) fn as_maps(expression: &mut IdedExpr) {
    each_part(expression, &mut as_maps);
    if let Expr::Struct(of) = &mut expression.expr
        && is_known(&of.type_name)
    {
        expression.expr = Expr::Map(map_of(of, expression.id));
    }
}

/// Whether policies may make objects of this type.
pub(super) fn is_known(name: &str) -> bool {
    matches!(name, "Object" | "JSONPatch") || name.starts_with("Object.")
}

fn map_of(of: &mut StructExpr, id: u64) -> MapExpr {
    let text = |text: &str| IdedExpr {
        id,
        expr: Expr::Literal(LiteralValue::String(text.to_owned().into())),
    };
    let entry = |key: IdedExpr, value: IdedExpr, optional: bool| IdedEntryExpr {
        id,
        expr: EntryExpr::MapEntry(MapEntryExpr { key, value, optional }),
    };
    let fields = std::mem::take(&mut of.entries).into_iter();
    let fields = fields.map(|field| match field.expr {
        EntryExpr::StructField(field) => entry(text(&field.field), field.value, field.optional),
        other => IdedEntryExpr {
            id: field.id,
            expr: other,
        },
    });
    let name = entry(text(TYPE), text(&of.type_name), false);
    MapExpr {
        entries: std::iter::once(name).chain(fields).collect(),
    }
}

/// Declares the function that makes a part of a path of JSON patches.
pub(super) fn declare(environment: &mut Env) -> Result<(), DeclarationError> {
    environment.add_overload("jsonpatch.escapeKey", "escape_key", vec![STRING_TYPE], escape_key)
}

fn escape_key<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let key = arguments
        .first()
        .and_then(|key| key.downcast_ref::<CelString<'_>>());
    let key = key.ok_or_else(|| ExecutionError::no_such_overload("jsonpatch.escapeKey", Vec::new()))?;
    let escaped = key.inner().replace('~', "~0").replace('/', "~1");
    Ok(CowVal::owned(CelString::from(escaped)))
}

/// A value as JSON.
///
/// # Errors
///
/// A value that JSON does not have.
pub(super) fn to_json(value: &CelValue) -> Result<Value, String> {
    Ok(match value {
        CelValue::Null => Value::Null,
        CelValue::Bool(is) => (*is).into(),
        CelValue::Int(number) => (*number).into(),
        CelValue::UInt(number) => (*number).into(),
        CelValue::Float(number) => float(*number)?,
        CelValue::String(text) => text.as_str().into(),
        CelValue::Bytes(bytes) => {
            use base64::Engine as _;
            base64::engine::general_purpose::STANDARD.encode(&**bytes).into()
        }
        CelValue::List(items) => {
            let items: Result<_, _> = items.iter().map(to_json).collect();
            Value::Array(items?)
        }
        CelValue::Map(map) => {
            let members = map.map.iter().map(|(key, value)| match key {
                Key::String(name) => Ok((name.as_str().to_owned(), to_json(value)?)),
                key => Ok((key.to_string(), to_json(value)?)),
            });
            Value::Object(members.collect::<Result<Map<_, _>, String>>()?)
        }
        CelValue::Opaque(opaque) => match optional(opaque) {
            Some(value) => to_json(value)?,
            None => return Err("unsupported type".into()),
        },
        CelValue::Timestamp(_) | CelValue::Duration(_) => text_of(value)?,
        _ => return Err("unsupported type".into()),
    })
}

fn float(number: f64) -> Result<Value, String> {
    let whole = number.trunc();
    if whole == number && whole.abs() < 9e15 {
        return Ok((whole as i64).into());
    }
    Number::from_f64(number)
        .map(Value::Number)
        .ok_or_else(|| "a number that JSON does not have".into())
}

/// The value in an optional one.
fn optional(opaque: &Arc<dyn Opaque>) -> Option<&CelValue> {
    let any: &dyn std::any::Any = &**opaque;
    any.downcast_ref::<OptionalValue>()?.value()
}

/// A time or a duration as CEL's own conversion writes it.
fn text_of(value: &CelValue) -> Result<Value, String> {
    let unsupported = || "unsupported type".to_owned();
    let program = super::ENVIRONMENT
        .compile("string(value)")
        .map_err(|_| unsupported())?;
    let mut context = cel::Context::with_env(super::ENVIRONMENT.clone());
    context.add_variable_from_value("value", value.clone());
    match program.execute(&context) {
        Ok(CelValue::String(text)) => Ok(text.as_str().into()),
        _ => Err(unsupported()),
    }
}
