//! Discovery: a server's resources, version and health.

pub(crate) mod routes;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, Response, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha512};

use crate::media;
use crate::openapi;
use crate::resources::{Registry, Resource, by_preference};
use crate::response::{SimBody, json_lines, json_value, refusal, text, whole};
use crate::version;
use routes::{AGGREGATED, aggregates, is_routed};

/// The groups of built-in kinds in the order in which a real server lists them, which clients prefer the first of; those of
/// custom resources follow.
const GROUPS: [&str; 21] = [
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
];

/// What a client asks for beside objects.
pub(crate) struct Asked<'a> {
    pub(crate) path: &'a str,
    /// The one media type that is answered in, or those of which none can be.
    pub(crate) accept: &'a str,
    /// Whether an answer about health says more.
    pub(crate) verbose: bool,
    /// The server as the client calls it, if it does.
    pub(crate) host: Option<&'a str>,
}

/// The answer to a path that does not concern objects; `None` for one that does.
pub(crate) fn answer(registry: &Registry, segments: &[&str], asked: &Asked<'_>) -> Option<Response<SimBody>> {
    let verbose = asked.verbose;
    let is_known = match segments {
        // A router that takes slashes at the end is behind these only.
        ["api", ..] | ["apis", _, ..] | ["version"] => true,
        ["apis"] => matches!(asked.path, "/apis" | "/apis/"),
        [] => true,
        _ => !asked.path.ends_with('/'),
    };
    if !is_known {
        return None;
    }
    match segments {
        ["healthz", "ping"] => return Some(text(StatusCode::OK, "ok")),
        ["healthz"] if verbose => return Some(text(StatusCode::OK, "[+]ping ok\nhealthz check passed\n")),
        ["readyz"] if verbose => return Some(text(StatusCode::OK, "[+]ping ok\nreadyz check passed\n")),
        ["livez"] if verbose => return Some(text(StatusCode::OK, "[+]ping ok\nlivez check passed\n")),
        ["healthz" | "readyz" | "livez", ..] => return Some(text(StatusCode::OK, "ok")),
        [] => return Some(json_lines(&json!({"paths": paths(registry)}))),
        ["version"] => return Some(json_lines(&version::version())),
        ["openapi", "v2"] => return Some(openapi::answer_v2(registry, asked.accept)),
        ["openapi", "v3", path @ ..] => {
            return Some(json_value(StatusCode::OK, &openapi::answer(registry, path)?));
        }
        _ => {}
    }
    let value = discovered(registry, segments, asked.host)?;
    Some(match asked.accept {
        "" | "application/json" => json_value(StatusCode::OK, &value),
        AGGREGATED if aggregates(asked.path) => discovery_list(registry, segments[0] == "api"),
        accept => refusal(&media::not_discoverable(accept, is_routed(registry, segments))),
    })
}

/// Whether a path of what [`answer`] knows can only be read by GET.
pub(crate) fn knows_methods(registry: &Registry, segments: &[&str]) -> bool {
    match segments {
        ["version"] => true,
        segments => routes::is_about(segments) && is_routed(registry, segments),
    }
}

/// What a path of discovery says.
fn discovered(registry: &Registry, segments: &[&str], host: Option<&str>) -> Option<Value> {
    Some(match segments {
        ["api"] => {
            let address = |host| json!({"clientCIDR": "0.0.0.0/0", "serverAddress": host});
            let addresses: Vec<Value> = host.into_iter().map(address).collect();
            json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses})
        }
        ["apis"] => json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups(registry)}),
        ["api", version] => resource_list(registry, "", version)?,
        ["apis", group] => {
            let mut found = groups(registry).into_iter().find(|g| g["name"] == *group)?;
            found["kind"] = "APIGroup".into();
            found["apiVersion"] = "v1".into();
            found
        }
        ["apis", group, version] => resource_list(registry, group, version)?,
        _ => return None,
    })
}

/// The groups, each with its versions, the preferred one first; also those of resources of which clients are not told.
fn group_versions(registry: &Registry) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    let served = registry.iter().filter(|resource| !resource.versions.is_empty());
    for resource in served {
        match groups.last_mut() {
            Some((name, versions)) if *name == resource.group => {
                let new = resource
                    .versions
                    .iter()
                    .filter(|v| !versions.contains(v))
                    .cloned()
                    .collect::<Vec<_>>();
                versions.extend(new);
            }
            _ => groups.push((resource.group.clone(), resource.versions.clone())),
        }
    }
    for (_, versions) in &mut groups {
        versions.sort_by(|one, other| by_preference(one, other));
    }
    groups.sort_by_key(|(group, _)| {
        GROUPS
            .iter()
            .position(|known| known == group)
            .unwrap_or(GROUPS.len())
    });
    groups
}

/// What can be asked for, but for the objects.
fn paths(registry: &Registry) -> Vec<String> {
    const OTHERS: [&str; 16] = [
        "/.well-known/openid-configuration",
        "/api",
        "/api/v1",
        "/apis",
        "/apis/",
        "/healthz",
        "/healthz/ping",
        "/livez",
        "/livez/ping",
        "/metrics",
        "/openapi/v2",
        "/openapi/v3",
        "/openid/v1/jwks",
        "/readyz",
        "/readyz/ping",
        "/version",
    ];
    let mut paths: Vec<_> = OTHERS.map(str::to_owned).into();
    for (group, versions) in group_versions(registry) {
        if group.is_empty() {
            continue;
        }
        paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
        paths.push(format!("/apis/{group}"));
    }
    paths.sort();
    paths
}

