//! What a client is told of an object of a built-in kind that is taken, although something about it is old, or does not do what it seems
//! to do.
//!
//! Each kind has a function that reads an object through places ([`At`]) and returns what is to be said. `pod` has what is said of pods
//! and templates.

mod pod;

use std::fmt;
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::at::At;
use super::templates::template_path;
use super::validation::{address, first_of, is_written_out, range};
use crate::certificates::pair_fault;
use crate::names::dns_label_faults;
use crate::quantity::Amount;
use crate::resources::Resource;
use crate::status::quoted;
use crate::warnings::Advice;

type Object = Map<String, Value>;

/// What is written.
#[derive(Clone, Copy)]
pub(crate) enum Change<'a> {
    Create,
    Update {
        old: &'a Object,
        /// Whether another generation of the object comes of it.
        counts: bool,
    },
    /// Of the status alone.
    Status,
}

/// What is to be said of an object that is taken.
pub(crate) fn warnings(resource: &Resource, change: Change<'_>, object: &Object) -> Vec<String> {
    let mut told = Advice::default();
    if resource.custom {
        return Vec::new();
    }
    let root = At::root(object);
    let id = resource.id();
    match change {
        Change::Create => of_new(&id, &root, &mut told),
        Change::Update { old, counts } => of_changed(&id, &At::root(old), &root, counts, &mut told),
        Change::Status => of_status(&id, &root, &mut told),
    }
    if !matches!(change, Change::Status) {
        of_any(&id, &root, &mut told);
    }
    told.into_vec()
}

/// What is said of new objects only.
fn of_new(id: &str, root: &At<'_>, told: &mut Advice) {
    match id {
        "pods" => {
            of_name(root, "the Pod's hostname", told);
            pod::of_pod(root, false, told);
        }
        "deployments.apps"
        | "replicasets.apps"
        | "replicationcontrollers"
        | "jobs.batch"
        | "cronjobs.batch" => {
            of_name(root, "Pod names and hostnames", told);
        }
        "ingresses.networking.k8s.io" => {
            const CLASS: &str = "kubernetes.io/ingress.class";
            let names_one = root.at("metadata").at("annotations").has(CLASS);
            if names_one && !root.at("spec").has("ingressClassName") {
                told.push(format!(
                    "annotation {} is deprecated, please use 'spec.ingressClassName' instead",
                    quoted(CLASS)
                ));
            }
        }
        "endpointslices.discovery.k8s.io" if root.text_at("addressType") == "FQDN" => {
            told.push("spec.addressType: FQDN endpoints are deprecated".into());
        }
        "resourcequotas" => of_quota(root, told),
        "csidrivers.storage.k8s.io" => of_tokens(root, told),
        "serviceaccounts" => of_mountable_secrets(root, told),
        _ => {}
    }
    of_template(id, root, told);
    if id == "statefulsets.apps" {
        for claim in root.at("spec").items("volumeClaimTemplates") {
            of_claim(&claim, &claim.at("spec"), told);
        }
    }
}

/// What is said of what an update brings.
fn of_changed(id: &str, old: &At<'_>, root: &At<'_>, counts: bool, told: &mut Advice) {
    match id {
        "csidrivers.storage.k8s.io" => {
            let requests = |driver: &At<'_>| driver.at("spec").get("tokenRequests").clone();
            if requests(old) != requests(root) {
                of_tokens(root, told);
            }
        }
        "serviceaccounts" if !old.at("metadata").at("annotations").has(MOUNTABLE_SECRETS) => {
            of_mountable_secrets(root, told);
        }
        "cronjobs.batch" if root.at("spec").text_at("schedule").contains("TZ") => {
            told.push(
                "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
                 https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
                    .into(),
            );
        }
        _ => {}
    }
    let template = |set: &At<'_>| set.at("spec").get("template").clone();
    // Those are counted by their templates.
    if counts && (id != "daemonsets.apps" || template(old) != template(root)) {
        // A real server takes the one for the other.
        let is_swapped = id == "replicationcontrollers";
        of_template(id, if is_swapped { old } else { root }, told);
    }
    if id == "statefulsets.apps" {
        for claim in root.at("spec").items("volumeClaimTemplates") {
            // A real server names them so.
            of_claim(&claim.at("Spec"), &claim.at("spec"), told);
        }
    }
}

