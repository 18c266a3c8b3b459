//! A manager runs several controllers as one program, with one set of informers, one election, and an ordered
//! start and stop.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube_controller::leader_election::{LeaderElectionConfig, unique_identity};
//! use kube_controller::manager::{Manager, RunWhen};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let client = kube::Client::try_default().await?;
//!     let election = LeaderElectionConfig::new("default", "my-controller", unique_identity());
//!     let manager = Manager::new(client, "my-controller").leader_election(election)?;
//!     let maps = manager.factory().informer::<ConfigMap>();
//!     manager.add("report", RunWhen::Leading, async move |context| {
//!         println!("{} config maps, and this replica leads", maps.store().len());
//!         context.stopped().await;
//!         Ok::<_, std::io::Error>(())
//!     })?;
//!     manager.run().await?; // until SIGTERM or SIGINT
//!     Ok(())
//! }
//! ```
//!
//! # Start
//! The manager starts in this order:
//! 1. The HTTP server, if there is one, so that probes are answered before anything has synced.
//! 2. The informers of the [factory](Manager::factory), and the election.
//! 3. Runnables that are [`Warm`](RunWhen::Warm), such as controllers, which fill their queues, and those
//!    [around informers](RunWhen::AroundInformers).
//! 4. When all informers have synced, runnables that run [`Always`](RunWhen::Always). If the server refuses
//!    an informer, these wait; the log and the readiness probe say so. A controller waits only for the kinds
//!    that it reads.
//! 5. When the election is won, warm runnables begin to work, and those that run while
//!    [`Leading`](RunWhen::Leading) are started.
//!
//! Without an election, the program leads from the start.
//!
//! # Stop
//! The manager stops on SIGTERM or SIGINT, when a runnable fails, or when an informer fails. It stops the
//! runnables that run always, then those that lead, then releases the lease, then stops informers, then the
//! runnables [around informers](RunWhen::AroundInformers), then events and the HTTP server. The lease is
//! renewed until the work has ended. The stop may take the [graceful shutdown
//! timeout](Manager::graceful_shutdown_timeout); after that, the rest is aborted and named in the error. A
//! second signal aborts at once.
//!
//! A replica that does not lead gives up its candidacy when its stop begins.
//!
//! If the leadership is lost, also during a stop, the work must end before the lease runs out (within about 2 seconds by default), else it is
//! aborted. If the server answers again before that, the lease is renewed until the work has ended, which may
//! take the graceful shutdown timeout. Then the manager waits only for the runnables [around
//! informers](RunWhen::AroundInformers), so that a shard group hands over its shards; they may take the
//! graceful shutdown timeout, but two seconds at most if work was aborted, because its threads may go on
//! beside those of the next leader. [`Manager::run`] returns an error, and the process should exit.
//!
//! # Differences from controller-runtime
//! A runnable may be added at any time; it is refused once the stop has begun, as in controller-runtime.
//! Controllers do not wait for informers that they do not read. If the lease is lost, the work may use the
//! time until other replicas can take it.

mod error;
mod readiness;
mod running;
#[cfg(feature = "server")]
mod server;

pub use error::{AddError, Cause, ManagerError};
use readiness::Others;
pub use readiness::{NotReady, Readiness};

use crate::controller::{Action, Controller, Error};
use crate::events::{Recorder, Reporter};
use crate::leader_election::{ConfigError, LeaderElectionConfig, LeaderElectionStatus, LeaderElector};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, TryFuture};
use kube::{Client, Resource};
use kube_informer::SharedInformerFactory;
use running::{Added, Running};
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
#[cfg(feature = "server")]
use tokio_util::task::AbortOnDropHandle;

/// The error of a runnable.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Runs several controllers as one program; see the [module](self).
#[must_use = "a manager does nothing until it is run"]
pub struct Manager {
    client: Client,
    factory: SharedInformerFactory,
    recorder: Recorder,
    elector: Option<LeaderElector>,
    grace: Duration,
    handle: ManagerHandle,
    added: mpsc::UnboundedReceiver<Added>,
    readiness: Readiness,
    /// The Lease, as `namespace/name`; empty without an election.
    lease: String,
    #[cfg(feature = "server")]
    server: Option<server::Server>,
}

