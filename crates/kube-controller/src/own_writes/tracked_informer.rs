//! A cache that reconciles read.

use super::{OwnWrites, ReconcileKey};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use kube_informer::informer::WriteTracker;
use kube_informer::selector::ShardField;
use kube_informer::{CachedObject, Notification, ObjectKey, Partition, ResourceVersion, SharedInformer};
use std::ops::Deref;
use std::sync::Arc;

/// A cache that is tracked by [`OwnWrites`]. Clones are handles to the same cache.
#[derive(Clone)]
pub struct TrackedInformer {
    writes: OwnWrites,
    number: usize,
    cache: Arc<dyn AnyCache>,
}

/// A change that an informer tells of.
pub(super) struct Change {
    pub(super) cache: usize,
    pub(super) uid: Box<str>,
    pub(super) version: ResourceVersion,
    pub(super) deleted: bool,
    pub(super) lists: Lists,
}

impl TrackedInformer {
    pub(super) fn add<O: CachedObject>(writes: &OwnWrites, informer: &SharedInformer<O>) -> Self {
        let cache: Arc<dyn AnyCache> = Arc::new(Tracked {
            writes: WriteTracker::new(informer.clone()),
            informer: informer.clone(),
        });
        let (number, stopped) = writes.lock().add(cache.clone());
        drop(stopped);
        Self {
            writes: writes.clone(),
            number,
            cache,
        }
    }

    /// Calls `enqueue`, unless the change was made by the reconcile of this key.
    ///
    /// Usually this is decided at once. While a reconcile of the key runs, it is decided when that has ended,
    /// because the answer to its write may not have arrived yet. Call it in the informer's handler, which
    /// needs [`Delivery::Unbounded`](kube_informer::Delivery::Unbounded): a change that was merged with
    /// others might be taken for an own one.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::Secret;
    /// # use kube_controller::own_writes::{OwnWrites, ReconcileKey};
    /// # use kube_informer::{Delivery, HandlerOptions, Notification, ObjectKey, SharedInformer};
    /// # use kube_workqueue::WorkQueue;
    /// # fn example(writes: OwnWrites, informer: SharedInformer<Secret>, queue: WorkQueue<ObjectKey>)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// let secrets = writes.track(&informer);
    /// let options = HandlerOptions::named("tokens").delivery(Delivery::Unbounded);
    /// let handler = informer.add_handler(options, move |change: Notification<Secret>| {
    ///     let (key, queue) = (change.key(), queue.clone());
    ///     let run = ReconcileKey::new("tokens", key.clone());
    ///     secrets.unless_own(&run, &change, move || queue.add(key));
    /// })?;
    /// # handler.detach();
    /// # Ok(()) }
    /// ```
    pub fn unless_own<O: CachedObject>(
        &self,
        run: &ReconcileKey,
        change: &Notification<O>,
        enqueue: impl FnOnce() + Send + 'static,
    ) {
        let foreign = match self.change(change) {
            None => Some(enqueue),
            Some(change) => self.writes.lock().unless_echo(run, change, enqueue),
        };
        // Not under the lock: it is the controller's.
        if let Some(enqueue) = foreign {
            enqueue();
        }
    }

    /// Forgets the cache, in all of its handles.
    fn remove(&self) {
        let removed = self.writes.lock().remove(self.number);
        drop(removed);
    }

    /// What may be an echo; `None` if nobody can have written it.
    fn change<O: CachedObject>(&self, change: &Notification<O>) -> Option<Change> {
        let (object, deleted) = match change {
            Notification::Add { initial: true, .. } => return None,
            Notification::Add { object, .. } => (object, false),
            Notification::Update { old, new } => {
                let is_resync = O::resource_version_of(old) == O::resource_version_of(new);
                (!is_resync).then_some((new, false))?
            }
            Notification::Delete(deleted) => (deleted.last_known.as_ref()?, true),
        };
        Some(Change {
            cache: self.number,
            uid: O::uid_of(object)?.into(),
            version: O::resource_version_of(object)?,
            deleted,
            lists: self.cache.lists(O::namespace_of(object)),
        })
    }
}

