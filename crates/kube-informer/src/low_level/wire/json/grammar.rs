//! A token-level check that detects where JSON is broken.

use super::is_whitespace;

/// Checks a value token by token, across chunks.
///
/// It does not validate the content of strings and scalars, except that a control character in a string is an error:
/// a string without a closing quote reaches the line break.
#[derive(Debug)]
pub(super) struct Grammar {
    /// The enclosing containers; true for an object, false for an array.
    containers: Vec<bool>,
    at: At,
}

/// What is expected at the current position.
#[derive(Debug, Clone, Copy)]
enum At {
    Value,
    /// The first item of an array, or its end.
    Item,
    /// The first member of an object, or its end.
    Member,
    /// The name of a member.
    Name,
    Colon,
    /// After a value.
    Behind,
    Scalar,
    String {
        is_name: bool,
        escaped: bool,
    },
}

impl Grammar {
    /// At the start of a value.
    pub(super) fn new() -> Self {
        Self {
            containers: Vec::new(),
            at: At::Value,
        }
    }

    /// Checks the next bytes of the value.
    ///
    /// # Errors
    /// The bytes do not continue the value: the offset of the error, and what was expected there.
    pub(super) fn check(&mut self, bytes: &[u8]) -> Result<(), (usize, &'static str)> {
        let mut bytes = bytes.iter().enumerate();
        bytes.try_for_each(|(at, &byte)| self.byte(byte).map_err(|expected| (at, expected)))
    }

    fn byte(&mut self, byte: u8) -> Result<(), &'static str> {
        self.at = match (self.at, byte) {
            (
                At::String {
                    is_name,
                    escaped: true,
                },
                _,
            ) => At::String {
                is_name,
                escaped: false,
            },
            (At::String { is_name, .. }, b'\\') => At::String {
                is_name,
                escaped: true,
            },
            (At::String { is_name, .. }, b'"') if is_name => At::Colon,
            (At::String { .. }, b'"') => At::Behind,
            (At::String { .. }, ..0x20) => return Err("the end of a string"),
            (At::String { .. }, _) => return Ok(()),
            (At::Scalar, byte) if is_scalar(byte) => return Ok(()),
            (at, byte) if is_whitespace(byte) => match at {
                At::Scalar => At::Behind,
                at => at,
            },
            (At::Value | At::Item, b'{' | b'[') => {
                self.containers.push(byte == b'{');
                if byte == b'{' { At::Member } else { At::Item }
            }
            (At::Value | At::Item, b'"') => At::String {
                is_name: false,
                escaped: false,
            },
            (At::Value | At::Item, byte) if is_scalar(byte) => At::Scalar,
            (At::Member | At::Name, b'"') => At::String {
                is_name: true,
                escaped: false,
            },
            (At::Colon, b':') => At::Value,
            (At::Behind | At::Scalar, b',') => match self.containers.last() {
                Some(true) => At::Name,
                Some(false) => At::Value,
                None => return Err("the end of the value"),
            },
            (At::Behind | At::Scalar | At::Member, b'}') if self.containers.last() == Some(&true) => {
                self.leave()
            }
            (At::Behind | At::Scalar | At::Item, b']') if self.containers.last() == Some(&false) => {
                self.leave()
            }
            (at, _) => return Err(at.expected()),
        };
        Ok(())
    }

    fn leave(&mut self) -> At {
        self.containers.pop();
        At::Behind
    }
}

impl At {
    fn expected(self) -> &'static str {
        match self {
            Self::Value => "a value",
            Self::Item => "an item or the end of the array",
            Self::Member => "a member or the end of the object",
            Self::Name => "a member",
            Self::Colon => "a colon",
            Self::Behind | Self::Scalar => "a comma or the end of the object or array",
            Self::String { .. } => "the end of a string",
        }
    }
}

/// Whether a byte can be part of a number, `true`, `false` or `null`.
fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    const TOKENS: [&str; 16] = [
        "{", "}", "[", "]", ",", ":", " ", "\n", "null", "1", "-0.5", r#""a""#, r#""b":"#, r#""{\"""#,
        r#""\\""#, "\"",
    ];

    proptest! {
        #[test]
        fn prefixes_of_json_are_accepted_and_others_rejected(
            tokens in proptest::collection::vec(proptest::sample::select(&TOKENS[..]), 0..14),
            start in proptest::sample::select(vec!["", "{", "[", "{\"a\":["]),
        ) {
            let text = start.to_owned() + &tokens.concat();
            let model = match serde_json::from_str::<IgnoredAny>(&text) {
                Ok(_) => true,
                Err(error) => error.is_eof(),
            };
            let checked = Grammar::new().check(text.as_bytes());
            if model {
                prop_assert_eq!(checked, Ok(()), "{}", text);
            } else if checked.is_ok() {
                // Adjacent scalars, as in `nullnull`, are detected by the decoder.
                prop_assert!(text.contains("null1") || text.contains("nullnull") || text.contains("1null")
                    || text.contains("1-") || text.contains("11") || text.contains("null-") || text.contains("5-")
                    || text.contains("51") || text.contains("5null"), "{}", text);
            }
        }
    }
}
