//! Reports the metrics of a named queue to the `metrics` facade, under client-go's names.

use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, Unit, counter, gauge, histogram};
use metrics::{describe_counter, describe_gauge, describe_histogram};
use slab::Slab;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::priority::Priority;
use crate::sync::{Arc, Mutex};

/// The period of updates of the gauges of unfinished work.
const REFRESH: Duration = Duration::from_millis(500);

/// `None` for a queue without a name.
pub(crate) struct Metrics(Option<Named>);

struct Named {
    name: String,
    /// One for each priority ever used.
    depths: Mutex<Vec<Depth>>,
    adds: Counter,
    retries: Counter,
    queue_duration: Histogram,
    work_duration: Histogram,
    unfinished: Arc<Unfinished>,
    refresh: Option<AbortHandle>,
}

/// The depth of one priority.
struct Depth {
    priority: Priority,
    gauge: Gauge,
    /// The amount that this queue has added to the gauge, to be subtracted when the queue is dropped.
    queued: i64,
}

impl Depth {
    fn new(name: &str, priority: Priority) -> Self {
        let labels = [("name", name.to_owned()), ("priority", priority.0.to_string())];
        Self {
            priority,
            gauge: gauge!("workqueue_depth", &labels),
            queued: 0,
        }
    }

    fn add(&mut self, items: i64) {
        self.queued += items;
        self.gauge.increment(items as f64);
    }
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
            depths: Mutex::new(
                [Priority::HIGH, Priority::NORMAL, Priority::LOW]
                    .map(|priority| Depth::new(name, priority))
                    .into(),
            ),
            name: name.to_owned(),
            adds: counter!("workqueue_adds_total", &label),
            retries: counter!("workqueue_retries_total", &label),
            queue_duration: histogram!("workqueue_queue_duration_seconds", &label),
            work_duration: histogram!("workqueue_work_duration_seconds", &label),
            unfinished,
            refresh,
        }))
    }

    /// So many runs were accepted, and the numbers of queued items have changed by so much.
    pub(crate) fn added(&self, runs: usize, depths: impl Iterator<Item = (Priority, i64)>) {
        let Some(named) = &self.0 else { return };
        if runs > 0 {
            named.adds.increment(runs as u64);
        }
        depths.for_each(|(priority, items)| named.deepen(priority, items));
    }

    pub(crate) fn retried(&self) {
        if let Some(named) = &self.0 {
            named.retries.increment(1);
        }
    }

    pub(crate) fn taken(&self, priority: Priority, queued_for: Duration) -> Run {
        let Some(named) = &self.0 else { return Run(0) };
        named.deepen(priority, -1);
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

impl Named {
    fn deepen(&self, priority: Priority, items: i64) {
        let mut depths = self.depths.lock();
        let known = depths.iter().position(|depth| depth.priority == priority);
        let at = known.unwrap_or_else(|| {
            depths.push(Depth::new(&self.name, priority));
            depths.len() - 1
        });
        depths[at].add(items);
    }
}

/// A dropped queue is not counted in any gauge.
impl Drop for Named {
    fn drop(&mut self) {
        for depth in self.depths.lock().iter_mut() {
            depth.add(-depth.queued);
        }
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
    describe_gauge!(
        "workqueue_depth",
        Unit::Count,
        "Current depth of the work queue, by priority"
    );
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
