//! Forms: how the bytes of an object become what is held of it.
//!
//! [`CachedObject`] says how a type is held and read; [`Decode`] adds how it is made from what a server sent. The user picks a
//! form by naming a type:
//!
//! | type | held as | for |
//! |---|---|---|
//! | `Pod`, any [`kube::Resource`] that can be deserialized | `Arc<Pod>`, decoded when it arrives | small collections; code that looks at all objects often |
//! | [`Packed<Pod>`](Packed) (feature `packed`) | the object's bytes, compressed; decoded when somebody asks | large collections; handlers that only take the key |
//! | a struct of yours with the fields you need, which [derives `CachedObject`](macro@crate::CachedObject) | an `Arc` of it | large collections that are looked at often |
//! | [`PartialObjectMeta<Pod>`](kube::core::PartialObjectMeta) | metadata only, asked of the server as such | owners, garbage collection |
//!
//! ```
//! use bytes::Bytes;
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube_informer::{form::{Collection, Decode}, wire::{Encoding, RawObject}};
//!
//! let decoder = ConfigMap::decoder(Collection::default());
//! let bytes = Bytes::from_static(br#"{"metadata":{"name":"a","namespace":"ns"},"data":{"k":"v"}}"#);
//! let raw = RawObject::scan(Encoding::Json, bytes)?;
//! let object = ConfigMap::decode_raw(&decoder, &raw.key(), &raw)?;
//! assert_eq!(object.data.as_ref().unwrap()["k"], "v");
//!
//! let raw = RawObject::scan(Encoding::Json, Bytes::from_static(br#"{"metadata":{"name":"a"},"data":["secret"]}"#))?;
//! let error = ConfigMap::decode_raw(&decoder, &raw.key(), &raw).unwrap_err();
//! assert_eq!(error.to_string(), "data: invalid type (line 1, column 32)");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # Deep objects
//! Types are decoded to a depth of 256 levels: what is decoded is cloned and dropped by recursion, on any thread. An object
//! with more is set aside; [`Packed`] holds objects of any depth, and gives their [fields](Packed::field).
//!
//! # Leaving out parts
//! Whatever the form, a [`FieldPlan`] can name paths that are left out while an object is scanned: they are neither decoded
//! nor kept. [`Packed`] leaves out `metadata.managedFields` unless told otherwise.

mod decoding;
mod metadata;
#[cfg(feature = "packed")]
mod packed;

pub use decoding::DecodeError;
pub use metadata::{HasMetadata, Metadata};
#[cfg(feature = "packed")]
pub use packed::{FieldError, Packed, Packer, PackerStats};

use crate::object::{CachedObject, ObjectKey};
use crate::wire::{FieldPlan, RawObject};
use kube::core::{DynamicObject, TypeMeta};
use serde::de::DeserializeOwned;
use std::{any::Any, sync::Arc};

/// An [`CachedObject`] that can be made from what a server sends.
pub trait Decode: CachedObject {
    /// What the objects of one collection share while they are made.
    type Decoder: Send + Sync + 'static;

    /// Whether making an object takes so long that several threads are worth it where many come at once. Default: no.
    const EXPENSIVE: bool = false;

    /// What makes the objects of a collection.
    fn decoder(collection: Collection) -> Self::Decoder;

    /// Makes the form of `raw` that is held under `key`, which is the key of `raw`.
    ///
    /// # Errors
    /// The object is not what the type expects. The error says where, and never what stood there.
    fn decode_raw(
        decoder: &Self::Decoder,
        key: &ObjectKey,
        raw: &RawObject,
    ) -> Result<Self::Handle, DecodeError>;

    /// What the scans of these objects look for unless told otherwise. Default: nothing, and nothing is left out.
    fn plan() -> FieldPlan {
        FieldPlan::default()
    }
}

/// What is known of the objects of a collection before the first one comes.
///
/// ```
/// use kube_informer::form::Collection;
/// let collection = Collection::default();
/// assert_eq!(collection.types, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collection {
    /// What kind the objects are if they do not say so themselves: the items of a list of built-in objects do not.
    pub types: Option<TypeMeta>,
    /// What their scans look for.
    pub plan: FieldPlan,
}

impl<K: kube::Resource + DeserializeOwned + Send + Sync + 'static> Decode for K {
    type Decoder = Collection;

    const EXPENSIVE: bool = true;

    fn decoder(collection: Collection) -> Collection {
        collection
    }

    fn decode_raw(collection: &Collection, _: &ObjectKey, raw: &RawObject) -> Result<Arc<K>, DecodeError> {
        let mut object = decode(raw)?;
        complete(&mut object, || types(raw, collection.types.as_ref()));
        Ok(Arc::new(object))
    }
}

/// Decodes an object without what the plan of its scan leaves out: what a form of one's own does.
///
/// ```
/// use kube_informer::{form, wire::{Encoding, RawObject}};
///
/// #[derive(serde::Deserialize)]
/// struct Data {
///     data: std::collections::BTreeMap<String, String>,
/// }
///
/// let raw = RawObject::scan(Encoding::Json, r#"{"metadata":{"name":"a"},"data":{"k":"v"}}"#.into())?;
/// assert_eq!(form::decode::<Data>(&raw)?.data["k"], "v");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The object is not what the type expects, or a part that the type keeps is nested more than 256 levels deep.
pub fn decode<T: DeserializeOwned + Send>(raw: &RawObject) -> Result<T, DecodeError> {
    decoding::object(raw.encoding(), |body| raw.write_body(body))
}

/// A dynamic object that does not know its kind is of little use; it must not depend on how it came, by a list or by a
/// watch, whether it does.
fn complete<K: 'static>(object: &mut K, types: impl FnOnce() -> Option<TypeMeta>) {
    if let Some(dynamic) = (object as &mut dyn Any).downcast_mut::<DynamicObject>()
        && dynamic.types.is_none()
    {
        dynamic.types = types();
    }
}

/// What an object says it is, and where it does not, what its collection is known to be of.
fn types(raw: &RawObject, known: Option<&TypeMeta>) -> Option<TypeMeta> {
    let (api_version, kind) = (raw.api_version(), raw.kind());
    if (api_version, kind) == (None, None) {
        return known.cloned();
    }
    let known = known.cloned().unwrap_or_default();
    Some(TypeMeta {
        api_version: api_version.map_or(known.api_version, str::to_owned),
        kind: kind.map_or(known.kind, str::to_owned),
    })
}
