//! JSON as values of CEL, and the names of its fields as identifiers.

use std::collections::HashMap;
use std::sync::Arc;

use cel::objects::{Key, Map as CelMap, Opaque, OptionalValue};
use cel::{Context, Value as CelValue};
use serde_json::Value;

use super::ENVIRONMENT;
use crate::schema::{Additional, Node, Schema, Type};

pub(super) fn optional(value: OptionalValue) -> CelValue {
    let value: Arc<dyn Opaque> = Arc::new(value);
    CelValue::Opaque(value)
}

/// A value as its schema declares it to CEL.
pub(super) fn to_cel(value: &Value, schema: &Schema) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(flag) => CelValue::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(number) if schema.kind == Some(Type::Number) => CelValue::Float(number as f64),
            Some(number) => CelValue::Int(number),
            None => CelValue::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => string(text, schema),
        Value::Array(items) => {
            let of_items = schema.items.as_ref().map(Node::get);
            let items = items.iter().map(|item| match of_items {
                Some(schema) => to_cel(item, schema),
                None => to_cel(item, &Schema::default()),
            });
            CelValue::List(Arc::new(items.collect()))
        }
        Value::Object(members) => {
            let mut map = HashMap::with_capacity(members.len());
            let mut insert = |name, value| map.insert(Key::String(Arc::new(name)), value);
            for (name, value) in members {
                match (schema.properties.get(name), &schema.additional) {
                    (Some(node), _) => {
                        let value = to_cel(value, node.get());
                        if is_reserved(name) {
                            insert(name.clone(), value.clone());
                        }
                        // Others cannot be called.
                        if let Some(name) = escaped(name) {
                            insert(name, value);
                        }
                    }
                    (None, Additional::Values(node)) => {
                        insert(name.clone(), to_cel(value, node.get()));
                    }
                    _ => {
                        insert(name.clone(), to_cel(value, &Schema::default()));
                    }
                }
            }
            CelValue::Map(CelMap { map: Arc::new(map) })
        }
    }
}

fn string(text: &str, schema: &Schema) -> CelValue {
    use base64::Engine as _;
    let bytes = |text| base64::engine::general_purpose::STANDARD.decode(text).ok();
    match &*schema.format {
        "byte" => match bytes(text) {
            Some(bytes) => CelValue::Bytes(Arc::new(bytes)),
            None => CelValue::String(Arc::new(text.to_owned())),
        },
        // The crate's own functions read times and durations.
        "date" => match called("timestamp", &format!("{text}T00:00:00Z")) {
            CelValue::String(_) => CelValue::String(Arc::new(text.to_owned())),
            date => date,
        },
        "date-time" => called("timestamp", text),
        "duration" => called("duration", text),
        _ => CelValue::String(Arc::new(text.to_owned())),
    }
}

/// Whether a function of CEL can read a string, as Go reads it.
pub(super) fn is_read(function: &str, text: &str) -> bool {
    match function {
        "duration" => is_duration(text),
        _ => is_timestamp(text),
    }
}

/// Whether a text is a duration: numbers with units, such as `-1h30.5m`.
fn is_duration(text: &str) -> bool {
    const UNITS: [(&str, u64); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("\u{b5}s", 1_000),
        ("\u{3bc}s", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let is_negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(rest, "" | "0") {
        return rest == "0";
    }
    let mut nanoseconds: u128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let (number, after) = rest.split_at(end.unwrap_or(rest.len()));
        let end = after.find(|letter: char| letter.is_ascii_digit() || letter == '.');
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let whole = if whole.is_empty() {
            Ok(0)
        } else {
            whole.parse::<u64>()
        };
        let is_number = number != "." && !part.contains('.');
        let unit = UNITS.iter().find(|(name, _)| *name == unit);
        let (true, Ok(whole), Some((_, length))) = (is_number, whole, unit) else {
            return false;
        };
        let part = format!("0.{part}").parse::<f64>().unwrap_or(0.0);
        nanoseconds += u128::from(whole) * u128::from(*length) + (part * *length as f64) as u128;
        rest = after;
    }
    nanoseconds <= (1 << 63) - u128::from(!is_negative)
}

/// Whether a text is a time of RFC 3339, as Go reads it: an hour may have one digit, parts of a second may follow a comma, and an
/// offset may be of 24 hours and of 60 minutes.
fn is_timestamp(text: &str) -> bool {
    let mut rest = text;
    let mut number = |digits: [usize; 2], before: &str, after: char| {
        let text = rest.strip_prefix(before)?;
        let end = text.find(after)?;
        let (number, more) = text.split_at(end);
        rest = more;
        let is_number = digits.contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then(|| number.parse::<u32>().ok()).flatten()
    };
    let date = number([4; 2], "", '-').zip(number([2; 2], "-", '-'));
    let (date, day) = (date, number([2; 2], "-", 'T'));
    let (hour, minute) = (number([1, 2], "T", ':'), number([2; 2], ":", ':'));
    let (Some((year, month)), Some(day), Some(hour), Some(minute)) = (date, day, hour, minute) else {
        return false;
    };
    let of_month = match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    let rest = rest.strip_prefix(':').unwrap_or("");
    let (Some(second), Some(mut rest)) = (rest.get(..2), rest.get(2..)) else {
        return false;
    };
    if let Some(part) = rest.strip_prefix(['.', ',']) {
        let after = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        if after.len() == part.len() {
            return false;
        }
        rest = after;
    }
    let two = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit()) && text.len() == 2;
    let is_offset = |text: &str| {
        let parts = text
            .strip_prefix(['+', '-'])
            .and_then(|text| text.split_once(':'));
        parts.is_some_and(|(hours, minutes)| two(hours) && two(minutes) && hours <= "24" && minutes <= "60")
    };
    let is_time = hour < 24 && minute < 60 && two(second) && second < "60";
    year > 0 && (1..=of_month).contains(&day) && is_time && (rest == "Z" || is_offset(rest))
}

/// What a function of CEL makes of a string; the string if it cannot.
fn called(function: &str, text: &str) -> CelValue {
    let string = || CelValue::String(Arc::new(text.to_owned()));
    let Ok(program) = ENVIRONMENT.compile(&format!("{function}(text)")) else {
        return string();
    };
    let mut context = Context::with_env(ENVIRONMENT.clone());
    context.add_variable_from_value("text", string());
    program.execute(&context).unwrap_or_else(|_| string())
}

/// What CEL keeps for itself.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Whether no variable can have this name.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// The name by which a rule calls a field, as Kubernetes escapes those that are no identifiers or are reserved; none if a rule
/// cannot call it. What is reserved is also called as it is (`self.metadata.namespace`).
pub(super) fn escaped(name: &str) -> Option<String> {
    let begins = name.starts_with(|first: char| !first.is_ascii_digit());
    let is_possible = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
    if !begins || !name.chars().all(is_possible) {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let escaped = name.replace("__", "__underscores__").replace('.', "__dot__");
    Some(escaped.replace('-', "__dash__").replace('/', "__slash__"))
}
