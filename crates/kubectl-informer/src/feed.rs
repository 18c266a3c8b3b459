//! An informer's notifications, and among them the end of the initial state.

use futures::StreamExt as _;
use kube_informer::{CachedObject, Notification, Notifications};
use std::task::{Poll, ready};

/// One item of the feed.
pub(crate) enum Step<O: CachedObject> {
    /// A change.
    Change(Notification<O>),
    /// All initial adds have been returned.
    Synced,
}

/// The notifications of an informer; [`Step::Synced`] comes once, between the last initial add and what follows.
pub(crate) struct Feed<O: CachedObject> {
    notifications: Notifications<O>,
    synced: bool,
    /// The result that showed that the initial adds are over (a change, or the end); it is returned next.
    held_back: Option<Option<Notification<O>>>,
}

impl<O: CachedObject> Feed<O> {
    pub(crate) fn new(notifications: Notifications<O>) -> Self {
        Self {
            notifications,
            synced: false,
            held_back: None,
        }
    }

    /// Whether nothing waits to be returned.
    pub(crate) fn is_drained(&self) -> bool {
        self.held_back.is_none() && self.notifications.queue_len() == 0
    }

    /// The next step; `None` when the informer has stopped. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<Step<O>> {
        if let Some(next) = self.held_back.take() {
            return next.map(Step::Change);
        }
        std::future::poll_fn(|cx| {
            let next = self.notifications.poll_next_unpin(cx);
            // The initial adds end when the next notification is requested.
            if !self.synced && self.notifications.has_synced() {
                self.synced = true;
                if let Poll::Ready(change) = next {
                    self.held_back = Some(change);
                }
                return Poll::Ready(Some(Step::Synced));
            }
            Poll::Ready(ready!(next).map(Step::Change))
        })
        .await
    }
}
