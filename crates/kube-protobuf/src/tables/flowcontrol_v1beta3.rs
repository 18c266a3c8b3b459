//! The messages of `k8s.io.api.flowcontrol.v1beta3`.

use super::*;

pub(crate) static ExemptPriorityLevelConfiguration: Message = message("k8s.io.api.flowcontrol.v1beta3.ExemptPriorityLevelConfiguration", &[
    one(1, "nominalConcurrencyShares", Int32, Optional),
    one(2, "lendablePercent", Int32, Optional),
]);

pub(crate) static FlowDistinguisherMethod: Message = message("k8s.io.api.flowcontrol.v1beta3.FlowDistinguisherMethod", &[
    one(1, "type", String, Required),
]);

pub(crate) static FlowSchema: Message = object("k8s.io.api.flowcontrol.v1beta3.FlowSchema", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&flowcontrol_v1beta3::FlowSchemaSpec), OmitEmpty),
    one(3, "status", Msg(&flowcontrol_v1beta3::FlowSchemaStatus), OmitEmpty),
]);

pub(crate) static FlowSchemaCondition: Message = message("k8s.io.api.flowcontrol.v1beta3.FlowSchemaCondition", &[
    one(1, "type", String, OmitEmpty),
    one(2, "status", String, OmitEmpty),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
]);

pub(crate) static FlowSchemaList: Message = object("k8s.io.api.flowcontrol.v1beta3.FlowSchemaList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&flowcontrol_v1beta3::FlowSchema), Items),
]);

pub(crate) static FlowSchemaSpec: Message = message("k8s.io.api.flowcontrol.v1beta3.FlowSchemaSpec", &[
    one(1, "priorityLevelConfiguration", Msg(&flowcontrol_v1beta3::PriorityLevelConfigurationReference), Required),
    one(2, "matchingPrecedence", Int32, Required),
    one(3, "distinguisherMethod", Msg(&flowcontrol_v1beta3::FlowDistinguisherMethod), Optional),
    many(4, "rules", Msg(&flowcontrol_v1beta3::PolicyRulesWithSubjects), OmitEmpty),
]);

pub(crate) static FlowSchemaStatus: Message = message("k8s.io.api.flowcontrol.v1beta3.FlowSchemaStatus", &[
    many(1, "conditions", Msg(&flowcontrol_v1beta3::FlowSchemaCondition), OmitEmpty),
]);

pub(crate) static GroupSubject: Message = message("k8s.io.api.flowcontrol.v1beta3.GroupSubject", &[
    one(1, "name", String, Required),
]);

pub(crate) static LimitResponse: Message = message("k8s.io.api.flowcontrol.v1beta3.LimitResponse", &[
    one(1, "type", String, Required),
    one(2, "queuing", Msg(&flowcontrol_v1beta3::QueuingConfiguration), Optional),
]);

pub(crate) static LimitedPriorityLevelConfiguration: Message = message("k8s.io.api.flowcontrol.v1beta3.LimitedPriorityLevelConfiguration", &[
    one(1, "nominalConcurrencyShares", Int32, Required),
    one(2, "limitResponse", Msg(&flowcontrol_v1beta3::LimitResponse), OmitEmpty),
    one(3, "lendablePercent", Int32, Optional),
    one(4, "borrowingLimitPercent", Int32, Optional),
]);

pub(crate) static NonResourcePolicyRule: Message = message("k8s.io.api.flowcontrol.v1beta3.NonResourcePolicyRule", &[
    many(1, "verbs", String, Required),
    many(6, "nonResourceURLs", String, Required),
]);

pub(crate) static PolicyRulesWithSubjects: Message = message("k8s.io.api.flowcontrol.v1beta3.PolicyRulesWithSubjects", &[
    many(1, "subjects", Msg(&flowcontrol_v1beta3::Subject), Required),
    many(2, "resourceRules", Msg(&flowcontrol_v1beta3::ResourcePolicyRule), OmitEmpty),
    many(3, "nonResourceRules", Msg(&flowcontrol_v1beta3::NonResourcePolicyRule), OmitEmpty),
]);

pub(crate) static PriorityLevelConfiguration: Message = object("k8s.io.api.flowcontrol.v1beta3.PriorityLevelConfiguration", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&flowcontrol_v1beta3::PriorityLevelConfigurationSpec), OmitEmpty),
    one(3, "status", Msg(&flowcontrol_v1beta3::PriorityLevelConfigurationStatus), OmitEmpty),
]);

pub(crate) static PriorityLevelConfigurationCondition: Message = message("k8s.io.api.flowcontrol.v1beta3.PriorityLevelConfigurationCondition", &[
    one(1, "type", String, OmitEmpty),
    one(2, "status", String, OmitEmpty),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
]);

pub(crate) static PriorityLevelConfigurationList: Message = object("k8s.io.api.flowcontrol.v1beta3.PriorityLevelConfigurationList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&flowcontrol_v1beta3::PriorityLevelConfiguration), Items),
]);

pub(crate) static PriorityLevelConfigurationReference: Message = message("k8s.io.api.flowcontrol.v1beta3.PriorityLevelConfigurationReference", &[
    one(1, "name", String, Required),
]);

pub(crate) static PriorityLevelConfigurationSpec: Message = message("k8s.io.api.flowcontrol.v1beta3.PriorityLevelConfigurationSpec", &[
    one(1, "type", String, Required),
    one(2, "limited", Msg(&flowcontrol_v1beta3::LimitedPriorityLevelConfiguration), Optional),
    one(3, "exempt", Msg(&flowcontrol_v1beta3::ExemptPriorityLevelConfiguration), Optional),
]);

pub(crate) static PriorityLevelConfigurationStatus: Message = message("k8s.io.api.flowcontrol.v1beta3.PriorityLevelConfigurationStatus", &[
    many(1, "conditions", Msg(&flowcontrol_v1beta3::PriorityLevelConfigurationCondition), OmitEmpty),
]);

pub(crate) static QueuingConfiguration: Message = message("k8s.io.api.flowcontrol.v1beta3.QueuingConfiguration", &[
    one(1, "queues", Int32, Required),
    one(2, "handSize", Int32, Required),
    one(3, "queueLengthLimit", Int32, Required),
]);

pub(crate) static ResourcePolicyRule: Message = message("k8s.io.api.flowcontrol.v1beta3.ResourcePolicyRule", &[
    many(1, "verbs", String, Required),
    many(2, "apiGroups", String, Required),
    many(3, "resources", String, Required),
    one(4, "clusterScope", Bool, OmitEmpty),
    many(5, "namespaces", String, Required),
]);

pub(crate) static ServiceAccountSubject: Message = message("k8s.io.api.flowcontrol.v1beta3.ServiceAccountSubject", &[
    one(1, "namespace", String, Required),
    one(2, "name", String, Required),
]);

pub(crate) static Subject: Message = message("k8s.io.api.flowcontrol.v1beta3.Subject", &[
    one(1, "kind", String, Required),
    one(2, "user", Msg(&flowcontrol_v1beta3::UserSubject), Optional),
    one(3, "group", Msg(&flowcontrol_v1beta3::GroupSubject), Optional),
    one(4, "serviceAccount", Msg(&flowcontrol_v1beta3::ServiceAccountSubject), Optional),
]);

pub(crate) static UserSubject: Message = message("k8s.io.api.flowcontrol.v1beta3.UserSubject", &[
    one(1, "name", String, Required),
]);
