//! Compares the results of two decoders, for the tests and the fuzz target `decode`.

use serde_json::Value;

/// Equality except for the sign of zero, because `serde_json` reads an integer `-0` as a floating-point number.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.as_f64(), other.as_f64()) == (Some(0.0), Some(0.0))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, value)| other.get(name).is_some_and(|other| same(value, other)))
        }
        (one, other) => one == other,
    }
}
