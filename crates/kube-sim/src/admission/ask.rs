//! Asks webhooks, and does as they say.

use std::sync::Arc;

use futures::future::join_all;
use serde_json::{Value, json};

use super::authorizer::named;
use super::evaluate::evaluated;
use super::hooks::Hook;
use super::seen::{Seen, shown};
use super::{Admission, Concerned, Object, Operation, Question, kind_of, labels_of};
use crate::access::User;
use crate::api::Api;
use crate::api::patch::Patch;
use crate::meta::uid_from;
use crate::nesting;
use crate::schema::{self, Scope};
use crate::status::StatusError;
use crate::target::Target;
use crate::webhook::{self, Caller, Field, Review};

/// The fields of an answer that Go reads, with its types.
const FIELDS: [Field; 8] = [
    Field::new("/response", "AdmissionReview", "{version}.AdmissionResponse"),
    Field::new("/response/uid", "AdmissionResponse", "types.UID"),
    Field::new("/response/allowed", "AdmissionResponse", "bool"),
    Field::new("/response/status", "AdmissionResponse", "v1.Status"),
    Field::new("/response/status/message", "Status", "string"),
    Field::new("/response/status/code", "Status", "int32"),
    Field::new("/response/patchType", "AdmissionResponse", "{version}.PatchType"),
    Field::new("/response/warnings", "AdmissionResponse", "[]string"),
];

/// What a webhook says.
#[derive(Debug)]
struct Response {
    patch: Option<Patch>,
}

/// Why a webhook did not let a write pass.
enum Failure {
    Denied(StatusError),
    /// It did not answer, or not as it should.
    Failed(String),
}

impl Api {
    /// Asks all webhooks of a question; returns what they leave of the object.
    pub(super) async fn ask(
        &self,
        admission: &Admission,
        question: &Question,
    ) -> Result<Option<Object>, StatusError> {
        match question.mutating {
            true => self.ask_mutating(admission, question).await,
            false => {
                self.enforce(admission, question).await?;
                // All objects are converted before one webhook is asked.
                let mut concerned: Vec<(&Concerned, Seen)> = Vec::new();
                for hook in &question.hooks {
                    if !is_selected(hook, question, question.object.as_ref()) {
                        continue;
                    }
                    let same = concerned.iter().map(|(_, seen)| seen);
                    let seen = match same.into_iter().find(|seen| seen.is_by(&hook.target)) {
                        Some(seen) => seen.clone(),
                        None => self.seen_by(question, &hook.target).await.map_err(unconverted)?,
                    };
                    concerned.push((hook, seen));
                }
                let asked = concerned
                    .iter()
                    .map(|(hook, seen)| self.ask_one(admission, question, hook, seen));
                for answer in join_all(asked).await {
                    answer?;
                }
                Ok(question.object.clone())
            }
        }
    }

    /// Evaluates the policies, then asks one webhook after the other. Those that want to see what later ones have changed are
    /// evaluated or asked once more.
    async fn ask_mutating(
        &self,
        admission: &Admission,
        question: &Question,
    ) -> Result<Option<Object>, StatusError> {
        let mut object = question.object.clone();
        let mut policies = self
            .mutate_by_policies(admission, question, &mut object, None)
            .await?;
        let mut again = policies.is_applied();
        let mut asked_again = vec![false; question.hooks.len()];
        let mut asked: Vec<usize> = Vec::new();
        let mut seen = Seen::with(question, object);
        for (at, hook) in question.hooks.iter().enumerate() {
            let Some(response) = self.ask_turned(admission, question, hook, &mut seen).await? else {
                continue;
            };
            if let Some(patch) = response.patch
                && change(&hook.hook, &mut seen, &patch)?
            {
                again = true;
                asked.drain(..).for_each(|earlier| asked_again[earlier] = true);
            }
            if hook.hook.is_reinvoked {
                asked.push(at);
            }
        }
        object = self.turned_back(question, &seen).await?;
        if !again {
            return Ok(object);
        }
        let left = object.clone();
        policies = self
            .mutate_by_policies(admission, question, &mut object, Some(policies))
            .await?;
        drop(policies);
        if object != left {
            asked.into_iter().for_each(|earlier| asked_again[earlier] = true);
        }
        seen = Seen::with(question, object);
        for (at, hook) in question.hooks.iter().enumerate() {
            if asked_again[at]
                && let Some(response) = self.ask_turned(admission, question, hook, &mut seen).await?
                && let Some(patch) = response.patch
            {
                change(&hook.hook, &mut seen, &patch)?;
            }
        }
        self.turned_back(question, &seen).await
    }

