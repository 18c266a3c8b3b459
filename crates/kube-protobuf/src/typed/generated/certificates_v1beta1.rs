//! The structs of `api::certificates::v1beta1`.

use super::*;
use k8s_openapi::api::certificates::v1beta1 as k8s;

impl Message for k8s::ClusterTrustBundle {
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

impl Message for k8s::ClusterTrustBundleSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.signer_name, input),
            2 => set(&mut self.trust_bundle, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_35! { impl Message for k8s::PodCertificateRequest {
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

k8s_openapi::k8s_if_ge_1_35! { impl Message for k8s::PodCertificateRequestSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.signer_name, input),
            2 => set(&mut self.pod_name, input),
            3 => set(&mut self.pod_uid, input),
            4 => set(&mut self.service_account_name, input),
            5 => set(&mut self.service_account_uid, input),
            6 => set(&mut self.node_name, input),
            7 => set(&mut self.node_uid, input),
            8 => some(&mut self.max_expiration_seconds, input),
            9 => { k8s_openapi::k8s_if_ge_1_35! { k8s_openapi::k8s_if_le_1_35! { return set(&mut self.pkix_public_key, input); } } k8s_openapi::k8s_if_ge_1_36! { return some(&mut self.pkix_public_key, input); } Some(()) }
            10 => { k8s_openapi::k8s_if_ge_1_35! { k8s_openapi::k8s_if_le_1_35! { return set(&mut self.proof_of_possession, input); } } k8s_openapi::k8s_if_ge_1_36! { return some(&mut self.proof_of_possession, input); } Some(()) }
            11 => entry(self.unverified_user_annotations.get_or_insert_default(), input),
            12 => { k8s_openapi::k8s_if_ge_1_35! { k8s_openapi::k8s_if_le_1_35! { return set(&mut ByteString::default(), input); } } k8s_openapi::k8s_if_ge_1_36! { return set(&mut self.stub_pkc_s10_request, input); } Some(()) }
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_35! { impl Message for k8s::PodCertificateRequestStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            2 => some_unless_empty(&mut self.certificate_chain, input),
            4 => some_time(&mut self.not_before, input),
            5 => some_time(&mut self.begin_refresh_at, input),
            6 => some_time(&mut self.not_after, input),
            _ => Some(()),
        }
    }
} }
