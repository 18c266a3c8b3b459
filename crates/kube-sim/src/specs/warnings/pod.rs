//! What is said of pods and their templates.

use std::collections::{HashMap, HashSet};

use super::{of_address, of_bytes, of_claim, of_expressions, of_source, old_label};
use crate::names::label_value_faults;
use crate::specs::annotations::{SECCOMP, SECCOMP_OF_CONTAINERS};
use crate::specs::app_armor;
use crate::specs::at::At;
use crate::status::quoted;
use crate::warnings::{Advice, MOST};

/// The most comparisons of ports: nobody reads more of them.
const MOST_COMPARED: usize = 1 << 20;

/// What is said of a pod, or of a template of pods.
pub(super) fn of_pod(pod: &At<'_>, is_template: bool, told: &mut Advice) {
    let spec = &pod.at("spec");
    of_nodes(spec, told);
    let metadata = pod.at("metadata");
    for (name, why) in OLD_ANNOTATIONS {
        let annotation = metadata.entry("annotations", name);
        if annotation.is_set() {
            told.push(format!("{annotation}: {why}"));
        }
    }
    of_volumes(spec, told);
    of_repeated(spec, "hostAliases", "ip", told);
    of_repeated(spec, "imagePullSecrets", "name", told);
    for secret in spec.items("imagePullSecrets") {
        if secret.text_at("name").is_empty() {
            told.push(format!("{}: invalid empty name \"\"", secret.at("name")));
        }
    }
    for resource in ["memory", "ephemeral-storage"] {
        let overhead = spec.entry("overhead", resource);
        of_bytes(&overhead, overhead.value(), told);
    }
    of_seccomp(&metadata, &spec.at("securityContext"), SECCOMP, told);
    for container in containers(spec) {
        let name = container.text_at("name");
        let context = container.at("securityContext");
        of_seccomp(
            &metadata,
            &context,
            &format!("{SECCOMP_OF_CONTAINERS}{name}"),
            told,
        );
        if is_template && !context.has("appArmorProfile") {
            of_app_armor(&metadata, &spec.at("securityContext"), name, told);
        }
        of_resources(&container, told);
        of_variables(&container, told);
    }
    of_ports(spec, told);
    of_port_names(spec, told);
    if spec
        .number_at("terminationGracePeriodSeconds")
        .is_some_and(|seconds| seconds < 0)
    {
        told.push(format!(
            "{}: must be >= 0; negative values are invalid and will be treated as 1",
            spec.at("terminationGracePeriodSeconds")
        ));
    }
    of_pod_affinities(&spec.at("affinity"), told);
    for server in spec.at("dnsConfig").items("nameservers") {
        of_address(&server, told);
    }
    for alias in spec.items("hostAliases") {
        of_address(&alias.at("ip"), told);
    }
}

const OLD_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

/// All containers, in the order in which they are looked at.
fn containers<'b>(spec: &'b At<'b>) -> impl Iterator<Item = At<'b>> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    lists.into_iter().flat_map(|list| spec.items(list))
}

/// What chooses nodes by labels that are old, or chooses nothing.
fn of_nodes(spec: &At<'_>, told: &mut Advice) {
    for (name, entry) in spec.entries("nodeSelector") {
        if let Some(why) = old_label(name) {
            told.push(format!("{entry}: {why}"));
        }
    }
    let affinity = spec.at("affinity");
    let affinity = affinity.at("nodeAffinity");
    let required = affinity.at("requiredDuringSchedulingIgnoredDuringExecution");
    for term in required.items("nodeSelectorTerms") {
        of_expressions(&term, told);
    }
    for preferred in affinity.items("preferredDuringSchedulingIgnoredDuringExecution") {
        let term = preferred.at("preference");
        for expression in term.items("matchExpressions") {
            let key = expression.at("key");
            if let Some(why) = old_label(key.text()) {
                told.push(format!("{key}: {} is {why}", key.text()));
            }
            for value in expression.items("values") {
                for fault in label_value_faults(value.text()) {
                    told.push(format!("{value}: {} is invalid, {fault}", value.text()));
                }
            }
        }
    }
    for spread in spec.items("topologySpreadConstraints") {
        let key = spread.at("topologyKey");
        if let Some(why) = old_label(key.text()) {
            told.push(format!("{key}: {} is {why}", key.text()));
        }
        of_no_selector(&spread, told);
    }
}

