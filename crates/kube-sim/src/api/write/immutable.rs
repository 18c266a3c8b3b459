//! Fields of built-in kinds that an update may not change.

use serde_json::Value;

use super::{Object, metadata, text};
use crate::resources::Resource;
use crate::status::{Cause, StatusError};

/// Fields that stay as they were created: the resource, the path, and what is said of a change.
const FIXED: [(&str, &str, &str); 21] = [
    ("daemonsets.apps", "spec.selector", IMMUTABLE),
    ("deployments.apps", "spec.selector", IMMUTABLE),
    ("replicasets.apps", "spec.selector", IMMUTABLE),
    ("jobs.batch", "spec.selector", IMMUTABLE),
    ("jobs.batch", "spec.completionMode", IMMUTABLE),
    ("secrets", "type", IMMUTABLE),
    ("endpointslices.discovery.k8s.io", "addressType", IMMUTABLE),
    ("ipaddresses.networking.k8s.io", "spec.parentRef", IMMUTABLE),
    ("ingressclasses.networking.k8s.io", "spec.controller", IMMUTABLE),
    ("runtimeclasses.node.k8s.io", "handler", IMMUTABLE),
    ("priorityclasses.scheduling.k8s.io", "value", IMMUTABLE),
    ("storageclasses.storage.k8s.io", "parameters", IMMUTABLE),
    ("storageclasses.storage.k8s.io", "provisioner", IMMUTABLE),
    ("storageclasses.storage.k8s.io", "reclaimPolicy", IMMUTABLE),
    ("storageclasses.storage.k8s.io", "volumeBindingMode", IMMUTABLE),
    ("volumeattachments.storage.k8s.io", "spec", IMMUTABLE),
    ("resourceclaims.resource.k8s.io", "spec", IMMUTABLE),
    ("resourceclaimtemplates.resource.k8s.io", "spec", IMMUTABLE),
    (
        "csistoragecapacities.storage.k8s.io",
        "storageClassName",
        IMMUTABLE,
    ),
    (
        "rolebindings.rbac.authorization.k8s.io",
        "roleRef",
        "cannot change roleRef",
    ),
    (
        "clusterrolebindings.rbac.authorization.k8s.io",
        "roleRef",
        "cannot change roleRef",
    ),
];

const IMMUTABLE: &str = "field is immutable";

/// Refuses an update that changes what may not change.
pub(super) fn check(resource: &Resource, old: &Object, new: &Object) -> Result<(), StatusError> {
    let id = resource.id();
    let mut causes: Vec<_> = FIXED
        .iter()
        .filter(|(of, _, _)| *of == id)
        .filter_map(|(_, path, why)| changed(old, new, path).map(|now| Cause::invalid(*path, now, why)))
        .collect();
    match id.as_str() {
        "configmaps" | "secrets" if old.get("immutable") == Some(&Value::Bool(true)) => {
            let why = "field is immutable when `immutable` is set";
            for field in ["immutable", "data", "binaryData"] {
                if changed(old, new, field).is_some() {
                    causes.push(Cause::forbidden(field, why));
                }
            }
        }
        "pods" => causes.extend(pod(old, new)),
        "statefulsets.apps" => causes.extend(stateful_set(old, new)),
        "jobs.batch" => causes.extend(job(old, new)),
        _ => {}
    }
    match causes.is_empty() {
        true => Ok(()),
        false => {
            let name = text(metadata(new), "name");
            Err(StatusError::invalid(
                &resource.group,
                &resource.kind,
                name,
                &causes,
            ))
        }
    }
}

fn stateful_set(old: &Object, new: &Object) -> Option<Cause> {
    const FREE: [&str; 7] = [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ];
    let fixed = |object: &Object| {
        let mut spec = object
            .get("spec")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        spec.retain(|name, _| !FREE.contains(&name.as_str()));
        spec
    };
    let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
         'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    (fixed(old) != fixed(new)).then(|| Cause::forbidden("spec", why))
}

/// A job that runs keeps its pods' template; one that is indexed can change how many there are.
fn job(old: &Object, new: &Object) -> Vec<Cause> {
    let is_indexed = at(old, "spec.completionMode") == "Indexed";
    let runs = *at(old, "spec.suspend") != true;
    let mut causes = Vec::new();
    if let Some(now) = changed(old, new, "spec.completions").filter(|_| !is_indexed) {
        causes.push(Cause::invalid("spec.completions", now, IMMUTABLE));
    }
    if runs && changed(old, new, "spec.template").is_some() {
        causes.push(Cause::invalid("spec.template", "{}", IMMUTABLE));
    }
    causes
}

