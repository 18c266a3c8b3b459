//! Forms: how the bytes of an object are decoded into what the cache stores.
//!
//! [`CachedObject`] defines how a type is stored and read; [`Decode`] adds how it is decoded from a server's
//! response. The user selects a form by naming a type:
//!
//! | type | stored as | for |
//! |---|---|---|
//! | `Pod`, any [`kube::Resource`] that can be deserialized | `Arc<Pod>`, decoded when it arrives | small collections; code that often reads all objects |
//! | [`Packed<Pod>`](Packed) (feature `packed`) | the object's bytes, compressed; decoded on demand | large collections; handlers that use only the key |
//! | a struct of yours with the fields you need, which [derives `CachedObject`](macro@crate::CachedObject) | an `Arc` of it | large collections that are read often |
//! | [`PartialObjectMeta<Pod>`](kube::core::PartialObjectMeta) | metadata only, requested from the server as such, without managedFields | owners, garbage collection |
//! | [`Unshared<Pod>`](Unshared) | decoded when it arrives, and passed on | generic code over types that need not be `Sync` |
//!
//! ```
//! use bytes::Bytes;
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube_informer::{form::{DecoderConfig, Decode}, low_level::wire::{Encoding, RawObject}};
//!
//! let decoder = ConfigMap::decoder(DecoderConfig::default());
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
//! # Numbers
//! Whole objects are decoded by `simd-json`, single fields of packed objects by `serde_json`. Both round a
//! floating-point number to the nearest `f64`, and read an integer `-0` as 0. An `f64` does not contain the
//! digits that the server sent: `1.50` becomes `1.5`, and an integer beyond 64 bits is rounded, too. A
//! program that turns on serde_json's feature `arbitrary_precision` because it needs the digits (in a
//! `serde_json::Value`, as in a `DynamicObject`) must turn off this crate's feature `simd-json`: then
//! `serde_json` decodes everything, which takes longer (`bench/wire` in the repository: `form-pods` beside
//! `serde-pods`).
//!
//! # Deep objects
//! Types are decoded to a depth of 256 levels (127 without the feature `simd-json`), because decoded objects
//! are cloned and dropped by recursion, on any thread. A deeper object is rejected as invalid. [`Packed`]
//! stores objects of any depth and reads their [fields](Packed::field).
//!
//! # Pruning
//! In every form, a [`FieldPlan`] can name paths to prune while an object is scanned: they are neither
//! decoded nor stored. [`Packed`] and [`PartialObjectMeta`](kube::core::PartialObjectMeta) prune
//! `metadata.managedFields` by default, whatever the server sends. A plan replaces this default, so that
//! `FieldPlan::default()`, which prunes nothing, brings them back:
//!
//! | where | |
//! |---|---|
//! | an informer of a factory | [`InformerRequest::plan`](crate::InformerRequest::plan)`(FieldPlan::default())` |
//! | an informer over a source | [`InformerBuilder::plan`](crate::informer::InformerBuilder::plan) |
//! | all informers of a factory | [`FactoryBuilder::reflector_options`](crate::factory::FactoryBuilder::reflector_options) with [`ReflectorOptions::plan`](crate::reflector::ReflectorOptions::plan) |
//! | a list, a watch | [`Pager::plan`](crate::reflector::Pager::plan), [`RetryWatcher::with_plan`](crate::watcher::RetryWatcher::with_plan) |

mod decoding;
mod dynamic;
mod metadata;
#[cfg(feature = "packed")]
mod packed;
mod unshared;

pub use decoding::DecodeError;
pub use metadata::{HasMetadata, Metadata};
#[cfg(feature = "packed")]
pub use packed::{FieldError, Packed, Packer, PackerStats};
pub use unshared::Unshared;

use crate::low_level::wire::{FieldPlan, RawObject};
use crate::object::{CachedObject, ObjectKey};
use kube::core::{DynamicObject, TypeMeta};
use serde::de::DeserializeOwned;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{any::Any, sync::Arc};

/// A [`CachedObject`] that can be decoded from a server's response.
pub trait Decode: CachedObject {
    /// Decoder state shared by the objects of one collection.
    type Decoder: Send + Sync + 'static;

    /// Whether decoding takes long enough that a batch of objects should be decoded on several threads.
    /// Default: false.
    const EXPENSIVE: bool = false;

    /// Creates the decoder of a collection.
    fn decoder(config: DecoderConfig) -> Self::Decoder;

    /// Decodes `raw` into the handle to store under `key`, which is the key of `raw`.
    ///
    /// # Errors
    /// The object does not match the type. The error states the path, never the content.
    fn decode_raw(
        decoder: &Self::Decoder,
        key: &ObjectKey,
        raw: &RawObject,
    ) -> Result<Self::Handle, DecodeError>;

