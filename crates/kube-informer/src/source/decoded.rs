//! Objects after they were decoded.

use super::InvalidObject;
use crate::object::{CachedObject, Fingerprint, ObjectKey};
use std::fmt;

/// An object of a source, as a reflector passes it on.
pub enum DecodeResult<O: CachedObject> {
    /// It was decoded.
    Decoded {
        /// The object.
        object: O::Handle,
        /// Identifies this state of it; `None` if the source gave no bytes.
        fingerprint: Option<Fingerprint>,
    },
    /// The sink already has this state, so it was not decoded. Only in lists.
    Unchanged,
    /// It could not be read.
    Invalid(Box<InvalidObject>),
}

impl<O: CachedObject> DecodeResult<O> {
    /// The object; `None` if it was not decoded.
    pub fn into_object(self) -> Option<O::Handle> {
        match self {
            Self::Decoded { object, .. } => Some(object),
            Self::Unchanged | Self::Invalid(_) => None,
        }
    }

    pub(crate) fn invalid(key: Option<ObjectKey>, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Invalid(Box::new(InvalidObject { key, reason }))
    }
}

impl<O: CachedObject> Clone for DecodeResult<O> {
    fn clone(&self) -> Self {
        match self {
            Self::Decoded { object, fingerprint } => Self::Decoded {
                object: object.clone(),
                fingerprint: *fingerprint,
            },
            Self::Unchanged => Self::Unchanged,
            Self::Invalid(invalid) => Self::Invalid(invalid.clone()),
        }
    }
}

/// Shows the key, never the object.
impl<O: CachedObject> fmt::Debug for DecodeResult<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decoded { object, .. } => write!(f, "Decoded({})", O::key_of(object)),
            Self::Unchanged => f.write_str("Unchanged"),
            Self::Invalid(invalid) => write!(f, "Invalid({invalid})"),
        }
    }
}
