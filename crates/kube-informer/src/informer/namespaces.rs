//! Sets of namespaces that informers follow.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::watch;

/// A set of namespaces that can change while informers watch them.
///
/// Any number of informers, of any kinds, can be [over one set](super::SharedInformer::over_namespaces): each watches
/// every namespace in it, and follows when one is added or removed. A clone is the same set, and only that one is equal to
/// it.
///
/// An empty name is all namespaces, as in client-go: while it is in the set, informers watch all namespaces in one watch,
/// whatever else is in the set. A name that no namespace can have is never asked for; informers over the set do not sync
/// while it is there, and say so (see [`Selection::validate`](crate::source::Selection::validate)).
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
    /// Tells sets from each other.
    id: u64,
    names: Arc<watch::Sender<BTreeSet<String>>>,
}

impl NamespaceSet {
    /// A set that starts with these namespaces. An empty one selects nothing.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NUMBER.fetch_add(1, Ordering::Relaxed),
            names: Arc::new(watch::Sender::new(set_of(names))),
        }
    }

    /// Adds a namespace, and says whether it is new. The informers over the set list it and watch it from now on.
    pub fn add(&self, namespace: impl Into<String>) -> bool {
        let namespace = namespace.into();
        self.names.send_if_modified(|names| names.insert(namespace))
    }

    /// Removes a namespace, and says whether it was there. The informers over the set end its watch, and delete its
    /// objects from their stores ([`DeleteCause::Unselected`](crate::DeleteCause::Unselected)).
    pub fn remove(&self, namespace: &str) -> bool {
        self.names.send_if_modified(|names| names.remove(namespace))
    }

    /// Makes the set consist of exactly these namespaces. What stays in it is not listed again.
    pub fn replace(&self, names: impl IntoIterator<Item = impl Into<String>>) {
        let new = set_of(names);
        self.names.send_if_modified(|names| {
            let changed = *names != new;
            *names = new;
            changed
        });
    }

    /// Whether this very name is in the set.
    pub fn contains(&self, namespace: &str) -> bool {
        self.names.borrow().contains(namespace)
    }

    /// The namespaces, sorted.
    pub fn names(&self) -> Vec<String> {
        self.names.borrow().iter().cloned().collect()
    }

    /// The set as it changes.
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

/// A new set, without any namespace.
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
