//! What a request is about, and what its answer says that it has done.

use super::state::Written;
use http::{Method, StatusCode, Uri};
use kube_informer::ObjectKey;
use serde::Deserialize;

/// What a write is about.
#[derive(Debug, PartialEq)]
pub(super) struct Target {
    method: Method,
    /// `pods`, `deployments.apps`.
    pub(super) resource: String,
    pub(super) namespace: Option<String>,
    /// Whether it is about one object, not about a collection.
    named: bool,
}

impl Target {
    /// `None` if it is no write of objects that a cache can see.
    pub(super) fn of(method: &Method, uri: &Uri) -> Option<Self> {
        if !matches!(
            *method,
            Method::POST | Method::PUT | Method::PATCH | Method::DELETE
        ) {
            return None;
        }
        if uri.query().unwrap_or_default().contains("dryRun=") {
            return None;
        }
        let mut path: Vec<_> = uri.path().split('/').filter(|part| !part.is_empty()).collect();
        let group = match path.first() {
            Some(&"api") if path.len() > 2 => {
                path.drain(..2);
                ""
            }
            Some(&"apis") if path.len() > 3 => path.drain(..3).nth(1)?,
            _ => return None,
        };
        let namespace = match path.as_slice() {
            // These are subresources of a namespace.
            ["namespaces", _, "status" | "finalize"] => None,
            ["namespaces", namespace, _, ..] => Some((*namespace).to_owned()),
            _ => None,
        };
        if namespace.is_some() {
            path.drain(..2);
        }
        let (plural, named) = match path.as_slice() {
            [plural] => (plural, false),
            [plural, _]
            | [
                plural,
                _,
                "status" | "scale" | "finalize" | "approval" | "ephemeralcontainers" | "resize",
            ] => (plural, true),
            _ => return None,
        };
        let resource = match group {
            "" => (*plural).to_owned(),
            group => format!("{plural}.{group}"),
        };
        Some(Self {
            method: method.clone(),
            resource,
            namespace,
            named,
        })
    }
}

/// What a request says about the version that it changes.
#[derive(Deserialize)]
struct Sent {
    #[serde(default)]
    metadata: Metadata,
}

/// An operation of a JSON patch.
#[derive(Deserialize)]
struct Operation {
    op: String,
    path: String,
    value: Option<serde_json::Value>,
}

/// The resource version that a request carries, or that its JSON patch begins by testing. The server refuses the request if the object has
/// another one.
pub(super) fn condition(request: &[u8]) -> Option<String> {
    let is_json_patch = request.trim_ascii_start().starts_with(b"[");
    let version = if is_json_patch {
        let operations: Vec<Operation> = serde_json::from_slice(request).ok()?;
        let tests = operations
            .into_iter()
            .take_while(|operation| operation.op == "test");
        let tested = tests
            .filter(|test| test.path == "/metadata/resourceVersion")
            .find_map(|test| test.value);
        tested.and_then(|value| value.as_str().map(str::to_owned))
    } else {
        serde_json::from_slice::<Sent>(request)
            .ok()?
            .metadata
            .resource_version
    };
    version.filter(|version| !version.is_empty())
}

/// What is read of an answer: an object, a list of objects, or a status.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    items: Vec<Item>,
    details: Option<Details>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Details {
    name: Option<String>,
    uid: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    deletion_timestamp: Option<String>,
    deletion_grace_period_seconds: Option<i64>,
    finalizers: Vec<String>,
}

impl Metadata {
    /// Whether somebody still holds an object that is being deleted.
    fn is_held(&self) -> bool {
        !self.finalizers.is_empty() || self.deletion_grace_period_seconds.unwrap_or(0) > 0
    }
}

