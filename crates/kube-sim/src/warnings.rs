//! What the client of a request is to be warned of.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The most characters of all warnings of a response. So it has no more warnings, either.
pub(crate) const MOST: usize = 4096;

/// The most bytes that are kept: as many as a response can have, however they are cut.
const MOST_BYTES: usize = 1 << 20;

/// Warnings, as far as a response has room for them.
#[derive(Debug, Default)]
pub(crate) struct Advice {
    all: Vec<String>,
    seen: HashSet<String>,
    bytes: usize,
}

impl Advice {
    /// Whether nothing else will be told: what could only find more need not look for it.
    pub(crate) fn is_full(&self) -> bool {
        self.all.len() >= MOST || self.bytes >= MOST_BYTES
    }

    /// Takes note of a warning, once.
    pub(crate) fn push(&mut self, mut warning: String) {
        if warning.is_empty() || self.is_full() {
            return;
        }
        // One that is longer than a response may be is cut there, too.
        if let Some((end, _)) = warning.char_indices().nth(MOST + 1) {
            warning.truncate(end);
        }
        if self.seen.insert(warning.clone()) {
            self.bytes += warning.len();
            self.all.push(warning);
        }
    }

    pub(crate) fn into_vec(self) -> Vec<String> {
        self.all
    }
}

/// What the client of a request is to be warned of, once.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<Advice>);

impl Warnings {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_vec()
    }

    /// Takes note of a warning, unless the response cannot have so many.
    pub(crate) fn add(&self, warning: String) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(warning);
    }
}

/// They are those of one request.
impl PartialEq for Warnings {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Warnings {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_warnings_than_a_response_can_have() {
        let warnings = Warnings::default();
        (0..10_000).for_each(|n| warnings.add(n.to_string()));
        (0..10).for_each(|n| warnings.add(n.to_string()));
        assert_eq!(warnings.take().len(), MOST);
    }

    // Each compared with each other, these would take minutes.
    #[test]
    fn long_warnings_are_cut_and_compared_by_what_is_left() {
        let warnings = Warnings::default();
        let long = "x".repeat(300_000);
        (0..10_000).for_each(|n| warnings.add(format!("{n}{long}")));
        let all = warnings.take();
        assert!(all.len() < 300, "{}", all.len());
        assert_eq!(all[0].len(), MOST + 1);
    }
}
