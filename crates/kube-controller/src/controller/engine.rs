//! The loop that takes keys from the queue, runs the reconciler and decides when each key is run next.

use super::action::Next;
use super::any_informer::AnyInformer;
use super::attempt::{ATTEMPT, Attempt};
use super::coverage::{Coverage, Keys};
use super::failures::Failures;
use super::follower::News;
use super::metrics::{Metrics, Outcome};
use super::own::Own;
use super::run::{Ended, Finished, until_end, while_held};
use super::source::Intake;
use super::trigger::{Trigger, paused};
use super::{Action, Config, Controller, Error, RunnerError, first};
use crate::reflector::{ObjectRef, Store};
use crate::watcher;
use futures::future::{BoxFuture, IntoFuture, join_all, pending};
use futures::stream::{BoxStream, SelectAll};
use futures::{FutureExt, StreamExt, TryFuture, TryFutureExt, stream};
use kube::Resource;
use kube::core::{DynamicObject, DynamicResourceScope};
use kube_informer::informer::RunError;
use kube_informer::{ObjectKey, ShardHold, ShardSet};
use kube_workqueue::{Priority, Processing, WorkQueue};
use std::any::{Any, TypeId};
use std::collections::HashSet;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument;

/// The source of the controller's own kind; others have other numbers.
const MAIN: usize = 0;

/// The pause before an object is looked at again whose shard this replica does not own.
const SHARD_PAUSE: Duration = Duration::from_secs(1);

/// A first poll that takes longer than this keeps the controller from its other work.
const LONG_POLL: Duration = Duration::from_micros(100);

/// How many runs are spawned without a first poll after a long one. Twice as many after each further one in a row.
const SPAWNED: u32 = 100;

/// A run whose reconciler was called.
enum Called<Fut: TryFuture> {
    /// Its future was ready at the first poll.
    Ended(Result<Fut::Ok, Fut::Error>),
    Waits(Pin<Box<IntoFuture<Fut>>>),
}

type Report<K, E> = Result<(ObjectRef<K>, Action), Error<E, watcher::Error>>;

