//! The messages of `k8s.io.api.networking.v1`.

use super::*;

pub(crate) static HTTPIngressPath: Message = message("k8s.io.api.networking.v1.HTTPIngressPath", &[
    one(1, "path", String, OmitEmpty),
    one(2, "backend", Msg(&networking_v1::IngressBackend), Required),
    one(3, "pathType", String, Nullable),
]);

pub(crate) static HTTPIngressRuleValue: Message = message("k8s.io.api.networking.v1.HTTPIngressRuleValue", &[
    many(1, "paths", Msg(&networking_v1::HTTPIngressPath), Required),
]);

pub(crate) static IPAddress: Message = object("k8s.io.api.networking.v1.IPAddress", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&networking_v1::IPAddressSpec), OmitEmpty),
]);

pub(crate) static IPAddressList: Message = object("k8s.io.api.networking.v1.IPAddressList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&networking_v1::IPAddress), Items),
]);

pub(crate) static IPAddressSpec: Message = message("k8s.io.api.networking.v1.IPAddressSpec", &[
    one(1, "parentRef", Msg(&networking_v1::ParentReference), Optional),
]);

pub(crate) static IPBlock: Message = message("k8s.io.api.networking.v1.IPBlock", &[
    one(1, "cidr", String, Required),
    many(2, "except", String, OmitEmpty),
]);

pub(crate) static Ingress: Message = object("k8s.io.api.networking.v1.Ingress", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&networking_v1::IngressSpec), OmitEmpty),
    one(3, "status", Msg(&networking_v1::IngressStatus), OmitEmpty),
]);

pub(crate) static IngressBackend: Message = message("k8s.io.api.networking.v1.IngressBackend", &[
    one(3, "resource", Msg(&core_v1::TypedLocalObjectReference), Optional),
    one(4, "service", Msg(&networking_v1::IngressServiceBackend), Optional),
]);

pub(crate) static IngressClass: Message = object("k8s.io.api.networking.v1.IngressClass", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&networking_v1::IngressClassSpec), OmitEmpty),
]);

pub(crate) static IngressClassList: Message = object("k8s.io.api.networking.v1.IngressClassList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&networking_v1::IngressClass), Items),
]);

pub(crate) static IngressClassParametersReference: Message = message("k8s.io.api.networking.v1.IngressClassParametersReference", &[
    one(1, "apiGroup", String, Optional),
    one(2, "kind", String, Required),
    one(3, "name", String, Required),
    one(4, "scope", String, Nullable),
    one(5, "namespace", String, Optional),
]);

pub(crate) static IngressClassSpec: Message = message("k8s.io.api.networking.v1.IngressClassSpec", &[
    one(1, "controller", String, OmitEmpty),
    one(2, "parameters", Msg(&networking_v1::IngressClassParametersReference), Optional),
]);

pub(crate) static IngressList: Message = object("k8s.io.api.networking.v1.IngressList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&networking_v1::Ingress), Items),
]);

pub(crate) static IngressLoadBalancerIngress: Message = message("k8s.io.api.networking.v1.IngressLoadBalancerIngress", &[
    one(1, "ip", String, OmitEmpty),
    one(2, "hostname", String, OmitEmpty),
    many(4, "ports", Msg(&networking_v1::IngressPortStatus), OmitEmpty),
]);

pub(crate) static IngressLoadBalancerStatus: Message = message("k8s.io.api.networking.v1.IngressLoadBalancerStatus", &[
    many(1, "ingress", Msg(&networking_v1::IngressLoadBalancerIngress), OmitEmpty),
]);

pub(crate) static IngressPortStatus: Message = message("k8s.io.api.networking.v1.IngressPortStatus", &[
    one(1, "port", Int32, Required),
    one(2, "protocol", String, Required),
    one(3, "error", String, Optional),
]);

pub(crate) static IngressRule: Message = message("k8s.io.api.networking.v1.IngressRule", &[
    one(1, "host", String, OmitEmpty),
    one(2, "", Msg(&networking_v1::IngressRuleValue), Inline),
]);

pub(crate) static IngressRuleValue: Message = message("k8s.io.api.networking.v1.IngressRuleValue", &[
    one(1, "http", Msg(&networking_v1::HTTPIngressRuleValue), Optional),
]);

pub(crate) static IngressServiceBackend: Message = message("k8s.io.api.networking.v1.IngressServiceBackend", &[
    one(1, "name", String, Required),
    one(2, "port", Msg(&networking_v1::ServiceBackendPort), OmitEmpty),
]);