/// A selector that is not there selects nothing.
fn of_no_selector(term: &At<'_>, told: &mut Advice) {
    let selector = term.at("labelSelector");
    if !selector.is_set() {
        told.push(format!(
            "{selector}: a null labelSelector results in matching no pod"
        ));
    }
}

fn of_pod_affinities(affinity: &At<'_>, told: &mut Advice) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let affinity = affinity.at(kind);
        for term in affinity.items("requiredDuringSchedulingIgnoredDuringExecution") {
            of_no_selector(&term, told);
        }
        for term in affinity.items("preferredDuringSchedulingIgnoredDuringExecution") {
            of_no_selector(&term.at("podAffinityTerm"), told);
        }
    }
}

/// Items of a list that have the same text.
fn of_repeated(spec: &At<'_>, list: &str, name: &str, told: &mut Advice) {
    let mut seen = HashSet::new();
    for item in spec.items(list) {
        let text = item.text_at(name);
        if !seen.insert(text) {
            told.push(format!("{}: duplicate {name} {}", item.at(name), quoted(text)));
        }
    }
}

/// An annotation instead of a field.
fn of_seccomp(metadata: &At<'_>, context: &At<'_>, annotation: &str, told: &mut Advice) {
    let annotation = metadata.entry("annotations", annotation);
    if annotation.is_set() && !context.has("seccompProfile") {
        told.push(format!(
            "{annotation}: non-functional in v1.27+; use the \"seccompProfile\" field instead"
        ));
    }
}

/// An annotation instead of a field, unless the pod has the same profile.
fn of_app_armor(metadata: &At<'_>, of_pod: &At<'_>, container: &str, told: &mut Advice) {
    let name = app_armor::annotation(container);
    let annotation = metadata.entry("annotations", &name);
    if !annotation.is_set() {
        return;
    }
    let profile = of_pod.get("appArmorProfile");
    if profile.is_null() || Some(profile) != app_armor::profile(annotation.text()).as_ref() {
        told.push(app_armor::warning(annotation));
    }
}

/// Volumes that nothing mounts any more, and files that take the place of one another.
fn of_volumes(spec: &At<'_>, told: &mut Advice) {
    for volume in spec.items("volumes") {
        for source in [
            "photonPersistentDisk",
            "gitRepo",
            "scaleIO",
            "flocker",
            "storageos",
            "quobyte",
            "glusterfs",
        ] {
            of_source(&volume, source, told);
        }
        let claim = volume.at("ephemeral");
        let claim = claim.at("volumeClaimTemplate");
        let claim = claim.at("spec");
        of_claim(&claim, &claim, told);
        for source in ["cephfs", "rbd"] {
            of_source(&volume, source, told);
        }
    }
    for volume in spec.items("volumes") {
        if told.is_full() {
            return;
        }
        let name = quoted(volume.text_at("name"));
        for (source, what) in [
            ("configMap", Some(("ConfigMap", "name"))),
            ("secret", Some(("Secret", "secretName"))),
            ("downwardAPI", None),
        ] {
            let volume = volume.at(source);
            let what = match what {
                Some((kind, named)) => format!("{kind} {}", quoted(volume.text_at(named))),
                None => "DownwardAPI".to_owned(),
            };
            let files = volume
                .items("items")
                .map(|item| File::new(item.text_at("path"), ""));
            of_files(&name, &what, &files.collect::<Vec<_>>(), told);
        }
        of_projected(&name, &volume.at("projected"), told);
    }
}

/// A file of a volume, and where it comes from.
struct File {
    path: String,
    source: String,
}

impl File {
    fn new(path: &str, source: impl Into<String>) -> Self {
        Self {
            path: path.trim_end_matches('/').to_owned(),
            source: source.into(),
        }
    }

    fn shown(&self) -> String {
        let path = quoted(&self.path);
        match &self.source[..] {
            "" => path,
            source => format!("{path} ({source})"),
        }
    }

