//! Runs a controller through thousands of random schedules of crashes, stale reads, lost answers and other
//! faults, and shows the smallest schedule that breaks one of your conditions.
//!
//! The controller need not be changed: it can be any program that uses a [`kube::Client`](Client), for
//! example with kube-rs's or `kube-controller`'s `Controller`. It runs in this process, on tokio's paused
//! clock, on a [`Sim`] cluster. This module needs the feature `simulation`.
//!
//! # Simulate your controller in five minutes
//!
//! Define the program, a workload that changes the cluster meanwhile, conditions that must always hold, and
//! conditions that must hold in the end:
//!
//! ```
//! use std::time::Duration;
//!
//! use k8s_openapi::api::core::v1::{ConfigMap, Service};
//! use kube::api::{Api, ListParams, ObjectMeta, PostParams};
//! use kube::{Client, ResourceExt as _};
//! use kube_sim::simulation::Simulation;
//! # use kube::api::DeleteParams;
//!
//! // The controller: it keeps a ConfigMap for each Service.
//! async fn pass(client: &Client) -> kube::Result<()> {
//!     let services = Api::<Service>::default_namespaced(client.clone());
//!     let maps = Api::<ConfigMap>::default_namespaced(client.clone());
//!     for service in services.list(&ListParams::default().match_any()).await? {
//!         let metadata = ObjectMeta { name: Some(service.name_any()), ..ObjectMeta::default() };
//!         let map = ConfigMap { metadata, ..ConfigMap::default() };
//!         match maps.create(&PostParams::default(), &map).await {
//!             Err(kube::Error::Api(status)) if status.is_already_exists() => {}
//!             created => drop(created?),
//!         }
//!     }
//!     Ok(())
//! }
//!
//! async fn controller(client: Client) {
//!     loop {
//!         if let Err(error) = pass(&client).await {
//!             tracing::warn!(%error, "tries again");
//!         }
//!         tokio::time::sleep(Duration::from_secs(5)).await;
//!     }
//! }
//!
//! // The test; in yours, with `#[test]`.
//! fn main() {
//!     Simulation::new(controller)
//!         .workload(async |client| {
//!             let services = Api::<Service>::default_namespaced(client);
//!             let web = serde_json::json!({"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}});
//!             let web = serde_json::from_value(web).unwrap();
//!             services.create(&PostParams::default(), &web).await.unwrap();
//!         })
//!         .always("at most one map", |cluster| cluster.list::<ConfigMap>().len() <= 1)
//!         .eventually("a map for the service", |cluster| {
//!             cluster.get::<ConfigMap>("default", "web").is_some()
//!         })
//!         .schedules(100)
//!         .run();
//! }
//! ```
//!
//! ```toml
//! [dev-dependencies]
//! kube-sim = { version = "0.1", features = ["simulation"] }
//! serde_json = "1"
//! tracing = "0.1"
//! ```
//!
//! This controller passes. If it looked for the map in a list of maps, and created one with `generate_name`
//! if it found none, the simulation would panic with the smallest schedule that it has found, and with a
//! trace of it:
//!
//! ```text
//! "at most one map" does not hold
//!
//! schedule 2 of 1000, seed 1; 1 of its 1 faults left
//!     0.000 s  p0.0      starts
//!     0.005 s  p0.0      list services in default, any version -> 200, 0 items at 1004
//!     1.000 s  workload  create services in default -> 201, default/web at 1005
//!     5.015 s  p0.0      list services in default, any version -> 200, 1 item at 1005
//!     5.025 s  p0.0      list configmaps in default, of=web, any version -> 200, 0 items at 1005
//!     5.035 s  p0.0      create configmaps in default -> 201, default/web-4wqgd at 1006
//!    10.045 s  p0.0      list services in default, any version -> 200, 1 item at 1006
//!    10.055 s  p0.0      is connected to a server that stays at 1004 for 0.100 s
//!    10.055 s  p0.0      list configmaps in default, of=web, any version -> 200, 0 items at 1004
//!    10.065 s  p0.0      create configmaps in default -> 201, default/web-sscns at 1007
//!    10.065 s  -         "at most one map" does not hold
//!
//! again: KUBE_SIM_SEED='1[even,p0.0:list:configmaps:2=lag(4;100)]'
//! all of it: KUBE_SIM_SEED=1
//! ```
//!
//! `p0.0` is the first replica of the program, before any restart; [`Schedule`] explains the rest.
//!
//! What you can do next:
//!
//! - **Simulate a `Manager`** of `kube-controller`: its [guide to
//!   testing](https://docs.rs/kube-controller/latest/kube_controller/guide/testing/#thousands-of-random-faults)
//!   has an example.
//! - **Replay** it with `KUBE_SIM_SEED='1[...]' cargo test name_of_the_test`. This runs only that schedule,
//!   and shows what you log. [`replay`](Simulation::replay) does it in code, so that a schedule that has
//!   failed once can become a test.
//! - **Run more** schedules with `KUBE_SIM_SCHEDULES=100000`, or begin with another [seed](Simulation::seed)
//!   each night.
//! - **Prepare the cluster** with [`setup`](Simulation::setup) (initial objects, definitions of your
//!   resources) and [`cluster`](Simulation::cluster).
//! - **Leave out faults** that your program need not handle, with [`faults`](Simulation::faults).
//! - **Run several replicas** with [`replicas`](Simulation::replicas), with leader election as in production.
//! - **Model external systems** to which your program writes, such as a cloud or a database, by objects in
//!   the cluster. Calls to them are then requests, between which the program can crash.
//!
//! # What a schedule is
//!
//! 1. The cluster is created, `setup` prepares it, the replicas of the program start, and the workload
//!    begins.
//! 2. During the [fault period](Simulation::fault_period), and until the workload has ended, faults happen;
//!    [`FaultKind`] lists the kinds. Each schedule has some of the kinds, and few or many faults. A program
//!    that ends, by a crash or by itself, is started again.
//! 3. The faults end. The program has up to [`settle_within`](Simulation::settle_within) to reach the state
//!    that must hold in the end. When these conditions have held for a minute, the schedule has passed.
//!
//! The conditions that must always hold are checked after every write, whoever has made it, on the state
//! after the write. Each request, each answer and each event of a watch takes a time that the seed chooses.
//! No two arrive in the same millisecond, except for events of one watch that wait for each other. So tasks
//! wake up in the order of the deliveries, which the seed determines.
//!
//! Requests of the workload never fail because of a fault, but are sent at times that the seed chooses. Its
//! watches end, like all others, when the server restarts or breaks all watches. The workload must end within
//! an hour after the fault period.
//!
//! # Crashes
//!
//! In a crash, the future of the program is dropped, and every later request of that incarnation (one run of a
//! replica, from its start to the crash) hangs. So tasks that the program has spawned can no longer reach the cluster; they are dropped at the end of the
//! run. A request that was already sent still arrives, unless it takes long: such requests are lost with the
//! connection, also when the program stops waiting for them. Static variables survive a crash, so a program
//! that keeps state in them is not simulated well.
//!
//! A panic of the program is a failure, not a crash. A panic of a spawned task concerns only the task that
//! joins it.
//!
//! # Determinism
//!
//! The same seed leads to the same run. Each run has a current-thread runtime with a paused clock. Faults and
//! delays are chosen by the seed and the request that they concern, not by a stream of random numbers, so one
//! fault less does not change the others. Uids and generated names follow from the seed. The seed does not
//! determine random choices of the program itself:
//!
//! | what | here |
//! |---|---|
//! | jitter from the crate `fastrand` (kube-rs's backoff, `kube-informer`, `kube-controller`) | seeded |
//! | `rand` (also `unique_identity` and `ShardGroup::new` of `kube-controller`), the order of a `HashMap`, the branch that `tokio::select!` takes of several that are ready | not seeded; kube-rs's `Controller` takes *several* objects that are due in the order of a `HashSet` |
//! | wall clocks (`SystemTime`, `jiff`, `chrono`) | stand still, nearly; the cluster's timestamps follow tokio's clock |
//! | blocking threads (`spawn_blocking`; `kube-informer` decodes bursts of large objects on them) | the clock waits for them, so nothing is delivered meanwhile; two at once end in any order, which `kube-informer` puts in order again |
//! | admission policies and rules in CEL | evaluated one after the other, in the order of the run |
//! | `block_in_place`, sockets, real threads | `block_in_place` panics; the others are outside of the simulation |
//!
//! All replicas run the same program, so a replica must choose its name itself. For a name that follows from
//! the seed, use `fastrand`: `format!("replica-{:016x}", fastrand::u64(..))`.
//!
//! A failure that depends on such a choice usually happens again, because faults depend on the request and
//! not on its number in the run. If a failure cannot be repeated, the message says so and shows the trace of
//! the run that failed.
//!
//! # Limits
//!
//! Answers are in JSON, without protobuf and compression. The clocks of replicas do not differ, and no
//! program is paused while its clock continues; [`FaultKind::Partition`] and [`FaultKind::Delay`] have the
//! same effect on leases. A program that computes for ever without awaiting hangs the test. A program that
//! sends 10,000 requests in one run fails.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::LocalBoxFuture;
use kube_client::Client;

