//! Create an object, or change some of it.

use kube::api::PostParams;
use kube::{Api, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// What [`create_or_update`] has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationResult {
    /// The object is as it should be; nothing was written.
    Unchanged,
    /// It did not exist.
    Created,
    /// It was changed.
    Updated,
}

/// Why [`create_or_update`] has written nothing.
#[derive(Debug, thiserror::Error)]
pub enum CreateOrUpdateError<E: std::error::Error + 'static> {
    /// The object has no name.
    #[error("the object has no name")]
    Unnamed,
    /// `mutate` changed the name or the namespace.
    #[error("the object {0} must not be renamed")]
    Renamed(String),
    /// `mutate` failed.
    #[error("the object could not be changed")]
    Mutate(#[source] E),
    /// The object cannot be compared.
    #[error("the object is no valid JSON")]
    Serialize(#[source] serde_json::Error),
    /// A request failed. A conflict (409) means that somebody else was faster: reconcile again.
    #[error("a request failed")]
    Request(#[source] kube::Error),
}

/// Reads an object, lets `mutate` change it, and writes it if it has changed; creates it if it does not
/// exist.
///
/// `object` has the name. If an object of this name exists, `mutate` gets it as it was read, else it gets
/// `object`. Fields that `mutate` does not change keep the values that they have on the server. The update
/// fails with a conflict (409) if the object was changed after it was read. For kinds whose status is a
/// subresource, the status is not written.
///
/// Use [`apply`](super::apply()) if you can: it needs no read and no comparison. This function is for kinds
/// that cannot be applied, and for fields whose value depends on the current one.
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// # async fn example(api: kube::Api<ConfigMap>) -> Result<(), Box<dyn std::error::Error>> {
/// use kube_controller::controllerutil::create_or_update;
/// use std::convert::Infallible;
///
/// let mut map = ConfigMap::default();
/// map.metadata.name = Some("web".into());
/// let (result, stored) = create_or_update(&api, map, |map| {
///     map.data.get_or_insert_default().insert("replicas".into(), "3".into());
///     Ok::<_, Infallible>(())
/// })
/// .await?;
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// See [`CreateOrUpdateError`]; nothing was written.
///
/// # Cancel safety
///
/// If the future is dropped, the object may or may not have been written. The next call reads it again.
pub async fn create_or_update<K, E>(
    api: &Api<K>,
    object: K,
    mutate: impl FnOnce(&mut K) -> Result<(), E>,
) -> Result<(OperationResult, K), CreateOrUpdateError<E>>
where
    K: Resource + Clone + Serialize + DeserializeOwned + Debug,
    E: std::error::Error + 'static,
{
    let name = object.meta().name.clone().ok_or(CreateOrUpdateError::Unnamed)?;
    // Objects and requests are in boxes, because objects can take kilobytes, and futures that hold them are
    // moved around a lot.
    let object = Box::new(object);
    let found = Box::pin(api.get_opt(&name))
        .await
        .map_err(CreateOrUpdateError::Request)?;
    let exists = found.is_some();
    let before = found.map_or(object, Box::new);
    let mut after = before.clone();
    mutate(&mut after).map_err(CreateOrUpdateError::Mutate)?;
    if (&after.meta().name, &after.meta().namespace) != (&before.meta().name, &before.meta().namespace) {
        return Err(CreateOrUpdateError::Renamed(name));
    }
    let params = PostParams::default();
    if !exists {
        let created = Box::pin(api.create(&params, &after)).await;
        let created = created.map_err(CreateOrUpdateError::Request)?;
        return Ok((OperationResult::Created, created));
    }
    let value = |object: &K| serde_json::to_value(object).map_err(CreateOrUpdateError::Serialize);
    if value(&before)? == value(&after)? {
        return Ok((OperationResult::Unchanged, *before));
    }
    let updated = Box::pin(api.replace(&name, &params, &after)).await;
    let updated = updated.map_err(CreateOrUpdateError::Request)?;
    Ok((OperationResult::Updated, updated))
}
