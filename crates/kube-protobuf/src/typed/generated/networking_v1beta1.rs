//! The structs of `api::networking::v1beta1`.

use super::*;
use k8s_openapi::api::networking::v1beta1 as k8s;

k8s_openapi::k8s_if_le_1_36! { impl Message for k8s::IPAddress {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_ge_1_36! { k8s_openapi::k8s_if_le_1_36! { return message(&mut self.spec, input); } } k8s_openapi::k8s_if_le_1_35! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_le_1_36! { impl Message for k8s::IPAddressSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.parent_ref, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_le_1_36! { impl Message for k8s::ParentReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.group, input),
            2 => set(&mut self.resource, input),
            3 => some_unless_empty(&mut self.namespace, input),
            4 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_le_1_36! { impl Message for k8s::ServiceCIDR {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_le_1_36! { impl Message for k8s::ServiceCIDRSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.cidrs, &input), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_le_1_36! { impl Message for k8s::ServiceCIDRStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            _ => Some(()),
        }
    }
} }
