//! The reflectors of an informer: one for each partition, started and stopped while the informer runs.

use super::partitions::{Changes, Started, WHOLE};
use super::saved::SavedPartitions;
use super::{Shared, Transform};
use crate::form::Decode;
use crate::object::CachedObject;
use crate::queue::DeltaFifo;
use crate::reflector::{ErrorFunction, QueueSink, Reflector, ReflectorOptions};
use crate::selector::{ShardField, ShardSelector};
use crate::source::{DecodeResult, ListerWatcher, NamespacedSource, Narrowing, ShardedSource, Subject};
use crate::store::{Indexer, StoredInOrder};
use kube::core::TypeMeta;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long saved shards wait to be added. A replica that was killed has to wait for the Leases of its former process, and for
/// what others give up.
const SHARDS_COME: Duration = Duration::from_secs(60);

/// The common configuration of an informer's reflectors.
pub(super) struct ReflectorFactory<O: Decode> {
    pub(super) source: Source<O>,
    /// The name for metrics.
    pub(super) name: String,
    /// The decoder, shared by all partitions.
    pub(super) decoder: Arc<O::Decoder>,
    pub(super) options: ReflectorOptions,
    /// How many of the reflectors may list at once.
    pub(super) lists: Arc<Semaphore>,
    pub(super) on_error: Option<ErrorFunction>,
    pub(super) transform: Option<Transform<O>>,
}

/// The reflector of one partition, which fills the informer's queue.
pub(super) type PartitionReflector<O> =
    Reflector<O, QueueSink<O, StoredInOrder<<O as CachedObject>::Handle>>>;

/// The source of the objects.
pub(super) enum Source<O: Decode> {
    Whole(Arc<dyn ListerWatcher<O>>),
    Namespaced(Arc<dyn NamespacedSource<O>>),
    Sharded(Arc<dyn ShardedSource<O>>),
}

impl<O: Decode> Source<O> {
    /// The subject for spans, logs and metrics.
    pub(super) fn subject(&self) -> Subject {
        match self {
            Self::Whole(source) => Subject::of(&**source),
            Self::Namespaced(source) => Subject::new(source.resource(), source.type_meta(), None),
            Self::Sharded(source) => Subject::new(source.resource(), source.type_meta(), None),
        }
    }

    pub(super) fn type_meta(&self) -> Option<TypeMeta> {
        match self {
            Self::Whole(source) => source.type_meta(),
            Self::Namespaced(source) => source.type_meta(),
            Self::Sharded(source) => source.type_meta(),
        }
    }

    /// What is selected, as text.
    pub(super) fn cache_identity(&self) -> Option<String> {
        match self {
            Self::Whole(source) => source.cache_identity(),
            Self::Namespaced(source) => source.cache_identity(),
            Self::Sharded(source) => source.cache_identity(),
        }
    }

    /// The source of a partition. `shards` are those of a partition that is of shards.
    pub(super) fn partition(
        &self,
        name: &str,
        shards: Option<watch::Receiver<ShardSelector>>,
    ) -> Arc<dyn ListerWatcher<O>> {
        match (self, shards) {
            (Self::Whole(source), _) => source.clone(),
            (Self::Namespaced(source), _) => source.in_namespace(name),
            (Self::Sharded(source), Some(shards)) => Arc::new(Narrowing::new(source.clone(), shards)),
            (Self::Sharded(source), None) => source.in_shards(ShardSelector::new(ShardField::Uid, [])),
        }
    }
}

impl<O: Decode> ReflectorFactory<O> {
    /// Has fingerprints made with this seed.
    pub(super) fn identify_by(&mut self, seed: u64) {
        let plan = self.options.plan.take().unwrap_or_else(O::plan);
        self.options.plan = Some(plan.with_seed(seed));
    }

