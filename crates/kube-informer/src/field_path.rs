//! Paths of fields.

use std::{fmt, str::FromStr};

/// The path of a field in an object: a JSON pointer (RFC 6901) such as `/spec/nodeName`.
///
/// A step is the name of a member; in names, `/` is written `~1` and `~` is written `~0`. The step `*`
/// matches every member of an object and every item of an array, so a path with `*` can have any number of
/// values. An item of an array cannot be selected by its number: a number is the name of a member.
///
/// ```
/// use kube_informer::FieldPath;
///
/// let path = FieldPath::parse("/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration")?;
/// assert_eq!(path.steps().last(), Some("kubectl.kubernetes.io/last-applied-configuration"));
/// assert_eq!(path.to_string(), "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration");
///
/// let error = FieldPath::parse("spec.nodeName").unwrap_err();
/// assert_eq!(error.to_string(), r#"field path "spec.nodeName": a path begins with a slash, as in "/spec/nodeName""#);
/// # Ok::<_, kube_informer::ParseFieldPathError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Box<[Box<str>]>);

/// A string that is not a [`FieldPath`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field path {path:?}: {reason}")]
pub struct ParseFieldPathError {
    path: String,
    reason: &'static str,
}

impl FieldPath {
    /// Parses a path.
    ///
    /// # Errors
    /// It does not begin with a slash, has an empty step, or a `~` that is neither `~0` nor `~1`.
    pub fn parse(path: &str) -> Result<Self, ParseFieldPathError> {
        let fail = |reason| ParseFieldPathError {
            path: path.to_owned(),
            reason,
        };
        let steps = path
            .strip_prefix('/')
            .ok_or_else(|| fail("a path begins with a slash, as in \"/spec/nodeName\""))?;
        let steps = steps.split('/').map(|step| {
            if step.is_empty() {
                return Err(fail("a step is empty"));
            }
            unescaped(step).ok_or_else(|| fail("behind \"~\" only \"0\" or \"1\" can stand"))
        });
        Ok(Self(steps.collect::<Result<_, _>>()?))
    }

    /// The steps of the path, unescaped; at least one.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.0.iter().map(|step| &**step)
    }
}

fn unescaped(step: &str) -> Option<Box<str>> {
    let mut parts = step.split('~');
    let mut name = parts.next()?.to_owned();
    for part in parts {
        match part.as_bytes().first()? {
            b'0' => name.push('~'),
            b'1' => name.push('/'),
            _ => return None,
        }
        name.push_str(&part[1..]);
    }
    Some(name.into())
}

impl FromStr for FieldPath {
    type Err = ParseFieldPathError;

    fn from_str(path: &str) -> Result<Self, ParseFieldPathError> {
        Self::parse(path)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps()
            .try_for_each(|step| write!(f, "/{}", step.replace('~', "~0").replace('/', "~1")))
    }
}

impl fmt::Debug for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FieldPath({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_writes() {
        for text in ["/a", "/a/b", "/a~0b/c~1d", "/*/x", "/~01"] {
            let path = FieldPath::parse(text).unwrap();
            assert_eq!(path.to_string(), text);
            assert_eq!(text.parse(), Ok(path));
        }
        assert_eq!(FieldPath::parse("/~01").unwrap().steps().next(), Some("~1"));
    }

    #[test]
    fn refuses_what_is_no_path() {
        for text in ["", "a", "/", "//", "/a/", "/~", "/~2", "/a~"] {
            assert!(FieldPath::parse(text).is_err(), "{text}");
        }
    }
}
