//! Decoding: from the bytes of an object to a type that says, by serde, how it is read.

use crate::wire::Encoding;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use simd_json::{Buffers, ErrorType};
use std::borrow::Cow;
use std::cell::Cell;
use std::{fmt, panic, thread};

/// Nested more deeply, an object is decoded on a thread with a stack for it: types are read by recursion.
const DEEP: usize = 127;
/// Nested more deeply, an object is refused: whoever holds it clones, compares and drops it by recursion, on any thread. A
/// `serde_json::Value` of four times this depth is cloned within the 2 MiB of a usual stack, even without optimization.
const DEEPEST: usize = 256;
/// A stack for the deepest objects. Only what is used of it takes memory.
const DEEP_STACK: usize = 64 << 20;
/// How many characters of the path to an error are shown: it has keys of maps, of any length.
const PATH_SHOWN: usize = 200;
const TOO_DEEP: &str = "nested more than 127 levels deep";
/// Room for larger objects is not kept.
const LARGE: usize = 1 << 20;

/// Room to decode in.
struct Scratch {
    body: Vec<u8>,
    buffers: Buffers,
}

thread_local! {
    /// None while it is in use.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Decodes the object whose body `write` writes over what a buffer holds.
pub(super) fn object<T: DeserializeOwned + Send>(
    encoding: Encoding,
    write: impl Fn(&mut Vec<u8>),
) -> Result<T, DecodeError> {
    match encoding {
        Encoding::Json => json_object(write),
    }
}

/// `simd_json` takes less than half the time of `serde_json`, and tells a `Vec` how long it becomes, which saves a fifth of
/// a usual object's memory. What it cannot read (a `RawValue`, a number beyond 64 bits) is left to `serde_json`, which
/// also knows where an error is.
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
        // It has been written to.
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

/// Decodes an object that is nested too deeply to be decoded on this thread, as `error` says.
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
        // There is no thread to be had.
        None => TOO_DEEP,
    };
    Err(DecodeError {
        reason: reason.to_owned(),
        ..error
    })
}

/// Reads any JSON value that is not nested deeply, numbers as `simd_json` does; an error is looked for a second time to learn the path, which costs nothing when there is none.
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
            // Too deep is the whole object, not the place where it was noticed.
            path: if reason == TOO_DEEP { String::new() } else { path },
            reason,
            line: error.line(),
            column: error.column(),
        }
    })
}

/// The same JSON with `0` for an integer `-0`. `serde_json` reads that as a floating-point number, so that no integer can
/// be decoded from it. All other numbers are the same for both: floating-point numbers are the nearest ones.
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

/// As much of a path as is shown.
fn shown(path: &str) -> String {
    let mut shown: String = path.chars().take(PATH_SHOWN).collect();
    if shown.len() < path.len() {
        shown.push('\u{2026}');
    }
    shown
}

/// What is wrong, without the value that is wrong: it may be part of a secret, and serde's own messages quote it.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match error.classify() {
        Category::Eof => "the object ends too early".to_owned(),
        Category::Syntax if text.starts_with("recursion limit") => TOO_DEEP.to_owned(),
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
            match known.into_iter().find(|known| text.starts_with(known)) {
                Some(known) => known.to_owned(),
                // Field names come from the type, not from the object.
                None if text.starts_with("missing field") => {
                    text.split(" at line").next().unwrap_or("").to_owned()
                }
                None => "invalid data".to_owned(),
            }
        }
    }
}

/// Why an object could not be decoded: where and what, but not the object's content.
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
    fn errors_say_where_and_never_what() {
        let text = error::<Secret>(r#"{"metadata":{"name":"a"},"data":{"password":["hunter2"]}}"#);
        assert!(text.starts_with("data.password: invalid type"), "{text}");
        let texts = [
            text,
            error::<Secret>(r#"{"metadata":{"name":"a"},"data":"hunter2"}"#),
            error::<Secret>(r#"{"metadata":{"name":"a"},"data":{"x":"hunter2!"}}"#),
            error::<Pod>(r#"{"metadata":{"name":"a","creationTimestamp":"hunter2"}}"#),
            error::<Pod>(r#"{"kind":"hunter2","metadata":{}}"#),
            error::<Pod>(r#"{"metadata":{"name":"hunter2""#),
            error::<Pod>(r#"{"metadata":{"name":"hunter2"}} hunter2"#),
        ];
        for text in texts {
            assert!(!text.contains("hunter2"), "{text}");
        }
    }

    #[test]
    fn vectors_take_no_more_room_than_they_need() {
        let pod: Pod = decode(
            br#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a"}],"volumes":[{"name":"v"},{"name":"w"}]}}"#,
        )
        .unwrap();
        let spec = pod.spec.unwrap();
        assert_eq!((spec.containers.len(), spec.containers.capacity()), (1, 1));
        assert_eq!(spec.volumes.unwrap().capacity(), 2);
    }

    #[test]
    fn what_needs_the_text_itself_is_read_too() {
        let texts: Vec<Box<RawValue>> = decode(b"[1.50, 18446744073709551616]").unwrap();
        assert_eq!(texts[0].get(), "1.50");
        assert_eq!(decode::<f64>(b"18446744073709551616").unwrap(), 2f64.powi(64));
    }

    #[test]
    fn depth_has_a_limit() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        for depth in [127, 128, 256] {
            let value = decode::<Value>(nested(depth).as_bytes()).unwrap();
            assert_eq!(value.clone().to_string(), nested(depth));
        }
        for depth in [257, 10_000, 1_000_000] {
            let text = error::<Value>(&nested(depth));
            assert!(text.contains("nested more than 256 levels deep"), "{text}");
        }
        let text = error::<Value>(&nested(200).replace("[]", "[hunter2]"));
        assert!(
            text.starts_with("invalid data, and nested more than 127 levels deep"),
            "{text}"
        );
        let pod = format!(r#"{{"metadata":{{"name":"a"}},"unread":{}}}"#, nested(100_000));
        assert!(decode::<Pod>(pod.as_bytes()).is_ok());
    }

    #[derive(Debug, Deserialize)]
    struct Chain {
        next: Option<Box<Chain>>,
    }

    #[test]
    fn a_recursive_type_is_read_to_the_same_depth() {
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
    fn the_path_of_an_error_is_cut() {
        let name = "k".repeat(100_000);
        let text = error::<Pod>(&format!(r#"{{"metadata":{{"labels":{{"{name}":[]}}}}}}"#));
        assert!(
            text.starts_with("metadata.labels.kkk") && text.len() < 300,
            "{text}"
        );
    }

    /// A type that decodes while it is decoded, as one with JSON in a string does.
    #[derive(Debug)]
    struct Nested(Value);

    impl<'de> Deserialize<'de> for Nested {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            decode(text.as_bytes())
                .map(Self)
                .map_err(serde::de::Error::custom)
        }
    }

    #[test]
    fn decoding_may_decode() {
        let pair: (Nested, Value) = decode(br#"["{\"a\":[1]}", {"b": [2]}]"#).unwrap();
        assert_eq!(
            (pair.0.0.to_string(), pair.1.to_string()),
            (r#"{"a":[1]}"#.into(), r#"{"b":[2]}"#.into())
        );
    }

    #[test]
    fn a_large_object_leaves_no_large_room_behind() {
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
        fn what_is_read_is_what_serde_json_reads(text in json_text(), broken: Option<(prop::sample::Index, u8)>) {
            let mut body = text.into_bytes();
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
