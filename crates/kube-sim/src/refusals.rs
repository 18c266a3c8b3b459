//! Refusals that name an object: `status` has the others.

use serde_json::{Value, json};

use crate::resources::Resource;
use crate::status::{Cause, StatusError};
use crate::target::Target;

impl StatusError {
    /// A resource has no such verb.
    pub(crate) fn unsupported_verb(resource: &Resource, verb: &str) -> Self {
        let message = format!(
            "{verb} is not supported on resources of kind \"{}\"",
            resource.id()
        );
        let details = json!({"group": resource.group, "kind": resource.plural});
        Self::new(405, "MethodNotAllowed", message).with_details(details)
    }

    pub(crate) fn not_found(resource: &Resource, name: &str) -> Self {
        let details = named(resource, name);
        Self::new(404, "NotFound", format!("{} \"{name}\" not found", resource.id())).with_details(details)
    }

    /// There is an object of this name, which may be being deleted.
    pub(crate) fn already_exists(resource: &Resource, name: &str, deleting: bool) -> Self {
        let being = if deleting { "object is being deleted: " } else { "" };
        let message = format!("{being}{} \"{name}\" already exists", resource.id());
        Self::new(409, "AlreadyExists", message).with_details(named(resource, name))
    }

    /// There is an object of the name that the server has made for a new one.
    pub(crate) fn name_taken(resource: &Resource, name: &str, deleting: bool) -> Self {
        let exists = Self::already_exists(resource, name, deleting);
        let message = format!(
            "{}, the server was not able to generate a unique name for the object",
            exists.message()
        );
        let mut details = named(resource, name);
        details["retryAfterSeconds"] = 1.into();
        Self::new(409, "AlreadyExists", message).with_details(details)
    }

    pub(crate) fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{name}\": {why}",
            resource.id()
        );
        Self::new(409, "Conflict", message).with_details(named(resource, name))
    }

    pub(crate) fn stale(resource: &Resource, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(resource, name, why)
    }

    /// A failed precondition of a deletion; a real server names the kind there, not the resource.
    pub(crate) fn delete_conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let (group, kind) = (&resource.group, &resource.kind);
        let mut details = json!({"name": name, "kind": kind});
        let of_group = match group.is_empty() {
            true => String::new(),
            false => {
                details["group"] = group.as_str().into();
                format!(".{group}")
            }
        };
        let message = format!("Operation cannot be fulfilled on {kind}{of_group} \"{name}\": {why}");
        Self::new(409, "Conflict", message).with_details(details)
    }

    pub(crate) fn forbidden(resource: &Resource, name: &str, why: &str) -> Self {
        let named_so = if name.is_empty() {
            String::new()
        } else {
            format!(" \"{name}\"")
        };
        let message = format!("{}{named_so} is forbidden: {why}", resource.id());
        let mut details = named(resource, name);
        if let (true, Some(details)) = (name.is_empty(), details.as_object_mut()) {
            details.remove("name");
        }
        Self::new(403, "Forbidden", message).with_details(details)
    }

    /// What a policy denies, for a reason that it gives.
    pub(crate) fn denied_by_policy(resource: &Resource, name: &str, reason: &str, why: &str) -> Self {
        let (code, reason) = match reason {
            "Forbidden" => (403, "Forbidden"),
            "Unauthorized" => (401, "Unauthorized"),
            "RequestEntityTooLarge" => (413, "RequestEntityTooLarge"),
            _ => (422, "Invalid"),
        };
        let message = format!("{} \"{name}\" is forbidden: {why}", resource.id());
        let mut details = named(resource, name);
        details["causes"] = json!([{"message": why}]);
        Self::new(code, reason, message).with_details(details)
    }

    /// What policies could not change, in a message for each.
    pub(crate) fn not_mutated(
        resource: &Resource,
        name: &str,
        reason: &'static str,
        messages: &[&str],
    ) -> Self {
        let mut details = named(resource, name);
        let causes = messages.iter().map(|message| json!({"message": message}));
        details["causes"] = causes.collect();
        let message = messages.first().copied().unwrap_or("");
        Self::new(403, reason, message).with_details(details)
    }

    /// A namespace that is being terminated takes no new objects.
    pub(crate) fn terminating(resource: &Resource, name: &str, namespace: &str) -> Self {
        let why =
            format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut details = named(resource, name);
        details["causes"] = json!([{
            "reason": "NamespaceTerminating",
            "message": format!("namespace {namespace} is being terminated"),
            "field": "metadata.namespace",
        }]);
        Self::forbidden(resource, name, &why).with_details(details)
    }

    /// Metadata of a list was asked for as that of an object, or the other way round.
    pub(crate) fn other_form(resource: &Resource, list: bool) -> Self {
        let (group, kind) = (resource.group.split('.').next().unwrap_or(""), &resource.kind);
        let package = if group.is_empty() { "core" } else { group };
        let message = match (list, resource.custom) {
            (true, false) => format!(
                "you requested PartialObjectMetadata, but the requested object is a list (*{package}.{kind}List)"
            ),
            (true, true) => "you requested PartialObjectMetadata, but the requested object is a list \
                 (*unstructured.UnstructuredList)"
                .to_owned(),
            (false, false) => format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list (*{package}.{kind})"
            ),
            (false, true) => return Self::internal("content is not a list"),
        };
        Self::new(406, "NotAcceptable", message)
    }

    /// What a server, or what stands before it, says with a code that a fault chose.
    pub(crate) fn fault(code: u16, target: &Target, creates: bool, retry_after: Option<u64>) -> Self {
        let (resource, name) = (&target.resource, target.name.as_deref().unwrap_or(""));
        let plain =
            |reason, message: &str| Self::new(code, reason, message).with_details(named(resource, name));
        let status = match code {
            401 => Self::new(code, "Unauthorized", "Unauthorized"),
            403 => Self::forbidden(resource, name, "a fault of the simulator"),
            404 => Self::not_found(resource, name),
            409 if creates => Self::already_exists(resource, name, false),
            409 => Self::stale(resource, name),
            410 => Self::expired("The resourceVersion for the provided list is too old."),
            422 => {
                let cause = Cause::invalid("spec", "{}", "a fault of the simulator");
                Self::invalid(&resource.group, &resource.kind, name, &[cause])
            }
            429 => plain(
                "TooManyRequests",
                "the server has received too many requests and has asked us to try again later",
            ),
            500 => plain(
                "InternalError",
                "Internal error occurred: a fault of the simulator",
            ),
            503 => plain(
                "ServiceUnavailable",
                "the server is currently unable to handle the request",
            ),
            504 => plain(
                "Timeout",
                "the server was unable to return a response in the time allotted, but may still be processing the \
                 request",
            ),
            _ => plain("", "a fault of the simulator"),
        };
        // A client is always told when to try again after a 429.
        let retry_after = retry_after.or((code == 429).then_some(1));
        match retry_after {
            Some(seconds) => status.retried_after(seconds),
            None => status,
        }
    }
}

fn named(resource: &Resource, name: &str) -> Value {
    let mut details = json!({"name": name, "kind": resource.plural});
    if !resource.group.is_empty() {
        details["group"] = resource.group.as_str().into();
    }
    details
}
