//! Custom resource definitions: the fields that the server sets.
//!
//! # Names
//!
//! A definition gets the names that it wants and no other definition of its group has. Until it has got all of them it is not
//! served; once it was, it keeps those that it has got. What a definition gives up is given to those that wait.
//!
//! # Deletion
//!
//! A definition that is deleted gets a finalizer, and goes when its objects are gone; meanwhile none is created.
//! `control/definitions` does that.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::Object;
use crate::api::Api;
use crate::conversion::webhook::Webhook;
use crate::meta::{finalizers, metadata, metadata_mut, text};
use crate::object::Stored;
use crate::resources::{Names, Registry, Resource};
use crate::status::{Cause, StatusError};
use crate::storage::{Place, Transaction};

mod conversion;
mod selectable;
mod validation;
mod versions;

pub(crate) const ID: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// What holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// How long after the deletion of a definition was answered its objects go. In a real server, a controller sees it then.
pub(super) const END: Duration = Duration::from_millis(300);

/// A condition of a definition.
pub(crate) struct Condition<'a> {
    pub(crate) kind: &'a str,
    pub(crate) holds: bool,
    pub(crate) reason: &'a str,
    pub(crate) message: &'a str,
}

impl Condition<'_> {
    /// Puts the condition among those of a definition. It is as old as its status.
    pub(crate) fn put(&self, object: &mut Object, now: &str) {
        let status = if self.holds { "True" } else { "False" };
        let mut condition = json!({
            "type": self.kind, "status": status, "lastTransitionTime": now,
            "reason": self.reason, "message": self.message,
        });
        let all = status_of(object);
        if !all["conditions"].is_array() {
            all["conditions"] = json!([]);
        }
        let Some(all) = all["conditions"].as_array_mut() else {
            return;
        };
        match all.iter_mut().find(|found| found["type"] == self.kind) {
            Some(found) => {
                if found["status"] == status && found["lastTransitionTime"].is_string() {
                    condition["lastTransitionTime"] = found["lastTransitionTime"].take();
                }
                *found = condition;
            }
            None => all.push(condition),
        }
    }
}

/// The status of a condition; none if the definition does not have it.
fn condition<'a>(object: &'a Object, kind: &str) -> Option<&'a str> {
    let conditions = object
        .get("status")
        .and_then(|status| status["conditions"].as_array());
    let mut conditions = conditions.into_iter().flatten();
    conditions.find(|condition| condition["type"] == kind)?["status"].as_str()
}

/// Whether a definition has got its names, and so is served.
pub(crate) fn is_established(object: &Object) -> bool {
    condition(object, "Established").is_none_or(|status| status == "True")
}

/// The status; a new one if there is none, or something that is none.
fn status_of(object: &mut Object) -> &mut Value {
    let status = object.entry("status").or_insert_with(|| json!({}));
    if !status.is_object() {
        *status = json!({});
    }
    status
}

/// What a definition need not say.
pub(super) fn fill_in(definition: &mut Object) {
    let Some(Value::Object(spec)) = definition.get_mut("spec") else {
        return;
    };
    if let Some(Value::Object(names)) = spec.get_mut("names") {
        let kind = text(names, "kind").to_owned();
        for (name, default) in [
            ("singular", kind.to_lowercase()),
            ("listKind", format!("{kind}List")),
        ] {
            if text(names, name).is_empty() && !kind.is_empty() {
                names.insert(name.into(), default.into());
            }
        }
    }
    let conversion = spec
        .entry("conversion")
        .or_insert_with(|| json!({"strategy": "None"}));
    let Some(Value::Object(client)) = conversion.pointer_mut("/webhook/clientConfig") else {
        return;
    };
    client.retain(|name, value| name != "caBundle" || *value != "");
    if let Some(Value::Object(service)) = client.get_mut("service") {
        service.entry("port").or_insert(443.into());
    }
}

