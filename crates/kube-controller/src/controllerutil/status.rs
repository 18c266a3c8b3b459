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
/// the same name is not changed (422). It also contains the object's version, by which [`OwnWrites`](crate::own_writes) knows
/// that the change is the controller's own. If the object has another version by now, the patch is sent again without it.
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
    let meta = object.meta();
    let name = meta.name.as_deref().unwrap_or_default();
    let patch = async |version: Option<&String>| {
        let patch = json!({ "metadata": Identity { uid: meta.uid.as_ref(), version }, "status": &changes });
        api.patch_status(name, &PatchParams::default(), &Patch::Merge(patch))
            .await
    };
    let version = meta.resource_version.as_ref();
    match patch(version).await {
        Err(kube::Error::Api(status)) if status.is_conflict() && version.is_some() => patch(None).await,
        patched => patched,
    }
    .map(Some)
}

/// What a patch says about the object that it changes.
#[derive(Serialize)]
struct Identity<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a String>,
    #[serde(rename = "resourceVersion", skip_serializing_if = "Option::is_none")]
    version: Option<&'a String>,
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
    use http::{Request, Response};
    use k8s_openapi::api::core::v1::{Node, NodeStatus};
    use kube::Client;
    use kube::client::Body;
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};

    /// A client, and the patches that it has sent. The server has another version than `held` if that is given.
    fn client(held: Option<&'static str>) -> (Client, Arc<Mutex<Vec<Value>>>) {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let patches = sent.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let patches = patches.clone();
            async move {
                let body = request.into_body().collect_bytes().await.unwrap();
                let patch: Value = serde_json::from_slice(&body).unwrap();
                let version = patch["metadata"]["resourceVersion"].clone();
                patches.lock().unwrap().push(patch);
                let answer = match held.is_some_and(|held| !version.is_null() && version != held) {
                    true => {
                        json!({"kind": "Status", "code": 409, "reason": "Conflict", "message": "", "metadata": {}})
                    }
                    false => {
                        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "resourceVersion": "9"}})
                    }
                };
                let code = answer["code"].as_u64().unwrap_or(200) as u16;
                let response = Response::builder().status(code);
                Ok::<_, Infallible>(
                    response
                        .body(Body::from(answer.to_string().into_bytes()))
                        .unwrap(),
                )
            }
        });
        (Client::new(service, "default"), sent)
    }

    #[tokio::test]
    async fn a_patch_names_the_version_that_was_reconciled_first() {
        let node = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}});
        let node: Node = serde_json::from_value(node).unwrap();
        let status = NodeStatus {
            phase: Some("Running".into()),
            ..NodeStatus::default()
        };
        let status_is = json!({"phase": "Running"});
        let named = json!({"metadata": {"uid": "u", "resourceVersion": "7"}, "status": status_is});
        let unnamed = json!({"metadata": {"uid": "u"}, "status": status_is});
        for (held, expected) in [(None, vec![named.clone()]), (Some("8"), vec![named, unnamed])] {
            let (client, sent) = client(held);
            let stored = patch_status(&Api::all(client), &node, &status)
                .await
                .unwrap()
                .unwrap();
            assert_eq!(stored.metadata.resource_version.as_deref(), Some("9"));
            assert_eq!(*sent.lock().unwrap(), expected);
        }
    }

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
