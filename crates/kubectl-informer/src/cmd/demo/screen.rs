//! The demo's output: bars and lines that change in a terminal, plain lines elsewhere.

use crate::output;
use crate::text::printable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::io::IsTerminal as _;
use std::time::Duration;

/// Standard output, which may be a terminal.
pub(super) struct Screen {
    terminal: bool,
}

impl Screen {
    pub(super) fn new() -> Self {
        let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
        Self {
            terminal: std::io::stdout().is_terminal() && !dumb,
        }
    }

    /// Prints text that stays.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(super) fn say(&self, text: &str) -> anyhow::Result<()> {
        Ok(output::lines(text)?)
    }

    /// A progress bar with this total.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(super) fn progress(&self, total: u64) -> anyhow::Result<Progress> {
        if !self.terminal {
            self.say("initial sync ...")?;
        }
        let bar = self.bar("initial sync [{bar:40.cyan}] {pos}/{len} objects  {elapsed}");
        bar.set_length(total);
        Ok(Progress { bar })
    }

    /// The interval of updates.
    pub(super) fn tick(&self) -> Duration {
        if self.terminal {
            Duration::from_millis(500)
        } else {
            Duration::from_secs(1)
        }
    }

    /// Lines that are updated in place.
    pub(super) fn live(&self) -> Live {
        Live {
            bar: self.bar("{msg}"),
            terminal: self.terminal,
            lookups: Cell::new(0),
        }
    }

    fn bar(&self, template: &str) -> ProgressBar {
        if !self.terminal {
            return ProgressBar::hidden();
        }
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::no_length().with_style(style.progress_chars("=> "));
        bar.set_draw_target(ProgressDrawTarget::stdout());
        bar
    }
}

/// A progress bar.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(super) fn at(&self, position: u64) {
        self.bar.set_position(position);
    }

    pub(super) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// Two lines that are updated in place.
pub(super) struct Live {
    bar: ProgressBar,
    terminal: bool,
    lookups: Cell<usize>,
}

impl Live {
    /// Shows the newest state. Without a terminal the second line is printed only from time to time.
    ///
    /// # Errors
    /// The reader has closed the output.
    pub(super) fn show(&self, state: &str, lookup: &str) -> anyhow::Result<()> {
        let message = format!("{}\n{}", printable(state), printable(lookup));
        self.bar.set_message(message);
        if !self.terminal {
            output::line(state)?;
            if self.lookups.replace(self.lookups.get() + 1).is_multiple_of(5) {
                output::line(lookup)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) {
        self.bar.finish();
    }
}
