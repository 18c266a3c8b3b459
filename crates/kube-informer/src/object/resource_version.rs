//! Resource versions, which identify states of objects and collections.

use std::{cmp::Ordering, fmt, num::NonZeroU64, sync::Arc};

/// The version of an object's or a collection's state, as received from the server.
///
/// # Order
/// Servers of Kubernetes 1.35 and later promise that resource versions of one resource are decimal numbers of any
/// size without leading zeros, that can be compared (KEP-5504); all servers built on etcd behave this way. Two such
/// versions are ordered by value. Any other string is *opaque*: equal to itself and not ordered relative to any other
/// version, so [`partial_cmp`](PartialOrd::partial_cmp) returns `None`.
///
/// ```
/// use kube_informer::ResourceVersion;
///
/// let version = |string: &str| ResourceVersion::from(string);
/// assert!(version("9") < version("10"));
/// assert!(version("18446744073709551616") > version("18446744073709551615"));
/// assert_eq!(version("abc").partial_cmp(&version("10")), None);
/// ```
///
/// The sentinels of the API, `""` (the newest) and `"0"` (any), are not versions: requests have enums for them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    /// What every server sends today. Takes no allocation.
    Number(NonZeroU64),
    /// Larger than 64 bits, or opaque: so rare that the size of a version counts for more than another indirection.
    String(Arc<Box<str>>),
}

impl ResourceVersion {
    /// Whether this version can be compared with others.
    pub fn is_comparable(&self) -> bool {
        match &self.0 {
            Repr::Number(_) => true,
            Repr::String(string) => is_decimal(string),
        }
    }

    /// Whether this is a version and not one of the sentinels `""` and `"0"`.
    pub(crate) fn is_version(&self) -> bool {
        !matches!(&self.0, Repr::String(string) if matches!(&***string, "" | "0"))
    }

    /// The version as the server sent it.
    pub fn as_str(&self) -> std::borrow::Cow<'_, str> {
        match &self.0 {
            Repr::Number(number) => number.to_string().into(),
            Repr::String(string) => (&***string).into(),
        }
    }

    /// The last 15 decimal digits, which are what a floating-point gauge can hold; `None` if it is not a number.
    pub(crate) fn low_digits(&self) -> Option<u64> {
        const MODULUS: u64 = 1_000_000_000_000_000;
        match &self.0 {
            Repr::Number(number) => Some(number.get() % MODULUS),
            Repr::String(string) if is_decimal(string) => string[string.len() - 15..].parse().ok(),
            Repr::String(_) => None,
        }
    }
}

/// A decimal number without a leading zero.
fn is_decimal(string: &str) -> bool {
    !string.is_empty() && !string.starts_with('0') && string.bytes().all(|b| b.is_ascii_digit())
}

/// Parses a decimal number without a leading zero; `None` if it exceeds 64 bits.
fn number(string: &str) -> Option<NonZeroU64> {
    let mut number = 0_u64;
    for byte in string.bytes() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(digit.into())?;
    }
    NonZeroU64::new(number).filter(|_| !string.starts_with('0'))
}

impl From<&str> for ResourceVersion {
    fn from(string: &str) -> Self {
        match number(string) {
            Some(number) => Self(Repr::Number(number)),
            None => Self(Repr::String(Arc::new(string.into()))),
        }
    }
}

impl From<u64> for ResourceVersion {
    /// The version `number`. `0` is not a version, so it becomes opaque.
    fn from(number: u64) -> Self {
        match NonZeroU64::new(number) {
            Some(number) => Self(Repr::Number(number)),
            None => Self(Repr::String(Arc::new("0".into()))),
        }
    }
}

impl PartialOrd for ResourceVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (&self.0, &other.0) {
            (Repr::Number(a), Repr::Number(b)) => Some(a.cmp(b)),
            (a, b) if a == b => Some(Ordering::Equal),
            _ if self.is_comparable() && other.is_comparable() => {
                let (a, b) = (self.as_str(), other.as_str());
                Some(a.len().cmp(&b.len()).then_with(|| a.cmp(&b)))
            }
            _ => None,
        }
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Number(number) => number.fmt(f),
            Repr::String(string) => f.write_str(string),
        }
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_str(), f)
    }
}

impl serde::Serialize for ResourceVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn anything_but_a_plain_number_is_opaque() {
        for string in ["", "0", "007", "-1", "+5", "1.5", "abc", " 1"] {
            let version = ResourceVersion::from(string);
            assert!(!version.is_comparable(), "{string:?}");
            assert_eq!(version.as_str(), string);
            assert_eq!(version.partial_cmp(&version.clone()), Some(Ordering::Equal));
            assert_eq!(version.partial_cmp(&ResourceVersion::from("5")), None);
        }
        assert_eq!(ResourceVersion::from(0), ResourceVersion::from("0"));
    }

    #[test]
    fn low_digits_are_the_last_15() {
        let digits = |string: &str| ResourceVersion::from(string).low_digits();
        assert_eq!(digits("42"), Some(42));
        assert_eq!(digits("9000000000000007"), Some(7), "longer than 15 digits");
        assert_eq!(digits("123456789012345678901"), Some(789012345678901));
        assert_eq!(digits("0"), None);
        assert_eq!(digits("x"), None);
    }

    proptest! {
        #[test]
        fn numbers_of_any_size_compare_by_value(a in "[1-9][0-9]{0,40}", b in "[1-9][0-9]{0,40}") {
            let width = a.len().max(b.len());
            let by_value = format!("{a:0>width$}").cmp(&format!("{b:0>width$}"));
            let (a, b) = (ResourceVersion::from(&*a), ResourceVersion::from(&*b));
            prop_assert_eq!(a.partial_cmp(&b), Some(by_value));
        }

        #[test]
        fn the_string_is_preserved(string in "[0-9a-z]{0,24}") {
            prop_assert_eq!(ResourceVersion::from(&*string).to_string(), string);
        }
    }
}
