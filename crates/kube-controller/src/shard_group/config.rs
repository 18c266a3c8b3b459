//! Which group, which replica, and how long everything takes.

use crate::leader_election::{ConfigError, LeaderElectionConfig};
use kube_informer::selector::{ShardField, shard_hash};
use std::time::Duration;

/// The label of a group's Leases. Its value is the name of the group.
pub const GROUP_LABEL: &str = "kube-informer.dev/shard-group";

/// The longest name of a group: it is the value of a label.
const LONGEST_NAME: usize = 63;
/// The most shards of a group.
const MOST_SHARDS: u16 = 4096;
/// The longest time between two looks at the Leases.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

/// The group, the replica's name in it and the timing.
///
/// ```
/// use kube_controller::leader_election::unique_identity;
/// use kube_controller::shard_group::ShardGroupConfig;
/// use kube_informer::selector::ShardField;
///
/// let config = ShardGroupConfig {
///     field: ShardField::Namespace,
///     ..ShardGroupConfig::new("default", "my-controller", unique_identity())
/// };
/// ```
///
/// For the durations, see [those of a leader election](LeaderElectionConfig#choosing-the-durations).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardGroupConfig {
    /// The namespace of the Leases.
    pub namespace: String,
    /// The name of the group, a DNS label. The group's Lease has this name; the Leases of the replicas begin
    /// with it.
    pub name: String,
    /// The name of this replica. A second process of this name waits until the first one has left, or its
    /// Lease has run out. Use [`unique_identity`](crate::leader_election::unique_identity), so that a
    /// restarted process need not wait.
    pub identity: String,
    /// The field that is hashed. Default: the uid. It must be the same for all replicas.
    pub field: ShardField,
    /// The number of shards. Default: 64. It must be the same for all replicas.
    ///
    /// The numbers of shards of two replicas differ by one at most. So use many more shards than replicas:
    /// with 64 shards and up to 8 replicas, the shards of a replica deviate from an equal share by at most
    /// 10 %.
    pub shards: u16,
    /// Others take the shards if they have seen no renewal for this long. Default: 15 seconds. Fractions of a
    /// second are cut off.
    pub lease_duration: Duration,
    /// How long after its last renewal a replica owns its shards. Default: 10 seconds.
    pub renew_deadline: Duration,
    /// The time between two renewals. Default: 2 seconds. The Leases are listed twice in this time, or once a
    /// second if that is more often.
    pub retry_period: Duration,
    /// How long the work that holds shards may take to end after the shutdown was requested. Default: 30
    /// seconds.
    ///
    /// As a [runnable around informers](super#with-a-manager), its time begins when the informers have
    /// stopped; the manager's timeout, which counts from the signal, still ends everything.
    pub graceful_shutdown_timeout: Duration,
}

impl ShardGroupConfig {
    /// The group `name` in a namespace, the replica `identity`, and the defaults for the rest.
    #[must_use]
    pub fn new(namespace: impl Into<String>, name: impl Into<String>, identity: impl Into<String>) -> Self {
        let defaults = LeaderElectionConfig::new("", "", "");
        Self {
            namespace: namespace.into(),
            name: name.into(),
            identity: identity.into(),
            field: ShardField::Uid,
            shards: 64,
            lease_duration: defaults.lease_duration,
            renew_deadline: defaults.renew_deadline,
            retry_period: defaults.retry_period,
            graceful_shutdown_timeout: defaults.graceful_shutdown_timeout,
        }
    }

    pub(super) fn validate(&self) -> Result<(), ShardGroupConfigError> {
        self.lease_of("").validate()?;
        let valid = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let is_label = self.name.len() <= LONGEST_NAME
            && self.name.bytes().all(valid)
            && !self.name.starts_with('-')
            && !self.name.ends_with('-');
        if !is_label {
            return Err(ShardGroupConfigError::Name {
                name: self.name.clone(),
            });
        }
        match self.shards {
            0 => Err(ShardGroupConfigError::NoShards),
            shards if shards > MOST_SHARDS => Err(ShardGroupConfigError::TooManyShards { shards }),
            _ => Ok(()),
        }
    }

    /// The name of the Lease of a replica. Identities may have characters that names may not.
    pub(super) fn lease_name(&self, identity: &str) -> String {
        format!("{}-{:016x}", self.name, shard_hash(identity))
    }

    /// The candidacy for the replica's own Lease, in a term.
    pub(super) fn lease_of(&self, term: &str) -> LeaderElectionConfig {
        let term = if term.is_empty() { &self.identity } else { term };
        let name = if self.name.is_empty() {
            String::new()
        } else {
            self.lease_name(&self.identity)
        };
        LeaderElectionConfig {
            lease_duration: self.lease_duration,
            renew_deadline: self.renew_deadline,
            retry_period: self.retry_period,
            graceful_shutdown_timeout: self.graceful_shutdown_timeout,
            ..LeaderElectionConfig::new(&self.namespace, name, term)
        }
    }

    /// How often the Leases are listed. A replica's end is noticed by its last renewal, which may be seen
    /// that much later, and no shard shall be without a replica for longer than a lease and two seconds.
    pub(super) fn look_period(&self) -> Duration {
        (self.retry_period / 2).min(LONGEST_LOOK)
    }
}

/// Why a configuration was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardGroupConfigError {
    /// A string is empty, or the durations do not fit together.
    #[error(transparent)]
    Lease(#[from] ConfigError),
    /// The name is no DNS label.
    #[error(
        "the group name {name:?} is no DNS label: up to 63 lower-case letters, digits and hyphens, without a hyphen at \
         the ends"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// There are no shards.
    #[error("there must be at least one shard")]
    NoShards,
    /// There are more than 4,096 shards. The owners of all shards must fit into an annotation.
    #[error("{shards} shards are more than {MOST_SHARDS}")]
    TooManyShards {
        /// How many there should be.
        shards: u16,
    },
}
