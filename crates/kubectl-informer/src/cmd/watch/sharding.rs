//! A share of the objects: the membership in a shard group.

use crate::args::ShardArgs;
use crate::failure::Usage;
use crate::target::Target;
use anyhow::Context as _;
use kube_controller::leader_election::unique_identity;
use kube_controller::shard_group::{ShardGroup, ShardGroupConfig, ShardGroupError};
use kube_informer::ShardSet;
use kube_informer::selector::HashRange;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The membership while it lasts.
pub(super) struct Sharding {
    pub(super) shards: ShardSet,
    changes: watch::Receiver<BTreeSet<u16>>,
    /// `None` once it has left.
    running: Option<JoinHandle<Result<(), ShardGroupError>>>,
}

impl Sharding {
    /// Joins a group, in the cluster of a target. It leaves when the token is cancelled, and hands the shards over within this time.
    ///
    /// # Errors
    /// The name is not valid.
    pub(super) fn join(
        group: &str,
        args: &ShardArgs,
        target: &Target,
        stop: CancellationToken,
        leaving: Duration,
    ) -> anyhow::Result<Self> {
        let connection = &target.connection;
        let namespace = args.shard_namespace.as_ref();
        let namespace = namespace.unwrap_or(&connection.default_namespace);
        let identity = args.shard_identity.clone().unwrap_or_else(unique_identity);
        let config = ShardGroupConfig {
            graceful_shutdown_timeout: leaving,
            ..ShardGroupConfig::new(namespace, group, identity)
        };
        let mut group = ShardGroup::new(connection.client.clone(), config)
            .map_err(|error| Usage(format!("--shard-group: {error}")))?;
        let shards = group.shards().clone();
        let changes = shards.subscribe();
        let running = tokio::spawn(async move { group.run(stop).await });
        Ok(Self {
            shards,
            changes,
            running: Some(running),
        })
    }

    /// Waits until there are other shards, and returns their ranges. Cancel safe.
    ///
    /// # Errors
    /// The group cannot be joined.
    pub(super) async fn changed(&mut self) -> anyhow::Result<Vec<HashRange>> {
        let left = async {
            match &mut self.running {
                Some(running) => running.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Ok(()) = self.changes.changed() => Ok(self.shards.ranges()),
            left = left => {
                self.running = None;
                left?.context("--shard-group")?;
                // It has left because the program ends.
                std::future::pending().await
            }
        }
    }

    /// Waits until the shards are handed over.
    pub(super) async fn left(self) -> anyhow::Result<()> {
        match self.running {
            Some(running) => running.await?.context("--shard-group"),
            None => Ok(()),
        }
    }
}
