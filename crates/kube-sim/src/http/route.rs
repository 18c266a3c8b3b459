//! Which resource a path is about.

use http::Method;

use crate::api::Api;
use crate::conversion::webhook::Webhook;
use crate::script::Received;
use crate::status::{Cause, StatusError};
use crate::target::{ApiPath, Target};

use super::name_in;

/// What a path names.
pub(super) struct Route {
    pub(super) target: Target,
    pub(super) watch: bool,
    /// The name of the one object that is watched.
    pub(super) watched: Option<String>,
}

impl Route {
    /// None for a path outside the API, an error for a resource that does not exist.
    pub(super) fn parse(
        api: &Api,
        request: &Received,
        segments: &[&str],
    ) -> Result<Option<Self>, StatusError> {
        let Some(ApiPath {
            group,
            version,
            watch,
            namespace,
            rest,
        }) = ApiPath::of(segments)
        else {
            return Ok(None);
        };
        if segments[..2] == ["apis", ""] {
            return Ok(None);
        }
        let registry = api.registry();
        let mut of_group = registry.iter().filter(|r| r.group == group).peekable();
        let group_is_known = group.is_empty() || of_group.peek().is_some_and(|r| !r.custom);
        let known = of_group.any(|r| r.versions.iter().any(|v| v == version));
        if !known || (rest.is_empty() && !watch) {
            return if group_is_known {
                Err(StatusError::no_such_resource())
            } else {
                Ok(None)
            };
        }
        let [plural, rest @ ..] = &rest[..] else {
            return Err(StatusError::no_such_resource());
        };
        let Some(resource) = api.find(group, version, plural) else {
            return match group_is_known {
                true => Err(StatusError::no_such_resource()),
                // Nobody answers for what no definition defines.
                false => Ok(None),
            };
        };
        let webhook = resource.definition.webhook.as_ref();
        webhook.map_or(Ok(()), Webhook::ensure_usable)?;
        let (name, subresource) = match rest {
            [] => (None, None),
            [name] => (Some(*name), None),
            [name, subresource] => (Some(*name), Some(*subresource)),
            // A path of what is behind the proxy.
            [name, "proxy", ..] => (Some(*name), Some("proxy")),
            _ => return Err(StatusError::no_such_resource()),
        };
        let known = subresource.is_none_or(|subresource| resource.has_subresource(subresource));
        if let (false, true, Some(name)) = (known, resource.custom, name) {
            return Err(StatusError::not_found(&resource, name));
        }
        // Nobody asks for what only answers.
        let is_review = resource.review && (name.is_some() || resource.namespaced != namespace.is_some());
        let fits = match namespace {
            _ if is_review => false,
            Some(_) => resource.namespaced,
            None => !resource.namespaced || name.is_none(),
        };
        if !known || !fits || (watch && subresource.is_some()) {
            return Err(StatusError::no_such_resource());
        }
        let is_listed = name.is_none() && matches!(request.method, Method::GET | Method::HEAD);
        match (namespace, name) {
            // Of custom resources, all can be read like this, and no more.
            (Some(""), _) if resource.custom && !is_listed => return Ok(None),
            (Some(""), Some(_)) if !watch => {
                return Err(StatusError::bad_request("Namespace parameter required."));
            }
            (Some(""), None) if request.method == Method::POST => {
                let name = name_in(&request.body).unwrap_or_default();
                let cause = Cause::required("metadata.namespace", "");
                return Err(StatusError::invalid(
                    &resource.group,
                    &resource.kind,
                    &name,
                    &[cause],
                ));
            }
            (_, Some("")) => return Err(StatusError::bad_request("name must be provided")),
            _ => {}
        }
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let (name, watched) = if watch { (None, name) } else { (name, None) };
        let target = Target {
            resource,
            version: version.to_owned(),
            namespace: owned(namespace),
            name: owned(name),
            subresource: owned(subresource),
        };
        Ok(Some(Self {
            target,
            watch,
            watched: owned(watched),
        }))
    }
}
