//! Measures kube-informer beside its peers and draws what was measured: `bench/run`.
//!
//! Every client is a process of its own ([`programs`]), and they take turns on one server, so that a machine that is slow for
//! some minutes is slow for all of them. What they print is written as it comes, as lines of JSON ([`results`]); tables and charts are
//! made from these files alone, so that they can be made anew without measuring. [`cases`] says what is measured.

mod cases;
mod charts;
mod controllers;
mod gets;
mod handlers;
mod informers;
mod machine;
mod options;
mod programs;
mod queue;
mod results;
mod simulator;
mod tables;
mod warm;

use anyhow::Result;
use cases::Case;
use clap::Parser as _;
use options::Options;
use results::Results;

fn main() -> Result<()> {
    let options = Options::parse();
    let results = Results::in_folder(options.folder())?;
    if !options.draw {
        measure(&options, &results)?;
    }
    tables::write(&results)?;
    charts::draw(&results)?;
    eprintln!("tables and charts: {}", results.folder().display());
    results.check()
}

fn measure(options: &Options, results: &Results) -> Result<()> {
    let cases = options.cases();
    let programs = programs::build(&cases, options.no_build)?;
    for case in &cases {
        results.begin(*case, options)?;
    }
    let wanted = |case: Case| cases.contains(&case);
    informers::measure(&programs, options, &cases, results)?;
    if wanted(Case::Gets) {
        gets::measure(&programs, options, results)?;
    }
    if wanted(Case::Queue) {
        queue::measure(&programs, options, results)?;
    }
    if wanted(Case::Handlers) {
        handlers::measure(&programs, options, results)?;
    }
    if wanted(Case::Controllers) {
        controllers::measure(&programs, options, results)?;
    }
    if wanted(Case::Warm) {
        warm::measure(&programs, options, results)?;
    }
    if wanted(Case::Simulator) {
        simulator::measure(&programs, options, results)?;
    }
    if wanted(Case::Real) {
        informers::measure_real(&programs, options, results)?;
    }
    Ok(())
}
