//! Ruling out objects by a few bits.

use super::{LabelOperator, LabelSelector};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// A summary of an object's labels (a Bloom filter): each name with its value sets two of 32 bits.
///
/// It is kept beside the object, so that a list by label need not touch most objects that are not selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LabelDigest(u32);

impl LabelDigest {
    /// Of labels that are not known: any could be there.
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

/// What a selector asks of digests.
#[derive(Debug)]
pub(crate) struct LabelPrefilter {
    /// For each label that must have one of some values: the digests of these. Other requirements cannot be judged.
    asked: Vec<Vec<LabelDigest>>,
}

impl LabelPrefilter {
    pub(crate) fn new(selector: &LabelSelector) -> Self {
        use LabelOperator::{DoubleEquals, Equals, In};
        let asked = selector.requirements().iter();
        let asked = asked.filter(|requirement| matches!(requirement.operator(), Equals | DoubleEquals | In));
        let digests = asked.map(|requirement| {
            let values = requirement.values();
            values
                .map(|value| LabelDigest::of(requirement.key(), value))
                .collect()
        });
        Self {
            asked: digests.collect(),
        }
    }

    /// False if no object with this digest is selected.
    pub(crate) fn passes(&self, digest: LabelDigest) -> bool {
        let mut asked = self.asked.iter();
        asked.all(|any| any.iter().any(|value| digest.has(*value)))
    }
}
