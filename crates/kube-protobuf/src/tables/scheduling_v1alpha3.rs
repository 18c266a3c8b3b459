//! The messages of `k8s.io.api.scheduling.v1alpha3`.

use super::*;

pub(crate) static AllCompositeDisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.AllCompositeDisruptionMode", &[
]);

pub(crate) static AllDisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.AllDisruptionMode", &[
]);

pub(crate) static BasicSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.BasicSchedulingPolicy", &[
]);

pub(crate) static CompositeBasicSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.CompositeBasicSchedulingPolicy", &[
]);

pub(crate) static CompositeDisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.CompositeDisruptionMode", &[
    one(1, "single", Msg(&scheduling_v1alpha3::SingleCompositeDisruptionMode), Optional),
    one(2, "all", Msg(&scheduling_v1alpha3::AllCompositeDisruptionMode), Optional),
]);

pub(crate) static CompositeGangSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.CompositeGangSchedulingPolicy", &[
    one(1, "minGroupCount", Int32, Required),
]);

pub(crate) static CompositePodGroup: Message = object("k8s.io.api.scheduling.v1alpha3.CompositePodGroup", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&scheduling_v1alpha3::CompositePodGroupSpec), Required),
    one(3, "status", Msg(&scheduling_v1alpha3::CompositePodGroupStatus), OmitEmpty),
]);

pub(crate) static CompositePodGroupList: Message = object("k8s.io.api.scheduling.v1alpha3.CompositePodGroupList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&scheduling_v1alpha3::CompositePodGroup), Items),
]);

pub(crate) static CompositePodGroupSchedulingConstraints: Message = message("k8s.io.api.scheduling.v1alpha3.CompositePodGroupSchedulingConstraints", &[
    many(1, "topology", Msg(&scheduling_v1alpha3::TopologyConstraint), OmitEmpty),
]);

pub(crate) static CompositePodGroupSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.CompositePodGroupSchedulingPolicy", &[
    one(1, "basic", Msg(&scheduling_v1alpha3::CompositeBasicSchedulingPolicy), Optional),
    one(2, "gang", Msg(&scheduling_v1alpha3::CompositeGangSchedulingPolicy), Optional),
]);

pub(crate) static CompositePodGroupSpec: Message = message("k8s.io.api.scheduling.v1alpha3.CompositePodGroupSpec", &[
    one(1, "parentCompositePodGroupName", String, Optional),
    one(2, "workloadRef", Msg(&scheduling_v1alpha3::WorkloadReference), Nullable),
    one(3, "schedulingPolicy", Msg(&scheduling_v1alpha3::CompositePodGroupSchedulingPolicy), Required),
    one(4, "schedulingConstraints", Msg(&scheduling_v1alpha3::CompositePodGroupSchedulingConstraints), Optional),
    one(5, "disruptionMode", Msg(&scheduling_v1alpha3::CompositeDisruptionMode), Optional),
    one(6, "priorityClassName", String, OmitEmpty),
    one(7, "priority", Int32, Optional),
    one(8, "preemptionPolicy", String, Optional),
]);

pub(crate) static CompositePodGroupStatus: Message = message("k8s.io.api.scheduling.v1alpha3.CompositePodGroupStatus", &[
    many(1, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
]);

pub(crate) static CompositePodGroupTemplate: Message = message("k8s.io.api.scheduling.v1alpha3.CompositePodGroupTemplate", &[
    one(1, "name", String, Required),
    one(2, "schedulingPolicy", Msg(&scheduling_v1alpha3::CompositePodGroupSchedulingPolicy), Required),
    one(3, "schedulingConstraints", Msg(&scheduling_v1alpha3::CompositePodGroupSchedulingConstraints), Optional),
    one(4, "disruptionMode", Msg(&scheduling_v1alpha3::CompositeDisruptionMode), Optional),
    one(5, "priorityClassName", String, OmitEmpty),
    one(6, "priority", Int32, Optional),
    one(7, "preemptionPolicy", String, Optional),
    many(8, "podGroupTemplates", Msg(&scheduling_v1alpha3::PodGroupTemplate), OmitEmpty),
    many(9, "compositePodGroupTemplates", Msg(&scheduling_v1alpha3::CompositePodGroupTemplate), OmitEmpty),
]);

pub(crate) static DisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.DisruptionMode", &[
    one(1, "single", Msg(&scheduling_v1alpha3::SingleDisruptionMode), Optional),
    one(2, "all", Msg(&scheduling_v1alpha3::AllDisruptionMode), Optional),
]);

