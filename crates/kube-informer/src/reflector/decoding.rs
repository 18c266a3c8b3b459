//! Decodes and transforms one item of a source.

use crate::form::{self, Decode};
use crate::low_level::wire::RawObject;
use crate::object::{CachedObject, ObjectKey, ResourceVersion, is_path_segment};
use crate::source::{DecodeResult, Item};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a transform failed. The text is reported, so it must not contain parts of the object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TransformError(pub String);

/// The user's function that changes objects before they are stored.
pub(super) type Transform<O> =
    Box<dyn FnMut(<O as CachedObject>::Handle) -> Result<<O as CachedObject>::Handle, TransformError> + Send>;

/// Decodes an object. If user code panics, the object counts as unreadable.
pub(super) fn decode_raw<O: Decode>(decoder: &O::Decoder, raw: &RawObject) -> (ObjectKey, DecodeResult<O>) {
    let key = raw.key();
    let decoded = match form::decode_raw::<O>(decoder, &key, raw) {
        Ok(object) => DecodeResult::Decoded {
            object,
            fingerprint: Some(raw.fingerprint()),
        },
        Err(reason) => DecodeResult::invalid(Some(key.clone()), reason),
    };
    (key, decoded)
}

/// Decodes an item. The key is `None` if it could not be read.
pub(super) fn decode<O: Decode>(decoder: &O::Decoder, item: Item<O>) -> (Option<ObjectKey>, DecodeResult<O>) {
    match item {
        Item::Raw(raw) => {
            let (key, decoded) = decode_raw(decoder, &raw);
            (Some(key), decoded)
        }
        Item::Object(object) => match name_fault::<O>(&object) {
            Some(fault) => (None, DecodeResult::invalid(None, fault)),
            None => (
                Some(O::key_of(&object)),
                DecodeResult::Decoded {
                    object,
                    fingerprint: None,
                },
            ),
        },
        Item::Invalid(invalid) => (invalid.key.clone(), DecodeResult::Invalid(Box::new(invalid))),
    }
}

/// Why an object has no unique key.
fn name_fault<O: CachedObject>(object: &O::Handle) -> Option<&'static str> {
    let name = O::name_of(object);
    if name.is_empty() {
        return Some("the object has no name");
    }
    let valid = is_path_segment(name) && O::namespace_of(object).is_none_or(is_path_segment);
    (!valid).then_some("the object's name or namespace is not one segment of a path")
}

/// Calls the user's transform for a decoded object.
pub(super) fn transform<O: CachedObject>(
    transform: &mut Transform<O>,
    key: Option<&ObjectKey>,
    decoded: DecodeResult<O>,
) -> DecodeResult<O> {
    let DecodeResult::Decoded { object, fingerprint } = decoded else {
        return decoded;
    };
    let identity = Identity::of::<O>(&object);
    let fault = match catch_unwind(AssertUnwindSafe(|| transform(object))) {
        Ok(Ok(object)) => match identity.given_to::<O>(object) {
            Some(object) => return DecodeResult::Decoded { object, fingerprint },
            None => "the transform changed its name, namespace, uid or resource version".to_owned(),
        },
        Ok(Err(error)) => format!("the transform failed: {error}"),
        Err(_) => "the transform panicked".to_owned(),
    };
    DecodeResult::invalid(key.cloned(), fault)
}

/// The key, uid and version of an object, which a transform cannot change.
struct Identity {
    key: ObjectKey,
    uid: Option<String>,
    version: Option<ResourceVersion>,
}

impl Identity {
    fn of<O: CachedObject>(object: &O::Handle) -> Self {
        Self {
            key: O::key_of(object),
            uid: O::uid_of(object).map(str::to_owned),
            version: O::resource_version_of(object),
        }
    }

    fn is_of<O: CachedObject>(&self, object: &O::Handle) -> bool {
        O::name_of(object) == self.key.name()
            && O::namespace_of(object).filter(|namespace| !namespace.is_empty()) == self.key.namespace()
            && O::uid_of(object) == self.uid.as_deref()
            && O::resource_version_of(object) == self.version
    }

    /// Restores the identity of an object; `None` if that is impossible.
    fn given_to<O: CachedObject>(&self, mut object: O::Handle) -> Option<O::Handle> {
        let is_ours = self.is_of::<O>(&object)
            || O::set_identity(&mut object, &self.key, self.uid.as_deref(), self.version.as_ref())
                && self.is_of::<O>(&object);
        is_ours.then_some(object)
    }
}
