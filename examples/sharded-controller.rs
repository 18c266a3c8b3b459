//! A controller whose replicas share the work: each reconciles the Deployments whose uid has a hash in its shards. Start it several
//! times; no Deployment is reconciled by two of them.
//!
//! `kube_controller::shard_group` documents the same with a `Manager`.
//!
//! Its ReplicaSets follow the Deployment's shard: a change of a ReplicaSet leads to its owner, which only one replica has.

use futures::StreamExt;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use kube::core::ApiResource;
use kube::{Api, ResourceExt};
use kube_controller::controller::{Action, Controller};
use kube_controller::leader_election::unique_identity;
use kube_controller::shard_group::{ShardGroup, ShardGroupConfig};
use kube_controller::watcher;
use kube_informer::SharedInformer;
use kube_informer::source::{ClientSource, Selection};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long the last reconciles may take.
const GRACE: Duration = Duration::from_secs(20);

#[allow(clippy::print_stdout)] // an example talks
async fn reconcile(deployment: Arc<Deployment>, _: Arc<()>) -> Result<Action, Infallible> {
    println!("reconciling {}", deployment.name_any());
    Ok(Action::await_change())
}

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
async fn main() -> anyhow::Result<()> {
    let client = kube::Client::try_default().await?;
    let config = ShardGroupConfig::new("default", "sharded-controller-example", unique_identity());
    let mut group = ShardGroup::new(client.clone(), config)?;
    let source = ClientSource::new(
        client.clone(),
        ApiResource::erase::<Deployment>(&()),
        Selection::default(),
    );
    let (deployments, runner) = SharedInformer::<Deployment>::over_shards(source, group.shards()).build();

    let shutdown = CancellationToken::new();
    let informing = tokio::spawn(runner.run(shutdown.clone()));
    let (retiring, leaving) = (CancellationToken::new(), CancellationToken::new());
    group.retire_on(retiring.clone());
    let membership = tokio::spawn({
        let leaving = leaving.clone();
        async move { group.run(leaving).await }
    });
    let controller = Controller::for_informer(&deployments)
        .owns(Api::<ReplicaSet>::all(client), watcher::Config::default())
        .graceful_shutdown_on({
            let retiring = retiring.clone();
            async move {
                let _ = terminated().await;
                // It takes no more shards while its last reconciles end.
                retiring.cancel();
            }
        })
        .run(reconcile, |_, error, _| match *error {}, Arc::new(()));
    let too_long = async {
        retiring.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        () = controller.for_each(|_| async {}) => {}
        // Others wait for the shards, so what still runs is dropped.
        () = too_long => {}
    }

    // Nothing is running any more, so the shards can go to others.
    shutdown.cancel();
    informing.await??;
    leaving.cancel();
    membership.await??;
    Ok(())
}
