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
        Some(prefix) => {
            if prefix.len() > 253 {
                faults.push("prefix part must be no more than 253 bytes".to_owned());
            }
            if !is_subdomain(prefix) {
                faults.push(format!("prefix part {SUBDOMAIN_RULE}"));
            }
        }
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
pub(crate) fn label_value_fault(value: &str) -> Option<String> {
    as_one(&label_value_faults(value), "; ")
}

/// Several faults as one.
pub(crate) fn as_one(faults: &[&str], between: &str) -> Option<String> {
    (!faults.is_empty()).then(|| faults.join(between))
}

/// Everything that is wrong with the value of a label.
pub(crate) fn label_value_faults(value: &str) -> Vec<&'static str> {
    those([
        (value.len() > 63, "must be no more than 63 bytes"),
        (!value.is_empty() && !is_label_text(value), VALUE_RULE),
    ])
}

/// The faults that are there.
fn those<const N: usize>(faults: [(bool, &'static str); N]) -> Vec<&'static str> {
    let there = faults.into_iter().filter(|(is_there, _)| *is_there);
    there.map(|(_, fault)| fault).collect()
}

/// What is wrong with labels, which are at `path`.
pub(crate) fn label_faults(labels: &Map<String, Value>, path: &str) -> impl Iterator<Item = Cause> {
    labels.iter().flat_map(move |(key, value)| {
        let value = value.as_str().unwrap_or("");
        let mut causes = key_faults(key, key, path);
        let faults = label_value_faults(value).into_iter();
        causes.extend(faults.map(|fault| Cause::invalid(path.to_owned(), quoted(value), fault)));
        causes
    })
}

/// What is wrong with annotations, which are at `path`. Their keys may have capital letters in their prefix.
pub(crate) fn annotation_faults(annotations: &Map<String, Value>, path: &str) -> impl Iterator<Item = Cause> {
    let keys = annotations.keys();
    let of_keys = keys.flat_map(move |key| key_faults(key, &key.to_lowercase(), path));
    let sizes = annotations
        .iter()
        .map(|(key, value)| key.len() + value.as_str().map_or(0, str::len));
    let is_long = sizes.sum::<usize>() > MAX_ANNOTATIONS;
    of_keys.chain(is_long.then(|| Cause::too_long(path.to_owned(), MAX_ANNOTATIONS)))
}

/// What is wrong with a key, of which `judged` is looked at.
fn key_faults(key: &str, judged: &str, path: &str) -> Vec<Cause> {
    let faults = label_key_faults(judged);
    let faults = faults
        .iter()
        .map(|fault| Cause::invalid(path.to_owned(), quoted(key), fault));
    faults.collect()
}

/// Everything that keeps `text` from being a part of a path, which is all that is asked of some names.
pub(crate) fn path_segment_faults(text: &str) -> Vec<&'static str> {
    match text {
        "." => vec!["may not be '.'"],
        ".." => vec!["may not be '..'"],
        _ => path_segment_prefix_faults(text),
    }
}

/// Everything that keeps `text` from beginning a part of a path.
pub(crate) fn path_segment_prefix_faults(text: &str) -> Vec<&'static str> {
    those([
        (text.contains('/'), "may not contain '/'"),
        (text.contains('%'), "may not contain '%'"),
    ])
}

/// Why `text` is not a DNS subdomain, all in one.
pub(crate) fn subdomain_fault(text: &str) -> Option<String> {
    as_one(&subdomain_faults(text), ",")
}

/// Everything that keeps `text` from being a DNS subdomain, as most objects' names must be.
pub(crate) fn subdomain_faults(text: &str) -> Vec<&'static str> {
    those([
        (text.len() > 253, "must be no more than 253 characters"),
        (!is_subdomain(text), SUBDOMAIN_RULE),
    ])
}

/// Everything that keeps `text` from being a DNS label, as the names of namespaces and services must be.
pub(crate) fn dns_label_faults(text: &str) -> Vec<&'static str> {
    let (is_label, is_subdomain) = (is_dns_label(text), is_subdomain(text));
    those([
        (text.len() > 63, "must be no more than 63 characters"),
        (!is_label && is_subdomain, "must not contain dots"),
        (!is_label && !is_subdomain, DNS_LABEL_RULE),
    ])
}

const DNS_1035_RULE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
     character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
     '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// Why `text` is not a DNS label that begins with a letter, as the names of versions and kinds must be, all in one.
pub(crate) fn dns_1035_label_fault(text: &str) -> Option<String> {
    as_one(&dns_1035_label_faults(text), ",")
}

/// Everything that keeps `text` from being a DNS label that begins with a letter.
pub(crate) fn dns_1035_label_faults(text: &str) -> Vec<&'static str> {
    let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
    those([
        (text.len() > 63, "must be no more than 63 characters"),
        (!begins || !is_dns_label(text), DNS_1035_RULE),
    ])
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_dns_label)
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
