//! Whether a value fits the Go type that a built-in schema stands for, with Go's messages.

use serde_json::Value;

use super::{Additional, Definition, Node, Schema, Type, canonical};
use crate::status::go_kind;

/// Who of Go's libraries finds that a value does not fit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reader {
    /// `encoding/json`, which reads bodies.
    Json,
    /// The converter of apimachinery, which makes objects of patched maps.
    Converter,
}

/// Where a value is, as Go's decoder tells it: the struct, and the fields from the root, without indexes and keys.
struct Place<'a> {
    structure: &'a str,
    path: String,
    reader: Reader,
}

/// Why a value cannot be decoded into the type of a definition; `prefix` is the path to it.
pub(crate) fn mismatch(value: &Value, definition: &Definition, prefix: &str) -> Option<String> {
    let place = Place {
        structure: short(definition.name),
        path: prefix.to_owned(),
        reader: Reader::Json,
    };
    in_schema(value, definition.schema(), Some(definition), &place)
}

/// Why an object cannot be decoded into the type of a definition.
pub(crate) fn mismatch_of_object(
    object: &serde_json::Map<String, Value>,
    definition: &Definition,
    reader: Reader,
) -> Option<String> {
    let place = Place {
        structure: short(definition.name),
        path: String::new(),
        reader,
    };
    in_object(object, definition.schema(), Some(definition), &place)
}

fn in_node(value: &Value, node: &Node, place: &Place<'_>) -> Option<String> {
    match node {
        Node::Here(schema) => in_schema(value, schema, None, place),
        Node::There { definition, .. } => in_schema(value, definition.schema(), Some(definition), place),
    }
}

fn in_schema(
    value: &Value,
    schema: &Schema,
    definition: Option<&Definition>,
    place: &Place<'_>,
) -> Option<String> {
    if value.is_null() {
        return None;
    }
    if let Some(definition) = definition {
        if let Some(read) = of_its_own(definition.name) {
            return read(value, place);
        }
        if short(definition.name) == "JSONSchemaPropsOrBool" && !(value.is_boolean() || value.is_object()) {
            return Some("boolean or JSON schema expected".to_owned());
        }
    }
    let fits = match (schema.kind, value) {
        // A schema of a definition where something else may be, too.
        (None, Value::Object(members)) if !schema.properties.is_empty() => {
            return in_object(members, schema, definition, place);
        }
        (None, Value::Array(items)) if schema.items.is_some() => {
            let node = schema.items.as_ref()?;
            return items.iter().find_map(|item| in_node(item, node, place));
        }
        (None, _) => true,
        (Some(Type::Object), Value::Object(members)) => {
            return in_object(members, schema, definition, place);
        }
        (Some(Type::Array), Value::Array(items)) => {
            let node = schema.items.as_ref()?;
            return items.iter().find_map(|item| in_node(item, node, place));
        }
        (Some(Type::String), Value::String(text)) => {
            return match &*schema.format {
                "byte" => not_base64(text),
                _ => None,
            };
        }
        // Bytes may be a list of numbers, too.
        (Some(Type::Boolean), Value::Bool(_)) | (Some(Type::Number), Value::Number(_)) => true,
        (Some(Type::Integer), Value::Number(number)) => match &*schema.format {
            "int32" => number
                .as_i64()
                .is_some_and(|number| i32::try_from(number).is_ok()),
            _ => number.is_i64(),
        },
        _ => false,
    };
    if fits {
        return None;
    }
    if let Reader::Converter = place.reader {
        return Some(unrestorable(value, schema, definition));
    }
    let given = match value {
        Value::Number(number) if matches!(schema.kind, Some(Type::Integer)) => format!("number {number}"),
        _ => go_kind(value).to_owned(),
    };
    let go_type = match (place.structure, &*place.path) {
        ("ObjectMeta", "uid" | "metadata.uid") => "types.UID".to_owned(),
        _ => go_type(schema, definition),
    };
    Some(place.mismatch(&given, &go_type))
}

/// What the converter says of a value of another kind than the type of its field.
fn unrestorable(value: &Value, schema: &Schema, definition: Option<&Definition>) -> String {
    let given = match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    };
    let wanted = go_type(schema, definition);
    if definition.is_some() {
        format!("cannot restore struct from: {given}")
    } else if wanted.starts_with("map[") {
        format!("cannot restore map from {given}")
    } else if wanted.starts_with("[]") {
        format!("cannot restore slice from {given}")
    } else if matches!(
        (given, &wanted[..]),
        ("int64", "string") | ("float64", "int32" | "int64")
    ) {
        format!("cannot convert {given} to {wanted}")
    } else {
        format!("unrecognized type: {wanted}")
    }
}

impl Place<'_> {
    fn mismatch(&self, given: &str, go_type: &str) -> String {
        let into = match &*self.path {
            "" => "value".to_owned(),
            path => format!("struct field {}.{path}", self.structure),
        };
        format!("json: cannot unmarshal {given} into Go {into} of type {go_type}")
    }
}