fn of_status(id: &str, root: &At<'_>, told: &mut Advice) {
    match id {
        "pods" => {
            let status = root.at("status");
            for list in ["podIPs", "hostIPs"] {
                status
                    .items(list)
                    .for_each(|item| of_address(&item.at("ip"), told));
            }
        }
        "services" | "ingresses.networking.k8s.io" => of_balancer(root, told),
        _ => {}
    }
}

/// What is said whenever an object is written.
fn of_any(id: &str, root: &At<'_>, told: &mut Advice) {
    match id {
        "services" => of_service(root, told),
        "endpoints" => of_endpoints(root, told),
        "endpointslices.discovery.k8s.io" => {
            let controllers = [
                "endpointslice-controller.k8s.io",
                "endpointslicemirroring-controller.k8s.io",
            ];
            if !is_managed_by(root, "endpointslice.kubernetes.io/managed-by", &controllers) {
                for endpoint in root.items("endpoints") {
                    endpoint
                        .items("addresses")
                        .for_each(|address| of_address(&address, told));
                }
            }
        }
        "networkpolicies.networking.k8s.io" => {
            let spec = root.at("spec");
            for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
                for rule in spec.items(rules) {
                    for peer in rule.items(peers).filter(|peer| peer.has("ipBlock")) {
                        let block = peer.at("ipBlock");
                        of_range(&block.at("cidr"), told);
                        block.items("except").for_each(|range| of_range(&range, told));
                    }
                }
            }
        }
        "persistentvolumes" => of_volume(root, told),
        "persistentvolumeclaims" => {
            let class = root.at("metadata");
            let class = class.entry("annotations", CLASS_OF_STORAGE);
            if class.is_set() {
                told.push(format!(
                    "{class}: deprecated since v1.8; use \"storageClassName\" attribute instead"
                ));
            }
            let spec = root.at("spec");
            of_claim(&spec, &spec, told);
        }
        "statefulsets.apps"
            if root
                .at("spec")
                .number_at("revisionHistoryLimit")
                .is_some_and(|limit| limit < 0) =>
        {
            told.push(
                "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
                    .into(),
            );
        }
        "nodes" => {
            let spec = root.at("spec");
            if spec.has("configSource") {
                told.push("spec.configSource: the feature is removed".into());
            }
            if !spec.text_at("externalID").is_empty() {
                told.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".into());
            }
            spec.items("podCIDRs").for_each(|range| of_range(&range, told));
        }
        "runtimeclasses.node.k8s.io" => {
            let scheduling = root.at("scheduling");
            for (name, _) in scheduling.entries("nodeSelector") {
                if let Some(why) = old_label(name) {
                    told.push(format!("scheduling.nodeSelector: {why}"));
                }
            }
        }
        "storageclasses.storage.k8s.io" => {
            for topology in root.items("allowedTopologies") {
                for expression in topology.items("matchLabelExpressions") {
                    let key = expression.at("key");
                    if let Some(why) = old_label(key.text()) {
                        told.push(format!("{key}: {why}"));
                    }
                }
            }
        }
        "csistoragecapacities.storage.k8s.io" => {
            let topology = root.at("nodeTopology");
            of_expressions(&topology, told);
            let labels = topology.at("matchLabels");
            for name in topology.entries("matchLabels").map(|(name, _)| name) {
                if let Some(why) = old_label(name) {
                    told.push(format!("{}: {why}", labels.at(name)));
                }
            }
        }
        "resourceslices.resource.k8s.io" => {
            let spec = root.at("spec");
            let driver = spec.text_at("driver");
            if driver != driver.to_lowercase() {
                told.push(format!(
                    "spec.driver: driver names should be lowercase; {} contains uppercase characters",
                    quoted(driver)
                ));
            }
        }
        "secrets" => of_certificate(root, told),
        id if id.ends_with(".admissionregistration.k8s.io") => {
            const SUFFIX: &str = ".static.k8s.io";
            if root.at("metadata").text_at("name").ends_with(SUFFIX) {
                told.push(format!(
                    "metadata.name: names ending with {} are reserved for static manifest-based configurations and cannot be \
                     managed via the API",
                    quoted(SUFFIX)
                ));
            }
        }
        _ => {}
    }
}

