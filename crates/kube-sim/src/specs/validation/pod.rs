//! Pods, and templates of them.

use std::collections::HashSet;

use serde_json::Value;

use super::at::{At, Causes};
use super::names;
use super::profiles::CONTAINERS;
use super::{affinity, container, os, profiles, volume};
use crate::names::{as_one, dns_label_faults, label_value_faults, subdomain_faults};
use crate::status::{go_json, quoted};

pub(super) fn pod(pod: &At<'_>, causes: &mut Causes) {
    let (spec, metadata) = (pod.at("spec"), pod.at("metadata"));
    profiles::annotations(&metadata.at("annotations"), &spec, causes);
    pod_spec(&spec, causes);
    for list in ["containers", "initContainers"] {
        for container in spec.items(list) {
            container::trimmed_image(&container, causes);
        }
    }
}

/// What only a new pod is held against.
pub(super) fn new_pod(pod: &At<'_>, causes: &mut Causes) {
    let (spec, metadata) = (pod.at("spec"), pod.at("metadata"));
    no_ephemeral_containers(&spec, "cannot be set on create", causes);
    if spec.has("nodeName") && spec.count("schedulingGates") > 0 {
        causes.push(
            spec.at("nodeName")
                .forbidden("cannot be set until all schedulingGates have been cleared"),
        );
    }
    profiles::contradictions(metadata.get("annotations"), &spec, causes);
}

fn no_ephemeral_containers(spec: &At<'_>, why: &str, causes: &mut Causes) {
    if spec.count("ephemeralContainers") > 0 {
        causes.push(spec.at("ephemeralContainers").forbidden(why));
    }
}

/// A template of pods that stands for itself.
pub(super) fn pod_template(object: &At<'_>, causes: &mut Causes) {
    template(&object.at("template"), causes);
}

/// The template of pods that a controller makes.
pub(super) fn template(template: &At<'_>, causes: &mut Causes) {
    template_metadata(template, causes);
    let (spec, metadata) = (template.at("spec"), template.at("metadata"));
    pod_spec(&spec, causes);
    profiles::contradictions(metadata.get("annotations"), &spec, causes);
    no_ephemeral_containers(&spec, "ephemeral containers not allowed in pod template", causes);
}

/// Labels and annotations of a template, which causes name without the metadata.
pub(super) fn template_metadata(template: &At<'_>, causes: &mut Causes) {
    let metadata = template.at("metadata");
    names::labels(&template.naming("labels", metadata.get("labels")), causes);
    let annotations = template.naming("annotations", metadata.get("annotations"));
    for (key, _) in metadata.entries("annotations") {
        names::label_key(&annotations, &key.to_lowercase(), causes);
    }
    profiles::annotations(&annotations, &template.at("spec"), causes);
}

pub(super) fn pod_spec(spec: &At<'_>, causes: &mut Causes) {
    let volumes = volume::volumes(spec, causes);
    resource_claims(spec, causes);
    container::containers(spec, &volumes, causes);
    host_network_ports(spec, causes);
    spec.at("restartPolicy")
        .need_one_of(&["Always", "OnFailure", "Never"], causes);
    dns(spec, causes);
    names::labels(&spec.at("nodeSelector"), causes);
    security(spec, causes);
    affinity::affinity(&spec.at("affinity"), causes);
    for gate in spec.items("readinessGates") {
        names::qualified_name(&gate.at("conditionType"), causes);
    }
    scheduling_gates(spec, causes);
    spreads(spec, causes);
    os::host_processes(spec, causes);
    own_users(spec, causes);
    host_name(spec, causes);
    spec.at("serviceAccountName")
        .fits_if_set(subdomain_faults, causes);
    spec.at("nodeName").fits_if_set(subdomain_faults, causes);
    spec.at("activeDeadlineSeconds")
        .within(1, i64::from(i32::MAX), causes);
    spec.at("hostname").fits_if_set(dns_label_faults, causes);
    spec.at("subdomain").fits_if_set(dns_label_faults, causes);
    for toleration in spec.items("tolerations") {
        self::toleration(&toleration, causes);
    }
    for alias in spec.items("hostAliases") {
        alias.at("ip").fits(names::address_fault, causes);
        for name in alias.items("hostnames") {
            name.fits(subdomain_faults, causes);
        }
    }
    spec.at("priorityClassName").fits_if_set(subdomain_faults, causes);
    spec.at("runtimeClassName").fits_if_set(subdomain_faults, causes);
    spec.at("preemptionPolicy")
        .may_be_one_of(&["Never", "PreemptLowerPriority"], causes);
    if spec.has("os") {
        os::fits(spec, causes);
    }
}