    /// The default plan for scans of these objects. The default extracts no fields and prunes nothing.
    fn plan() -> FieldPlan {
        FieldPlan::default()
    }

    /// The memory that the decoder's objects take, in bytes, for the
    /// [status](crate::informer::InformerStatus::bytes) of an informer. It is asked whenever somebody reads the
    /// status, so it must not go through all objects. Default: `None`, the form does not count it.
    fn held_bytes(_decoder: &Self::Decoder) -> Option<u64> {
        None
    }

    /// Writes objects to a file, for a [warm start](crate::warm_start). Default: `None`, collections of this
    /// form cannot be saved. A form that implements this must implement
    /// [`restore_objects`](Self::restore_objects). When the type changes, its records must change, too, so
    /// that older ones are refused: an object that the server shows unchanged is not decoded again.
    fn save_objects(_decoder: &Arc<Self::Decoder>) -> Option<Box<dyn SaveObjects<Self>>>
    where
        Self: Sized,
    {
        None
    }

    /// Reads the objects of such a file. Default: `None`.
    fn restore_objects(_decoder: &Arc<Self::Decoder>) -> Option<Box<dyn RestoreObjects<Self>>>
    where
        Self: Sized,
    {
        None
    }
}

/// Writes the objects of one collection, a record of bytes for each. Records are read in the same order by
/// [`RestoreObjects`], so one can refer to those before it. It runs on a blocking thread, on objects of one
/// snapshot.
///
/// Key, fingerprint and position in the file are not part of a record, unless the form needs them.
pub trait SaveObjects<O: CachedObject>: Send {
    /// Appends the record of an object.
    fn write(&mut self, object: &O::Handle, out: &mut Vec<u8>);

    /// Appends a last record, of what the decoder needs to go on as before.
    fn finish(&mut self, out: &mut Vec<u8>);
}

/// Reads what [`SaveObjects`] wrote. The file's checksums have been verified, but nothing else: a record may
/// be anything, and must cause neither a panic nor an allocation beyond its own size.
pub trait RestoreObjects<O: CachedObject>: Send {
    /// The object of a record; `None` if it is none, and then the whole file is not used.
    fn read(&mut self, record: &[u8]) -> Option<O::Handle>;

    /// Reads the last record, once the whole file has been read. Only now the decoder may be changed.
    fn finish(&mut self, record: &[u8]) -> Option<()>;
}

/// A form whose objects are of one resource that is known at compile time: what a factory needs to make an
/// [informer](crate::SharedInformerFactory::informer) of it without being told the resource.
///
/// | form | is of |
/// |---|---|
/// | `Pod`, any [`kube::Resource`] without a dynamic type | itself |
/// | [`PartialObjectMeta<Pod>`](kube::core::PartialObjectMeta) | itself: metadata only, asked of the server as such |
/// | [`Packed<Pod>`](Packed) | `Pod` |
/// | a struct that derives `CachedObject`, with `#[object(resource = Pod)]` | `Pod` |
///
/// ```
/// use k8s_openapi::api::core::v1::Node;
/// use kube_informer::{CachedObject, InformerRequest, form::Metadata};
///
/// #[derive(serde::Deserialize, CachedObject)]
/// #[object(resource = Node)]
/// struct NodeView {
///     metadata: Metadata,
/// }
///
/// let request = InformerRequest::<NodeView>::new();
/// ```
#[diagnostic::on_unimplemented(
    message = "the resource of `{Self}` is not known at compile time",
    note = "a struct that derives `CachedObject` says it with `#[object(resource = Pod)]`",
    note = "any other form is asked for with `InformerRequest::of` and the resource"
)]
pub trait StaticResource: Decode {
    /// The resource: its name and whether it has namespaces are read from this type.
    type Resource: kube::Resource<DynamicType = (), Scope: 'static>;
}

impl<K> StaticResource for K
where
    K: kube::Resource<DynamicType = (), Scope: 'static> + DeserializeOwned + Send + Sync + 'static,
{
    type Resource = K;
}

#[cfg(feature = "packed")]
impl<K> StaticResource for Packed<K>
where
    K: kube::Resource<DynamicType = (), Scope: 'static> + Send + Sync + 'static,
{
    type Resource = K;
}

/// A form that holds whole objects: each can be read as its type.
///
/// It is implemented by every [`kube::Resource`], whose objects are held as they are, and by [`Packed`],
/// whose objects are decoded when they are read.
///
/// ```
/// use kube_informer::form::{DecodeError, WholeObject};
/// use std::sync::Arc;
///
/// fn first<O: WholeObject>(store: &kube_informer::store::Indexer<O::Handle>) -> Option<Result<Arc<O::Object>, DecodeError>> {
///     store.list().first().map(O::object_of)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not hold whole objects",
    note = "informers of a resource's own type, such as `Pod`, and of `Packed<Pod>` do"
)]
pub trait WholeObject: CachedObject {
    /// The type of the objects.
    type Object: kube::Resource + Send + Sync + 'static;

