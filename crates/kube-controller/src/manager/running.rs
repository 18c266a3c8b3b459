//! One run of a manager.

use super::error::{Cause, ManagerError};
use super::{BoxError, Manager, Name, RunContext, RunWhen};
use crate::events::Recorder;
use crate::leader_election::{LeaderElectionError, Leadership, panic_message};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use kube_informer::SharedInformerFactory;
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{self, AbortHandle, JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

/// How often it is said which informers hold up the start.
const SAY_UNSYNCED: Duration = Duration::from_secs(60);
/// How long the rest may go on after work was aborted: enough to hand over shards, if the server can be reached.
const AFTER_ABORTED: Duration = Duration::from_secs(2);

/// Something to run.
pub(super) struct Added {
    pub(super) name: Name,
    pub(super) runs: RunWhen,
    pub(super) run: Run,
}

type Run = Box<dyn FnOnce(RunContext) -> BoxFuture<'static, Result<(), BoxError>> + Send>;

pub(super) struct Running {
    /// Dropped first: also tasks that runnables have started, and that nobody aborts, are told to end.
    told: [DropGuard; 3],
    factory: SharedInformerFactory,
    recorder: Recorder,
    grace: Duration,
    shutdown: CancellationToken,
    added: mpsc::UnboundedReceiver<Added>,
    /// The Lease, as `namespace/name`.
    lease: String,
    /// It is a task of its own, because nothing may hold up a renewal.
    election: Option<AbortOnDropHandle<Result<(), LeaderElectionError>>>,
    tokens: Tokens,
    /// Whose time has not come.
    waiting: Vec<Added>,
    tasks: JoinSet<Result<(), BoxError>>,
    running: HashMap<task::Id, Started>,
    synced: bool,
    causes: Vec<Cause>,
}

/// Something that runs.
struct Started {
    name: Name,
    runs: RunWhen,
    task: AbortHandle,
}

#[derive(Clone, Default)]
struct Tokens {
    elected: CancellationToken,
    /// The candidate has to step down.
    candidate: CancellationToken,
    /// What runs always has to end.
    others: CancellationToken,
    /// What leads, or may lead, has to end.
    work: CancellationToken,
    /// It has ended, so the lease may be released.
    work_ended: CancellationToken,
    /// What informers depend on has to end.
    around: CancellationToken,
}

/// Why the run ends.
enum End {
    Graceful,
    /// Others are about to lead.
    Lost,
}

impl Running {
    pub(super) fn new(manager: Manager, shutdown: CancellationToken) -> Self {
        let tokens = Tokens::default();
        if manager.elector.is_none() {
            tokens.elected.cancel();
        }
        let election = manager.elector.map(|mut elector| {
            let (candidate, tokens) = (tokens.candidate.clone(), tokens.clone());
            // If the election panics, nobody renews the lease any more, or would tell that it is lost.
            let failed = tokens.work.clone().drop_guard();
            let work = move |leadership| lead(leadership, tokens);
            let election = async move {
                elector.run(candidate, work).await?;
                failed.disarm();
                Ok(())
            };
            AbortOnDropHandle::new(tokio::spawn(election))
        });
        Self {
            told: [&tokens.others, &tokens.work, &tokens.around].map(|token| token.clone().drop_guard()),
            factory: manager.factory,
            recorder: manager.recorder,
            grace: manager.grace,
            shutdown,
            added: manager.added,
            lease: manager.lease,
            election,
            tokens,
            waiting: Vec::new(),
            tasks: JoinSet::new(),
            running: HashMap::new(),
            synced: false,
            causes: Vec::new(),
        }
    }

    pub(super) async fn run(mut self) -> Result<(), ManagerError> {
        self.factory.start();
        let end = self.until_end().await;
        self.added.close();
        match end {
            End::Graceful => {
                let stopped = is_in_time(self.grace, self.stop()).await;
                self.note_stopped(stopped, self.grace);
            }
            End::Lost => {
                if !is_in_time(self.grace, self.lose_work()).await {
                    // The election was aborted, so the lease runs out, even if it was renewed after the loss.
                    let lease = self.lease.clone();
                    let error = LeaderElectionError::WorkNotStopped { lease };
                    self.causes.push(Cause::Election(error));
                }
                self.leave().await;
            }
        }
        // What is left is told to end, and not waited for.
        drop(self.told);
        self.tasks.abort_all();
        _ = self.factory.shutdown().now_or_never();
        _ = self.recorder.shutdown(Duration::ZERO).now_or_never();
        ManagerError::of(self.causes)
    }

    /// Starts what is to be started when its time has come, until there is a reason to stop.
    async fn until_end(&mut self) -> End {
        let (factory, tokens) = (self.factory.clone(), self.tokens.clone());
        let mut synced = std::pin::pin!(synced(&factory));
        let mut is_elected = false;
        loop {
            self.start();
            tokio::select! {
                biased;
                () = tokens.work.cancelled() => return End::Lost,
                () = self.shutdown.cancelled() => return End::Graceful,
                Some(joined) = self.tasks.join_next_with_id() => {
                    if !self.joined(joined) {
                        return End::Graceful;
                    }
                }
                error = factory.failed() => {
                    self.causes.push(Cause::Informer(error));
                    return End::Graceful;
                }
                () = tokens.elected.cancelled(), if !is_elected => is_elected = true,
                () = &mut synced, if !self.synced => self.synced = true,
                Some(added) = self.added.recv() => self.waiting.push(added),
            }
        }
    }

    /// Starts those whose time has come.
    fn start(&mut self) {
        let elected = self.tokens.elected.is_cancelled();
        let may_start = |added: &mut Added| match added.runs {
            RunWhen::Warm | RunWhen::AroundInformers => true,
            RunWhen::Always => self.synced,
            RunWhen::Leading => self.synced && elected,
        };
        let ready: Vec<_> = self.waiting.extract_if(.., may_start).collect();
        for Added { name, runs, run } in ready {
            let stop = match runs {
                RunWhen::Always => &self.tokens.others,
                RunWhen::Leading | RunWhen::Warm => &self.tokens.work,
                RunWhen::AroundInformers => &self.tokens.around,
            };
            let context = RunContext {
                stop: stop.clone(),
                stopping: self.tokens.others.clone(),
                elected: self.tokens.elected.clone(),
            };
            tracing::debug!(name = &*name, "starts");
            let task = self.tasks.spawn(run(context));
            self.running.insert(task.id(), Started { name, runs, task });
        }
    }

    /// Notes that a runnable has ended. Returns whether all is well.
    fn joined(&mut self, joined: Result<(task::Id, Result<(), BoxError>), JoinError>) -> bool {
        let id = match &joined {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let name = self
            .running
            .remove(&id)
            .map(|started| started.name.to_owned())
            .unwrap_or_default();
        let cause = match joined {
            Ok((_, Ok(()))) => return true,
            // By us.
            Err(error) if error.is_cancelled() => return true,
            Ok((_, Err(source))) => Cause::Failed { name, source },
            Err(error) => Cause::Panicked {
                name,
                message: panic_message(error),
            },
        };
        tracing::error!(%cause, "the program stops");
        self.causes.push(cause);
        false
    }

    /// Says what still runs, if it has not stopped in time.
    fn note_stopped(&mut self, stopped: bool, timeout: Duration) {
        if !stopped && !timeout.is_zero() {
            let running = self.running.values();
            let mut names: Vec<_> = running.map(|started| started.name.to_owned()).collect();
            names.sort_unstable();
            self.causes.push(Cause::NotStopped { names, timeout });
        }
    }

    /// Stops everything, in order.
    async fn stop(&mut self) {
        let tokens = self.tokens.clone();
        let leads = tokens.elected.is_cancelled();
        if !leads {
            // Others may win what it would have to give back.
            tokens.candidate.cancel();
        }
        tokens.others.cancel();
        tokio::select! {
            biased;
            () = tokens.work.cancelled(), if leads => {
                self.lose_work().await;
                return self.leave().await;
            }
            () = self.ended(|runs| runs == RunWhen::Always) => {}
        }
        tokens.work.cancel();
        tokens.candidate.cancel();
        if let End::Lost = self.work_ended().await {
            return self.leave().await;
        }
        if let Err(error) = self.factory.shutdown().await {
            self.causes.push(Cause::Informers(error));
        }
        // What the informers had is saved, and nobody works with it any more.
        tokens.around.cancel();
        self.ended(is_around).await;
        // What is lost is counted and logged.
        _ = self.recorder.shutdown(Duration::MAX).await;
    }

    /// Ends the work after the leadership was lost: the election says for how long it may go on, which is without limit if the lease can be
    /// renewed again.
    async fn lose_work(&mut self) {
        self.tokens.others.cancel();
        self.tokens.around.cancel();
        _ = self.work_ended().await;
    }

    /// Ends what informers depend on, after the leadership was lost. Everything else is aborted before, because it may hold what has to be
    /// handed over, such as shards. Threads of aborted work may go on beside that of the next leader until the process exits, so there is
    /// not much time then.
    async fn leave(&mut self) {
        let work_ended = !self.running.values().any(|started| is_work(started.runs));
        let most = if work_ended { Duration::MAX } else { AFTER_ABORTED };
        let time = self.grace.min(most);
        for started in self.running.values().filter(|started| !is_around(started.runs)) {
            started.task.abort();
        }
        self.tokens.around.cancel();
        let stopped = is_in_time(time, self.ended(is_around)).await;
        self.note_stopped(stopped, time);
    }

    /// Waits until the work has ended, and then the election; or until the election gives up waiting. Nothing else may be
    /// waited for then.
    async fn work_ended(&mut self) -> End {
        let Some(election) = self.election.take() else {
            self.ended(is_work).await;
            return End::Graceful;
        };
        let work_ended = self.tokens.work_ended.clone();
        let mut election = election
            .map(|joined| joined.unwrap_or_else(election_panicked))
            .fuse();
        let result = tokio::select! {
            biased;
            () = self.ended(is_work) => {
                work_ended.cancel();
                election.await
            }
            result = &mut election => result,
        };
        match result {
            // If it was a standby, the election ended at once.
            Ok(()) => {
                self.ended(is_work).await;
                End::Graceful
            }
            Err(error) => {
                self.causes.push(Cause::Election(error));
                End::Lost
            }
        }
    }

    /// Waits until those of a group have ended.
    async fn ended(&mut self, of: impl Fn(RunWhen) -> bool) {
        while self.running.values().any(|started| of(started.runs)) {
            let Some(joined) = self.tasks.join_next_with_id().await else {
                return;
            };
            self.joined(joined);
        }
    }
}

/// Whether it has to end before the lease is released.
fn is_work(runs: RunWhen) -> bool {
    matches!(runs, RunWhen::Leading | RunWhen::Warm)
}

/// Whether informers depend on it.
fn is_around(runs: RunWhen) -> bool {
    runs == RunWhen::AroundInformers
}

/// Whether a stop ends within this time.
async fn is_in_time(grace: Duration, stop: impl Future<Output = ()>) -> bool {
    match Instant::now().checked_add(grace) {
        Some(deadline) => timeout_at(deadline, stop).await.is_ok(),
        None => {
            stop.await;
            true
        }
    }
}

fn election_panicked(error: JoinError) -> Result<(), LeaderElectionError> {
    let message = panic_message(error);
    Err(LeaderElectionError::WorkPanicked { message })
}

/// What the winner of the election does: it lets others work.
async fn lead(leadership: Leadership, tokens: Tokens) {
    tokens.elected.cancel();
    leadership.cancelled().await;
    tokens.work.cancel();
    tokens.work_ended.cancelled().await;
}

/// Waits until every informer has synced.
async fn synced(factory: &SharedInformerFactory) {
    loop {
        let began = Instant::now();
        match factory.wait_for_sync(SAY_UNSYNCED).await {
            Ok(()) => return,
            Err(error) => tracing::warn!(%error, "informers have not synced"),
        }
        tokio::time::sleep_until(began + SAY_UNSYNCED).await;
    }
}
