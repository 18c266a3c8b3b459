//! The objects that a reflector passes on, and the sink that receives them.

use crate::object::{CachedObject, Fingerprint, KnownObjects, ObjectKey, ResourceVersion};
use crate::queue::Delta;
use crate::source::InvalidObject;
use std::fmt;
use std::future::Future;

/// An object that a reflector passes on.
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

/// Receives the changes of a reflector.
///
/// [`KnownObjects`] returns the states that the sink already has, so that unchanged objects of a list are not
/// decoded. The methods may wait; then the reflector stops reading.
///
/// # Cancel safety
/// The futures are dropped when the reflector is cancelled.
pub trait Sink<O: CachedObject>: KnownObjects + Send + 'static {
    /// Replaces the whole collection by these objects, each under its key. They include unreadable and unchanged ones.
    fn replace(
        &mut self,
        entries: Vec<(ObjectKey, DecodeResult<O>)>,
        version: Option<ResourceVersion>,
    ) -> impl Future<Output = ()> + Send;

    /// Passes on objects that an earlier run has saved, complete up to `version`, which the server has not confirmed yet. It
    /// is called at most once, before anything else. Default: the same as [`replace`](Self::replace).
    fn restore(
        &mut self,
        entries: Vec<(ObjectKey, DecodeResult<O>)>,
        version: ResourceVersion,
    ) -> impl Future<Output = ()> + Send {
        self.replace(entries, Some(version))
    }

    /// Reports that the server has confirmed what was [restored](Self::restore), as it was changed by what was passed on
    /// since. It is not called if the confirmation is a list. Default: does nothing.
    fn confirmed(&mut self) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Passes on the change of one object. With it, everything up to `version` has been passed on. The sink may defer
    /// waking the consumer until [`flush`](Self::flush).
    fn push(
        &mut self,
        key: ObjectKey,
        delta: Delta<DecodeResult<O>>,
        version: Option<ResourceVersion>,
    ) -> impl Future<Output = ()> + Send;

    /// Reports that nothing else changed up to `version`.
    fn bookmark(&mut self, version: ResourceVersion);

    /// Reports that no other change follows immediately. Default: does nothing.
    fn flush(&mut self) {}
}
