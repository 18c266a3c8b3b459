//! ValidatingAdmissionPolicies: expressions in CEL that a write must satisfy, and bindings that say where
//! ([documentation](https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/)).
//!
//! They are evaluated where the validating webhooks are asked, before those. A policy counts as soon as it has been written; a real
//! server notices a moment later. An expression that refers to what is not here (`authorizer`, and the functions that only Kubernetes
//! has) is not checked: it holds.

use serde_json::Value;

use super::ask::{self, Request};
use super::hooks::Constraints;
use super::{Admission, GROUP, Object, Operation, Question, labels_of, namespace_labels};
use crate::api::Api;
use crate::meta::{metadata, text};
use crate::nesting;
use crate::resources::Resource;
use crate::schema::{Answer, Failure, Scope};
use crate::specs;
use crate::status::StatusError;
use crate::storage::{Snapshot, Transaction};
use crate::target::Target;

/// The longest message that an expression may make, in bytes.
const LONGEST_MESSAGE: usize = 5 * 1024;

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

/// What a policy says of a write.
struct Decision {
    message: String,
    reason: String,
}

/// What expressions see.
struct Seen<'a> {
    request: &'a Request,
    namespace: Value,
}

impl Policy {
    /// The policies that are bound, of all policies and bindings.
    pub(super) fn all(policies: &[Object], bindings: &[Object]) -> Vec<Self> {
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
                    .map(|binding| {
                        let spec = spec(binding);
                        let constraints = spec["matchResources"].is_object();
                        Binding {
                            name: name(binding),
                            constraints: constraints
                                .then(|| Constraints::read(&spec["matchResources"], "resourceRules")),
                            spec,
                        }
                    })
                    .collect(),
                name: name_of_policy,
                spec: spec_of_policy,
            }
        });
        policies.filter(|policy| !policy.bindings.is_empty()).collect()
    }

    /// What becomes of a failure: it is a decision against the write, unless the policy ignores failures.
    fn failed(&self, message: String) -> Option<Decision> {
        let ignores = self.spec["failurePolicy"] == "Ignore";
        (!ignores).then(|| Decision {
            message,
            reason: String::new(),
        })
    }

    /// What the policy has against a write, with one of its parameters.
    fn decide(&self, seen: &Seen<'_>, params: &Value) -> Vec<Decision> {
        let request = seen.request;
        let mut scope = Scope::new(&[
            ("object", &request.object),
            ("oldObject", &request.old),
            ("request", &request.rest),
            ("params", params),
            ("namespaceObject", &seen.namespace),
        ]);
        let list = |name: &str| self.spec[name].as_array().into_iter().flatten();
        for variable in list("variables") {
            let part = |name: &str| variable[name].as_str().unwrap_or("");
            scope.name(part("name"), part("expression"));
        }
        let expressions = list("matchConditions").filter_map(|condition| condition["expression"].as_str());
        let mut errors = Vec::new();
        for expression in expressions {
            match scope.evaluate(expression) {
                Ok(Answer::Bool(false)) => return Vec::new(),
                Ok(_) | Err(Failure::Unknown(_)) => {}
                Err(failure) => errors.push(resulted_in(expression, &failure)),
            }
        }
        match &errors[..] {
            [] => {}
            _ if self.spec["failurePolicy"] == "Ignore" => return Vec::new(),
            [one] => return self.failed(one.clone()).into_iter().collect(),
            several => {
                return self
                    .failed(format!("[{}]", several.join(", ")))
                    .into_iter()
                    .collect();
            }
        }
        let mut decisions = Vec::new();
        for validation in list("validations") {
            let part = |name: &str| validation[name].as_str().unwrap_or("");
            let expression = part("expression");
            match scope.evaluate(expression) {
                Ok(Answer::Bool(true)) | Err(Failure::Unknown(_)) => {}
                Err(failure @ (Failure::Error(_) | Failure::Costly)) => {
                    decisions.extend(self.failed(resulted_in(expression, &failure)));
                }
                // Nothing else can be evaluated.
                Err(failure @ Failure::Exhausted) => {
                    return self.failed(failure.message()).into_iter().collect();
                }
                Ok(_) => {
                    let expressed = match part("messageExpression") {
                        "" => None,
                        expression => scope.evaluate(expression).ok(),
                    };
                    let message = message(expressed, part("message"), expression);
                    let reason = match part("reason") {
                        "" => "Invalid",
                        reason => reason,
                    };
                    decisions.push(Decision {
                        message,
                        reason: reason.to_owned(),
                    });
                }
            }
        }
        decisions
    }
}

