//! What is in a queue, under its lock.

use super::entries::{Entries, Position};
use super::line::Line;
use super::{Accumulator, Delta};
use crate::object::{ObjectKey, Partition, ResourceVersion};
use std::collections::{BTreeSet, VecDeque};
use tokio::sync::oneshot;

pub(super) struct State<A: Accumulator> {
    pub(super) segments: VecDeque<Segment<A>>,
    /// The capacity used by pending entries.
    pub(super) len: usize,
    /// The number of changes for which the consumer has not been woken.
    pub(super) unannounced: usize,
    /// The number of batches that were popped and have not been applied.
    pub(super) in_flight: usize,
    pub(super) closed: bool,
    /// Whether anything but bookmarks was ever pushed.
    pub(super) populated: bool,
    /// Partitions whose first list has not been processed.
    pub(super) unsynced: BTreeSet<Partition>,
}

/// A segment of the queue. All segments except lines concern a whole partition or all partitions; nothing
/// overtakes them.
pub(super) enum Segment<A: Accumulator> {
    Line(Line<A>),
    Replace {
        partition: Partition,
        entries: Vec<(ObjectKey, A::Object)>,
        at: Option<ResourceVersion>,
    },
    Restored {
        partition: Partition,
        entries: Vec<(ObjectKey, A::Object)>,
        at: ResourceVersion,
    },
    Confirmed(Partition),
    Resync,
    Wake,
    PartitionAdded(Partition),
    PartitionRemoved(Partition, Option<oneshot::Sender<()>>),
}

/// Segments removed from the queue, to be dropped after the lock is released.
pub(super) type Dropped<A> = Vec<Segment<A>>;

/// Entries popped from the front of the queue.
pub(super) struct Popped<A: Accumulator> {
    pub(super) entries: Entries<A>,
    pub(super) positions: Vec<Position>,
    pub(super) listed: Option<Partition>,
    pub(super) removed: Option<oneshot::Sender<()>>,
}

impl<A: Accumulator> Popped<A> {
    pub(super) fn new(entries: Entries<A>) -> Self {
        Self {
            entries,
            positions: Vec::new(),
            listed: None,
            removed: None,
        }
    }
}

impl<A: Accumulator> State<A> {
    /// The line at the end of the queue.
    pub(super) fn tail(&mut self) -> &mut Line<A> {
        if !matches!(self.segments.back(), Some(Segment::Line(_))) {
            self.segments.push_back(Segment::Line(Line::default()));
        }
        match self.segments.back_mut() {
            Some(Segment::Line(line)) => line,
            _ => unreachable!("just pushed"),
        }
    }

    pub(super) fn push(
        &mut self,
        partition: Partition,
        key: ObjectKey,
        change: Delta<A::Object>,
        at: Option<ResourceVersion>,
    ) {
        if !self.populated {
            self.populated = true;
            self.unsynced.clear();
        }
        let (before, now) = self.line_of(partition, &key).push(partition, key, change);
        self.len = self.len - before + now;
        if let Some(version) = at {
            self.tail().positions.insert(partition, version);
        }
    }

    /// The line to which a change of a key is added: the last one, or, if lists are not separate entries, the
    /// one that contains the key already.
    pub(super) fn line_of(&mut self, partition: Partition, key: &ObjectKey) -> &mut Line<A> {
        let stands = |segment: &Segment<A>| match segment {
            Segment::Line(line) => line.has_place(partition, key.as_str()),
            _ => false,
        };
        let place = match A::LIST_REPLACES {
            true => self.segments.iter().position(stands),
            false => None,
        };
        let Some(place) = place else { return self.tail() };
        match &mut self.segments[place] {
            Segment::Line(line) => line,
            _ => unreachable!("found in a line"),
        }
    }

    pub(super) fn replace(
        &mut self,
        partition: Partition,
        entries: Vec<(ObjectKey, A::Object)>,
        at: Option<ResourceVersion>,
    ) -> Dropped<A> {
        self.populated = true;
        if !A::LIST_REPLACES {
            self.segments.push_back(Segment::Replace {
                partition,
                entries,
                at,
            });
            self.len += 1;
            return Vec::new();
        }
        let dropped = self.drop_partition(partition);
        let mut line = Line::default();
        for (key, object) in entries {
            let (before, now) = line.push(partition, key, Delta::Replaced(object));
            self.len = self.len - before + now;
        }
        line.listed = Some((partition, line.keys()));
        line.positions.extend(at.map(|version| (partition, version)));
        self.segments.push_back(Segment::Line(line));
        dropped
    }

