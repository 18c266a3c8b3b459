//! The keys under which objects are stored.

use arcstr::ArcStr;
use std::{borrow::Borrow, cell::RefCell, fmt, str::FromStr};

thread_local! {
    /// A buffer in which a key is joined, so that a key takes one allocation.
    static JOINED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The key of an object in a store: `namespace/name`, or just `name` for a cluster-scoped object.
///
/// The uid is not part of the key: an object that is deleted and created again has the same key. A key is one
/// shared allocation; a clone increments a reference count. Maps with this key can be looked up by `&str`.
///
/// ```
/// use kube_informer::ObjectKey;
///
/// let key = ObjectKey::new(Some("shop"), "web-0");
/// assert_eq!(key.to_string(), "shop/web-0");
/// assert_eq!((key.namespace(), key.name()), (Some("shop"), "web-0"));
///
/// let node: ObjectKey = "node-1".parse()?;
/// assert_eq!((node.namespace(), node.name()), (None, "node-1"));
/// assert!("a/b/c".parse::<ObjectKey>().is_err());
/// # Ok::<_, kube_informer::ParseKeyError>(())
/// ```
#[doc(alias = "ObjectName")]
#[doc(alias = "MetaNamespaceKeyFunc")]
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey(ArcStr);

impl ObjectKey {
    /// The key of the object `name` in `namespace`. An empty namespace means no namespace.
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        match namespace {
            Some(namespace) if !namespace.is_empty() => JOINED.with_borrow_mut(|key| {
                key.clear();
                key.extend([namespace, "/", name]);
                Self(key.as_str().into())
            }),
            _ => Self(name.into()),
        }
    }

    /// The key of an object of any kind, typed or dynamic. A packed one has its key:
    /// [`Packed::key`](crate::form::Packed::key). If the object has no name (for example, because it
    /// is to be created with `generateName`), the name in the key is empty, and no store has an object under
    /// this key.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::{Node, Pod};
    /// use kube_informer::ObjectKey;
    ///
    /// let mut pod = Pod::default();
    /// (pod.metadata.namespace, pod.metadata.name) = (Some("shop".into()), Some("web-0".into()));
    /// assert_eq!(ObjectKey::of(&pod).as_str(), "shop/web-0");
    /// assert_eq!(ObjectKey::of(&Node::default()).name(), "");
    /// ```
    #[doc(alias = "KeyFromObject")]
    #[doc(alias = "ObjectKeyFromObject")]
    pub fn of(object: &impl kube::Resource) -> Self {
        let metadata = object.meta();
        Self::new(
            metadata.namespace.as_deref(),
            metadata.name.as_deref().unwrap_or_default(),
        )
    }

    /// The part before the first slash; `None` if there is none or it is empty.
    pub fn namespace(&self) -> Option<&str> {
        self.0
            .split_once('/')
            .map(|(namespace, _)| namespace)
            .filter(|n| !n.is_empty())
    }

    /// The part after the first slash, or all of it.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// The key as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a name is a valid path segment, as the API server requires of every name (its
/// `ValidatePathSegmentName`). Objects with such names and namespaces have distinct keys.
pub(crate) fn is_path_segment(name: &str) -> bool {
    !matches!(name, "." | "..") && memchr::memchr2(b'/', b'%', name.as_bytes()).is_none()
}

/// A string that is not a key, see [`ObjectKey::from_str`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseKeyError {
    /// More than one slash.
    #[error("{0:?} is not an object key: expected \"name\" or \"namespace/name\"")]
    TooManyParts(String),
    /// No name.
    #[error("{0:?} is not an object key: the name is empty")]
    NoName(String),
}

impl FromStr for ObjectKey {
    type Err = ParseKeyError;

    /// Parses `name` or `namespace/name`. A leading slash is an empty namespace, so `/x` is the
    /// cluster-scoped `x`.
    ///
    /// # Errors
    /// More than one slash, or no name.
    fn from_str(input: &str) -> Result<Self, Self::Err> {
        let (namespace, name) = input.split_once('/').unwrap_or(("", input));
        if name.contains('/') {
            return Err(ParseKeyError::TooManyParts(input.to_owned()));
        }
        if name.is_empty() {
            return Err(ParseKeyError::NoName(input.to_owned()));
        }
        Ok(Self::new(Some(namespace), name))
    }
}

/// Uses any string as a key, without validation, for stores with their own key function.
impl From<&str> for ObjectKey {
    fn from(input: &str) -> Self {
        Self(input.into())
    }
}

impl From<String> for ObjectKey {
    fn from(input: String) -> Self {
        Self(input.into())
    }
}

impl Borrow<str> for ObjectKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl std::ops::Deref for ObjectKey {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ObjectKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl serde::Serialize for ObjectKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_namespace_is_none() {
        assert_eq!(ObjectKey::new(Some(""), "a"), ObjectKey::new(None, "a"));
    }

    #[test]
    fn the_key_of_an_object_is_that_of_its_metadata() {
        let mut pod = k8s_openapi::api::core::v1::Pod::default();
        assert_eq!(ObjectKey::of(&pod).as_str(), "", "no name, no namespace");
        pod.metadata.namespace = Some("shop".into());
        assert_eq!(ObjectKey::of(&pod).namespace(), Some("shop"));
        assert_eq!(ObjectKey::of(&pod).name(), "");
        pod.metadata.name = Some("web-0".into());
        assert_eq!(ObjectKey::of(&pod), "shop/web-0".parse().unwrap());
        let dynamic: kube::core::DynamicObject =
            serde_json::from_value(serde_json::json!({"metadata": {"name": "node-1"}})).unwrap();
        assert_eq!(ObjectKey::of(&dynamic), ObjectKey::new(None, "node-1"));
    }

    #[test]
    fn a_lenient_key_keeps_extra_slashes_in_the_name() {
        let key = ObjectKey::from("a/b/c");
        assert_eq!((key.namespace(), key.name()), (Some("a"), "b/c"));
    }

    proptest! {
        /// Catalogue 7.9, `TestObjectNames`: more than one slash is an error; otherwise parsing and
        /// formatting are inverse, except for a leading slash.
        #[test]
        fn parse_and_format(input in "[a-i/]{0,12}") {
            let slashes = input.matches('/').count();
            match input.parse::<ObjectKey>() {
                Ok(key) => {
                    prop_assert!(slashes <= 1);
                    prop_assert_eq!(key.as_str(), input.strip_prefix('/').unwrap_or(&input));
                }
                Err(ParseKeyError::TooManyParts(_)) => prop_assert!(slashes > 1),
                Err(ParseKeyError::NoName(_)) => prop_assert!(input.is_empty() || input.ends_with('/')),
            }
        }
    }
}
