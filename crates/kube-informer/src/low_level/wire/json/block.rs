//! Classifies 64 bytes at once with SIMD.

use fearless_simd::{prelude::*, u8x64};

pub(super) const BLOCK: usize = 64;

/// The positions of JSON's structural bytes in a block: bit *n* stands for byte *n*.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    pub(super) quotes: u64,
    pub(super) backslashes: u64,
    /// `{` and `[`.
    pub(super) opening: u64,
    /// `}` and `]`.
    pub(super) closing: u64,
}

impl Marks {
    #[inline(always)]
    pub(super) fn of<S: Simd>(simd: S, block: &[u8; BLOCK]) -> Self {
        let bytes = u8x64::simd_from(simd, *block);
        // `[` and `{` differ only in this bit, and so do `]` and `}`; no other byte maps to one of them.
        let folded = bytes | u8x64::splat(simd, b'[' ^ b'{');
        Self {
            quotes: bytes.simd_eq(b'"').to_bitmask(),
            backslashes: bytes.simd_eq(b'\\').to_bitmask(),
            opening: folded.simd_eq(b'{').to_bitmask(),
            closing: folded.simd_eq(b'}').to_bitmask(),
        }
    }
}

/// The bytes that are escaped by a preceding backslash.
///
/// On entry, `escaped` is whether the block's first byte is escaped; on return, whether the first byte after the
/// block is.
#[inline(always)]
pub(super) fn escaped(backslashes: u64, escaped: &mut bool) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let carried = u64::from(*escaped);
    // In a run of backslashes every second byte is escaped, and so is the byte after a run of odd length. An addition
    // carries through a run that starts at an odd position, which gives the run's end. This is simdjson's method.
    let backslashes = backslashes & !carried;
    let follows = backslashes << 1 | carried;
    let odd_starts = backslashes & !EVEN & !follows;
    let (runs, carry) = odd_starts.overflowing_add(backslashes);
    *escaped = carry;
    (EVEN ^ (runs << 1)) & follows
}

/// Each bit becomes the parity of the bits up to and including it: set from an opening quote to the byte before its
/// closing quote.
#[inline(always)]
pub(super) fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    fn bits(mut test: impl FnMut(usize) -> bool) -> u64 {
        (0..BLOCK).filter(|&n| test(n)).map(|n| 1 << n).sum()
    }

    #[test]
    fn every_byte_is_classified() {
        for start in 0..4u8 {
            let block: [u8; BLOCK] = std::array::from_fn(|n| start * 64 + n as u8);
            let marks = dispatch!(Level::new(), simd => Marks::of(simd, &block));
            assert_eq!(marks.quotes, bits(|n| block[n] == b'"'));
            assert_eq!(marks.backslashes, bits(|n| block[n] == b'\\'));
            assert_eq!(marks.opening, bits(|n| matches!(block[n], b'{' | b'[')));
            assert_eq!(marks.closing, bits(|n| matches!(block[n], b'}' | b']')));
        }
    }

    proptest! {
        #[test]
        fn escapes_are_followed_from_block_to_block(blocks in proptest::collection::vec(any::<u64>(), 1..4), dense: bool) {
            let (mut carried, mut model) = (false, false);
            for block in blocks {
                let backslashes = if dense { block | block << 1 | block >> 1 | block << 7 } else { block };
                let expected = bits(|n| {
                    let is_escaped = model;
                    model = !is_escaped && backslashes >> n & 1 == 1;
                    is_escaped
                });
                prop_assert_eq!(escaped(backslashes, &mut carried), expected);
                prop_assert_eq!(carried, model);
            }
        }

        #[test]
        fn parity_counts_the_bits_below(block: u64) {
            let expected = bits(|n| (block << (63 - n)).count_ones() % 2 == 1);
            prop_assert_eq!(parity(block), expected);
        }
    }
}
