//! What changes objects on their way in.

use crate::object::CachedObject;
use crate::reflector::TransformError;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function that changes every object once, before it gets into a store, as a value that can be named twice: a
/// [factory](crate::SharedInformerFactory) shares an informer among those who ask for it with the same transform.
///
/// A clone is the same transform, and only that one is equal to it.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::informer::Transform;
/// use std::sync::Arc;
///
/// let slim = Transform::<Pod>::new(|mut pod| {
///     Arc::make_mut(&mut pod).metadata.annotations = None;
///     Ok(pod)
/// });
/// assert_eq!(slim, slim.clone());
/// assert_ne!(slim, Transform::new(Ok));
/// ```
#[doc(alias = "TransformFunc")]
pub struct Transform<O: CachedObject> {
    id: u64,
    function: Function<O>,
}

type Function<O> = Arc<
    dyn Fn(<O as CachedObject>::Handle) -> Result<<O as CachedObject>::Handle, TransformError> + Send + Sync,
>;

impl<O: CachedObject> Transform<O> {
    /// A transform. See [`Reflector::transform`](crate::reflector::Reflector::transform) for what the function may do.
    pub fn new(
        function: impl Fn(O::Handle) -> Result<O::Handle, TransformError> + Send + Sync + 'static,
    ) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NUMBER.fetch_add(1, Ordering::Relaxed),
            function: Arc::new(function),
        }
    }

    pub(super) fn apply(&self, object: O::Handle) -> Result<O::Handle, TransformError> {
        (self.function)(object)
    }

    /// Tells transforms from each other.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

impl<O: CachedObject> Clone for Transform<O> {
    fn clone(&self) -> Self {
        Self {
            id: self.id,
            function: self.function.clone(),
        }
    }
}

impl<O: CachedObject> PartialEq for Transform<O> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<O: CachedObject> Eq for Transform<O> {}

impl<O: CachedObject> fmt::Debug for Transform<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Transform").field(&self.id).finish()
    }
}