/// What a pod claims, each under a name, from a claim or a template.
fn resource_claims(spec: &At<'_>, causes: &mut Causes) {
    let mut seen = HashSet::new();
    for claim in spec.items("resourceClaims") {
        let name = claim.at("name");
        if name.need(causes) {
            match seen.insert(claim.text_at("name")) {
                true => name.fits(dns_label_faults, causes),
                false => causes.push(name.duplicate()),
            }
        }
        let from = ["resourceClaimName", "resourceClaimTemplateName"];
        let why = match claim.those(&from).count() {
            2 => "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            0 => "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            _ => "",
        };
        if !why.is_empty() {
            let [claim_name, template] = from.map(|from| go_json(claim.get(from)));
            let shown = format!(
                "{{\"Name\":{},\"ResourceClaimName\":{claim_name},\"ResourceClaimTemplateName\":{template}}}",
                name.in_json(),
            );
            causes.push(claim.invalid_as(shown, why));
        }
        for from in claim.those(&from) {
            claim.at(from).fits(subdomain_faults, causes);
        }
    }
}

fn dns(spec: &At<'_>, causes: &mut Causes) {
    const POLICIES: [&str; 4] = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    let (policy, config) = (spec.at("dnsPolicy"), spec.at("dnsConfig"));
    policy.one_of(&POLICIES, causes);
    if policy.text() == "None" {
        if !config.is_set() {
            let why = "must provide `dnsConfig` when `dnsPolicy` is None";
            return causes.push(config.required(why));
        } else if config.count("nameservers") == 0 {
            let why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return causes.push(config.at("nameservers").required(why));
        }
    }
    if config.count("nameservers") > 3 {
        let list = config.at("nameservers");
        causes.push(list.invalid("must not have more than 3 nameservers"));
    }
    for server in config.items("nameservers") {
        server.fits(names::address_fault, causes);
    }
    searches(&config, causes);
    for search in config.items("searches") {
        search.fits(search_fault, causes);
    }
    for option in config.items("options") {
        if option.text_at("name").is_empty() {
            causes.push(option.required("must not be empty"));
        }
    }
}

/// Names are searched in a few domains, which stand in one line.
fn searches(config: &At<'_>, causes: &mut Causes) {
    let list = config.at("searches");
    let count = config.count("searches");
    if count > 32 {
        causes.push(list.invalid("must not have more than 32 search paths"));
    }
    let bytes: usize = config.items("searches").map(|search| search.text().len()).sum();
    if bytes + count.saturating_sub(1) > 2048 {
        let why = "must not have more than 2048 characters (including spaces) in the search list";
        causes.push(list.invalid(why));
    }
}

/// Why a string is no domain in which names are searched.
fn search_fault(search: &str) -> Option<&'static str> {
    let name = search.strip_suffix('.').unwrap_or(search);
    let is_part = |part: &str| {
        let part = part.strip_prefix('_').unwrap_or(part).replace('_', "a");
        dns_label_faults(&part).is_empty()
    };
    match name.split('.').all(is_part) || search == "." {
        true if name.len() > 253 => Some("must be no more than 253 characters"),
        true => None,
        false => Some(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')",
        ),
    }
}

