//! Runs an informer: its tasks and their end.

use super::applier::Applier;
use super::driver::Driver;
use super::handler::{self, ResourceEventHandler};
use super::listener::{EndOnDrop, Listener};
use super::loader;
use super::reflectors::{ReflectorFactory, Reflectors};
use super::saved::SavedPartitions;
use super::saver::Saving;
use super::{PanicPolicy, Shared};
use crate::form::Decode;
use crate::object::CachedObject;
use crate::panics;
use crate::queue::ProcessLoop;
use crate::warm_start::CacheFile;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::{CancellationToken, DropGuard};

/// A handler's task, to be spawned by the informer's runner.
pub(super) struct Job {
    name: String,
    run: BoxFuture<'static, Result<(), RunError>>,
}

/// Runs an informer; created together with the [`SharedInformer`](super::SharedInformer) by
/// [`InformerBuilder::build`](super::InformerBuilder::build).
#[must_use = "an informer does nothing until its runner is run"]
pub struct InformerRunner<O: Decode> {
    pub(super) shared: Arc<Shared<O>>,
    pub(super) applier: Applier<O>,
    pub(super) jobs: mpsc::UnboundedReceiver<Job>,
    pub(super) reflectors: ReflectorFactory<O>,
    /// Where the cache is saved, if it is.
    pub(super) cache_file: Option<CacheFile>,
    pub(super) stop_timeout: Duration,
    pub(super) stopped: StopOnDrop<O>,
    /// Dropped last, when no task is left.
    pub(super) ended: DropGuard,
}

/// Marks the informer as stopped on drop, even if its runner is dropped without being run.
pub(super) struct StopOnDrop<O: CachedObject>(pub(super) Arc<Shared<O>>);

impl<O: CachedObject> Drop for StopOnDrop<O> {
    fn drop(&mut self) {
        self.0.processor.stop();
        self.0.partitions.stop();
    }
}

/// Why an informer ended without being stopped, or did not stop cleanly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A handler panicked.
    #[error("handler {handler:?} of the informer for {resource} panicked: {message}")]
    HandlerPanicked {
        /// The informer's resource.
        resource: String,
        /// The handler's name.
        handler: String,
        /// The panic's message.
        message: String,
    },
    /// A task of the library panicked. This is a bug; please report it.
    #[error("the informer for {resource} failed: {message}")]
    TaskPanicked {
        /// The informer's resource.
        resource: String,
        /// The panic's message.
        message: String,
    },
    /// Some handlers did not return in time after the informer was stopped. Their tasks were aborted; a
    /// handler that blocks its thread continues until it returns.
    #[error("the informer for {resource} was stopped, but these handlers did not return within {} s: {}", .deadline.as_secs_f64(), .handlers.join(", "))]
    Stuck {
        /// The informer's resource.
        resource: String,
        /// The handlers' names.
        handlers: Vec<String>,
        /// The deadline.
        deadline: Duration,
    },
}

impl<O: Decode> InformerRunner<O> {
    /// The decoder of the informer's objects, for example a [`Packer`](crate::form::Packer) with its memory
    /// statistics.
    pub fn decoder(&self) -> Arc<O::Decoder> {
        self.reflectors.decoder.clone()
    }

    /// Runs the informer until `token` is cancelled: lists and watches, updates the store, and calls the
    /// handlers.
    ///
    /// When it returns, every task of the informer has ended. Handlers finish their running call; pending
    /// notifications are dropped. With a [warm start](super::InformerBuilder::warm_start), the cache has been
    /// saved, with the deletions that were dropped. Informers that stop together are saved one after another.
    /// A save may take as long as the disk makes progress;
    /// [`stop_timeout`](super::InformerBuilder::stop_timeout) runs during the save.
    ///
    /// # Errors
    /// A handler panicked, or did not return in time after the informer was stopped. Failed requests are not
    /// errors here: they are retried, and shown in the [status](super::SharedInformer::status).
    ///
    /// # Cancel safety
    /// Dropping the future aborts everything at once. Cancel the token instead.
    pub async fn run(self, token: CancellationToken) -> Result<(), RunError> {
        let Self {
            shared,
            applier,
            mut jobs,
            reflectors: mut factory,
            cache_file,
            stop_timeout,
            stopped,
            ended: _ended,
        } = self;
        let stop = token.child_token();
        let mut handlers = Handlers {
            resource: shared.resource.clone(),
            tasks: JoinSet::new(),
            names: Default::default(),
        };
        let mut saved = SavedPartitions::default();
        let mut cache = None;
        if let (Some(file), Some(progress)) = (cache_file, shared.warm_start.clone()) {
            let load = loader::load(file, progress, &shared, &factory.decoder);
            if let Some((loaded, partitions)) = stop.run_until_cancelled(load).await {
                factory.identify_by(loaded.seed);
                (cache, saved) = (Some(loaded), partitions);
            }
        }
        let factory = Arc::new(factory);
        let mut saving = Saving::start(cache, &shared, &factory);
        let mut reflectors = Reflectors::start(factory, shared.clone(), saved, stop.clone());
        let driver = Driver {
            applier,
            shared: shared.clone(),
            synced: false,
            shard_changes: 0,
        };
        let processing = ProcessLoop::new(shared.fifo.clone(), driver)
            .name(shared.resource.as_str())
            .resync_as(shared.processor.start_resync());
        // It processes what is in the queue and ends when the queue is closed.
        let mut driver = JoinSet::from_iter([processing.run(CancellationToken::new())]);

        let result = loop {
            tokio::select! {
                // The token is checked first, because the end of a task that was stopped is not a failure.
                biased;
                () = stop.cancelled() => break Ok(()),
                Some(job) = jobs.recv() => handlers.spawn(job),
                Some(ended) = handlers.join_next(), if !handlers.tasks.is_empty() => {
                    if let Err(error) = ended {
                        break Err(error);
                    }
                }
                () = saving.failed() => {}
                Some(ended) = driver.join_next() => break Err(handlers.task_ended(ended)),
                result = reflectors.next() => if let Err(error) = result {
                    break Err(handlers.task_ended(Err(error)));
                }
            }
        };
        stop.cancel();
        shared.fifo.close();
        reflectors.join().await;
        while driver.join_next().await.is_some() {}
        let untold = shared.processor.stop();
        drop(stopped);
        jobs.close();
        while let Some(job) = jobs.recv().await {
            handlers.spawn(job);
        }
        let returned = CancellationToken::new();
        let handlers = async {
            let stopped = handlers.join_all(stop_timeout).await;
            returned.cancel();
            stopped
        };
        let (stopped, ()) = tokio::join!(handlers, saving.finish(untold, &returned));
        result.and(stopped)
    }
}

