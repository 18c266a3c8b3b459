//! What limits and scales others: autoscalers, budgets, quotas, ranges, priorities.

use std::collections::HashSet;

use super::at::{At, Causes};
use super::{container, names};
use crate::names::{label_key_faults, path_segment_faults};
use crate::quantity::Quantity;
use crate::status::quoted;

pub(super) fn autoscaler(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    let (least, most) = (spec.at("minReplicas"), spec.at("maxReplicas"));
    if least.number().is_some_and(|number| number < 1) {
        causes.push(least.invalid("must be greater than or equal to 1"));
    }
    let maximum = most.number().unwrap_or(0);
    if maximum < 1 {
        causes.push(most.required("must be set and greater than 0"));
    }
    if least.number().is_some_and(|number| number > maximum) {
        causes.push(most.invalid_as(maximum, "must be greater than or equal to `minReplicas`"));
    }
    let target = spec.at("scaleTargetRef");
    reference(&target, causes);
    let version = target.at("apiVersion");
    if !version.text().contains('/') && target.text_at("kind") != "ReplicationController" {
        let shown = format!("\"{}\"", version.text());
        causes.push(version.invalid_as(&shown, "apiVersion must specify API group"));
    }
    for metric in spec.items("metrics") {
        self::metric(&metric, causes);
    }
    let scales_by = |kind: &str| spec.items("metrics").any(|metric| metric.text_at("type") == kind);
    if least.number() == Some(0) && !scales_by("Object") && !scales_by("External") {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        causes.push(spec.at("metrics").forbidden(why));
    }
    let behavior = spec.at("behavior");
    for name in behavior.those(&["scaleUp", "scaleDown"]) {
        scaling_rules(&behavior.at(name), causes);
    }
}

fn reference(reference: &At<'_>, causes: &mut Causes) {
    for name in ["kind", "name"] {
        let at = reference.at(name);
        if at.need(causes) {
            at.fits(path_segment_faults, causes);
        }
    }
}

/// The types of metrics, and the member that each has.
const METRICS: [(&str, &str); 5] = [
    ("ContainerResource", "containerResource"),
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
];

fn metric(metric: &At<'_>, causes: &mut Causes) {
    let kind = metric.at("type");
    if kind.text().is_empty() {
        causes.push(kind.required("must specify a metric source type"));
    }
    // A real server says so twice.
    let types = METRICS.map(|(kind, _)| kind);
    for _ in 0..2 {
        kind.one_of(&types, causes);
    }
    for (_, name) in METRICS {
        let part = metric.at(name);
        if !part.is_set() {
            continue;
        }
        let target = part.at("target");
        match name {
            "resource" | "containerResource" => resource_metric(&part, name, causes),
            _ => {
                let metric = part.at("metric");
                let named = metric.at("name");
                if named.need(causes) {
                    named.fits(path_segment_faults, causes);
                }
                self::target(&target, causes);
                let (value, average) = (target.has("value"), target.has("averageValue"));
                match name {
                    "pods" if !average => {
                        let why = "must specify a positive target averageValue";
                        causes.push(target.at("averageValue").required(why));
                    }
                    "object" | "external" if !value && !average => {
                        let why = "must set either a target value for metric or a per-pod target";
                        causes.push(target.at("averageValue").required(why));
                    }
                    _ => {}
                }
            }
        }
    }
    let wanted = METRICS.iter().find(|(of, _)| *of == kind.text());
    if let Some((_, wanted)) = wanted.filter(|(_, wanted)| !metric.has(wanted)) {
        let why = "must populate information for the given metric source";
        causes.push(metric.at(wanted).required(why));
    }
}

fn resource_metric(part: &At<'_>, name: &str, causes: &mut Causes) {
    let named = part.at("name");
    if named.text().is_empty() {
        causes.push(named.required("must specify a resource name"));
    }
    if name == "containerResource" {
        part.at("container").need(causes);
    }
    let target = part.at("target");
    self::target(&target, causes);
    match (target.has("averageUtilization"), target.has("averageValue")) {
        (false, false) => {
            let why = "must set either a target raw value or a target utilization";
            causes.push(target.at("averageUtilization").required(why));
        }
        (true, true) => {
            let why = "may not set both a target raw value and a target utilization";
            causes.push(target.at("averageValue").forbidden(why));
        }
        _ => {}
    }
}

