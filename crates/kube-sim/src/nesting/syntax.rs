//! What is wrong with a text that is no JSON, in the words of Go.

/// The text ends too early.
pub(super) const END: &str = "unexpected end of JSON input";

/// What may follow.
#[derive(Clone, Copy)]
enum Expected {
    Value,
    /// A value, or the end of an array that has none yet.
    ValueOrEnd,
    Key,
    /// A key, or the end of an object that has none yet.
    KeyOrEnd,
    Colon,
    /// A comma, or what closes the innermost container.
    Rest,
}

/// The first fault of a text; none if it is JSON.
pub(super) fn fault(json: &[u8]) -> Option<String> {
    let mut bytes = Bytes { json, at: 0 };
    // The brackets that are open.
    let mut open: Vec<u8> = Vec::new();
    let mut expected = Expected::Value;
    loop {
        bytes.skip_space();
        let Some(byte) = bytes.next() else {
            let whole = open.is_empty() && matches!(expected, Expected::Rest);
            return (!whole).then(|| END.to_owned());
        };
        expected = match (expected, byte) {
            (Expected::Value | Expected::ValueOrEnd, b'{') => {
                open.push(b'{');
                Expected::KeyOrEnd
            }
            (Expected::Value | Expected::ValueOrEnd, b'[') => {
                open.push(b'[');
                Expected::ValueOrEnd
            }
            (Expected::KeyOrEnd, b'}') | (Expected::ValueOrEnd, b']') => {
                open.pop();
                Expected::Rest
            }
            (Expected::Value | Expected::ValueOrEnd, _) => match bytes.scalar(byte) {
                Ok(()) => Expected::Rest,
                Err(fault) => return Some(fault),
            },
            (Expected::Key | Expected::KeyOrEnd, b'"') => match bytes.string() {
                Ok(()) => Expected::Colon,
                Err(fault) => return Some(fault),
            },
            (Expected::Key | Expected::KeyOrEnd, _) => {
                return Some(unexpected(byte, "looking for beginning of object key string"));
            }
            (Expected::Colon, b':') => Expected::Value,
            (Expected::Colon, _) => return Some(unexpected(byte, "after object key")),
            (Expected::Rest, _) => match (open.last(), byte) {
                (Some(b'{'), b',') => Expected::Key,
                (Some(b'['), b',') => Expected::Value,
                (Some(b'{'), b'}') | (Some(b'['), b']') => {
                    open.pop();
                    Expected::Rest
                }
                (Some(b'{'), _) => return Some(unexpected(byte, "after object key:value pair")),
                (Some(_), _) => return Some(unexpected(byte, "after array element")),
                (None, _) => return Some(unexpected(byte, "after top-level value")),
            },
        };
    }
}

fn unexpected(byte: u8, place: &str) -> String {
    let shown = match byte {
        b'\'' => "\\'".to_owned(),
        b'"' => "\"".to_owned(),
        byte => {
            let quoted = crate::status::quoted(&char::from(byte).to_string());
            quoted.trim_matches('"').to_owned()
        }
    };
    format!("invalid character '{shown}' {place}")
}

struct Bytes<'a> {
    json: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    fn peek(&self) -> Option<u8> {
        self.json.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Reads a string, number or word that begins with `first`.
    fn scalar(&mut self, first: u8) -> Result<(), String> {
        match first {
            b'"' => self.string(),
            b'-' => {
                let first = self.next().ok_or(END)?;
                match first.is_ascii_digit() {
                    true => self.number(first),
                    false => Err(unexpected(first, "in numeric literal")),
                }
            }
            b'0'..=b'9' => self.number(first),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => Err(unexpected(first, "looking for beginning of value")),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        for wanted in word.bytes().skip(1) {
            let byte = self.next().ok_or(END)?;
            if byte != wanted {
                let place = format!("in literal {word} (expecting '{}')", char::from(wanted));
                return Err(unexpected(byte, &place));
            }
        }
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    /// A digit at least.
    fn some_digits(&mut self, place: &str) -> Result<(), String> {
        let byte = self.next().ok_or(END)?;
        if !byte.is_ascii_digit() {
            return Err(unexpected(byte, place));
        }
        self.digits();
        Ok(())
    }

    fn number(&mut self, first: u8) -> Result<(), String> {
        if first != b'0' {
            self.digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    /// The rest of a string after its first quote.
    fn string(&mut self) -> Result<(), String> {
        loop {
            match self.next().ok_or(END)? {
                b'"' => return Ok(()),
                b'\\' => match self.next().ok_or(END)? {
                    b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                    b'u' => {
                        for _ in 0..4 {
                            let byte = self.next().ok_or(END)?;
                            if !byte.is_ascii_hexdigit() {
                                return Err(unexpected(byte, "in \\u hexadecimal character escape"));
                            }
                        }
                    }
                    other => return Err(unexpected(other, "in string escape code")),
                },
                control @ ..=0x1f => return Err(unexpected(control, "in string literal")),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn faults_are_told_in_the_words_of_go() {
        for (text, wanted) in [
            (
                "{bogus",
                "invalid character 'b' looking for beginning of object key string",
            ),
            ("[bogus", "invalid character 'b' looking for beginning of value"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 2}", "invalid character '2' after object key:value pair"),
            (
                "{\"a\":1,}",
                "invalid character '}' looking for beginning of object key string",
            ),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("[1 \"", "invalid character '\"' after array element"),
            ("{} '", "invalid character '\\'' after top-level value"),
            ("tru", END),
            ("trxe", "invalid character 'x' in literal true (expecting 'u')"),
            ("-x", "invalid character 'x' in numeric literal"),
            (
                "1.x",
                "invalid character 'x' after decimal point in numeric literal",
            ),
            ("1e+x", "invalid character 'x' in exponent of numeric literal"),
            ("01", "invalid character '1' after top-level value"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            (
                "\"\\u00g0\"",
                "invalid character 'g' in \\u hexadecimal character escape",
            ),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            ("[", END),
            (" ", END),
        ] {
            assert_eq!(fault(text.as_bytes()).as_deref(), Some(wanted), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_serde_reads_has_no_fault(text in "[\\[\\]{}:, \"a1.e\\\\-]{0,12}") {
            let read = serde_json::from_str::<serde::de::IgnoredAny>(&text);
            prop_assert_eq!(read.is_ok(), fault(text.as_bytes()).is_none());
        }
    }
}
