//! What a Kubernetes controller needs around its informers and work queues.
//!
//! So far there is [leader election](leader_election): of several replicas of a program, one works, and another takes over
//! when that one stops, crashes or loses its connection.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod action;
pub mod controller {
    //! What a reconcile returns.
    pub use crate::action::Action;
}
pub mod controllerutil;
pub mod events;
pub mod finalizer;
pub mod leader_election;
mod names;
pub mod own_writes;
