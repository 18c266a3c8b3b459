//! Many random histories: clocks that are wrong, networks that fail, processes that crash.
//!
//! Time is tokio's paused clock, which stands for the true time. Each replica has its own clocks, which run faster or slower
//! and show another time of day. Two rules are checked:
//!
//! - *Safety*: when a leadership begins, no other one is live, and no other work is running.
//! - *Liveness*: once the server can be reached and nothing that was sent before is still on its way, there is a leader within
//!   [`FieldPlan::bound`], and from then on at every moment.
//!
//! Some tens of histories run with the other tests. `HISTORIES=10000 cargo test --release -p kube-controller simulation` runs
//! more. A failure names its seed; `HISTORY=seed` runs that one alone.

use super::clock::Clock;
use super::config::LeaderElectionConfig;
use super::elector::{LeaderElectionError, LeaderElector};
use super::leadership::Leadership;
use super::testing::{Answer, Fate, Network};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use kube_sim::Sim;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

/// How far a clock's rate is off, at most.
const DRIFT: f64 = 0.1;
/// How long a request is on its way to the server, at most.
const DELIVERY: Duration = Duration::from_secs(12);
/// How long work takes to stop, at most: less than what every [`FieldPlan`] leaves for it.
const STOPPING: Duration = Duration::from_millis(150);

/// A clock that runs at `rate`, beside a time of day that is `offset` off.
#[derive(Debug)]
struct Skewed {
    start: Instant,
    rate: f64,
    offset: SignedDuration,
}

impl Clock for Skewed {
    fn now(&self) -> Instant {
        self.start + self.start.elapsed().mul_f64(self.rate)
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        let local = deadline.saturating_duration_since(self.start);
        sleep_until(self.start + local.div_f64(self.rate)).boxed()
    }

    fn wall(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.start.elapsed()).unwrap();
        Timestamp::from_second(1_700_000_000).unwrap() + elapsed + self.offset
    }
}

/// The durations of one history.
#[derive(Debug, Clone, Copy)]
struct FieldPlan {
    lease: u64,
    deadline: u64,
    retry: f64,
}

impl FieldPlan {
    /// All leave 0.2 s and more for the work to stop between the slowest clock's deadline and the fastest clock's lease.
    const ALL: [Self; 5] = [
        Self::new(15, 10, 2.0),
        Self::new(15, 12, 2.0),
        Self::new(30, 24, 5.0),
        Self::new(8, 6, 1.0),
        Self::new(4, 3, 0.5),
    ];

    const fn new(lease: u64, deadline: u64, retry: f64) -> Self {
        Self {
            lease,
            deadline,
            retry,
        }
    }

    fn config(self, identity: String) -> LeaderElectionConfig {
        LeaderElectionConfig {
            lease_duration: Duration::from_secs(self.lease),
            renew_deadline: Duration::from_secs(self.deadline),
            retry_period: Duration::from_secs_f64(self.retry),
            ..LeaderElectionConfig::new("default", "test", identity)
        }
    }

    /// When there must be a leader, by the slowest clock: a candidate looks after 2.2 retry periods at the latest and sees
    /// the last holder's record, waits for as long as that says, and looks again after at most as long. The requests take
    /// milliseconds then.
    fn bound(self) -> Duration {
        let local = self.lease as f64 + 2.0 * 2.2 * self.retry;
        Duration::from_secs_f64(local / (1.0 - DRIFT) + 0.2)
    }
}

/// One term of one replica.
struct Term {
    replica: usize,
    leadership: Leadership,
    working: Arc<()>,
}

impl Term {
    fn is_live(&self) -> bool {
        !self.leadership.token().is_cancelled()
    }

    fn works(&self) -> bool {
        Arc::strong_count(&self.working) > 1
    }
}

/// How requests fail.
#[derive(Debug, Clone, Copy)]
enum Cut {
    Refused,
    Silent,
    /// They are done, and the answers are lost.
    Unanswered,
}

impl Cut {
    fn draw(random: &mut SmallRng) -> Self {
        [Self::Refused, Self::Silent, Self::Unanswered][random.random_range(0..3)]
    }
}

