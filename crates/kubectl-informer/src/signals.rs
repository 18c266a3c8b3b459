//! Ctrl-C and SIGTERM.

use crate::failure::Interrupted;
use anyhow::Context as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// What the first signal is to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The end of a command that has no other: success.
    End,
    /// It keeps the command from what it was asked for.
    Interruption,
}

/// Whether the program is to stop.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    /// The first signal cancels it.
    pub(crate) token: CancellationToken,
    /// The exit code that stands for the first signal.
    code: Arc<AtomicU8>,
}

impl Stop {
    /// Waits for SIGINT and SIGTERM. The first one cancels the token. The second ends the program, and so does the first
    /// after `grace`: whatever hangs then (a reader of our output that has stopped reading, say) does not keep the
    /// program.
    ///
    /// # Errors
    /// The system refuses to watch for signals.
    pub(crate) fn on_signal(meaning: Meaning, grace: Option<Duration>) -> anyhow::Result<Self> {
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?;
        let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
        let stop = Self {
            token: CancellationToken::new(),
            code: Arc::new(AtomicU8::new(INTERRUPT)),
        };
        tokio::spawn({
            let stop = stop.clone();
            async move {
                let code = tokio::select! {
                    _ = interrupt.recv() => INTERRUPT,
                    _ = terminate.recv() => TERMINATE,
                };
                stop.code.store(code, Ordering::Relaxed);
                stop.token.cancel();
                let grace_over = async {
                    match grace {
                        Some(grace) => tokio::time::sleep(grace).await,
                        None => std::future::pending().await,
                    }
                };
                let code = tokio::select! {
                    () = grace_over => match meaning {
                        Meaning::End => 0,
                        Meaning::Interruption => code,
                    },
                    _ = interrupt.recv() => INTERRUPT,
                    _ = terminate.recv() => TERMINATE,
                };
                std::process::exit(code.into())
            }
        });
        Ok(stop)
    }

    /// The error of a command that was interrupted; `when` continues "interrupted".
    pub(crate) fn interrupted(&self, when: &str) -> anyhow::Error {
        let code = self.code.load(Ordering::Relaxed);
        let problem = format!("interrupted {when}");
        Interrupted { code, problem }.into()
    }
}

/// 128 and the number of the signal, which is what a shell makes of a program that a signal has ended.
const INTERRUPT: u8 = 130;
const TERMINATE: u8 = 143;
