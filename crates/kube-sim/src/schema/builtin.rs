//! The schemas of built-in kinds.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use kube_protobuf::Descriptor;
use serde_json::Value;

use super::{Additional, Node, Schema};

/// A line for each schema: its name, its kinds (`apps/v1/Deployment`, separated by spaces), its JSON.
const TABLE: &str = include_str!("builtin.tsv");

/// The definition of the metadata of any object.
pub(crate) const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

static DEFINITIONS: LazyLock<Definitions> = LazyLock::new(Definitions::read);

/// A named schema of Kubernetes.
pub(crate) struct Definition {
    /// Such as `io.k8s.api.core.v1.PodSpec`.
    pub(crate) name: &'static str,
    json: &'static str,
    parsed: OnceLock<Arc<Schema>>,
    defaults: OnceLock<Vec<(&'static str, &'static Value)>>,
    message: OnceLock<Option<Descriptor>>,
}

impl Definition {
    pub(crate) fn schema(&self) -> &Arc<Schema> {
        self.parsed.get_or_init(|| {
            if let Some(schemas) = self.alternative() {
                return Arc::new(schemas);
            }
            let mut schema = Schema::parse(&self.json());
            // Such as RawExtension and FieldsV1: nothing is said of what is in them.
            schema.preserves_unknown =
                schema.properties.is_empty() && schema.additional == Additional::Unsaid;
            Arc::new(schema)
        })
    }

    /// What is a schema of a definition or something else, of which nothing is published: its fields, if it is a schema.
    fn alternative(&self) -> Option<Schema> {
        let name = self.alternative_to().filter(|_| self.is_alternative())?;
        let definition = named(name)?;
        let mut schema = Schema::clone(definition.schema());
        schema.kind = None;
        schema.items = Some(Node::There {
            definition,
            default: None,
        });
        Some(schema)
    }

    /// Whether this is a schema of a definition or something else.
    pub(crate) fn is_alternative(&self) -> bool {
        self.alternative_to()
            .is_some_and(|name| name.ends_with(".JSONSchemaProps"))
    }

    /// What this is if it is not something else.
    pub(super) fn alternative_to(&self) -> Option<&'static str> {
        self.name
            .strip_suffix("OrArray")
            .or(self.name.strip_suffix("OrBool"))
    }

    /// Whether Go leaves out this field where it is `false`, 0 or `""`.
    pub(crate) fn omits_zero(&self, field: &str) -> bool {
        let message = self.message.get_or_init(|| {
            let name = self
                .alternative_to()
                .unwrap_or(self.name)
                .strip_prefix("io.k8s.")?;
            Descriptor::named(&format!(
                "k8s.io.{}",
                name.replacen("-apiserver", "_apiserver", 1)
            ))
        });
        message.is_some_and(|message| message.omits_zero(field))
    }

    /// The fields that have a default, with it.
    pub(crate) fn defaults(&'static self) -> &'static [(&'static str, &'static Value)] {
        self.defaults.get_or_init(|| {
            let properties = self.schema().properties.iter();
            properties
                .filter_map(|(name, node)| Some((name.as_str(), node.default()?)))
                .collect()
        })
    }

    /// The schema as it was published, but for the descriptions.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.json).expect("the generated table has JSON")
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Definition").field(&self.name).finish()
    }
}

impl PartialEq for Definition {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

struct Definitions {
    by_name: HashMap<&'static str, Definition>,
    /// The name of each kind's definition.
    by_kind: HashMap<&'static str, &'static str>,
}

impl Definitions {
    fn read() -> Self {
        let (mut by_name, mut by_kind) = (HashMap::new(), HashMap::new());
        for line in TABLE.lines() {
            let mut columns = line.splitn(3, '\t');
            let (Some(name), Some(kinds), Some(json)) = (columns.next(), columns.next(), columns.next())
            else {
                continue;
            };
            by_kind.extend(kinds.split_terminator(' ').map(|kind| (kind, name)));
            let (parsed, defaults, message) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
            let definition = Definition {
                name,
                json,
                parsed,
                defaults,
                message,
            };
            by_name.insert(name, definition);
        }
        Self { by_name, by_kind }
    }
}

/// The definition of a name, such as `io.k8s.api.core.v1.PodSpec`.
pub(crate) fn named(name: &str) -> Option<&'static Definition> {
    DEFINITIONS.by_name.get(name)
}

/// The definition of a built-in kind; the group of the core is empty.
pub(crate) fn of_kind(group: &str, version: &str, kind: &str) -> Option<&'static Definition> {
    let kind = format!("{group}/{version}/{kind}");
    named(DEFINITIONS.by_kind.get(&*kind)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Registry;
    use crate::schema::{ListType, Type};

    #[test]
    fn every_builtin_kind_has_a_schema() {
        for resource in Registry::builtin().iter() {
            for version in &resource.versions {
                let schema = resource.schema(version).unwrap();
                assert_eq!(schema.kind, Some(Type::Object), "{}", resource.id());
                assert!(schema.properties.contains_key("metadata"), "{}", resource.id());
            }
        }
    }

    #[test]
    fn all_definitions_parse_and_their_references_resolve() {
        for definition in DEFINITIONS.by_name.values() {
            definition.schema();
            for part in definition.json.split("#/components/schemas/").skip(1) {
                let name = part.split('"').next().unwrap();
                assert!(named(name).is_some(), "{name} in {}", definition.name);
            }
        }
    }

    #[test]
    fn references_are_followed() {
        let pod = of_kind("", "v1", "Pod").unwrap().schema();
        let containers = pod.properties["spec"].get().properties["containers"].get();
        assert_eq!(containers.list_type, ListType::Map);
        assert_eq!(containers.list_map_keys, ["name"]);
        let container = containers.items.as_ref().unwrap().get();
        let port = container.properties["ports"].get().items.as_ref().unwrap().get();
        let protocol = &port.properties["protocol"];
        assert_eq!(protocol.default(), Some(&Value::from("TCP")));
        assert_eq!(protocol.get().kind, Some(Type::String));
    }
}