fn resulted_in(expression: &str, failure: &Failure) -> String {
    format!(
        "expression '{expression}' resulted in error: {}",
        failure.message()
    )
}

/// What is said of a validation that does not hold.
fn message(expressed: Option<Answer>, message: &str, expression: &str) -> String {
    let fits = |text: &str| !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
    match (expressed, message.trim()) {
        (Some(Answer::Text(text)), _) if fits(text.trim()) => text.trim().to_owned(),
        (_, "") => format!("failed expression: {}", expression.trim()),
        (_, message) => message.to_owned(),
    }
}

impl Admission {
    /// Refuses a write that a policy denies, and takes note of what policies warn of.
    pub(super) fn enforce(
        &self,
        api: &Api,
        transaction: &mut Transaction<'_>,
        operation: Operation,
        target: &Target,
        object: Option<&Object>,
        old: Option<&Object>,
    ) -> Result<(), StatusError> {
        let is_policy = target.resource.group == GROUP && target.resource.plural.contains("admissionpolic");
        if self.policies.is_empty() || is_policy {
            return Ok(());
        }
        let labels = [object, old].map(|there| there.map(|object| labels_of(Some(object))));
        let labels = [labels[0].as_ref(), labels[1].as_ref()];
        let name = target
            .name
            .as_deref()
            .or_else(|| object.map(|object| text(metadata(object), "name")));
        let mut denied: Option<(String, Decision)> = None;
        for policy in &self.policies {
            let fits = |constraints: &Constraints, namespace: &Option<Value>| {
                let version = constraints.fits(operation, target, name.unwrap_or(""))?;
                let fits_namespace = namespace
                    .as_ref()
                    .is_none_or(|labels| constraints.fits_namespace(labels));
                (fits_namespace && constraints.fits_object(labels)).then_some(version)
            };
            if policy
                .constraints
                .fits(operation, target, name.unwrap_or(""))
                .is_none()
            {
                continue;
            }
            let namespace = namespace_labels(api, transaction, operation, target, object)?;
            let Some(version) = fits(&policy.constraints, &namespace) else {
                continue;
            };
            let by = format!("ValidatingAdmissionPolicy '{}'", policy.name);
            for binding in &policy.bindings {
                let binds = |constraints: &Constraints| fits(constraints, &namespace).is_some();
                if !binding.constraints.as_ref().is_none_or(binds) {
                    continue;
                }
                let by = format!("{by} with binding '{}'", binding.name);
                let has = |action: &str| {
                    let actions = binding.spec["validationActions"].as_array();
                    actions.is_some_and(|actions| actions.iter().any(|given| given == action))
                };
                let params = match self.params(api, transaction, policy, binding, target) {
                    Ok(params) => params,
                    Err(why) => {
                        let decision = policy.failed(why).map(|decision| (by, decision));
                        denied = denied.or(decision);
                        continue;
                    }
                };
                let question = Question {
                    mutating: false,
                    hooks: Vec::new(),
                    operation,
                    target: target.clone(),
                    object: object.cloned(),
                    old: old.cloned(),
                };
                let request = ask::Request::of(self, &question, &version);
                let seen = Seen {
                    namespace: namespace_of(api, transaction, target),
                    request: &request,
                };
                let depth = [&request.object, &request.old].map(nesting::of).into_iter().max();
                let decisions = nesting::with_room(depth.unwrap_or(0), || {
                    let decided = params.iter().map(|params| policy.decide(&seen, params));
                    decided.flatten().collect::<Vec<_>>()
                });
                for decision in decisions {
                    if has("Warn") {
                        let why = &decision.message;
                        self.warn(format!("Validation failed for {by}: {why}"));
                    }
                    if has("Deny") && denied.is_none() {
                        denied = Some((by.clone(), decision));
                    }
                }
            }
        }
        let Some((by, decision)) = denied else {
            return Ok(());
        };
        let generated = object.map(|object| text(metadata(object), "generateName"));
        let name = name
            .filter(|name| !name.is_empty())
            .or(generated.filter(|name| !name.is_empty()));
        let why = format!("{by} denied request: {}", decision.message);
        Err(StatusError::denied_by_policy(
            &target.resource,
            name.unwrap_or("Unknown"),
            &decision.reason,
            &why,
        ))
    }

