//! Builds informers.

use super::applier::Applier;
use super::handler::ResourceEventHandler;
use super::partitions::{Partitions, Wanted};
use super::processor::Processor;
use super::reflectors::{ReflectorFactory, Source};
use super::runner::StopOnDrop;
use super::{
    FormlessTransform, InformerRunner, NamespaceSet, ShardSet, Shared, SharedInformer, Transform,
    UnsharedInformer, short_name,
};
use crate::FieldPlan;
use crate::form::{Decode, DecoderConfig};
use crate::metrics::{InformerMetrics, QueuedItems};
use crate::object::Partition;
use crate::queue::DeltaFifo;
use crate::queue::batching::QUEUE_CAPACITY;
use crate::reflector::{ErrorFunction, Failure, ReflectorOptions, TransformError};
use crate::source::{DecodeResult, ListerWatcher, NamespacedSource, ShardedSource};
use crate::store::Indexer;
use crate::warm_start::{self, CacheFile, Progress, Start, WarmStart, WarmStartError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// The options of an informer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InformerOptions {
    /// The name for metrics.
    pub(crate) name: String,
    pub(crate) reflector: ReflectorOptions,
    /// The capacity of the queue between reflectors and driver, in changes.
    pub(crate) queue_capacity: usize,
    /// How many reflectors may list at once.
    pub(crate) concurrent_lists: usize,
    /// The default resync period of handlers; zero: never.
    pub(crate) resync: Duration,
    /// The time that handlers have to return when the informer is stopped.
    pub(crate) stop_timeout: Duration,
    /// Where and when the cache is saved, if it is.
    pub(crate) warm_start: Option<WarmStart>,
}

impl Default for InformerOptions {
    fn default() -> Self {
        Self {
            name: String::new(),
            reflector: ReflectorOptions::default(),
            queue_capacity: QUEUE_CAPACITY,
            concurrent_lists: 16,
            resync: Duration::ZERO,
            stop_timeout: Duration::from_secs(30),
            warm_start: None,
        }
    }
}

/// Builds a [`SharedInformer`] and its runner.
#[must_use = "call `build`"]
pub struct InformerBuilder<O: Decode> {
    source: Source<O>,
    wanted: Wanted,
    options: InformerOptions,
    on_error: Option<ErrorFunction>,
    transform: Option<Transform<O>>,
    /// What a factory calls the source, if it is one of the caller's.
    own_source: String,
}

impl<O: Decode> InformerBuilder<O> {
    fn new(source: Source<O>, wanted: Wanted) -> Self {
        Self {
            source,
            wanted,
            options: InformerOptions::default(),
            on_error: None,
            transform: None,
            own_source: String::new(),
        }
    }

    pub(super) fn whole(source: Arc<dyn ListerWatcher<O>>) -> Self {
        Self::new(Source::Whole(source), Wanted::Whole)
    }

    pub(super) fn namespaced(source: Arc<dyn NamespacedSource<O>>, namespaces: NamespaceSet) -> Self {
        Self::new(Source::Namespaced(source), Wanted::Namespaces(namespaces))
    }

    pub(super) fn sharded(source: Arc<dyn ShardedSource<O>>, shards: ShardSet) -> Self {
        Self::new(Source::Sharded(source), Wanted::Shards(shards))
    }

