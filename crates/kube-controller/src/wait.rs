//! Waiting until an object is in some state: the words of kube's `runtime::wait`.
//!
//! ```no_run
//! use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
//! use kube::Api;
//! use kube_controller::wait::{await_condition, conditions};
//! use std::time::Duration;
//!
//! # async fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let definitions = Api::<CustomResourceDefinition>::all(client);
//! let established = await_condition(definitions, "widgets.example.com", conditions::is_crd_established());
//! tokio::time::timeout(Duration::from_secs(10), established).await??;
//! # Ok(()) }
//! ```
//!
//! Each wait is a watch of its own. For objects that an informer holds, see
//! [`until_with_sync`](kube_informer::informer::until_with_sync).

use crate::watcher::{self, watch_object};
use futures::StreamExt;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use std::pin::pin;

/// Why a wait ended without the condition.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The object could not be watched.
    #[error("failed to probe for whether the condition is fulfilled yet: {0}")]
    ProbeFailed(#[source] watcher::Error),
}

/// Waits until `condition` holds for the object of this name, and returns the object in that state. `None`:
/// the condition holds because the object does not exist.
///
/// There is no time limit; use [`tokio::time::timeout`].
///
/// # Errors
/// The first request that fails ends the wait. An object that does not exist is not an error.
///
/// # Cancel safety
/// Dropping the future ends the watch. The next call starts with the object's state at that time.
pub async fn await_condition<K>(
    api: Api<K>,
    name: &str,
    condition: impl Condition<K>,
) -> Result<Option<K>, Error>
where
    K: Resource + Clone + DeserializeOwned + Send + 'static,
{
    let mut states = pin!(watch_object(api, name));
    while let Some(state) = states.next().await {
        let state = state.map_err(Error::ProbeFailed)?;
        if condition.matches_object(state.as_ref()) {
            return Ok(state);
        }
    }
    // A watcher does not end by itself.
    let ended = kube::Error::Service("the watch has ended".into());
    Err(Error::ProbeFailed(watcher::Error::WatchFailed(ended)))
}

/// What an object, or its absence, is judged by. A function `Fn(Option<&K>) -> bool` is one.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_controller::wait::Condition;
///
/// fn has_data(map: Option<&ConfigMap>) -> bool {
///     map.is_some_and(|map| map.data.is_some())
/// }
///
/// assert!(has_data.not().matches_object(None));
/// assert!(!has_data.and(has_data.not()).matches_object(Some(&ConfigMap::default())));
/// assert!(has_data.or(has_data.not()).matches_object(Some(&ConfigMap::default())));
/// ```
pub trait Condition<K> {
    /// Whether it holds; `None` stands for an object that does not exist.
    fn matches_object(&self, object: Option<&K>) -> bool;

    /// Holds if this one does not.
    fn not(self) -> conditions::Not<Self>
    where
        Self: Sized,
    {
        conditions::Not(self)
    }

    /// Holds if both do.
    fn and<Other: Condition<K>>(self, other: Other) -> conditions::And<Self, Other>
    where
        Self: Sized,
    {
        conditions::And(self, other)
    }

    /// Holds if one of them does.
    fn or<Other: Condition<K>>(self, other: Other) -> conditions::Or<Self, Other>
    where
        Self: Sized,
    {
        conditions::Or(self, other)
    }
}

impl<K, F: Fn(Option<&K>) -> bool> Condition<K> for F {
    fn matches_object(&self, object: Option<&K>) -> bool {
        self(object)
    }
}

/// Conditions of common kinds.
pub mod conditions {
    pub use super::Condition;

    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::api::batch::v1::Job;
    use k8s_openapi::api::core::v1::{Pod, Service};
    use k8s_openapi::api::networking::v1::Ingress;
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    use kube::Resource;
    use serde::Serialize;

