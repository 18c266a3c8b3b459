//! Read-your-writes for controllers: detects a cache that has not seen a controller's own write yet.

use super::partitions::Location;
use super::{SharedInformer, Stopped};
use crate::object::{CachedObject, ObjectKey, Partition, ResourceVersion};
use crate::store::WaitError;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tracks the writes of a controller until the cache has caught up with them (KEP-5647).
///
/// A controller that reconciles a key right after writing it may read the state before its write from the
/// cache and repeat the write. To avoid this, it [records](Self::record) the version returned by the server
/// after each write. Before it reconciles a key, it checks whether the cache has [caught up](Self::caught_up)
/// with that key; if not, it retries later.
///
/// It is for one informer, and the program records each write itself. With the crate `kube-controller` that
/// is not necessary: its [`OwnWrites`](https://docs.rs/kube-controller/latest/kube_controller/own_writes/)
/// has a client that records all writes, for several controllers and caches, and
/// `Controller::read_your_writes` makes a controller wait by itself.
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::Pod;
/// # use kube::{Api, api::PostParams};
/// # use kube_informer::{CachedObject, ObjectKey, SharedInformer, informer::WriteTracker};
/// # async fn example(informer: SharedInformer<Pod>, api: Api<Pod>, key: ObjectKey) -> Result<(), kube::Error> {
/// let writes = WriteTracker::new(informer.clone());
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
/// # Deletions
/// The answer to a deletion often has no version. [`record_deletion`](Self::record_deletion) takes the uid of
/// the object instead, and the cache has caught up when it does not hold the object any more.
///
/// # When the server's history changes
/// After the server was restored or replaced, older versions have no meaning any more. Once the cache has
/// detected this, every write that was recorded before counts as caught up.
///
/// # Memory
/// A write is removed when the cache has caught up with it, even if its key is never queried: at the latest
/// when the number of tracked writes is twice that after the last removal, and at least 64.
///
/// A clone tracks the same writes.
pub struct WriteTracker<O: CachedObject> {
    informer: SharedInformer<O>,
    writes: Arc<Mutex<Writes>>,
}

struct Writes {
    by_key: HashMap<ObjectKey, Write>,
    /// The number of writes that triggers a removal of those that are caught up.
    sweep_at: usize,
}

/// The minimum of `sweep_at`.
const MIN_SWEEP: usize = 64;

#[derive(Clone, PartialEq)]
struct Write {
    /// The version to be reached, if it is known.
    version: Option<ResourceVersion>,
    /// The uid of the object that was deleted.
    deleted: Option<String>,
    /// The number of regressions of the store's version.
    rewinds: u64,
}

impl<O: CachedObject> Clone for WriteTracker<O> {
    fn clone(&self) -> Self {
        Self {
            informer: self.informer.clone(),
            writes: self.writes.clone(),
        }
    }
}

