//! MutatingAdmissionPolicies: what their expressions make of an object.
//!
//! Policies are evaluated one after the other, each on what the one before has left; then the webhooks are asked. If something has
//! changed the object, the policies that want that are evaluated once more.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::params::{Fault, Params};
use super::{Conditions, Failure, Policy, Scene, Scope, labels};
use crate::admission::evaluate::evaluated;
use crate::admission::seen::{Seen, shown};
use crate::admission::{Admission, Object, Question};
use crate::api::Api;
use crate::api::write::completed;
use crate::nesting;
use crate::schema;
use crate::status::StatusError;
use patch::change;

mod patch;

/// A policy with one of its bindings and one of its parameters.
type Key = (String, String, String);

/// What has become of the policies so far.
#[derive(Default)]
pub(in crate::admission) struct Mutating {
    /// Those that may be evaluated again, and have been evaluated.
    again: BTreeSet<Key>,
    /// What the policies made of the object.
    made: Option<Object>,
    /// Whether one of them has been applied.
    is_applied: bool,
}

/// A policy, with one of its bindings, and what its expressions see.
struct Work {
    policy: Arc<Policy>,
    /// Which of the versions that are seen.
    at: usize,
    binding: String,
    params: Result<Params, Fault>,
    scene: Scene,
}

/// What all policies are evaluated on, one after the other.
struct Pass {
    work: Vec<Work>,
    /// The object in each of the versions that rules name.
    seen: Vec<Seen>,
    /// Those that are to be evaluated; all at first.
    only: Option<BTreeSet<Key>>,
}

/// What comes of a pass.
struct Made {
    /// The object in each of the versions. As in a real server, a policy does not see what those have made that see another one.
    seen: Vec<Seen>,
    /// Which of them is that of the last policy, which counts.
    last: Option<usize>,
    again: BTreeSet<Key>,
    is_applied: bool,
    /// What goes against the write, and whether it is a fault of what was made.
    errors: Vec<(String, bool)>,
}

/// Why a mutation was not made.
enum Unmade {
    /// A failure of the policy, which it may ignore.
    Failed(String),
    /// The write is refused, whatever the policy says.
    Refused(StatusError),
}

impl From<Failure> for Unmade {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure.message())
    }
}

impl Api {
    /// Changes an object as the policies say; the second time, those that want to see what others have changed since.
    pub(in crate::admission) async fn mutate_by_policies(
        &self,
        admission: &Admission,
        question: &Question,
        object: &mut Option<Object>,
        before: Option<Mutating>,
    ) -> Result<Mutating, StatusError> {
        let Some(there) = object.as_ref().filter(|_| !question.invocations.is_empty()) else {
            return Ok(Mutating::default());
        };
        let only = match before {
            Some(before) if before.is_applied || before.made.as_ref() != Some(there) => Some(before.again),
            Some(before) => return Ok(before),
            None => None,
        };
        let there = there.clone();
        let question = &Question {
            object: Some(there.clone()),
            ..question.clone()
        };
        let (work, seen) = self.mutations(admission, question).await;
        let pass = Pass { work, seen, only };
        let Made {
            seen,
            last,
            again,
            is_applied,
            errors,
        } = evaluated(self, move || pass.run()).await?;
        let made = match last.and_then(|last| seen.get(last)) {
            Some(seen) => self.turned_back(question, seen).await.map_err(|error| {
                StatusError::internal_error(format_args!("failed to convert object: {}", error.message()))
            })?,
            None => None,
        };
        if !errors.is_empty() {
            return Err(refused(question, &errors));
        }
        let made = made.unwrap_or(there);
        *object = Some(made.clone());
        Ok(Mutating {
            again,
            made: Some(made),
            is_applied,
        })
    }

    /// What is to be evaluated for a question, and the object in each of the versions that it is seen in.
    async fn mutations(&self, admission: &Admission, question: &Question) -> (Vec<Work>, Vec<Seen>) {
        let labels = labels(question.object.as_ref(), question.old.as_ref());
        let (mut work, mut all) = (Vec::new(), Vec::<Seen>::new());
        for invocation in &question.invocations {
            let concerned = invocation.concerned([labels[0].as_ref(), labels[1].as_ref()]);
            if concerned.is_empty() {
                continue;
            }
            let known = all.iter().position(|seen| seen.is_by(&invocation.target));
            let mut fault = None;
            let at = match known {
                Some(at) => at,
                None => {
                    let seen = self.seen_by(question, &invocation.target).await;
                    all.push(seen.unwrap_or_else(|error| {
                        fault = Some(error.message().to_owned());
                        Seen::of(question)
                    }));
                    all.len() - 1
                }
            };
            let Some(seen) = all.get(at) else { continue };
            work.extend(concerned.into_iter().map(|(_, binding)| Work {
                policy: invocation.policy.clone(),
                at,
                binding: binding.name.clone(),
                params: match &fault {
                    Some(why) => Err(Fault::Policy(why.clone())),
                    None => self.params(&invocation.policy, binding, question.target.namespace.as_deref()),
                },
                scene: self.scene(admission, question, seen),
            }));
        }
        (work, all)
    }
}

impl Mutating {
    /// Whether the policies want to be evaluated again, and the webhooks be asked again.
    pub(in crate::admission) fn is_applied(&self) -> bool {
        self.is_applied
    }
}