/// Checks a definition and sets its defaults and its status: what may have its names is established immediately. `old` is what it
/// takes the place of, `wrong` what is wrong with its metadata.
///
/// A `lenient` check lets versions have no schema, or one that a real server refuses.
pub(super) fn prepare(
    object: &mut Object,
    old: Option<&Object>,
    mut wrong: Vec<Cause>,
    registry: &Registry,
    now: &str,
    lenient: bool,
) -> Result<(), StatusError> {
    let definition = Value::Object(object.clone());
    let name = text(metadata(object), "name").to_owned();
    let invalid = |causes: &[Cause]| {
        StatusError::invalid("apiextensions.k8s.io", "CustomResourceDefinition", &name, causes)
    };
    let spec = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    if name != format!("{}.{}", spec("/spec/names/plural"), spec("/spec/group")) {
        let why = "must be spec.names.plural+\".\"+spec.group";
        let is_named = |cause: &Cause| cause.field == "metadata.name";
        let place = wrong
            .iter()
            .position(|cause| !is_named(cause))
            .unwrap_or(wrong.len());
        wrong.insert(
            place,
            Cause::invalid("metadata.name", format_args!("{name:?}"), why),
        );
    }
    fill_in(object);
    let was = old.map(|old| Value::Object(old.clone()));
    let resources = Resource::of_definition(&definition);
    let is_readable = wrong.is_empty() && resources.as_ref().is_ok_and(|all| !all.is_empty());
    if !is_readable && !lenient {
        wrong.extend(validation::faults(&Value::Object(object.clone()), was.as_ref()));
    }
    if !wrong.is_empty() {
        return Err(invalid(&wrong));
    }
    let resources = resources.map_err(|why| invalid(&[Cause::invalid("spec", "{}", &why)]))?;
    let Some(resource) = resources.first() else {
        return Err(invalid(&[Cause::required("spec.versions", "")]));
    };
    let storage = &*resource.definition.storage;
    let status = json!({
        "conditions": [], "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": [storage],
    });
    object.entry("status").or_insert(status);
    note_storage_version(object, storage);
    if !lenient {
        let definition = Value::Object(object.clone());
        let mut causes = validation::faults(&definition, was.as_ref());
        if let (Some(old), Some(was)) = (old, &was) {
            let is_established = condition(old, "Established") == Some("True");
            causes.extend(validation::faults_of_change(was, &definition, is_established));
        }
        if !causes.is_empty() {
            return Err(invalid(&causes));
        }
    }
    accept_names(object, registry, now);
    if let Some((holds, reason, message)) = approval(&definition) {
        let condition = Condition {
            kind: APPROVED,
            holds,
            reason,
            message: &message,
        };
        condition.put(object, now);
    }
    Ok(())
}

/// A version that becomes the one in which objects are stored is remembered, since objects may be stored in it from now on.
fn note_storage_version(object: &mut Object, storage: &str) {
    let status = object.get_mut("status");
    if let Some(Value::Array(stored)) = status.and_then(|status| status.get_mut("storedVersions"))
        && !stored.iter().any(|version| version == storage)
    {
        stored.push(storage.into());
    }
}

/// Gives a definition the names that it wants and that no other has, and says in its conditions what came of it.
pub(crate) fn accept_names(object: &mut Object, registry: &Registry, now: &str) {
    let wanted = object
        .get("spec")
        .map_or(Value::Null, |spec| spec["names"].clone());
    let had = object
        .get("status")
        .map_or(Value::Null, |status| status["acceptedNames"].clone());
    if wanted == had && condition(object, "NamesAccepted").is_some() {
        return establish(object, now);
    }
    let group = object
        .get("spec")
        .and_then(|spec| spec["group"].as_str())
        .unwrap_or("");
    let mut resources = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    let own = text(metadata(object), "name");
    for (_, names) in registry.names_in(group).filter(|(name, _)| *name != own) {
        resources.extend(names.resources.iter().map(String::as_str));
        kinds.extend(names.kinds.iter().map(String::as_str));
    }
    let mut accepted = if had.is_object() { had.clone() } else { json!({}) };
    let mut conflict = None;
    let text = |of: &Value, name: &str| of[name].as_str().unwrap_or("").to_owned();
    let mut take = |name: &str, taken: &BTreeSet<&str>, reason: &'static str, accepted: &mut Value| {
        let wanted = text(&wanted, name);
        match wanted != text(&had, name) && taken.contains(&*wanted) {
            true => conflict = Some((reason, format!("\"{wanted}\" is already in use"))),
            false => accepted[name] = wanted.into(),
        }
    };
    take("plural", &resources, "PluralConflict", &mut accepted);
    take("singular", &resources, "SingularConflict", &mut accepted);
    let strings = |of: &Value| -> Vec<String> {
        let list = of["shortNames"].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let before = strings(&had);
    let mut refused: Vec<_> = strings(&wanted)
        .into_iter()
        .filter(|name| !before.contains(name) && resources.contains(&**name))
        .map(|name| format!("\"{name}\" is already in use"))
        .collect();
    refused.dedup();
    let refused = match &refused[..] {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("[{}]", several.join(", "))),
    };
    let copy = |name: &str, accepted: &mut Value| {
        let members = accepted.as_object_mut();
        members.map(|members| match wanted.get(name) {
            Some(value) => members.insert(name.to_owned(), value.clone()),
            None => members.remove(name),
        });
    };
    take("kind", &kinds, "KindConflict", &mut accepted);
    take("listKind", &kinds, "ListKindConflict", &mut accepted);
    match refused {
        Some(message) if conflict.is_none() => conflict = Some(("ShortNamesConflict", message)),
        Some(_) => {}
        None => copy("shortNames", &mut accepted),
    }
    copy("categories", &mut accepted);
    let status = status_of(object);
    status["acceptedNames"] = accepted;
    let (reason, message) = conflict
        .clone()
        .unwrap_or(("NoConflicts", "no conflicts found".into()));
    let names = Condition {
        kind: "NamesAccepted",
        holds: conflict.is_none(),
        reason,
        message: &message,
    };
    names.put(object, now);
    establish(object, now);
}

