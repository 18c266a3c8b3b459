//! Admission: what mutating and validating webhook configurations ask others about a write, and what policies say of it.
//!
//! A write is computed under the storage's lock, where nobody can wait for an answer from the network. So it is tried: at the
//! places where webhooks are asked, the gates, it takes the answers that its request has got so far ([`Admission`]). If one is
//! missing, the attempt ends without a change, the webhooks are asked with the lock free ([`Api::admitted`]), and the write is tried
//! again. An answer counts only for what was asked: if the object has changed meanwhile, webhooks are asked again, as by a real
//! server. What an attempt draws (a uid, a name, an address) and the time that it writes are kept for the next one.
//!
//! `hooks` reads configurations and says which webhooks a write concerns, `ask` asks them, `call` is HTTP. `seen` has objects in the
//! versions that they want. `policies` has
//! admission policies, which are evaluated at the same gates, and `rules` those of a custom resource's schema if they cost more than
//! others can wait for; `evaluate` does both.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::access::{MASTERS, User};
use crate::api::Api;
use crate::conversion::{self, Session};
use crate::meta::{metadata, text};
use crate::nesting;
use crate::resources::Resource;
use crate::status::{Cause, StatusError};
use crate::storage::Transaction;
use crate::target::Target;
use crate::warnings::Warnings;
use crate::webhook::Answers;
use hooks::Hook;
use policies::{Invocation, Policy};
use rules::{RulesAbout, RulesAsked};

mod ask;
mod authorizer;
mod evaluate;
mod hooks;
mod policies;
mod rules;
mod seen;

type Object = Map<String, Value>;

/// The group of the configurations, which webhooks are not asked about.
const GROUP: &str = "admissionregistration.k8s.io";

/// The group of what webhooks are sent.
const REVIEWS: &str = "admission.k8s.io";

/// How long a request may take, if it does not say.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is done to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }
}

/// The webhooks of a cluster, and what they have said about one request.
pub(crate) struct Admission {
    mutating: Vec<Arc<Hook>>,
    validating: Vec<Arc<Hook>>,
    changing: Vec<Arc<Policy>>,
    policies: Vec<Arc<Policy>>,
    user: User,
    /// The request's options, as webhooks see them.
    options: Value,
    dry_run: bool,
    uid: OnceLock<String>,
    suffix: OnceLock<String>,
    /// Of whatever else is drawn for the object.
    seed: u64,
    /// The time that the request writes into the object.
    now: jiff::Timestamp,
    /// What conversion webhooks have said for the request.
    conversions: Arc<Session>,
    of_changes: Warnings,
    of_checks: Warnings,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    answers: Answers<Gate, Answer>,
    waiting: Vec<(Gate, Question)>,
    /// What the rules of a custom resource came to, and those that are to be evaluated with the lock free.
    rules: Answers<RulesAbout, Vec<Cause>>,
    unevaluated: Vec<RulesAsked>,
}

/// Where webhooks are asked: each attempt to write comes to the same gates, but for objects that come or go meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Gate {
    mutating: bool,
    operation: Operation,
    /// The key of the object; that of a collection, if it is one of it.
    key: String,
    /// Of the object that is there.
    uid: String,
}

/// What webhooks are asked at a gate.
#[derive(Debug, Clone)]
struct Question {
    mutating: bool,
    /// Those whose rules and namespaces fit.
    hooks: Vec<Concerned>,
    /// The policies, which come before.
    invocations: Vec<Invocation>,
    operation: Operation,
    target: Target,
    /// As it is served; none if it is deleted.
    object: Option<Object>,
    old: Option<Object>,
}

/// A webhook, and what its rules name: the request's target, or the same in another version.
#[derive(Debug, Clone)]
struct Concerned {
    hook: Arc<Hook>,
    target: Target,
}

struct Answer {
    question: Question,
    /// The object, which mutating webhooks may have changed.
    result: Result<Option<Object>, StatusError>,
}

/// Webhooks are asked by one request: that of this value.
impl PartialEq for Admission {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Admission {}

impl std::fmt::Debug for Admission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Admission").finish_non_exhaustive()
    }
}

impl Admission {
    /// The uid of the new object, the same in each attempt.
    pub(crate) fn uid(&self, draw: impl FnOnce() -> String) -> String {
        self.uid.get_or_init(draw).clone()
    }

    /// What a generated name of the new object ends with, the same in each attempt. It is drawn if the client gives no name.
    pub(crate) fn suffix(&self, draw: impl FnOnce() -> String) -> String {
        self.suffix.get_or_init(draw).clone()
    }

