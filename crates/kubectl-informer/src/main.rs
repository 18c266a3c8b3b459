//! The `kubectl informer` command: shows what an informer does, watches resources, measures what a cache costs.

mod args;
mod cmd;
mod config;
mod connection;
mod discovery;
mod failure;
mod feed;
mod kinds;
mod output;
mod path;
mod process;
mod signals;
mod target;
mod text;

use clap::Parser as _;

fn main() -> std::process::ExitCode {
    cmd::run(args::Args::parse())
}
