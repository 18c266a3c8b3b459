//! The containers of a pod.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::at::{At, Causes};
use super::names;
use super::{data, downward, os, profiles, volume};
use crate::names::{dns_label_faults, label_key_faults, subdomain_faults};
use crate::quantity::Quantity;
use crate::status::quoted;

/// All containers of a pod; `volumes` are the names of what they can mount.
pub(super) fn containers(spec: &At<'_>, volumes: &HashSet<String>, causes: &mut Causes) {
    let claims = spec
        .items("resourceClaims")
        .map(|claim| claim.text_at("name").to_owned());
    let claims: BTreeSet<_> = claims.filter(|name| !name.is_empty()).collect();
    let has = Has {
        volumes,
        claims: &claims,
    };
    if spec.count("containers") == 0 {
        causes.push(spec.at("containers").required(""));
    }
    let mut names = HashSet::new();
    for container in spec.items("containers") {
        self::container(spec, &container, has, causes);
        once(&container, &mut names, causes);
        handlers(spec, &container, causes);
        restart_policy(&container, causes);
    }
    let mut host_ports = HashSet::new();
    for container in spec.items("containers") {
        ports_of_the_host(&container, &mut host_ports, causes);
    }
    for container in spec.items("initContainers") {
        self::container(spec, &container, has, causes);
        restart_policy(&container, causes);
        // Of those without a name it is only said that they lack it.
        if !container.text_at("name").is_empty() || names.contains("") {
            once(&container, &mut names, causes);
        }
        match container.text_at("restartPolicy") {
            "Always" => handlers(spec, &container, causes),
            // It ends before the others start.
            _ => {
                for name in container.those(&["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"])
                {
                    let why = "may not be set for init containers without restartPolicy=Always";
                    causes.push(container.at(name).forbidden(why));
                }
            }
        }
    }
    ephemeral(spec, has, names, causes);
    let of_pod = spec.at("resources");
    if of_pod.has("claims") {
        let why = "claims may not be set for Resources at pod-level";
        causes.push(of_pod.at("claims").forbidden(why));
    }
    self::claims(&of_pod, has.claims, causes);
}

/// What a pod has for its containers, by name.
#[derive(Clone, Copy)]
struct Has<'a> {
    volumes: &'a HashSet<String>,
    claims: &'a BTreeSet<String>,
}

fn once<'a>(container: &At<'a>, names: &mut HashSet<&'a str>, causes: &mut Causes) {
    if !names.insert(container.text_at("name")) {
        causes.push(container.at("name").duplicate());
    }
}

/// What only runs to look into a pod, beside the containers of these names.
fn ephemeral<'a>(spec: &'a At<'a>, has: Has<'_>, mut names: HashSet<&'a str>, causes: &mut Causes) {
    // It serves nobody, and takes only what the others leave.
    const FORBIDDEN: [&str; 9] = [
        "ports",
        "resources",
        "resizePolicy",
        "restartPolicy",
        "restartPolicyRules",
        "livenessProbe",
        "readinessProbe",
        "startupProbe",
        "lifecycle",
    ];
    const WHY: &str = "cannot be set for an Ephemeral Container";
    let others = names.clone();
    for container in spec.items("ephemeralContainers") {
        self::container(spec, &container, has, causes);
        trimmed_image(&container, causes);
        once(&container, &mut names, causes);
        let target = container.at("targetContainerName");
        if !target.text().is_empty() && !others.contains(target.text()) {
            causes.push(target.not_found());
        }
        for name in container.those(&FORBIDDEN) {
            if name != "resources" || container.count(name) > 0 {
                causes.push(container.at(name).forbidden(WHY));
            }
        }
        for mount in container.items("volumeMounts") {
            for name in ["subPath", "subPathExpr"] {
                if !mount.text_at(name).is_empty() {
                    causes.push(mount.at(name).forbidden(WHY));
                }
            }
        }
    }
}

/// Only templates may have an image that others replace.
pub(super) fn trimmed_image(container: &At<'_>, causes: &mut Causes) {
    let image = container.at("image");
    if image.text() != image.text().trim() {
        causes.push(image.invalid("must not have leading or trailing whitespace"));
    }
}

