//! How rules, and what breaks them, are said.

use cel::ExecutionError;
use serde_json::Value;

use super::cost::Exceeded;
use super::functions;
use crate::path::Path;
use crate::schema::{Rule, Schema, Type};
use crate::status::{Cause, go_json, shown};

/// A rule as Go shows it.
pub(in crate::schema) fn go_struct(rule: &Value) -> String {
    let text = |name: &str| go_json(&rule[name].as_str().unwrap_or("").into());
    let optional = |name: &str| rule[name].clone();
    format!(
        r#"{{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{},"FieldPath":{},"OptionalOldSelf":{}}}"#,
        text("rule"),
        text("message"),
        text("messageExpression"),
        optional("reason"),
        text("fieldPath"),
        optional("optionalOldSelf")
    )
}

/// That a rule was not evaluated, which is told of the value's type.
pub(super) fn unevaluated(schema: &Schema, path: &Path<'_>, why: &str) -> Cause {
    let kind = schema.kind.map_or("", Type::name);
    Cause::invalid(shown_field(&path.to_string()), format_args!("{kind:?}"), why)
}

/// A field as Go shows it; the value as a whole has no name.
fn shown_field(field: &str) -> String {
    match field {
        "" => "<nil>".to_owned(),
        field => field.to_owned(),
    }
}

/// Why no rule is asked any more.
pub(super) fn given_up(exceeded: Exceeded, rule: &str) -> String {
    match exceeded {
        Exceeded::Rule => format!(
            "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost \
             exceeds limit for rule: {rule}"
        ),
        Exceeded::Object => {
            "validation failed due to running out of cost budget, no further validation rules will be run"
                .to_owned()
        }
    }
}

/// What is said of a value that a rule does not allow.
pub(super) fn broken_rule(rule: &Rule, value: &Value, path: &Path<'_>, why: &str) -> Cause {
    let field = format!("{path}{}", rule.field_path);
    let field = shown_field(field.trim_start_matches('.'));
    match &*rule.reason {
        "FieldValueForbidden" => Cause::forbidden(field, why),
        "FieldValueRequired" => Cause::required(field, why),
        "FieldValueDuplicate" => Cause::duplicate(field, value),
        // Objects and lists are not shown.
        _ if value.is_object() || value.is_array() => Cause {
            field: field.into(),
            reason: "FieldValueInvalid",
            message: format!("Invalid value: {why}"),
        },
        _ => Cause::invalid(field, shown(value), why),
    }
}

/// An error in the words of cel-go.
pub(super) fn said(error: &ExecutionError) -> String {
    if let Some(said) = functions::argument::said(error) {
        return said.to_owned();
    }
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::NoSuchOverload(_) => "no such overload".to_owned(),
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::Overflow(..) => "integer overflow".to_owned(),
        ExecutionError::IndexOutOfBounds(cel::Value::Int(at)) => format!("index out of bounds: {at}"),
        ExecutionError::IndexOutOfBounds(cel::Value::UInt(at)) => format!("index out of bounds: {at}"),
        ExecutionError::IndexOutOfBounds(cel::Value::Float(at)) => format!("index out of bounds: {at}"),
        ExecutionError::IndexOutOfBounds(_) => "index out of bounds".to_owned(),
        ExecutionError::FunctionError { function, message } => unconverted(function, message),
        _ => "error".to_owned(),
    }
}

/// Why a string or a number is not what a function makes of it.
fn unconverted(function: &str, message: &str) -> String {
    let into = match (function, message) {
        ("timestamp", "range error parsing timestamp" | "timestamp out of range") => {
            return "timestamp overflow".to_owned();
        }
        ("int" | "uint", "integer overflow" | "unsigned integer overflow") => return message.to_owned(),
        ("timestamp", _) => "google.protobuf.Timestamp",
        ("duration", _) => "google.protobuf.Duration",
        ("int" | "uint" | "double" | "bool", _) => function,
        // Others may show values.
        _ => return "error".to_owned(),
    };
    format!("type conversion error from 'string' to '{into}'")
}
