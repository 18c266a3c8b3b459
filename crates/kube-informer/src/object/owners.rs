//! The owners of an object.

use super::CachedObject;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use std::borrow::Cow;

/// A form that stores owner references, which [`enqueue::owner`](crate::informer::enqueue::owner) needs.
/// Implemented by every [`kube::Resource`] and by [`Packed`](crate::form::Packed).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say who owns its objects",
    note = "implement `HasOwners` for it, or map its objects to keys with `enqueue::mapped`"
)]
pub trait HasOwners: CachedObject {
    /// The object's `metadata.ownerReferences`.
    fn owners_of(object: &Self::Handle) -> Cow<'_, [OwnerReference]>;
}

impl<K: kube::Resource + Send + Sync + 'static> HasOwners for K {
    fn owners_of(object: &Self::Handle) -> Cow<'_, [OwnerReference]> {
        Cow::Borrowed(object.meta().owner_references.as_deref().unwrap_or_default())
    }
}
