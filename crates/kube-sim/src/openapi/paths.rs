//! The operations of a resource, by path.

use serde_json::{Map, Value, json};

use super::{REFERENCE, base, component_of};
use crate::resources::{Resource, Subresource};

/// Parameters of lists and watches, but for `pretty`.
const SELECTED: [&str; 11] = [
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
];

const WRITTEN: [&str; 3] = ["dryRun", "fieldManager", "fieldValidation"];

const DELETED: [&str; 5] = [
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "propagationPolicy",
];

/// What the deletion of a collection has beside both.
const DELETED_TOGETHER: [&str; 14] = [
    "continue",
    "dryRun",
    "fieldSelector",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "labelSelector",
    "limit",
    "orphanDependents",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
];

const LOGGED: [&str; 10] = [
    "container",
    "follow",
    "insecureSkipTLSVerifyBackend",
    "limitBytes",
    "previous",
    "sinceSeconds",
    "sinceTime",
    "stream",
    "tailLines",
    "timestamps",
];

/// What a collection of operations belongs to: a path, and the parameters that are in it.
type Paths = Vec<(String, Value)>;

/// A resource in a version that is served.
pub(super) struct Served<'a> {
    resource: &'a Resource,
    version: &'a str,
    /// The name of its schema.
    schema: String,
    /// The name of the schema of its lists, if it has lists.
    list: Option<String>,
    verbs: Vec<&'static str>,
}

impl<'a> Served<'a> {
    pub(super) fn of(resource: &'a Resource, version: &'a str, schema: String, list: Option<String>) -> Self {
        Self {
            resource,
            version,
            schema,
            list,
            verbs: resource.verbs(),
        }
    }

    /// All paths of the resource.
    pub(super) fn paths(&self) -> Paths {
        let (root, plural) = (
            format!("/{}", base(self.resource, self.version)),
            &self.resource.plural,
        );
        let in_namespace = match self.resource.namespaced {
            true => "/namespaces/{namespace}",
            false => "",
        };
        let collection = format!("{root}{in_namespace}/{plural}");
        let one = format!("{collection}/{{name}}");
        let mut paths = vec![self.of_collection(&collection), self.of_one(&one)];
        if self.resource.namespaced {
            let all = format!("{root}/{plural}");
            paths.push(self.of_all(&all, "list"));
        }
        // Nobody watches what is not kept, and nobody asks for custom resources in the old way.
        if self.can("watch") && !self.resource.custom {
            let watched = format!("{root}/watch{in_namespace}/{plural}");
            paths.push(self.of_all(&format!("{watched}/{{name}}"), "watch"));
            paths.push(self.of_all(&watched, "watchlist"));
            if self.resource.namespaced {
                paths.push(self.of_all(&format!("{root}/watch/{plural}"), "watchlist"));
            }
        }
        for subresource in self.resource.subresources() {
            let path = format!("{one}/{}", subresource.name);
            if subresource.name == "proxy" {
                paths.push(self.of_subresource(&format!("{path}/{{path}}"), &subresource));
            }
            paths.push(self.of_subresource(&path, &subresource));
        }
        paths.retain(|(_, operations)| operations.as_object().is_some_and(|members| members.len() > 1));
        paths
    }

    /// The schemas that subresources are sent in.
    pub(super) fn forms(&self) -> Vec<(String, Value)> {
        let forms = self
            .resource
            .subresources()
            .into_iter()
            .filter_map(|one| one.form);
        forms
            .filter_map(|(group, version, kind)| component_of(group, version, kind))
            .collect()
    }

    fn can(&self, verb: &str) -> bool {
        self.verbs.contains(&verb)
    }

    /// One operation on the objects themselves.
    fn operation(&self, action: &str, parameters: &[&str]) -> Value {
        let kind = json!({"group": self.resource.group, "version": self.version, "kind": self.resource.kind});
        let list = self.list.as_ref().filter(|_| action == "list");
        let schema = list.unwrap_or(&self.schema);
        operation(action, kind, schema, parameters, self.resource.custom)
    }

    fn of_all(&self, path: &str, action: &str) -> (String, Value) {
        let mut operations = in_path(path);
        if self.can("list") {
            operations["get"] = self.operation(action, &SELECTED);
        }
        (path.to_owned(), operations)
    }

    fn of_collection(&self, path: &str) -> (String, Value) {
        let mut operations = in_path(path);
        if self.can("list") {
            operations["get"] = self.operation("list", &SELECTED);
        }
        if self.can("create") {
            operations["post"] = self.operation("post", &WRITTEN);
        }
        if self.can("deletecollection") {
            let parameters: &[&str] = match self.resource.custom {
                true => &SELECTED,
                false => &DELETED_TOGETHER,
            };
            operations["delete"] = self.operation("deletecollection", parameters);
        }
        (path.to_owned(), operations)
    }

