//! Hashes of objects' bodies.

use super::FieldPlan;
use crate::object::Fingerprint;
use std::sync::LazyLock;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A random seed per process, so that nobody can prepare two bodies with the same hash. A plan may have another one.
static SEED: LazyLock<u64> = LazyLock::new(rand::random);

/// Hashes a body part by part: the hash depends on the parts, their order and their bounds, not on the bytes between
/// them.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyHash(u64);

impl BodyHash {
    pub(super) fn new(plan: &FieldPlan) -> Self {
        Self(plan.seed().unwrap_or_else(|| *SEED))
    }

    pub(super) fn part(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    pub(super) fn finish(self) -> Fingerprint {
        Fingerprint::new(self.0)
    }
}

/// What a fingerprint of uid and version is, if `plan` asks for one and the object has both.
pub(super) fn of_version(plan: &FieldPlan, uid: Option<&str>, version: Option<&str>) -> Option<Fingerprint> {
    let (uid, version) = uid.zip(version).filter(|_| plan.is_by_version())?;
    let mut hash = BodyHash::new(plan);
    hash.part(uid.as_bytes());
    hash.part(version.as_bytes());
    Some(hash.finish())
}
