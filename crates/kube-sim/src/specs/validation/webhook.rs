//! Webhooks for admission; where they, and those that convert, are.

use std::collections::HashSet;

use serde_json::Value;

use super::at::{At, Causes};
use super::{admission, names};
use crate::names::{dns_1035_label_faults, subdomain_fault, subdomain_faults};
use crate::status::{Cause, quoted};

/// What is wrong with the address of a webhook, which is at `path`.
pub(crate) fn url_faults(url: &str, path: &str) -> Vec<Cause> {
    const FORM: &str = "; desired format: https://host[/path]";
    if let Some(fault) = unparsable(url) {
        let why = format!("url must be a valid URL: parse {}: {fault}{FORM}", quoted(url));
        return vec![Cause::required(path.to_owned(), &why)];
    }
    let (url, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (url, query) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = url.split_once("://").unwrap_or(("", ""));
    let authority = rest.split('/').next().unwrap_or("");
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let mut causes = Vec::new();
    let mut refuse = |shown: &str, why: &str| {
        causes.push(Cause::invalid(path.to_owned(), quoted(shown), why));
    };
    if scheme != "https" {
        refuse(scheme, &format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if host.is_empty() {
        refuse("", &format!("host must be specified{FORM}"));
    }
    if let Some(user) = user {
        refuse(user, "user information is not permitted in the URL");
    }
    if !fragment.is_empty() {
        refuse(fragment, "fragments are not permitted in the URL");
    }
    if !query.is_empty() {
        refuse(query, "query parameters are not permitted in the URL");
    }
    causes
}

/// Why Go cannot read an address, of what people get wrong.
fn unparsable(url: &str) -> Option<String> {
    let rest = url.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if let Some(within) = host.strip_prefix('[')
        && !within.contains(']')
    {
        return Some("missing ']' in host".into());
    }
    if host.contains(' ') {
        return Some("invalid character \" \" in host name".into());
    }
    let port = host.rsplit_once(']').map_or(host, |(_, port)| port);
    if let Some((_, port)) = port.rsplit_once(':')
        && !port.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Some(format!("invalid port {} after host", quoted(&format!(":{port}"))));
    }
    let mut escapes = rest
        .split('%')
        .skip(1)
        .map(|escape| escape.get(..2).unwrap_or(escape));
    let bad =
        escapes.find(|escape| escape.len() < 2 || !escape.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some(format!("invalid URL escape {}", quoted(&format!("%{bad}"))))
}

/// What is wrong with the Service of a webhook, which is at `path`.
pub(crate) fn service_faults(service: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    for name in ["name", "namespace"] {
        if service[name].as_str().is_none_or(str::is_empty) {
            causes.push(Cause::required(format!("{path}.{name}"), ""));
        }
    }
    if let Some(port) = service["port"]
        .as_i64()
        .filter(|port| !(1..=65535).contains(port))
    {
        let why = "port is not valid: must be between 1 and 65535, inclusive";
        causes.push(Cause::invalid(format!("{path}.port"), port, why));
    }
    let within = service["path"].as_str().unwrap_or("");
    let faults = path_faults(within).into_iter();
    causes.extend(faults.map(|why| Cause::invalid(format!("{path}.path"), quoted(within), &why)));
    causes
}

/// What is wrong with the path behind a Service.
fn path_faults(path: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let rest = match path {
        "" | "/" => return faults,
        "//" => return vec!["segment[0] may not be empty".to_owned()],
        path => path.strip_prefix('/'),
    };
    if rest.is_none() {
        faults.push("must start with a '/'".to_owned());
    }
    // A real server leaves the first character out, whatever it is.
    let mut rest = rest.unwrap_or_else(|| path.char_indices().nth(1).map_or("", |(at, _)| &path[at..]));
    rest = rest.strip_suffix('/').unwrap_or(rest);
    for (index, step) in rest.split('/').enumerate() {
        match step {
            "" => faults.push(format!("segment[{index}] may not be empty")),
            step => {
                let found = subdomain_faults(step).into_iter();
                faults.extend(found.map(|fault| format!("segment[{index}]: {fault}")));
            }
        }
    }
    faults
}

/// Webhooks of admission, as a configuration has them.
pub(super) fn configuration(configuration: &At<'_>, causes: &mut Causes) {
    let mut given = HashSet::new();
    // All expressions share what it takes to look at them.
    let names = admission::Names::of(configuration, false);
    for hook in configuration.items("webhooks") {
        self::hook(&hook, &names, causes);
        let name = hook.at("name");
        if !name.text().is_empty() && !given.insert(name.text().to_owned()) {
            causes.push(name.duplicate());
        }
    }
}

fn hook(hook: &At<'_>, names: &admission::Names, causes: &mut Causes) {
    let name = hook.at("name");
    match name.text() {
        "" => causes.push(name.required("")),
        text => {
            let few = "should be a domain with at least three segments separated by dots";
            let few = (text.split('.').count() < 3).then(|| few.to_owned());
            let fault = subdomain_fault(text).or(few);
            causes.extend(fault.map(|fault| name.invalid(&fault)));
        }
    }
    for rule in hook.items("rules") {
        admission::rule(&rule, causes);
    }
    hook.at("failurePolicy")
        .may_be_one_of(&["Fail", "Ignore"], causes);
    hook.at("matchPolicy")
        .may_be_one_of(&["Equivalent", "Exact"], causes);
    let effects = hook.at("sideEffects");
    if effects.text().is_empty() {
        causes.push(effects.required("must specify one of None, NoneOnDryRun"));
    } else {
        effects.one_of(&["None", "NoneOnDryRun"], causes);
    }
    let timeout = hook.at("timeoutSeconds");
    if timeout
        .number()
        .is_some_and(|seconds| !(1..=30).contains(&seconds))
    {
        causes.push(timeout.invalid("the timeout value must be between 1 and 30 seconds"));
    }
    names::selector(&hook.at("namespaceSelector"), causes);
    names::selector(&hook.at("objectSelector"), causes);
    hook.at("reinvocationPolicy")
        .may_be_one_of(&["IfNeeded", "Never"], causes);
    client(&hook.at("clientConfig"), causes);
    admission::conditions(hook, names, causes);
    versions(hook, causes);
}

/// The versions of reviews that a webhook reads.
fn versions(hook: &At<'_>, causes: &mut Causes) {
    const KNOWN: [&str; 2] = ["v1", "v1beta1"];
    let versions = hook.at("admissionReviewVersions");
    if hook.count("admissionReviewVersions") == 0 {
        return causes.push(versions.required("must specify one of v1, v1beta1"));
    }
    let mut given = HashSet::new();
    for version in hook.items("admissionReviewVersions") {
        match given.insert(version.text().to_owned()) {
            true => version.fits(dns_1035_label_faults, causes),
            false => causes.push(version.invalid("duplicate version")),
        }
    }
    if !given.iter().any(|version| KNOWN.contains(&version.as_str())) {
        causes.push(versions.invalid("must include at least one of v1, v1beta1"));
    }
}

/// Where a webhook is asked.
fn client(client: &At<'_>, causes: &mut Causes) {
    let (url, service) = (client.at("url"), client.at("service"));
    if url.is_set() == service.is_set() {
        causes.push(client.required("exactly one of url or service is required"));
    } else if url.is_set() {
        causes.extend(url_faults(url.text(), &url.path()));
    } else {
        causes.extend(service_faults(service.value(), &service.path()));
    }
}
