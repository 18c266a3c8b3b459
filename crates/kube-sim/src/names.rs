//! The rules for names: of objects, of labels, and of labels' values.

use serde_json::{Map, Value};

use crate::status::{Cause, quoted};

/// The most bytes of all annotations.
const MAX_ANNOTATIONS: usize = 256 * 1024;

const NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and \
     end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' \
     or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
     used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
     start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const DNS_LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end \
     with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/// A name that begins with this: what follows may come after a dash. A real server takes two bytes away; where these are not two
/// characters, no name can begin so in any case.
pub(crate) fn begun_name(prefix: &str) -> String {
    let start = prefix.len().checked_sub(2).and_then(|end| prefix.get(..end));
    match start {
        Some(start) if prefix.ends_with('-') => format!("{start}a"),
        _ => prefix.to_owned(),
    }
}

/// Why `key` cannot be the key of a label: it is a name of up to 63 characters, after an optional DNS prefix and a
/// slash.
pub(crate) fn label_key_fault(key: &str) -> Option<String> {
    let faults = label_key_faults(key);
    (!faults.is_empty()).then(|| faults.join("; "))
}

/// Everything that is wrong with the key of a label.
pub(crate) fn label_key_faults(key: &str) -> Vec<String> {
    let parts: Vec<_> = key.split('/').collect();
    let (prefix, name) = match parts[..] {
        [name] => (None, name),
        [prefix, name] => (Some(prefix), name),
        _ => {
            let rest = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {NAME_RULE} {rest}")];
        }
    };
    let mut faults = Vec::new();
    match prefix {
        None => {}
        Some("") => faults.push("prefix part must be non-empty".to_owned()),
        Some(prefix) if prefix.len() > 253 => {
            faults.push("prefix part must be no more than 253 bytes".to_owned());
        }
        Some(prefix) => faults.extend(subdomain_fault(prefix).map(|fault| format!("prefix part {fault}"))),
    }
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        faults.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_label_text(name) {
        faults.push(format!("name part {NAME_RULE}"));
    }
    faults
}

/// Why `value` cannot be the value of a label.
pub(crate) fn label_value_fault(value: &str) -> Option<&'static str> {
    match value {
        "" => None,
        _ if value.len() > 63 => Some("must be no more than 63 bytes"),
        _ if !is_label_text(value) => Some(VALUE_RULE),
        _ => None,
    }
}

/// What is wrong with labels, which are at `path`.
pub(crate) fn label_faults(labels: &Map<String, Value>, path: &'static str) -> Vec<Cause> {
    let faults = labels.iter().flat_map(|(key, value)| {
        let value = value.as_str().unwrap_or("");
        let value_fault = label_value_fault(value).map(|fault| Cause::invalid(path, quoted(value), fault));
        key_faults(key, key, path).into_iter().chain(value_fault)
    });
    faults.collect()
}

/// What is wrong with annotations, which are at `path`. Their keys may have capital letters in their prefix.
pub(crate) fn annotation_faults(annotations: &Map<String, Value>, path: &'static str) -> Vec<Cause> {
    let mut causes: Vec<_> = annotations
        .keys()
        .flat_map(|key| key_faults(key, &key.to_lowercase(), path))
        .collect();
    let sizes = annotations
        .iter()
        .map(|(key, value)| key.len() + value.as_str().map_or(0, str::len));
    if sizes.sum::<usize>() > MAX_ANNOTATIONS {
        causes.push(Cause::too_long(path, MAX_ANNOTATIONS));
    }
    causes
}

/// What is wrong with a key, of which `judged` is looked at.
fn key_faults(key: &str, judged: &str, path: &'static str) -> Vec<Cause> {
    let faults = label_key_faults(judged);
    let faults = faults
        .iter()
        .map(|fault| Cause::invalid(path, quoted(key), fault));
    faults.collect()
}

/// Why `text` cannot be a part of a path, which is all that is asked of some names.
pub(crate) fn path_segment_fault(text: &str) -> Option<&'static str> {
    match text {
        "." => Some("may not be '.'"),
        ".." => Some("may not be '..'"),
        _ => path_segment_prefix_fault(text),
    }
}

/// Why `text` cannot begin a part of a path.
pub(crate) fn path_segment_prefix_fault(text: &str) -> Option<&'static str> {
    match text {
        _ if text.contains('/') => Some("may not contain '/'"),
        _ if text.contains('%') => Some("may not contain '%'"),
        _ => None,
    }
}

/// Why `text` is not a DNS subdomain, as most objects' names must be.
pub(crate) fn subdomain_fault(text: &str) -> Option<&'static str> {
    match text {
        _ if text.len() > 253 => Some("must be no more than 253 characters"),
        _ if !text.split('.').all(is_dns_label) => Some(SUBDOMAIN_RULE),
        _ => None,
    }
}

/// Why `text` is not a DNS label, as the names of namespaces and services must be.
pub(crate) fn dns_label_fault(text: &str) -> Option<&'static str> {
    let is_subdomain = || text.split('.').all(is_dns_label);
    match text {
        _ if text.len() > 63 => Some("must be no more than 63 characters"),
        _ if is_dns_label(text) => None,
        _ if text.contains('.') && is_subdomain() => Some("must not contain dots"),
        _ => Some(DNS_LABEL_RULE),
    }
}

const DNS_1035_RULE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
     character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
     '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// Why `text` is not a DNS label that begins with a letter, as the names of versions and kinds must be.
pub(crate) fn dns_1035_label_fault(text: &str) -> Option<&'static str> {
    let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
    match text {
        _ if text.len() > 63 => Some("must be no more than 63 characters"),
        _ if begins && is_dns_label(text) => None,
        _ => Some(DNS_1035_RULE),
    }
}

fn is_dns_label(text: &str) -> bool {
    let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let bytes = text.as_bytes();
    edge(bytes.first())
        && edge(bytes.last())
        && bytes
            .iter()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

fn is_label_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    edge(bytes.first())
        && edge(bytes.last())
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
}
