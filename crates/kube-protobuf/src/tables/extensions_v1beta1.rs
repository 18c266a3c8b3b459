//! The messages of `k8s.io.api.extensions.v1beta1`.

use super::*;

pub(crate) static DaemonSet: Message = object("k8s.io.api.extensions.v1beta1.DaemonSet", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&extensions_v1beta1::DaemonSetSpec), OmitEmpty),
    one(3, "status", Msg(&extensions_v1beta1::DaemonSetStatus), OmitEmpty),
]);

pub(crate) static DaemonSetCondition: Message = message("k8s.io.api.extensions.v1beta1.DaemonSetCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
]);

pub(crate) static DaemonSetList: Message = object("k8s.io.api.extensions.v1beta1.DaemonSetList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&extensions_v1beta1::DaemonSet), Items),
]);

pub(crate) static DaemonSetSpec: Message = message("k8s.io.api.extensions.v1beta1.DaemonSetSpec", &[
    one(1, "selector", Msg(&meta_v1::LabelSelector), Optional),
    one(2, "template", Msg(&core_v1::PodTemplateSpec), Required),
    one(3, "updateStrategy", Msg(&extensions_v1beta1::DaemonSetUpdateStrategy), OmitEmpty),
    one(4, "minReadySeconds", Int32, OmitEmpty),
    one(5, "templateGeneration", Int64, OmitEmpty),
    one(6, "revisionHistoryLimit", Int32, Optional),
]);

pub(crate) static DaemonSetStatus: Message = message("k8s.io.api.extensions.v1beta1.DaemonSetStatus", &[
    one(1, "currentNumberScheduled", Int32, Required),
    one(2, "numberMisscheduled", Int32, Required),
    one(3, "desiredNumberScheduled", Int32, Required),
    one(4, "numberReady", Int32, Required),
    one(5, "observedGeneration", Int64, OmitEmpty),
    one(6, "updatedNumberScheduled", Int32, OmitEmpty),
    one(7, "numberAvailable", Int32, OmitEmpty),
    one(8, "numberUnavailable", Int32, OmitEmpty),
    one(9, "collisionCount", Int32, Optional),
    many(10, "conditions", Msg(&extensions_v1beta1::DaemonSetCondition), OmitEmpty),
]);

pub(crate) static DaemonSetUpdateStrategy: Message = message("k8s.io.api.extensions.v1beta1.DaemonSetUpdateStrategy", &[
    one(1, "type", String, OmitEmpty),
    one(2, "rollingUpdate", Msg(&extensions_v1beta1::RollingUpdateDaemonSet), Optional),
]);

pub(crate) static Deployment: Message = object("k8s.io.api.extensions.v1beta1.Deployment", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&extensions_v1beta1::DeploymentSpec), OmitEmpty),
    one(3, "status", Msg(&extensions_v1beta1::DeploymentStatus), OmitEmpty),
]);

pub(crate) static DeploymentCondition: Message = message("k8s.io.api.extensions.v1beta1.DeploymentCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
    one(6, "lastUpdateTime", Msg(&meta_v1::Time), OmitEmpty),
    one(7, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
]);

pub(crate) static DeploymentList: Message = object("k8s.io.api.extensions.v1beta1.DeploymentList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&extensions_v1beta1::Deployment), Items),
]);

pub(crate) static DeploymentRollback: Message = object("k8s.io.api.extensions.v1beta1.DeploymentRollback", &[
    one(1, "name", String, Required),
    map(2, "updatedAnnotations", String, OmitEmpty),
    one(3, "rollbackTo", Msg(&extensions_v1beta1::RollbackConfig), Required),
]);

pub(crate) static DeploymentSpec: Message = message("k8s.io.api.extensions.v1beta1.DeploymentSpec", &[
    one(1, "replicas", Int32, Optional),
    one(2, "selector", Msg(&meta_v1::LabelSelector), Optional),
    one(3, "template", Msg(&core_v1::PodTemplateSpec), Required),
    one(4, "strategy", Msg(&extensions_v1beta1::DeploymentStrategy), OmitEmpty),
    one(5, "minReadySeconds", Int32, OmitEmpty),
    one(6, "revisionHistoryLimit", Int32, Optional),
    one(7, "paused", Bool, OmitEmpty),
    one(8, "rollbackTo", Msg(&extensions_v1beta1::RollbackConfig), Optional),
    one(9, "progressDeadlineSeconds", Int32, Optional),
]);

pub(crate) static DeploymentStatus: Message = message("k8s.io.api.extensions.v1beta1.DeploymentStatus", &[
    one(1, "observedGeneration", Int64, OmitEmpty),
    one(2, "replicas", Int32, OmitEmpty),
    one(3, "updatedReplicas", Int32, OmitEmpty),
    one(4, "availableReplicas", Int32, OmitEmpty),
    one(5, "unavailableReplicas", Int32, OmitEmpty),
    many(6, "conditions", Msg(&extensions_v1beta1::DeploymentCondition), OmitEmpty),
    one(7, "readyReplicas", Int32, OmitEmpty),
    one(8, "collisionCount", Int32, Optional),
    one(9, "terminatingReplicas", Int32, Optional),
]);

