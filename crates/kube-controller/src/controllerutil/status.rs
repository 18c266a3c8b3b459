//! The status of an object.

use kube::api::{Patch, PatchParams};
use kube::{Api, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::fmt::Debug;

/// Writes `status` if it differs from that of `object`, and returns the object as stored; `None` if it does
/// not differ.
///
/// `object` is the object that was reconciled, as the cache has it, and `status` the whole status that it should have: a field of the object's
/// status that is missing from it is removed, so start from the object's status and change that. If several controllers write different
/// fields, use [`apply_status`](super::apply_status). The request is a merge patch of the status subresource with the fields
/// that differ, so fields that `K` does not know are kept; an array is replaced as a whole. The patch contains the object's uid, so that an object which was created later under
/// the same name is not changed (422).
///
/// A status that changes with every reconcile is written with every reconcile. So leave the current time out
/// of it, or change a time only together with the field that it describes.
///
/// ```no_run
/// # use k8s_openapi::api::apps::v1::{Deployment, DeploymentStatus};
/// # async fn example(api: kube::Api<Deployment>, deployment: Deployment) -> Result<(), kube::Error> {
/// use kube_controller::controllerutil::patch_status;
///
/// let status = DeploymentStatus { replicas: Some(3), ..DeploymentStatus::default() };
/// if patch_status(&api, &deployment, &status).await?.is_some() {
///     println!("changed");
/// }
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// The request failed, or the object or the status cannot be serialized. If the object has no name, the
/// server refuses the request (404).
///
/// # Cancel safety
///
/// If the future is dropped, the status may or may not have been written. The next call compares again.
pub async fn patch_status<K, S>(api: &Api<K>, object: &K, status: &S) -> Result<Option<K>, kube::Error>
where
    K: Resource + Clone + Serialize + DeserializeOwned + Debug,
    S: Serialize,
{
    let mut before = serde_json::to_value(object).map_err(kube::Error::SerdeError)?;
    let after = serde_json::to_value(status).map_err(kube::Error::SerdeError)?;
    let Some(changes) = merge_patch(&before["status"].take(), &after) else {
        return Ok(None);
    };
    let mut patch = json!({ "status": changes });
    if let Some(uid) = &object.meta().uid {
        patch["metadata"] = json!({ "uid": uid });
    }
    let name = object.meta().name.as_deref().unwrap_or_default();
    let params = PatchParams::default();
    api.patch_status(name, &params, &Patch::Merge(patch))
        .await
        .map(Some)
}

/// What turns one value into the other (RFC 7386); `None` if they are equal.
fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    if before == after {
        return None;
    }
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return Some(after.clone());
    };
    let changed = new.iter().filter_map(|(name, value)| {
        let old = old.get(name).unwrap_or(&Value::Null);
        Some((name.clone(), merge_patch(old, value)?))
    });
    let removed = old.keys().filter(|name| !new.contains_key(*name));
    let removed = removed.map(|name| (name.clone(), Value::Null));
    let patch: Map<_, _> = changed.chain(removed).collect();
    (!patch.is_empty()).then_some(patch.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_patch_turns_one_status_into_the_other() {
        let states = [
            json!(null),
            json!({}),
            json!({"a": 1, "b": {"c": [1, 2], "d": "x"}}),
            json!({"a": 2, "b": {"c": [1]}}),
            json!({"b": {"e": {"f": true}}}),
        ];
        for before in &states {
            for after in &states {
                let patch = merge_patch(before, after);
                assert_eq!(patch.is_none(), before == after, "{before} {after}");
                let mut patched = before.clone();
                json_patch::merge(&mut patched, &patch.unwrap_or_else(|| json!({})));
                let empty = |value: &Value| value.is_null() || *value == json!({});
                assert!(
                    patched == *after || (empty(&patched) && empty(after)),
                    "{before} {after}"
                );
            }
        }
    }
}