/// What the replicas share.
struct World {
    seed: u64,
    plan: FieldPlan,
    start: Instant,
    sim: Sim,
    state: Mutex<State>,
}

struct State {
    random: SmallRng,
    healthy: bool,
    slow: bool,
    /// Which replicas do not reach the server, from when on and how.
    cut_off: Vec<Option<(Instant, Cut)>>,
    /// The next request of this method is slow, and the leader is cut off after it.
    trap: Option<Method>,
    terms: Vec<Term>,
    begun: u64,
    lost: u64,
}

impl World {
    fn random<T>(&self, draw: impl FnOnce(&mut SmallRng) -> T) -> T {
        draw(&mut self.state.lock().unwrap().random)
    }

    /// What becomes of a request of a replica.
    fn fate(&self, replica: usize, method: &Method) -> Fate {
        let mut state = self.state.lock().unwrap();
        let mut up_to = |most: Duration| most.mul_f64(state.random.random::<f64>());
        let quick = Fate {
            there: up_to(Duration::from_millis(5)),
            back: up_to(Duration::from_millis(5)),
            ..Fate::OK
        };
        let late = Fate {
            there: up_to(DELIVERY),
            back: up_to(DELIVERY),
            ..Fate::OK
        };
        if state.healthy {
            return quick;
        }
        if state.trap.take_if(|trap| trap == method).is_some() {
            return self.spring_trap(&mut state, replica, method, quick);
        }
        let base = match state.slow {
            true => Fate {
                there: late.there / 3,
                back: late.back / 3,
                ..Fate::OK
            },
            false => quick,
        };
        let answer = |fate, answer| Fate { answer, ..fate };
        let lost = |fate, answer| Fate {
            arrives: false,
            answer,
            ..fate
        };
        if let Some((since, cut)) = state.cut_off[replica]
            && since <= Instant::now()
        {
            return match cut {
                Cut::Refused => lost(quick, Answer::Status(503)),
                Cut::Silent => Fate::SILENCE,
                Cut::Unanswered => answer(base, Answer::Never),
            };
        }
        match state.random.random_range(0..100) {
            0..75 => base,
            75..82 => Fate {
                back: quick.back,
                ..late
            },
            82..86 => Fate {
                there: quick.there,
                ..late
            },
            86..90 => answer(base, Answer::Status(500)),
            90..94 => answer(base, Answer::Never),
            94..97 => lost(base, Answer::Status(500)),
            _ => Fate::SILENCE,
        }
    }

    /// What is most dangerous: a renewal whose answer takes as long as it may, and then the leader is cut off. Or a look that
    /// takes as long to the server, meets a renewal there, and then all others are cut off.
    fn spring_trap(&self, state: &mut State, replica: usize, method: &Method, quick: Fate) -> Fate {
        let config = self.plan.config(String::new());
        let slow = config.request_timeout().mul_f64(0.99 / (1.0 + DRIFT));
        let cut = Cut::draw(&mut state.random);
        let since = Instant::now() + Duration::from_millis(1);
        if method == Method::PUT {
            state.cut_off[replica] = Some((since, cut));
            return Fate { back: slow, ..quick };
        }
        for (other, cut_off) in state.cut_off.iter_mut().enumerate() {
            *cut_off = (other != replica).then_some((since + slow, cut));
        }
        Fate {
            there: slow,
            back: Duration::ZERO,
            ..quick
        }
    }

    fn begin(&self, replica: usize, leadership: &Leadership) -> Arc<()> {
        let mut state = self.state.lock().unwrap();
        state.terms.retain(|term| term.is_live() || term.works());
        for other in &state.terms {
            assert!(
                !other.is_live() && !other.works(),
                "seed {}, {:?}, at {:?}: replica {replica} leads, and {} does too (live: {}, works: {})",
                self.seed,
                self.plan,
                self.start.elapsed(),
                other.replica,
                other.is_live(),
                other.works(),
            );
        }
        let working = Arc::new(());
        state.terms.push(Term {
            replica,
            leadership: leadership.clone(),
            working: working.clone(),
        });
        state.begun += 1;
        working
    }