const CLASS_OF_STORAGE: &str = "volume.beta.kubernetes.io/storage-class";

const MOUNTABLE_SECRETS: &str = "kubernetes.io/enforce-mountable-secrets";

/// Labels of nodes that were renamed or are gone.
fn old_label(name: &str) -> Option<&'static str> {
    Some(match name {
        "beta.kubernetes.io/arch" => "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
        "beta.kubernetes.io/os" => "deprecated since v1.14; use \"kubernetes.io/os\" instead",
        "failure-domain.beta.kubernetes.io/region" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"
        }
        "failure-domain.beta.kubernetes.io/zone" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"
        }
        "beta.kubernetes.io/instance-type" => {
            "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"
        }
        "app.kubernetes.io/created-by" => "deprecated since v1.9",
        "scheduler.alpha.kubernetes.io/preferAvoidPods" => {
            "deprecated since v1.22; use Taints and Tolerations instead"
        }
        "node-role.kubernetes.io/master" => "use \"node-role.kubernetes.io/control-plane\" instead",
        _ => return None,
    })
}

/// What is said of a name that is no DNS label, from which others are made.
fn of_name(root: &At<'_>, what: &str, told: &mut Advice) {
    let faults = dns_label_faults(root.at("metadata").text_at("name"));
    if !faults.is_empty() {
        told.push(format!(
            "metadata.name: this is used in {what}, which can result in surprising behavior; a DNS label is recommended: [{}]",
            faults.join(" ")
        ));
    }
}

/// What is said of the template of pods in an object.
fn of_template(id: &str, root: &At<'_>, told: &mut Advice) {
    let Some((member, holder)) = template_path(id).split_last() else {
        return;
    };
    root.along(holder, &mut |holder| {
        if matches!(id, "jobs.batch" | "cronjobs.batch") {
            of_job(holder, told);
        }
        pod::of_pod(&holder.at(member), true, told);
    });
}

fn of_job(spec: &At<'_>, told: &mut Advice) {
    let is_more = |name: &str, most: i64| spec.number_at(name).is_some_and(|number| number > most);
    let is_indexed = spec.text_at("completionMode") == "Indexed";
    if is_indexed && is_more("completions", 100_000) && is_more("parallelism", 10_000) {
        told.push(format!(
            "{spec}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes \
             might not be able to track completedIndexes when a big number of indexes fail"
        ));
    }
}

/// An address that is not written as it should be.
fn of_address(at: &At<'_>, told: &mut Advice) {
    of_address_at(at, at.text(), told);
}

fn of_address_at(path: &At<'_>, text: &str, told: &mut Advice) {
    let Some(address) = address(text) else { return };
    let canonical = address.to_canonical();
    let quoted = quoted(text);
    if text.parse::<IpAddr>().is_err() || address.is_ipv6() && canonical.is_ipv4() {
        told.push(format!(
            "{path}: non-standard IP address {quoted} is invalid: use \"{canonical}\""
        ));
    } else if address.is_ipv6() && address.to_string() != text {
        told.push(format!(
            "{path}: IPv6 address {quoted} should be in RFC 5952 canonical format (\"{address}\")"
        ));
    }
}

/// A range of addresses that is not written as it should be.
fn of_range(at: &At<'_>, told: &mut Advice) {
    let text = at.text();
    let Some((address, bits)) = range(text) else {
        return;
    };
    let is_mapped = address.is_ipv6() && address.to_canonical().is_ipv4();
    // Go counts the bits of what is mapped into IPv6 as those of IPv6, and shows it as IPv4.
    let first = first_of(address, bits);
    let shown_bits = match is_mapped && bits >= 96 {
        true => bits - 96,
        false => bits,
    };
    let range = format!("{}/{shown_bits}", first.to_canonical());
    let quoted = quoted(text);
    let is_ambiguous = first != address;
    if is_ambiguous {
        let most = if address.is_ipv4() { 32 } else { 128 };
        told.push(format!(
            "{at}: CIDR value {quoted} is ambiguous in this context (should be \"{range}\" or \"{}/{most}\"?)",
            address.to_canonical()
        ));
    }
    let is_odd = !is_written_out(text) || is_mapped;
    if is_odd {
        told.push(format!(
            "{at}: non-standard CIDR value {quoted} is invalid: use \"{range}\""
        ));
    }
    if !is_ambiguous && !is_odd && address.is_ipv6() && format!("{address}/{bits}") != text {
        told.push(format!(
            "{at}: IPv6 CIDR value {quoted} should be in RFC 5952 canonical format (\"{address}/{bits}\")"
        ));
    }
}

