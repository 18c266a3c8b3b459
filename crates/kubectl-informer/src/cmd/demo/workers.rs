//! Handlers, a work queue, and two workers that record what they have seen.

use anyhow::Context as _;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube_informer::{
    CachedObject, Deleted, Lister, ObjectKey, Registration, ResourceEventHandler, ResourceVersion,
    SharedInformer,
};
use kube_workqueue::WorkQueue;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;

/// The number of workers.
const WORKERS: usize = 2;

/// Which informer a key belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    Node,
    Pod,
}

/// A key in the work queue.
pub(super) type Item = (Kind, ObjectKey);

/// The version of each object as a worker last saw it.
pub(super) type Ledger = HashMap<Item, Option<ResourceVersion>>;

/// The number of notifications of each kind.
#[derive(Default)]
pub(super) struct Counts {
    initial: AtomicU64,
    added: AtomicU64,
    updated: AtomicU64,
    deleted: AtomicU64,
}

impl Counts {
    pub(super) fn initial(&self) -> u64 {
        self.initial.load(Ordering::Relaxed)
    }

    pub(super) fn added(&self) -> u64 {
        self.added.load(Ordering::Relaxed)
    }

    pub(super) fn updated(&self) -> u64 {
        self.updated.load(Ordering::Relaxed)
    }

    pub(super) fn deleted(&self) -> u64 {
        self.deleted.load(Ordering::Relaxed)
    }
}

/// Adds the key of each notification to the queue, as a controller does.
struct Enqueue {
    kind: Kind,
    queue: WorkQueue<Item>,
    counts: Arc<Counts>,
}

impl Enqueue {
    fn enqueue(&self, key: ObjectKey, count: &AtomicU64) {
        count.fetch_add(1, Ordering::Relaxed);
        self.queue.add((self.kind, key));
    }
}

impl<O: CachedObject> ResourceEventHandler<O> for Enqueue {
    async fn on_add(&mut self, object: O::Handle, initial: bool) {
        let count = if initial {
            &self.counts.initial
        } else {
            &self.counts.added
        };
        self.enqueue(O::key_of(&object), count);
    }

    async fn on_update(&mut self, _: O::Handle, new: O::Handle) {
        self.enqueue(O::key_of(&new), &self.counts.updated);
    }

    async fn on_delete(&mut self, deleted: Deleted<O::Handle>) {
        self.enqueue(deleted.key, &self.counts.deleted);
    }
}

/// The handlers, the queue and the workers.
pub(super) struct Workers {
    pub(super) counts: Arc<Counts>,
    queue: WorkQueue<Item>,
    shared: Arc<Shared>,
    /// Taken when the queue is drained.
    running: Mutex<Option<(Vec<Registration>, JoinSet<()>)>>,
}

struct Shared {
    nodes: Lister<Node>,
    pods: Lister<Pod>,
    ledger: Mutex<Ledger>,
    reconciled: AtomicU64,
}

impl Workers {
    /// Adds a handler to each informer and starts the workers.
    pub(super) fn start(nodes: &SharedInformer<Node>, pods: &SharedInformer<Pod>) -> anyhow::Result<Self> {
        let (queue, counts) = (WorkQueue::new(), Arc::new(Counts::default()));
        let enqueue = |kind| Enqueue {
            kind,
            queue: queue.clone(),
            counts: counts.clone(),
        };
        let handlers = vec![
            nodes.add_handler("enqueue nodes", enqueue(Kind::Node))?,
            pods.add_handler("enqueue pods", enqueue(Kind::Pod))?,
        ];
        let shared = Arc::new(Shared {
            nodes: nodes.lister(),
            pods: pods.lister(),
            ledger: Mutex::default(),
            reconciled: AtomicU64::new(0),
        });
        let mut workers = JoinSet::new();
        for _ in 0..WORKERS {
            workers.spawn(work(queue.clone(), shared.clone()));
        }
        Ok(Self {
            counts,
            queue,
            shared,
            running: Mutex::new(Some((handlers, workers))),
        })
    }

    /// The number of notifications that the handlers received.
    pub(super) fn events(&self) -> u64 {
        let Counts {
            initial,
            added,
            updated,
            deleted,
        } = &*self.counts;
        [initial, added, updated, deleted]
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .sum()
    }

    /// The number of keys in the queue.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// The number of keys that the workers have processed.
    pub(super) fn reconciled(&self) -> u64 {
        self.shared.reconciled.load(Ordering::Relaxed)
    }

    /// The workers' records.
    pub(super) fn ledger(&self) -> Ledger {
        self.shared.ledger().clone()
    }

    /// Waits until the handlers have received all notifications and the workers have processed all keys.
    ///
    /// # Errors
    /// A worker panicked, or the workers do not finish.
    pub(super) async fn drain(&self) -> anyhow::Result<()> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((handlers, mut workers)) = running else {
            return Ok(());
        };
        let drained = async {
            for handler in handlers {
                handler.drain().await;
            }
            self.queue.shut_down_with_drain().await;
            while let Some(ended) = workers.join_next().await {
                ended.context("a worker failed")?;
            }
            anyhow::Ok(())
        };
        let patience = Duration::from_secs(60);
        tokio::time::timeout(patience, drained).await.with_context(|| {
            format!(
                "the handlers and workers were not done within {} s",
                patience.as_secs()
            )
        })?
    }
}

impl Shared {
    fn ledger(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks the object up in the cache and records its version.
    fn reconcile(&self, item: &Item) {
        let (kind, key) = item;
        let version = match kind {
            Kind::Node => self
                .nodes
                .get(key)
                .ok()
                .map(|node| Node::resource_version_of(&node)),
            Kind::Pod => self.pods.get(key).ok().map(|pod| Pod::resource_version_of(&pod)),
        };
        match version {
            Some(version) => self.ledger().insert(item.clone(), version),
            None => self.ledger().remove(item),
        };
        self.reconciled.fetch_add(1, Ordering::Relaxed);
    }
}

/// A worker: processes keys until the queue is shut down and empty. No two workers process the same key at a time.
async fn work(queue: WorkQueue<Item>, shared: Arc<Shared>) {
    while let Some(item) = queue.get().await {
        shared.reconcile(&item);
        queue.forget(&item);
    }
}
