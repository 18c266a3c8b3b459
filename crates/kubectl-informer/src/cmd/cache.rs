//! Caches that are saved to a directory.

use crate::failure::Usage;
use kube_informer::form::Decode;
use kube_informer::informer::InformerBuilder;
use kube_informer::warm_start::{Start, WarmStart, WarmStartError};
use kube_informer::{CachedObject, SharedInformer};
use std::path::Path;
use std::time::Duration;

/// The time after a signal at which a program that saves its cache ends even if a task hangs; saving may take 10 s.
pub(super) const GRACE: Duration = Duration::from_secs(12);

/// Saves what the informer holds to this directory.
///
/// # Errors
/// It cannot be saved, or the directory is something else.
pub(super) fn in_directory<O: Decode>(
    builder: InformerBuilder<O>,
    directory: &Path,
) -> anyhow::Result<InformerBuilder<O>> {
    if directory.exists() && !directory.is_dir() {
        let what = format!("--cache: {} is not a directory", directory.display());
        return Err(Usage(what).into());
    }
    let saved = builder.warm_start(WarmStart::in_directory(directory));
    saved.map_err(|error| match error {
        WarmStartError::Secrets => {
            Usage("--cache does not save Secrets to disk; leave it out".to_owned()).into()
        }
        WarmStartError::Form { .. } => Usage("--cache needs --form packed".to_owned()).into(),
        error => anyhow::Error::new(error).context("--cache"),
    })
}

/// Whether the informer has started with saved objects.
pub(super) fn is_restored<O: CachedObject>(informer: &SharedInformer<O>) -> bool {
    let status = informer.status().warm_start;
    status.is_some_and(|status| matches!(status.start, Start::Restored { .. }))
}

/// Why the cache was not saved the last time, if it was not.
pub(super) fn save_error<O: CachedObject>(informer: &SharedInformer<O>) -> Option<String> {
    informer.status().warm_start?.save_error
}
