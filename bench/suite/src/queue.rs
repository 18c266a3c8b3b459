//! Work queues: `bench/workqueue`.

use crate::cases::Case;
use crate::options::Options;
use crate::programs::{Programs, printed};
use crate::results::Results;
use anyhow::{Context as _, Result};
use serde_json::json;

pub fn measure(programs: &Programs, options: &Options, results: &Results) -> Result<()> {
    for round in 1..=options.rounds() {
        eprintln!("work queues, round {round} of {}", options.rounds());
        let ours = ("kube-workqueue", Some(programs.rust("bench-workqueue")));
        for (client, command) in [ours, ("client-go", programs.go("workqueue"))] {
            let Some(mut command) = command else { continue };
            // Each line is a name and a number.
            for line in printed(command.env("GOMAXPROCS", "2"))?.lines() {
                let (figure, value) = line
                    .split_once(' ')
                    .with_context(|| format!("no figure: {line}"))?;
                let value: f64 = value
                    .trim()
                    .parse()
                    .with_context(|| format!("no number: {line}"))?;
                let line = json!({"client": client, "round": round, "figure": figure, "value": value});
                results.add(Case::Queue, &line)?;
            }
        }
    }
    Ok(())
}
