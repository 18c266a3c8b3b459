//! Listers: typed, read-only views of a store.

use crate::object::{CachedObject, ObjectKey};
use crate::selector::LabelSelector;
use crate::store::Indexer;

/// Reads the objects of an informer's store by name, namespace and label.
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::Pod;
/// # fn example(informer: kube_informer::SharedInformer<Pod>) -> Result<(), kube_informer::lister::NotFound> {
/// let pods = informer.lister();
/// let pod = pods.namespace("shop").get("web-0")?;
/// let everywhere = pods.list();
/// # Ok(())
/// # }
/// ```
pub struct Lister<O: CachedObject> {
    resource: String,
    store: Indexer<O::Handle>,
}

impl<O: CachedObject> Clone for Lister<O> {
    fn clone(&self) -> Self {
        Self {
            resource: self.resource.clone(),
            store: self.store.clone(),
        }
    }
}

/// There is no such object in the store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{resource} {key:?} not found")]
pub struct NotFound {
    /// The resource of the store.
    pub resource: String,
    /// The key that was requested.
    pub key: ObjectKey,
}

impl<O: CachedObject> Lister<O> {
    pub(crate) fn new(resource: String, store: Indexer<O::Handle>) -> Self {
        Self { resource, store }
    }

    /// The object with this key: `namespace/name`, or `name` for a cluster-scoped kind.
    ///
    /// # Errors
    /// The store does not hold it.
    pub fn get(&self, key: &str) -> Result<O::Handle, NotFound> {
        self.store.get(key).ok_or_else(|| NotFound {
            resource: self.resource.clone(),
            key: key.into(),
        })
    }

    /// All objects, in no particular order.
    pub fn list(&self) -> Vec<O::Handle> {
        self.store.list()
    }

    /// The objects whose labels match a selector, in no particular order. Nothing is decoded, and no label is read if
    /// the selector matches everything.
    ///
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # use kube_informer::selector::{LabelSelector, ParseSelectorError};
    /// # fn example(informer: kube_informer::SharedInformer<Pod>) -> Result<(), ParseSelectorError> {
    /// let web = LabelSelector::parse("app=web,tier notin (cache)")?;
    /// let everywhere = informer.lister().select(&web);
    /// let here = informer.lister().namespace("shop").select(&web);
    /// # Ok(())
    /// # }
    /// ```
    pub fn select(&self, selector: &LabelSelector) -> Vec<O::Handle> {
        self.store.select::<O>(None, selector)
    }

    /// The objects of one namespace, or of all if the name is empty, as in client-go.
    pub fn namespace<'l>(&'l self, namespace: &'l str) -> NamespaceLister<'l, O> {
        NamespaceLister {
            lister: self,
            namespace,
        }
    }
}

/// A [`Lister`] of one namespace.
#[derive(Clone, Copy)]
pub struct NamespaceLister<'l, O: CachedObject> {
    lister: &'l Lister<O>,
    namespace: &'l str,
}

impl<O: CachedObject> NamespaceLister<'_, O> {
    /// The object of this name. In the empty namespace, only objects without a namespace are found by their name.
    ///
    /// # Errors
    /// The store does not hold it.
    pub fn get(&self, name: &str) -> Result<O::Handle, NotFound> {
        self.lister.get(&ObjectKey::new(Some(self.namespace), name))
    }

    /// The objects of the namespace whose labels match a selector; see [`Lister::select`].
    pub fn select(&self, selector: &LabelSelector) -> Vec<O::Handle> {
        self.lister.store.select::<O>(Some(self.namespace), selector)
    }

    /// All objects of the namespace, in no particular order.
    pub fn list(&self) -> Vec<O::Handle> {
        self.lister.store.list_namespace(self.namespace)
    }
}
