//! Sets of namespaces that informers watch.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::watch;

/// A set of namespaces that can change while informers watch it.
///
/// Any number of informers, of any kinds, can be [over one set](super::SharedInformer::over_namespaces): each watches
/// every namespace in it and follows additions and removals. A clone is a handle to the same set; sets are equal only
/// if they are the same set.
///
/// An empty name means all namespaces, as in client-go: while it is in the set, informers watch all namespaces in one
/// watch, whatever else is in the set. An invalid name is never requested from the server; informers over the set do
/// not sync while it is in the set, and report this in their status (see
/// [`Selection::validate`](crate::source::Selection::validate)).
///
/// ```
/// use kube_informer::NamespaceSet;
///
/// let tenants = NamespaceSet::new(["shop", "bank"]);
/// assert!(tenants.add("games"));
/// assert!(tenants.remove("bank"));
/// assert!(!tenants.remove("bank"), "it is gone already");
/// assert_eq!(tenants.names(), ["games", "shop"]);
/// ```
#[derive(Clone)]
pub struct NamespaceSet {
    /// Identifies the set.
    id: u64,
    names: Arc<watch::Sender<BTreeSet<String>>>,
}

impl NamespaceSet {
    /// A set of these namespaces. An empty set selects nothing.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NUMBER.fetch_add(1, Ordering::Relaxed),
            names: Arc::new(watch::Sender::new(set_of(names))),
        }
    }

    /// Adds a namespace, and returns whether it is new. The informers over the set start to list and watch it.
    pub fn add(&self, namespace: impl Into<String>) -> bool {
        let namespace = namespace.into();
        self.names.send_if_modified(|names| names.insert(namespace))
    }

    /// Removes a namespace, and returns whether it was in the set. The informers over the set end its watch and
    /// delete its objects from their stores ([`DeleteCause::Unselected`](crate::DeleteCause::Unselected)).
    pub fn remove(&self, namespace: &str) -> bool {
        self.names.send_if_modified(|names| names.remove(namespace))
    }

    /// Replaces the set by these namespaces. Namespaces that stay in it are not listed again.
    pub fn replace(&self, names: impl IntoIterator<Item = impl Into<String>>) {
        let new = set_of(names);
        self.names.send_if_modified(|names| {
            let changed = *names != new;
            *names = new;
            changed
        });
    }

    /// Whether exactly this name is in the set.
    pub fn contains(&self, namespace: &str) -> bool {
        self.names.borrow().contains(namespace)
    }

    /// The namespaces, sorted.
    pub fn names(&self) -> Vec<String> {
        self.names.borrow().iter().cloned().collect()
    }

    /// A receiver of the set's changes.
    pub(super) fn subscribe(&self) -> watch::Receiver<BTreeSet<String>> {
        self.names.subscribe()
    }
}

fn set_of(names: impl IntoIterator<Item = impl Into<String>>) -> BTreeSet<String> {
    names.into_iter().map(Into::into).collect()
}

impl<S: Into<String>, const N: usize> From<[S; N]> for NamespaceSet {
    fn from(names: [S; N]) -> Self {
        Self::new(names)
    }
}

impl<S: Into<String>> From<Vec<S>> for NamespaceSet {
    fn from(names: Vec<S>) -> Self {
        Self::new(names)
    }
}

impl From<&NamespaceSet> for NamespaceSet {
    fn from(set: &NamespaceSet) -> Self {
        set.clone()
    }
}

/// A new, empty set.
impl Default for NamespaceSet {
    fn default() -> Self {
        Self::new(std::iter::empty::<String>())
    }
}

impl PartialEq for NamespaceSet {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for NamespaceSet {}

impl Hash for NamespaceSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl fmt::Debug for NamespaceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names.borrow().iter()).finish()
    }
}