impl<O: CachedObject> WriteTracker<O> {
    /// Creates a tracker of writes to objects of this informer.
    pub fn new(informer: SharedInformer<O>) -> Self {
        let writes = Writes {
            by_key: HashMap::new(),
            sweep_at: MIN_SWEEP,
        };
        Self {
            informer,
            writes: Arc::new(Mutex::new(writes)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Writes> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the server answered a write with this version: that of the written object, or of the
    /// deletion. The key is that of the written object, or the one that is reconciled, whichever is asked for
    /// later; its namespace must be one that the informer watches. A version older than the recorded one
    /// changes nothing, unless the server's version has regressed in between.
    pub fn record(&self, key: ObjectKey, version: ResourceVersion) {
        let rewinds = self.informer.store().rewinds();
        let writes = self.lock();
        let is_older = |known: &Write| {
            let known_version = known.version.as_ref().filter(|_| known.rewinds == rewinds);
            known_version.is_some_and(|known| version.partial_cmp(known) == Some(Ordering::Less))
        };
        if writes.by_key.get(&key).is_some_and(is_older) {
            return;
        }
        let write = Write {
            version: Some(version),
            deleted: None,
            rewinds,
        };
        self.insert(writes, key, write);
    }

    /// Records that the server has deleted the object `key` with this uid, and not only marked it for
    /// deletion: that is a write with a version, to be [recorded](Self::record).
    ///
    /// If an earlier write of the key is recorded, both count.
    pub fn record_deletion(&self, key: ObjectKey, uid: impl Into<String>) {
        let rewinds = self.informer.store().rewinds();
        let writes = self.lock();
        let known = writes.by_key.get(&key).filter(|known| known.rewinds == rewinds);
        let write = Write {
            version: known.and_then(|known| known.version.clone()),
            deleted: Some(uid.into()),
            rewinds,
        };
        self.insert(writes, key, write);
    }

    fn insert(&self, mut writes: MutexGuard<'_, Writes>, key: ObjectKey, write: Write) {
        writes.by_key.insert(key, write);
        let sweep = writes.by_key.len() >= writes.sweep_at;
        drop(writes);
        if sweep {
            self.sweep();
        }
    }

    /// Removes writes with which the cache has caught up.
    fn sweep(&self) {
        let all: Vec<_> = self.lock().by_key.clone().into_iter().collect();
        for (key, write) in all {
            if self.is_seen(key.as_str(), &write) {
                self.forget(key.as_str(), &write);
            }
        }
        let mut writes = self.lock();
        writes.sweep_at = (2 * writes.by_key.len()).max(MIN_SWEEP);
    }

    /// Whether the cache holds the last recorded write of `key`, or a newer state. With an informer over
    /// several namespaces, only the key's namespace matters. A write to a namespace that is not in its set
    /// counts as caught up, because the cache will never see it. So does a write whose version cannot be
    /// compared with the cache's. With an informer over shards by uid, all shards matter for an object that the
    /// cache does not hold, because its shard is not known.
    pub fn caught_up(&self, key: &str) -> bool {
        let Some(write) = self.remembered(key) else {
            return true;
        };
        let caught_up = self.is_seen(key, &write);
        if caught_up {
            self.forget(key, &write);
        }
        caught_up
    }

    fn is_seen(&self, key: &str, write: &Write) -> bool {
        let store = self.informer.store();
        if store.rewinds() != write.rewinds {
            return true;
        }
        !self.holds_deleted(key, write) && self.has_reached(key, write)
    }

    /// Whether the cache holds the object that was deleted.
    fn holds_deleted(&self, key: &str, write: &Write) -> bool {
        let held = || self.informer.store().get(key);
        let is_held = |uid: &String| held().is_some_and(|object| O::uid_of(&object) == Some(uid));
        write.deleted.as_ref().is_some_and(is_held)
    }

    fn has_reached(&self, key: &str, write: &Write) -> bool {
        let store = self.informer.store();
        let Some(wanted) = &write.version else {
            return true;
        };
        let applied = |version: Option<ResourceVersion>| {
            version.is_some_and(|version| version.partial_cmp(wanted) != Some(Ordering::Less))
        };
        let object = store.get(key);
        let uid = object.as_ref().and_then(|object| O::uid_of(object));
        let partitions = &self.informer.shared.partitions;
        if applied(object.as_ref().and_then(O::resource_version_of)) {
            return true;
        }
        if partitions.may_be_in_any(uid) {
            let snapshot = store.snapshot();
            let mut versions = snapshot.resource_versions();
            return versions.len() > 0 && versions.all(|(_, version)| applied(version.cloned()));
        }
        match partitions.location(namespace(key), uid) {
            Location::Partition(partition) => applied(store.resource_version_of(partition)),
            Location::NotYet => false,
            Location::NotSelected => true,
        }
    }

    /// Waits until [`caught_up`](Self::caught_up).
    ///
    /// # Errors
    /// See [`Indexer::wait_until`](crate::store::Indexer::wait_until): the informer was stopped, or the
    /// versions cannot be compared. A regression of the server's version is not an error.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing: the write stays recorded.
    pub async fn wait(&self, key: &str) -> Result<(), WaitError> {
        let Some(write) = self.remembered(key) else {
            return Ok(());
        };
        if let Some(version) = &write.version {
            self.wait_for_version(key, version, &write).await?;
        }
        let store = self.informer.store();
        while store.rewinds() == write.rewinds {
            // Created before the check, so that it completes with any publication after this line.
            let changed = store.changed();
            if !self.holds_deleted(key, &write) {
                break;
            }
            if self.informer.is_stopped() {
                return Err(WaitError::Closed {
                    wanted: write.version.clone().unwrap_or_else(|| ResourceVersion::from("")),
                    partition: Partition::default(),
                    reached: store.resource_version(),
                });
            }
            tokio::select! {
                () = changed => {}
                () = self.informer.stopped() => {}
            }
        }
        self.forget(key, &write);
        Ok(())
    }

    async fn wait_for_version(
        &self,
        key: &str,
        version: &ResourceVersion,
        write: &Write,
    ) -> Result<(), WaitError> {
        let (store, rewinds) = (self.informer.store(), write.rewinds);
        let stopped = |Stopped| WaitError::Closed {
            wanted: version.clone(),
            partition: Partition::default(),
            reached: None,
        };
        let partitions = &self.informer.shared.partitions;
        while store.rewinds() == rewinds {
            // Both before the check, so that no change after it is missed.
            let (changed, mut selection) = (store.changed(), partitions.changes());
            // The uid of an object that is not held is not known.
            let object = store.get(key);
            let uid = object.as_ref().and_then(|object| O::uid_of(object));
            if partitions.may_be_in_any(uid) {
                if self.has_reached(key, write) {
                    break;
                }
                if self.informer.is_stopped() {
                    return Err(stopped(Stopped));
                }
                tokio::select! {
                    () = changed => {}
                    () = selection.changed() => {}
                    () = self.informer.stopped() => {}
                }
                continue;
            }
            let settled = partitions.settled(namespace(key), uid).await;
            let Some(partition) = settled.map_err(stopped)? else {
                break;
            };
            let wait = store.wait_until(version).partition(partition);
            match wait.since(rewinds).await {
                // The namespace was removed; it may have been added again.
                Err(WaitError::Removed { .. }) => {}
                Err(WaitError::VersionRegressed { .. }) => break,
                result => {
                    result?;
                    break;
                }
            }
        }
        Ok(())
    }

    fn remembered(&self, key: &str) -> Option<Write> {
        self.lock().by_key.get(key).cloned()
    }

    fn forget(&self, key: &str, write: &Write) {
        let mut writes = self.lock();
        if writes.by_key.get(key) == Some(write) {
            writes.by_key.remove(key);
        }
    }
}

/// The namespace in a key.
fn namespace(key: &str) -> Option<&str> {
    key.split_once('/').map(|(namespace, _)| namespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informer::InformerRunner;
    use crate::queue::Delta;
    use crate::source::{
        ApiError, DecodeResult, ListRequest, ListStream, ListerWatcher, WatchRequest, WatchStream,
    };
    use futures::future::{BoxFuture, FutureExt, pending};
    use k8s_openapi::api::core::v1::ConfigMap;
    use std::time::Duration;

    struct Silent;

    impl ListerWatcher<ConfigMap> for Silent {
        fn resource(&self) -> String {
            "configmaps".into()
        }

        fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<ConfigMap>, ApiError>> {
            pending().boxed()
        }

        fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<ConfigMap>, ApiError>> {
            pending().boxed()
        }
    }

    /// A tracker over an informer whose store is changed by the test.
    fn scene() -> (WriteTracker<ConfigMap>, InformerRunner<ConfigMap>) {
        let (informer, runner) = SharedInformer::builder(Silent).build();
        runner.shared.fifo.add_partition(Partition::SINGLE);
        (WriteTracker::new(informer), runner)
    }

    fn reach(runner: &mut InformerRunner<ConfigMap>, version: u64) {
        let queue = runner.shared.fifo.clone();
        queue.bookmark(Partition::SINGLE, version.into());
        while let Some(Some(mut batch)) = queue.pop(1).now_or_never() {
            let _ = runner.applier.apply(&mut batch, false, false);
        }
        runner.applier.publish();
    }

    #[test]
    fn writes_are_removed_without_a_query() {
        let (writes, mut runner) = scene();
        for version in 1..10_000u64 {
            // The cache lags by ten writes.
            reach(&mut runner, version.saturating_sub(10));
            writes.record(format!("child-{version}").as_str().into(), version.into());
        }
        let left = writes.lock().by_key.len();
        assert!((10..=MIN_SWEEP).contains(&left), "{left}");
        assert!(!writes.caught_up("child-9999"), "that one is not seen yet");
    }

    fn object(uid: &str) -> Arc<ConfigMap> {
        let mut map = ConfigMap::default();
        map.metadata.name = Some("a".into());
        map.metadata.uid = Some(uid.into());
        Arc::new(map)
    }

    #[tokio::test(start_paused = true)]
    async fn a_deletion_is_seen_when_the_object_is_gone() {
        let (writes, mut runner) = scene();
        let queue = runner.shared.fifo.clone();
        let mut put = |uid: &str, version: u64| {
            let object = DecodeResult::Decoded {
                object: object(uid),
                fingerprint: None,
            };
            let (key, delta) = ("a".into(), Delta::Updated(object));
            let pushed = queue.push(Partition::SINGLE, key, delta, Some(version.into()));
            pushed.now_or_never().expect("room");
            reach(&mut runner, version);
        };
        put("1", 10);
        writes.record_deletion("a".into(), "1");
        assert!(!writes.caught_up("a"));
        let waits = tokio::spawn({
            let writes = writes.clone();
            async move { writes.wait("a").await }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!waits.is_finished());
        put("2", 20);
        assert_eq!(waits.await.unwrap(), Ok(()));
        assert!(writes.caught_up("a"), "another object has its name");

        // It was created a moment ago: that it is not there does not mean that it is gone.
        writes.record("a".into(), 30.into());
        writes.record_deletion("a".into(), "3");
        assert!(!writes.caught_up("a"));
        put("3", 30);
        assert!(!writes.caught_up("a"));
        put("4", 40);
        assert!(writes.caught_up("a"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_version_regression_clears_recorded_writes() {
        let (writes, mut runner) = scene();
        reach(&mut runner, 1000);
        writes.record("a".into(), 1010.into());
        writes.record("b".into(), 1011.into());
        let waits = tokio::spawn({
            let writes = writes.clone();
            async move { writes.wait("a").await }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!waits.is_finished() && !writes.caught_up("a"));
        reach(&mut runner, 50);
        assert_eq!(waits.await.unwrap(), Ok(()));
        let wait = tokio::time::timeout(Duration::from_secs(5), writes.wait("b"));
        assert_eq!(wait.await.expect("in time"), Ok(()));
        assert!(writes.caught_up("a") && writes.caught_up("b"));

        writes.record("b".into(), 52.into());
        assert!(!writes.caught_up("b"), "versions of the new history are recorded");
        reach(&mut runner, 52);
        assert!(writes.caught_up("b"));

        writes.record("a".into(), 60.into());
        reach(&mut runner, 10);
        writes.record("a".into(), 12.into());
        assert!(!writes.caught_up("a"), "a lower version replaces one from before");
    }
}