fn container(spec: &At<'_>, container: &At<'_>, has: Has<'_>, causes: &mut Causes) {
    container.at("name").need_fit(dns_label_faults, causes);
    container.at("image").need(causes);
    container
        .at("terminationMessagePolicy")
        .need_one_of(&["File", "FallbackToLogsOnError"], causes);
    ports(container, causes);
    for variable in container.items("env") {
        self::variable(&variable, causes);
    }
    for source in container.items("envFrom") {
        self::variables(&container.at("envFrom"), &source, causes);
    }
    volume::mounts(container, has.volumes, causes);
    container
        .at("imagePullPolicy")
        .need_one_of(&["Always", "IfNotPresent", "Never"], causes);
    resources(&container.at("resources"), causes);
    claims(&container.at("resources"), has.claims, causes);
    for policy in container.items("resizePolicy") {
        let all = |name: &'static str| container.naming("resizePolicy", policy.get(name));
        all("resourceName").one_of(&["cpu", "memory"], causes);
        all("restartPolicy").one_of(&["NotRequired", "RestartContainer"], causes);
    }
    security(spec, &container.at("securityContext"), causes);
}

fn restart_policy(container: &At<'_>, causes: &mut Causes) {
    container
        .at("restartPolicy")
        .may_be_one_of(&["Always", "Never", "OnFailure"], causes);
}

fn ports(container: &At<'_>, causes: &mut Causes) {
    let mut seen = HashSet::new();
    for port in container.items("ports") {
        let name = port.at("name");
        if !name.text().is_empty() {
            let faults = names::port_name_faults(name.text());
            match faults.is_empty() {
                true if !seen.insert(name.text().to_owned()) => causes.push(name.duplicate()),
                _ => causes.extend(faults.into_iter().map(|fault| name.invalid(fault))),
            }
        }
        let number = port.at("containerPort");
        match number.number() {
            None | Some(0) => causes.push(number.required("")),
            Some(_) => names::port_number(&number, causes),
        }
        let of_host = port.at("hostPort");
        if of_host.number().is_some_and(|port| port != 0) {
            names::port_number(&of_host, causes);
        }
        port.at("protocol").need_one_of(&["SCTP", "TCP", "UDP"], causes);
    }
}

/// No two containers have the same port of the host.
fn ports_of_the_host(container: &At<'_>, seen: &mut HashSet<String>, causes: &mut Causes) {
    for port in container.items("ports") {
        let number = port.number_at("hostPort").unwrap_or(0);
        let what = format!("{}/{}/{number}", port.text_at("protocol"), port.text_at("hostIP"));
        if number != 0 && !seen.insert(what.clone()) {
            causes.push(port.at("hostPort").duplicate_as(&Value::String(what)));
        }
    }
}

/// Why a string cannot be the name of a variable.
fn variable_fault(name: &str) -> Option<&'static str> {
    let fits = name.bytes().all(|b| (b' '..=b'~').contains(&b) && b != b'=');
    (!fits).then_some(
        "a valid environment variable name must consist only of printable ASCII characters other than '='",
    )
}

fn variable(variable: &At<'_>, causes: &mut Causes) {
    variable.at("name").need_fit(variable_fault, causes);
    let source = variable.at("valueFrom");
    if !source.is_set() {
        return;
    }
    const SOURCES: [&str; 5] = [
        "fieldRef",
        "resourceFieldRef",
        "configMapKeyRef",
        "secretKeyRef",
        "fileKeyRef",
    ];
    for name in source.those(&SOURCES) {
        let of = source.at(name);
        match name {
            "fieldRef" => downward::field(&of, &downward::VARIABLE_FIELDS, causes),
            "resourceFieldRef" => downward::resource_field(&of, false, causes),
            "configMapKeyRef" | "secretKeyRef" => key(&of, causes),
            _ => {}
        }
    }
    match source.those(&SOURCES).count() {
        0 => {
            let why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
            causes.push(source.invalid_as("\"\"", why));
        }
        _ if !variable.text_at("value").is_empty() => {
            let why = "may not be specified when `value` is not empty";
            causes.push(source.invalid_as("\"\"", why));
        }
        1 => {}
        _ => causes.push(source.invalid_as("\"\"", "may not have more than one field specified at a time")),
    }
}

fn key(of: &At<'_>, causes: &mut Causes) {
    of.at("name").fits(subdomain_faults, causes);
    let key = of.at("key");
    if key.need(causes) {
        key.fits(data::key_fault, causes);
    }
}

fn variables(all: &At<'_>, source: &At<'_>, causes: &mut Causes) {
    source.at("prefix").fits_if_set(variable_fault, causes);
    const SOURCES: [&str; 2] = ["configMapRef", "secretRef"];
    for name in source.those(&SOURCES) {
        source.at(name).at("name").need_fit(subdomain_faults, causes);
    }
    match source.those(&SOURCES).count() {
        0 => causes.push(all.invalid_as("\"\"", "must specify one of: `configMapRef` or `secretRef`")),
        1 => {}
        _ => causes.push(all.invalid_as("\"\"", "may not have more than one field specified at a time")),
    }
}

