//! The resources a server knows: built-in kinds, and those that custom resource definitions add.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::schema::{self, Schema};

mod builtin;
mod definition;
mod registry;

pub(crate) use builtin::default_field;
pub(crate) use definition::{ScalePaths, by_preference};
pub(crate) use registry::{Names, Registry};

use builtin::{NO_GENERATION, OWN_GENERATION, selectable_fields};
use definition::Definition;

/// One resource: the names it goes by and what may be done with it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Resource {
    /// Empty for the core group.
    pub(crate) group: String,
    /// The served versions, the preferred one first.
    pub(crate) versions: Vec<String>,
    /// The version of a custom resource in which this is served; empty for built-in kinds, which are the same in all of theirs.
    pub(crate) version: Arc<str>,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    pub(crate) status: bool,
    /// Where its scale is, if it has one.
    pub(crate) scale: Option<ScalePaths>,
    /// It is asked, not stored: a review.
    pub(crate) review: bool,
    /// It is computed when somebody reads it, and nobody writes it.
    pub(crate) report: bool,
    /// Defined by a custom resource definition.
    pub(crate) custom: bool,
    /// What clients of a version are warned of, by version.
    pub(crate) deprecations: BTreeMap<String, String>,
    /// The fields that field selectors may name, beside name and namespace.
    pub(crate) fields: Vec<String>,
    /// What its definition says.
    pub(crate) definition: Arc<Definition>,
    /// The resource version of its definition: what is older was stored under another one.
    pub(crate) since: u64,
    /// Whether its definition is being deleted: no object is created any more.
    pub(crate) terminating: bool,
    /// Whether clients are told of it. Requests for a custom resource that is not established are refused for the reason of that.
    pub(crate) established: bool,
}

/// A part of an object that is read or written on its own.
pub(crate) struct Subresource {
    pub(crate) name: &'static str,
    /// The group, version and kind that it is sent as, unless it is sent as the object.
    pub(crate) form: Option<(&'static str, &'static str, &'static str)>,
    pub(crate) verbs: &'static [&'static str],
}

impl Subresource {
    fn changed(name: &'static str) -> Self {
        Self {
            name,
            form: None,
            verbs: &["get", "patch", "update"],
        }
    }

    /// What a kubelet would have to answer.
    fn of_node(name: &'static str, kind: &'static str, verbs: &'static [&'static str]) -> Self {
        Self {
            name,
            form: Some(("", "v1", kind)),
            verbs,
        }
    }

    fn created(name: &'static str, form: (&'static str, &'static str, &'static str)) -> Self {
        Self {
            name,
            form: Some(form),
            verbs: &["create"],
        }
    }
}

const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

/// Those of a custom resource, in its order.
const CUSTOM_VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

const CONNECTED: &[&str] = &["create", "get"];
const PROXIED: &[&str] = &["create", "delete", "get", "patch", "update"];

impl Resource {
    /// `pods`, `deployments.apps`: what error messages call it.
    pub(crate) fn id(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// What its objects are stored under: that of `events.k8s.io` are the events of the core group.
    pub(crate) fn storage_id(&self) -> String {
        if self.is_view() {
            self.plural.clone()
        } else {
            self.id()
        }
    }

    /// Whether it has objects of its own.
    pub(crate) fn is_stored(&self) -> bool {
        !self.review && !self.report && !self.is_view()
    }

    /// Whether what is posted to it binds the pod that it names: the older way to do that.
    pub(crate) fn is_bindings(&self) -> bool {
        self.review && self.plural == "bindings"
    }

    /// Whether its objects are those of another resource, in another form.
    pub(crate) fn is_view(&self) -> bool {
        self.group == "events.k8s.io" && !self.custom
    }

    /// Whether its versions differ in what they call things.
    pub(crate) fn is_autoscaler(&self) -> bool {
        self.group == "autoscaling" && !self.custom
    }

    /// The group, version and kind that its objects are stored as.
    pub(crate) fn storage_kind(&self) -> String {
        let group = if self.is_view() { "" } else { &self.group };
        let version = self.preferred();
        format!("{group}/{version}/{}", self.kind)
    }

    /// Where the fields for selectors are in objects of a version.
    pub(crate) fn fields_in(&self, version: &str) -> impl Iterator<Item = &str> {
        let (own, of_core) = match self.is_view() {
            true => (&[][..], selectable_fields("", &self.plural)),
            false => match self.definition.versions.get(version) {
                Some(version) => (&version.fields[..], &[][..]),
                None => (&self.fields[..], &[][..]),
            },
        };
        own.iter().map(String::as_str).chain(of_core.iter().copied())
    }

    /// Whether an object that is stored in one version is the same in this one.
    pub(crate) fn is_same_in(&self, stored: &str) -> bool {
        let own = self.definition.versions.get(&*self.version);
        stored == &*self.version
            || self.definition.webhook.is_none()
                && own.is_some_and(|own| own.alike.iter().any(|version| version == stored))
    }

    /// The version in which objects are stored.
    pub(crate) fn preferred(&self) -> &str {
        match self.custom {
            true => &self.definition.storage,
            false => self.versions.first().map_or("", String::as_str),
        }
    }

    pub(crate) fn api_version(&self, version: &str) -> String {
        if self.group.is_empty() {
            version.to_owned()
        } else {
            format!("{}/{version}", self.group)
        }
    }

    /// What opens an object in answers to GET and in watch events.
    pub(crate) fn head(&self, version: &str) -> Bytes {
        let api_version = self.api_version(version);
        let kind = &self.kind;
        match self.custom {
            true => format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}","#).into(),
            false => format!(r#"{{"kind":"{kind}","apiVersion":"{api_version}","#).into(),
        }
    }

    /// What opens an item of a list: built-in kinds leave out apiVersion and kind there.
    pub(crate) fn item_head(&self, version: &str) -> Bytes {
        if self.custom {
            self.head(version)
        } else {
            Bytes::from_static(b"{")
        }
    }

    /// The schema of its objects in one of its versions; none if the definition of a custom resource has none.
    pub(crate) fn schema(&self, version: &str) -> Option<Arc<Schema>> {
        match self.custom {
            true => self.definition.versions.get(version)?.schema.clone(),
            false => schema::of_kind(&self.group, version, &self.kind).map(|found| found.schema().clone()),
        }
    }

    /// Whether the server counts the generations of this resource's specs.
    pub(crate) fn has_generation(&self) -> bool {
        let has_status = self.status && !NO_GENERATION.contains(&self.plural.as_str());
        self.custom || has_status || OWN_GENERATION.contains(&self.plural.as_str())
    }

    /// Whether a change of what is wanted makes another generation; of a CSIDriver, it makes the first one.
    pub(crate) fn is_counted_on_update(&self) -> bool {
        self.has_generation() || self.id() == "csidrivers.storage.k8s.io"
    }

    /// What clients of a version are warned of.
    pub(crate) fn deprecation(&self, version: &str) -> Option<&str> {
        self.deprecations.get(version).map(String::as_str)
    }

    /// What can be done with it, in the order in which clients are told.
    pub(crate) fn verbs(&self) -> Vec<&'static str> {
        // A namespace is deleted by its name only.
        let is_one = self.id() == "namespaces";
        let verbs = if self.custom { CUSTOM_VERBS } else { VERBS };
        match (self.review, self.report) {
            (true, _) => vec!["create"],
            (_, true) => vec!["get", "list"],
            _ => verbs
                .into_iter()
                .filter(|verb| !(is_one && *verb == "deletecollection"))
                .filter(|verb| !(self.terminating && matches!(*verb, "create" | "patch" | "update")))
                .collect(),
        }
    }

