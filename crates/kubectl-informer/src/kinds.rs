//! The built-in kinds as Rust types, chosen at run time.
//!
//! Each object is stored as its own type behind [`Arc<dyn Held>`], so that one informer serves every kind: the informer
//! is compiled once, and only the decoder is compiled for each kind.

use k8s_openapi::api::{apps, batch, coordination, core, discovery, events, networking, rbac};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{ApiResource, DynamicObject};
use kube_informer::form::{Decode, DecodeError, DecoderConfig};
use kube_informer::low_level::wire::RawObject;
use kube_informer::{CachedObject, ObjectKey, ResourceVersion};
use std::sync::Arc;

/// An object of some type.
pub(crate) trait Held: Send + Sync {
    /// The metadata, which every object has.
    fn metadata(&self) -> &ObjectMeta;
}

impl<K: kube::Resource + Send + Sync> Held for K {
    fn metadata(&self) -> &ObjectMeta {
        self.meta()
    }
}

/// The form in which each object is decoded into the Rust type of its kind, or into a [`DynamicObject`].
pub(crate) struct Typed;

impl CachedObject for Typed {
    type Handle = Arc<dyn Held>;

    /// False: it holds the fields of a kind's type only, and kinds without a type are asked for in JSON anyway.
    fn keeps_unknown_fields() -> bool {
        false
    }

    fn name_of(object: &Self::Handle) -> &str {
        object.metadata().name.as_deref().unwrap_or_default()
    }

    fn namespace_of(object: &Self::Handle) -> Option<&str> {
        object.metadata().namespace.as_deref()
    }

    fn uid_of(object: &Self::Handle) -> Option<&str> {
        object.metadata().uid.as_deref()
    }

    fn resource_version_of(object: &Self::Handle) -> Option<ResourceVersion> {
        object.metadata().resource_version.as_deref().map(Into::into)
    }

    fn label_of<'a>(object: &'a Self::Handle, name: &str) -> Option<&'a str> {
        object.metadata().labels.as_ref()?.get(name).map(String::as_str)
    }

    fn visit_labels(object: &Self::Handle, each: &mut dyn FnMut(&str, &str)) -> bool {
        let labels = object.metadata().labels.iter().flatten();
        labels.for_each(|(name, value)| each(name, value));
        true
    }
}

impl Decode for Typed {
    type Decoder = Box<dyn Fn(&ObjectKey, &RawObject) -> Result<Arc<dyn Held>, DecodeError> + Send + Sync>;

    fn decoder(config: DecoderConfig) -> Self::Decoder {
        let types = config.types.as_ref();
        let decoder = types.and_then(|types| decoder(&types.api_version, &types.kind));
        decoder.unwrap_or(decoder_of::<DynamicObject>)(config)
    }

    fn decode_raw(
        decoder: &Self::Decoder,
        key: &ObjectKey,
        raw: &RawObject,
    ) -> Result<Self::Handle, DecodeError> {
        decoder(key, raw)
    }
}

/// Whether the objects of a resource have a Rust type.
pub(crate) fn has_type(resource: &ApiResource) -> bool {
    decoder(&resource.api_version, &resource.kind).is_some()
}

type NewDecoder = fn(DecoderConfig) -> <Typed as Decode>::Decoder;

fn decoder_of<K: Decode<Handle = Arc<K>> + Held>(config: DecoderConfig) -> <Typed as Decode>::Decoder {
    let decoder = K::decoder(config);
    Box::new(move |key, raw| K::decode_raw(&decoder, key, raw).map(|object| object as Arc<dyn Held>))
}

/// The decoder of a built-in kind.
fn decoder(api_version: &str, kind: &str) -> Option<NewDecoder> {
    macro_rules! find {
        ($($api_version:literal: $module:ident { $($kind:ident)* })*) => {
            match (api_version, kind) {
                $($(($api_version, stringify!($kind)) => Some(decoder_of::<$module::v1::$kind> as NewDecoder),)*)*
                _ => None,
            }
        };
    }
    find! {
        "v1": core {
            Pod Node Service ConfigMap Secret Event Endpoints Namespace ServiceAccount PersistentVolume
            PersistentVolumeClaim ReplicationController
        }
        "apps/v1": apps { Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision }
        "batch/v1": batch { Job CronJob }
        "coordination.k8s.io/v1": coordination { Lease }
        "discovery.k8s.io/v1": discovery { EndpointSlice }
        "events.k8s.io/v1": events { Event }
        "networking.k8s.io/v1": networking { Ingress NetworkPolicy }
        "rbac.authorization.k8s.io/v1": rbac { Role RoleBinding ClusterRole ClusterRoleBinding }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use kube::core::TypeMeta;
    use kube_informer::low_level::wire::Encoding;

    /// Decodes an object with a field of a wrong type, which only a typed decoder rejects.
    fn decode(api_version: &str, kind: &str) -> Result<String, String> {
        let bytes = Bytes::from_static(br#"{"metadata":{"name":"a","namespace":"ns"},"data":["wrong"]}"#);
        let raw = RawObject::scan(Encoding::Json, bytes).unwrap();
        let types = TypeMeta {
            api_version: api_version.into(),
            kind: kind.into(),
        };
        let decoder = Typed::decoder(DecoderConfig {
            types: Some(types),
            ..DecoderConfig::default()
        });
        let object = Typed::decode_raw(&decoder, &raw.key(), &raw).map_err(|error| error.to_string())?;
        Ok(Typed::key_of(&object).to_string())
    }

    #[test]
    fn built_in_kinds_are_decoded_as_what_they_are() {
        assert!(
            decode("v1", "ConfigMap")
                .unwrap_err()
                .starts_with("data: invalid type")
        );
        assert_eq!(decode("example.com/v1", "ConfigMap").as_deref(), Ok("ns/a"));
    }
}
