//! Requests to a factory.

use super::scope::scope_of;
use crate::FieldPlan;
use crate::form::{Decode, StaticResource};
use crate::informer::{InformerBuilder, NamespaceSet, ShardSet, SharedInformer, Transform};
use crate::low_level::wire::Encoding;
use crate::object::CachedObject;
use crate::selector::ShardSelector;
use crate::source::{
    ApiError, ClientSource, ListRequest, ListStream, ListerWatcher, Selection, WatchListSupport,
    WatchRequest, WatchStream,
};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use kube::Resource as _;
use kube::core::discovery::Scope;
use kube::core::{ApiResource, ClusterResourceScope};
use std::any::TypeId;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// Which namespaces an informer covers.
///
/// ```
/// use kube_informer::NamespaceSet;
/// use kube_informer::factory::Namespaces;
///
/// assert_eq!(Namespaces::from(["shop", "bank"]), Namespaces::from(["bank", "shop"]));
/// let tenants = NamespaceSet::new(["shop", "bank"]);
/// assert_ne!(Namespaces::from(&tenants), Namespaces::from(["shop", "bank"]), "the set can change");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Namespaces {
    /// All namespaces, in one watch. Kinds without namespaces always use this.
    #[default]
    All,
    /// These namespaces, each with its own watch. An empty list selects nothing. An empty name selects
    /// [all](Self::All), as in client-go.
    Fixed(BTreeSet<String>),
    /// The namespaces that are in this set at any time, each with its own watch. Requests with the same set
    /// share an informer.
    Set(NamespaceSet),
}

impl Namespaces {
    fn of(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::Fixed(names.into_iter().map(Into::into).collect()).normalized()
    }

    /// The namespace, if there is one and it does not change.
    fn only(&self) -> Option<String> {
        match self {
            Self::Fixed(names) if names.len() == 1 => names.first().cloned(),
            Self::All | Self::Fixed(_) | Self::Set(_) => None,
        }
    }

    /// Replaces a list with an empty name, so that equal selections compare equal.
    fn normalized(self) -> Self {
        match self {
            Self::Fixed(names) if names.contains("") => Self::All,
            other => other,
        }
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Namespaces {
    fn from(names: [S; N]) -> Self {
        Self::of(names)
    }
}

impl<S: Into<String>> From<Vec<S>> for Namespaces {
    fn from(names: Vec<S>) -> Self {
        Self::of(names)
    }
}

impl From<NamespaceSet> for Namespaces {
    fn from(set: NamespaceSet) -> Self {
        Self::Set(set)
    }
}

impl From<&NamespaceSet> for Namespaces {
    fn from(set: &NamespaceSet) -> Self {
        Self::Set(set.clone())
    }
}

/// The selection of requests that do not set their own.
#[derive(Debug, Clone, Default)]
pub(super) struct Defaults {
    pub(super) namespaces: Namespaces,
    pub(super) labels: String,
    pub(super) fields: String,
    pub(super) shards: Shards,
    pub(super) resync: Duration,
    pub(super) encoding: Option<Encoding>,
}

impl Defaults {
    pub(super) fn select(&mut self, selection: Selection) {
        self.namespaces = namespaces_of(selection.namespace);
        self.labels = selection.label_selector.unwrap_or_default();
        self.fields = selection.field_selector.unwrap_or_default();
        if let Some(ranges) = selection.shards {
            self.shards = Shards::Ranges(ranges);
        }
    }
}

/// Which shards of a collection are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) enum Shards {
    #[default]
    All,
    Ranges(ShardSelector),
    /// Those that are in this set at any time.
    Set(ShardSet),
}

fn namespaces_of(namespace: Option<String>) -> Namespaces {
    namespace.map_or(Namespaces::All, |namespace| [namespace].into())
}

/// A request for an informer of a [factory](super::SharedInformerFactory::informer_with). Unset options use
/// the factory's defaults.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_informer::factory::InformerRequest;
/// use std::time::Duration;
///
/// # fn example(factory: kube_informer::SharedInformerFactory) {
/// let web = factory.informer_with(
///     InformerRequest::<Pod>::new()
///         .namespaces(["shop", "bank"])
///         .label_selector("app=web")
///         .resync(Duration::from_secs(600)),
/// );
/// # }
/// ```
#[must_use = "a request does nothing until a factory gets it"]
pub struct InformerRequest<O: Decode> {
    resource: ApiResource,
    scope: Scope,
    metadata_only: bool,
    namespaces: Option<Namespaces>,
    labels: Option<String>,
    fields: Option<String>,
    shards: Option<Shards>,
    resync: Option<Duration>,
    transform: Option<Transform<O>>,
    plan: Option<FieldPlan>,
}

impl<O: StaticResource> InformerRequest<O> {
    /// Requests a kind that is known at compile time, in any [form of it](StaticResource): `Pod`,
    /// `Packed<Pod>`. For [`PartialObjectMeta`](kube::core::PartialObjectMeta), the server sends metadata
    /// only, of which the form [prunes](crate::form#pruning) `managedFields`. For a kind without namespaces, the
    /// namespaces are ignored.
    pub fn new() -> Self {
        type ScopeOf<O> = <<O as StaticResource>::Resource as kube::Resource>::Scope;
        let scope = match TypeId::of::<ScopeOf<O>>() == TypeId::of::<ClusterResourceScope>() {
            true => Scope::Cluster,
            false => Scope::Namespaced,
        };
        Self {
            metadata_only: O::Resource::metadata_api(),
            ..Self::of(ApiResource::erase::<O::Resource>(&())).scope(scope)
        }
    }
}

impl<O: StaticResource> Default for InformerRequest<O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O: Decode> InformerRequest<O> {
    /// Requests any resource, in any form. The scope of built-in resources is known; for any other
    /// cluster-scoped resource set the [`scope`](Self::scope).
    pub fn of(resource: ApiResource) -> Self {
        Self {
            scope: scope_of(&resource),
            resource,
            metadata_only: false,
            namespaces: None,
            labels: None,
            fields: None,
            shards: None,
            resync: None,
            transform: None,
            plan: None,
        }
    }