impl Pass {
    fn run(&self) -> Result<Made, StatusError> {
        let mut made = Made {
            seen: self.seen.clone(),
            last: None,
            again: BTreeSet::new(),
            is_applied: false,
            errors: Vec::new(),
        };
        let objects = self.seen.iter().filter_map(|seen| seen.object.as_ref());
        let depth = objects
            .flat_map(Object::values)
            .map(nesting::of)
            .max()
            .unwrap_or(0);
        let depths = self.work.iter().map(|work| work.policy.depth());
        let depth = depths.fold(depth, usize::max);
        schema::with_room(depth, || {
            for work in &self.work {
                self.invoke(work, &mut made)?;
            }
            Ok(made)
        })
    }

    /// Evaluates a policy with each of its parameters.
    fn invoke(&self, work: &Work, made: &mut Made) -> Result<(), StatusError> {
        let mut refused = None;
        let params = match &work.params {
            Ok(params) => params.each(|params| {
                if refused.is_none() {
                    refused = self.invoke_with(work, params, made).err();
                }
            }),
            Err(fault) => {
                work.fail(fault.message(), false, matches!(fault, Fault::Policy(_)), made);
                Ok(())
            }
        };
        if let Err(fault) = params {
            work.fail(fault.message(), false, false, made);
        }
        refused.map_or(Ok(()), Err)
    }

    fn invoke_with(&self, work: &Work, params: &Value, made: &mut Made) -> Result<(), StatusError> {
        let Some(seen) = made.seen.get_mut(work.at) else {
            return Ok(());
        };
        let mut scope = work.policy.scope(&work.scene);
        scope.set("object", &as_shown(seen));
        scope.set_params(params);
        match work.policy.conditions(&mut scope) {
            Conditions::Hold => {}
            Conditions::DoNotHold => return Ok(()),
            Conditions::Failed(why) => {
                work.fail(why, true, false, made);
                return Ok(());
            }
        }
        let param = ["namespace", "name"].map(|part| params["metadata"][part].as_str().unwrap_or(""));
        let key = (work.policy.name.clone(), work.binding.clone(), param.join("/"));
        if self.only.as_ref().is_some_and(|only| !only.contains(&key)) {
            return Ok(());
        }
        let mut failures = Vec::new();
        for mutation in work.policy.list("mutations") {
            made.last = Some(work.at);
            match make(mutation, &mut scope, seen) {
                Ok(Some(object)) => {
                    seen.change(object);
                    made.is_applied = true;
                    scope.set("object", &as_shown(seen));
                }
                Ok(None) => {}
                Err(Unmade::Failed(why)) => failures.push(why),
                Err(Unmade::Refused(error)) => return Err(error),
            }
        }
        for why in failures {
            work.fail(why, true, false, made);
        }
        if work.policy.spec["reinvocationPolicy"] == "IfNeeded" {
            made.again.insert(key);
        }
        Ok(())
    }
}

/// The object as policies see it.
fn as_shown(seen: &Seen) -> Value {
    let object = seen.object.as_ref();
    object.map_or(Value::Null, |object| shown(&seen.target, object))
}

/// What a mutation makes of an object; none if its expression cannot be evaluated here.
fn make(mutation: &Value, scope: &mut Scope, seen: &Seen) -> Result<Option<Object>, Unmade> {
    scope.begin_anew();
    let is_patch = mutation["patchType"] == "JSONPatch";
    let place = if is_patch {
        "jsonPatch"
    } else {
        "applyConfiguration"
    };
    let expression = mutation[place]["expression"].as_str().unwrap_or("");
    let value = match scope.make(expression) {
        Ok(value) => value,
        Err(Failure::Unknown(name)) => {
            tracing::debug!(%name, "a mutation is not made: it refers to what is not there");
            return Ok(None);
        }
        Err(failure @ Failure::Exhausted) => return Err(failure.into()),
        Err(failure) => return Err(Unmade::Failed(failure.of(expression))),
    };
    let changed = change(&seen.target, is_patch, as_shown(seen), value)?;
    completed(&seen.target, changed)
        .map(Some)
        .map_err(|why| Unmade::Refused(StatusError::internal_error(format_args!("{why}"))))
}

impl Work {
    fn fail(&self, why: String, is_of_evaluation: bool, of_policy: bool, made: &mut Made) {
        if self.policy.ignores_failures() {
            return;
        }
        let policy = &self.policy.name;
        let by = match of_policy {
            true => format!("policy {policy:?}"),
            false => format!("policy '{policy}' with binding '{}'", self.binding),
        };
        made.errors
            .push((format!("{by} denied request: {why}"), is_of_evaluation));
    }
}

fn refused(question: &Question, errors: &[(String, bool)]) -> StatusError {
    let reason = match errors {
        [(_, true), ..] => "Invalid",
        _ => "Forbidden",
    };
    let messages: Vec<_> = errors.iter().map(|(message, _)| message.as_str()).collect();
    StatusError::not_mutated(&question.target.resource, question.name(), reason, &messages)
}

/// The members of an object without the names of their types.
fn untyped(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove(crate::schema::TYPE);
            members.values_mut().for_each(untyped);
        }
        Value::Array(items) => items.iter_mut().for_each(untyped),
        _ => {}
    }
}

/// The type that an expression gave to an object.
fn type_of(members: &Map<String, Value>) -> Option<&str> {
    members.get(crate::schema::TYPE)?.as_str()
}
