//! Shard selectors: objects by ranges of a hash.

use std::borrow::Cow;
use std::{fmt, str::FromStr};

/// What is hashed to find the shard of an object (KEP-5866).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum ShardField {
    /// `metadata.uid`, which spreads the objects of every kind evenly.
    #[default]
    Uid,
    /// `metadata.namespace`: all objects of a namespace are in one shard, whatever their kind. Objects
    /// without a namespace are all in one shard, too.
    Namespace,
}

impl ShardField {
    /// The path in a selector: `object.metadata.uid`.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Uid => "object.metadata.uid",
            Self::Namespace => "object.metadata.namespace",
        }
    }

    /// The hash of an object with this uid and namespace.
    pub fn hash_of(self, uid: Option<&str>, namespace: Option<&str>) -> u64 {
        shard_hash(match self {
            Self::Uid => uid.unwrap_or_default(),
            Self::Namespace => namespace.unwrap_or_default(),
        })
    }
}

/// The hash by which API servers find the shard of an object: FNV-1a with 64 bits.
///
/// ```
/// assert_eq!(kube_informer::selector::shard_hash("foobar"), 0x85944171f73967e8);
/// ```
pub fn shard_hash(value: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    value.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// A range of hashes, not empty. Its text is `0x0000000000000000-0x8000000000000000`: the first hash, and the
/// one after the last, as in a selector; the end of all hashes is `0x10000000000000000`.
///
/// ```
/// use kube_informer::selector::HashRange;
///
/// let halves: Vec<_> = HashRange::equal(2).collect();
/// assert_eq!(halves[0].to_string(), "0x0000000000000000-0x8000000000000000");
/// assert_eq!(halves[1].to_string(), "0x8000000000000000-0x10000000000000000");
/// assert!(halves[1].contains(u64::MAX));
/// assert_eq!(halves[1].to_string().parse(), Ok(halves[1]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HashRange {
    first: u64,
    last: u64,
}

impl HashRange {
    /// All hashes.
    pub const ALL: Self = Self {
        first: 0,
        last: u64::MAX,
    };

    /// The hashes from `first` to `last`, both included. `None` if there are none.
    pub const fn new(first: u64, last: u64) -> Option<Self> {
        if first <= last {
            Some(Self { first, last })
        } else {
            None
        }
    }

    /// Divides all hashes into `count` ranges of equal size (up to one hash), in order. No range if `count`
    /// is 0.
    pub fn equal(count: u16) -> impl ExactSizeIterator<Item = Self> + Clone {
        let start = move |number: u16| (u128::from(number) << 64).div_ceil(u128::from(count.max(1)));
        (0..count).map(move |number| Self {
            // Both are less than 2^64.
            first: start(number) as u64,
            last: (start(number + 1) - 1) as u64,
        })
    }

    /// The index of the range with this hash among `count` [equal](Self::equal) ranges. 0 if `count` is 0.
    pub fn number_of(hash: u64, count: u16) -> u16 {
        // Less than `count`.
        ((u128::from(hash) * u128::from(count)) >> 64) as u16
    }

    /// The first hash.
    pub const fn first(self) -> u64 {
        self.first
    }

    /// The last hash, which is in the range.
    pub const fn last(self) -> u64 {
        self.last
    }

    /// Whether a hash is in the range.
    pub const fn contains(self, hash: u64) -> bool {
        self.first <= hash && hash <= self.last
    }

    /// The hash after the last, which may be 2^64.
    const fn end(self) -> u128 {
        self.last as u128 + 1
    }
}

impl fmt::Display for HashRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016x}-0x{:016x}", self.first, self.end())
    }
}

/// A text that is no [`HashRange`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a range of hashes, such as 0x0000000000000000-0x8000000000000000")]
pub struct ParseHashRangeError;

impl FromStr for HashRange {
    type Err = ParseHashRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bound = |text: &str| {
            let digits = text.strip_prefix("0x")?;
            let hexadecimal = digits.bytes().all(|b| b.is_ascii_hexdigit());
            (digits.len() >= 16 && hexadecimal).then(|| u128::from_str_radix(digits, 16).ok())?
        };
        let range = text.split_once('-').and_then(|(first, end)| {
            let first = u64::try_from(bound(first)?).ok()?;
            let last = u64::try_from(bound(end)?.checked_sub(1)?).ok()?;
            Self::new(first, last)
        });
        range.ok_or(ParseHashRangeError)
    }
}

/// Selects the objects whose field has a hash in one of these ranges (KEP-5866). Its text is what API servers
/// take as `shardSelector`. Without ranges, it selects nothing.
///
/// ```
/// use kube_informer::selector::{HashRange, ShardField, ShardSelector};
///
/// let selector = ShardSelector::new(ShardField::Uid, HashRange::equal(4).take(2));
/// assert_eq!(
///     selector.to_string(),
///     "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
///     "ranges that touch each other are one",
/// );
/// ```
///
/// <https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/5866-server-side-sharded-list-and-watch>
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShardSelector {
    field: ShardField,
    /// In order; they do not touch each other.
    ranges: Vec<HashRange>,
}

