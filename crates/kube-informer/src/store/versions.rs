//! The resource version of each partition of a store.

use crate::object::{Partition, ResourceVersion};
use std::cmp::Ordering;

/// The partitions of a store and the resource version up to which each has been applied.
#[derive(Debug, Clone, Default)]
pub(crate) struct Versions {
    partitions: Vec<(Partition, Option<ResourceVersion>)>,
    /// No partition with this number or above was ever removed. Unknown partitions below `end` were removed.
    end: u32,
    /// How many times a version regressed, which means that the server's history was replaced.
    rewinds: u64,
}

/// Whether a version is reached, and if not, why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    Yes,
    /// This partition is at this lower version, or at none yet.
    NotYet(Partition, Option<ResourceVersion>),
    /// This partition is at a version that cannot be compared with the wanted one.
    Incomparable(Partition, ResourceVersion),
    /// This partition was removed.
    Removed(Partition),
}

impl Versions {
    pub(crate) fn add(&mut self, partition: Partition) {
        if let Err(at) = self.position(partition) {
            self.partitions.insert(at, (partition, None));
        }
    }

    pub(crate) fn remove(&mut self, partition: Partition) {
        self.partitions.retain(|(other, _)| *other != partition);
        self.end = self.end.max(partition.get().saturating_add(1));
    }

    pub(crate) fn contains(&self, partition: Partition) -> bool {
        self.position(partition).is_ok()
    }

    fn position(&self, partition: Partition) -> Result<usize, usize> {
        self.partitions
            .binary_search_by_key(&partition, |(partition, _)| *partition)
    }

    pub(crate) fn set(&mut self, partition: Partition, version: ResourceVersion) {
        match self.position(partition) {
            Ok(at) => {
                let old = self.partitions[at].1.replace(version);
                if old.is_some_and(|old| {
                    self.partitions[at]
                        .1
                        .as_ref()
                        .is_some_and(|version| *version < old)
                }) {
                    self.rewinds += 1;
                }
            }
            Err(at) => self.partitions.insert(at, (partition, Some(version))),
        }
    }

    pub(crate) fn rewinds(&self) -> u64 {
        self.rewinds
    }

    pub(crate) fn get(&self, partition: Partition) -> Option<&ResourceVersion> {
        let at = self.position(partition).ok()?;
        self.partitions[at].1.as_ref()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (Partition, Option<&ResourceVersion>)> {
        self.partitions
            .iter()
            .map(|(partition, version)| (*partition, version.as_ref()))
    }

    /// The version that every partition has reached: the lowest.
    pub(crate) fn lowest(&self) -> Option<&ResourceVersion> {
        let mut versions = self.partitions.iter().map(|(_, version)| version.as_ref());
        let first = versions.next()??;
        versions.try_fold(first, |lowest, version| match version?.partial_cmp(lowest)? {
            Ordering::Less => version,
            _ => Some(lowest),
        })
    }

    /// Whether one partition (all, if `only` is `None`) has reached a version.
    pub(crate) fn reached(&self, wanted: &ResourceVersion, only: Option<Partition>) -> Reached {
        let mut relevant = self
            .iter()
            .filter(|(partition, _)| only.is_none_or(|only| only == *partition))
            .peekable();
        if relevant.peek().is_none() {
            return match only {
                Some(only) if only.get() < self.end => Reached::Removed(only),
                _ => Reached::NotYet(only.unwrap_or_default(), None),
            };
        }
        for (partition, version) in relevant {
            let Some(version) = version else {
                return Reached::NotYet(partition, None);
            };
            match version.partial_cmp(wanted) {
                Some(Ordering::Less) => return Reached::NotYet(partition, Some(version.clone())),
                Some(_) => {}
                None => return Reached::Incomparable(partition, version.clone()),
            }
        }
        Reached::Yes
    }
}
