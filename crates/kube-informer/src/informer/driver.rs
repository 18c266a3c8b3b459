//! The driver of a shared informer: takes changes from the queue, applies them to the store, publishes, and tells the
//! listeners.

use super::Shared;
use super::applier::{Applier, Outcome};
use super::processor::Processor;
use crate::controller::{Parcel, SlowWatch, after};
use crate::object::{Object, Partition};
use crate::queue::{Batch, DeltaFifo};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

/// What changes of the parts of a collection.
pub(super) enum Command {
    /// A part of this name is watched from now on. Sent before anything of it is pushed.
    Add(Partition, Arc<str>),
    /// A part is no longer wanted. Sent after its reflector has ended; what it pushed may still be on its way. The
    /// answer says that its objects are gone.
    Remove(Partition, oneshot::Sender<()>),
}

/// Applies changes and tells of them.
pub(super) struct Driver<O: Object> {
    pub(super) applier: Applier<O>,
    pub(super) shared: Arc<Shared<O>>,
    pub(super) commands: mpsc::UnboundedReceiver<Command>,
    /// Whether the handlers were told that what they have been told of so far is the initial state.
    pub(super) synced: bool,
}

impl<O: Object> Driver<O> {
    /// Runs until the queue is closed.
    pub(super) async fn run(mut self) {
        let mut check = self.processor().start_resync();
        let mut next_look = std::pin::pin!(sleep_until(after(Instant::now(), *check.borrow_and_update())));
        // There may be nothing to wait for.
        self.note_synced();
        loop {
            tokio::select! {
                Some(command) = self.commands.recv() => self.obey(command),
                batch = take(&self.shared.fifo) => match batch {
                    Some(batch) => {
                        if batch.was_full {
                            // Who waited for room was woken on this thread. It has to be gone from here, to run on
                            // another one while this applies a long batch.
                            tokio::task::yield_now().await;
                        }
                        self.catch_up();
                        let watch = SlowWatch::new(&batch.entries);
                        self.apply(batch);
                        watch.end(&self.shared.resource, self.shared.fifo.len());
                    }
                    None => return,
                },
                () = &mut next_look => {
                    let now = Instant::now();
                    next_look.as_mut().reset(after(now, *check.borrow()));
                    self.resync(now);
                }
                Ok(()) = check.changed() => {
                    next_look.as_mut().reset(after(Instant::now(), *check.borrow_and_update()));
                }
                // What was still to come may no longer be wanted.
                Ok(()) = self.shared.partitions.synced(), if !self.synced => self.note_synced(),
            }
            // A queue that is never empty must not keep the thread from everybody else.
            tokio::task::consume_budget().await;
        }
    }

    /// Obeys every command that was sent before what is about to be applied.
    fn catch_up(&mut self) {
        while let Ok(command) = self.commands.try_recv() {
            self.obey(command);
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Add(partition, name) => self.applier.add_partition(partition, &name),
            Command::Remove(partition, done) => {
                self.take_out(partition);
                let _ = done.send(());
            }
        }
    }

    fn take_out(&mut self, partition: Partition) {
        let mut outcome = self.applier.take_out(partition);
        self.publish(&mut outcome);
        self.shared.partitions.remove(partition);
        self.shared.fifo.remove_partition(partition);
        self.note_synced();
    }

    /// Tells the handlers that are due of everything again, except for objects that are about to change anyway.
    fn resync(&mut self, now: Instant) {
        let due = self.processor().due_for_resync(now);
        if due.is_empty() {
            return;
        }
        let changes = self.applier.again(|key| !self.shared.fifo.is_pending(key));
        for listener in due {
            listener.push(changes.iter().cloned(), now);
        }
    }

    fn processor(&self) -> &Processor<O> {
        &self.shared.processor
    }

