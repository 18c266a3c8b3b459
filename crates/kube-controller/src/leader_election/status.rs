//! What others in the process may know of an election.

use super::clock::Clock;
use super::leadership::Leadership;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Who leads, as far as one candidate knows: for health checks, logs, and programs that forward requests to
/// the leader.
///
/// Clones are handles to the same status. It changes only while its [`LeaderElector`](super::LeaderElector)
/// runs.
#[derive(Debug, Clone)]
pub struct LeaderElectionStatus {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    identity: Arc<str>,
    lease_duration: Duration,
    clock: Arc<dyn Clock>,
    leader: watch::Sender<Option<Arc<str>>>,
    own: Mutex<Own>,
}

#[derive(Debug, Default)]
struct Own {
    /// The leadership, until its work has ended.
    leadership: Option<Leadership>,
    /// While the Lease names this candidate: when it was renewed, or was first seen like that.
    renewed: Option<Instant>,
}

impl LeaderElectionStatus {
    pub(crate) fn new(identity: &str, lease_duration: Duration, clock: Arc<dyn Clock>) -> Self {
        let shared = Shared {
            identity: identity.into(),
            lease_duration,
            clock,
            leader: watch::Sender::new(None),
            own: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The name of this candidate.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.shared.identity
    }

    /// Whether this candidate leads now, that is, whether its [`Leadership`] is live.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.own().leadership.as_ref().is_some_and(Leadership::is_live)
    }

    /// The holder's identity when this candidate last read the Lease, and its changes. client-go: `GetLeader`
    /// and `OnNewLeader`.
    ///
    /// `None` if the Lease has not been read yet, or was released. A crashed leader is returned until another
    /// one takes over.
    #[must_use]
    pub fn leader(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.shared.leader.subscribe()
    }

    /// Returns an error if the Lease names this candidate, but was not renewed for longer than its duration
    /// and `tolerance`.
    ///
    /// For liveness probes, like client-go's `HealthzAdaptor`: a program that leads must renew the Lease or
    /// exit. A candidate that does not lead is healthy.
    ///
    /// # Errors
    ///
    /// [`LeaseExpired`], with the time since the last renewal.
    pub fn check(&self, tolerance: Duration) -> Result<(), LeaseExpired> {
        let Some(renewed) = self.own().renewed else {
            return Ok(());
        };
        let age = self.shared.clock.now().saturating_duration_since(renewed);
        if age > self.shared.lease_duration.saturating_add(tolerance) {
            return Err(LeaseExpired { age });
        }
        Ok(())
    }

    pub(crate) fn observed(&self, holder: Option<&str>, now: Instant) {
        let mut own = self.own();
        own.renewed = (holder == Some(self.identity())).then_some(now);
        drop(own);
        self.shared.leader.send_if_modified(|leader| {
            let changed = leader.as_deref() != holder;
            if changed {
                *leader = holder.map(Arc::from);
            }
            changed
        });
    }

    pub(crate) fn renewed(&self, since: Instant) {
        self.own().renewed = Some(since);
    }

    pub(crate) fn leads(&self, leadership: Option<Leadership>) {
        self.own().leadership = leadership;
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.shared.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// This candidate holds a Lease that it has not renewed in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the lease is held, but was not renewed for {age:?}")]
pub struct LeaseExpired {
    /// The time since the last renewal.
    pub age: Duration,
}
