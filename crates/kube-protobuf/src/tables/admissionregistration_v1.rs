//! The messages of `k8s.io.api.admissionregistration.v1`.

use super::*;

pub(crate) static ApplyConfiguration: Message = message("k8s.io.api.admissionregistration.v1.ApplyConfiguration", &[
    one(1, "expression", String, OmitEmpty),
]);

pub(crate) static AuditAnnotation: Message = message("k8s.io.api.admissionregistration.v1.AuditAnnotation", &[
    one(1, "key", String, Required),
    one(2, "valueExpression", String, Required),
]);

pub(crate) static ExpressionWarning: Message = message("k8s.io.api.admissionregistration.v1.ExpressionWarning", &[
    one(2, "fieldRef", String, Required),
    one(3, "warning", String, Required),
]);

pub(crate) static JSONPatch: Message = message("k8s.io.api.admissionregistration.v1.JSONPatch", &[
    one(1, "expression", String, OmitEmpty),
]);

pub(crate) static MatchCondition: Message = message("k8s.io.api.admissionregistration.v1.MatchCondition", &[
    one(1, "name", String, Required),
    one(2, "expression", String, Required),
]);

pub(crate) static MatchResources: Message = message("k8s.io.api.admissionregistration.v1.MatchResources", &[
    one(1, "namespaceSelector", Msg(&meta_v1::LabelSelector), Optional),
    one(2, "objectSelector", Msg(&meta_v1::LabelSelector), Optional),
    many(3, "resourceRules", Msg(&admissionregistration_v1::NamedRuleWithOperations), OmitEmpty),
    many(4, "excludeResourceRules", Msg(&admissionregistration_v1::NamedRuleWithOperations), OmitEmpty),
    one(7, "matchPolicy", String, Optional),
]);

pub(crate) static MutatingAdmissionPolicy: Message = object("k8s.io.api.admissionregistration.v1.MutatingAdmissionPolicy", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&admissionregistration_v1::MutatingAdmissionPolicySpec), OmitEmpty),
]);

pub(crate) static MutatingAdmissionPolicyBinding: Message = object("k8s.io.api.admissionregistration.v1.MutatingAdmissionPolicyBinding", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&admissionregistration_v1::MutatingAdmissionPolicyBindingSpec), OmitEmpty),
]);

pub(crate) static MutatingAdmissionPolicyBindingList: Message = object("k8s.io.api.admissionregistration.v1.MutatingAdmissionPolicyBindingList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&admissionregistration_v1::MutatingAdmissionPolicyBinding), Items),
]);

pub(crate) static MutatingAdmissionPolicyBindingSpec: Message = message("k8s.io.api.admissionregistration.v1.MutatingAdmissionPolicyBindingSpec", &[
    one(1, "policyName", String, OmitEmpty),
    one(2, "paramRef", Msg(&admissionregistration_v1::ParamRef), Optional),
    one(3, "matchResources", Msg(&admissionregistration_v1::MatchResources), Optional),
]);

pub(crate) static MutatingAdmissionPolicyList: Message = object("k8s.io.api.admissionregistration.v1.MutatingAdmissionPolicyList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&admissionregistration_v1::MutatingAdmissionPolicy), Items),
]);

pub(crate) static MutatingAdmissionPolicySpec: Message = message("k8s.io.api.admissionregistration.v1.MutatingAdmissionPolicySpec", &[
    one(1, "paramKind", Msg(&admissionregistration_v1::ParamKind), Optional),
    one(2, "matchConstraints", Msg(&admissionregistration_v1::MatchResources), Optional),
    many(3, "variables", Msg(&admissionregistration_v1::Variable), OmitEmpty),
    many(4, "mutations", Msg(&admissionregistration_v1::Mutation), OmitEmpty),
    one(5, "failurePolicy", String, Optional),
    many(6, "matchConditions", Msg(&admissionregistration_v1::MatchCondition), OmitEmpty),
    one(7, "reinvocationPolicy", String, OmitEmpty),
]);

