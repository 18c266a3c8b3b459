//! The structs of `api::apiserverinternal::v1alpha1`.

use super::*;
use k8s_openapi::api::apiserverinternal::v1alpha1 as k8s;

impl Message for k8s::ServerStorageVersion {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => { k8s_openapi::k8s_if_ge_1_36! { return set(&mut self.api_server_id, input); } k8s_openapi::k8s_if_le_1_35! { return some_unless_empty(&mut self.api_server_id, input); } Some(()) }
            2 => { k8s_openapi::k8s_if_ge_1_36! { return set(&mut self.encoding_version, input); } k8s_openapi::k8s_if_le_1_35! { return some_unless_empty(&mut self.encoding_version, input); } Some(()) }
            3 => { k8s_openapi::k8s_if_ge_1_36! { return push(reserve(&mut self.decodable_versions, &input), input); } k8s_openapi::k8s_if_le_1_35! { return push(room(&mut self.decodable_versions, &input), input); } Some(()) }
            4 => push(room(&mut self.served_versions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StorageVersion {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_le_1_35! { return set_by_serde(&mut self.spec, &tables::apiserverinternal_v1alpha1::StorageVersionSpec, input); } k8s_openapi::k8s_if_ge_1_36! { return some_by_serde(&mut self.spec, &tables::apiserverinternal_v1alpha1::StorageVersionSpec, input); } Some(()) }
            3 => { k8s_openapi::k8s_if_le_1_35! { return message(&mut self.status, input); } k8s_openapi::k8s_if_ge_1_36! { return message(self.status.get_or_insert_default(), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::StorageVersionCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.status, input),
            3 => some_unless_empty(&mut self.observed_generation, input),
            4 => some_time(&mut self.last_transition_time, input),
            5 => set(&mut self.reason, input),
            6 => set(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StorageVersionStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.storage_versions, &input), input),
            2 => some(&mut self.common_encoding_version, input),
            3 => push_message(room(&mut self.conditions, &input), input),
            _ => Some(()),
        }
    }
}