/// When something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunWhen {
    /// On every replica, once the informers have synced. It ends when the [context](RunContext) is stopped.
    Always,
    /// While this replica leads, once the informers have synced.
    #[doc(alias = "NeedLeaderElection")]
    Leading,
    /// On every replica, from the start. It works while this replica [leads](RunContext::elected), and
    /// prepares until then: a controller syncs its informers and fills its queue.
    #[doc(alias = "Warmup")]
    Warm,
    /// On every replica, from the start until all other work has ended and the informers have stopped. For
    /// what informers depend on, such as a [shard group](crate::shard_group#with-a-manager). If the leadership
    /// is lost, its [context](RunContext) is stopped without waiting for the informers.
    AroundInformers,
}

/// Tells a runnable when this replica leads and when to stop.
#[derive(Debug, Clone)]
pub struct RunContext {
    stop: CancellationToken,
    stopping: CancellationToken,
    elected: CancellationToken,
}

impl RunContext {
    /// A future that completes when the runnable has to end, or was aborted. It owns its data, so it can be
    /// moved to another task. Dropping it loses nothing.
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + use<> {
        self.stop.clone().cancelled_owned()
    }

    /// A future that completes when this replica leads, and at once if there is no election. It owns its
    /// data, so it can be moved to another task. Dropping it loses nothing.
    pub fn elected(&self) -> impl Future<Output = ()> + Send + use<> {
        self.elected.clone().cancelled_owned()
    }

    /// Cancelled when the manager begins to stop. Some runnables have to end later than others: they learn here
    /// that they should begin nothing new.
    #[must_use]
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Cancelled when the runnable has to end, or was aborted.
    #[must_use]
    pub fn token(&self) -> &CancellationToken {
        &self.stop
    }
}

/// Adds runnables to a [`Manager`], also while it runs. Clones are handles to the same manager.
#[derive(Clone)]
pub struct ManagerHandle {
    added: mpsc::UnboundedSender<Added>,
    names: Arc<Mutex<HashSet<String>>>,
    /// Told of the informers that controllers have made.
    informers: Others,
}

impl ManagerHandle {
    /// Adds a runnable. It is started once, as `runs` says; at once if that condition already holds.
    ///
    /// If it returns an error or panics, the program stops. If it returns `Ok`, the program continues.
    ///
    /// # Errors
    /// A runnable of this name waits or runs, or the manager is stopping or has stopped.
    pub fn add<F, E>(
        &self,
        name: impl Into<String>,
        runs: RunWhen,
        runnable: impl FnOnce(RunContext) -> F + Send + 'static,
    ) -> Result<(), AddError>
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let name = name.into();
        let run = move |context| -> BoxFuture<'static, Result<(), BoxError>> {
            // Also a runnable that panics before it returns its future does so in its task.
            async move { runnable(context).await.map_err(Into::into) }.boxed()
        };
        let Some(taken) = Name::take(&self.names, &name) else {
            return Err(AddError::NameTaken(name));
        };
        let added = Added {
            name: taken,
            runs,
            run: Box::new(run),
        };
        self.added.send(added).map_err(|_| AddError::Stopped)
    }
}

/// The name of a runnable, which no other one has until this is dropped.
struct Name {
    name: String,
    names: Arc<Mutex<HashSet<String>>>,
}

impl Name {
    fn take(names: &Arc<Mutex<HashSet<String>>>, name: &str) -> Option<Self> {
        let taken = names
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.to_owned());
        taken.then(|| Self {
            name: name.to_owned(),
            names: names.clone(),
        })
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        self.names
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.name);
    }
}

impl std::ops::Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.name
    }
}

