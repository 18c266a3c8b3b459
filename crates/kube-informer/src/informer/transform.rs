//! What changes objects on their way in.

use crate::object::Object;
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
pub struct Transform<O: Object> {
    id: u64,
    function: Function<O>,
}

type Function<O> =
    Arc<dyn Fn(<O as Object>::Ref) -> Result<<O as Object>::Ref, TransformError> + Send + Sync>;

impl<O: Object> Transform<O> {
    /// A transform. See [`Reflector::transform`](crate::reflector::Reflector::transform) for what the function may do.
    pub fn new(function: impl Fn(O::Ref) -> Result<O::Ref, TransformError> + Send + Sync + 'static) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NUMBER.fetch_add(1, Ordering::Relaxed),
            function: Arc::new(function),
        }
    }

    pub(super) fn apply(&self, object: O::Ref) -> Result<O::Ref, TransformError> {
        (self.function)(object)
    }

    /// Tells transforms from each other.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

impl<O: Object> Clone for Transform<O> {
    fn clone(&self) -> Self {
        Self {
            id: self.id,
            function: self.function.clone(),
        }
    }
}

impl<O: Object> PartialEq for Transform<O> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<O: Object> Eq for Transform<O> {}

impl<O: Object> fmt::Debug for Transform<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Transform").field(&self.id).finish()
    }
}