/// What was written, as the answer of a request that succeeded says. An answer that cannot be read says nothing.
///
/// `condition` is the resource version that the request carried.
pub(super) fn written(
    target: &Target,
    condition: Option<&str>,
    status: StatusCode,
    answer: &[u8],
) -> Vec<Written> {
    let Ok(answer) = serde_json::from_slice::<Answer>(answer) else {
        return Vec::new();
    };
    let deletes = target.method == Method::DELETE;
    if deletes && !target.named {
        // They are as they were before. Pods die slowly, and what has finalizers stays for a while; at which version is not said.
        let gone = |item: &Item| item.metadata.finalizers.is_empty() && target.resource != "pods";
        let items = answer.items.into_iter().filter(gone);
        return items
            .filter_map(|item| of_object(target, item.metadata, true))
            .map(|written| Written {
                version: None,
                ..written
            })
            .collect();
    }
    if let Some(Details { name, uid }) = answer.details {
        let metadata = Metadata {
            name,
            uid,
            ..Metadata::default()
        };
        return deletes
            .then(|| of_object(target, metadata, true))
            .flatten()
            .into_iter()
            .collect();
    }
    let metadata = answer.metadata;
    let gone = match deletes {
        // Namespaces have finalizers elsewhere.
        true => {
            target.resource != "namespaces" && !(metadata.deletion_timestamp.is_some() && metadata.is_held())
        }
        // The last finalizer was removed.
        false => {
            metadata.deletion_timestamp.is_some() && target.resource != "namespaces" && !metadata.is_held()
        }
    };
    // A patch and an update can create, too.
    let created = match target.method {
        Method::POST => !target.named,
        Method::DELETE => false,
        _ => status == StatusCode::CREATED,
    };
    let version = metadata.resource_version.clone();
    let conditional = !deletes && condition.is_some_and(|condition| version.as_deref() != Some(condition));
    let written = of_object(target, metadata, gone).map(|written| Written {
        created,
        proven: created || gone || conditional,
        ..written
    });
    written.into_iter().collect()
}

