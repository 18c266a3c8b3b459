//! LimitRanges and ResourceQuotas: what a namespace's objects may ask for, each and together.
//!
//! A quota counts only what its status has as `hard` and `used`, which a controller writes: none of this control plane does. So
//! a quota without such a status refuses nothing, as by a kube-apiserver without a kube-controller-manager. What is created adds to
//! `used`; a controller takes away what is deleted.

use std::sync::Arc;

use serde_json::Value;

use crate::api::Api;
use crate::meta::{Object, is_being_deleted};
use crate::nesting;
use crate::object::Stored;
use crate::status::StatusError;
use crate::storage::Transaction;
use crate::target::Target;
use quotas::Change;

mod quotas;
mod ranges;
mod usage;

pub(crate) use usage::requests;

/// By which what a pod asks for is changed.
const RESIZE: &str = "resize";

/// What a write takes of a quota, to be written with it.
pub(crate) struct Charge {
    pub(crate) quota: Target,
    pub(crate) used: Value,
}

impl Api {
    /// Gives a pod that is new, or resized, what the LimitRanges of its namespace have for containers that do not say what they need.
    pub(crate) fn apply_defaults_of_ranges(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        pod: &mut Object,
    ) {
        if target.resource.id() == "pods" {
            for (_, range) in self.beside(transaction, target, "limitranges") {
                ranges::complete(&range, pod);
            }
        }
    }

    /// Refuses what is outside the LimitRanges of its namespace.
    pub(crate) fn check_ranges(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        name: &str,
        old: Option<&Object>,
        new: &Object,
    ) -> Result<(), StatusError> {
        let id = target.resource.id();
        let stays = old.is_none_or(|old| !is_being_deleted(old));
        let concerned = match (id.as_str(), target.subresource.as_deref()) {
            // What pods ask for changes by this subresource only.
            ("pods", None) => old.is_none(),
            ("pods", Some(RESIZE)) | ("persistentvolumeclaims", None) => stays,
            _ => false,
        };
        if !concerned {
            return Ok(());
        }
        for (_, range) in self.beside(transaction, target, "limitranges") {
            if let Some(why) = ranges::refusal(&range, &id, new) {
                return Err(StatusError::forbidden(&target.resource, name, &why));
            }
        }
        Ok(())
    }

    /// What a write takes of the quotas of its namespace, or which of them has no room for it.
    pub(crate) fn charges(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        name: &str,
        old: Option<&Object>,
        new: &Object,
    ) -> Result<Vec<Charge>, StatusError> {
        let change = Change {
            resource: &target.resource,
            subresource: target.subresource.as_deref(),
            old,
            new,
        };
        let mut charges = Vec::new();
        if !change.counts() {
            return Ok(charges);
        }
        for (quota, object) in self.beside(transaction, target, "resourcequotas") {
            let used = change
                .charge(&object)
                .map_err(|why| StatusError::forbidden(&target.resource, name, &why))?;
            charges.extend(used.map(|used| Charge { quota, used }));
        }
        Ok(charges)
    }

    /// The objects of a kind of the core group that are in the namespace of a target.
    fn beside(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        plural: &str,
    ) -> Vec<(Target, Object)> {
        let resource = self.find("", "v1", plural).filter(|_| target.namespace.is_some());
        let Some(resource) = resource else {
            return Vec::new();
        };
        let decode = |stored: Arc<Stored>| {
            let target = Target::of(resource.clone(), &stored.key);
            let object = nesting::with_room(stored.depth, || target.decode(&stored));
            (target, object)
        };
        let found = transaction.list(&resource, &target.prefix());
        found.into_iter().map(decode).collect()
    }
}
