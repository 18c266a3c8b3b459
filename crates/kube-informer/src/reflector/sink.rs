//! What a reflector hands on, and to whom.

use crate::object::{CachedObject, Fingerprint, KnownObjects, ObjectKey, ResourceVersion};
use crate::queue::Delta;
use crate::source::InvalidObject;
use std::fmt;
use std::future::Future;

/// An object as a reflector hands it on.
pub enum DecodeResult<O: CachedObject> {
    /// The object, in the form in which it is held.
    Decoded {
        /// The object.
        object: O::Handle,
        /// Identifies this state of it; `None` if the source gave no bytes.
        fingerprint: Option<Fingerprint>,
    },
    /// The object is held in this state already, so it was not decoded. Only in lists.
    Unchanged,
    /// The object could not be read.
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

    pub(super) fn invalid(key: Option<ObjectKey>, reason: impl Into<String>) -> Self {
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

/// What a reflector writes into.
///
/// [`KnownObjects`] answers which objects are held already, so that a new list can leave them alone. The methods may wait,
/// which makes the reflector stop reading.
///
/// # Cancel safety
/// The futures are dropped when the reflector is cancelled.
pub trait Sink<O: CachedObject>: KnownObjects + Send + 'static {
    /// The collection now consists of exactly these objects, each under its key. Those that could not be read are among
    /// them, and so are those that are held already.
    fn replace(
        &mut self,
        entries: Vec<(ObjectKey, DecodeResult<O>)>,
        version: Option<ResourceVersion>,
    ) -> impl Future<Output = ()> + Send;

    /// One object changed; with it, everything up to `version` has been handed over. If more may follow at once, who
    /// consumes it need not be woken before [`flush`](Self::flush).
    fn push(
        &mut self,
        key: ObjectKey,
        delta: Delta<DecodeResult<O>>,
        version: Option<ResourceVersion>,
    ) -> impl Future<Output = ()> + Send;

    /// Nothing more changed up to `version`.
    fn bookmark(&mut self, version: ResourceVersion);

    /// Nothing more follows at once. Default: does nothing.
    fn flush(&mut self) {}
}
