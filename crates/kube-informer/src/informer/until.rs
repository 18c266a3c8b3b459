//! Waiting for a condition on a collection.

use super::{Delivery, HandlerOptions, Notification, SharedInformer, Stopped};
use crate::object::CachedObject;
use crate::store::Indexer;
use futures::StreamExt;

/// Waits until the informer has synced, then until a change meets the condition, and returns that change. Initial adds
/// count as changes, so `condition` is told of every object that exists already.
///
/// `precondition` looks at the synced store, once. If it holds, there is nothing to wait for: the answer is `None`. It
/// sees what `condition` would take many changes to find out, such as that an object does *not* exist.
///
/// Unlike [`until`](crate::watcher::until), this recovers from whatever an informer recovers from. The informer must
/// run. For a time limit use [`tokio::time::timeout`].
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
/// Nothing is left behind, and the next call begins with the state that the store has then.
#[doc(alias = "UntilWithSync")]
pub async fn until_with_sync<O: CachedObject>(
    informer: &SharedInformer<O>,
    precondition: impl FnOnce(&Indexer<O::Handle>) -> bool,
    mut condition: impl FnMut(&Notification<O>) -> bool,
) -> Result<Option<Notification<O>>, Stopped> {
    informer.synced().await?;
    // Before the precondition is looked at, so that no change is missed in between.
    // All of them: merged, an object that comes and goes would be no change.
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
