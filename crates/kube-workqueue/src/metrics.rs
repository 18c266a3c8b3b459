//! Reports the metrics of a named queue to the `metrics` facade, under client-go's names.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, Unit, counter, gauge, histogram};
use metrics::{describe_counter, describe_gauge, describe_histogram};
use slab::Slab;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::sync::{Arc, Mutex};

/// The period of updates of the gauges of unfinished work.
const REFRESH: Duration = Duration::from_millis(500);

/// `None` for a queue without a name.
pub(crate) struct Metrics(Option<Named>);

struct Named {
    depth: Gauge,
    /// The amount that this queue has added to the gauge, to be subtracted when the queue is dropped.
    queued: AtomicI64,
    adds: Counter,
    retries: Counter,
    queue_duration: Histogram,
    work_duration: Histogram,
    unfinished: Arc<Unfinished>,
    refresh: Option<AbortHandle>,
}

/// The runs in progress.
struct Unfinished {
    work: Gauge,
    longest: Gauge,
    /// The start of each run.
    runs: Mutex<Slab<Instant>>,
}

/// A run in progress: the key of its start in the slab.
#[derive(Clone, Copy)]
pub(crate) struct Run(usize);

impl Metrics {
    /// Creates handles from the current recorder, and a task that updates the gauges if there is a runtime.
    pub(crate) fn new(name: &str) -> Self {
        if name.is_empty() {
            return Self(None);
        }
        describe();
        let label = [("name", name.to_owned())];
        let unfinished = Arc::new(Unfinished {
            work: gauge!("workqueue_unfinished_work_seconds", &label),
            longest: gauge!("workqueue_longest_running_processor_seconds", &label),
            runs: Mutex::new(Slab::new()),
        });
        let refresh = Handle::try_current().ok();
        let refresh = refresh.map(|runtime| runtime.spawn(refresh_loop(unfinished.clone())).abort_handle());
        Self(Some(Named {
            depth: gauge!("workqueue_depth", &label),
            queued: AtomicI64::new(0),
            adds: counter!("workqueue_adds_total", &label),
            retries: counter!("workqueue_retries_total", &label),
            queue_duration: histogram!("workqueue_queue_duration_seconds", &label),
            work_duration: histogram!("workqueue_work_duration_seconds", &label),
            unfinished,
            refresh,
        }))
    }

    pub(crate) fn added(&self, runs: usize) {
        if let Some(named) = self.0.as_ref().filter(|_| runs > 0) {
            named.depth.increment(runs as f64);
            named.queued.fetch_add(runs as i64, Ordering::Relaxed);
            named.adds.increment(runs as u64);
        }
    }

    pub(crate) fn retried(&self) {
        if let Some(named) = &self.0 {
            named.retries.increment(1);
        }
    }

    pub(crate) fn taken(&self, queued_for: Duration) -> Run {
        let Some(named) = &self.0 else { return Run(0) };
        named.depth.decrement(1);
        named.queued.fetch_sub(1, Ordering::Relaxed);
        named.queue_duration.record(queued_for);
        Run(named.unfinished.runs.lock().insert(Instant::now()))
    }

    pub(crate) fn done(&self, run: Run) {
        if let Some(named) = &self.0 {
            let began = named.unfinished.runs.lock().remove(run.0);
            named.work_duration.record(began.elapsed());
        }
    }
}

/// A dropped queue is not counted in any gauge.
impl Drop for Named {
    fn drop(&mut self) {
        self.depth.decrement(self.queued.load(Ordering::Relaxed) as f64);
        if let Some(refresh) = &self.refresh {
            refresh.abort();
        }
        self.unfinished.end();
    }
}

async fn refresh_loop(unfinished: Arc<Unfinished>) {
    let mut ticks = interval(REFRESH);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        unfinished.refresh();
    }
}

impl Unfinished {
    fn refresh(&self) {
        let now = Instant::now();
        // Held until the gauges are set, so that they are not updated after the end.
        let runs = self.runs.lock();
        let ages = || runs.iter().map(|(_, began)| now.duration_since(*began));
        self.work.set(ages().sum::<Duration>());
        self.longest.set(ages().max().unwrap_or_default());
    }

    /// Ends all runs; no run begins afterwards.
    fn end(&self) {
        self.runs.lock().clear();
        self.refresh();
    }
}

fn describe() {
    describe_gauge!("workqueue_depth", Unit::Count, "Current depth of the work queue");
    describe_counter!(
        "workqueue_adds_total",
        Unit::Count,
        "Runs accepted by the work queue"
    );
    describe_counter!(
        "workqueue_retries_total",
        Unit::Count,
        "Adds that asked for a delay"
    );
    let seconds = Unit::Seconds;
    describe_histogram!(
        "workqueue_queue_duration_seconds",
        seconds,
        "Time an item is queued before it is taken"
    );
    describe_histogram!(
        "workqueue_work_duration_seconds",
        seconds,
        "Time it takes to process an item"
    );
    describe_gauge!(
        "workqueue_unfinished_work_seconds",
        seconds,
        "Time spent so far on runs in progress, summed"
    );
    describe_gauge!(
        "workqueue_longest_running_processor_seconds",
        seconds,
        "Age of the oldest run in progress"
    );
}