/// Establishes a definition that has got its names, unless its conversion webhook cannot be asked; it stays established.
fn establish(object: &mut Object, now: &str) {
    if condition(object, "Established") == Some("True") {
        return;
    }
    let webhook = object.get("spec").and_then(Webhook::of);
    let is_usable = webhook.is_none_or(|webhook| webhook.is_usable());
    let (holds, reason, message) = match condition(object, "NamesAccepted") {
        Some("True") if is_usable => (
            true,
            "InitialNamesAccepted",
            "the initial names have been accepted",
        ),
        Some("True") => (
            false,
            "InvalidCABundle",
            "The conversion webhook CABundle is invalid",
        ),
        _ => (false, "NotAccepted", "not all names are accepted"),
    };
    let established = Condition {
        kind: "Established",
        holds,
        reason,
        message,
    };
    established.put(object, now);
}

/// The names that a definition has got.
fn names_of(object: &Object) -> Names {
    let accepted = object
        .get("status")
        .map_or(&Value::Null, |status| &status["acceptedNames"]);
    let text = |name: &str| {
        accepted[name]
            .as_str()
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
    };
    let short = accepted["shortNames"].as_array().into_iter().flatten();
    let short = short.filter_map(Value::as_str).map(str::to_owned);
    let group = object.get("spec").and_then(|spec| spec["group"].as_str());
    Names {
        group: group.unwrap_or("").to_owned(),
        resources: [text("plural"), text("singular")]
            .into_iter()
            .flatten()
            .chain(short)
            .collect(),
        kinds: [text("kind"), text("listKind")].into_iter().flatten().collect(),
        is_waiting: condition(object, "NamesAccepted") == Some("False"),
    }
}

/// Marks a definition that is deleted: its objects go first.
pub(super) fn terminate(object: &mut Object, now: &str) {
    let meta = metadata_mut(object);
    meta.insert("deletionTimestamp".into(), now.into());
    let held = finalizers(object);
    if !held.contains(&CLEANUP) {
        let held: Vec<_> = held.into_iter().chain([CLEANUP]).map(Value::from).collect();
        metadata_mut(object).insert("finalizers".into(), held.into());
    }
    let condition = Condition {
        kind: "Terminating",
        holds: true,
        reason: "InstanceDeletionPending",
        message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    };
    condition.put(object, now);
}

impl Api {
    /// A custom resource definition makes its resource appear, or change.
    pub(super) fn defined(
        &self,
        transaction: &mut Transaction<'_>,
        resource: &Resource,
        object: &Object,
        stored: &Stored,
    ) {
        if resource.id() == ID {
            self.define(transaction, object, stored.resource_version);
        }
    }

    /// Takes note of a definition and its names, at a resource version.
    pub(crate) fn define(&self, transaction: &mut Transaction<'_>, object: &Object, resource_version: u64) {
        let Ok(mut resources) = Resource::of_definition(&Value::Object(object.clone())) else {
            return;
        };
        let Some(first) = resources.first().cloned() else {
            return;
        };
        let terminating = condition(object, "Terminating") == Some("True");
        let established = is_established(object);
        for resource in &mut resources {
            resource.since = resource_version;
            resource.terminating = terminating;
            resource.established = established;
        }
        // Without its authorities, requests are refused for that reason.
        let is_served = established || condition(object, "NamesAccepted") == Some("True");
        self.with_registry(|registry| match is_served {
            true => registry.define(resources),
            false => drop(registry.undefine(&first.group, &first.plural)),
        });
        self.name(
            transaction,
            text(metadata(object), "name"),
            Some(names_of(object)),
        );
        transaction.wake(&first);
    }

