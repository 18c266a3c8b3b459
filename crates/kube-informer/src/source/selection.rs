//! Which objects of a resource are wanted.

use super::path::{InvalidName, check_namespace};
use crate::selector::ShardSelector;

/// Selects objects of a resource.
///
/// An empty string means no restriction, as in client-go: an empty namespace selects all namespaces.
///
/// ```
/// use kube_informer::source::Selection;
///
/// let selection = Selection { namespace: Some("shop".into()), label_selector: Some("app=web".into()), ..Default::default() };
/// assert_eq!(selection.field_selector, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// Selects only this namespace, a DNS label. `None` or empty: all namespaces, or a cluster-scoped resource.
    pub namespace: Option<String>,
    /// A label selector in the API's syntax.
    pub label_selector: Option<String>,
    /// A field selector in the API's syntax.
    pub field_selector: Option<String>,
    /// Selects only the objects of these shards (KEP-5866). A server that has no shards, or none of this kind, sends all objects;
    /// a [`ClientSource`](super::ClientSource) leaves the others out. If there are more than 64 ranges, it asks for what is between the closest
    /// ones, too, and leaves that out: else the URL would be too long for some proxies. `None`: all shards.
    pub shards: Option<ShardSelector>,
}

impl Selection {
    /// Validates what can be validated without a server: that the namespace is a DNS label (RFC 1123) or absent.
    ///
    /// A [`ClientSource`](super::ClientSource) calls this before each request. It sends no request for an invalid namespace; the error has
    /// the class [`Invalid`](super::ErrorClass::Invalid).
    ///
    /// # Errors
    /// The namespace is not a valid name.
    pub fn validate(&self) -> Result<(), InvalidName> {
        self.in_namespace().map_or(Ok(()), check_namespace)
    }

    /// The namespace, if the selection is limited to one.
    pub(super) fn in_namespace(&self) -> Option<&str> {
        self.namespace
            .as_deref()
            .filter(|namespace| !namespace.is_empty())
    }
}