impl ManagerHandle {
    /// Adds a controller, under its [name](Controller::named): it is [`Warm`](RunWhen::Warm), so its sources
    /// sync and its queue is filled while another replica leads. On stop, running reconciles are finished.
    /// The informers that the controller created count for the [readiness](Manager::readiness).
    ///
    /// Errors are logged. If an error [ends the controller](crate::controller#stop), because it cannot work
    /// with the shards of a source, the runnable fails with it, so the program stops.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub fn add_controller<K, F, Ctx>(
        &self,
        controller: Controller<K>,
        reconciler: impl FnMut(Arc<K>, Arc<Ctx>) -> F + Send + 'static,
        error_policy: impl Fn(Arc<K>, &F::Error, Arc<Ctx>) -> Action + Send + 'static,
        context: Arc<Ctx>,
    ) -> Result<(), AddError>
    where
        K: Resource<DynamicType: Eq + Hash + Clone + Send + Sync> + Send + Sync + 'static,
        F: TryFuture<Ok = Action, Error: std::error::Error + Send + Sync + 'static> + Send + 'static,
        Ctx: Send + Sync + 'static,
    {
        let name = controller.name().to_owned();
        let informers: Vec<_> = controller.informers().collect();
        let run = async move |told: RunContext| {
            let name = controller.name().to_owned();
            let controller = controller
                .warm_until(told.elected())
                .graceful_shutdown_on(told.stopped());
            let mut results = std::pin::pin!(controller.run(reconciler, error_policy, context));
            let mut ended = Ok(());
            while let Some(result) = results.next().await {
                match result {
                    Ok(_) => {}
                    // The stream goes on until the running reconciles have ended.
                    Err(Error::RunnerError(error)) if error.ends_controller() => ended = Err(error),
                    Err(error) => {
                        tracing::warn!(controller = name, error = %Chain(&error), "not reconciled");
                    }
                }
            }
            ended
        };
        self.add(name, RunWhen::Warm, run)?;
        self.informers.add(informers);
        Ok(())
    }
}

/// Shows an error with its causes. Many errors, such as kube's, have a text that contains that of their cause: it is shown once.
struct Chain<'a>(&'a dyn std::error::Error);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut said = self.0.to_string();
        for cause in std::iter::successors(self.0.source(), |error| error.source()) {
            let cause = cause.to_string();
            if !said.contains(&cause) {
                said = format!("{said}: {cause}");
            }
        }
        f.write_str(&said)
    }
}

impl std::fmt::Debug for ManagerHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ManagerHandle").finish_non_exhaustive()
    }
}

impl Manager {
    /// A manager with a factory whose informers are over all namespaces of the cluster of `client`. `name` is
    /// the reporting controller in its events: a qualified name, such as `my-controller` or
    /// `example.com/my-controller`.
    pub fn new(client: Client, name: &str) -> Self {
        let factory = SharedInformerFactory::new(client.clone());
        Self::with_factory(client, name, factory)
    }

    /// A manager with a factory of your own, for example over some namespaces. The manager starts the factory
    /// and shuts it down.
    pub fn with_factory(client: Client, name: &str, factory: SharedInformerFactory) -> Self {
        let (sender, added) = mpsc::unbounded_channel();
        let readiness = Readiness::new(factory.clone());
        Self {
            recorder: Recorder::new(client.clone(), Reporter::from(name)),
            client,
            factory,
            elector: None,
            grace: Duration::from_secs(30),
            handle: ManagerHandle {
                added: sender,
                names: Arc::default(),
                informers: readiness.others().clone(),
            },
            readiness,
            added,
            lease: String::new(),
            #[cfg(feature = "server")]
            server: None,
        }
    }

    /// Makes this replica a candidate: it works while it holds the Lease. Default: no election.
    ///
    /// The manager's [`graceful_shutdown_timeout`](Self::graceful_shutdown_timeout) replaces [that of the
    /// election](LeaderElectionConfig::graceful_shutdown_timeout). The election publishes events with the
    /// manager's recorder, which needs [permissions](crate::guide::production#permissions).
    ///
    /// # Errors
    /// The configuration is invalid.
    pub fn leader_election(mut self, config: LeaderElectionConfig) -> Result<Self, ConfigError> {
        self.lease = format!("{}/{}", config.namespace, config.name);
        let config = LeaderElectionConfig {
            graceful_shutdown_timeout: Duration::MAX,
            ..config
        };
        let elector = LeaderElector::new(self.client.clone(), config)?;
        self.elector = Some(elector.with_recorder(self.recorder.clone()));
        Ok(self)
    }

