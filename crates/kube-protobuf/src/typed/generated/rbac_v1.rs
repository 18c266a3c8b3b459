//! The structs of `api::rbac::v1`.

use super::*;
use k8s_openapi::api::rbac::v1 as k8s;

impl Message for k8s::AggregationRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.cluster_role_selectors, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ClusterRole {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => push_message(room(&mut self.rules, &input), input),
            3 => message(self.aggregation_rule.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ClusterRoleBinding {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => push_message(room(&mut self.subjects, &input), input),
            3 => message(&mut self.role_ref, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PolicyRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(reserve(&mut self.verbs, &input), input),
            2 => push(room(&mut self.api_groups, &input), input),
            3 => push(room(&mut self.resources, &input), input),
            4 => push(room(&mut self.resource_names, &input), input),
            5 => push(room(&mut self.non_resource_urls, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Role {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => push_message(room(&mut self.rules, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::RoleBinding {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => push_message(room(&mut self.subjects, &input), input),
            3 => message(&mut self.role_ref, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::RoleRef {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => { k8s_openapi::k8s_if_le_1_35! { return set(&mut self.api_group, input); } k8s_openapi::k8s_if_ge_1_36! { return some(&mut self.api_group, input); } Some(()) }
            2 => set(&mut self.kind, input),
            3 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Subject {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.kind, input),
            2 => some_unless_empty(&mut self.api_group, input),
            3 => set(&mut self.name, input),
            4 => some_unless_empty(&mut self.namespace, input),
            _ => Some(()),
        }
    }
}
