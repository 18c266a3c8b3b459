//! The cluster, as conditions see it.

use std::fmt;

use kube_core::Resource;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::sim::Sim;
use crate::store::Store;

/// The cluster as it is now, for [`always`](super::Simulation::always) and [`eventually`](super::Simulation::eventually).
///
/// What it returns is what a read of the newest state returns; nothing delays it.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Service};
/// use kube_sim::simulation::Cluster;
///
/// fn one_map_for_each_service(cluster: &Cluster) -> bool {
///     let has_map = |service: &Service| cluster.get::<ConfigMap>("default", service.metadata.name.as_ref().unwrap()).is_some();
///     cluster.list::<Service>().iter().all(has_map)
/// }
/// ```
pub struct Cluster<'a> {
    sim: &'a Sim,
}

impl fmt::Debug for Cluster<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("sim", self.sim).finish()
    }
}

impl<'a> Cluster<'a> {
    pub(super) fn new(sim: &'a Sim) -> Self {
        Self { sim }
    }

    /// All objects of a type, of all namespaces, in the order of a list.
    ///
    /// # Panics
    ///
    /// Panics if the cluster does not know the kind, or if an object is not of this type. In a condition, a panic means that the
    /// condition does not hold.
    pub fn list<K: Resource<DynamicType = ()> + DeserializeOwned>(&self) -> Vec<K> {
        let (version, kind) = (K::api_version(&()), K::kind(&()));
        let objects = self.store().list(&version, &kind, None);
        let objects = objects.unwrap_or_else(|error| panic!("cannot list {kind}: {error}"));
        objects.into_iter().map(|object| typed(object, &kind)).collect()
    }

    /// An object, if it is there. Objects of the cluster have the namespace `""`.
    ///
    /// # Panics
    ///
    /// Panics if the object is not of this type.
    pub fn get<K: Resource<DynamicType = ()> + DeserializeOwned>(
        &self,
        namespace: &str,
        name: &str,
    ) -> Option<K> {
        let (version, kind) = (K::api_version(&()), K::kind(&()));
        let namespace = (!namespace.is_empty()).then_some(namespace);
        let object = self.store().get(&version, &kind, namespace, name).ok()?;
        Some(typed(object, &kind))
    }

    /// The objects without their types.
    pub fn store(&self) -> Store {
        self.sim.store()
    }
}

fn typed<K: DeserializeOwned>(object: Value, kind: &str) -> K {
    serde_json::from_value(object).unwrap_or_else(|error| panic!("an object is no {kind}: {error}"))
}
