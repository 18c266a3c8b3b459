//! The structs of `api::scheduling::v1beta1`.

use super::*;
use k8s_openapi::api::scheduling::v1beta1 as k8s;

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::CompositeDisruptionMode {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_by_serde(&mut self.single, &tables::scheduling_v1beta1::SingleCompositeDisruptionMode, input),
            2 => some_by_serde(&mut self.all, &tables::scheduling_v1beta1::AllCompositeDisruptionMode, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::CompositeGangSchedulingPolicy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.min_group_count, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::CompositePodGroupSchedulingConstraints {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.topology, &input), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::CompositePodGroupSchedulingPolicy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_by_serde(&mut self.basic, &tables::scheduling_v1beta1::CompositeBasicSchedulingPolicy, input),
            2 => message(self.gang.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::CompositePodGroupTemplate {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(&mut self.scheduling_policy, input),
            3 => message(self.scheduling_constraints.get_or_insert_default(), input),
            4 => message(self.disruption_mode.get_or_insert_default(), input),
            5 => some_unless_empty(&mut self.priority_class_name, input),
            6 => some(&mut self.priority, input),
            7 => some(&mut self.preemption_policy, input),
            8 => push_message(room(&mut self.pod_group_templates, &input), input),
            9 => push_message(room(&mut self.composite_pod_group_templates, &input), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::DisruptionMode {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_by_serde(&mut self.single, &tables::scheduling_v1beta1::SingleDisruptionMode, input),
            2 => some_by_serde(&mut self.all, &tables::scheduling_v1beta1::AllDisruptionMode, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::GangSchedulingPolicy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.min_count, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodGroup {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.spec, input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodGroupResourceClaim {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => some(&mut self.resource_claim_name, input),
            3 => some(&mut self.resource_claim_template_name, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodGroupResourceClaimStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => some(&mut self.resource_claim_name, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodGroupSchedulingConstraints {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.topology, &input), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodGroupSchedulingPolicy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_by_serde(&mut self.basic, &tables::scheduling_v1beta1::BasicSchedulingPolicy, input),
            2 => message(self.gang.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodGroupSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.parent_composite_pod_group_name, input),
            2 => message(self.workload_ref.get_or_insert_default(), input),
            3 => message(&mut self.scheduling_policy, input),
            4 => message(self.scheduling_constraints.get_or_insert_default(), input),
            5 => push_message(room(&mut self.resource_claims, &input), input),
            6 => message(self.disruption_mode.get_or_insert_default(), input),
            7 => some_unless_empty(&mut self.priority_class_name, input),
            8 => some(&mut self.priority, input),
            9 => some(&mut self.preemption_policy, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodGroupStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            2 => push_message(room(&mut self.resource_claim_statuses, &input), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodGroupTemplate {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(&mut self.scheduling_policy, input),
            3 => message(self.scheduling_constraints.get_or_insert_default(), input),
            4 => push_message(room(&mut self.resource_claims, &input), input),
            5 => message(self.disruption_mode.get_or_insert_default(), input),
            6 => some_unless_empty(&mut self.priority_class_name, input),
            7 => some(&mut self.priority, input),
            8 => some(&mut self.preemption_policy, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::TopologyConstraint {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.key, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::TypedLocalObjectReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.api_group, input),
            2 => set(&mut self.kind, input),
            3 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::Workload {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.spec, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::WorkloadReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.workload_name, input),
            2 => set(&mut self.template_name, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::WorkloadSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.controller_ref.get_or_insert_default(), input),
            2 => push_message(room(&mut self.pod_group_templates, &input), input),
            3 => push_message(room(&mut self.composite_pod_group_templates, &input), input),
            _ => Some(()),
        }
    }
} }
