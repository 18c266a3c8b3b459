//! Errors of a factory.

use crate::informer::RunError;
use std::fmt;
use std::time::Duration;

/// Some informers have not synced in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncError {
    /// The informers, each of several namespaces on its own, sorted by resource and namespace.
    pub unsynced: Vec<Unsynced>,
    /// How long they had.
    pub timeout: Duration,
}

/// An informer, or one namespace of it, that has not synced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Unsynced {
    /// Its resource.
    pub resource: String,
    /// The namespace, if the informer is over namespaces.
    pub namespace: Option<String>,
    /// What stands in its way: the last error, or what it is doing.
    pub why: String,
}

impl fmt::Display for Unsynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} in {namespace:?} ({})", self.resource, self.why),
            None => write!(f, "{} ({})", self.resource, self.why),
        }
    }
}

impl fmt::Display for SyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not synced within {} s: ", self.timeout.as_secs_f64())?;
        for (index, unsynced) in self.unsynced.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{unsynced}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SyncError {}

/// Informers that failed, or did not stop cleanly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShutdownError {
    /// The failures; at least one.
    pub failures: Vec<RunError>,
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failures: Vec<_> = self.failures.iter().map(RunError::to_string).collect();
        f.write_str(&failures.join("; "))
    }
}

impl std::error::Error for ShutdownError {}