fn of_balancer(root: &At<'_>, told: &mut Advice) {
    for point in root.at("status").at("loadBalancer").items("ingress") {
        of_address_at(&point, point.text_at("ip"), told);
    }
}

fn of_service(root: &At<'_>, told: &mut Advice) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    if root.at("metadata").at("annotations").has(HINTS) {
        told.push(format!(
            "annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
        ));
    }
    let spec = root.at("spec");
    let (kind, address) = (spec.text_at("type"), spec.text_at("clusterIP"));
    if !matches!(address, "" | "None") {
        spec.items("clusterIPs")
            .for_each(|address| of_address(&address, told));
    }
    let is_headless = kind == "ClusterIP" && address == "None";
    let has_external = spec.count("externalIPs") > 0;
    if is_headless {
        let ignored = [
            (!spec.text_at("loadBalancerIP").is_empty(), "loadBalancerIP"),
            (has_external, "externalIPs"),
            (spec.text_at("sessionAffinity") != "None", "SessionAffinity"),
        ];
        for (_, name) in ignored.into_iter().filter(|(is_set, _)| *is_set) {
            told.push(format!("spec.{name} is ignored for headless services"));
        }
    }
    spec.items("externalIPs")
        .for_each(|address| of_address(&address, told));
    let is_alias = kind == "ExternalName";
    if has_external && !is_headless && !is_alias {
        told.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters".into());
    }
    of_address(&spec.at("loadBalancerIP"), told);
    spec.items("loadBalancerSourceRanges")
        .for_each(|range| of_range(&range, told));
    if is_alias && has_external {
        told.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".into());
    }
    if !is_alias && !spec.text_at("externalName").is_empty() {
        told.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".into());
    }
    if spec.text_at("trafficDistribution") == "PreferClose" {
        told.push("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"".into());
    }
}

/// Whether a label says that one of these controllers has made the object, which writes addresses as they should be.
fn is_managed_by(root: &At<'_>, label: &str, controllers: &[&str]) -> bool {
    let labels = root.at("metadata").get("labels");
    labels[label].as_str().is_some_and(|by| controllers.contains(&by))
}

fn of_endpoints(root: &At<'_>, told: &mut Advice) {
    if is_managed_by(
        root,
        "endpoints.kubernetes.io/managed-by",
        &["endpoint-controller"],
    ) {
        return;
    }
    for subset in root.items("subsets") {
        for list in ["addresses", "notReadyAddresses"] {
            subset
                .items(list)
                .for_each(|item| of_address(&item.at("ip"), told));
        }
    }
}