    /// Asks one webhook about what is turned into what it wants to see.
    async fn ask_turned(
        &self,
        admission: &Admission,
        question: &Question,
        hook: &Concerned,
        seen: &mut Seen,
    ) -> Result<Option<Response>, StatusError> {
        if !is_selected(hook, question, seen.object.as_ref()) {
            return Ok(None);
        }
        let turned = self.turn(question, seen, &hook.target).await;
        turned.map_err(unconverted).map_err(unconverted)?;
        self.ask_one(admission, question, hook, seen).await
    }

    /// Asks one webhook; none if its conditions do not hold, or it fails and is ignored.
    async fn ask_one(
        &self,
        admission: &Admission,
        question: &Question,
        Concerned { hook, .. }: &Concerned,
        seen: &Seen,
    ) -> Result<Option<Response>, StatusError> {
        let uid = uid_from(fastrand::u128(..));
        let request = request(admission, question, seen, &uid);
        if !meets_conditions(self, &admission.user, hook, question, &request).await? {
            return Ok(None);
        }
        let (target, name) = (&question.target, &hook.name);
        if admission.dry_run && hook.has_side_effects {
            let why = format!("admission webhook \"{name}\" does not support dry run");
            return Err(StatusError::bad_request(why));
        }
        let asked = async {
            let version = hook.review.ok_or_else(|| {
                Failure::Failed("webhook does not accept v1 or v1beta1 AdmissionReview requests".into())
            })?;
            let review = Review {
                group: super::REVIEWS,
                version,
                kind: "AdmissionReview",
                fields: &FIELDS,
            };
            let body = json!({"kind": review.kind, "apiVersion": review.api_version(), "request": request})
                .to_string();
            let answer = webhook::post(
                self,
                &hook.client,
                Caller::Admission(hook.timeout),
                body.into_bytes(),
            )
            .await
            .and_then(|answer| answer.review(&review))
            .map_err(|why| Failure::Failed(format!("failed to call webhook: {why}")))?;
            let response = response_in(answer, &review, &uid)
                .map_err(|why| Failure::Failed(format!("received invalid webhook response: {why}")))?;
            let warnings = response["warnings"].as_array().into_iter().flatten();
            let warnings = warnings.filter_map(Value::as_str).map(str::to_owned);
            warnings.for_each(|warning| admission.warn(question.mutating, warning));
            if response["allowed"] != true {
                return Err(Failure::Denied(StatusError::denied(name, &response["status"])));
            }
            patch_of(&response, question.mutating, version)
        };
        match asked.await {
            Ok(patch) => Ok(Some(Response { patch })),
            Err(Failure::Denied(status)) => Err(status),
            Err(Failure::Failed(why)) if hook.ignores_failures => {
                tracing::warn!(webhook = name, %why, "a webhook has failed and is ignored");
                Ok(None)
            }
            Err(Failure::Failed(why)) => {
                tracing::warn!(webhook = name, %why, resource = target.resource.id(), "a webhook has failed");
                Err(StatusError::internal_error(format_args!(
                    "failed calling webhook \"{name}\": {why}"
                )))
            }
        }
    }
}

