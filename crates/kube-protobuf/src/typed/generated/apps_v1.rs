//! The structs of `api::apps::v1`.

use super::*;
use k8s_openapi::api::apps::v1 as k8s;

impl Message for k8s::ControllerRevision {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Varint(0))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_ge_1_37! { return set_by_serde(&mut self.data, &tables::runtime::RawExtension, input); } k8s_openapi::k8s_if_le_1_36! { return some_by_serde(&mut self.data, &tables::runtime::RawExtension, input); } Some(()) }
            3 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut self.revision, input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.revision, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::DaemonSet {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_ge_1_37! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_le_1_36! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DaemonSetCondition {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut self.type_, input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.type_, input); } Some(()) }
            2 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut self.status, input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.status, input); } Some(()) }
            3 => some_time(&mut self.last_transition_time, input),
            4 => some_unless_empty(&mut self.reason, input),
            5 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DaemonSetSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.selector, input),
            2 => message(&mut self.template, input),
            3 => message(self.update_strategy.get_or_insert_default(), input),
            4 => some_unless_empty(&mut self.min_ready_seconds, input),
            6 => some(&mut self.revision_history_limit, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DaemonSetStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.current_number_scheduled, input),
            2 => set(&mut self.number_misscheduled, input),
            3 => set(&mut self.desired_number_scheduled, input),
            4 => set(&mut self.number_ready, input),
            5 => some_unless_empty(&mut self.observed_generation, input),
            6 => some_unless_empty(&mut self.updated_number_scheduled, input),
            7 => some_unless_empty(&mut self.number_available, input),
            8 => some_unless_empty(&mut self.number_unavailable, input),
            9 => some(&mut self.collision_count, input),
            10 => push_message(room(&mut self.conditions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DaemonSetUpdateStrategy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.type_, input),
            2 => message(self.rolling_update.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Deployment {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_ge_1_37! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_le_1_36! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeploymentCondition {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut self.type_, input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.type_, input); } Some(()) }
            2 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut self.status, input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.status, input); } Some(()) }
            4 => some_unless_empty(&mut self.reason, input),
            5 => some_unless_empty(&mut self.message, input),
            6 => some_time(&mut self.last_update_time, input),
            7 => some_time(&mut self.last_transition_time, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeploymentSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(3, Wire::Bytes(&[])), (4, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.replicas, input),
            2 => message(&mut self.selector, input),
            3 => message(&mut self.template, input),
            4 => message(self.strategy.get_or_insert_default(), input),
            5 => some_unless_empty(&mut self.min_ready_seconds, input),
            6 => some(&mut self.revision_history_limit, input),
            7 => some_unless_empty(&mut self.paused, input),
            9 => some(&mut self.progress_deadline_seconds, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeploymentStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.observed_generation, input),
            2 => some_unless_empty(&mut self.replicas, input),
            3 => some_unless_empty(&mut self.updated_replicas, input),
            4 => some_unless_empty(&mut self.available_replicas, input),
            5 => some_unless_empty(&mut self.unavailable_replicas, input),
            6 => push_message(room(&mut self.conditions, &input), input),
            7 => some_unless_empty(&mut self.ready_replicas, input),
            8 => some(&mut self.collision_count, input),
            9 => some(&mut self.terminating_replicas, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeploymentStrategy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.type_, input),
            2 => message(self.rolling_update.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ReplicaSet {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_ge_1_37! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_le_1_36! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ReplicaSetCondition {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut self.type_, input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.type_, input); } Some(()) }
            2 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut self.status, input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.status, input); } Some(()) }
            3 => some_time(&mut self.last_transition_time, input),
            4 => some_unless_empty(&mut self.reason, input),
            5 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ReplicaSetSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.replicas, input),
            2 => message(&mut self.selector, input),
            3 => message(self.template.get_or_insert_default(), input),
            4 => some_unless_empty(&mut self.min_ready_seconds, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ReplicaSetStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.replicas, input),
            2 => some_unless_empty(&mut self.fully_labeled_replicas, input),
            3 => some_unless_empty(&mut self.observed_generation, input),
            4 => some_unless_empty(&mut self.ready_replicas, input),
            5 => some_unless_empty(&mut self.available_replicas, input),
            6 => push_message(room(&mut self.conditions, &input), input),
            7 => some(&mut self.terminating_replicas, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::RollingUpdateDaemonSet {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_once(&mut self.max_unavailable, input),
            2 => some_once(&mut self.max_surge, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::RollingUpdateDeployment {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_once(&mut self.max_unavailable, input),
            2 => some_once(&mut self.max_surge, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::RollingUpdateStatefulSetStrategy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.partition, input),
            2 => some_once(&mut self.max_unavailable, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StatefulSet {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_ge_1_37! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_le_1_36! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StatefulSetCondition {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut self.type_, input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.type_, input); } Some(()) }
            2 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut self.status, input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.status, input); } Some(()) }
            3 => some_time(&mut self.last_transition_time, input),
            4 => some_unless_empty(&mut self.reason, input),
            5 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StatefulSetOrdinals {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Varint(0))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.start, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StatefulSetPersistentVolumeClaimRetentionPolicy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.when_deleted, input),
            2 => some_unless_empty(&mut self.when_scaled, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StatefulSetSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(3, Wire::Bytes(&[])), (5, Wire::Bytes(&[])), (7, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.replicas, input),
            2 => message(&mut self.selector, input),
            3 => message(&mut self.template, input),
            4 => push_message(room(&mut self.volume_claim_templates, &input), input),
            5 => some(&mut self.service_name, input),
            6 => some_unless_empty(&mut self.pod_management_policy, input),
            7 => message(self.update_strategy.get_or_insert_default(), input),
            8 => some(&mut self.revision_history_limit, input),
            9 => some_unless_empty(&mut self.min_ready_seconds, input),
            10 => message(self.persistent_volume_claim_retention_policy.get_or_insert_default(), input),
            11 => message(self.ordinals.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StatefulSetStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(11, Wire::Varint(0))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.observed_generation, input),
            2 => set(&mut self.replicas, input),
            3 => some_unless_empty(&mut self.ready_replicas, input),
            4 => some_unless_empty(&mut self.current_replicas, input),
            5 => some_unless_empty(&mut self.updated_replicas, input),
            6 => some_unless_empty(&mut self.current_revision, input),
            7 => some_unless_empty(&mut self.update_revision, input),
            9 => some(&mut self.collision_count, input),
            10 => push_message(room(&mut self.conditions, &input), input),
            11 => some(&mut self.available_replicas, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StatefulSetUpdateStrategy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.type_, input),
            2 => message(self.rolling_update.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}