    /// The object. A form that does not hold it decoded shares what it decodes for as long as somebody uses
    /// it.
    ///
    /// # Errors
    /// The object does not match its type.
    fn object_of(handle: &Self::Handle) -> Result<Arc<Self::Object>, DecodeError>;
}

impl<K: kube::Resource + Send + Sync + 'static> WholeObject for K {
    type Object = K;

    fn object_of(handle: &Arc<K>) -> Result<Arc<K>, DecodeError> {
        Ok(handle.clone())
    }
}

#[cfg(feature = "packed")]
impl<K: kube::Resource + DeserializeOwned + Send + Sync + 'static> WholeObject for Packed<K> {
    type Object = K;

    fn object_of(handle: &Self) -> Result<Arc<K>, DecodeError> {
        handle.decode()
    }
}

/// What a decoder is made for: what is known about the objects of a collection before the first one arrives.
///
/// ```
/// use kube_informer::form::DecoderConfig;
/// let config = DecoderConfig::default();
/// assert_eq!(config.types, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DecoderConfig {
    /// The kind of objects that do not contain their own; the items of a list of built-in objects do not.
    pub types: Option<TypeMeta>,
    /// The plan of their scans.
    pub plan: FieldPlan,
    /// Estimated size in bytes of the cache of decoded objects, for forms that decode on demand. `Some(0)`:
    /// no cache. `None`: the size that the form chooses, 1 MiB for [`Packed`].
    pub decoded_cache: Option<usize>,
}

impl<K: kube::Resource + DeserializeOwned + Send + Sync + 'static> Decode for K {
    type Decoder = DecoderConfig;

    const EXPENSIVE: bool = true;

    fn decoder(config: DecoderConfig) -> DecoderConfig {
        config
    }

    fn decode_raw(config: &DecoderConfig, _: &ObjectKey, raw: &RawObject) -> Result<Arc<K>, DecodeError> {
        decode_complete(config, raw).map(Arc::new)
    }

    /// Prunes `metadata.managedFields` of [`PartialObjectMeta`](kube::core::PartialObjectMeta), and of any resource
    /// whose `metadata_api()` is true; nothing of whole objects. Decoded, managedFields take most of what metadata takes.
    fn plan() -> FieldPlan {
        match K::metadata_api() {
            true => FieldPlan::without_managed_fields(),
            false => FieldPlan::default(),
        }
    }

    /// Only a `DynamicObject` can be saved.
    fn save_objects(_: &Arc<DecoderConfig>) -> Option<Box<dyn SaveObjects<K>>> {
        Some(Box::new(dynamic::DynamicObjects::of::<K>()?))
    }

    fn restore_objects(_: &Arc<DecoderConfig>) -> Option<Box<dyn RestoreObjects<K>>> {
        Some(Box::new(dynamic::DynamicObjects::of::<K>()?))
    }
}

/// Decodes an object without the parts that the plan of its scan prunes. Use it to implement [`Decode`].
///
/// ```
/// use kube_informer::{form, low_level::wire::{Encoding, RawObject}};
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
/// The object does not match the type, or a part that the type reads is nested more than 256 levels deep (127
/// without the feature `simd-json`).
pub fn decode<T: DeserializeOwned + Send + 'static>(raw: &RawObject) -> Result<T, DecodeError> {
    let types = raw.api_version().zip(raw.kind());
    decoding::object(raw.encoding(), types, |body| raw.write_body(body))
}

/// Decodes an object of a resource, and sets the kind of a dynamic one that has none.
fn decode_complete<K: DeserializeOwned + Send + 'static>(
    config: &DecoderConfig,
    raw: &RawObject,
) -> Result<K, DecodeError> {
    let mut object = decode(raw)?;
    complete(&mut object, || types(raw, config.types.as_ref()));
    Ok(object)
}

/// Sets the kind of a dynamic object that has none, so that objects from a list and from a watch are the
/// same.
fn complete<K: 'static>(object: &mut K, types: impl FnOnce() -> Option<TypeMeta>) {
    if let Some(dynamic) = (object as &mut dyn Any).downcast_mut::<DynamicObject>()
        && dynamic.types.is_none()
    {
        dynamic.types = types();
    }
}

/// Decodes an object. What user code panics with counts as an object that cannot be read.
pub(crate) fn decode_raw<O: Decode>(
    decoder: &O::Decoder,
    key: &ObjectKey,
    raw: &RawObject,
) -> Result<O::Handle, String> {
    match catch_unwind(AssertUnwindSafe(|| O::decode_raw(decoder, key, raw))) {
        Ok(decoded) => decoded.map_err(|error| error.to_string()),
        Err(_) => Err("decoding it panicked".to_owned()),
    }
}

/// The kind and apiVersion that an object contains, or else those of its collection.
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