    fn has_leader(&self) -> bool {
        let state = self.state.lock().unwrap();
        state.terms.iter().any(|term| term.leadership.is_live())
    }

    async fn work(self: Arc<Self>, replica: usize, leadership: Leadership) {
        let _working = self.begin(replica, &leadership);
        // Now and then work ends by itself, while there are faults.
        let (ends, stopping) = self.random(|random| {
            let ends = random.random_bool(0.2).then(|| random.random_range(0.0..40.0));
            (ends, STOPPING.mul_f64(random.random()))
        });
        let by_itself = async {
            sleep(Duration::from_secs_f64(ends.unwrap_or(1e6))).await;
            if self.state.lock().unwrap().healthy {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = leadership.cancelled() => sleep(stopping).await,
            () = by_itself => {}
        }
    }

    /// A process from start to end.
    async fn replica(self: Arc<Self>, index: usize, identity: String, shutdown: CancellationToken) {
        let world = self.clone();
        let client = Network::client(&self.sim, move |method| world.fate(index, method));
        let (clock, jitter) = self.random(|random| {
            let clock = Skewed {
                start: self.start,
                // Often as wrong as it may be.
                rate: 1.0 + DRIFT * random.random_range(-2.0..=2.0_f64).clamp(-1.0, 1.0),
                offset: SignedDuration::from_secs(random.random_range(-3600..=3600)),
            };
            (Arc::new(clock), SmallRng::seed_from_u64(random.random()))
        });
        let config = self.plan.config(identity);
        let mut elector = LeaderElector::with_clock(client, config, clock, jitter).unwrap();
        loop {
            let world = self.clone();
            let work = move |leadership| world.work(index, leadership);
            match elector.run(shutdown.clone(), work).await {
                Ok(_) if shutdown.is_cancelled() => return,
                Ok(_) => {}
                Err(LeaderElectionError::Lost { .. }) => self.state.lock().unwrap().lost += 1,
                Err(LeaderElectionError::WorkPanicked { message }) => panic!("{message}"),
                Err(error) => panic!("seed {}: {error}", self.seed),
            }
        }
    }
}

/// A process that may be running.
struct Process {
    index: usize,
    /// Some keep their name when they are started again, as the pods of a StatefulSet do.
    keeps_name: bool,
    starts: u32,
    running: Option<(JoinHandle<()>, CancellationToken)>,
}

impl Process {
    fn start(&mut self, world: &Arc<World>) {
        self.starts += 1;
        let name = if self.keeps_name { 0 } else { self.starts };
        let identity = format!("replica-{}-{name}", self.index);
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(world.clone().replica(self.index, identity, shutdown.clone()));
        self.running = Some((task, shutdown));
    }

    async fn crash(&mut self) {
        if let Some((task, _)) = self.running.take() {
            task.abort();
            ended(task).await;
        }
    }

    async fn shut_down(&mut self) {
        if let Some((task, shutdown)) = self.running.take() {
            shutdown.cancel();
            ended(task).await;
        }
    }