impl std::fmt::Debug for TrackedInformer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TrackedInformer")
            .field(&self.cache.resource())
            .finish()
    }
}

/// A cache that is tracked until this is dropped.
pub(crate) struct TrackedUntilDrop(TrackedInformer);

impl TrackedUntilDrop {
    pub(crate) fn new<O: CachedObject>(writes: &OwnWrites, informer: &SharedInformer<O>) -> Self {
        Self(TrackedInformer::add(writes, informer))
    }
}

impl Deref for TrackedUntilDrop {
    type Target = TrackedInformer;

    fn deref(&self) -> &TrackedInformer {
        &self.0
    }
}

impl Drop for TrackedUntilDrop {
    fn drop(&mut self) {
        self.0.remove();
    }
}

/// How often the parts of a cache were listed in which an object can be. As long as that stays the same, each change of
/// the server is a change of the cache.
pub(super) type Lists = Vec<(Partition, u64)>;

/// A cache, whatever it holds.
pub(super) trait AnyCache: Send + Sync {
    /// `pods`, `deployments.apps`.
    fn resource(&self) -> &str;
    fn is_stopped(&self) -> bool;
    fn record(&self, key: ObjectKey, version: ResourceVersion);
    fn record_deletion(&self, key: ObjectKey, uid: &str);
    fn caught_up(&self, key: &str) -> bool;
    /// Ends when the cache has caught up, when it has stopped, and when it [is refused](Self::is_refused).
    fn wait<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, ()>;
    fn lists(&self, namespace: Option<&str>) -> Lists;
    /// Whether the server refuses to list objects of this namespace, so that the cache has never synced with it.
    fn is_refused(&self, namespace: Option<&str>) -> bool;
}

struct Tracked<O: CachedObject> {
    informer: SharedInformer<O>,
    writes: WriteTracker<O>,
}

impl<O: CachedObject> AnyCache for Tracked<O> {
    fn resource(&self) -> &str {
        self.informer.resource()
    }

    fn is_stopped(&self) -> bool {
        self.informer.is_stopped()
    }

    fn record(&self, key: ObjectKey, version: ResourceVersion) {
        self.writes.record(key, version);
    }

    fn record_deletion(&self, key: ObjectKey, uid: &str) {
        self.writes.record_deletion(key, uid);
    }

    fn caught_up(&self, key: &str) -> bool {
        // One that has stopped will not see more.
        self.is_stopped() || self.writes.caught_up(key)
    }

    fn wait<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, ()> {
        async move {
            tokio::select! {
                // A cache that has stopped will not see more; one whose versions cannot be compared cannot say.
                _ = self.writes.wait(key.as_str()) => {}
                () = self.refused(key.namespace()) => {}
            }
        }
        .boxed()
    }

    fn lists(&self, namespace: Option<&str>) -> Lists {
        if let Some(set) = self.informer.shards()
            && set.field() == ShardField::Uid
        {
            // A request does not say in which shard its object is.
            let partitions = self.informer.status().partitions.into_iter();
            return partitions
                .map(|partition| (partition.partition, partition.reflector.lists))
                .collect();
        }
        let partition = self.informer.partition(namespace);
        let lists = |partition| self.informer.reflector_status(partition).borrow().lists;
        partition
            .map(|partition| (partition, lists(partition)))
            .into_iter()
            .collect()
    }

    fn is_refused(&self, namespace: Option<&str>) -> bool {
        let Some(partition) = self.informer.partition(namespace) else {
            return false;
        };
        // One that was restored from a file need not have been listed.
        let refused = self.informer.reflector_status(partition).borrow().is_refused();
        refused && !self.informer.has_synced_for(namespace, None)
    }
}

impl<O: CachedObject> Tracked<O> {
    /// Waits until the cache is refused.
    async fn refused(&self, namespace: Option<&str>) {
        if let Some(partition) = self.informer.partition(namespace) {
            let mut status = self.informer.reflector_status(partition);
            loop {
                status.borrow_and_update();
                if self.is_refused(namespace) {
                    return;
                }
                if status.changed().await.is_err() {
                    break;
                }
            }
        }
        std::future::pending().await
    }
}
