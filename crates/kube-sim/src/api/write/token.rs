//! Tokens of service accounts: made by the subresource `token`, and read when somebody shows one.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Object, metadata, new_uid, text};
use crate::access::User;
use crate::api::Api;
use crate::issuer::{ISSUER, Issuer};
use crate::meta::rfc3339;
use crate::nesting;
use crate::object::{Stored, join_key};
use crate::resources::Resource;
use crate::status::{Cause, StatusError};
use crate::target::Target;

/// The length of a token's life in seconds, unless it says so, and its bounds.
const LIFE: i64 = 3600;
const SHORTEST: i64 = 600;
const LONGEST: i64 = 1 << 32;

/// The kinds to which a token can be bound, with their plurals: the token ends with the object.
const BOUND: [(&str, &str); 3] = [("Pod", "pods"), ("Secret", "secrets"), ("Node", "nodes")];

/// How many seconds a token is good after the time at which its account, or what it is bound to, is to be gone.
const LEEWAY: i64 = 60;

impl Api {
    /// A token for a service account, with a signature that this server knows.
    pub(crate) fn token(&self, target: &Target, request: &Object) -> Result<Value, StatusError> {
        let account = self.storage.get(&target.resource, &target.key());
        let name = target.name.as_deref().unwrap_or("");
        let account = account.ok_or_else(|| StatusError::not_found(&target.resource, name))?;
        let spec = request.get("spec").unwrap_or(&Value::Null);
        let seconds = spec["expirationSeconds"].as_i64().unwrap_or(LIFE);
        let why = match seconds {
            ..SHORTEST => Some("may not specify a duration less than 10 minutes"),
            SHORTEST..=LONGEST => None,
            _ => Some("may not specify a duration larger than 2^32 seconds"),
        };
        if let Some(why) = why {
            let cause = Cause::invalid("spec.expirationSeconds", seconds, why);
            let group = "authentication.k8s.io";
            return Err(StatusError::invalid(group, "TokenRequest", "", &[cause]));
        }
        let audiences = match &spec["audiences"] {
            Value::Array(audiences) if !audiences.is_empty() => json!(audiences),
            _ => json!([ISSUER]),
        };
        let (now, namespace) = (self.now(), account.namespace());
        let until = now
            .checked_add(SignedDuration::from_secs(seconds))
            .unwrap_or(jiff::Timestamp::MAX);
        let mut of_cluster =
            json!({"namespace": namespace, "serviceaccount": {"name": name, "uid": account.uid()}});
        if spec["boundObjectRef"].is_object() {
            let (kind, bound) = self.bound_object(&account, &spec["boundObjectRef"])?;
            of_cluster[kind.to_lowercase()] = json!({"name": bound.name(), "uid": bound.uid()});
            if let Some(node) = self.node_of(kind, &bound) {
                of_cluster["node"] = node;
            }
        }
        let claims = json!({
            "aud": audiences, "exp": until.as_second(), "iat": now.as_second(), "iss": ISSUER, "jti": new_uid(),
            "kubernetes.io": of_cluster, "nbf": now.as_second(), "sub": format!("system:serviceaccount:{namespace}:{name}"),
        });
        let token = self.issuer().token(&claims);
        Ok(json!({
            "kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1",
            "metadata": {
                "name": name, "namespace": namespace, "uid": account.uid(), "creationTimestamp": rfc3339(now),
            },
            "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": spec["boundObjectRef"]},
            "status": {"token": token, "expirationTimestamp": rfc3339(until)},
        }))
    }

    /// The object to which a token is to be bound, with its kind.
    fn bound_object(
        &self,
        account: &Stored,
        reference: &Value,
    ) -> Result<(&'static str, std::sync::Arc<Stored>), StatusError> {
        let field = |name: &str| reference[name].as_str().unwrap_or("");
        let known = BOUND.into_iter().find(|(kind, _)| *kind == field("kind"));
        let Some((kind, plural)) = known.filter(|_| field("apiVersion") == "v1") else {
            let (group, version) = field("apiVersion")
                .split_once('/')
                .unwrap_or(("", field("apiVersion")));
            let why = format!(
                "cannot bind token to object of type {group}/{version}, Kind={}",
                field("kind")
            );
            return Err(StatusError::bad_request(why));
        };
        let resource = self
            .find("", "v1", plural)
            .ok_or_else(StatusError::no_such_resource)?;
        let namespace = if resource.namespaced {
            account.namespace()
        } else {
            ""
        };
        let key = join_key(namespace, field("name"));
        let found = self.storage.get(&resource, &key);
        let found = found.ok_or_else(|| StatusError::not_found(&resource, field("name")))?;
        if kind == "Pod" {
            let pod = found.decode(&resource.head("v1"));
            let runs_as = pod
                .get("spec")
                .and_then(|spec| spec["serviceAccountName"].as_str());
            if runs_as != Some(account.name()) {
                let name = account.name();
                return Err(StatusError::bad_request(format!(
                    "cannot bind token for serviceaccount \"{name}\" to pod running with different serviceaccount name."
                )));
            }
        }
        let uid = field("uid");
        if !uid.is_empty() && uid != found.uid() {
            return Err(StatusError::stale_reference(kind, found.name(), uid));
        }
        Ok((kind, found))
    }

    /// What a token says of the node of the pod to which it is bound, if it is bound to one that has a node.
    fn node_of(&self, kind: &str, bound: &Stored) -> Option<Value> {
        let pods = self.find("", "v1", "pods").filter(|_| kind == "Pod")?;
        let pod = bound.decode(&pods.head("v1"));
        let name = pod.get("spec")?["nodeName"]
            .as_str()
            .filter(|name| !name.is_empty())?;
        let node = self.storage.get(&*self.find("", "v1", "nodes")?, name);
        Some(match node {
            Some(node) => json!({"name": name, "uid": node.uid()}),
            None => json!({"name": name}),
        })
    }

    /// Who signs tokens.
    pub(crate) fn issuer(&self) -> &Issuer {
        self.issuer.get_or_init(Issuer::new)
    }

    /// Whom a token speaks for, and its audiences, if it was made here and is still good: its account and what it is bound to are
    /// there, and its time has not run out.
    pub(crate) fn user_of(&self, token: &str) -> Option<(User, Vec<String>)> {
        let claims = self.issuer().claims(token)?;
        let of_cluster = &claims["kubernetes.io"];
        let namespace = of_cluster["namespace"].as_str()?;
        let is_there = |plural: &str, claim: &Value| {
            let (Some(name), Some(resource)) = (claim["name"].as_str(), self.find("", "v1", plural)) else {
                return false;
            };
            let namespace = if resource.namespaced { namespace } else { "" };
            let found = self.storage.get(&resource, &join_key(namespace, name));
            found.is_some_and(|found| found.uid() == claim["uid"] && !self.is_long_gone(&resource, &found))
        };
        // The node of a pod may go before it.
        let of_pod = !of_cluster["pod"].is_null();
        let bound = BOUND.map(|(kind, plural)| match kind {
            "Node" if of_pod => (plural, &Value::Null),
            kind => (plural, &of_cluster[kind.to_lowercase()]),
        });
        let good = is_there("serviceaccounts", &of_cluster["serviceaccount"])
            && bound
                .iter()
                .all(|(plural, claim)| claim.is_null() || is_there(plural, claim))
            && self.now().as_second() < claims["exp"].as_i64()?;
        if !good {
            return None;
        }
        let uid = of_cluster["serviceaccount"]["uid"].as_str()?;
        let mut user = User::new(claims["sub"].as_str()?, uid, []);
        let mut know = |key: &str, value: &Value| {
            if let Some(value) = value.as_str() {
                let key = format!("authentication.kubernetes.io/{key}");
                user.extra.insert(key, vec![value.to_owned()]);
            }
        };
        know("pod-name", &of_cluster["pod"]["name"]);
        know("pod-uid", &of_cluster["pod"]["uid"]);
        know("node-name", &of_cluster["node"]["name"]);
        know("node-uid", &of_cluster["node"]["uid"]);
        let id = format!("JTI={}", claims["jti"].as_str()?);
        know("credential-id", &Value::from(id));
        let audiences = claims["aud"].as_array()?.iter();
        let audiences = audiences.filter_map(Value::as_str).map(str::to_owned).collect();
        Some((user, audiences))
    }
}

impl Api {
    /// Whether an object that is being deleted should have been gone for longer than a token may outlive it.
    fn is_long_gone(&self, resource: &Resource, object: &Stored) -> bool {
        if !object.deleting {
            return false;
        }
        let object = nesting::with_room(object.depth, || object.decode(&resource.head("v1")));
        let deleted = text(metadata(&object), "deletionTimestamp").parse::<jiff::Timestamp>();
        deleted.is_ok_and(|deleted| deleted.as_second().saturating_add(LEEWAY) < self.now().as_second())
    }
}
