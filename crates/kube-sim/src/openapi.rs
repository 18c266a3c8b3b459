//! OpenAPI: what `kubectl explain` shows, and what kubectl asks before it sends an object; `v2` is the one of former years.
//!
//! A document of version 3 for each group and version, with the schemas of its kinds and of all that they refer to: those of
//! built-in kinds as a kube-apiserver publishes them, but for the descriptions, those of custom resources from their
//! definitions. `paths` has the operations: those of each path that is served, with their parameters.

use std::collections::BTreeMap;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Map, Value, json};

use crate::resources::{Registry, Resource};
use crate::response::{SimBody, json_response, whole};
use crate::schema;
use paths::Served;

mod gnostic;
mod paths;
mod v2;

const REFERENCE: &str = "#/components/schemas/";
const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// The answer to `/openapi/v3` (`path` is empty) or to a document below it; `None` for an unknown document.
pub(crate) fn answer(registry: &Registry, path: &[&str]) -> Option<Value> {
    match path {
        [] => Some(index(registry)),
        ["api", version] => document(registry, "", version),
        ["apis", group, version] => document(registry, group, version),
        _ => None,
    }
}

/// The answer to `/openapi/v2`.
pub(crate) fn answer_v2(registry: &Registry, accept: &str) -> Response<SimBody> {
    let document = v2::document(registry);
    let offers = accept.split([',', ';']).map(str::trim);
    match offers.into_iter().find(|offer| v2::PROTOBUF.contains(offer)) {
        Some(_) => {
            let mut response = Response::new(whole(gnostic::document(&document).into()));
            let media_type = HeaderValue::from_static(v2::PROTOBUF[1]);
            response.headers_mut().insert(CONTENT_TYPE, media_type);
            response
        }
        None => json_response(StatusCode::OK, whole(format!("{document}\n").into())),
    }
}

fn base(resource: &Resource, version: &str) -> String {
    let prefix = if resource.group.is_empty() { "api" } else { "apis" };
    format!("{prefix}/{}", resource.api_version(version))
}

fn index(registry: &Registry) -> Value {
    let mut paths = Map::new();
    for resource in registry.shown() {
        for version in &resource.versions {
            let base = base(resource, version);
            let url = format!("/openapi/v3/{base}");
            paths.insert(base, json!({"serverRelativeURL": url}));
        }
    }
    json!({"paths": paths})
}

fn document(registry: &Registry, group: &str, version: &str) -> Option<Value> {
    let mut paths = Map::new();
    let mut schemas = BTreeMap::new();
    let mut is_built_in = false;
    for resource in registry.of_version(group, version) {
        is_built_in |= !resource.custom;
        let (name, schema) = component(&resource, version);
        let list = list_component(&resource, version, &name);
        let list_name = list.as_ref().map(|(name, _)| name.clone());
        add(&mut schemas, name.clone(), schema);
        if let Some((name, schema)) = list {
            add(&mut schemas, name, schema);
        }
        let served = Served::of(&resource, version, name, list_name);
        paths.extend(served.paths());
        for (name, schema) in served.forms() {
            add(&mut schemas, name, schema);
        }
    }
    if paths.is_empty() {
        return None;
    }
    let root = if group.is_empty() {
        format!("/api/{version}/")
    } else {
        format!("/apis/{group}/{version}/")
    };
    // Of the resources of definitions, a real server publishes nothing else.
    if is_built_in {
        paths.insert(root, paths::of_resources());
    }
    let info = json!({"title": "kube-sim", "version": env!("CARGO_PKG_VERSION")});
    let components = json!({"schemas": schemas});
    Some(json!({"openapi": "3.0.0", "info": info, "paths": paths, "components": components}))
}

/// The name of a resource's schema, and the schema.
fn component(resource: &Resource, version: &str) -> (String, Value) {
    let known = component_of(&resource.group, version, &resource.kind);
    if let (false, Some(known)) = (resource.custom, known) {
        return known;
    }
    let given = resource.definition.versions.get(version);
    let published = given.and_then(|version| version.published.clone());
    let mut schema = published.unwrap_or_else(|| json!({"type": "object"}));
    describe_embedded(&mut schema);
    schema["properties"]["apiVersion"] = api_version();
    schema["properties"]["kind"] = kind();
    schema["properties"]["metadata"] = metadata();
    extend(&mut schema, resource, version, &resource.kind);
    (name_of(resource, version, &resource.kind), schema)
}

const CONVENTIONS: &str =
    "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