fn security(spec: &At<'_>, causes: &mut Causes) {
    let context = spec.at("securityContext");
    for name in ["fsGroup", "runAsUser", "runAsGroup"] {
        container::id(&context.at(name), causes);
    }
    for group in context.items("supplementalGroups") {
        container::id(&group, causes);
    }
    if spec.is_true_at("shareProcessNamespace") && spec.is_true_at("hostPID") {
        let why = "ShareProcessNamespace and HostPID cannot both be enabled";
        let at = context.naming("shareProcessNamespace", spec.get("shareProcessNamespace"));
        causes.push(at.invalid(why));
    }
    let mut seen = HashSet::new();
    for sysctl in context.items("sysctls") {
        let name = sysctl.at("name");
        if !name.need(causes) {
        } else if !is_sysctl(name.text()) {
            let why = "must have at most 253 characters and match regex \
                       ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
            causes.push(name.invalid(why));
        } else if !seen.insert(name.text().to_owned()) {
            causes.push(name.duplicate());
        }
        if let Some(field) = shared_by(name.text()).filter(|field| spec.is_true_at(field)) {
            causes.push(name.invalid(&format!("may not be specified when '{field}' is true")));
        }
    }
    context
        .at("fsGroupChangePolicy")
        .may_be_one_of(&["Always", "OnRootMismatch"], causes);
    profiles::seccomp(&context.at("seccompProfile"), causes);
    os::options(&context.at("windowsOptions"), causes);
    profiles::app_armor(&context.at("appArmorProfile"), causes);
    context
        .at("supplementalGroupsPolicy")
        .may_be_one_of(&["Merge", "Strict"], causes);
    context
        .at("seLinuxChangePolicy")
        .may_be_one_of(&["Recursive"], causes);
}

/// A pod whose users are not those of the host has nothing else of the host either.
fn own_users(spec: &At<'_>, causes: &mut Causes) {
    const WHY: &str = "when `hostUsers` is false";
    if spec.get("hostUsers") != &Value::Bool(false) {
        return;
    }
    // Two of them are shown by their names in Go.
    for (name, shown) in [
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ] {
        if spec.is_true_at(name) {
            causes.push(spec.naming(shown, spec.get(name)).forbidden(WHY));
        }
    }
    for container in CONTAINERS.into_iter().flat_map(|list| spec.items(list)) {
        if container.count("volumeDevices") > 0 {
            causes.push(container.at("volumeDevices").forbidden(WHY));
        }
    }
}

/// A pod can be called otherwise than by its own name.
fn host_name(spec: &At<'_>, causes: &mut Causes) {
    const LONGEST: usize = 64;
    let name = spec.at("hostnameOverride");
    if !name.is_set() {
        return;
    }
    for other in ["setHostnameAsFQDN", "hostNetwork"] {
        if spec.is_true_at(other) {
            let why = format!("may not be specified when {other} is true");
            causes.push(name.forbidden(&why));
        }
    }
    if name.text().len() > LONGEST {
        causes.push(name.too_long(LONGEST));
    }
    name.fits(subdomain_faults, causes);
}

/// The field by which a pod shares with its host what a setting of the kernel is about.
fn shared_by(sysctl: &str) -> Option<&'static str> {
    const OF_IPC: [&str; 10] = [
        "kernel.sem",
        "kernel.shmall",
        "kernel.shmmax",
        "kernel.shmmni",
        "kernel.shm_rmid_forced",
        "kernel.shm",
        "kernel.msgmax",
        "kernel.msgmnb",
        "kernel.msgmni",
        "kernel.msg",
    ];
    // What begins with a slash between its parts has dots within them.
    let is_of_slashes = sysctl
        .find(['.', '/'])
        .is_some_and(|at| sysctl[at..].starts_with('/'));
    let swapped = |c| match c {
        '/' => '.',
        '.' => '/',
        c => c,
    };
    let name: String = match is_of_slashes {
        true => sysctl.chars().map(swapped).collect(),
        false => sysctl.to_owned(),
    };
    match &*name {
        name if name.starts_with("net.") => Some("hostNetwork"),
        name if name.starts_with("fs.mqueue.") || OF_IPC.contains(&name) => Some("hostIPC"),
        _ => None,
    }
}

fn is_sysctl(name: &str) -> bool {
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let fits = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(b);
        edge(bytes.first()) && edge(bytes.last()) && bytes.iter().all(fits)
    };
    name.len() <= 253 && name.split(['.', '/']).all(is_part)
}

