//! Ctrl-C and SIGTERM.

use anyhow::Context as _;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A token that the first SIGINT or SIGTERM cancels. The second ends the program, and so does the first after `grace`:
/// whatever hangs then (a reader of our output that has stopped reading, say) does not keep the program.
///
/// # Errors
/// The system refuses to watch for signals.
pub(crate) fn token(grace: Option<Duration>) -> anyhow::Result<CancellationToken> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
    let token = CancellationToken::new();
    tokio::spawn({
        let token = token.clone();
        async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            token.cancel();
            let grace_over = async {
                match grace {
                    Some(grace) => tokio::time::sleep(grace).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = grace_over => std::process::exit(0),
                _ = interrupt.recv() => std::process::exit(130),
                _ = terminate.recv() => std::process::exit(143),
            }
        }
    });
    Ok(token)
}
