//! What a Kubernetes controller needs around its informers and work queues.
//!
//! A [`Controller`] reconciles the objects of a kind when they change, or when objects that concern them do. With
//! [leader election](leader_election), one of several replicas of a program works, and another takes over when that one
//! stops, crashes or loses its connection.
//!
//! # Guides
//! | guide | for whom |
//! |---|---|
//! | [Controllers](guide::controllers) | you write a controller |
//! | [Testing](guide::testing) | you want to know that it works, without a cluster |
//! | [In production](guide::production) | you run it: permissions, memory, metrics, alerts, a dashboard, probes, election, upgrades |
//! | [Coming from kube-rs](guide::from_kube_rs) | you have a controller on `kube::runtime`: most need only other `use` lines |
//! | [Coming from controller-runtime](guide::from_controller_runtime) | you have written controllers in Go |
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
#[cfg(any(doc, doctest))]
pub mod guide;
pub mod leader_election;
pub mod manager;
mod names;
pub mod own_writes;
pub mod predicates;
pub mod reflector;
pub mod shard_group;
mod time;
pub mod utils;
pub mod wait;
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
#[doc(no_inline)]
pub use wait::conditions;
pub use watch_stream::WatchStreamExt;
#[doc(inline)]
pub use watcher::{metadata_watcher, watcher};
