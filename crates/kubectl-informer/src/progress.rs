//! A line on standard error that says what is being done, for what may take more than a second. It is shown on terminals only, and
//! removed when it is dropped.

use indicatif::ProgressBar;
use std::future::Future;
use std::io::IsTerminal as _;
use std::pin::pin;
use std::time::Duration;

/// The time that something takes before it is said.
const SOON: Duration = Duration::from_secs(1);
/// How often the line moves.
const TICK: Duration = Duration::from_millis(100);

/// A line that moves by itself.
pub(crate) fn doing(what: &str) -> ProgressBar {
    let progress = line();
    progress.set_message(what.to_owned());
    progress.enable_steady_tick(TICK);
    progress
}

/// Waits for something, and after a second says for what.
pub(crate) async fn during<T>(what: &str, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    match tokio::time::timeout(SOON, &mut work).await {
        Ok(done) => done,
        Err(_) => {
            let _line = doing(what);
            work.await
        }
    }
}

/// A line that moves when it is told to.
pub(crate) fn line() -> ProgressBar {
    match std::io::stderr().is_terminal() {
        true => ProgressBar::new_spinner().with_finish(indicatif::ProgressFinish::AndClear),
        false => ProgressBar::hidden(),
    }
}
