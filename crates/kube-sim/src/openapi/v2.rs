//! OpenAPI v2, for clients of former years: one document of everything, made of what version 3 says.
//!
//! It is served as JSON, and in protobuf (`gnostic`), which kubectl asked for before 1.27.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{REFERENCE, add, base, component, list_component};
use crate::resources::Registry;
use crate::version;

const DEFINITIONS: &str = "#/definitions/";

/// What version 2 does not have.
const UNKNOWN: [&str; 6] = [
    "allOf",
    "anyOf",
    "not",
    "nullable",
    "oneOf",
    "x-kubernetes-validations",
];

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
            let (name, schema) = component(resource, version);
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
