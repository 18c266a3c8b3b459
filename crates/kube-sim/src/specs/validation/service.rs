//! Services and their endpoints.

use std::collections::HashSet;
use std::net::IpAddr;

use super::at::{At, Causes};
use super::{Object, names};
use crate::meta::metadata;
use crate::names::{dns_label_faults, label_key_faults, label_value_faults, subdomain_faults};
use crate::status::{Cause, quoted};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];

pub(super) fn service(object: &At<'_>, causes: &mut Causes) {
    topology(&object.at("metadata"), causes);
    let spec = object.at("spec");
    let kind = spec.at("type");
    let is_headless = spec.text_at("clusterIP") == "None";
    if spec.count("ports") == 0 && !is_headless && kind.text() != "ExternalName" {
        causes.push(spec.at("ports").required(""));
    }
    match kind.text() {
        "LoadBalancer" | "NodePort" if is_headless => {
            let why = format!("may not be set to 'None' for {} services", kind.text());
            causes.push(spec.at("clusterIPs[0]").invalid_as("\"None\"", &why));
        }
        "ExternalName" => external_name(&spec, causes),
        _ => {}
    }
    ports(&spec, causes);
    names::labels(&spec.at("selector"), causes);
    spec.at("sessionAffinity")
        .need_one_of(&["ClientIP", "None"], causes);
    affinity(&spec, causes);
    if kind.text() != "ExternalName" {
        addresses(&spec, causes);
    }
    for address in spec.items("externalIPs") {
        external_address(&address, causes);
    }
    kind.need_one_of(&["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"], causes);
    node_ports(&spec, causes);
    taken_twice(&spec, causes);
    source_ranges(object, &spec, causes);
    balancer(&spec, causes);
    policies(&spec, causes);
    if kind.text() != "ExternalName" && causes.is_empty() {
        allocation(&spec, causes);
    }
}

/// Where traffic goes is said by an annotation that once had another name.
fn topology(metadata: &At<'_>, causes: &mut Causes) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    let mode = metadata.entry("annotations", "service.kubernetes.io/topology-mode");
    let hints = &metadata.get("annotations")[HINTS];
    if mode.is_set() && !hints.is_null() && mode.value() != hints {
        let why = format!("must match annotations[{HINTS}] when both are specified");
        causes.push(mode.invalid(&why));
    }
}

/// A service of this type is only a name for one elsewhere.
fn external_name(spec: &At<'_>, causes: &mut Causes) {
    if spec.count("clusterIPs") > 0 || !spec.text_at("clusterIP").is_empty() {
        let why = "may not be set for ExternalName services";
        causes.push(spec.at("clusterIPs").forbidden(why));
    }
    for name in spec.those(&["ipFamilies", "ipFamilyPolicy"]) {
        causes.push(
            spec.at(name)
                .forbidden("may not be set for ExternalName services"),
        );
    }
    let name = spec.at("externalName");
    let text = name.text().strip_suffix('.').unwrap_or(name.text());
    match text {
        "" => causes.push(name.required("")),
        text => causes.extend(
            subdomain_faults(text)
                .into_iter()
                .map(|fault| name.invalid(fault)),
        ),
    }
}

fn ports(spec: &At<'_>, causes: &mut Causes) {
    let is_one = spec.count("ports") <= 1;
    let mut seen = HashSet::new();
    for port in spec.items("ports") {
        let name = port.at("name");
        match name.text() {
            "" if is_one => {}
            "" => causes.push(name.required("")),
            text => {
                name.fits(dns_label_faults, causes);
                if !seen.insert(text.to_owned()) {
                    causes.push(name.duplicate());
                }
            }
        }
        names::need_port_number(&port.at("port"), causes);
        port.at("protocol").need_one_of(&PROTOCOLS, causes);
        names::port(&port.at("targetPort"), causes);
        let protocol = port.at("appProtocol");
        if protocol.is_set() {
            let faults = label_key_faults(protocol.text());
            causes.extend(faults.iter().map(|fault| protocol.invalid(fault)));
        }
    }
}

