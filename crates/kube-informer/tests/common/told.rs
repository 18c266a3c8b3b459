//! What a subscriber is told.

use futures::StreamExt;
use kube_informer::{CachedObject, Notification, Notifications};
use std::fmt::Debug;
use std::time::Duration;

/// Lets everything happen that happens within this (paused) time, and returns what was told until then.
pub(crate) async fn told_within<O: CachedObject>(
    notifications: &mut Notifications<O>,
    time: Duration,
) -> Vec<String>
where
    Notification<O>: Debug,
{
    let mut told = vec![];
    let end = tokio::time::sleep(time);
    tokio::pin!(end);
    loop {
        tokio::select! {
            biased;
            Some(notification) = notifications.next() => told.push(format!("{notification:?}")),
            () = &mut end => return told,
        }
    }
}