pub(crate) static MutatingWebhook: Message = message("k8s.io.api.admissionregistration.v1.MutatingWebhook", &[
    one(1, "name", String, Required),
    one(2, "clientConfig", Msg(&admissionregistration_v1::WebhookClientConfig), Required),
    many(3, "rules", Msg(&admissionregistration_v1::RuleWithOperations), OmitEmpty),
    one(4, "failurePolicy", String, Optional),
    one(5, "namespaceSelector", Msg(&meta_v1::LabelSelector), Optional),
    one(6, "sideEffects", String, Nullable),
    one(7, "timeoutSeconds", Int32, Optional),
    many(8, "admissionReviewVersions", String, Required),
    one(9, "matchPolicy", String, Optional),
    one(10, "reinvocationPolicy", String, Optional),
    one(11, "objectSelector", Msg(&meta_v1::LabelSelector), Optional),
    many(12, "matchConditions", Msg(&admissionregistration_v1::MatchCondition), OmitEmpty),
]);

pub(crate) static MutatingWebhookConfiguration: Message = object("k8s.io.api.admissionregistration.v1.MutatingWebhookConfiguration", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    many(2, "webhooks", Msg(&admissionregistration_v1::MutatingWebhook), OmitEmpty),
]);

pub(crate) static MutatingWebhookConfigurationList: Message = object("k8s.io.api.admissionregistration.v1.MutatingWebhookConfigurationList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&admissionregistration_v1::MutatingWebhookConfiguration), Items),
]);

pub(crate) static Mutation: Message = message("k8s.io.api.admissionregistration.v1.Mutation", &[
    one(2, "patchType", String, Required),
    one(3, "applyConfiguration", Msg(&admissionregistration_v1::ApplyConfiguration), Optional),
    one(4, "jsonPatch", Msg(&admissionregistration_v1::JSONPatch), Optional),
]);

pub(crate) static NamedRuleWithOperations: Message = message("k8s.io.api.admissionregistration.v1.NamedRuleWithOperations", &[
    many(1, "resourceNames", String, OmitEmpty),
    one(2, "", Msg(&admissionregistration_v1::RuleWithOperations), Inline),
]);

pub(crate) static ParamKind: Message = message("k8s.io.api.admissionregistration.v1.ParamKind", &[
    one(1, "apiVersion", String, OmitEmpty),
    one(2, "kind", String, OmitEmpty),
]);

pub(crate) static ParamRef: Message = message("k8s.io.api.admissionregistration.v1.ParamRef", &[
    one(1, "name", String, OmitEmpty),
    one(2, "namespace", String, OmitEmpty),
    one(3, "selector", Msg(&meta_v1::LabelSelector), Optional),
    one(4, "parameterNotFoundAction", String, Optional),
]);

pub(crate) static Rule: Message = message("k8s.io.api.admissionregistration.v1.Rule", &[
    many(1, "apiGroups", String, OmitEmpty),
    many(2, "apiVersions", String, OmitEmpty),
    many(3, "resources", String, OmitEmpty),
    one(4, "scope", String, Optional),
]);

pub(crate) static RuleWithOperations: Message = message("k8s.io.api.admissionregistration.v1.RuleWithOperations", &[
    many(1, "operations", String, OmitEmpty),
    one(2, "", Msg(&admissionregistration_v1::Rule), Inline),
]);

pub(crate) static ServiceReference: Message = message("k8s.io.api.admissionregistration.v1.ServiceReference", &[
    one(1, "namespace", String, Required),
    one(2, "name", String, Required),
    one(3, "path", String, Optional),
    one(4, "port", Int32, Optional),
]);

pub(crate) static TypeChecking: Message = message("k8s.io.api.admissionregistration.v1.TypeChecking", &[
    many(1, "expressionWarnings", Msg(&admissionregistration_v1::ExpressionWarning), OmitEmpty),
]);

pub(crate) static ValidatingAdmissionPolicy: Message = object("k8s.io.api.admissionregistration.v1.ValidatingAdmissionPolicy", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&admissionregistration_v1::ValidatingAdmissionPolicySpec), OmitEmpty),
    one(3, "status", Msg(&admissionregistration_v1::ValidatingAdmissionPolicyStatus), OmitEmpty),
]);

pub(crate) static ValidatingAdmissionPolicyBinding: Message = object("k8s.io.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&admissionregistration_v1::ValidatingAdmissionPolicyBindingSpec), OmitEmpty),
]);

