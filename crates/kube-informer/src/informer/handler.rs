//! Handlers: user code that is notified of changes.

use super::{Filtered, Notification};
use crate::object::{CachedObject, Deleted};
use std::future::Future;

/// Receives the changes of a collection, one at a time. Intermediate states may be skipped, as
/// [`Delivery`](crate::Delivery) says; the newest state of every object is always delivered.
///
/// Each handler has its own task, so a slow handler delays no other, and `&mut self` needs no lock. The
/// default implementation of every method does nothing.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::{Deleted, ResourceEventHandler};
/// use std::sync::Arc;
///
/// struct Counter(usize);
///
/// impl ResourceEventHandler<Pod> for Counter {
///     async fn on_add(&mut self, _: Arc<Pod>, _initial: bool) {
///         self.0 += 1;
///     }
///
///     async fn on_delete(&mut self, deleted: Deleted<Arc<Pod>>) {
///         self.0 -= 1;
///         println!("{} is gone, {} left", deleted.key, self.0);
///     }
/// }
/// ```
///
/// # Panics
/// A handler that panics ends the informer's run with an error that names it.
pub trait ResourceEventHandler<O: CachedObject>: Send + 'static {
    /// Called when an object is new in the store; `initial` is whether it belongs to the initial state.
    #[doc(alias = "OnAdd")]
    fn on_add(&mut self, object: O::Handle, initial: bool) -> impl Future<Output = ()> + Send {
        let _ = (object, initial);
        async {}
    }

    /// Called when an object has changed, or for a resync; then both states have the same resource version.
    #[doc(alias = "OnUpdate")]
    fn on_update(&mut self, old: O::Handle, new: O::Handle) -> impl Future<Output = ()> + Send {
        let _ = (old, new);
        async {}
    }

    /// Called when an object was deleted.
    #[doc(alias = "OnDelete")]
    fn on_delete(&mut self, deleted: Deleted<O::Handle>) -> impl Future<Output = ()> + Send {
        let _ = deleted;
        async {}
    }

    /// Wraps this handler so that it receives only objects that pass `filter`. An object that starts to pass
    /// is an add, one that no longer passes is a deletion; see [`Filtered`].
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::Pod;
    /// use kube_informer::{CachedObject, ResourceEventHandler, ResourceEventHandlerFuncs};
    ///
    /// let handler = ResourceEventHandlerFuncs::<Pod>::new().on_add(|pod, _| println!("{}", Pod::key_of(&pod)));
    /// let handler = handler.filtered(|pod| Pod::label_of(pod, "app") == Some("web"));
    /// ```
    fn filtered<F: FnMut(&O::Handle) -> bool + Send + 'static>(self, filter: F) -> Filtered<Self, F>
    where
        Self: Sized,
    {
        Filtered::new(self, filter)
    }
}

/// Calls the handler's method for one notification.
pub(super) async fn handle<O: CachedObject>(
    handler: &mut impl ResourceEventHandler<O>,
    notification: Notification<O>,
) {
    match notification {
        Notification::Add { object, initial } => handler.on_add(object, initial).await,
        Notification::Update { old, new } => handler.on_update(old, new).await,
        Notification::Delete(deleted) => handler.on_delete(deleted).await,
    }
}

type OnAdd<O> = Box<dyn FnMut(<O as CachedObject>::Handle, bool) + Send>;
type OnUpdate<O> = Box<dyn FnMut(<O as CachedObject>::Handle, <O as CachedObject>::Handle) + Send>;
type OnDelete<O> = Box<dyn FnMut(Deleted<<O as CachedObject>::Handle>) + Send>;

/// A handler built from functions; functions that are not set do nothing.
///
/// The functions run on the handler's task, so they must not block.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::{CachedObject, ResourceEventHandlerFuncs};
///
/// let handler = ResourceEventHandlerFuncs::<Pod>::new()
///     .on_add(|pod, initial| println!("new: {} {initial}", Pod::key_of(&pod)))
///     .on_delete(|deleted| println!("gone: {}", deleted.key));
/// ```
pub struct ResourceEventHandlerFuncs<O: CachedObject> {
    add: OnAdd<O>,
    update: OnUpdate<O>,
    delete: OnDelete<O>,
}

impl<O: CachedObject> ResourceEventHandlerFuncs<O> {
    /// A handler that does nothing.
    pub fn new() -> Self {
        Self {
            add: Box::new(|_, _| ()),
            update: Box::new(|_, _| ()),
            delete: Box::new(|_| ()),
        }
    }

    /// Sets the function for new objects; the flag is whether the object belongs to the initial state.
    #[must_use = "this is a builder"]
    pub fn on_add(mut self, add: impl FnMut(O::Handle, bool) + Send + 'static) -> Self {
        self.add = Box::new(add);
        self
    }

    /// Sets the function for changed objects.
    #[must_use = "this is a builder"]
    pub fn on_update(mut self, update: impl FnMut(O::Handle, O::Handle) + Send + 'static) -> Self {
        self.update = Box::new(update);
        self
    }

    /// Sets the function for deleted objects.
    #[must_use = "this is a builder"]
    pub fn on_delete(mut self, delete: impl FnMut(Deleted<O::Handle>) + Send + 'static) -> Self {
        self.delete = Box::new(delete);
        self
    }
}

impl<O: CachedObject> Default for ResourceEventHandlerFuncs<O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O: CachedObject> ResourceEventHandler<O> for ResourceEventHandlerFuncs<O> {
    async fn on_add(&mut self, object: O::Handle, initial: bool) {
        (self.add)(object, initial);
    }

    async fn on_update(&mut self, old: O::Handle, new: O::Handle) {
        (self.update)(old, new);
    }

    async fn on_delete(&mut self, deleted: Deleted<O::Handle>) {
        (self.delete)(deleted);
    }
}

/// A function that receives every notification is a handler.
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::Pod;
/// # fn example(informer: kube_informer::SharedInformer<Pod>) -> Result<(), kube_informer::informer::Stopped> {
/// use kube_informer::Notification;
/// informer.add_handler("log", |change: Notification<Pod>| println!("{}", change.key()))?.detach();
/// # Ok(())
/// # }
/// ```
impl<O: CachedObject, F: FnMut(Notification<O>) + Send + 'static> ResourceEventHandler<O> for F {
    async fn on_add(&mut self, object: O::Handle, initial: bool) {
        self(Notification::Add { object, initial });
    }

    async fn on_update(&mut self, old: O::Handle, new: O::Handle) {
        self(Notification::Update { old, new });
    }

    async fn on_delete(&mut self, deleted: Deleted<O::Handle>) {
        self(Notification::Delete(deleted));
    }
}
