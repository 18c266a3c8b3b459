//! Reading one's own writes: a reconcile that finds in the caches what the one before it wrote.
//!
//! A cache is behind the server. A controller that creates a child and reconciles again, for whatever reason,
//! does not find the child in its cache yet, and creates another one. And when the cache has caught up, the
//! child's arrival reconciles once more, for nothing. [`OwnWrites`] mends both, without any bookkeeping in
//! the reconcile:
//!
//! ```no_run
//! # use k8s_openapi::api::core::v1::{ConfigMap, Secret};
//! # use kube_controller::own_writes::{OwnWrites, ReconcileKey};
//! # use kube_informer::{ObjectKey, SharedInformerFactory};
//! # use std::time::Duration;
//! # async fn reconcile(client: kube::Client, key: ObjectKey) {}
//! # async fn example(client: kube::Client, factory: SharedInformerFactory, key: ObjectKey) {
//! let writes = OwnWrites::new();
//! let maps = writes.track(&factory.informer::<ConfigMap>()); // the caches that reconciles read
//! let secrets = writes.track(&factory.informer::<Secret>());
//! let client = writes.client(client); // the client that they write with
//!
//! // For each key:
//! let run = ReconcileKey::new("tokens", key.clone());
//! if let Err(behind) = writes.wait(&run, Duration::from_secs(10)).await {
//!     println!("{behind}"); // reconcile later
//! }
//! writes.scope(&run, reconcile(client, key)).await;
//! # }
//! ```
//!
//! # Which of the three to use
//! - [`Controller::read_your_writes`](crate::Controller::read_your_writes), for a
//!   [`Controller`](crate::Controller): it does all of the above by itself. The reconciler only has to write
//!   with [`writes.client()`](OwnWrites::client).
//! - [`OwnWrites`], for a loop of your own around a work queue, and whenever several controllers or clients
//!   of a process write what several caches hold: the client notes each write, so none is forgotten, and
//!   echoes do not reconcile. Several controllers share one.
//! - [`WriteTracker`](kube_informer::informer::WriteTracker) of `kube-informer`, for one informer, without
//!   this crate: the program records the version of each write itself, and echoes are told like any change.
//!
//! # What is noted
//! The client notes the answer to every create, update, patch and deletion of a kind that one of the caches
//! holds: its key, its uid, its resource version. A write that is made while a [`scope`](OwnWrites::scope) is
//! polled is one of that key, and the next reconcile of that key [waits](OwnWrites::wait) for it. A write
//! from elsewhere, such as a task that was spawned, holds up every reconcile.
//!
//! Of a deleted collection, objects with finalizers and pods are not waited for: the server does not say
//! whether they are gone or only marked, nor at which version. Neither are writes whose answer did not
//! arrive, evictions, and writes by other clients. What a cache does not select is waited for like everything
//! else, until the cache has seen anything that is later: see to it that the wait is bounded.
//!
//! # Which changes are echoes
//! [`TrackedInformer::unless_own`] tells changes that a reconcile made itself from those that others made. A
//! change is an echo for the key whose scope wrote it, and a change for every other key. It is judged by uid
//! and version; what was changed along with it, unseen, is never taken for an echo: after a relist, a change
//! is an echo only if nothing else can have happened to the object in between.
//!
//! A write that changes nothing is answered with the version that another writer made. So only an answer that
//! proves that the request made this version leads to an echo: that of a creation, of a deletion after which
//! the object is gone, and of an update or a patch that carried another [resource
//! version](https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions) than the answer.
//! Other writes, such as a patch without `metadata.resourceVersion`, are waited for, and their changes are
//! told like those of others. So is a deletion that only marks the object, since the cleanup is still to
//! come. Writes in [`with_echo`] are no echoes.
//!
//! # Memory
//! A write is forgotten when the cache has seen it. At most 4096 echoes are remembered per cache; beyond that
//! all are forgotten, and their changes reconcile.

mod answer;
mod client;
mod state;
mod tracked_informer;

pub use tracked_informer::TrackedInformer;

use crate::time::after;
use kube::Client;
use kube_informer::{CachedObject, ObjectKey, SharedInformer};
use state::State;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Notes the writes of a process; see the [module](self). Clones are the same.
#[derive(Clone, Default)]
pub struct OwnWrites {
    state: Arc<Mutex<State>>,
}

