//! Replaces `metrics.rs` without the feature; does nothing.

pub(crate) struct Metrics;

#[derive(Clone, Copy)]
pub(crate) struct Run;

impl Metrics {
    pub(crate) fn new(_name: &str) -> Self {
        Self
    }

    pub(crate) fn added(&self, _runs: usize) {}

    pub(crate) fn retried(&self) {}

    pub(crate) fn taken(&self, _queued_for: std::time::Duration) -> Run {
        Run
    }

    pub(crate) fn done(&self, _run: Run) {}
}
