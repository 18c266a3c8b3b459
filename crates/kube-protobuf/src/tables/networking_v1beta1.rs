//! The messages of `k8s.io.api.networking.v1beta1`.

use super::*;

pub(crate) static HTTPIngressPath: Message = message("k8s.io.api.networking.v1beta1.HTTPIngressPath", &[
    one(1, "path", String, OmitEmpty),
    one(2, "backend", Msg(&networking_v1beta1::IngressBackend), Required),
    one(3, "pathType", String, Optional),
]);

pub(crate) static HTTPIngressRuleValue: Message = message("k8s.io.api.networking.v1beta1.HTTPIngressRuleValue", &[
    many(1, "paths", Msg(&networking_v1beta1::HTTPIngressPath), Required),
]);

pub(crate) static IPAddress: Message = object("k8s.io.api.networking.v1beta1.IPAddress", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&networking_v1beta1::IPAddressSpec), OmitEmpty),
]);

pub(crate) static IPAddressList: Message = object("k8s.io.api.networking.v1beta1.IPAddressList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&networking_v1beta1::IPAddress), Items),
]);

pub(crate) static IPAddressSpec: Message = message("k8s.io.api.networking.v1beta1.IPAddressSpec", &[
    one(1, "parentRef", Msg(&networking_v1beta1::ParentReference), Optional),
]);

pub(crate) static Ingress: Message = object("k8s.io.api.networking.v1beta1.Ingress", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&networking_v1beta1::IngressSpec), OmitEmpty),
    one(3, "status", Msg(&networking_v1beta1::IngressStatus), OmitEmpty),
]);

pub(crate) static IngressBackend: Message = message("k8s.io.api.networking.v1beta1.IngressBackend", &[
    one(1, "serviceName", String, OmitEmpty),
    one(2, "servicePort", Msg(&util_intstr::IntOrString), OmitEmpty),
    one(3, "resource", Msg(&core_v1::TypedLocalObjectReference), Optional),
]);

pub(crate) static IngressClass: Message = object("k8s.io.api.networking.v1beta1.IngressClass", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&networking_v1beta1::IngressClassSpec), OmitEmpty),
]);

pub(crate) static IngressClassList: Message = object("k8s.io.api.networking.v1beta1.IngressClassList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&networking_v1beta1::IngressClass), Items),
]);

pub(crate) static IngressClassParametersReference: Message = message("k8s.io.api.networking.v1beta1.IngressClassParametersReference", &[
    one(1, "apiGroup", String, Optional),
    one(2, "kind", String, Required),
    one(3, "name", String, Required),
    one(4, "scope", String, Nullable),
    one(5, "namespace", String, Optional),
]);

pub(crate) static IngressClassSpec: Message = message("k8s.io.api.networking.v1beta1.IngressClassSpec", &[
    one(1, "controller", String, OmitEmpty),
    one(2, "parameters", Msg(&networking_v1beta1::IngressClassParametersReference), Optional),
]);

pub(crate) static IngressList: Message = object("k8s.io.api.networking.v1beta1.IngressList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&networking_v1beta1::Ingress), Items),
]);

pub(crate) static IngressLoadBalancerIngress: Message = message("k8s.io.api.networking.v1beta1.IngressLoadBalancerIngress", &[
    one(1, "ip", String, OmitEmpty),
    one(2, "hostname", String, OmitEmpty),
    many(4, "ports", Msg(&networking_v1beta1::IngressPortStatus), OmitEmpty),
]);

pub(crate) static IngressLoadBalancerStatus: Message = message("k8s.io.api.networking.v1beta1.IngressLoadBalancerStatus", &[
    many(1, "ingress", Msg(&networking_v1beta1::IngressLoadBalancerIngress), OmitEmpty),
]);

pub(crate) static IngressPortStatus: Message = message("k8s.io.api.networking.v1beta1.IngressPortStatus", &[
    one(1, "port", Int32, Required),
    one(2, "protocol", String, Required),
    one(3, "error", String, Optional),
]);

pub(crate) static IngressRule: Message = message("k8s.io.api.networking.v1beta1.IngressRule", &[
    one(1, "host", String, OmitEmpty),
    one(2, "", Msg(&networking_v1beta1::IngressRuleValue), Inline),
]);

pub(crate) static IngressRuleValue: Message = message("k8s.io.api.networking.v1beta1.IngressRuleValue", &[
    one(1, "http", Msg(&networking_v1beta1::HTTPIngressRuleValue), Optional),
]);

pub(crate) static IngressSpec: Message = message("k8s.io.api.networking.v1beta1.IngressSpec", &[
    one(1, "backend", Msg(&networking_v1beta1::IngressBackend), Optional),
    many(2, "tls", Msg(&networking_v1beta1::IngressTLS), OmitEmpty),
    many(3, "rules", Msg(&networking_v1beta1::IngressRule), OmitEmpty),
    one(4, "ingressClassName", String, Optional),
]);

pub(crate) static IngressStatus: Message = message("k8s.io.api.networking.v1beta1.IngressStatus", &[
    one(1, "loadBalancer", Msg(&networking_v1beta1::IngressLoadBalancerStatus), OmitEmpty),
]);

pub(crate) static IngressTLS: Message = message("k8s.io.api.networking.v1beta1.IngressTLS", &[
    many(1, "hosts", String, OmitEmpty),
    one(2, "secretName", String, OmitEmpty),
]);

pub(crate) static ParentReference: Message = message("k8s.io.api.networking.v1beta1.ParentReference", &[
    one(1, "group", String, OmitEmpty),
    one(2, "resource", String, OmitEmpty),
    one(3, "namespace", String, OmitEmpty),
    one(4, "name", String, OmitEmpty),
]);

pub(crate) static ServiceCIDR: Message = object("k8s.io.api.networking.v1beta1.ServiceCIDR", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&networking_v1beta1::ServiceCIDRSpec), OmitEmpty),
    one(3, "status", Msg(&networking_v1beta1::ServiceCIDRStatus), OmitEmpty),
]);

pub(crate) static ServiceCIDRList: Message = object("k8s.io.api.networking.v1beta1.ServiceCIDRList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&networking_v1beta1::ServiceCIDR), Items),
]);

pub(crate) static ServiceCIDRSpec: Message = message("k8s.io.api.networking.v1beta1.ServiceCIDRSpec", &[
    many(1, "cidrs", String, OmitEmpty),
]);

pub(crate) static ServiceCIDRStatus: Message = message("k8s.io.api.networking.v1beta1.ServiceCIDRStatus", &[
    many(1, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
]);