    fn apply(&mut self, batch: Batch<Parcel<O>>) {
        let _span = self.applier.span(&batch).entered();
        let Batch {
            entries,
            positions,
            processed,
            ..
        } = batch;
        let wants_sync = self.processor().wants_sync();
        // What comes before the mark is initial. Who popped the batch could not know: commands were obeyed since.
        let initial = !self.synced;
        let mut outcome = self.applier.apply(entries, positions, initial, wants_sync);
        self.publish(&mut outcome);
        drop(processed);
        if let Some(partition) = outcome.replaced {
            self.shared.partitions.set_synced(partition);
        }
        self.note_synced();
    }

    fn publish(&mut self, outcome: &mut Outcome<O>) {
        for bad in std::mem::take(&mut outcome.set_aside) {
            self.shared.set_aside(bad);
        }
        self.shared
            .processor
            .publish(std::mem::take(&mut outcome.changes), || self.applier.publish());
        self.applier.processed(outcome);
    }

    /// Tells everybody once the initial state has been published: first those who ask the informer, then its handlers.
    fn note_synced(&mut self) {
        if self.shared.fifo.has_synced() {
            self.shared.partitions.set_populated();
        }
        if !self.synced && self.shared.partitions.have_synced() {
            self.synced = true;
            self.processor().set_synced();
        }
    }
}