/// Of each protocol, no two ports have the same number, on nodes or of the service.
fn taken_twice(spec: &At<'_>, causes: &mut Causes) {
    let mut taken = HashSet::new();
    for port in spec.items("ports") {
        let number = port.number_at("nodePort").filter(|number| *number != 0);
        if number.is_some() && !taken.insert((port.text_at("protocol"), number)) {
            causes.push(port.at("nodePort").duplicate());
        }
    }
    taken.clear();
    for port in spec.items("ports") {
        let number = port.number_at("port");
        if !taken.insert((port.text_at("protocol"), number)) {
            let shown = format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
                port.at("protocol").in_json(),
                number.unwrap_or(0)
            );
            causes.push(port.duplicate_shown(&shown));
        }
    }
}

fn affinity(spec: &At<'_>, causes: &mut Causes) {
    let config = spec.at("sessionAffinityConfig");
    let client = config.at("clientIP");
    let seconds = client.at("timeoutSeconds");
    let is_within = |seconds| (1..=86400).contains(&seconds);
    if spec.text_at("sessionAffinity") == "ClientIP"
        && seconds.number().is_some_and(|seconds| !is_within(seconds))
    {
        causes.push(seconds.invalid("must be greater than 0 and less than 86400"));
    }
}

/// The addresses of a service in the cluster, and their families.
fn addresses(spec: &At<'_>, causes: &mut Causes) {
    let all = spec.at("clusterIPs");
    let first = spec
        .items("clusterIPs")
        .next()
        .map_or("", |address| address.text());
    match spec.text_at("clusterIP") {
        "" if spec.count("clusterIPs") > 0 => {
            causes.push(all.invalid("must be empty when `clusterIP` is not specified"))
        }
        given if given != first && !first.is_empty() => {
            causes.push(all.invalid("first value must match `clusterIP`"));
        }
        _ => {}
    }
    let mut seen = HashSet::new();
    for family in spec.items("ipFamilies") {
        family.one_of(&FAMILIES, causes);
        if !seen.insert(family.text()) {
            causes.push(family.duplicate());
        }
    }
    spec.at("ipFamilyPolicy")
        .may_be_one_of(&["PreferDualStack", "RequireDualStack", "SingleStack"], causes);
    let before = causes.len();
    let mut families = Vec::new();
    for (n, address) in spec.items("clusterIPs").enumerate() {
        match address.text() {
            "None" if n == 0 => match spec.count("clusterIPs") {
                1 => return,
                _ => causes.push(all.invalid("'None' must be the first and only value")),
            },
            text => causes.extend(names::address_fault(text).map(|fault| address.invalid(fault))),
        }
        families.push(names::address(address.text()).map(|address| address.is_ipv4()));
    }
    let is_wrong = causes.len() > before;
    if families.len() > 2 {
        causes.push(all.invalid("may only hold up to 2 values"));
    }
    if is_wrong {
        return;
    }
    if families.len() > 1 && families.windows(2).all(|two| two[0] == two[1]) {
        causes.push(all.invalid("may specify no more than one IP for each IP family"));
    }
    for (n, (address, family)) in spec.items("clusterIPs").zip(spec.items("ipFamilies")).enumerate() {
        let is_known = matches!(family.text(), "IPv4" | "IPv6");
        let fits = |address| !is_known || family_of(address) == family.text();
        if !names::address(address.text()).is_none_or(fits) {
            let why = format!(
                "expected an {} value as indicated by `ipFamilies[{n}]`",
                family.text()
            );
            causes.push(address.invalid(&why));
        }
    }
}

fn family_of(address: IpAddr) -> &'static str {
    match address {
        IpAddr::V4(_) => "IPv4",
        IpAddr::V6(_) => "IPv6",
    }
}