    /// Sets whether the resource has namespaces, as discovery reports it
    /// ([`ApiCapabilities::scope`](kube::core::discovery::ApiCapabilities::scope)). For a resource without,
    /// the selected namespaces are ignored. Default: the scope of the kind, if it is known at compile time or
    /// built in, else namespaced.
    ///
    /// ```
    /// use kube::core::discovery::Scope;
    /// use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
    /// use kube_informer::InformerRequest;
    ///
    /// let clusters = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "ClusterWidget"));
    /// let request = InformerRequest::<DynamicObject>::of(clusters).scope(Scope::Cluster);
    /// ```
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Requests metadata only, to be stored as [`PartialObjectMeta`](kube::core::PartialObjectMeta), which is without
    /// managedFields unless a [plan](crate::form#pruning) says otherwise. [`new`](Self::new) does so by itself for that type. After
    /// [`of`](Self::of), without this, the server sends whole objects, of which the metadata is kept.
    pub fn metadata_only(mut self) -> Self {
        self.metadata_only = true;
        self
    }

    /// Selects these namespaces: an array of names, or a [set](NamespaceSet) that may change.
    pub fn namespaces(mut self, namespaces: impl Into<Namespaces>) -> Self {
        self.namespaces = Some(namespaces.into());
        self
    }

    /// Selects the objects that match this label selector; an empty one matches all.
    pub fn label_selector(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into());
        self
    }

    /// Selects the objects that match this field selector; an empty one matches all.
    pub fn field_selector(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into());
        self
    }

    /// Selects the objects of the shards that are in this set at any time; see [shards](super#shards). With
    /// several namespaces, the informer reports an error and does not sync: shards are of one namespace, or
    /// of all.
    pub fn shards(mut self, shards: impl Into<ShardSet>) -> Self {
        self.shards = Some(Shards::Set(shards.into()));
        self
    }

    /// Selects the objects of all shards, whatever the factory's default. For kinds whose objects may be in other
    /// shards than the objects that they belong to, such as owned objects if uids are hashed.
    pub fn all_shards(mut self) -> Self {
        self.shards = Some(Shards::All);
        self
    }

    /// Sets namespace and selectors together and ignores the factory's defaults, those for shards, too. A
    /// [set of shards](Self::shards) that was given to this request stays, unless the selection has shards.
    pub fn selection(mut self, selection: Selection) -> Self {
        self.namespaces = Some(namespaces_of(selection.namespace));
        self.labels = Some(selection.label_selector.unwrap_or_default());
        self.fields = Some(selection.field_selector.unwrap_or_default());
        self.shards = match selection.shards {
            Some(ranges) => Some(Shards::Ranges(ranges)),
            None => self.shards.or(Some(Shards::All)),
        };
        self
    }

    /// The resync period of handlers that are added through the returned handle, unless they set their own. A
    /// different period does not lead to another informer, because a resync sends no request to the server.
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }

    /// Changes every object once, before it is stored.
    pub fn transform(mut self, transform: &Transform<O>) -> Self {
        self.transform = Some(transform.clone());
        self
    }

    /// The fields that the scan of each object extracts and prunes, instead of [those of the form](Decode::plan)
    /// or of the [factory](super::FactoryBuilder::reflector_options): unless it names `/metadata/managedFields`, packed objects and
    /// metadata have them. See [`InformerBuilder::plan`](crate::informer::InformerBuilder::plan).
    pub fn plan(mut self, plan: FieldPlan) -> Self {
        self.plan = Some(plan);
        self
    }

    /// Fills in a factory's defaults.
    pub(super) fn resolve(self, defaults: &Defaults, plan: &Option<FieldPlan>) -> Wanted<O> {
        let key = Key {
            form: TypeId::of::<O>(),
            own_source: None,
            metadata_only: self.metadata_only,
            group: self.resource.group.clone(),
            version: self.resource.version.clone(),
            plural: self.resource.plural.clone(),
            namespaces: match self.namespaces {
                _ if self.scope == Scope::Cluster => Namespaces::All,
                Some(namespaces) => namespaces.normalized(),
                None => defaults.namespaces.clone().normalized(),
            },
            labels: self.labels.unwrap_or_else(|| defaults.labels.clone()),
            fields: self.fields.unwrap_or_else(|| defaults.fields.clone()),
            shards: self.shards.unwrap_or_else(|| defaults.shards.clone()),
            transform: self.transform.as_ref().map(Transform::id),
            plan: self.plan.or_else(|| plan.clone()).unwrap_or_else(O::plan),
        };
        Wanted {
            key,
            resource: self.resource,
            transform: self.transform,
            resync: self.resync.unwrap_or(defaults.resync),
        }
    }
}