pub(crate) static IngressSpec: Message = message("k8s.io.api.networking.v1.IngressSpec", &[
    one(1, "defaultBackend", Msg(&networking_v1::IngressBackend), Optional),
    many(2, "tls", Msg(&networking_v1::IngressTLS), OmitEmpty),
    many(3, "rules", Msg(&networking_v1::IngressRule), OmitEmpty),
    one(4, "ingressClassName", String, Optional),
]);

pub(crate) static IngressStatus: Message = message("k8s.io.api.networking.v1.IngressStatus", &[
    one(1, "loadBalancer", Msg(&networking_v1::IngressLoadBalancerStatus), OmitEmpty),
]);

pub(crate) static IngressTLS: Message = message("k8s.io.api.networking.v1.IngressTLS", &[
    many(1, "hosts", String, OmitEmpty),
    one(2, "secretName", String, OmitEmpty),
]);

pub(crate) static NetworkPolicy: Message = object("k8s.io.api.networking.v1.NetworkPolicy", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&networking_v1::NetworkPolicySpec), OmitEmpty),
]);

pub(crate) static NetworkPolicyEgressRule: Message = message("k8s.io.api.networking.v1.NetworkPolicyEgressRule", &[
    many(1, "ports", Msg(&networking_v1::NetworkPolicyPort), OmitEmpty),
    many(2, "to", Msg(&networking_v1::NetworkPolicyPeer), OmitEmpty),
]);

pub(crate) static NetworkPolicyIngressRule: Message = message("k8s.io.api.networking.v1.NetworkPolicyIngressRule", &[
    many(1, "ports", Msg(&networking_v1::NetworkPolicyPort), OmitEmpty),
    many(2, "from", Msg(&networking_v1::NetworkPolicyPeer), OmitEmpty),
]);

pub(crate) static NetworkPolicyList: Message = object("k8s.io.api.networking.v1.NetworkPolicyList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&networking_v1::NetworkPolicy), Items),
]);

pub(crate) static NetworkPolicyPeer: Message = message("k8s.io.api.networking.v1.NetworkPolicyPeer", &[
    one(1, "podSelector", Msg(&meta_v1::LabelSelector), Optional),
    one(2, "namespaceSelector", Msg(&meta_v1::LabelSelector), Optional),
    one(3, "ipBlock", Msg(&networking_v1::IPBlock), Optional),
]);

pub(crate) static NetworkPolicyPort: Message = message("k8s.io.api.networking.v1.NetworkPolicyPort", &[
    one(1, "protocol", String, Optional),
    one(2, "port", Msg(&util_intstr::IntOrString), Optional),
    one(3, "endPort", Int32, Optional),
]);

pub(crate) static NetworkPolicySpec: Message = message("k8s.io.api.networking.v1.NetworkPolicySpec", &[
    one(1, "podSelector", Msg(&meta_v1::LabelSelector), Required),
    many(2, "ingress", Msg(&networking_v1::NetworkPolicyIngressRule), OmitEmpty),
    many(3, "egress", Msg(&networking_v1::NetworkPolicyEgressRule), OmitEmpty),
    many(4, "policyTypes", String, OmitEmpty),
]);

pub(crate) static ParentReference: Message = message("k8s.io.api.networking.v1.ParentReference", &[
    one(1, "group", String, OmitEmpty),
    one(2, "resource", String, OmitEmpty),
    one(3, "namespace", String, OmitEmpty),
    one(4, "name", String, OmitEmpty),
]);

pub(crate) static ServiceBackendPort: Message = message("k8s.io.api.networking.v1.ServiceBackendPort", &[
    one(1, "name", String, OmitEmpty),
    one(2, "number", Int32, OmitEmpty),
]);

pub(crate) static ServiceCIDR: Message = object("k8s.io.api.networking.v1.ServiceCIDR", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&networking_v1::ServiceCIDRSpec), OmitEmpty),
    one(3, "status", Msg(&networking_v1::ServiceCIDRStatus), OmitEmpty),
]);

pub(crate) static ServiceCIDRList: Message = object("k8s.io.api.networking.v1.ServiceCIDRList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&networking_v1::ServiceCIDR), Items),
]);

pub(crate) static ServiceCIDRSpec: Message = message("k8s.io.api.networking.v1.ServiceCIDRSpec", &[
    many(1, "cidrs", String, OmitEmpty),
]);

pub(crate) static ServiceCIDRStatus: Message = message("k8s.io.api.networking.v1.ServiceCIDRStatus", &[
    many(1, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
]);
