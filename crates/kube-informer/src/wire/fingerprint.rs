//! Hashes of bodies.

use crate::object::Fingerprint;
use std::sync::LazyLock;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Drawn once per process, so that nobody outside can prepare two bodies that look alike.
static SEED: LazyLock<u64> = LazyLock::new(rand::random);

/// Hashes a body part by part: the order and the bounds of the parts count, what stands between them does not.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyHash(u64);

impl BodyHash {
    pub(super) fn new() -> Self {
        Self(*SEED)
    }

    pub(super) fn part(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    pub(super) fn finish(self) -> Fingerprint {
        Fingerprint::new(self.0)
    }
}