pub(crate) static GangSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.GangSchedulingPolicy", &[
    one(1, "minCount", Int32, Required),
]);

pub(crate) static PodGroup: Message = object("k8s.io.api.scheduling.v1alpha3.PodGroup", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&scheduling_v1alpha3::PodGroupSpec), Required),
    one(3, "status", Msg(&scheduling_v1alpha3::PodGroupStatus), OmitEmpty),
]);

pub(crate) static PodGroupList: Message = object("k8s.io.api.scheduling.v1alpha3.PodGroupList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&scheduling_v1alpha3::PodGroup), Items),
]);

pub(crate) static PodGroupResourceClaim: Message = message("k8s.io.api.scheduling.v1alpha3.PodGroupResourceClaim", &[
    one(1, "name", String, Required),
    one(2, "resourceClaimName", String, Optional),
    one(3, "resourceClaimTemplateName", String, Optional),
]);

pub(crate) static PodGroupResourceClaimStatus: Message = message("k8s.io.api.scheduling.v1alpha3.PodGroupResourceClaimStatus", &[
    one(1, "name", String, Required),
    one(2, "resourceClaimName", String, Optional),
]);

pub(crate) static PodGroupSchedulingConstraints: Message = message("k8s.io.api.scheduling.v1alpha3.PodGroupSchedulingConstraints", &[
    many(1, "topology", Msg(&scheduling_v1alpha3::TopologyConstraint), OmitEmpty),
]);

pub(crate) static PodGroupSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.PodGroupSchedulingPolicy", &[
    one(1, "basic", Msg(&scheduling_v1alpha3::BasicSchedulingPolicy), Optional),
    one(2, "gang", Msg(&scheduling_v1alpha3::GangSchedulingPolicy), Optional),
]);

pub(crate) static PodGroupSpec: Message = message("k8s.io.api.scheduling.v1alpha3.PodGroupSpec", &[
    one(1, "parentCompositePodGroupName", String, Optional),
    one(2, "workloadRef", Msg(&scheduling_v1alpha3::WorkloadReference), Optional),
    one(3, "schedulingPolicy", Msg(&scheduling_v1alpha3::PodGroupSchedulingPolicy), Required),
    one(4, "schedulingConstraints", Msg(&scheduling_v1alpha3::PodGroupSchedulingConstraints), Optional),
    many(5, "resourceClaims", Msg(&scheduling_v1alpha3::PodGroupResourceClaim), OmitEmpty),
    one(6, "disruptionMode", Msg(&scheduling_v1alpha3::DisruptionMode), Optional),
    one(7, "priorityClassName", String, OmitEmpty),
    one(8, "priority", Int32, Optional),
    one(9, "preemptionPolicy", String, Optional),
]);

pub(crate) static PodGroupStatus: Message = message("k8s.io.api.scheduling.v1alpha3.PodGroupStatus", &[
    many(1, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
    many(2, "resourceClaimStatuses", Msg(&scheduling_v1alpha3::PodGroupResourceClaimStatus), OmitEmpty),
]);

pub(crate) static PodGroupTemplate: Message = message("k8s.io.api.scheduling.v1alpha3.PodGroupTemplate", &[
    one(1, "name", String, Required),
    one(2, "schedulingPolicy", Msg(&scheduling_v1alpha3::PodGroupSchedulingPolicy), Required),
    one(3, "schedulingConstraints", Msg(&scheduling_v1alpha3::PodGroupSchedulingConstraints), Nullable),
    many(4, "resourceClaims", Msg(&scheduling_v1alpha3::PodGroupResourceClaim), OmitEmpty),
    one(5, "disruptionMode", Msg(&scheduling_v1alpha3::DisruptionMode), Optional),
    one(6, "priorityClassName", String, OmitEmpty),
    one(7, "priority", Int32, Optional),
    one(8, "preemptionPolicy", String, Optional),
]);

pub(crate) static SingleCompositeDisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.SingleCompositeDisruptionMode", &[
]);

pub(crate) static SingleDisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.SingleDisruptionMode", &[
]);

pub(crate) static TopologyConstraint: Message = message("k8s.io.api.scheduling.v1alpha3.TopologyConstraint", &[
    one(1, "key", String, Required),
]);

pub(crate) static TypedLocalObjectReference: Message = message("k8s.io.api.scheduling.v1alpha3.TypedLocalObjectReference", &[
    one(1, "apiGroup", String, OmitEmpty),
    one(2, "kind", String, Required),
    one(3, "name", String, Required),
]);