fn in_object(
    members: &serde_json::Map<String, Value>,
    schema: &Schema,
    definition: Option<&Definition>,
    place: &Place<'_>,
) -> Option<String> {
    members.iter().find_map(|(name, value)| {
        if let Some(node) = schema.properties.get(name) {
            let path = match place.path.as_str() {
                "" => name.clone(),
                path => crate::path::below(path, format_args!(".{name}")),
            };
            let structure = definition.map_or(place.structure, |definition| {
                short(definition.alternative_to().unwrap_or(definition.name))
            });
            let place = Place {
                structure,
                path,
                reader: place.reader,
            };
            return in_node(value, node, &place);
        }
        match &schema.additional {
            Additional::Values(node) => in_node(value, node, place),
            _ => None,
        }
    })
}

/// Types that read themselves.
fn of_its_own(name: &str) -> Option<fn(&Value, &Place<'_>) -> Option<String>> {
    Some(match short(name) {
        "Time" => |value, place| time(value, place, "2006-01-02T15:04:05Z07:00"),
        "MicroTime" => micro_time,
        "Quantity" => |value, _| quantity(value),
        "IntOrString" => int_or_string,
        "RawExtension" | "FieldsV1" | "JSON" | "JSONSchemaPropsOrStringArray" => |_, _| None,
        _ => return None,
    })
}

fn time(value: &Value, place: &Place<'_>, layout: &str) -> Option<String> {
    let Value::String(text) = value else {
        return Some(place.mismatch(go_kind(value), "string"));
    };
    match text.parse::<jiff::Timestamp>() {
        Ok(_) => None,
        Err(_) => Some(format!(
            "parsing time {text:?} as {layout:?}: cannot parse {text:?} as \"2006\""
        )),
    }
}

/// A time with six digits of a second, no more and no less.
fn micro_time(value: &Value, place: &Place<'_>) -> Option<String> {
    const LAYOUT: &str = "2006-01-02T15:04:05.000000Z07:00";
    const SECONDS: usize = "2006-01-02T15:04:05".len();
    if let Some(why) = time(value, place, LAYOUT) {
        return Some(why);
    }
    let text = value.as_str()?;
    let rest = text.get(SECONDS..)?;
    let why = |rest: &str, part: &str| {
        let why = format!("parsing time {text:?} as {LAYOUT:?}: cannot parse {rest:?} as {part:?}");
        Some(why)
    };
    let digits = rest.strip_prefix('.').and_then(|rest| rest.get(..6));
    if !digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return why(rest, ".000000");
    }
    match rest.get(7..) {
        Some(zone) if zone.starts_with(|first: char| first.is_ascii_digit()) => why(zone, "Z07:00"),
        _ => None,
    }
}

fn quantity(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
    let end = digits
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(digits.len());
    let (number, suffix) = digits.split_at(end);
    let is_number = number.bytes().any(|b| b.is_ascii_digit()) && number.matches('.').count() <= 1;
    let exponent = suffix
        .strip_prefix(['e', 'E'])
        .map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest))
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
    let known = matches!(
        suffix,
        "" | "n" | "u" | "m" | "k" | "M" | "G" | "T" | "P" | "E" | "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei"
    );
    if is_number && (known || exponent) {
        return None;
    }
    Some(
        if is_number && suffix.bytes().all(|b| b"eEinumkKMGTP+-0123456789".contains(&b)) {
            "unable to parse quantity's suffix".to_owned()
        } else {
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                .to_owned()
        },
    )
}

fn int_or_string(value: &Value, place: &Place<'_>) -> Option<String> {
    match value {
        Value::String(_) => None,
        Value::Number(number)
            if number
                .as_i64()
                .is_some_and(|number| i32::try_from(number).is_ok()) =>
        {
            None
        }
        Value::Number(number) => Some(place.mismatch(&format!("number {number}"), "int32")),
        other => Some(place.mismatch(go_kind(other), "int32")),
    }
}

fn not_base64(text: &str) -> Option<String> {
    let at = canonical::decode(text).err()?;
    Some(format!("illegal base64 data at input byte {at}"))
}

/// `io.k8s.api.core.v1.PodSpec` is `PodSpec`.
fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn go_type(schema: &Schema, definition: Option<&Definition>) -> String {
    if let Some(definition) = definition {
        let mut parts = definition.name.rsplit('.');
        let (name, package) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        return format!("{package}.{name}");
    }
    let of_node = |node: &Node| match node {
        Node::Here(schema) => go_type(schema, None),
        Node::There { definition, .. } => go_type(definition.schema(), Some(definition)),
    };
    match schema.kind {
        Some(Type::String) if &*schema.format == "byte" => "[]uint8".into(),
        Some(Type::String) => "string".into(),
        Some(Type::Boolean) => "bool".into(),
        Some(Type::Integer) => match &*schema.format {
            "" => "int64".into(),
            format => format.into(),
        },
        Some(Type::Number) => "float64".into(),
        Some(Type::Array) => match &schema.items {
            Some(items) => format!("[]{}", of_node(items)),
            None => "[]interface {}".into(),
        },
        Some(Type::Object) | None => match &schema.additional {
            Additional::Values(values) => format!("map[string]{}", of_node(values)),
            _ => "map[string]interface {}".into(),
        },
    }
}
