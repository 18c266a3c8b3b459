//! The structs of `api::policy::v1`.

use super::*;
use k8s_openapi::api::policy::v1 as k8s;

impl Message for k8s::Eviction {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.delete_options.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodDisruptionBudget {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodDisruptionBudgetSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_once(&mut self.min_available, input),
            2 => message(self.selector.get_or_insert_default(), input),
            3 => some_once(&mut self.max_unavailable, input),
            4 => some(&mut self.unhealthy_pod_eviction_policy, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodDisruptionBudgetStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(3, Wire::Varint(0)), (4, Wire::Varint(0)), (5, Wire::Varint(0)), (6, Wire::Varint(0))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.observed_generation, input),
            2 => unread(&self.disrupted_pods),
            3 => { k8s_openapi::k8s_if_le_1_35! { return set(&mut self.disruptions_allowed, input); } k8s_openapi::k8s_if_ge_1_36! { return some(&mut self.disruptions_allowed, input); } Some(()) }
            4 => { k8s_openapi::k8s_if_le_1_35! { return set(&mut self.current_healthy, input); } k8s_openapi::k8s_if_ge_1_36! { return some(&mut self.current_healthy, input); } Some(()) }
            5 => { k8s_openapi::k8s_if_le_1_35! { return set(&mut self.desired_healthy, input); } k8s_openapi::k8s_if_ge_1_36! { return some(&mut self.desired_healthy, input); } Some(()) }
            6 => { k8s_openapi::k8s_if_le_1_35! { return set(&mut self.expected_pods, input); } k8s_openapi::k8s_if_ge_1_36! { return some(&mut self.expected_pods, input); } Some(()) }
            7 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            _ => Some(()),
        }
    }
}
