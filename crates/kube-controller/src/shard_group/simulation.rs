//! Many random histories of a shard group: clocks that are wrong, networks that fail, processes that join, leave, crash and are slow.
//!
//! Time is tokio's paused clock, which stands for the true time. Each replica has its own clocks, which run faster or slower and
//! show another time of day. Each replica works on the shards of its set: it holds each, and lets go of it some time after it was
//! removed. Three rules are checked:
//!
//! - *Safety*: when work on a shard begins, nobody else works on it, and no set has it of which it can be held.
//! - *Liveness*: while there are no faults but of replicas that cannot write the group's Lease, and another replica is alive, work on a shard begins again after a lease and two seconds, by the slowest
//!   clock, whatever has become of its last owner: it may just have crashed or left. If the next owner crashes before it has begun, that time
//!   begins again. If answers to such writes are lost, it takes the time until the writer gives up to wait, and looks, in addition.
//! - *Retiring*: a replica that is about to stop takes no shards.
//! - *Balance*: three times that after the last change, shares differ by one; later if some could not write the group's Lease, because others
//!   keep for a while what these did not take.
//!
//! Some histories run with the other tests. `HISTORIES=10000 cargo test --release -p kube-controller shard_group::simulation` runs
//! more, on all cores, `HISTORIES=2000..3000` those of some seeds. Failures are named by their seeds; `HISTORY=seed` runs one alone.

use super::assignment::Assignment;
use super::config::ShardGroupConfig;
use super::group::ShardGroup;
use super::members::identity_of;
use crate::leader_election::LeaderElectionConfig;
use crate::leader_election::histories::{
    Cut, DELIVERY, DRIFT, Durations, Process, STOPPING, Weather, run, run_all, skewed_clock,
};
use crate::leader_election::testing::{Fate, Network};
use http::Method;
use kube_informer::{ShardHold, ShardSet};
use kube_sim::Sim;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const SHARDS: u16 = 12;
const LEASES: (&str, &str) = ("coordination.k8s.io/v1", "Lease");

/// The configuration of a replica.
fn config(plan: Durations, identity: String) -> ShardGroupConfig {
    let LeaderElectionConfig {
        lease_duration,
        renew_deadline,
        retry_period,
        ..
    } = plan.config(String::new());
    ShardGroupConfig {
        shards: SHARDS,
        lease_duration,
        renew_deadline,
        retry_period,
        ..ShardGroupConfig::new("default", "test", identity)
    }
}

/// How long a shard may be without an owner, by the slowest clock.
fn bound(plan: Durations) -> Duration {
    Duration::from_secs_f64((plan.lease as f64 + 2.0) / (1.0 - DRIFT))
}

/// How much longer, if the answer to the write that takes it is lost.
fn lost_answer(plan: Durations) -> Duration {
    let config = config(plan, "any".into());
    let noticed = config.lease_of("").request_timeout() + config.look_period();
    noticed.div_f64(1.0 - DRIFT)
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
    /// Which replicas do not reach the server, and how.
    cut_off: Vec<Option<Cut>>,
    /// Which replicas cannot write the group's Lease, and how that fails.
    cannot_write: Vec<Option<Cut>>,
    /// Who works on each shard.
    works: BTreeMap<u16, usize>,
    /// When work on each shard has ended, of those on which nobody works.
    ended: BTreeMap<u16, Instant>,
    /// The identities of the replicas, and when one has crashed.
    identities: BTreeMap<usize, String>,
    crashed: BTreeMap<String, Instant>,
    begun: u64,
    /// How often a replica has begun to work on a shard.
    turns: BTreeMap<(usize, u16), u64>,
    sets: Vec<Option<ShardSet>>,
}

impl World {
    fn random<T>(&self, draw: impl FnOnce(&mut SmallRng) -> T) -> T {
        draw(&mut self.state.lock().unwrap().weather.random)
    }

