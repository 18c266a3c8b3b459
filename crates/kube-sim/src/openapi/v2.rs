//! OpenAPI v2, for clients of former years: one document of everything, made of what version 3 says.
//!
//! It is served as JSON, and in protobuf (`gnostic`), which kubectl asked for before 1.27.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use super::{REFERENCE, add, base, component, list_component};
use crate::resources::Registry;
use crate::version;

const DEFINITIONS: &str = "#/definitions/";

/// What version 2 does not have.
const UNKNOWN: [&str; 7] = [
    "allOf",
    "anyOf",
    "default",
    "not",
    "nullable",
    "oneOf",
    "x-kubernetes-validations",
];

/// What is said of every resource.
const SAID_OF_ALL: [&str; 2] = [
    "x-kubernetes-group-version-kind",
    "x-kubernetes-selectable-fields",
];

const PRESERVED: &str = "x-kubernetes-preserve-unknown-fields";

/// The media type of the document in protobuf, in the spellings of clients.
pub(crate) const PROTOBUF: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
];

/// The document.
pub(crate) fn document(registry: &Registry) -> Value {
    let mut paths = Map::new();
    let mut schemas = BTreeMap::new();
    for resource in registry.shown() {
        for version in &resource.versions {
            let (name, mut schema) = component(resource, version);
            if schema[PRESERVED] == true {
                // Clients would refuse what it does not name.
                let Value::Object(members) = &mut schema else {
                    continue;
                };
                members.retain(|name, _| name == "type" || SAID_OF_ALL.contains(&name.as_str()));
            }
            let list = list_component(resource, version, &name);
            let list_name = list.as_ref().map_or(&name, |(name, _)| name);
            let reference = |action: &str| {
                let name = if action == "list" { list_name } else { &name };
                format!("{DEFINITIONS}{name}")
            };
            let place = if resource.namespaced {
                "/namespaces/{namespace}"
            } else {
                ""
            };
            let path = format!("/{}{place}/{}", base(resource, version), resource.plural);
            let kind = json!({"group": resource.group, "version": version, "kind": resource.kind});
            let operation = |action: &str, parameters: &[&str]| {
                let parameters: Vec<_> = parameters
                    .iter()
                    .map(|name| json!({"name": name, "in": "query", "type": "string", "uniqueItems": true}))
                    .collect();
                json!({
                    "responses": {"200": {"description": "OK", "schema": {"$ref": reference(action)}}},
                    "parameters": parameters,
                    "x-kubernetes-action": action,
                    "x-kubernetes-group-version-kind": kind,
                })
            };
            let written = ["dryRun", "fieldManager", "fieldValidation"];
            let of_all = json!({"get": operation("list", &[]), "post": operation("post", &written)});
            let of_one = json!({
                "get": operation("get", &[]),
                "put": operation("put", &written),
                "patch": operation("patch", &written),
                "delete": operation("delete", &["dryRun"]),
            });
            paths.insert(path.clone(), of_all);
            paths.insert(format!("{path}/{{name}}"), of_one);
            for (name, schema) in list.into_iter().chain([(name, schema)]) {
                add(&mut schemas, name, schema);
            }
        }
    }
    let definitions: Map<String, Value> = schemas
        .into_iter()
        .map(|(name, mut schema)| {
            convert(&mut schema);
            (name, schema)
        })
        .collect();
    let info = json!({"title": "Kubernetes", "version": version::version()["gitVersion"]});
    json!({"swagger": "2.0", "info": info, "paths": paths, "definitions": definitions})
}

/// Says nothing of what may be more than version 2 can say: clients would refuse the rest.
fn loosen(members: &mut Map<String, Value>) {
    let is_true = |members: &Map<String, Value>, name: &str| members.get(name) == Some(&Value::Bool(true));
    let (nullable, preserved) = (is_true(members, "nullable"), is_true(members, PRESERVED));
    if nullable || preserved {
        members.remove("items");
        members.remove("properties");
    }
    let kind = members.get("type").and_then(Value::as_str);
    let is_open = match kind {
        Some("array") => !members.contains_key("items"),
        Some("object") => preserved,
        _ => false,
    };
    if nullable || is_open {
        members.remove("type");
    }
    let may_be_null = |schema: &Value| schema["nullable"] == true;
    let values_may = members.get("additionalProperties").is_some_and(may_be_null);
    let properties = members.get("properties").and_then(Value::as_object);
    let nullable = properties
        .into_iter()
        .flatten()
        .filter(|(_, schema)| may_be_null(schema));
    let nullable: HashSet<_> = nullable.map(|(name, _)| name.clone()).collect();
    let required = members.get_mut("required").and_then(Value::as_array_mut);
    let is_left = required.map(|required| {
        required.retain(|name| name.as_str().is_none_or(|name| !nullable.contains(name)));
        !required.is_empty() && !values_may
    });
    if is_left == Some(false) {
        members.remove("required");
    }
}

/// Makes a schema of version 3 one of version 2.
fn convert(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    // A reference with something beside it.
    let referred = match members.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        Some([only]) => only.get("$ref").cloned(),
        _ => None,
    };
    members.extend(referred.map(|reference| ("$ref".to_owned(), reference)));
    // A number or a string.
    if members.contains_key("oneOf") && !members.contains_key("type") {
        members.insert("type".into(), "string".into());
    }
    loosen(members);
    members.retain(|name, _| !UNKNOWN.contains(&name.as_str()));
    if let Some(Value::String(reference)) = members.get_mut("$ref") {
        *reference = reference.replace(REFERENCE, DEFINITIONS);
    }
    for name in ["items", "additionalProperties"] {
        members.get_mut(name).into_iter().for_each(convert);
    }
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        properties.values_mut().for_each(convert);
    }
}