    /// Random numbers for the object, the same in each attempt.
    pub(crate) fn random(&self) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.seed)
    }

    /// The time that is written into the object, the same in each attempt.
    pub(crate) fn now(&self) -> jiff::Timestamp {
        self.now
    }

    /// What those that change the object want the client to be warned of, and what those that check it.
    pub(crate) fn warnings(&self) -> [Vec<String>; 2] {
        [self.of_changes.take(), self.of_checks.take()]
    }

    /// Takes note of what the client is to be warned of, once.
    fn warn(&self, mutating: bool, warning: String) {
        let warnings = if mutating {
            &self.of_changes
        } else {
            &self.of_checks
        };
        warnings.add(warning);
    }

    /// Begins an attempt.
    fn begin(&self) {
        self.conversions.begin();
        let mut state = self.lock();
        state.answers.begin();
        state.rules.begin();
        state.waiting.clear();
        state.unevaluated.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the policies and webhooks that change objects, or takes their answer; returns what they make of the object.
    pub(crate) fn mutate(
        &self,
        api: &Api,
        transaction: &mut Transaction<'_>,
        operation: Operation,
        target: &Target,
        object: Option<&Object>,
        old: Option<&Object>,
    ) -> Result<Option<Object>, StatusError> {
        let hooks = self.concerned(&self.mutating, api, transaction, operation, target, object)?;
        let policies = self.invoked(&self.changing, api, transaction, operation, target, object)?;
        self.gate(true, hooks, policies, operation, target, object, old)
    }

    /// Asks the policies, then the validating webhooks, or takes their answer.
    pub(crate) fn validate(
        &self,
        api: &Api,
        transaction: &mut Transaction<'_>,
        operation: Operation,
        target: &Target,
        object: Option<&Object>,
        old: Option<&Object>,
    ) -> Result<(), StatusError> {
        let hooks = self.concerned(&self.validating, api, transaction, operation, target, object)?;
        let policies = self.invoked(&self.policies, api, transaction, operation, target, object)?;
        self.gate(false, hooks, policies, operation, target, object, old)
            .map(drop)
    }

    /// Those of the webhooks whose rules and namespace selectors fit.
    fn concerned(
        &self,
        hooks: &[Arc<Hook>],
        api: &Api,
        transaction: &mut Transaction<'_>,
        operation: Operation,
        target: &Target,
        object: Option<&Object>,
    ) -> Result<Vec<Concerned>, StatusError> {
        let mut found = Vec::new();
        if target.resource.group == GROUP || hooks.is_empty() {
            return Ok(found);
        }
        let same = api.same_targets(target);
        for hook in hooks {
            let Some(seen) = hook.fits(operation, &same) else {
                continue;
            };
            if hook.selects_namespaces()
                && let Some(labels) = namespace_labels(api, transaction, operation, target, object)?
                && !hook.fits_namespace(&labels)
            {
                continue;
            }
            found.push(Concerned {
                hook: hook.clone(),
                target: seen.clone(),
            });
        }
        Ok(found)
    }

    #[expect(clippy::too_many_arguments, reason = "they are what is asked about")]
    fn gate(
        &self,
        mutating: bool,
        hooks: Vec<Concerned>,
        invocations: Vec<Invocation>,
        operation: Operation,
        target: &Target,
        object: Option<&Object>,
        old: Option<&Object>,
    ) -> Result<Option<Object>, StatusError> {
        if hooks.is_empty() && invocations.is_empty() {
            return Ok(object.cloned());
        }
        let depth = |object: &Object| object.values().map(nesting::of).max().unwrap_or(0);
        if object
            .into_iter()
            .chain(old)
            .any(|object| depth(object) >= nesting::COMMON)
        {
            return Err(too_deep());
        }
        let question = Question {
            mutating,
            hooks,
            invocations,
            operation,
            target: target.clone(),
            object: object.cloned(),
            old: old.cloned(),
        };
        let uid = old.and_then(|old| old.get("metadata")?["uid"].as_str());
        let gate = Gate {
            mutating,
            operation,
            key: target.key(),
            uid: uid.unwrap_or("").to_owned(),
        };
        let mut state = self.lock();
        let known = state
            .answers
            .get(&gate)
            .filter(|answer| answer.question.is_about(&question));
        if let Some(answer) = known {
            return answer.result.clone();
        }
        state.waiting.push((gate, question));
        Err(StatusError::internal("webhooks have not been asked yet"))
    }
}

