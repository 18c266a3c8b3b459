//! What a Kubernetes controller needs around its informers and work queues.
//!
//! A [`Controller`] reconciles the objects of a kind when they change, or when objects that concern them do. With
//! [leader election](leader_election), one of several replicas of a program works, and another takes over when that one
//! stops, crashes or loses its connection.
//!
//! # Coming from kube's runtime
//! The modules and their items have the names that they have in `kube::runtime`, so most programs need only other `use` lines.
//! The [README](https://github.com/kube-informer/kube-informer/tree/main/crates/kube-controller#coming-from-kubes-runtime) has
//! what differs.
//!
//! # Features
//! `server`, off by default: `/metrics`, `/healthz` and `/readyz` of a [manager].

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod controller;
pub mod controllerutil;
pub mod events;
pub mod finalizer;
pub mod leader_election;
pub mod manager;
mod names;
pub mod own_writes;
pub mod predicates;
pub mod reflector;
mod time;
mod watch_stream;
pub mod watcher;

#[doc(inline)]
pub use controller::{Config, Controller};
#[doc(inline)]
pub use finalizer::finalizer;
#[doc(inline)]
pub use predicates::{Config as PredicateConfig, Predicate};
#[doc(inline)]
pub use reflector::reflector;
pub use watch_stream::WatchStreamExt;
#[doc(inline)]
pub use watcher::watcher;
