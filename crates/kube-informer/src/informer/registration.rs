//! Handles to what was added to an informer.

use super::blocking::current_task;
use super::listener::{End, EndOnDrop, Listener, Progress};
use super::processor::Processor;
use super::{Notification, Stopped};
use crate::object::CachedObject;
use futures::stream::{BoxStream, Stream, StreamExt};
use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::sync::watch;

/// A listener and the processor it belongs to, whatever their type of object.
trait Registered: Send + Sync {
    fn name(&self) -> &str;
    fn queue_len(&self) -> usize;
    fn lag(&self) -> Duration;
    fn progress(&self) -> watch::Receiver<Progress>;
    fn end(&self, end: End);
}

struct Member<O: CachedObject> {
    listener: Arc<Listener<O>>,
    processor: Arc<Processor<O>>,
}

impl<O: CachedObject> Registered for Member<O> {
    fn name(&self) -> &str {
        self.listener.name()
    }

    fn queue_len(&self) -> usize {
        self.listener.queue_len()
    }

    fn lag(&self) -> Duration {
        self.listener.lag()
    }

    fn progress(&self) -> watch::Receiver<Progress> {
        self.listener.progress()
    }

    fn end(&self, end: End) {
        self.processor.remove(&self.listener, end);
    }
}

/// A handler that was added to an informer. Dropping it removes the handler; [`detach`](Self::detach) keeps
/// it.
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::Pod;
/// # use kube_informer::{Notification, SharedInformer, informer::Stopped};
/// # async fn example(informer: SharedInformer<Pod>) -> Result<(), Stopped> {
/// let registration = informer.add_handler("log", |change: Notification<Pod>| println!("{change:?}"))?;
/// registration.synced().await?;
/// println!("every pod that exists has been logged");
/// registration.remove().await;
/// # Ok(())
/// # }
/// ```
#[doc(alias = "ResourceEventHandlerRegistration")]
#[must_use = "dropping a registration removes the handler; call `detach` to keep it"]
pub struct Registration {
    member: Option<Arc<dyn Registered>>,
}

impl Registration {
    pub(super) fn new<O: CachedObject>(listener: Arc<Listener<O>>, processor: Arc<Processor<O>>) -> Self {
        Self {
            member: Some(Arc::new(Member { listener, processor })),
        }
    }

    fn member(&self) -> &dyn Registered {
        self.member
            .as_deref()
            .expect("taken only by methods that consume the registration")
    }

    /// The handler's name.
    pub fn name(&self) -> &str {
        self.member().name()
    }

    /// How many notifications wait for the handler.
    pub fn queue_len(&self) -> usize {
        self.member().queue_len()
    }

    /// For how long the oldest notification that waits has been waiting.
    pub fn lag(&self) -> Duration {
        self.member().lag()
    }

    /// Whether the handler has handled the whole initial state: the informer has synced, and the calls for
    /// all initial adds have returned.
    #[doc(alias = "HasSynced")]
    pub fn has_synced(&self) -> bool {
        self.member().progress().borrow().synced
    }

    /// Waits until [`has_synced`](Self::has_synced).
    ///
    /// # Errors
    /// The informer was stopped first.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn synced(&self) -> Result<(), Stopped> {
        let mut progress = self.member().progress();
        match progress
            .wait_for(|progress| progress.synced || progress.ended)
            .await
        {
            Ok(progress) if progress.synced => Ok(()),
            _ => Err(Stopped),
        }
    }

    /// Keeps the handler until the informer stops, without a handle to it.
    pub fn detach(mut self) {
        self.member = None;
    }

    /// Removes the handler and waits until its running call has returned. Pending notifications are not
    /// delivered.
    ///
    /// Called from the handler itself, it does not wait.
    ///
    /// # Cancel safety
    /// The handler is removed even if the future is dropped; only the waiting ends.
    #[doc(alias = "RemoveEventHandler")]
    #[doc(alias = "ShutDownEventHandler")]
    pub async fn remove(self) {
        self.finish(End::Drop).await;
    }

    /// Delivers all pending notifications to the handler, then removes it. Later changes are not delivered to
    /// it.
    ///
    /// Called from the handler itself, it does not wait.
    ///
    /// # Cancel safety
    /// Once polled, the handler is drained and removed even if the future is dropped; only the waiting ends.
    /// Dropped before that, it acts as dropping the registration: pending notifications are not delivered.
    pub async fn drain(self) {
        self.finish(End::Drain).await;
    }

    async fn finish(mut self, end: End) {
        let Some(member) = self.member.take() else { return };
        member.end(end);
        let mut progress = member.progress();
        let started = progress.borrow().started;
        if started.is_some() && started == current_task() {
            return;
        }
        // A handler whose informer never runs has no call to wait for.
        if end == End::Drop && started.is_none() {
            return;
        }
        let _ = progress.wait_for(|progress| progress.ended).await;
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(member) = self.member.take() {
            member.end(End::Drop);
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("name", &self.name())
            .field("synced", &self.has_synced())
            .finish()
    }
}

/// The notifications of an informer as a stream, made by
/// [`SharedInformer::subscribe`](super::SharedInformer::subscribe).
///
/// A notification counts as handled when the next one is asked for. The stream ends when the informer stops.
#[must_use = "a stream does nothing unless it is polled"]
pub struct Notifications<O: CachedObject> {
    stream: BoxStream<'static, Notification<O>>,
    registration: Registration,
}

impl<O: CachedObject> Notifications<O> {
    pub(super) fn new(listener: Arc<Listener<O>>, registration: Registration) -> Self {
        let ended = EndOnDrop(listener);
        let stream = futures::stream::unfold(ended, |listener| async move {
            let notification = listener.0.next().await?;
            Some((notification, listener))
        });
        Self {
            stream: stream.boxed(),
            registration,
        }
    }

    /// Whether all initial adds have been handled; see [`Registration::has_synced`].
    pub fn has_synced(&self) -> bool {
        self.registration.has_synced()
    }

    /// How many notifications wait.
    pub fn queue_len(&self) -> usize {
        self.registration.queue_len()
    }
}

impl<O: CachedObject> Stream for Notifications<O> {
    type Item = Notification<O>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.stream.poll_next_unpin(cx)
    }
}
