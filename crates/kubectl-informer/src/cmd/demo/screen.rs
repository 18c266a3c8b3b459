//! The demo's output where there is no terminal: plain lines.

use crate::output;
use std::cell::Cell;

/// The lines between two that tell of a lookup.
const LOOKUPS: usize = 5;

/// Standard output.
pub(super) struct Screen {
    shown: Cell<usize>,
}

impl Screen {
    pub(super) fn new() -> Self {
        Self { shown: Cell::new(0) }
    }

    /// Prints text.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(super) fn say(&self, text: &str) -> anyhow::Result<()> {
        Ok(output::lines(text)?)
    }

    /// Prints the newest state, and from time to time a lookup.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(super) fn show(&self, state: &str, lookup: &str) -> anyhow::Result<()> {
        output::line(state)?;
        if self.shown.replace(self.shown.get() + 1).is_multiple_of(LOOKUPS) {
            output::line(lookup)?;
        }
        Ok(())
    }
}
