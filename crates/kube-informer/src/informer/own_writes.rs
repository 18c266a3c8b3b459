//! Not acting on a cache that has not seen one's own write.

use super::partitions::Place;
use super::{SharedInformer, Stopped};
use crate::object::{Object, ObjectKey, Partition, ResourceVersion};
use crate::store::WaitError;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Remembers what a controller has written, until the cache has caught up with it (KEP-5647).
///
/// A controller that reconciles a key right after it has written it may find the state from before its write in the
/// cache, and do the same again. So after a write it [records](Self::record) the version the server gave it, and before
/// it reconciles a key it asks whether that is [caught up](Self::caught_up): if not, it comes back later.
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::Pod;
/// # use kube::{Api, api::PostParams};
/// # use kube_informer::{Object, ObjectKey, SharedInformer, informer::OwnWrites};
/// # async fn example(informer: SharedInformer<Pod>, api: Api<Pod>, key: ObjectKey) -> Result<(), kube::Error> {
/// let writes = OwnWrites::new(informer.clone());
/// // In the reconciler:
/// if !writes.caught_up(&key) {
///     return Ok(()); // and look at the key again shortly
/// }
/// # let pod = Pod::default();
/// let written = api.replace(key.name(), &PostParams::default(), &pod).await?;
/// writes.record(key, written.metadata.resource_version.as_deref().unwrap_or_default().into());
/// # Ok(())
/// # }
/// ```
///
/// A clone remembers the same writes.
pub struct OwnWrites<O: Object> {
    informer: SharedInformer<O>,
    writes: Arc<Mutex<HashMap<ObjectKey, ResourceVersion>>>,
}

impl<O: Object> Clone for OwnWrites<O> {
    fn clone(&self) -> Self {
        Self {
            informer: self.informer.clone(),
            writes: self.writes.clone(),
        }
    }
}

impl<O: Object> OwnWrites<O> {
    /// Remembers writes to objects of this informer.
    pub fn new(informer: SharedInformer<O>) -> Self {
        Self {
            informer,
            writes: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ObjectKey, ResourceVersion>> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A write of `key` was answered with this version: that of the object written, or of the deletion. An older one
    /// than is remembered already changes nothing.
    pub fn record(&self, key: ObjectKey, version: ResourceVersion) {
        let mut writes = self.lock();
        if writes
            .get(&key)
            .is_none_or(|known| version.partial_cmp(known) != Some(Ordering::Less))
        {
            writes.insert(key, version);
        }
    }

    /// Whether the cache holds what was written to `key`, or something newer. Of an informer over several namespaces,
    /// only that of the key matters; a write to one that is not in its set counts as caught up, since the cache will
    /// never tell of it. So does a write whose version cannot be compared with the cache's: there is no saying otherwise.
    pub fn caught_up(&self, key: &str) -> bool {
        let Some(written) = self.lock().get(key).cloned() else {
            return true;
        };
        let store = self.informer.store();
        let applied = |version: Option<ResourceVersion>| {
            version.is_some_and(|version| version.partial_cmp(&written) != Some(Ordering::Less))
        };
        let object = store.get(key).and_then(|object| O::resource_version(&object));
        let caught_up = applied(object)
            || match self.informer.shared.partitions.place(namespace(key)) {
                Place::Part(partition) => applied(store.resource_version_of(partition)),
                Place::NotYet => false,
                Place::Nowhere => true,
            };
        if caught_up {
            self.forget(key, &written);
        }
        caught_up
    }

    /// Waits until [`caught_up`](Self::caught_up).
    ///
    /// # Errors
    /// As [`Indexer::wait_until`](crate::store::Indexer::wait_until): the informer was stopped, or the versions cannot be
    /// compared.
    pub async fn wait(&self, key: &str) -> Result<(), WaitError> {
        let Some(written) = self.lock().get(key).cloned() else {
            return Ok(());
        };
        let store = self.informer.store();
        loop {
            let settled = self.informer.shared.partitions.settled(namespace(key)).await;
            let stopped = |Stopped| WaitError::Closed {
                wanted: written.clone(),
                partition: Partition::default(),
                reached: None,
            };
            let Some(partition) = settled.map_err(stopped)? else {
                break;
            };
            match store.wait_until(&written).partition(partition).await {
                // The namespace was taken out; it may have been put back.
                Err(WaitError::Removed { .. }) => {}
                result => {
                    result?;
                    break;
                }
            }
        }
        self.forget(key, &written);
        Ok(())
    }

    fn forget(&self, key: &str, written: &ResourceVersion) {
        let mut writes = self.lock();
        if writes.get(key) == Some(written) {
            writes.remove(key);
        }
    }
}

/// The namespace in a key.
fn namespace(key: &str) -> Option<&str> {
    key.split_once('/').map(|(namespace, _)| namespace)
}