/// A real server's admission brings back the tolerations that every pod has, and its priority.
pub(super) fn keep_admitted(resource: &Resource, old: &Object, new: &mut Object) {
    if resource.id() != "pods" {
        return;
    }
    let is_default = |toleration: &&Value| {
        let key = toleration["key"].as_str().unwrap_or("");
        let of_nodes = matches!(
            key,
            "node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable"
        );
        of_nodes && toleration["effect"] == "NoExecute"
    };
    let before = at(old, "spec.tolerations").as_array().into_iter().flatten();
    let defaults: Vec<Value> = before.filter(is_default).cloned().collect();
    let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    for name in ["priority", "preemptionPolicy"] {
        let before = at(old, &format!("spec.{name}"));
        if spec.get(name).is_none_or(Value::is_null) && !before.is_null() {
            spec.insert(name.into(), before.clone());
        }
    }
    for default in defaults {
        let now = spec
            .entry("tolerations")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(now) = now
            && !now.iter().any(|toleration| toleration["key"] == default["key"])
        {
            now.push(default);
        }
    }
}

/// The new value at a path, if it is another one.
fn changed<'a>(old: &Object, new: &'a Object, path: &str) -> Option<&'a Value> {
    let (before, now) = (at(old, path), at(new, path));
    (before != now).then_some(now)
}

fn at<'a>(object: &'a Object, path: &str) -> &'a Value {
    let mut parts = path.split('.');
    let first = parts
        .next()
        .and_then(|name| object.get(name))
        .unwrap_or(&Value::Null);
    parts.fold(first, |value, name| &value[name])
}

/// Of the spec of a pod, few things can change; the nodes know nothing of the rest.
fn pod(old: &Object, new: &Object) -> Option<Cause> {
    let (before, now) = (old.get("spec")?, new.get("spec")?);
    let count = |spec: &Value, field: &str| spec[field].as_array().map_or(0, Vec::len);
    for field in ["containers", "initContainers"] {
        if count(before, field) != count(now, field) {
            let what = match field {
                "containers" => "containers",
                _ => "init containers",
            };
            let why = format!("pod updates may not add or remove {what}");
            return Some(Cause::forbidden(format!("spec.{field}"), &why));
        }
    }
    // What may change is as it was.
    let mut allowed = now.clone();
    for field in ["containers", "initContainers"] {
        let images = before[field].as_array().into_iter().flatten();
        let containers = allowed[field].as_array_mut().into_iter().flatten();
        for (container, before) in containers.zip(images) {
            match before.get("image") {
                Some(image) => container["image"] = image.clone(),
                None => {
                    _ = container
                        .as_object_mut()
                        .and_then(|container| container.remove("image"))
                }
            }
        }
    }
    let added = |tolerations: &Value| {
        let now = tolerations.as_array().cloned().unwrap_or_default();
        let before = before["tolerations"].as_array().cloned().unwrap_or_default();
        before.iter().all(|toleration| now.contains(toleration))
    };
    let may_change = |field: &str, value: &Value| match field {
        "activeDeadlineSeconds" | "schedulingGates" => true,
        "tolerations" => added(value),
        "terminationGracePeriodSeconds" => {
            *value == 1 && before[field].as_i64().is_some_and(|seconds| seconds < 0)
        }
        _ => false,
    };
    let fields = [
        "activeDeadlineSeconds",
        "schedulingGates",
        "tolerations",
        "terminationGracePeriodSeconds",
        "ephemeralContainers",
    ];
    for field in fields {
        let value = allowed[field].clone();
        if field == "ephemeralContainers" || may_change(field, &value) {
            let spec = allowed.as_object_mut()?;
            match before.get(field) {
                Some(value) => _ = spec.insert(field.into(), value.clone()),
                None => _ = spec.remove(field),
            }
        }
    }
    if let Some(spec) = allowed.as_object_mut() {
        spec.retain(|name, value| !value.is_null() || before.get(name).is_some());
    }
    let why = "pod updates may not change fields other than `spec.containers[*].image`,\
         `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
         tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
    (allowed != *before).then(|| Cause::forbidden("spec", why))
}
