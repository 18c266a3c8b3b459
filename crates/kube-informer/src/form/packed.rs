//! Objects stored as compressed bytes.

mod ahead;
mod coding;
mod decoded;
mod families;
mod labels;
mod packer;
mod saved;
#[cfg(test)]
mod tests;

pub use packer::{Packer, PackerStats};

use super::{Decode, DecodeError, DecoderConfig, RestoreObjects, SaveObjects, decoding};
use crate::field_path::FieldPath;
use crate::low_level::wire::{Encoding, FieldPlan, RawObject, ScanError};
use crate::object::{CachedObject, Fingerprint, HasOwners, ObjectKey, ResourceVersion, is_generated};
use ahead::Unread;
use coding::Coding;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::TypeMeta;
use labels::Labels;
use packer::Shared;
use serde::de::DeserializeOwned;
use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};
use triomphe::ThinArc;

/// An object stored as its compressed bytes, together with the parts that can be read without decoding: key, uid,
/// resource version, labels and the fields that its [`FieldPlan`] declares.
///
/// A clone is another reference to the same bytes. [`decode`](Self::decode) decodes the object,
/// [`field`](Self::field) one of its fields.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::form::{DecoderConfig, Decode, Packed};
/// use kube_informer::{FieldPath, low_level::wire::{Encoding, RawObject}};
/// use std::sync::Arc;
///
/// let body = r#"{"metadata":{"name":"web-0","namespace":"shop","labels":{"app":"web"}},
///     "spec":{"containers":[],"nodeName":"node-1"}}"#;
/// let raw = RawObject::scan_with(Encoding::Json, body.into(), &Packed::<Pod>::plan())?;
/// let packer = Packed::<Pod>::decoder(DecoderConfig::default());
/// let pod: Packed<Pod> = Packed::<Pod>::decode_raw(&packer, &raw.key(), &raw)?;
///
/// assert_eq!((pod.key().as_str(), pod.label("app")), ("shop/web-0", Some("web")));
/// let node: Option<String> = pod.field(&FieldPath::parse("/spec/nodeName")?)?;
/// assert_eq!(node.as_deref(), Some("node-1"));
/// let decoded: Arc<Pod> = pod.decode()?;
/// assert!(Arc::ptr_eq(&decoded, &pod.decode()?), "what is alive is shared");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Every object whose key can be read is packed. If it does not match its type, [`decode`](Self::decode) returns the
/// error.
///
/// # Cost
/// Reading the key, the uid, the version, a label or a [declared field](FieldPlan::fields) needs no decompression.
/// Anything else decompresses the object first, which takes a few microseconds for a pod of 7 KB; decoding it takes
/// 12 to 25 more (`packed-body` and `packed-decode` of `bench/wire` measure both). The objects of a collection that were decoded
/// last are kept, about 1 MiB of them ([`decoded_cache`](crate::reflector::ReflectorOptions::decoded_cache)), and cost next to nothing
/// to read again (`packed-decode-recent`): a predicate and a reconciler that look at one object decode it once. While most objects are read
/// soon after they change, changes are decoded as they arrive, into this cache, and whoever reads them need not wait. Code that repeatedly
/// reads all of every object should use the type itself, or a struct of the fields it needs.
///
/// # Memory
/// One allocation holds the bytes and everything else that belongs to this object; label sets are shared between the
/// objects of a collection. The first 64 objects are stored uncompressed. A dictionary made of them compresses
/// later objects; one is trained after 4,096 of them, and a new one made when the compression ratio gets worse. Similar objects of at
/// most 128 KiB with the same owner references, such as the pods of a ReplicaSet, are stored as deltas to one of them.
///
/// # Values
/// [`decode`](Self::decode), [`field`](Self::field) and [`fields`](Self::fields) read values in the same way: if a
/// member occurs twice, the last one counts; floating-point numbers and integers of more than 64 bits are rounded to
/// the nearest `f64`; an integer `-0` is read as 0. An object without kind or apiVersion, such as an item of a list,
/// has those of its collection.
pub struct Packed<K>(ThinArc<Header<K>, u8>);