/// So many changes that come while the driver gives way once are a flood.
const FLOOD: usize = 64;
/// The longest that a flood delays those who wait for its beginning.
const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// Takes all that is queued. In a flood, it lets the queue fill up before: applied together, changes cost less.
///
/// A flood comes from a reflector on this thread, as where other work leaves no second one to the informer. What comes
/// from another thread meanwhile is little, and goes on coming while a batch is applied.
async fn take<T>(queue: &DeltaFifo<T>) -> Option<Batch<T>> {
    queue.readable().await;
    let (started, mut waiting) = (Instant::now(), queue.len());
    while waiting < queue.capacity() && started.elapsed() < LONGEST_WAIT {
        tokio::task::yield_now().await;
        let before = std::mem::replace(&mut waiting, queue.len());
        if waiting < before + FLOOD {
            break;
        }
    }
    queue.pop(usize::MAX).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informer::{InformerRunner, NamespaceSet, Notification, SharedInformer};
    use crate::queue::{Delta, Entries, Listed, Replace};
    use crate::reflector::Held;
    use crate::source::{ListerWatcher, NamespacedSource};
    use futures::{FutureExt, StreamExt};
    use k8s_openapi::api::core::v1::ConfigMap;

    /// A source that is never asked.
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
        _alive: (
            super::super::runner::StopOnDrop<ConfigMap>,
            mpsc::UnboundedSender<Command>,
        ),
        _jobs: mpsc::UnboundedReceiver<super::super::runner::Job>,
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
            let (sender, commands) = mpsc::unbounded_channel();
            let mut driver = Driver {
                applier,
                shared,
                commands,
                synced: false,
            };
            let partitions = watched.map(|name| {
                let (partition, _) = driver.shared.partitions.start(name.into());
                driver.shared.fifo.add_partition(partition);
                driver.obey(Command::Add(partition, name.into()));
                partition
            });
            Self {
                informer,
                driver,
                partitions,
                _alive: (stopped, sender),
                _jobs: jobs,
            }
        }

        fn parcel(partition: Partition, name: &str) -> Parcel<ConfigMap> {
            let mut object = ConfigMap::default();
            object.metadata.name = Some(name.into());
            Parcel {
                partition,
                arrived: Ok(Held {
                    object: Arc::new(object),
                    fingerprint: None,
                }),
            }
        }

        async fn push(&self, partition: Partition, name: &str) {
            let delta = Delta::Added(Self::parcel(partition, name));
            self.driver.shared.fifo.push(name.into(), delta, None).await;
        }

        async fn list(&self, partition: Partition, name: &str) {
            let list = Replace {
                partition,
                entries: vec![Listed::New(name.into(), Self::parcel(partition, name))],
                resource_version: Some("1".into()),
            };
            self.driver.shared.fifo.replace(list).await;
        }

        fn pop(&self) -> Batch<Parcel<ConfigMap>> {
            self.driver
                .shared
                .fifo
                .pop(10)
                .now_or_never()
                .flatten()
                .expect("a batch")
        }

        fn apply(&mut self) {
            let batch = self.pop();
            self.driver.apply(batch);
        }
    }

    fn is_initial(change: Option<Option<Notification<ConfigMap>>>) -> Option<bool> {
        match change?? {
            Notification::Add { initial, .. } => Some(initial),
            other => panic!("unexpected {other:?}"),
        }
    }

    #[tokio::test]
    async fn what_comes_after_the_mark_is_not_initial() {
        let set = NamespaceSet::new(["x", "y"]);
        let mut scene = Scene::new(&set, ["x", "y"]);
        let [x, y] = scene.partitions;
        let mut told = scene.informer.subscribe("test").unwrap();
        scene.list(x, "a").await;
        scene.apply();
        scene.push(x, "b").await;
        let popped = scene.pop();
        // The last one that has not synced goes while the batch is on its way.
        set.remove("y");
        scene.driver.shared.partitions.leaving("y");
        scene.driver.obey(Command::Remove(y, oneshot::channel().0));
        scene.driver.apply(popped);

        assert_eq!(is_initial(told.next().now_or_never()), Some(true));
        assert!(!told.has_synced());
        assert_eq!(is_initial(told.next().now_or_never()), Some(false));
        assert!(told.has_synced());
    }

    #[tokio::test]
    async fn a_handler_is_not_synced_before_its_informer() {
        let set = NamespaceSet::new(["x"]);
        let mut scene = Scene::new(&set, ["x"]);
        let [x] = scene.partitions;
        let mut told = scene.informer.subscribe("test").unwrap();
        // Wanted, but nobody has heard of it yet.
        set.add("y");
        scene.list(x, "a").await;
        scene.apply();
        assert_eq!(is_initial(told.next().now_or_never()), Some(true));
        assert!(told.next().now_or_never().is_none());
        assert!(!scene.informer.has_synced() && !told.has_synced());

        scene.push(x, "b").await;
        scene.apply();
        assert_eq!(is_initial(told.next().now_or_never()), Some(true));

        // No longer wanted: nothing tells the driver but the set itself.
        set.remove("y");
        let Scene { driver, informer, .. } = scene;
        let running = tokio::spawn(driver.run());
        informer.synced().await.unwrap();
        while !told.has_synced() {
            tokio::task::yield_now().await;
            assert!(told.next().now_or_never().is_none());
        }
        running.abort();
    }

    async fn taken(queue: &DeltaFifo<u32>) -> usize {
        match take(queue).await.expect("not closed").entries {
            Entries::Deltas(entries) => entries.len(),
            Entries::Replace(_) => 0,
        }
    }

    /// Pushes so many changes from a task of its own, which gives way after each, or only when tokio makes it.
    fn push(queue: &DeltaFifo<u32>, count: u32, gives_way: bool) {
        let queue = queue.clone();
        tokio::spawn(async move {
            for number in 0..count {
                let key = format!("key-{number}").into();
                queue.push(key, Delta::Added(number), None).await;
                match gives_way {
                    true => tokio::task::yield_now().await,
                    false => tokio::task::consume_budget().await,
                }
            }
        });
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_one_batch_up_to_the_capacity() {
        let queue = DeltaFifo::new(1000);
        push(&queue, 1500, false);
        assert_eq!(taken(&queue).await, 1000);
        assert_eq!(taken(&queue).await, 500);
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickle_is_taken_as_it_comes() {
        let queue = DeltaFifo::new(1000);
        push(&queue, 20, true);
        assert!(taken(&queue).await < 10);
    }
}
