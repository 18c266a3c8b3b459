//! Why a replica is no member any more.

/// Why a run has ended, if not by the shutdown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardGroupError {
    /// The group has another number of shards, or another field. Configure all replicas alike, or delete the
    /// group's Lease while no replica runs.
    #[error("the shard group {group} has {shards} shards by {field}; this replica is configured for others")]
    OtherShards {
        /// The group.
        group: String,
        /// What is hashed in it.
        field: String,
        /// The number of shards.
        shards: u16,
    },
    /// The group's Lease does not say who owns what. Delete it while no replica runs.
    #[error("the shards of the group's Lease cannot be read: {message}")]
    Unreadable {
        /// Why.
        message: String,
    },
    /// Shards were still held when the time to hand them over had passed. The Lease was not released. The
    /// process should exit, because the work that holds the shards may still run while another replica owns
    /// them.
    #[error("what works on the shards did not stop in time")]
    StillHeld,
}
