//! What Go writes otherwise than it was given: bytes in base64, in which line breaks do not count, nor the bits after the last
//! byte; times, which are those of UTC; and quantities, in their shortest form, those of resources rounded up to thousandths.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value};

use super::{Additional, Node, Schema};
use crate::quantity::Amount;

const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The bytes of a text.
///
/// # Errors
///
/// The place at which Go says that it ends to be base64.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    check(text.as_bytes())?;
    let joined: String = text.split(['\r', '\n']).collect();
    ENGINE.decode(joined).map_err(|_| text.len())
}

/// Reads groups of four characters, of which the last may end with padding.
fn check(text: &[u8]) -> Result<(), usize> {
    let is_break = |byte: u8| matches!(byte, b'\r' | b'\n');
    let mut rest = text
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, byte)| !is_break(*byte));
    loop {
        for place in 0..4 {
            let Some((at, byte)) = rest.next() else {
                return match place {
                    0 => Ok(()),
                    _ => Err(text.len() - place),
                };
            };
            match (byte, place) {
                (b'=', 2) => match rest.next() {
                    None => return Err(text.len()),
                    Some((_, b'=')) => return ended(rest.next()),
                    Some((at, _)) => return Err(at - 1),
                },
                (b'=', 3) => return ended(rest.next()),
                (b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/', _) => {}
                _ => return Err(at),
            }
        }
    }
}

/// Nothing but line breaks follows the padding.
fn ended(next: Option<(usize, u8)>) -> Result<(), usize> {
    next.map_or(Ok(()), |(at, _)| Err(at))
}

/// Writes all bytes, times and quantities of an object of a built-in kind as Go writes them.
pub(super) fn normalize(object: &mut Map<String, Value>, schema: &Schema) {
    in_object(object, schema, false);
}

/// `rounds` says whether quantities that have names are rounded.
fn in_object(object: &mut Map<String, Value>, schema: &Schema, rounds: bool) {
    for (name, value) in object {
        match (schema.properties.get(name), &schema.additional) {
            (Some(node), _) => in_node(value, node, rounds),
            (None, Additional::Values(node)) => {
                in_node(value, node, rounds);
                if rounds && type_of(node) == Some("Quantity") {
                    round(value);
                }
            }
            _ => {}
        }
    }
}

/// The name of the type that a node refers to.
pub(super) fn type_of(node: &Node) -> Option<&str> {
    match node {
        Node::There { definition, .. } => definition.name.rsplit('.').next(),
        _ => None,
    }
}

fn round(value: &mut Value) {
    if let Some(mut amount) = Amount::read(value) {
        amount.round_up_to_milli();
        *value = amount.to_string().into();
    }
}

fn in_node(value: &mut Value, node: &Node, rounds: bool) {
    // A real server rounds in the core group only.
    let rounds = match node {
        Node::There { definition, .. } => definition.name.starts_with("io.k8s.api.core."),
        _ => rounds,
    };
    match type_of(node) {
        Some("Time") => in_utc(value, "%Y-%m-%dT%H:%M:%SZ"),
        Some("MicroTime") => in_utc(value, "%Y-%m-%dT%H:%M:%S.%6fZ"),
        // A number is one, too.
        Some("Quantity") => {
            if let Some(amount) = Amount::read(value) {
                *value = amount.to_string().into();
            }
        }
        _ => below(value, node.get(), rounds),
    }
}

fn in_utc(value: &mut Value, layout: &str) {
    if let Some(Ok(time)) = value.as_str().map(str::parse::<jiff::Timestamp>) {
        *value = time.strftime(layout).to_string().into();
    }
}

fn below(value: &mut Value, schema: &Schema, rounds: bool) {
    match (value, &schema.items) {
        (Value::String(text), _) if &*schema.format == "byte" => {
            if let Ok(bytes) = decode(text) {
                *text = ENGINE.encode(bytes);
            }
        }
        (Value::Object(object), _) => in_object(object, schema, rounds),
        (Value::Array(items), Some(node)) => {
            items.iter_mut().for_each(|item| in_node(item, node, rounds));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_and_bits_that_are_left_do_not_count() {
        for (text, bytes) in [
            ("", ""),
            ("\n", ""),
            ("YWJj\nZGVm", "abcdef"),
            ("YWJj\r\nZA==\n", "abcd"),
            ("Y\nQ\n=\n=\n", "a"),
            ("YR==", "a"),
            ("YWJ=", "ab"),
        ] {
            assert_eq!(decode(text).as_deref(), Ok(bytes.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn an_error_is_where_go_says_it_is() {
        for (text, at) in [
            ("YW Jj", 2),
            ("YWJj=", 4),
            ("YQ", 0),
            ("YQ=", 3),
            ("YQ==YQ==", 4),
            ("YQ==\nYQ==", 5),
            ("=", 0),
            ("Y-_/", 1),
        ] {
            assert_eq!(decode(text), Err(at), "{text:?}");
        }
    }
}
