//! Requests for certificates: who has made one, and who may decide about it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Object;
use crate::access::{Attributes, MASTERS, Subject, User};
use crate::api::Api;
use crate::certificates::organizations;
use crate::resources::Resource;
use crate::specs;
use crate::status::{Cause, StatusError, quoted};
use crate::storage::Transaction;
use crate::target::Target;

pub(super) const ID: &str = "certificatesigningrequests.certificates.k8s.io";

/// The conditions that stay once they are there.
const LASTING: [&str; 3] = ["Approved", "Denied", "Failed"];

fn conditions(object: &Object) -> impl Iterator<Item = &Value> {
    let conditions = object
        .get("status")
        .and_then(|status| status["conditions"].as_array());
    conditions.into_iter().flatten()
}

fn conditions_mut(object: &mut Object) -> impl Iterator<Item = &mut Value> {
    let status = object.get_mut("status");
    let conditions = status.and_then(|status| status.get_mut("conditions"));
    conditions.and_then(Value::as_array_mut).into_iter().flatten()
}

/// Of the status, an approval changes the conditions only.
pub(super) fn keep_all_but_conditions(old: &Object, new: &mut Object) {
    let given = new.get("status").map(|status| status["conditions"].clone());
    super::keep_member(old, new, "status");
    if let Some(status) = new.entry("status").or_insert_with(|| json!({})).as_object_mut() {
        status.remove("conditions");
        status.extend(
            given
                .filter(Value::is_array)
                .map(|given| ("conditions".into(), given)),
        );
    }
}

/// Says in a new request who has made it, whatever he says.
pub(super) fn name_requestor(request: &mut Object, user: Option<&User>) {
    let Some(Value::Object(spec)) = request.get_mut("spec") else {
        return;
    };
    for member in ["username", "uid", "groups", "extra"] {
        spec.remove(member);
    }
    let user = user.map_or_else(|| User::unknown().shown(), User::shown);
    let of = |member: &str| Some((member.to_owned(), user.get(member)?.clone()));
    spec.extend(["uid", "groups", "extra"].into_iter().filter_map(of));
    spec.extend(user.get("username").map(|name| ("username".into(), name.clone())));
}

/// By the status, nobody changes what was decided.
pub(super) fn keep_decisions(old: &Object, new: &mut Object) {
    for decision in ["Approved", "Denied"] {
        let is_of = |condition: &&Value| condition["type"] == decision;
        let before: Vec<_> = conditions(old).filter(is_of).cloned().collect();
        let after = conditions_mut(new).filter(|condition| condition["type"] == decision);
        let after: Vec<_> = after.collect();
        if before.len() == after.len() {
            after
                .into_iter()
                .zip(before)
                .for_each(|(after, before)| *after = before);
        }
    }
}

/// What an update by a subresource may not make of a request.
pub(super) fn check(
    resource: &Resource,
    name: &str,
    subresource: Option<&str>,
    [old, new]: [&Object; 2],
) -> Result<(), StatusError> {
    let mut causes = specs::added_causes(resource, old, new);
    let count = |object: &Object, kind: &str| {
        conditions(object)
            .filter(|condition| condition["type"] == kind)
            .count()
    };
    let mut forbid = |field: &'static str, why: &str| causes.push(Cause::forbidden(field, why));
    for kind in LASTING
        .into_iter()
        .filter(|kind| count(new, kind) < count(old, kind))
    {
        let why = format!("updates may not remove a condition of type \"{kind}\"");
        forbid("status.conditions", &why);
    }
    if subresource == Some("status") {
        for kind in ["Approved", "Denied"]
            .into_iter()
            .filter(|kind| count(new, kind) > count(old, kind))
        {
            let why = format!("updates may not add a condition of type \"{kind}\"");
            forbid("status.conditions", &why);
        }
        let [before, after] = [old, new].map(certificate);
        if !before.is_empty() && before != after {
            forbid(
                "status.certificate",
                "updates may not modify existing certificate content",
            );
        }
    }
    match causes.is_empty() {
        true => Ok(()),
        false => Err(StatusError::invalid(
            &resource.group,
            &resource.kind,
            name,
            &causes,
        )),
    }
}

