//! Whether the schema of a definition is one that a kube-apiserver takes: a
//! [structural](https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema)
//! one.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::validate::validate_default;
use super::{Declared, Pattern, Schema, rules};
use crate::nesting;
use crate::status::Cause;

/// Where a schema is: that decides what may be said there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// The keywords that only a schema itself may use, not the alternatives in it, and what is said of each.
const FORBIDDEN: [(&str, &str); 12] = [
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    (
        "x-kubernetes-preserve-unknown-fields",
        "must be false to be structural",
    ),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
];

/// Schemas are gone through by recursion, on any thread.
const DEEPEST: usize = 500;

/// So many bytes may show the keys of one list. More faults of them are not told of: they say the same.
const MOST_OF_KEYS: usize = 100_000;

/// What is wrong with an `openAPIV3Schema`; `path` leads to it. If the schema `was_there`, its rules may cost more.
/// `declared` is for all schemas of a definition.
pub(crate) fn faults(schema: &Value, path: &str, was_there: bool, declared: &Declared) -> Vec<Cause> {
    let mut causes = Vec::new();
    if nesting::of(schema) > DEEPEST {
        let why = format!("is nested too deep: the simulator takes {DEEPEST} levels of JSON");
        return vec![Cause::invalid(path.to_owned(), "\"\"", &why)];
    }
    level(schema, Level::Root, path, &mut causes);
    if schema["nullable"] == true {
        causes.push(Cause::forbidden(
            format!("{path}.nullable"),
            "nullable cannot be true at the root",
        ));
    }
    forbidden_defaults(schema, path, &mut causes);
    // Defaults are held against a schema that is one.
    if causes.is_empty() {
        defaults(schema, path, false, &mut causes);
    }
    // Rules are compiled against the types of a schema without faults.
    if causes.is_empty() {
        return rules::of_expressions(schema, path, was_there, declared);
    }
    causes.sort_by_cached_key(|cause| in_order(&cause.field));
    causes
}

/// A path in which the places of rules are as long as each other, so that they are sorted as numbers.
fn in_order(path: &str) -> String {
    let Some((schema, rule)) = path.split_once(".x-kubernetes-validations[") else {
        return path.to_owned();
    };
    let (place, member) = rule.split_once(']').unwrap_or((rule, ""));
    format!("{schema}.x-kubernetes-validations[{place:0>8}]{member}")
}

/// The defaults that do not fit their schemas. Those in the metadata of an embedded object lose what such metadata does not have.
fn defaults(schema: &Value, path: &str, in_metadata: bool, causes: &mut Vec<Cause>) {
    let at = |name: &str| format!("{path}.{name}");
    let is_embedded = schema["x-kubernetes-embedded-resource"] == true;
    let in_metadata = in_metadata && !is_embedded;
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        let (schema, path) = (Schema::parse(schema), at("default"));
        causes.extend(validate_default(&schema, default, &path, in_metadata));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = crate::path::below(path, format_args!(".properties[{name}]"));
        let is_own = is_embedded && matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
        defaults(property, &path, in_metadata || is_own, causes);
    }
    // A real server does not look at those of a map's values.
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        defaults(items, &at("items"), in_metadata, causes);
    }
}

/// The defaults of what the server knows itself.
fn forbidden_defaults(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    for name in ["apiVersion", "kind", "metadata"] {
        let property = &schema["properties"][name];
        let path = format!("{path}.properties[{name}]");
        let mut forbid = |schema: &Value, path: &str| {
            if !schema["default"].is_null() {
                let why = format!("must not be set in top-level {name}");
                causes.push(Cause::forbidden(format!("{path}.default"), &why));
            }
        };
        forbid(property, &path);
        for (field, property) in property["properties"].as_object().into_iter().flatten() {
            forbid(property, &format!("{path}.properties[{field}]"));
        }
    }
}

