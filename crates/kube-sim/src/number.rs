//! Numbers as Go has them: what is whole is written without a fraction, and read as an integer.

use serde_json::{Map, Number, Value};

/// The value with its whole numbers as integers.
pub(crate) fn normal(mut value: Value) -> Value {
    normalize(&mut value);
    value
}

/// Makes integers of the whole numbers of a value, as far as Go's are so large.
pub(crate) fn normalize(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(whole) = as_integer(number) {
                *number = whole.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Object(members) => members.values_mut().for_each(normalize),
        _ => {}
    }
}

/// The integer that a floating-point number is.
fn as_integer(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    // Not 2^63 itself.
    (float.fract() == 0.0 && float.abs() < 9.223_372_036_854_775e18).then_some(float as i64)
}

/// Whether two values are the same where a number may be written in several ways.
pub(crate) fn are_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() || other.is_f64() => {
            one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => are_equal_objects(one, other),
        (one, other) => one == other,
    }
}

/// The same for objects.
pub(crate) fn are_equal_objects(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let mut members = one.iter().zip(other);
    one.len() == other.len() && members.all(|(one, other)| one.0 == other.0 && are_equal(one.1, other.1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_are_integers() {
        let value = json!({"a": [1.0, -0.0, 1.5, 1e3], "b": {"c": 1e20, "d": -3.0}, "e": 9_223_372_036_854_775_808_u64});
        let expected =
            json!({"a": [1, 0, 1.5, 1000], "b": {"c": 1e20, "d": -3}, "e": 9_223_372_036_854_775_808_u64});
        assert_eq!(normal(value), expected);
    }

    #[test]
    fn equal_numbers_are_equal_however_they_are_written() {
        assert!(are_equal(&json!({"a": [1]}), &json!({"a": [1.0]})) && are_equal(&json!("a"), &json!("a")));
        assert!(!are_equal(&json!(1), &json!(1.5)) && !are_equal(&json!(1), &json!("1")));
    }
}
