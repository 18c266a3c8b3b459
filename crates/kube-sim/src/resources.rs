//! The resources a server knows: built-in kinds, and those that custom resource definitions add.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::schema::{self, Schema};

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
}

/// What the definition of a custom resource says of all its versions; empty for built-in kinds.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Definition {
    uid: String,
    /// Which state of the definition it is.
    generation: i64,
    /// The version in which objects are stored.
    pub(crate) storage: Arc<str>,
    /// All versions, also those that are not served.
    pub(crate) versions: BTreeMap<String, Version>,
}

/// One version of a definition.
#[derive(Debug, PartialEq)]
pub(crate) struct Version {
    pub(crate) schema: Option<Arc<Schema>>,
    /// The same as it is in the definition.
    pub(crate) published: Option<Value>,
    /// The columns that it adds to tables.
    pub(crate) columns: Vec<Column>,
    /// The fields that field selectors may name.
    pub(crate) fields: Vec<String>,
    status: bool,
    scale: Option<ScalePaths>,
    /// The versions whose objects are objects of this one as they are.
    alike: Vec<String>,
}

impl Version {
    fn read(version: &Value) -> Self {
        let published = version.pointer("/schema/openAPIV3Schema");
        Self {
            schema: published.map(|schema| Arc::new(Schema::of_custom_resource(schema))),
            published: published.cloned(),
            columns: Column::of(version),
            fields: list_at(version, "/selectableFields")
                .filter_map(|field| Some(field["jsonPath"].as_str()?.trim_start_matches('.').to_owned()))
                .collect(),
            status: version["subresources"].get("status").is_some(),
            scale: ScalePaths::read(&version["subresources"]["scale"]),
            alike: Vec::new(),
        }
    }

    /// All versions of a definition, by name.
    fn all_of(versions: &[&Value]) -> BTreeMap<String, Self> {
        let all = versions
            .iter()
            .filter_map(|version| Some((version["name"].as_str()?.to_owned(), Self::read(version))));
        let mut all: BTreeMap<_, _> = all.collect();
        let alike: Vec<Vec<String>> = all
            .values()
            .map(|one| {
                let like = |other: &Self| one.published == other.published && one.fields == other.fields;
                let alike = all.iter().filter(|(_, other)| like(other));
                alike.map(|(name, _)| name.clone()).collect()
            })
            .collect();
        for (version, alike) in all.values_mut().zip(alike) {
            version.alike = alike;
        }
        all
    }
}

/// Where an object has what its scale shows: paths of fields, such as `spec.replicas`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScalePaths {
    pub(crate) wanted: String,
    pub(crate) found: String,
    /// The selector as a string; empty if there is none. Built-in kinds have a selector of their own form.
    pub(crate) selector: String,
}