    fn of_one(&self, path: &str) -> (String, Value) {
        let mut operations = in_path(path);
        let read: &[&str] = match self.resource.custom {
            true => &["resourceVersion"],
            false => &[],
        };
        let patched = [&WRITTEN[..], &["force"]].concat();
        for (verb, method, action, parameters) in [
            ("get", "get", "get", read),
            ("update", "put", "put", &WRITTEN[..]),
            ("patch", "patch", "patch", &patched[..]),
            ("delete", "delete", "delete", &DELETED[..]),
        ] {
            if self.can(verb) {
                operations[method] = self.operation(action, parameters);
            }
        }
        (path.to_owned(), operations)
    }

    fn of_subresource(&self, path: &str, subresource: &Subresource) -> (String, Value) {
        let mut operations = in_path(path);
        let own = (
            self.resource.group.as_str(),
            self.version,
            self.resource.kind.as_str(),
        );
        let (group, version, kind) = subresource.form.unwrap_or(own);
        let schema = component_of(group, version, kind).map_or_else(|| self.schema.clone(), |(name, _)| name);
        let kind = json!({"group": group, "version": version, "kind": kind});
        let of = |action: &str, parameters: &[&str]| {
            operation(action, kind.clone(), &schema, parameters, self.resource.custom)
        };
        let patched = [&WRITTEN[..], &["force"]].concat();
        let connected: Option<(&[&str], &[&str])> = match subresource.name {
            "attach" => Some((
                &["get", "post"],
                &["container", "stderr", "stdin", "stdout", "tty"],
            )),
            "exec" => Some((
                &["get", "post"],
                &["command", "container", "stderr", "stdin", "stdout", "tty"],
            )),
            "portforward" => Some((&["get", "post"], &["ports"])),
            "proxy" => Some((
                &["delete", "get", "head", "options", "patch", "post", "put"],
                &["path"],
            )),
            _ => None,
        };
        if let Some((methods, parameters)) = connected {
            for method in methods {
                operations[*method] = of("connect", parameters);
            }
            return (path.to_owned(), operations);
        }
        let read: &[&str] = match subresource.name {
            "log" => &LOGGED,
            _ if self.resource.custom => &["resourceVersion"],
            _ => &[],
        };
        for (verb, method, action, parameters) in [
            ("get", "get", "get", read),
            ("create", "post", "post", &WRITTEN[..]),
            ("update", "put", "put", &WRITTEN[..]),
            ("patch", "patch", "patch", &patched[..]),
        ] {
            if subresource.verbs.contains(&verb) {
                operations[method] = of(action, parameters);
            }
        }
        (path.to_owned(), operations)
    }
}

/// The path that lists the resources of a version.
pub(super) fn of_resources() -> Value {
    let content = json!({"application/json": {"schema": {"type": "object"}}});
    json!({"get": {"responses": {"200": {"description": "OK", "content": content}}}})
}

/// No operations yet, and the parameters that all of them have: those in the path, and `pretty`.
fn in_path(path: &str) -> Value {
    let names = path.split(['{', '}']).skip(1).step_by(2);
    let mut parameters: Vec<_> = names
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "uniqueItems": true}}))
        .collect();
    parameters.push(parameter("pretty"));
    json!({"parameters": parameters})
}

fn parameter(name: &str) -> Value {
    let kind = match name {
        "limit" | "timeoutSeconds" | "gracePeriodSeconds" | "limitBytes" | "sinceSeconds" | "tailLines" => {
            "integer"
        }
        "allowWatchBookmarks"
        | "sendInitialEvents"
        | "watch"
        | "force"
        | "orphanDependents"
        | "follow"
        | "previous"
        | "timestamps"
        | "stderr"
        | "stdin"
        | "stdout"
        | "tty"
        | "insecureSkipTLSVerifyBackend"
        | "ignoreStoreReadErrorWithClusterBreakingPotential" => "boolean",
        _ => "string",
    };
    json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}})
}

fn operation(action: &str, kind: Value, schema: &str, parameters: &[&str], custom: bool) -> Value {
    let schema = json!({"schema": {"$ref": format!("{REFERENCE}{schema}")}});
    let content = json!({"application/json": schema});
    let mut responses = json!({"401": {"description": "Unauthorized"}});
    let codes: &[(&str, &str)] = match action {
        "post" => &[("200", "OK"), ("201", "Created"), ("202", "Accepted")],
        "delete" => &[("200", "OK"), ("202", "Accepted")],
        "put" => &[("200", "OK"), ("201", "Created")],
        "patch" if !custom => &[("200", "OK"), ("201", "Created")],
        _ => &[("200", "OK")],
    };
    for (code, description) in codes {
        responses[*code] = json!({"description": description, "content": content});
    }
    let mut operation = json!({
        "parameters": parameters.iter().copied().map(parameter).collect::<Vec<_>>(),
        "responses": responses,
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": kind,
    });
    let sent: &[&str] = match (action, custom) {
        ("patch", true) => &[
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
        ],
        ("patch", false) => &[
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
        ],
        ("post" | "put" | "delete", true) => &["application/json", "application/yaml"],
        ("post" | "put" | "delete" | "deletecollection", false) => &["*/*"],
        _ => &[],
    };
    if !sent.is_empty() {
        let content: Map<String, Value> = sent
            .iter()
            .map(|media| ((*media).to_owned(), schema.clone()))
            .collect();
        operation["requestBody"] = json!({"content": content});
    }
    operation
}