fn of_object(target: &Target, metadata: Metadata, gone: bool) -> Option<Written> {
    let namespace = metadata.namespace.as_deref().or(target.namespace.as_deref());
    let version = metadata.resource_version.filter(|version| !version.is_empty());
    // That of a deleted object may be its last one, and the one of its deletion is later.
    let version = version.filter(|_| !(gone && target.method == Method::DELETE));
    if version.is_none() && !gone {
        return None;
    }
    Some(Written {
        key: ObjectKey::new(namespace, &metadata.name?),
        uid: metadata.uid?.into(),
        version: version.map(|version| version.as_str().into()),
        created: false,
        proven: gone,
        gone,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn target(method: Method, uri: &str) -> Option<Target> {
        Target::of(&method, &uri.parse().unwrap())
    }

    #[test]
    fn the_resource_is_read_from_the_path() {
        let resource = |uri: &str| target(Method::PUT, uri).map(|target| (target.resource, target.namespace));
        let ns = |name: &str| Some(name.to_owned());
        for (uri, expected) in [
            ("/api/v1/namespaces/ns/pods/a", Some(("pods", ns("ns")))),
            ("/api/v1/namespaces/ns/pods/a/status", Some(("pods", ns("ns")))),
            ("/api/v1/namespaces/ns/pods/a/eviction", None),
            ("/api/v1/nodes/a?fieldManager=x", Some(("nodes", None))),
            ("/api/v1/nodes/a?dryRun=All", None),
            ("/api/v1/namespaces/ns", Some(("namespaces", None))),
            ("/api/v1/namespaces/ns/status", Some(("namespaces", None))),
            (
                "/apis/apps/v1/namespaces/ns/deployments/a/scale",
                Some(("deployments.apps", ns("ns"))),
            ),
            ("/apis/example.com/v1/foos/a", Some(("foos.example.com", None))),
            (
                "/apis/certificates.k8s.io/v1/certificatesigningrequests/a/approval",
                Some(("certificatesigningrequests.certificates.k8s.io", None)),
            ),
            ("/version", None),
            ("/apis/apps/v1", None),
        ] {
            let expected = expected.map(|(resource, namespace)| (resource.to_owned(), namespace));
            assert_eq!(resource(uri), expected, "{uri}");
        }
        assert_eq!(target(Method::GET, "/api/v1/nodes/a"), None);
    }

    fn object(version: &str, more: Value) -> Value {
        let mut object = json!({
            "metadata": {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": version}
        });
        json_patch::merge(&mut object["metadata"], &more);
        object
    }

    /// The version, and whether the object is gone.
    fn says(method: Method, uri: &str, answer: &Value) -> Vec<(Option<String>, bool)> {
        let target = target(method, uri).unwrap();
        let answer = answer.to_string();
        let written = written(&target, None, StatusCode::OK, answer.as_bytes()).into_iter();
        written
            .map(|written| {
                assert_eq!((written.key.as_str(), &*written.uid), ("ns/a", "u"));
                (written.version.map(|version| version.to_string()), written.gone)
            })
            .collect()
    }

    #[test]
    fn the_answer_says_what_was_written() {
        let (all, one) = ("/api/v1/namespaces/ns/pods", "/api/v1/namespaces/ns/pods/a");
        let seven = || Some("7".to_owned());
        let plain = object("7", json!({}));
        let held = object("7", json!({"deletionTimestamp": "t", "finalizers": ["a/b"]}));
        let dying = object(
            "7",
            json!({"deletionTimestamp": "t", "deletionGracePeriodSeconds": 30}),
        );
        let over = object(
            "7",
            json!({"deletionTimestamp": "t", "deletionGracePeriodSeconds": 0}),
        );
        assert_eq!(says(Method::POST, all, &plain), [(seven(), false)]);
        for living in [&plain, &held, &dying] {
            assert_eq!(says(Method::PATCH, one, living), [(seven(), false)]);
        }
        assert_eq!(says(Method::PATCH, one, &over), [(seven(), true)]);
        assert_eq!(says(Method::DELETE, one, &held), [(seven(), false)]);
        assert_eq!(says(Method::DELETE, one, &dying), [(seven(), false)]);
        assert_eq!(says(Method::DELETE, one, &over), [(None, true)]);
        assert_eq!(says(Method::DELETE, one, &plain), [(None, true)]);
        let status = json!({"kind": "Status", "metadata": {}, "details": {"name": "a", "uid": "u"}});
        assert_eq!(says(Method::DELETE, one, &status), [(None, true)]);
        assert_eq!(says(Method::POST, all, &status), []);

        let list = json!({"metadata": {"resourceVersion": "9"}, "items": [plain, held]});
        assert_eq!(says(Method::DELETE, all, &list), [], "pods die slowly");
        let maps = "/api/v1/namespaces/ns/configmaps";
        assert_eq!(says(Method::DELETE, maps, &list), [(None, true)]);
        assert_eq!(says(Method::POST, maps, &json!("garbage")), []);
    }

    #[test]
    fn only_an_answer_that_proves_the_write_is_proof() {
        let one = "/api/v1/namespaces/ns/pods/a";
        let is_proven = |method: Method, uri: &str, sent: Value, status: StatusCode| {
            let condition = condition(sent.to_string().as_bytes());
            let answer = object("7", json!({})).to_string();
            let target = target(method, uri).unwrap();
            written(&target, condition.as_deref(), status, answer.as_bytes())[0].proven
        };
        let at = |version: &str| json!({"metadata": {"resourceVersion": version}});
        let (ok, created) = (StatusCode::OK, StatusCode::CREATED);
        for method in [Method::PUT, Method::PATCH] {
            assert!(is_proven(method.clone(), one, at("6"), ok));
            assert!(
                !is_proven(method.clone(), one, at("7"), ok),
                "nothing has changed"
            );
            assert!(!is_proven(method.clone(), one, at(""), ok), "of any version");
            assert!(!is_proven(method.clone(), one, json!({}), ok));
            assert!(!is_proven(
                method.clone(),
                one,
                json!([{"op": "remove", "path": "/a"}]),
                ok
            ));
            assert!(is_proven(method, one, json!({}), created));
        }
        let tests = |before: Value, path: &str| {
            let test = json!({"op": "test", "path": path, "value": "6"});
            let operations: Vec<_> = before.as_array().unwrap().iter().cloned().chain([test]).collect();
            is_proven(Method::PATCH, one, operations.into(), ok)
        };
        let other = json!([{"op": "test", "path": "/metadata/uid", "value": "u"}]);
        let writes = json!([{"op": "add", "path": "/metadata/resourceVersion", "value": "6"}]);
        assert!(tests(json!([]), "/metadata/resourceVersion"));
        assert!(tests(other, "/metadata/resourceVersion"));
        assert!(
            !tests(writes, "/metadata/resourceVersion"),
            "of what it has written itself"
        );
        assert!(!tests(json!([]), "/metadata/generation"));
        assert!(is_proven(
            Method::POST,
            "/api/v1/namespaces/ns/pods",
            json!({}),
            created
        ));
        let held = object("7", json!({"deletionTimestamp": "t", "finalizers": ["a/b"]})).to_string();
        let target = target(Method::DELETE, one).unwrap();
        let marked = &written(&target, Some("6"), ok, held.as_bytes())[0];
        assert!(!marked.proven, "its cleanup is to come");
    }
}
