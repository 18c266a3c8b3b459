//! Reviews: questions about who somebody is and what that user may do. In a cluster without access control everybody may do
//! everything, and only tokens of service accounts that were made here speak for somebody.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::access::policy::Decision;
use crate::access::{Attributes, Subject, User};
use crate::api::Api;
use crate::api::write::set_managers;
use crate::apply::Ownership;
use crate::issuer::ISSUER;
use crate::meta::rfc3339;
use crate::resources::Resource;
use crate::status::{Cause, StatusError};
use crate::target::Target;

impl Api {
    /// Answers a review: the object with its status.
    pub(crate) fn review(
        &self,
        target: &Target,
        mut object: Map<String, Value>,
        manager: &str,
        user: Option<&User>,
    ) -> Result<Value, StatusError> {
        let resource = &target.resource;
        object.insert("kind".into(), resource.kind.as_str().into());
        object.insert("apiVersion".into(), resource.api_version(&target.version).into());
        let managed = Ownership::new(target, self.now()).track(None, None, &object, None, manager);
        set_managers(&mut object, managed);
        let spec = object.get("spec").cloned().unwrap_or_default();
        let status = match (resource.plural.as_str(), user) {
            ("selfsubjectreviews", user) => {
                object.insert(
                    "metadata".into(),
                    json!({"creationTimestamp": rfc3339(self.now())}),
                );
                json!({"userInfo": user.map_or_else(|| User::unknown().shown(), User::shown)})
            }
            ("selfsubjectrulesreviews", user) => {
                // Nothing of what was asked is answered.
                for part in ["metadata", "spec"] {
                    object.insert(part.into(), json!({}));
                }
                self.rules_review(&spec, user)?
            }
            ("tokenreviews", _) => self.token_review(&spec)?,
            ("selfsubjectaccessreviews", user) => self.access_review(resource, &spec, user)?,
            (_, user) => {
                let subject = subject(resource, target.namespace.as_deref(), &spec)?;
                self.access_review(resource, &spec, user.map(|_| &subject))?
            }
        };
        object.insert("status".into(), status);
        Ok(Value::Object(object))
    }

    fn token_review(&self, spec: &Value) -> Result<Value, StatusError> {
        let token = spec["token"].as_str().unwrap_or("");
        if token.is_empty() {
            let why = "token is required for TokenReview in authentication";
            return Err(StatusError::bad_request(why));
        }
        let of_server = || vec![ISSUER.to_owned()];
        let known = self.access.as_ref().and_then(|access| access.user(token));
        let found = match known {
            Some(user) => Some((user.clone(), of_server())),
            None => self.user_of(token),
        };
        let asked: Vec<_> = spec["audiences"].as_array().into_iter().flatten().collect();
        let is_asked = |audience: &String| match asked.is_empty() {
            true => audience == ISSUER,
            false => asked.iter().any(|asked| *asked == audience.as_str()),
        };
        Ok(match found {
            Some((user, mut audiences)) if audiences.iter().any(is_asked) => {
                audiences.retain(is_asked);
                json!({"authenticated": true, "user": user.shown(), "audiences": audiences})
            }
            _ => json!({"user": {}, "error": "invalid bearer token"}),
        })
    }

    /// Whether a user may do something; everybody may if there is none.
    fn access_review(
        &self,
        resource: &Resource,
        spec: &Value,
        user: Option<&User>,
    ) -> Result<Value, StatusError> {
        let attributes = attributes(resource, spec)?;
        let Some(user) = user else {
            return Ok(json!({"allowed": true}));
        };
        Ok(match self.decide(user, &attributes) {
            Decision::Allowed(reason) if reason.is_empty() => json!({"allowed": true}),
            Decision::Allowed(reason) => json!({"allowed": true, "reason": reason}),
            Decision::NotAllowed(missing) => match &missing[..] {
                [] => json!({"allowed": false}),
                [one] => json!({"allowed": false, "reason": format!("RBAC: {one}")}),
                several => json!({"allowed": false, "reason": format!("RBAC: [{}]", several.join(", "))}),
            },
        })
    }