impl ScalePaths {
    fn read(value: &Value) -> Option<Self> {
        let path = |name: &str| {
            let path = value[name].as_str().unwrap_or("");
            path.trim_start_matches('.').to_owned()
        };
        value.is_object().then(|| Self {
            wanted: path("specReplicasPath"),
            found: path("statusReplicasPath"),
            selector: path("labelSelectorPath"),
        })
    }
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

const CONNECTED: &[&str] = &["create", "get"];
const PROXIED: &[&str] = &["create", "delete", "get", "patch", "update"];

/// A column that a custom resource definition adds to tables.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) format: String,
    pub(crate) description: String,
    pub(crate) path: String,
    pub(crate) priority: i64,
}

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
        stored == &*self.version || own.is_some_and(|own| own.alike.iter().any(|version| version == stored))
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

    /// What clients of a version are warned of.
    pub(crate) fn deprecation(&self, version: &str) -> Option<&str> {
        self.deprecations.get(version).map(String::as_str)
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

    fn builtin(row: &Row) -> Self {
        let &(group, version, plural, singular, kind, flags, short_names, categories) = row;
        let owned = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect();
        Self {
            group: group.into(),
            versions: version.split(' ').map(str::to_owned).collect(),
            version: Arc::default(),
            plural: plural.into(),
            singular: singular.into(),
            kind: kind.into(),
            list_kind: format!("{kind}List"),
            short_names: owned(short_names),
            categories: owned(categories),
            namespaced: flags & NAMESPACED != 0,
            status: flags & STATUS != 0,
            scale: (flags & SCALE != 0).then(|| ScalePaths {
                wanted: "spec.replicas".into(),
                found: "status.replicas".into(),
                selector: String::new(),
            }),
            review: flags & REVIEW != 0,
            report: flags & REPORT != 0,
            custom: false,
            deprecations: match (group, plural) {
                ("", "endpoints") => {
                    let why = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
                    BTreeMap::from([("v1".into(), why.into())])
                }
                _ => BTreeMap::new(),
            },
            fields: owned(selectable_fields(group, plural)),
            definition: Arc::default(),
            since: 0,
            terminating: false,
        }
    }

    /// Reads a `CustomResourceDefinition`: the resource in each version that is served, the one in which objects are stored first. If
    /// none is served, it is that one. The error says what is wrong with the definition.
    pub(crate) fn of_definition(definition: &Value) -> Result<Vec<Self>, String> {
        let text = |pointer: &str| {
            let value = definition.pointer(pointer).and_then(Value::as_str).unwrap_or("");
            if value.is_empty() {
                Err(format!("{} is missing", pointer[1..].replace('/', ".")))
            } else {
                Ok(value.to_owned())
            }
        };
        // Those that it wants may be others.
        let accepted = definition.pointer("/status/acceptedNames");
        let has_names =
            accepted.is_some_and(|names| names["kind"].as_str().is_some_and(|kind| !kind.is_empty()));
        let names = if has_names {
            "/status/acceptedNames"
        } else {
            "/spec/names"
        };
        let named = |name: &str| text(&format!("{names}/{name}"));
        let (group, plural, kind) = (text("/spec/group")?, text("/spec/names/plural")?, named("kind"));
        let kind = kind.or_else(|_| text("/spec/names/kind"))?;
        let name = text("/metadata/name")?;
        if name != format!("{plural}.{group}") {
            return Err(format!(
                "metadata.name is \"{name}\", must be \"{plural}.{group}\""
            ));
        }
        let namespaced = match text("/spec/scope")?.as_str() {
            "Namespaced" => true,
            "Cluster" => false,
            other => {
                return Err(format!(
                    "spec.scope is \"{other}\", must be Namespaced or Cluster"
                ));
            }
        };
        let mut all: Vec<_> = list_at(definition, "/spec/versions").collect();
        all.sort_by_key(|version| version["storage"] != true);
        let stored = all.iter().filter(|version| version["storage"] == true).count();
        if stored != 1 {
            return Err(format!(
                "spec.versions has {stored} storage versions, must have one"
            ));
        }
        let served: Vec<_> = all.iter().filter(|v| v["served"] == true).copied().collect();
        let name_of = |version: &&Value| version["name"].as_str().map(str::to_owned);
        let versions: Vec<String> = served.iter().filter_map(name_of).collect();
        let storage = all.first().and_then(name_of).unwrap_or_default();
        let deprecations = deprecations(&served, &group, &kind);
        let read = Arc::new(Definition {
            uid: text("/metadata/uid").unwrap_or_default(),
            generation: definition
                .pointer("/metadata/generation")
                .and_then(Value::as_i64)
                .unwrap_or(0),
            storage: storage.as_str().into(),
            versions: Version::all_of(&all),
        });
        let unserved = versions.is_empty().then_some(&storage);
        let in_version = |name: &String| {
            let version = read.versions.get(name)?;
            Some(Self {
                versions: versions.clone(),
                version: name.as_str().into(),
                singular: named("singular").unwrap_or_else(|_| kind.to_lowercase()),
                list_kind: named("listKind").unwrap_or_else(|_| format!("{kind}List")),
                short_names: strings_at(definition, &format!("{names}/shortNames")),
                categories: strings_at(definition, &format!("{names}/categories")),
                namespaced,
                status: version.status,
                scale: version.scale.clone(),
                review: false,
                report: false,
                custom: true,
                deprecations: deprecations.clone(),
                fields: version.fields.clone(),
                definition: read.clone(),
                since: 0,
                terminating: false,
                group: group.clone(),
                plural: plural.clone(),
                kind: kind.clone(),
            })
        };
        Ok(versions.iter().chain(unserved).filter_map(in_version).collect())
    }
}

impl Column {
    /// The columns of a version; the age, if it names none.
    fn of(version: &Value) -> Vec<Self> {
        let given: Vec<_> = list_at(version, "/additionalPrinterColumns")
            .map(Self::read)
            .collect();
        if !given.is_empty() {
            return given;
        }
        vec![Self {
            name: "Age".into(),
            kind: "date".into(),
            format: String::new(),
            description: "Age".into(),
            path: ".metadata.creationTimestamp".into(),
            priority: 0,
        }]
    }

