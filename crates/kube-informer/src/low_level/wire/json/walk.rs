//! Walks an object whose bytes are complete.

use super::{is_whitespace, value::Value};
use crate::low_level::wire::ScanReason;
pub(super) use crate::low_level::wire::error::Fault;
use std::ops::Range;

/// A position in an object's bytes.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The bytes of a range that the walk returned; they outlive the walk.
    pub(super) fn slice(&self, range: Range<usize>) -> &'a [u8] {
        &self.bytes[range]
    }

    /// All bytes of the walk.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Moves back to an earlier position.
    pub(super) fn back_to(&mut self, at: usize) {
        self.at = at;
    }

    /// The next byte that is not whitespace.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !is_whitespace(byte) {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Visits each member of the object that begins here. `visit` gets the range of the name including quotes, and
    /// must consume the value.
    pub(super) fn members(
        &mut self,
        mut visit: impl FnMut(&mut Self, Range<usize>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.consume(b'{', "an object")?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.expected("a member"));
            }
            let name = self.value()?;
            self.consume(b':', "a colon")?;
            self.peek();
            visit(self, name)?;
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(());
            }
            self.consume(b',', "a comma or the end of the object")?;
        }
    }

    /// Visits each item of the array that begins here. `visit` must consume it.
    pub(super) fn items(
        &mut self,
        mut visit: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.consume(b'[', "an array")?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.peek();
            visit(self)?;
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(());
            }
            self.consume(b',', "a comma or the end of the array")?;
        }
    }

    /// Skips the value that begins here and returns its range.
    pub(super) fn value(&mut self) -> Result<Range<usize>, Fault> {
        let Some(first) = self.peek() else {
            return Err(self.expected("a value"));
        };
        let mut value = Value::begin(first).ok_or_else(|| self.expected("a value"))?;
        let start = self.at;
        let rest = &self.bytes[start + 1..];
        let length = match value.advance(rest) {
            Some(length) => length,
            None if value.may_end_here() => rest.len(),
            None => {
                return Err(Fault {
                    reason: ScanReason::Truncated,
                    offset: self.bytes.len(),
                });
            }
        };
        self.at = start + 1 + length;
        Ok(start..self.at)
    }

    /// Skips the value that begins here.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        self.value().map(|_| ())
    }

    /// Returns an error if anything but whitespace follows.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault(ScanReason::TrailingData)),
        }
    }

    fn consume(&mut self, byte: u8, what: &'static str) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            return Err(self.expected(what));
        }
        self.at += 1;
        Ok(())
    }

    fn expected(&self, what: &'static str) -> Fault {
        if self.at == self.bytes.len() {
            return self.fault(ScanReason::Truncated);
        }
        self.fault(ScanReason::Expected(what))
    }

    fn fault(&self, reason: ScanReason) -> Fault {
        Fault {
            reason,
            offset: self.at,
        }
    }
}