fn level(schema: &Value, level_of: Level, path: &str, causes: &mut Vec<Cause>) {
    let at = |name: &str| format!("{path}.{name}");
    let is = |name: &str| schema[name] == true;
    let kind = schema["type"].as_str().unwrap_or("");
    let (any, embedded) = (
        is("x-kubernetes-preserve-unknown-fields"),
        is("x-kubernetes-embedded-resource"),
    );
    let int_or_string = is("x-kubernetes-int-or-string");
    if embedded && kind != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        causes.push(match kind {
            "" => Cause::required(at("type"), why),
            kind => Cause::invalid(at("type"), format_args!("{kind:?}"), why),
        });
    } else if kind.is_empty() && !int_or_string && !any {
        let of = match level_of {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        causes.push(Cause::required(at("type"), of));
    } else if !kind.is_empty() && !TYPES.contains(&kind) {
        let supported = TYPES.map(|name| format!("{name:?}")).join(", ");
        causes.push(Cause::unsupported(
            at("type"),
            format_args!("{kind:?}"),
            &supported,
        ));
    }
    if level_of == Level::Root && !matches!(kind, "" | "object") {
        causes.push(Cause::invalid(
            at("type"),
            format_args!("{kind:?}"),
            "must be object at the root",
        ));
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == false {
        let at = at("x-kubernetes-preserve-unknown-fields");
        causes.push(Cause::invalid(at, false, "must be true or undefined"));
    }
    if int_or_string && any {
        let why = "must be false if x-kubernetes-int-or-string is true";
        causes.push(Cause::invalid(
            at("x-kubernetes-preserve-unknown-fields"),
            true,
            why,
        ));
    }
    if int_or_string && embedded {
        let why = "must be false if x-kubernetes-int-or-string is true";
        causes.push(Cause::invalid(at("x-kubernetes-embedded-resource"), true, why));
    }
    let has_items = schema["items"].is_object() || schema["items"].is_array();
    if kind == "array" && !has_items {
        causes.push(Cause::required(at("items"), "must be specified"));
    }
    parts(schema, level_of, embedded, path, causes);
    lists(schema, path, causes);
    unsupported(schema, path, causes);
    alternatives(schema, has_types(schema), false, path, causes);
    rules::of_words(schema, path, causes);
}

/// The schemas within.
fn parts(schema: &Value, level_of: Level, embedded: bool, path: &str, causes: &mut Vec<Cause>) {
    let at = |name: &str| format!("{path}.{name}");
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        level(items, Level::Item, &at("items"), causes);
    }
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        let path = crate::path::below(path, format_args!(".properties[{name}]"));
        if level_of == Level::Root && name == "metadata" && property["type"] != "object" {
            let given = property["type"].as_str().unwrap_or("");
            let field = format!("{path}.type");
            causes.push(Cause::invalid(field, format_args!("{given:?}"), "must be object"));
        }
        level(property, Level::Field, &path, causes);
        if level_of == Level::Root && name == "metadata" && says_more_than_names(property) {
            let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
            causes.push(Cause::forbidden(path.clone(), why));
        }
        if (level_of == Level::Root || embedded)
            && matches!(name.as_str(), "kind" | "apiVersion")
            && property["type"] != "string"
        {
            let given = property["type"].as_str().unwrap_or("");
            causes.push(Cause::invalid(
                format!("{path}.type"),
                format_args!("{given:?}"),
                "must be string",
            ));
        }
    }
    if let Some(additional) = schema.get("additionalProperties") {
        if level_of == Level::Root {
            causes.push(Cause::forbidden(
                at("additionalProperties"),
                "must not be used at the root",
            ));
        }
        if embedded {
            let why = "must not be used if x-kubernetes-embedded-resource is set";
            causes.push(Cause::forbidden(at("additionalProperties"), why));
        }
        if properties.is_some_and(|properties| !properties.is_empty()) && *additional != true {
            let why = "additionalProperties and properties are mutual exclusive";
            causes.push(Cause::forbidden(at("additionalProperties"), why));
        }
        if additional.is_object() {
            level(additional, Level::Field, &at("additionalProperties"), causes);
        }
    }
    let preserves = schema["x-kubernetes-preserve-unknown-fields"] == true;
    if embedded && !preserves && properties.is_none_or(Map::is_empty) {
        let why = "must not be empty if x-kubernetes-embedded-resource is true without \
             x-kubernetes-preserve-unknown-fields";
        causes.push(Cause::required(at("properties"), why));
    }
}

/// Whether the schema of the metadata says something of other fields than `name` and `generateName`.
fn says_more_than_names(metadata: &Value) -> bool {
    let properties = metadata["properties"].as_object();
    let names = |name: &String| matches!(name.as_str(), "name" | "generateName");
    let others = properties.is_some_and(|properties| !properties.keys().all(names));
    let said = metadata.as_object().is_some_and(|metadata| {
        metadata
            .keys()
            .any(|key| !matches!(key.as_str(), "type" | "properties" | "description" | "default"))
    });
    others || said
}

