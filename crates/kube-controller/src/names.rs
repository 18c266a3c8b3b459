//! Kubernetes' rules for names, and the name of the host.

/// Whether this is a DNS subdomain, as object names and prefixes have to be.
pub(crate) fn is_dns_subdomain(name: &str) -> bool {
    let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_label = |label: &str| has_form(label, edge, |c| edge(c) || c == '-');
    name.len() <= 253 && name.split('.').all(is_label)
}

/// Whether this is a qualified name, as finalizers and label names have to be: `example.com/cleanup`.
pub(crate) fn is_qualified_name(name: &str) -> bool {
    let (prefix, name) = match name.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, name),
    };
    let edge = |c: char| c.is_ascii_alphanumeric();
    prefix.is_none_or(is_dns_subdomain)
        && name.len() <= 63
        && has_form(name, edge, |c| edge(c) || matches!(c, '-' | '_' | '.'))
}

/// Whether all characters are allowed, and the first and the last are allowed there. An empty part has none.
fn has_form(part: &str, edge: impl Fn(char) -> bool, inner: impl Fn(char) -> bool) -> bool {
    part.starts_with(&edge) && part.ends_with(&edge) && part.chars().all(inner)
}

/// The host's name; in a pod, the pod's.
pub(crate) fn hostname() -> Option<String> {
    let from_file = || std::fs::read_to_string("/etc/hostname").ok();
    let host = std::env::var("HOSTNAME").ok().or_else(from_file)?;
    Some(host.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualified_names_are_told_from_others() {
        for good in ["example.com/cleanup", "a/b", "cleanup", "my-group.io/My_Name.v1"] {
            assert!(is_qualified_name(good), "{good}");
        }
        let long = format!("a/{}", "b".repeat(64));
        for bad in [
            "", "/", "a/", "/b", "a/b/c", "A.b/c", "a./b", "-a/b", "a/-b", "a/b c", "ü/b", &long,
        ] {
            assert!(!is_qualified_name(bad), "{bad}");
        }
    }
}
