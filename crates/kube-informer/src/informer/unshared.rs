//! An unshared informer: a store and one handler.

use super::applier::Applier;
use super::builder::InformerParts;
use super::handler::{self, ResourceEventHandler};
use super::partitions::Partitions;
use super::reflectors::PartitionReflector;
use crate::form::Decode;
use crate::object::ObjectKey;
use crate::queue::{Batch, DeltaFifo, Deltas, Entries, Process, ProcessLoop};
use crate::reflector::{Reflector, ReflectorStatus};
use crate::source::DecodeResult;
use crate::store::Indexer;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A store that is kept up to date, and one handler that is called as part of the updates.
///
/// The handler has no queue and no task: the next changes are applied after it returns. So a slow handler delays the
/// store and, when the queue is full, reading from the server. During its calls, the store has the state after the
/// whole batch of changes. If this does not fit, or if there are several handlers, use a
/// [`SharedInformer`](super::SharedInformer).
///
/// Over several namespaces, it watches those that are in the set when it is built.
/// [`stop_timeout`](super::InformerBuilder::stop_timeout) has no effect: the running call of the handler is waited for.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::source::{ClientSource, Selection};
/// use kube_informer::{Notification, SharedInformer};
/// use tokio_util::sync::CancellationToken;
///
/// # async fn example(client: kube::Client) {
/// let resource = kube::core::ApiResource::erase::<Pod>(&());
/// let source = ClientSource::new(client, resource, Selection::default());
/// let informer = SharedInformer::builder(source)
///     .build_unshared(|change: Notification<Pod>| println!("{change:?}"));
/// let pods = informer.store().clone();
/// informer.run(CancellationToken::new()).await;
/// # }
/// ```
#[doc(alias = "NewInformerWithOptions")]
#[doc(alias = "NewIndexerInformer")]
#[must_use = "an informer does nothing until it is run"]
pub struct UnsharedInformer<O: Decode, H> {
    applier: Applier<O>,
    handler: H,
    queue: DeltaFifo<DecodeResult<O>>,
    /// One for each partition.
    reflectors: Vec<PartitionReflector<O>>,
    resync: Duration,
}

impl<O: Decode, H: ResourceEventHandler<O>> UnsharedInformer<O, H> {
    pub(super) fn new(parts: InformerParts<O>, handler: H) -> Self {
        let InformerParts {
            mut applier,
            queue,
            reflectors: factory,
            wanted,
            options,
            cache_file: _,
        } = parts;
        let partitions = Partitions::new(wanted);
        // The reflectors end with the token of the run, not one by one.
        let started = partitions.follow(&CancellationToken::new(), |_| None);
        if started.is_empty() {
            // Nothing waits for this removal.
            drop(queue.remove_partition(partitions.start_with_nothing()));
        }
        let reflectors = started.into_iter().map(|started| {
            queue.add_partition(started.partition);
            applier.name_partition(started.partition, &started.name);
            factory.reflector(started, queue.clone(), applier.store().clone())
        });
        let reflectors = reflectors.collect();
        if let Some(change) = partitions.shard_change(&mut 0) {
            applier.follow_shards(change.map, false);
        }
        Self {
            applier,
            handler,
            queue,
            reflectors,
            resync: options.resync,
        }
    }

    /// The store, for reads and for adding indexes. It stays readable after the informer has stopped.
    pub fn store(&self) -> &Indexer<O::Handle> {
        self.applier.store()
    }

    /// The queue between the reflectors and the store. Its sync state is the informer's, which here includes that the
    /// handler has received the whole initial state.
    pub fn queue(&self) -> &DeltaFifo<DecodeResult<O>> {
        &self.queue
    }

    /// The state of each partition's reflector, which can be read and awaited from other tasks. There is one unless
    /// the informer is over several namespaces.
    pub fn status(&self) -> Vec<watch::Receiver<ReflectorStatus>> {
        self.reflectors.iter().map(Reflector::status).collect()
    }

    /// Runs on one task until `token` is cancelled. The handler still receives the rest of the current batch.
    ///
    /// # Panics
    /// Panics if the handler panics; the informer ends.
    ///
    /// # Cancel safety
    /// Dropping the future ends everything at once, including a running call of the handler. Cancel the token
    /// instead.
    pub async fn run(self, token: CancellationToken) {
        let name = self.applier.resource().to_owned();
        let process = UnsharedProcess {
            applier: self.applier,
            handler: self.handler,
            queue: self.queue.clone(),
            wants_resync: !self.resync.is_zero(),
            resyncing: None,
        };
        let processing = ProcessLoop::new(self.queue, process)
            .name(name)
            .resync(self.resync);
        let reflectors = self
            .reflectors
            .into_iter()
            .map(|reflector| reflector.run(token.clone()));
        tokio::join!(
            futures::future::join_all(reflectors),
            processing.run(token.clone())
        );
    }
}

/// Applies changes to the store and calls the handler.
struct UnsharedProcess<O: Decode, H> {
    applier: Applier<O>,
    handler: H,
    queue: DeltaFifo<DecodeResult<O>>,
    wants_resync: bool,
    /// The remaining keys of the current resync.
    resyncing: Option<std::vec::IntoIter<ObjectKey>>,
}

impl<O: Decode, H: ResourceEventHandler<O>> Process<Deltas<DecodeResult<O>>> for UnsharedProcess<O, H> {
    async fn process(&mut self, mut batch: Batch<Deltas<DecodeResult<O>>>) {
        let span = self.applier.span(&batch);
        let changes = span.in_scope(|| {
            let initial = batch.initial;
            let changes = self.applier.apply(&mut batch, initial, self.wants_resync);
            self.applier.publish();
            self.applier.processed();
            changes
        });
        batch.guard.applied();
        for change in changes {
            if !change.is_resync() || self.wants_resync {
                handler::handle(&mut self.handler, change.into_notification()).await;
            }
        }
        if let Entries::Resync = batch.entries {
            self.resync().await;
        }
        drop(batch.guard);
    }
}

impl<O: Decode, H: ResourceEventHandler<O>> UnsharedProcess<O, H> {
    /// Sends one object to the handler again. The rest of the resync continues at the end of the queue, so that
    /// changes are processed in between and cancellation ends it.
    async fn resync(&mut self) {
        let keys = (self.resyncing).get_or_insert_with(|| self.applier.keys().into_iter());
        let change = keys.find_map(|key| self.applier.resync_change(key));
        let Some(change) = change else {
            self.resyncing = None;
            return;
        };
        self.queue.resync();
        handler::handle(&mut self.handler, change.into_notification()).await;
    }
}
