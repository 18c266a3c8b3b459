//! ResourceQuotas: whether a namespace has room for what a write takes, and how much is left.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::RESIZE;
use super::usage::{self, list, names};
use crate::meta::{Object, metadata, text};
use crate::quantity::{Amount, Amounts};
use crate::resources::Resource;
use crate::specs;

/// What a pod must ask for in each of its containers if a quota counts it.
const REQUIRED: [&str; 6] = [
    "cpu",
    "memory",
    "requests.cpu",
    "requests.memory",
    "limits.cpu",
    "limits.memory",
];

/// A write, as quotas see it.
pub(super) struct Change<'a> {
    pub(super) resource: &'a Resource,
    pub(super) subresource: Option<&'a str>,
    pub(super) old: Option<&'a Object>,
    pub(super) new: &'a Object,
}

impl Change<'_> {
    /// Whether such a write can take anything: most count when they are created, and never again.
    pub(super) fn counts(&self) -> bool {
        let id = self.resource.id();
        match (id.as_str(), self.subresource, self.old) {
            ("pods", Some(RESIZE), _) => true,
            (_, Some(_), _) => false,
            ("events" | "events.events.k8s.io", _, None) => false,
            (_, _, None) => true,
            ("services" | "persistentvolumeclaims", ..) => true,
            ("pods", _, Some(old)) => has_deadline(old) != has_deadline(self.new),
            _ => false,
        }
    }

    /// What the quota says that is used after the write, if that is another number; or why there is no room.
    pub(super) fn charge(&self, quota: &Object) -> Result<Option<Value>, String> {
        let status = quota.get("status").unwrap_or(&Value::Null);
        let hard = Amount::read_all(&status["hard"]);
        let concerned: Vec<&str> = hard
            .keys()
            .map(String::as_str)
            .filter(|name| usage::concerns(self.resource, name))
            .collect();
        if concerned.is_empty() || !self.is_in_scope(quota, self.new) {
            return Ok(None);
        }
        let name = text(metadata(quota), "name");
        if let Some(missing) = self.missing(&concerned) {
            return Err(format!("failed quota: {name}: must specify {missing}"));
        }
        let used = Amount::read_all(&status["used"]);
        if concerned.iter().any(|name| !used.contains_key(*name)) {
            let all = concerned.join(",");
            return Err(format!("status unknown for quota: {name}, resources: {all}"));
        }
        let mut taken = self.taken(quota);
        taken.retain(|name, amount| !amount.is_zero() && hard.contains_key(name));
        if taken.is_empty() {
            return Ok(None);
        }
        let mut sum = used.clone();
        usage::add(&mut sum, &taken);
        let exceeded: Vec<&String> = taken
            .keys()
            .filter(|name| sum[*name].quantity() > hard[*name].quantity())
            .collect();
        if exceeded.is_empty() {
            return Ok(Some(shown(&sum)));
        }
        let [requested, used, limited] = [&taken, &used, &hard].map(|all| {
            let parts = exceeded
                .iter()
                .filter_map(|name| Some(format!("{name}={}", all.get(*name)?)));
            parts.collect::<Vec<_>>().join(",")
        });
        Err(format!(
            "exceeded quota: {name}, requested: {requested}, used: {used}, limited: {limited}"
        ))
    }

    /// What the write takes: of an update, what the object had not before.
    fn taken(&self, quota: &Object) -> Amounts {
        let mut taken = usage::of(self.resource, self.new);
        if let Some(old) = self.old.filter(|old| self.is_in_scope(quota, old)) {
            let before = usage::of(self.resource, old);
            for (name, amount) in &mut taken {
                if let Some(before) = before.get(name) {
                    amount.subtract(before);
                }
            }
        }
        taken
    }

    /// What containers do not ask for, although the quota counts it.
    fn missing(&self, concerned: &[&str]) -> Option<String> {
        let spec = self.new.get("spec").unwrap_or(&Value::Null);
        let of_pod = &spec["resources"];
        if self.resource.id() != "pods"
            || names(&of_pod["requests"])
                .chain(names(&of_pod["limits"]))
                .next()
                .is_some()
        {
            return None;
        }
        let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for container in list(&spec["containers"]).chain(list(&spec["initContainers"])) {
            let [requests, limits] =
                ["requests", "limits"].map(|member| usage::of_container(container, member));
            let asked = usage::of_computing(&requests, &limits);
            for name in concerned.iter().filter(|name| REQUIRED.contains(name)) {
                if !asked.contains_key(*name) {
                    let container = container["name"].as_str().unwrap_or("");
                    missing.entry(name).or_default().insert(container);
                }
            }
        }
        let parts: Vec<String> = missing
            .into_iter()
            .map(|(name, containers)| {
                let containers: Vec<&str> = containers.into_iter().collect();
                format!("{name} for: {}", containers.join(","))
            })
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Whether the quota's scopes are those of the object.
    fn is_in_scope(&self, quota: &Object, object: &Object) -> bool {
        let spec = quota.get("spec").unwrap_or(&Value::Null);
        let whole = list(&spec["scopes"]).map(|name| json!({"scopeName": name, "operator": "Exists"}));
        let selected = list(&spec["scopeSelector"]["matchExpressions"]).cloned();
        whole
            .chain(selected)
            .all(|scope| match self.resource.id().as_str() {
                "pods" => is_pod_in(&scope, object),
                "persistentvolumeclaims" => is_claim_in(&scope, object),
                _ => false,
            })
    }
}