use crate::sim::{Sim, SimBuilder};

mod chance;
mod cluster;
mod link;
mod plan;
mod request;
mod run;
mod schedule;
mod shrink;
mod trace;
mod world;

pub use cluster::Cluster;
pub use schedule::{FaultKind, Schedule, ScheduleError};
pub use trace::Trace;

use shrink::shrink;
use world::Outcome;

type Program = Arc<dyn Fn(Client) -> LocalBoxFuture<'static, ()> + Send + Sync>;
type Setup = Arc<dyn Fn(&Sim) + Send + Sync>;
type Holds = Box<dyn Fn(&Cluster<'_>) -> bool + Send + Sync>;

/// Replaces the seeds of all simulations of the process by one schedule.
const SEED: &str = "KUBE_SIM_SEED";
/// Replaces the number of schedules of all simulations of the process.
const SCHEDULES: &str = "KUBE_SIM_SCHEDULES";

/// The stack of a thread that runs schedules: that of a main thread. Futures of unoptimized builds are large.
const STACK: usize = 8 * 1024 * 1024;

/// The longest that a phase of a run may take.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// A condition, by its name.
struct Condition {
    name: String,
    holds: Holds,
}

/// A simulation of a program under faults; see the [module](self).
#[must_use = "a simulation does nothing until `run` or `check`"]
pub struct Simulation {
    cluster: SimBuilder,
    setup: Setup,
    program: Program,
    workload: Program,
    replicas: u32,
    kinds: Vec<FaultKind>,
    always: Arc<Vec<Condition>>,
    eventually: Vec<Condition>,
    fault_period: Duration,
    settle_within: Duration,
    seed: u64,
    schedules: u64,
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("seed", &self.seed)
            .field("schedules", &self.schedules)
            .finish_non_exhaustive()
    }
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Broken {
    /// Something that must always hold did not.
    #[non_exhaustive]
    Always {
        /// The name of the condition.
        condition: String,
        /// What the condition said, if it panicked.
        why: Option<String>,
    },
    /// Something that must hold in the end did not.
    #[non_exhaustive]
    Eventually {
        /// The name of the condition.
        condition: String,
        /// What the condition said, if it panicked.
        why: Option<String>,
    },
    /// The program panicked, and said this.
    Panicked(String),
    /// The workload panicked, and said this.
    Workload(String),
    /// The workload had not ended within this time after the faults.
    WorkloadUnended(Duration),
    /// The program sent more than this number of requests.
    TooManyRequests(usize),
}

impl Broken {
    /// Whether it is about the same.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Always { condition, .. }, Self::Always { condition: other, .. })
            | (Self::Eventually { condition, .. }, Self::Eventually { condition: other, .. }) => {
                condition == other
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (said, why) = match self {
            Self::Always { condition, why } => (format!("{condition:?} does not hold"), why.as_ref()),
            Self::Eventually { condition, why } => {
                (format!("{condition:?} does not hold in the end"), why.as_ref())
            }
            Self::Panicked(message) => ("the program panicked".to_owned(), Some(message)),
            Self::Workload(message) => ("the workload panicked".to_owned(), Some(message)),
            Self::WorkloadUnended(time) => (
                format!(
                    "the workload had not ended {} s after the faults: what it waits for never came",
                    time.as_secs()
                ),
                None,
            ),
            Self::TooManyRequests(most) => (
                format!("the program sent more than {most} requests: does it wait between them?"),
                None,
            ),
        };
        match why {
            Some(why) => write!(f, "{said}: {why}"),
            None => f.write_str(&said),
        }
    }
}

/// What a simulation has done that found nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The schedules that were run.
    pub schedules: u64,
    /// The requests that the program sent in all of them.
    pub requests: u64,
    /// The faults that took effect in all of them.
    pub faults: u64,
}

