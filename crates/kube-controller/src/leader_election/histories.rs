//! What random histories of replicas are made of: clocks that are wrong, networks that fail, processes that start and crash.
//!
//! Time is tokio's paused clock, which stands for the true time.

use super::clock::Clock;
use super::config::LeaderElectionConfig;
use super::testing::{Answer, Fate};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::collections::BTreeSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How far a clock's rate is off, at most.
pub(crate) const DRIFT: f64 = 0.1;
/// How long a request is on its way to the server, at most.
pub(crate) const DELIVERY: Duration = Duration::from_secs(12);
/// How long work takes to stop, at most: less than what all [`Durations`] leave for it.
pub(crate) const STOPPING: Duration = Duration::from_millis(150);

/// A clock that runs at `rate`, beside a time of day that is `offset` off.
#[derive(Debug)]
struct Skewed {
    start: Instant,
    rate: f64,
    offset: SignedDuration,
    /// The time of day stands still.
    stands: bool,
}

/// The clock of a process in a world that began at `start`.
pub(crate) fn skewed_clock(start: Instant, random: &mut SmallRng) -> Arc<dyn Clock> {
    Arc::new(Skewed {
        start,
        // Often as wrong as it may be.
        rate: 1.0 + DRIFT * random.random_range(-2.0..=2.0_f64).clamp(-1.0, 1.0),
        offset: SignedDuration::from_secs(random.random_range(-3600..=3600)),
        stands: random.random_bool(0.2),
    })
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
        let elapsed = match self.stands {
            true => SignedDuration::ZERO,
            false => SignedDuration::try_from(self.start.elapsed()).unwrap(),
        };
        Timestamp::from_second(1_700_000_000).unwrap() + elapsed + self.offset
    }
}

/// The durations of one history, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Durations {
    pub(crate) lease: u64,
    pub(crate) deadline: u64,
    pub(crate) retry: f64,
}

impl Durations {
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

    pub(crate) fn draw(random: &mut SmallRng) -> Self {
        Self::ALL[random.random_range(0..Self::ALL.len())]
    }

    pub(crate) fn config(self, identity: String) -> LeaderElectionConfig {
        LeaderElectionConfig {
            lease_duration: Duration::from_secs(self.lease),
            renew_deadline: Duration::from_secs(self.deadline),
            retry_period: Duration::from_secs_f64(self.retry),
            ..LeaderElectionConfig::new("default", "test", identity)
        }
    }

    /// A pause before the next thing happens.
    pub(crate) fn pause(self, random: &mut SmallRng) -> Duration {
        Duration::from_secs_f64(random.random_range(0.05..0.3) * self.lease as f64)
    }
}

/// How requests fail.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut {
    Refused,
    /// They are refused for good: nothing is on its way.
    Forbidden,
    Silent,
    /// They are done, and the answers are lost.
    Unanswered,
    /// They are sent again at once, and that is refused; the first ones are done late.
    Resent,
}

impl Cut {
    pub(crate) fn draw(random: &mut SmallRng) -> Self {
        let all = [
            Self::Refused,
            Self::Forbidden,
            Self::Silent,
            Self::Unanswered,
            Self::Resent,
        ];
        all[random.random_range(0..all.len())]
    }

    /// What becomes of a request that would have this fate.
    pub(crate) fn fate(self, fate: Fate) -> Fate {
        match self {
            Self::Refused | Self::Forbidden => Fate {
                arrives: false,
                answer: Answer::Status(if matches!(self, Self::Refused) { 503 } else { 403 }),
                ..fate
            },
            Self::Silent => Fate::SILENCE,
            Self::Unanswered => Fate {
                answer: Answer::Never,
                ..fate
            },
            Self::Resent => Fate {
                answer: Answer::Resent(403),
                ..fate
            },
        }
    }
}

/// What becomes of requests.
pub(crate) struct Weather {
    pub(crate) random: SmallRng,
    /// There are no faults any more.
    pub(crate) healthy: bool,
    pub(crate) slow: bool,
}

impl Weather {
    pub(crate) fn new(random: &mut SmallRng) -> Self {
        Self {
            random: SmallRng::seed_from_u64(random.random()),
            healthy: false,
            slow: false,
        }
    }

    fn within(&mut self, most: Duration) -> Fate {
        Fate {
            there: most.mul_f64(self.random.random()),
            back: most.mul_f64(self.random.random()),
            ..Fate::OK
        }
    }

    /// A request without faults.
    pub(crate) fn quick(&mut self) -> Fate {
        self.within(Duration::from_millis(5))
    }

