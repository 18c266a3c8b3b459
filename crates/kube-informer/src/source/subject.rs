//! The subject of a source, for spans, logs and metrics.

use super::ListerWatcher;
use crate::metrics::Labels;
use crate::object::{CachedObject, ResourceVersion};
use kube::core::TypeMeta;
use tracing::field::{Empty, display};
use tracing::{Span, debug_span};

/// The resource, kind and namespace of a source's objects. Spans created here contain no object content.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    /// `pods`, `deployments.apps`.
    pub(crate) resource: String,
    /// The kind of the objects; the resource if the source does not report it.
    kind: String,
    namespace: Option<String>,
    types: Option<TypeMeta>,
}

impl Subject {
    pub(crate) fn of<O: CachedObject>(source: &dyn ListerWatcher<O>) -> Self {
        Self::new(source.resource(), source.type_meta(), source.namespace())
    }

    pub(crate) fn new(resource: String, types: Option<TypeMeta>, namespace: Option<String>) -> Self {
        Self {
            kind: types
                .as_ref()
                .map_or_else(|| resource.clone(), |types| types.kind.clone()),
            namespace,
            resource,
            types,
        }
    }

    /// The namespace of all objects, if the source reports it.
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The labels of metrics of a reflector or informer of this name.
    pub(crate) fn labels(&self, name: &str) -> Labels {
        Labels::new(name, &self.resource, self.types.as_ref())
    }

    /// The span of a list or streaming list. Its version is [recorded](Self::record_version) when it is known.
    pub(crate) fn list_span(&self, streaming: bool) -> Span {
        let (kind, namespace) = (&*self.kind, self.namespace.as_deref());
        debug_span!("list", kind, namespace, streaming, resource_version = Empty)
    }

    pub(crate) fn record_version(span: &Span, version: Option<&ResourceVersion>) {
        if let Some(version) = version {
            span.record("resource_version", display(version));
        }
    }

    /// The span of a watch, from its request to its end; `from` is its start version.
    pub(crate) fn watch_span(&self, from: Option<&ResourceVersion>) -> Span {
        let (kind, namespace) = (&*self.kind, self.namespace.as_deref());
        debug_span!("watch", kind, namespace, resource_version = from.map(display))
    }

    /// The span of the application of a batch; `to` is the version that is reached with it.
    pub(crate) fn apply_span(&self, to: Option<&ResourceVersion>) -> Span {
        let (kind, namespace) = (&*self.kind, self.namespace.as_deref());
        debug_span!("apply", kind, namespace, resource_version = to.map(display))
    }
}
