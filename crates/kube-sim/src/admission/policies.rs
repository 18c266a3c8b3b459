//! Admission policies: expressions in CEL that a write must satisfy, or that change it, and bindings that say where
//! ([validating](https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/),
//! [mutating](https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/)).
//!
//! Policies are evaluated before the webhooks of their sort are asked, and where those are: with the storage's lock free, by what the
//! cluster is then. A policy counts as soon as it has been written; a real server notices a moment later. An expression that
//! refers to what is not here is not checked: it holds, and changes nothing.
//!
//! `params` finds parameters, `validate` and `mutate` evaluate.
//!
//! # Cost
//!
//! As in a real server, a policy has a budget for each of its bindings with each of its parameters, and another one for its match
//! conditions. How many parameters a request gets through is a matter of its time: what has not been evaluated by then is given up.

use std::sync::Arc;

use serde_json::Value;

use super::ask::Request;
use super::authorizer::named;
use super::hooks::Constraints;
use super::seen::Seen;
use super::{Admission, GROUP, Object, Operation, Question, labels_of, namespace_labels};
use crate::api::Api;
use crate::meta::{metadata, text};
use crate::nesting;
use crate::resources::Resource;
use crate::schema::{Answer, Authorizer, Depths, Failure, Named, Scope};
use crate::status::StatusError;
use crate::storage::Transaction;
use crate::target::Target;

mod mutate;
mod params;
mod validate;

/// A policy with its bindings.
#[derive(Debug)]
pub(super) struct Policy {
    name: String,
    constraints: Constraints,
    /// `spec`.
    spec: Value,
    bindings: Vec<Binding>,
}

#[derive(Debug)]
struct Binding {
    name: String,
    /// Where it binds, if it says that.
    constraints: Option<Constraints>,
    spec: Value,
}

/// A policy with those of its bindings that concern a write but for the labels of its object.
#[derive(Debug, Clone)]
pub(super) struct Invocation {
    policy: Arc<Policy>,
    /// What the rules name: the request's target, or the same in another version.
    target: Target,
    bindings: Vec<usize>,
}

/// What expressions see beside parameters.
struct Scene {
    request: Request,
    namespace: Value,
    authorizer: Authorizer,
    /// What the request is about.
    named: Named,
}

/// Whether a policy's match conditions hold.
enum Conditions {
    Hold,
    DoNotHold,
    Failed(String),
}

impl Policy {
    /// The policies that are bound, of all policies and bindings.
    pub(super) fn all(policies: &[Object], bindings: &[Object]) -> Vec<Arc<Self>> {
        let spec = |object: &Object| object.get("spec").cloned().unwrap_or_default();
        let name = |object: &Object| text(metadata(object), "name").to_owned();
        let policies = policies.iter().map(|policy| {
            let (name_of_policy, spec_of_policy) = (name(policy), spec(policy));
            let bindings = bindings
                .iter()
                .filter(|binding| spec(binding)["policyName"] == *name_of_policy);
            Self {
                constraints: Constraints::read(&spec_of_policy["matchConstraints"], "resourceRules"),
                bindings: bindings
                    .map(|binding| Binding::read(name(binding), spec(binding)))
                    .collect(),
                name: name_of_policy,
                spec: spec_of_policy,
            }
        });
        let bound = policies.filter(|policy| !policy.bindings.is_empty());
        bound.map(Arc::new).collect()
    }

    fn ignores_failures(&self) -> bool {
        self.spec["failurePolicy"] == "Ignore"
    }

    fn list(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.spec[name].as_array().into_iter().flatten()
    }

    /// The scope of the policy's expressions, without parameters.
    fn scope(&self, seen: &Scene) -> Scope {
        let mut scope = Scope::new(&[
            ("object", &seen.request.object),
            ("oldObject", &seen.request.old),
            ("request", &seen.request.rest),
            ("namespaceObject", &seen.namespace),
        ]);
        scope.authorize(&seen.authorizer, seen.named.clone());
        for (name, expression) in self.variables() {
            scope.name(name, expression);
        }
        scope
    }

    /// How many levels the values of the variables may have more than objects.
    fn depth(&self) -> usize {
        let mut depths = Depths::default();
        let all = self
            .variables()
            .map(|(name, expression)| depths.add(name, expression));
        all.max().unwrap_or(0)
    }

    fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.list("variables").map(|variable| {
            let part = |name: &str| variable[name].as_str().unwrap_or("");
            (part("name"), part("expression"))
        })
    }

    fn conditions(&self, scope: &mut Scope) -> Conditions {
        let expressions = self
            .list("matchConditions")
            .filter_map(|condition| condition["expression"].as_str());
        match scope.conditions(expressions, true) {
            Ok(true) => Conditions::Hold,
            Ok(false) => Conditions::DoNotHold,
            Err(_) if self.ignores_failures() => Conditions::DoNotHold,
            Err(why) => Conditions::Failed(why),
        }
    }
}

