//! Ctrl-C and SIGTERM.

use crate::failure::Interrupted;
use crate::terminal;
use anyhow::Context as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What the first signal means for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It ends a command that runs until it is stopped: success.
    End,
    /// It interrupts a command that ends by itself: failure.
    Interruption,
}

/// Whether the program should stop.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    /// Cancelled by the first signal.
    pub(crate) token: CancellationToken,
    /// The exit code for the first signal.
    code: Arc<AtomicU8>,
}

impl Stop {
    /// Waits for SIGINT and SIGTERM. The first one cancels the token. The second one ends the program, unless it comes
    /// [at once](ONE_SIGNAL). So does the first after `grace`, so that a task that hangs (because the reader of our output
    /// has stopped reading, for example) does not prevent the program from ending.
    ///
    /// # Errors
    /// The signal handlers cannot be installed.
    pub(crate) fn on_signal(meaning: Meaning, grace: Option<Duration>) -> anyhow::Result<Self> {
        // On a thread of its own: whatever the others are waiting for, a signal is noticed.
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot wait for signals")?;
        let entered = runtime.enter();
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?;
        let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
        drop(entered);
        let stop = Self {
            token: CancellationToken::new(),
            code: Arc::new(AtomicU8::new(INTERRUPT)),
        };
        let wait = {
            let stop = stop.clone();
            async move {
                let code = tokio::select! {
                    _ = interrupt.recv() => INTERRUPT,
                    _ = terminate.recv() => TERMINATE,
                };
                stop.code.store(code, Ordering::Relaxed);
                stop.token.cancel();
                let repeated = async {
                    let first = Instant::now();
                    loop {
                        let code = tokio::select! {
                            _ = interrupt.recv() => INTERRUPT,
                            _ = terminate.recv() => TERMINATE,
                        };
                        if first.elapsed() > ONE_SIGNAL {
                            return code;
                        }
                    }
                };
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
                    code = repeated => code,
                };
                terminal::restore();
                std::process::exit(code.into())
            }
        };
        let thread = thread::Builder::new().name("signals".to_owned());
        let started = thread.spawn(move || runtime.block_on(wait));
        started.context("cannot wait for signals")?;
        Ok(stop)
    }

    /// The error of a command that was interrupted; `when` completes the message "interrupted ...".
    pub(crate) fn interrupted(&self, when: &str) -> anyhow::Error {
        let code = self.code.load(Ordering::Relaxed);
        let problem = format!("interrupted {when}");
        Interrupted { code, problem }.into()
    }
}

/// Signals within this time after the first one count as the same: `timeout`, for example, signals the program and then the
/// process group, which the program is in.
const ONE_SIGNAL: Duration = Duration::from_millis(300);

/// 128 plus the signal's number, which is the status that a shell reports for a program that a signal has ended.
const INTERRUPT: u8 = 130;
const TERMINATE: u8 = 143;
