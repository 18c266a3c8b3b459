//! A Bloom filter of labels, which excludes most objects that a selector does not match.

use super::{LabelOperator, LabelSelector};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// How many digests are asked at once.
pub(crate) const RUN: usize = u64::BITS as usize;

/// A Bloom filter of an object's labels: each pair of name and value sets four of 64 bits.
///
/// The digests of all objects are stored side by side, so that a list by label need not read most objects that do not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LabelDigest(u64);

impl LabelDigest {
    /// The digest of unknown labels; it passes every selector.
    pub(crate) const UNKNOWN: Self = Self(u64::MAX);
    pub(crate) const NO_LABELS: Self = Self(0);

    /// Adds a label.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        let hash = FixedState::default().hash_one((name, value));
        let bits = [58, 52, 46, 40].map(|shift| 1 << (hash >> shift & 63));
        bits.into_iter().for_each(|bit| self.0 |= bit);
    }

    fn of(name: &str, value: &str) -> Self {
        let mut digest = Self::NO_LABELS;
        digest.add(name, value);
        digest
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The condition that a selector puts on digests.
#[derive(Debug)]
pub(crate) struct LabelPrefilter {
    /// For each label that must have one of some values, the digests of these values. Other requirements cannot be
    /// checked with digests.
    required: Vec<Vec<LabelDigest>>,
}

impl LabelPrefilter {
    pub(crate) fn new(selector: &LabelSelector) -> Self {
        use LabelOperator::{DoubleEquals, Equals, In};
        let required = selector.requirements().iter();
        let required =
            required.filter(|requirement| matches!(requirement.operator(), Equals | DoubleEquals | In));
        let digests = required.map(|requirement| {
            let values = requirement.values();
            values
                .map(|value| LabelDigest::of(requirement.key(), value))
                .collect()
        });
        Self {
            required: digests.collect(),
        }
    }

    /// Returns false if the selector matches no object with this digest.
    pub(crate) fn passes(&self, digest: LabelDigest) -> bool {
        let mut required = self.required.iter();
        required.all(|any| any.iter().any(|value| digest.has(*value)))
    }

    /// Which of some digests [pass](Self::passes): a bit for each, the lowest for the first.
    pub(crate) fn passing(&self, digests: &[LabelDigest; RUN]) -> u64 {
        let with = |value: &LabelDigest| {
            // Nearly always none has it, which needs no more than comparisons of several at once.
            if !digests
                .iter()
                .fold(false, |some, digest| some | digest.has(*value))
            {
                return 0;
            }
            let bits = (0..)
                .zip(digests)
                .map(|(at, digest)| u64::from(digest.has(*value)) << at);
            bits.fold(0, |all, bit| all | bit)
        };
        let each = self.required.iter();
        each.fold(u64::MAX, |passing, any| match passing {
            0 => 0,
            _ => passing & any.iter().map(with).fold(0, |all, some| all | some),
        })
    }
}
