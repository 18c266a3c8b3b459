//! The addresses and ports of Services.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{Object, invalid};
use crate::object::Stored;
use crate::resources::Resource;
use crate::status::{Cause, StatusError};
use crate::storage::Transaction;

/// Where the addresses of Services come from: 10.96.0.0/12, of which the first ones are left to the cluster.
const FIRST_ADDRESS: u32 = 0x0a60_0100;
const ADDRESSES: u32 = 1 << 20;

const NODE_PORTS: std::ops::Range<u64> = 30_000..32_768;

/// Gives a Service what it leaves to the server: what it had before, or what no other has.
pub(super) fn allocate(
    transaction: &mut Transaction<'_>,
    resource: &Resource,
    name: &str,
    old: Option<&Object>,
    new: &mut Object,
    random: &mut fastrand::Rng,
) -> Result<(), StatusError> {
    let nothing = Map::new();
    let before = old
        .and_then(|old| old.get("spec"))
        .and_then(Value::as_object)
        .unwrap_or(&nothing);
    let Some(Value::Object(spec)) = new.get_mut("spec") else {
        return Ok(());
    };
    let kind = |spec: &Map<String, Value>| spec.get("type").and_then(Value::as_str).unwrap_or("").to_owned();
    let had_address = !matches!(kind(before).as_str(), "" | "ExternalName");
    drop_dependent(before, spec);
    const ALLOCATED: [&str; 4] = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
    if kind(spec) == "ExternalName" {
        // What the server chose goes with what it was chosen for.
        spec.retain(|field, value| !ALLOCATED.contains(&field.as_str()) || before.get(field) != Some(value));
        return Ok(());
    }
    for field in ALLOCATED {
        let is_unset = spec
            .get(field)
            .is_none_or(|value| value.is_null() || *value == "" || *value == json!([]));
        if let Some(value) = before.get(field).filter(|_| had_address && is_unset) {
            spec.insert(field.into(), value.clone());
        }
    }
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
    let (given, had) = (text(spec.get("clusterIP")), text(before.get("clusterIP")));
    if had_address && !had.is_empty() && given != had {
        let shown = format!("[\"{given}\"]");
        let cause = Cause::invalid("spec.clusterIPs[0]", shown, "may not change once set");
        return Err(invalid(resource, name, cause));
    }
    let is_other_family = |spec: &Map<String, Value>| {
        let first = spec.get("ipFamilies").and_then(|families| families.get(0));
        first.is_some_and(|family| family == "IPv6")
    };
    // What cannot be had is refused later.
    let has_many = spec
        .get("clusterIPs")
        .is_some_and(|all| *all != json!([]) && !all.is_null());
    if given.is_empty() && !has_many && !is_other_family(spec) {
        let address = free_address(transaction, resource, random);
        spec.insert("clusterIP".into(), address.into());
    } else if given != had && given != "None" && is_taken(transaction, resource, &given) {
        let why = format!("failed to allocate IP {given}: provided IP is already allocated");
        let cause = Cause::invalid("spec.clusterIPs", format!("[\"{given}\"]"), &why);
        return Err(invalid(resource, name, cause));
    }
    if let Some(address) = spec.get("clusterIP").filter(|address| **address != "").cloned() {
        spec.entry("clusterIPs").or_insert_with(|| json!([address]));
    }
    give_families(before, spec);
    // A load balancer may need none.
    let has_ports = match kind(spec).as_str() {
        "NodePort" => true,
        "LoadBalancer" => spec.get("allocateLoadBalancerNodePorts") != Some(&Value::Bool(false)),
        _ => false,
    };
    if has_ports {
        let before = before.get("ports").cloned().unwrap_or_default();
        node_ports(transaction, resource, name, &before, spec, random)?;
    }
    Ok(())
}

/// Gives a Service its families of addresses. The cluster has IPv4 only.
fn give_families(before: &Map<String, Value>, spec: &mut Map<String, Value>) {
    // The endpoints of one without a selector may be of either family.
    let selects = spec
        .get("selector")
        .and_then(Value::as_object)
        .is_some_and(|selector| !selector.is_empty());
    let is_open = spec.get("clusterIP").is_some_and(|address| address == "None") && !selects;
    let policy = spec.entry("ipFamilyPolicy").or_insert_with(|| {
        if is_open {
            "RequireDualStack"
        } else {
            "SingleStack"
        }
        .into()
    });
    let is_single = *policy == "SingleStack";
    let given = spec.get("ipFamilies").and_then(Value::as_array).cloned();
    let address = spec.get("clusterIP").and_then(Value::as_str).unwrap_or("");
    // What is of another family than the cluster's is told by its address, not by a family that nobody gave.
    if given.is_none() && address.contains(':') {
        return;
    }
    let mut families = given.unwrap_or_else(|| vec!["IPv4".into()]);
    if is_open && !is_single && families.len() == 1 {
        families.push(if families[0] == "IPv4" { "IPv6" } else { "IPv4" }.into());
    }
    if is_single
        && before
            .get("ipFamilies")
            .is_some_and(|had| *had == json!(families))
    {
        families.truncate(1);
    }
    spec.insert("ipFamilies".into(), families.into());
}

/// Whether a Service has this address. The first selectable field of a Service is its address.
fn is_taken(transaction: &mut Transaction<'_>, services: &Resource, address: &str) -> bool {
    let all = transaction.list(services, "");
    all.iter().any(|service| service.field(0) == address)
}