fn groups(registry: &Registry) -> Vec<Value> {
    let named = group_versions(registry)
        .into_iter()
        .filter(|(group, _)| !group.is_empty());
    let described = named.map(|(group, versions)| {
        let versions: Vec<_> = versions
            .iter()
            .map(|v| json!({"groupVersion": format!("{group}/{v}"), "version": v}))
            .collect();
        json!({"name": group, "versions": versions, "preferredVersion": versions[0]})
    });
    described.collect()
}

fn resource_list(registry: &Registry, group: &str, version: &str) -> Option<Value> {
    let mut resources = Vec::new();
    let mut api_version = None;
    for resource in registry.of_version(group, version) {
        let resource = &*resource;
        api_version = Some(resource.api_version(version));
        let mut described = json!({
            "name": resource.plural,
            "singularName": resource.singular,
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": resource.verbs(),
        });
        if !resource.short_names.is_empty() {
            described["shortNames"] = json!(resource.short_names);
        }
        if !resource.categories.is_empty() {
            described["categories"] = json!(resource.categories);
        }
        if !resource.review && !resource.report {
            described["storageVersionHash"] = storage_version_hash(resource).into();
        }
        resources.push(described);
        for subresource in resource.subresources() {
            let mut described = json!({
                "name": format!("{}/{}", resource.plural, subresource.name),
                "singularName": "",
                "namespaced": resource.namespaced,
                "kind": subresource.form.map_or(resource.kind.as_str(), |(_, _, kind)| kind),
                "verbs": subresource.verbs,
            });
            if let Some((other, version, _)) = subresource.form.filter(|(other, _, _)| *other != group) {
                described["group"] = other.into();
                described["version"] = version.into();
            }
            resources.push(described);
        }
    }
    let mut list = json!({"kind": "APIResourceList", "groupVersion": api_version?, "resources": resources});
    // The list of the core group is older than the field.
    if !group.is_empty() {
        list["apiVersion"] = "v1".into();
    }
    Some(list)
}

/// Tells clients that the storage version of a resource has changed, by the first eight bytes of a hash.
fn storage_version_hash(resource: &Resource) -> String {
    let hash = Sha256::digest(resource.storage_kind());
    STANDARD.encode(&hash[..8])
}

/// Aggregated discovery (apidiscovery.k8s.io/v2).
fn discovery_list(registry: &Registry, core: bool) -> Response<SimBody> {
    let items: Vec<_> = group_versions(registry)
        .into_iter()
        .filter(|(group, _)| group.is_empty() == core)
        .map(|(group, versions)| {
            let of_version = |version: &String| {
                let all = registry.of_version(&group, version);
                let resources: Vec<_> = all.map(|resource| described(&resource, version)).collect();
                let is_told = !resources.is_empty();
                is_told.then(|| json!({"version": version, "resources": resources, "freshness": "Current"}))
            };
            let versions: Vec<_> = versions.iter().filter_map(of_version).collect();
            let metadata = if core { json!({}) } else { json!({"name": group}) };
            json!({"metadata": metadata, "versions": versions})
        })
        .filter(|group| group["versions"] != json!([]))
        .collect();
    let list = json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    });
    let mut response = json_value(StatusCode::OK, &list);
    // A real server has one tag for all encodings, too: whoever caches goes by `Vary`.
    let tag: String = Sha512::digest(list["items"].to_string())
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect();
    for (name, value) in [
        (CONTENT_TYPE, AGGREGATED.to_owned()),
        (ETAG, format!("\"{tag}\"")),
        (VARY, "Accept".to_owned()),
        (CACHE_CONTROL, "public".to_owned()),
    ] {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// An answer, or that it is the one that the client has. As in a real server, only the very tag counts, no list and no `*`.
pub(crate) fn unless_known(headers: &HeaderMap, mut answer: Response<SimBody>) -> Response<SimBody> {
    let known = headers.get(IF_NONE_MATCH);
    if known.is_some() && known == answer.headers().get(ETAG) {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
        answer.headers_mut().remove(CONTENT_TYPE);
        *answer.body_mut() = whole(Bytes::new());
    }
    answer
}

fn described(resource: &Resource, version: &str) -> Value {
    let kind = json!({"group": resource.group, "version": version, "kind": resource.kind});
    let mut described = json!({
        "resource": resource.plural,
        "responseKind": kind,
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs(),
    });
    if !resource.short_names.is_empty() {
        described["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        described["categories"] = json!(resource.categories);
    }
    let subresources = resource.subresources().into_iter().map(|subresource| {
        let kind = match subresource.form {
            Some((group, version, kind)) => json!({"group": group, "version": version, "kind": kind}),
            None => kind.clone(),
        };
        json!({"subresource": subresource.name, "responseKind": kind, "verbs": subresource.verbs})
    });
    let subresources: Vec<_> = subresources.collect();
    if !subresources.is_empty() {
        described["subresources"] = subresources.into();
    }
    described
}
