//! Values out of chunks.

use super::{grammar::Grammar, is_whitespace, scan::scan_first, value::Value};
use crate::wire::{Encoding, FieldPlan, FrameError, FrameReason, RawObject, Split};
use bytes::{Bytes, BytesMut};
use memchr::memchr;
use std::{collections::VecDeque, fmt};

/// The bytes of a body as they arrive, and the value that is under way.
///
/// A value is looked at once, however many chunks it comes in: what was seen of it is kept as a [`Value`].
#[derive(Default)]
pub(super) struct Feed {
    chunk: Bytes,
    /// How far `chunk` is read.
    at: usize,
    /// The chunks after it.
    waiting: VecDeque<Bytes>,
    /// The size of the chunks before it.
    before: u64,
    under_way: Option<UnderWay>,
    /// Broken JSON may have no end; where each value usually stands in one line, it is noticed at the end of a line.
    check_lines: bool,
}

struct UnderWay {
    value: Value,
    /// What earlier chunks held of it.
    head: BytesMut,
    /// Where it begins in the current chunk.
    start: usize,
    /// What follows it since its first line break.
    grammar: Option<Grammar>,
}

/// What to do with a value's bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Take {
    /// Give them, or fail if there are more of them.
    UpTo(usize),
    /// Go over them.
    Nothing,
}

impl Feed {
    /// A feed whose values are checked if they have line breaks. They must not be [nothing](Take::Nothing).
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

    /// The next byte that is not whitespace, without consuming it; `None` until there is one.
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

    /// Consumes the byte that was peeked at.
    pub(super) fn bump(&mut self) {
        self.at += 1;
    }

    /// Reads the value that begins here. Gives its bytes (none, if they were not wanted), or `None` until it is
    /// complete; then it is to be called again in the same way.
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
            self.set_aside(&mut under_way, take)?;
            if !self.load() {
                break;
            }
        }
        self.under_way = Some(under_way);
        Ok(None)
    }

    /// Reads the value that begins here, which should be an object, and scans it for `plan`, if there is one. `None` until
    /// it is complete.
    pub(super) fn object(
        &mut self,
        limit: usize,
        plan: Option<&FieldPlan>,
    ) -> Result<Option<Split>, FrameError> {
        if let Some(raw) = plan.and_then(|plan| self.scanned(limit, plan)) {
            return Ok(Some(Split::Raw(raw)));
        }
        Ok(self.value(Take::UpTo(limit))?.map(Split::Bytes))
    }

    /// An object that has arrived in one piece and has no fault; what else there is, is looked at again as a value.
    fn scanned(&mut self, limit: usize, plan: &FieldPlan) -> Option<RawObject> {
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
        Some(RawObject::new(
            Encoding::Json,
            meta,
            self.chunk.slice(start..self.at),
        ))
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

    /// Checks a value that has come to `at`, from its first line break on.
    fn check_lines(&self, under_way: &mut UnderWay) -> Result<(), FrameError> {
        let part = &self.chunk[under_way.start..self.at];
        if !self.check_lines || under_way.grammar.is_none() && memchr(b'\n', part).is_none() {
            return Ok(());
        }
        let start = self.before + under_way.start as u64;
        // Where it is broken does not depend on how it is cut.
        let broken = |start: u64, (at, what)| FrameError::new(FrameReason::Expected(what), start + at as u64);
        if under_way.grammar.is_none() {
            let (head, grammar) = (&under_way.head, under_way.grammar.insert(Grammar::new()));
            let begin = start - head.len() as u64;
            grammar.check(head).map_err(|fault| broken(begin, fault))?;
        }
        let grammar = under_way.grammar.get_or_insert_with(Grammar::new);
        grammar.check(part).map_err(|fault| broken(start, fault))
    }

    /// Keeps what the current chunk, which ends here, holds of the value.
    fn set_aside(&self, under_way: &mut UnderWay, take: Take) -> Result<(), FrameError> {
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

    /// Goes to the next chunk, when the current one is read. Without a next one, lets go of the current one.
    fn load(&mut self) -> bool {
        self.before += self.at as u64;
        self.at = 0;
        self.chunk = self.waiting.pop_front().unwrap_or_default();
        !self.chunk.is_empty()
    }

    /// How many bytes of the body are read.
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

/// How much was read; never what.
impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("offset", &self.offset())
            .finish_non_exhaustive()
    }
}