    /// How long the stop may take. Default: 30 seconds, which is how long Kubernetes waits by default before
    /// it kills a pod: set `terminationGracePeriodSeconds` some seconds higher. Zero aborts everything at once, which is not an error; [`Duration::MAX`] waits for
    /// ever.
    pub fn graceful_shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.grace = timeout;
        self
    }

    /// How long a watch may be silent before the [readiness](Self::readiness) reports it. Default: 90
    /// seconds.
    pub fn watch_silence(mut self, silence: Duration) -> Self {
        self.readiness = self.readiness.watch_silence(silence);
        self
    }

    /// Serves `/metrics`, `/healthz` and `/readyz` on a port of the loopback interface while the manager
    /// runs; 0 means any free port. A kubelet cannot reach the loopback interface; use
    /// [`serve_on`](Self::serve_on) for its probes.
    ///
    /// Each connection serves one request and is closed after 30 seconds.
    ///
    /// - `/healthz` fails if this replica holds the Lease, and 20 seconds have passed since the Lease would
    ///   have run out without a renewal: the process is stuck and should be restarted.
    /// - `/readyz` fails as [`Readiness`] says, and names what is not ready.
    /// - `/metrics` has the metrics of controllers, work queues and informers in Prometheus' text format,
    ///   under the names of controller-runtime and client-go, such as `reflector_received_bytes_total`, and
    ///   for each kind `informer_objects`, `informer_objects_bytes` (of [packed](kube_informer::form::Packed)
    ///   objects) and `informer_last_heard_seconds`. This method installs a recorder
    ///   of the `metrics` crate. Call it before informers and queues are created, because they report to the
    ///   recorder that is installed then. If the program has already installed another recorder, `/metrics`
    ///   answers 404.
    ///
    /// # Errors
    /// The port is in use, or may not be used.
    #[cfg(feature = "server")]
    pub fn serve(self, port: u16) -> std::io::Result<Self> {
        self.serve_on((std::net::Ipv4Addr::LOCALHOST, port).into())
    }

    /// [`serve`](Self::serve) on any address, such as `0.0.0.0:8080`, for probes by the kubelet. There is no
    /// authentication: everybody who can reach the address can read metrics, and names of kinds and
    /// namespaces.
    ///
    /// # Errors
    /// The address is in use, or may not be used.
    #[cfg(feature = "server")]
    pub fn serve_on(mut self, address: std::net::SocketAddr) -> std::io::Result<Self> {
        self.server = Some(server::Server::bind(address)?);
        Ok(self)
    }

    /// The address on which it [serves](Self::serve).
    #[cfg(feature = "server")]
    pub fn address(&self) -> Option<std::net::SocketAddr> {
        self.server.as_ref().map(server::Server::address)
    }

    /// The client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The informers of the program: one for each kind, however many controllers read it.
    pub fn factory(&self) -> &SharedInformerFactory {
        &self.factory
    }

    /// The recorder of events. The manager flushes it at the end.
    #[doc(alias = "GetEventRecorder")]
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Whether the informers follow the server: those of the factory, and those of
    /// [controllers](Self::add_controller).
    pub fn readiness(&self) -> &Readiness {
        &self.readiness
    }

    /// The state of the election as this replica knows it; `None` without an election.
    pub fn election(&self) -> Option<LeaderElectionStatus> {
        self.elector.as_ref().map(LeaderElector::status)
    }

    /// A handle that adds runnables later.
    pub fn handle(&self) -> ManagerHandle {
        self.handle.clone()
    }

    /// Adds a runnable; see [`ManagerHandle::add`].
    ///
    /// # Errors
    /// There is a runnable of this name.
    pub fn add<F, E>(
        &self,
        name: impl Into<String>,
        runs: RunWhen,
        runnable: impl FnOnce(RunContext) -> F + Send + 'static,
    ) -> Result<(), AddError>
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<BoxError>,
    {
        self.handle.add(name, runs, runnable)
    }

    /// Adds a controller; see [`ManagerHandle::add_controller`].
    ///
    /// ```no_run
    /// # use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
    /// # use kube_controller::controller::{Action, Controller};
    /// # use kube_controller::manager::{AddError, Manager};
    /// # use std::{convert::Infallible, sync::Arc};
    /// async fn reconcile(deployment: Arc<Deployment>, _: Arc<()>) -> Result<Action, Infallible> {
    ///     Ok(Action::await_change())
    /// }
    ///
    /// # fn example(manager: Manager) -> Result<(), AddError> {
    /// let factory = manager.factory();
    /// let deployments = Controller::for_informer(&factory.informer::<Deployment>()).owns_informer(&factory.informer::<ReplicaSet>());
    /// manager.add_controller(deployments, reconcile, |_, _, _| Action::backoff(), Arc::new(()))?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// There is one of this name.
    pub fn add_controller<K, F, Ctx>(
        &self,
        controller: Controller<K>,
        reconciler: impl FnMut(Arc<K>, Arc<Ctx>) -> F + Send + 'static,
        error_policy: impl Fn(Arc<K>, &F::Error, Arc<Ctx>) -> Action + Send + 'static,
        context: Arc<Ctx>,
    ) -> Result<(), AddError>
    where
        K: Resource<DynamicType: Eq + Hash + Clone + Send + Sync> + Send + Sync + 'static,
        F: TryFuture<Ok = Action, Error: std::error::Error + Send + Sync + 'static> + Send + 'static,
        Ctx: Send + Sync + 'static,
    {
        self.handle
            .add_controller(controller, reconciler, error_policy, context)
    }

    /// Runs until SIGTERM or SIGINT, or until something fails. A second signal aborts the stop.
    ///
    /// # Errors
    /// See [`Cause`]: a runnable or an informer failed, the leadership was lost, something did not stop in
    /// time.
    ///
    /// # Panics
    /// Outside of a tokio runtime with time and I/O.
    ///
    /// # Cancel safety
    /// As for [`run_until`](Self::run_until). The process still catches SIGTERM and SIGINT, because tokio
    /// never removes its signal handlers.
    pub async fn run(self) -> Result<(), ManagerError> {
        let mut signals = Signals::new().map_err(Cause::Signals)?;
        let shutdown = CancellationToken::new();
        let mut running = std::pin::pin!(self.run_until(shutdown.clone()));
        tokio::select! {
            ended = &mut running => return ended,
            () = signals.next() => {}
        }
        tracing::info!("stopping; another signal stops at once");
        shutdown.cancel();
        tokio::select! {
            ended = &mut running => ended,
            () = signals.next() => Err(Cause::Aborted.into()),
        }
    }

    /// Runs like [`run`](Self::run), but until `shutdown` is cancelled. It does not handle signals.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    ///
    /// # Cancel safety
    /// If the future is dropped, every task of the manager is aborted. Tasks that runnables have spawned are
    /// asked to end by [`RunContext::stopped`]. The lease is not released.
    pub async fn run_until(self, shutdown: CancellationToken) -> Result<(), ManagerError> {
        #[cfg(feature = "server")]
        return self.run_with_server(shutdown).await;
        #[cfg(not(feature = "server"))]
        Running::new(self, shutdown).run().await
    }

    /// The server is there before everything else, and until after it.
    #[cfg(feature = "server")]
    async fn run_with_server(mut self, shutdown: CancellationToken) -> Result<(), ManagerError> {
        let Some(server) = self.server.take() else {
            return Running::new(self, shutdown).run().await;
        };
        let election = self.election().map(|status| (self.lease.clone(), status));
        let probes = server::Probes::new(self.readiness.clone(), election);
        let stop = CancellationToken::new();
        let serving = AbortOnDropHandle::new(tokio::spawn(server.serve(probes, stop.clone())));
        let ended = Running::new(self, shutdown).run().await;
        stop.cancel();
        _ = serving.await;
        ended
    }
}

impl std::fmt::Debug for Manager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Manager")
            .field("factory", &self.factory)
            .field("elector", &self.elector)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

/// SIGTERM and SIGINT; elsewhere than on Unix, Ctrl-C.
struct Signals {
    #[cfg(unix)]
    signals: [tokio::signal::unix::Signal; 2],
}

impl Signals {
    #[cfg(unix)]
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let signals = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
        Ok(Self { signals })
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        let [terminate, interrupt] = &mut self.signals;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }

    #[cfg(not(unix))]
    fn new() -> std::io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}

#[cfg(test)]
mod tests;
