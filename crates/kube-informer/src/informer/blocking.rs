//! Handlers whose functions may block.

use super::Notification;
use super::handler::ResourceEventHandler;
use crate::object::{CachedObject, Deleted};
use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task;

/// A handler whose function may block, because it runs on its own thread.
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
/// The thread is started with the first call, within the context of the tokio runtime, and ends with the handler. A
/// running call cannot be aborted: a stopping informer waits for it until its
/// [deadline](super::InformerBuilder::stop_timeout).
///
/// # Panics
/// The handler panics if the system cannot start a thread.
pub fn blocking<O: CachedObject>(
    function: impl FnMut(Notification<O>) + Send + 'static,
) -> impl ResourceEventHandler<O> {
    Blocking {
        function: Arc::new(Mutex::new(function)),
        thread: None,
    }
}

struct Blocking<F> {
    /// Locked by the running call. A panic poisons it; the panic policy has handled the panic already.
    function: Arc<Mutex<F>>,
    thread: Option<mpsc::Sender<Call>>,
}

type Call = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The task of the handler whose call this thread runs.
    static CALLER: Cell<Option<task::Id>> = const { Cell::new(None) };
}

/// The current task, or the task of the blocking handler that this thread runs.
pub(super) fn current_task() -> Option<task::Id> {
    CALLER.get().or_else(task::try_id)
}

fn start_thread() -> mpsc::Sender<Call> {
    let (calls, waiting) = mpsc::channel::<Call>();
    let runtime = Handle::try_current().ok();
    let run = move || {
        let _context = runtime.as_ref().map(Handle::enter);
        waiting.into_iter().for_each(|call| call());
    };
    let thread = std::thread::Builder::new().name("blocking-handler".into());
    thread.spawn(run).expect("the system has a thread left");
    calls
}

impl<F> Blocking<F> {
    fn call<O: CachedObject>(
        &mut self,
        notification: Notification<O>,
    ) -> impl Future<Output = ()> + Send + use<O, F>
    where
        F: FnMut(Notification<O>) + Send + 'static,
    {
        let (done, result) = oneshot::channel();
        let (function, caller) = (self.function.clone(), task::try_id());
        let call = move || {
            CALLER.set(caller);
            let called = || (function.lock().unwrap_or_else(PoisonError::into_inner))(notification);
            let result = catch_unwind(AssertUnwindSafe(called));
            CALLER.set(None);
            // Drop it first: whoever is notified that the call has returned may rely on the handler holding the only
            // reference to the function.
            drop(function);
            let _ = done.send(result);
        };
        let sent = self.thread.get_or_insert_with(start_thread).send(Box::new(call));
        async move {
            sent.expect("the thread ends after the handler");
            if let Err(panic) = result.await.expect("a call returns its result") {
                resume_unwind(panic);
            }
        }
    }
}

impl<O: CachedObject, F: FnMut(Notification<O>) + Send + 'static> ResourceEventHandler<O> for Blocking<F> {
    async fn on_add(&mut self, object: O::Handle, initial: bool) {
        self.call(Notification::Add { object, initial }).await;
    }

    async fn on_update(&mut self, old: O::Handle, new: O::Handle) {
        self.call(Notification::Update { old, new }).await;
    }

    async fn on_delete(&mut self, deleted: Deleted<O::Handle>) {
        self.call(Notification::Delete(deleted)).await;
    }
}
