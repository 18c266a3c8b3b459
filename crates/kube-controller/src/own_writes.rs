//! Read your own writes: a reconcile sees in the caches what the previous one wrote.
//!
//! A cache lags behind the server. If a controller creates a child and reconciles again at once, it may not
//! find the child in its cache, and create another one. And when the child arrives in the cache, this leads
//! to one more reconcile, which has nothing to do. [`OwnWrites`] solves both problems, without any
//! bookkeeping in the reconciler:
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
//! - Use [`Controller::read_your_writes`](crate::Controller::read_your_writes) for a
//!   [`Controller`](crate::Controller). It does all of the above by itself; the reconciler only has to write
//!   with [`writes.client()`](OwnWrites::client).
//! - Use [`OwnWrites`] for a loop of your own around a work queue. Several controllers and clients of a
//!   process can share one. The client records each write, so none is forgotten, and changes that are echoes
//!   do not lead to reconciles.
//! - Use [`WriteTracker`](kube_informer::informer::WriteTracker) of `kube-informer` for one informer, without
//!   this crate. The program records the version of each write itself, and echoes are delivered like any
//!   change.
//!
//! # What is recorded
//! The client records the answer to every create, update, patch and deletion of a kind that one of the caches
//! holds: key, uid and resource version. A write belongs to a key if it is made while the
//! [`scope`](OwnWrites::scope) of that key is polled, and the next reconcile of that key
//! [waits](OwnWrites::wait) for it. Every reconcile waits for a write that is made elsewhere, for example in
//! a spawned task.
//!
//! When a collection is deleted, reconciles do not wait for objects with finalizers and for pods: the answer
//! does not say whether they are gone or only marked, nor at which version. They do not wait either for
//! writes whose answer did not arrive, for evictions, for writes by other clients, and for a cache that the server has refused
//! since it was started. If a write concerns an
//! object that the cache does not select, the wait ends when the cache has seen any later version; so give
//! the wait a time limit.
//!
//! # Which changes are echoes
//! An echo is a change that the reconcile of a key has made itself. [`TrackedInformer::unless_own`] tells
//! echoes from other changes. A change is an echo for the key whose scope wrote it, and an ordinary change
//! for every other key. It is recognized by uid and version. If the cache may have missed another change of
//! the object, for example in a relist, the change is not taken for an echo.
//!
//! A write that changes nothing is answered with the version of an earlier write, which may be somebody
//! else's. So only writes that certainly have made the version in the answer lead to echoes: creations,
//! deletions after which the object is gone, and updates and patches that contained another [resource
//! version](https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions) than the answer,
//! as `metadata.resourceVersion`, or as a `test` at the beginning of a JSON patch.
//! Reconciles also wait for other writes, such as a patch without a version, but the changes
//! of these are delivered like those of others. So an [`apply`](crate::controllerutil::apply) that changes an
//! object leads to one more reconcile, which applies the same and changes nothing, unless the applied object
//! names the version of the one that is replaced.
//! [`patch_status`](crate::controllerutil::patch_status) does so by itself. The same holds for a deletion that only marks the object,
//! because the cleanup is still to come, and for writes in [`with_echo`].
//!
//! # Memory
//! A write is forgotten when the cache has seen it. At most 4096 echoes are remembered per cache; beyond that
//! all are forgotten, and their changes reconcile. A cache is forgotten some time after it has stopped, and those of a
//! controller when the controller ends.

mod answer;
mod client;
mod state;
mod tracked_informer;

pub use tracked_informer::TrackedInformer;
pub(crate) use tracked_informer::TrackedUntilDrop;

use crate::time::after;
use kube::Client;
use kube_informer::{CachedObject, ObjectKey, SharedInformer};
use state::State;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tracked_informer::AnyCache;

/// Records the writes of a process; see the [module](self). Clones are handles to the same records.
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

    /// A client whose writes are recorded. It sends them through `client`.
    ///
    /// It reads the whole answer to a write of a tracked kind before it returns it.
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
        !self.lock().is_behind(run)
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
        let (unseen, mut others) = {
            let mut state = self.lock();
            (state.unseen(run), state.others())
        };
        let deadline = after(Instant::now(), timeout);
        let wait = async |cache: Arc<dyn AnyCache>, object: ObjectKey| {
            let seen = tokio::time::timeout_at(deadline, cache.wait(&object)).await;
            seen.map_err(|_| NotCaughtUp {
                resource: cache.resource().to_owned(),
                object,
                timeout,
            })
        };
        for (cache, object) in unseen {
            wait(cache, object).await?;
        }
        // One by one, because others may have written much, and many may wait for it.
        loop {
            let next = self.lock().unseen_of_others(others);
            let Some((cache, object, rest)) = next else {
                return Ok(());
            };
            wait(cache, object).await?;
            others = rest;
        }
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