/// The metadata of a packed object. The bytes after it are the stored body, the [place](UID_ELSEWHERE) of the uid in it, the length of the
/// uid, the uid, and for each value of a declared field its number, its length and the value.
struct Header<K> {
    key: ObjectKey,
    shared: Arc<Shared<K>>,
    coding: Coding,
    version: Option<ResourceVersion>,
    labels: Labels,
    fingerprint: Fingerprint,
    /// The size of the uncompressed body without a uid that was cut out, of the stored body, and of all stored bytes.
    size: u32,
    kept: u32,
    all: u32,
    encoding: Encoding,
    /// Whether the object contains a kind or an apiVersion.
    typed: bool,
    /// Whether it was ever decoded, so that it may have an entry among the decoded objects.
    decoded: AtomicBool,
    /// When it arrived, until somebody reads it decoded.
    unread: Unread,
}

/// The place of a uid that the stored body contains. At any other place, counted in bytes, it was cut out of the body: it
/// hardly compresses, and it is stored beside the body in any case.
const UID_ELSEWHERE: u32 = u32::MAX;

impl<K> Header<K> {
    /// The size of a packed object without its bytes, including a reference count and a length.
    const SIZE: usize = size_of::<Self>() + 2 * size_of::<usize>();
}

impl<K> Packed<K> {
    /// The key under which the object is stored.
    pub fn key(&self) -> &ObjectKey {
        &self.header().key
    }

    /// The object's name.
    pub fn name(&self) -> &str {
        self.key().name()
    }

    /// The object's namespace; `None` for cluster-scoped kinds.
    pub fn namespace(&self) -> Option<&str> {
        self.key().namespace()
    }

    /// The object's unique id.
    pub fn uid(&self) -> Option<&str> {
        let uid = self.beside().uid;
        std::str::from_utf8(uid).ok().filter(|uid| !uid.is_empty())
    }

    /// The version of this state of the object.
    pub fn resource_version(&self) -> Option<&ResourceVersion> {
        self.header().version.as_ref()
    }

    /// The value of one label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.header().labels.get(name)
    }

    /// The labels, in the order in which the server sent them.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.header().labels.iter()
    }

    /// Identifies this state of the object.
    pub fn fingerprint(&self) -> Fingerprint {
        self.header().fingerprint
    }

    /// The total size of the object in bytes, without its key and shared data.
    pub fn size(&self) -> usize {
        Header::<K>::SIZE + self.0.slice.len()
    }

    /// The encoding of the [`body`](Self::body).
    pub fn encoding(&self) -> Encoding {
        self.header().encoding
    }

    /// The object as sent by the server, without the parts that the plan prunes: JSON, or the bare message in protobuf. Empty if
    /// it was [restored](crate::warm_start) from a file that somebody has changed together with its checksums. To ask
    /// for JSON only, set the source's [encoding](crate::source::ClientSource::encoding).
    pub fn body(&self) -> Vec<u8> {
        let header = self.header();
        let (stored, size) = (&self.0.slice[..header.kept as usize], header.size as usize);
        let Beside { uid_at, uid, .. } = self.beside();
        let mut body = header.coding.read(stored, size);
        match uid_at {
            Some(at) if at <= size && body.len() == size => {
                body.resize(size + uid.len(), 0);
                body.copy_within(at..size, at + uid.len());
                body[at..at + uid.len()].copy_from_slice(uid);
            }
            Some(_) => body.clear(),
            None => {}
        }
        body
    }

    fn header(&self) -> &Header<K> {
        &self.0.header.header
    }

    fn beside(&self) -> Beside<'_> {
        Beside::read(&self.0.slice[self.header().kept as usize..]).unwrap_or_default()
    }

    /// The values of a declared field, as bytes of JSON.
    fn declared(&self, number: u16) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.beside().fields;
        std::iter::from_fn(move || {
            let (field, behind) = rest.split_first_chunk()?;
            let (value, behind) = prefixed(behind)?;
            rest = behind;
            Some((u16::from_le_bytes(*field), value))
        })
        .filter_map(move |(field, value)| (field == number).then_some(value))
    }
}