    /// What becomes of a request of a replica.
    fn fate(&self, replica: usize, method: &Method, path: &str) -> Fate {
        let mut state = self.state.lock().unwrap();
        let writes_group = method == Method::PUT && path.ends_with("/leases/test");
        let cannot_write = state.cannot_write[replica].filter(|_| writes_group);
        let cut = cannot_write.or(state.cut_off[replica]);
        let fate = state.weather.fate(cut);
        match cannot_write {
            Some(cut) => cut.fate(fate),
            None => fate,
        }
    }

    fn begin(&self, replica: usize, shard: u16) {
        let mut state = self.state.lock().unwrap();
        let other = state.works.insert(shard, replica);
        let at = self.start.elapsed();
        assert!(
            other.is_none(),
            "seed {}, {:?}, at {at:?}: replicas {replica} and {other:?} work on shard {shard}",
            self.seed,
            self.plan,
        );
        for (number, set) in state.sets.iter().enumerate() {
            if number != replica
                && let Some(set) = set
            {
                let owned = set.hold_number(shard);
                assert!(
                    owned.is_none(),
                    "seed {}, {:?}, at {at:?}: {replica} works on shard {shard}, and {number} could",
                    self.seed,
                    self.plan,
                );
            }
        }
        state.ended.remove(&shard);
        state.begun += 1;
        *state.turns.entry((replica, shard)).or_default() += 1;
    }

    /// What decides how long work that has begun takes to end. Several tasks learn at the same moment that their shards were removed, and
    /// tokio wakes them in a random order. So each has a generator of its own: else a seed would not be one history.
    fn random_of_work(&self, replica: usize, shard: u16) -> SmallRng {
        let turn = self.state.lock().unwrap().turns[&(replica, shard)];
        let work = (turn << 24) | ((replica as u64) << 16) | u64::from(shard);
        SmallRng::seed_from_u64(self.seed.rotate_left(32) ^ work)
    }

    fn end(&self, replica: usize, shard: u16) {
        let mut state = self.state.lock().unwrap();
        assert_eq!(state.works.remove(&shard), Some(replica));
        state.ended.insert(shard, Instant::now());
    }

    /// Works on one shard until it is removed, and lets go of it some time later.
    async fn work(self: Arc<Self>, replica: usize, hold: ShardHold, shards: ShardSet) {
        let shard = hold.shard();
        self.begin(replica, shard);
        let mut random = self.random_of_work(replica, shard);
        // Ends the work when the process crashes, too.
        let _work = Work {
            world: self.clone(),
            replica,
            shard,
        };
        let mut selected = shards.subscribe();
        let removed = async {
            while selected
                .wait_for(|selected| !selected.contains(&shard))
                .await
                .is_err()
            {}
        };
        removed.await;
        // Some of what runs takes long while there are faults, if it may.
        let healthy = self.state.lock().unwrap().weather.healthy;
        let takes = match random.random_range(0..10) {
            0 if !healthy => Duration::from_secs_f64(random.random_range(0.0..30.0)),
            _ => STOPPING.mul_f64(random.random()),
        };
        let stopping = STOPPING.mul_f64(random.random());
        tokio::select! {
            biased;
            () = sleep(takes) => {}
            () = hold.expired() => sleep(stopping.min(Duration::from_millis(1))).await,
        }
        drop(_work);
        drop(hold);
    }