/// One object of one controller: what a reconcile is about.
///
/// ```
/// use kube_controller::own_writes::ReconcileKey;
/// let key = ReconcileKey::new("tokens", "shop/web");
/// assert_ne!(key, ReconcileKey::new("quotas", "shop/web"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReconcileKey {
    controller: Arc<str>,
    key: ObjectKey,
}

impl ReconcileKey {
    /// The object `key` of a controller of this name.
    pub fn new(controller: impl Into<Arc<str>>, key: impl Into<ObjectKey>) -> Self {
        Self {
            controller: controller.into(),
            key: key.into(),
        }
    }
}

impl std::fmt::Display for ReconcileKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.controller, self.key)
    }
}

/// A cache has not seen a write in time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the cache of {resource} has not seen the own write of {object} within {timeout:?}")]
pub struct NotCaughtUp {
    /// The cache's resource, such as `deployments.apps`.
    pub resource: String,
    /// The object that was written.
    pub object: ObjectKey,
    /// How long it was waited for.
    pub timeout: Duration,
}

tokio::task_local! {
    /// Whose reconcile this is.
    static RUN: ReconcileKey;
    /// Whether writes count as changes.
    static ECHO: ();
}

impl OwnWrites {
    /// Knows no cache and no write.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells of a cache that reconciles read. Writes of what it does not hold are not noted, so tell of each
    /// before the first write. The informer counts as used from now on.
    pub fn track<O: CachedObject>(&self, informer: &SharedInformer<O>) -> TrackedInformer {
        TrackedInformer::add(self, informer)
    }

    /// A client whose writes are noted. It sends them through `client`.
    ///
    /// The answers to writes of known kinds are read as a whole before they are passed on.
    pub fn client(&self, client: Client) -> Client {
        client::noting(self.clone(), client)
    }

    /// Runs the reconcile of a key: the next one of this key waits for what it writes.
    ///
    /// A key must not have two scopes at the same time.
    ///
    /// # Cancel safety
    /// If it is dropped, so is the reconcile. A request that was under way then is not noted, as its answer
    /// is not known.
    pub async fn scope<F: Future>(&self, run: &ReconcileKey, reconcile: F) -> F::Output {
        self.lock().begin(run);
        let _ends = EndsOnDrop(self, run);
        RUN.scope(run.clone(), reconcile).await
    }

    /// Whether the caches have seen everything that was written for this key.
    pub fn caught_up(&self, run: &ReconcileKey) -> bool {
        self.lock().unseen(run).is_empty()
    }

    /// Waits until the caches have seen everything that was written for this key until now.
    ///
    /// # Errors
    /// That took longer than `timeout`. To reconcile now means to act on an old state. The next time, the
    /// writes are waited for again.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait(&self, run: &ReconcileKey, timeout: Duration) -> Result<(), NotCaughtUp> {
        let unseen = self.lock().unseen(run);
        let deadline = after(Instant::now(), timeout);
        for (cache, object) in unseen {
            if tokio::time::timeout_at(deadline, cache.wait(&object))
                .await
                .is_err()
            {
                return Err(NotCaughtUp {
                    resource: cache.resource().to_owned(),
                    object,
                    timeout,
                });
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a scope, also if its reconcile is dropped or panics.
struct EndsOnDrop<'a>(&'a OwnWrites, &'a ReconcileKey);

impl Drop for EndsOnDrop<'_> {
    fn drop(&mut self) {
        let changes = self.0.lock().end(self.1);
        // Not under the lock: these are the controller's.
        changes.into_iter().for_each(|enqueue| enqueue());
    }
}

/// Runs `writes` so that their changes are not taken for echoes: they lead to another reconcile, like changes
/// by others. It is for writes after which the reconcile must run again.
///
/// [`finalizer`](crate::finalizer::finalizer()) adds a finalizer in this way.
///
/// # Cancel safety
/// Dropping the future drops `writes`.
pub async fn with_echo<F: Future>(writes: F) -> F::Output {
    ECHO.scope((), writes).await
}

impl std::fmt::Debug for OwnWrites {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnWrites").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
