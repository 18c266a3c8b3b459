//! One more handler: `bench/informer`, and client-go's own benchmark of its listener.

use crate::cases::Case;
use crate::options::Options;
use crate::programs::{Programs, lines, printed};
use crate::results::Results;
use anyhow::{Context as _, Result};
use serde_json::json;
use std::process::Command;

pub fn measure(programs: &Programs, options: &Options, results: &Results) -> Result<()> {
    for round in 1..=options.rounds() {
        eprintln!("handlers, round {round} of {}", options.rounds());
        for mut line in lines(programs.rust("handlers").args(["notify", "50000", "5"]))? {
            line["client"] = json!("kube-informer");
            line["round"] = json!(round);
            results.add(Case::Handlers, &line)?;
        }
        if programs.has_go() {
            let (ns, allocations) = client_go()?;
            let line = json!({"client": "client-go", "round": round, "ns": ns, "allocations": allocations});
            results.add(Case::Handlers, &line)?;
        }
    }
    let rounds = options.rounds().to_string();
    for pods in ["100", "1000", "10000"] {
        if options.quick && pods != "100" {
            continue;
        }
        for mut line in lines(
            programs
                .rust("handlers")
                .args(["stalled", pods, "10000", &rounds]),
        )? {
            line["client"] = json!("kube-informer");
            results.add(Case::Handlers, &line)?;
        }
    }
    Ok(())
}

/// Nanoseconds and allocations of a notification.
fn client_go() -> Result<(f64, f64)> {
    let mut command = Command::new("go");
    command
        .args([
            "test",
            "-run",
            "^$",
            "-bench",
            "^BenchmarkListener$",
            "-benchmem",
            "-benchtime",
            "500000x",
        ])
        .arg("k8s.io/client-go/tools/cache")
        .current_dir("informer/go")
        .env("GOMAXPROCS", "2");
    let text = printed(&mut command)?;
    let line = text
        .lines()
        .find(|line| line.starts_with("Benchmark"))
        .context("go test printed no benchmark")?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let before = |unit: &str| {
        let at = words
            .iter()
            .position(|word| *word == unit)
            .and_then(|at| words.get(at.checked_sub(1)?));
        at.and_then(|number| number.parse().ok())
            .with_context(|| format!("no {unit} in {line}"))
    };
    Ok((before("ns/op")?, before("allocs/op")?))
}