    /// The object of this uid does not exist. Another one of its name makes no difference.
    #[must_use]
    pub fn is_deleted<K: Resource>(uid: &str) -> impl Condition<K> + '_ {
        move |object: Option<&K>| object.is_none_or(|object| object.meta().uid.as_deref() != Some(uid))
    }

    /// The object exists.
    #[must_use]
    pub fn is_created<K: Resource>() -> impl Condition<K> {
        |object: Option<&K>| object.is_some()
    }

    /// The server has accepted the definition and serves its kind. Discovery may show that a little later.
    #[must_use]
    pub fn is_crd_established() -> impl Condition<CustomResourceDefinition> {
        |crd: Option<&CustomResourceDefinition>| {
            let status = crd.and_then(|crd| crd.status.as_ref());
            status.is_some_and(|status| is_true(&status.conditions, "Established", None))
        }
    }

    /// The pod has the phase `Running`.
    #[must_use]
    pub fn is_pod_running() -> impl Condition<Pod> {
        |pod: Option<&Pod>| {
            let status = pod.and_then(|pod| pod.status.as_ref());
            status.is_some_and(|status| status.phase.as_deref() == Some("Running"))
        }
    }

    /// The job has completed. One that has failed has not.
    #[must_use]
    pub fn is_job_completed() -> impl Condition<Job> {
        |job: Option<&Job>| {
            let status = job.and_then(|job| job.status.as_ref());
            status.is_some_and(|status| is_true(&status.conditions, "Complete", None))
        }
    }

    /// The [rollout is
    /// complete](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#complete-deployment):
    /// the pods of the newest ReplicaSet are available.
    #[must_use]
    pub fn is_deployment_completed() -> impl Condition<Deployment> {
        |deployment: Option<&Deployment>| {
            let status = deployment.and_then(|deployment| deployment.status.as_ref());
            let available = Some("NewReplicaSetAvailable");
            status.is_some_and(|status| is_true(&status.conditions, "Progressing", available))
        }
    }

    /// The service's load balancer has addresses. It holds for services of other types, too.
    #[must_use]
    pub fn is_service_loadbalancer_provisioned() -> impl Condition<Service> {
        |service: Option<&Service>| {
            let Some((service, spec)) = service.and_then(|service| Some((service, service.spec.as_ref()?)))
            else {
                return false;
            };
            if spec.type_.as_deref() != Some("LoadBalancer") {
                return true;
            }
            let status = service.status.as_ref();
            let balancer = status.and_then(|status| status.load_balancer.as_ref()?.ingress.as_ref());
            balancer.is_some_and(|points| {
                points
                    .iter()
                    .all(|point| point.ip.is_some() || point.hostname.is_some())
            })
        }
    }

    /// The ingress's load balancer has addresses.
    #[must_use]
    pub fn is_ingress_provisioned() -> impl Condition<Ingress> {
        |ingress: Option<&Ingress>| {
            let status = ingress.and_then(|ingress| ingress.status.as_ref());
            let balancer = status.and_then(|status| status.load_balancer.as_ref()?.ingress.as_ref());
            balancer.is_some_and(|points| {
                points
                    .iter()
                    .all(|point| point.ip.is_some() || point.hostname.is_some())
            })
        }
    }

    /// Whether the condition of this type is true, for this reason if one is given. It is read as JSON,
    /// because the versions of `k8s-openapi` do not agree on which of its fields are optional.
    fn is_true(conditions: &impl Serialize, type_: &str, reason: Option<&str>) -> bool {
        let conditions = serde_json::to_value(conditions).unwrap_or_default();
        let mut conditions = conditions.as_array().into_iter().flatten();
        let condition = conditions.find(|condition| {
            condition["type"] == type_ && reason.is_none_or(|reason| condition["reason"] == reason)
        });
        condition.is_some_and(|condition| condition["status"] == "True")
    }

    /// See [`Condition::not`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Not<A>(pub(super) A);

    impl<K, A: Condition<K>> Condition<K> for Not<A> {
        fn matches_object(&self, object: Option<&K>) -> bool {
            !self.0.matches_object(object)
        }
    }

    /// See [`Condition::and`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct And<A, B>(pub(super) A, pub(super) B);

    impl<K, A: Condition<K>, B: Condition<K>> Condition<K> for And<A, B> {
        fn matches_object(&self, object: Option<&K>) -> bool {
            self.0.matches_object(object) && self.1.matches_object(object)
        }
    }

    /// See [`Condition::or`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Or<A, B>(pub(super) A, pub(super) B);

    impl<K, A: Condition<K>, B: Condition<K>> Condition<K> for Or<A, B> {
        fn matches_object(&self, object: Option<&K>) -> bool {
            self.0.matches_object(object) || self.1.matches_object(object)
        }
    }
}

/// Deletions that are waited for.
pub mod delete {
    use super::{await_condition, conditions};
    use kube::api::DeleteParams;
    use kube::{Api, Resource};
    use serde::de::DeserializeOwned;
    use std::fmt::Debug;