    /// Creates the reflector of one partition, which fills the queue.
    pub(super) fn reflector(
        &self,
        started: Started,
        queue: DeltaFifo<DecodeResult<O>>,
        store: Indexer<O::Handle>,
    ) -> PartitionReflector<O> {
        let Started {
            name,
            partition,
            status,
            selector: shards,
            ..
        } = started;
        let sink = QueueSink::with_partition(partition, queue, StoredInOrder::new(store));
        let source = self.source.partition(&name, shards);
        let reflector = Reflector::with_options(source, sink, self.options.clone());
        let mut reflector = reflector
            .with_decoder(self.decoder.clone())
            .limited_by(self.lists.clone())
            .reporting_to(status)
            .name(self.name.as_str());
        reflector = match &self.source {
            _ if *name == *WHOLE => reflector,
            Source::Whole(_) | Source::Namespaced(_) => reflector.named_after(&name),
            Source::Sharded(_) => reflector.of_shards(&name),
        };
        if let Some(hook) = self.on_error.clone() {
            reflector = reflector.on_error(move |error| hook(error));
        }
        if let Some(transform) = self.transform.clone() {
            reflector = reflector.transform(move |object| transform.apply(object));
        }
        reflector
    }
}

/// The running reflectors. They follow the selected namespaces.
pub(super) struct Reflectors<O: Decode> {
    factory: Arc<ReflectorFactory<O>>,
    shared: Arc<Shared<O>>,
    /// What an earlier run has saved of the partitions that have not started, and until when these are waited for.
    saved: SavedPartitions<O>,
    forget: Instant,
    wanted: Changes,
    /// Stops all of them.
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl<O: Decode> Reflectors<O> {
    /// Starts the reflectors of the selected partitions.
    pub(super) fn start(
        factory: Arc<ReflectorFactory<O>>,
        shared: Arc<Shared<O>>,
        saved: SavedPartitions<O>,
        stop: CancellationToken,
    ) -> Self {
        let wanted = shared.partitions.changes();
        let mut reflectors = Self {
            factory,
            shared,
            saved,
            forget: Instant::now() + SHARDS_COME,
            wanted,
            stop,
            tasks: JoinSet::new(),
        };
        reflectors.follow();
        if reflectors.shared.partitions.shards().is_none() {
            // A namespace that is added later is listed.
            reflectors.saved.give_up("its namespaces are no longer selected");
        }
        if reflectors.tasks.is_empty() {
            // Nothing waits for this removal.
            let nothing = reflectors.shared.partitions.start_with_nothing();
            drop(reflectors.shared.fifo.remove_partition(nothing));
        }
        reflectors
    }

    /// Starts the missing reflectors and stops those that are no longer selected.
    fn follow(&mut self) {
        self.wanted.mark_unchanged();
        let saved = &self.saved;
        let saved_as = |shard| saved.name_of(shard);
        for started in self.shared.partitions.follow(&self.stop, saved_as) {
            self.run(started);
        }
    }

    fn run(&mut self, started: Started) {
        let (partition, leave) = (started.partition, started.leave.clone());
        let (queue, store) = (self.shared.fifo.clone(), self.shared.store.clone());
        queue.add_partition(partition);
        let (stop, factory) = (self.stop.clone(), self.factory.clone());
        let saved = self.saved.take(&started, self.shared.partitions.shards());
        self.tasks.spawn(async move {
            // Created on this task, because user code creates the source and may panic.
            let reflector = factory.reflector(started, queue.clone(), store);
            reflector.starting_with(saved).run(leave).await;
            // A stopped informer keeps its objects.
            if !stop.is_cancelled() {
                queue.remove_partition(partition).await;
            }
        });
    }

    /// Waits for the next event and handles it; pends if there is none. Call it in a loop.
    ///
    /// # Errors
    /// A reflector panicked, or the creation of its source did.
    pub(super) async fn next(&mut self) -> Result<(), JoinError> {
        tokio::select! {
            Some(ended) = self.tasks.join_next() => ended?,
            () = self.wanted.changed() => {}
            () = self.shared.partitions.dropped() => {}
            () = tokio::time::sleep_until(self.forget), if !self.saved.is_empty() => {
                self.saved.give_up("its shards are not this replica's");
            }
        }
        self.follow();
        // A removed namespace may have been the last one that had not synced.
        self.shared.fifo.wake();
        Ok(())
    }

    /// Waits until all stopped reflectors have ended.
    pub(super) async fn join(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}
