//! Detects unchanged objects without decoding them.

use super::ObjectKey;
use std::num::NonZeroU64;

/// Identifies one exact state of one object: a hash of its body, which contains the uid and the resource version.
///
/// Two states of one key with the same fingerprint are the same state. The resource version alone is not sufficient:
/// a new default in a CRD changes bodies without changing the resource version.
///
/// ```
/// use kube_informer::Fingerprint;
/// assert_eq!(Fingerprint::new(7), Fingerprint::new(7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(NonZeroU64);

impl Fingerprint {
    /// A fingerprint from a hash of the whole body without `kind` and `apiVersion` (the items of a list have none). A
    /// hash of 0 is stored as 1, so that `Option<Fingerprint>` has the same size.
    pub fn new(hash: u64) -> Self {
        Self(NonZeroU64::new(hash).unwrap_or(NonZeroU64::MIN))
    }

    /// The hash.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

/// Looks up the stored state of a key, so that a relist can skip unchanged objects.
///
/// ```
/// use kube_informer::low_level::KnownObjects;
/// use kube_informer::{Fingerprint, ObjectKey};
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
    /// The fingerprint stored for `key`, and the stored key, so that the caller need not allocate it again. `None` if
    /// the fingerprint is unknown, the object is about to change, or nothing is stored.
    fn get(&self, key: &str) -> Option<(ObjectKey, Fingerprint)>;
}

/// Knows no objects.
impl KnownObjects for () {
    fn get(&self, _: &str) -> Option<(ObjectKey, Fingerprint)> {
        None
    }
}
