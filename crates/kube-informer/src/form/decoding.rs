//! Decodes the bytes of an object into a type that implements serde's `Deserialize`.

#[cfg(feature = "protobuf")]
mod protobuf;
#[cfg(feature = "simd-json")]
mod simd;
#[cfg(all(feature = "packed", feature = "protobuf"))]
mod values;

use crate::low_level::wire::Encoding;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
#[cfg(feature = "simd-json")]
use simd::json_object;
use std::borrow::Cow;
use std::fmt;

/// The number of characters of an error's path that are shown. A path contains map keys, which may be of any length.
const PATH_SHOWN: usize = 200;
const TOO_DEEP: &str = "nested more than 127 levels deep";

/// Decodes the object whose body `write` writes into a buffer, replacing its content.
///
/// `types` is the apiVersion and the kind of the object, without which protobuf cannot be read.
pub(super) fn object<T: DeserializeOwned + Send + 'static>(
    encoding: Encoding,
    #[cfg_attr(not(feature = "protobuf"), expect(unused_variables))] types: Option<(&str, &str)>,
    write: impl Fn(&mut Vec<u8>),
) -> Result<T, DecodeError> {
    match encoding {
        Encoding::Json => json_object(write),
        #[cfg(feature = "protobuf")]
        Encoding::Protobuf => protobuf::object(types, write),
    }
}

/// The values at a path of an object in protobuf, as JSON has them.
#[cfg(all(feature = "packed", feature = "protobuf"))]
pub(super) use values::of_message as values_of_message;

/// Without `simd_json`, an object is decoded like any other value.
#[cfg(not(feature = "simd-json"))]
fn json_object<T: DeserializeOwned>(write: impl Fn(&mut Vec<u8>)) -> Result<T, DecodeError> {
    let mut body = Vec::new();
    write(&mut body);
    json(&body)
}

/// Decodes any JSON value that is not nested deeply, with numbers as `simd_json` reads them. Decodes a second time
/// after an error to find its path, so that success has no extra cost.
pub(super) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    let bytes = &*without_negative_zero(bytes);
    serde_json::from_slice(bytes).map_err(|error| {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let path = match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
            Err(error) => shown(&error.path().to_string()),
            Ok(_) => String::new(),
        };
        let reason = reason(&error);
        DecodeError {
            // The depth concerns the whole object, so no path is reported.
            path: if reason == TOO_DEEP { String::new() } else { path },
            reason,
            line: error.line(),
            column: error.column(),
        }
    })
}

/// Replaces an integer `-0` by `0`. `serde_json` reads `-0` as a floating-point number, from which no integer can be
/// decoded. Both decoders read all other numbers in the same way; floating-point numbers are rounded to the nearest.
fn without_negative_zero(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut json = Cow::Borrowed(bytes);
    if memchr::memmem::find(bytes, b"-0").is_none() {
        return json;
    }
    let mut in_string = false;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at..] {
            [b'"', ..] => in_string = !in_string,
            [b'\\', ..] if in_string => at += 1,
            [b'-', b'0', b'.' | b'e' | b'E' | b'0'..=b'9', ..] => {}
            [b'-', b'0', ..] if !in_string && !matches!(bytes[..at], [.., b'e' | b'E']) => {
                json.to_mut()[at] = b' ';
            }
            _ => {}
        }
        at += 1;
    }
    json
}

/// Truncates a path to the part that is shown.
fn shown(path: &str) -> String {
    let mut shown: String = path.chars().take(PATH_SHOWN).collect();
    if shown.len() < path.len() {
        shown.push('\u{2026}');
    }
    shown
}

/// The reason of an error without the invalid value. serde's own messages quote the value, which may be part of a
/// secret.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match error.classify() {
        Category::Eof => "the object ends too early".to_owned(),
        Category::Syntax if message.starts_with("recursion limit") => TOO_DEEP.to_owned(),
        Category::Syntax => "not JSON".to_owned(),
        Category::Io => "cannot be read".to_owned(),
        Category::Data => mismatch(&message),
    }
}

/// What is wrong with a value, without the value.
fn mismatch(message: &str) -> String {
    let known = [
        "invalid type",
        "invalid value",
        "invalid length",
        "unknown variant",
        "unknown field",
    ];
    match known.into_iter().find(|known| message.starts_with(known)) {
        Some(known) => known.to_owned(),
        // Field names come from the type, not from the object.
        None if message.starts_with("missing field") => {
            message.split(" at line").next().unwrap_or("").to_owned()
        }
        None => "invalid data".to_owned(),
    }
}

/// Why an object could not be decoded: the path and the reason, never the object's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    path: String,
    reason: String,
    line: usize,
    column: usize,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() && self.path != "." {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.reason)?;
        match self.line {
            // There are no lines in protobuf.
            0 => Ok(()),
            line => write!(f, " (line {line}, column {})", self.column),
        }
    }
}

impl std::error::Error for DecodeError {}

