//! Defaults that depend on something else.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::meta::{metadata, text};
use crate::resources::Resource;

type Object = Map<String, Value>;

fn is_absent(object: &Object, name: &str) -> bool {
    object.get(name).is_none_or(Value::is_null)
}

fn set(object: &mut Object, name: &str, value: impl Into<Value>) {
    if is_absent(object, name) {
        object.insert(name.to_owned(), value.into());
    }
}

/// The object that is a member, made if need be.
fn member<'a>(object: &'a mut Object, name: &str) -> Option<&'a mut Object> {
    set(object, name, Map::new());
    object.get_mut(name).and_then(Value::as_object_mut)
}

pub(super) fn objects<'a>(object: &'a mut Object, name: &str) -> impl Iterator<Item = &'a mut Object> {
    let items = object.get_mut(name).and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// The name, tag and digest of an image, as those who pull it read them.
static IMAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const HOST: &str = r"(?:localhost|\[[0-9a-fA-F:]+\]|[[:alnum:]-]*[.A-Z][[:alnum:].-]*|[[:alnum:].-]+:[0-9]+)(?::[0-9]+)?";
    const PART: &str = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
    const DIGEST: &str = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";
    Regex::new(&format!(
        r"^(?:{HOST}/)?{PART}(?:/{PART})*(?::([0-9A-Za-z_][0-9A-Za-z_.-]{{0,127}}))?(@{DIGEST})?$"
    ))
    .ok()
});

/// Whether an image is the latest one: it says so, or says nothing. What is no image is not.
fn is_latest(image: &str) -> bool {
    let Some(parts) = IMAGE.as_ref().and_then(|pattern| pattern.captures(image)) else {
        return false;
    };
    match parts.get(1) {
        Some(tag) => tag.as_str() == "latest",
        None => parts.get(2).is_none(),
    }
}

pub(super) fn container(container: &mut Object) {
    let policy = if is_latest(text(container, "image")) {
        "Always"
    } else {
        "IfNotPresent"
    };
    set(container, "imagePullPolicy", policy);
}

pub(super) fn volume(volume: &mut Object) {
    if volume
        .iter()
        .all(|(name, value)| name == "name" || value.is_null())
    {
        set(volume, "emptyDir", json!({}));
    }
}

pub(super) fn pod_spec(spec: &mut Object) {
    let (name, old_name) = (text(spec, "serviceAccountName"), text(spec, "serviceAccount"));
    let account = if name.is_empty() { old_name } else { name }.to_owned();
    if !account.is_empty() {
        spec.insert("serviceAccountName".into(), account.as_str().into());
        spec.insert("serviceAccount".into(), account.into());
    }
    // Go leaves out what is false.
    for name in ["hostNetwork", "hostPID", "hostIPC"] {
        if spec.get(name) == Some(&Value::Bool(false)) {
            spec.remove(name);
        }
    }
}

pub(super) fn pod(pod: &mut Object) {
    let Some(spec) = member(pod, "spec") else { return };
    set(spec, "enableServiceLinks", true);
    let period = spec.get_mut("terminationGracePeriodSeconds");
    if let Some(period) = period.filter(|period| period.as_i64().is_some_and(|seconds| seconds < 0)) {
        *period = 1.into();
    }
    // A template leaves the ports of the host to its pods.
    if spec.get("hostNetwork") == Some(&Value::Bool(true)) {
        for name in ["containers", "initContainers"] {
            for container in objects(spec, name) {
                for port in objects(container, "ports") {
                    let number = port.get("containerPort").cloned().unwrap_or_default();
                    if port
                        .get("hostPort")
                        .is_none_or(|port| port.is_null() || *port == 0)
                        && !number.is_null()
                    {
                        port.insert("hostPort".into(), number);
                    }
                }
            }
        }
    }
    for name in ["containers", "initContainers"] {
        for container in objects(spec, name) {
            let limits = container
                .get("resources")
                .map(|resources| resources["limits"].clone());
            let Some(limits) = limits
                .as_ref()
                .and_then(Value::as_object)
                .filter(|limits| !limits.is_empty())
            else {
                continue;
            };
            let Some(resources) = member(container, "resources") else {
                continue;
            };
            if let Some(requests) = member(resources, "requests") {
                for (name, limit) in limits {
                    set(requests, name, limit.clone());
                }
            }
        }
    }
}