    /// Removes the pending entries of a partition and returns them, to be dropped after the lock is released.
    pub(super) fn drop_partition(&mut self, partition: Partition) -> Dropped<A> {
        let mut dropped = Vec::new();
        for mut segment in std::mem::take(&mut self.segments) {
            match &mut segment {
                Segment::Line(line) => {
                    let (entries, room) = line.remove_partition(partition);
                    self.len -= room;
                    dropped.push(Segment::Line(entries));
                    if !(line.is_empty() && line.positions.is_empty() && line.listed.is_none()) {
                        self.segments.push_back(segment);
                    }
                }
                Segment::Replace {
                    partition: listed, ..
                }
                | Segment::Restored {
                    partition: listed, ..
                } if *listed == partition => {
                    self.len -= 1;
                    dropped.push(segment);
                }
                _ => self.segments.push_back(segment),
            }
        }
        dropped
    }

    pub(super) fn is_pending(&self, partition: Partition, key: &str) -> bool {
        self.segments.iter().any(|segment| match segment {
            Segment::Line(line) => line.contains(partition, key),
            Segment::Replace {
                partition: listed, ..
            }
            | Segment::Restored {
                partition: listed, ..
            } => *listed == partition,
            Segment::PartitionRemoved(removed, _) => *removed == partition,
            Segment::Resync | Segment::Wake | Segment::PartitionAdded(_) | Segment::Confirmed(_) => false,
        })
    }

    /// Pops the front of the queue; `None` if it is empty.
    pub(super) fn pop(&mut self, max: usize) -> Option<Popped<A>> {
        loop {
            let Segment::Line(line) = self.segments.front_mut()? else {
                return self.segments.pop_front().map(|segment| self.pop_segment(segment));
            };
            let (entries, room) = line.pop(max);
            self.len -= room;
            let mut popped = Popped::new(Entries::Changes(entries));
            popped.listed = line.listed_and_popped();
            if line.is_empty() {
                let reached = std::mem::take(&mut line.positions).into_iter();
                let reached = reached.map(|(partition, resource_version)| Position {
                    partition,
                    resource_version,
                });
                popped.positions = reached.collect();
                self.segments.pop_front();
            }
            let nothing = matches!(&popped.entries, Entries::Changes(entries) if entries.is_empty());
            if !nothing || !popped.positions.is_empty() || popped.listed.is_some() {
                return Some(popped);
            }
        }
    }

    pub(super) fn pop_segment(&mut self, segment: Segment<A>) -> Popped<A> {
        match segment {
            Segment::Line(_) => unreachable!("lines are popped key by key"),
            Segment::Replace {
                partition,
                entries,
                at,
            } => {
                self.len -= 1;
                let reached = at.map(|resource_version| Position {
                    partition,
                    resource_version,
                });
                Popped {
                    positions: reached.into_iter().collect(),
                    listed: Some(partition),
                    ..Popped::new(Entries::Replace { partition, entries })
                }
            }
            Segment::Restored {
                partition,
                entries,
                at,
            } => {
                self.len -= 1;
                Popped {
                    positions: vec![Position {
                        partition,
                        resource_version: at,
                    }],
                    ..Popped::new(Entries::Restored { partition, entries })
                }
            }
            Segment::Confirmed(partition) => Popped {
                listed: Some(partition),
                ..Popped::new(Entries::Confirmed(partition))
            },
            Segment::Resync => Popped::new(Entries::Resync),
            Segment::Wake => Popped::new(Entries::Changes(Vec::new())),
            Segment::PartitionAdded(partition) => Popped::new(Entries::PartitionAdded(partition)),
            Segment::PartitionRemoved(partition, removed) => Popped {
                listed: Some(partition),
                removed,
                ..Popped::new(Entries::PartitionRemoved(partition))
            },
        }
    }
}
