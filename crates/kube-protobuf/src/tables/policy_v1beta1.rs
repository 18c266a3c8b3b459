//! The messages of `k8s.io.api.policy.v1beta1`.

use super::*;

pub(crate) static Eviction: Message = object("k8s.io.api.policy.v1beta1.Eviction", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "deleteOptions", Msg(&meta_v1::DeleteOptions), Optional),
]);

pub(crate) static PodDisruptionBudget: Message = object("k8s.io.api.policy.v1beta1.PodDisruptionBudget", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&policy_v1beta1::PodDisruptionBudgetSpec), OmitEmpty),
    one(3, "status", Msg(&policy_v1beta1::PodDisruptionBudgetStatus), OmitEmpty),
]);

pub(crate) static PodDisruptionBudgetList: Message = object("k8s.io.api.policy.v1beta1.PodDisruptionBudgetList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&policy_v1beta1::PodDisruptionBudget), Items),
]);

pub(crate) static PodDisruptionBudgetSpec: Message = message("k8s.io.api.policy.v1beta1.PodDisruptionBudgetSpec", &[
    one(1, "minAvailable", Msg(&util_intstr::IntOrString), Optional),
    one(2, "selector", Msg(&meta_v1::LabelSelector), Optional),
    one(3, "maxUnavailable", Msg(&util_intstr::IntOrString), Optional),
    one(4, "unhealthyPodEvictionPolicy", String, Optional),
]);

pub(crate) static PodDisruptionBudgetStatus: Message = message("k8s.io.api.policy.v1beta1.PodDisruptionBudgetStatus", &[
    one(1, "observedGeneration", Int64, OmitEmpty),
    map(2, "disruptedPods", Msg(&meta_v1::Time), OmitEmpty),
    one(3, "disruptionsAllowed", Int32, Required),
    one(4, "currentHealthy", Int32, Required),
    one(5, "desiredHealthy", Int32, Required),
    one(6, "expectedPods", Int32, Required),
    many(7, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
]);
