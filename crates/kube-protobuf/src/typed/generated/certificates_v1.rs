//! The structs of `api::certificates::v1`.

use super::*;
use k8s_openapi::api::certificates::v1 as k8s;

impl Message for k8s::CertificateSigningRequest {
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

impl Message for k8s::CertificateSigningRequestCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => some_unless_empty(&mut self.reason, input),
            3 => some_unless_empty(&mut self.message, input),
            4 => some_time(&mut self.last_update_time, input),
            5 => some_time(&mut self.last_transition_time, input),
            6 => set(&mut self.status, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CertificateSigningRequestSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.request, input),
            2 => some_unless_empty(&mut self.username, input),
            3 => some_unless_empty(&mut self.uid, input),
            4 => push(room(&mut self.groups, &input), input),
            5 => push(room(&mut self.usages, &input), input),
            6 => entry_by_serde(self.extra.get_or_insert_default(), &tables::certificates_v1::ExtraValue, input),
            7 => set(&mut self.signer_name, input),
            8 => some(&mut self.expiration_seconds, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CertificateSigningRequestStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.conditions, &input), input),
            2 => some_unless_empty(&mut self.certificate, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::ClusterTrustBundle {
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

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::ClusterTrustBundleSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.signer_name, input),
            2 => set(&mut self.trust_bundle, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodCertificateRequest {
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

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodCertificateRequestSpec {
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
            11 => entry(self.unverified_user_annotations.get_or_insert_default(), input),
            12 => set(&mut self.stub_pkc_s10_request, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodCertificateRequestStatus {
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
