//! What became of a recorder's events.

use std::sync::atomic::{AtomicBool, AtomicU64};

/// What a recorder and its writer count.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) written: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) spam: AtomicU64,
    /// Whether the last write found no room in the line.
    pub(super) overflowing: AtomicBool,
}

/// What became of the events of a recorder. All but [`waiting`](Self::waiting) count from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RecorderStatus {
    /// Writes that wait in line.
    pub waiting: usize,
    /// Writes that the server has accepted. One may stand for many events of a series.
    pub written: u64,
    /// Events that were dropped because the line was full, or the recorder had stopped.
    pub dropped: u64,
    /// Events that were dropped by the spam filter.
    pub spam: u64,
    /// Writes that the server has refused: not allowed, a namespace that is being deleted, an event that is
    /// not valid.
    pub refused: u64,
    /// Writes that were given up: the server did not answer in 12 tries, or until the recorder was stopped.
    pub failed: u64,
}
