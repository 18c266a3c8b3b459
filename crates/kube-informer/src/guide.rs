//! Guides, to be read from beginning to end. They lead to the items that a task needs, whose own documentation says the rest.
//!
//! | guide | for whom |
//! |---|---|
//! | [First informer](first_informer) | you have not used an informer yet |
//! | [Coming from client-go](from_client_go) | you know informers in Go |
//! | [Coming from kube-rs](from_kube_rs) | you use `kube::runtime::{watcher, reflector}` |
//! | [Choosing a form](forms) | you have a large collection, or count megabytes |
//! | [Guarantees](guarantees) | you want to know what you can rely on, and what not |
//!
//! The crate [`kube-controller`](https://docs.rs/kube-controller/latest/kube_controller/guide/) has the guides for controllers, for tests without a
//! cluster, and for running all of it in production.
//!
//! The clusters of the examples are simulated by [`kube-sim`](https://docs.rs/kube-sim) in the process of the example, so each of them runs as it
//! stands. In your program the client is `kube::Client::try_default().await?`.
//!
//! This module has no items. It exists in the documentation only.

#[doc = include_str!("guide/first_informer.md")]
pub mod first_informer {}

#[doc = include_str!("guide/from_client_go.md")]
pub mod from_client_go {}

#[doc = include_str!("guide/from_kube_rs.md")]
pub mod from_kube_rs {}

#[doc = include_str!("guide/forms.md")]
pub mod forms {}

#[doc = include_str!("guide/guarantees.md")]
pub mod guarantees {}
