//! Reads values from chunks.

use super::{grammar::Grammar, is_whitespace, scan::scan_first, value::Value};
use crate::low_level::wire::{FieldPlan, FrameError, FrameReason, Split, meta::Meta};
use bytes::{Bytes, BytesMut};
use memchr::memchr;
use std::{collections::VecDeque, fmt};

/// The unread bytes of a body, and the state of the value that is being read.
///
/// Each byte of a value is processed once, however many chunks the value spans: the state after each chunk is kept as
/// a [`Value`].
#[derive(Default)]
pub(super) struct Feed {
    chunk: Bytes,
    /// The number of bytes of `chunk` that were read.
    at: usize,
    /// The chunks after it.
    waiting: VecDeque<Bytes>,
    /// The size of the chunks before it.
    before: u64,
    under_way: Option<UnderWay>,
    /// Whether to check values that contain line breaks. Broken JSON may have no end; if values usually take one
    /// line, it is detected at the end of a line.
    check_lines: bool,
}

struct UnderWay {
    value: Value,
    /// The value's bytes in earlier chunks.
    head: BytesMut,
    /// The value's start in the current chunk.
    start: usize,
    /// Checks the value from its first line break on.
    grammar: Option<Grammar>,
}

/// Whether to return a value's bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Take {
    /// Return them; fail if there are more than this many.
    UpTo(usize),
    /// Skip them.
    Nothing,
}

impl Feed {
    /// A feed that checks values with line breaks. They must not be [skipped](Take::Nothing).
    pub(super) fn of_lines() -> Self {
        Self {
            check_lines: true,
            ..Self::default()
        }
    }

    pub(super) fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.waiting.push_back(chunk);
        }
    }

    /// Returns the next byte that is not whitespace without consuming it; `None` if more chunks are needed.
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.chunk[self.at..].iter().position(|&b| !is_whitespace(b)) {
                Some(n) => {
                    self.at += n;
                    return Some(self.chunk[self.at]);
                }
                None => {
                    self.at = self.chunk.len();
                    if !self.load() {
                        return None;
                    }
                }
            }
        }
    }

    /// Consumes the peeked byte.
    pub(super) fn bump(&mut self) {
        self.at += 1;
    }

    /// Reads the value that begins here. Returns its bytes (none if they are skipped), or `None` if the value is not
    /// complete; then call it again with the same arguments after the next chunk.
    pub(super) fn value(&mut self, take: Take) -> Result<Option<Bytes>, FrameError> {
        let mut under_way = match self.under_way.take() {
            Some(under_way) => under_way,
            None => match self.begin()? {
                Some(under_way) => under_way,
                None => return Ok(None),
            },
        };
        while let Some(rest) = self.chunk.get(self.at..) {
            let end = under_way.value.advance(rest);
            self.at = end.map_or(self.chunk.len(), |n| self.at + n);
            self.check_lines(&mut under_way)?;
            if end.is_some() {
                return self.complete(under_way, take).map(Some);
            }
            self.store_head(&mut under_way, take)?;
            if !self.load() {
                break;
            }
        }
        self.under_way = Some(under_way);
        Ok(None)
    }

    /// Reads the value that begins here, which should be an object, and scans it for `plan`, if there is one. Returns
    /// `None` if it is not complete.
    pub(super) fn object(
        &mut self,
        limit: usize,
        plan: Option<&FieldPlan>,
    ) -> Result<Option<Split>, FrameError> {
        if let Some((bytes, meta)) = plan.and_then(|plan| self.scanned(limit, plan)) {
            return Ok(Some((bytes, Some(meta))));
        }
        let bytes = self.value(Take::UpTo(limit))?;
        Ok(bytes.map(|bytes| (bytes, None)))
    }

    /// Scans an object that is valid and complete in the current chunk. Returns `None` in all other cases; the caller
    /// then reads it as a value.
    fn scanned(&mut self, limit: usize, plan: &FieldPlan) -> Option<(Bytes, Meta)> {
        if self.under_way.is_some() || self.peek()? != b'{' {
            return None;
        }
        let (meta, size) = scan_first(&self.chunk[self.at..], plan)?;
        let lines = self.check_lines && memchr(b'\n', &self.chunk[self.at..][..size]).is_some();
        if size > limit || lines {
            return None;
        }
        let start = self.at;
        self.at += size;
        Some((self.chunk.slice(start..self.at), meta))
    }

    fn begin(&mut self) -> Result<Option<UnderWay>, FrameError> {
        let Some(first) = self.peek() else { return Ok(None) };
        let value = Value::begin(first).ok_or_else(|| self.expected("a value"))?;
        let start = self.at;
        self.bump();
        Ok(Some(UnderWay {
            value,
            head: BytesMut::new(),
            start,
            grammar: None,
        }))
    }

    /// Checks a value up to `at`, starting at its first line break.
    fn check_lines(&self, under_way: &mut UnderWay) -> Result<(), FrameError> {
        let part = &self.chunk[under_way.start..self.at];
        if !self.check_lines || under_way.grammar.is_none() && memchr(b'\n', part).is_none() {
            return Ok(());
        }
        let start = self.before + under_way.start as u64;
        // The error's offset must not depend on chunk boundaries.
        let broken = |start: u64, (at, what)| FrameError::new(FrameReason::Expected(what), start + at as u64);
        if under_way.grammar.is_none() {
            let (head, grammar) = (&under_way.head, under_way.grammar.insert(Grammar::new()));
            let begin = start - head.len() as u64;
            grammar.check(head).map_err(|fault| broken(begin, fault))?;
        }
        let grammar = under_way.grammar.get_or_insert_with(Grammar::new);
        grammar.check(part).map_err(|fault| broken(start, fault))
    }

    /// Stores the value's bytes in the current chunk, which ends here.
    fn store_head(&self, under_way: &mut UnderWay, take: Take) -> Result<(), FrameError> {
        if let Take::UpTo(limit) = take {
            let part = &self.chunk[under_way.start..];
            self.check_size(under_way.head.len() + part.len(), limit)?;
            under_way.head.extend_from_slice(part);
        }
        under_way.start = 0;
        Ok(())
    }

    fn complete(&self, mut under_way: UnderWay, take: Take) -> Result<Bytes, FrameError> {
        let Take::UpTo(limit) = take else {
            return Ok(Bytes::new());
        };
        let tail = under_way.start..self.at;
        self.check_size(under_way.head.len() + tail.len(), limit)?;
        if under_way.head.is_empty() {
            return Ok(self.chunk.slice(tail));
        }
        under_way.head.extend_from_slice(&self.chunk[tail]);
        Ok(under_way.head.freeze())
    }

    fn check_size(&self, size: usize, limit: usize) -> Result<(), FrameError> {
        if size > limit {
            return Err(self.error(FrameReason::TooLarge { limit }));
        }
        Ok(())
    }

    /// Moves to the next chunk if the current one was read completely. Drops the current one even if there is no next
    /// one.
    fn load(&mut self) -> bool {
        self.before += self.at as u64;
        self.at = 0;
        self.chunk = self.waiting.pop_front().unwrap_or_default();
        !self.chunk.is_empty()
    }

    /// The number of bytes of the body that were read.
    pub(super) fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    pub(super) fn error(&self, reason: FrameReason) -> FrameError {
        FrameError::new(reason, self.offset())
    }

    pub(super) fn expected(&self, what: &'static str) -> FrameError {
        self.error(FrameReason::Expected(what))
    }
}

/// Shows offsets, never content.
impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("offset", &self.offset())
            .finish_non_exhaustive()
    }
}