/// The bytes after the stored body.
#[derive(Default)]
struct Beside<'a> {
    /// Where the uid was cut out of the body, if it was.
    uid_at: Option<usize>,
    uid: &'a [u8],
    /// The values of declared fields.
    fields: &'a [u8],
}

impl<'a> Beside<'a> {
    fn read(behind: &'a [u8]) -> Option<Self> {
        let (place, behind) = behind.split_first_chunk()?;
        let place = u32::from_le_bytes(*place);
        let (uid, fields) = prefixed(behind)?;
        Some(Self {
            uid_at: (place != UID_ELSEWHERE).then_some(place as usize),
            uid,
            fields,
        })
    }
}

/// Splits a length-prefixed value off `bytes`.
fn prefixed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, behind) = bytes.split_first_chunk()?;
    behind.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// Writes a length-prefixed value; an object has at most 4 GiB.
fn write_prefixed(out: &mut Vec<u8>, value: &[u8]) {
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    out.extend_from_slice(value);
}

impl<K: DeserializeOwned + Send + Sync + 'static> Packed<K> {
    /// Decodes the object. As long as the returned `Arc` or a clone of it is alive, further calls return the same
    /// object. What was read last is kept alive: 1 MiB for each collection, unless
    /// [`ReflectorOptions::decoded_cache`](crate::reflector::ReflectorOptions::decoded_cache) says otherwise.
    ///
    /// # Errors
    /// The object does not match the type.
    pub fn decode(&self) -> Result<Arc<K>, DecodeError> {
        let header = self.header();
        let (shared, arrival) = (&header.shared, header.unread.take());
        let mut decoded_in_vain = false;
        let object = shared
            .decoded
            .get_or_decode(header.address(), header.decoded_size(), || {
                decoded_in_vain = header.decoded.swap(true, Ordering::Relaxed);
                let config = &shared.config;
                let types = || match header.typed {
                    true => super::types(&self.scan(&FieldPlan::default()).ok()?, config.types.as_ref()),
                    false => config.types.clone(),
                };
                decode_body(config, header.encoding, |body| *body = self.body(), types)
            })?;
        match arrival {
            Some(_) if decoded_in_vain => shared.ahead.was_in_vain(),
            Some(arrival) => {
                let room = shared.decoded.room_for(header.decoded_size());
                shared.ahead.read(arrival, room, decode_plain);
            }
            None => {}
        }
        Ok(object)
    }
}

/// Decodes an object that is not packed yet.
fn decode_plain<K: DeserializeOwned + Send + 'static>(
    config: &DecoderConfig,
    raw: &RawObject,
) -> Result<K, DecodeError> {
    let types = || match raw.encoding() {
        Encoding::Json => super::types(raw, config.types.as_ref()),
        // A message does not contain them.
        #[cfg(feature = "protobuf")]
        Encoding::Protobuf => config.types.clone(),
    };
    decode_body(config, raw.encoding(), |body| raw.write_body(body), types)
}

/// Decodes the body that `write` writes. `types` is what a dynamic object has that does not contain its kind.
fn decode_body<K: DeserializeOwned + Send + 'static>(
    config: &DecoderConfig,
    encoding: Encoding,
    write: impl Fn(&mut Vec<u8>),
    types: impl FnOnce() -> Option<TypeMeta>,
) -> Result<K, DecodeError> {
    let known = config.types.as_ref();
    let known = known.map(|types| (&*types.api_version, &*types.kind));
    let mut object = decoding::object(encoding, known, write)?;
    super::complete(&mut object, types);
    Ok(object)
}

impl<K> Packed<K> {
    /// Reads one field without decoding the rest; `None` if it is absent or null. If a path has several values, the
    /// last one is returned. In an index function use [`index_by`](Self::index_by), or `.ok().flatten()`.
    ///
    /// This takes a few nanoseconds if the collection's [`FieldPlan`] declares the field; otherwise the object is
    /// decompressed and scanned.
    ///
    /// # Errors
    /// The value does not match the type.
    pub fn field<T: DeserializeOwned>(&self, path: &FieldPath) -> Result<Option<T>, FieldError> {
        let mut last = None;
        self.each_field(path, |value| {
            last = read(path, value)?;
            Ok(())
        })?;
        Ok(last)
    }