fn has_deadline(pod: &Object) -> bool {
    let deadline = pod
        .get("spec")
        .and_then(|spec| spec["activeDeadlineSeconds"].as_i64());
    deadline.is_some_and(|seconds| seconds >= 0)
}

fn is_pod_in(scope: &Value, pod: &Object) -> bool {
    let best_effort = || specs::quality_of_service(pod) == "BestEffort";
    let class = pod
        .get("spec")
        .and_then(|spec| spec["priorityClassName"].as_str());
    match scope["scopeName"].as_str() {
        Some("Terminating") => has_deadline(pod),
        Some("NotTerminating") => !has_deadline(pod),
        Some("BestEffort") => best_effort(),
        Some("NotBestEffort") => !best_effort(),
        Some("PriorityClass") => selects(scope, class.into_iter()),
        Some("CrossNamespacePodAffinity") => looks_elsewhere(pod),
        _ => false,
    }
}

fn is_claim_in(scope: &Value, claim: &Object) -> bool {
    let [spec, status] = ["spec", "status"].map(|member| claim.get(member).unwrap_or(&Value::Null));
    let classes = [
        &spec["volumeAttributesClassName"],
        &status["currentVolumeAttributesClassName"],
        &status["modifyVolumeStatus"]["targetVolumeAttributesClassName"],
    ];
    scope["scopeName"] == "VolumeAttributesClass"
        && selects(scope, classes.into_iter().filter_map(Value::as_str))
}

/// Whether a scope's operator takes one of these values, or that there is none.
fn selects<'a>(scope: &Value, values: impl Iterator<Item = &'a str>) -> bool {
    let values: Vec<&str> = values.filter(|value| !value.is_empty()).collect();
    let is_listed = |value: &&str| list(&scope["values"]).any(|listed| listed == value);
    match scope["operator"].as_str() {
        Some("Exists") => !values.is_empty(),
        Some("DoesNotExist") => values.is_empty(),
        Some("In") => values.iter().any(is_listed),
        Some("NotIn") => values.is_empty() || values.iter().any(|value| !is_listed(value)),
        _ => false,
    }
}

/// Whether a pod wants to be near, or far from, pods of other namespaces.
fn looks_elsewhere(pod: &Object) -> bool {
    let affinity = pod.get("spec").map_or(&Value::Null, |spec| &spec["affinity"]);
    ["podAffinity", "podAntiAffinity"].into_iter().any(|member| {
        let required = list(&affinity[member]["requiredDuringSchedulingIgnoredDuringExecution"]);
        let preferred = list(&affinity[member]["preferredDuringSchedulingIgnoredDuringExecution"]);
        let mut terms = required.chain(preferred.map(|term| &term["podAffinityTerm"]));
        terms.any(|term| list(&term["namespaces"]).next().is_some() || !term["namespaceSelector"].is_null())
    })
}

fn shown(amounts: &Amounts) -> Value {
    let members = amounts
        .iter()
        .map(|(name, amount)| (name.clone(), amount.to_string().into()));
    Value::Object(members.collect::<Map<_, _>>())
}
