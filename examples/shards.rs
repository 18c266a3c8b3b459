//! A process that watches a share of the ConfigMaps of all namespaces, and says which. Start it several times: the processes form a
//! group, and divide the objects by the hash of their uids.
//!
//! Kill one, and the others have its objects after 15 to 17 seconds; end one with Ctrl-C or SIGTERM, and they have them at once.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::ApiResource;
use kube_controller::leader_election::unique_identity;
use kube_controller::shard_group::{ShardGroup, ShardGroupConfig};
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{Notification, SharedInformer};
use tokio_util::sync::CancellationToken;

/// Waits for SIGTERM, which ends a pod, or Ctrl-C.
async fn terminated() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            interrupted = tokio::signal::ctrl_c() => interrupted,
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

#[tokio::main]
#[allow(clippy::print_stdout)] // an example talks
async fn main() -> anyhow::Result<()> {
    let client = kube::Client::try_default().await?;
    let config = ShardGroupConfig::new("default", "shards-example", unique_identity());
    let mut group = ShardGroup::new(client.clone(), config)?;

    // Any number of informers, of any kinds, can be over the group's shards.
    let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default());
    let (informer, runner) = SharedInformer::<ConfigMap>::over_shards(source, group.shards()).build();
    let mut changes = informer.subscribe("print")?;
    let shutdown = CancellationToken::new();
    let informing = tokio::spawn(runner.run(shutdown.clone()));

    let mut ranges = group.shards().subscribe();
    let shards = group.shards().clone();
    let stop = shutdown.clone();
    let membership = tokio::spawn(async move { group.run(stop).await });
    let mut terminated = std::pin::pin!(terminated());
    loop {
        tokio::select! {
            _ = &mut terminated => break,
            Ok(()) = ranges.changed() => {
                println!("{} of {} shards are ours", shards.shards().len(), shards.count());
            }
            Some(change) = changes.next() => match change {
                Notification::Delete(deleted) => println!("- {} ({:?})", deleted.key, deleted.cause),
                change => println!("+ {}", change.key()),
            },
        }
    }
    shutdown.cancel();
    informing.await??;
    membership.await??;
    Ok(())
}
