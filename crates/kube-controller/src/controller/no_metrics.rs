//! Stands in for `metrics` without the feature.

use std::time::Duration;

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

pub(super) struct Metrics;

impl Metrics {
    pub(super) fn new(_name: &str, _concurrency: u16) -> Self {
        Self
    }

    pub(super) fn began(&self) {}

    pub(super) fn ended(&self, _outcome: Outcome, _duration: Duration) {}

    pub(super) fn rejected(&self) {}
}
