//! What can fail in a factory.
//!
//! These errors implement `Debug` as `Display`, because a `main` that returns an error prints it with `Debug`.

use crate::informer::{RunError, Unsynced};
use std::{fmt, time::Duration};

/// Some informers have not synced in time.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), kube::Error> {
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::SharedInformerFactory;
/// use std::time::Duration;
///
/// let nobody = kube::Config::new("http://127.0.0.1:1".parse().unwrap());
/// let factory = SharedInformerFactory::new(kube::Client::try_from(nobody)?);
/// let pods = factory.metadata_informer::<Pod>();
/// // The factory was not started.
/// let error = factory.wait_for_sync(Duration::from_millis(500)).await.unwrap_err();
/// assert_eq!(error.unsynced[0].form, "PartialObjectMeta<Pod>");
/// assert!(error.to_string().starts_with("not synced within 0.5 s: pods as PartialObjectMeta<Pod> ("), "{error}");
/// assert_eq!(format!("{error:?}"), error.to_string());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SyncError {
    /// The informers that have not synced, and of an informer over namespaces each namespace that has not; sorted by
    /// resource, form and namespace.
    pub unsynced: Vec<Unsynced>,
    /// How long they had.
    pub timeout: Duration,
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

impl fmt::Debug for SyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SyncError {}

/// Informers that failed, or did not stop cleanly.
#[derive(Clone, PartialEq, Eq)]
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

impl fmt::Debug for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ShutdownError {}
