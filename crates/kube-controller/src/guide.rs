//! Guides, to be read from beginning to end. They lead to the items that a task needs, whose own documentation says the rest.
//!
//! | guide | for whom |
//! |---|---|
//! | [Controllers](controllers) | you write a controller |
//! | [Testing](testing) | you want to know that it works, without a cluster |
//! | [In production](production) | you run it: permissions, memory, metrics, alerts, a dashboard, probes, election, upgrades |
//! | [Coming from kube-rs](from_kube_rs) | you have a controller on `kube::runtime` |
//! | [Coming from controller-runtime](from_controller_runtime) | you have written controllers in Go |
//!
//! [`kube-informer`](kube_informer) has the guides for informers: a first one, forms, what they guarantee, coming from client-go.
//!
//! The clusters of the examples are simulated by [`kube-sim`](https://docs.rs/kube-sim) in the process of the example, so each of them runs as it
//! stands. In your program the client is `kube::Client::try_default().await?`.
//!
//! This module has no items. It exists in the documentation only.

#[doc = include_str!("guide/controllers.md")]
pub mod controllers {}

#[doc = include_str!("guide/testing.md")]
pub mod testing {}

#[doc = include_str!("guide/production.md")]
pub mod production {}

#[doc = include_str!("guide/from_kube_rs.md")]
pub mod from_kube_rs {}

#[doc = include_str!("guide/from_controller_runtime.md")]
pub mod from_controller_runtime {}
