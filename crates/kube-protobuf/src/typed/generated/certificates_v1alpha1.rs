//! The structs of `api::certificates::v1alpha1`.

use super::*;
use k8s_openapi::api::certificates::v1alpha1 as k8s;

k8s_openapi::k8s_if_le_1_36! { impl Message for k8s::ClusterTrustBundle {
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

k8s_openapi::k8s_if_le_1_36! { impl Message for k8s::ClusterTrustBundleSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.signer_name, input),
            2 => set(&mut self.trust_bundle, input),
            _ => Some(()),
        }
    }
} }
