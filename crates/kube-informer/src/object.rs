//! Objects as informers see them: a key, a version, and how the object is stored.
//!
//! This is the lowest layer; it does not depend on bytes, HTTP or stores. An [`ObjectKey`] names an object, a
//! [`ResourceVersion`] identifies a state of it, the [`CachedObject`] trait defines how a type is stored in
//! memory, and [`Deleted`] describes a deletion.

mod deleted;
mod key;
pub(crate) mod known;
mod owners;
mod partition;
mod resource_version;

pub use deleted::{DeleteCause, Deleted};
pub(crate) use key::is_path_segment;
pub use key::{ObjectKey, ParseKeyError};
pub use known::Fingerprint;
pub(crate) use known::KnownObjects;
pub use owners::HasOwners;
pub use partition::Partition;
pub use resource_version::ResourceVersion;

use std::sync::Arc;

/// A type whose collections an informer can cache.
///
/// The type *selects the form*: how each object is stored ([`CachedObject::Handle`]), and how the few
/// properties that generic code needs are read from that handle. Any [`kube::Resource`] is a `CachedObject`
/// that is decoded once and stored as an [`Arc`]:
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::CachedObject;
/// use std::sync::Arc;
///
/// let pod = Arc::new(Pod {
///     metadata: kube::core::ObjectMeta {
///         name: Some("web-0".into()),
///         namespace: Some("shop".into()),
///         resource_version: Some("42".into()),
///         ..Default::default()
///     },
///     ..Default::default()
/// });
/// assert_eq!(Pod::key_of(&pod).as_str(), "shop/web-0");
/// assert_eq!(Pod::resource_version_of(&pod).unwrap().as_str(), "42");
/// assert_eq!(Pod::label_of(&pod, "app"), None);
/// ```
///
/// A type of your own becomes a `CachedObject` by defining how its metadata is read.
pub trait CachedObject: Send + Sync + 'static {
    /// The handle of one stored object: cheap to clone, never changed in place.
    type Handle: Clone + Send + Sync + 'static;

    /// The object's name; empty if it has none. An object without a name is never stored, nor is one whose
    /// name or namespace is `.` or `..` or contains `/` or `%`. No server allows such names, and excluding
    /// them makes keys unambiguous.
    fn name_of(object: &Self::Handle) -> &str;

    /// The object's namespace; `None` for cluster-scoped kinds.
    fn namespace_of(object: &Self::Handle) -> Option<&str>;

    /// The object's unique id, which distinguishes a re-created object from an updated one.
    fn uid_of(object: &Self::Handle) -> Option<&str>;

    /// The version of this state of the object.
    fn resource_version_of(object: &Self::Handle) -> Option<ResourceVersion>;

    /// The value of one label.
    fn label_of<'a>(object: &'a Self::Handle, name: &str) -> Option<&'a str>;

    /// Calls `each` with the name and value of every label. Returns whether every label was visited. If it
    /// returns true, it must have visited every label that [`label_of`](Self::label_of) finds, because lists
    /// by label skip objects based on the visited labels. The default returns false; lists by label then
    /// check every object, which is slower.
    fn visit_labels(_object: &Self::Handle, _each: &mut dyn FnMut(&str, &str)) -> bool {
        false
    }

    /// Restores the key, uid and resource version of an object after a transform changed them. Returns
    /// whether they were restored. The default returns false; such an object is [rejected as
    /// invalid](crate::reflector::Reflector::transform).
    fn set_identity(
        _object: &mut Self::Handle,
        _key: &ObjectKey,
        _uid: Option<&str>,
        _resource_version: Option<&ResourceVersion>,
    ) -> bool {
        false
    }

    /// The object's metadata, to be changed by a transform that does not know the type: one of [all informers
    /// of a factory](crate::factory::FactoryBuilder::transform). Default: `None`, the form has no such
    /// metadata.
    fn metadata_mut(_object: &mut Self::Handle) -> Option<&mut kube::core::ObjectMeta> {
        None
    }

    /// Whether the type keeps fields that it does not know, like [`DynamicObject`](kube::core::DynamicObject)
    /// or a type with a flattened map. Such objects are requested in JSON, unless the
    /// [encoding](crate::source::ClientSource::encoding) is set: protobuf is read with tables of fields, and
    /// a newer server may have fields that are not in them. Default: true.
    fn keeps_unknown_fields() -> bool {
        true
    }

    /// The key under which the object is stored: `namespace/name`, or `name` for cluster-scoped kinds.
    fn key_of(object: &Self::Handle) -> ObjectKey {
        ObjectKey::new(Self::namespace_of(object), Self::name_of(object))
    }
}

/// Whether this is a type of `k8s-openapi`.
pub(crate) fn is_generated<K: ?Sized>() -> bool {
    std::any::type_name::<K>().starts_with("k8s_openapi::")
}

impl<K: kube::Resource + Send + Sync + 'static> CachedObject for K {
    type Handle = Arc<K>;

    fn name_of(object: &Self::Handle) -> &str {
        object.meta().name.as_deref().unwrap_or_default()
    }

    fn namespace_of(object: &Self::Handle) -> Option<&str> {
        object.meta().namespace.as_deref()
    }

    fn uid_of(object: &Self::Handle) -> Option<&str> {
        object.meta().uid.as_deref()
    }

    fn resource_version_of(object: &Self::Handle) -> Option<ResourceVersion> {
        object
            .meta()
            .resource_version
            .as_deref()
            .map(ResourceVersion::from)
    }

    fn label_of<'a>(object: &'a Self::Handle, name: &str) -> Option<&'a str> {
        object.meta().labels.as_ref()?.get(name).map(String::as_str)
    }

    fn visit_labels(object: &Self::Handle, each: &mut dyn FnMut(&str, &str)) -> bool {
        let labels = object.meta().labels.iter().flatten();
        labels.for_each(|(name, value)| each(name, value));
        true
    }

    /// False for the types of `k8s-openapi`, which are generated from the same sources as the tables.
    fn keeps_unknown_fields() -> bool {
        !is_generated::<K>()
    }

    /// `None` if the object is shared.
    fn metadata_mut(object: &mut Self::Handle) -> Option<&mut kube::core::ObjectMeta> {
        Arc::get_mut(object).map(kube::Resource::meta_mut)
    }

    /// Returns false if the object is shared.
    fn set_identity(
        object: &mut Self::Handle,
        key: &ObjectKey,
        uid: Option<&str>,
        resource_version: Option<&ResourceVersion>,
    ) -> bool {
        let Some(object) = Arc::get_mut(object) else {
            return false;
        };
        let metadata = object.meta_mut();
        metadata.name = Some(key.name().to_owned());
        metadata.namespace = key.namespace().map(str::to_owned);
        metadata.uid = uid.map(str::to_owned);
        metadata.resource_version = resource_version.map(ToString::to_string);
        true
    }
}
