//! The structs of `api::storage::v1alpha1`.

use super::*;
use k8s_openapi::api::storage::v1alpha1 as k8s;

k8s_openapi::k8s_if_le_1_34! { impl Message for k8s::VolumeAttributesClass {
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