    /// The parameters of a policy by a binding: one that is null if it has none.
    fn params(
        &self,
        api: &Api,
        transaction: &mut Transaction<'_>,
        policy: &Policy,
        binding: &Binding,
        target: &Target,
    ) -> Result<Vec<Value>, String> {
        let (kind, reference) = (&policy.spec["paramKind"], &binding.spec["paramRef"]);
        if kind.is_null() {
            return Ok(vec![Value::Null]);
        }
        let part = |name: &str| kind[name].as_str().unwrap_or("");
        let (api_version, kind) = (part("apiVersion"), part("kind"));
        let Some((resource, version)) = api.registry().of_kind(api_version, kind) else {
            return Err(format!(
                "failed to configure policy: failed to find resource referenced by paramKind: '{}, Kind={kind}'",
                match api_version.contains('/') {
                    true => api_version.to_owned(),
                    false => format!("/{api_version}"),
                }
            ));
        };
        if reference.is_null() {
            return Ok(vec![Value::Null]);
        }
        let failed = |why: &str| Err(format!("failed to configure binding: {why}"));
        let part = |name: &str| reference[name].as_str().unwrap_or("");
        let namespace = match (part("namespace"), &target.namespace) {
            ("", _) if !resource.namespaced => "",
            (_, _) if !resource.namespaced => {
                return failed("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
            }
            ("", None) => {
                return failed(
                    "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
                );
            }
            ("", Some(namespace)) => namespace,
            (given, _) => given,
        };
        let of_namespace = |resource: &Resource, snapshot: &Snapshot, name: &str| {
            let key = crate::object::join_key(namespace, name);
            snapshot
                .get(&key)
                .map(|stored| param(resource, &version, &stored))
        };
        let snapshot = transaction.snapshot(&resource);
        let params: Vec<Value> = match part("name") {
            "" => {
                let prefix = if namespace.is_empty() {
                    String::new()
                } else {
                    format!("{namespace}/")
                };
                let all = snapshot
                    .range(&prefix, None)
                    .map(|stored| param(&resource, &version, stored));
                let labels = |param: &Value| param["metadata"]["labels"].clone();
                all.filter(|param| specs::selects(&reference["selector"], &labels(param)))
                    .collect()
            }
            name => of_namespace(&resource, &snapshot, name).into_iter().collect(),
        };
        match params.is_empty() && reference["parameterNotFoundAction"] == "Deny" {
            true => failed("no params found for policy binding with `Deny` parameterNotFoundAction"),
            false => Ok(params),
        }
    }
}

/// A stored object as expressions see it.
fn param(resource: &Resource, version: &str, stored: &crate::object::Stored) -> Value {
    nesting::with_room(stored.depth, || {
        let mut object = crate::view::decode(resource, version, stored);
        crate::view::to_served(resource, &mut object);
        Value::Object(object)
    })
}

/// The namespace that an object is in; null for others.
fn namespace_of(api: &Api, transaction: &mut Transaction<'_>, target: &Target) -> Value {
    let namespaces = api.find("", "v1", "namespaces");
    let (Some(name), Some(namespaces)) = (&target.namespace, namespaces) else {
        return Value::Null;
    };
    let found = transaction.get(&namespaces, name);
    found.map_or(Value::Null, |stored| param(&namespaces, "v1", &stored))
}
