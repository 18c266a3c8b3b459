//! What a request asks for and what is answered, in the words of a trace.

use std::fmt::Write as _;

use http::request::Parts;
use http::{Method, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::api::options::Query;
use crate::target::{ApiPath, segments};

/// What a request asks for.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// One of [`VERBS`](super::schedule::VERBS).
    pub(super) verb: &'static str,
    /// As in the rules of RBAC: `deployments.apps/status`. Of what asks for no resource, the first part of the path.
    pub(super) resource: String,
    /// An update or a patch that says which version it is for.
    pub(super) conditional: bool,
    /// A read of any state that is as new as this version, or newer.
    pub(super) not_older: Option<u64>,
    /// For people.
    pub(super) line: String,
}

impl Asked {
    pub(super) fn of(parts: &Parts, body: &[u8]) -> Self {
        let path = percent_encoding::percent_decode_str(parts.uri.path()).decode_utf8_lossy();
        let segments = segments(&path);
        let query: Vec<(String, String)> = form_urlencoded::parse(parts.uri.query().unwrap_or("").as_bytes())
            .into_owned()
            .collect();
        let ApiPath {
            group,
            watch,
            namespace,
            rest,
            ..
        } = ApiPath::of(&segments).unwrap_or_default();
        let [plural, rest @ ..] = &rest[..] else {
            let resource = segments
                .first()
                .copied()
                .unwrap_or("/")
                .replace([',', ':', '[', ']', '='], "_");
            return Self {
                verb: "raw",
                resource,
                conditional: false,
                not_older: None,
                line: format!("{} {path}", parts.method),
            };
        };
        let watch = watch || Query::of(&query).flag("watch") == Some(true);
        let verb = match parts.method {
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE => "delete",
            _ if watch => "watch",
            _ if rest.is_empty() => "list",
            _ => "get",
        };
        let mut resource = (*plural).to_owned();
        if !group.is_empty() {
            let _ = write!(resource, ".{group}");
        }
        if let [_, subresource, ..] = rest {
            let _ = write!(resource, "/{subresource}");
        }
        // It is part of a schedule's text.
        let resource = resource.replace([',', ':', '[', ']', '='], "_");
        let mut line = format!("{verb} {resource}");
        match (namespace, rest.first()) {
            (Some(namespace), Some(name)) => _ = write!(line, " {namespace}/{name}"),
            (Some(namespace), None) => _ = write!(line, " in {namespace}"),
            (None, Some(name)) => _ = write!(line, " {name}"),
            (None, None) => {}
        }
        for (name, value) in &query {
            let _ = match (name.as_str(), value.as_str()) {
                ("labelSelector" | "fieldSelector", selector) => write!(line, ", {selector}"),
                ("resourceVersion", "0") => write!(line, ", any version"),
                ("resourceVersion", version) => write!(line, ", from {version}"),
                ("sendInitialEvents", "true") => write!(line, ", with what there is"),
                ("limit", limit) => write!(line, ", limit {limit}"),
                ("continue", _) => write!(line, ", continued"),
                ("dryRun", "All") => write!(line, ", dry run"),
                _ => Ok(()),
            };
        }
        let versions = query.iter().find(|(name, _)| name == "resourceVersion");
        let not_older = versions.and_then(|(_, version)| version.parse().ok());
        let sent: Sent = match verb {
            "update" | "patch" | "delete" => serde_json::from_slice(body).unwrap_or_default(),
            _ => Sent::default(),
        };
        let version = sent.metadata.resource_version.filter(|_| verb != "delete");
        let Preconditions {
            uid,
            resource_version,
        } = sent.preconditions;
        for value in [&version, &resource_version, &uid].into_iter().flatten() {
            let _ = write!(line, ", if {value}");
        }
        Self {
            verb,
            resource,
            conditional: version.is_some(),
            not_older,
            line,
        }
    }

    /// Whether it changes something.
    pub(super) fn writes(&self) -> bool {
        matches!(self.verb, "create" | "update" | "patch" | "delete")
    }

    /// Whether it reads objects.
    pub(super) fn reads(&self) -> bool {
        matches!(self.verb, "get" | "list" | "watch")
    }
}

/// The part of a body that makes a write conditional.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Sent {
    metadata: Metadata,
    preconditions: Preconditions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Preconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    namespace: Option<String>,
    name: Option<String>,
    resource_version: Option<String>,
}

/// The part of an answer that a trace shows.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answered {
    metadata: Metadata,
    items: Option<Vec<IgnoredAny>>,
    reason: Option<String>,
}

