//! What a named queue tells the `metrics` facade, under the names that client-go's users know.

use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, Unit, counter, gauge, histogram};
use metrics::{describe_counter, describe_gauge, describe_histogram};
use slab::Slab;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::sync::{Arc, Mutex};

/// How often the gauges of unfinished work are brought up to date.
const REFRESH: Duration = Duration::from_millis(500);

/// Nothing for a queue without a name.
pub(crate) struct Metrics(Option<Named>);

struct Named {
    depth: Gauge,
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
    /// When each began.
    runs: Mutex<Slab<Instant>>,
}

/// A run in progress: the place of its start among the others.
#[derive(Clone, Copy)]
pub(crate) struct Run(usize);

impl Metrics {
    /// Handles from the recorder of the moment, and a task that keeps gauges up to date if there is a runtime.
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
        named.queue_duration.record(queued_for);
        Run(named.unfinished.runs.lock().insert(Instant::now()))
    }

    pub(crate) fn done(&self, run: Run) {
        if let Some(named) = &self.0 {
            let began = named.unfinished.runs.lock().remove(run.0);
            named.work_duration.record(began.elapsed());
        }
    }

    /// Ends the refreshing of gauges.
    pub(crate) fn stop(&self) {
        if let Some(refresh) = self.0.as_ref().and_then(|named| named.refresh.as_ref()) {
            refresh.abort();
        }
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        self.stop();
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
        let ages: Vec<_> = self
            .runs
            .lock()
            .iter()
            .map(|(_, began)| now.duration_since(*began))
            .collect();
        self.work.set(ages.iter().sum::<Duration>());
        self.longest.set(ages.iter().max().copied().unwrap_or_default());
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
