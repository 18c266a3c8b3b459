//! Functions for reconcilers: owner references, server-side apply, create or update, status, conditions.
//!
//! | I want to | use |
//! |---|---|
//! | have a child deleted with its owner, and its changes reconcile the owner | [`set_controller_reference`] |
//! | have a child deleted with the last of its owners | [`set_owner_reference`] |
//! | set the fields of a child, and keep the fields that others have set | [`apply`] |
//! | change some fields of a child, or create it | [`create_or_update`] |
//! | write a status when it has changed | [`patch_status`], or [`apply_status`] |
//! | set a condition of a status, with the time of its last transition | [`set_condition`] |
//! | hold an object until something is cleaned up | [`finalizer`](mod@crate::finalizer) |
//!
//! The names are those of controller-runtime's package `controllerutil`.

mod apply;
mod conditions;
mod create_or_update;
mod owners;
mod status;

pub use apply::{ApplyError, apply, apply_status};
pub use conditions::set_condition;
pub use create_or_update::{CreateOrUpdateError, OperationResult, create_or_update};
pub use owners::{
    OwnerError, remove_owner_reference, set_controller_reference, set_controller_reference_with,
    set_owner_reference, set_owner_reference_with,
};
pub use status::patch_status;

use kube::Resource;

/// Adds a finalizer to an object in memory, unless it has the finalizer already. Returns whether it was
/// added.
///
/// To add a finalizer on the server, and to remove it after the cleanup, use
/// [`finalizer`](crate::finalizer::finalizer()).
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_controller::controllerutil::{add_finalizer, remove_finalizer};
///
/// let mut map = ConfigMap::default();
/// assert!(add_finalizer(&mut map, "example.com/cleanup"));
/// assert!(!add_finalizer(&mut map, "example.com/cleanup"));
/// assert!(remove_finalizer(&mut map, "example.com/cleanup"));
/// assert_eq!(map.metadata.finalizers, None);
/// ```
pub fn add_finalizer<K: Resource>(object: &mut K, finalizer: &str) -> bool {
    let finalizers = object.meta_mut().finalizers.get_or_insert_default();
    let absent = finalizers.iter().all(|held| held != finalizer);
    if absent {
        finalizers.push(finalizer.to_owned());
    }
    absent
}

/// Removes all occurrences of a finalizer from an object in memory. Returns whether there was one.
pub fn remove_finalizer<K: Resource>(object: &mut K, finalizer: &str) -> bool {
    let finalizers = &mut object.meta_mut().finalizers;
    let Some(held) = finalizers else { return false };
    let before = held.len();
    held.retain(|held| held != finalizer);
    let removed = held.len() < before;
    if removed && held.is_empty() {
        *finalizers = None;
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;

    #[test]
    fn a_finalizer_is_added_once_and_removed_wholly() {
        // Case 83.
        let mut map = ConfigMap::default();
        assert!(add_finalizer(&mut map, "a/x"));
        assert!(!add_finalizer(&mut map, "a/x"));
        assert_eq!(map.metadata.finalizers, Some(vec!["a/x".into()]));

        map.metadata.finalizers = Some(["a/x", "b/y", "a/x"].map(String::from).into());
        assert!(remove_finalizer(&mut map, "a/x"));
        assert_eq!(map.metadata.finalizers, Some(vec!["b/y".into()]));
        assert!(!remove_finalizer(&mut map, "a/x"));
    }
}