pub(crate) static Workload: Message = object("k8s.io.api.scheduling.v1alpha3.Workload", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&scheduling_v1alpha3::WorkloadSpec), Required),
]);

pub(crate) static WorkloadCompositePodGroupAllDisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadCompositePodGroupAllDisruptionMode", &[
]);

pub(crate) static WorkloadCompositePodGroupBasicSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadCompositePodGroupBasicSchedulingPolicy", &[
]);

pub(crate) static WorkloadCompositePodGroupDisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadCompositePodGroupDisruptionMode", &[
    one(1, "single", Msg(&scheduling_v1alpha3::WorkloadCompositePodGroupSingleDisruptionMode), Optional),
    one(2, "all", Msg(&scheduling_v1alpha3::WorkloadCompositePodGroupAllDisruptionMode), Optional),
]);

pub(crate) static WorkloadCompositePodGroupGangSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadCompositePodGroupGangSchedulingPolicy", &[
    one(1, "minGroupCount", Int32, Optional),
]);

pub(crate) static WorkloadCompositePodGroupSchedulingConstraints: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadCompositePodGroupSchedulingConstraints", &[
    many(1, "topology", Msg(&scheduling_v1alpha3::TopologyConstraint), OmitEmpty),
]);

pub(crate) static WorkloadCompositePodGroupSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadCompositePodGroupSchedulingPolicy", &[
    one(1, "basic", Msg(&scheduling_v1alpha3::WorkloadCompositePodGroupBasicSchedulingPolicy), Optional),
    one(2, "gang", Msg(&scheduling_v1alpha3::WorkloadCompositePodGroupGangSchedulingPolicy), Optional),
]);

pub(crate) static WorkloadCompositePodGroupSingleDisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadCompositePodGroupSingleDisruptionMode", &[
]);

pub(crate) static WorkloadList: Message = object("k8s.io.api.scheduling.v1alpha3.WorkloadList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&scheduling_v1alpha3::Workload), Items),
]);

pub(crate) static WorkloadPodGroupAllDisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadPodGroupAllDisruptionMode", &[
]);

pub(crate) static WorkloadPodGroupBasicSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadPodGroupBasicSchedulingPolicy", &[
]);

pub(crate) static WorkloadPodGroupDisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadPodGroupDisruptionMode", &[
    one(1, "single", Msg(&scheduling_v1alpha3::WorkloadPodGroupSingleDisruptionMode), Optional),
    one(2, "all", Msg(&scheduling_v1alpha3::WorkloadPodGroupAllDisruptionMode), Optional),
]);

pub(crate) static WorkloadPodGroupGangSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadPodGroupGangSchedulingPolicy", &[
    one(1, "minCount", Int32, Optional),
]);

pub(crate) static WorkloadPodGroupResourceClaim: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadPodGroupResourceClaim", &[
    one(1, "name", String, Required),
    one(2, "resourceClaimName", String, Optional),
    one(3, "resourceClaimTemplateName", String, Optional),
]);

pub(crate) static WorkloadPodGroupSchedulingConstraints: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadPodGroupSchedulingConstraints", &[
    many(1, "topology", Msg(&scheduling_v1alpha3::TopologyConstraint), OmitEmpty),
]);

pub(crate) static WorkloadPodGroupSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy", &[
    one(1, "basic", Msg(&scheduling_v1alpha3::WorkloadPodGroupBasicSchedulingPolicy), Optional),
    one(2, "gang", Msg(&scheduling_v1alpha3::WorkloadPodGroupGangSchedulingPolicy), Optional),
]);

pub(crate) static WorkloadPodGroupSingleDisruptionMode: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadPodGroupSingleDisruptionMode", &[
]);

pub(crate) static WorkloadReference: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadReference", &[
    one(1, "workloadName", String, Required),
    one(2, "templateName", String, Required),
]);

pub(crate) static WorkloadSpec: Message = message("k8s.io.api.scheduling.v1alpha3.WorkloadSpec", &[
    one(1, "controllerRef", Msg(&scheduling_v1alpha3::TypedLocalObjectReference), Optional),
    many(2, "podGroupTemplates", Msg(&scheduling_v1alpha3::PodGroupTemplate), Required),
    many(3, "compositePodGroupTemplates", Msg(&scheduling_v1alpha3::CompositePodGroupTemplate), OmitEmpty),
]);
