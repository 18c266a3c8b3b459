//! How the program ends: what is said, and with which exit code.

use crate::output;
use std::process::ExitCode;
use std::{fmt, io};

/// The command line asks for something that cannot be: exit code 2. Any other error is a failure, exit code 1.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A signal has kept the program from what it was asked for.
#[derive(Debug)]
pub(crate) struct Interrupted {
    /// The exit code.
    pub(crate) code: u8,
    pub(crate) problem: String,
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for Interrupted {}

/// Says why the program failed, in one line, and gives the exit code.
pub(crate) fn exit_code(result: anyhow::Result<ExitCode>) -> ExitCode {
    let error = match result {
        Ok(code) => return code,
        Err(error) => error,
    };
    // Whoever read our output has had enough: that is no failure.
    if is_closed_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    output::diagnostic(&format!("error: {}", one_line(&format!("{error:#}"))));
    match error.downcast_ref::<Interrupted>() {
        Some(interrupted) => ExitCode::from(interrupted.code),
        None if error.is::<Usage>() => ExitCode::from(2),
        None => ExitCode::FAILURE,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The text without line breaks.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An error and its causes in one line, without causes that the level above already contains.
///
/// `kube_informer::source::ApiError::chain` does this for the library's own errors; this one is for the errors of other
/// crates, and for an `anyhow::Error` `{:#}` does it.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    one_line(&text)
}
