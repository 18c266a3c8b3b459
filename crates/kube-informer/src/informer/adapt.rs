//! Handlers around handlers.

use super::Notification;
use super::handler::ResourceEventHandler;
use crate::object::{Deleted, Object};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

/// A handler that is only told of objects that pass a filter, made by
/// [`ResourceEventHandler::filtered`].
///
/// | the old state passes | the new state passes | the handler is told of |
/// |---|---|---|
/// | yes | yes | an update |
/// | no | yes | an add that is not initial |
/// | yes | no | a deletion ([`Unselected`](crate::DeleteCause::Unselected)) with the old state |
/// | no | no | nothing |
#[doc(alias = "FilteringResourceEventHandler")]
pub struct Filtered<H, F> {
    handler: H,
    filter: F,
}

impl<H, F> Filtered<H, F> {
    pub(super) fn new(handler: H, filter: F) -> Self {
        Self { handler, filter }
    }
}

impl<O, H, F> ResourceEventHandler<O> for Filtered<H, F>
where
    O: Object,
    H: ResourceEventHandler<O>,
    F: FnMut(&O::Ref) -> bool + Send + 'static,
{
    async fn on_add(&mut self, object: O::Ref, initial: bool) {
        if (self.filter)(&object) {
            self.handler.on_add(object, initial).await;
        }
    }

    async fn on_update(&mut self, old: O::Ref, new: O::Ref) {
        match ((self.filter)(&old), (self.filter)(&new)) {
            (true, true) => self.handler.on_update(old, new).await,
            (false, true) => self.handler.on_add(new, false).await,
            (true, false) => {
                let key = O::key(&old);
                let deleted = Deleted {
                    key,
                    last_known: Some(old),
                    cause: crate::object::DeleteCause::Unselected,
                };
                self.handler.on_delete(deleted).await;
            }
            (false, false) => {}
        }
    }

    async fn on_delete(&mut self, deleted: Deleted<O::Ref>) {
        if deleted.last_known.as_ref().is_some_and(&mut self.filter) {
            self.handler.on_delete(deleted).await;
        }
    }
}

/// A handler whose function may block: each call runs on a thread where that does no harm.
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::Pod;
/// # fn example(informer: kube_informer::SharedInformer<Pod>) -> Result<(), kube_informer::informer::Stopped> {
/// use kube_informer::{Notification, informer::blocking};
/// use std::io::Write;
///
/// let mut log = std::fs::File::create("pods.log").expect("a writable folder");
/// let write = move |change: Notification<Pod>| writeln!(log, "{change:?}").expect("room on the disk");
/// informer.add_handler("log", blocking(write))?.detach();
/// # Ok(())
/// # }
/// ```
///
/// A call that is running cannot be aborted: the informer waits for it until its
/// [deadline](super::InformerBuilder::stop_deadline) when it is stopped.
pub fn blocking<O: Object>(
    function: impl FnMut(Notification<O>) + Send + 'static,
) -> impl ResourceEventHandler<O> {
    Blocking {
        function: Arc::new(Mutex::new(function)),
    }
}

struct Blocking<F> {
    /// Locked by the one running call. A panic poisons it, which the panic policy has dealt with.
    function: Arc<Mutex<F>>,
}

impl<F> Blocking<F> {
    fn call<O: Object>(&self, notification: Notification<O>) -> impl Future<Output = ()> + Send + use<O, F>
    where
        F: FnMut(Notification<O>) + Send + 'static,
    {
        let function = self.function.clone();
        async move {
            let call = move || (function.lock().unwrap_or_else(PoisonError::into_inner))(notification);
            if let Err(error) = tokio::task::spawn_blocking(call).await
                && let Ok(panic) = error.try_into_panic()
            {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

impl<O: Object, F: FnMut(Notification<O>) + Send + 'static> ResourceEventHandler<O> for Blocking<F> {
    async fn on_add(&mut self, object: O::Ref, initial: bool) {
        self.call(Notification::Add { object, initial }).await;
    }

    async fn on_update(&mut self, old: O::Ref, new: O::Ref) {
        self.call(Notification::Update { old, new }).await;
    }

    async fn on_delete(&mut self, deleted: Deleted<O::Ref>) {
        self.call(Notification::Delete(deleted)).await;
    }
}
