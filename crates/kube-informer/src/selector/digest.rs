//! A Bloom filter of labels, which excludes most objects that a selector does not match.

use super::{LabelOperator, LabelSelector};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// A Bloom filter of an object's labels: each pair of name and value sets two of 32 bits.
///
/// It is stored next to the object's handle, so that a list by label need not read most objects that do not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LabelDigest(u32);

impl LabelDigest {
    /// The digest of unknown labels; it passes every selector.
    pub(crate) const UNKNOWN: Self = Self(u32::MAX);
    pub(crate) const NO_LABELS: Self = Self(0);

    /// Adds a label.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        let hash = FixedState::default().hash_one((name, value));
        self.0 |= 1 << (hash >> 59) | 1 << (hash >> 54 & 31);
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
}