/// The running handlers.
struct Handlers {
    resource: String,
    tasks: JoinSet<Result<(), RunError>>,
    names: std::collections::HashMap<tokio::task::Id, String>,
}

impl Handlers {
    fn spawn(&mut self, job: Job) {
        let task = self.tasks.spawn(job.run);
        self.names.insert(task.id(), job.name);
    }

    /// The error for a task of the informer that ended before it was stopped.
    fn task_ended(&self, ended: Result<(), JoinError>) -> RunError {
        let message = ended.err().map_or("a task ended".into(), |error| {
            panic_of(error.try_into_panic().ok())
        });
        RunError::TaskPanicked {
            resource: self.resource.clone(),
            message,
        }
    }

    async fn join_next(&mut self) -> Option<Result<(), RunError>> {
        Some(match self.tasks.join_next_with_id().await? {
            Ok((id, result)) => {
                self.names.remove(&id);
                result
            }
            Err(error) => {
                let handler = self.names.remove(&error.id()).unwrap_or_default();
                match error.try_into_panic() {
                    // Not in one of its calls, which are caught: the handler panicked when it was dropped.
                    Ok(panic) => Err(RunError::HandlerPanicked {
                        resource: self.resource.clone(),
                        handler,
                        message: panic_of(Some(panic)),
                    }),
                    // It was aborted.
                    Err(_) => Ok(()),
                }
            }
        })
    }

    async fn join_all(mut self, deadline: Duration) -> Result<(), RunError> {
        let mut result = Ok(());
        let all = async {
            while let Some(ended) = self.join_next().await {
                result = std::mem::replace(&mut result, Ok(())).and(ended);
            }
        };
        if tokio::time::timeout(deadline, all).await.is_err() {
            self.tasks.abort_all();
            let mut handlers: Vec<_> = self.names.into_values().collect();
            handlers.sort();
            return Err(RunError::Stuck {
                resource: self.resource,
                handlers,
                deadline,
            });
        }
        result
    }
}

/// The task of a handler: calls it for each notification until there are no more.
pub(super) fn job<O: CachedObject>(
    resource: String,
    listener: Arc<Listener<O>>,
    mut handler: impl ResourceEventHandler<O>,
) -> Job {
    let name = listener.name().to_owned();
    // Created here, so that it also works when the job is dropped without being run.
    let ended = EndOnDrop(listener.clone());
    let run = async move {
        listener.started();
        while let Some(notification) = listener.next().await {
            let call = AssertUnwindSafe(handler::handle(&mut handler, notification)).catch_unwind();
            let Err(panic) = call.await else { continue };
            let (handler, message) = (listener.name().to_owned(), panic_of(Some(panic)));
            match listener.options().on_panic {
                PanicPolicy::Continue => tracing::error!(resource, handler, message, "a handler panicked"),
                PanicPolicy::Stop => {
                    listener.panicked();
                    drop(ended);
                    return Err(RunError::HandlerPanicked {
                        resource,
                        handler,
                        message,
                    });
                }
            }
        }
        drop(ended);
        Ok(())
    };
    Job {
        name,
        run: run.boxed(),
    }
}

/// A panic's message.
fn panic_of(panic: Option<Box<dyn std::any::Any + Send>>) -> String {
    let text = panic.as_deref().and_then(|panic| panics::message(panic));
    text.unwrap_or("(no message)").to_owned()
}
