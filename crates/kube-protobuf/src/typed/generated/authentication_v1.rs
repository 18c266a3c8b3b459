//! The structs of `api::authentication::v1`.

use super::*;
use k8s_openapi::api::authentication::v1 as k8s;

impl Message for k8s::BoundObjectReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.kind, input),
            2 => some_unless_empty(&mut self.api_version, input),
            3 => some_unless_empty(&mut self.name, input),
            4 => some_unless_empty(&mut self.uid, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SelfSubjectReview {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SelfSubjectReviewStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.user_info.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::TokenRequest {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_le_1_35! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_ge_1_36! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            3 => { k8s_openapi::k8s_if_ge_1_36! { return message(self.status.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_35! { return some_by_serde(&mut self.status, &tables::authentication_v1::TokenRequestStatus, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::TokenRequestSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => { k8s_openapi::k8s_if_le_1_35! { return push(reserve(&mut self.audiences, &input), input); } k8s_openapi::k8s_if_ge_1_36! { return push(room(&mut self.audiences, &input), input); } Some(()) }
            3 => message(self.bound_object_ref.get_or_insert_default(), input),
            4 => some(&mut self.expiration_seconds, input),
            5 => { k8s_openapi::k8s_if_ge_1_37! { return entry_by_serde(self.attestations.get_or_insert_default(), &tables::authentication_v1::AttestationValue, input); } Some(()) }
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::TokenRequestStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.token, input),
            2 => some_time(&mut self.expiration_timestamp, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::TokenReview {
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

impl Message for k8s::TokenReviewSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => { k8s_openapi::k8s_if_ge_1_36! { return set(&mut self.token, input); } k8s_openapi::k8s_if_le_1_35! { return some_unless_empty(&mut self.token, input); } Some(()) }
            2 => push(room(&mut self.audiences, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::TokenReviewStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.authenticated, input),
            2 => message(self.user.get_or_insert_default(), input),
            3 => some_unless_empty(&mut self.error, input),
            4 => push(room(&mut self.audiences, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::UserInfo {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.username, input),
            2 => some_unless_empty(&mut self.uid, input),
            3 => push(room(&mut self.groups, &input), input),
            4 => entry_by_serde(self.extra.get_or_insert_default(), &tables::authentication_v1::ExtraValue, input),
            _ => Some(()),
        }
    }
}