/// Objects are shown to webhooks if they fit on any stack.
fn too_deep() -> StatusError {
    let most = nesting::COMMON;
    StatusError::internal_error(format_args!(
        "webhooks are not asked about objects of more than {most} levels"
    ))
}

impl Question {
    /// The object's name as refusals have it, which may be the beginning of a name.
    fn name(&self) -> &str {
        let part = |name: &str| {
            let text = self.object.as_ref().map(|object| text(metadata(object), name));
            text.filter(|text| !text.is_empty())
        };
        let name = self.target.name.as_deref().or_else(|| part("name"));
        name.or_else(|| part("generateName")).unwrap_or("Unknown")
    }

    /// Whether the answer to another question is one to this, too: times may differ.
    fn is_about(&self, other: &Self) -> bool {
        let untimed = |object: &Option<Object>| object.as_ref().map(rules::without_times);
        (self.mutating, self.operation) == (other.mutating, other.operation)
            && self.target.key() == other.target.key()
            && self.old == other.old
            && untimed(&self.object) == untimed(&other.object)
    }
}

/// The labels of the namespace that a request is about; none if there is no such thing.
fn namespace_labels(
    api: &Api,
    transaction: &mut Transaction<'_>,
    operation: Operation,
    target: &Target,
    object: Option<&Object>,
) -> Result<Option<Value>, StatusError> {
    let is_namespace = target.resource.id() == "namespaces";
    let namespace = match (&target.namespace, &target.name) {
        (Some(namespace), _) => namespace,
        (None, Some(name)) if is_namespace => name,
        // A namespace that is being created.
        (None, None) if is_namespace => "",
        _ => return Ok(None),
    };
    if is_namespace && operation != Operation::Delete && target.subresource.is_none() {
        return Ok(Some(labels_of(object)));
    }
    let Some(namespaces) = api.find("", "v1", "namespaces") else {
        return Ok(None);
    };
    let found = transaction.get(&namespaces, namespace);
    let found = found.ok_or_else(|| StatusError::not_found(&namespaces, namespace))?;
    Ok(Some(labels_of(Some(&found.decode(&namespaces.head("v1"))))))
}

/// A timeout as Go writes it, such as `1m30s`; none if it is not one, or is 0.
fn duration(text: &str) -> Option<Duration> {
    let time: jiff::SignedDuration = text.parse().ok()?;
    Duration::try_from(time).ok().filter(|time| !time.is_zero())
}

fn labels_of(object: Option<&Object>) -> Value {
    let metadata = object.and_then(|object| object.get("metadata"));
    metadata.map_or(Value::Null, |metadata| metadata["labels"].clone())
}

impl Api {
    /// All objects of a kind of the group.
    fn all_of(&self, plural: &str) -> Vec<Object> {
        let Some(resource) = self.find(GROUP, "v1", plural) else {
            return Vec::new();
        };
        let all = self.storage.snapshot(&resource);
        let decode = |stored: &Arc<crate::object::Stored>| {
            nesting::with_room(stored.depth, || stored.decode(&resource.head("v1")))
        };
        all.range("", None).map(decode).collect()
    }

    /// The webhooks and policies that there are, for a write with these options; none if there are none, and the target's schema has no
    /// rules.
    pub(crate) fn admission(
        &self,
        target: &Target,
        user: Option<&User>,
        options: Value,
        dry_run: bool,
    ) -> Option<Admission> {
        let [mutating, validating] = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
            .map(|plural| -> Vec<Arc<Hook>> {
                let Some(resource) = self.find(GROUP, "v1", plural) else {
                    return Vec::new();
                };
                let configurations = self.storage.snapshot(&resource);
                configurations
                    .range("", None)
                    .flat_map(|stored| hooks_of(&resource, stored))
                    .collect()
            });
        let [changing, policies] = ["mutating", "validating"].map(|sort| {
            let [policies, bindings] = ["admissionpolicies", "admissionpolicybindings"]
                .map(|what| self.all_of(&format!("{sort}{what}")));
            Policy::all(&policies, &bindings)
        });
        let none = mutating.is_empty() && validating.is_empty() && changing.is_empty() && policies.is_empty();
        if none && !rules::are_of(target) && target.resource.definition.webhook.is_none() {
            return None;
        }
        let admin = User::new("kube-sim", "", [MASTERS.to_owned()]);
        Some(Admission {
            mutating,
            validating,
            changing,
            policies,
            user: user.unwrap_or(&admin).clone(),
            options,
            dry_run,
            uid: OnceLock::new(),
            suffix: OnceLock::new(),
            seed: fastrand::u64(..),
            now: self.now(),
            conversions: Arc::default(),
            of_changes: Warnings::default(),
            of_checks: Warnings::default(),
            state: Mutex::default(),
        })
    }

