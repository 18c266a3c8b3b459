//! The options of a handler or stream.

use super::Delivery;
use std::time::Duration;

/// Options of a handler or stream. A name converts into default options: `"log".into()`.
///
/// ```
/// use kube_informer::{Delivery, HandlerOptions};
/// let options = HandlerOptions::named("audit").delivery(Delivery::Unbounded);
/// assert_eq!(options.name(), "audit");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerOptions {
    pub(super) name: String,
    pub(super) delivery: Delivery,
    pub(super) resync: Option<Duration>,
    pub(super) on_panic: PanicPolicy,
    pub(super) after_sync: bool,
}

/// What the informer does when a handler panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PanicPolicy {
    /// The informer's run ends with an error that names the handler.
    #[default]
    Stop,
    /// The panic is logged, the notification counts as handled, and the handler is called with the next one.
    /// The handler must tolerate that it is in the state that it had when it panicked.
    Continue,
}

impl HandlerOptions {
    /// The default options for a handler of this name, which appears in errors and logs.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            delivery: Delivery::default(),
            resync: None,
            on_panic: PanicPolicy::default(),
            after_sync: false,
        }
    }

    /// The handler's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How pending notifications are queued. Default: coalesced beyond 1024.
    #[must_use = "this is a builder"]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// The period of resyncs, in which the handler receives an update from the current state to itself for
    /// every object. Default: the [informer](super::InformerBuilder::resync)'s period; zero: never.
    ///
    /// The period is at least one second, and is rounded up to a multiple of the informer's period, if that
    /// is not zero (a handler that is added before the informer runs shortens it). A resync sends no request
    /// to the server, and relists do not delay it. A handler with a resync also receives updates for objects
    /// that a relist found unchanged.
    #[must_use = "this is a builder"]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }

    /// Sends no notification to the handler before the informer [has
    /// synced](super::SharedInformer::has_synced) for the first time. Then the handler starts with adds for
    /// all stored objects. So it never sees an object that was [restored from a file](crate::warm_start) but
    /// not confirmed by the server, and is not notified of restored objects that no longer exist. Default: it
    /// is notified as objects arrive.
    ///
    /// ```
    /// use kube_informer::HandlerOptions;
    /// let options = HandlerOptions::named("act").after_sync();
    /// ```
    #[must_use = "this is a builder"]
    pub fn after_sync(mut self) -> Self {
        self.after_sync = true;
        self
    }

    /// What happens when the handler panics. Default: the informer's run ends with an error.
    #[must_use = "this is a builder"]
    pub fn on_panic(mut self, policy: PanicPolicy) -> Self {
        self.on_panic = policy;
        self
    }
}

impl From<&str> for HandlerOptions {
    fn from(name: &str) -> Self {
        Self::named(name)
    }
}

impl From<String> for HandlerOptions {
    fn from(name: String) -> Self {
        Self::named(name)
    }
}
