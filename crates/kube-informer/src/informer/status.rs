//! The state of an informer.

use super::PartitionStatus;
use crate::object::ResourceVersion;
use crate::reflector::ReflectorStatus;
use crate::source::InvalidObject;
use crate::warm_start::WarmStartStatus;
use std::fmt;

/// The state of an informer, see [`SharedInformer::status`](super::SharedInformer::status).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InformerStatus {
    /// Whether the store holds the whole collection.
    pub synced: bool,
    /// Whether the store holds objects that were [restored from a file](crate::warm_start), and that the server has not
    /// confirmed: they may be out of date, or gone. With several partitions, whether one does.
    pub unconfirmed: bool,
    /// The number of objects in the store.
    pub objects: usize,
    /// The memory that the objects take, in bytes, if their form [counts it](crate::form::Decode::held_bytes):
    /// [`Packed`](crate::form::Packed) does. Keys, indexes and the store's own tables are not in it, but objects that
    /// have left the store are as long as somebody holds them. `None` once the informer has ended.
    pub bytes: Option<u64>,
    /// The number of queued changes.
    pub queued: usize,
    /// The version up to which the store is complete: the lowest of all partitions. The reflector's
    /// [`resource_version`](ReflectorStatus::resource_version), up to which changes have been seen, may be ahead.
    pub applied: Option<ResourceVersion>,
    /// The number of objects rejected so far because an index function panicked.
    pub not_indexed: u64,
    /// The last rejected object.
    pub last_not_indexed: Option<InvalidObject>,
    /// The state of the [warm start](crate::warm_start), if the informer was asked for one.
    pub warm_start: Option<WarmStartStatus>,
    /// The state of the list and watch. With several partitions, counters are summed, and the other fields are those
    /// of the reflector that is furthest from watching.
    pub reflector: ReflectorStatus,
    /// The state of each partition, sorted by namespace.
    pub partitions: Vec<PartitionStatus>,
}

/// An informer, or one namespace of it, that has not synced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Unsynced {
    /// The plural name and group of its resource: `pods`, `deployments.apps`.
    pub resource: String,
    /// The [form](crate::form) of its objects, without module paths: `Pod`, `Packed<Pod>`.
    pub form: String,
    /// The namespace, if the informer is over namespaces.
    pub namespace: Option<String>,
    /// What prevents it: the last error, or what the informer is doing.
    pub why: String,
}

impl fmt::Display for Unsynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            resource, form, why, ..
        } = self;
        match &self.namespace {
            Some(namespace) => write!(f, "{resource} as {form} in {namespace:?} ({why})"),
            None => write!(f, "{resource} as {form} ({why})"),
        }
    }
}

/// The name of a type without the paths of its modules: `Packed<Pod>`.
pub(crate) fn short_name<T: ?Sized>() -> String {
    let mut short = String::new();
    for character in std::any::type_name::<T>().chars() {
        short.push(character);
        if short.ends_with("::") {
            let start = short.rfind(['<', ' ', '(', '[', '&']).map_or(0, |at| at + 1);
            short.truncate(start);
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Pod;

    #[test]
    fn names_of_types_have_no_paths() {
        assert_eq!(short_name::<Pod>(), "Pod");
        assert_eq!(
            short_name::<kube::core::PartialObjectMeta<Pod>>(),
            "PartialObjectMeta<Pod>"
        );
        assert_eq!(
            short_name::<Result<Vec<Pod>, String>>(),
            "Result<Vec<Pod>, String>"
        );
    }
}
