//! CPU time and memory of this process.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use std::time::Duration;

/// User and system time of all threads since the program started.
pub(crate) fn cpu_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else {
        return Duration::ZERO;
    };
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(micros.unsigned_abs())
}

/// Memory in use and its highest value so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Memory {
    /// Resident memory now, in MiB.
    pub(crate) rss_mib: f64,
    /// The highest value since the program started, in MiB.
    pub(crate) peak_mib: f64,
}

impl Memory {
    /// The memory of this process.
    #[cfg(target_os = "linux")]
    pub(crate) fn now() -> Self {
        // Not `ru_maxrss`, because after an exec it starts with the parent's value.
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self {
            rss_mib: field_mib(&status, "VmRSS:"),
            peak_mib: field_mib(&status, "VmHWM:"),
        }
    }

    /// The memory of this process. On systems where the current value is hard to read, the highest value is used for
    /// both.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn now() -> Self {
        let unit = if cfg!(target_vendor = "apple") {
            1.0
        } else {
            1024.0
        };
        let most = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss());
        let peak_mib = most as f64 * unit / f64::from(1 << 20);
        Self {
            rss_mib: peak_mib,
            peak_mib,
        }
    }
}

/// A field of `/proc/self/status` that is in KiB.
#[cfg(target_os = "linux")]
fn field_mib(status: &str, name: &str) -> f64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}