    /// A request, of a replica that may be cut off.
    pub(crate) fn fate(&mut self, cut: Option<Cut>) -> Fate {
        let quick = self.quick();
        if self.healthy {
            return quick;
        }
        let late = self.within(DELIVERY);
        let base = match self.slow {
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
        if let Some(cut) = cut {
            return cut.fate(match cut {
                Cut::Refused | Cut::Forbidden => quick,
                Cut::Silent | Cut::Unanswered => base,
                Cut::Resent => Fate {
                    there: late.there,
                    ..quick
                },
            });
        }
        match self.random.random_range(0..100) {
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
}

/// A process that may be running.
pub(crate) struct Process {
    pub(crate) index: usize,
    /// Some keep their name when they are started again, as the pods of a StatefulSet do.
    keeps_name: bool,
    starts: u32,
    pub(crate) running: Option<(JoinHandle<()>, CancellationToken)>,
}

impl Process {
    pub(crate) fn draw(index: usize, random: &mut SmallRng) -> Self {
        Self {
            index,
            keeps_name: random.random_bool(0.3),
            starts: 0,
            running: None,
        }
    }

    /// Starts it: `run` gets its index, its identity and what ends it.
    pub(crate) fn start<F>(&mut self, run: impl FnOnce(usize, String, CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.starts += 1;
        let name = if self.keeps_name { 0 } else { self.starts };
        let identity = format!("Replica_{}-{name}", self.index);
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(run(self.index, identity, shutdown.clone()));
        self.running = Some((task, shutdown));
    }

    pub(crate) async fn crash(&mut self) {
        if let Some((task, _)) = self.running.take() {
            task.abort();
            ended(task).await;
        }
    }

    pub(crate) async fn shut_down(&mut self) {
        if let Some((task, shutdown)) = self.running.take() {
            shutdown.cancel();
            ended(task).await;
        }
    }

    /// Asks it to end, and does not wait for it.
    pub(crate) fn leave(&self) {
        if let Some((_, shutdown)) = &self.running {
            shutdown.cancel();
        }
    }

    pub(crate) fn is_leaving(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|(_, shutdown)| shutdown.is_cancelled())
    }

    /// Passes on what went wrong in it.
    pub(crate) async fn check(&mut self) {
        if let Some((task, shutdown)) = self.running.take_if(|(task, _)| task.is_finished()) {
            ended(task).await;
            assert!(shutdown.is_cancelled(), "a replica ended by itself");
        }
    }
}

pub(crate) async fn ended(task: JoinHandle<()>) {
    if let Err(error) = task.await
        && let Ok(panic) = error.try_into_panic()
    {
        resume_unwind(panic);
    }
}

/// Runs one history.
pub(crate) fn run<T>(history: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(history)
}

/// The seed `HISTORY`, or those of `HISTORIES`: a number of them, or `FIRST..END`; without both, so many as is `usual`.
fn seeds(usual: u64) -> Range<u64> {
    let number = |text: &str| -> u64 { text.parse().unwrap_or_else(|_| panic!("{text:?} is no number")) };
    if let Ok(seed) = std::env::var("HISTORY") {
        return number(&seed)..number(&seed) + 1;
    }
    match std::env::var("HISTORIES") {
        Ok(some) => match some.split_once("..") {
            Some((first, end)) => number(first)..number(end),
            None => 0..number(&some),
        },
        Err(_) => 0..usual,
    }
}

/// Runs the histories of the [seeds], on all cores. Returns what they came to, in any order.
///
/// # Panics
///
/// Histories failed; all others have been run, and each has said why it failed.
#[allow(clippy::print_stderr)] // the test's report
pub(crate) fn run_all<T: Send, F: Future<Output = T>>(
    usual: u64,
    history: impl Fn(u64) -> F + Sync,
) -> Vec<T> {
    let seeds = seeds(usual);
    let started = std::time::Instant::now();
    let next = AtomicU64::new(seeds.start);
    let (all, failed) = (Mutex::new(Vec::new()), Mutex::new(BTreeSet::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    match catch_unwind(AssertUnwindSafe(|| run(history(seed)))) {
                        Ok(came_to) => all.lock().unwrap().push(came_to),
                        Err(_) => _ = failed.lock().unwrap().insert(seed),
                    }
                }
            });
        }
    });
    eprintln!("seeds {seeds:?}, in {:?}", started.elapsed());
    let failed = failed.into_inner().unwrap();
    if let Some(seed) = failed.first() {
        panic!("the seeds {failed:?} failed; HISTORY={seed} runs one of them alone");
    }
    all.into_inner().unwrap()
}
