//! The structs of `api::node::v1`.

use super::*;
use k8s_openapi::api::node::v1 as k8s;

impl Message for k8s::Overhead {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => entry(self.pod_fixed.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::RuntimeClass {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => set(&mut self.handler, input),
            3 => message(self.overhead.get_or_insert_default(), input),
            4 => message(self.scheduling.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Scheduling {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => entry(self.node_selector.get_or_insert_default(), input),
            2 => push_message(room(&mut self.tolerations, &input), input),
            _ => Some(()),
        }
    }
}