pub(crate) static DeploymentStrategy: Message = message("k8s.io.api.extensions.v1beta1.DeploymentStrategy", &[
    one(1, "type", String, OmitEmpty),
    one(2, "rollingUpdate", Msg(&extensions_v1beta1::RollingUpdateDeployment), Optional),
]);

pub(crate) static HTTPIngressPath: Message = message("k8s.io.api.extensions.v1beta1.HTTPIngressPath", &[
    one(1, "path", String, OmitEmpty),
    one(2, "backend", Msg(&extensions_v1beta1::IngressBackend), Required),
    one(3, "pathType", String, Optional),
]);

pub(crate) static HTTPIngressRuleValue: Message = message("k8s.io.api.extensions.v1beta1.HTTPIngressRuleValue", &[
    many(1, "paths", Msg(&extensions_v1beta1::HTTPIngressPath), Required),
]);

pub(crate) static IPBlock: Message = message("k8s.io.api.extensions.v1beta1.IPBlock", &[
    one(1, "cidr", String, Required),
    many(2, "except", String, OmitEmpty),
]);

pub(crate) static Ingress: Message = object("k8s.io.api.extensions.v1beta1.Ingress", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&extensions_v1beta1::IngressSpec), OmitEmpty),
    one(3, "status", Msg(&extensions_v1beta1::IngressStatus), OmitEmpty),
]);

pub(crate) static IngressBackend: Message = message("k8s.io.api.extensions.v1beta1.IngressBackend", &[
    one(1, "serviceName", String, OmitEmpty),
    one(2, "servicePort", Msg(&util_intstr::IntOrString), OmitEmpty),
    one(3, "resource", Msg(&core_v1::TypedLocalObjectReference), Optional),
]);

pub(crate) static IngressList: Message = object("k8s.io.api.extensions.v1beta1.IngressList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&extensions_v1beta1::Ingress), Items),
]);

pub(crate) static IngressLoadBalancerIngress: Message = message("k8s.io.api.extensions.v1beta1.IngressLoadBalancerIngress", &[
    one(1, "ip", String, OmitEmpty),
    one(2, "hostname", String, OmitEmpty),
    many(4, "ports", Msg(&extensions_v1beta1::IngressPortStatus), OmitEmpty),
]);

pub(crate) static IngressLoadBalancerStatus: Message = message("k8s.io.api.extensions.v1beta1.IngressLoadBalancerStatus", &[
    many(1, "ingress", Msg(&extensions_v1beta1::IngressLoadBalancerIngress), OmitEmpty),
]);

pub(crate) static IngressPortStatus: Message = message("k8s.io.api.extensions.v1beta1.IngressPortStatus", &[
    one(1, "port", Int32, Required),
    one(2, "protocol", String, Required),
    one(3, "error", String, Optional),
]);

pub(crate) static IngressRule: Message = message("k8s.io.api.extensions.v1beta1.IngressRule", &[
    one(1, "host", String, OmitEmpty),
    one(2, "", Msg(&extensions_v1beta1::IngressRuleValue), Inline),
]);

pub(crate) static IngressRuleValue: Message = message("k8s.io.api.extensions.v1beta1.IngressRuleValue", &[
    one(1, "http", Msg(&extensions_v1beta1::HTTPIngressRuleValue), Optional),
]);

pub(crate) static IngressSpec: Message = message("k8s.io.api.extensions.v1beta1.IngressSpec", &[
    one(1, "backend", Msg(&extensions_v1beta1::IngressBackend), Optional),
    many(2, "tls", Msg(&extensions_v1beta1::IngressTLS), OmitEmpty),
    many(3, "rules", Msg(&extensions_v1beta1::IngressRule), OmitEmpty),
    one(4, "ingressClassName", String, Optional),
]);

pub(crate) static IngressStatus: Message = message("k8s.io.api.extensions.v1beta1.IngressStatus", &[
    one(1, "loadBalancer", Msg(&extensions_v1beta1::IngressLoadBalancerStatus), OmitEmpty),
]);

pub(crate) static IngressTLS: Message = message("k8s.io.api.extensions.v1beta1.IngressTLS", &[
    many(1, "hosts", String, OmitEmpty),
    one(2, "secretName", String, OmitEmpty),
]);

pub(crate) static NetworkPolicy: Message = object("k8s.io.api.extensions.v1beta1.NetworkPolicy", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&extensions_v1beta1::NetworkPolicySpec), OmitEmpty),
]);

pub(crate) static NetworkPolicyEgressRule: Message = message("k8s.io.api.extensions.v1beta1.NetworkPolicyEgressRule", &[
    many(1, "ports", Msg(&extensions_v1beta1::NetworkPolicyPort), OmitEmpty),
    many(2, "to", Msg(&extensions_v1beta1::NetworkPolicyPeer), OmitEmpty),
]);

