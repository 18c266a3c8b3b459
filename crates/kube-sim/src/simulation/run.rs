//! One run: a runtime and a cluster of its own, the program, the workload and the faults.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::FutureExt as _;
use kube_client::Client;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::chance::{Chance, millis};
use super::link::Link;
use super::plan::Plan;
use super::schedule::{Effect, Life, Schedule, Site};
use super::trace::Who;
use super::world::{Outcome, World, message};
use super::{Broken, Simulation};

/// A program that has ended by itself starts again after this, and twice as long each time.
const FIRST_RESTART: Duration = Duration::from_secs(1);
const LONGEST_RESTART: Duration = Duration::from_secs(30);
/// The workload has to end so long after the fault period.
const WORKLOAD: Duration = Duration::from_secs(60 * 60);
/// What holds in the end has to hold for so long.
const HOLDS_FOR: Duration = Duration::from_secs(60);
/// It is looked at so often.
const LOOK: Duration = Duration::from_secs(1);

/// Runs a schedule on this thread, which must not be in a runtime.
pub(super) fn run(simulation: &Simulation, schedule: &Schedule) -> Outcome {
    // What the server draws (uids, generated names), and the jitter of clients that draw it from `fastrand`.
    fastrand::seed(Chance(schedule.seed).of("thread").u64(..));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime can be started");
    let tasks = LocalSet::new();
    let outcome = tasks.block_on(&runtime, scene(simulation, schedule));
    {
        let _entered = runtime.enter();
        drop(tasks);
    }
    // Nobody waits for what a program has left on blocking threads.
    runtime.shutdown_background();
    outcome
}

async fn scene(simulation: &Simulation, schedule: &Schedule) -> Outcome {
    // Timers fire at whole milliseconds since the runtime was built, and so does everything after the first of them.
    sleep(millis(1)).await;
    // A whole second: otherwise it would be chance which writes fall into the same one.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let started = UNIX_EPOCH + Duration::from_secs(now.as_secs());
    let sim = simulation.cluster.clone().simulated(started).build();
    let sim = sim.unwrap_or_else(|error| panic!("the cluster of the simulation cannot be built: {error:?}"));
    (simulation.setup)(&sim);

    let plan = Plan::new(schedule, &simulation.kinds);
    let world = Arc::new(World::new(
        sim,
        plan,
        simulation.always.clone(),
        simulation.replicas,
    ));
    world.look();
    for replica in 0..simulation.replicas {
        spawn_local(keep_running(world.clone(), simulation.program.clone(), replica));
    }
    let period = u64::try_from(simulation.fault_period.as_millis()).unwrap_or(u64::MAX);
    spawn_local(make_faults(world.clone(), simulation.replicas, period));
    let workload = {
        let world = world.clone();
        let workload = simulation.workload.clone();
        let client = Client::new(Link::of_workload(world.clone()), "default");
        spawn_local(async move {
            let work = async { workload(client).await };
            if let Err(panic) = AssertUnwindSafe(work).catch_unwind().await {
                world.fail(Broken::Workload(message(&*panic)));
            }
        })
    };
    let phases = async {
        sleep(simulation.fault_period).await;
        if timeout(WORKLOAD, workload).await.is_err() {
            return world.fail(Broken::WorkloadUnended(WORKLOAD));
        }
        world.calm();
        settle(simulation, &world).await;
    };
    tokio::select! {
        biased;
        () = world.over.cancelled() => {}
        () = phases => {}
    }
    world.outcome()
}

/// Keeps a replica of the program running, as a kubelet does.
async fn keep_running(world: Arc<World>, program: super::Program, replica: u32) {
    sleep(millis(world.plan.first_start(replica))).await;
    let mut restart = FIRST_RESTART;
    for start in 0.. {
        let life = Life { replica, start };
        let incarnation = world.start(life);
        let client = Client::new(Link::of_program(world.clone(), incarnation.clone()), "default");
        let ended = {
            // Also what the program does before it returns its future can panic.
            let running = AssertUnwindSafe(async { program(client).await }).catch_unwind();
            tokio::select! {
                biased;
                () = incarnation.over.cancelled() => None,
                ended = running => Some(ended),
            }
        };
        let down = match ended {
            None => incarnation.down(),
            Some(Ok(())) => {
                let down = restart;
                restart = (restart * 2).min(LONGEST_RESTART);
                let seconds = down.as_secs_f64();
                world.tell(
                    Who::Program(life),
                    format!("ends by itself; starts again in {seconds:.3} s"),
                );
                down
            }
            Some(Err(panic)) => {
                return world.fail(Broken::Panicked(message(&*panic)));
            }
        };
        incarnation.over.cancel();
        sleep(down).await;
    }
}

/// Makes the faults that come at their times.
async fn make_faults(world: Arc<World>, replicas: u32, period: u64) {
    for (at, site, effect) in world.plan.at_times(replicas, period) {
        sleep_until(world.at(at)).await;
        if world.is_calm() {
            return;
        }
        match (&site, effect) {
            (Site::Replica(replica, _), Effect::Crash(down)) => {
                let Some(incarnation) = world.running(*replica) else {
                    continue;
                };
                world.crash(&incarnation, down, "at rest");
            }
            (Site::Replica(replica, _), Effect::Partition(time)) => {
                let Some(incarnation) = world.running(*replica) else {
                    continue;
                };
                world.cut_off(*replica, time);
                let seconds = millis(time).as_secs_f64();
                let what = format!("is cut off from the server for {seconds:.3} s");
                world.tell(Who::Program(incarnation.life), what);
            }
            (Site::Server(_), Effect::Restart) => {
                world.tell(
                    Who::Server,
                    "restarts without the history of changes; all watches break".into(),
                );
                world.sim.faults().restart();
            }
            (Site::Server(_), Effect::CutAll) => {
                world.tell(Who::Server, "breaks all watches".into());
                world.sim.faults().cut_watches_of("*");
            }
            _ => continue,
        }
        world.happens(site, effect);
    }
}

/// Waits until everything holds that has to hold in the end, and has for a while.
async fn settle(simulation: &Simulation, world: &World) {
    let deadline = Instant::now() + simulation.settle_within;
    let mut looked_at = None;
    let mut broken = None;
    let mut holds_since = Instant::now();
    loop {
        let version = world.sim.store().resource_version();
        if looked_at.replace(version) != Some(version) {
            let failing = simulation.eventually.iter().find_map(|condition| {
                let why = world.holds(condition).err()?;
                let condition = condition.name.clone();
                Some(Broken::Eventually { condition, why })
            });
            // It holds since the first look at which it did.
            if broken.is_some() && failing.is_none() {
                holds_since = Instant::now();
            }
            broken = failing;
        }
        match &broken {
            None if holds_since.elapsed() >= HOLDS_FOR => return,
            Some(broken) if Instant::now() >= deadline => return world.fail(broken.clone()),
            // What has begun to hold just in time has to stay so.
            _ => {}
        }
        sleep(LOOK).await;
    }
}