fn certificate(object: &Object) -> &str {
    let status = object.get("status");
    status
        .and_then(|status| status["certificate"].as_str())
        .unwrap_or("")
}

/// Says when the conditions were made that do not say it: one that was there has the time of then.
pub(super) fn stamp(old: &Object, new: &mut Object, now: &str) {
    let is_absent = |condition: &Value, field: &str| condition[field].is_null();
    for condition in conditions_mut(new).filter(|condition| condition.is_object()) {
        if is_absent(condition, "lastUpdateTime") {
            condition["lastUpdateTime"] = now.into();
        }
        if is_absent(condition, "lastTransitionTime") {
            let is_same = |other: &&Value| {
                let same = |field: &str| other[field] == condition[field];
                same("type") && same("status") && !is_absent(other, "lastTransitionTime")
            };
            let before = conditions(old).find(is_same);
            condition["lastTransitionTime"] = match before {
                Some(before) => before["lastTransitionTime"].clone(),
                None => now.into(),
            };
        }
    }
}

impl Api {
    /// Refuses a decision or a certificate of who may not give it.
    pub(super) fn check_signer(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        user: &User,
        [old, new]: [&Object; 2],
        name: &str,
    ) -> Result<(), StatusError> {
        if target.resource.id() != ID {
            return Ok(());
        }
        let changes = |member: &str| status(old, member) != status(new, member);
        let verb = match target.subresource.as_deref() {
            Some("approval") => "approve",
            Some("status") if changes("certificate") || changes("conditions") => "sign",
            _ => return Ok(()),
        };
        let signer = old.get("spec").and_then(|spec| spec["signerName"].as_str());
        let signer = signer.unwrap_or("");
        let domain = signer.split('/').next().unwrap_or("");
        let names = [signer.to_owned(), format!("{domain}/*")];
        let may = names.into_iter().any(|signer| {
            let wanted = Attributes {
                verb: verb.into(),
                subject: Subject::Resource {
                    group: "certificates.k8s.io".into(),
                    resource: "signers".into(),
                    subresource: String::new(),
                    namespace: String::new(),
                    name: signer,
                },
            };
            self.allows(transaction, user, &wanted)
        });
        match may {
            true => Ok(()),
            false => {
                let signer = quoted(signer);
                let why = format!("user not permitted to {verb} requests with signerName {signer}");
                Err(StatusError::forbidden(&target.resource, name, &why))
            }
        }
    }
}

fn status<'a>(object: &'a Object, member: &str) -> &'a Value {
    object
        .get("status")
        .map_or(&Value::Null, |status| &status[member])
}

/// Nobody becomes an administrator by a certificate for clients.
pub(super) fn check_subject(target: &Target, request: &Object, name: &str) -> Result<(), StatusError> {
    const CLIENTS: &str = "kubernetes.io/kube-apiserver-client";
    let spec = request.get("spec").unwrap_or(&Value::Null);
    if target.resource.id() != ID || target.subresource.is_some() || spec["signerName"] != CLIENTS {
        return Ok(());
    }
    let pem = STANDARD.decode(spec["request"].as_str().unwrap_or(""));
    let forbidden = |why: &str| Err(StatusError::forbidden(&target.resource, name, why));
    match organizations(&pem.unwrap_or_default()) {
        Err(why) => forbidden(&format!("failed to parse CSR: {why}")),
        Ok(all) if all.iter().any(|name| name == MASTERS) => forbidden(&format!(
            "use of {CLIENTS} signer with {MASTERS} group is not allowed"
        )),
        Ok(_) => Ok(()),
    }
}
