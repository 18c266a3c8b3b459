//! The life of a source: it is started, syncs or does not, fails, ends.

use super::any_informer::AnyInformer;
use super::error::RunnerError;
use super::source::{Intake, Source};
use crate::watcher;
use futures::FutureExt;
use futures::future::BoxFuture;
use kube::core::ApiResource;
use kube::{Api, Resource};
use kube_informer::form::Decode;
use kube_informer::informer::{RunError, Stopped};
use kube_informer::reflector::{LastError, ReflectorOptions};
use kube_informer::source::ClientSource;
use kube_informer::{
    CachedObject, Delivery, HandlerOptions, PanicPolicy, Registration, ShardSet, SharedInformer,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Adds the handler of a source to its informer, for a controller of this name.
type Start = Box<dyn FnOnce(&str, Intake) -> Result<Running, Stopped> + Send>;

/// A source that has not been started.
pub(super) struct Watched {
    start: Start,
    resource: String,
    is_scattered: bool,
    /// The shards of its informer, if that is over some.
    shards: Option<ShardSet>,
    /// Whether the informer's failures are reported, because nobody else is told of them.
    own: Option<OwnInformer>,
}

/// An informer that the controller runs itself.
pub(super) struct OwnInformer {
    run: Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, Result<(), RunError>> + Send>,
    failures: mpsc::Receiver<LastError>,
    reports: Arc<AtomicBool>,
}

/// How many failures of requests are kept until the controller is polled.
const FAILURES: usize = 16;

/// The informer of what an [`Api`] stands for.
pub(super) fn informer_of<O: Decode, A: Resource>(
    api: Api<A>,
    resource: ApiResource,
    config: &watcher::Config,
    metadata_only: bool,
    decoded_cache: Option<usize>,
) -> (SharedInformer<O>, OwnInformer) {
    let selection = config.selection(api.namespace());
    let mut source = ClientSource::new(api.into_client(), resource, selection);
    if metadata_only {
        source = source.metadata_only();
    }
    let (failed, failures) = mpsc::channel(FAILURES);
    let reports = Arc::new(AtomicBool::new(false));
    let reported = reports.clone();
    let (informer, runner) = SharedInformer::<O>::builder(source)
        .reflector_options(ReflectorOptions {
            decoded_cache,
            ..config.reflector()
        })
        .on_error(move |failure| {
            if reported.load(Ordering::Relaxed) {
                // If it is full, those that wait say enough.
                let _ = failed.try_send((**failure).clone());
            }
        })
        .build();
    let own = OwnInformer {
        run: Box::new(|stop| runner.run(stop).boxed()),
        failures,
        reports,
    };
    (informer, own)
}

impl Watched {
    pub(super) fn new<O: CachedObject>(source: Source<O>, own: Option<OwnInformer>) -> Self {
        let resource = source.informer.resource().to_owned();
        let (is_scattered, shards) = (source.is_scattered, source.informer.shards().cloned());
        let start = move |name: &str, intake: Intake| {
            let informer = source.informer.clone();
            let delivery = if intake.reads_own_writes() {
                // A change that was merged with others could be taken for an own one.
                Delivery::Unbounded
            } else {
                source.delivery
            };
            let options = HandlerOptions::named(format!("controller {name}"))
                .delivery(delivery)
                .on_panic(PanicPolicy::Continue);
            let registration = informer.add_handler(options, source.handler(intake))?;
            Ok(Running {
                registration,
                informer: Arc::new(informer),
            })
        };
        Self {
            start: Box::new(start),
            resource,
            is_scattered,
            shards,
            own,
        }
    }

    /// Starts to watch, for a controller that reconciles objects of these shards, or of all. Returns the
    /// source, and what to run if the informer is the controller's own.
    pub(super) fn start(
        self,
        name: &str,
        shards: Option<&ShardSet>,
        intake: Intake,
        timeout: Duration,
        stop: CancellationToken,
    ) -> (Follower, Option<BoxFuture<'static, Result<(), RunError>>>) {
        let (run, failures, reports) = match self.own {
            None => (None, None, Arc::default()),
            Some(own) => (Some((own.run)(stop)), Some(own.failures), own.reports),
        };
        let resource = || self.resource.clone();
        let are_others = shards.is_some() && self.shards.is_some() && shards != self.shards.as_ref();
        let phase = if self.is_scattered {
            Phase::Unusable(RunnerError::OwnedByUid { resource: resource() })
        } else if are_others {
            Phase::Unusable(RunnerError::OtherShards { resource: resource() })
        } else {
            (self.start)(name, intake).map_or(Phase::Unstarted, Phase::Starting)
        };
        let follower = Follower {
            resource: self.resource,
            timeout,
            failures,
            reports,
            phase,
        };
        (follower, run)
    }
}

/// A source that was started.
struct Running {
    /// Removes the handler when it is dropped.
    registration: Registration,
    informer: Arc<dyn AnyInformer>,
}

/// Follows what becomes of a source.
pub(super) struct Follower {
    resource: String,
    timeout: Duration,
    failures: Option<mpsc::Receiver<LastError>>,
    reports: Arc<AtomicBool>,
    phase: Phase,
}

enum Phase {
    Unstarted,
    /// It does not have what the controller needs.
    Unusable(RunnerError),
    /// It is waited for.
    Starting(Running),
    /// It is no longer waited for, but may still sync.
    Late(Running),
    Synced(Running),
    Ended,
}

/// What has become of a source.
#[derive(Debug)]
pub(super) enum News {
    /// The queue has the keys of everything that exists.
    Synced,
    /// It has not synced, and waiting may not help.
    Late(RunnerError),
    Failed(RunnerError),
    /// There will be nothing more.
    Ended(RunnerError),
    /// The controller must not run with it.
    Unusable(RunnerError),
}

/// How often it is looked whether the server refuses a source, until it has synced.
const LOOK: Duration = Duration::from_millis(100);

impl Follower {
    /// The informer of a source that has just started; `None` if it had stopped before.
    pub(super) fn informer(&self) -> Option<Arc<dyn AnyInformer>> {
        match &self.phase {
            Phase::Starting(running) => Some(running.informer.clone()),
            _ => None,
        }
    }

    /// The next news; `None` after the end.
    pub(super) async fn next(&mut self) -> Option<News> {
        let resource = || self.resource.clone();
        let (phase, news) = match std::mem::replace(&mut self.phase, Phase::Ended) {
            Phase::Ended => return None,
            Phase::Unstarted => (Phase::Ended, None),
            Phase::Unusable(error) => (Phase::Ended, Some(News::Unusable(error))),
            Phase::Starting(running) => match running.settle(self.timeout).await {
                Ok(true) => (Phase::Synced(running), Some(News::Synced)),
                Ok(false) => (Phase::Ended, None),
                Err(error) => (Phase::Late(running), Some(News::Late(error))),
            },
            Phase::Late(running) => match running.registration.synced().await {
                Ok(()) => (Phase::Synced(running), Some(News::Synced)),
                Err(Stopped) => (Phase::Ended, None),
            },
            Phase::Synced(running) => {
                self.reports.store(true, Ordering::Relaxed);
                let failure = async {
                    match &mut self.failures {
                        Some(failures) => failures.recv().await,
                        None => None,
                    }
                };
                tokio::select! {
                    () = running.informer.stopped() => (Phase::Ended, None),
                    Some(failure) = failure => {
                        (Phase::Synced(running), Some(News::Failed(RunnerError::WatchFailed(failure))))
                    }
                }
            }
        };
        self.phase = phase;
        let ended = || News::Ended(RunnerError::Stopped { resource: resource() });
        Some(news.unwrap_or_else(ended))
    }
}

impl Running {
    /// Waits until the source has synced (true) or ended (false).
    ///
    /// # Errors
    /// It is not worth waiting for any longer.
    async fn settle(&self, timeout: Duration) -> Result<bool, RunnerError> {
        let is_refused = || self.informer.status().reflector.is_refused();
        settle(&*self.informer, self.registration.synced(), timeout, is_refused).await
    }
}

/// Waits until `synced` says that an informer has synced (true) or has stopped (false); `is_refused` says
/// whether the server refuses it.
///
/// # Errors
/// It is not worth waiting for any longer: the server refuses what the informer asks for, or the time is
/// over.
pub(super) async fn settle(
    informer: &dyn AnyInformer,
    synced: impl Future<Output = Result<(), Stopped>>,
    timeout: Duration,
    is_refused: impl Fn() -> bool,
) -> Result<bool, RunnerError> {
    let resource = || informer.resource().to_owned();
    let mut synced = std::pin::pin!(synced);
    let mut deadline = std::pin::pin!(tokio::time::sleep(timeout));
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            biased;
            synced = &mut synced => return Ok(synced.is_ok()),
            () = &mut deadline => {
                return Err(RunnerError::NotSynced {
                    resource: resource(),
                    timeout,
                    unsynced: informer.unsynced(),
                });
            }
            _ = look.tick() => {
                if is_refused() {
                    return Err(RunnerError::Refused {
                        resource: resource(),
                        unsynced: informer.unsynced(),
                    });
                }
            }
        }
    }
}
