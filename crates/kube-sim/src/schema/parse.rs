//! Schemas from JSON.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::cel::Compiled;
use super::{Additional, Limits, ListType, Node, Pattern, Rule, Schema, Type, builtin};

impl Schema {
    /// Reads the `openAPIV3Schema` of a version of a custom resource definition, and adds what every object has.
    pub(crate) fn of_custom_resource(value: &Value) -> Self {
        let mut schema = Self::parse(value);
        schema.add_object_fields();
        schema
    }

    /// Reads a schema; what is no part of one is ignored.
    pub(crate) fn parse(value: &Value) -> Self {
        let mut schema = Self {
            kind: kind(&value["type"]),
            format: text(&value["format"]),
            nullable: value["nullable"] == true,
            properties: members(&value["properties"])
                .map(|(name, value)| (name.clone(), node(value)))
                .collect(),
            additional: match &value["additionalProperties"] {
                Value::Bool(true) => Additional::Anything,
                Value::Bool(false) => Additional::Nothing,
                Value::Null => Additional::Unsaid,
                values => Additional::Values(node(values)),
            },
            required: strings(&value["required"]),
            items: value.get("items").map(node),
            default: value.get("default").cloned(),
            limits: limits(value),
            list_type: match value["x-kubernetes-list-type"].as_str() {
                Some("set") => ListType::Set,
                Some("map") => ListType::Map,
                _ => ListType::Atomic,
            },
            list_map_keys: strings(&value["x-kubernetes-list-map-keys"]),
            atomic_map: value["x-kubernetes-map-type"] == "atomic",
            preserves_unknown: value["x-kubernetes-preserve-unknown-fields"] == true,
            embedded: value["x-kubernetes-embedded-resource"] == true,
            int_or_string: value["x-kubernetes-int-or-string"] == true || value["format"] == "int-or-string",
            rules: list(&value["x-kubernetes-validations"]).map(rule).collect(),
            has_rules: false,
        };
        schema.has_rules = !schema.rules.is_empty() || schema.parts().any(|part| part.has_rules);
        if schema.embedded {
            schema.add_object_fields();
        }
        schema
    }

    /// The schemas within that are not elsewhere.
    fn parts(&self) -> impl Iterator<Item = &Self> {
        let additional = match &self.additional {
            Additional::Values(values) => Some(values),
            _ => None,
        };
        let nodes = self.properties.values().chain(&self.items).chain(additional);
        nodes.filter_map(|node| match node {
            Node::Here(schema) => Some(&**schema),
            Node::There { .. } => None,
        })
    }

    /// `apiVersion`, `kind` and `metadata`. What a definition says about the metadata's fields stays.
    fn add_object_fields(&mut self) {
        let Some(definition) = builtin::named(builtin::METADATA) else {
            return;
        };
        for name in ["apiVersion", "kind"] {
            let string = || node(&json!({"type": "string"}));
            self.properties.entry(name.to_owned()).or_insert_with(string);
        }
        let metadata = match self.properties.remove("metadata") {
            Some(Node::Here(given)) if !given.properties.is_empty() => {
                let mut merged = Self::clone(definition.schema());
                let given = given.properties.iter();
                merged
                    .properties
                    .extend(given.map(|(name, node)| (name.clone(), node.clone())));
                Node::Here(Arc::new(merged))
            }
            _ => Node::There {
                definition,
                default: None,
            },
        };
        self.properties.insert("metadata".to_owned(), metadata);
    }
}

/// A schema, or a reference: alone, or as the only item of `allOf`.
fn node(value: &Value) -> Node {
    let reference = |value: &Value| {
        let name = value["$ref"].as_str()?.strip_prefix("#/components/schemas/")?;
        builtin::named(name)
    };
    let only = match value["allOf"].as_array().map(Vec::as_slice) {
        Some([only]) => only,
        _ => value,
    };
    match reference(only) {
        // Owned by its members here, though not elsewhere.
        Some(definition) if value["x-kubernetes-map-type"] == "granular" => {
            let mut schema = Schema::clone(definition.schema());
            schema.atomic_map = false;
            Node::Here(Arc::new(schema))
        }
        Some(definition) => Node::There {
            definition,
            default: value.get("default").cloned(),
        },
        None => Node::Here(Arc::new(Schema::parse(value))),
    }
}

fn limits(value: &Value) -> Option<Box<Limits>> {
    let number = |name: &str| match &value[name] {
        Value::Number(number) => Some(number.clone()),
        _ => None,
    };
    let count = |name: &str| value[name].as_u64();
    let schemas = |name: &str| list(&value[name]).map(Schema::parse).collect();
    let limits = Limits {
        allowed: list(&value["enum"]).cloned().collect(),
        minimum: number("minimum"),
        exclusive_minimum: value["exclusiveMinimum"] == true,
        maximum: number("maximum"),
        exclusive_maximum: value["exclusiveMaximum"] == true,
        multiple_of: number("multipleOf"),
        min_length: count("minLength"),
        max_length: count("maxLength"),
        pattern: Pattern::new(value["pattern"].as_str().unwrap_or("")),
        min_items: count("minItems"),
        max_items: count("maxItems"),
        unique_items: value["uniqueItems"] == true,
        min_properties: count("minProperties"),
        max_properties: count("maxProperties"),
        all_of: schemas("allOf"),
        any_of: schemas("anyOf"),
        one_of: schemas("oneOf"),
        not: value.get("not").map(Schema::parse),
    };
    (limits != Limits::default()).then(|| Box::new(limits))
}

fn rule(value: &Value) -> Rule {
    Rule {
        rule: text(&value["rule"]),
        message: text(&value["message"]),
        message_expression: text(&value["messageExpression"]),
        reason: text(&value["reason"]),
        field_path: text(&value["fieldPath"]),
        optional_old_self: value["optionalOldSelf"] == true,
        compiled: Compiled::default(),
    }
}

fn kind(value: &Value) -> Option<Type> {
    use Type::{Array, Boolean, Integer, Number, Object, String};
    let name = value.as_str()?;
    [Object, Array, String, Integer, Number, Boolean]
        .into_iter()
        .find(|kind| kind.name() == name)
}

fn text(value: &Value) -> Box<str> {
    value.as_str().unwrap_or("").into()
}

fn strings(value: &Value) -> Vec<String> {
    list(value).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definitions_schema_gets_the_fields_of_every_object() {
        let schema = Schema::of_custom_resource(&json!({
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "additionalProperties": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                },
                "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}},
            },
        }));
        assert_eq!(schema.properties["kind"].get().kind, Some(Type::String));
        let metadata = schema.properties["metadata"].get();
        let name = metadata.properties["name"].get();
        assert_eq!(name.limits.as_ref().unwrap().max_length, Some(5));
        assert!(metadata.properties.contains_key("ownerReferences"));
        let Additional::Values(values) = &schema.properties["spec"].get().additional else {
            panic!("{schema:?}");
        };
        assert_eq!(values.get().list_type, ListType::Set);
        assert!(values.get().limits.is_none());
    }
}
