//! Telling an unchanged object from a changed one without decoding either.

use super::ObjectKey;
use std::num::NonZeroU64;

/// Identifies one exact state of one object: a hash of its body, in which uid and resource version stand.
///
/// Two states of one key with the same fingerprint are the same state. The resource version alone would not do: a new
/// default in a CRD changes bodies under an unchanged resource version.
///
/// ```
/// use kube_informer::Fingerprint;
/// assert_eq!(Fingerprint::new(7), Fingerprint::new(7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(NonZeroU64);

impl Fingerprint {
    /// A fingerprint from a hash of the whole body, without `kind` and `apiVersion` (the items of a list have none). A
    /// hash of 0 counts as 1, so that an optional fingerprint takes no more room.
    pub fn new(hash: u64) -> Self {
        Self(NonZeroU64::new(hash).unwrap_or(NonZeroU64::MIN))
    }

    /// The hash.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

/// Answers which state of a key is held, so that a relist can leave unchanged objects as they are.
///
/// ```
/// use kube_informer::{Fingerprint, KnownObjects, ObjectKey};
/// use std::collections::HashMap;
///
/// struct Held(HashMap<ObjectKey, Fingerprint>);
///
/// impl KnownObjects for Held {
///     fn get(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
///         self.0.get_key_value(key).map(|(key, fingerprint)| (key.clone(), *fingerprint))
///     }
/// }
/// # let held = Held(HashMap::from([("ns/a".into(), Fingerprint::new(1))]));
/// # assert_eq!(held.get("ns/a"), Some(("ns/a".into(), Fingerprint::new(1))));
/// ```
pub trait KnownObjects {
    /// The state of `key` that is held, and the key as it is held, so that it need not be allocated again; `None` if it
    /// is unknown, about to change, or not held.
    fn get(&self, key: &str) -> Option<(ObjectKey, Fingerprint)>;
}

/// Nothing is held.
impl KnownObjects for () {
    fn get(&self, _: &str) -> Option<(ObjectKey, Fingerprint)> {
        None
    }
}