/// Sources of volumes that are gone, and what is said of them.
const OLD_VOLUMES: [(&str, &str); 9] = [
    (
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    (
        "gitRepo",
        "deprecated in v1.11, and disabled by default in v1.33+",
    ),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// A source of a volume that is gone.
fn of_source(volume: &At<'_>, source: &str, told: &mut Advice) {
    let old = OLD_VOLUMES.iter().find(|(name, _)| *name == source);
    if let (Some((_, why)), true) = (old, volume.has(source)) {
        // Go's name of it.
        let source = if source == "storageos" {
            "storageOS"
        } else {
            source
        };
        told.push(format!("{}: {why}", volume.at(source)));
    }
}

fn of_volume(root: &At<'_>, told: &mut Advice) {
    let metadata = root.at("metadata");
    for (name, why) in [
        (
            CLASS_OF_STORAGE,
            "deprecated since v1.8; use \"storageClassName\" attribute instead",
        ),
        (
            "volume.beta.kubernetes.io/mount-options",
            "deprecated since v1.31; use \"mountOptions\" attribute instead",
        ),
    ] {
        let annotation = metadata.entry("annotations", name);
        if annotation.is_set() {
            told.push(format!("{annotation}: {why}"));
        }
    }
    let spec = root.at("spec");
    if spec.text_at("persistentVolumeReclaimPolicy") == "Recycle" {
        told.push(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is \
             to use dynamic provisioning."
                .into(),
        );
    }
    let affinity = spec.at("nodeAffinity");
    for term in affinity.at("required").items("nodeSelectorTerms") {
        of_expressions(&term, told);
    }
    for source in [
        "cephfs",
        "photonPersistentDisk",
        "scaleIO",
        "storageos",
        "glusterfs",
        "rbd",
    ] {
        of_source(&spec, source, told);
    }
}

/// Old labels of nodes in what selects nodes.
fn of_expressions(selector: &At<'_>, told: &mut Advice) {
    for expression in selector.items("matchExpressions") {
        let key = expression.at("key");
        if let Some(why) = old_label(key.text()) {
            told.push(format!("{key}: {} is {why}", key.text()));
        }
    }
}

fn of_claim(path: &dyn fmt::Display, spec: &At<'_>, told: &mut Advice) {
    for list in ["requests", "limits"] {
        let storage = &spec.at("resources").get(list)["storage"];
        of_bytes(&format_args!("{path}.resources.{list}[storage]"), storage, told);
    }
}

/// A number of bytes that is not whole.
fn of_bytes(path: &dyn fmt::Display, value: &Value, told: &mut Advice) {
    let amount = Amount::read(value).filter(|_| !value.is_null());
    // In thousandths it is a number of 64 bits, or none.
    let is_fraction = |amount: &Amount| {
        let thousandths = i64::try_from(amount.quantity().in_parts(1000));
        thousandths.is_ok_and(|thousandths| thousandths % 1000 != 0)
    };
    if let Some(amount) = amount.filter(is_fraction) {
        told.push(format!(
            "{path}: fractional byte value \"{amount}\" is invalid, must be an integer"
        ));
    }
}

/// What may be asked for that is more than what may be used.
fn of_quota(root: &At<'_>, told: &mut Advice) {
    let hard = root.at("spec");
    let hard = Amount::read_all(hard.get("hard"));
    for resource in ["cpu", "memory", "storage", "ephemeral-storage"] {
        let bare = matches!(resource, "cpu" | "memory").then(|| resource.to_owned());
        let names = std::iter::once(format!("requests.{resource}")).chain(bare);
        let request = names.filter_map(|name| Some((hard.get(&name)?, name))).next();
        let limit = format!("limits.{resource}");
        if let (Some((request, name)), Some(most)) = (request, hard.get(&limit))
            && request.quantity() > most.quantity()
        {
            told.push(format!(
                "ResourceQuota {name} ({request}) should be less than {limit} ({most})"
            ));
        }
    }
}

fn of_tokens(root: &At<'_>, told: &mut Advice) {
    let spec = root.at("spec");
    if spec.count("tokenRequests") > 0 && !spec.has("serviceAccountTokenInSecrets") {
        told.push(
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible \
             logging of tokens in volume attributes"
                .into(),
        );
    }
}

fn of_mountable_secrets(root: &At<'_>, told: &mut Advice) {
    let metadata = root.at("metadata");
    let annotation = metadata.entry("annotations", MOUNTABLE_SECRETS);
    if annotation.is_set() {
        told.push(format!(
            "{annotation}: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        ));
    }
}

/// A certificate or a key that is none, or is not for the other.
fn of_certificate(root: &At<'_>, told: &mut Advice) {
    if root.text_at("type") == "kubernetes.io/tls" {
        let data = root.at("data");
        let [certificate, key] = ["tls.crt", "tls.key"].map(|name| {
            let decoded = STANDARD.decode(data.text_at(name));
            decoded.unwrap_or_default()
        });
        pair_fault(&certificate, &key)
            .into_iter()
            .for_each(|fault| told.push(fault));
    }
}
