//! Paths of requests.

use kube::core::ApiResource;

/// The number of characters of an invalid name that are shown.
const SHOWN: usize = 100;

/// A name is not valid in the path of a request, so the request is not sent.
///
/// ```
/// use kube_informer::source::Selection;
///
/// let selection = Selection { namespace: Some("a?x=1".into()), ..Default::default() };
/// assert_eq!(
///     selection.validate().unwrap_err().to_string(),
///     r#"invalid namespace "a?x=1": expected a DNS label: 1 to 63 of a-z, 0-9 and "-", not "-" at either end"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid {what} {name:?}: expected {expected}")]
pub struct InvalidName {
    what: &'static str,
    name: String,
    expected: &'static str,
}

impl InvalidName {
    fn new(what: &'static str, name: &str, expected: &'static str) -> Self {
        Self {
            what,
            name: name.chars().take(SHOWN).collect(),
            expected,
        }
    }

    /// The name, truncated to 100 characters.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The path of a resource, in one namespace or in all namespaces.
///
/// `kube::Resource::url_path` is not used, because it checks nothing, and reads the group and version from another field
/// of the same resource (`api_version`).
pub(super) fn resource_path(resource: &ApiResource, namespace: Option<&str>) -> Result<String, InvalidName> {
    const EXPECTED: &str = "letters, digits, \"-\" and \".\", as the server's discovery has it";
    let segment = |what, name: &str| match is_segment(name) {
        true => Ok(()),
        false => Err(InvalidName::new(what, name, EXPECTED)),
    };
    let (group, version, plural) = (&*resource.group, &*resource.version, &*resource.plural);
    segment("version", version)?;
    segment("plural name of a resource", plural)?;
    let mut path = match group {
        "" => format!("/api/{version}"),
        group => {
            segment("group", group)?;
            format!("/apis/{group}/{version}")
        }
    };
    if let Some(namespace) = namespace {
        check_namespace(namespace)?;
        path.extend(["/namespaces/", namespace]);
    }
    path.extend(["/", plural]);
    Ok(path)
}

/// Checks that a name is a DNS label (RFC 1123), as the names of namespaces are.
pub(super) fn check_namespace(name: &str) -> Result<(), InvalidName> {
    let alphanumeric = |byte: Option<&u8>| byte.is_some_and(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9'));
    let bytes = name.as_bytes();
    let valid = bytes.len() <= 63
        && alphanumeric(bytes.first())
        && alphanumeric(bytes.last())
        && bytes.iter().all(|&b| b == b'-' || alphanumeric(Some(&b)));
    if valid {
        return Ok(());
    }
    let expected = "a DNS label: 1 to 63 of a-z, 0-9 and \"-\", not \"-\" at either end";
    Err(InvalidName::new("namespace", name, expected))
}

/// Whether a name is one segment of a path. Groups, versions and plural names are DNS names; this is the only
/// property that matters here.
fn is_segment(name: &str) -> bool {
    let within = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.');
    name.bytes().all(within) && name.bytes().any(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::GroupVersionKind;

    #[test]
    fn namespaces_are_dns_labels() {
        let long = "a".repeat(63);
        for name in ["a", "0", "shop", "a--b-1", &long] {
            assert_eq!(check_namespace(name), Ok(()), "{name}");
        }
        let too_long = "a".repeat(64);
        for name in [
            "", ".", "..", "a/b", "a?x=1", "a#b", "a%2fb", "a.b", "-a", "a-", "A", "a b", "\u{e9}", "a\n",
            &too_long,
        ] {
            let error = check_namespace(name).unwrap_err();
            assert!(
                error.to_string().contains(&format!("invalid namespace {name:?}")),
                "{error}"
            );
        }
        let error = check_namespace(&"?".repeat(10_000)).unwrap_err();
        assert!(error.to_string().len() < 250, "{error}");
    }

    #[test]
    fn a_resource_is_one_segment_of_each_path() {
        let resource = |group: &str, version: &str, plural: &str| {
            let gvk = GroupVersionKind::gvk(group, version, "Kind");
            resource_path(&ApiResource::from_gvk_with_plural(&gvk, plural), Some("ns"))
        };
        assert_eq!(resource("", "v1", "pods").unwrap(), "/api/v1/namespaces/ns/pods");
        assert_eq!(
            resource("example.com", "v1beta1", "widgets").unwrap(),
            "/apis/example.com/v1beta1/namespaces/ns/widgets"
        );
        for bad in ["..", ".", "a/b", "a?b", "a#b", "a%62", "a b", "\r\n"] {
            assert!(resource(bad, "v1", "pods").is_err(), "{bad}");
            assert!(resource("", bad, "pods").is_err(), "{bad}");
            assert!(resource("", "v1", bad).is_err(), "{bad}");
        }
        assert!(resource("", "", "pods").is_err() && resource("", "v1", "").is_err());
    }
}
