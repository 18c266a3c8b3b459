//! Finalizers: clean up before an object is removed.
//!
//! When an object with finalizers is deleted, it gets a `deletionTimestamp` and stays until its last
//! finalizer is removed. [`finalizer`] wraps a reconcile. It calls the reconcile with [`Event::Apply`] for an
//! object that has the finalizer, and with [`Event::Cleanup`] when that object is being deleted:
//!
//! | the object | has the finalizer | what happens |
//! |---|---|---|
//! | exists | no | the finalizer is added, and the reconcile ends; this change leads to the next one |
//! | exists | yes | [`Event::Apply`] |
//! | is being deleted | yes | [`Event::Cleanup`]; if it succeeds, the finalizer is removed |
//! | is being deleted | no | nothing: the finalizers of others hold the object |
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::Api;
//! use kube_controller::controller::Action;
//! use kube_controller::finalizer::{Error, Event, finalizer};
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! async fn apply(map: Arc<ConfigMap>) -> Result<Action, std::io::Error> {
//!     Ok(Action::requeue(Duration::from_secs(3600)))
//! }
//!
//! async fn cleanup(map: Arc<ConfigMap>) -> Result<Action, std::io::Error> {
//!     Ok(Action::await_change())
//! }
//!
//! async fn reconcile(api: Api<ConfigMap>, map: Arc<ConfigMap>) -> Result<Action, Error<std::io::Error>> {
//!     finalizer(&api, "example.com/cleanup", map, async |event| match event {
//!         Event::Apply(map) => apply(map).await,
//!         Event::Cleanup(map) => cleanup(map).await,
//!     })
//!     .await
//! }
//! ```
//!
//! # Stale caches
//! The object usually comes from a cache, so the patches are conditional: they contain the object's uid and
//! its expected finalizers. If these do not match, the finalizers are read from the server and the patch is
//! repeated, up to [five times](TRIES). So a finalizer is never added twice, the finalizers of others are
//! never changed, and a new object of the same name is not touched.
//!
//! # Several finalizers
//! Each call handles one finalizer. If it fails, its finalizer stays, and the others are not affected. So
//! call `finalizer` for each of them, and return the error after the last call.

use crate::controller::Action;
use crate::names::is_qualified_name;
use crate::own_writes::with_echo;
use futures::{TryFuture, TryFutureExt};
use kube::api::{Patch, PatchParams};
use kube::core::Status;
use kube::{Api, Resource, ResourceExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::sync::Arc;

/// How often a patch is tried if its conditions are not met.
pub const TRIES: usize = 5;

/// The task of a reconcile for an object with a finalizer.
#[derive(Debug, Clone)]
pub enum Event<K> {
    /// The object exists: create the state that it asks for.
    Apply(Arc<K>),
    /// The object is being deleted: clean up after it.
    ///
    /// This must also succeed if [`Apply`](Self::Apply) was never called or has failed, and if the cleanup
    /// was done before, because it is called again if the finalizer could not be removed.
    Cleanup(Arc<K>),
}

/// Why [`finalizer`] failed. After any of these errors, the finalizer is as before, and a later reconcile
/// tries again.
#[derive(Debug, thiserror::Error)]
pub enum Error<ReconcileErr>
where
    ReconcileErr: std::error::Error + 'static,
{
    /// [`Event::Apply`] failed.
    #[error("failed to apply object: {0}")]
    ApplyFailed(#[source] ReconcileErr),
    /// [`Event::Cleanup`] failed.
    #[error("failed to clean up object: {0}")]
    CleanupFailed(#[source] ReconcileErr),
    /// The finalizer could not be added.
    #[error("failed to add finalizer: {0}")]
    AddFinalizer(#[source] kube::Error),
    /// The finalizer could not be removed, although the cleanup succeeded.
    #[error("failed to remove finalizer: {0}")]
    RemoveFinalizer(#[source] kube::Error),
    /// The object has no name.
    #[error("object has no name")]
    UnnamedObject,
    /// The finalizer's name is not a qualified name, such as `example.com/cleanup`. No request was made.
    #[error(
        "invalid finalizer: its name must be a qualified name: a DNS subdomain and \"/\", and up to 63 letters, digits, '-', '_' and '.'"
    )]
    InvalidFinalizer,
}

/// Calls `reconcile` with [`Event::Apply`] or [`Event::Cleanup`], and adds and removes the finalizer; see the
/// [module](self).
///
/// The finalizer's name must be a qualified name; a prefix, as in `example.com/cleanup`, makes it unique.
/// `api` must be the API of the object's namespace. It needs the verbs `get` and `patch`.
///
/// When the finalizer was added, this returns [`Action::await_change`], and the change of the object leads to
/// the next reconcile. So do not filter out that change: a predicate on the
/// [generation](https://kubernetes.io/docs/concepts/overview/working-with-objects/) alone hides it, a
/// predicate on finalizers or the resource version does not.
///
/// # Errors
///
/// See [`Error`]. Nothing was changed unless the reconcile has done so.
///
/// # Cancel safety
///
/// If this future is dropped, the finalizer may or may not have been added or removed. The next reconcile
/// finds out.
pub async fn finalizer<K, ReconcileFut>(
    api: &Api<K>,
    finalizer_name: &str,
    obj: Arc<K>,
    reconcile: impl FnOnce(Event<K>) -> ReconcileFut,
) -> Result<Action, Error<ReconcileFut::Error>>
where
    K: Resource + Clone + DeserializeOwned + Serialize + Debug,
    ReconcileFut: TryFuture<Ok = Action>,
    ReconcileFut::Error: std::error::Error + 'static,
{
    if !is_qualified_name(finalizer_name) {
        return Err(Error::InvalidFinalizer);
    }
    let name = obj.meta().name.clone().ok_or(Error::UnnamedObject)?;
    let held = Held::of(&*obj);
    let carried = held.carries(finalizer_name);
    if obj.meta().deletion_timestamp.is_none() {
        if carried {
            // In a box, because these futures can be large, and are moved around a lot.
            let applied = Box::pin(TryFutureExt::into_future(reconcile(Event::Apply(obj)))).await;
            return applied.map_err(Error::ApplyFailed);
        }
        let added = change(api, &name, finalizer_name, held, Change::Add).await;
        return added
            .map(|()| Action::await_change())
            .map_err(Error::AddFinalizer);
    }
    if !carried {
        return Ok(Action::await_change());
    }
    let action = Box::pin(TryFutureExt::into_future(reconcile(Event::Cleanup(obj))))
        .await
        .map_err(Error::CleanupFailed)?;
    let removed = change(api, &name, finalizer_name, held, Change::Remove).await;
    removed.map(|()| action).map_err(Error::RemoveFinalizer)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Add,
    Remove,
}

/// What a patch is based on.
#[derive(Debug, PartialEq)]
struct Held {
    uid: Option<String>,
    finalizers: Vec<String>,
}

impl Held {
    fn of<K: Resource>(object: &K) -> Self {
        Self {
            uid: object.uid(),
            finalizers: object.finalizers().to_vec(),
        }
    }

    fn carries(&self, finalizer: &str) -> bool {
        self.finalizers.iter().any(|held| held == finalizer)
    }

    /// The JSON patch that makes the change, and fails if something is not as it was.
    fn patch(&self, finalizer: &str, change: Change) -> Value {
        let list = "/metadata/finalizers";
        let test = |path: &str, value: Value| json!({"op": "test", "path": path, "value": value});
        let add = |path: &str, value: Value| json!({"op": "add", "path": path, "value": value});
        let mut operations = Vec::new();
        if let Some(uid) = &self.uid {
            operations.push(test("/metadata/uid", uid.as_str().into()));
        }
        match change {
            Change::Add if self.finalizers.is_empty() => {
                operations.push(test(list, Value::Null));
                operations.push(add(list, json!([finalizer])));
            }
            Change::Add => {
                operations.push(test(list, json!(self.finalizers)));
                operations.push(add(&format!("{list}/-"), finalizer.into()));
            }
            Change::Remove => {
                // From the end, so that the indexes before stay as they are.
                let held = self.finalizers.iter().enumerate().rev();
                for (index, _) in held.filter(|(_, held)| *held == finalizer) {
                    let path = format!("{list}/{index}");
                    operations.push(test(&path, finalizer.into()));
                    operations.push(json!({"op": "remove", "path": path}));
                }
            }
        }
        operations.into()
    }
}

/// Whether the server says that this object does not exist. Any other 404, as of a kind that is not served or
/// of something on the way to the server, says nothing about the object.
fn is_gone(status: &Status, name: &str) -> bool {
    let details = status.details.as_ref();
    status.code == 404 && status.reason == "NotFound" && details.is_some_and(|details| details.name == name)
}

/// Makes a change, on the newest state of the object if need be.
async fn change<K>(
    api: &Api<K>,
    name: &str,
    finalizer: &str,
    mut held: Held,
    change: Change,
) -> Result<(), kube::Error>
where
    K: Resource + Clone + DeserializeOwned + Debug,
{
    let mut tries = 0;
    loop {
        tries += 1;
        let patch = serde_json::from_value(held.patch(finalizer, change));
        let patch = Patch::<()>::Json(patch.map_err(kube::Error::SerdeError)?);
        let params = PatchParams::default();
        let patched = api.patch_metadata(name, &params, &patch);
        // The pass ends with the addition, and its change brings the next one.
        let patched = match change {
            Change::Add => with_echo(patched).await,
            Change::Remove => patched.await,
        };
        let refused = match patched {
            Ok(_) => return Ok(()),
            Err(kube::Error::Api(status)) => status,
            Err(error) => return Err(error),
        };
        if is_gone(&refused, name) {
            return Ok(()); // And the finalizer with it.
        }
        match refused.code {
            // A conflict, and a test of the patch that failed.
            409 | 422 if tries < TRIES => {}
            _ => return Err(kube::Error::Api(refused)),
        }
        let latest = match api.get_metadata(name).await {
            Ok(latest) => latest,
            Err(kube::Error::Api(status)) if is_gone(&status, name) => return Ok(()),
            Err(error) => return Err(error),
        };
        let now = Held::of(&latest);
        let settled = match change {
            Change::Add => now.carries(finalizer) || latest.metadata.deletion_timestamp.is_some(),
            Change::Remove => !now.carries(finalizer),
        };
        if settled || now.uid != held.uid {
            return Ok(());
        }
        if now == held && refused.code == 422 {
            // What was tested is so: the change itself is refused.
            return Err(kube::Error::Api(refused));
        }
        held = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube_sim::script::{Answer, ScriptedServer, status};

    #[test]
    fn removal_takes_all_of_ours_and_none_of_others() {
        let held = Held {
            uid: Some("7".into()),
            finalizers: ["a/x", "b/y", "a/x"].map(String::from).into(),
        };
        let mut object = serde_json::json!({
            "metadata": {"uid": "7", "finalizers": ["a/x", "b/y", "a/x"]}
        });
        let patch = serde_json::from_value(held.patch("a/x", Change::Remove)).unwrap();
        json_patch::patch(&mut object, &patch as &json_patch::Patch).unwrap();
        assert_eq!(object["metadata"]["finalizers"], serde_json::json!(["b/y"]));
    }

    #[tokio::test]
    async fn only_the_absence_of_the_object_is_success() {
        let absent = |name: &str| {
            let mut absent = status(404, "NotFound", "not found");
            absent["details"] = json!({"name": name, "kind": "configmaps"});
            Answer::status_body(404, &absent)
        };
        let not_served = "the server could not find the requested resource";
        for (answer, is_gone) in [
            (absent("a"), true),
            (absent("b"), false),
            (Answer::status(404, "NotFound", not_served), false),
            (Answer::code(404), false),
        ] {
            let server = ScriptedServer::new().otherwise(move |_| answer.clone());
            let client = kube::Client::new(server.service(), "default");
            let api = Api::<ConfigMap>::default_namespaced(client);
            let held = Held {
                uid: Some("7".into()),
                finalizers: vec!["a/x".into()],
            };
            let removed = change(&api, "a", "a/x", held, Change::Remove).await;
            assert_eq!(removed.is_ok(), is_gone, "{removed:?}");
        }
    }
}
