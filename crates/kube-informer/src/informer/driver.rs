//! The driver of a shared informer: applies batches from the queue to the store, publishes, and notifies the
//! listeners.

use super::Shared;
use super::applier::Applier;
use crate::object::CachedObject;
use crate::queue::{Batch, Deltas, Entries, Process};
use crate::source::DecodeResult;
use std::sync::Arc;
use tokio::time::Instant;

/// Applies changes and notifies the listeners.
pub(super) struct Driver<O: CachedObject> {
    pub(super) applier: Applier<O>,
    pub(super) shared: Arc<Shared<O>>,
    /// Whether the handlers were notified that their initial state is complete.
    pub(super) synced: bool,
    /// How many changes of the shards the store has followed.
    pub(super) shard_changes: u64,
}

impl<O: CachedObject> Process<Deltas<DecodeResult<O>>> for Driver<O> {
    async fn process(&mut self, mut batch: Batch<Deltas<DecodeResult<O>>>) {
        let _span = self.applier.span(&batch).entered();
        let any_resync = self.shared.processor.any_resync();
        let restored = match &batch.entries {
            Entries::Restored { partition, entries } => Some((*partition, entries.len())),
            _ => None,
        };
        // Changes before the sync mark are initial.
        let lost = match self.shared.partitions.shard_change(&mut self.shard_changes) {
            Some(change) => {
                self.applier.follow_shards(change.map, !change.lost.is_empty());
                change.lost
            }
            None => Vec::new(),
        };
        let changes = self.applier.apply(&mut batch, !self.synced, any_resync);
        self.shared.processor.publish(changes, || {
            self.applier.publish();
            // Whoever is told of restored objects can see that they are.
            if let Some((partition, objects)) = restored {
                self.shared.restored(partition, objects);
            }
        });
        self.shared.partitions.have_dropped(lost);
        self.applier.processed();
        match &batch.entries {
            Entries::Resync => self.resync(),
            // Before the guard says that the removal has been processed: if the namespace is added again then, it needs a
            // partition of its own.
            Entries::PartitionRemoved(partition) => self.shared.removed(*partition),
            _ => {}
        }
        drop(batch.guard);
        match batch.entries {
            Entries::PartitionAdded(partition) => {
                if let Some(name) = self.shared.partitions.name(partition) {
                    self.applier.name_partition(partition, &name);
                }
            }
            Entries::Replace { partition, .. } | Entries::Confirmed(partition) => {
                self.shared.partitions.set_synced(partition);
            }
            _ => {}
        }
        self.note_synced();
    }
}

impl<O: CachedObject> Driver<O> {
    /// Marks the informer as synced once the initial state has been published, then its handlers.
    fn note_synced(&mut self) {
        if self.shared.fifo.has_synced() {
            self.shared.partitions.set_populated();
        }
        if !self.synced && self.shared.partitions.have_synced() {
            self.synced = true;
            self.shared.processor.set_synced(&self.shared.store);
        }
    }