    /// Reads all values of a path with wildcards, in order, without null values.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # use kube_informer::{FieldPath, form::{FieldError, Packed}};
    /// fn images(pod: &Packed<Pod>, path: &FieldPath) -> Result<Vec<String>, FieldError> {
    ///     assert_eq!(path.to_string(), "/spec/containers/*/image");
    ///     pod.fields(path)
    /// }
    /// ```
    ///
    /// # Errors
    /// A value does not match the type.
    pub fn fields<T: DeserializeOwned>(&self, path: &FieldPath) -> Result<Vec<T>, FieldError> {
        let mut values = Vec::new();
        self.each_field(path, |value| {
            values.extend(read(path, value)?);
            Ok(())
        })?;
        Ok(values)
    }

    /// An index function that returns the strings at `path`. Values that are not strings are not indexed. Declare the
    /// path in the collection's [`FieldPlan`], so that indexing does not decompress objects.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # use kube_informer::source::ListerWatcher;
    /// use kube_informer::{FieldPath, SharedInformer, form::Packed, FieldPlan};
    ///
    /// # fn example(source: impl ListerWatcher<Packed<Pod>>) -> Result<(), Box<dyn std::error::Error>> {
    /// let (managed, node) = (FieldPath::parse("/metadata/managedFields")?, FieldPath::parse("/spec/nodeName")?);
    /// let plan = FieldPlan::new([managed], [node.clone()])?;
    /// let (informer, runner) = SharedInformer::<Packed<Pod>>::builder(source).plan(plan).build();
    /// let by_node = informer.store().add_index("by-node", Packed::index_by(node))?;
    /// let pods: Vec<Packed<Pod>> = informer.store().by_index(&by_node, "node-1")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn index_by(path: FieldPath) -> impl Fn(&Self) -> Vec<String> + Send + Sync + 'static {
        move |packed| {
            let mut texts = Vec::new();
            let _ = packed.each_field(&path, |value| {
                texts.extend(decoding::json::<String>(value).ok());
                Ok(())
            });
            texts
        }
    }

    fn each_field(
        &self,
        path: &FieldPath,
        mut visit: impl FnMut(&[u8]) -> Result<(), FieldError>,
    ) -> Result<(), FieldError> {
        let shared = &self.header().shared;
        #[cfg(feature = "protobuf")]
        if self.header().encoding == Encoding::Protobuf {
            return self.each_field_of_message(path, visit);
        }
        if let Some((number, _)) = shared.declared.iter().find(|(_, field)| field == path) {
            return self.declared(*number).try_for_each(visit);
        }
        let fail = |reason: String| FieldError {
            path: path.clone(),
            reason,
        };
        let plan = FieldPlan::new([], [path.clone()]).map_err(|error| fail(error.to_string()))?;
        let raw = self.scan(&plan).map_err(|error| fail(error.to_string()))?;
        shared.values(&raw, 0, path).try_for_each(|value| visit(&value))
    }

    /// Reads the values of a path of an object in protobuf.
    #[cfg(feature = "protobuf")]
    fn each_field_of_message(
        &self,
        path: &FieldPath,
        mut visit: impl FnMut(&[u8]) -> Result<(), FieldError>,
    ) -> Result<(), FieldError> {
        let types = self.header().shared.config.types.as_ref();
        let types = types.map(|types| (&*types.api_version, &*types.kind));
        let values = decoding::values_of_message(types, &self.body(), path).map_err(|error| FieldError {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        values
            .iter()
            .try_for_each(|value| visit(value.to_string().as_bytes()))
    }

    fn scan(&self, plan: &FieldPlan) -> Result<RawObject, ScanError> {
        RawObject::scan_with(self.header().encoding, self.body().into(), plan)
    }
}

fn read<T: DeserializeOwned>(path: &FieldPath, value: &[u8]) -> Result<Option<T>, FieldError> {
    decoding::json(value).map_err(|error| FieldError {
        path: path.clone(),
        reason: error.to_string(),
    })
}

/// A field does not match the expected type. The error states the path and the reason, never the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct FieldError {
    path: FieldPath,
    reason: String,
}