/// An answer in a few words.
pub(super) fn answered(status: StatusCode, body: &[u8]) -> String {
    let answer: Answered = serde_json::from_slice(body).unwrap_or_default();
    let mut words = status.as_u16().to_string();
    match (&answer.items, &answer.metadata.name, &answer.reason) {
        (_, _, Some(reason)) if !status.is_success() => _ = write!(words, " {reason}"),
        (Some(items), _, _) => {
            let plural = if items.len() == 1 { "item" } else { "items" };
            let _ = write!(words, ", {} {plural}", items.len());
        }
        (None, Some(_), _) => _ = write!(words, ", {}", key(&answer.metadata)),
        _ => {}
    }
    if let Some(version) = answer
        .metadata
        .resource_version
        .filter(|version| !version.is_empty())
    {
        let _ = write!(words, " at {version}");
    }
    words
}

fn key(metadata: &Metadata) -> String {
    let name = metadata.name.as_deref().unwrap_or("");
    match &metadata.namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

/// An event of a watch.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// For people.
    pub(super) line: String,
    /// The resource version, unless it is an error.
    pub(super) version: Option<u64>,
}

impl Seen {
    pub(super) fn of(frame: &[u8]) -> Self {
        #[derive(Debug, Default, Deserialize)]
        #[serde(default)]
        struct Frame {
            r#type: String,
            object: Object,
        }
        #[derive(Debug, Default, Deserialize)]
        #[serde(default)]
        struct Object {
            metadata: Metadata,
            code: Option<u16>,
        }
        let frame: Frame = serde_json::from_slice(frame).unwrap_or_default();
        let metadata = frame.object.metadata;
        let mut line = frame.r#type;
        if metadata.name.is_some() {
            let _ = write!(line, " {}", key(&metadata));
        }
        if let Some(code) = frame.object.code {
            let _ = write!(line, " {code}");
        }
        if let Some(version) = &metadata.resource_version {
            let _ = write!(line, " at {version}");
        }
        Self {
            line,
            version: metadata.resource_version.and_then(|version| version.parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, uri: &str, body: &str) -> Asked {
        let request = http::Request::builder().method(method).uri(uri).body(());
        Asked::of(&request.expect("a request").into_parts().0, body.as_bytes())
    }

    #[test]
    fn a_request_is_told_in_a_line() {
        for (method, uri, body, line) in [
            (
                "GET",
                "/api/v1/configmaps?resourceVersion=0",
                "",
                "list configmaps, any version",
            ),
            (
                "GET",
                "/api/v1/namespaces/a/pods?watch=true&resourceVersion=7&timeoutSeconds=290",
                "",
                "watch pods in a, from 7",
            ),
            ("POST", "/api/v1/namespaces/a/pods", "{}", "create pods in a"),
            (
                "PUT",
                "/apis/apps/v1/namespaces/a/deployments/web/status",
                r#"{"metadata":{"resourceVersion":"9"}}"#,
                "update deployments.apps/status a/web, if 9",
            ),
            (
                "DELETE",
                "/api/v1/namespaces/a",
                r#"{"preconditions":{"uid":"u"}}"#,
                "delete namespaces a, if u",
            ),
            ("GET", "/version", "", "GET /version"),
            (
                "PATCH",
                "/api/v1/namespaces/a/status",
                "[]",
                "patch namespaces/status a",
            ),
        ] {
            assert_eq!(asked(method, uri, body).line, line);
        }
        assert!(
            asked(
                "PUT",
                "/api/v1/nodes/n",
                r#"{"metadata":{"resourceVersion":"9"}}"#
            )
            .conditional
        );
        assert!(!asked("PUT", "/api/v1/nodes/n", "{}").conditional);
        assert_eq!(asked("GET", "/a:b,c/d", "").resource, "a_b_c");
    }

    #[test]
    fn answers_and_events_are_told_in_a_line() {
        let list = br#"{"kind":"PodList","metadata":{"resourceVersion":"12"},"items":[{"a":[1]},{}]}"#;
        assert_eq!(answered(StatusCode::OK, list), "200, 2 items at 12");
        let pod = br#"{"metadata":{"name":"web","namespace":"a","resourceVersion":"13"}}"#;
        assert_eq!(answered(StatusCode::CREATED, pod), "201, a/web at 13");
        let refusal = br#"{"kind":"Status","reason":"Conflict","code":409}"#;
        assert_eq!(answered(StatusCode::CONFLICT, refusal), "409 Conflict");
        assert_eq!(answered(StatusCode::OK, b"ok"), "200");
        let event =
            Seen::of(br#"{"type":"ADDED","object":{"metadata":{"name":"web","resourceVersion":"14"}}}"#);
        assert_eq!(
            (event.line.as_str(), event.version),
            ("ADDED web at 14", Some(14))
        );
        assert_eq!(
            Seen::of(br#"{"type":"ERROR","object":{"code":410}}"#).line,
            "ERROR 410"
        );
    }
}
