//! Ingresses and network policies.

use super::at::{At, Causes};
use super::names;
use crate::names::{dns_label_faults, path_segment_faults, subdomain_faults};
use crate::status::quoted;

pub(super) fn ingress(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    let backend = spec.at("defaultBackend");
    if spec.count("rules") == 0 && !backend.is_set() {
        let why = "either `defaultBackend` or `rules` must be specified";
        causes.push(spec.invalid_as("null", why));
    }
    if backend.is_set() {
        self::backend(&backend, causes);
    }
    for rule in spec.items("rules") {
        let host = rule.at("host");
        if !host.text().is_empty() {
            if names::address(host.text()).is_some() {
                causes.push(host.invalid("must be a DNS name, not an IP address"));
            }
            host.fits(host_faults, causes);
        }
        if rule.has("http") {
            paths(&rule.at("http"), causes);
        }
    }
    for tls in spec.items("tls") {
        for host in tls.items("hosts") {
            host.fits(host_faults, causes);
        }
        tls.at("secretName").fits_if_set(subdomain_faults, causes);
    }
    let class = spec.at("ingressClassName");
    if class.is_set() {
        class.fits(subdomain_faults, causes);
    }
}

/// The annotation was there before the field. Only a new object must not have both with different classes.
pub(super) fn new_ingress(object: &At<'_>, causes: &mut Causes) {
    let annotation = "kubernetes.io/ingress.class";
    let annotations = object.at("metadata").get("annotations");
    let class = object.at("spec").get("ingressClassName");
    if let (Some(annotated), Some(class)) = (annotations[annotation].as_str(), class.as_str())
        && annotated != class
    {
        // A real server names the annotation so.
        let name = format!("annotations.{annotation}");
        let at = object.naming(&name, &annotations[annotation]);
        causes.push(at.invalid("must match `ingressClassName` when both are specified"));
    }
}

/// Everything that keeps a string from being a host; one that begins with `*.` stands for all hosts of a domain.
fn host_faults(host: &str) -> Vec<&'static str> {
    const LONGEST: usize = 253;
    if !host.contains('*') {
        return subdomain_faults(host);
    }
    // A name may be too long and otherwise right.
    let is_name = |name: &str| {
        let faults = subdomain_faults(name);
        faults.iter().all(|fault| fault.starts_with("must be no more"))
    };
    let mut faults = Vec::new();
    if host.len() > LONGEST {
        faults.push("must be no more than 253 characters");
    }
    if !host.strip_prefix("*.").is_some_and(is_name) {
        faults.push(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of \
                 lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', \
                 regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        );
    }
    faults
}

fn paths(http: &At<'_>, causes: &mut Causes) {
    if http.count("paths") == 0 {
        causes.push(http.at("paths").required(""));
    }
    for path in http.items("paths") {
        let (kind, text) = (path.at("pathType"), path.at("path"));
        match kind.text() {
            "Exact" | "Prefix" => {
                if !text.text().starts_with('/') {
                    causes.push(text.invalid("must be an absolute path"));
                }
                for sequence in ["//", "/./", "/../", "%2f", "%2F"] {
                    if text.text().contains(sequence) {
                        causes.push(text.invalid(&format!("must not contain '{sequence}'")));
                    }
                }
                for suffix in ["/..", "/."] {
                    if text.text().ends_with(suffix) {
                        causes.push(text.invalid(&format!("cannot end with '{suffix}'")));
                    }
                }
            }
            "ImplementationSpecific" => {
                if !text.text().is_empty() && !text.text().starts_with('/') {
                    causes.push(text.invalid("must be an absolute path"));
                }
            }
            _ if !kind.is_set() => {
                causes.push(kind.required("pathType must be specified"));
                continue;
            }
            _ => kind.one_of(&["Exact", "ImplementationSpecific", "Prefix"], causes),
        }
        backend(&path.at("backend"), causes);
    }
}

fn backend(backend: &At<'_>, causes: &mut Causes) {
    let (service, resource) = (backend.at("service"), backend.at("resource"));
    match (service.is_set(), resource.is_set()) {
        (true, true) => {
            let why = "cannot set both resource and service backends";
            causes.push(backend.invalid_as("\"\"", why));
        }
        (false, false) => {
            let why = "resource or service backend is required";
            causes.push(backend.invalid_as("\"\"", why));
        }
        (false, true) => reference(&resource, causes),
        (true, false) => {
            let name = service.at("name");
            if name.need(causes) {
                name.fits(dns_label_faults, causes);
            }
            let port = service.at("port");
            let (number, name) = (port.at("number"), port.at("name"));
            let has_number = number.number().is_some_and(|number| number != 0);
            match (has_number, !name.text().is_empty()) {
                (true, true) => {
                    causes.push(backend.invalid_as("\"\"", "cannot set both port name & port number"))
                }
                (false, false) => causes.push(backend.required("port name or number is required")),
                (true, false) => names::port_number(&number, causes),
                (false, true) => {
                    let faults = names::port_name_faults(name.text());
                    causes.extend(faults.into_iter().map(|fault| name.invalid(fault)));
                }
            }
        }
    }
}

