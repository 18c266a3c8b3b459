//! Addresses in statuses. One that is there may stay, whatever it is.

use serde_json::Value;

use super::at::{At, Causes};
use super::names;
use crate::names::subdomain_faults;
use crate::status::{Cause, go_json};

/// Why the status of an object cannot take the place of another one.
pub(super) fn causes(id: &str, old: &At<'_>, new: &At<'_>, causes: &mut Causes) {
    let [before, after] = [old, new].map(|object| object.at("status"));
    match id {
        "pods" => pod(&before, &after, causes),
        "services" => service(&before, &after, new.at("spec").text_at("type"), causes),
        "ingresses.networking.k8s.io" => {
            balancer(
                &before.at("loadBalancer"),
                &after.at("loadBalancer"),
                false,
                causes,
            );
        }
        _ => {}
    }
}

fn pod(before: &At<'_>, status: &At<'_>, causes: &mut Causes) {
    addresses(
        "podIPs",
        &listed("podIPs", before),
        &listed("podIPs", status),
        status,
        causes,
    );
    let of_host = listed("hostIPs", status);
    if of_host
        .first()
        .is_some_and(|first| *first != status.text_at("hostIP"))
    {
        for first in status.items("hostIPs").take(1) {
            causes.push(first.at("ip").invalid("must be equal to `hostIP`"));
        }
    }
    addresses("hostIPs", &listed("hostIPs", before), &of_host, status, causes);
}

fn listed<'a>(name: &'a str, status: &'a At<'a>) -> Vec<&'a str> {
    let addresses = status.get(name).as_array().into_iter().flatten();
    addresses
        .map(|address| address["ip"].as_str().unwrap_or(""))
        .collect()
}

/// At most one address of each family.
fn addresses(name: &str, before: &[&str], now: &[&str], status: &At<'_>, causes: &mut Causes) {
    for (n, address) in now.iter().enumerate().filter(|(_, now)| !before.contains(now)) {
        let (name, address) = (format!("{name}[{n}]"), Value::from(*address));
        status.naming(&name, &address).fits(names::address_fault, causes);
    }
    if now.len() < 2 {
        return;
    }
    let all = status.at(name);
    let families: Vec<_> = now
        .iter()
        .map(|text| names::address(text).map(|address| address.to_canonical().is_ipv4()))
        .collect();
    if let Some(n) = families.iter().position(Option::is_none) {
        let why = format!(
            "failed to check for dual stack with error:invalid IP[{n}]: {}",
            now[n]
        );
        causes.push(Cause::internal(all.path(), &why));
    }
    if !names::is_one_of_each(&families) {
        let shown = now
            .iter()
            .map(|address| format!("{{\"IP\":{}}}", go_json(&(*address).into())));
        let shown = format!("[{}]", shown.collect::<Vec<_>>().join(","));
        let why = "may specify no more than one IP for each IP family";
        causes.push(all.invalid_as(shown, why));
    }
}

fn service(before: &At<'_>, status: &At<'_>, kind: &str, causes: &mut Causes) {
    let [before, after] = [before, status].map(|status| status.at("loadBalancer"));
    if kind != "LoadBalancer" && after.count("ingress") > 0 {
        let why = "may only be used when `spec.type` is 'LoadBalancer'";
        return causes.push(after.at("ingress").forbidden(why));
    }
    balancer(&before, &after, true, causes);
}

/// Where a load balancer is to be found; that of a Service says how its address is meant.
fn balancer(before: &At<'_>, balancer: &At<'_>, of_service: bool, causes: &mut Causes) {
    let known: Vec<_> = listed("ingress", before);
    for point in balancer.items("ingress") {
        let (address, host) = (point.at("ip"), point.at("hostname"));
        if !known.contains(&address.text()) {
            address.fits_if_set(names::address_fault, causes);
        }
        if of_service {
            ip_mode(&point.at("ipMode"), !address.text().is_empty(), causes);
        }
        host.fits_if_set(subdomain_faults, causes);
        if names::address(host.text()).is_some() {
            causes.push(host.invalid("must be a DNS name, not an IP address"));
        }
    }
}

fn ip_mode(mode: &At<'_>, has_address: bool, causes: &mut Causes) {
    match (mode.is_set(), has_address) {
        (false, true) => causes.push(mode.required("must be specified when `ip` is set")),
        (true, false) => causes.push(mode.forbidden("may not be specified when `ip` is not set")),
        _ => mode.may_be_one_of(&["Proxy", "VIP"], causes),
    }
}
