//! Fields of built-in kinds that an update may not change.

use std::collections::HashSet;

use serde_json::Value;

use super::at::Causes;
use super::{Object, gated, names, registration, volume};
use crate::meta::metadata;
use crate::specs::annotations::APP_ARMOR;
use crate::status::{self, Cause};

/// Fields that stay as they were created: the resource, the path, and what is said of a change.
const FIXED: [(&str, &str, &str); 26] = [
    ("daemonsets.apps", "spec.selector", IMMUTABLE),
    ("deployments.apps", "spec.selector", IMMUTABLE),
    ("replicasets.apps", "spec.selector", IMMUTABLE),
    ("jobs.batch", "spec.selector", IMMUTABLE),
    ("jobs.batch", "spec.completionMode", IMMUTABLE),
    ("jobs.batch", "spec.podFailurePolicy", IMMUTABLE),
    ("jobs.batch", "spec.backoffLimitPerIndex", IMMUTABLE),
    ("jobs.batch", "spec.managedBy", IMMUTABLE),
    ("jobs.batch", "spec.successPolicy", IMMUTABLE),
    ("persistentvolumes", "spec.volumeMode", IMMUTABLE),
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

/// Why an object cannot become another one.
pub(super) fn causes(id: &str, old: &Object, new: &Object, causes: &mut Causes) {
    let fixed = FIXED.iter().filter(|(of, _, _)| *of == id);
    causes.extend(fixed.filter_map(|(_, path, why)| {
        changed(old, new, path).map(|now| Cause::invalid(*path, shown(now), why))
    }));
    match id {
        "configmaps" | "secrets" if old.get("immutable") == Some(&Value::Bool(true)) => {
            let why = "field is immutable when `immutable` is set";
            for field in ["immutable", "data", "binaryData"] {
                if changed(old, new, field).is_some() {
                    causes.push(Cause::forbidden(field, why));
                }
            }
        }
        "nodes" => node(old, new, causes),
        registration::ID => registration::change(old, new, causes),
        "pods" => pod(old, new, causes),
        "statefulsets.apps" => causes.extend(stateful_set(old, new)),
        "jobs.batch" => causes.extend(job(old, new)),
        "persistentvolumeclaims" => causes.extend(claim(old, new)),
        "persistentvolumes" => causes.extend(persistent_volume(old, new)),
        "services" => causes.extend(balancer(old, new)),
        _ => {}
    }
}

/// A value as Go shows it; a selector has an order of its members.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(members)
            if members.contains_key("matchLabels") || members.contains_key("matchExpressions") =>
        {
            names::selector_shown(value)
        }
        value => status::shown(value),
    }
}

/// Of a claim, its volume is chosen once, and its size can grow when it has one.
fn claim(old: &Object, new: &Object) -> Option<Cause> {
    let mut before = old.get("spec")?.clone();
    let now = new.get("spec")?;
    if before["volumeName"].as_str().unwrap_or("").is_empty() {
        copy(&mut before, now, "volumeName");
    }
    if at(old, "status.phase") == "Bound" {
        copy(&mut before, now, "resources");
        copy(&mut before, now, "volumeAttributesClassName");
    }
    let why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    (before != *now).then(|| Cause::forbidden("spec", why))
}

fn copy(spec: &mut Value, from: &Value, name: &str) {
    if let (Some(spec), Some(value)) = (spec.as_object_mut(), from.get(name)) {
        spec.insert(name.into(), value.clone());
    }
}

/// Where a volume's data is does not change.
fn persistent_volume(old: &Object, new: &Object) -> Option<Cause> {
    let source = |object: &Object| {
        let mut spec = object
            .get("spec")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        spec.retain(|name, _| !volume::NO_SOURCES.contains(&name.as_str()));
        spec
    };
    let why = "spec.persistentvolumesource is immutable after creation";
    (source(old) != source(new)).then(|| Cause::forbidden("spec.persistentvolumesource", why))
}

/// What balances a Service is chosen once.
fn balancer(old: &Object, new: &Object) -> Option<Cause> {
    const CLASS: &str = "spec.loadBalancerClass";
    let is_balanced = |object| at(object, "spec.type") == "LoadBalancer";
    let now = changed(old, new, CLASS).filter(|_| is_balanced(old) && is_balanced(new))?;
    Some(Cause::invalid(
        CLASS,
        status::go_json(now),
        "may not change once set",
    ))
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

/// What a node is given once stays; a real server says so of each of its ranges.
fn node(old: &Object, new: &Object, causes: &mut Causes) {
    let spec = |object: &Object| object.get("spec").cloned().unwrap_or_default();
    let [old, new] = [old, new].map(spec);
    let ranges = |spec: &Value| spec["podCIDRs"].as_array().cloned().unwrap_or_default();
    let [before, now] = [&old, &new].map(ranges);
    let changed = match before.len() == now.len() {
        true => before.iter().zip(&now).filter(|(old, new)| old != new).count(),
        false => usize::from(!before.is_empty()),
    };
    let refused = |field: &'static str, name: &str| {
        let why = format!("node updates may not change {name} except from \"\" to valid");
        Cause::forbidden(field, &why)
    };
    causes.extend((0..changed).map(|_| refused("spec.podCIDRs", "podCIDR")));
    let id = |spec: &Value| spec["providerID"].as_str().unwrap_or("").to_owned();
    if !id(&old).is_empty() && id(&old) != id(&new) {
        causes.push(refused("spec.providerID", "providerID"));
    }
}

