//! The state of one run: who lives, what goes wrong, what has happened, and whether the conditions hold.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::chance::millis;
use super::cluster::Cluster;
use super::plan::Plan;
use super::request::Asked;
use super::schedule::{Effect, Fault, Life, RequestSite, Site};
use super::trace::{Trace, Who};
use super::{Broken, Condition};
use crate::sim::Sim;

/// A program that sends more requests than this in one run does not wait between them.
const MOST_REQUESTS: usize = 10_000;

/// So many watches have milliseconds of their own.
const WATCHES: u64 = 32;

/// A run of a replica.
pub(super) struct Incarnation {
    pub(super) life: Life,
    /// Cancelled when it has ended: by a crash, or by itself.
    pub(super) over: CancellationToken,
    /// How long the replica is down then, if it has crashed.
    down: Mutex<Option<Duration>>,
}

impl Incarnation {
    /// How long the replica is down after a crash.
    pub(super) fn down(&self) -> Duration {
        let down = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        down.unwrap_or_default()
    }
}

pub(super) struct World {
    pub(super) sim: Sim,
    pub(super) plan: Plan,
    always: Arc<Vec<Condition>>,
    started: Instant,
    /// The version before which no server is.
    first_version: u64,
    state: Mutex<State>,
    /// Cancelled when a condition is broken.
    pub(super) over: CancellationToken,
}

