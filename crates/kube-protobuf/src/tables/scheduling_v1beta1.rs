//! The messages of `k8s.io.api.scheduling.v1beta1`.

use super::*;

pub(crate) static AllCompositeDisruptionMode: Message = message("k8s.io.api.scheduling.v1beta1.AllCompositeDisruptionMode", &[
]);

pub(crate) static AllDisruptionMode: Message = message("k8s.io.api.scheduling.v1beta1.AllDisruptionMode", &[
]);

pub(crate) static BasicSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1beta1.BasicSchedulingPolicy", &[
]);

pub(crate) static CompositeBasicSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1beta1.CompositeBasicSchedulingPolicy", &[
]);

pub(crate) static CompositeDisruptionMode: Message = message("k8s.io.api.scheduling.v1beta1.CompositeDisruptionMode", &[
    one(1, "single", Msg(&scheduling_v1beta1::SingleCompositeDisruptionMode), Optional),
    one(2, "all", Msg(&scheduling_v1beta1::AllCompositeDisruptionMode), Optional),
]);

pub(crate) static CompositeGangSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1beta1.CompositeGangSchedulingPolicy", &[
    one(1, "minGroupCount", Int32, Required),
]);

pub(crate) static CompositePodGroupSchedulingConstraints: Message = message("k8s.io.api.scheduling.v1beta1.CompositePodGroupSchedulingConstraints", &[
    many(1, "topology", Msg(&scheduling_v1beta1::TopologyConstraint), OmitEmpty),
]);

pub(crate) static CompositePodGroupSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1beta1.CompositePodGroupSchedulingPolicy", &[
    one(1, "basic", Msg(&scheduling_v1beta1::CompositeBasicSchedulingPolicy), Optional),
    one(2, "gang", Msg(&scheduling_v1beta1::CompositeGangSchedulingPolicy), Optional),
]);

pub(crate) static CompositePodGroupTemplate: Message = message("k8s.io.api.scheduling.v1beta1.CompositePodGroupTemplate", &[
    one(1, "name", String, Required),
    one(2, "schedulingPolicy", Msg(&scheduling_v1beta1::CompositePodGroupSchedulingPolicy), Required),
    one(3, "schedulingConstraints", Msg(&scheduling_v1beta1::CompositePodGroupSchedulingConstraints), Optional),
    one(4, "disruptionMode", Msg(&scheduling_v1beta1::CompositeDisruptionMode), Optional),
    one(5, "priorityClassName", String, OmitEmpty),
    one(6, "priority", Int32, Optional),
    one(7, "preemptionPolicy", String, Optional),
    many(8, "podGroupTemplates", Msg(&scheduling_v1beta1::PodGroupTemplate), OmitEmpty),
    many(9, "compositePodGroupTemplates", Msg(&scheduling_v1beta1::CompositePodGroupTemplate), OmitEmpty),
]);

pub(crate) static DisruptionMode: Message = message("k8s.io.api.scheduling.v1beta1.DisruptionMode", &[
    one(1, "single", Msg(&scheduling_v1beta1::SingleDisruptionMode), Optional),
    one(2, "all", Msg(&scheduling_v1beta1::AllDisruptionMode), Optional),
]);

pub(crate) static GangSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1beta1.GangSchedulingPolicy", &[
    one(1, "minCount", Int32, Required),
]);

pub(crate) static PodGroup: Message = object("k8s.io.api.scheduling.v1beta1.PodGroup", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&scheduling_v1beta1::PodGroupSpec), Required),
    one(3, "status", Msg(&scheduling_v1beta1::PodGroupStatus), OmitEmpty),
]);

pub(crate) static PodGroupList: Message = object("k8s.io.api.scheduling.v1beta1.PodGroupList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&scheduling_v1beta1::PodGroup), Items),
]);

pub(crate) static PodGroupResourceClaim: Message = message("k8s.io.api.scheduling.v1beta1.PodGroupResourceClaim", &[
    one(1, "name", String, Required),
    one(2, "resourceClaimName", String, Optional),
    one(3, "resourceClaimTemplateName", String, Optional),
]);

pub(crate) static PodGroupResourceClaimStatus: Message = message("k8s.io.api.scheduling.v1beta1.PodGroupResourceClaimStatus", &[
    one(1, "name", String, Required),
    one(2, "resourceClaimName", String, Optional),
]);

pub(crate) static PodGroupSchedulingConstraints: Message = message("k8s.io.api.scheduling.v1beta1.PodGroupSchedulingConstraints", &[
    many(1, "topology", Msg(&scheduling_v1beta1::TopologyConstraint), OmitEmpty),
]);

