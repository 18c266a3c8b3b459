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
/// every namespace in it, and follows when one is added or removed. An empty name is no namespace, and never in a set. A
/// clone is the same set, and only that one is equal to it.
///
/// ```
/// use kube_informer::NamespaceSet;
///
/// let tenants = NamespaceSet::new(["shop", "bank"]);
/// assert!(tenants.add("games"));
/// assert!(tenants.remove("bank"));
/// assert!(!tenants.remove("bank"), "it is gone already");
/// assert!(!tenants.add(""), "that is no namespace");
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
        !namespace.is_empty() && self.names.send_if_modified(|names| names.insert(namespace))
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

    /// Whether a namespace is in the set.
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
    let names = names.into_iter().map(Into::into);
    names.filter(|name: &String| !name.is_empty()).collect()
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
