//! What a pod may not have on the operating system that it says it is for.

use serde_json::Value;

use super::at::{At, Causes};
use super::profiles::CONTAINERS;
use crate::names::{dns_label_faults, subdomain_faults};

pub(super) fn fits(spec: &At<'_>, causes: &mut Causes) {
    let os = spec.at("os");
    let name = os.at("name");
    match name.text() {
        "" => _ = name.need(causes),
        "linux" => linux(spec, causes),
        "windows" => windows(spec, causes),
        // Without the name.
        _ => spec
            .naming("os", name.value())
            .one_of(&["linux", "windows"], causes),
    }
}

fn linux(spec: &At<'_>, causes: &mut Causes) {
    let forbid = |context: &At<'_>, causes: &mut Causes| {
        if context.has("windowsOptions") {
            let why = "windows options cannot be set for a linux pod";
            causes.push(context.at("windowsOptions").forbidden(why));
        }
    };
    forbid(&spec.at("securityContext"), causes);
    for container in CONTAINERS.into_iter().flat_map(|list| spec.items(list)) {
        forbid(&container.at("securityContext"), causes);
    }
}

/// What is Linux's, of a pod: in its security context or beside it.
const OF_PODS: [&str; 15] = [
    "appArmorProfile",
    "seLinuxOptions",
    "hostUsers",
    "hostPID",
    "hostIPC",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "shareProcessNamespace",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];

/// The same in the security contexts of containers.
const OF_CONTAINERS: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

fn windows(spec: &At<'_>, causes: &mut Causes) {
    const WHY: &str = "cannot be set for a windows pod";
    let context = spec.at("securityContext");
    for name in OF_PODS {
        let (of, is_there) = match name {
            "hostPID" | "hostIPC" => (spec, spec.is_true_at(name)),
            "hostUsers" | "shareProcessNamespace" => (spec, spec.has(name)),
            "sysctls" => (&context, context.count(name) > 0),
            _ => (&context, context.has(name)),
        };
        if is_there {
            causes.push(of.at(name).forbidden(WHY));
        }
    }
    for container in CONTAINERS.into_iter().flat_map(|list| spec.items(list)) {
        let context = container.at("securityContext");
        for name in context.those(&OF_CONTAINERS) {
            causes.push(context.at(name).forbidden(WHY));
        }
    }
}

/// As whom a container runs on Windows.
pub(super) fn options(options: &At<'_>, causes: &mut Causes) {
    const LARGEST: usize = 64 << 10;
    let (name, credentials) = (
        options.at("gmsaCredentialSpecName"),
        options.at("gmsaCredentialSpec"),
    );
    if name.is_set() {
        let faults = subdomain_faults(name.text()).into_iter();
        causes.extend(faults.map(|fault| name.invalid_in_json(fault)));
    }
    match credentials.text().len() {
        0 if credentials.is_set() => {
            causes.push(credentials.invalid_in_json("gmsaCredentialSpec cannot be an empty string"));
        }
        bytes if bytes > LARGEST => {
            causes.push(credentials.invalid_in_json("gmsaCredentialSpec size must be under 64 KiB"));
        }
        _ => {}
    }
    let user = options.at("runAsUserName");
    if user.is_set() {
        let faults = user_faults(user.text()).into_iter();
        causes.extend(faults.map(|fault| user.invalid_in_json(&format!("runAsUserName{fault}"))));
    }
}

/// Why a string names no user, after the field's name.
fn user_faults(user: &str) -> Vec<&'static str> {
    if user.is_empty() {
        return vec![" cannot be an empty string"];
    }
    if user.chars().any(|c| c.is_ascii_control()) {
        return vec![" cannot contain control characters"];
    }
    let (domain, user) = match user.split_once('\\') {
        Some((_, user)) if user.contains('\\') => return vec![" cannot contain more than one backslash"],
        Some((domain, user)) => (Some(domain), user),
        None => (None, user),
    };
    let mut faults = Vec::new();
    if domain.is_some_and(|domain| domain.len() >= 256) {
        faults.push("'s Domain length must be under 256 characters");
    }
    if domain.is_some_and(|domain| !is_net_bios(domain) && !is_domain(domain)) {
        faults.push("'s Domain doesn't match the NetBios nor the DNS format");
    }
    if user.is_empty() {
        faults.push("'s User cannot be empty");
    } else if user.len() > 104 {
        faults.push("'s User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.bytes().all(|b| matches!(b, b'.' | b' ')) {
        faults.push("'s User cannot contain only periods or spaces");
    }
    if user.contains([
        '"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']',
    ]) {
        faults.push("'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
    }
    faults
}

fn is_net_bios(domain: &str) -> bool {
    let is_part = |c: char| !['\\', '/', ':', '*', '?', '"', '<', '>', '|'].contains(&c);
    let length = domain.chars().count();
    (1..=15).contains(&length) && !domain.starts_with('.') && domain.chars().all(is_part)
}

fn is_domain(domain: &str) -> bool {
    domain
        .split('.')
        .all(|label| dns_label_faults(&label.to_ascii_lowercase()).is_empty())
}

/// Containers that are processes of a Windows host are all or none of a pod's, and use its network.
pub(super) fn host_processes(spec: &At<'_>, causes: &mut Causes) {
    fn of<'a>(at: &At<'a>) -> Option<&'a Value> {
        let options = at.get("securityContext").get("windowsOptions")?;
        options.get("hostProcess").filter(|value| !value.is_null())
    }
    let of_pod = of(spec);
    let mut others = 0;
    let mut processes = 0;
    for container in CONTAINERS.into_iter().flat_map(|list| spec.items(list)) {
        let own = of(&container);
        if let (Some(of_pod), Some(own)) = (of_pod, own)
            && of_pod != own
        {
            let why = format!("pod hostProcess value must be identical if both are specified, was {of_pod}");
            container.along(&["securityContext", "windowsOptions", "hostProcess"], &mut |at| {
                causes.push(at.invalid(&why));
            });
        }
        match own.or(of_pod) {
            Some(Value::Bool(true)) => processes += 1,
            _ => others += 1,
        }
    }
    if processes > 0 && others > 0 {
        let why =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        causes.push(spec.invalid_as("\"\"", why));
    }
    if processes > 0 && !spec.is_true_at("hostNetwork") {
        let why = "hostNetwork must be true if pod contains any hostProcess containers";
        causes.push(spec.at("hostNetwork").invalid_as(false, why));
    }
}
