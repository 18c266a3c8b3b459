//! The rules of the levels, each as it was in the version of Kubernetes that is meant.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Level, Version, Violation};
use crate::specs::annotations::{APP_ARMOR, SECCOMP, SECCOMP_OF_CONTAINERS};
use crate::status::quoted;

/// A pod that is to be, or a template of one.
struct Pod<'a> {
    annotations: &'a Value,
    spec: &'a Value,
    /// Of the rules.
    version: Version,
}

/// A rule: what a pod does against it.
type Check = fn(&Pod<'_>) -> Option<Violation>;

/// What a pod does against the rules of `level` as they were in `version`; in the order of Kubernetes' names of the rules, those of the
/// baseline first.
pub(super) fn run(level: Level, version: Version, annotations: &Value, spec: &Value) -> Vec<Violation> {
    if level == Level::Privileged {
        return Vec::new();
    }
    let (is_restricted, is_baseline) = (level == Level::Restricted, level == Level::Baseline);
    let since = |minor| version.is_since(minor);
    // Instead of some of the baseline, the restricted level has stricter ones.
    let rules: [(bool, Check); 19] = [
        (true, app_armor_profile),
        (is_baseline || !since(22), added_capabilities),
        (true, host_namespaces),
        (is_baseline, host_path_volumes),
        (true, host_ports),
        (since(34), hosts_of_handlers),
        (true, privileged),
        (is_baseline || !since(35), proc_mount),
        (true, se_linux_options),
        (is_baseline || !since(19), seccomp_profile),
        (true, sysctls),
        (true, host_process),
        (is_restricted && since(8), privilege_escalation),
        (is_restricted && since(22), dropped_capabilities),
        (is_restricted && since(35), any_proc_mount),
        (is_restricted, volume_types),
        (is_restricted, run_as_non_root),
        (is_restricted && since(23), run_as_user),
        (is_restricted && since(19), set_seccomp_profile),
    ];
    let pod = Pod {
        annotations,
        spec,
        version,
    };
    let rules = rules.iter().filter(|(is_meant, _)| *is_meant);
    rules.filter_map(|(_, rule)| rule(&pod)).collect()
}

impl<'a> Pod<'a> {
    /// All containers, in the order in which they are looked at.
    fn containers(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        let spec = self.spec;
        let lists = ["initContainers", "containers", "ephemeralContainers"];
        lists
            .into_iter()
            .flat_map(move |list| spec[list].as_array().into_iter().flatten())
    }

    /// The names of the containers that something holds of.
    fn containers_that(&self, holds: impl Fn(&'a Value) -> bool) -> Vec<&'a str> {
        let found = self.containers().filter(|container| holds(container));
        found.map(name_of).collect()
    }

    /// The containers that have some of what is looked for, and all that they have.
    fn containers_with<T: Ord>(&self, found: impl Fn(&'a Value) -> Vec<T>) -> (Vec<&'a str>, BTreeSet<T>) {
        let (mut containers, mut all) = (Vec::new(), BTreeSet::new());
        for container in self.containers() {
            let found = found(container);
            if !found.is_empty() {
                containers.push(name_of(container));
                all.extend(found);
            }
        }
        (containers, all)
    }

    /// Who has a security context that something holds of: `pod and container "a"`; nothing if nobody has.
    fn contexts_that(&self, holds: impl Fn(&'a Value) -> bool) -> Option<String> {
        let pod = holds(&self.spec["securityContext"]).then(|| "pod".to_owned());
        let containers = self.containers_that(|container| holds(&container["securityContext"]));
        let all: Vec<_> = pod.into_iter().chain(told(&containers)).collect();
        (!all.is_empty()).then(|| all.join(" and "))
    }

    /// What is found in the security contexts, and in whose; nothing if nothing is.
    fn contexts_with(
        &self,
        found: impl Fn(&'a Value) -> Option<&'a str>,
    ) -> Option<(String, BTreeSet<&'a str>)> {
        let setters = self.contexts_that(|context| found(context).is_some())?;
        let containers = self.containers().map(|container| &container["securityContext"]);
        let contexts = std::iter::once(&self.spec["securityContext"]).chain(containers);
        Some((setters, contexts.filter_map(found).collect()))
    }

    fn volumes(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        self.spec["volumes"].as_array().into_iter().flatten()
    }

    /// A pod with users of its own may be root in itself: KEP-127.
    fn has_own_users(&self) -> bool {
        self.version.is_since(35) && self.spec["hostUsers"] == false
    }

    /// Windows has nothing of what some rules ask for.
    fn is_on_windows(&self) -> bool {
        self.version.is_since(25) && self.spec["os"]["name"] == "windows"
    }
}

fn name_of(member: &Value) -> &str {
    member["name"].as_str().unwrap_or("")
}

/// `container "a"`, `containers "a", "b"`; nothing of none.
fn told(containers: &[&str]) -> Option<String> {
    match containers {
        [] => None,
        [one] => Some(format!("container {}", quotes([*one]))),
        several => Some(format!("containers {}", quotes(several.iter().copied()))),
    }
}

/// `"a", "b"`; nothing is escaped.
fn quotes<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = texts.into_iter().map(|text| format!("\"{text}\""));
    quoted.collect::<Vec<_>>().join(", ")
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn violation(reason: &'static str, detail: String) -> Option<Violation> {
    Some(Violation { reason, detail })
}

fn of_many(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// The type of a context's profile; empty if the profile says none.
fn profile<'a>(context: &'a Value, name: &str) -> Option<&'a str> {
    let profile = context[name].as_object()?;
    Some(profile.get("type").and_then(Value::as_str).unwrap_or(""))
}

fn unsafe_profile<'a>(context: &'a Value, name: &str) -> Option<&'a str> {
    profile(context, name).filter(|kind| !matches!(*kind, "RuntimeDefault" | "Localhost"))
}

fn app_armor_profile(pod: &Pod<'_>) -> Option<Violation> {
    let found = pod.contexts_with(|context| unsafe_profile(context, "appArmorProfile"));
    let (contexts, types) = found.unzip();
    let annotations = pod.annotations.as_object().into_iter().flatten();
    let mut annotations: Vec<_> = annotations
        .filter(|(name, _)| name.starts_with(APP_ARMOR))
        .map(|(name, value)| (name, value.as_str().unwrap_or("")))
        .filter(|(_, value)| !matches!(*value, "" | "runtime/default") && !value.starts_with("localhost/"))
        .map(|(name, value)| format!("{name}={}", quoted(value)))
        .collect();
    annotations.sort();
    let by = match annotations.len() {
        0 => None,
        count => Some(of_many(count, "annotation", "annotations").to_owned()),
    };
    let setters: Vec<_> = contexts.into_iter().chain(by).collect();
    if setters.is_empty() {
        return None;
    }
    let types = types.into_iter().flatten();
    let values: Vec<_> = types.chain(annotations.iter().map(String::as_str)).collect();
    let reason = of_many(
        values.len(),
        "forbidden AppArmor profile",
        "forbidden AppArmor profiles",
    );
    let setters = setters.join(" and ");
    let values = quotes(values);
    violation(
        reason,
        format!("{setters} must not set AppArmor profile type to {values}"),
    )
}

/// What a container may add at the baseline.
const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

fn added_capabilities(pod: &Pod<'_>) -> Option<Violation> {
    let detail = adds_other_than(pod, &CAPABILITIES)?;
    violation("non-default capabilities", detail)
}

/// Which containers add other capabilities than these.
fn adds_other_than(pod: &Pod<'_>, allowed: &[&str]) -> Option<String> {
    let (containers, added) = pod.containers_with(|container| {
        let added = texts(&container["securityContext"]["capabilities"]["add"]);
        added.filter(|name| !allowed.contains(name)).collect()
    });
    let (who, added) = (told(&containers)?, quotes(added));
    Some(format!(
        "{who} must not include {added} in securityContext.capabilities.add"
    ))
}

fn dropped_capabilities(pod: &Pod<'_>) -> Option<Violation> {
    if pod.is_on_windows() {
        return None;
    }
    let kept = pod.containers_that(|container| {
        !texts(&container["securityContext"]["capabilities"]["drop"]).any(|name| name == "ALL")
    });
    let kept = told(&kept).map(|kept| format!("{kept} must set securityContext.capabilities.drop=[\"ALL\"]"));
    let added = adds_other_than(pod, &["NET_BIND_SERVICE"]);
    let details: Vec<_> = kept.into_iter().chain(added).collect();
    match details.is_empty() {
        true => None,
        false => violation("unrestricted capabilities", details.join("; ")),
    }
}

fn host_namespaces(pod: &Pod<'_>) -> Option<Violation> {
    let shared = ["hostNetwork", "hostPID", "hostIPC"].into_iter();
    let shared: Vec<_> = shared
        .filter(|name| pod.spec[*name] == true)
        .map(|name| format!("{name}=true"))
        .collect();
    match shared.is_empty() {
        true => None,
        false => violation("host namespaces", shared.join(", ")),
    }
}

fn host_path_volumes(pod: &Pod<'_>) -> Option<Violation> {
    let volumes = pod.volumes().filter(|volume| volume["hostPath"].is_object());
    let volumes: Vec<_> = volumes.map(name_of).collect();
    match volumes.len() {
        0 => None,
        count => {
            let what = of_many(count, "volume", "volumes");
            violation("hostPath volumes", format!("{what} {}", quotes(volumes)))
        }
    }
}

fn host_ports(pod: &Pod<'_>) -> Option<Violation> {
    let (containers, ports) = pod.containers_with(|container| {
        let ports = container["ports"].as_array().into_iter().flatten();
        let ports = ports.filter_map(|port| port["hostPort"].as_i64());
        // They are told in the order of their texts.
        ports
            .filter(|port| *port != 0)
            .map(|port| port.to_string())
            .collect()
    });
    let who = told(&containers)?;
    let uses = of_many(containers.len(), "uses", "use");
    let what = of_many(ports.len(), "hostPort", "hostPorts");
    let ports: Vec<_> = ports.into_iter().collect();
    violation("hostPort", format!("{who} {uses} {what} {}", ports.join(", ")))
}

fn hosts_of_handlers(pod: &Pod<'_>) -> Option<Violation> {
    let (mut containers, hosts) = pod.containers_with(|container| {
        let probes = ["livenessProbe", "readinessProbe", "startupProbe"].map(|name| &container[name]);
        let hooks = ["postStart", "preStop"].map(|name| &container["lifecycle"][name]);
        let handlers = probes.into_iter().chain(hooks);
        let hosts = handlers.flat_map(|handler| ["httpGet", "tcpSocket"].map(|how| &handler[how]["host"]));
        let hosts = hosts.filter_map(Value::as_str);
        hosts.filter(|host| !host.is_empty()).collect()
    });
    containers.sort_unstable();
    let who = told(&containers)?;
    let uses = of_many(containers.len(), "uses", "use");
    let what = of_many(hosts.len(), "probe or lifecycle host", "probe or lifecycle hosts");
    let hosts = quotes(hosts);
    violation("probe or lifecycle host", format!("{who} {uses} {what} {hosts}"))
}

fn privileged(pod: &Pod<'_>) -> Option<Violation> {
    let containers = pod.containers_that(|container| container["securityContext"]["privileged"] == true);
    let who = told(&containers)?;
    violation(
        "privileged",
        format!("{who} must not set securityContext.privileged=true"),
    )
}

fn proc_mount(pod: &Pod<'_>) -> Option<Violation> {
    any_proc_mount(pod).filter(|_| !pod.has_own_users())
}

fn any_proc_mount(pod: &Pod<'_>) -> Option<Violation> {
    let (containers, kinds) = pod.containers_with(|container| {
        let kind = container["securityContext"]["procMount"].as_str();
        Vec::from_iter(kind.filter(|kind| *kind != "Default"))
    });
    let (who, kinds) = (told(&containers)?, quotes(kinds));
    violation(
        "procMount",
        format!("{who} must not set securityContext.procMount to {kinds}"),
    )
}

/// What a container may be by its SELinux type, and since which version.
const SE_LINUX_TYPES: [(&str, i64); 5] = [
    ("", 0),
    ("container_t", 0),
    ("container_init_t", 0),
    ("container_kvm_t", 0),
    ("container_engine_t", 31),
];

fn se_linux_options(pod: &Pod<'_>) -> Option<Violation> {
    let given = |context: &Value, name: &str| {
        let text = context["seLinuxOptions"][name].as_str();
        text.filter(|text| !text.is_empty()).is_some()
    };
    let bad_type = |context| -> Option<&str> {
        let options: &Value = context;
        let kind = options["seLinuxOptions"]["type"].as_str()?;
        let is_known = |(name, since): &(&str, i64)| *name == kind && pod.version.is_since(*since);
        (!SE_LINUX_TYPES.iter().any(is_known)).then_some(kind)
    };
    let [has_user, has_role] =
        ["user", "role"].map(|name| pod.contexts_that(|context| given(context, name)).is_some());
    let types = pod
        .contexts_with(bad_type)
        .map(|(_, types)| types)
        .unwrap_or_default();
    let setters = pod.contexts_that(|context| {
        bad_type(context).is_some() || given(context, "user") || given(context, "role")
    })?;
    let what = of_many(types.len(), "type", "types");
    let types = (!types.is_empty()).then(|| format!("{what} {}", quotes(types)));
    let user = has_user.then(|| "user may not be set".to_owned());
    let role = has_role.then(|| "role may not be set".to_owned());
    let all: Vec<_> = types.into_iter().chain(user).chain(role).collect();
    let all = all.join("; ");
    violation(
        "seLinuxOptions",
        format!("{setters} set forbidden securityContext.seLinuxOptions: {all}"),
    )
}

/// The rule of the baseline. Before 1.19 profiles were annotations.
fn seccomp_profile(pod: &Pod<'_>) -> Option<Violation> {
    match pod.version.is_since(19) {
        true => unsafe_seccomp(pod),
        false => seccomp_annotations(pod),
    }
}

fn unsafe_seccomp(pod: &Pod<'_>) -> Option<Violation> {
    let found = pod.contexts_with(|context| unsafe_profile(context, "seccompProfile"));
    let (setters, types) = found?;
    let types = quotes(types);
    let detail = format!("{setters} must not set securityContext.seccompProfile.type to {types}");
    violation("seccompProfile", detail)
}

fn seccomp_annotations(pod: &Pod<'_>) -> Option<Violation> {
    let of_containers = pod.containers();
    let of_containers =
        of_containers.map(|container| format!("{SECCOMP_OF_CONTAINERS}{}", name_of(container)));
    let all = std::iter::once(SECCOMP.to_owned()).chain(of_containers);
    let bad: BTreeSet<_> = all
        .filter_map(|name| {
            let given = pod.annotations[&name].as_str()?;
            let is_known = matches!(given, "runtime/default" | "docker/default");
            let is_bad = !is_known && !given.starts_with("localhost/");
            is_bad.then(|| format!("{name}={}", quoted(given)))
        })
        .collect();
    let what = of_many(bad.len(), "annotation", "annotations");
    let bad: Vec<_> = bad.into_iter().collect();
    match bad.is_empty() {
        true => None,
        false => violation("seccompProfile", format!("forbidden {what} {}", bad.join(", "))),
    }
}

/// The rule of the restricted level: there is a profile.
fn set_seccomp_profile(pod: &Pod<'_>) -> Option<Violation> {
    if pod.is_on_windows() {
        return None;
    }
    if let Some(found) = unsafe_seccomp(pod) {
        return Some(found);
    }
    let has_none = |context: &Value| profile(context, "seccompProfile").is_none();
    if !has_none(&pod.spec["securityContext"]) {
        return None;
    }
    let without = pod.containers_that(|container| has_none(&container["securityContext"]));
    let who = told(&without)?;
    violation(
        "seccompProfile",
        format!(
            "pod or {who} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\""
        ),
    )
}

/// What a pod may set of the kernel, and since which version.
const SYSCTLS: [(&str, i64); 12] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
];

fn sysctls(pod: &Pod<'_>) -> Option<Violation> {
    let all = pod.spec["securityContext"]["sysctls"].as_array().into_iter();
    let is_safe = |given: &&str| {
        let is_known = |(name, since): &(&str, i64)| name == given && pod.version.is_since(*since);
        SYSCTLS.iter().any(is_known)
    };
    let bad: Vec<_> = all.flatten().map(name_of).filter(|name| !is_safe(name)).collect();
    match bad.is_empty() {
        true => None,
        false => violation("forbidden sysctls", bad.join(", ")),
    }
}

fn host_process(pod: &Pod<'_>) -> Option<Violation> {
    let who = pod.contexts_that(|context| context["windowsOptions"]["hostProcess"] == true)?;
    let detail = format!("{who} must not set securityContext.windowsOptions.hostProcess=true");
    violation("hostProcess", detail)
}

fn privilege_escalation(pod: &Pod<'_>) -> Option<Violation> {
    if pod.is_on_windows() {
        return None;
    }
    let allowed =
        pod.containers_that(|container| container["securityContext"]["allowPrivilegeEscalation"] != false);
    let who = told(&allowed)?;
    violation(
        "allowPrivilegeEscalation != false",
        format!("{who} must set securityContext.allowPrivilegeEscalation=false"),
    )
}

/// The sources of volumes that a restricted pod may have.
const VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// Other sources, of which the first that a volume has is told.
const OTHER_VOLUMES: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

fn volume_types(pod: &Pod<'_>) -> Option<Violation> {
    let is_any = |volume: &Value, sources: &[&'static str]| {
        sources.iter().copied().find(|source| volume[*source].is_object())
    };
    let bad: Vec<_> = pod
        .volumes()
        .filter(|volume| is_any(volume, &VOLUMES).is_none())
        .collect();
    let types = bad
        .iter()
        .map(|volume| is_any(volume, &OTHER_VOLUMES).unwrap_or("unknown"));
    let types: BTreeSet<_> = types.collect();
    if bad.is_empty() {
        return None;
    }
    let volumes = of_many(bad.len(), "volume", "volumes");
    let uses = of_many(bad.len(), "uses", "use");
    let what = of_many(types.len(), "restricted volume type", "restricted volume types");
    let names = quotes(bad.iter().map(|volume| name_of(volume)));
    let types = quotes(types);
    violation(
        "restricted volume types",
        format!("{volumes} {names} {uses} {what} {types}"),
    )
}

fn run_as_non_root(pod: &Pod<'_>) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    if pod.has_own_users() {
        return None;
    }
    if let Some(who) = pod.contexts_that(|context| context["runAsNonRoot"] == false) {
        return violation(
            REASON,
            format!("{who} must not set securityContext.runAsNonRoot=false"),
        );
    }
    if pod.spec["securityContext"]["runAsNonRoot"] == true {
        return None;
    }
    let unsaid = pod.containers_that(|container| container["securityContext"]["runAsNonRoot"] != true);
    let who = told(&unsaid)?;
    violation(
        REASON,
        format!("pod or {who} must set securityContext.runAsNonRoot=true"),
    )
}

fn run_as_user(pod: &Pod<'_>) -> Option<Violation> {
    if pod.has_own_users() {
        return None;
    }
    let who = pod.contexts_that(|context| context["runAsUser"] == 0)?;
    violation("runAsUser=0", format!("{who} must not set runAsUser=0"))
}