fn target(target: &At<'_>, causes: &mut Causes) {
    let kind = target.at("type");
    if kind.text().is_empty() {
        causes.push(kind.required("must specify a metric target type"));
    }
    if !matches!(kind.text(), "Utilization" | "Value" | "AverageValue") {
        let why = "must be either Utilization, Value, or AverageValue";
        causes.push(kind.invalid(why));
    }
    for name in ["value", "averageValue"] {
        let at = target.at(name);
        if Quantity::read(at.value()).is_some_and(|value| value <= Quantity::ZERO) {
            causes.push(at.invalid("must be positive"));
        }
    }
    let share = target.at("averageUtilization");
    if share.number().is_some_and(|share| share < 1) {
        causes.push(share.invalid("must be greater than 0"));
    }
}

fn scaling_rules(rules: &At<'_>, causes: &mut Causes) {
    let window = rules.at("stabilizationWindowSeconds");
    window.not_negative(causes);
    if window.number().is_some_and(|seconds| seconds > 3600) {
        causes.push(window.invalid("must be less than or equal to 3600"));
    }
    rules
        .at("selectPolicy")
        .may_be_one_of(&["Disabled", "Max", "Min"], causes);
    if rules.count("policies") == 0 {
        causes.push(rules.at("policies").required("must specify at least one Policy"));
    }
    for policy in rules.items("policies") {
        policy.at("type").one_of(&["Percent", "Pods"], causes);
        let positive = |name: &str, causes: &mut Causes| {
            let number = policy.number_at(name).unwrap_or(0);
            if number <= 0 {
                causes.push(policy.at(name).invalid_as(number, "must be greater than zero"));
            }
        };
        positive("value", causes);
        positive("periodSeconds", causes);
        let period = policy.at("periodSeconds");
        if period.number().is_some_and(|seconds| seconds > 1800) {
            causes.push(period.invalid("must be less than or equal to 1800"));
        }
    }
}

pub(super) fn budget(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    let (least, most) = (spec.at("minAvailable"), spec.at("maxUnavailable"));
    if least.is_set() && most.is_set() {
        let why = "minAvailable and maxUnavailable cannot be both set";
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            least.value(),
            spec.get("selector"),
            most.value(),
            spec.get("unhealthyPodEvictionPolicy"),
        );
        causes.push(spec.invalid_as(shown, why));
    }
    for bound in [least, most].into_iter().filter(|bound| bound.is_set()) {
        names::number_or_percentage(&bound, causes);
        names::at_most_all(&bound, causes);
    }
    names::selector(&spec.at("selector"), causes);
    spec.at("unhealthyPodEvictionPolicy")
        .may_be_one_of(&["AlwaysAllow", "IfHealthyBudget"], causes);
}

/// Resources that a quota can limit and that are not of containers.
const COUNTED: [&str; 10] = [
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
    "requests.storage",
];

pub(super) fn quota(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    for (name, amount) in spec.entries("hard") {
        let faults = label_key_faults(name);
        let measured = name
            .strip_prefix("requests.")
            .or(name.strip_prefix("limits."))
            .unwrap_or(name);
        let is_known = COUNTED.contains(&name)
            || matches!(measured, "cpu" | "memory" | "ephemeral-storage")
            || measured.starts_with("hugepages-");
        if !faults.is_empty() {
            causes.extend(faults.iter().map(|fault| amount.invalid_as(quoted(name), fault)));
        } else if !name.contains('/') && !is_known {
            causes.push(amount.invalid_as(
                quoted(name),
                "must be a standard resource type or fully qualified",
            ));
            causes.push(amount.invalid_as(quoted(name), "must be a standard resource for quota"));
        }
        container::quantity(&amount, COUNTED[..9].contains(&name), causes);
    }
    scopes(&spec, causes);
}