#[cfg(test)]
mod same;

#[cfg(test)]
mod tests {
    use super::same::same;
    use super::*;
    use k8s_openapi::api::core::v1::{Pod, Secret};
    use proptest::prelude::*;
    use serde::{Deserialize, Deserializer};
    use serde_json::{Value, value::RawValue};

    pub(super) fn decode<T: DeserializeOwned + Send + 'static>(body: &[u8]) -> Result<T, DecodeError> {
        object(Encoding::Json, None, |buffer| {
            buffer.clear();
            buffer.extend_from_slice(body);
        })
    }

    pub(super) fn error<T: DeserializeOwned + Send + fmt::Debug + 'static>(body: &str) -> String {
        decode::<T>(body.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn errors_show_the_path_and_no_content() {
        let message = error::<Secret>(r#"{"metadata":{"name":"a"},"data":{"password":["hunter2"]}}"#);
        assert!(message.starts_with("data.password: invalid type"), "{message}");
        let messages = [
            message,
            error::<Secret>(r#"{"metadata":{"name":"a"},"data":"hunter2"}"#),
            error::<Secret>(r#"{"metadata":{"name":"a"},"data":{"x":"hunter2!"}}"#),
            error::<Pod>(r#"{"metadata":{"name":"a","creationTimestamp":"hunter2"}}"#),
            error::<Pod>(r#"{"kind":"hunter2","metadata":{}}"#),
            error::<Pod>(r#"{"metadata":{"name":"hunter2""#),
            error::<Pod>(r#"{"metadata":{"name":"hunter2"}} hunter2"#),
        ];
        for message in messages {
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn raw_values_are_decoded() {
        let messages: Vec<Box<RawValue>> = decode(b"[1.50, 18446744073709551616]").unwrap();
        assert_eq!(messages[0].get(), "1.50");
        assert_eq!(decode::<f64>(b"18446744073709551616").unwrap(), 2f64.powi(64));
    }

    #[test]
    fn the_path_of_an_error_is_truncated() {
        let name = "k".repeat(100_000);
        let message = error::<Pod>(&format!(r#"{{"metadata":{{"labels":{{"{name}":[]}}}}}}"#));
        assert!(
            message.starts_with("metadata.labels.kkk") && message.len() < 300,
            "{message}"
        );
    }

    /// A type that decodes JSON in one of its strings while it is being decoded.
    #[derive(Debug)]
    struct Nested(Value);

    impl<'de> Deserialize<'de> for Nested {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let json = String::deserialize(deserializer)?;
            decode(json.as_bytes())
                .map(Self)
                .map_err(serde::de::Error::custom)
        }
    }

    #[test]
    fn decoding_can_be_nested() {
        let pair: (Nested, Value) = decode(br#"["{\"a\":[1]}", {"b": [2]}]"#).unwrap();
        assert_eq!(
            (pair.0.0.to_string(), pair.1.to_string()),
            (r#"{"a":[1]}"#.into(), r#"{"b":[2]}"#.into())
        );
    }

    const TOKENS: [&str; 24] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "null",
        "true",
        " ",
        "\n",
        "0",
        "-0",
        "-1",
        "1.5",
        "1e400",
        "9223372036854775808",
        "18446744073709551616",
        r#""a""#,
        r#""b":"#,
        r#""\u00e9\n""#,
        r#""\ud800""#,
        r#""\ud83d\ude00""#,
        "\"\t\"",
        "\u{feff}",
    ];

    fn json_text() -> impl Strategy<Value = String> {
        let scalar = proptest::sample::select(&TOKENS[6..]).prop_map(str::to_owned);
        let value = scalar.prop_recursive(4, 32, 4, |value| {
            prop_oneof![
                proptest::collection::vec(value.clone(), 0..4)
                    .prop_map(|items| format!("[{}]", items.join(","))),
                proptest::collection::vec((0..3u8, value), 0..4).prop_map(|members| {
                    let members: Vec<_> = members
                        .into_iter()
                        .map(|(name, value)| format!("\"{name}\": {value}"))
                        .collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        });
        let soup = proptest::collection::vec(proptest::sample::select(&TOKENS[..]), 0..12);
        prop_oneof![value, soup.prop_map(|tokens| tokens.concat())]
    }

    proptest! {
        #[test]
        fn decoding_equals_serde_json(input in json_text(), broken: Option<(prop::sample::Index, u8)>) {
            let mut body = input.into_bytes();
            if let Some((at, byte)) = broken && !body.is_empty() {
                let at = at.index(body.len());
                body[at] = byte;
            }
            match (decode::<Value>(&body), serde_json::from_slice::<Value>(&body)) {
                (Ok(read), Ok(model)) => prop_assert!(same(&read, &model), "{read} is not {model}"),
                (Err(_), Err(_)) => {}
                (read, model) => prop_assert!(false, "{read:?} is not {model:?}"),
            }
        }
    }
}