    /// What a user may do in a namespace; everything if there is none.
    fn rules_review(&self, spec: &Value, user: Option<&User>) -> Result<Value, StatusError> {
        let namespace = spec["namespace"].as_str().unwrap_or("");
        if namespace.is_empty() {
            return Err(StatusError::bad_request("no namespace on request"));
        }
        let Some(user) = user else {
            return Ok(json!({
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                "incomplete": false,
            }));
        };
        let grants = self
            .storage
            .transact(|transaction| self.policy(transaction))
            .grants(user, namespace);
        let (mut resources, mut paths) = (Vec::new(), Vec::new());
        for rule in &grants.rules {
            if !rule.resources.is_empty() {
                let mut shown =
                    json!({"verbs": rule.verbs, "apiGroups": rule.groups, "resources": rule.resources});
                if !rule.names.is_empty() {
                    shown["resourceNames"] = json!(rule.names);
                }
                resources.push(shown);
            }
            if !rule.paths.is_empty() {
                paths.push(json!({"verbs": rule.verbs, "nonResourceURLs": rule.paths}));
            }
        }
        let mut status = json!({"resourceRules": resources, "nonResourceRules": paths, "incomplete": false});
        let errors = grants.errors();
        if !errors.is_empty() {
            status["evaluationError"] = errors.join(", ").into();
        }
        Ok(status)
    }
}

/// What a review asks about.
fn attributes(resource: &Resource, spec: &Value) -> Result<Attributes, StatusError> {
    let (of_resource, of_path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or("").to_owned();
    match (of_resource.is_object(), of_path.is_object()) {
        (true, false) => {
            let subject = Subject::Resource {
                group: text(of_resource, "group"),
                resource: text(of_resource, "resource"),
                subresource: text(of_resource, "subresource"),
                namespace: text(of_resource, "namespace"),
                name: text(of_resource, "name"),
            };
            let verb = text(of_resource, "verb");
            Ok(Attributes { verb, subject })
        }
        (false, true) => Ok(Attributes {
            verb: text(of_path, "verb"),
            subject: Subject::Path(text(of_path, "path")),
        }),
        (both, _) => {
            let why = match both {
                true => "cannot be specified in combination with resourceAttributes",
                false => "exactly one of nonResourceAttributes or resourceAttributes must be specified",
            };
            let field = match both {
                true => "spec.nonResourceAttributes",
                false => "spec.resourceAttributes",
            };
            Err(refused(resource, Cause::invalid(field, "null", why)))
        }
    }
}

/// About whom a review asks.
fn subject(resource: &Resource, namespace: Option<&str>, spec: &Value) -> Result<User, StatusError> {
    let groups = spec["groups"].as_array().into_iter().flatten();
    let groups: Vec<_> = groups.filter_map(Value::as_str).map(str::to_owned).collect();
    let name = spec["user"].as_str().unwrap_or("");
    if name.is_empty() && groups.is_empty() {
        let why = "at least one of user or group must be specified";
        return Err(refused(resource, Cause::invalid("spec.user", "\"\"", why)));
    }
    let given = spec["resourceAttributes"]["namespace"].as_str().unwrap_or("");
    if namespace.is_some_and(|namespace| namespace != given) {
        let cause = Cause::invalid(
            "spec.resourceAttributes.namespace",
            crate::status::quoted(given),
            "must match metadata.namespace",
        );
        return Err(refused(resource, cause));
    }
    // It has the groups that are given, and no others.
    Ok(User {
        name: name.to_owned(),
        uid: spec["uid"].as_str().unwrap_or("").to_owned(),
        groups,
        extra: BTreeMap::new(),
    })
}

fn refused(resource: &Resource, cause: Cause) -> StatusError {
    StatusError::invalid(&resource.group, "", "", &[cause])
}