/// Whether a webhook wants to be asked about an object with these labels, or about what it was.
fn is_selected(Concerned { hook, .. }: &Concerned, question: &Question, object: Option<&Object>) -> bool {
    let labels = [object, question.old.as_ref()].map(|there| there.map(|object| labels_of(Some(object))));
    hook.fits_object([labels[0].as_ref(), labels[1].as_ref()])
}

/// What a real server makes of the failure of a conversion, and for those that change objects twice.
fn unconverted(error: StatusError) -> StatusError {
    StatusError::internal_error(error.message())
}

/// Applies the patch of a webhook; returns whether it has changed something.
fn change(hook: &Hook, seen: &mut Seen, patch: &Patch) -> Result<bool, StatusError> {
    let Some(before) = &seen.object else {
        return Err(StatusError::internal_error(format_args!(
            "admission webhook \"{}\" attempted to modify the object, which is not supported for this operation",
            hook.name
        )));
    };
    let before = shown(&seen.target, before);
    // The path of an operation may be as deep as its patch is long.
    nesting::with_room(nesting::MAX, || {
        let changed = patch
            .apply(before)
            .map_err(|error| StatusError::internal_error(error.message()))?;
        match changed {
            changed if nesting::of(&changed) > nesting::COMMON => Err(super::too_deep()),
            Value::Object(changed) => Ok(seen.change(changed)),
            _ => Err(StatusError::internal_error("the patch leaves no object")),
        }
    })
}

/// Whether all conditions of a webhook hold.
async fn meets_conditions(
    api: &Api,
    user: &User,
    hook: &Arc<Hook>,
    question: &Question,
    request: &Value,
) -> Result<bool, StatusError> {
    if hook.conditions.is_empty() {
        return Ok(true);
    }
    let (asked, of) = (Request::read(request.clone()), hook.clone());
    let authorizer = api.authorizer(user);
    let named = named(&question.target, request);
    let depth = nesting::of(request);
    let hold = evaluated(api, move || {
        schema::with_room(depth, || {
            let mut scope = Scope::new(&[
                ("object", &asked.object),
                ("oldObject", &asked.old),
                ("request", &asked.rest),
            ]);
            scope.authorize(&authorizer, named.clone());
            scope.conditions(of.conditions.iter().map(String::as_str), false)
        })
    });
    match hold.await {
        Ok(hold) => Ok(hold),
        Err(_) if hook.ignores_failures => Ok(false),
        Err(why) => {
            let name = request["name"].as_str().unwrap_or("");
            Err(StatusError::forbidden(&question.target.resource, name, &why))
        }
    }
}

/// What expressions see of a request: objects on their own.
pub(super) struct Request {
    pub(super) object: Value,
    pub(super) old: Value,
    pub(super) rest: Value,
}

impl Request {
    /// What a question is about, as it is seen.
    pub(super) fn of(admission: &Admission, question: &Question, seen: &Seen) -> Self {
        Self::read(request(admission, question, seen, ""))
    }

    fn read(mut request: Value) -> Self {
        let [object, old] = ["object", "oldObject"].map(|name| request[name].take());
        if let Some(rest) = request.as_object_mut() {
            rest.retain(|name, _| !matches!(name.as_str(), "object" | "oldObject"));
        }
        Self {
            object,
            old,
            rest: request,
        }
    }
}

