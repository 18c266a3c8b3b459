//! The structs of `api::storagemigration::v1beta1`.

use super::*;
use k8s_openapi::api::storagemigration::v1beta1 as k8s;

k8s_openapi::k8s_if_ge_1_35! { impl Message for k8s::StorageVersionMigration {
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
} }

k8s_openapi::k8s_if_ge_1_35! { impl Message for k8s::StorageVersionMigrationSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.resource, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_35! { impl Message for k8s::StorageVersionMigrationStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            2 => some_unless_empty(&mut self.resource_version, input),
            _ => Some(()),
        }
    }
} }
