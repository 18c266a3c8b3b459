//! The structs of `api::flowcontrol::v1`.

use super::*;
use k8s_openapi::api::flowcontrol::v1 as k8s;

impl Message for k8s::ExemptPriorityLevelConfiguration {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.nominal_concurrency_shares, input),
            2 => some(&mut self.lendable_percent, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::FlowDistinguisherMethod {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::FlowSchema {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_ge_1_37! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_le_1_36! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::FlowSchemaCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => { k8s_openapi::k8s_if_ge_1_37! { return set(&mut self.type_, input); } k8s_openapi::k8s_if_le_1_36! { return some_unless_empty(&mut self.type_, input); } Some(()) }
            2 => some_unless_empty(&mut self.status, input),
            3 => some_time(&mut self.last_transition_time, input),
            4 => some_unless_empty(&mut self.reason, input),
            5 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::FlowSchemaSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Varint(0))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.priority_level_configuration, input),
            2 => some(&mut self.matching_precedence, input),
            3 => message(self.distinguisher_method.get_or_insert_default(), input),
            4 => push_message(room(&mut self.rules, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::FlowSchemaStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.conditions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::GroupSubject {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LimitResponse {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => message(self.queuing.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LimitedPriorityLevelConfiguration {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.nominal_concurrency_shares, input),
            2 => { k8s_openapi::k8s_if_ge_1_37! { return message(&mut self.limit_response, input); } k8s_openapi::k8s_if_le_1_36! { return message(self.limit_response.get_or_insert_default(), input); } Some(()) }
            3 => some(&mut self.lendable_percent, input),
            4 => some(&mut self.borrowing_limit_percent, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NonResourcePolicyRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(reserve(&mut self.verbs, &input), input),
            6 => push(reserve(&mut self.non_resource_urls, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PolicyRulesWithSubjects {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(reserve(&mut self.subjects, &input), input),
            2 => push_message(room(&mut self.resource_rules, &input), input),
            3 => push_message(room(&mut self.non_resource_rules, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PriorityLevelConfiguration {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_ge_1_37! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_le_1_36! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PriorityLevelConfigurationCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => { k8s_openapi::k8s_if_ge_1_37! { return set(&mut self.type_, input); } k8s_openapi::k8s_if_le_1_36! { return some_unless_empty(&mut self.type_, input); } Some(()) }
            2 => some_unless_empty(&mut self.status, input),
            3 => some_time(&mut self.last_transition_time, input),
            4 => some_unless_empty(&mut self.reason, input),
            5 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PriorityLevelConfigurationReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PriorityLevelConfigurationSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => message(self.limited.get_or_insert_default(), input),
            3 => message(self.exempt.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PriorityLevelConfigurationStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.conditions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::QueuingConfiguration {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Varint(0)), (2, Wire::Varint(0)), (3, Wire::Varint(0))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.queues, input),
            2 => some(&mut self.hand_size, input),
            3 => some(&mut self.queue_length_limit, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourcePolicyRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(reserve(&mut self.verbs, &input), input),
            2 => push(reserve(&mut self.api_groups, &input), input),
            3 => push(reserve(&mut self.resources, &input), input),
            4 => some_unless_empty(&mut self.cluster_scope, input),
            5 => push(room(&mut self.namespaces, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServiceAccountSubject {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.namespace, input),
            2 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Subject {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.kind, input),
            2 => message(self.user.get_or_insert_default(), input),
            3 => message(self.group.get_or_insert_default(), input),
            4 => message(self.service_account.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::UserSubject {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}
