//! What receives the objects that a reflector passes on.

use crate::object::{CachedObject, KnownObjects, ObjectKey, ResourceVersion};
use crate::queue::Delta;
use crate::source::DecodeResult;
use std::future::Future;

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
    /// is called before anything else. If they turn out to be of another server, it is called again without any, to take them
    /// back. Default: the same as [`replace`](Self::replace).
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
