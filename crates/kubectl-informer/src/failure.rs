//! How the program ends: the message and the exit code.

use crate::output;
use kube_informer::reflector::LastError;
use kube_informer::source::ErrorClass;
use std::process::ExitCode;
use std::{fmt, io};

/// The command line is invalid: exit code 2. Any other error is a failure: exit code 1.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A signal ended the program before it had done what it was asked for.
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

/// A condition was not met in time: exit code 124, as of `timeout`.
#[derive(Debug)]
pub(crate) struct TimedOut(pub(crate) String);

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TimedOut {}

/// Prints in one line why the program failed, and returns the exit code.
pub(crate) fn exit_code(result: anyhow::Result<ExitCode>) -> ExitCode {
    let error = match result {
        Ok(code) => return code,
        Err(error) => error,
    };
    // The reader has closed our output, as `head` does: that is not a failure.
    if is_closed_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    output::diagnostic(&format!("error: {}", one_line(&format!("{error:#}"))));
    match error.downcast_ref::<Interrupted>() {
        Some(interrupted) => ExitCode::from(interrupted.code),
        None if error.is::<Usage>() => ExitCode::from(2),
        None if error.is::<TimedOut>() => ExitCode::from(124),
        None => ExitCode::FAILURE,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Why a request failed; and what the user needs, if it was forbidden.
pub(crate) fn reason(error: &LastError) -> String {
    let needs = match error.class {
        ErrorClass::Forbidden => format!("; it takes the verbs list and watch on {}", error.resource),
        _ => String::new(),
    };
    error.message.clone() + &needs
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
