//! This machine: what figures depend on, and how much memory is free.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// What is left for everything else, in MiB.
const RESERVE: u64 = 1024;

/// What the figures of a run depend on.
pub fn description() -> Value {
    let first = |command: &str, argument: &str| {
        let output = Command::new(command).arg(argument).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned())
    };
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(": ")?.1.to_owned())
    });
    json!({
        "processor": processor, "processors": std::thread::available_parallelism().map_or(0, usize::from),
        "memory_mib": memory("MemTotal:").ok(), "load": load(), "rustc": first("rustc", "--version"), "go": first("go", "version"),
        "commit": first_of_git(),
    })
}

fn first_of_git() -> Option<String> {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The average number of processes that ran, over the last minute.
pub fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg")
        .ok()?
        .split(' ')
        .next()?
        .parse()
        .ok()
}

/// Why so many MiB are too much now; `None`: they are not.
pub fn too_large(mib: u64) -> Result<Option<String>> {
    let available = memory("MemAvailable:")?;
    Ok((mib + RESERVE > available).then(|| {
        format!("it takes about {mib} MiB of memory, and {available} MiB are available, of which {RESERVE} are kept free")
    }))
}

fn memory(field: &str) -> Result<u64> {
    let text = fs::read_to_string("/proc/meminfo").context("memory can be looked up on Linux only")?;
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    Ok(kib.with_context(|| format!("/proc/meminfo has no {field}"))? / 1024)
}
