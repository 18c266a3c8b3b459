//! The `kubectl informer` command: shows what an informer does, watches resources, measures what a cache costs.

mod age;
mod args;
mod cmd;
mod columns;
mod condition;
mod config;
mod connection;
mod counts;
mod diff;
mod discovery;
mod failure;
mod feed;
mod field_path;
mod grid;
mod informers;
mod kinds;
mod managers;
mod open_files;
mod output;
mod path;
mod process;
mod progress;
mod recording;
mod signals;
mod target;
mod template;
mod terminal;
mod text;
mod wake;

use clap::Parser as _;

fn main() -> std::process::ExitCode {
    let words = args::Args::with_options_behind(std::env::args_os());
    match args::Args::try_parse_from(words) {
        Ok(args) => cmd::run(args),
        Err(error) => args::hints::with_hint(error).exit(),
    }
}
