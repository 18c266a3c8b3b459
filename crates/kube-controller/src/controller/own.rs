//! A controller that reads its own writes.

use crate::own_writes::{OwnWrites, ReconcileKey, TrackedUntilDrop};
use kube_informer::{CachedObject, ObjectKey, SharedInformer};
use kube_workqueue::Processing;
use std::sync::Arc;
use std::time::Duration;

/// How long a run waits for the caches. A cache that does not select what was written has seen it with its next bookmark, which comes within a
/// minute.
const WAIT: Duration = Duration::from_secs(90);

/// The writes of one controller.
#[derive(Clone)]
pub(super) struct Own {
    writes: OwnWrites,
    controller: Arc<str>,
}

impl Own {
    pub(super) fn new(writes: OwnWrites, controller: &str) -> Self {
        Self {
            writes,
            controller: controller.into(),
        }
    }

    pub(super) fn track<O: CachedObject>(&self, informer: &SharedInformer<O>) -> TrackedUntilDrop {
        TrackedUntilDrop::new(&self.writes, informer)
    }

    pub(super) fn run(&self, key: &ObjectKey) -> ReconcileKey {
        ReconcileKey::new(self.controller.clone(), key.clone())
    }

    /// Waits for the caches if they have to catch up with the key's last run.
    ///
    /// # Errors
    /// They have not to: the key.
    pub(super) fn wait(
        &self,
        item: Processing<'static, ObjectKey>,
    ) -> Result<
        impl Future<Output = Processing<'static, ObjectKey>> + Send + use<>,
        Processing<'static, ObjectKey>,
    > {
        let run = self.run(&item);
        if self.writes.caught_up(&run) {
            return Err(item);
        }
        let writes = self.writes.clone();
        Ok(async move {
            if let Err(behind) = writes.wait(&run, WAIT).await {
                tracing::warn!(object = %run, error = %behind, "reconciles what may be an old state");
            }
            item
        })
    }

    /// Runs a reconcile as the one of this key.
    pub(super) async fn scope<F: Future>(self, key: ObjectKey, reconcile: F) -> F::Output {
        self.writes.scope(&self.run(&key), reconcile).await
    }
}
