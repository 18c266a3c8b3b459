//! Requests for certificates.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::at::{At, Causes};
use crate::certificates::{certificate_fault, request_fault};
use crate::names::{dns_label_faults, subdomain_faults};
use crate::status::quoted;

/// What a certificate may be used for.
const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

pub(super) fn request(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    let request = spec.at("request");
    if let Some(why) = request_fault(&decoded(request.text())) {
        causes.push(request.invalid(&why));
    }
    if spec.count("usages") == 0 {
        causes.push(spec.at("usages").required(""));
    }
    for usage in spec.items("usages") {
        usage.one_of(&USAGES, causes);
    }
    let mut seen = HashSet::new();
    for usage in spec.items("usages") {
        if !seen.insert(usage.text()) {
            causes.push(usage.duplicate_shown(&usage.in_json()));
        }
    }
    signer(&spec.at("signerName"), causes);
    let expiry = spec.at("expirationSeconds");
    if expiry.number().is_some_and(|seconds| seconds < 600) {
        causes.push(expiry.invalid("may not specify a duration less than 600 seconds (10 minutes)"));
    }
    let status = object.at("status");
    conditions(&status, causes);
    let certificate = status.at("certificate");
    if let Some(why) = certificate_fault(&decoded(certificate.text())) {
        causes.push(certificate.invalid_as("\"<certificate data>\"", &why));
    }
}

/// Bytes, as an object has them.
fn decoded(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap_or_default()
}

/// Who signs: a name in a domain.
fn signer(name: &At<'_>, causes: &mut Causes) {
    const LONGEST_DOMAIN: usize = 253;
    // A path has room for a name within a namespace.
    const LONGEST: usize = LONGEST_DOMAIN + 1 + 63 + 1 + LONGEST_DOMAIN;
    if name.text() == "kubernetes.io/legacy-unknown" {
        causes.push(name.invalid("the legacy signerName is not allowed via this API version"));
        return;
    }
    if !name.need(causes) {
        return;
    }
    let Some((domain, path)) = name
        .text()
        .split_once('/')
        .filter(|(_, path)| !path.contains('/'))
    else {
        let why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        causes.push(name.invalid(why));
        return;
    };
    if domain.len() > LONGEST_DOMAIN {
        causes.push(name.too_long(LONGEST_DOMAIN));
    }
    labels(name, domain, dns_label_faults, causes);
    if !domain.contains('.') {
        let why = "should be a domain with at least two segments separated by dots";
        causes.push(name.invalid_as(quoted(domain), why));
    }
    labels(name, path, subdomain_faults, causes);
    if name.text().len() > LONGEST {
        causes.push(name.too_long(LONGEST));
    }
}

/// What is wrong with the first part of a domain or a path with which something is.
fn labels(name: &At<'_>, text: &str, faults: fn(&str) -> Vec<&'static str>, causes: &mut Causes) {
    let all = text.split('.').map(|label| (label, faults(label)));
    let first = all.into_iter().find(|(_, faults)| !faults.is_empty());
    for (label, fault) in first
        .iter()
        .flat_map(|(label, faults)| faults.iter().map(move |fault| (label, fault)))
    {
        let why = format!("validating label {}: {fault}", quoted(label));
        causes.push(name.invalid_as(quoted(text), &why));
    }
}

/// Those of these types are true if they are there.
const ALWAYS_TRUE: [&str; 3] = ["Approved", "Denied", "Failed"];

fn conditions(status: &At<'_>, causes: &mut Causes) {
    let conditions: Vec<_> = status.items("conditions").collect();
    let mut seen = HashSet::new();
    for condition in &conditions {
        let kind = condition.at("type");
        kind.need(causes);
        let of = condition.at("status");
        match ALWAYS_TRUE.contains(&kind.text()) {
            true => of.need_one_of(&["True"], causes),
            false => of.need_one_of(&["False", "True", "Unknown"], causes),
        }
        let other = match kind.text() {
            "Approved" => Some("Denied"),
            "Denied" => Some("Approved"),
            _ => None,
        };
        if other.is_some_and(|other| seen.contains(other)) {
            let why = "Approved and Denied conditions are mutually exclusive";
            causes.push(status.at("conditions").invalid_as(quoted(kind.text()), why));
        }
        if !seen.insert(kind.text()) {
            causes.push(kind.duplicate_shown(&kind.in_json()));
        }
    }
}