    /// Takes note of the names of a definition. What it has given up is given to others that wait for it.
    pub(super) fn name(&self, transaction: &mut Transaction<'_>, definition: &str, names: Option<Names>) {
        let waiting = self.with_registry(|registry| {
            if !registry.note_names(definition, names) {
                return Vec::new();
            }
            let group = definition.split_once('.').map_or("", |(_, group)| group);
            let others = registry
                .names_in(group)
                .filter(|(name, names)| names.is_waiting && *name != definition);
            others.map(|(name, _)| name.clone()).collect()
        });
        for name in waiting {
            transaction.enqueue(Place {
                resource: ID.into(),
                key: name.into(),
            });
        }
    }
}

/// Where a definition of a group of the community says who has approved it (KEP-1111), and the condition about it.
const APPROVAL: &str = "api-approved.kubernetes.io";
const APPROVED: &str = "KubernetesAPIApprovalPolicyConformant";

/// Whether a definition of a group of the community is approved, and why; nothing about other groups.
fn approval(definition: &Value) -> Option<(bool, &'static str, String)> {
    const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";
    let group = definition["spec"]["group"].as_str().unwrap_or("");
    let is_protected = ["k8s.io", "kubernetes.io"].iter().any(|of| {
        group
            .strip_suffix(of)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    });
    if !is_protected {
        return None;
    }
    let must = format!("protected groups must have approval annotation \"{APPROVAL}\"");
    let given = definition["metadata"]["annotations"][APPROVAL]
        .as_str()
        .unwrap_or("");
    let is_url = given
        .parse::<http::Uri>()
        .is_ok_and(|url| url.scheme().is_some() && url.host().is_some());
    Some(match given {
        "" => (false, "MissingAnnotation", format!("{must}, {SEE}")),
        _ if given.starts_with("unapproved") => (
            false,
            "UnapprovedAnnotation",
            format!("not approved: \"{given}\""),
        ),
        _ if is_url => (true, "ApprovedAnnotation", format!("approved in {given}")),
        _ => {
            let why = format!("{must} with either a URL or a reason starting with \"unapproved\", {SEE}");
            (false, "InvalidAnnotation", why)
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use serde_json::{Value, json};

    use crate::api::Api;
    use crate::api::write::Writer;
    use crate::faults::rules::Rules;
    use crate::resources::Registry;
    use crate::storage::Storage;
    use crate::store::Store;
    use crate::target::Target;

    fn definition(properties: Value) -> Value {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {"spec": {"type": "object", "properties": properties}},
                }}}],
            },
        })
    }

    #[tokio::test]
    async fn a_late_write_is_made_as_is_defined_now() {
        let storage = Storage::new(1000, 100);
        let rules = Rules::new(0);
        let minute = Duration::from_secs(60);
        let api = Arc::new(Api::new(
            storage,
            Registry::builtin(),
            minute,
            Vec::new(),
            rules,
            false,
        ));
        let store = Store::new(api.clone());
        store
            .create(definition(json!({"a": {"type": "integer"}})))
            .unwrap();
        // What was routed before the definition changed, and is written after that.
        let target = Target {
            resource: api.find("example.com", "v1", "things").unwrap(),
            version: "v1".into(),
            namespace: None,
            name: None,
            subresource: None,
        };
        store
            .update(definition(json!({"b": {"type": "integer", "default": 2}})))
            .unwrap();
        let create = || {
            let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": 1}});
            let writer = Writer::Client {
                dry_run: false,
                manager: Some("m"),
                user: None,
                admission: None,
                warnings: None,
            };
            let Value::Object(thing) = thing else {
                unreachable!()
            };
            api.create(&target, thing, writer).map(drop)
        };
        create().unwrap();
        let thing = store.get("example.com/v1", "Thing", None, "t").unwrap();
        assert_eq!(thing["spec"], json!({"b": 2}));
        let name = "things.example.com";
        store
            .delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", None, name)
            .unwrap();
        assert_eq!(create().unwrap_err().code(), 404);
    }
}