    /// Works on all shards of a set, which does not grow once the replica `retires`.
    async fn works(self: Arc<Self>, replica: usize, shards: ShardSet, retires: CancellationToken) {
        let mut selected = shards.subscribe();
        let mut tasks = JoinSet::new();
        let mut busy = BTreeSet::new();
        // What it had when it was already retiring.
        let mut had: Option<BTreeSet<u16>> = None;
        loop {
            let now = selected.borrow_and_update().clone();
            if let Some(had) = &had {
                let seed = self.seed;
                assert!(
                    now.is_subset(had),
                    "seed {seed}: {replica} retires, and takes {now:?}"
                );
            }
            had = retires.is_cancelled().then(|| now.clone());
            for shard in now {
                if !busy.contains(&shard)
                    && let Some(hold) = shards.hold_number(shard)
                {
                    busy.insert(shard);
                    let work = self.clone().work(replica, hold, shards.clone());
                    tasks.spawn(async move {
                        work.await;
                        shard
                    });
                }
            }
            tokio::select! {
                biased;
                Some(ended) = tasks.join_next() => {
                    busy.remove(&ended.unwrap());
                }
                Ok(()) = selected.changed() => {}
                () = retires.cancelled(), if had.is_none() => {}
            }
        }
    }

    fn start(self: &Arc<Self>, process: &mut Process) {
        let world = self.clone();
        process.start(|index, identity, shutdown| world.replica(index, identity, shutdown));
    }

    async fn crash(&self, process: &mut Process) {
        process.crash().await;
        let mut state = self.state.lock().unwrap();
        state.sets[process.index] = None;
        if let Some(identity) = state.identities.remove(&process.index) {
            state.crashed.insert(identity, Instant::now());
        }
    }

    /// A process from start to end.
    async fn replica(self: Arc<Self>, index: usize, identity: String, shutdown: CancellationToken) {
        let world = self.clone();
        let client = Network::client_by_path(&self.sim, move |method, path| world.fate(index, method, path));
        let (clock, random, retires_for) = self.random(|random| {
            // Some end their work before they give up what they have.
            let pause = random.random_range(-0.5..=0.5_f64).max(0.0) * self.plan.lease as f64;
            (
                skewed_clock(self.start, random),
                SmallRng::seed_from_u64(random.random()),
                Duration::from_secs_f64(pause),
            )
        });
        self.state
            .lock()
            .unwrap()
            .identities
            .insert(index, identity.clone());
        let config = config(self.plan, identity);
        let mut group = ShardGroup::with_clock(client, config, clock, random).unwrap();
        let shards = group.shards().clone();
        self.state.lock().unwrap().sets[index] = Some(shards.clone());
        let mut works = JoinSet::new();
        works.spawn(self.clone().works(index, shards, shutdown.clone()));
        let leave = CancellationToken::new();
        group.retire_on(shutdown.clone());
        let stops = async {
            shutdown.cancelled().await;
            sleep(retires_for).await;
            leave.cancel();
            std::future::pending().await
        };
        tokio::select! {
            biased;
            ran = group.run(leave.clone()) => ran.unwrap_or_else(|error| panic!("seed {}: {error}", self.seed)),
            Some(ended) = works.join_next() => ended.unwrap(),
            () = stops => {}
        }
        self.state.lock().unwrap().sets[index] = None;
    }

    /// How long the longest of the shards on which nobody works has been without. If that is longer than the bound, because its next
    /// owner has crashed before it began, it counts from then.
    fn longest_without(&self, bound: Duration) -> Option<(u16, Duration)> {
        let mut without: Vec<_> = {
            let state = self.state.lock().unwrap();
            let without = (0..SHARDS).filter(|shard| !state.works.contains_key(shard));
            let since = |shard: &u16| state.ended.get(shard).copied().unwrap_or(self.start);
            without.map(|shard| (shard, since(&shard).elapsed())).collect()
        };
        for (shard, without) in without.iter_mut().filter(|(_, without)| *without > bound) {
            if let Some(crashed) = self.owner_crashed(*shard) {
                *without = crashed.elapsed().min(*without);
            }
        }
        without.into_iter().max_by_key(|(_, without)| *without)
    }