    fn read(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().unwrap_or("").to_owned();
        Self {
            name: text("name"),
            kind: text("type"),
            format: text("format"),
            description: match text("description") {
                none if none.is_empty() => {
                    format!(
                        "Custom resource definition column (in JSONPath format): {}",
                        text("jsonPath")
                    )
                }
                given => given,
            },
            path: text("jsonPath"),
            priority: value["priority"].as_i64().unwrap_or(0),
        }
    }
}

/// What clients of deprecated versions of a definition are warned of.
fn deprecations(served: &[&Value], group: &str, kind: &str) -> BTreeMap<String, String> {
    let name = |version: &Value| version["name"].as_str().unwrap_or("").to_owned();
    let is_deprecated = |version: &&&Value| version["deprecated"] == true;
    let best = served
        .iter()
        .filter(|version| !is_deprecated(version))
        .map(|version| name(version))
        .min_by(|one, other| by_preference(one, other));
    served
        .iter()
        .filter(is_deprecated)
        .map(|version| {
            let version_name = name(version);
            let instead = best
                .as_ref()
                .filter(|best| by_preference(best, &version_name).is_lt());
            let instead = instead.map_or_else(String::new, |best| format!("; use {group}/{best} {kind}"));
            let warning = match version["deprecationWarning"].as_str() {
                Some(warning) => warning.to_owned(),
                None => format!("{group}/{version_name} {kind} is deprecated{instead}"),
            };
            (version_name, warning)
        })
        .collect()
}

/// The order in which clients prefer versions: stable ones, then betas, then alphas, the newest first; then all other names.
pub(crate) fn by_preference(one: &str, other: &str) -> Ordering {
    // Stability, major and minor.
    let parse = |version: &str| -> Option<(u8, u64, u64)> {
        let rest = version.strip_prefix('v')?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let major = rest[..end].parse().ok()?;
        let (stability, minor) = match &rest[end..] {
            "" => return Some((3, major, 0)),
            rest => match (rest.strip_prefix("beta"), rest.strip_prefix("alpha")) {
                (Some(minor), _) => (2, minor),
                (_, Some(minor)) => (1, minor),
                _ => return None,
            },
        };
        let minor = if minor.is_empty() { 0 } else { minor.parse().ok()? };
        Some((stability, major, minor))
    };
    match (parse(one), parse(other)) {
        (Some(one), Some(other)) => other.cmp(&one),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => one.cmp(other),
    }
}

fn list_at<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn strings_at(value: &Value, pointer: &str) -> Vec<String> {
    list_at(value, pointer)
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// All resources of a server, in the order discovery shows them.
#[derive(Debug, Clone)]
pub(crate) struct Registry {
    /// By group and plural. A custom resource is there once for each version that is served, a built-in one once.
    resources: BTreeMap<(String, String), Vec<Arc<Resource>>>,
    /// The names that definitions have got, by the definitions' names.
    names: BTreeMap<String, Names>,
}

/// The names that a definition has got.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Names {
    pub(crate) group: String,
    pub(crate) resources: BTreeSet<String>,
    pub(crate) kinds: BTreeSet<String>,
    /// Whether it waits for others to give up some that it wants.
    pub(crate) is_waiting: bool,
}

impl Registry {
    /// The built-in kinds.
    pub(crate) fn builtin() -> Self {
        let resources = BUILTIN.iter().map(Resource::builtin);
        Self {
            resources: resources
                .map(|r| ((r.group.clone(), r.plural.clone()), vec![Arc::new(r)]))
                .collect(),
            names: BTreeMap::new(),
        }
    }

    /// Adds what a custom resource definition defines, or replaces what it defined before.
    ///
    /// Watches of what was defined before end, unless it is the same.
    pub(crate) fn define(&mut self, mut resources: Vec<Resource>) {
        let Some(first) = resources.first() else { return };
        let key = (first.group.clone(), first.plural.clone());
        let before = self.resources.get(&key);
        let before = before
            .and_then(|before| before.first())
            .filter(|before| before.custom);
        let is_same = before.is_some_and(|before| {
            let (since, terminating) = (before.since, before.terminating);
            let now = Resource {
                since,
                terminating,
                ..first.clone()
            };
            **before == now
        });
        if let (true, Some(before)) = (is_same, before) {
            if before.terminating == first.terminating {
                return;
            }
            for resource in &mut resources {
                resource.since = before.since;
                resource.definition = before.definition.clone();
            }
        }
        self.resources
            .insert(key, resources.into_iter().map(Arc::new).collect());
    }

