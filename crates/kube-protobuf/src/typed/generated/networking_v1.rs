//! The structs of `api::networking::v1`.

use super::*;
use k8s_openapi::api::networking::v1 as k8s;

impl Message for k8s::HTTPIngressPath {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.path, input),
            2 => message(&mut self.backend, input),
            3 => set(&mut self.path_type, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HTTPIngressRuleValue {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(reserve(&mut self.paths, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IPAddress {
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

impl Message for k8s::IPAddressSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.parent_ref, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IPBlock {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.cidr, input),
            2 => push(room(&mut self.except, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Ingress {
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
}

impl Message for k8s::IngressBackend {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            3 => message(self.resource.get_or_insert_default(), input),
            4 => message(self.service.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IngressClass {
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

impl Message for k8s::IngressClassParametersReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.api_group, input),
            2 => set(&mut self.kind, input),
            3 => set(&mut self.name, input),
            4 => some(&mut self.scope, input),
            5 => some(&mut self.namespace, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IngressClassSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.controller, input),
            2 => message(self.parameters.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IngressLoadBalancerIngress {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.ip, input),
            2 => some_unless_empty(&mut self.hostname, input),
            4 => push_message(room(&mut self.ports, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IngressLoadBalancerStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.ingress, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IngressPortStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.port, input),
            2 => set(&mut self.protocol, input),
            3 => some(&mut self.error, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IngressRule {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.host, input),
            2 => inline(&mut IngressRule2(self), input),
            _ => Some(()),
        }
    }
}

struct IngressRule2<'a>(&'a mut k8s::IngressRule);

impl Message for IngressRule2<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.0.http.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IngressServiceBackend {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(self.port.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IngressSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.default_backend.get_or_insert_default(), input),
            2 => push_message(room(&mut self.tls, &input), input),
            3 => push_message(room(&mut self.rules, &input), input),
            4 => some(&mut self.ingress_class_name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IngressStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.load_balancer.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::IngressTLS {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.hosts, &input), input),
            2 => some_unless_empty(&mut self.secret_name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NetworkPolicy {
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

impl Message for k8s::NetworkPolicyEgressRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.ports, &input), input),
            2 => push_message(room(&mut self.to, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NetworkPolicyIngressRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.ports, &input), input),
            2 => push_message(room(&mut self.from, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NetworkPolicyPeer {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.pod_selector.get_or_insert_default(), input),
            2 => message(self.namespace_selector.get_or_insert_default(), input),
            3 => message(self.ip_block.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NetworkPolicyPort {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.protocol, input),
            2 => some_once(&mut self.port, input),
            3 => some(&mut self.end_port, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NetworkPolicySpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.pod_selector.get_or_insert_default(), input),
            2 => push_message(room(&mut self.ingress, &input), input),
            3 => push_message(room(&mut self.egress, &input), input),
            4 => push(room(&mut self.policy_types, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ParentReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.group, input),
            2 => set(&mut self.resource, input),
            3 => some_unless_empty(&mut self.namespace, input),
            4 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServiceBackendPort {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.name, input),
            2 => some_unless_empty(&mut self.number, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServiceCIDR {
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
}

impl Message for k8s::ServiceCIDRSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.cidrs, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServiceCIDRStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            _ => Some(()),
        }
    }
}