impl ShardSelector {
    /// Selects by these ranges.
    pub fn new(field: ShardField, ranges: impl IntoIterator<Item = HashRange>) -> Self {
        let mut given: Vec<_> = ranges.into_iter().collect();
        given.sort_unstable();
        let mut ranges: Vec<HashRange> = Vec::new();
        for range in given {
            match ranges.last_mut() {
                Some(before) if u128::from(range.first) <= before.end() => {
                    before.last = before.last.max(range.last);
                }
                _ => ranges.push(range),
            }
        }
        Self { field, ranges }
    }

    /// What is hashed.
    pub const fn field(&self) -> ShardField {
        self.field
    }

    /// The ranges, in order. Those that touch each other are one.
    pub fn ranges(&self) -> &[HashRange] {
        &self.ranges
    }

    /// Whether an object with this uid and namespace is selected.
    pub fn matches(&self, uid: Option<&str>, namespace: Option<&str>) -> bool {
        let hash = self.field.hash_of(uid, namespace);
        let until = self.ranges.partition_point(|range| range.first <= hash);
        until > 0 && self.ranges[until - 1].contains(hash)
    }

    /// Selects at least the same with at most `count` ranges (and at least one): the smallest gaps between ranges are selected, too.
    pub(crate) fn widened(&self, count: usize) -> Cow<'_, Self> {
        let Some(excess @ 1..) = self.ranges.len().checked_sub(count.max(1)) else {
            return Cow::Borrowed(self);
        };
        let size = |before: usize| self.ranges[before + 1].first - self.ranges[before].last;
        let mut gaps: Vec<usize> = (0..self.ranges.len() - 1).collect();
        gaps.sort_by_key(|before| size(*before));
        let closed = gaps[..excess]
            .iter()
            .filter_map(|before| HashRange::new(self.ranges[*before].first, self.ranges[before + 1].last));
        Cow::Owned(Self::new(self.field, self.ranges.iter().copied().chain(closed)))
    }
}

impl fmt::Display for ShardSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, range) in self.ranges.iter().enumerate() {
            let or = if number > 0 { " || " } else { "" };
            let (field, first, end) = (self.field.path(), range.first, range.end());
            write!(f, "{or}shardRange({field}, '0x{first:016x}', '0x{end:016x}')")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_smallest_gaps_are_closed() {
        let ranges =
            [(0, 9), (20, 29), (31, 39), (60, 69)].map(|(first, last)| HashRange::new(first, last).unwrap());
        let all = ShardSelector::new(ShardField::Uid, ranges);
        let wide = all.widened(2);
        let wide: Vec<_> = wide
            .ranges()
            .iter()
            .map(|range| (range.first(), range.last()))
            .collect();
        assert_eq!(wide, [(0, 39), (60, 69)]);
        assert_eq!(*all.widened(4), all);
    }

    #[test]
    fn texts_that_are_no_ranges_are_refused() {
        for text in [
            "",
            "0x0-0x8",
            "0x0000000000000000",
            "0000000000000000-8000000000000000",
            "0x0000000000000000-0x0000000000000000",
            "0x8000000000000000-0x4000000000000000",
            "0x0000000000000000-0x10000000000000001",
            "0x+000000000000000-0x8000000000000000",
        ] {
            assert_eq!(text.parse::<HashRange>(), Err(ParseHashRangeError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_range_is_read_from_its_text(first: u64, last: u64) {
            for range in [HashRange::new(first.min(last), first.max(last)).unwrap(), HashRange::ALL] {
                prop_assert_eq!(range.to_string().parse(), Ok(range));
            }
        }

        #[test]
        fn equal_ranges_cover_every_hash_once(count in 1..=u16::MAX, hash: u64) {
            let number = HashRange::number_of(hash, count);
            let mut ranges = HashRange::equal(count).skip(number.into());
            prop_assert!(ranges.next().unwrap().contains(hash));
            prop_assert!(ranges.next().is_none_or(|next| next.first() > hash));
            let (first, last) = (HashRange::equal(count).next(), HashRange::equal(count).last());
            prop_assert_eq!((first.unwrap().first(), last.unwrap().last()), (0, u64::MAX));
        }

        #[test]
        fn fewer_ranges_select_at_least_the_same(ranges: Vec<(u64, u64)>, count in 0..8_usize) {
            let ranges = ranges.into_iter().filter_map(|(a, b)| HashRange::new(a.min(b), a.max(b)));
            let all = ShardSelector::new(ShardField::Uid, ranges);
            let wide = all.widened(count);
            prop_assert_eq!(wide.ranges().len(), all.ranges().len().min(count.max(1)));
            for range in all.ranges() {
                let within = |wide: &HashRange| wide.first() <= range.first() && range.last() <= wide.last();
                prop_assert!(wide.ranges().iter().any(within));
            }
        }

        #[test]
        fn merged_ranges_select_the_same(ranges: Vec<(u8, u8)>, hash: u8) {
            let ranges = ranges.into_iter().filter_map(|(a, b)| HashRange::new(a.min(b).into(), a.max(b).into()));
            let ranges: Vec<_> = ranges.collect();
            let merged = ShardSelector::new(ShardField::Uid, ranges.clone());
            let contained = |ranges: &[HashRange]| ranges.iter().any(|range| range.contains(hash.into()));
            prop_assert_eq!(contained(merged.ranges()), contained(&ranges));
            prop_assert!(merged.ranges().windows(2).all(|two| two[0].end() < two[1].first().into()));
        }
    }
}
