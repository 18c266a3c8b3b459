//! The structs of `api::authorization::v1`.

use super::*;
use k8s_openapi::api::authorization::v1 as k8s;

impl Message for k8s::FieldSelectorAttributes {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.raw_selector, input),
            2 => push_message(room(&mut self.requirements, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LabelSelectorAttributes {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.raw_selector, input),
            2 => push_message(room(&mut self.requirements, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LocalSubjectAccessReview {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.spec, input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NonResourceAttributes {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.path, input),
            2 => some_unless_empty(&mut self.verb, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NonResourceRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(reserve(&mut self.verbs, &input), input),
            2 => push(room(&mut self.non_resource_urls, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceAttributes {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.namespace, input),
            2 => some_unless_empty(&mut self.verb, input),
            3 => some_unless_empty(&mut self.group, input),
            4 => some_unless_empty(&mut self.version, input),
            5 => some_unless_empty(&mut self.resource, input),
            6 => some_unless_empty(&mut self.subresource, input),
            7 => some_unless_empty(&mut self.name, input),
            8 => message(self.field_selector.get_or_insert_default(), input),
            9 => message(self.label_selector.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(reserve(&mut self.verbs, &input), input),
            2 => push(room(&mut self.api_groups, &input), input),
            3 => push(room(&mut self.resources, &input), input),
            4 => push(room(&mut self.resource_names, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SelfSubjectAccessReview {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.spec, input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SelfSubjectAccessReviewSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.resource_attributes.get_or_insert_default(), input),
            2 => message(self.non_resource_attributes.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SelfSubjectRulesReview {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.spec, input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SelfSubjectRulesReviewSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.namespace, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SubjectAccessReview {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.spec, input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SubjectAccessReviewSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.resource_attributes.get_or_insert_default(), input),
            2 => message(self.non_resource_attributes.get_or_insert_default(), input),
            3 => some_unless_empty(&mut self.user, input),
            4 => push(room(&mut self.groups, &input), input),
            5 => entry_by_serde(self.extra.get_or_insert_default(), &tables::authorization_v1::ExtraValue, input),
            6 => some_unless_empty(&mut self.uid, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SubjectAccessReviewStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.allowed, input),
            2 => some_unless_empty(&mut self.reason, input),
            3 => some_unless_empty(&mut self.evaluation_error, input),
            4 => some_unless_empty(&mut self.denied, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SubjectRulesReviewStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(reserve(&mut self.resource_rules, &input), input),
            2 => push_message(reserve(&mut self.non_resource_rules, &input), input),
            3 => set(&mut self.incomplete, input),
            4 => some_unless_empty(&mut self.evaluation_error, input),
            _ => Some(()),
        }
    }
}
