//! Counts what is done inside [`costs_measured`].

use crate::counting;
use serde_json::json;
use std::hint::black_box;

/// Runs what is asked for and prints what it allocates.
pub struct Meter {
    /// What the names of the paths must begin with.
    only: String,
}

impl Meter {
    pub fn new(only: Option<String>) -> Self {
        Self {
            only: only.unwrap_or_default(),
        }
    }

    /// Whether paths whose names begin like this are asked for; if not, nothing need be prepared for them.
    pub fn wants(&self, group: &str) -> bool {
        self.only.starts_with(group) || group.starts_with(&self.only)
    }

    /// Measures a path: `work` does so many operations, once to warm up and once more.
    pub fn path(&mut self, name: &str, operations: usize, mut work: impl FnMut()) {
        if !name.starts_with(&self.only) {
            return;
        }
        work();
        let (allocations, bytes) = (counting::allocations(), counting::allocated());
        costs_measured(&mut work);
        let (allocations, bytes) = (
            counting::allocations() - allocations,
            counting::allocated() - bytes,
        );
        println!(
            "{}",
            json!({"path": name, "operations": operations, "allocations": allocations, "bytes": bytes})
        );
    }
}

/// What callgrind looks for by this name.
#[unsafe(no_mangle)]
#[inline(never)]
fn costs_measured(work: &mut dyn FnMut()) {
    work();
    // So that the call above is not a jump out of this function.
    black_box(());
}