/// What happened in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// Why it failed, if it did.
    pub broken: Option<Broken>,
    /// The run, with the faults that have taken effect.
    pub schedule: Schedule,
    /// What happened.
    pub trace: Trace,
}

/// A schedule in which the program fails.
///
/// `Display` shows the reason, a trace, and how to replay it.
#[derive(Debug, Clone)]
pub struct Failure {
    broken: Broken,
    schedule: Schedule,
    trace: Trace,
    /// Of how many faults some are left; none if it did not fail again.
    shrunk_from: Option<usize>,
    seed: u64,
    nth: u64,
    schedules: u64,
}

impl Failure {
    /// Why the run failed.
    pub fn broken(&self) -> &Broken {
        &self.broken
    }

    /// The seed that was found to fail.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The number of the schedule that failed, from 1.
    pub fn nth(&self) -> u64 {
        self.nth
    }

    /// The smallest schedule that was found, for [`Simulation::replay`].
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// What happens in it.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.broken)?;
        write!(
            f,
            "schedule {} of {}, seed {}",
            self.nth, self.schedules, self.seed
        )?;
        let left = self.schedule.faults.as_ref().map_or(0, Vec::len);
        match self.shrunk_from {
            Some(0) => writeln!(f, "; it needs no fault")?,
            Some(faults) => writeln!(f, "; {left} of its {faults} faults left")?,
            None => writeln!(
                f,
                "; it did not fail again, so something decides in it that the seed does not (see \"Determinism\" in the \
                 documentation of kube_sim::simulation)"
            )?,
        }
        write!(f, "{}", self.trace)?;
        write!(f, "\nagain: {SEED}='{}'", self.schedule)?;
        match self.schedule.faults {
            Some(_) => write!(f, "\nall of it: {SEED}={}", self.seed),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

impl Simulation {
    /// A simulation of one replica of this program, without conditions. So it fails only if the program
    /// panics.
    ///
    /// The program is called at each start of a replica, with a client of its own, whose namespace is
    /// `default`. If its future ends, it is started again, after 1 to 30 s.
    pub fn new<F, Fut>(program: F) -> Self
    where
        F: Fn(Client) -> Fut + Send + Sync + 'static,
        Fut: Future + 'static,
    {
        Self {
            cluster: Sim::builder(),
            setup: Arc::new(|_| {}),
            program: boxed(program),
            workload: boxed(|_| async {}),
            replicas: 1,
            kinds: FaultKind::ALL.into(),
            always: Arc::default(),
            eventually: Vec::new(),
            fault_period: Duration::from_secs(60),
            settle_within: Duration::from_secs(300),
            seed: 0,
            schedules: 1000,
        }
    }

    /// Sets how the cluster of each run is made. Default: `Sim::builder()`, an empty cluster.
    pub fn cluster(mut self, builder: SimBuilder) -> Self {
        self.cluster = builder;
        self
    }

    /// Sets what is done to the cluster before anything runs: objects and definitions that are there.
    ///
    /// ```no_run
    /// # use kube_sim::simulation::Simulation;
    /// # use serde_json::json;
    /// # async fn controller(_: kube::Client) {}
    /// Simulation::new(controller).setup(|sim| {
    ///     let parent = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"}});
    ///     sim.store().create(parent).unwrap();
    /// }).run();
    /// ```
    pub fn setup(mut self, setup: impl Fn(&Sim) + Send + Sync + 'static) -> Self {
        self.setup = Arc::new(setup);
        self
    }

    /// Sets the workload, which changes the cluster while the program runs, once in each run. Each of its
    /// requests first waits for up to 16 s, and never fails because of a fault. Faults happen until the
    /// workload has ended. If it panics, the run fails.
    pub fn workload<F, Fut>(mut self, workload: F) -> Self
    where
        F: Fn(Client) -> Fut + Send + Sync + 'static,
        Fut: Future + 'static,
    {
        self.workload = boxed(workload);
        self
    }

    /// Sets how many replicas of the program run at once. Default: 1; 0 counts as 1. The others start up to
    /// 10 s after the first.
    pub fn replicas(mut self, replicas: u32) -> Self {
        self.replicas = replicas.max(1);
        self
    }

    /// Sets the kinds of faults that can happen. Default: all.
    ///
    /// ```no_run
    /// # use kube_sim::simulation::{FaultKind, Simulation};
    /// # async fn controller(_: kube::Client) {}
    /// Simulation::new(controller).faults([FaultKind::Crash, FaultKind::Lag]).run();
    /// ```
    pub fn faults(mut self, kinds: impl IntoIterator<Item = FaultKind>) -> Self {
        self.kinds = kinds.into_iter().collect();
        self.kinds.sort_unstable();
        self.kinds.dedup();
        self
    }

    /// Adds a condition that must always hold: it is checked at the start, and after each write, whoever has
    /// made it. A condition that panics does not hold; its message is part of the failure, and is printed in
    /// each of the runs that make the schedule smaller.
    pub fn always(
        mut self,
        name: impl Into<String>,
        holds: impl Fn(&Cluster<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        let condition = Condition {
            name: name.into(),
            holds: Box::new(holds),
        };
        if let Some(always) = Arc::get_mut(&mut self.always) {
            always.push(condition);
        }
        self
    }

    /// Adds a condition that must hold in the end, when no fault has happened for a while. A condition that
    /// panics does not hold.
    pub fn eventually(
        mut self,
        name: impl Into<String>,
        holds: impl Fn(&Cluster<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.eventually.push(Condition {
            name: name.into(),
            holds: Box::new(holds),
        });
        self
    }

    /// Sets how long faults happen, by the program's clock. Default: 60 s, and until the workload has ended;
    /// at most a day.
    pub fn fault_period(mut self, time: Duration) -> Self {
        self.fault_period = time.min(LONGEST);
        self
    }

    /// Sets how long after the last fault the program may take until the conditions of the end hold, by its
    /// clock. Default: 5 minutes; at most a day. It must be longer than the program's longest backoff or
    /// resync.
    pub fn settle_within(mut self, time: Duration) -> Self {
        self.settle_within = time.min(LONGEST);
        self
    }

    /// Sets the seed of the first schedule; the next ones follow. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of schedules. Default: 1000. The environment variable `KUBE_SIM_SCHEDULES` replaces
    /// it.
    pub fn schedules(mut self, schedules: u64) -> Self {
        self.schedules = schedules;
        self
    }

    /// Runs the schedules, on all cores. With `KUBE_SIM_SEED`, only that one.
    ///
    /// # Panics
    ///
    /// Panics with a [`Failure`] if a schedule fails, and if one of the environment variables cannot be read.
    #[track_caller]
    pub fn run(&self) -> Report {
        match self.check() {
            Ok(report) => report,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// [`run`](Self::run), but returns the failure instead of panicking.
    ///
    /// # Errors
    ///
    /// The first schedule that fails, as small as it can be made in 200 runs.
    ///
    /// # Panics
    ///
    /// Panics if one of the environment variables cannot be read, and if `setup` panics.
    pub fn check(&self) -> Result<Report, Box<Failure>> {
        if let Some(schedule) = from_environment::<Schedule>(SEED) {
            let run = self.replay(&schedule);
            let Some(broken) = run.broken else {
                return Ok(Report {
                    schedules: 1,
                    ..Report::default()
                });
            };
            return Err(Box::new(Failure {
                broken,
                shrunk_from: Some(run.schedule.faults.as_ref().map_or(0, Vec::len)),
                trace: run.trace,
                seed: schedule.seed,
                schedule: run.schedule,
                nth: 1,
                schedules: 1,
            }));
        }
        let schedules = from_environment(SCHEDULES).unwrap_or(self.schedules);
        let (report, failed) = self.search(schedules);
        let Some((nth, outcome)) = failed else {
            return Ok(report);
        };
        let seed = self.seed.wrapping_add(nth);
        let smallest = on_a_thread(|| shrink(self, seed, &outcome));
        let happened = outcome.happened.len();
        // What is said of the failure is of the run that is shown.
        let (schedule, shown, shrunk_from) = match smallest {
            Some((schedule, smallest)) => (schedule, smallest, Some(happened)),
            None => (Schedule::of_seed(seed), outcome, None),
        };
        let Some(broken) = shown.broken else {
            return Ok(report);
        };
        Err(Box::new(Failure {
            broken,
            schedule,
            trace: shown.trace,
            shrunk_from,
            seed,
            nth: nth + 1,
            schedules,
        }))
    }

    /// Runs one schedule.
    ///
    /// ```
    /// # use kube_sim::simulation::Simulation;
    /// # async fn controller(_: kube::Client) { std::future::pending().await }
    /// let schedule = "17[p0@2000=crash(500)]".parse().unwrap();
    /// let run = Simulation::new(controller).replay(&schedule);
    /// assert!(run.broken.is_none(), "{}", run.trace);
    /// assert_eq!(run.schedule, schedule);
    /// ```
    pub fn replay(&self, schedule: &Schedule) -> Run {
        let outcome = on_a_thread(|| run::run(self, schedule));
        Run {
            broken: outcome.broken,
            schedule: Schedule {
                faults: Some(outcome.happened),
                ..schedule.clone()
            },
            trace: outcome.trace,
        }
    }

    /// Runs so many schedules, and returns the first that fails with its number, from 0.
    fn search(&self, schedules: u64) -> (Report, Option<(u64, Outcome)>) {
        let (next, failing) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let work = || {
            let mut report = Report::default();
            loop {
                // Those before one that fails are run to their end: which one is reported does not depend on
                // the threads.
                let nth = next.fetch_add(1, Ordering::Relaxed);
                if nth >= schedules || nth > failing.load(Ordering::Relaxed) {
                    return (report, None);
                }
                let outcome = run::run(self, &Schedule::of_seed(self.seed.wrapping_add(nth)));
                report.schedules += 1;
                report.requests += outcome.requests as u64;
                report.faults += outcome.happened.len() as u64;
                if outcome.broken.is_some() {
                    failing.fetch_min(nth, Ordering::Relaxed);
                    return (report, Some((nth, outcome)));
                }
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.min(usize::try_from(schedules).unwrap_or(usize::MAX));
        let all: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| spawn(scope, work)).collect();
            threads.into_iter().map(join).collect()
        });
        let mut report = Report::default();
        let mut first: Option<(u64, Outcome)> = None;
        for (part, failed) in all {
            report.schedules += part.schedules;
            report.requests += part.requests;
            report.faults += part.faults;
            if let Some((nth, outcome)) = failed
                && first.as_ref().is_none_or(|(other, _)| nth < *other)
            {
                first = Some((nth, outcome));
            }
        }
        (report, first)
    }
}

fn boxed<F, Fut>(program: F) -> Program
where
    F: Fn(Client) -> Fut + Send + Sync + 'static,
    Fut: Future + 'static,
{
    Arc::new(move |client| program(client).map(drop).boxed_local())
}

/// Runs something on a thread that is in no runtime, whatever the caller is in.
fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| join(spawn(scope, work)))
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> thread::ScopedJoinHandle<'scope, T> {
    let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
    thread.expect("a thread can be started")
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The value of an environment variable, if it is set.
fn from_environment<T: std::str::FromStr<Err: fmt::Display>>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => panic!("{name}={text:?} cannot be read: {error}"),
    }
}
