//! One informer of a factory: its users, and how long it runs.

use super::SharedInformerFactory;
use super::request::Key;
use crate::form::Decode;
use crate::informer::{InformerRunner, InformerStatus, RunError, SharedInformer, Unsynced, short_name};
use crate::store::Lease;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// An informer that was requested.
pub(super) struct SharedEntry {
    /// Distinguishes it from earlier and later informers of the same key.
    pub(super) number: u64,
    /// A `SharedInformer` of the key's form; it does not count as a user.
    typed: Box<dyn Any + Send + Sync>,
    pub(super) informer: Arc<dyn AnyInformer>,
    /// The number of leases.
    users: Arc<watch::Sender<usize>>,
    /// Runs the informer; taken when the factory is started.
    pub(super) runner: Option<Run>,
    /// The reason, if it failed.
    pub(super) failure: Option<RunError>,
}

pub(super) type Run = Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, Result<(), RunError>> + Send>;

/// An informer of any form.
pub(super) trait AnyInformer: Send + Sync {
    fn resource(&self) -> &str;
    /// The name of its form.
    fn form(&self) -> String;
    fn has_synced(&self) -> bool;
    /// Ends when it has synced or stopped.
    fn synced(&self) -> BoxFuture<'_, ()>;
    /// The parts that have not synced, and why, as far as is known.
    fn unsynced(&self) -> Vec<Unsynced>;
    fn status(&self) -> InformerStatus;
}

impl<O: Decode> AnyInformer for SharedInformer<O> {
    fn resource(&self) -> &str {
        SharedInformer::resource(self)
    }

    fn form(&self) -> String {
        short_name::<O>()
    }

    fn has_synced(&self) -> bool {
        SharedInformer::has_synced(self)
    }

    fn synced(&self) -> BoxFuture<'_, ()> {
        SharedInformer::synced(self).map(drop).boxed()
    }

    fn unsynced(&self) -> Vec<Unsynced> {
        SharedInformer::unsynced(self)
    }

    fn status(&self) -> InformerStatus {
        SharedInformer::status(self)
    }
}

/// One informer of a factory, as [`informers`](SharedInformerFactory::informers) shows it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InformerInfo {
    /// The resource: `pods`, `deployments.apps`.
    pub resource: String,
    /// Its status.
    pub status: InformerStatus,
    /// Why it has ended, if it failed.
    pub failure: Option<RunError>,
}

impl SharedEntry {
    pub(super) fn new<O: Decode>(
        number: u64,
        informer: SharedInformer<O>,
        runner: InformerRunner<O>,
    ) -> Self {
        Self {
            number,
            informer: Arc::new(informer.clone()),
            typed: Box::new(informer),
            users: Arc::default(),
            runner: Some(Box::new(|stop| runner.run(stop).boxed())),
            failure: None,
        }
    }

    /// A handle for a new user.
    ///
    /// Call it only under the factory's lock, under which unused informers are removed.
    pub(super) fn handle<O: Decode>(&self, resync: Duration) -> Option<SharedInformer<O>> {
        let informer: &SharedInformer<O> = self.typed.downcast_ref()?;
        self.users.send_modify(|users| *users += 1);
        let lease = Lease::new(User(self.users.clone()));
        Some(informer.handle(lease, resync))
    }

    pub(super) fn users(&self) -> Arc<watch::Sender<usize>> {
        self.users.clone()
    }
}

/// Counts as one user until it is dropped.
struct User(Arc<watch::Sender<usize>>);

impl Drop for User {
    fn drop(&mut self) {
        self.0.send_modify(|users| *users -= 1);
    }
}

/// Runs an informer until the factory is shut down, it fails, or it had no users for a grace period.
pub(super) async fn run_while_used(
    factory: SharedInformerFactory,
    key: Key,
    number: u64,
    run: Run,
    users: Arc<watch::Sender<usize>>,
) {
    // The sender is alive, so waiting does not end because it was dropped.
    let mut used = users.subscribe();
    let stop = factory.shared.stop.child_token();
    let mut running = run(stop.clone());
    let unused = async {
        while !unused_for(&mut used, factory.shared.grace).await || !factory.retire(&key, number, &used) {}
    };
    let result = tokio::select! {
        biased;
        result = &mut running => result,
        () = unused => {
            stop.cancel();
            running.await
        }
    };
    if let Err(error) = result {
        factory.note_failure(&key, number, error);
    }
}

/// Waits until there are no users, and then for the grace period. Returns whether there were none all that time; a user
/// who came and went counts.
async fn unused_for(users: &mut watch::Receiver<usize>, grace: Duration) -> bool {
    let _ = users.wait_for(|users| *users == 0).await;
    tokio::time::timeout(grace, users.changed()).await.is_err()
}