fn scheduling_gates(spec: &At<'_>, causes: &mut Causes) {
    let mut seen = HashSet::new();
    for gate in spec.items("schedulingGates") {
        names::label_key(&gate, gate.text_at("name"), causes);
        if !seen.insert(gate.text_at("name").to_owned()) {
            causes.push(gate.duplicate_as(gate.get("name")));
        }
    }
}

pub(super) fn toleration(toleration: &At<'_>, causes: &mut Causes) {
    let (key, operator, value) = (
        toleration.at("key"),
        toleration.at("operator"),
        toleration.at("value"),
    );
    if !key.text().is_empty() {
        names::qualified_name(&key, causes);
    } else if operator.text() != "Exists" {
        let why =
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        causes.push(operator.invalid_in_json(why));
    }
    let effect = toleration.at("effect");
    if toleration.has("tolerationSeconds") && effect.text() != "NoExecute" {
        let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        causes.push(effect.invalid_in_json(why));
    }
    match operator.text() {
        "" | "Equal" => {
            let fault = as_one(&label_value_faults(value.text()), ";");
            causes.extend(fault.map(|fault| operator.invalid_as(quoted(value.text()), &fault)));
        }
        "Exists" if !value.text().is_empty() => {
            let why = "value must be empty when `operator` is 'Exists'";
            causes.push(operator.invalid_as(quoted(value.text()), why));
        }
        "Exists" => {}
        _ => operator.one_of(&["Equal", "Exists"], causes),
    }
    if !effect.text().is_empty() {
        effect.one_of(&["NoSchedule", "PreferNoSchedule", "NoExecute"], causes);
    }
}

fn spreads(spec: &At<'_>, causes: &mut Causes) {
    let pair = |spread: &At<'_>| {
        (
            spread.text_at("topologyKey").to_owned(),
            spread.text_at("whenUnsatisfiable").to_owned(),
        )
    };
    for (n, spread) in spec.items("topologySpreadConstraints").enumerate() {
        let (skew, key, what) = (
            spread.number_at("maxSkew").unwrap_or(0),
            spread.at("topologyKey"),
            spread.at("whenUnsatisfiable"),
        );
        if skew <= 0 {
            causes.push(spread.at("maxSkew").invalid_as(skew, "must be greater than zero"));
        }
        if key.text().is_empty() {
            causes.push(key.required("can not be empty"));
        }
        what.one_of(&["DoNotSchedule", "ScheduleAnyway"], causes);
        let this = pair(&spread);
        if spec
            .items("topologySpreadConstraints")
            .skip(n + 1)
            .any(|other| pair(&other) == this)
        {
            let pair = format!("{{{}, {}}}", key.text(), what.text());
            let at = spread.at("{topologyKey, whenUnsatisfiable}");
            causes.push(at.duplicate_as(&Value::String(pair)));
        }
        if let Some(domains) = spread.number_at("minDomains") {
            let at = spread.at("minDomains");
            if domains <= 0 {
                causes.push(at.invalid("must be greater than zero"));
            }
            if what.text() != "DoNotSchedule" {
                let why = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    what.text()
                );
                causes.push(at.invalid(&why));
            }
        }
        for name in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            spread.at(name).may_be_one_of(&["Honor", "Ignore"], causes);
        }
        names::selector(&spread.at("labelSelector"), causes);
    }
}

/// A port of a container that is used on the host's network is the same there.
fn host_network_ports(spec: &At<'_>, causes: &mut Causes) {
    if !spec.is_true_at("hostNetwork") {
        return;
    }
    for container in spec.items("containers") {
        for port in container.items("ports") {
            let of_host = port.number_at("hostPort").unwrap_or(0);
            // What a template does not say, its pods will.
            if of_host != 0 && of_host != port.number_at("containerPort").unwrap_or(0) {
                let why = "must match `containerPort` when `hostNetwork` is true";
                causes.push(port.at("hostPort").invalid(why));
            }
        }
    }
}
