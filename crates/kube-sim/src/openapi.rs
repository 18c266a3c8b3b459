//! The part of OpenAPI that kubectl needs before it sends an object.
//!
//! kubectl checks whether the server validates fields (the `fieldValidation` parameter of PATCH), and if it does,
//! does not validate them itself. There are no schemas here: any field is accepted.

use serde_json::{Map, Value, json};

use crate::resources::{Registry, Resource};

/// The answer to `/openapi/v3` (`path` is empty) or to a document below it; `None` for an unknown document.
pub(crate) fn answer(registry: &Registry, path: &[&str]) -> Option<Value> {
    match path {
        [] => Some(index(registry)),
        ["api", version] => document(registry, "", version),
        ["apis", group, version] => document(registry, group, version),
        _ => None,
    }
}

fn base(resource: &Resource, version: &str) -> String {
    let prefix = if resource.group.is_empty() { "api" } else { "apis" };
    format!("{prefix}/{}", resource.api_version(version))
}

fn index(registry: &Registry) -> Value {
    let mut paths = Map::new();
    for resource in registry.iter() {
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
    for resource in registry
        .iter()
        .filter(|r| r.group == group && r.versions.iter().any(|v| v == version))
    {
        let place = if resource.namespaced {
            "/namespaces/{namespace}"
        } else {
            ""
        };
        let path = format!("/{}{place}/{}/{{name}}", base(resource, version), resource.plural);
        let parameter = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
        let patch = json!({
            "parameters": [parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation")],
            "responses": {},
            "x-kubernetes-action": "patch",
            "x-kubernetes-group-version-kind": {"group": group, "version": version, "kind": resource.kind},
        });
        paths.insert(path, json!({"patch": patch}));
    }
    if paths.is_empty() {
        return None;
    }
    let info = json!({"title": "kube-sim", "version": env!("CARGO_PKG_VERSION")});
    Some(json!({"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": {}}}))
}
