//! Finds the end of any value.

use super::{is_whitespace, nesting::Nesting};
use memchr::memchr2;

/// The state inside a value.
#[derive(Debug)]
pub(super) enum Value {
    Nested(Nesting),
    Text {
        escaped: bool,
    },
    /// A number, `true`, `false` or `null`: everything up to a delimiter.
    Scalar,
}

impl Value {
    /// The state after the first byte of a value; `None` if no value starts with this byte.
    pub(super) fn begin(first: u8) -> Option<Self> {
        match first {
            b'{' | b'[' => Some(Self::Nested(Nesting::opened())),
            b'"' => Some(Self::Text { escaped: false }),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => Some(Self::Scalar),
            _ => None,
        }
    }

    /// Processes the next bytes. Returns the number of bytes up to the end of the value, if it is among them.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Nested(nesting) => nesting.advance(bytes),
            Self::Text { escaped } => end_of_string(escaped, bytes),
            Self::Scalar => bytes.iter().position(|&b| is_delimiter(b)),
        }
    }

    /// Whether the value is complete if no bytes follow.
    pub(super) fn may_end_here(&self) -> bool {
        matches!(self, Self::Scalar)
    }
}

fn is_delimiter(byte: u8) -> bool {
    is_whitespace(byte) || matches!(byte, b',' | b':' | b'}' | b']' | b'{' | b'[' | b'"')
}

/// The number of bytes up to and including the closing quote.
fn end_of_string(escaped: &mut bool, bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    if *escaped && !bytes.is_empty() {
        *escaped = false;
        at = 1;
    }
    loop {
        at += memchr2(b'"', b'\\', &bytes[at..])?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        if at + 1 == bytes.len() {
            *escaped = true;
            return None;
        }
        at += 2;
    }
}
