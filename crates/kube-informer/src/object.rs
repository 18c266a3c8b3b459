//! What an object is to an informer: a key, a version, and a way to be held.
//!
//! This is the lowest layer. It knows nothing of bytes, of HTTP or of stores: a [`Key`](ObjectKey) names an object,
//! a [`ResourceVersion`] says which state of it this is, the [`CachedObject`] trait says how a type is kept in memory, and
//! [`Deleted`] is what remains when it is gone.

mod deleted;
mod key;
mod known;
mod partition;
mod resource_version;

pub use deleted::{DeleteCause, Deleted};
pub(crate) use key::is_path_segment;
pub use key::{ObjectKey, ParseKeyError};
pub use known::{Fingerprint, KnownObjects};
pub use partition::Partition;
pub use resource_version::ResourceVersion;

use std::sync::Arc;

/// A type whose collections an informer can keep.
///
/// The type *names the form*: it says how each object is held ([`CachedObject::Handle`]) and how the few things that generic
/// code needs are read from what is held. Any [`kube::Resource`] is an `CachedObject` that is decoded once and held as an
/// [`Arc`]:
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
/// A type of your own becomes an `CachedObject` by saying where its metadata is.
pub trait CachedObject: Send + Sync + 'static {
    /// How one object is held: cheap to clone, never changed in place.
    type Handle: Clone + Send + Sync + 'static;

    /// The object's name; empty if it has none. Such an object never gets into a store, nor one whose name or namespace is
    /// `.` or `..` or has a `/` or `%`, which no server allows: then every object has a key of its own.
    fn name_of(object: &Self::Handle) -> &str;

    /// The object's namespace; `None` for cluster-scoped kinds.
    fn namespace_of(object: &Self::Handle) -> Option<&str>;

    /// The object's unique id, which tells a re-created object from an updated one.
    fn uid_of(object: &Self::Handle) -> Option<&str>;

    /// The version of this state of the object.
    fn resource_version_of(object: &Self::Handle) -> Option<ResourceVersion>;

    /// The value of one label.
    fn label_of<'a>(object: &'a Self::Handle, name: &str) -> Option<&'a str>;

    /// Calls `each` with the name and value of every label, and says whether it could. Then it must have given every
    /// label that [`label_of`](Self::label_of) finds: a list by label leaves out objects by what was given here. Default: it
    /// cannot, which costs nothing but time, since such a list then looks at every object.
    fn visit_labels(_object: &Self::Handle, _each: &mut dyn FnMut(&str, &str)) -> bool {
        false
    }

    /// Gives an object its key, uid and resource version back that a transform has changed, and returns whether it could.
    /// Default: it cannot; such an object is [set aside](crate::reflector::Reflector::transform).
    fn set_identity(
        _object: &mut Self::Handle,
        _key: &ObjectKey,
        _uid: Option<&str>,
        _resource_version: Option<&ResourceVersion>,
    ) -> bool {
        false
    }

    /// The key under which the object is stored: `namespace/name`, or `name` for cluster-scoped kinds.
    fn key_of(object: &Self::Handle) -> ObjectKey {
        ObjectKey::new(Self::namespace_of(object), Self::name_of(object))
    }
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

    /// It can unless the object is shared.
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
