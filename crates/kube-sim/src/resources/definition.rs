//! What custom resource definitions say of their versions.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::conversion::webhook::Webhook;
use crate::schema::Schema;

use super::Resource;

impl Resource {
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
            webhook: Webhook::of(&definition["spec"]),
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
                established: false,
                group: group.clone(),
                plural: plural.clone(),
                kind: kind.clone(),
            })
        };
        Ok(versions.iter().chain(unserved).filter_map(in_version).collect())
    }
}

/// What the definition of a custom resource says of all its versions; empty for built-in kinds.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Definition {
    uid: String,
    /// Which state of the definition it is.
    generation: i64,
    /// The version in which objects are stored.
    pub(crate) storage: Arc<str>,
    /// Who converts objects of one version to another; nobody if all that differs is what a version lacks.
    pub(crate) webhook: Option<Webhook>,
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
    pub(super) alike: Vec<String>,
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

/// What the column of ages is described as that a definition without columns has.
const AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be \
     set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in \
     UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: \
     https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

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
            description: AGE.into(),
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
pub(super) fn deprecations(served: &[&Value], group: &str, kind: &str) -> BTreeMap<String, String> {
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
