//! k8s-openapi's types.

use crate::Line;
use k8s_openapi::api::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions;
use k8s_openapi::apimachinery::pkg::apis::meta;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration;
use k8s_openapi::{List, Resource};
use kube_protobuf::{decode_slice, from_slice};
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Reads a line as a type; what is refused in one encoding must be refused in the other. `None` if it is another kind.
fn read<T: Resource + DeserializeOwned + PartialEq + Debug + 'static>(line: &Line) -> Option<()> {
    if (T::API_VERSION, T::KIND) != (&line.api_version, &line.kind) {
        return None;
    }
    let json = T::deserialize(&line.json);
    for protobuf in [from_slice::<T>(&line.protobuf), decode_slice::<T>(&line.protobuf)] {
        match (protobuf, &json) {
            (Ok(protobuf), Ok(json)) => assert_eq!(protobuf, *json),
            (Err(_), Err(_)) => {}
            (protobuf, json) => panic!("{:?}, not {:?}", protobuf.err(), json.as_ref().err()),
        }
    }
    Some(())
}

/// Reads a line as the type of its kind, if there is one.
pub(crate) fn check(line: &Line) -> Option<()> {
    None.or_else(|| read::<List<core::v1::Pod>>(line))
        .or_else(|| read::<admissionregistration::v1::MutatingAdmissionPolicy>(line))
        .or_else(|| read::<admissionregistration::v1::MutatingAdmissionPolicyBinding>(line))
        .or_else(|| read::<admissionregistration::v1::MutatingWebhookConfiguration>(line))
        .or_else(|| read::<admissionregistration::v1::ValidatingAdmissionPolicy>(line))
        .or_else(|| read::<admissionregistration::v1::ValidatingAdmissionPolicyBinding>(line))
        .or_else(|| read::<admissionregistration::v1::ValidatingWebhookConfiguration>(line))
        .or_else(|| read::<admissionregistration::v1alpha1::MutatingAdmissionPolicy>(line))
        .or_else(|| read::<admissionregistration::v1alpha1::MutatingAdmissionPolicyBinding>(line))
        .or_else(|| read::<admissionregistration::v1beta1::MutatingAdmissionPolicy>(line))
        .or_else(|| read::<admissionregistration::v1beta1::MutatingAdmissionPolicyBinding>(line))
        .or_else(|| read::<apiserverinternal::v1alpha1::StorageVersion>(line))
        .or_else(|| read::<apps::v1::ControllerRevision>(line))
        .or_else(|| read::<apps::v1::DaemonSet>(line))
        .or_else(|| read::<apps::v1::Deployment>(line))
        .or_else(|| read::<apps::v1::ReplicaSet>(line))
        .or_else(|| read::<apps::v1::StatefulSet>(line))
        .or_else(|| read::<authentication::v1::SelfSubjectReview>(line))
        .or_else(|| read::<authentication::v1::TokenRequest>(line))
        .or_else(|| read::<authentication::v1::TokenReview>(line))
        .or_else(|| read::<authorization::v1::LocalSubjectAccessReview>(line))
        .or_else(|| read::<authorization::v1::SelfSubjectAccessReview>(line))
        .or_else(|| read::<authorization::v1::SelfSubjectRulesReview>(line))
        .or_else(|| read::<authorization::v1::SubjectAccessReview>(line))
        .or_else(|| read::<autoscaling::v1::HorizontalPodAutoscaler>(line))
        .or_else(|| read::<autoscaling::v1::Scale>(line))
        .or_else(|| read::<autoscaling::v2::HorizontalPodAutoscaler>(line))
        .or_else(|| read::<batch::v1::CronJob>(line))
        .or_else(|| read::<batch::v1::Job>(line))
        .or_else(|| read::<certificates::v1::CertificateSigningRequest>(line))
        .or_else(|| read::<certificates::v1::ClusterTrustBundle>(line))
        .or_else(|| read::<certificates::v1::PodCertificateRequest>(line))
        .or_else(|| read::<certificates::v1beta1::ClusterTrustBundle>(line))
        .or_else(|| read::<certificates::v1beta1::PodCertificateRequest>(line))
        .or_else(|| read::<coordination::v1::Lease>(line))
        .or_else(|| read::<coordination::v1alpha2::LeaseCandidate>(line))
        .or_else(|| read::<coordination::v1beta1::LeaseCandidate>(line))
        .or_else(|| read::<core::v1::Binding>(line))
        .or_else(|| read::<core::v1::ComponentStatus>(line))
        .or_else(|| read::<core::v1::ConfigMap>(line))
        .or_else(|| read::<core::v1::Endpoints>(line))
        .or_else(|| read::<core::v1::Event>(line))
        .or_else(|| read::<core::v1::LimitRange>(line))
        .or_else(|| read::<core::v1::Namespace>(line))
        .or_else(|| read::<core::v1::Node>(line))
        .or_else(|| read::<core::v1::PersistentVolume>(line))
        .or_else(|| read::<core::v1::PersistentVolumeClaim>(line))
        .or_else(|| read::<core::v1::Pod>(line))
        .or_else(|| read::<core::v1::PodTemplate>(line))
        .or_else(|| read::<core::v1::ReplicationController>(line))
        .or_else(|| read::<core::v1::ResourceQuota>(line))
        .or_else(|| read::<core::v1::Secret>(line))
        .or_else(|| read::<core::v1::Service>(line))
        .or_else(|| read::<core::v1::ServiceAccount>(line))
        .or_else(|| read::<discovery::v1::EndpointSlice>(line))
        .or_else(|| read::<events::v1::Event>(line))
        .or_else(|| read::<flowcontrol::v1::FlowSchema>(line))
        .or_else(|| read::<flowcontrol::v1::PriorityLevelConfiguration>(line))
        .or_else(|| read::<lifecycle::v1alpha1::Eviction>(line))
        .or_else(|| read::<lifecycle::v1alpha1::EvictionRequest>(line))
        .or_else(|| read::<networking::v1::IPAddress>(line))
        .or_else(|| read::<networking::v1::Ingress>(line))
        .or_else(|| read::<networking::v1::IngressClass>(line))
        .or_else(|| read::<networking::v1::NetworkPolicy>(line))
        .or_else(|| read::<networking::v1::ServiceCIDR>(line))
        .or_else(|| read::<node::v1::RuntimeClass>(line))
        .or_else(|| read::<policy::v1::Eviction>(line))
        .or_else(|| read::<policy::v1::PodDisruptionBudget>(line))
        .or_else(|| read::<rbac::v1::ClusterRole>(line))
        .or_else(|| read::<rbac::v1::ClusterRoleBinding>(line))
        .or_else(|| read::<rbac::v1::Role>(line))
        .or_else(|| read::<rbac::v1::RoleBinding>(line))
        .or_else(|| read::<resource::v1::DeviceClass>(line))
        .or_else(|| read::<resource::v1::DeviceTaintRule>(line))
        .or_else(|| read::<resource::v1::ResourceClaim>(line))
        .or_else(|| read::<resource::v1::ResourceClaimTemplate>(line))
        .or_else(|| read::<resource::v1::ResourceSlice>(line))
        .or_else(|| read::<resource::v1alpha3::DeviceTaintRule>(line))
        .or_else(|| read::<resource::v1alpha3::ResourcePoolStatusRequest>(line))
        .or_else(|| read::<resource::v1beta1::DeviceClass>(line))
        .or_else(|| read::<resource::v1beta1::ResourceClaim>(line))
        .or_else(|| read::<resource::v1beta1::ResourceClaimTemplate>(line))
        .or_else(|| read::<resource::v1beta1::ResourceSlice>(line))
        .or_else(|| read::<resource::v1beta2::DeviceClass>(line))
        .or_else(|| read::<resource::v1beta2::DeviceTaintRule>(line))
        .or_else(|| read::<resource::v1beta2::ResourceClaim>(line))
        .or_else(|| read::<resource::v1beta2::ResourceClaimTemplate>(line))
        .or_else(|| read::<resource::v1beta2::ResourceSlice>(line))
        .or_else(|| read::<scheduling::v1::PriorityClass>(line))
        .or_else(|| read::<scheduling::v1alpha3::CompositePodGroup>(line))
        .or_else(|| read::<scheduling::v1alpha3::PodGroup>(line))
        .or_else(|| read::<scheduling::v1alpha3::Workload>(line))
        .or_else(|| read::<scheduling::v1beta1::PodGroup>(line))
        .or_else(|| read::<scheduling::v1beta1::Workload>(line))
        .or_else(|| read::<storage::v1::CSIDriver>(line))
        .or_else(|| read::<storage::v1::CSINode>(line))
        .or_else(|| read::<storage::v1::CSIStorageCapacity>(line))
        .or_else(|| read::<storage::v1::StorageClass>(line))
        .or_else(|| read::<storage::v1::VolumeAttachment>(line))
        .or_else(|| read::<storage::v1::VolumeAttributesClass>(line))
        .or_else(|| read::<storagemigration::v1::StorageVersionMigration>(line))
        .or_else(|| read::<storagemigration::v1beta1::StorageVersionMigration>(line))
        .or_else(|| read::<apiextensions::v1::CustomResourceDefinition>(line))
        .or_else(|| read::<meta::v1::APIGroup>(line))
        .or_else(|| read::<meta::v1::APIGroupList>(line))
        .or_else(|| read::<meta::v1::APIResourceList>(line))
        .or_else(|| read::<meta::v1::APIVersions>(line))
        .or_else(|| read::<meta::v1::Status>(line))
        .or_else(|| read::<apiregistration::v1::APIService>(line))
}