/// What admission adds to a new pod: how long it stays on a node that is gone, and its priority.
pub(crate) fn admit_pod(pod: &mut Object) {
    let Some(spec) = member(pod, "spec") else { return };
    set(spec, "priority", 0);
    set(spec, "preemptionPolicy", "PreemptLowerPriority");
    set(spec, "tolerations", json!([]));
    let Some(Value::Array(tolerations)) = spec.get_mut("tolerations") else {
        return;
    };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let is_tolerated = tolerations.iter().any(|toleration| {
            let given = |name: &str| toleration[name].as_str().unwrap_or("");
            (given("key") == key || given("key").is_empty()) && matches!(given("effect"), "" | "NoExecute")
        });
        if !is_tolerated {
            let toleration =
                json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
            tolerations.push(toleration);
        }
    }
}

/// What admission adds to a new node: that it is not ready.
pub(crate) fn admit_node(node: &mut Object) {
    let Some(spec) = member(node, "spec") else { return };
    set(spec, "taints", json!([]));
    let Some(Value::Array(taints)) = spec.get_mut("taints") else {
        return;
    };
    let not_ready = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let is_there = |taint: &Value| {
        ["key", "effect"]
            .iter()
            .all(|name| taint[*name] == not_ready[*name])
    };
    if !taints.iter().any(is_there) {
        taints.push(not_ready);
    }
}

/// Writes lists without items as Go does where its type does not leave them out: as null. Nobody owns such a list.
pub(crate) fn write_empty(resource: &Resource, object: &mut Object) {
    let (part, names): (_, &[&str]) = match resource.id().as_str() {
        "roles.rbac.authorization.k8s.io" | "clusterroles.rbac.authorization.k8s.io" => ("", &["rules"]),
        "endpointslices.discovery.k8s.io" => ("", &["endpoints", "ports"]),
        "limitranges" => ("spec", &["limits"]),
        "csinodes.storage.k8s.io" => ("spec", &["drivers"]),
        _ => return,
    };
    let holder = match part {
        "" => Some(object),
        part => object.get_mut(part).and_then(Value::as_object_mut),
    };
    let Some(holder) = holder else { return };
    for name in names {
        let is_empty = holder
            .get(*name)
            .is_none_or(|list| list.as_array().is_some_and(Vec::is_empty));
        if is_empty {
            holder.insert((*name).to_owned(), Value::Null);
        }
    }
}

/// Takes away what a real server's feature gates do not let a lease have by default, unless it had it before.
pub(crate) fn drop_disabled(before: Option<&Object>, lease: &mut Object) {
    let before = before.and_then(|before| before.get("spec"));
    let had = |field: &str| before.is_some_and(|spec| !spec[field].is_null());
    if let Some(Value::Object(spec)) = lease.get_mut("spec") {
        spec.retain(|field, _| !matches!(&**field, "strategy" | "preferredHolder") || had(field));
    }
}

/// Takes away from a StatefulSet what a real server only takes with a feature that is off by default.
pub(crate) fn drop_unavailable(before: Option<&Object>, set: &mut Object) {
    const AT: &str = "/updateStrategy/rollingUpdate";
    let before = before.and_then(|before| before.get("spec")?.pointer(AT));
    let had = before.is_some_and(|update| !update["maxUnavailable"].is_null());
    let spec = set.get_mut("spec").filter(|_| !had);
    if let Some(Value::Object(update)) = spec.and_then(|spec| spec.pointer_mut(AT)) {
        update.remove("maxUnavailable");
    }
}

/// Takes the topology away from endpoints that are written: a field of an older version, which clients of this one cannot write.
pub(crate) fn drop_topology(before: Option<&Object>, slice: &mut Object) {
    let is_written = |before: &Object| before.get("endpoints") != slice.get("endpoints");
    if before.is_none_or(is_written) {
        for endpoint in objects(slice, "endpoints") {
            endpoint.remove("deprecatedTopology");
        }
    }
}

/// A real server's admission brings back the tolerations that every pod has, and its priority.
pub(crate) fn keep_admitted(resource: &Resource, old: &Object, new: &mut Object) {
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
    let spec_before = old.get("spec").unwrap_or(&Value::Null);
    let before = spec_before["tolerations"].as_array().into_iter().flatten();
    let defaults: Vec<Value> = before.filter(is_default).cloned().collect();
    let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    for name in ["priority", "preemptionPolicy"] {
        let before = &spec_before[name];
        if spec.get(name).is_none_or(Value::is_null) && !before.is_null() {
            spec.insert(name.into(), before.clone());
        }
    }
    if defaults.is_empty() {
        return;
    }
    let now = spec
        .entry("tolerations")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(now) = now {
        let mut keys: HashSet<_> = now.iter().map(|toleration| toleration["key"].clone()).collect();
        now.extend(
            defaults
                .into_iter()
                .filter(|default| keys.insert(default["key"].clone())),
        );
    }
}

