//! Transforms: functions that change objects before they are stored.

use crate::object::CachedObject;
use crate::reflector::TransformError;
use kube::core::ObjectMeta;
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function that changes every object once, before it is stored. It is a value that can be compared: a
/// [factory](crate::SharedInformerFactory) shares an informer between requests with the same transform.
///
/// Transforms are equal only if they are clones of each other.
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
    /// Creates a transform. See [`Reflector::transform`](crate::reflector::Reflector::transform) for what the
    /// function may do.
    pub fn new(
        function: impl Fn(O::Handle) -> Result<O::Handle, TransformError> + Send + Sync + 'static,
    ) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NUMBER.fetch_add(1, Ordering::Relaxed),
            function: Arc::new(function),
        }
    }

    /// One that applies `first` to each object before this one.
    pub(crate) fn after(self, first: FormlessTransform) -> Self {
        let id = self.id;
        let function: Function<O> = Arc::new(move |object| self.apply(first.apply::<O>(object)?));
        Self { id, function }
    }

    pub(super) fn apply(&self, object: O::Handle) -> Result<O::Handle, TransformError> {
        (self.function)(object)
    }

    /// Identifies the transform.
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

/// An object of any form, as a [transform of all informers of a factory](crate::factory::FactoryBuilder::transform) gets it.
pub struct AnyObject<'a> {
    handle: &'a mut dyn Any,
    metadata: fn(&mut dyn Any) -> Option<&mut ObjectMeta>,
}

impl<'a> AnyObject<'a> {
    fn new<O: CachedObject>(handle: &'a mut O::Handle) -> Self {
        Self {
            handle,
            metadata: |handle| O::metadata_mut(handle.downcast_mut::<O::Handle>()?),
        }
    }

    /// The object's metadata, if it is a [`kube::Resource`]: typed, dynamic, or metadata only. `None` for any other form,
    /// [`Packed`](crate::form::Packed) among them, and for an object that a custom source still references.
    pub fn metadata_mut(&mut self) -> Option<&mut ObjectMeta> {
        (self.metadata)(&mut *self.handle)
    }

    /// The object as it is held, if it is held as an `H`: `Arc<Pod>`, `Packed<Pod>`.
    pub fn downcast_mut<H: Any>(&mut self) -> Option<&mut H> {
        self.handle.downcast_mut()
    }
}

type FormlessFunction = dyn Fn(&mut AnyObject<'_>) -> Result<(), TransformError> + Send + Sync;

/// A transform of objects of any form.
#[derive(Clone)]
pub(crate) struct FormlessTransform(Arc<FormlessFunction>);

impl FormlessTransform {
    pub(crate) fn new(
        function: impl Fn(&mut AnyObject<'_>) -> Result<(), TransformError> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(function))
    }

    fn apply<O: CachedObject>(&self, mut object: O::Handle) -> Result<O::Handle, TransformError> {
        (self.0)(&mut AnyObject::new::<O>(&mut object))?;
        Ok(object)
    }

    /// The same for objects of one form.
    pub(crate) fn of_form<O: CachedObject>(self) -> Transform<O> {
        Transform::new(move |object| self.apply::<O>(object))
    }
}