    /// The bytes by which what is in a directory follows it.
    fn bytes(&self) -> impl Iterator<Item = u8> {
        self.path.bytes().chain([b'/'])
    }

    /// Whether it is another file, or is in it as in a directory.
    fn is_within(&self, other: &Self) -> bool {
        let rest = self.path.strip_prefix(&other.path[..]);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

fn of_projected(name: &str, volume: &At<'_>, told: &mut Advice) {
    let mut files = Vec::new();
    for source in volume.items("sources") {
        if source
            .value()
            .as_object()
            .is_none_or(|sources| sources.is_empty())
        {
            told.push(format!("volume {name} (Projected) has no sources provided"));
        }
        for (member, kind) in [("configMap", "ConfigMap"), ("secret", "Secret")] {
            let source = source.at(member);
            let from = format!("{kind} {}", quoted(source.text_at("name")));
            let paths = source
                .items("items")
                .map(|item| File::new(item.text_at("path"), &from[..]));
            files.extend(paths);
        }
        let paths = source.at("downwardAPI");
        files.extend(
            paths
                .items("items")
                .map(|item| File::new(item.text_at("path"), "DownwardAPI")),
        );
        let token = source.at("serviceAccountToken");
        if token.is_set() {
            files.push(File::new(token.text_at("path"), "ServiceAccountToken"));
        }
        let bundle = source.at("clusterTrustBundle");
        if bundle.is_set() {
            let by = ["name", "signerName"]
                .into_iter()
                .find(|member| bundle.has(member));
            let by = quoted(by.map_or("", |member| bundle.text_at(member)));
            files.push(File::new(
                bundle.text_at("path"),
                format!("ClusterTrustBundle {by}"),
            ));
        }
        let certificate = source.at("podCertificate");
        for (member, what) in [
            ("certificateChainPath", "chain"),
            ("keyPath", "key"),
            ("credentialBundlePath", "credential bundle"),
        ] {
            if certificate.has(member) {
                files.push(File::new(
                    certificate.text_at(member),
                    format!("PodCertificate {what}"),
                ));
            }
        }
    }
    of_files(name, "Projected", &files, told);
}

/// Files of which one is another, or is in it.
fn of_files(volume: &str, what: &str, files: &[File], told: &mut Advice) {
    let mut order: Vec<_> = (0..files.len()).filter(|n| !files[*n].path.is_empty()).collect();
    order.sort_by(|a, b| files[*a].bytes().cmp(files[*b].bytes()));
    // Those that the next one may be in, each in the one before.
    let mut above: Vec<usize> = Vec::new();
    let mut pairs = Vec::new();
    for n in order {
        while above
            .last()
            .is_some_and(|last| !files[n].is_within(&files[*last]))
        {
            above.pop();
        }
        let room = MOST - pairs.len();
        pairs.extend(
            above
                .iter()
                .take(room)
                .map(|other| (n.max(*other), n.min(*other))),
        );
        above.push(n);
    }
    pairs.sort_unstable();
    for (one, other) in pairs {
        if told.is_full() {
            return;
        }
        let (one, other) = (files[one].shown(), files[other].shown());
        told.push(format!(
            "volume {volume} ({what}): overlapping paths: {one} with {other}"
        ));
    }
}

/// Bytes that are not whole.
fn of_resources(container: &At<'_>, told: &mut Advice) {
    let resources = container.at("resources");
    for resource in ["memory", "ephemeral-storage"] {
        for list in ["limits", "requests"] {
            let given = resources.entry(list, resource);
            of_bytes(&given, given.value(), told);
        }
    }
}

/// Variables that hide others of the same name.
fn of_variables(container: &At<'_>, told: &mut Advice) {
    let mut seen = HashSet::new();
    for variable in container.items("env") {
        let (name, value) = (variable.text_at("name"), variable.text_at("value"));
        if seen.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        if variable.has("valueFrom") || value == reference || !value.contains(&reference) {
            told.push(format!(
                "{variable}: hides previous definition of {}, which may be dropped when using apply",
                quoted(name)
            ));
        }
    }
}

/// A port of a container.
struct Port {
    path: String,
    address: String,
    on_host: i64,
}

/// Ports that are the same as others, or in their way.
fn of_ports(spec: &At<'_>, told: &mut Advice) {
    let containers: Vec<_> = containers(spec).collect();
    let mut seen: HashMap<(i64, &str), Vec<Port>> = HashMap::new();
    let mut compared = 0;
    for container in &containers {
        for given in container.items("ports") {
            let number = |name: &str| given.number_at(name).unwrap_or(0);
            let port = Port {
                path: given.path(),
                address: given.text_at("hostIP").to_owned(),
                on_host: number("hostPort"),
            };
            let (inside, protocol) = (number("containerPort"), given.text_at("protocol"));
            if !port.address.is_empty() && port.on_host == 0 {
                told.push(format!(
                    "{given}: hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{inside} Protocol:{protocol} \
                     HostIP:{}}}",
                    given.text_at("name"),
                    port.address
                ));
            }
            let others = seen.entry((inside, protocol)).or_default();
            for other in others.iter().take(MOST_COMPARED - compared) {
                compared += 1;
                let is_same_port = port.on_host == other.on_host;
                let what = if is_same_port && port.address == other.address {
                    "duplicate"
                } else if port.on_host == 0 || other.on_host == 0 {
                    "overlapping"
                } else if is_same_port && port.address.is_empty() != other.address.is_empty() {
                    "dangerously ambiguous"
                } else {
                    continue;
                };
                if !told.is_full() {
                    told.push(format!("{given}: {what} port definition with {}", other.path));
                }
            }
            others.push(port);
        }
    }
}

fn of_port_names(spec: &At<'_>, told: &mut Advice) {
    let containers: Vec<_> = containers(spec).collect();
    let mut seen: HashMap<&str, String> = HashMap::new();
    for container in &containers {
        for port in container.items("ports") {
            let name = port.text_at("name");
            if name.is_empty() {
                continue;
            }
            match seen.get(name) {
                Some(other) => told.push(format!(
                    "{port}: duplicate port name {} with {other}, services and probes that select ports by name will use {other}",
                    quoted(name)
                )),
                None => {
                    seen.insert(name, port.path());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn told(spec: Value) -> Vec<String> {
        let Value::Object(pod) = json!({"spec": spec}) else {
            panic!("an object")
        };
        let mut told = Advice::default();
        of_pod(&At::root(&pod), false, &mut told);
        told.into_vec()
    }

    fn overlaps(paths: impl IntoIterator<Item = String>) -> Vec<String> {
        let items = paths
            .into_iter()
            .map(|path| json!({"key": "k", "path": path}))
            .collect::<Vec<_>>();
        told(json!({"volumes": [{"name": "v", "configMap": {"name": "m", "items": items}}]}))
    }

    // Each compared with each other, these would take minutes.
    #[test]
    fn very_many_ports_and_files_are_looked_through() {
        let ports: Vec<_> = (1..60_000)
            .map(|n| json!({"containerPort": 1, "hostPort": n, "protocol": "TCP"}))
            .collect();
        assert!(told(json!({"containers": [{"name": "c", "ports": ports}]})).is_empty());
        let same = vec![json!({"containerPort": 1}); 60_000];
        let told = told(json!({"containers": [{"name": "c", "ports": same}]}));
        assert_eq!(told.len(), MOST);
        assert!(overlaps((0..60_000).map(|n| format!("d/{n}"))).is_empty());
        assert_eq!(overlaps(vec!["a".to_owned(); 60_000]).len(), 1);
        let deep = (0..1000).map(|n| "a/".repeat(n));
        assert_eq!(overlaps(deep).len(), MOST);
    }

    #[test]
    fn files_in_one_another_are_told_in_their_order() {
        let told = overlaps(["a/b", "a.b", "a", "ab", "", "a/b/"].map(str::to_owned));
        let told: Vec<_> = told
            .iter()
            .map(|text| text.rsplit(": ").next().unwrap_or(""))
            .collect();
        assert_eq!(
            told,
            [r#""a" with "a/b""#, r#""a/b" with "a/b""#, r#""a/b" with "a""#]
        );
    }
}
