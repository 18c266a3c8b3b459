//! The structs of `apimachinery::pkg::apis::meta::v1`.

use super::*;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as k8s;

impl Message for k8s::APIGroup {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => push_message(reserve(&mut self.versions, &input), input),
            3 => message(self.preferred_version.get_or_insert_default(), input),
            4 => push_message(room(&mut self.server_address_by_client_cidrs, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::APIGroupList {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(reserve(&mut self.groups, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::APIResource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.namespaced, input),
            3 => set(&mut self.kind, input),
            4 => unread(&self.verbs),
            5 => push(room(&mut self.short_names, &input), input),
            6 => set(&mut self.singular_name, input),
            7 => push(room(&mut self.categories, &input), input),
            8 => some_unless_empty(&mut self.group, input),
            9 => some_unless_empty(&mut self.version, input),
            10 => some_unless_empty(&mut self.storage_version_hash, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::APIResourceList {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.group_version, input),
            2 => push_message(reserve(&mut self.resources, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::APIVersions {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(reserve(&mut self.versions, &input), input),
            2 => push_message(reserve(&mut self.server_address_by_client_cidrs, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeleteOptions {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.grace_period_seconds, input),
            2 => message(self.preconditions.get_or_insert_default(), input),
            3 => some(&mut self.orphan_dependents, input),
            4 => some(&mut self.propagation_policy, input),
            5 => push(room(&mut self.dry_run, &input), input),
            6 => some(&mut self.ignore_store_read_error_with_cluster_breaking_potential, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::FieldSelectorRequirement {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.key, input),
            2 => set(&mut self.operator, input),
            3 => push(room(&mut self.values, &input), input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_35! { impl Message for k8s::GroupResource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.group, input),
            2 => set(&mut self.resource, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::GroupVersionForDiscovery {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.group_version, input),
            2 => set(&mut self.version, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LabelSelector {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => entry(self.match_labels.get_or_insert_default(), input),
            2 => push_message(room(&mut self.match_expressions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LabelSelectorRequirement {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.key, input),
            2 => set(&mut self.operator, input),
            3 => push(room(&mut self.values, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ListMeta {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.self_link, input),
            2 => some_unless_empty(&mut self.resource_version, input),
            3 => some_unless_empty(&mut self.continue_, input),
            4 => some(&mut self.remaining_item_count, input),
            5 => { k8s_openapi::k8s_if_ge_1_36! { return message(self.shard_info.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_35! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::meta_v1::ShardInfo, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::ManagedFieldsEntry {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.manager, input),
            2 => some_unless_empty(&mut self.operation, input),
            3 => some_unless_empty(&mut self.api_version, input),
            4 => some_time(&mut self.time, input),
            6 => some_unless_empty(&mut self.fields_type, input),
            7 => some_by_serde(&mut self.fields_v1, &tables::meta_v1::FieldsV1, input),
            8 => some_unless_empty(&mut self.subresource, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ObjectMeta {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.name, input),
            2 => some_unless_empty(&mut self.generate_name, input),
            3 => some_unless_empty(&mut self.namespace, input),
            4 => some_unless_empty(&mut self.self_link, input),
            5 => some_unless_empty(&mut self.uid, input),
            6 => some_unless_empty(&mut self.resource_version, input),
            7 => some_unless_empty(&mut self.generation, input),
            8 => some_time(&mut self.creation_timestamp, input),
            9 => some_time(&mut self.deletion_timestamp, input),
            10 => some(&mut self.deletion_grace_period_seconds, input),
            11 => entry(self.labels.get_or_insert_default(), input),
            12 => entry(self.annotations.get_or_insert_default(), input),
            13 => push_message(room(&mut self.owner_references, &input), input),
            14 => push(room(&mut self.finalizers, &input), input),
            17 => push_message(room(&mut self.managed_fields, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::OwnerReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.kind, input),
            3 => set(&mut self.name, input),
            4 => set(&mut self.uid, input),
            5 => set(&mut self.api_version, input),
            6 => some(&mut self.controller, input),
            7 => some(&mut self.block_owner_deletion, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Preconditions {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.uid, input),
            2 => some(&mut self.resource_version, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServerAddressByClientCIDR {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.client_cidr, input),
            2 => set(&mut self.server_address, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::ShardInfo {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.selector, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::Status {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => some_unless_empty(&mut self.status, input),
            3 => some_unless_empty(&mut self.message, input),
            4 => some_unless_empty(&mut self.reason, input),
            5 => message(self.details.get_or_insert_default(), input),
            6 => some_unless_empty(&mut self.code, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StatusCause {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.reason, input),
            2 => some_unless_empty(&mut self.message, input),
            3 => some_unless_empty(&mut self.field, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StatusDetails {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.name, input),
            2 => some_unless_empty(&mut self.group, input),
            3 => some_unless_empty(&mut self.kind, input),
            4 => push_message(room(&mut self.causes, &input), input),
            5 => some_unless_empty(&mut self.retry_after_seconds, input),
            6 => some_unless_empty(&mut self.uid, input),
            _ => Some(()),
        }
    }
}
