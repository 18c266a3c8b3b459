//! Why a manager stopped, if not by its shutdown.

use super::BoxError;
use crate::leader_election::LeaderElectionError;
use kube_informer::factory::ShutdownError;
use kube_informer::informer::RunError;
use std::time::Duration;

/// Why a program stopped: all errors, in the order in which they happened.
#[derive(Debug)]
pub struct ManagerError {
    causes: Vec<Cause>,
}

impl ManagerError {
    pub(super) fn of(causes: Vec<Cause>) -> Result<(), Self> {
        match causes.is_empty() {
            true => Ok(()),
            false => Err(Self { causes }),
        }
    }

    /// The errors; at least one.
    #[must_use]
    pub fn causes(&self) -> &[Cause] {
        &self.causes
    }
}

impl From<Cause> for ManagerError {
    fn from(cause: Cause) -> Self {
        Self { causes: vec![cause] }
    }
}

impl std::fmt::Display for ManagerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, cause) in self.causes.iter().enumerate() {
            let separator = if number == 0 { "" } else { "; " };
            write!(f, "{separator}{cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ManagerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.causes.first()?.source()
    }
}

/// One error of a manager.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// A runnable returned an error.
    #[error("{name} failed")]
    Failed {
        /// Its name.
        name: String,
        /// Its error.
        source: BoxError,
    },
    /// A runnable panicked.
    #[error("{name} panicked: {message}")]
    Panicked {
        /// Its name.
        name: String,
        /// The message of the panic, if that is a string.
        message: String,
    },
    /// The leadership was lost.
    #[error("the leader election failed")]
    Election(#[source] LeaderElectionError),
    /// An informer failed: one of its handlers panicked.
    #[error("an informer failed")]
    Informer(#[source] RunError),
    /// Informers did not stop cleanly.
    #[error("informers did not stop cleanly")]
    Informers(#[source] ShutdownError),
    /// Runnables had not ended within the time limit, and were aborted. The lease is not released then.
    #[error("these did not stop within {timeout:?}: {}", .names.join(", "))]
    NotStopped {
        /// Their names, sorted. None if something else did not stop: the release of the lease, or an
        /// informer.
        names: Vec<String>,
        /// The time limit.
        timeout: Duration,
    },
    /// A second signal came before everything had stopped.
    #[error("aborted by a second signal")]
    Aborted,
    /// The signal handlers cannot be installed.
    #[error("cannot listen for signals")]
    Signals(#[source] std::io::Error),
}

/// Why a runnable was not added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// A runnable of this name waits to be started, or runs.
    #[error("there is a runnable {0:?} already")]
    NameTaken(String),
    /// The manager is stopping or has stopped.
    #[error("the manager has stopped")]
    Stopped,
}
