//! The commands that check this repository. `.ci/run` installs the tools, then runs all of them: `cargo xtask ci`.
//!
//! Each step is also a command of its own: `cargo xtask clippy`. A step that cannot run on this machine, because a
//! tool can be neither found nor installed, says NOT RUN; any other failure ends the run.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a command line talks

mod api;
mod costs;
mod features;
mod licences;
mod package;
mod protobuf;
mod readme;
mod spelling;
mod steps;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match steps::run_arguments(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