pub(crate) static PodGroupSchedulingPolicy: Message = message("k8s.io.api.scheduling.v1beta1.PodGroupSchedulingPolicy", &[
    one(1, "basic", Msg(&scheduling_v1beta1::BasicSchedulingPolicy), Optional),
    one(2, "gang", Msg(&scheduling_v1beta1::GangSchedulingPolicy), Optional),
]);

pub(crate) static PodGroupSpec: Message = message("k8s.io.api.scheduling.v1beta1.PodGroupSpec", &[
    one(1, "parentCompositePodGroupName", String, Optional),
    one(2, "workloadRef", Msg(&scheduling_v1beta1::WorkloadReference), Optional),
    one(3, "schedulingPolicy", Msg(&scheduling_v1beta1::PodGroupSchedulingPolicy), Required),
    one(4, "schedulingConstraints", Msg(&scheduling_v1beta1::PodGroupSchedulingConstraints), Optional),
    many(5, "resourceClaims", Msg(&scheduling_v1beta1::PodGroupResourceClaim), OmitEmpty),
    one(6, "disruptionMode", Msg(&scheduling_v1beta1::DisruptionMode), Optional),
    one(7, "priorityClassName", String, OmitEmpty),
    one(8, "priority", Int32, Optional),
    one(9, "preemptionPolicy", String, Optional),
]);

pub(crate) static PodGroupStatus: Message = message("k8s.io.api.scheduling.v1beta1.PodGroupStatus", &[
    many(1, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
    many(2, "resourceClaimStatuses", Msg(&scheduling_v1beta1::PodGroupResourceClaimStatus), OmitEmpty),
]);

pub(crate) static PodGroupTemplate: Message = message("k8s.io.api.scheduling.v1beta1.PodGroupTemplate", &[
    one(1, "name", String, Required),
    one(2, "schedulingPolicy", Msg(&scheduling_v1beta1::PodGroupSchedulingPolicy), Required),
    one(3, "schedulingConstraints", Msg(&scheduling_v1beta1::PodGroupSchedulingConstraints), Nullable),
    many(4, "resourceClaims", Msg(&scheduling_v1beta1::PodGroupResourceClaim), OmitEmpty),
    one(5, "disruptionMode", Msg(&scheduling_v1beta1::DisruptionMode), Optional),
    one(6, "priorityClassName", String, OmitEmpty),
    one(7, "priority", Int32, Optional),
    one(8, "preemptionPolicy", String, Optional),
]);

pub(crate) static PriorityClass: Message = object("k8s.io.api.scheduling.v1beta1.PriorityClass", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "value", Int32, Required),
    one(3, "globalDefault", Bool, OmitEmpty),
    one(4, "description", String, OmitEmpty),
    one(5, "preemptionPolicy", String, Optional),
]);

pub(crate) static PriorityClassList: Message = object("k8s.io.api.scheduling.v1beta1.PriorityClassList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&scheduling_v1beta1::PriorityClass), Items),
]);

pub(crate) static SingleCompositeDisruptionMode: Message = message("k8s.io.api.scheduling.v1beta1.SingleCompositeDisruptionMode", &[
]);

pub(crate) static SingleDisruptionMode: Message = message("k8s.io.api.scheduling.v1beta1.SingleDisruptionMode", &[
]);

pub(crate) static TopologyConstraint: Message = message("k8s.io.api.scheduling.v1beta1.TopologyConstraint", &[
    one(1, "key", String, Required),
]);

pub(crate) static TypedLocalObjectReference: Message = message("k8s.io.api.scheduling.v1beta1.TypedLocalObjectReference", &[
    one(1, "apiGroup", String, OmitEmpty),
    one(2, "kind", String, Required),
    one(3, "name", String, Required),
]);

pub(crate) static Workload: Message = object("k8s.io.api.scheduling.v1beta1.Workload", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&scheduling_v1beta1::WorkloadSpec), Required),
]);

pub(crate) static WorkloadList: Message = object("k8s.io.api.scheduling.v1beta1.WorkloadList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&scheduling_v1beta1::Workload), Items),
]);

pub(crate) static WorkloadReference: Message = message("k8s.io.api.scheduling.v1beta1.WorkloadReference", &[
    one(1, "workloadName", String, Required),
    one(2, "templateName", String, Required),
]);

pub(crate) static WorkloadSpec: Message = message("k8s.io.api.scheduling.v1beta1.WorkloadSpec", &[
    one(1, "controllerRef", Msg(&scheduling_v1beta1::TypedLocalObjectReference), Optional),
    many(2, "podGroupTemplates", Msg(&scheduling_v1beta1::PodGroupTemplate), Required),
    many(3, "compositePodGroupTemplates", Msg(&scheduling_v1beta1::CompositePodGroupTemplate), OmitEmpty),
]);
