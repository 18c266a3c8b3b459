//! Reports to the `metrics` facade, under controller-runtime's names.

use metrics::{Counter, Gauge, Histogram, Unit, counter, gauge, histogram};
use metrics::{describe_counter, describe_gauge, describe_histogram};
use std::cell::Cell;
use std::time::Duration;

/// How a run has ended.
#[derive(Clone, Copy)]
pub(super) enum Outcome {
    Success,
    RequeueAfter,
    Requeue,
    Error,
    Terminal,
    Panicked,
    TimedOut,
}

pub(super) struct Metrics {
    success: Counter,
    requeue_after: Counter,
    requeue: Counter,
    error: Counter,
    errors: Counter,
    terminal_errors: Counter,
    panics: Counter,
    timeouts: Counter,
    time: Histogram,
    active: Gauge,
    /// How many runs this controller has added to the gauge.
    running: Cell<u32>,
}

/// Runs that were dropped have ended.
impl Drop for Metrics {
    fn drop(&mut self) {
        self.active.decrement(self.running.get());
    }
}

impl Metrics {
    /// Creates all metrics in the current recorder, so that they are there from the start.
    pub(super) fn new(name: &str, concurrency: u16) -> Self {
        describe();
        let label = [("controller", name.to_owned())];
        let total = |result: &'static str| {
            let labels = [("controller", name.to_owned()), ("result", result.to_owned())];
            counted(counter!("controller_runtime_reconcile_total", &labels))
        };
        gauge!("controller_runtime_max_concurrent_reconciles", &label).set(f64::from(concurrency));
        let active = gauge!("controller_runtime_active_workers", &label);
        active.increment(0);
        Self {
            success: total("success"),
            requeue_after: total("requeue_after"),
            requeue: total("requeue"),
            error: total("error"),
            errors: counted(counter!("controller_runtime_reconcile_errors_total", &label)),
            terminal_errors: counted(counter!(
                "controller_runtime_terminal_reconcile_errors_total",
                &label
            )),
            panics: counted(counter!("controller_runtime_reconcile_panics_total", &label)),
            timeouts: counted(counter!("controller_runtime_reconcile_timeouts_total", &label)),
            time: histogram!("controller_runtime_reconcile_time_seconds", &label),
            active,
            running: Cell::new(0),
        }
    }

    pub(super) fn began(&self) {
        self.active.increment(1);
        self.running.update(|running| running + 1);
    }

    pub(super) fn ended(&self, outcome: Outcome, duration: Duration) {
        self.active.decrement(1);
        self.running.update(|running| running - 1);
        self.time.record(duration);
        let result = match outcome {
            Outcome::Success => return self.success.increment(1),
            Outcome::RequeueAfter => return self.requeue_after.increment(1),
            Outcome::Requeue => return self.requeue.increment(1),
            Outcome::Error => None,
            Outcome::Terminal => Some(&self.terminal_errors),
            Outcome::Panicked => Some(&self.panics),
            Outcome::TimedOut => Some(&self.timeouts),
        };
        self.failed();
        if let Some(counter) = result {
            counter.increment(1);
        }
    }

    /// An object could not be read, so there was no run.
    pub(super) fn rejected(&self) {
        self.failed();
        self.terminal_errors.increment(1);
    }

    fn failed(&self) {
        self.error.increment(1);
        self.errors.increment(1);
    }
}

/// The same counter, which is known to the recorder.
fn counted(counter: Counter) -> Counter {
    counter.increment(0);
    counter
}

fn describe() {
    let count = Unit::Count;
    describe_counter!("controller_runtime_reconcile_total", count, "Runs by result");
    describe_counter!(
        "controller_runtime_reconcile_errors_total",
        count,
        "Runs that failed"
    );
    describe_counter!(
        "controller_runtime_terminal_reconcile_errors_total",
        count,
        "Failures that are not retried"
    );
    describe_counter!(
        "controller_runtime_reconcile_panics_total",
        count,
        "Runs that panicked"
    );
    describe_counter!(
        "controller_runtime_reconcile_timeouts_total",
        count,
        "Runs that took too long"
    );
    describe_histogram!(
        "controller_runtime_reconcile_time_seconds",
        Unit::Seconds,
        "Time that a run takes"
    );
    describe_gauge!(
        "controller_runtime_max_concurrent_reconciles",
        count,
        "How many objects are reconciled at the same time; 0: no limit"
    );
    describe_gauge!("controller_runtime_active_workers", count, "Runs in progress");
}