/// What a webhook is told.
fn request(admission: &Admission, question: &Question, seen: &Seen, uid: &str) -> Value {
    let target = &question.target;
    let resource_of = |target: &Target| json!({"group": target.resource.group, "version": target.version, "resource": target.resource.plural});
    let shown = |object: &Option<Object>| match object {
        Some(object) => shown(&seen.target, object),
        None => Value::Null,
    };
    let named = |object: &Object| {
        let metadata = object.get("metadata");
        metadata.and_then(|metadata| metadata["name"].as_str().map(str::to_owned))
    };
    let name = match &target.name {
        Some(name) => name.clone(),
        // While an object is changed, a generated name is in the object only.
        None if question.mutating && admission.suffix.get().is_some() => String::new(),
        None => seen.object.as_ref().and_then(named).unwrap_or_default(),
    };
    let mut request = json!({
        "uid": uid,
        "kind": kind_of(&seen.target),
        "resource": resource_of(&seen.target),
        "requestKind": kind_of(target),
        "requestResource": resource_of(target),
        "operation": question.operation.name(),
        "userInfo": admission.user.shown(),
        "object": shown(&seen.object),
        "oldObject": shown(&seen.old),
        "dryRun": admission.dry_run,
        "options": options(admission, question.operation),
    });
    if let Some(subresource) = &target.subresource {
        request["subResource"] = subresource.as_str().into();
        request["requestSubResource"] = subresource.as_str().into();
    }
    let namespace = match &target.namespace {
        Some(namespace) => namespace,
        None if target.resource.id() == "namespaces" => &name,
        None => "",
    };
    if !namespace.is_empty() {
        request["namespace"] = namespace.into();
    }
    if !name.is_empty() {
        request["name"] = name.into();
    }
    request
}

/// The options of the request, as those of what it comes to: a patch is an update, and what creates has those of a creation. A
/// connection has none.
fn options(admission: &Admission, operation: Operation) -> Value {
    let kind = match operation {
        Operation::Connect => return Value::Null,
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => return admission.options.clone(),
    };
    let mut options = admission.options.clone();
    if let Value::Object(options) = &mut options {
        options.insert("kind".into(), kind.into());
        options.remove("force");
    }
    options
}

/// The `response` of a webhook.
fn response_in(mut answer: Value, review: &Review<'_>, uid: &str) -> Result<Value, String> {
    let text = |name: &str| answer[name].as_str().unwrap_or("");
    // In v1beta1 a webhook need not say what it sends.
    let is_beta = review.version == "v1beta1";
    let is_unsaid = text("apiVersion").is_empty() && text("kind").is_empty();
    if !(is_beta && is_unsaid) {
        review.ensure_is(&answer)?;
    }
    let response = answer["response"].take();
    if response.is_null() {
        return Err("webhook response was absent".into());
    }
    let given = response["uid"].as_str().unwrap_or("");
    if !is_beta && given != uid {
        return Err(format!("expected response.uid={uid:?}, got {given:?}"));
    }
    Ok(response)
}

/// The patch that a webhook wants to be applied.
fn patch_of(response: &Value, mutating: bool, version: &str) -> Result<Option<Patch>, Failure> {
    use base64::Engine as _;
    let (patch, kind) = (
        response["patch"].as_str().unwrap_or(""),
        response["patchType"].as_str(),
    );
    let invalid = |why: &str| {
        Err(Failure::Failed(format!(
            "received invalid webhook response: {why}"
        )))
    };
    match (patch, kind) {
        ("", None) => return Ok(None),
        _ if !mutating && version == "v1beta1" => return Ok(None),
        ("", Some(_)) if !mutating => return invalid("validating webhook may not return response.patchType"),
        _ if !mutating => return invalid("validating webhook may not return response.patch"),
        (_, None) if version == "v1" => {
            return invalid("webhook returned response.patch but not response.patchType");
        }
        ("", Some(_)) if version == "v1" => {
            return invalid("webhook returned response.patchType but not response.patch");
        }
        ("", Some(_)) => return Ok(None),
        (_, Some("")) => return invalid("webhook returned invalid response.patchType of \"\""),
        (_, None | Some("JSONPatch")) => {}
        (_, Some(other)) => {
            return Err(Failure::Failed(format!("unsupported patch type {other:?}")));
        }
    }
    let patch = base64::engine::general_purpose::STANDARD
        .decode(patch)
        .map_err(|error| Failure::Failed(error.to_string()))?;
    if nesting::of_json(&patch) > nesting::COMMON {
        return Err(Failure::Denied(super::too_deep()));
    }
    let patch = Patch::read("application/json-patch+json", &patch, false);
    let patch = patch.map_err(|error| Failure::Denied(StatusError::internal_error(error.message())))?;
    Ok(Some(patch))
}