fn scopes(spec: &At<'_>, causes: &mut Causes) {
    const SCOPES: [&str; 7] = [
        "BestEffort",
        "CrossNamespacePodAffinity",
        "NotBestEffort",
        "NotTerminating",
        "PriorityClass",
        "Terminating",
        "VolumeAttributesClass",
    ];
    let scopes = spec.at("scopes");
    let mut seen = HashSet::new();
    for scope in spec.items("scopes") {
        if !SCOPES.contains(&scope.text()) {
            causes.push(scopes.invalid_as(scopes.value(), "unsupported scope"));
        }
        for (name, _) in spec.entries("hard") {
            if scope.text() == "BestEffort" && name != "pods" {
                causes.push(scopes.invalid_as(scopes.value(), "unsupported scope applied to resource"));
            }
        }
        seen.insert(scope.text());
    }
    for (one, other) in [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")] {
        if seen.contains(one) && seen.contains(other) {
            causes.push(scopes.invalid_as(scopes.value(), "conflicting scopes"));
        }
    }
}

pub(super) fn limit_range(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    let mut seen = HashSet::new();
    for limit in spec.items("limits") {
        let kind = limit.at("type");
        let faults = label_key_faults(kind.text());
        causes.extend(faults.iter().map(|fault| kind.invalid(fault)));
        if !seen.insert(kind.text().to_owned()) {
            causes.push(kind.duplicate());
        }
        if kind.text() == "Pod" {
            for name in limit.those(&["default", "defaultRequest"]) {
                let at = limit.at(name);
                let why = "may not be specified when `type` is 'Pod'";
                causes.push(at.forbidden(why));
            }
        }
        bounds(&limit, causes);
    }
}

/// Bounds of which the first is not above the second, with what each is called; where the cause is, and which bound it shows.
type Ordered = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const ORDERED: [Ordered; 6] = [
    ("min", "min", "max", "max", "min", "min"),
    (
        "min",
        "min",
        "defaultRequest",
        "default request",
        "defaultRequest",
        "defaultRequest",
    ),
    (
        "defaultRequest",
        "default request",
        "max",
        "max",
        "defaultRequest",
        "defaultRequest",
    ),
    (
        "defaultRequest",
        "default request",
        "default",
        "default limit",
        "defaultRequest",
        "defaultRequest",
    ),
    ("min", "min", "default", "default", "default", "min"),
    ("default", "default", "max", "max", "default", "max"),
];

fn bounds(limit: &At<'_>, causes: &mut Causes) {
    const KINDS: [&str; 5] = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];
    let mut resources: Vec<&str> = KINDS
        .iter()
        .flat_map(|kind| limit.get(kind).as_object().into_iter().flatten())
        .map(|(name, _)| name.as_str())
        .collect();
    resources.sort_unstable();
    resources.dedup();
    for name in resources {
        let amount = |kind: &str| Quantity::read(&limit.get(kind)[name]);
        let text = |kind: &str| limit.get(kind)[name].as_str().unwrap_or("");
        for (one, words, other, other_words, at, shown) in ORDERED {
            if amount(one)
                .zip(amount(other))
                .is_some_and(|(one, other)| one > other)
            {
                let why = format!(
                    "{words} value {} is greater than {other_words} value {}",
                    text(one),
                    text(other)
                );
                let at = limit.entry(at, name);
                causes.push(at.invalid_as(quoted(text(shown)), &why));
            }
        }
        let ratio = amount("maxLimitRequestRatio");
        if ratio.is_some_and(|ratio| ratio < Quantity::ONE) {
            let why = format!("ratio {} is less than 1", text("maxLimitRequestRatio"));
            causes.push(limit.entry("maxLimitRequestRatio", name).invalid(&why));
        }
    }
}

pub(super) fn priority_class(class: &At<'_>, causes: &mut Causes) {
    const HIGHEST: i64 = 1_000_000_000;
    let value = class.at("value");
    let metadata = class.at("metadata");
    let name = metadata.at("name");
    if name.text().starts_with("system-")
        && !matches!(name.text(), "system-node-critical" | "system-cluster-critical")
    {
        let why = format!(
            "priority class names with 'system-' prefix are reserved for system use only. error: {} is not a known system \
             priority class",
            name.text()
        );
        causes.push(name.forbidden(&why));
    } else if value.number().is_some_and(|value| value > HIGHEST) && !name.text().starts_with("system-") {
        let why = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        causes.push(value.forbidden(&why));
    }
    class
        .at("preemptionPolicy")
        .may_be_one_of(&["PreemptLowerPriority", "Never"], causes);
}