    pub(crate) fn options(mut self, options: InformerOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets a name for the [metrics](crate#metrics), to distinguish this informer from others of the same resource.
    /// Default: none.
    #[doc(alias = "InformerName")]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = name.into();
        self
    }

    /// Sets the options of the reflectors. A [plan](Self::plan) that was set before stays, unless the options have one.
    pub fn reflector_options(mut self, options: ReflectorOptions) -> Self {
        let plan = self.options.reflector.plan.take();
        self.options.reflector = ReflectorOptions {
            plan: options.plan.or(plan),
            ..options
        };
        self
    }

    /// Calls `hook` for each [failed request](Failure), with the error itself, on the task of the reflector that sent
    /// it, so it must not block. Failed requests are retried in any case; the [status](SharedInformer::status) shows
    /// the last failure. If the hook panics, it is not called again for that reflector.
    #[doc(alias = "SetWatchErrorHandler")]
    pub fn on_error(self, hook: impl Fn(&Failure<'_>) + Send + Sync + 'static) -> Self {
        self.error_function(Some(Arc::new(hook)))
    }

    pub(crate) fn error_function(mut self, hook: Option<ErrorFunction>) -> Self {
        self.on_error = hook;
        self
    }

    /// Sets a function that changes every object once, before it is stored, for example to drop unused fields. See
    /// [`Reflector::transform`](crate::reflector::Reflector::transform).
    #[doc(alias = "SetTransform")]
    pub fn transform(
        self,
        transform: impl Fn(O::Handle) -> Result<O::Handle, TransformError> + Send + Sync + 'static,
    ) -> Self {
        self.shared_transform(Some(Transform::new(transform)))
    }

    pub(crate) fn shared_transform(mut self, transform: Option<Transform<O>>) -> Self {
        self.transform = transform;
        self
    }

    /// Sets what a factory calls the source, to distinguish its file from those of other sources.
    pub(crate) fn own_source(mut self, name: &str) -> Self {
        self.own_source = name.to_owned();
        self
    }

    /// Applies `first` before the transform.
    pub(crate) fn first_transform(mut self, first: Option<FormlessTransform>) -> Self {
        if let Some(first) = first {
            self.transform = Some(match self.transform.take() {
                Some(own) => own.after(first),
                None => first.of_form(),
            });
        }
        self
    }

    /// Sets the plan for the scan of each object: the fields to extract, and the paths to prune, which are neither
    /// decoded nor stored. Default: [the form's plan](Decode::plan). A plan replaces it: unless it names `/metadata/managedFields`, packed
    /// objects and metadata have them.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # use kube_informer::source::ListerWatcher;
    /// # use kube_informer::{SharedInformer, informer::InformerBuilder, FieldPlan};
    /// # fn example(source: impl ListerWatcher<Pod>) -> InformerBuilder<Pod> {
    /// SharedInformer::<Pod>::builder(source).plan(FieldPlan::without_managed_fields())
    /// # }
    /// ```
    pub fn plan(mut self, plan: FieldPlan) -> Self {
        self.options.reflector.plan = Some(plan);
        self
    }

    /// Sets the capacity of the queue between the reflectors and the store, in changes. Reading from the network
    /// stops when it is full. Default: 2048; at least 1.
    pub fn queue_capacity(mut self, capacity: usize) -> Self {
        self.options.queue_capacity = capacity;
        self
    }

    /// How many namespaces may be listed at the same time, streaming lists included, so that an informer over many
    /// neither floods the server nor holds many lists in memory at once; watches do not count. Default: 16; at least 1.
    pub fn concurrent_lists(mut self, lists: usize) -> Self {
        self.options.concurrent_lists = lists;
        self
    }

    /// Sets the default resync period of handlers, which is also the period in which the informer checks whether a
    /// handler is due. Default: zero, which means no resyncs, except for handlers with their own
    /// [resync](super::HandlerOptions::resync) period.
    #[doc(alias = "ResyncPeriod")]
    pub fn resync(mut self, period: Duration) -> Self {
        self.options.resync = period;
        self
    }

    /// Sets the time that handlers have to return from their running call when the informer is stopped. Default: 30
    /// s.
    pub fn stop_timeout(mut self, deadline: Duration) -> Self {
        self.options.stop_timeout = deadline;
        self
    }

    /// Saves the cache to a directory, and starts from what was saved; see [warm start](crate::warm_start). Default: no.
    /// It has no effect on an [unshared](Self::build_unshared) informer.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # use kube_informer::source::ListerWatcher;
    /// use kube_informer::{SharedInformer, form::Packed, warm_start::{WarmStart, WarmStartError}};
    ///
    /// # fn example(source: impl ListerWatcher<Packed<Pod>>) -> Result<(), WarmStartError> {
    /// let (informer, runner) = SharedInformer::<Packed<Pod>>::builder(source)
    ///     .warm_start(WarmStart::in_directory("/var/cache/shop-controller"))?
    ///     .build();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The collection cannot be saved, because of its form, its source, or a transform that was set before, or because it
    /// is of Secrets. If a transform is set later, the [status](super::InformerStatus::warm_start) has the error.
    pub fn warm_start(mut self, options: WarmStart) -> Result<Self, WarmStartError> {
        let plan = self.options.reflector.plan.clone().unwrap_or_else(O::plan);
        let config = DecoderConfig {
            types: self.source.type_meta(),
            plan: plan.clone(),
            decoded_cache: self.options.reflector.decoded_cache,
        };
        self.cache_file(&options, &plan, &Arc::new(O::decoder(config)))?;
        self.options.warm_start = Some(options);
        Ok(self)
    }

    fn cache_file(
        &self,
        options: &WarmStart,
        plan: &FieldPlan,
        decoder: &Arc<O::Decoder>,
    ) -> Result<CacheFile, WarmStartError> {
        CacheFile::of(
            options,
            warm_start::Subject {
                resource: &self.source.subject().resource,
                source: self.source.cache_identity().map(|source| match &self.wanted {
                    // Which of them are in the file, its partitions say.
                    Wanted::Shards(set) => {
                        format!("{source}, in {} shards by {}", set.count(), set.field().path())
                    }
                    Wanted::Whole | Wanted::Namespaces(_) => source,
                }),
                plan,
                kind: self.source.type_meta(),
                form: short_name::<O>(),
                form_type: std::any::type_name::<O>(),
                can_be_saved: O::save_objects(decoder).is_some(),
                transforms: self.transform.is_some(),
                name: &self.options.name,
                own_source: &self.own_source,
            },
        )
    }

    /// The parts of every informer, shared or not.
    fn parts(self) -> InformerParts<O> {
        let plan = self.options.reflector.plan.clone().unwrap_or_else(O::plan);
        let config = DecoderConfig {
            types: self.source.type_meta(),
            plan: plan.clone(),
            decoded_cache: self.options.reflector.decoded_cache,
        };
        let decoder = Arc::new(O::decoder(config));
        let warm_start = self.options.warm_start.as_ref();
        let cache_file = warm_start.map(|options| self.cache_file(options, &plan, &decoder));
        let (source, options) = (self.source, self.options);
        let subject = source.subject();
        let labels = subject.labels(&options.name);
        let (store, writer) = Indexer::new();
        let writer = writer.of::<O>();
        let gauge = QueuedItems::new(&labels);
        let queue = DeltaFifo::with_gauge(options.queue_capacity, [Partition::SINGLE], gauge);
        let metrics = InformerMetrics::new(&labels);
        InformerParts {
            applier: Applier::new(store, writer, subject, metrics),
            queue,
            reflectors: ReflectorFactory {
                source,
                name: options.name.clone(),
                decoder,
                options: options.reflector.clone(),
                lists: Semaphore::new(options.concurrent_lists.clamp(1, Semaphore::MAX_PERMITS)).into(),
                on_error: self.on_error,
                transform: self.transform,
            },
            wanted: self.wanted,
            cache_file,
            options,
        }
    }

    /// Builds the informer and its runner.
    pub fn build(self) -> (SharedInformer<O>, InformerRunner<O>) {
        let InformerParts {
            applier,
            queue,
            reflectors,
            wanted,
            cache_file,
            options,
        } = self.parts();
        let store = applier.store().clone();
        let (new_jobs, jobs) = mpsc::unbounded_channel();
        let (cache_file, warm_start) = match cache_file {
            None => (None, None),
            Some(Ok(file)) => (Some(file), Some(Progress::new(Start::Pending))),
            Some(Err(error)) => {
                tracing::debug!(resource = applier.resource(), %error, "the cache is not saved");
                (None, Some(Progress::new(Start::Disabled(error))))
            }
        };
        let decoder = Arc::downgrade(&reflectors.decoder);
        let shared = Arc::new(Shared {
            resource: applier.resource().to_owned(),
            held_bytes: Box::new(move || O::held_bytes(&*decoder.upgrade()?)),
            store: store.clone(),
            processor: Processor::new(options.resync).into(),
            fifo: queue,
            partitions: Partitions::new(wanted),
            not_indexed: applier.not_indexed().clone(),
            warm_start: warm_start.map(Arc::new),
            new_jobs,
            ended: CancellationToken::new(),
        });
        let runner = InformerRunner {
            shared: shared.clone(),
            applier,
            jobs,
            reflectors,
            cache_file,
            stop_timeout: options.stop_timeout,
            stopped: StopOnDrop(shared.clone()),
            ended: shared.ended.clone().drop_guard(),
        };
        let informer = SharedInformer {
            shared,
            store,
            resync: None,
        };
        (informer, runner)
    }

    /// Builds an unshared informer with one handler; see [`UnsharedInformer`].
    pub fn build_unshared<H: ResourceEventHandler<O>>(self, handler: H) -> UnsharedInformer<O, H> {
        UnsharedInformer::new(self.parts(), handler)
    }
}

/// The parts of every informer, shared or not.
pub(super) struct InformerParts<O: Decode> {
    pub(super) applier: Applier<O>,
    pub(super) queue: DeltaFifo<DecodeResult<O>>,
    pub(super) reflectors: ReflectorFactory<O>,
    pub(super) wanted: Wanted,
    /// Where the cache is saved, or why it cannot be; `None` if nobody asked for it.
    pub(super) cache_file: Option<Result<CacheFile, WarmStartError>>,
    pub(super) options: InformerOptions,
}