/// The class of a pod by what its containers ask for.
pub(crate) fn quality_of_service(pod: &Object) -> &'static str {
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    let containers = ["containers", "initContainers"].into_iter();
    let containers: Vec<_> = containers
        .filter_map(|name| spec[name].as_array())
        .flatten()
        .collect();
    let amounts = |container: &Value, kind: &str| -> Vec<(String, Value)> {
        let given = container["resources"][kind].as_object().into_iter().flatten();
        let counted =
            given.filter(|(name, amount)| matches!(name.as_str(), "cpu" | "memory") && **amount != "0");
        counted
            .map(|(name, amount)| (name.clone(), amount.clone()))
            .collect()
    };
    let asks = |container: &Value| {
        !amounts(container, "requests").is_empty() || !amounts(container, "limits").is_empty()
    };
    if !containers.iter().any(|container| asks(container)) {
        return "BestEffort";
    }
    let is_fixed = |container: &Value| {
        let (requests, limits) = (amounts(container, "requests"), amounts(container, "limits"));
        limits.len() == 2 && requests == limits
    };
    match containers.iter().all(|container| is_fixed(container)) {
        true => "Guaranteed",
        false => "Burstable",
    }
}

pub(super) fn deployment_strategy(strategy: &mut Object) {
    if text(strategy, "type") == "RollingUpdate"
        && let Some(update) = member(strategy, "rollingUpdate")
    {
        set(update, "maxSurge", "25%");
        set(update, "maxUnavailable", "25%");
    }
}

pub(super) fn daemon_set_strategy(strategy: &mut Object) {
    if text(strategy, "type") == "RollingUpdate"
        && let Some(update) = member(strategy, "rollingUpdate")
    {
        set(update, "maxSurge", 0);
        set(update, "maxUnavailable", 1);
    }
}

pub(super) fn stateful_set_strategy(strategy: &mut Object) {
    // Who names the kind of update need not say how it rolls.
    if text(strategy, "type").is_empty() {
        strategy.insert("type".into(), "RollingUpdate".into());
        set(strategy, "rollingUpdate", json!({}));
    }
    let rolls = text(strategy, "type") == "RollingUpdate";
    if let (true, Some(Value::Object(update))) = (rolls, strategy.get_mut("rollingUpdate")) {
        set(update, "partition", 0);
    }
}

pub(super) fn stateful_set(spec: &mut Object) {
    for claim in objects(spec, "volumeClaimTemplates") {
        set(claim, "apiVersion", "v1");
        set(claim, "kind", "PersistentVolumeClaim");
    }
}

pub(super) fn job(job: &mut Object) {
    let Some(spec) = member(job, "spec") else { return };
    if is_absent(spec, "completions") && is_absent(spec, "parallelism") {
        set(spec, "completions", 1);
    }
    set(spec, "parallelism", 1);
    set(spec, "backoffLimit", 6);
    set(spec, "completionMode", "NonIndexed");
    set(spec, "suspend", false);
    let policy = if is_absent(spec, "podFailurePolicy") {
        "TerminatingOrFailed"
    } else {
        "Failed"
    };
    set(spec, "podReplacementPolicy", policy);
    set(spec, "manualSelector", false);
    label_as_template(job);
}

/// What has no labels has those of its template.
fn label_as_template(object: &mut Object) {
    let labels = object
        .get("spec")
        .map(|spec| spec["template"]["metadata"]["labels"].clone());
    if let (Some(labels @ Value::Object(_)), Some(metadata)) = (labels, member(object, "metadata")) {
        set(metadata, "labels", labels);
    }
}

/// The labels by which a job knows its pods. The older ones come first, as in a real server's refusals.
pub(super) fn labels_of_job<'a>(name: &'a str, uid: &'a str) -> [(&'static str, &'a str); 4] {
    [
        ("controller-uid", uid),
        ("job-name", name),
        (CONTROLLER_UID, uid),
        (JOB_NAME, name),
    ]
}

/// The label by which a job selects its pods.
pub(super) const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";

pub(super) const JOB_NAME: &str = "batch.kubernetes.io/job-name";