impl Binding {
    fn read(name: String, spec: Value) -> Self {
        let resources = &spec["matchResources"];
        let constraints = resources
            .is_object()
            .then(|| Constraints::read(resources, "resourceRules"));
        Self {
            name,
            constraints,
            spec,
        }
    }
}

impl Invocation {
    /// The bindings that concern an object with these labels, and what it had before, each with its place among all.
    fn concerned(&self, labels: [Option<&Value>; 2]) -> Vec<(usize, &Binding)> {
        let fits = |constraints: &Constraints| constraints.fits_object(labels);
        if !fits(&self.policy.constraints) {
            return Vec::new();
        }
        let all = self.bindings.iter();
        let all = all.filter_map(|at| Some((*at, self.policy.bindings.get(*at)?)));
        all.filter(|(_, binding)| binding.constraints.as_ref().is_none_or(fits))
            .collect()
    }
}

impl Admission {
    /// Those of the policies that concern a write, but for the labels of its object.
    pub(super) fn invoked(
        &self,
        policies: &[Arc<Policy>],
        api: &Api,
        transaction: &mut Transaction<'_>,
        operation: Operation,
        target: &Target,
        object: Option<&Object>,
    ) -> Result<Vec<Invocation>, StatusError> {
        let mut found = Vec::new();
        let is_policy = target.resource.group == GROUP && target.resource.plural.contains("admissionpolic");
        if is_policy || policies.is_empty() {
            return Ok(found);
        }
        let same = api.same_targets(target);
        let name = target
            .name
            .as_deref()
            .or_else(|| object.map(|object| text(metadata(object), "name")));
        let name = name.unwrap_or("");
        for policy in policies {
            let Some(seen) = policy.constraints.fits(operation, &same, name) else {
                continue;
            };
            let namespace = namespace_labels(api, transaction, operation, target, object)?;
            let fits_namespace = |constraints: &Constraints| {
                let labels = namespace.as_ref();
                labels.is_none_or(|labels| constraints.fits_namespace(labels))
            };
            let fits = |binding: &Binding| {
                binding.constraints.as_ref().is_none_or(|constraints| {
                    fits_namespace(constraints) && constraints.fits(operation, &same, name).is_some()
                })
            };
            let bindings = policy.bindings.iter().enumerate();
            let bindings: Vec<_> = bindings.filter(|(_, binding)| fits(binding)).collect();
            if fits_namespace(&policy.constraints) && !bindings.is_empty() {
                found.push(Invocation {
                    bindings: bindings.into_iter().map(|(at, _)| at).collect(),
                    policy: policy.clone(),
                    target: seen.clone(),
                });
            }
        }
        Ok(found)
    }
}

impl Api {
    /// What the expressions of policies see of a question, whose objects are seen so.
    fn scene(&self, admission: &Admission, question: &Question, seen: &Seen) -> Scene {
        let request = Request::of(admission, question, seen);
        Scene {
            named: named(&question.target, &request.rest),
            request,
            namespace: self.namespace_of(&question.target),
            authorizer: self.authorizer(&admission.user),
        }
    }

    /// The namespace that an object is in; null for others.
    fn namespace_of(&self, target: &Target) -> Value {
        let namespaces = self.find("", "v1", "namespaces");
        let (Some(name), Some(namespaces)) = (&target.namespace, namespaces) else {
            return Value::Null;
        };
        let found = self.storage.get(&namespaces, name);
        found.map_or(Value::Null, |stored| {
            let mut namespace = as_served(&namespaces, "v1", &stored);
            // Kubernetes shows neither its kind nor who owns what.
            if let Some(namespace) = namespace.as_object_mut() {
                namespace.retain(|name, _| !matches!(name.as_str(), "apiVersion" | "kind"));
            }
            if let Some(metadata) = namespace["metadata"].as_object_mut() {
                metadata.remove("managedFields");
                metadata.remove("ownerReferences");
            }
            namespace
        })
    }
}

/// The labels of an object and of what it was.
fn labels(object: Option<&Object>, old: Option<&Object>) -> [Option<Value>; 2] {
    [object, old].map(|there| there.map(|object| labels_of(Some(object))))
}

/// A stored object as expressions see it.
fn as_served(resource: &Resource, version: &str, stored: &crate::object::Stored) -> Value {
    nesting::with_room(stored.depth, || {
        let mut object = crate::view::decode(resource, version, stored);
        crate::view::to_served(resource, &mut object);
        Value::Object(object)
    })
}
