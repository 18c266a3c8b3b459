//! Noticing broken JSON where it is broken.

use super::is_whitespace;

/// Follows a value token by token, across chunks.
///
/// It does not look into strings and scalars: only a control character ends a string with an error, since that is how a
/// string that lacks its closing quote meets the end of a line.
#[derive(Debug)]
pub(super) struct Grammar {
    /// The containers around this place; whether each is an object.
    containers: Vec<bool>,
    at: At,
}

/// What stands at this place.
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
    /// Behind a value.
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

    /// Goes on with the next bytes of the value.
    ///
    /// # Errors
    /// They do not go on with it: from where on, and what should stand there instead.
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
        fn what_begins_like_json_is_told_from_what_does_not(
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
                // Two scalars in one, as in `nullnull`, are left to the decoder.
                prop_assert!(text.contains("null1") || text.contains("nullnull") || text.contains("1null")
                    || text.contains("1-") || text.contains("11") || text.contains("null-") || text.contains("5-")
                    || text.contains("51") || text.contains("5null"), "{}", text);
            }
        }
    }
}