    /// Whether the resource's definition says the same now.
    pub(crate) fn is_current(&self, resource: &Resource) -> bool {
        let now = self.all_of(&resource.group, &resource.plural);
        now.iter()
            .any(|now| Arc::ptr_eq(&now.definition, &resource.definition))
    }

    fn all_of(&self, group: &str, plural: &str) -> &[Arc<Resource>] {
        let key = (group.to_owned(), plural.to_owned());
        self.resources.get(&key).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn undefine(&mut self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        let first = self
            .all_of(group, plural)
            .first()
            .filter(|first| first.custom)?
            .clone();
        self.resources.remove(&(group.to_owned(), plural.to_owned()));
        Some(first)
    }

    /// Takes note of the names that a definition has; returns whether others of its group may get some now.
    pub(crate) fn note_names(&mut self, definition: &str, names: Option<Names>) -> bool {
        let before = self.names.remove(definition).unwrap_or_default();
        let now = names.clone().unwrap_or_default();
        self.names
            .extend(names.map(|names| (definition.to_owned(), names)));
        !before.resources.is_subset(&now.resources) || !before.kinds.is_subset(&now.kinds)
    }

    /// The names of definitions of a group.
    pub(crate) fn names_in<'a>(&'a self, group: &'a str) -> impl Iterator<Item = (&'a String, &'a Names)> {
        self.names.iter().filter(move |(_, names)| names.group == group)
    }

    /// Leaves only the built-in kinds.
    pub(crate) fn forget_definitions(&mut self) {
        self.resources
            .retain(|_, all| all.iter().all(|resource| !resource.custom));
        self.names.clear();
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.in_version(self.all_of(group, plural), version)
    }

    fn in_version(&self, all: &[Arc<Resource>], version: &str) -> Option<Arc<Resource>> {
        let first = all.first()?;
        let is_served = first.versions.iter().any(|served| served == version);
        let mut all = all
            .iter()
            .filter(|resource| !resource.custom || &*resource.version == version);
        all.next().filter(|_| is_served).cloned()
    }

    /// The resources that are served in a version of a group.
    pub(crate) fn of_version<'a>(
        &'a self,
        group: &'a str,
        version: &'a str,
    ) -> impl Iterator<Item = Arc<Resource>> + 'a {
        let of_group = self
            .resources
            .values()
            .filter(move |all| all.iter().all(|r| r.group == group));
        of_group.filter_map(move |all| self.in_version(all, version))
    }

    /// The resource that error messages call `id`.
    pub(crate) fn of_id(&self, id: &str) -> Option<Arc<Resource>> {
        let (plural, group) = id.split_once('.').unwrap_or((id, ""));
        self.all_of(group, plural).first().cloned()
    }

    /// The resource of an object's `apiVersion` and `kind`, and the version.
    pub(crate) fn of_kind(&self, api_version: &str, kind: &str) -> Option<(Arc<Resource>, String)> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let first = self.iter().find(|r| r.group == group && r.kind == kind)?;
        let resource = self.find(group, version, &first.plural)?;
        Some((resource, version.to_owned()))
    }

    /// All resources; of the versions of a custom resource, the one in which objects are stored.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.values().filter_map(|all| all.first())
    }
}

const NAMESPACED: u8 = 1;
const STATUS: u8 = 2;
const SCALE: u8 = 4;
const REVIEW: u8 = 8;
const REPORT: u8 = 16;

/// Group, versions (the preferred one first), plural, singular, kind, flags, short names, categories.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    u8,
    &'static [&'static str],
    &'static [&'static str],
);

