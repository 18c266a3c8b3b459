//! What a real server refuses in objects of built-in kinds.
//!
//! Each kind has a function that reads an object through places ([`at::At`]) and reports causes; `names` has what many kinds
//! share. An object has its defaults when it is checked. `immutable` has what an update may not change.
//!
//! What was put into the store is taken as it is, so an update of it is only refused for what it brings
//! ([`causes_of_change`]).

use std::collections::HashSet;

use serde_json::Value;

use crate::meta::metadata;
use crate::resources::Resource;
use crate::status::Cause;

mod access;
mod admission;
mod affinity;
mod certificate;
mod container;
mod cron;
mod data;
mod downward;
mod gated;
mod immutable;
mod names;
mod network;
mod os;
mod others;
mod pod;
mod policy;
mod profiles;
mod registration;
mod service;
mod status;
mod volume;
mod webhook;
mod workload;

use super::at::{self, At, Causes};
pub(super) use names::{address, first_of, is_written_out, range};
pub(crate) use registration::api_service_name_fault;
pub(crate) use webhook::{service_faults as webhook_service_faults, url_faults as webhook_url_faults};
pub(crate) use workload::selects;

type Object = serde_json::Map<String, Value>;

/// Checks an object of one kind.
type Rules = fn(&At<'_>, &mut Causes);

/// The rules of each kind that has any.
fn rules(id: &str) -> Option<Rules> {
    Some(match id {
        "configmaps" => data::config_map,
        "secrets" => data::secret,
        "pods" => pod::pod,
        "podtemplates" => pod::pod_template,
        "deployments.apps" => workload::deployment,
        "replicasets.apps" => workload::replica_set,
        "statefulsets.apps" => workload::stateful_set,
        "daemonsets.apps" => workload::daemon_set,
        "replicationcontrollers" => workload::replication_controller,
        "jobs.batch" => workload::job,
        "cronjobs.batch" => workload::cron_job,
        "services" => service::service,
        "endpoints" => service::endpoints,
        "endpointslices.discovery.k8s.io" => service::endpoint_slice,
        "ingresses.networking.k8s.io" => network::ingress,
        "ingressclasses.networking.k8s.io" => network::ingress_class,
        "networkpolicies.networking.k8s.io" => network::policy,
        "persistentvolumeclaims" => volume::claim,
        "persistentvolumes" => volume::persistent_volume,
        "storageclasses.storage.k8s.io" => volume::storage_class,
        "horizontalpodautoscalers.autoscaling" => policy::autoscaler,
        "poddisruptionbudgets.policy" => policy::budget,
        "resourcequotas" => policy::quota,
        "limitranges" => policy::limit_range,
        "priorityclasses.scheduling.k8s.io" => policy::priority_class,
        "roles.rbac.authorization.k8s.io" => access::role,
        "clusterroles.rbac.authorization.k8s.io" => access::cluster_role,
        "rolebindings.rbac.authorization.k8s.io" => access::role_binding,
        "clusterrolebindings.rbac.authorization.k8s.io" => access::cluster_role_binding,
        "leases.coordination.k8s.io" => others::lease,
        "events" => others::event,
        "events.events.k8s.io" => others::new_event,
        "nodes" => others::node,
        "validatingwebhookconfigurations.admissionregistration.k8s.io"
        | "mutatingwebhookconfigurations.admissionregistration.k8s.io" => webhook::configuration,
        "validatingadmissionpolicies.admissionregistration.k8s.io" => admission::validating_policy,
        "validatingadmissionpolicybindings.admissionregistration.k8s.io" => admission::validating_binding,
        "mutatingadmissionpolicies.admissionregistration.k8s.io" => admission::mutating_policy,
        "mutatingadmissionpolicybindings.admissionregistration.k8s.io" => admission::mutating_binding,
        "runtimeclasses.node.k8s.io" => others::runtime_class,
        "certificatesigningrequests.certificates.k8s.io" => certificate::request,
        registration::ID => registration::api_service,
        _ => return None,
    })
}

/// Why an object cannot be one of its kind.
fn causes(resource: &Resource, object: &Object) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let Some(rules) = rules(&resource.id()).filter(|_| !resource.custom) {
        rules(&At::root(object), &mut causes);
    }
    causes
}

/// Why an object cannot be created.
pub(crate) fn causes_of_creation(resource: &Resource, object: &Object) -> Vec<Cause> {
    let mut causes = self::causes(resource, object);
    let rules: Rules = match &*resource.id() {
        "pods" => pod::new_pod,
        "ingresses.networking.k8s.io" => network::new_ingress,
        _ => return causes,
    };
    if !resource.custom {
        rules(&At::root(object), &mut causes);
    }
    causes
}

/// What is wrong with an object that was not wrong with what it was before.
pub(crate) fn added_causes(resource: &Resource, old: &Object, new: &Object) -> Vec<Cause> {
    let mut causes = self::causes(resource, new);
    if !causes.is_empty() {
        let before = self::causes(resource, old);
        // What is only written oddly may stay, wherever it comes to be.
        let is_odd = |cause: &&Cause| names::ODD.iter().any(|odd| cause.message.ends_with(odd));
        let odd: HashSet<_> = before.iter().filter(is_odd).map(|cause| &cause.message).collect();
        let known: HashSet<_> = before.iter().collect();
        let is_known = |cause: &Cause| match service::is_of_annotated_ranges(cause) {
            true => service::keeps_annotated_ranges(old, new),
            false => known.contains(cause) || odd.contains(&cause.message),
        };
        causes.retain(|cause| !is_known(cause));
    }
    causes
}

/// Why a client cannot write a status in the place of another one.
pub(crate) fn causes_of_status(resource: &Resource, old: &Object, new: &Object) -> Vec<Cause> {
    let mut causes = Vec::new();
    if !resource.custom {
        status::causes(&resource.id(), &At::root(old), &At::root(new), &mut causes);
    }
    causes
}

/// Why a pod cannot have these ephemeral containers instead of those it has.
pub(crate) fn causes_of_ephemeral_containers(resource: &Resource, old: &Object, new: &Object) -> Vec<Cause> {
    const OF_NODE: &str = "kubernetes.io/config.mirror";
    let is_of_node = |annotations: &Value| annotations.get(OF_NODE).is_some();
    if metadata(old).get("annotations").is_some_and(is_of_node) {
        return vec![Cause::forbidden(
            "[]",
            "static pods do not support ephemeral containers",
        )];
    }
    let mut causes = added_causes(resource, old, new);
    immutable::ephemeral_containers(old, new, &mut causes);
    causes
}

/// Why an object cannot become another one; what is said of the former object is not said again.
pub(crate) fn causes_of_change(resource: &Resource, old: &Object, new: &Object) -> Vec<Cause> {
    if resource.custom {
        return Vec::new();
    }
    let mut causes = added_causes(resource, old, new);
    let id = resource.id();
    let mut of_change = Vec::new();
    immutable::causes(&id, old, new, &mut of_change);
    if matches!(&*id, "daemonsets.apps" | registration::ID) {
        std::mem::swap(&mut causes, &mut of_change);
    }
    causes.append(&mut of_change);
    causes
}
