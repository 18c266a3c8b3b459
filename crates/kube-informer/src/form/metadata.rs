//! Metadata of projections.

use crate::object::{ObjectKey, ResourceVersion};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The metadata of an object that an informer needs, for projections.
///
/// ```
/// use kube_informer::{CachedObject, form::Metadata};
/// use serde::Deserialize;
///
/// /// The few fields of a pod that a scheduler looks at.
/// #[derive(Debug, Deserialize, CachedObject)]
/// struct PodView {
///     metadata: Metadata,
///     spec: Spec,
/// }
///
/// #[derive(Debug, Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Spec {
///     node_name: Option<String>,
/// }
///
/// # fn example(source: impl kube_informer::source::ListerWatcher<PodView>) {
/// let (pods, runner) = kube_informer::SharedInformer::<PodView>::builder(source).build();
/// let by_node = pods.store().add_index("by-node", |pod| pod.spec.node_name.clone());
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Metadata {
    /// The object's name.
    pub name: String,
    /// The object's namespace; `None` for cluster-scoped kinds.
    pub namespace: Option<String>,
    /// The object's unique id.
    pub uid: Option<String>,
    /// The version of this state of the object.
    pub resource_version: Option<String>,
    /// The object's labels.
    pub labels: Option<BTreeMap<String, String>>,
}

/// Implemented by the type of the metadata field of a struct that [derives
/// `CachedObject`](macro@crate::CachedObject).
pub trait HasMetadata {
    /// The object's name; empty if it has none.
    fn name(&self) -> &str;

    /// The object's namespace; `None` for cluster-scoped kinds.
    fn namespace(&self) -> Option<&str>;

    /// The object's unique id.
    fn uid(&self) -> Option<&str>;

    /// The version of this state of the object.
    fn resource_version(&self) -> Option<&str>;

    /// The value of one label.
    fn label(&self, name: &str) -> Option<&str>;

    /// Calls `each` with the name and value of every label, and returns whether every label was visited; see
    /// [`CachedObject::visit_labels`](crate::CachedObject::visit_labels). The default returns false.
    fn visit_labels(&self, _each: &mut dyn FnMut(&str, &str)) -> bool {
        false
    }

    /// Sets the fields that identify an object and its state, and returns whether they were set; see
    /// [`CachedObject::set_identity`](crate::CachedObject::set_identity). The default returns false.
    fn set_identity(
        &mut self,
        _key: &ObjectKey,
        _uid: Option<&str>,
        _resource_version: Option<&ResourceVersion>,
    ) -> bool {
        false
    }
}

impl HasMetadata for Metadata {
    fn name(&self) -> &str {
        &self.name
    }

    fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    fn uid(&self) -> Option<&str> {
        self.uid.as_deref()
    }

    fn resource_version(&self) -> Option<&str> {
        self.resource_version.as_deref()
    }

    fn label(&self, name: &str) -> Option<&str> {
        self.labels.as_ref()?.get(name).map(String::as_str)
    }

    fn visit_labels(&self, each: &mut dyn FnMut(&str, &str)) -> bool {
        let labels = self.labels.iter().flatten();
        labels.for_each(|(name, value)| each(name, value));
        true
    }

    fn set_identity(
        &mut self,
        key: &ObjectKey,
        uid: Option<&str>,
        resource_version: Option<&ResourceVersion>,
    ) -> bool {
        self.name = key.name().to_owned();
        self.namespace = key.namespace().map(str::to_owned);
        self.uid = uid.map(str::to_owned);
        self.resource_version = resource_version.map(ToString::to_string);
        true
    }
}

impl HasMetadata for kube::core::ObjectMeta {
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    fn uid(&self) -> Option<&str> {
        self.uid.as_deref()
    }

    fn resource_version(&self) -> Option<&str> {
        self.resource_version.as_deref()
    }

    fn label(&self, name: &str) -> Option<&str> {
        self.labels.as_ref()?.get(name).map(String::as_str)
    }

    fn visit_labels(&self, each: &mut dyn FnMut(&str, &str)) -> bool {
        let labels = self.labels.iter().flatten();
        labels.for_each(|(name, value)| each(name, value));
        true
    }

    fn set_identity(
        &mut self,
        key: &ObjectKey,
        uid: Option<&str>,
        resource_version: Option<&ResourceVersion>,
    ) -> bool {
        self.name = Some(key.name().to_owned());
        self.namespace = key.namespace().map(str::to_owned);
        self.uid = uid.map(str::to_owned);
        self.resource_version = resource_version.map(ToString::to_string);
        true
    }
}
