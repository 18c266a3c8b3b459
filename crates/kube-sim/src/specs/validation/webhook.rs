//! Where webhooks are: those for admission, and those that convert.

use serde_json::Value;

use crate::names::subdomain_fault;
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
            step => faults.extend(subdomain_fault(step).map(|fault| format!("segment[{index}]: {fault}"))),
        }
    }
    faults
}