fn api_version() -> Value {
    described(&format!(
        "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to \
         the latest internal value, and may reject unrecognized values. {CONVENTIONS}#resources"
    ))
}

fn kind() -> Value {
    described(&format!(
        "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint \
         the client submits requests to. Cannot be updated. In CamelCase. {CONVENTIONS}#types-kinds"
    ))
}

fn described(description: &str) -> Value {
    json!({"description": description, "type": "string"})
}

fn metadata() -> Value {
    json!({
        "description": format!("Standard object's metadata. {CONVENTIONS}#metadata"),
        "allOf": [{"$ref": format!("{REFERENCE}{METADATA}")}],
    })
}

/// Says of objects in a schema what all objects have.
fn describe_embedded(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    for name in ["items", "additionalProperties"] {
        members.get_mut(name).into_iter().for_each(describe_embedded);
    }
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        properties.values_mut().for_each(describe_embedded);
    }
    if members.get("x-kubernetes-embedded-resource") != Some(&Value::Bool(true)) {
        return;
    }
    let properties = members.entry("properties").or_insert_with(|| json!({}));
    let what = "apiVersion defines the versioned schema of this representation of an object.";
    properties["apiVersion"] = described(&format!("{what} {CONVENTIONS}#resources"));
    let what = "kind is a string value representing the type of this object. In CamelCase.";
    properties["kind"] = described(&format!("{what} {CONVENTIONS}#types-kinds"));
    properties["metadata"] = metadata();
    let required = members.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        for name in ["kind", "apiVersion"] {
            if required.iter().all(|other| other != name) {
                required.push(name.into());
            }
        }
    }
}

/// The name of the schema of a resource's lists, and that schema; `of` is the name of the schema of one.
fn list_component(resource: &Resource, version: &str, of: &str) -> Option<(String, Value)> {
    let list_kind = &resource.list_kind;
    if !resource.custom {
        return component_of(&resource.group, version, list_kind);
    }
    let mut schema = json!({
        "description": format!("{list_kind} is a list of {}", resource.kind), "type": "object", "required": ["items"],
        "properties": {
            "apiVersion": api_version(),
            "kind": kind(),
            "metadata": {
                "description": format!("Standard list metadata. {CONVENTIONS}#types-kinds"),
                "allOf": [{"$ref": format!("{REFERENCE}{LIST_METADATA}")}],
            },
            "items": {
                "description": format!("List of {}. {CONVENTIONS}", resource.plural),
                "type": "array", "items": {"$ref": format!("{REFERENCE}{of}")},
            },
        },
    });
    extend(&mut schema, resource, version, list_kind);
    Some((name_of(resource, version, list_kind), schema))
}

/// The name of the schema of a custom resource or of its lists.
fn name_of(resource: &Resource, version: &str, kind: &str) -> String {
    let mut group: Vec<_> = resource.group.split('.').collect();
    group.reverse();
    format!("{}.{version}.{kind}", group.join("."))
}

/// Says what a schema is of, and by which fields its objects may be selected.
fn extend(schema: &mut Value, resource: &Resource, version: &str, kind: &str) {
    schema["x-kubernetes-group-version-kind"] =
        json!([{"group": resource.group, "version": version, "kind": kind}]);
    let given = resource.definition.versions.get(version);
    let fields = given.map_or(&[][..], |version| &version.fields);
    if !fields.is_empty() {
        let fields: Value = fields.iter().map(|field| json!({"fieldPath": field})).collect();
        schema["x-kubernetes-selectable-fields"] = fields;
    }
}

/// The schema of a built-in kind, with its name.
fn component_of(group: &str, version: &str, kind: &str) -> Option<(String, Value)> {
    let definition = schema::of_kind(group, version, kind)?;
    Some((definition.name.to_owned(), definition.json()))
}

/// Adds a schema, and those that it refers to.
fn add(schemas: &mut BTreeMap<String, Value>, name: String, schema: Value) {
    let mut waiting = vec![(name, schema)];
    while let Some((name, schema)) = waiting.pop() {
        if schemas.contains_key(&name) {
            continue;
        }
        let mut referred = Vec::new();
        references(&schema, &mut referred);
        for name in referred {
            if let Some(definition) = schema::named(&name) {
                waiting.push((name, definition.json()));
            }
        }
        schemas.insert(name, schema);
    }
}

fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            let reference = members.get("$ref").and_then(Value::as_str);
            if let Some(name) = reference.and_then(|reference| reference.strip_prefix(REFERENCE)) {
                found.push(name.to_owned());
            }
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}
