//! Kubernetes informers: a local, indexed copy of the objects you care about, and notice of every change.

pub mod object;
pub mod selector;
pub mod store;

pub use object::{
    DeleteCause, Deleted, Fingerprint, Known, Object, ObjectKey, ParseKeyError, Partition, ResourceVersion,
};