    /// The parts of its objects, by name.
    pub(crate) fn subresources(&self) -> Vec<Subresource> {
        let mut all = match self.id().as_str() {
            "certificatesigningrequests.certificates.k8s.io" => vec![Subresource::changed("approval")],
            "namespaces" => vec![Subresource {
                name: "finalize",
                form: None,
                verbs: &["update"],
            }],
            "nodes" => vec![Subresource::of_node("proxy", "NodeProxyOptions", PROXIED)],
            "pods" => vec![
                Subresource::of_node("attach", "PodAttachOptions", CONNECTED),
                Subresource::created("binding", ("", "v1", "Binding")),
                Subresource::changed("ephemeralcontainers"),
                Subresource::created("eviction", ("policy", "v1", "Eviction")),
                Subresource::of_node("exec", "PodExecOptions", CONNECTED),
                Subresource::of_node("log", "Pod", &["get"]),
                Subresource::of_node("portforward", "PodPortForwardOptions", CONNECTED),
                Subresource::of_node("proxy", "PodProxyOptions", PROXIED),
                Subresource::changed("resize"),
            ],
            "services" => vec![Subresource::of_node("proxy", "ServiceProxyOptions", PROXIED)],
            "serviceaccounts" => vec![Subresource::created(
                "token",
                ("authentication.k8s.io", "v1", "TokenRequest"),
            )],
            _ => Vec::new(),
        };
        // Those of custom resources are not sorted.
        if self.custom && self.status {
            all.push(Subresource::changed("status"));
        }
        if self.scale.is_some() {
            all.push(Subresource {
                form: Some(("autoscaling", "v1", "Scale")),
                ..Subresource::changed("scale")
            });
        }
        if !self.custom && self.status {
            all.push(Subresource::changed("status"));
        }
        all
    }

    pub(crate) fn has_subresource(&self, name: &str) -> bool {
        self.subresources()
            .iter()
            .any(|subresource| subresource.name == name)
    }

    /// Whether to replace an object that is not there creates it.
    pub(crate) fn is_created_on_update(&self) -> bool {
        const CREATED: [&str; 12] = [
            "clusterrolebindings.rbac.authorization.k8s.io",
            "clusterroles.rbac.authorization.k8s.io",
            "endpoints",
            "events",
            "events.events.k8s.io",
            "leasecandidates.coordination.k8s.io",
            "leases.coordination.k8s.io",
            "limitranges",
            "rolebindings.rbac.authorization.k8s.io",
            "roles.rbac.authorization.k8s.io",
            "runtimeclasses.node.k8s.io",
            "services",
        ];
        CREATED.contains(&self.id().as_str())
    }

    /// Whether an update may leave out the version that it replaces.
    pub(crate) fn is_updated_unconditionally(&self) -> bool {
        const CONDITIONAL: [&str; 9] = [
            "csidrivers.storage.k8s.io",
            "csinodes.storage.k8s.io",
            "csistoragecapacities.storage.k8s.io",
            "customresourcedefinitions.apiextensions.k8s.io",
            "leasecandidates.coordination.k8s.io",
            "leases.coordination.k8s.io",
            "poddisruptionbudgets.policy",
            "runtimeclasses.node.k8s.io",
            "volumeattachments.storage.k8s.io",
        ];
        let groups = ["admissionregistration.k8s.io", "apiregistration.k8s.io"];
        !self.custom && !groups.contains(&&*self.group) && !CONDITIONAL.contains(&self.id().as_str())
    }
}
