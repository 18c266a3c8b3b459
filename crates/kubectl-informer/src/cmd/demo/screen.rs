//! What is shown: bars and lines that change in a terminal, plain lines elsewhere.

use crate::output;
use crate::text::printable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::io::IsTerminal as _;
use std::time::Duration;

/// Standard output, be it a terminal or not.
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

    /// Prints a text that stays.
    ///
    /// # Errors
    /// Nobody reads the output any more.
    pub(super) fn say(&self, text: &str) -> anyhow::Result<()> {
        Ok(output::lines(text)?)
    }

    /// A bar that fills up to `total`.
    ///
    /// # Errors
    /// Nobody reads the output any more.
    pub(super) fn progress(&self, total: u64) -> anyhow::Result<Progress> {
        if !self.terminal {
            self.say("initial sync ...")?;
        }
        let bar = self.bar("initial sync [{bar:40.cyan}] {pos}/{len} objects  {elapsed}");
        bar.set_length(total);
        Ok(Progress { bar })
    }

    /// How often something new can be shown.
    pub(super) fn tick(&self) -> Duration {
        if self.terminal {
            Duration::from_millis(500)
        } else {
            Duration::from_secs(1)
        }
    }

    /// Lines that are shown again and again.
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

/// A bar that fills.
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

/// Two lines that change.
pub(super) struct Live {
    bar: ProgressBar,
    terminal: bool,
    lookups: Cell<usize>,
}

impl Live {
    /// Shows the newest state. Without a terminal the second line comes only now and then.
    ///
    /// # Errors
    /// Nobody reads the output any more.
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