    /// Passes on what went wrong in it.
    async fn check(&mut self) {
        if let Some((task, _)) = self.running.take_if(|(task, _)| task.is_finished()) {
            ended(task).await;
            panic!("a replica ended by itself");
        }
    }
}

async fn ended(task: JoinHandle<()>) {
    if let Err(error) = task.await
        && let Ok(panic) = error.try_into_panic()
    {
        std::panic::resume_unwind(panic);
    }
}

/// What happened in a history, to see that something did.
#[derive(Debug, Default, PartialEq)]
struct Events {
    terms: u64,
    lost: u64,
    /// The longest time without a leader after the faults were over, as a share of what is allowed.
    found_after: f64,
}

async fn history(seed: u64) -> Events {
    let mut random = SmallRng::seed_from_u64(seed);
    let plan = FieldPlan::ALL[random.random_range(0..FieldPlan::ALL.len())];
    let replicas = random.random_range(2..=4);
    let world = Arc::new(World {
        seed,
        plan,
        start: Instant::now(),
        sim: Sim::builder().build().unwrap(),
        state: Mutex::new(State {
            random: SmallRng::seed_from_u64(random.random()),
            healthy: false,
            slow: false,
            cut_off: vec![None; replicas],
            trap: None,
            terms: Vec::new(),
            begun: 0,
            lost: 0,
        }),
    });
    let mut processes: Vec<_> = (0..replicas)
        .map(|index| Process {
            index,
            keeps_name: random.random_bool(0.3),
            starts: 0,
            running: None,
        })
        .collect();
    processes.iter_mut().for_each(|process| process.start(&world));

    let faults = Duration::from_secs(8 * plan.lease);
    while world.start.elapsed() < faults {
        let pause = random.random_range(0.05..0.3) * plan.lease as f64;
        sleep(Duration::from_secs_f64(pause)).await;
        let at = random.random_range(0..replicas);
        let process = &mut processes[at];
        process.check().await;
        match random.random_range(0..9) {
            0 => process.crash().await,
            1 => process.shut_down().await,
            2 => world.state.lock().unwrap().slow = random.random_bool(0.3),
            // The whole server is out of reach, or is back.
            3 => {
                let cut = random.random_bool(0.3).then(|| Cut::draw(&mut random));
                let cut = cut.map(|cut| (Instant::now(), cut));
                world.state.lock().unwrap().cut_off.fill(cut);
            }
            4 => {
                let cut = random.random_bool(0.4).then(|| Cut::draw(&mut random));
                let cut = cut.map(|cut| (Instant::now(), cut));
                world.state.lock().unwrap().cut_off[at] = cut;
            }
            5 | 6 => {
                let method = [Method::PUT, Method::GET][random.random_range(0..2)].clone();
                world.state.lock().unwrap().trap = Some(method);
            }
            _ if process.running.is_none() => process.start(&world),
            _ => {}
        }
    }

    world.state.lock().unwrap().healthy = true;
    for process in &mut processes {
        process.check().await;
        if process.running.is_none() && random.random_bool(0.5) {
            process.start(&world);
        }
    }
    if processes.iter().all(|process| process.running.is_none()) {
        processes[0].start(&world);
    }
    // What was asked before has been delivered, or was given up: half of the longest deadline.
    sleep(DELIVERY.div_f64(1.0 - DRIFT)).await;
    let found_after = leader_is_found(&world).await;

    for process in &mut processes {
        process.check().await;
        process.shut_down().await;
    }
    let state = world.state.lock().unwrap();
    Events {
        terms: state.begun,
        lost: state.lost,
        found_after,
    }
}

/// The time to the first leader, after which there always is one, as a share of the bound.
async fn leader_is_found(world: &World) -> f64 {
    let start = Instant::now();
    let mut without = Duration::ZERO;
    let bound = world.plan.bound();
    while start.elapsed() < bound + Duration::from_secs(world.plan.lease) {
        if !world.has_leader() {
            without = start.elapsed();
            assert!(
                without <= bound,
                "seed {}, {:?}: no leader {without:?} after the faults were over",
                world.seed,
                world.plan
            );
        }
        sleep(Duration::from_millis(100)).await;
    }
    without.div_duration_f64(bound)
}

fn run(seed: u64) -> Events {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(history(seed))
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

// Never two live leaderships; a leader again within the bound.
#[test]
#[allow(clippy::print_stderr)] // the test's report
fn random_histories_have_one_leader_at_a_time() {
    let seeds = match number("HISTORY") {
        Some(seed) => seed..seed + 1,
        None => 0..number("HISTORIES").unwrap_or(30),
    };
    let started = std::time::Instant::now();
    let mut all = Events::default();
    for seed in seeds.clone() {
        let events = std::panic::catch_unwind(|| run(seed)).unwrap_or_else(|panic| {
            eprintln!("HISTORY={seed} repeats it");
            std::panic::resume_unwind(panic)
        });
        all.terms += events.terms;
        all.lost += events.lost;
        all.found_after = all.found_after.max(events.found_after);
    }
    eprintln!("seeds {seeds:?}: {all:?}, in {:?}", started.elapsed());
    assert!(all.terms > 0, "nobody led: {all:?}");
}

#[test]
fn a_seed_is_one_history() {
    assert_eq!(run(7), run(7));
}
