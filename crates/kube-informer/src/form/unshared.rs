//! Objects that are passed on instead of being shared.

use super::{Decode, DecodeError, DecoderConfig};
use crate::low_level::wire::RawObject;
use crate::object::{CachedObject, ObjectKey, ResourceVersion, is_generated};
use kube::core::ObjectMeta;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A decoded object that is passed on to one consumer. Unlike the form `K`, it does not require `K: Sync`, so
/// generic code can watch objects of which it only knows that they are `Send`.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_informer::form::{Decode, DecoderConfig, Unshared};
/// use kube_informer::low_level::wire::{Encoding, RawObject};
///
/// let raw = RawObject::scan(Encoding::Json, r#"{"metadata":{"name":"a"},"data":{"k":"v"}}"#.into())?;
/// let map = Unshared::<ConfigMap>::decode_raw(&DecoderConfig::default(), &raw.key(), &raw)?;
/// let map: ConfigMap = map.into_object();
/// assert_eq!(map.metadata.name.as_deref(), Some("a"));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// It is meant for a [sink](crate::low_level::Sink) that passes objects on. In a store, reading one would clone it
/// under a lock, and what changes the metadata of all objects, such as a factory's transform, would not apply.
pub struct Unshared<K>(Arc<Parts<K>>);

struct Parts<K> {
    /// Taken from the object, to be readable without the lock.
    metadata: ObjectMeta,
    object: Mutex<K>,
}

impl<K: kube::Resource + Clone> Unshared<K> {
    /// The object. It is cloned only if there is another handle of it.
    pub fn into_object(self) -> K {
        let (metadata, mut object) = match Arc::try_unwrap(self.0) {
            Ok(Parts { metadata, object }) => {
                let object = object.into_inner().unwrap_or_else(PoisonError::into_inner);
                (metadata, object)
            }
            Err(shared) => {
                let object = shared.object.lock().unwrap_or_else(PoisonError::into_inner);
                (shared.metadata.clone(), object.clone())
            }
        };
        *object.meta_mut() = metadata;
        object
    }
}

impl<K> Clone for Unshared<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Shows the namespace, the name and the version, never the body.
impl<K> fmt::Debug for Unshared<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metadata = &self.0.metadata;
        f.debug_struct("Unshared")
            .field("namespace", &metadata.namespace)
            .field("name", &metadata.name)
            .field("resource_version", &metadata.resource_version)
            .finish_non_exhaustive()
    }
}

impl<K: kube::Resource + Send + 'static> CachedObject for Unshared<K> {
    type Handle = Self;

    fn name_of(object: &Self) -> &str {
        object.0.metadata.name.as_deref().unwrap_or_default()
    }

    fn namespace_of(object: &Self) -> Option<&str> {
        object.0.metadata.namespace.as_deref()
    }

    fn uid_of(object: &Self) -> Option<&str> {
        object.0.metadata.uid.as_deref()
    }

    fn resource_version_of(object: &Self) -> Option<ResourceVersion> {
        let version = object.0.metadata.resource_version.as_deref();
        version.map(ResourceVersion::from)
    }

    fn label_of<'a>(object: &'a Self, name: &str) -> Option<&'a str> {
        let labels = object.0.metadata.labels.as_ref()?;
        labels.get(name).map(String::as_str)
    }

    fn keeps_unknown_fields() -> bool {
        !is_generated::<K>()
    }
}

impl<K: kube::Resource + DeserializeOwned + Send + 'static> Decode for Unshared<K> {
    type Decoder = DecoderConfig;

    const EXPENSIVE: bool = true;

    fn decoder(config: DecoderConfig) -> DecoderConfig {
        config
    }

    fn decode_raw(config: &DecoderConfig, _: &ObjectKey, raw: &RawObject) -> Result<Self, DecodeError> {
        let mut object: K = super::decode_complete(config, raw)?;
        let metadata = std::mem::take(object.meta_mut());
        let object = Mutex::new(object);
        Ok(Self(Arc::new(Parts { metadata, object })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::low_level::wire::Encoding;
    use kube::core::{DynamicObject, TypeMeta};

    fn dynamic(types: Option<TypeMeta>) -> Unshared<DynamicObject> {
        let body = r#"{"metadata":{"name":"a","namespace":"ns","uid":"1","labels":{"l":"v"}},"spec":3}"#;
        let raw = RawObject::scan(Encoding::Json, body.into()).unwrap();
        let config = DecoderConfig {
            types,
            ..DecoderConfig::default()
        };
        Unshared::decode_raw(&config, &raw.key(), &raw).unwrap()
    }

    #[test]
    fn an_object_is_whole_again_whether_shared_or_not() {
        let types = TypeMeta {
            api_version: "v1".into(),
            kind: "Thing".into(),
        };
        let handle = dynamic(Some(types.clone()));
        assert_eq!(Unshared::key_of(&handle).as_str(), "ns/a");
        assert_eq!(Unshared::uid_of(&handle), Some("1"));
        assert_eq!(Unshared::label_of(&handle, "l"), Some("v"));

        let other = handle.clone();
        let (shared, alone) = (handle.into_object(), other.into_object());
        assert_eq!(shared, alone);
        assert_eq!(alone.metadata.name.as_deref(), Some("a"));
        assert_eq!(alone.types, Some(types), "that of its collection");
        assert_eq!(alone.data["spec"], 3);
    }
}
