//! The command line.

use crate::cases::Case;
use clap::Parser;
use std::path::PathBuf;

/// Measures kube-informer beside client-go, kube-rs and controller-runtime, and writes tables and charts
#[derive(Debug, Parser)]
#[command(name = "bench/run")]
pub struct Options {
    /// How often each client runs; tables have medians and what they lie between [default: 3, 1 with --quick]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// Measure only these cases
    #[arg(long, value_name = "CASE", value_delimiter = ',')]
    only: Vec<Case>,
    /// The largest collection [default: 100000, 10000 with --quick]
    #[arg(long, value_name = "OBJECTS", value_parser = clap::value_parser!(u32).range(1000..=2_000_000))]
    max: Option<u32>,
    /// How many objects there are where it is not their number that is varied [default: 20000, on a real API server 10000; 5000 and 1000 with
    /// --quick; --max if that is less]
    #[arg(long, value_name = "OBJECTS", value_parser = clap::value_parser!(u32).range(100..=2_000_000))]
    objects: Option<u32>,
    /// A few minutes: small collections, one round, no real API server; into bench/results/quick unless told
    #[arg(long)]
    pub quick: bool,
    /// Measure nothing: write the tables and charts of the lines that are there
    #[arg(long)]
    pub draw: bool,
    /// Run the programs as they were built before
    #[arg(long)]
    pub no_build: bool,
    /// Where lines, tables and charts are written [default: bench/results]
    #[arg(long, value_name = "FOLDER")]
    results: Option<PathBuf>,
    /// Whose informers are measured: FORM, FORM/list or FORM/stream; see bench/README.md
    #[arg(long, value_name = "CLIENT", value_delimiter = ',')]
    clients: Vec<String>,
    /// How many templates the pods are made of, as a Deployment makes pods; 0: no two pods are alike
    #[arg(long, default_value_t = 1000)]
    pub templates: u32,
}

impl Options {
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 1 } else { 3 })
    }

    pub fn cases(&self) -> Vec<Case> {
        let asked = |case: &Case| match self.only.is_empty() {
            true => !(self.quick && *case == Case::Real),
            false => self.only.contains(case),
        };
        Case::ALL.into_iter().filter(asked).collect()
    }

    fn max(&self) -> usize {
        self.max.unwrap_or(if self.quick { 10_000 } else { 100_000 }) as usize
    }

    /// The sizes of collections: powers of ten, and the largest.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = (3..)
            .map(|power| 10usize.pow(power))
            .take_while(|&size| size < self.max())
            .collect();
        sizes.push(self.max());
        sizes
    }

    /// The size at which everything but size is measured.
    pub fn objects(&self) -> usize {
        self.objects.map_or_else(
            || self.max().min(if self.quick { 5_000 } else { 20_000 }),
            |objects| objects as usize,
        )
    }

    /// The size on a real API server, which takes 8 ms to write an object.
    pub fn real_objects(&self) -> usize {
        self.objects.map_or_else(
            || self.max().min(if self.quick { 1_000 } else { 10_000 }),
            |objects| objects as usize,
        )
    }

    /// Clients as `FORM/LIST`, or those that are usual.
    pub fn clients(&self, usual: &[&str]) -> Vec<String> {
        let whole = |client: &str| match client.contains('/') {
            true => client.to_owned(),
            false => format!("{client}/list"),
        };
        match self.clients.is_empty() {
            true => usual.iter().copied().map(whole).collect(),
            false => self.clients.iter().map(|client| whole(client)).collect(),
        }
    }

    pub fn folder(&self) -> PathBuf {
        match &self.results {
            Some(folder) => folder.clone(),
            None if self.quick => "results/quick".into(),
            None => "results".into(),
        }
    }

    /// As a command, for the tables.
    pub fn command(&self) -> String {
        let mut command = "bench/run".to_owned();
        for argument in std::env::args().skip(1) {
            command += &format!(" {argument}");
        }
        command
    }
}