pub(crate) static ValidatingAdmissionPolicyBindingList: Message = object("k8s.io.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&admissionregistration_v1::ValidatingAdmissionPolicyBinding), Items),
]);

pub(crate) static ValidatingAdmissionPolicyBindingSpec: Message = message("k8s.io.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec", &[
    one(1, "policyName", String, OmitEmpty),
    one(2, "paramRef", Msg(&admissionregistration_v1::ParamRef), Optional),
    one(3, "matchResources", Msg(&admissionregistration_v1::MatchResources), Optional),
    many(4, "validationActions", String, OmitEmpty),
]);

pub(crate) static ValidatingAdmissionPolicyList: Message = object("k8s.io.api.admissionregistration.v1.ValidatingAdmissionPolicyList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&admissionregistration_v1::ValidatingAdmissionPolicy), Items),
]);

pub(crate) static ValidatingAdmissionPolicySpec: Message = message("k8s.io.api.admissionregistration.v1.ValidatingAdmissionPolicySpec", &[
    one(1, "paramKind", Msg(&admissionregistration_v1::ParamKind), Optional),
    one(2, "matchConstraints", Msg(&admissionregistration_v1::MatchResources), Optional),
    many(3, "validations", Msg(&admissionregistration_v1::Validation), OmitEmpty),
    one(4, "failurePolicy", String, Optional),
    many(5, "auditAnnotations", Msg(&admissionregistration_v1::AuditAnnotation), OmitEmpty),
    many(6, "matchConditions", Msg(&admissionregistration_v1::MatchCondition), OmitEmpty),
    many(7, "variables", Msg(&admissionregistration_v1::Variable), OmitEmpty),
]);

pub(crate) static ValidatingAdmissionPolicyStatus: Message = message("k8s.io.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus", &[
    one(1, "observedGeneration", Int64, OmitEmpty),
    one(2, "typeChecking", Msg(&admissionregistration_v1::TypeChecking), Optional),
    many(3, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
]);

pub(crate) static ValidatingWebhook: Message = message("k8s.io.api.admissionregistration.v1.ValidatingWebhook", &[
    one(1, "name", String, Required),
    one(2, "clientConfig", Msg(&admissionregistration_v1::WebhookClientConfig), Required),
    many(3, "rules", Msg(&admissionregistration_v1::RuleWithOperations), OmitEmpty),
    one(4, "failurePolicy", String, Optional),
    one(5, "namespaceSelector", Msg(&meta_v1::LabelSelector), Optional),
    one(6, "sideEffects", String, Nullable),
    one(7, "timeoutSeconds", Int32, Optional),
    many(8, "admissionReviewVersions", String, Required),
    one(9, "matchPolicy", String, Optional),
    one(10, "objectSelector", Msg(&meta_v1::LabelSelector), Optional),
    many(11, "matchConditions", Msg(&admissionregistration_v1::MatchCondition), OmitEmpty),
]);

pub(crate) static ValidatingWebhookConfiguration: Message = object("k8s.io.api.admissionregistration.v1.ValidatingWebhookConfiguration", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    many(2, "webhooks", Msg(&admissionregistration_v1::ValidatingWebhook), OmitEmpty),
]);

pub(crate) static ValidatingWebhookConfigurationList: Message = object("k8s.io.api.admissionregistration.v1.ValidatingWebhookConfigurationList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&admissionregistration_v1::ValidatingWebhookConfiguration), Items),
]);

pub(crate) static Validation: Message = message("k8s.io.api.admissionregistration.v1.Validation", &[
    one(1, "expression", String, Required),
    one(2, "message", String, OmitEmpty),
    one(3, "reason", String, Optional),
    one(4, "messageExpression", String, OmitEmpty),
]);

pub(crate) static Variable: Message = message("k8s.io.api.admissionregistration.v1.Variable", &[
    one(1, "name", String, Required),
    one(2, "expression", String, Required),
]);

pub(crate) static WebhookClientConfig: Message = message("k8s.io.api.admissionregistration.v1.WebhookClientConfig", &[
    one(1, "service", Msg(&admissionregistration_v1::ServiceReference), Optional),
    one(2, "caBundle", Bytes, OmitEmpty),
    one(3, "url", String, Optional),
]);