/// Adds the labels by which a new job knows its pods, unless its client selects them. What is given already stays, and is refused if it
/// is something else.
///
/// If the job `shares` the labels of its template, because it was given none, it has those that are added, too.
pub(crate) fn name_job_pods(job: &mut Object, name: &str, uid: &str, shares: bool) {
    let labels = metadata(job).get("labels").unwrap_or(&Value::Null);
    let shares = shares
        && job
            .get("spec")
            .is_some_and(|spec| spec["template"]["metadata"]["labels"] == *labels);
    let Some(spec) = member(job, "spec") else { return };
    if spec.get("manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let selected = member(spec, "selector").and_then(|selector| member(selector, "matchLabels"));
    if let Some(selected) = selected {
        set(selected, CONTROLLER_UID, uid);
    }
    let given = member(spec, "template")
        .and_then(|template| member(template, "metadata"))
        .and_then(|metadata| member(metadata, "labels"));
    if let Some(given) = given {
        for (label, value) in labels_of_job(name, uid) {
            set(given, label, value);
        }
    }
    if let (true, Some(metadata)) = (shares, member(job, "metadata")) {
        metadata.remove("labels");
    }
    label_as_template(job);
}

/// Where a DaemonSet counts its templates.
const TEMPLATES: &str = "deprecated.daemonset.template.generation";

pub(super) fn daemon_set(set: &mut Object) {
    let annotations = member(set, "metadata").and_then(|metadata| member(metadata, "annotations"));
    if let Some(annotations) = annotations {
        self::set(annotations, TEMPLATES, "1");
    }
}

/// Counts another template of a DaemonSet; else the count stays.
pub(crate) fn count_templates(old: &Object, new: &mut Object) {
    let count = old
        .get("metadata")
        .and_then(|metadata| metadata["annotations"][TEMPLATES].as_str());
    let Some(count) = count.and_then(|count| count.parse::<u64>().ok()) else {
        return;
    };
    let template = |set: &Object| set.get("spec").map(|spec| spec["template"].clone());
    let count = count.saturating_add(u64::from(template(old) != template(new)));
    if let Some(annotations) = member(new, "metadata").and_then(|metadata| member(metadata, "annotations")) {
        annotations.insert(TEMPLATES.into(), count.to_string().into());
    }
}

/// Keeps a list and the field that has its first item in step; if they differ, the field counts. `read` is the text of an item,
/// `write` makes one.
fn lead(
    object: &mut Object,
    [first, all]: [&str; 2],
    read: fn(&Value) -> Option<&str>,
    write: fn(&str) -> Value,
) {
    let listed = object.get(all).and_then(|all| read(all.get(0)?)).unwrap_or("");
    match text(object, first) {
        given if given == listed => {}
        "" => {
            let listed = listed.into();
            object.insert(first.into(), listed);
        }
        given => {
            let items = json!([write(given)]);
            object.insert(all.into(), items);
        }
    }
}

/// The first address of a pod has a field of its own. That of its host is only checked.
pub(super) fn pod_status(status: &mut Object) {
    let write = |address: &str| json!({"ip": address});
    lead(status, ["podIP", "podIPs"], |item| item["ip"].as_str(), write);
}

/// The first range of a node's pods has a field of its own.
pub(super) fn node_spec(spec: &mut Object) {
    lead(spec, ["podCIDR", "podCIDRs"], Value::as_str, |range| range.into());
}

pub(super) fn node(node: &mut Object) {
    let capacity = node.get("status").map(|status| status["capacity"].clone());
    if let (Some(capacity @ Value::Object(_)), Some(status)) = (capacity, member(node, "status")) {
        set(status, "allocatable", capacity);
    }
}

/// An address at which a Service is balanced is a virtual one.
pub(super) fn service(service: &mut Object) {
    let is_balanced = |spec: &Value| spec["type"] == "LoadBalancer";
    if !service.get("spec").is_some_and(is_balanced) {
        return;
    }
    let balancer = service
        .get_mut("status")
        .and_then(|status| status.get_mut("loadBalancer"));
    if let Some(balancer) = balancer.and_then(Value::as_object_mut) {
        for point in objects(balancer, "ingress").filter(|point| !text(point, "ip").is_empty()) {
            set(point, "ipMode", "VIP");
        }
    }
}

pub(super) fn service_spec(spec: &mut Object) {
    let kind = text(spec, "type").to_owned();
    if text(spec, "sessionAffinity") == "None" {
        spec.remove("sessionAffinityConfig");
    }
    if text(spec, "sessionAffinity") == "ClientIP"
        && let Some(config) = member(spec, "sessionAffinityConfig")
        && let Some(client) = member(config, "clientIP")
    {
        set(client, "timeoutSeconds", 10800);
    }
    match kind.as_str() {
        // Older servers have written it there.
        "ExternalName" => drop(spec.remove("internalTrafficPolicy")),
        _ => set(spec, "internalTrafficPolicy", "Cluster"),
    }
    let addresses = spec.get("externalIPs").and_then(Value::as_array);
    let has_addresses = addresses.is_some_and(|addresses| !addresses.is_empty());
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer") || kind == "ClusterIP" && has_addresses {
        set(spec, "externalTrafficPolicy", "Cluster");
    }
    if kind == "LoadBalancer" {
        set(spec, "allocateLoadBalancerNodePorts", true);
    }
    for port in objects(spec, "ports") {
        let is_unset = |port: &Value| port.is_null() || *port == 0 || *port == "";
        if port.get("targetPort").is_none_or(is_unset)
            && let Some(number) = port.get("port").cloned()
        {
            port.insert("targetPort".into(), number);
        }
    }
}

