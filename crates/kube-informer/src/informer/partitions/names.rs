//! The names of partitions of shards.

use crate::informer::shards::ShardSet;
use crate::selector::{HashRange, ShardSelector};
use std::collections::BTreeSet;

/// The name of a partition of shards: their ranges.
pub(super) fn name_of(selector: &ShardSelector) -> String {
    let ranges: Vec<_> = selector.ranges().iter().map(ToString::to_string).collect();
    ranges.join(",")
}

/// The shards of a [name](name_of); `None` if it is not one.
pub(in crate::informer) fn shards_of(name: &str, set: &ShardSet) -> Option<BTreeSet<u16>> {
    let ranges = name
        .split(',')
        .map(str::parse)
        .collect::<Result<Vec<HashRange>, _>>();
    let selector = ShardSelector::new(set.field(), ranges.ok()?);
    let shards = (0..).zip(HashRange::equal(set.count()));
    let within = |range: HashRange| {
        let mut ranges = selector.ranges().iter();
        ranges.any(|saved| saved.first() <= range.first() && range.last() <= saved.last())
    };
    Some(
        shards
            .filter(|(_, range)| within(*range))
            .map(|(shard, _)| shard)
            .collect(),
    )
}