/// The built-in resources of a kube-apiserver 1.36 that can be listed and watched, and what is asked or reported.
#[rustfmt::skip]
const BUILTIN: &[Row] = &[
    ("", "v1", "bindings", "binding", "Binding", NAMESPACED | REVIEW, &[], &[]),
    ("", "v1", "componentstatuses", "componentstatus", "ComponentStatus", REPORT, &["cs"], &[]),
    ("", "v1", "configmaps", "configmap", "ConfigMap", NAMESPACED, &["cm"], &[]),
    ("", "v1", "endpoints", "endpoints", "Endpoints", NAMESPACED, &["ep"], &[]),
    ("", "v1", "events", "event", "Event", NAMESPACED, &["ev"], &[]),
    ("", "v1", "limitranges", "limitrange", "LimitRange", NAMESPACED, &["limits"], &[]),
    ("", "v1", "namespaces", "namespace", "Namespace", STATUS, &["ns"], &[]),
    ("", "v1", "nodes", "node", "Node", STATUS, &["no"], &[]),
    ("", "v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", NAMESPACED | STATUS, &["pvc"], &[]),
    ("", "v1", "persistentvolumes", "persistentvolume", "PersistentVolume", STATUS, &["pv"], &[]),
    ("", "v1", "pods", "pod", "Pod", NAMESPACED | STATUS, &["po"], &["all"]),
    ("", "v1", "podtemplates", "podtemplate", "PodTemplate", NAMESPACED, &[], &[]),
    ("", "v1", "replicationcontrollers", "replicationcontroller", "ReplicationController", NAMESPACED | STATUS | SCALE, &["rc"], &["all"]),
    ("", "v1", "resourcequotas", "resourcequota", "ResourceQuota", NAMESPACED | STATUS, &["quota"], &[]),
    ("", "v1", "secrets", "secret", "Secret", NAMESPACED, &[], &[]),
    ("", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", NAMESPACED, &["sa"], &[]),
    ("", "v1", "services", "service", "Service", NAMESPACED | STATUS, &["svc"], &["all"]),
    ("apiregistration.k8s.io", "v1", "apiservices", "apiservice", "APIService", STATUS, &[], &["api-extensions"]),
    ("apps", "v1", "controllerrevisions", "controllerrevision", "ControllerRevision", NAMESPACED, &[], &[]),
    ("apps", "v1", "daemonsets", "daemonset", "DaemonSet", NAMESPACED | STATUS, &["ds"], &["all"]),
    ("apps", "v1", "deployments", "deployment", "Deployment", NAMESPACED | STATUS | SCALE, &["deploy"], &["all"]),
    ("apps", "v1", "replicasets", "replicaset", "ReplicaSet", NAMESPACED | STATUS | SCALE, &["rs"], &["all"]),
    ("apps", "v1", "statefulsets", "statefulset", "StatefulSet", NAMESPACED | STATUS | SCALE, &["sts"], &["all"]),
    ("authentication.k8s.io", "v1", "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview", REVIEW, &[], &[]),
    ("authentication.k8s.io", "v1", "tokenreviews", "tokenreview", "TokenReview", REVIEW, &[], &[]),
    ("authorization.k8s.io", "v1", "localsubjectaccessreviews", "localsubjectaccessreview", "LocalSubjectAccessReview", NAMESPACED | REVIEW, &[], &[]),
    ("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview", REVIEW, &[], &[]),
    ("authorization.k8s.io", "v1", "selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview", REVIEW, &[], &[]),
    ("authorization.k8s.io", "v1", "subjectaccessreviews", "subjectaccessreview", "SubjectAccessReview", REVIEW, &[], &[]),
    ("autoscaling", "v2 v1", "horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler", NAMESPACED | STATUS, &["hpa"], &["all"]),
    ("batch", "v1", "cronjobs", "cronjob", "CronJob", NAMESPACED | STATUS, &["cj"], &["all"]),
    ("batch", "v1", "jobs", "job", "Job", NAMESPACED | STATUS, &[], &["all"]),
    ("certificates.k8s.io", "v1", "certificatesigningrequests", "certificatesigningrequest", "CertificateSigningRequest", STATUS, &["csr"], &[]),
    ("events.k8s.io", "v1", "events", "event", "Event", NAMESPACED, &["ev"], &[]),
    ("networking.k8s.io", "v1", "ingressclasses", "ingressclass", "IngressClass", 0, &[], &[]),
    ("networking.k8s.io", "v1", "ingresses", "ingress", "Ingress", NAMESPACED | STATUS, &["ing"], &[]),
    ("networking.k8s.io", "v1", "ipaddresses", "ipaddress", "IPAddress", 0, &["ip"], &[]),
    ("networking.k8s.io", "v1", "networkpolicies", "networkpolicy", "NetworkPolicy", NAMESPACED, &["netpol"], &[]),
    ("networking.k8s.io", "v1", "servicecidrs", "servicecidr", "ServiceCIDR", STATUS, &[], &[]),
    ("policy", "v1", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget", NAMESPACED | STATUS, &["pdb"], &[]),
    ("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding", 0, &[], &[]),
    ("rbac.authorization.k8s.io", "v1", "clusterroles", "clusterrole", "ClusterRole", 0, &[], &[]),
    ("rbac.authorization.k8s.io", "v1", "rolebindings", "rolebinding", "RoleBinding", NAMESPACED, &[], &[]),
    ("rbac.authorization.k8s.io", "v1", "roles", "role", "Role", NAMESPACED, &[], &[]),
    ("storage.k8s.io", "v1", "csidrivers", "csidriver", "CSIDriver", 0, &[], &[]),
    ("storage.k8s.io", "v1", "csinodes", "csinode", "CSINode", 0, &[], &[]),
    ("storage.k8s.io", "v1", "csistoragecapacities", "csistoragecapacity", "CSIStorageCapacity", NAMESPACED, &[], &[]),
    ("storage.k8s.io", "v1", "storageclasses", "storageclass", "StorageClass", 0, &["sc"], &[]),
    ("storage.k8s.io", "v1", "volumeattachments", "volumeattachment", "VolumeAttachment", STATUS, &[], &[]),
    ("storage.k8s.io", "v1", "volumeattributesclasses", "volumeattributesclass", "VolumeAttributesClass", 0, &["vac"], &[]),
    ("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "mutatingadmissionpolicy", "MutatingAdmissionPolicy", 0, &[], &["api-extensions"]),
    ("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings", "mutatingadmissionpolicybinding", "MutatingAdmissionPolicyBinding", 0, &[], &["api-extensions"]),
    ("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "mutatingwebhookconfiguration", "MutatingWebhookConfiguration", 0, &[], &["api-extensions"]),
    ("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "validatingadmissionpolicy", "ValidatingAdmissionPolicy", STATUS, &[], &["api-extensions"]),
    ("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", "validatingadmissionpolicybinding", "ValidatingAdmissionPolicyBinding", 0, &[], &["api-extensions"]),
    ("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "validatingwebhookconfiguration", "ValidatingWebhookConfiguration", 0, &[], &["api-extensions"]),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "customresourcedefinition", "CustomResourceDefinition", STATUS, &["crd", "crds"], &["api-extensions"]),
    ("scheduling.k8s.io", "v1", "priorityclasses", "priorityclass", "PriorityClass", 0, &["pc"], &[]),
    ("coordination.k8s.io", "v1", "leases", "lease", "Lease", NAMESPACED, &[], &[]),
    ("node.k8s.io", "v1", "runtimeclasses", "runtimeclass", "RuntimeClass", 0, &[], &[]),
    ("discovery.k8s.io", "v1", "endpointslices", "endpointslice", "EndpointSlice", NAMESPACED, &[], &[]),
    ("resource.k8s.io", "v1", "deviceclasses", "deviceclass", "DeviceClass", 0, &[], &[]),
    ("resource.k8s.io", "v1", "resourceclaims", "resourceclaim", "ResourceClaim", NAMESPACED | STATUS, &[], &[]),
    ("resource.k8s.io", "v1", "resourceclaimtemplates", "resourceclaimtemplate", "ResourceClaimTemplate", NAMESPACED, &[], &[]),
    ("resource.k8s.io", "v1", "resourceslices", "resourceslice", "ResourceSlice", 0, &[], &[]),
    ("flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "flowschema", "FlowSchema", STATUS, &[], &[]),
    ("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations", "prioritylevelconfiguration", "PriorityLevelConfiguration", STATUS, &[], &[]),
];

/// Kinds with a status whose generation a real server leaves alone.
const NO_GENERATION: [&str; 9] = [
    "horizontalpodautoscalers",
    "namespaces",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "resourcequotas",
    "services",
    "certificatesigningrequests",
    "volumeattachments",
];

/// Kinds without a status whose generation a real server counts.
const OWN_GENERATION: [&str; 5] = [
    "endpointslices",
    "mutatingwebhookconfigurations",
    "networkpolicies",
    "priorityclasses",
    "validatingwebhookconfigurations",
];

fn selectable_fields(group: &str, plural: &str) -> &'static [&'static str] {
    match (group, plural) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "namespaces") => &["status.phase"],
        ("", "secrets") => &["type"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("", "replicationcontrollers") => &["status.replicas"],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        // In the order of the fields of the core group.
        ("events.k8s.io", "events") => &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "deprecatedSource",
            "type",
        ],
        ("batch", "jobs") => &["status.successful"],
        ("certificates.k8s.io", "certificatesigningrequests") => &["spec.signerName"],
        _ => &[],
    }
}

/// What a selectable field counts as when the object does not have it.
pub(crate) fn default_field(path: &str) -> &'static str {
    match path {
        "spec.unschedulable" | "spec.hostNetwork" => "false",
        "status.replicas" => "0",
        _ => "",
    }
}