fn handlers(spec: &At<'_>, container: &At<'_>, causes: &mut Causes) {
    let lifecycle = container.at("lifecycle");
    for name in lifecycle.those(&["postStart", "preStop"]) {
        let of = lifecycle.at(name);
        handler(&of, &["exec", "httpGet", "tcpSocket", "sleep"], causes);
        let most = spec.number_at("terminationGracePeriodSeconds").unwrap_or(30);
        let seconds = &of.get("sleep")["seconds"];
        if seconds
            .as_i64()
            .is_some_and(|seconds| !(0..=most).contains(&seconds))
        {
            let why = format!("must be non-negative and less than terminationGracePeriodSeconds ({most})");
            causes.push(of.naming("sleep", seconds).invalid(&why));
        }
    }
    for name in container.those(&["livenessProbe", "readinessProbe", "startupProbe"]) {
        probe(&container.at(name), name, causes);
    }
}

fn probe(probe: &At<'_>, kind: &str, causes: &mut Causes) {
    handler(probe, &["exec", "httpGet", "tcpSocket", "grpc"], causes);
    for name in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        probe.at(name).not_negative(causes);
    }
    if let Some(seconds) = probe.number_at("terminationGracePeriodSeconds") {
        let at = probe.at("terminationGracePeriodSeconds");
        if seconds <= 0 {
            causes.push(at.invalid("must be greater than 0"));
        }
        if kind == "readinessProbe" {
            causes.push(at.invalid("must not be set for readinessProbes"));
        }
    }
    let successes = probe.at("successThreshold");
    if kind != "readinessProbe" && successes.number().is_some_and(|number| number != 1) {
        causes.push(successes.invalid("must be 1"));
    }
}

/// What is done with a container: one of these actions.
fn handler(handler: &At<'_>, actions: &[&str], causes: &mut Causes) {
    let mut number = 0;
    for name in handler.those(actions) {
        let action = handler.at(name);
        if number > 0 {
            causes.push(action.forbidden("may not specify more than 1 handler type"));
            continue;
        }
        number += 1;
        match name {
            "exec" if action.count("command") == 0 => causes.push(action.at("command").required("")),
            "httpGet" => http_get(&action, causes),
            "tcpSocket" => names::port(&action.at("port"), causes),
            "grpc" => names::port_number(&action.at("port"), causes),
            _ => {}
        }
    }
    if number == 0 {
        causes.push(handler.required("must specify a handler type"));
    }
}

fn http_get(action: &At<'_>, causes: &mut Causes) {
    action.at("path").need(causes);
    names::port(&action.at("port"), causes);
    action.at("scheme").one_of(&["HTTP", "HTTPS"], causes);
    for header in action.items("httpHeaders") {
        let name = header.at("name");
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        if !name.text().bytes().all(fits) || name.text().is_empty() {
            let why = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used \
                       for validation is '[-A-Za-z0-9]+')";
            causes.push(action.naming("httpHeaders", name.value()).invalid(why));
        }
    }
}

/// A resource that is neither of a name of Kubernetes' own nor of one of its domains.
fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/") && !name.starts_with("requests.")
}

pub(super) fn resources(resources: &At<'_>, causes: &mut Causes) {
    let limits = resources.at("limits");
    for (name, limit) in resources.entries("limits") {
        amount(&limit, name, causes);
    }
    let mut is_measured = false;
    let mut has_huge_pages = false;
    for (name, request) in resources.entries("requests") {
        amount(&request, name, causes);
        is_measured |= matches!(name, "cpu" | "memory");
        has_huge_pages |= name.starts_with("hugepages-");
        let is_fixed = is_extended(name) || name.starts_with("hugepages-");
        let limit = limits.at(name);
        let at = resources.at("requests");
        match (Quantity::read(request.value()), Quantity::read(limit.value())) {
            (Some(wanted), Some(most)) if is_fixed && wanted != most => {
                let why = format!("must be equal to {name} limit of {}", limit.text());
                causes.push(at.invalid_as(quoted(request.text()), &why));
            }
            (Some(wanted), Some(most)) if wanted > most => {
                let why = format!("must be less than or equal to {name} limit of {}", limit.text());
                causes.push(at.invalid_as(quoted(request.text()), &why));
            }
            (Some(_), None) if is_fixed => {
                causes.push(limits.required("Limit must be set for non overcommitable resources"));
            }
            _ => {}
        }
    }
    for (name, _) in resources.entries("limits") {
        is_measured |= matches!(name, "cpu" | "memory");
        has_huge_pages |= name.starts_with("hugepages-");
    }
    if has_huge_pages && !is_measured {
        causes.push(resources.forbidden("HugePages require cpu or memory"));
    }
}

