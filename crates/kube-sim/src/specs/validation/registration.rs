//! APIServices: who answers for a version of a group.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Object;
use super::at::{At, Causes};
use super::names;
use crate::meta::{metadata, text};
use crate::names::{dns_1035_label_faults, subdomain_faults};
use crate::status::{Cause, quoted};

pub(super) const ID: &str = "apiservices.apiregistration.k8s.io";

/// Why this is not the name of an APIService, which is made of what it is about.
pub(crate) fn api_service_name_fault(name: &str, service: &Object) -> Option<String> {
    let root = At::root(service);
    let spec = root.at("spec");
    let wanted = format!("{}.{}", spec.text_at("version"), spec.text_at("group"));
    (name != wanted).then(|| format!("must be `spec.version+\".\"+spec.group`: {wanted:?}"))
}

/// What an update may not make of an APIService.
pub(super) fn change(old: &Object, new: &Object, causes: &mut Causes) {
    let name = text(metadata(old), "name");
    let fault = api_service_name_fault(name, new);
    let fault = fault.filter(|_| api_service_name_fault(name, old).is_none());
    causes.extend(fault.map(|fault| Cause::invalid("metadata.name", quoted(name), &fault)));
}

pub(super) fn api_service(object: &At<'_>, causes: &mut Causes) {
    let spec = object.at("spec");
    let (group, version) = (spec.at("group"), spec.at("version"));
    if group.text().is_empty() && version.text() != "v1" {
        causes.push(group.required("only v1 may have an empty group and it better be legacy kube"));
    }
    group.fits_if_set(subdomain_faults, causes);
    version.fits(dns_1035_label_faults, causes);
    priority(&spec.at("groupPriorityMinimum"), 20000, causes);
    priority(&spec.at("versionPriority"), 1000, causes);
    match spec.has("service") {
        true => of_service(&spec, causes),
        false => local(&spec, causes),
    }
}

/// A priority up to the highest one, which is allowed though a real server says otherwise.
fn priority(at: &At<'_>, most: i64, causes: &mut Causes) {
    let number = at.number().unwrap_or(0);
    if !(1..=most).contains(&number) {
        causes.push(at.invalid_as(number, &format!("must be positive and less than {most}")));
    }
}

/// Another server answers.
fn of_service(spec: &At<'_>, causes: &mut Causes) {
    let service = spec.at("service");
    for name in ["namespace", "name"] {
        service.at(name).need(causes);
    }
    let port = service.at("port");
    if port.number().is_some_and(|port| !(1..=65535).contains(&port)) {
        causes.push(port.invalid(&format!("port is not valid: {}", names::PORT)));
    }
    let insecure = spec.at("insecureSkipTLSVerify");
    if spec.is_true_at("insecureSkipTLSVerify") && !spec.text_at("caBundle").is_empty() {
        causes.push(insecure.invalid("may not be true if caBundle is present"));
    }
}

/// The server itself answers, which asks nobody.
fn local(spec: &At<'_>, causes: &mut Causes) {
    let bundle = spec.at("caBundle");
    if !bundle.text().is_empty() {
        let bytes = STANDARD.decode(bundle.text()).map_or(0, |bundle| bundle.len());
        let shown = quoted(&format!("{bytes} bytes"));
        causes.push(bundle.invalid_as(shown, "local APIServices may not have a caBundle"));
    }
    if spec.is_true_at("insecureSkipTLSVerify") {
        let insecure = spec.at("insecureSkipTLSVerify");
        causes.push(insecure.invalid("local APIServices may not have insecureSkipTLSVerify"));
    }
}