struct State {
    trace: Trace,
    /// The faults that have taken effect.
    happened: Vec<Fault>,
    /// How many requests of each life asked for the same.
    counts: BTreeMap<(Life, &'static str, String), u32>,
    by_workload: u32,
    watches: u64,
    requests: usize,
    /// The milliseconds at which something is delivered.
    taken: BTreeSet<u64>,
    is_calm: bool,
    broken: Option<Broken>,
    /// The version for which the conditions were last looked at.
    looked_at: Option<u64>,
    replicas: Vec<Replica>,
}

#[derive(Default, Clone)]
struct Replica {
    incarnation: Option<Arc<Incarnation>>,
    cut_off_until: Option<Instant>,
    /// The version at which the server it reads from is stuck, and until when.
    lag: Option<(u64, Instant)>,
}

/// What came of a run.
pub(super) struct Outcome {
    pub(super) broken: Option<Broken>,
    pub(super) happened: Vec<Fault>,
    pub(super) trace: Trace,
    pub(super) requests: usize,
}

impl World {
    pub(super) fn new(sim: Sim, plan: Plan, always: Arc<Vec<Condition>>, replicas: u32) -> Self {
        let state = State {
            trace: Trace::default(),
            happened: Vec::new(),
            counts: BTreeMap::new(),
            by_workload: 0,
            watches: 0,
            requests: 0,
            taken: BTreeSet::new(),
            is_calm: false,
            broken: None,
            looked_at: None,
            replicas: vec![Replica::default(); replicas as usize],
        };
        Self {
            first_version: sim.store().resource_version(),
            sim,
            plan,
            always,
            started: Instant::now(),
            state: Mutex::new(state),
            over: CancellationToken::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time at so many milliseconds.
    pub(super) fn at(&self, at: u64) -> Instant {
        self.started + millis(at)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn tell(&self, who: Who, what: String) {
        let at = self.started.elapsed();
        self.lock().trace.add(at, who, what);
    }

    /// Notes that a fault takes effect.
    pub(super) fn happens(&self, site: Site, effect: Effect) {
        self.lock().happened.push(Fault { site, effect });
    }

    /// Waits until something that takes so long arrives. No two things arrive in the same millisecond, so that it is the
    /// schedule that says which one is seen first.
    pub(super) async fn travel(&self, time: u64) {
        let at = self.take(self.now().saturating_add(time.max(1)), 1);
        tokio::time::sleep_until(self.at(at)).await;
    }

    /// Waits until an event of a watch that takes so long arrives. A change wakes several watches in no certain order, so
    /// each has milliseconds of its own.
    pub(super) async fn travel_to_watch(&self, time: u64, watch: u64) {
        let at = self.now().saturating_add(time);
        let at = self.take(at - at % WATCHES + WATCHES + watch % WATCHES, WATCHES);
        tokio::time::sleep_until(self.at(at)).await;
    }

    /// Takes the first free millisecond from this one on, in steps.
    fn take(&self, mut at: u64, step: u64) -> u64 {
        let now = self.now();
        let mut state = self.lock();
        state.taken = state.taken.split_off(&now);
        while !state.taken.insert(at) {
            at += step;
        }
        at
    }

    /// The number of a new watch.
    pub(super) fn next_watch(&self) -> u64 {
        let mut state = self.lock();
        state.watches += 1;
        state.watches
    }

    /// A replica starts.
    pub(super) fn start(&self, life: Life) -> Arc<Incarnation> {
        let incarnation = Arc::new(Incarnation {
            life,
            over: CancellationToken::new(),
            down: Mutex::new(None),
        });
        {
            let mut state = self.lock();
            let replica = &mut state.replicas[life.replica as usize];
            replica.incarnation = Some(incarnation.clone());
            // It connects anew, maybe to another server.
            replica.lag = None;
        }
        self.tell(Who::Program(life), "starts".into());
        incarnation
    }

    /// A program ends without warning, and stays away for so many milliseconds.
    pub(super) fn crash(&self, incarnation: &Incarnation, down: u64, when: &str) {
        if incarnation.over.is_cancelled() {
            return;
        }
        let down = millis(down);
        *incarnation.down.lock().unwrap_or_else(PoisonError::into_inner) = Some(down);
        let what = format!("crashes {when}; down for {:.3} s", down.as_secs_f64());
        self.tell(Who::Program(incarnation.life), what);
        incarnation.over.cancel();
    }

    /// The program that runs as this replica.
    pub(super) fn running(&self, replica: u32) -> Option<Arc<Incarnation>> {
        let state = self.lock();
        let incarnation = state.replicas.get(replica as usize)?.incarnation.clone()?;
        (!incarnation.over.is_cancelled()).then_some(incarnation)
    }

    pub(super) fn cut_off(&self, replica: u32, time: u64) {
        let until = Instant::now() + millis(time);
        if let Some(replica) = self.lock().replicas.get_mut(replica as usize) {
            replica.cut_off_until = Some(until);
        }
    }

    /// Until when a replica is cut off from the server, if it is.
    pub(super) fn cut_off_until(&self, life: Life) -> Option<Instant> {
        let until = self.lock().replicas[life.replica as usize].cut_off_until;
        until.filter(|until| *until > Instant::now())
    }

    /// The server from which a program reads is behind by so many changes, for so many milliseconds.
    pub(super) fn lag(&self, life: Life, changes: u64, time: u64) -> u64 {
        let newest = self.sim.store().resource_version();
        let version = newest.saturating_sub(changes).max(self.first_version);
        let until = Instant::now() + millis(time);
        self.lock().replicas[life.replica as usize].lag = Some((version, until));
        version
    }

    /// Where the server of a program is stuck, and until when, if it is.
    pub(super) fn lagging(&self, life: Life) -> Option<(u64, Instant)> {
        let state = self.lock();
        let lag = state.replicas[life.replica as usize].lag;
        lag.filter(|(_, until)| !state.is_calm && *until > Instant::now())
    }

    /// Gives a request its place among those that ask for the same, and counts it.
    pub(super) fn site(&self, life: Life, asked: &Asked) -> RequestSite {
        let nth = {
            let mut state = self.lock();
            state.requests += 1;
            let count = state.counts.entry((life, asked.verb, asked.resource.clone()));
            let count = count.or_default();
            *count += 1;
            *count
        };
        if self.requests() > MOST_REQUESTS {
            self.fail(Broken::TooManyRequests(MOST_REQUESTS));
        }
        RequestSite {
            life,
            verb: asked.verb,
            resource: asked.resource.clone(),
            nth,
        }
    }

    fn requests(&self) -> usize {
        self.lock().requests
    }

    /// The number of a request of the workload.
    pub(super) fn next_of_workload(&self) -> u32 {
        let mut state = self.lock();
        state.by_workload += 1;
        state.by_workload
    }

    pub(super) fn is_calm(&self) -> bool {
        self.lock().is_calm
    }

    /// From now on, nothing goes wrong.
    pub(super) fn calm(&self) {
        {
            let mut state = self.lock();
            state.is_calm = true;
            for replica in &mut state.replicas {
                replica.cut_off_until = None;
            }
        }
        self.tell(Who::Simulation, "the faults are over".into());
    }

    /// Looks at what must always hold, if anything has changed.
    pub(super) fn look(&self) {
        let version = self.sim.store().resource_version();
        if self.lock().looked_at.replace(version) == Some(version) {
            return;
        }
        for condition in self.always.iter() {
            if let Err(why) = self.holds(condition) {
                self.fail(Broken::Always {
                    condition: condition.name.clone(),
                    why,
                });
            }
        }
    }

    /// Whether a condition holds; if it has panicked, what it said.
    pub(super) fn holds(&self, condition: &Condition) -> Result<(), Option<String>> {
        let cluster = Cluster::new(&self.sim);
        match catch_unwind(AssertUnwindSafe(|| (condition.holds)(&cluster))) {
            Ok(true) => Ok(()),
            Ok(false) => Err(None),
            Err(panic) => Err(Some(message(&*panic))),
        }
    }

    /// Ends the run; the first failure counts.
    pub(super) fn fail(&self, broken: Broken) {
        let is_first = {
            let mut state = self.lock();
            let is_first = state.broken.is_none();
            state.broken.get_or_insert_with(|| broken.clone());
            is_first
        };
        if is_first {
            self.tell(Who::Simulation, broken.to_string());
            self.over.cancel();
        }
    }

    pub(super) fn outcome(&self) -> Outcome {
        let state = self.lock();
        Outcome {
            broken: state.broken.clone(),
            happened: state.happened.clone(),
            trace: state.trace.clone(),
            requests: state.requests,
        }
    }
}

/// What somebody who panicked has said.
pub(super) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