pub(super) fn ingress_class(object: &At<'_>, causes: &mut Causes) {
    const LONGEST: usize = 250;
    let spec = object.at("spec");
    let controller = spec.at("controller");
    if controller.text().len() > LONGEST {
        causes.push(controller.too_long(LONGEST));
    }
    if controller.need(causes) {
        domain_prefixed(&controller, causes);
    }
    let parameters = spec.at("parameters");
    if parameters.is_set() {
        self::parameters(&parameters, causes);
    }
}

/// A domain, a slash and a path.
fn domain_prefixed(at: &At<'_>, causes: &mut Causes) {
    let parts = at.text().split_once('/');
    let Some((domain, path)) = parts.filter(|(domain, path)| !domain.is_empty() && !path.is_empty()) else {
        return causes.push(at.invalid("must be a domain-prefixed path (such as \"acme.io/foo\")"));
    };
    let faults = subdomain_faults(domain).into_iter();
    causes.extend(faults.map(|fault| at.invalid_as(quoted(domain), fault)));
    let is_of_paths = |c: char| c.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(c);
    if !path.chars().all(is_of_paths) {
        let why = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        causes.push(at.invalid_as(quoted(path), why));
    }
}

/// The group, the kind and the name of an object.
fn reference(object: &At<'_>, causes: &mut Causes) {
    let group = object.at("apiGroup");
    if group.is_set() {
        group.fits(subdomain_faults, causes);
    }
    for name in ["kind", "name"] {
        object.at(name).need_fit(path_segment_faults, causes);
    }
}

/// What an ingress class refers to.
fn parameters(parameters: &At<'_>, causes: &mut Causes) {
    reference(parameters, causes);
    let (scope, namespace) = (parameters.at("scope"), parameters.at("namespace"));
    match scope.text() {
        _ if !scope.is_set() => causes.push(scope.required("")),
        "Namespace" if !namespace.is_set() => {
            causes.push(namespace.required("`parameters.scope` is set to 'Namespace'"));
        }
        "Namespace" => namespace.fits(dns_label_faults, causes),
        "Cluster" if namespace.is_set() => {
            causes.push(namespace.forbidden("`parameters.scope` is set to 'Cluster'"));
        }
        _ => scope.text_one_of(&["Cluster", "Namespace"], causes),
    }
}

pub(super) fn policy(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    names::selector(&spec.at("podSelector"), causes);
    for (list, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.items(list) {
            for port in rule.items("ports") {
                self::port(&port, causes);
            }
            for peer in rule.items(peers) {
                self::peer(&peer, causes);
            }
        }
    }
    let types = spec.at("policyTypes");
    if spec.count("policyTypes") > 2 {
        let why = "may not specify more than two policyTypes";
        causes.push(types.invalid(why));
        return;
    }
    for kind in spec.items("policyTypes") {
        kind.one_of(&["Ingress", "Egress"], causes);
    }
}

fn port(port: &At<'_>, causes: &mut Causes) {
    port.at("protocol").may_be_one_of(&["TCP", "UDP", "SCTP"], causes);
    let (first, last) = (port.at("port"), port.at("endPort"));
    if !first.is_set() {
        if last.is_set() {
            causes.push(last.invalid("may not be specified when `port` is not specified"));
        }
        return;
    }
    names::port(&first, causes);
    if !last.is_set() {
        return;
    }
    match first.number() {
        None => causes.push(last.invalid("may not be specified when `port` is non-numeric")),
        Some(number) => {
            if last.number().is_some_and(|last| last < number) {
                causes.push(last.invalid_as(number, "must be greater than or equal to `port`"));
            }
            names::port_number(&last, causes);
        }
    }
}

fn peer(peer: &At<'_>, causes: &mut Causes) {
    names::selector(&peer.at("podSelector"), causes);
    names::selector(&peer.at("namespaceSelector"), causes);
    let block = peer.at("ipBlock");
    let found = peer
        .those(&["podSelector", "namespaceSelector", "ipBlock"])
        .count();
    if found == 0 {
        causes.push(peer.required("must specify a peer"));
    } else if found > 1 && block.is_set() {
        causes.push(peer.forbidden("may not specify both ipBlock and another peer"));
    }
    if !block.is_set() {
        return;
    }
    let cidr = block.at("cidr");
    if !cidr.need(causes) {
        return;
    }
    cidr.fits(names::range_fault, causes);
    let Some(outer) = names::range(cidr.text()) else {
        return;
    };
    for except in block.items("except") {
        except.fits(names::range_fault, causes);
        let inner = names::range(except.text());
        if inner.is_some_and(|inner| !names::is_inside(inner, outer)) {
            causes.push(except.invalid("must be a strict subset of `cidr`"));
        }
    }
}
