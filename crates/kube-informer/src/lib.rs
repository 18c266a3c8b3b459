//! Kubernetes informers: a local, indexed copy of the objects you care about, and notice of every change.

pub mod form;
pub mod object;
pub mod queue;
pub mod reflector;
pub mod source;
pub mod wire;
pub mod store;

pub use object::{
    DeleteCause, Deleted, Fingerprint, Known, Object, ObjectKey, ParseKeyError, Partition, ResourceVersion,
};
