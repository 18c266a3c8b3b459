//! The one place that writes to standard output and standard error. Whatever comes from outside is made
//! [printable](crate::text).

use crate::text::printable;
use std::io::{self, Write as _};

/// Writes a line to standard output, at once. Line breaks in it are escaped.
///
/// # Errors
/// [`io::ErrorKind::BrokenPipe`] if nobody reads it any more.
pub(crate) fn line(text: &str) -> io::Result<()> {
    write_out(&printable(text))
}

/// Writes one or more lines to standard output, at once.
///
/// # Errors
/// As [`line()`].
pub(crate) fn lines(text: &str) -> io::Result<()> {
    let lines: Vec<_> = text.split('\n').map(printable).collect();
    write_out(&lines.join("\n"))
}

fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    // In one piece: a reader never sees half a line.
    out.write_all(format!("{text}\n").as_bytes())?;
    out.flush()
}

/// Writes a line to standard error. If that is closed, there is nobody to tell.
pub(crate) fn diagnostic(text: &str) {
    let _ = io::stderr()
        .lock()
        .write_all(format!("{}\n", printable(text)).as_bytes());
}