/// What a container uses of what its pod claims: all of a claim, or requests in it.
fn claims(resources: &At<'_>, of_pod: &BTreeSet<String>, causes: &mut Causes) {
    const LONGEST: usize = 4_000;
    // Each claim that is mentioned, and whether all of it is.
    let (mut claims, mut requests) = (HashSet::new(), HashSet::new());
    let mut in_part = HashMap::new();
    for claim in resources.items("claims") {
        let (name, request) = (claim.text_at("name"), claim.text_at("request"));
        if name.is_empty() {
            causes.push(claim.required(""));
            continue;
        }
        if claims.contains(name) {
            causes.push(claim.duplicate_shown(&quoted(name)));
        } else if request.is_empty() {
            // As often as there are other requests.
            for _ in 0..in_part.get(name).copied().unwrap_or(0) {
                causes.push(claim.duplicate_shown(&quoted(name)));
            }
            claims.insert(name);
        } else {
            claim.at("request").fits(dns_label_faults, causes);
            match requests.insert((name, request)) {
                true => *in_part.entry(name).or_insert(0) += 1,
                false => causes.push(claim.duplicate_shown(&quoted(&format!("{name}/{request}")))),
            }
        }
        if !of_pod.contains(name) {
            let mut why = "must be one of the names in pod.spec.resourceClaims".to_owned();
            match of_pod.is_empty() {
                true => why.push_str(" which is empty"),
                false => why.push(':'),
            }
            for (n, name) in of_pod.iter().enumerate() {
                if why.len() > LONGEST {
                    why.push_str(", ...");
                    break;
                }
                why.push_str(if n == 0 { " " } else { ", " });
                why.push_str(name);
            }
            causes.push(claim.not_found_as(quoted(name), &why));
        }
    }
}

/// How much of a resource a container has.
fn amount(at: &At<'_>, name: &str, causes: &mut Causes) {
    let faults = label_key_faults(name);
    let is_known = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
    if !faults.is_empty() {
        causes.extend(faults.iter().map(|fault| at.invalid_as(quoted(name), fault)));
        if name.contains('/') {
            causes.push(at.invalid_as(quoted(name), "doesn't follow extended resource name standard"));
        }
    } else if !name.contains('/') && !is_known {
        causes.push(at.invalid_as(
            quoted(name),
            "must be a standard resource type or fully qualified",
        ));
        causes.push(at.invalid_as(quoted(name), "must be a standard resource for containers"));
    }
    quantity(at, is_extended(name), causes);
}

/// A quantity that is not negative.
pub(super) fn quantity(at: &At<'_>, is_whole: bool, causes: &mut Causes) {
    let Some(quantity) = Quantity::read(at.value()) else {
        return;
    };
    if quantity < Quantity::ZERO {
        causes.push(at.invalid("must be greater than or equal to 0"));
    }
    if is_whole && !quantity.is_whole() {
        causes.push(at.invalid("must be an integer"));
    }
}

/// The number of a user or of a group.
pub(super) fn id(at: &At<'_>, causes: &mut Causes) {
    at.within(0, i64::from(i32::MAX), causes);
}

fn security(spec: &At<'_>, context: &At<'_>, causes: &mut Causes) {
    id(&context.at("runAsUser"), causes);
    id(&context.at("runAsGroup"), causes);
    let mount = context.at("procMount");
    mount.may_be_one_of(&["Default", "Unmasked"], causes);
    if mount.text() == "Unmasked" && spec.get("hostUsers") != &Value::Bool(false) {
        causes.push(mount.invalid_in_json("`hostUsers` must be false to use `Unmasked`"));
    }
    profiles::seccomp(&context.at("seccompProfile"), causes);
    let escalates = context.at("allowPrivilegeEscalation");
    if escalates.value() == &Value::Bool(false) {
        if context.is_true_at("privileged") {
            let why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            causes.push(context.invalid_as("false", why));
        }
        let capabilities = context.at("capabilities");
        if capabilities.items("add").any(|one| one.text() == "CAP_SYS_ADMIN") {
            let why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            causes.push(context.invalid_as("false", why));
        }
    }
    os::options(&context.at("windowsOptions"), causes);
    profiles::app_armor(&context.at("appArmorProfile"), causes);
}