/// What is right in itself, but cannot be had in a cluster that has one range of IPv4.
fn allocation(spec: &At<'_>, causes: &mut Causes) {
    let policy = spec.at("ipFamilyPolicy");
    let families: Vec<_> = spec.items("ipFamilies").collect();
    let addresses: Vec<_> = spec.items("clusterIPs").collect();
    let before = causes.len();
    for (count, what) in [(addresses.len(), "cluster IPs"), (families.len(), "IP families")] {
        if policy.text() == "SingleStack" && count == 2 {
            let why =
                format!("must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified");
            causes.push(policy.invalid(&why));
        }
    }
    let all = spec.at("clusterIPs");
    for (n, _) in addresses
        .iter()
        .enumerate()
        .skip(families.len())
        .filter(|(_, at)| at.text().contains(':'))
    {
        let named = format!("clusterIPs[{n}]");
        causes.push(
            spec.naming(&named, all.value())
                .invalid("IPv6 is not configured on this cluster"),
        );
    }
    let is_headless = spec.text_at("clusterIP") == "None";
    if causes.len() > before
        || (is_headless && spec.get("selector").as_object().is_none_or(|map| map.is_empty()))
    {
        return;
    }
    if policy.text() == "RequireDualStack" {
        causes.push(policy.invalid("this cluster is not configured for dual-stack services"));
    }
    for family in families.iter().filter(|family| family.text() == "IPv6") {
        causes.push(family.invalid("not configured on this cluster"));
    }
    let fault = names::address(spec.text_at("clusterIP")).and_then(range_fault);
    if let Some(fault) = fault.filter(|_| causes.len() == before) {
        causes.push(all.invalid(&format!(
            "failed to allocate IP {}: {fault}",
            spec.text_at("clusterIP")
        )));
    }
}

/// Why an address is not one of those that Services get.
fn range_fault(address: IpAddr) -> Option<String> {
    const FIRST: u32 = 0x0a60_0000;
    const LAST: u32 = FIRST + (1 << 20) - 1;
    match address {
        IpAddr::V4(v4) if matches!(v4.to_bits(), FIRST | LAST) => Some(format!(
            "the provided IP ({address}) is not in the valid range. The range of valid IPs is 10.96.0.0/12"
        )),
        IpAddr::V4(v4) if (FIRST..LAST).contains(&v4.to_bits()) => None,
        _ => Some("the provided network does not match the current range".to_owned()),
    }
}

fn external_address(at: &At<'_>, causes: &mut Causes) {
    match names::address_fault(at.text()) {
        Some(fault) => causes.push(at.invalid(fault)),
        None => {
            let reserved = names::address(at.text()).and_then(reserved);
            causes.extend(reserved.map(|why| at.invalid(why)));
        }
    }
}