impl<O: Decode> Clone for InformerRequest<O> {
    fn clone(&self) -> Self {
        Self {
            resource: self.resource.clone(),
            scope: self.scope.clone(),
            metadata_only: self.metadata_only,
            namespaces: self.namespaces.clone(),
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            shards: self.shards.clone(),
            resync: self.resync,
            transform: self.transform.clone(),
            plan: self.plan.clone(),
        }
    }
}

impl<O: Decode> fmt::Debug for InformerRequest<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerRequest")
            .field("resource", &self.resource.plural)
            .field("namespaces", &self.namespaces)
            .field("labels", &self.labels)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

/// Identifies an informer: everything that determines the content of its store. A new option for selecting or
/// storing objects must be added here.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    form: TypeId,
    /// The name of an informer over a source of the user's own; then the resource and the selection are
    /// empty.
    own_source: Option<String>,
    metadata_only: bool,
    group: String,
    version: String,
    plural: String,
    namespaces: Namespaces,
    labels: String,
    fields: String,
    shards: Shards,
    transform: Option<u64>,
    pub(super) plan: FieldPlan,
}

impl Key {
    /// The key of an informer over a source of the user's own.
    pub(super) fn named<O: Decode>(name: String, plan: FieldPlan) -> Self {
        Self {
            form: TypeId::of::<O>(),
            own_source: Some(name),
            metadata_only: false,
            group: String::new(),
            version: String::new(),
            plural: String::new(),
            namespaces: Namespaces::All,
            labels: String::new(),
            fields: String::new(),
            shards: Shards::All,
            transform: None,
            plan,
        }
    }
}

/// A request with all options set.
pub(super) struct Wanted<O: Decode> {
    pub(super) key: Key,
    pub(super) resync: Duration,
    resource: ApiResource,
    transform: Option<Transform<O>>,
}

impl<O: Decode> Wanted<O> {
    /// The builder of the informer.
    pub(super) fn builder(
        self,
        client: kube::Client,
        streaming: WatchListSupport,
        encoding: Option<Encoding>,
    ) -> InformerBuilder<O> {
        let (ranges, set) = match self.key.shards {
            Shards::All => (None, None),
            Shards::Ranges(ranges) => (Some(ranges), None),
            Shards::Set(set) => (None, Some(set)),
        };
        let namespace = self.key.namespaces.only().filter(|_| set.is_some());
        let has_namespace = namespace.is_some();
        let selection = Selection {
            namespace,
            label_selector: Some(self.key.labels),
            field_selector: Some(self.key.fields),
            shards: ranges,
        };
        let mut source = ClientSource::new(client, self.resource, selection).watch_list_support(streaming);
        if let Some(encoding) = encoding {
            source = source.encoding(encoding);
        }
        if self.key.metadata_only {
            source = source.metadata_only();
        }
        let builder = match (self.key.namespaces, set) {
            (Namespaces::All, None) => SharedInformer::builder(source),
            (Namespaces::Fixed(names), None) => {
                SharedInformer::over_namespaces(source, NamespaceSet::new(names))
            }
            (Namespaces::Set(set), None) => SharedInformer::over_namespaces(source, set),
            (namespaces, Some(shards)) if namespaces == Namespaces::All || has_namespace => {
                SharedInformer::over_shards(source, shards)
            }
            (_, Some(_)) => SharedInformer::builder(ShardsOfSeveral(ListerWatcher::<O>::resource(&source))),
        };
        builder.shared_transform(self.transform)
    }
}

/// The source for a request of both shards and several namespaces, which is not supported: every request
/// fails with the reason.
struct ShardsOfSeveral(String);

impl ShardsOfSeveral {
    fn refused<T>() -> Result<T, ApiError> {
        let why = "an informer over a set of shards is of one namespace or of all, not of several: request it without \
                   namespaces, or each namespace on its own";
        Err(ApiError::Request(why.into()))
    }
}

impl<O: CachedObject> ListerWatcher<O> for ShardsOfSeveral {
    fn resource(&self) -> String {
        self.0.clone()
    }

    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<O>, ApiError>> {
        ready(Self::refused()).boxed()
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<O>, ApiError>> {
        ready(Self::refused()).boxed()
    }
}
