//! The structs of `apiextensions_apiserver::pkg::apis::apiextensions::v1`.

use super::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as k8s;

impl Message for k8s::CustomResourceColumnDefinition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.type_, input),
            3 => some_unless_empty(&mut self.format, input),
            4 => some_unless_empty(&mut self.description, input),
            5 => some_unless_empty(&mut self.priority, input),
            6 => set(&mut self.json_path, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CustomResourceConversion {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.strategy, input),
            2 => message(self.webhook.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CustomResourceDefinition {
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

impl Message for k8s::CustomResourceDefinitionCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.status, input),
            3 => some_time(&mut self.last_transition_time, input),
            4 => some_unless_empty(&mut self.reason, input),
            5 => some_unless_empty(&mut self.message, input),
            6 => { k8s_openapi::k8s_if_le_1_34! { return set(&mut i64::default(), input); } k8s_openapi::k8s_if_ge_1_35! { return some_unless_empty(&mut self.observed_generation, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::CustomResourceDefinitionNames {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.plural, input),
            2 => some_unless_empty(&mut self.singular, input),
            3 => push(room(&mut self.short_names, &input), input),
            4 => set(&mut self.kind, input),
            5 => some_unless_empty(&mut self.list_kind, input),
            6 => push(room(&mut self.categories, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CustomResourceDefinitionSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.group, input),
            3 => message(&mut self.names, input),
            4 => set(&mut self.scope, input),
            7 => push_message(reserve(&mut self.versions, &input), input),
            9 => message(self.conversion.get_or_insert_default(), input),
            10 => some_unless_empty(&mut self.preserve_unknown_fields, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CustomResourceDefinitionStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.conditions, &input), input),
            2 => message(self.accepted_names.get_or_insert_default(), input),
            3 => push(room(&mut self.stored_versions, &input), input),
            4 => { k8s_openapi::k8s_if_le_1_34! { return set(&mut i64::default(), input); } k8s_openapi::k8s_if_ge_1_35! { return some_unless_empty(&mut self.observed_generation, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::CustomResourceDefinitionVersion {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.served, input),
            3 => set(&mut self.storage, input),
            4 => message(self.schema.get_or_insert_default(), input),
            5 => message(self.subresources.get_or_insert_default(), input),
            6 => push_message(room(&mut self.additional_printer_columns, &input), input),
            7 => some_unless_empty(&mut self.deprecated, input),
            8 => some(&mut self.deprecation_warning, input),
            9 => push_message(room(&mut self.selectable_fields, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CustomResourceSubresourceScale {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.spec_replicas_path, input),
            2 => set(&mut self.status_replicas_path, input),
            3 => some(&mut self.label_selector_path, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CustomResourceSubresources {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_by_serde(&mut self.status, &tables::apiextensions_v1::CustomResourceSubresourceStatus, input),
            2 => message(self.scale.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CustomResourceValidation {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.open_api_v3_schema.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ExternalDocumentation {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.description, input),
            2 => some_unless_empty(&mut self.url, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::JSONSchemaProps {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.id, input),
            2 => some_unless_empty(&mut self.schema, input),
            3 => some(&mut self.ref_path, input),
            4 => some_unless_empty(&mut self.description, input),
            5 => some_unless_empty(&mut self.type_, input),
            6 => some_unless_empty(&mut self.format, input),
            7 => some_unless_empty(&mut self.title, input),
            8 => some_by_serde(&mut self.default, &tables::apiextensions_v1::JSON, input),
            9 => some(&mut self.maximum, input),
            10 => some_unless_empty(&mut self.exclusive_maximum, input),
            11 => some(&mut self.minimum, input),
            12 => some_unless_empty(&mut self.exclusive_minimum, input),
            13 => some(&mut self.max_length, input),
            14 => some(&mut self.min_length, input),
            15 => some_unless_empty(&mut self.pattern, input),
            16 => some(&mut self.max_items, input),
            17 => some(&mut self.min_items, input),
            18 => some_unless_empty(&mut self.unique_items, input),
            19 => some(&mut self.multiple_of, input),
            20 => push_by_serde(room(&mut self.enum_, &input), &tables::apiextensions_v1::JSON, input),
            21 => some(&mut self.max_properties, input),
            22 => some(&mut self.min_properties, input),
            23 => push(room(&mut self.required, &input), input),
            24 => some_by_serde(&mut self.items, &tables::apiextensions_v1::JSONSchemaPropsOrArray, input),
            25 => push_message(room(&mut self.all_of, &input), input),
            26 => push_message(room(&mut self.one_of, &input), input),
            27 => push_message(room(&mut self.any_of, &input), input),
            28 => message(&mut **self.not.get_or_insert_default(), input),
            29 => entry(self.properties.get_or_insert_default(), input),
            30 => some_by_serde(&mut self.additional_properties, &tables::apiextensions_v1::JSONSchemaPropsOrBool, input),
            31 => entry(self.pattern_properties.get_or_insert_default(), input),
            32 => entry_by_serde(self.dependencies.get_or_insert_default(), &tables::apiextensions_v1::JSONSchemaPropsOrStringArray, input),
            33 => some_by_serde(&mut self.additional_items, &tables::apiextensions_v1::JSONSchemaPropsOrBool, input),
            34 => entry(self.definitions.get_or_insert_default(), input),
            35 => message(self.external_docs.get_or_insert_default(), input),
            36 => some_by_serde(&mut self.example, &tables::apiextensions_v1::JSON, input),
            37 => some_unless_empty(&mut self.nullable, input),
            38 => some(&mut self.x_kubernetes_preserve_unknown_fields, input),
            39 => some_unless_empty(&mut self.x_kubernetes_embedded_resource, input),
            40 => some_unless_empty(&mut self.x_kubernetes_int_or_string, input),
            41 => push(room(&mut self.x_kubernetes_list_map_keys, &input), input),
            42 => some(&mut self.x_kubernetes_list_type, input),
            43 => some(&mut self.x_kubernetes_map_type, input),
            44 => push_message(room(&mut self.x_kubernetes_validations, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SelectableField {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.json_path, input),
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

impl Message for k8s::ValidationRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.rule, input),
            2 => some_unless_empty(&mut self.message, input),
            3 => some_unless_empty(&mut self.message_expression, input),
            4 => some(&mut self.reason, input),
            5 => some_unless_empty(&mut self.field_path, input),
            6 => some(&mut self.optional_old_self, input),
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

impl Message for k8s::WebhookConversion {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            2 => message(self.client_config.get_or_insert_default(), input),
            3 => push(reserve(&mut self.conversion_review_versions, &input), input),
            _ => Some(()),
        }
    }
}