/// Why an address cannot be that of an endpoint.
fn reserved(address: IpAddr) -> Option<&'static str> {
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    match address {
        _ if address.is_unspecified() => Some("may not be unspecified (0.0.0.0 or ::)"),
        _ if address.is_loopback() => Some("may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        _ if is_link_local => Some("may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
        _ if address.is_multicast() => {
            Some("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
        }
        _ => None,
    }
}

fn node_ports(spec: &At<'_>, causes: &mut Causes) {
    if spec.text_at("type") != "ClusterIP" {
        return;
    }
    for port in spec.items("ports") {
        let number = port.at("nodePort");
        if number.number().is_some_and(|number| number != 0) {
            causes.push(number.forbidden("may not be used when `type` is 'ClusterIP'"));
        }
    }
}

/// The annotation that had the ranges before there was a field for them.
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

fn source_ranges(object: &At<'_>, spec: &At<'_>, causes: &mut Causes) {
    let is_balanced = spec.text_at("type") == "LoadBalancer";
    let ranges = spec.get("loadBalancerSourceRanges");
    // With the name of the field in Go.
    if spec.count("loadBalancerSourceRanges") > 0 && !is_balanced {
        let why = "may only be used when `type` is 'LoadBalancer'";
        causes.push(spec.naming("LoadBalancerSourceRanges", ranges).forbidden(why));
    }
    for (n, range) in ranges.as_array().into_iter().flatten().enumerate() {
        let name = format!("LoadBalancerSourceRanges[{n}]");
        let fault = |text: &str| names::range_fault(text.trim());
        spec.naming(&name, range).fits(fault, causes);
    }
    let metadata = object.at("metadata");
    let annotation = metadata.entry("annotations", SOURCE_RANGES);
    if annotation.is_set() && spec.count("loadBalancerSourceRanges") == 0 {
        if !is_balanced {
            causes.push(annotation.forbidden("may only be used when `type` is 'LoadBalancer'"));
        }
        let ranges = annotation.text().trim();
        let parts = ranges.split(',').filter(|_| !ranges.is_empty()).map(str::trim);
        for part in parts {
            let fault = names::range_fault(part);
            causes.extend(fault.map(|fault| annotation.invalid_as(quoted(part), fault)));
        }
    }
}

/// Whether a cause is about the ranges that an annotation has.
pub(super) fn is_of_annotated_ranges(cause: &Cause) -> bool {
    cause.reason == "FieldValueInvalid"
        && cause
            .field
            .strip_suffix(']')
            .is_some_and(|field| field.ends_with(SOURCE_RANGES))
}

/// Whether the annotation that has ranges stays as it was: then they may be anything, though a field hid them.
pub(super) fn keeps_annotated_ranges(old: &Object, new: &Object) -> bool {
    let ranges = |service| {
        metadata(service)
            .get("annotations")
            .map(|all| &all[SOURCE_RANGES])
    };
    ranges(old) == ranges(new)
}

/// What only a load balancer has.
fn balancer(spec: &At<'_>, causes: &mut Causes) {
    const WHY: &str = "may only be used when `type` is 'LoadBalancer'";
    let is_balanced = spec.text_at("type") == "LoadBalancer";
    let (allocates, class) = (
        spec.at("allocateLoadBalancerNodePorts"),
        spec.at("loadBalancerClass"),
    );
    if allocates.is_set() && !is_balanced {
        causes.push(allocates.forbidden(WHY));
    }
    match class.is_set() {
        true if is_balanced => names::qualified_name(&class, causes),
        true => causes.push(class.forbidden(WHY)),
        false => {}
    }
}

fn policies(spec: &At<'_>, causes: &mut Causes) {
    let is_outside =
        matches!(spec.text_at("type"), "LoadBalancer" | "NodePort") || spec.count("externalIPs") > 0;
    let policy = spec.at("externalTrafficPolicy");
    if policy.is_set() {
        match is_outside {
            true => policy.need_one_of(&["Cluster", "Local"], causes),
            false => {
                let why = "may only be set for externally-accessible services";
                causes.push(policy.invalid_in_json(why));
            }
        }
    }
    let check = spec.at("healthCheckNodePort");
    let is_local = policy.text() == "Local" && spec.text_at("type") == "LoadBalancer";
    if check.number().is_some_and(|port| port != 0) && !is_local {
        let why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        causes.push(check.invalid(why));
    }
    let policy = spec.at("internalTrafficPolicy");
    if spec.text_at("type") != "ExternalName" {
        policy.need_one_of(&["Cluster", "Local"], causes);
    }
    let distribution = spec.at("trafficDistribution");
    if distribution.is_set() {
        distribution.text_one_of(&["PreferClose", "PreferSameZone", "PreferSameNode"], causes);
    }
}

pub(super) fn endpoint_slice(slice: &At<'_>, causes: &mut Causes) {
    const TYPES: [&str; 3] = ["FQDN", "IPv4", "IPv6"];
    const MOST: usize = 1000;
    let kind = slice.at("addressType");
    kind.need_one_of(&TYPES, causes);
    slice_ports(slice, causes);
    let count = slice.count("endpoints");
    if count > MOST {
        return causes.push(slice.at("endpoints").too_many(count, MOST));
    }
    for endpoint in slice.items("endpoints") {
        self::endpoint(kind.text(), &endpoint, causes);
    }
}

fn slice_ports(slice: &At<'_>, causes: &mut Causes) {
    const MOST: usize = 20_000;
    let count = slice.count("ports");
    if count > MOST {
        return causes.push(slice.at("ports").too_many(count, MOST));
    }
    let mut seen = HashSet::new();
    for port in slice.items("ports") {
        let name = port.at("name");
        name.fits_if_set(dns_label_faults, causes);
        if !seen.insert(port.text_at("name")) {
            causes.push(name.duplicate());
        }
        port.at("protocol").need_one_of(&PROTOCOLS, causes);
        let protocol = port.at("appProtocol");
        if protocol.is_set() {
            names::qualified_name(&protocol, causes);
        }
    }
}

/// `kind` is the type of its addresses.
fn endpoint(kind: &str, endpoint: &At<'_>, causes: &mut Causes) {
    const MOST: usize = 100;
    const MOST_LABELS: usize = 16;
    let addresses = endpoint.at("addresses");
    match endpoint.count("addresses") {
        0 => causes.push(addresses.required("must contain at least 1 address")),
        count if count > MOST => causes.push(addresses.too_many(count, MOST)),
        _ => {}
    }
    for address in endpoint.items("addresses") {
        endpoint_address(kind, endpoint, &address, causes);
    }
    let node = endpoint.at("nodeName");
    if node.is_set() {
        node.fits(subdomain_faults, causes);
    }
    let topology = endpoint.at("deprecatedTopology");
    let count = endpoint.count("deprecatedTopology");
    if count > MOST_LABELS {
        causes.push(topology.too_many(count, MOST_LABELS));
    }
    names::labels(&topology, causes);
    let host = endpoint.at("hostname");
    if host.is_set() {
        host.fits(dns_label_faults, causes);
    }
    hints(&endpoint.at("hints"), causes);
}

/// For whom an endpoint is.
fn hints(hints: &At<'_>, causes: &mut Causes) {
    const MOST: usize = 8;
    for (list, faults) in [
        ("forZones", label_value_faults as fn(&str) -> Vec<&'static str>),
        ("forNodes", subdomain_faults),
    ] {
        let count = hints.count(list);
        if count > MOST {
            return causes.push(hints.at(list).too_many(count, MOST));
        }
        let mut seen = HashSet::new();
        for hint in hints.items(list) {
            let name = hint.at("name");
            if !seen.insert(hint.text_at("name")) {
                causes.push(name.duplicate());
            }
            name.fits(faults, causes);
        }
    }
}

fn endpoint_address(kind: &str, endpoint: &At<'_>, at: &At<'_>, causes: &mut Causes) {
    if kind == "FQDN" {
        return domain(at, causes);
    }
    if !FAMILIES.contains(&kind) {
        return;
    }
    if let Some(fault) = names::address_fault(at.text()) {
        return causes.push(at.invalid(fault));
    }
    let Some(address) = names::address(at.text()) else {
        return;
    };
    let canonical = address.to_string();
    if kind == "IPv6" && canonical != at.text() {
        return causes.push(at.invalid(&format!("must be in canonical form ({canonical:?})")));
    }
    if address.is_ipv4() != (kind == "IPv4") {
        let all = endpoint.naming("addresses", at.value());
        causes.push(all.invalid(&format!("must be an {kind} address")));
    }
    causes.extend(reserved(address).map(|why| at.invalid(why)));
}

/// A name of at least two labels, which may end in a dot.
fn domain(at: &At<'_>, causes: &mut Causes) {
    let name = at.text();
    if name.is_empty() {
        return causes.push(at.required(""));
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let faults = subdomain_faults(name);
    if !faults.is_empty() {
        return causes.push(at.invalid_as(quoted(name), &faults.join(",")));
    }
    if !name.contains('.') {
        let why = "should be a domain with at least two segments separated by dots";
        return causes.push(at.invalid_as(quoted(name), why));
    }
    for label in name.split('.') {
        let faults = dns_label_faults(label);
        if !faults.is_empty() {
            return causes.push(at.invalid_as(quoted(label), &faults.join(",")));
        }
    }
}

pub(super) fn endpoints(endpoints: &At<'_>, causes: &mut Causes) {
    for subset in endpoints.items("subsets") {
        if subset.count("addresses") + subset.count("notReadyAddresses") == 0 {
            causes.push(subset.required("must specify `addresses` or `notReadyAddresses`"));
        }
        for list in ["addresses", "notReadyAddresses"] {
            for address in subset.items(list) {
                let at = address.at("ip");
                at.fits(names::address_fault, causes);
                match names::address(at.text()) {
                    None => causes.push(at.invalid("must be a valid IP address")),
                    Some(address) => causes.extend(reserved(address).map(|why| at.invalid(why))),
                }
            }
        }
        let is_one = subset.count("ports") <= 1;
        for port in subset.items("ports") {
            let name = port.at("name");
            match name.text() {
                "" if is_one => {}
                "" => causes.push(name.required("")),
                _ => name.fits(dns_label_faults, causes),
            }
            names::need_port_number(&port.at("port"), causes);
            port.at("protocol").need_one_of(&PROTOCOLS, causes);
        }
    }
}