    /// Why a deletion was not seen to its end.
    #[derive(Debug, thiserror::Error)]
    pub enum Error {
        /// The answer to the deletion does not say which object is deleted.
        #[error("deleted object has no UID to wait for")]
        NoUid,
        /// The server refused the deletion.
        #[error("failed to delete object: {0}")]
        Delete(#[source] kube::Error),
        /// The object could not be watched.
        #[error("failed to wait for object to be deleted: {0}")]
        Await(#[source] super::Error),
    }

    /// Deletes an object, and waits until it is gone, which its finalizers may delay. There is no time limit;
    /// use [`tokio::time::timeout`].
    ///
    /// # Errors
    /// The deletion was refused, or a request of the watch failed. In the latter case the deletion goes on.
    ///
    /// # Cancel safety
    /// If the future is dropped, the object may or may not have been deleted. A deletion that the server has
    /// accepted goes on.
    pub async fn delete_and_finalize<K>(
        api: Api<K>,
        name: &str,
        delete_params: &DeleteParams,
    ) -> Result<(), Error>
    where
        K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
    {
        let deleted = api.delete(name, delete_params).await.map_err(Error::Delete)?;
        let uid = deleted.either(
            |object| object.meta().uid.clone(),
            |status| Some(status.details?.uid),
        );
        let uid = uid.filter(|uid| !uid.is_empty()).ok_or(Error::NoUid)?;
        let gone = await_condition(api, name, conditions::is_deleted(&uid)).await;
        gone.map(drop).map_err(Error::Await)
    }
}

#[cfg(test)]
mod tests {
    use super::conditions::*;
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::{Value, json};

    fn holds<K: DeserializeOwned>(condition: impl Condition<K>, object: Value) -> bool {
        let object = serde_json::from_value(object).unwrap();
        assert!(!condition.matches_object(None), "it needs an object");
        condition.matches_object(Some(&object))
    }

    fn with_condition(type_: &str, status: &str, reason: &str) -> Value {
        let condition = json!({
            "type": type_, "status": status, "reason": reason, "message": "", "lastTransitionTime": null
        });
        json!({"metadata": {}, "status": {"conditions": [condition]}})
    }

    #[test]
    fn conditions_of_a_status_are_true_or_not() {
        for (status, expected) in [("True", true), ("False", false), ("Unknown", false)] {
            let job = with_condition("Complete", status, "");
            assert_eq!(holds(is_job_completed(), job), expected);
            let rollout = with_condition("Progressing", status, "NewReplicaSetAvailable");
            assert_eq!(holds(is_deployment_completed(), rollout), expected);
        }
        assert!(!holds(is_job_completed(), with_condition("Failed", "True", "")));
        assert!(!holds(is_job_completed(), json!({"metadata": {}, "status": {}})));
        let starting = with_condition("Progressing", "True", "ReplicaSetUpdated");
        assert!(!holds(is_deployment_completed(), starting));
        let definition = |status: &str| {
            json!({
                "metadata": {},
                "spec": {"group": "", "names": {"kind": "", "plural": ""}, "scope": "Cluster", "versions": []},
                "status": with_condition("Established", status, "InitialNamesAccepted")["status"],
            })
        };
        assert!(holds(is_crd_established(), definition("True")));
        assert!(!holds(is_crd_established(), definition("False")));
    }

    #[test]
    fn a_pod_runs_in_its_phase_only() {
        let pod = |phase: &str| json!({"metadata": {}, "status": {"phase": phase}});
        assert!(holds(is_pod_running(), pod("Running")));
        assert!(!holds(is_pod_running(), pod("Pending")));
        assert!(!holds(is_pod_running(), json!({"metadata": {}})));
    }

    #[test]
    fn load_balancers_are_provisioned_with_addresses() {
        for (points, expected) in [
            (json!([{"ip": "192.0.2.1"}, {"hostname": "a.example"}]), true),
            (json!([{"ip": "192.0.2.1"}, {}]), false),
            (Value::Null, false),
        ] {
            let status = json!({"loadBalancer": {"ingress": points}});
            let service = json!({"metadata": {}, "spec": {"type": "LoadBalancer"}, "status": status});
            assert_eq!(holds(is_service_loadbalancer_provisioned(), service), expected);
            let ingress = json!({"metadata": {}, "status": status});
            assert_eq!(holds(is_ingress_provisioned(), ingress), expected);
        }
        let internal = json!({"metadata": {}, "spec": {"type": "ClusterIP"}});
        assert!(holds(is_service_loadbalancer_provisioned(), internal));
    }

    #[test]
    fn another_object_of_the_name_is_not_the_deleted_one() {
        let mut map = ConfigMap::default();
        map.metadata.uid = Some("1".into());
        assert!(is_created().matches_object(Some(&map)));
        assert!(!is_created::<ConfigMap>().matches_object(None));
        assert!(!is_deleted("1").matches_object(Some(&map)));
        assert!(is_deleted("2").matches_object(Some(&map)));
        assert!(is_deleted::<ConfigMap>("1").matches_object(None));
    }
}
