//! What a replica does not know: what became of its writes of the group's Lease that have failed.

use kube::api::DynamicObject;
use std::collections::BTreeSet;

/// What writes that have failed may do, or may have done. All of them replace the same version of the Lease: once it has another one, each
/// has been done or never will be. No answer says that, not even a refusal: clients and proxies send a request again after some
/// answers, and then the answer is that to the last one, while the first may still be on its way.
#[derive(Debug, Default)]
pub(super) struct Unanswered {
    version: Option<String>,
    /// The shards that become free.
    pub(super) frees: BTreeSet<u16>,
    /// The shards that it takes.
    pub(super) takes: BTreeSet<u16>,
    /// Whether it takes some of them because others do not.
    pub(super) steps_in: bool,
}

impl Unanswered {
    /// Whether the Lease, as it was read after the writes, has another version than they replace.
    pub(super) fn is_decided_by(&self, group: Option<&DynamicObject>) -> bool {
        self.version.as_ref() != group.and_then(|lease| lease.metadata.resource_version.as_ref())
    }

    /// Notes the Lease as it was read after the writes. Returns those that are decided by it.
    pub(super) fn decided_by(&mut self, group: Option<&DynamicObject>) -> Self {
        if !self.is_decided_by(group) {
            return Self::default();
        }
        let now = Self {
            version: group.and_then(|lease| lease.metadata.resource_version.clone()),
            ..Self::default()
        };
        std::mem::replace(self, now)
    }

    /// Adds a write that is about to be sent.
    pub(super) fn sent(&mut self, frees: BTreeSet<u16>, takes: &BTreeSet<u16>, steps_in: bool) {
        self.frees.extend(frees);
        self.takes.extend(takes);
        self.steps_in |= steps_in;
    }
}