    /// When the replica crashed that owns a shard.
    fn owner_crashed(&self, shard: u16) -> Option<Instant> {
        let (version, kind) = LEASES;
        let lease = self
            .sim
            .store()
            .get(version, kind, Some("default"), "test")
            .ok()?;
        let lease = serde_json::from_value(lease).unwrap();
        let assignment = Assignment::of(&lease, &config(self.plan, "any".into())).unwrap()?;
        let owner = identity_of(assignment.owner(shard)?);
        self.state.lock().unwrap().crashed.get(owner).copied()
    }

    /// Whether shares differ by one at most.
    fn is_balanced(&self) -> bool {
        let counts = self.counts();
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        most - least <= 1
    }

    fn counts(&self) -> Vec<usize> {
        let state = self.state.lock().unwrap();
        let running = (0..state.sets.len()).filter(|replica| state.sets[*replica].is_some());
        running
            .map(|replica| state.works.values().filter(|owner| **owner == replica).count())
            .collect()
    }
}

/// Says that work has ended when it is dropped.
struct Work {
    world: Arc<World>,
    replica: usize,
    shard: u16,
}

impl Drop for Work {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.world.end(self.replica, self.shard);
        }
    }
}

/// A pause before the next thing happens, which is often during what the last one has led to.
fn pause(plan: Durations, random: &mut SmallRng) -> Duration {
    let pause = plan.pause(random);
    match random.random_bool(0.3) {
        true => Duration::from_secs_f64(random.random_range(0.0..1.5)),
        false => pause,
    }
}

/// What happened in a history, to see that something did.
#[derive(Debug, Default, PartialEq)]
struct Events {
    begun: u64,
    /// The longest time without work on a shard while there were no faults, as a share of what is allowed.
    longest_without: f64,
}

async fn history(seed: u64) -> Events {
    let mut random = SmallRng::seed_from_u64(seed);
    let plan = Durations::draw(&mut random);
    let replicas = random.random_range(2..=5);
    let world = Arc::new(World {
        seed,
        plan,
        start: Instant::now(),
        sim: Sim::builder().build().unwrap(),
        state: Mutex::new(State {
            weather: Weather::new(&mut random),
            cut_off: vec![None; replicas],
            cannot_write: vec![None; replicas],
            works: BTreeMap::new(),
            ended: BTreeMap::new(),
            identities: BTreeMap::new(),
            crashed: BTreeMap::new(),
            begun: 0,
            turns: BTreeMap::new(),
            sets: vec![None; replicas],
        }),
    });
    let draw = |index| Process::draw(index, &mut random);
    let mut processes: Vec<_> = (0..replicas).map(draw).collect();
    for process in &mut processes {
        if random.random_bool(0.8) {
            world.start(process);
        }
    }

    let faults = Duration::from_secs(5 * plan.lease);
    while world.start.elapsed() < faults {
        sleep(pause(plan, &mut random)).await;
        let at = random.random_range(0..replicas);
        let process = &mut processes[at];
        process.check().await;
        match random.random_range(0..10) {
            0 => world.crash(process).await,
            1 => process.leave(),
            2 => world.state.lock().unwrap().weather.slow = random.random_bool(0.3),
            // The whole server is out of reach, or is back.
            3 => {
                let cut = random.random_bool(0.3).then(|| Cut::draw(&mut random));
                world.state.lock().unwrap().cut_off.fill(cut);
            }
            4 | 5 => {
                let cut = random.random_bool(0.5).then(|| Cut::draw(&mut random));
                world.state.lock().unwrap().cut_off[at] = cut;
            }
            6 => {
                let cut = random.random_bool(0.5).then(|| Cut::draw(&mut random));
                world.state.lock().unwrap().cannot_write[at] = cut;
            }
            // Somebody deletes the group's Lease.
            7 => drop(
                world
                    .sim
                    .store()
                    .delete(LEASES.0, LEASES.1, Some("default"), "test"),
            ),
            _ if process.running.is_none() => world.start(process),
            _ => {}
        }
    }

    world.state.lock().unwrap().cannot_write.fill(None);
    world.state.lock().unwrap().weather.healthy = true;
    for process in &mut processes {
        process.check().await;
        if process.running.is_none() && random.random_bool(0.5) {
            world.start(process);
        }
    }
    for process in &mut processes[..2] {
        if process.is_leaving() {
            process.shut_down().await;
        }
        if process.running.is_none() {
            world.start(process);
        }
    }
    // What was asked before has been delivered, or was given up; all have joined, and the shards of the dead are taken.
    sleep(DELIVERY.div_f64(1.0 - DRIFT) + bound(plan) * 2).await;
    let longest_without = without_faults(&world, &mut processes, &mut random).await;
    for process in &mut processes {
        process.check().await;
        process.shut_down().await;
    }
    let state = world.state.lock().unwrap();
    Events {
        begun: state.begun,
        longest_without,
    }
}

