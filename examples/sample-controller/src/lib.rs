//! A controller to start a project from: for each `Foo` it keeps a Deployment of the size that the `Foo` asks for.
//!
//! - `foo` is the custom resource.
//! - `reconcile` brings the world into the state that a `Foo` asks for, and cleans up after it.
//! - This file puts the program together: informers, controller, election, probes.

#![allow(clippy::disallowed_names)] // the kind is called Foo, as in Kubernetes' sample-controller

mod foo;
mod reconcile;

pub use foo::{Foo, FooSpec, FooStatus};

use anyhow::Context as _;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Client, CustomResourceExt as _};
use kube_controller::Controller;
use kube_controller::leader_election::{LeaderElectionConfig, unique_identity};
use kube_controller::manager::Manager;
use std::net::SocketAddr;
use std::sync::Arc;

/// The name of the program: in events, and of its Lease.
pub const NAME: &str = env!("CARGO_PKG_NAME");

/// What differs between deployments of the program.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where probes and metrics are served. `None`: nowhere, for tests in the process.
    pub address: Option<SocketAddr>,
    /// Which Lease the replicas compete for, and how.
    pub election: LeaderElectionConfig,
}

impl Options {
    /// From `ADDRESS` (default: `127.0.0.1:8080`) and `NAMESPACE`, that of the Lease (default: `default`).
    ///
    /// # Errors
    /// The address is not one.
    pub fn from_env() -> anyhow::Result<Self> {
        let address = std::env::var("ADDRESS").unwrap_or_else(|_| "127.0.0.1:8080".into());
        let namespace = std::env::var("NAMESPACE").unwrap_or_else(|_| "default".into());
        Ok(Self {
            address: Some(address.parse().with_context(|| format!("ADDRESS={address}"))?),
            election: LeaderElectionConfig::new(namespace, NAME, unique_identity()),
        })
    }
}

/// The definition of the custom resource, to be installed in the cluster.
pub fn definition() -> CustomResourceDefinition {
    Foo::crd()
}

/// The program, ready to run.
///
/// # Errors
/// The address is in use, or the options make no sense.
pub fn program(client: Client, options: Options) -> anyhow::Result<Manager> {
    let mut manager = Manager::new(client.clone(), NAME).leader_election(options.election)?;
    if let Some(address) = options.address {
        manager = manager
            .serve_on(address)
            .with_context(|| format!("cannot serve on {address}"))?;
    }
    let factory = manager.factory();
    let foos = factory.informer::<Foo>();
    let deployments = factory.metadata_informer::<Deployment>();
    let controller = Controller::for_informer(&foos).owns_informer(&deployments);
    let context = reconcile::Context::new(client, manager.recorder().clone());
    manager.add_controller(
        controller,
        reconcile::reconcile,
        reconcile::on_error,
        Arc::new(context),
    )?;
    Ok(manager)
}
