//! A handler that comes late is told what exists, then every change: nothing is missed, nothing comes twice.

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube_informer::{CachedObject, Notification, SharedInformerFactory};
use std::collections::HashSet;
use std::time::Duration;

#[allow(clippy::print_stdout)] // an example talks
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let factory = SharedInformerFactory::new(kube::Client::try_default().await?);
    let pods = factory.informer::<Pod>();
    factory.start();
    factory.wait_for_sync(Duration::from_secs(30)).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;

    // The informer has been running for a while. The same notifications as a stream:
    let mut known = HashSet::new();
    let mut changes = pods.subscribe("late")?;
    let until = tokio::time::sleep(Duration::from_secs(10));
    tokio::pin!(until);
    loop {
        tokio::select! {
            Some(change) = changes.next() => match change {
                Notification::Add { object, .. } => assert!(known.insert(Pod::key_of(&object)), "nothing comes twice"),
                Notification::Update { new, .. } => assert!(known.contains(&Pod::key_of(&new))),
                Notification::Delete(deleted) => assert!(known.remove(&deleted.key)),
            },
            () = &mut until => break,
        }
    }
    println!(
        "{} pods known to the handler, {} in the store",
        known.len(),
        pods.store().len()
    );
    factory.shutdown().await?;
    Ok(())
}
