//! The structs of `api::coordination::v1`.

use super::*;
use k8s_openapi::api::coordination::v1 as k8s;

impl Message for k8s::Lease {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LeaseSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.holder_identity, input),
            2 => some(&mut self.lease_duration_seconds, input),
            3 => some_micro_time(&mut self.acquire_time, input),
            4 => some_micro_time(&mut self.renew_time, input),
            5 => some(&mut self.lease_transitions, input),
            6 => some(&mut self.strategy, input),
            7 => some(&mut self.preferred_holder, input),
            _ => Some(()),
        }
    }
}
