//! Decodes the bytes of an object into a type that implements serde's `Deserialize`.

use crate::wire::Encoding;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use simd_json::{Buffers, ErrorType};
use std::borrow::Cow;
use std::cell::Cell;
use std::{fmt, panic, thread};

/// Objects nested deeper than this are decoded on a thread with a large stack, because decoding is recursive.
const DEEP: usize = 127;
/// Objects nested deeper than this are rejected, because users clone, compare and drop objects by recursion, on any
/// thread. A `serde_json::Value` of four times this depth can be cloned within a usual stack of 2 MiB, even without
/// optimization.
const DEEPEST: usize = 256;
/// The stack size for the deepest objects. Only the used part takes memory.
const DEEP_STACK: usize = 64 << 20;
/// The number of characters of an error's path that are shown. A path contains map keys, which may be of any length.
const PATH_SHOWN: usize = 200;
const TOO_DEEP: &str = "nested more than 127 levels deep";
/// Buffers larger than this are not kept.
const LARGE: usize = 1 << 20;

/// Buffers for decoding.
struct Scratch {
    body: Vec<u8>,
    buffers: Buffers,
}

thread_local! {
    /// `None` while the buffers are in use.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Decodes the object whose body `write` writes into a buffer, replacing its content.
pub(super) fn object<T: DeserializeOwned + Send>(
    encoding: Encoding,
    write: impl Fn(&mut Vec<u8>),
) -> Result<T, DecodeError> {
    match encoding {
        Encoding::Json => json_object(write),
    }
}

/// `simd_json` takes less than half the time of `serde_json`, and gives a `Vec` its exact length in advance, which
/// saves a fifth of a usual object's memory. If it fails (for a `RawValue` or a number beyond 64 bits), `serde_json`
/// decodes the object, and also reports the position of an error.
fn json_object<T: DeserializeOwned + Send>(write: impl Fn(&mut Vec<u8>)) -> Result<T, DecodeError> {
    let mut scratch = SCRATCH.take().unwrap_or_else(|| {
        Box::new(Scratch {
            body: Vec::new(),
            buffers: Buffers::with_max_depth(0, DEEP),
        })
    });
    let Scratch { body, buffers } = &mut *scratch;
    write(body);
    let size = body.len();
    let decoded = simd_json::serde::from_slice_with_buffers(body, buffers).or_else(|_| {
        // `simd_json` modifies its input, so write the body again.
        write(body);
        match json(body) {
            Err(error) if error.reason == TOO_DEEP => deep_object(body, error),
            decoded => decoded,
        }
    });
    if size <= LARGE {
        SCRATCH.set(Some(scratch));
    }
    decoded
}

/// Decodes an object that `error` reports as nested too deeply for this thread's stack.
fn deep_object<T: DeserializeOwned + Send>(body: &mut [u8], error: DecodeError) -> Result<T, DecodeError> {
    let decode = || {
        let mut buffers = Buffers::with_max_depth(0, DEEPEST);
        simd_json::serde::from_slice_with_buffers(body, &mut buffers)
    };
    let thread = thread::Builder::new()
        .name("decode-deep".into())
        .stack_size(DEEP_STACK);
    let decoded = thread::scope(|scope| {
        let handle = thread.spawn_scoped(scope, decode).ok()?;
        Some(handle.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    });
    let reason = match decoded {
        Some(Ok(object)) => return Ok(object),
        Some(Err(why)) if *why.error() == ErrorType::DepthLimitExceeded => "nested more than 256 levels deep",
        Some(Err(_)) => "invalid data, and nested more than 127 levels deep",
        // The thread could not be spawned.
        None => TOO_DEEP,
    };
    Err(DecodeError {
        reason: reason.to_owned(),
        ..error
    })
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
        Category::Data => {
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
        write!(f, "{} (line {}, column {})", self.reason, self.line, self.column)
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

    fn decode<T: DeserializeOwned + Send>(body: &[u8]) -> Result<T, DecodeError> {
        object(Encoding::Json, |buffer| {
            buffer.clear();
            buffer.extend_from_slice(body);
        })
    }

    fn error<T: DeserializeOwned + Send + fmt::Debug>(body: &str) -> String {
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
    fn vectors_have_their_exact_capacity() {
        let pod: Pod = decode(
            br#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a"}],"volumes":[{"name":"v"},{"name":"w"}]}}"#,
        )
        .unwrap();
        let spec = pod.spec.unwrap();
        assert_eq!((spec.containers.len(), spec.containers.capacity()), (1, 1));
        assert_eq!(spec.volumes.unwrap().capacity(), 2);
    }

    #[test]
    fn raw_values_are_decoded() {
        let messages: Vec<Box<RawValue>> = decode(b"[1.50, 18446744073709551616]").unwrap();
        assert_eq!(messages[0].get(), "1.50");
        assert_eq!(decode::<f64>(b"18446744073709551616").unwrap(), 2f64.powi(64));
    }

    #[test]
    fn the_nesting_depth_is_limited() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        for depth in [127, 128, 256] {
            let value = decode::<Value>(nested(depth).as_bytes()).unwrap();
            assert_eq!(value.clone().to_string(), nested(depth));
        }
        for depth in [257, 10_000, 1_000_000] {
            let message = error::<Value>(&nested(depth));
            assert!(message.contains("nested more than 256 levels deep"), "{message}");
        }
        let message = error::<Value>(&nested(200).replace("[]", "[hunter2]"));
        assert!(
            message.starts_with("invalid data, and nested more than 127 levels deep"),
            "{message}"
        );
        let pod = format!(r#"{{"metadata":{{"name":"a"}},"unread":{}}}"#, nested(100_000));
        assert!(decode::<Pod>(pod.as_bytes()).is_ok());
    }

    #[derive(Debug, Deserialize)]
    struct Chain {
        next: Option<Box<Chain>>,
    }

    #[test]
    fn recursive_types_have_the_same_depth_limit() {
        let nested = |depth| r#"{"next":"#.repeat(depth) + "{}" + &"}".repeat(depth);
        let mut chain = decode::<Chain>(nested(255).as_bytes()).unwrap();
        let mut length = 0;
        while let Some(next) = chain.next {
            (chain, length) = (*next, length + 1);
        }
        assert_eq!(length, 255);
        assert!(decode::<Chain>(nested(256).as_bytes()).is_err());
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

    #[test]
    fn large_buffers_are_not_kept() {
        let large = format!("[{:?}]", "x".repeat(LARGE));
        decode::<Value>(large.as_bytes()).unwrap();
        let kept = SCRATCH.take();
        assert!(kept.is_none_or(|scratch| scratch.body.capacity() <= LARGE));
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
