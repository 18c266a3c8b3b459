//! The structs of `api::scheduling::v1`.

use super::*;
use k8s_openapi::api::scheduling::v1 as k8s;

impl Message for k8s::PriorityClass {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Varint(0))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_le_1_35! { return set(&mut self.value, input); } k8s_openapi::k8s_if_ge_1_36! { return some(&mut self.value, input); } Some(()) }
            3 => some_unless_empty(&mut self.global_default, input),
            4 => some_unless_empty(&mut self.description, input),
            5 => some(&mut self.preemption_policy, input),
            _ => Some(()),
        }
    }
}
