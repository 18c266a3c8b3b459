//! ValidatingAdmissionPolicies: whether a write satisfies their expressions.

use std::sync::Arc;

use serde_json::Value;

use super::params::{Fault, Params};
use super::{Answer, Binding, Conditions, Failure, Policy, Scene, Scope, labels};
use crate::admission::evaluate::evaluated;
use crate::admission::seen::Seen;
use crate::admission::{Admission, Question};
use crate::api::Api;
use crate::nesting;
use crate::schema;
use crate::status::StatusError;

/// The longest message that an expression may make, in bytes.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// What a policy says of a write.
struct Decision {
    message: String,
    reason: String,
    /// Whether it is denied whatever the binding says: what is wrong is the policy, or its binding.
    always: bool,
}

/// A policy, with one of its bindings, and what its expressions see.
struct Work {
    policy: Arc<Policy>,
    /// Which of the policy's bindings.
    binding: usize,
    params: Result<Params, Fault>,
    seen: Arc<Scene>,
}

impl Work {
    fn binding(&self) -> Option<&Binding> {
        self.policy.bindings.get(self.binding)
    }

    /// What the policy has against the write.
    fn decisions(&self) -> Vec<Decision> {
        let params = match &self.params {
            Ok(params) => params,
            Err(fault) => return self.policy.misconfigured(fault).into_iter().collect(),
        };
        let request = &self.seen.request;
        let depths = [&request.object, &request.old].map(nesting::of);
        let depth = depths.into_iter().fold(self.policy.depth(), usize::max);
        schema::with_room(depth, || {
            let mut decisions = Vec::new();
            let mut scope = self.policy.scope(&self.seen);
            let all = params.each(|params| {
                scope.set_params(params);
                decisions.extend(self.policy.decide(&mut scope));
            });
            match all {
                Ok(()) => decisions,
                Err(fault) => self.policy.misconfigured(&fault).into_iter().collect(),
            }
        })
    }
}

impl Policy {
    /// What becomes of a failure: it is a decision against the write, unless the policy ignores failures.
    fn failed(&self, message: String) -> Option<Decision> {
        (!self.ignores_failures()).then(|| Decision {
            message,
            reason: String::new(),
            always: false,
        })
    }

    fn misconfigured(&self, fault: &Fault) -> Option<Decision> {
        self.failed(fault.message()).map(|decision| Decision {
            always: true,
            ..decision
        })
    }

    /// What the policy has against a write, with the parameter that is in its scope.
    fn decide(&self, scope: &mut Scope) -> Vec<Decision> {
        match self.conditions(scope) {
            Conditions::Hold => {}
            Conditions::DoNotHold => return Vec::new(),
            Conditions::Failed(why) => return self.failed(why).into_iter().collect(),
        }
        let mut decisions = Vec::new();
        for validation in self.list("validations") {
            let expression = validation["expression"].as_str().unwrap_or("");
            match scope.evaluate(expression) {
                Ok(Answer::Bool(true)) | Err(Failure::Unknown(_)) => {}
                Err(failure @ (Failure::Error(_) | Failure::Costly)) => {
                    decisions.extend(self.failed(failure.of(expression)));
                }
                // Nothing else can be evaluated.
                Err(failure @ Failure::Exhausted) => {
                    return self.failed(failure.message()).into_iter().collect();
                }
                Ok(_) => match refusal(scope, validation) {
                    Ok(decision) => decisions.push(decision),
                    Err(failure) => {
                        let why = format!("failed messageExpression: {}", failure.message());
                        decisions.extend(self.failed(why));
                    }
                },
            }
        }
        decisions.extend(self.annotate(scope));
        decisions
    }

    /// The failures of audit annotations: they are of a budget of their own. There is no audit log.
    fn annotate(&self, scope: &mut Scope) -> Vec<Decision> {
        scope.begin_anew();
        let mut decisions = Vec::new();
        for annotation in self.list("auditAnnotations") {
            let expression = annotation["valueExpression"].as_str().unwrap_or("");
            let failed = match scope.evaluate(expression) {
                Ok(Answer::Text(_) | Answer::Null) | Err(Failure::Unknown(_)) => continue,
                Ok(Answer::Bool(_) | Answer::Other) => Some(Decision {
                    message: format!(
                        "valueExpression '{expression}' resulted in unsupported return type. Return type must be either \
                         string or null."
                    ),
                    reason: String::new(),
                    always: true,
                }),
                Err(failure @ Failure::Exhausted) => {
                    return self.failed(failure.message()).into_iter().collect();
                }
                Err(failure) => self.failed(failure.of(expression)).map(|decision| Decision {
                    always: true,
                    ..decision
                }),
            };
            decisions.extend(failed);
        }
        decisions
    }
}