    /// Tries a write until it needs no more answers of webhooks, or until its time is over: `timeout` as the request gives it, a
    /// minute at the most.
    ///
    /// # Cancel safety
    ///
    /// If this is dropped while webhooks are asked, nothing has been written.
    pub(crate) async fn admitted<T: Send>(
        &self,
        admission: Option<&Admission>,
        timeout: &str,
        write: impl Fn() -> Result<T, StatusError> + Send + Sync,
    ) -> Result<T, StatusError> {
        let Some(admission) = admission else {
            return write();
        };
        let timeout = duration(timeout).map_or(TIMEOUT, |given| given.min(TIMEOUT));
        let tried = tokio::time::timeout(timeout, self.try_admitted(admission, write)).await;
        tried.unwrap_or_else(|_| Err(StatusError::timed_out()))
    }

    async fn try_admitted<T: Send>(
        &self,
        admission: &Admission,
        write: impl Fn() -> Result<T, StatusError> + Send + Sync,
    ) -> Result<T, StatusError> {
        // As often as the object changes while webhooks are asked, as in a real server: the request has its time.
        loop {
            admission.begin();
            let result = conversion::within(Some(admission.conversions.clone()), &write);
            let missing = admission.conversions.missing();
            if let Some(failed) = admission.conversions.failure() {
                return Err(failed);
            }
            if !missing.is_empty() {
                self.convert_missing(&admission.conversions, missing).await;
                continue;
            }
            let waiting = std::mem::take(&mut admission.lock().waiting);
            if !admission.evaluate_rules(self).await && waiting.is_empty() {
                return result;
            }
            for (gate, question) in waiting {
                let result = self.ask(admission, &question).await;
                admission.lock().answers.insert(gate, Answer { question, result });
            }
        }
    }

    /// Asks webhooks about what is posted to a subresource and is not stored as such.
    pub(crate) fn admit_posted(
        &self,
        admission: &Admission,
        operation: Operation,
        target: &Target,
        mut object: Object,
        old: Option<&Object>,
    ) -> Result<Object, StatusError> {
        if operation == Operation::Create {
            // Go writes it, whether it was given or not.
            object.entry("metadata").or_insert_with(|| json!({}));
        }
        let nobody = self.storage.transact(|transaction| {
            let changed = admission.mutate(self, transaction, operation, target, Some(&object), old)?;
            admission.validate(self, transaction, operation, target, changed.as_ref(), old)?;
            Ok::<_, StatusError>(changed)
        })?;
        Ok(nobody.unwrap_or(object))
    }
}

fn hooks_of(resource: &Resource, stored: &crate::object::Stored) -> Vec<Arc<Hook>> {
    let configuration = nesting::with_room(stored.depth, || stored.decode(&resource.head("v1")));
    let webhooks = configuration.get("webhooks").and_then(Value::as_array);
    let webhooks = webhooks.into_iter().flatten();
    webhooks.map(|webhook| Arc::new(Hook::read(webhook))).collect()
}

/// The kind of what is sent to a subresource, with its group and version, if that is not the resource's own.
pub(crate) fn form_of(target: &Target) -> Option<[String; 3]> {
    let kind = kind_of(target);
    let form = ["group", "version", "kind"].map(|name| kind[name].as_str().unwrap_or("").to_owned());
    (target.subresource.is_some() && form[2] != *target.resource.kind).then_some(form)
}

/// The kind of a resource, or of one of its subresources, as webhooks see it.
fn kind_of(target: &Target) -> Value {
    let (resource, version) = (&target.resource, &target.version);
    let options = target.subresource.as_deref().and_then(|name| match name {
        "exec" => Some("PodExecOptions"),
        "attach" => Some("PodAttachOptions"),
        "portforward" => Some("PodPortForwardOptions"),
        "proxy" => Some(match resource.plural.as_str() {
            "pods" => "PodProxyOptions",
            "services" => "ServiceProxyOptions",
            _ => "NodeProxyOptions",
        }),
        _ => None,
    });
    if let Some(kind) = options {
        return json!({"group": "", "version": "v1", "kind": kind});
    }
    let form = target.subresource.as_deref().and_then(|name| {
        let mut all = resource.subresources().into_iter();
        all.find(|subresource| subresource.name == name)?.form
    });
    match form {
        Some((group, version, kind)) => json!({"group": group, "version": version, "kind": kind}),
        None => json!({"group": resource.group, "version": version, "kind": resource.kind}),
    }
}
