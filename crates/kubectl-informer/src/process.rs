//! What this process uses.

/// Memory in use and its highest value so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Memory {
    /// Resident memory now, in MiB.
    pub(crate) rss_mib: f64,
    /// The most there was since the program started, in MiB.
    pub(crate) peak_mib: f64,
}

impl Memory {
    /// The memory of this process.
    #[cfg(target_os = "linux")]
    pub(crate) fn now() -> Self {
        // Not `ru_maxrss`: after an exec it begins with what the parent had.
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self {
            rss_mib: field_mib(&status, "VmRSS:"),
            peak_mib: field_mib(&status, "VmHWM:"),
        }
    }
}

/// A field of `/proc/self/status` that is in KiB.
fn field_mib(status: &str, name: &str) -> f64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}
