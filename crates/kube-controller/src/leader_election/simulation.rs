//! Many random histories: clocks that are wrong, networks that fail, processes that crash.
//!
//! Time is tokio's paused clock, which stands for the true time. Each replica has its own clocks, which run faster or slower
//! and show another time of day. Two rules are checked:
//!
//! - *Safety*: when a leadership begins, no other one is live, and no other work is running.
//! - *Liveness*: once the server can be reached and nothing that was sent before is still on its way, there is a leader within
//!   [`Durations::bound`], and from then on at every moment.
//!
//! Some tens of histories run with the other tests. `HISTORIES=10000 cargo test --release -p kube-controller simulation` runs
//! more, `HISTORIES=2000..3000` those of some seeds. Failures are named by their seeds; `HISTORY=seed` runs one alone.

use super::elector::{LeaderElectionError, LeaderElector};
use super::histories::{
    Cut, DELIVERY, DRIFT, Durations, Process, STOPPING, Weather, run, run_all, skewed_clock,
};
use super::leadership::Leadership;
use super::testing::{Fate, Network};
use http::Method;
use kube_sim::Sim;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

impl Durations {
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

/// What the replicas share.
struct World {
    seed: u64,
    plan: Durations,
    start: Instant,
    sim: Sim,
    state: Mutex<State>,
}

struct State {
    weather: Weather,
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
        draw(&mut self.state.lock().unwrap().weather.random)
    }

    /// What becomes of a request of a replica.
    fn fate(&self, replica: usize, method: &Method) -> Fate {
        let mut state = self.state.lock().unwrap();
        if !state.weather.healthy && state.trap.take_if(|trap| trap == method).is_some() {
            return self.spring_trap(&mut state, replica, method);
        }
        let cut_off = state.cut_off[replica].filter(|(since, _)| *since <= Instant::now());
        state.weather.fate(cut_off.map(|(_, cut)| cut))
    }

    /// What is most dangerous: a renewal whose answer takes as long as it may, and then the leader is cut off. Or a look that
    /// takes as long to the server, meets a renewal there, and then all others are cut off.
    fn spring_trap(&self, state: &mut State, replica: usize, method: &Method) -> Fate {
        let quick = state.weather.quick();
        let config = self.plan.config(String::new());
        let slow = config.request_timeout().mul_f64(0.99 / (1.0 + DRIFT));
        let cut = Cut::draw(&mut state.weather.random);
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
            if self.state.lock().unwrap().weather.healthy {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = leadership.cancelled() => sleep(stopping).await,
            () = by_itself => {}
        }
    }

    fn start(self: &Arc<Self>, process: &mut Process) {
        let world = self.clone();
        process.start(|index, identity, shutdown| world.replica(index, identity, shutdown));
    }

    /// A process from start to end.
    async fn replica(self: Arc<Self>, index: usize, identity: String, shutdown: CancellationToken) {
        let world = self.clone();
        let client = Network::client(&self.sim, move |method| world.fate(index, method));
        let (clock, jitter) = self.random(|random| {
            (
                skewed_clock(self.start, random),
                SmallRng::seed_from_u64(random.random()),
            )
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
    let plan = Durations::draw(&mut random);
    let replicas = random.random_range(2..=4);
    let world = Arc::new(World {
        seed,
        plan,
        start: Instant::now(),
        sim: Sim::builder().build().unwrap(),
        state: Mutex::new(State {
            weather: Weather::new(&mut random),
            cut_off: vec![None; replicas],
            trap: None,
            terms: Vec::new(),
            begun: 0,
            lost: 0,
        }),
    });
    let draw = |index| Process::draw(index, &mut random);
    let mut processes: Vec<_> = (0..replicas).map(draw).collect();
    processes.iter_mut().for_each(|process| world.start(process));

    let faults = Duration::from_secs(8 * plan.lease);
    while world.start.elapsed() < faults {
        sleep(plan.pause(&mut random)).await;
        let at = random.random_range(0..replicas);
        let process = &mut processes[at];
        process.check().await;
        match random.random_range(0..9) {
            0 => process.crash().await,
            1 => process.shut_down().await,
            2 => world.state.lock().unwrap().weather.slow = random.random_bool(0.3),
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
            _ if process.running.is_none() => world.start(process),
            _ => {}
        }
    }

    world.state.lock().unwrap().weather.healthy = true;
    for process in &mut processes {
        process.check().await;
        if process.running.is_none() && random.random_bool(0.5) {
            world.start(process);
        }
    }
    if processes.iter().all(|process| process.running.is_none()) {
        world.start(&mut processes[0]);
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

// Never two live leaderships; a leader again within the bound.
#[test]
#[allow(clippy::print_stderr)] // the test's report
fn random_histories_have_one_leader_at_a_time() {
    let mut all = Events::default();
    for events in run_all(30, history) {
        all.terms += events.terms;
        all.lost += events.lost;
        all.found_after = all.found_after.max(events.found_after);
    }
    eprintln!("{all:?}");
    assert!(all.terms > 0, "nobody led: {all:?}");
}

#[test]
fn a_seed_is_one_history() {
    assert_eq!(run(history(7)), run(history(7)));
}
