//! The maximum depth of JSON, and the stack that it needs.
//!
//! Reading, comparing, writing and dropping a value recurse once for each level. Usual objects have a few levels, for
//! which any stack is large enough. A real server accepts 10,000 levels, for which a thread's usual stack is too
//! small: code that may get such a value runs [with room](with_room) for it.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::thread;

use serde::de::{DeserializeOwned, DeserializeSeed};
use serde_json::{Map, Value};
use tokio::runtime::Handle;

use crate::carried;

mod syntax;
mod unique;

pub(crate) use unique::{Name, Reading};

/// The maximum number of levels of JSON, as in a real server.
pub(crate) const MAX: usize = 10_000;

/// Values with at most this many levels fit on any stack.
pub(crate) const COMMON: usize = 128;

/// So many unknown and duplicate fields of a body are told, as by a real server.
pub(crate) const MOST_STRICT_ERRORS: usize = 100;

/// Enough for [`MAX`] levels in an unoptimized build, with a reserve. This is address space; only the used part takes
/// memory.
const STACK: usize = 256 * 1024 * 1024;

thread_local! {
    static ROOMY: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f` with a stack for values of `depth` levels: on a thread of its own if there are more levels than usual.
///
/// # Panics
///
/// Panics if no thread can be started. A panic of `f` is resumed.
pub(crate) fn with_room<T: Send>(depth: usize, f: impl FnOnce() -> T + Send) -> T {
    if depth <= COMMON || ROOMY.get() {
        return f();
    }
    let runtime = Handle::try_current();
    let carried = carried::now();
    thread::scope(|scope| {
        let roomy = || {
            // The clock may be that of the runtime.
            let _entered = runtime.as_ref().map(Handle::enter);
            ROOMY.set(true);
            carried::within(carried, f)
        };
        let thread = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, roomy);
        let joined = thread.expect("a thread can be started").join();
        joined.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// The number of levels of a value: 0 for a string or a number.
pub(crate) fn of(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 0)];
    while let Some((value, above)) = open.pop() {
        let nested = |value: &Value| value.is_object() || value.is_array();
        let depth = above + 1;
        match value {
            Value::Object(members) => {
                open.extend(members.values().filter(|v| nested(v)).map(|v| (v, depth)));
            }
            Value::Array(items) => open.extend(items.iter().filter(|v| nested(v)).map(|v| (v, depth))),
            _ => continue,
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The number of levels of JSON; at most one more than [`MAX`].
pub(crate) fn of_json(json: &[u8]) -> usize {
    match levels(json) {
        Ok(depth) => depth,
        Err(_) => MAX + 1,
    }
}

/// The number of levels, or the bracket that opens one too many.
fn levels(json: &[u8]) -> Result<usize, char> {
    let (mut depth, mut deepest) = (0usize, 0);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' if depth == MAX => return Err(char::from(*byte)),
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => _ = bytes.next(),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Ok(deepest)
}

/// Why JSON cannot be parsed.
#[derive(Debug)]
pub(crate) enum Unreadable {
    TooDeep(char),
    /// It is no JSON: what Go says of that.
    Syntax(String),
    /// It is JSON, but not of the right kind.
    Invalid {
        line: usize,
        column: usize,
    },
    /// There is nothing.
    Empty,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep(opening) => write!(f, "invalid character '{opening}' exceeded max depth"),
            Self::Invalid { line, column } => write!(f, "invalid JSON at line {line}, column {column}"),
            Self::Syntax(error) => f.write_str(error),
            Self::Empty => f.write_str(syntax::END),
        }
    }
}

/// Parses JSON of up to [`MAX`] levels; call it [with room](with_room) for them.
pub(crate) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, Unreadable> {
    parse_seed(json, PhantomData)
}

fn parse_seed<'de, T>(json: &'de [u8], seed: impl DeserializeSeed<'de, Value = T>) -> Result<T, Unreadable> {
    levels(json).map_err(Unreadable::TooDeep)?;
    if json.trim_ascii().is_empty() {
        return Err(Unreadable::Empty);
    }
    let mut reader = serde_json::Deserializer::from_slice(json);
    reader.disable_recursion_limit();
    let read = seed
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| match syntax::fault(json) {
        Some(fault) => Unreadable::Syntax(fault),
        None => Unreadable::Invalid {
            line: error.line(),
            column: error.column(),
        },
    })
}

/// Parses an object, and tells of members that are there twice, of which the last counts; call it
/// [with room](with_room).
pub(crate) fn parse_object(json: &[u8]) -> Result<(Map<String, Value>, Vec<String>), Unreadable> {
    let mut faults = Vec::new();
    let object = parse_seed(json, unique::Object { faults: &mut faults })?;
    Ok((object, once(faults)))
}

/// The members of the operations of a JSON patch that are there twice or unknown; call it [with room](with_room).
pub(crate) fn faults_of_operations(json: &[u8]) -> Result<Vec<String>, Unreadable> {
    let mut faults = Vec::new();
    parse_seed(json, unique::Operations { faults: &mut faults })?;
    Ok(once(faults))
}

/// Without repetitions: what is in an object that is there twice may have the same path.
fn once(mut faults: Vec<String>) -> Vec<String> {
    let mut given = HashSet::new();
    faults.retain(|fault| given.insert(fault.clone()));
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hundred_duplicates_are_told() {
        let twice: String = (0..1000).map(|n| format!("\"a{n}\":1,").repeat(2)).collect();
        let json = format!("{{\"{}\":{{{twice}\"b\":1}}}}", "k".repeat(1000));
        let (_, duplicates) = parse_object(json.as_bytes()).ok().unwrap();
        assert_eq!(duplicates.len(), MOST_STRICT_ERRORS);
    }

    #[test]
    fn levels_are_counted_outside_of_strings() {
        for (text, depth) in [
            ("1", 0),
            ("{}", 1),
            (r#"{"a":[1,{"b":"{[{\"["}],"c":[[]]}"#, 3),
            (r#"["\\",[]]"#, 2),
        ] {
            assert_eq!(of_json(text.as_bytes()), depth, "{text}");
            let value: Value = parse(text.as_bytes()).unwrap();
            assert_eq!(of(&value), depth, "{text}");
        }
        assert_eq!(of_json(b"]]]{"), 1);
        assert_eq!(of_json("[".repeat(MAX + 5).as_bytes()), MAX + 1);
    }

    #[test]
    fn the_deepest_values_are_handled_without_overflow() {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let text = |levels: usize| open.repeat(levels) + "1" + &close.repeat(levels);
            let deepest = text(MAX);
            with_room(MAX, || {
                let value: Value = parse(deepest.as_bytes()).unwrap();
                assert_eq!(of(&value), MAX);
                assert!(value.clone() == value);
                let written = value.to_string();
                assert!(written == deepest);
                let mut document = json!({});
                json_patch::merge(&mut document, &value);
            });
            let error = parse::<Value>(text(MAX + 1).as_bytes()).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("invalid character '{}' exceeded max depth", &open[..1])
            );
        }
    }
}
