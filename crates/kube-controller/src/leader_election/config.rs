//! Which Lease, who stands, and how long everything takes.

use crate::names::hostname;
use std::time::Duration;

/// A candidate waits for `retry_period` and a random share of it, up to this often, as in client-go.
pub(super) const JITTER_FACTOR: f64 = 1.2;

/// The Lease, the candidate's name and its timing.
///
/// ```
/// use kube_controller::leader_election::{LeaderElectionConfig, unique_identity};
/// use std::time::Duration;
///
/// let config = LeaderElectionConfig {
///     lease_duration: Duration::from_secs(30),
///     renew_deadline: Duration::from_secs(20),
///     ..LeaderElectionConfig::new("default", "my-controller", unique_identity())
/// };
/// ```
///
/// # Choosing the durations
///
/// `lease_duration / renew_deadline` is the ratio of clock rates that is tolerated: with the defaults, one
/// machine's clock may run 1.5 times as fast as another's. Their difference is the time that the work has to
/// stop when the lease can no longer be renewed. `renew_deadline / retry_period` is how many renewals may
/// fail in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaderElectionConfig {
    /// The namespace of the Lease.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
    /// The name of this candidate. Two processes that live at the same time must not share it: see
    /// [`unique_identity`].
    pub identity: String,
    /// Others take the Lease if they have seen no renewal for this long. Default: 15 seconds. Fractions of a second are cut off, because a Lease contains whole seconds.
    pub lease_duration: Duration,
    /// How long after its last renewal a leader stops leading. Default: 10 seconds.
    ///
    /// It counts from the moment at which the request of that renewal was sent. The time limit of a request
    /// is half of this, but at least a second.
    pub renew_deadline: Duration,
    /// The time between two renewals, and the shortest time between two attempts to take the Lease. Default:
    /// 2 seconds.
    pub retry_period: Duration,
    /// How long the work may take to stop after the shutdown was requested. Default: 30 seconds. Zero aborts
    /// it at once; [`Duration::MAX`] waits for ever.
    ///
    /// If the lease is lost, the work must stop before the lease runs out: it is aborted halfway (the geometric mean) between
    /// `renew_deadline` and `lease_duration` after the last renewal, 12.2 seconds by default.
    pub graceful_shutdown_timeout: Duration,
}

impl LeaderElectionConfig {
    /// The Lease `namespace/name`, the candidate `identity`, and the defaults for the rest.
    #[must_use]
    pub fn new(namespace: impl Into<String>, name: impl Into<String>, identity: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
            identity: identity.into(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            graceful_shutdown_timeout: Duration::from_secs(30),
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        for (value, field) in [
            (&self.namespace, "namespace"),
            (&self.name, "name"),
            (&self.identity, "identity"),
        ] {
            if value.is_empty() {
                return Err(ConfigError::Empty { field });
            }
        }
        for (value, field) in [
            (self.lease_duration, "lease_duration"),
            (self.renew_deadline, "renew_deadline"),
            (self.retry_period, "retry_period"),
        ] {
            if value.is_zero() {
                return Err(ConfigError::Zero { field });
            }
        }
        if self.announced_duration() <= self.renew_deadline {
            return Err(ConfigError::LeaseTooShort);
        }
        // JITTER_FACTOR, without rounding.
        if self.renew_deadline.as_nanos() * 10 <= self.retry_period.as_nanos() * 12 {
            return Err(ConfigError::DeadlineTooShort);
        }
        Ok(())
    }

    /// What the Lease says: whole seconds.
    pub(crate) fn announced_seconds(&self) -> i32 {
        i32::try_from(self.lease_duration.as_secs()).unwrap_or(i32::MAX)
    }

    /// How long others wait: what the Lease says.
    pub(crate) fn announced_duration(&self) -> Duration {
        Duration::from_secs(self.announced_seconds().unsigned_abs().into())
    }

    /// How long after the last renewal work may go on that does not stop. Others wait for the announced duration by their clocks, so the
    /// time that is left is shared: the leadership ends in time if one clock is faster than the other by the ratio of the two durations,
    /// and the work by its square root. Both cover clocks that are wrong by a tenth, with the defaults.
    pub(crate) fn work_deadline(&self) -> Duration {
        let (first, last) = (self.renew_deadline, self.announced_duration());
        let mean = (first.as_secs_f64() * last.as_secs_f64()).sqrt();
        Duration::try_from_secs_f64(mean)
            .unwrap_or(first)
            .clamp(first, last)
    }

    /// How long a request may take: controller-runtime's rule.
    pub(crate) fn request_timeout(&self) -> Duration {
        (self.renew_deadline / 2).max(Duration::from_secs(1))
    }
}

/// Why a configuration was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The namespace, the name or the identity is empty. A Lease with an empty holder is free.
    #[error("the {field} is empty")]
    Empty {
        /// The field's name.
        field: &'static str,
    },
    /// A duration is zero.
    #[error("{field} is zero")]
    Zero {
        /// The field's name.
        field: &'static str,
    },
    /// With these durations, others would take the Lease before its holder stops leading.
    #[error("lease_duration, in whole seconds, must be longer than renew_deadline")]
    LeaseTooShort,
    /// With these durations, the leader would stop leading before its second attempt to renew.
    #[error("renew_deadline must be longer than 1.2 times retry_period")]
    DeadlineTooShort,
}

/// A name that no other process has: the host's name and a random number, such as `web-0_5f0e…`.
///
/// In a pod, the host's name is the pod's.
#[must_use]
pub fn unique_identity() -> String {
    let host = hostname().unwrap_or_default();
    format!("{host}_{:032x}", rand::random::<u128>())
}