    /// Sends every object again to the handlers whose resync is due.
    fn resync(&mut self) {
        let now = Instant::now();
        let due = self.shared.processor.due_for_resync(now);
        if due.is_empty() {
            return;
        }
        let changes = self.applier.resync_changes();
        for listener in due {
            listener.push(changes.iter().cloned(), now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informer::{InformerRunner, NamespaceSet, Notification, SharedInformer, until_with_sync};
    use crate::object::Partition;
    use crate::queue::Delta;
    use crate::source::{ListerWatcher, NamespacedSource};
    use futures::{FutureExt, StreamExt};
    use k8s_openapi::api::core::v1::ConfigMap;
    use tokio_util::sync::CancellationToken;

    /// A source that receives no requests.
    struct NoSource;

    impl NamespacedSource<ConfigMap> for NoSource {
        fn resource(&self) -> String {
            "configmaps".into()
        }

        fn in_namespace(&self, _: &str) -> Arc<dyn ListerWatcher<ConfigMap>> {
            unreachable!("no reflector runs")
        }
    }

    /// A driver over these namespaces, without reflectors.
    struct Scene<const N: usize> {
        informer: SharedInformer<ConfigMap>,
        driver: Driver<ConfigMap>,
        partitions: [Partition; N],
        _alive: super::super::runner::StopOnDrop<ConfigMap>,
        _jobs: tokio::sync::mpsc::UnboundedReceiver<super::super::runner::Job>,
    }

    impl<const N: usize> Scene<N> {
        fn new(set: &NamespaceSet, watched: [&str; N]) -> Self {
            let (informer, runner) = SharedInformer::over_namespaces(NoSource, set).build();
            let InformerRunner {
                shared,
                applier,
                stopped,
                jobs,
                ..
            } = runner;
            let driver = Driver {
                applier,
                shared,
                synced: false,
                shard_changes: 0,
            };
            let started = driver
                .shared
                .partitions
                .follow(&CancellationToken::new(), |_| None);
            let partitions = watched.map(|name| {
                let started = started.iter().find(|started| *started.name == *name).expect(name);
                driver.shared.fifo.add_partition(started.partition);
                started.partition
            });
            let mut scene = Self {
                informer,
                driver,
                partitions,
                _alive: stopped,
                _jobs: jobs,
            };
            scene.process();
            scene
        }

        fn object(name: &str) -> DecodeResult<ConfigMap> {
            let mut object = ConfigMap::default();
            object.metadata.name = Some(name.into());
            DecodeResult::Decoded {
                object: Arc::new(object),
                fingerprint: None,
            }
        }

        async fn push(&self, partition: Partition, name: &str) {
            let delta = Delta::Added(Self::object(name));
            let queue = &self.driver.shared.fifo;
            queue.push(partition, name.into(), delta, None).await;
        }

        async fn list(&self, partition: Partition, name: &str) {
            let entries = vec![(name.into(), Self::object(name))];
            let queue = &self.driver.shared.fifo;
            queue.replace(partition, entries, Some("1".into())).await;
        }

        /// Processes everything that is queued.
        fn process(&mut self) {
            while let Some(Some(batch)) = self.driver.shared.fifo.pop(10).now_or_never() {
                self.driver.process(batch).now_or_never().expect("never waits");
            }
        }
    }

    fn is_initial(change: Option<Option<Notification<ConfigMap>>>) -> Option<bool> {
        match change?? {
            Notification::Add { initial, .. } => Some(initial),
            other => panic!("unexpected {other:?}"),
        }
    }

    #[tokio::test]
    async fn changes_after_the_sync_mark_are_not_initial() {
        let set = NamespaceSet::new(["x", "y"]);
        let mut scene = Scene::new(&set, ["x", "y"]);
        let [x, y] = scene.partitions;
        let mut told = scene.informer.subscribe("test").unwrap();
        scene.list(x, "a").await;
        scene.process();
        // The last unsynced namespace is removed while changes of another are queued.
        scene.push(x, "b").await;
        set.remove("y");
        scene
            .driver
            .shared
            .partitions
            .follow(&CancellationToken::new(), |_| None);
        drop(scene.driver.shared.fifo.remove_partition(y));
        scene.push(x, "c").await;
        scene.process();

        for (initial, synced) in [(true, false), (true, false), (false, true)] {
            assert_eq!(is_initial(told.next().now_or_never()), Some(initial));
            assert_eq!(told.has_synced(), synced);
        }
    }

    #[test]
    fn who_removes_a_partition_hears_of_it_when_it_is_forgotten() {
        /// Looks, when it is woken, whether a name is known.
        struct Look(Arc<Shared<ConfigMap>>, Partition, std::sync::OnceLock<bool>);
        impl std::task::Wake for Look {
            fn wake(self: Arc<Self>) {
                let _ = self.2.set(self.0.partitions.name(self.1).is_some());
            }
        }

        let set = NamespaceSet::new(["x", "y"]);
        let mut scene = Scene::new(&set, ["x", "y"]);
        let [_, y] = scene.partitions;
        let look = Arc::new(Look(scene.driver.shared.clone(), y, Default::default()));
        let mut removed = std::pin::pin!(scene.driver.shared.fifo.remove_partition(y));
        let waker = look.clone().into();
        let mut context = std::task::Context::from_waker(&waker);
        assert!(removed.as_mut().poll(&mut context).is_pending());
        scene.process();
        // The namespace may be wanted again at once, and needs a number of its own.
        assert_eq!(look.2.get(), Some(&false));
    }

    #[tokio::test]
    async fn until_with_sync_sees_what_comes_and_goes_in_a_flood() {
        let mut scene = Scene::new(&NamespaceSet::new(["x"]), ["x"]);
        let [x] = scene.partitions;
        scene.list(x, "a").await;
        scene.process();
        let informer = scene.informer.clone();
        let is_b = |change: &Notification<ConfigMap>| &*change.key() == "b";
        let mut met = std::pin::pin!(until_with_sync(&informer, |_| false, is_b));
        assert!(futures::poll!(&mut met).is_pending());
        for _ in 0..1500 {
            scene.push(x, "a").await;
        }
        scene.push(x, "b").await;
        let gone = Delta::Deleted(None);
        let queue = &scene.driver.shared.fifo;
        queue.push(x, "b".into(), gone, None).await;
        scene.process();
        let met = met.now_or_never().expect("it came").unwrap();
        assert!(matches!(met, Some(Notification::Add { .. })));
    }

    #[tokio::test]
    async fn a_handler_is_not_synced_before_its_informer() {
        let set = NamespaceSet::new(["x"]);
        let mut scene = Scene::new(&set, ["x"]);
        let [x] = scene.partitions;
        let mut told = scene.informer.subscribe("test").unwrap();
        // The namespace is in the set, but the driver has not been notified yet.
        set.add("y");
        scene.list(x, "a").await;
        scene.process();
        assert_eq!(is_initial(told.next().now_or_never()), Some(true));
        assert!(told.next().now_or_never().is_none());
        assert!(!scene.informer.has_synced() && !told.has_synced());

        scene.push(x, "b").await;
        scene.process();
        assert_eq!(is_initial(told.next().now_or_never()), Some(true));

        // The namespace is removed from the set: the reflectors wake the driver.
        set.remove("y");
        scene.driver.shared.fifo.wake();
        scene.process();
        assert!(scene.informer.has_synced());
        assert!(told.next().now_or_never().is_none());
        assert!(told.has_synced());
    }
}