/// Either of two fields of a new claim says where its data comes from.
pub(crate) fn name_data_source(claim: &mut Object) {
    let Some(spec) = member(claim, "spec") else { return };
    // What was never supported is dropped.
    let is_supported = |source: &Value| {
        let text = |name: &str| source[name].as_str().unwrap_or("");
        matches!(
            (text("apiGroup"), text("kind")),
            ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
        )
    };
    if spec.get("dataSource").is_some_and(|source| !is_supported(source)) {
        spec.remove("dataSource");
    }
    if is_absent(spec, "dataSourceRef")
        && let Some(source) = spec
            .get("dataSource")
            .filter(|source| source.is_object())
            .cloned()
    {
        spec.insert("dataSourceRef".into(), source);
    }
}

pub(super) fn network_policy(spec: &mut Object) {
    let has_egress = spec
        .get("egress")
        .and_then(Value::as_array)
        .is_some_and(|rules| !rules.is_empty());
    let types = if has_egress {
        json!(["Ingress", "Egress"])
    } else {
        json!(["Ingress"])
    };
    set(spec, "policyTypes", types);
}

pub(super) fn role_ref(reference: &mut Object) {
    if text(reference, "apiGroup").is_empty() {
        reference.insert("apiGroup".into(), "rbac.authorization.k8s.io".into());
    }
}

pub(super) fn subject(subject: &mut Object) {
    if matches!(text(subject, "kind"), "User" | "Group") && text(subject, "apiGroup").is_empty() {
        subject.insert("apiGroup".into(), "rbac.authorization.k8s.io".into());
    }
}

/// A bound that is left out follows from the others.
pub(super) fn limit_range_item(item: &mut Object) {
    if text(item, "type") != "Container" {
        return;
    }
    for (name, from) in [
        ("default", "max"),
        ("defaultRequest", "default"),
        ("defaultRequest", "min"),
    ] {
        let Some(Value::Object(bounds)) = item.get(from).cloned() else {
            continue;
        };
        if let Some(defaults) = member(item, name) {
            for (resource, bound) in bounds {
                set(defaults, &resource, bound);
            }
        }
    }
}

pub(super) fn replication_controller(controller: &mut Object) {
    label_as_template(controller);
    let labels = controller
        .get("spec")
        .map(|spec| spec["template"]["metadata"]["labels"].clone());
    let Some(labels @ Value::Object(_)) = labels else {
        return;
    };
    if let Some(spec) = member(controller, "spec") {
        set(spec, "selector", labels);
    }
}

/// Go writes times that are not known, too.
pub(super) fn event(event: &mut Object) {
    for name in ["eventTime", "firstTimestamp", "lastTimestamp"] {
        event.entry(name).or_insert(Value::Null);
    }
}

pub(super) fn flow_schema(spec: &mut Object) {
    if spec.get("matchingPrecedence").is_none_or(|given| *given == 0) {
        spec.insert("matchingPrecedence".into(), 1000.into());
    }
}

pub(super) fn device_request(request: &mut Object) {
    if text(request, "allocationMode").is_empty() {
        request.insert("allocationMode".into(), "ExactCount".into());
    }
    if text(request, "allocationMode") == "ExactCount" && request.get("count").is_none_or(|count| *count == 0)
    {
        request.insert("count".into(), 1.into());
    }
}

pub(super) fn autoscaler(spec: &mut Object) {
    if spec
        .get("metrics")
        .and_then(Value::as_array)
        .is_none_or(Vec::is_empty)
    {
        let cpu = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}});
        spec.insert("metrics".into(), json!([cpu]));
    }
    let Some(Value::Object(behavior)) = spec.get_mut("behavior") else {
        return;
    };
    let up = json!({"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15}, {"type": "Percent", "value": 100, "periodSeconds": 15},
    ]});
    let down =
        json!({"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]});
    for (name, default) in [("scaleUp", up), ("scaleDown", down)] {
        if let (Some(rules), Value::Object(default)) = (member(behavior, name), default) {
            for (name, value) in default {
                set(rules, &name, value);
            }
        }
    }
}