/// What is said of a validation that does not hold.
fn refusal(scope: &mut Scope, validation: &Value) -> Result<Decision, Failure> {
    let part = |name: &str| validation[name].as_str().unwrap_or("");
    let expressed = match part("messageExpression") {
        "" => None,
        expression => match scope.evaluate(expression) {
            Err(failure @ Failure::Exhausted) => return Err(failure),
            evaluated => evaluated.ok(),
        },
    };
    let reason = match part("reason") {
        "" => "Invalid",
        reason => reason,
    };
    Ok(Decision {
        message: message(expressed, part("message"), part("expression")),
        reason: reason.to_owned(),
        always: false,
    })
}

fn message(expressed: Option<Answer>, message: &str, expression: &str) -> String {
    let fits = |text: &str| !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
    match (expressed, message.trim()) {
        (Some(Answer::Text(text)), _) if fits(text.trim()) => text.trim().to_owned(),
        (_, "") => format!("failed expression: {}", expression.trim()),
        (_, message) => message.to_owned(),
    }
}

impl Api {
    /// Refuses a write that a policy denies, and takes note of what policies warn of.
    pub(in crate::admission) async fn enforce(
        &self,
        admission: &Admission,
        question: &Question,
    ) -> Result<(), StatusError> {
        let work = Arc::new(self.work(admission, question).await);
        if work.is_empty() {
            return Ok(());
        }
        let shared = work.clone();
        let all = evaluated(self, move || {
            shared.iter().map(Work::decisions).collect::<Vec<_>>()
        })
        .await;
        let mut denied = None;
        for (work, decisions) in work.iter().zip(all) {
            let Some(binding) = work.binding() else { continue };
            let policy = format!("ValidatingAdmissionPolicy '{}'", work.policy.name);
            let by = match &work.params {
                Err(Fault::Policy(_)) => policy,
                _ => format!("{policy} with binding '{}'", binding.name),
            };
            let does = |action: &str| {
                let actions = binding.spec["validationActions"].as_array();
                actions.is_some_and(|actions| actions.iter().any(|given| given == action))
            };
            for decision in decisions {
                if does("Warn") && !decision.always {
                    let why = &decision.message;
                    admission.warn(false, format!("Validation failed for {by}: {why}"));
                }
                if denied.is_none() && (does("Deny") || decision.always) {
                    denied = Some((by.clone(), decision));
                }
            }
        }
        denied.map_or(Ok(()), |(by, decision)| Err(refused(question, &by, &decision)))
    }

    /// What is to be evaluated for a question.
    async fn work(&self, admission: &Admission, question: &Question) -> Vec<Work> {
        let (object, old) = (question.object.as_ref(), question.old.as_ref());
        let labels = labels(object, old);
        let mut work = Vec::new();
        for invocation in &question.invocations {
            let concerned = invocation.concerned([labels[0].as_ref(), labels[1].as_ref()]);
            if concerned.is_empty() {
                continue;
            }
            let turned = self.seen_by(question, &invocation.target).await;
            let (seen, fault) = match turned {
                Ok(seen) => (seen, None),
                Err(error) => (Seen::of(question), Some(error.message().to_owned())),
            };
            let scene = Arc::new(self.scene(admission, question, &seen));
            let namespace = question.target.namespace.as_deref();
            work.extend(concerned.into_iter().map(|(at, binding)| Work {
                policy: invocation.policy.clone(),
                binding: at,
                params: match &fault {
                    Some(why) => Err(Fault::Unconverted(why.clone())),
                    None => self.params(&invocation.policy, binding, namespace),
                },
                seen: scene.clone(),
            }));
        }
        work
    }
}

fn refused(question: &Question, by: &str, decision: &Decision) -> StatusError {
    let why = format!("{by} denied request: {}", decision.message);
    StatusError::denied_by_policy(&question.target.resource, question.name(), &decision.reason, &why)
}