/// Replicas come and go, but always one stays and can write the group's Lease, which others cannot for a while; no shard is without work for
/// longer than the bound. Returns the longest time as a share of it.
async fn without_faults(world: &Arc<World>, processes: &mut [Process], random: &mut SmallRng) -> f64 {
    let answers_are_lost = random.random_bool(0.3);
    // Work that may take long to end is not what is measured.
    let mut bound = bound(world.plan) + Duration::from_millis(100);
    let mut cuts = vec![
        None,
        None,
        None,
        Some(Cut::Refused),
        Some(Cut::Forbidden),
        Some(Cut::Silent),
    ];
    if answers_are_lost {
        bound += lost_answer(world.plan);
        cuts.extend([Some(Cut::Unanswered), Some(Cut::Resent)]);
    }
    let mut longest = Duration::ZERO;
    let start = Instant::now();
    let span = Duration::from_secs(4 * world.plan.lease);
    let mut next = Duration::ZERO;
    let (stays, others) = processes.split_first_mut().unwrap();
    // A lease to take over, another one in which nothing is given back, and what it takes to hand over.
    let (balanced, kept) = (span + bound * 3, bound * 16);
    while start.elapsed() < balanced || start.elapsed() < balanced + kept && !world.is_balanced() {
        if start.elapsed() >= next && start.elapsed() < span {
            next = start.elapsed() + pause(world.plan, random);
            let at = random.random_range(0..others.len());
            let process = &mut others[at];
            process.check().await;
            let cut = cuts[random.random_range(0..cuts.len())];
            world.state.lock().unwrap().cannot_write[process.index] = cut;
            match random.random_range(0..3) {
                0 => world.crash(process).await,
                1 => process.leave(),
                _ if process.running.is_none() => world.start(process),
                _ => {}
            }
        }
        if start.elapsed() >= span {
            world.state.lock().unwrap().cannot_write.fill(None);
        }
        sleep(Duration::from_millis(50)).await;
        stays.check().await;
        if let Some((shard, without)) = world.longest_without(bound) {
            longest = longest.max(without);
            assert!(
                without <= bound,
                "seed {}, {:?}: nobody has worked on shard {shard} for {without:?}",
                world.seed,
                world.plan
            );
        }
    }
    assert!(
        world.is_balanced(),
        "seed {}, {:?}: {:?}",
        world.seed,
        world.plan,
        world.counts()
    );
    longest.div_duration_f64(bound)
}

#[test]
fn a_seed_is_one_history() {
    for seed in 0..2 {
        assert_eq!(run(history(seed)), run(history(seed)), "seed {seed}");
    }
}

// Never two that work on a shard; never nobody for longer than a lease and two seconds.
#[test]
#[allow(clippy::print_stderr)] // the test's report
fn each_shard_has_one_owner_in_random_histories() {
    let mut all = Events::default();
    for events in run_all(40, history) {
        all.begun += events.begun;
        all.longest_without = all.longest_without.max(events.longest_without);
    }
    eprintln!("{all:?}");
    assert!(all.begun > 0, "nobody worked: {all:?}");
}
