//! The structs of `api::discovery::v1`.

use super::*;
use k8s_openapi::api::discovery::v1 as k8s;

impl Message for k8s::Endpoint {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(reserve(&mut self.addresses, &input), input),
            2 => message(self.conditions.get_or_insert_default(), input),
            3 => some(&mut self.hostname, input),
            4 => message(self.target_ref.get_or_insert_default(), input),
            5 => entry(self.deprecated_topology.get_or_insert_default(), input),
            6 => some(&mut self.node_name, input),
            7 => some(&mut self.zone, input),
            8 => message(self.hints.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::EndpointConditions {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.ready, input),
            2 => some(&mut self.serving, input),
            3 => some(&mut self.terminating, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::EndpointHints {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.for_zones, &input), input),
            2 => push_message(room(&mut self.for_nodes, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::EndpointPort {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.name, input),
            2 => some(&mut self.protocol, input),
            3 => some(&mut self.port, input),
            4 => some(&mut self.app_protocol, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::EndpointSlice {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_le_1_35! { return push_message(reserve(&mut self.endpoints, &input), input); } k8s_openapi::k8s_if_ge_1_36! { return push_message(room(&mut self.endpoints, &input), input); } Some(()) }
            3 => push_message(room(&mut self.ports, &input), input),
            4 => set(&mut self.address_type, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ForNode {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ForZone {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}
