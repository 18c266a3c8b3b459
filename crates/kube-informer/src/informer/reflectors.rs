//! The reflectors of an informer: one for each part of its collection, started and ended while it runs.

use super::partitions::{WHOLE, part_names};
use super::{Shared, Transform};
use crate::form::Decode;
use crate::object::{CachedObject, Partition};
use crate::queue::DeltaFifo;
use crate::reflector::{DecodeResult, ErrorFunction, QueueSink, Reflector, ReflectorOptions};
use crate::source::{ListerWatcher, NamespacedSource, Subject};
use crate::store::Indexer;
use kube::core::TypeMeta;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

/// What an informer's reflectors have in common.
pub(super) struct Blueprint<O: Decode> {
    pub(super) source: Source<O>,
    /// For metrics.
    pub(super) name: String,
    /// What makes the objects, whichever part they are of.
    pub(super) decoder: Arc<O::Decoder>,
    pub(super) options: ReflectorOptions,
    /// How many of the reflectors may list at once.
    pub(super) lists: Arc<Semaphore>,
    pub(super) on_error: Option<ErrorFunction>,
    pub(super) transform: Option<Transform<O>>,
}

/// The reflector of one part, which fills the informer's queue.
pub(super) type PartReflector<O> = Reflector<O, QueueSink<O, Indexer<<O as CachedObject>::Handle>>>;

/// Where the objects come from.
pub(super) enum Source<O: Decode> {
    Whole(Arc<dyn ListerWatcher<O>>),
    Namespaced(Arc<dyn NamespacedSource<O>>),
}

impl<O: Decode> Source<O> {
    /// What it shows, for spans, logs and metrics.
    pub(super) fn subject(&self) -> Subject {
        match self {
            Self::Whole(source) => Subject::of(&**source),
            Self::Namespaced(source) => Subject::new(source.resource(), source.types(), None),
        }
    }

    pub(super) fn types(&self) -> Option<TypeMeta> {
        match self {
            Self::Whole(source) => source.types(),
            Self::Namespaced(source) => source.types(),
        }
    }

    fn part(&self, name: &str) -> Arc<dyn ListerWatcher<O>> {
        match self {
            Self::Whole(source) => source.clone(),
            Self::Namespaced(source) => source.in_namespace(name),
        }
    }
}

impl<O: Decode> Blueprint<O> {
    /// The reflector of one part, which fills the queue.
    pub(super) fn reflector(
        &self,
        name: &str,
        partition: Partition,
        queue: DeltaFifo<DecodeResult<O>>,
        store: Indexer<O::Handle>,
    ) -> PartReflector<O> {
        let sink = QueueSink::with_partition(partition, queue, store);
        let reflector = Reflector::with_options(self.source.part(name), sink, self.options.clone());
        let mut reflector = reflector
            .with_decoder(self.decoder.clone())
            .limited_by(self.lists.clone())
            .named(self.name.as_str());
        if name != WHOLE {
            reflector = reflector.named_after(name);
        }
        if let Some(hook) = self.on_error.clone() {
            reflector = reflector.on_error(move |error| hook(error));
        }
        if let Some(transform) = self.transform.clone() {
            reflector = reflector.transform(move |object| transform.apply(object));
        }
        reflector
    }
}

/// The running reflectors. They follow the namespaces that are wanted.
pub(super) struct Reflectors<O: Decode> {
    blueprint: Arc<Blueprint<O>>,
    shared: Arc<Shared<O>>,
    wanted: Option<watch::Receiver<BTreeSet<String>>>,
    /// Ends all of them.
    stop: CancellationToken,
    /// By name, each with what ends it alone. One that was ended stays until all traces of it are gone.
    running: HashMap<Arc<str>, CancellationToken>,
    tasks: JoinSet<Arc<str>>,
}

impl<O: Decode> Reflectors<O> {
    /// Starts the reflectors of what is wanted now.
    pub(super) fn start(blueprint: Blueprint<O>, shared: Arc<Shared<O>>, stop: CancellationToken) -> Self {
        let wanted = shared.partitions.wanted().map(super::NamespaceSet::subscribe);
        let mut reflectors = Self {
            blueprint: Arc::new(blueprint),
            shared,
            wanted,
            stop,
            running: HashMap::new(),
            tasks: JoinSet::new(),
        };
        reflectors.follow();
        if reflectors.running.is_empty() {
            // There is nothing to wait for.
            let nothing = reflectors.shared.partitions.start_with_nothing();
            drop(reflectors.shared.fifo.remove_partition(nothing));
        }
        reflectors
    }

    /// Starts the reflectors that are missing and ends those that are no longer wanted.
    fn follow(&mut self) {
        let wanted = match &mut self.wanted {
            None => [WHOLE.to_owned()].into(),
            Some(wanted) => part_names(&wanted.borrow_and_update()),
        };
        for (name, leave) in &self.running {
            if !wanted.contains(&**name) {
                self.shared.partitions.leaving(name);
                leave.cancel();
            }
        }
        for name in wanted {
            let name: Arc<str> = name.into();
            // All namespaces and one of them have objects in common: those of the one leave before the other is listed.
            let overlaps = |other: &Arc<str>| (**other == *WHOLE) != (*name == *WHOLE);
            if !self.running.contains_key(&name) && !self.running.keys().any(overlaps) {
                self.run(name);
            }
        }
    }

    fn run(&mut self, name: Arc<str>) {
        let (partition, status) = self.shared.partitions.start(name.clone());
        let (queue, store) = (self.shared.fifo.clone(), self.shared.store.clone());
        let leave = self.stop.child_token();
        self.running.insert(name.clone(), leave.clone());
        queue.add_partition(partition);
        let (stop, blueprint) = (self.stop.clone(), self.blueprint.clone());
        self.tasks.spawn(async move {
            // Here, because it may panic: the source is the user's.
            let reflector = blueprint
                .reflector(&name, partition, queue.clone(), store)
                .reporting_to(status);
            reflector.run(leave).await;
            // A stopped informer keeps what it has.
            if !stop.is_cancelled() {
                queue.remove_partition(partition).await;
            }
            name
        });
    }

    /// Waits until something is to be done, and does it; never returns if there is nothing. To be called again.
    ///
    /// # Errors
    /// A reflector, or the source it was to be made of, panicked.
    pub(super) async fn next(&mut self) -> Result<(), JoinError> {
        let changed = async {
            match &mut self.wanted {
                Some(wanted) => wanted.changed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(ended) = self.tasks.join_next() => {
                self.running.remove(&ended?);
            }
            Ok(()) = changed => {}
            else => std::future::pending().await,
        }
        self.follow();
        // What is no longer wanted may have been all that was to come.
        self.shared.fifo.wake();
        Ok(())
    }

    /// Waits until all have ended, after they were stopped.
    pub(super) async fn join(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}
