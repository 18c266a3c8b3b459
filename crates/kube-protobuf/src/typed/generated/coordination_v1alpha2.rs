//! The structs of `api::coordination::v1alpha2`.

use super::*;
use k8s_openapi::api::coordination::v1alpha2 as k8s;

impl Message for k8s::LeaseCandidate {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_ge_1_36! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_le_1_35! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::LeaseCandidateSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.lease_name, input),
            2 => some_micro_time(&mut self.ping_time, input),
            3 => some_micro_time(&mut self.renew_time, input),
            4 => set(&mut self.binary_version, input),
            5 => some_unless_empty(&mut self.emulation_version, input),
            6 => set(&mut self.strategy, input),
            _ => Some(()),
        }
    }
}
