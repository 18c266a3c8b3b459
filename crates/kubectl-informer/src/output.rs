//! The one place that writes to standard output and standard error.

use std::io::{self, Write as _};

/// Writes a line to standard output, at once.
///
/// # Errors
/// [`io::ErrorKind::BrokenPipe`] if nobody reads it any more.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    // In one piece: a reader never sees half a line.
    out.write_all(format!("{text}\n").as_bytes())?;
    out.flush()
}

/// Writes a line to standard error. If that is closed, there is nobody to tell.
pub(crate) fn diagnostic(text: &str) {
    let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}