impl<K> Header<K> {
    /// The object's address, which is unique as long as the object is alive.
    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// About how many bytes the decoded object takes: names and numbers are structs then, which a message writes shorter
    /// than JSON.
    fn decoded_size(&self) -> usize {
        let factor = match self.encoding {
            Encoding::Json => 4,
            #[cfg(feature = "protobuf")]
            Encoding::Protobuf => 10,
        };
        (self.size as usize)
            .saturating_mul(factor)
            .saturating_add(size_of::<K>())
    }
}

impl<K> Drop for Header<K> {
    fn drop(&mut self) {
        if *self.decoded.get_mut() {
            self.shared.decoded.remove(self.address());
        }
        self.shared.counters.remove(self.size, self.kept, self.all);
    }
}

impl<K> Clone for Packed<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Shows the key, the version and the size, never the body.
impl<K> fmt::Debug for Packed<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packed")
            .field("key", self.key())
            .field("resource_version", &self.resource_version())
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}

impl<K: Send + Sync + 'static> CachedObject for Packed<K> {
    type Handle = Self;

    fn name_of(object: &Self) -> &str {
        object.name()
    }

    fn namespace_of(object: &Self) -> Option<&str> {
        object.namespace()
    }

    fn uid_of(object: &Self) -> Option<&str> {
        object.uid()
    }

    fn resource_version_of(object: &Self) -> Option<ResourceVersion> {
        object.resource_version().cloned()
    }

    fn label_of<'a>(object: &'a Self, name: &str) -> Option<&'a str> {
        object.label(name)
    }

    fn keeps_unknown_fields() -> bool {
        !is_generated::<K>()
    }

    fn visit_labels(object: &Self, each: &mut dyn FnMut(&str, &str)) -> bool {
        object.labels().for_each(|(name, value)| each(name, value));
        true
    }

    fn key_of(object: &Self) -> ObjectKey {
        object.key().clone()
    }
}

/// The owners are read by [`Packed::field`]. If they are not what they should be, they are logged as unreadable and
/// count as none.
impl<K: Send + Sync + 'static> HasOwners for Packed<K> {
    fn owners_of(object: &Self) -> Cow<'_, [OwnerReference]> {
        static PATH: LazyLock<Option<FieldPath>> =
            LazyLock::new(|| FieldPath::parse("/metadata/ownerReferences").ok());
        let owners = PATH.as_ref().map(|path| object.field(path)).transpose();
        Cow::Owned(
            owners
                .map(|owners| owners.flatten().unwrap_or_default())
                .unwrap_or_else(|error| {
                    tracing::warn!(key = %object.key(), %error, "the owners of an object cannot be read");
                    Vec::new()
                }),
        )
    }
}

impl<K: Send + Sync + 'static> Decode for Packed<K> {
    type Decoder = Packer<K>;

    fn decoder(config: DecoderConfig) -> Packer<K> {
        Packer::new(config)
    }

    fn decode_raw(packer: &Packer<K>, key: &ObjectKey, raw: &RawObject) -> Result<Self, DecodeError> {
        packer.pack(key, raw)
    }

    /// The [objects](PackerStats::total_bytes) with their dictionary and families, without keys and label sets.
    fn held_bytes(packer: &Packer<K>) -> Option<u64> {
        let stats = packer.stats();
        Some(stats.total_bytes + stats.dictionary_bytes + stats.family_bytes)
    }

    /// Prunes `metadata.managedFields`.
    fn plan() -> FieldPlan {
        FieldPlan::without_managed_fields()
    }

    /// Objects are saved as they are stored.
    fn save_objects(packer: &Arc<Packer<K>>) -> Option<Box<dyn SaveObjects<Self>>> {
        Some(Box::new(saved::Save::new(packer.clone())))
    }

    fn restore_objects(packer: &Arc<Packer<K>>) -> Option<Box<dyn RestoreObjects<Self>>> {
        Some(Box::new(saved::Restore::new(packer.clone())))
    }
}
