//! What can fail in a factory.
//!
//! These errors implement `Debug` as `Display`, because a `main` that returns an error prints it with `Debug`.

use crate::informer::RunError;
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

/// An informer, or one namespace of it, that has not synced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Unsynced {
    /// The plural name and group of its resource: `pods`, `deployments.apps`.
    pub resource: String,
    /// The [form](crate::form) of its objects, without module paths: `Pod`, `Packed<Pod>`.
    pub form: String,
    /// The namespace, if the informer is over namespaces.
    pub namespace: Option<String>,
    /// What prevents it: the last error, or what the informer is doing.
    pub why: String,
}

impl fmt::Display for Unsynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            resource, form, why, ..
        } = self;
        match &self.namespace {
            Some(namespace) => write!(f, "{resource} as {form} in {namespace:?} ({why})"),
            None => write!(f, "{resource} as {form} ({why})"),
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

/// The name of a type without the paths of its modules: `Packed<Pod>`.
pub(super) fn short_name<T: ?Sized>() -> String {
    let mut short = String::new();
    for character in std::any::type_name::<T>().chars() {
        short.push(character);
        if short.ends_with("::") {
            let start = short.rfind(['<', ' ', '(', '[', '&']).map_or(0, |at| at + 1);
            short.truncate(start);
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Pod;

    #[test]
    fn names_of_types_have_no_paths() {
        assert_eq!(short_name::<Pod>(), "Pod");
        assert_eq!(
            short_name::<kube::core::PartialObjectMeta<Pod>>(),
            "PartialObjectMeta<Pod>"
        );
        assert_eq!(
            short_name::<Result<Vec<Pod>, String>>(),
            "Result<Vec<Pod>, String>"
        );
    }
}
