//! How many connections there may be at a time.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The open files that are no connections.
const OTHERS: u64 = 64;
/// What is assumed if the system does not tell.
const USUAL: u64 = 256;

/// Raises the limit of open files as far as it may be raised, and returns how many of them can be connections: each watch is one.
pub(crate) fn most_connections() -> usize {
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(USUAL, |(soft, hard)| {
        match setrlimit(Resource::RLIMIT_NOFILE, hard, hard) {
            Ok(()) => hard,
            Err(_) => soft,
        }
    });
    usize::try_from(limit.saturating_sub(OTHERS).max(1)).unwrap_or(usize::MAX)
}

/// Why a kind is not watched beside so many others.
pub(crate) fn too_many(most: usize) -> String {
    format!("more than {most} watches at a time are too many for the limit of open files (ulimit -n)")
}
