//! What is used of storage is not deleted: the server gives each such object a finalizer, and a controller of its kind takes that
//! from a deleted one which nobody uses any more.

use serde_json::{Value, json};

use super::controller::Controller;
use super::{drop_finalizer, finalizers, metadata_mut, text};
use crate::api::Api;
use crate::meta::Object;
use crate::object::{Stored, join_key};
use crate::resources::Resource;
use crate::storage::{Place, Transaction};
use crate::target::Target;

const CLAIMS: &str = "persistentvolumeclaims";
const VOLUMES: &str = "persistentvolumes";
const CLASSES: &str = "volumeattributesclasses.storage.k8s.io";

/// A kind of which objects are protected.
struct Protection {
    id: &'static str,
    finalizer: &'static str,
    controller: Controller,
}

const PROTECTIONS: [Protection; 3] = [
    Protection {
        id: CLAIMS,
        finalizer: "kubernetes.io/pvc-protection",
        controller: Controller::PersistentVolumeClaimProtection,
    },
    Protection {
        id: VOLUMES,
        finalizer: "kubernetes.io/pv-protection",
        controller: Controller::PersistentVolumeProtection,
    },
    Protection {
        id: CLASSES,
        finalizer: "kubernetes.io/vac-protection",
        controller: Controller::VolumeAttributesClassProtection,
    },
];

fn protection_of(resource: &Resource) -> Option<&'static Protection> {
    let id = resource.id();
    PROTECTIONS.iter().find(|protection| protection.id == id)
}

/// Gives a new object its finalizer, which a real server's admission does.
pub(crate) fn protect(resource: &Resource, object: &mut Object) {
    let Some(Protection { finalizer, .. }) = protection_of(resource) else {
        return;
    };
    let mut held: Vec<Value> = finalizers(object).into_iter().map(Value::from).collect();
    if !held.iter().any(|held| held == finalizer) {
        held.push((*finalizer).into());
        metadata_mut(object).insert("finalizers".into(), json!(held));
    }
}

impl Api {
    /// Lets a deleted object go if nobody uses it.
    pub(super) fn unprotect(&self, transaction: &mut Transaction<'_>, target: &Target, object: &Object) {
        let Some(protection) = protection_of(&target.resource) else {
            return;
        };
        if !self.runs(protection.controller) || !finalizers(object).contains(&protection.finalizer) {
            return;
        }
        let name = target.name.as_deref().unwrap_or("");
        let is_used = match protection.id {
            CLAIMS => self.is_claim_used(transaction, target.namespace.as_deref().unwrap_or(""), name),
            VOLUMES => object
                .get("status")
                .is_some_and(|status| status["phase"] == "Bound"),
            _ => self.is_class_used(transaction, name),
        };
        if !is_used {
            self.change_here(transaction, target, |object| {
                drop_finalizer(object, protection.finalizer);
            });
        }
    }

    /// Whether a pod that is bound to a node uses a claim.
    fn is_claim_used(&self, transaction: &mut Transaction<'_>, namespace: &str, claim: &str) -> bool {
        let uses = |pod: &Object| {
            let spec = pod.get("spec").unwrap_or(&Value::Null);
            let is_bound = spec["nodeName"].as_str().is_some_and(|node| !node.is_empty());
            let mut volumes = spec["volumes"].as_array().into_iter().flatten();
            is_bound && volumes.any(|volume| claim_of(volume, pod).as_deref() == Some(claim))
        };
        self.any(transaction, ["", "v1", "pods"], &format!("{namespace}/"), uses)
    }

    /// Whether a volume or a claim has a class of attributes, or is to have it.
    fn is_class_used(&self, transaction: &mut Transaction<'_>, class: &str) -> bool {
        let uses = |object: &Object| classes_of(object).contains(&class);
        [VOLUMES, CLAIMS]
            .into_iter()
            .any(|plural| self.any(transaction, ["", "v1", plural], "", uses))
    }

    fn any(
        &self,
        transaction: &mut Transaction<'_>,
        [group, version, plural]: [&str; 3],
        prefix: &str,
        is: impl Fn(&Object) -> bool,
    ) -> bool {
        let Some(resource) = self.find(group, version, plural) else {
            return false;
        };
        let head = resource.head(version);
        let snapshot = transaction.snapshot(&resource);
        snapshot
            .range(prefix, None)
            .any(|stored| is(&stored.decode(&head)))
    }

    /// Deleted objects are looked at again when one that may have used them is gone, or has changed.
    pub(super) fn recheck_protected(
        &self,
        transaction: &mut Transaction<'_>,
        resource: &Resource,
        user: &Stored,
    ) {
        let (controller, [group, version, plural]) = match (resource.group.as_str(), resource.plural.as_str())
        {
            ("", "pods") => (Controller::PersistentVolumeClaimProtection, ["", "v1", CLAIMS]),
            ("", CLAIMS | VOLUMES) => {
                let classes = ["storage.k8s.io", "v1", "volumeattributesclasses"];
                (Controller::VolumeAttributesClassProtection, classes)
            }
            _ => return,
        };
        let protected = self
            .find(group, version, plural)
            .filter(|_| self.runs(controller));
        let Some(protected) = protected.filter(|protected| !transaction.has_none(protected)) else {
            return;
        };
        for key in used_by(resource, user) {
            let stored = transaction.get(&protected, &key);
            if let Some(stored) = stored.filter(|stored| stored.deleting) {
                transaction.enqueue(Place {
                    resource: protected.id().into(),
                    key: stored.key.clone(),
                });
            }
        }
    }
}

/// The keys of the claims that a pod uses, or of the classes that a claim or a volume has or is to have.
fn used_by(resource: &Resource, user: &Stored) -> Vec<String> {
    let object = user.decode(b"{");
    if resource.plural != "pods" {
        let classes = classes_of(&object).into_iter();
        return classes.map(str::to_owned).collect();
    }
    let volumes = object.get("spec").and_then(|spec| spec["volumes"].as_array());
    let claims = volumes
        .into_iter()
        .flatten()
        .filter_map(|volume| claim_of(volume, &object));
    claims.map(|claim| join_key(user.namespace(), &claim)).collect()
}

/// The classes of attributes that a volume or a claim has, or is to have.
fn classes_of(object: &Object) -> Vec<&str> {
    let places = [
        ("spec", "volumeAttributesClassName"),
        ("status", "currentVolumeAttributesClassName"),
    ];
    let classes = places.map(|(part, name)| object.get(part).and_then(|part| part[name].as_str()));
    classes.into_iter().flatten().collect()
}

/// The name of the claim that a volume of a pod is of.
fn claim_of(volume: &Value, pod: &Object) -> Option<String> {
    if volume["ephemeral"].is_object() {
        let name = volume["name"].as_str()?;
        return Some(format!("{}-{name}", text(super::metadata(pod), "name")));
    }
    volume["persistentVolumeClaim"]["claimName"]
        .as_str()
        .map(str::to_owned)
}