/// Takes away what only a former type of a Service needed, unless it was changed with the type.
fn drop_dependent(before: &Map<String, Value>, spec: &mut Map<String, Value>) {
    type Needs = fn(&Map<String, Value>) -> bool;
    let has_node_ports: Needs = |spec| is_any(spec, &["LoadBalancer", "NodePort"]);
    let is_outside: Needs = |spec| {
        let addresses = spec.get("externalIPs").and_then(Value::as_array);
        is_any(spec, &["LoadBalancer", "NodePort"])
            || addresses.is_some_and(|addresses| !addresses.is_empty())
    };
    let is_balanced: Needs = |spec| is_any(spec, &["LoadBalancer"]);
    for (field, needs) in [
        ("externalTrafficPolicy", is_outside),
        ("allocateLoadBalancerNodePorts", is_balanced),
        ("loadBalancerClass", is_balanced),
        ("healthCheckNodePort", is_balanced),
    ] {
        if needs(before) && !needs(spec) && before.get(field) == spec.get(field) {
            spec.remove(field);
        }
    }
    let had_ports = before.get("ports").cloned().unwrap_or_default();
    if has_node_ports(before) && !has_node_ports(spec) && spec.get("ports") == Some(&had_ports) {
        let ports = spec
            .get_mut("ports")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten();
        for port in ports.filter_map(Value::as_object_mut) {
            port.remove("nodePort");
        }
    }
}

fn is_any(spec: &Map<String, Value>, kinds: &[&str]) -> bool {
    let kind = spec.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| kinds.contains(&kind))
}

/// An address that no Service has.
fn free_address(
    transaction: &mut Transaction<'_>,
    services: &Resource,
    random: &mut fastrand::Rng,
) -> String {
    let all = transaction.list(services, "");
    // The first selectable field of a Service is its address.
    let taken: HashSet<&str> = all.iter().map(|service| service.field(0)).collect();
    let shown = |number: u32| {
        let [a, b, c, d] = (FIRST_ADDRESS + number).to_be_bytes();
        format!("{a}.{b}.{c}.{d}")
    };
    let start = random.u32(..ADDRESSES - 0x200);
    let free = (0..ADDRESSES - 0x200).map(|next| shown((start + next) % (ADDRESSES - 0x200)));
    free.into_iter()
        .find(|address| !taken.contains(address.as_str()))
        .unwrap_or_default()
}

/// Gives each port that has none a port of the nodes. One that is given must be free.
fn node_ports(
    transaction: &mut Transaction<'_>,
    services: &Resource,
    name: &str,
    before: &Value,
    spec: &mut Map<String, Value>,
    random: &mut fastrand::Rng,
) -> Result<(), StatusError> {
    let number = |port: &Value| port["nodePort"].as_u64().unwrap_or(0);
    let had: Vec<&Value> = before.as_array().into_iter().flatten().collect();
    let Some(Value::Array(ports)) = spec.get_mut("ports") else {
        return Ok(());
    };
    for port in ports.iter_mut().filter(|port| number(port) == 0) {
        let is_same = |had: &&&Value| had["port"] == port["port"] && had["protocol"] == port["protocol"];
        if let Some(had) = had.iter().find(is_same).filter(|had| number(had) != 0) {
            port["nodePort"] = had["nodePort"].clone();
        }
    }
    if ports.iter().all(|port| {
        had.iter()
            .any(|had| number(had) == number(port) && number(port) != 0)
    }) {
        return Ok(());
    }
    let mut taken = taken_ports(transaction, services);
    for (index, port) in ports.iter().enumerate() {
        let is_own = had.iter().any(|had| number(had) == number(port));
        // The same port of another protocol may have the same; in an update, any.
        let is_again = |other: &Value| number(other) == number(port) && other["port"] != port["port"];
        let is_again = before.is_null() && number(port) != 0 && ports[..index].iter().any(is_again);
        if !is_own && (is_again || taken.contains(&number(port))) {
            let field = format!("spec.ports[{index}].nodePort");
            let cause = Cause::invalid(field, number(port), "provided port is already allocated");
            return Err(invalid(services, name, cause));
        }
    }
    taken.extend(ports.iter().map(number));
    let start = random.u64(NODE_PORTS);
    let mut free = (start..NODE_PORTS.end)
        .chain(NODE_PORTS.start..start)
        .filter(|port| !taken.contains(port));
    for port in ports.iter_mut().filter(|port| number(port) == 0) {
        match free.next() {
            Some(number) => port["nodePort"] = number.into(),
            None => tracing::debug!(%name, "no port of the nodes is free"),
        }
    }
    Ok(())
}

/// The ports of the nodes that Services have.
fn taken_ports(transaction: &mut Transaction<'_>, services: &Resource) -> HashSet<u64> {
    // The second selectable field is the type.
    let has_ports = |service: &Stored| matches!(service.field(1), "NodePort" | "LoadBalancer");
    let mut taken = HashSet::new();
    for service in transaction
        .list(services, "")
        .iter()
        .filter(|service| has_ports(service))
    {
        let object = service.decode(&services.head("v1"));
        let ports = object.get("spec").and_then(|spec| spec["ports"].as_array());
        taken.extend(
            ports
                .into_iter()
                .flatten()
                .filter_map(|port| port["nodePort"].as_u64()),
        );
    }
    taken
}
