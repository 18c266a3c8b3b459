//! The structs of `api::storage::v1`.

use super::*;
use k8s_openapi::api::storage::v1 as k8s;

impl Message for k8s::CSIDriver {
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
}

impl Message for k8s::CSIDriverSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.attach_required, input),
            2 => some(&mut self.pod_info_on_mount, input),
            3 => push(room(&mut self.volume_lifecycle_modes, &input), input),
            4 => some(&mut self.storage_capacity, input),
            5 => some(&mut self.fs_group_policy, input),
            6 => push_message(room(&mut self.token_requests, &input), input),
            7 => some(&mut self.requires_republish, input),
            8 => some(&mut self.se_linux_mount, input),
            9 => some(&mut self.node_allocatable_update_period_seconds, input),
            10 => { k8s_openapi::k8s_if_le_1_34! { return set(&mut bool::default(), input); } k8s_openapi::k8s_if_ge_1_35! { return some(&mut self.service_account_token_in_secrets, input); } Some(()) }
            11 => { k8s_openapi::k8s_if_le_1_35! { return set(&mut bool::default(), input); } k8s_openapi::k8s_if_ge_1_36! { return some(&mut self.prevent_pod_scheduling_if_missing, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::CSINode {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.spec, input),
            3 => { k8s_openapi::k8s_if_ge_1_37! { return message(self.status.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_36! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::storage_v1::CSINodeStatus, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::CSINodeDriver {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.node_id, input),
            3 => push(room(&mut self.topology_keys, &input), input),
            4 => message(self.allocatable.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CSINodeSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(reserve(&mut self.drivers, &input), input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::CSINodeStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.storage_health, &input), input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::CSIStorageCapacity {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.node_topology.get_or_insert_default(), input),
            3 => set(&mut self.storage_class_name, input),
            4 => some_once(&mut self.capacity, input),
            5 => some_once(&mut self.maximum_volume_size, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StorageClass {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => set(&mut self.provisioner, input),
            3 => entry(self.parameters.get_or_insert_default(), input),
            4 => some(&mut self.reclaim_policy, input),
            5 => push(room(&mut self.mount_options, &input), input),
            6 => some(&mut self.allow_volume_expansion, input),
            7 => some(&mut self.volume_binding_mode, input),
            8 => push_message(room(&mut self.allowed_topologies, &input), input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::StorageHealth {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => push_message(room(&mut self.health_conditions, &input), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::StorageHealthCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.status, input),
            2 => set(&mut self.reason, input),
            3 => some_unless_empty(&mut self.message, input),
            4 => some(&mut self.access_mode, input),
            5 => some(&mut self.volume_mode, input),
            6 => some_time(&mut self.last_transition_time, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::TokenRequest {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.audience, input),
            2 => some(&mut self.expiration_seconds, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::VolumeAttachment {
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
}

impl Message for k8s::VolumeAttachmentSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.persistent_volume_name, input),
            2 => message(self.inline_volume_spec.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::VolumeAttachmentSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.attacher, input),
            2 => message(&mut self.source, input),
            3 => set(&mut self.node_name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::VolumeAttachmentStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.attached, input),
            2 => entry(self.attachment_metadata.get_or_insert_default(), input),
            3 => message(self.attach_error.get_or_insert_default(), input),
            4 => message(self.detach_error.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_34! { impl Message for k8s::VolumeAttributesClass {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => set(&mut self.driver_name, input),
            3 => entry(self.parameters.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::VolumeError {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_time(&mut self.time, input),
            2 => some_unless_empty(&mut self.message, input),
            3 => some(&mut self.error_code, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::VolumeNodeResources {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.count, input),
            _ => Some(()),
        }
    }
}