pub(crate) static NetworkPolicyIngressRule: Message = message("k8s.io.api.extensions.v1beta1.NetworkPolicyIngressRule", &[
    many(1, "ports", Msg(&extensions_v1beta1::NetworkPolicyPort), OmitEmpty),
    many(2, "from", Msg(&extensions_v1beta1::NetworkPolicyPeer), OmitEmpty),
]);

pub(crate) static NetworkPolicyList: Message = object("k8s.io.api.extensions.v1beta1.NetworkPolicyList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&extensions_v1beta1::NetworkPolicy), Items),
]);

pub(crate) static NetworkPolicyPeer: Message = message("k8s.io.api.extensions.v1beta1.NetworkPolicyPeer", &[
    one(1, "podSelector", Msg(&meta_v1::LabelSelector), Optional),
    one(2, "namespaceSelector", Msg(&meta_v1::LabelSelector), Optional),
    one(3, "ipBlock", Msg(&extensions_v1beta1::IPBlock), Optional),
]);

pub(crate) static NetworkPolicyPort: Message = message("k8s.io.api.extensions.v1beta1.NetworkPolicyPort", &[
    one(1, "protocol", String, Optional),
    one(2, "port", Msg(&util_intstr::IntOrString), Optional),
    one(3, "endPort", Int32, Optional),
]);

pub(crate) static NetworkPolicySpec: Message = message("k8s.io.api.extensions.v1beta1.NetworkPolicySpec", &[
    one(1, "podSelector", Msg(&meta_v1::LabelSelector), Required),
    many(2, "ingress", Msg(&extensions_v1beta1::NetworkPolicyIngressRule), OmitEmpty),
    many(3, "egress", Msg(&extensions_v1beta1::NetworkPolicyEgressRule), OmitEmpty),
    many(4, "policyTypes", String, OmitEmpty),
]);

pub(crate) static ReplicaSet: Message = object("k8s.io.api.extensions.v1beta1.ReplicaSet", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&extensions_v1beta1::ReplicaSetSpec), OmitEmpty),
    one(3, "status", Msg(&extensions_v1beta1::ReplicaSetStatus), OmitEmpty),
]);

pub(crate) static ReplicaSetCondition: Message = message("k8s.io.api.extensions.v1beta1.ReplicaSetCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
]);

pub(crate) static ReplicaSetList: Message = object("k8s.io.api.extensions.v1beta1.ReplicaSetList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&extensions_v1beta1::ReplicaSet), Items),
]);

pub(crate) static ReplicaSetSpec: Message = message("k8s.io.api.extensions.v1beta1.ReplicaSetSpec", &[
    one(1, "replicas", Int32, Optional),
    one(2, "selector", Msg(&meta_v1::LabelSelector), Optional),
    one(3, "template", Msg(&core_v1::PodTemplateSpec), OmitEmpty),
    one(4, "minReadySeconds", Int32, OmitEmpty),
]);

pub(crate) static ReplicaSetStatus: Message = message("k8s.io.api.extensions.v1beta1.ReplicaSetStatus", &[
    one(1, "replicas", Int32, Required),
    one(2, "fullyLabeledReplicas", Int32, OmitEmpty),
    one(3, "observedGeneration", Int64, OmitEmpty),
    one(4, "readyReplicas", Int32, OmitEmpty),
    one(5, "availableReplicas", Int32, OmitEmpty),
    many(6, "conditions", Msg(&extensions_v1beta1::ReplicaSetCondition), OmitEmpty),
    one(7, "terminatingReplicas", Int32, Optional),
]);

pub(crate) static RollbackConfig: Message = message("k8s.io.api.extensions.v1beta1.RollbackConfig", &[
    one(1, "revision", Int64, OmitEmpty),
]);

pub(crate) static RollingUpdateDaemonSet: Message = message("k8s.io.api.extensions.v1beta1.RollingUpdateDaemonSet", &[
    one(1, "maxUnavailable", Msg(&util_intstr::IntOrString), Optional),
    one(2, "maxSurge", Msg(&util_intstr::IntOrString), Optional),
]);

pub(crate) static RollingUpdateDeployment: Message = message("k8s.io.api.extensions.v1beta1.RollingUpdateDeployment", &[
    one(1, "maxUnavailable", Msg(&util_intstr::IntOrString), Optional),
    one(2, "maxSurge", Msg(&util_intstr::IntOrString), Optional),
]);

pub(crate) static Scale: Message = object("k8s.io.api.extensions.v1beta1.Scale", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&extensions_v1beta1::ScaleSpec), OmitEmpty),
    one(3, "status", Msg(&extensions_v1beta1::ScaleStatus), OmitEmpty),
]);

pub(crate) static ScaleSpec: Message = message("k8s.io.api.extensions.v1beta1.ScaleSpec", &[
    one(1, "replicas", Int32, OmitEmpty),
]);

pub(crate) static ScaleStatus: Message = message("k8s.io.api.extensions.v1beta1.ScaleStatus", &[
    one(1, "replicas", Int32, Required),
    map(2, "selector", String, OmitEmpty),
    one(3, "targetSelector", String, OmitEmpty),
]);
