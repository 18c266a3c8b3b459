//! Finding the end of an object or array.

/// Where we are inside an object or array.
///
/// Follows strings and counts brackets; it does not tell `{` from `[`. Whatever is valid JSON ends where it should.
#[derive(Debug)]
pub(super) struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Nesting {
    /// Right behind the opening bracket.
    pub(super) fn opened() -> Self {
        Self {
            depth: 1,
            in_string: false,
            escaped: false,
        }
    }

    /// Goes on with the next bytes. Gives the number of bytes up to and with the closing bracket, if it is there.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        for (i, byte) in bytes.iter().enumerate() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(i + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
