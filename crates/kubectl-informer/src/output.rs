//! The only module that writes to standard output and standard error. Text from outside is made
//! [printable](crate::text) first.

use crate::text::printable;
use anstyle::{AnsiColor, Style};
use clap::ColorChoice;
use std::io::{self, BufWriter, Write as _};

/// Writes a line to standard output and flushes it. Line breaks in it are escaped.
///
/// # Errors
/// [`io::ErrorKind::BrokenPipe`] if the reader has closed the output.
pub(crate) fn line(text: &str) -> io::Result<()> {
    write_out(&printable(text))
}

/// Writes bytes of our own, such as a script, to standard output as they are.
///
/// # Errors
/// As [`line()`].
pub(crate) fn raw(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes a line of two parts with a tab between them.
///
/// # Errors
/// As [`line()`].
pub(crate) fn pair(first: &str, second: &str) -> io::Result<()> {
    write_out(&format!("{}\t{}", printable(first), printable(second)))
}

/// Writes a line as [`line()`] does, with its head in a style.
///
/// # Errors
/// As [`line()`].
pub(crate) fn styled(style: Style, head: &str, tail: &str) -> io::Result<()> {
    let (head, tail) = (printable(head), printable(tail));
    write_out(&format!("{style}{head}{style:#}{tail}"))
}

/// Writes a line as [`line()`] does, with its head in a colour if there is one.
///
/// # Errors
/// As [`line()`].
pub(crate) fn colored(color: Option<AnsiColor>, head: &str, tail: &str) -> io::Result<()> {
    match color {
        Some(color) => styled(Style::new().fg_color(Some(color.into())), head, tail),
        None => line(&format!("{head}{tail}")),
    }
}

/// Whether to colour standard output.
pub(crate) fn has_colors(choice: ColorChoice) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
    }
}

/// Writes one or more lines to standard output and flushes them.
///
/// # Errors
/// As [`line()`].
pub(crate) fn lines(text: &str) -> io::Result<()> {
    let lines: Vec<_> = text.split('\n').map(printable).collect();
    write_out(&lines.join("\n"))
}

/// Many lines, written when there are some rather than one by one: for what is known at once.
pub(crate) struct Bulk(BufWriter<io::Stdout>);

impl Bulk {
    pub(crate) fn new() -> Self {
        Self(BufWriter::with_capacity(1 << 18, io::stdout()))
    }

    /// Writes a line. Line breaks in it are escaped.
    ///
    /// # Errors
    /// As [`line()`].
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(printable(text).as_bytes())?;
        self.0.write_all(b"\n")
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// As [`line()`].
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    // In one call, so that a reader never sees half a line.
    out.write_all(format!("{text}\n").as_bytes())?;
    out.flush()
}

/// Writes a line to standard error. An error of this is ignored, because it cannot be reported anywhere.
pub(crate) fn diagnostic(text: &str) {
    let _ = io::stderr()
        .lock()
        .write_all(format!("{}\n", printable(text)).as_bytes());
}
