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
        // Go takes these letters as they are.
        _ if text.as_bytes().get(10) != Some(&b'T') || text.ends_with('z') => false,
        function => !matches!(called(function, text), CelValue::String(_)),
    }
}

/// Whether a text is a duration: numbers with units, such as `-1h30.5m`.
fn is_duration(text: &str) -> bool {
    const UNITS: [(&str, f64); 8] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("\u{b5}s", 1e3),
        ("\u{3bc}s", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 60e9),
        ("h", 3600e9),
    ];
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let mut nanoseconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let (number, after) = rest.split_at(end.unwrap_or(rest.len()));
        let end = after.find(|letter: char| letter.is_ascii_digit() || letter == '.');
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        let unit = UNITS.iter().find(|(name, _)| *name == unit);
        let (Ok(number), Some((_, length))) = (number.parse::<f64>(), unit) else {
            return false;
        };
        nanoseconds += number * length;
        rest = after;
    }
    !matches!(text, "" | "-" | "+") && nanoseconds <= 9_223_372_036_854_775_807.0
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
