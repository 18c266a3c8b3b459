//! Waiting for a condition on a collection.

use super::{Delivery, HandlerOptions, Notification, SharedInformer, Stopped};
use crate::object::CachedObject;
use crate::store::Indexer;
use futures::StreamExt;

/// Waits until the informer has synced, then until a change meets the condition, and returns that change. Initial
/// adds count as changes, so `condition` is called for every object that exists already.
///
/// `precondition` is called once with the synced store. If it holds, this returns `None` without waiting. It can
/// check what no single change shows, such as that an object does *not* exist.
///
/// Unlike [`until`](crate::watcher::until), this recovers from every failure from which an informer recovers. The
/// informer must run. For a time limit use [`tokio::time::timeout`].
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::Pod;
/// # use kube_informer::{CachedObject, Notification, SharedInformer, informer::{Stopped, until_with_sync}};
/// # async fn example(pods: SharedInformer<Pod>) -> Result<(), Stopped> {
/// // Until the pod is gone, if it is not already.
/// let is_gone = |change: &Notification<Pod>| {
///     matches!(change, Notification::Delete(deleted) if &*deleted.key == "shop/migration")
/// };
/// until_with_sync(&pods, |store| store.get("shop/migration").is_none(), is_gone).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The informer was stopped first.
///
/// # Cancel safety
/// Dropping the future loses nothing: the next call starts with the store's state at that time.
#[doc(alias = "UntilWithSync")]
pub async fn until_with_sync<O: CachedObject>(
    informer: &SharedInformer<O>,
    precondition: impl FnOnce(&Indexer<O::Handle>) -> bool,
    mut condition: impl FnMut(&Notification<O>) -> bool,
) -> Result<Option<Notification<O>>, Stopped> {
    informer.synced().await?;
    // Subscribed before the precondition is checked, so that no change is missed in between. All of them: merged, an
    // object that comes and goes would be no change.
    let every = HandlerOptions::named("until_with_sync").delivery(Delivery::Unbounded);
    let mut changes = informer.subscribe(every)?;
    if precondition(informer.store()) {
        return Ok(None);
    }
    while let Some(change) = changes.next().await {
        if condition(&change) {
            return Ok(Some(change));
        }
    }
    Err(Stopped)
}
