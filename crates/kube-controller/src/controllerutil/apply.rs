//! Server-side apply.

use kube::api::{Patch, PatchParams};
use kube::{Api, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Why nothing was applied.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The object has no name; server-side apply knows no `generateName`.
    #[error("the object has no name, which an apply needs")]
    Unnamed,
    /// The object was read from the server. Applied, it would take over every field that others have set.
    #[error(
        "the object {0} was read from the server: it has managedFields or a creationTimestamp; apply an object with the wanted fields only"
    )]
    ReadFromServer(String),
    /// The request failed.
    #[error("the request failed")]
    Request(#[source] kube::Error),
}

/// Sets the fields of `object` on the server by server-side apply, and creates the object if it does not
/// exist.
///
/// `object` has the fields that this controller wants, and no others: make it anew, do not take one that was read.
/// `manager` is the name of the controller
/// and must not change: the server removes fields that this manager applied before and does not apply now,
/// and keeps the fields of other managers. If another manager has set one of the fields to another value,
/// this value wins (`force`), because a controller must converge. Applying the same fields again changes
/// nothing, and no watch gets an event. For the status there is [`apply_status`].
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// # async fn example(api: kube::Api<ConfigMap>) -> Result<(), Box<dyn std::error::Error>> {
/// use kube_controller::controllerutil::apply;
///
/// let mut map = ConfigMap::default();
/// map.metadata.name = Some("web".into());
/// map.data = Some([("replicas".into(), "3".into())].into());
/// let stored = apply(&api, "my-controller", &map).await?;
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// See [`ApplyError`]. An object that was read from the server, or from a cache, is refused before any request: it has managedFields or a
/// creationTimestamp. One that a plan or a transform has deprived of both is not recognized. A conflict (409) can only come from a uid or resource version that `object` names.
///
/// # Cancel safety
///
/// If the future is dropped, the object may or may not have been applied. Applying it again is safe.
pub async fn apply<K>(api: &Api<K>, manager: &str, object: &K) -> Result<K, ApplyError>
where
    K: Resource + Clone + Serialize + DeserializeOwned + Debug,
{
    let name = name_of(object)?;
    let patched = api.patch(name, &params(manager), &Patch::Apply(object)).await;
    patched.map_err(ApplyError::Request)
}

/// [`apply`] of the status: `object` has `apiVersion`, `kind`, its name and the status that this controller
/// wants.
///
/// # Errors
///
/// See [`ApplyError`]. The object must exist (404). An object that was read is refused: do not set the status of a clone of it, make one with
/// name and status only.
///
/// # Cancel safety
///
/// As for [`apply`].
pub async fn apply_status<K>(api: &Api<K>, manager: &str, object: &K) -> Result<K, ApplyError>
where
    K: Resource + Clone + Serialize + DeserializeOwned + Debug,
{
    let name = name_of(object)?;
    let patched = api
        .patch_status(name, &params(manager), &Patch::Apply(object))
        .await;
    patched.map_err(ApplyError::Request)
}

fn params(manager: &str) -> PatchParams {
    PatchParams::apply(manager).force()
}

fn name_of<K: Resource>(object: &K) -> Result<&str, ApplyError> {
    let meta = object.meta();
    let name = meta.name.as_deref().ok_or(ApplyError::Unnamed)?;
    // Objects in a cache may be without managedFields. Only the server sets a creationTimestamp.
    let managed = meta
        .managed_fields
        .as_ref()
        .is_some_and(|fields| !fields.is_empty());
    match managed || meta.creation_timestamp.is_some() {
        true => Err(ApplyError::ReadFromServer(name.to_owned())),
        false => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;
    use kube::Client;
    use kube_sim::script::{Answer, Expected, Kind, ScriptedServer};

    fn map() -> ConfigMap {
        let mut map = ConfigMap::default();
        map.metadata.name = Some("web".into());
        map
    }

    #[tokio::test]
    async fn an_apply_is_forced_and_has_a_manager() {
        let path = "PATCH /api/v1/namespaces/ns/configmaps/web";
        let expected = |path: String| {
            let query = "fieldManager=my-controller&force=true";
            Expected::from(format!("{path}?{query}")).header("content-type", "application/apply-patch+yaml")
        };
        let answer = || Answer::json(Kind::new("v1", "ConfigMap").object("ns/web", "7").to_string());
        let server = ScriptedServer::new()
            .expect(expected(path.into()), answer())
            .expect(expected(format!("{path}/status")), answer());
        let api = Api::namespaced(Client::new(server.service(), "ns"), "ns");
        let applied = apply(&api, "my-controller", &map()).await.unwrap();
        assert_eq!(applied.metadata.resource_version.as_deref(), Some("7"));
        apply_status(&api, "my-controller", &map()).await.unwrap();
        server.assert_finished();
    }

    #[tokio::test]
    async fn what_was_read_is_not_applied() {
        let server = ScriptedServer::new();
        let api = Api::namespaced(Client::new(server.service(), "ns"), "ns");
        let (mut read, mut cached) = (map(), map());
        read.metadata.managed_fields = Some(vec![Default::default()]);
        cached.metadata.creation_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        for object in [read, cached] {
            let error = apply(&api, "my-controller", &object).await.unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("the object web was read from the server")
            );
            let error = apply_status(&api, "my-controller", &object).await.unwrap_err();
            assert!(matches!(error, ApplyError::ReadFromServer(_)));
        }
        let error = apply(&api, "my-controller", &ConfigMap::default())
            .await
            .unwrap_err();
        assert!(matches!(error, ApplyError::Unnamed));
        server.assert_finished();
    }
}
