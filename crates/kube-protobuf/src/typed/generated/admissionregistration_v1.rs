//! The structs of `api::admissionregistration::v1`.

use super::*;
use k8s_openapi::api::admissionregistration::v1 as k8s;

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::ApplyConfiguration {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.expression, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::AuditAnnotation {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.key, input),
            2 => set(&mut self.value_expression, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ExpressionWarning {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            2 => set(&mut self.field_ref, input),
            3 => set(&mut self.warning, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::JSONPatch {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.expression, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::MatchCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.expression, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::MatchResources {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.namespace_selector.get_or_insert_default(), input),
            2 => message(self.object_selector.get_or_insert_default(), input),
            3 => push_message(room(&mut self.resource_rules, &input), input),
            4 => push_message(room(&mut self.exclude_resource_rules, &input), input),
            7 => some(&mut self.match_policy, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::MutatingAdmissionPolicy {
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
} }

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::MutatingAdmissionPolicyBinding {
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
} }

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::MutatingAdmissionPolicyBindingSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.policy_name, input),
            2 => message(self.param_ref.get_or_insert_default(), input),
            3 => message(self.match_resources.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::MutatingAdmissionPolicySpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.param_kind.get_or_insert_default(), input),
            2 => message(self.match_constraints.get_or_insert_default(), input),
            3 => push_message(room(&mut self.variables, &input), input),
            4 => push_message(room(&mut self.mutations, &input), input),
            5 => some(&mut self.failure_policy, input),
            6 => push_message(room(&mut self.match_conditions, &input), input),
            7 => some_unless_empty(&mut self.reinvocation_policy, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::MutatingWebhook {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(&mut self.client_config, input),
            3 => push_message(room(&mut self.rules, &input), input),
            4 => some(&mut self.failure_policy, input),
            5 => message(self.namespace_selector.get_or_insert_default(), input),
            6 => set(&mut self.side_effects, input),
            7 => some(&mut self.timeout_seconds, input),
            8 => push(reserve(&mut self.admission_review_versions, &input), input),
            9 => some(&mut self.match_policy, input),
            10 => some(&mut self.reinvocation_policy, input),
            11 => message(self.object_selector.get_or_insert_default(), input),
            12 => push_message(room(&mut self.match_conditions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::MutatingWebhookConfiguration {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => push_message(room(&mut self.webhooks, &input), input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::Mutation {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            2 => set(&mut self.patch_type, input),
            3 => message(self.apply_configuration.get_or_insert_default(), input),
            4 => message(self.json_patch.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::NamedRuleWithOperations {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.resource_names, &input), input),
            2 => inline(&mut NamedRuleWithOperations2(self), input),
            _ => Some(()),
        }
    }
}

struct NamedRuleWithOperations22<'a>(&'a mut k8s::NamedRuleWithOperations);

impl Message for NamedRuleWithOperations22<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.0.api_groups, &input), input),
            2 => push(room(&mut self.0.api_versions, &input), input),
            3 => push(room(&mut self.0.resources, &input), input),
            4 => some(&mut self.0.scope, input),
            _ => Some(()),
        }
    }
}

struct NamedRuleWithOperations2<'a>(&'a mut k8s::NamedRuleWithOperations);

impl Message for NamedRuleWithOperations2<'_> {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.0.operations, &input), input),
            2 => inline(&mut NamedRuleWithOperations22(&mut *self.0), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ParamKind {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.api_version, input),
            2 => some_unless_empty(&mut self.kind, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ParamRef {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.name, input),
            2 => some_unless_empty(&mut self.namespace, input),
            3 => message(self.selector.get_or_insert_default(), input),
            4 => some(&mut self.parameter_not_found_action, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::RuleWithOperations {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.operations, &input), input),
            2 => inline(&mut RuleWithOperations2(self), input),
            _ => Some(()),
        }
    }
}

struct RuleWithOperations2<'a>(&'a mut k8s::RuleWithOperations);

impl Message for RuleWithOperations2<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.0.api_groups, &input), input),
            2 => push(room(&mut self.0.api_versions, &input), input),
            3 => push(room(&mut self.0.resources, &input), input),
            4 => some(&mut self.0.scope, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServiceReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.namespace, input),
            2 => set(&mut self.name, input),
            3 => some(&mut self.path, input),
            4 => some(&mut self.port, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::TypeChecking {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.expression_warnings, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ValidatingAdmissionPolicy {
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

impl Message for k8s::ValidatingAdmissionPolicyBinding {
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

impl Message for k8s::ValidatingAdmissionPolicyBindingSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => { k8s_openapi::k8s_if_ge_1_36! { return set(&mut self.policy_name, input); } k8s_openapi::k8s_if_le_1_35! { return some_unless_empty(&mut self.policy_name, input); } Some(()) }
            2 => message(self.param_ref.get_or_insert_default(), input),
            3 => message(self.match_resources.get_or_insert_default(), input),
            4 => { k8s_openapi::k8s_if_ge_1_36! { return push(reserve(&mut self.validation_actions, &input), input); } k8s_openapi::k8s_if_le_1_35! { return push(room(&mut self.validation_actions, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::ValidatingAdmissionPolicySpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.param_kind.get_or_insert_default(), input),
            2 => message(self.match_constraints.get_or_insert_default(), input),
            3 => push_message(room(&mut self.validations, &input), input),
            4 => some(&mut self.failure_policy, input),
            5 => push_message(room(&mut self.audit_annotations, &input), input),
            6 => push_message(room(&mut self.match_conditions, &input), input),
            7 => push_message(room(&mut self.variables, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ValidatingAdmissionPolicyStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.observed_generation, input),
            2 => message(self.type_checking.get_or_insert_default(), input),
            3 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ValidatingWebhook {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(&mut self.client_config, input),
            3 => push_message(room(&mut self.rules, &input), input),
            4 => some(&mut self.failure_policy, input),
            5 => message(self.namespace_selector.get_or_insert_default(), input),
            6 => set(&mut self.side_effects, input),
            7 => some(&mut self.timeout_seconds, input),
            8 => push(reserve(&mut self.admission_review_versions, &input), input),
            9 => some(&mut self.match_policy, input),
            10 => message(self.object_selector.get_or_insert_default(), input),
            11 => push_message(room(&mut self.match_conditions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ValidatingWebhookConfiguration {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => push_message(room(&mut self.webhooks, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Validation {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.expression, input),
            2 => some_unless_empty(&mut self.message, input),
            3 => some(&mut self.reason, input),
            4 => some_unless_empty(&mut self.message_expression, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Variable {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.expression, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::WebhookClientConfig {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.service.get_or_insert_default(), input),
            2 => some_unless_empty(&mut self.ca_bundle, input),
            3 => some(&mut self.url, input),
            _ => Some(()),
        }
    }
}