/// What the loop reacts to.
enum Event<K, E> {
    Abort,
    Stop,
    Held,
    News(Option<(usize, News)>),
    Trigger(Option<Trigger>),
    Finished(Finished<K, E>),
    /// A run's task has ended without a result: its runtime was shut down.
    Lost(JoinError),
    Key(Processing<'static, ObjectKey>),
    /// The caches have caught up with what its last run wrote.
    CaughtUp(Processing<'static, ObjectKey>),
    /// What it waited for has been listed, or is not waited for any longer.
    Covered(Keys, Option<RunnerError>),
}

/// A controller that runs.
pub(super) struct Engine<K: Resource + 'static, R, P, Ctx, E> {
    reconciler: R,
    error_policy: P,
    context: Arc<Ctx>,
    dyntype: K::DynamicType,
    store: Store<K>,
    config: Config,
    queue: WorkQueue<ObjectKey>,
    intake: Intake,
    metrics: Metrics,
    news: SelectAll<BoxStream<'static, (usize, News)>>,
    triggers: SelectAll<BoxStream<'static, Trigger>>,
    /// How many triggers have come since the last key.
    in_a_row: u32,
    /// The sources that have to sync before the first run.
    awaited: HashSet<usize>,
    /// What else has to end before the first run.
    hold: Option<BoxFuture<'static, ()>>,
    stop: BoxFuture<'static, ()>,
    abort: BoxFuture<'static, ()>,
    aborted: bool,
    stopping: bool,
    running: JoinSet<Finished<K, E>>,
    /// How many runs are still spawned without a first poll.
    spawned: u32,
    /// How many will be after the next long one.
    next_spawned: u32,
    /// The shards of which it reconciles objects, if not of all.
    shards: Option<ShardSet>,
    own: Option<Own>,
    /// Keys whose caches are behind.
    behind: JoinSet<Processing<'static, ObjectKey>>,
    /// Keys of objects of which not everything has been listed.
    coverage: Coverage,
    failures: Failures,
    /// Objects that the program named, and that have not had their turn.
    named: HashSet<ObjectKey>,
    informers: JoinSet<Result<(), RunError>>,
    informers_stop: Option<DropGuard>,
    /// While it holds them, others can ask them how they are.
    _own_informers: Vec<Arc<dyn AnyInformer>>,
}

/// How many triggers in a row come before a key, so that a stream that always has something does not hold up all
/// runs.
const STREAMS_FIRST: u32 = 1_000;

/// The number of the next run.
static NEXT_RUN: AtomicU64 = AtomicU64::new(1);

impl<K, R, P, Ctx, Fut> Engine<K, R, P, Ctx, Fut::Error>
where
    K: Resource + Send + Sync + 'static,
    K::DynamicType: Eq + Hash + Clone,
    R: FnMut(Arc<K>, Arc<Ctx>) -> Fut,
    P: Fn(Arc<K>, &Fut::Error, Arc<Ctx>) -> Action,
    Fut: TryFuture<Ok = Action> + Send + 'static,
    Fut::Error: std::error::Error + Send + 'static,
{
    /// Starts all sources.
    pub(super) fn start(
        controller: Controller<K>,
        reconciler: R,
        error_policy: P,
        context: Arc<Ctx>,
    ) -> Self {
        let Controller {
            name,
            dyntype,
            store,
            main,
            sources,
            triggers,
            trigger_backoff,
            config,
            mut hold,
            stop,
            abort,
            own_writes,
            shards,
            informers: own_informers,
        } = controller;
        let own = own_writes.map(|writes| Own::new(writes, &name));
        let queue = WorkQueue::builder().name(&name).drop_delay_when_taken().build();
        let intake = Intake::new(queue.clone(), config.debounce, own.clone());
        let informers_stop = CancellationToken::new();
        let (mut informers, mut news, mut awaited) = (JoinSet::new(), SelectAll::new(), HashSet::new());
        if main.is_none() {
            let store = store.clone();
            hold.push(async move { _ = store.wait_until_ready().await }.boxed());
        }
        let mut coverage = Coverage::new(config.sync_timeout);
        let failures = Failures::new(config.backoff);
        let main = main.map(|main| (MAIN, main.watched()));
        for (number, source) in main.into_iter().chain((MAIN + 1..).zip(sources)) {
            let stop = informers_stop.child_token();
            let (follower, run) =
                source.start(&name, shards.as_ref(), intake.clone(), config.sync_timeout, stop);
            run.map(|run| informers.spawn(run));
            awaited.insert(number);
            if let Some(informer) = follower.informer() {
                coverage.add(number, informer, number == MAIN);
            }
            let of_source = stream::unfold(follower, move |mut follower| async move {
                let news = follower.next().await?;
                Some(((number, news), follower))
            });
            news.push(of_source.boxed());
        }
        Self {
            reconciler,
            error_policy,
            context,
            metrics: Metrics::new(&name, config.concurrency),
            dyntype,
            store,
            config,
            queue,
            intake,
            news,
            triggers: paused(stream::select_all(triggers), trigger_backoff),
            in_a_row: 0,
            awaited,
            hold: Some(join_all(hold).map(|_| ()).boxed()),
            stop: first(stop),
            abort: first(abort),
            aborted: false,
            stopping: false,
            running: JoinSet::new(),
            spawned: 0,
            next_spawned: SPAWNED,
            shards,
            own,
            behind: JoinSet::new(),
            coverage,
            failures,
            named: HashSet::new(),
            informers,
            informers_stop: Some(informers_stop.drop_guard()),
            _own_informers: own_informers,
        }
    }

    /// The next result; `None` when the controller has ended.
    pub(super) async fn next(&mut self) -> Option<Report<K, Fut::Error>> {
        loop {
            if self.stopping && self.running.is_empty() {
                self.end().await;
                return None;
            }
            let report = match self.event().await {
                Event::Abort => {
                    (self.stopping, self.aborted) = (true, true);
                    self.running.shutdown().await;
                    None
                }
                Event::Stop => {
                    self.stopping = true;
                    None
                }
                Event::Held => {
                    self.hold = None;
                    None
                }
                Event::News(Some((source, news))) => self.learn(source, news),
                Event::News(None) => {
                    // Without streams, there is nothing more to come.
                    self.stopping |= self.triggers.is_empty();
                    None
                }
                Event::Trigger(trigger) => {
                    self.in_a_row = self.in_a_row.saturating_add(1);
                    self.trigger(trigger)
                }
                Event::Finished(finished) => Some(self.conclude(finished)),
                Event::Lost(error) => {
                    tracing::error!(%error, "a reconcile was lost, and is not retried");
                    None
                }
                Event::Key(item) => {
                    self.in_a_row = 0;
                    self.take(item)
                }
                Event::CaughtUp(item) => self.begin(item),
                Event::Covered(keys, error) => {
                    for (key, priority) in keys {
                        self.queue.with_priority(priority).add(key);
                    }
                    error.map(|error| Err(error.into()))
                }
            };
            if report.is_some() {
                return report;
            }
        }
    }

    /// Waits for something to happen. Cancel safe, like all that it waits for.
    async fn event(&mut self) -> Event<K, Fut::Error> {
        let limit = match self.config.concurrency {
            0 => usize::MAX,
            limit => limit.into(),
        };
        let Self {
            queue,
            running,
            behind,
            coverage,
            news,
            triggers,
            hold,
            stop,
            abort,
            stopping,
            awaited,
            in_a_row,
            ..
        } = self;
        let goes_on = !*stopping;
        let begins = goes_on && awaited.is_empty() && hold.is_none() && running.len() < limit;
        let held = async {
            match hold {
                Some(hold) => hold.await,
                None => pending().await,
            }
        };
        let listens = goes_on && !triggers.is_empty();
        // What streams have comes before the next key, up to a point: they fill stores, and a run should not see
        // an object of which a newer state, or the end, has already come.
        let streams_first = *in_a_row < STREAMS_FIRST;
        let work = async {
            let trigger = async {
                match listens {
                    true => Event::Trigger(triggers.next().await),
                    false => pending().await,
                }
            };
            let key = async {
                match begins {
                    true => match queue.get().await {
                        Some(item) => Event::Key(item.into_owned()),
                        None => pending().await,
                    },
                    false => pending().await,
                }
            };
            if streams_first {
                tokio::select! { biased; event = trigger => event, event = key => event }
            } else {
                tokio::select! { biased; event = key => event, event = trigger => event }
            }
        };
        // Of the rest, any can come first, so that nothing starves.
        tokio::select! {
            () = abort => Event::Abort,
            () = stop, if goes_on => Event::Stop,
            () = held, if goes_on => Event::Held,
            news = news.next(), if goes_on && !news.is_empty() => Event::News(news),
            Some(joined) = running.join_next() => match joined {
                Ok(finished) => Event::Finished(finished),
                Err(error) => Event::Lost(error),
            },
            Some(joined) = behind.join_next(), if begins => match joined {
                Ok(item) => Event::CaughtUp(item),
                Err(error) => Event::Lost(error),
            },
            Some((keys, error)) = coverage.next(), if goes_on => Event::Covered(keys, error),
            event = work, if listens || begins => event,
        }
    }

    /// Ends what the controller has started. An abort does not wait for informers: a user's function may block one.
    async fn end(&mut self) {
        self.queue.shut_down();
        self.behind.shutdown().await;
        self.coverage.stop().await;
        self.news.clear();
        self.informers_stop = None;
        while !self.aborted {
            tokio::select! {
                ended = self.informers.join_next() => match ended {
                    None => return,
                    Some(Ok(Err(error))) => tracing::error!(%error, "an informer of the controller failed"),
                    Some(_) => {}
                },
                () = &mut self.abort => self.aborted = true,
            }
        }
        self.informers.abort_all();
    }

    fn learn(&mut self, source: usize, news: News) -> Option<Report<K, Fut::Error>> {
        let error = match news {
            News::Synced => {
                self.awaited.remove(&source);
                return None;
            }
            News::Failed(error) => error,
            News::Late(error) => {
                if source != MAIN {
                    self.awaited.remove(&source);
                }
                self.coverage.go_on_without(source, &error);
                error
            }
            News::Ended(error) => {
                self.awaited.remove(&source);
                self.coverage.remove(source);
                self.stopping |= source == MAIN;
                error
            }
            News::Unusable(error) => {
                self.stopping = true;
                error
            }
        };
        Some(Err(error.into()))
    }

    fn trigger(&mut self, trigger: Option<Trigger>) -> Option<Report<K, Fut::Error>> {
        match trigger {
            Some(Trigger::All) => {
                for key in self.store.objects().keys() {
                    self.intake.request(key, Priority::LOW);
                }
            }
            Some(Trigger::Key(key)) => self.intake.request(key, Priority::NORMAL),
            Some(Trigger::Named(key)) => {
                self.named.insert(key.clone());
                self.intake.request(key, Priority::NORMAL);
            }
            Some(Trigger::Failed(error)) => return Some(Err(Error::QueueError(error))),
            // Without informers, there is nothing more to come.
            None => self.stopping |= self.news.is_empty(),
        }
        None
    }

    /// Starts the run of a key, once the caches have seen what its last run wrote.
    fn take(&mut self, item: Processing<'static, ObjectKey>) -> Option<Report<K, Fut::Error>> {
        let Some(own) = &self.own else {
            return self.begin(item);
        };
        match own.wait(item) {
            Ok(wait) => {
                self.behind.spawn(wait);
                None
            }
            Err(item) => self.begin(item),
        }
    }

    /// Starts the run of a key, if there is such an object.
    fn begin(&mut self, item: Processing<'static, ObjectKey>) -> Option<Report<K, Fut::Error>> {
        let named = !self.named.is_empty() && self.named.remove(&*item);
        let object = match self.store.objects().get(&item) {
            Some(Ok(object)) => object,
            Some(Err(error)) => {
                self.metrics.rejected();
                return Some(Err(RunnerError::ObjectInvalid(error, self.erased(&item)).into()));
            }
            None => {
                self.failures.forget(&item);
                let elsewhere = self.without_namespace(&item);
                if let Some(key) = elsewhere {
                    self.intake.request(key, item.priority());
                } else if named {
                    return Some(Err(Error::ObjectNotFound(self.erased(&item))));
                }
                return None;
            }
        };
        let Some(hold) = self.hold(&object) else {
            self.failures.forget(&item);
            self.look_again(&item);
            return None;
        };
        let uid = object.meta().uid.as_deref();
        if !self.coverage.admits(&item, item.priority(), uid) {
            if named {
                self.named.insert((*item).clone());
            }
            return None;
        }
        let attempt = Attempt {
            id: NEXT_RUN.fetch_add(1, Ordering::Relaxed),
            failures: self.failures.in_a_row(&item, uid),
            priority: item.priority(),
        };
        let span = tracing::info_span!(
            "reconcile",
            object.kind = &*K::kind(&self.dyntype),
            object.key = item.as_str(),
            reconcile_id = attempt.id,
        );
        let began = Instant::now();
        self.metrics.began();
        // A write in the first poll would belong to no run.
        let polls = self.spawned == 0 && self.own.is_none();
        self.spawned = self.spawned.saturating_sub(1);
        let called = catch_unwind(AssertUnwindSafe(|| {
            let (object, context) = (object.clone(), self.context.clone());
            let call = || {
                // Futures can be large: moved around as they are, some overflow the stack of a debug build.
                let mut run = Box::pin(TryFutureExt::into_future((self.reconciler)(object, context)));
                // Whoever polls it later sets another waker.
                match polls.then(|| (&mut run).now_or_never()).flatten() {
                    Some(result) => Called::<Fut>::Ended(result),
                    None => Called::Waits(run),
                }
            };
            ATTEMPT.sync_scope(attempt, || span.in_scope(call))
        }));
        let took = began.elapsed();
        if polls && took > LONG_POLL {
            self.spawned = self.next_spawned;
            self.next_spawned = self.next_spawned.saturating_mul(2);
        } else if polls {
            self.next_spawned = SPAWNED;
        }
        let own = self.own.clone().map(|own| (own, item.clone()));
        let of_run = span.clone();
        let finished = move |ended, took| Finished {
            item,
            object,
            attempt,
            span: of_run,
            began,
            took,
            ended,
        };
        let run = match called {
            Ok(Called::Waits(run)) => run,
            Ok(Called::Ended(result)) => return Some(self.conclude(finished(Ended::Returned(result), took))),
            Err(panic) => return Some(self.conclude(finished(Ended::Panicked(panic), took))),
        };
        let run = until_end(run, self.config.reconcile_timeout, began);
        let run = match hold {
            None => run.left_future(),
            Some(hold) => while_held(hold, run).boxed().right_future(),
        };
        let run = match own {
            None => run.left_future(),
            Some((own, key)) => own.scope(key, run).boxed().right_future(),
        };
        let run = ATTEMPT.scope(attempt, run).instrument(span);
        self.running
            .spawn(run.map(move |ended| finished(ended, began.elapsed())));
        None
    }

    /// Whether this replica owns an object, and holds its shard if there are shards. The only place where that is asked.
    fn hold(&self, object: &K) -> Option<Option<ShardHold>> {
        let metadata = object.meta();
        match &self.shards {
            None => Some(None),
            Some(shards) => shards
                .hold(metadata.uid.as_deref(), metadata.namespace.as_deref())
                .map(Some),
        }
    }

    /// Asks again for an object whose shard this replica does not own. Either the informer drops it soon, or the shard comes back,
    /// perhaps before the informer has noticed.
    fn look_again(&self, item: &Processing<'static, ObjectKey>) {
        let queue = self.queue.with_priority(item.priority());
        queue.add_after((**item).clone(), SHARD_PAUSE);
    }

    /// The key of an object without a namespace that an owned object, which has one, led to. Only a kind whose scope is not
    /// known is looked for.
    fn without_namespace(&self, key: &ObjectKey) -> Option<ObjectKey> {
        let unknown = TypeId::of::<K::Scope>() == TypeId::of::<DynamicResourceScope>();
        let found = unknown && key.namespace().is_some() && self.store.objects().contains(key.name());
        found.then(|| ObjectKey::new(None, key.name()))
    }

    /// Decides what follows from a run.
    fn conclude(&mut self, finished: Finished<K, Fut::Error>) -> Report<K, Fut::Error> {
        let Finished {
            item,
            object,
            attempt,
            span,
            began,
            took,
            ended,
        } = finished;
        let uid = object.meta().uid.as_deref();
        let (outcome, report) = match ended {
            Ended::Returned(Ok(action)) => {
                let outcome = match action.next {
                    Next::AwaitChange => Outcome::Success,
                    Next::After(_) => Outcome::RequeueAfter,
                    Next::Backoff => Outcome::Requeue,
                };
                if action.next != Next::Backoff {
                    self.failures.forget(&item);
                }
                self.schedule(&item, uid, began, &action);
                (outcome, Ok((self.reference(&object), action)))
            }
            Ended::Returned(Err(error)) => {
                let policy = || {
                    let (object, context) = (object.clone(), self.context.clone());
                    let call = || (self.error_policy)(object, &error, context);
                    ATTEMPT.sync_scope(attempt, || span.in_scope(call))
                };
                match catch_unwind(AssertUnwindSafe(policy)) {
                    Ok(action) => {
                        let terminal = action.next == Next::AwaitChange;
                        let outcome = if terminal {
                            Outcome::Terminal
                        } else {
                            Outcome::Error
                        };
                        self.fail(&item, uid, began, &action);
                        let object = self.reference(&object).erase();
                        (outcome, Err(Error::ReconcilerFailed(error, object.into())))
                    }
                    Err(panic) => self.panicked(&item, &object, began, panic),
                }
            }
            Ended::Panicked(panic) => self.panicked(&item, &object, began, panic),
            // Whoever has the shard then reconciles it.
            Ended::ShardLost => {
                self.failures.forget(&item);
                self.look_again(&item);
                let object = self.reference(&object).erase();
                (Outcome::Error, Err(RunnerError::ShardLost(object.into()).into()))
            }
            Ended::TimedOut(timeout) => {
                self.fail(&item, uid, began, &Action::backoff());
                let object = self.reference(&object).erase().into();
                (
                    Outcome::TimedOut,
                    Err(RunnerError::ReconcilerTimedOut { timeout, object }.into()),
                )
            }
        };
        self.metrics.ended(outcome, took);
        report
    }

    fn panicked(
        &mut self,
        item: &Processing<'static, ObjectKey>,
        object: &K,
        began: Instant,
        panic: Box<dyn Any + Send>,
    ) -> (Outcome, Report<K, Fut::Error>) {
        if !self.config.recover_panic {
            resume_unwind(panic);
        }
        let message = panic.downcast_ref::<&str>().map(|message| (*message).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        self.fail(item, object.meta().uid.as_deref(), began, &Action::backoff());
        let error = RunnerError::ReconcilerPanicked {
            message: message.unwrap_or_else(|| "no message".to_owned()),
            object: self.reference(object).erase().into(),
        };
        (Outcome::Panicked, Err(error.into()))
    }

    /// Counts a failure and schedules the next run.
    fn fail(
        &mut self,
        item: &Processing<'static, ObjectKey>,
        uid: Option<&str>,
        began: Instant,
        action: &Action,
    ) {
        if action.next == Next::Backoff {
            return self.schedule(item, uid, began, action);
        }
        let pause = match action.next {
            Next::After(delay) => Some(delay),
            _ => None,
        };
        self.failures().count(item, uid, began, pause);
        self.schedule(item, uid, began, action);
    }

    /// The failures, without those of objects that are gone if there are many. Not every stream tells of deletions.
    fn failures(&mut self) -> &mut Failures {
        if self.failures.are_many() {
            let objects = self.store.objects();
            self.failures.retain(|key| objects.contains(key));
        }
        &mut self.failures
    }

    /// Schedules the next run, if the action asks for one.
    fn schedule(
        &mut self,
        item: &Processing<'static, ObjectKey>,
        uid: Option<&str>,
        began: Instant,
        action: &Action,
    ) {
        let delay = match action.next {
            Next::AwaitChange => return,
            Next::After(delay) => delay,
            Next::Backoff => self.failures().back_off(item, uid, began),
        };
        let queue = self
            .queue
            .with_priority(action.priority.unwrap_or(item.priority()));
        queue.add_after((**item).clone(), delay);
    }

    /// A reference to the state that was reconciled.
    fn reference(&self, object: &K) -> ObjectRef<K> {
        ObjectRef::from_obj_with(object, self.dyntype.clone())
    }

    /// A reference to an object of which only the key is known.
    fn erased(&self, key: &ObjectKey) -> Box<ObjectRef<DynamicObject>> {
        Box::new(ObjectRef::<K>::from_key_with(key, self.dyntype.clone()).erase())
    }
}

#[cfg(test)]
mod tests;
