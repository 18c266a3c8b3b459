//! Finds the end of an object or array.

use super::block::{BLOCK, Marks, escaped, parity};
use fearless_simd::{Level, Simd, dispatch};

/// The state inside an object or array.
///
/// It tracks strings and counts brackets, without distinguishing `{` from `[`. For valid JSON the end is correct.
#[derive(Debug)]
pub(super) struct Nesting {
    depth: usize,
    /// All bits are set inside a string.
    in_string: u64,
    /// Whether the next byte is escaped.
    escaped: bool,
}

impl Nesting {
    /// The state after the opening bracket.
    pub(super) fn opened() -> Self {
        Self {
            depth: 1,
            in_string: 0,
            escaped: false,
        }
    }

    /// Processes the next bytes. Returns the number of bytes up to and including the closing bracket, if it is among
    /// them.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        // Compiled for each SIMD level, including inlined functions.
        dispatch!(Level::new(), simd => self.advance_with(simd, bytes))
    }

    #[inline(always)]
    fn advance_with<S: Simd>(&mut self, simd: S, bytes: &[u8]) -> Option<usize> {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        for (i, block) in blocks.iter().enumerate() {
            if let Some(n) = self.block(Marks::of(simd, block)) {
                return Some(i * BLOCK + n);
            }
        }
        if rest.is_empty() {
            return None;
        }
        let mut block = [b' '; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        let end = self.rest(Marks::of(simd, &block), rest.len());
        end.map(|n| blocks.len() * BLOCK + n)
    }

    /// Processes the first `length` bytes of a block.
    #[inline(never)]
    fn rest(&mut self, marks: Marks, length: usize) -> Option<usize> {
        let escaped_behind = escaped(marks.backslashes, &mut self.escaped.clone()) >> length & 1;
        let end = self.block(marks);
        self.escaped = escaped_behind == 1;
        end
    }

    #[inline(always)]
    fn block(&mut self, marks: Marks) -> Option<usize> {
        let quotes = marks.quotes & !escaped(marks.backslashes, &mut self.escaped);
        let in_string = parity(quotes) ^ self.in_string;
        self.in_string = ((in_string as i64) >> 63) as u64;
        let opening = marks.opening & !in_string;
        let closing = marks.closing & !in_string;
        let closed = closing.count_ones() as usize;
        if closed < self.depth {
            self.depth = self.depth + opening.count_ones() as usize - closed;
            return None;
        }
        self.end_within(opening, closing)
    }

    /// Visits each bracket of a block in which the end may be.
    #[inline(never)]
    fn end_within(&mut self, opening: u64, closing: u64) -> Option<usize> {
        let mut brackets = opening | closing;
        while brackets != 0 {
            let at = brackets.trailing_zeros() as usize;
            brackets &= brackets - 1;
            if opening >> at & 1 == 1 {
                self.depth += 1;
                continue;
            }
            self.depth -= 1;
            if self.depth == 0 {
                return Some(at + 1);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same algorithm, byte by byte.
    fn model(bytes: &[u8]) -> Option<usize> {
        let (mut depth, mut in_string, mut escaped) = (1, false, false);
        for (i, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' if !escaped => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => depth -= 1,
                _ => {}
            }
            // JSON has no backslashes outside of strings, so their effect there does not matter.
            escaped = *byte == b'\\' && !escaped;
            if depth == 0 {
                return Some(i + 1);
            }
        }
        None
    }

    proptest! {
        #[test]
        fn the_end_equals_that_of_a_bytewise_search(
            bytes in "[a{}\\[\\]\"\\\\]{0,40}[a \"\\\\]{0,90}[a{}\\[\\]\"\\\\]{0,200}",
            cuts in proptest::collection::vec(0..300usize, 0..6),
        ) {
            let bytes = bytes.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let (mut nesting, mut start, mut end) = (Nesting::opened(), 0, None);
            for cut in cuts {
                end = nesting.advance(&bytes[start..cut]).map(|n| start + n);
                start = cut;
                if end.is_some() {
                    break;
                }
            }
            prop_assert_eq!(end, model(bytes));
        }
    }
}