fn lists(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let at = |name: &str| format!("{path}.{name}");
    let list_type = schema["x-kubernetes-list-type"].as_str();
    let keys: Vec<&str> = schema["x-kubernetes-list-map-keys"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let items = &schema["items"];
    match list_type {
        None => {
            if !keys.is_empty() {
                let why = "must be map if x-kubernetes-list-map-keys is non-empty";
                causes.push(Cause::required(at("x-kubernetes-list-type"), why));
            }
        }
        Some(kind) => {
            if schema["type"] != "array" {
                let given = schema["type"].as_str().unwrap_or("");
                let why = "must be array if x-kubernetes-list-type is specified";
                causes.push(match given {
                    "" => Cause::required(at("type"), why),
                    given => Cause::invalid(at("type"), format_args!("{given:?}"), why),
                });
            }
            if !matches!(kind, "atomic" | "set" | "map") {
                let supported = "\"atomic\", \"map\", \"set\"";
                causes.push(Cause::unsupported(
                    at("x-kubernetes-list-type"),
                    format_args!("{kind:?}"),
                    supported,
                ));
            }
            if kind == "map" && keys.is_empty() {
                let why = "must not be empty if x-kubernetes-list-type is map";
                causes.push(Cause::required(at("x-kubernetes-list-map-keys"), why));
            }
        }
    }
    if list_type != Some("map") {
        return;
    }
    if items["type"] != "object" {
        let given = items["type"].as_str().unwrap_or("");
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        causes.push(Cause::invalid(at("items.type"), format_args!("{given:?}"), why));
    }
    map_keys(items, &keys, path, causes);
}

/// The keys of a map in a list must be there in each item. Each that is no property is told of with all keys.
fn map_keys(items: &Value, keys: &[&str], path: &str, causes: &mut Vec<Cause>) {
    let required = items["required"].as_array().into_iter().flatten();
    let required: HashSet<&str> = required.filter_map(Value::as_str).collect();
    let shown = serde_json::to_string(keys).unwrap_or_default();
    let mut told = 0;
    for key in keys {
        let property = &items["properties"][*key];
        if property.is_null() {
            let why = "entries must all be names of item properties";
            if told <= MOST_OF_KEYS {
                told += shown.len();
                let field = format!("{path}.x-kubernetes-list-map-keys");
                causes.push(Cause::invalid(field, &shown, why));
            }
            continue;
        }
        if !required.contains(key) && property.get("default").is_none() {
            let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required \
                 property";
            let field = format!("{path}.items.properties[{key}].default");
            causes.push(Cause::required(field, why));
        }
    }
}

fn unsupported(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let mut forbid = |name: &str, why: &str| causes.push(Cause::forbidden(format!("{path}.{name}"), why));
    if schema["uniqueItems"] == true {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        forbid("uniqueItems", why);
    }
    if schema["items"].is_array() {
        forbid("items", "items must be a schema object and not an array");
    }
    for name in [
        "id",
        "additionalItems",
        "patternProperties",
        "definitions",
        "dependencies",
        "$ref",
    ] {
        if schema.get(name).is_some() {
            forbid(name, &format!("{name} is not supported"));
        }
    }
    if let Some(pattern) = schema["pattern"].as_str()
        && let Some(error) = Pattern::new(pattern).error()
    {
        let why = format!("must be a valid regular expression, but isn't: {error}");
        causes.push(Cause::invalid(
            format!("{path}.pattern"),
            format_args!("{pattern:?}"),
            &why,
        ));
    }
}

/// The schemas of `allOf`, `anyOf`, `oneOf` and `not`, which only say more of what is there.
///
/// A schema of integers or strings says so in its `anyOf`, or in that of the first of `allOf`: only these two forms are taken.
fn alternatives(schema: &Value, has_types: bool, is_nested: bool, path: &str, causes: &mut Vec<Cause>) {
    for name in ["allOf", "anyOf", "oneOf"] {
        if has_types && name == "anyOf" {
            continue;
        }
        for (index, part) in schema[name].as_array().into_iter().flatten().enumerate() {
            let may_have_types = !is_nested && name == "allOf" && index == 0;
            alternative(part, may_have_types, &format!("{path}.{name}[{index}]"), causes);
        }
    }
    if let Some(not) = schema.get("not") {
        alternative(not, false, &format!("{path}.not"), causes);
    }
}

/// Whether the `anyOf` of a schema says that it is of integers or strings.
fn has_types(schema: &Value) -> bool {
    schema["anyOf"] == json!([{"type": "integer"}, {"type": "string"}])
}

/// One that `may_have_types` is the first of `allOf` of a schema that is no alternative itself.
fn alternative(schema: &Value, may_have_types: bool, path: &str, causes: &mut Vec<Cause>) {
    for (name, why) in FORBIDDEN {
        let given = &schema[name];
        let said = !given.is_null() && *given != false && given.as_str() != Some("");
        if said {
            causes.push(Cause::forbidden(format!("{path}.{name}"), why));
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.properties[{name}]");
        if name == "metadata" {
            causes.push(Cause::forbidden(
                path.clone(),
                "must not be specified in a nested context",
            ));
        }
        alternative(property, false, &path, causes);
    }
    if let Some(items) = schema.get("items") {
        alternative(items, false, &format!("{path}.items"), causes);
    }
    unsupported(schema, path, causes);
    alternatives(schema, may_have_types && has_types(schema), true, path, causes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_or_strings_say_so_in_two_forms() {
        let both = json!([{"type": "integer"}, {"type": "string"}]);
        let faults = |schema: Value| {
            let mut causes = Vec::new();
            let object = json!({"type": "object", "properties": {"a": schema}});
            super::level(&object, Level::Root, "s", &mut causes);
            causes.len()
        };
        for (schema, told) in [
            (json!({"x-kubernetes-int-or-string": true, "anyOf": both}), 0),
            (
                json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": both, "pattern": "a"}, {"pattern": "b"}]}),
                0,
            ),
            (
                json!({"x-kubernetes-preserve-unknown-fields": true, "anyOf": both}),
                0,
            ),
            (
                json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "string"}, {"type": "integer"}]}),
                2,
            ),
            (
                json!({"x-kubernetes-int-or-string": true, "allOf": [{"pattern": "b"}, {"anyOf": both}]}),
                2,
            ),
            (
                json!({"x-kubernetes-int-or-string": true, "allOf": [{"allOf": [{"anyOf": both}]}]}),
                2,
            ),
        ] {
            assert_eq!(faults(schema.clone()), told, "{schema}");
        }
    }

    #[test]
    fn what_is_not_structural_is_found() {
        for (schema, field) in [
            (json!({}), "s.type"),
            (json!({"type": "string"}), "s.type"),
            (
                json!({"type": "object", "properties": {"a": {}}}),
                "s.properties[a].type",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "text"}}}),
                "s.properties[a].type",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "array"}}}),
                "s.properties[a].items",
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                "s.additionalProperties",
            ),
            (
                json!({"type": "object", "anyOf": [{"type": "object"}]}),
                "s.anyOf[0].type",
            ),
            (json!({"type": "object", "nullable": true}), "s.nullable"),
            (
                json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"uid": {"type": "string"}}}}}),
                "s.properties[metadata]",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}),
                "s.properties[a].pattern",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "properties": {"k": {"type": "string"}}}}}}),
                "s.properties[a].items.properties[k].default",
            ),
        ] {
            let causes = faults(&schema, "s", false, &Declared::default());
            let fields: Vec<_> = causes.iter().map(|cause| &*cause.field).collect();
            assert_eq!(fields, [field], "{schema}");
        }
    }

    #[test]
    fn faults_of_many_keys_take_no_more_than_a_few_of_them() {
        let of = |count: usize| {
            let keys: Vec<_> = (0..count).map(|n| format!("k{n:05}")).collect();
            let schema = json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": keys, "items": {"type": "object"}}}});
            faults(&schema, "s", false, &Declared::default())
        };
        assert_eq!(of(20).len(), 20);
        let bytes: usize = of(5_000).iter().map(|cause| cause.message.len()).sum();
        assert!(bytes < 1_000_000, "{bytes}");
    }

    #[test]
    fn what_controller_tools_write_is_structural() {
        let schema = json!({"type": "object", "properties": {
            "apiVersion": {"type": "string"},
            "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}},
            "spec": {"type": "object", "required": ["port"], "oneOf": [{"required": ["port"]}], "properties": {
                "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "any": {"x-kubernetes-preserve-unknown-fields": true},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
            }},
        }});
        assert!(
            faults(&schema, "s", false, &Declared::default())
                .iter()
                .map(|cause| &cause.field)
                .eq(&Vec::<String>::new())
        );
    }
}
