//! What this process takes.

use anyhow::Context as _;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use std::time::Duration;

/// Until next to no CPU time was used for a second; what is done late, such as freeing, belongs to the phase.
pub async fn at_rest() {
    let (mut calm, mut before) = (0, cpu_time());
    for _ in 0..60 {
        tokio::time::sleep(Duration::from_millis(250)).await;
        let now = cpu_time();
        calm = if now - before < Duration::from_millis(5) {
            calm + 1
        } else {
            0
        };
        before = now;
        if calm == 4 {
            return;
        }
    }
}

/// User and system time of all threads since the program started.
pub fn cpu_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the own usage is always there");
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(micros.unsigned_abs())
}

/// Resident memory now, and the most since the peak was reset, in MiB.
pub fn memory() -> anyhow::Result<(f64, f64)> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let field = |name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
        kib.map(|kib| kib / 1024.0)
            .context("a field of /proc/self/status is missing")
    };
    Ok((field("VmRSS:")?, field("VmHWM:")?))
}

/// The 50th and the 99th percentile, in microseconds; `None` of nothing.
pub fn percentiles(mut times: Vec<Duration>) -> Option<[f64; 2]> {
    times.sort_unstable();
    let at = |part: f64| {
        times
            .get((times.len() as f64 * part) as usize)
            .map(|time| time.as_secs_f64() * 1e6)
    };
    Some([at(0.5)?, at(0.99)?])
}
