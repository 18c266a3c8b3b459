//! What a request is about.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::object::{Stored, join_key};
use crate::resources::Resource;
use crate::view;

/// The largest body a request may have, as for a real server.
pub(crate) const MAX_BODY: usize = 3 * 1024 * 1024;

/// One request for a resource.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) resource: Arc<Resource>,
    pub(crate) version: String,
    /// None: all namespaces, or the resource has none.
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

impl Target {
    /// The object of this key, in the version of the resource.
    pub(crate) fn of(resource: Arc<Resource>, key: &str) -> Self {
        let (namespace, name) = match key.split_once('/') {
            Some((namespace, name)) => (Some(namespace.to_owned()), name),
            None => (None, key),
        };
        Self {
            version: match resource.custom {
                true => resource.version.to_string(),
                false => resource.preferred().to_owned(),
            },
            resource,
            namespace,
            name: Some(name.to_owned()),
            subresource: None,
        }
    }

    pub(crate) fn key(&self) -> String {
        let name = self.name.as_deref().unwrap_or("");
        join_key(self.namespace.as_deref().unwrap_or(""), name)
    }

    /// The start of all keys that the request is about.
    pub(crate) fn prefix(&self) -> String {
        self.namespace
            .as_ref()
            .map_or_else(String::new, |namespace| format!("{namespace}/"))
    }

    /// Decodes a stored object in the version that is asked for; needs room for its depth.
    pub(crate) fn decode(&self, stored: &Stored) -> Map<String, Value> {
        view::decode(&self.resource, &self.version, stored)
    }

    pub(crate) fn head(&self) -> Bytes {
        self.resource.head(&self.version)
    }
}

/// The parts of a path. One that is empty counts, but at the ends: a namespace without a name is all of them.
pub(crate) fn segments(path: &str) -> Vec<&str> {
    match path.trim_matches('/') {
        "" => Vec::new(),
        path => path.split('/').collect(),
    }
}

/// A path of the API by its form, whether there is such a resource or not.
#[derive(Default)]
pub(crate) struct ApiPath<'a> {
    pub(crate) group: &'a str,
    pub(crate) version: &'a str,
    /// The old way to ask for a watch, also of one object.
    pub(crate) watch: bool,
    pub(crate) namespace: Option<&'a str>,
    /// The plural, a name, a subresource.
    pub(crate) rest: Vec<&'a str>,
}

impl<'a> ApiPath<'a> {
    /// `None` for a path outside the API.
    pub(crate) fn of(segments: &[&'a str]) -> Option<Self> {
        let (group, version, rest) = match segments {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return None,
        };
        let (watch, rest) = match rest {
            ["watch", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, plural, rest @ ..] if !matches!(*plural, "status" | "finalize") => {
                (Some(*namespace), [&[*plural], rest].concat())
            }
            rest => (None, rest.to_vec()),
        };
        Some(Self {
            group,
            version,
            watch,
            namespace,
            rest,
        })
    }
}