/// Of the spec of a pod, few things can change; the nodes know nothing of the rest.
fn pod(old: &Object, new: &Object, causes: &mut Causes) {
    causes.extend(profiles(old, new));
    let (before, now) = (at(old, "spec"), at(new, "spec"));
    let count = |spec: &Value, field: &str| spec[field].as_array().map_or(0, Vec::len);
    for field in ["containers", "initContainers"] {
        if count(before, field) != count(now, field) {
            let why = "pod updates may not add or remove containers";
            causes.push(Cause::forbidden(format!("spec.{field}"), why));
            return;
        }
    }
    deadline(before, now, causes);
    scheduling_gates(before, now, causes);
    // What may change is as it was.
    let mut allowed = now.clone();
    for field in ["containers", "initContainers"] {
        let images = before[field].as_array().into_iter().flatten();
        let containers = allowed[field].as_array_mut().into_iter().flatten();
        for (n, (container, before)) in containers.zip(images).enumerate() {
            if container["image"].as_str().unwrap_or("").is_empty() {
                causes.push(Cause::required(format!("spec.{field}[{n}].image"), ""));
            }
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
        let now: HashSet<_> = tolerations.as_array().into_iter().flatten().collect();
        let mut before = before["tolerations"].as_array().into_iter().flatten();
        before.all(|toleration| now.contains(toleration))
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
            let Some(spec) = allowed.as_object_mut() else {
                return;
            };
            match before.get(field) {
                Some(value) => _ = spec.insert(field.into(), value.clone()),
                None => _ = spec.remove(field),
            }
        }
    }
    if let Some(spec) = allowed.as_object_mut() {
        gated::put_back(before, spec, causes);
        spec.retain(|name, value| !value.is_null() || before.get(name).is_some());
    }
    let why = "pod updates may not change fields other than `spec.containers[*].image`,\
         `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
         tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
    if allowed != *before {
        causes.push(Cause::forbidden("spec", why));
    }
}

/// The time that a pod has becomes shorter, never longer.
fn deadline(before: &Value, now: &Value, causes: &mut Causes) {
    const FIELD: &str = "activeDeadlineSeconds";
    match (before[FIELD].as_i64(), now[FIELD].as_i64()) {
        (Some(_), None) => {
            let why = "must not update from a positive integer to nil value";
            causes.push(Cause::invalid("spec.activeDeadlineSeconds", "null", why));
        }
        (Some(before), Some(now)) if now > before => {
            let why = "must be less than or equal to previous value";
            causes.push(Cause::invalid("spec.activeDeadlineSeconds", now, why));
        }
        _ => {}
    }
}

/// What holds a pod back from being scheduled is only taken away.
fn scheduling_gates(before: &Value, now: &Value, causes: &mut Causes) {
    let gates = |spec: &Value| spec["schedulingGates"].as_array().cloned().unwrap_or_default();
    let before = gates(before);
    for (n, gate) in gates(now)
        .iter()
        .enumerate()
        .filter(|(_, gate)| !before.contains(gate))
    {
        let name = gate["name"].as_str().unwrap_or("");
        let why = format!("only deletion is allowed, but found new scheduling gate '{name}'");
        causes.push(Cause::forbidden(format!("spec.schedulingGates[{n}].name"), &why));
    }
}

/// Ephemeral containers stay as they are, wherever in the list.
pub(super) fn ephemeral_containers(old: &Object, new: &Object, causes: &mut Causes) {
    let containers = |pod: &Object| {
        let list = pod
            .get("spec")
            .and_then(|spec| spec["ephemeralContainers"].as_array());
        list.cloned().unwrap_or_default()
    };
    let after = containers(new);
    for before in containers(old) {
        let what = match after
            .iter()
            .rfind(|container| container["name"] == before["name"])
        {
            None => "removed\n",
            Some(after) if *after != before => "changed",
            Some(_) => continue,
        };
        // A real server shows the difference, too.
        let name = status::shown(&before["name"]);
        let why = format!("existing ephemeral containers {name} may not be {what}");
        causes.push(Cause::forbidden("spec.ephemeralContainers", &why));
    }
}

/// The annotations by which a new pod says its profiles stay as they are.
fn profiles(old: &Object, new: &Object) -> Vec<Cause> {
    let annotations = |pod: &Object| {
        let all = metadata(pod).get("annotations").and_then(Value::as_object);
        all.cloned().unwrap_or_default()
    };
    let (before, after) = (annotations(old), annotations(new));
    let is_of_profile = |name: &&String| name.starts_with(APP_ARMOR);
    let forbidden = |name: &String, what: &str| {
        let why = format!("may not {what} AppArmor annotations");
        Cause::forbidden(format!("metadata.annotations[{name}]"), &why)
    };
    let changed = before
        .keys()
        .filter(is_of_profile)
        .filter(|name| before.get(*name) != after.get(*name));
    let added = after
        .keys()
        .filter(is_of_profile)
        .filter(|name| !before.contains_key(*name));
    let changed = changed.map(|name| forbidden(name, "remove or update"));
    changed.chain(added.map(|name| forbidden(name, "add"))).collect()
}
