//! What schemas make of custom resources, and what they refuse.

use crate::case::{Ask, Case, get, merge, post};
use crate::objects::DEFINITIONS;
use serde_json::{Value, json};

const THINGS: &str = "/apis/{ns}.example.com/v1/namespaces/{ns}/things";
const THING: &str = "/apis/{ns}.example.com/v1/namespaces/{ns}/things/t";
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{ns}.example.com";

/// The properties of a spec: most of what a schema can say.
fn properties() -> Value {
    json!({
        "need": {"type": "string"},
        "whole": {"type": "integer"},
        "int32": {"type": "integer", "format": "int32"},
        "number": {"type": "number"},
        "flag": {"type": "boolean"},
        "between": {"type": "integer", "minimum": 1, "maximum": 5},
        "within": {"type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": true},
        "fraction": {"type": "number", "minimum": 1.5},
        "third": {"type": "integer", "multipleOf": 3},
        "length": {"type": "string", "minLength": 2, "maxLength": 4},
        "pattern": {"type": "string", "pattern": "^a\\d+$"},
        "one": {"type": "string", "enum": ["x", "y"]},
        "number-of": {"type": "integer", "enum": [1, 2]},
        "nullable": {"type": "string", "nullable": true},
        "time": {"type": "string", "format": "date-time"},
        "uuid": {"type": "string", "format": "uuid"},
        "address": {"type": "string", "format": "ipv4"},
        "list": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "map": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"],
            "items": {"type": "object", "required": ["key"], "properties": {
                "key": {"type": "string"}, "value": {"type": "integer"}}},
        },
        "pairs": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {"type": "object", "required": ["port"], "properties": {
                "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}}},
        },
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2, "minProperties": 1},
        "either": {"x-kubernetes-int-or-string": true},
        "any": {"type": "string", "anyOf": [{"minLength": 3}, {"pattern": "^z"}]},
        "exactly": {"type": "string", "oneOf": [{"minLength": 2}, {"pattern": "^z"}]},
        "all": {"type": "string", "allOf": [{"minLength": 2}, {"pattern": "^z"}]},
        "not": {"type": "string", "not": {"enum": ["q"]}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "known": {"type": "object", "properties": {"a": {"type": "string"}}}}},
        "object": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        "closed": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}},
        "defaults": {"type": "object", "default": {}, "properties": {
            "x": {"type": "string", "default": "X"},
            "items": {"type": "array", "items": {"type": "object", "properties": {"z": {"type": "integer", "default": 3}}}},
        }},
    })
}

fn definition(properties: Value) -> Value {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "required": ["need"], "properties": properties},
        "status": {"type": "object", "properties": {"ready": {"type": "integer"}}},
    }});
    definition_of(schema)
}

fn definition_of(schema: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.{ns}.example.com"},
        "spec": {
            "group": "{ns}.example.com", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

fn defined(name: &str) -> Case {
    Case::new(name)
        .ask(
            post(DEFINITIONS, &definition(properties()))
                .named("define")
                .only(["/kind"]),
        )
        .until(get(THINGS), 200)
}

fn thing(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "{ns}.example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec})
}

fn values() -> Case {
    let values = [
        ("need", json!(5)),
        ("need", json!(null)),
        ("whole", json!("x")),
        ("whole", json!(1.5)),
        ("int32", json!(3_000_000_000_u64)),
        ("whole", json!(i64::MAX)),
        ("number", json!("x")),
        ("number", json!(1)),
        ("flag", json!("x")),
        ("flag", json!(null)),
        ("between", json!(0)),
        ("between", json!(6)),
        ("within", json!(1)),
        ("within", json!(5)),
        ("fraction", json!(1.2)),
        ("third", json!(4)),
        ("length", json!("a")),
        ("length", json!("abcde")),
        ("pattern", json!("a")),
        ("pattern", json!("a12")),
        ("one", json!("z")),
        ("one", json!(5)),
        ("number-of", json!(3)),
        ("nullable", json!(null)),
        ("nullable", json!(5)),
        ("time", json!("yesterday")),
        ("time", json!("2026-01-02T03:04:05Z")),
        ("uuid", json!("x")),
        ("address", json!("x")),
        ("address", json!(5)),
        ("list", json!([])),
        ("list", json!(["a", "b", "c"])),
        ("list", json!(["a", 5])),
        ("list", json!("x")),
        ("list", json!(null)),
        ("set", json!(["a", "b", "a", "a"])),
        ("map", json!([{"key": "a"}, {"key": "a", "value": 1}])),
        ("map", json!([{"value": 1}])),
        ("map", json!(["x"])),
        ("pairs", json!([{"port": 1}, {"port": 1}])),
        ("pairs", json!([{"port": 1}, {"port": 1, "protocol": "UDP"}])),
        ("counts", json!({})),
        ("counts", json!({"a": 1, "b": 2, "c": 3})),
        ("counts", json!({"a": "x"})),
        ("either", json!("x")),
        ("either", json!(5)),
        ("either", json!(true)),
        ("any", json!("a")),
        ("exactly", json!("a")),
        ("exactly", json!("zz")),
        ("all", json!("a")),
        ("all", json!("ab")),
        ("not", json!("q")),
        ("free", json!({"x": 1, "known": {"a": "1", "b": 2}})),
        ("free", json!("x")),
        ("object", json!({})),
        (
            "object",
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "bogus": 1}, "spec": {"x": 1}}),
        ),
        (
            "closed",
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"x": 1}, "z": 1}),
        ),
        ("defaults", json!({"items": [{}, {"z": null}]})),
        ("defaults", json!(null)),
        ("bogus", json!(1)),
    ];
    let asks = values.into_iter().enumerate().map(|(number, (name, value))| {
        let mut spec = json!({"need": "n"});
        spec[name] = value.clone();
        post(THINGS, &thing(&format!("t{number}"), spec)).named(format!("{name}: {value}"))
    });
    let whole = |name: &str, spec| post(THINGS, &thing(name, spec)).named(format!("spec: {name}"));
    defined("schemas")
        .asks(asks)
        .ask(whole("empty", json!({})))
        .ask(whole("string", json!("x")))
        .ask(whole("null", json!(null)))
}

fn metadata() -> Case {
    let metadata = [
        json!({"labels": 5}),
        json!({"annotations": []}),
        json!({"finalizers": "x"}),
        json!({"ownerReferences": [{"name": 5}]}),
        json!({"creationTimestamp": 5}),
        json!({"creationTimestamp": "x"}),
        json!({"deletionGracePeriodSeconds": 1.5}),
        json!({"uid": 5}),
        json!({"bogus": 5}),
        json!(5),
    ];
    let asks = metadata.into_iter().enumerate().map(|(number, given)| {
        let mut thing = thing(&format!("t{number}"), json!({"need": "n"}));
        match &given {
            Value::Object(given) => thing["metadata"].as_object_mut().unwrap().extend(given.clone()),
            given => thing["metadata"] = given.clone(),
        }
        post(THINGS, &thing).named(given.to_string())
    });
    defined("schemas-metadata").asks(asks)
}

fn fields() -> Case {
    let unknown = |name: &str, directive: &str| -> Ask {
        let mut thing = thing(
            name,
            json!({"need": "n", "bogus": 1, "defaults": {"items": [{"q": 1}]}, "free": {"known": {"q": 1}}}),
        );
        thing["top"] = 1.into();
        thing["metadata"]["bogus"] = 1.into();
        post(&format!("{THINGS}{directive}"), &thing).named(format!("unknown fields {directive}"))
    };
    let twice = r#"{"apiVersion": "{ns}.example.com/v1", "kind": "Thing", "metadata": {"name": "twice"}, "spec": {"need": "a", "need": "b", "bogus": 1}}"#;
    defined("schemas-fields")
        .ask(unknown("a", "?fieldValidation=Strict"))
        .ask(unknown("b", "?fieldValidation=Warn"))
        .ask(unknown("c", ""))
        .ask(
            post(&format!("{THINGS}?fieldValidation=Strict"), &json!(null))
                .text(twice)
                .named("twice, strict"),
        )
        .ask(post(THINGS, &json!(null)).text(twice).named("twice"))
}

fn changes() -> Case {
    let patch = |patch: Value| merge(THING, &patch).named(format!("merge {patch}"));
    let refused = |patch: Value, query: &str| {
        merge(&format!("{THING}{query}"), &patch)
            .named(format!("merge {query} {patch}"))
            .only(["/code", "/reason", "/details/causes/0/field"])
    };
    let of_status = |patch: Value| merge(&format!("{THING}/status"), &patch).named(format!("status {patch}"));
    defined("schemas-changes")
        .ask(post(THINGS, &thing("t", json!({"need": "n"}))).named("create"))
        .ask(patch(json!({"spec": {"whole": "x"}})))
        .ask(patch(json!({"spec": {"need": null}})))
        .ask(patch(json!({"spec": {"bogus": 1}, "bogus": 1})))
        .ask(patch(json!({"spec": {"defaults": {"items": [{}]}}})))
        .ask(refused(json!({"metadata": {"labels": {"a": 5}}}), ""))
        .ask(refused(json!({"spec": {"bogus": 1}}), "?fieldValidation=Strict"))
        .ask(of_status(json!({"status": {"ready": "x"}})))
        .ask(of_status(
            json!({"status": {"ready": 1, "bogus": 1}, "spec": {"whole": 9}}),
        ))
        .ask(get(THING).named("as it is"))
}

/// A schema that changes under objects: they are read as it is, and may keep what it refuses.
fn later() -> Case {
    let mut properties = properties();
    let first = definition(properties.clone());
    properties["need"]["maxLength"] = 1.into();
    properties["later"] = json!({"type": "string", "default": "now"});
    properties.as_object_mut().unwrap().remove("whole");
    let versions = &definition(properties)["spec"]["versions"];
    Case::new("schemas-later")
        .ask(post(DEFINITIONS, &first).named("define").only(["/kind"]))
        .until(get(THINGS), 200)
        .ask(post(THINGS, &thing("t", json!({"need": "long", "whole": 1}))).named("create"))
        .ask(
            merge(DEFINITION, &json!({"spec": {"versions": versions}}))
                .named("define again")
                .only(["/kind"]),
        )
        .until(
            merge(
                &format!("{THING}?fieldValidation=Strict&dryRun=All"),
                &json!({"spec": {"later": "then"}}),
            ),
            200,
        )
        .ask(get(THING).named("read"))
        .ask(merge(THING, &json!({"spec": {"flag": false}})).named("keep what is too long"))
        .ask(merge(THING, &json!({"spec": {"need": "longer"}})).named("change what is too long"))
}

/// Rules in CEL.
fn rules() -> Case {
    let spec = json!({
        "type": "object",
        "x-kubernetes-validations": [
            {"rule": "self.min <= self.max", "message": "min is above max"},
            {"rule": "!has(self.sum) || self.sum == self.min + self.max", "messageExpression": "'the sum is ' + (self.max > 3 ? 'large' : 'small')", "fieldPath": ".sum", "reason": "FieldValueForbidden"},
            {"rule": "self.class == oldSelf.class"},
        ],
        "properties": {
            "min": {"type": "integer", "default": 0},
            "max": {"type": "integer", "maximum": 100, "x-kubernetes-validations": [{"rule": "self != 13", "message": "not thirteen"}]},
            "sum": {"type": "integer"},
            "class": {"type": "string"},
            "list": {"type": "array", "maxItems": 5, "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "x-kubernetes-validations": [{"rule": "self.n > 0", "reason": "FieldValueRequired", "message": "n must be positive"}]}},
            "map": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "string", "maxLength": 5, "x-kubernetes-validations": [{"rule": "self.startsWith('a')"}]}},
            "after": {"type": "string", "maxLength": 10, "x-kubernetes-validations": [{"rule": "duration(self) < duration('1h')", "message": "too long"}]},
        },
    });
    let definition = definition_of(json!({"type": "object", "properties": {"spec": spec}}));
    let with = |class: &str, mut spec: Value| {
        spec["class"] = class.into();
        spec
    };
    let create = |name: &str, spec: Value| {
        let named = spec.to_string();
        post(THINGS, &thing(name, with("a", spec))).named(named)
    };
    let change = |patch: Value| merge(THING, &json!({"spec": patch})).named(format!("merge {patch}"));
    Case::new("schemas-rules")
        .ask(post(DEFINITIONS, &definition).named("define").only(["/kind"]))
        .until(get(THINGS), 200)
        .ask(create("t", json!({"max": 5})))
        .ask(create("b", json!({"min": 6, "max": 5})))
        .ask(create("c", json!({"max": 13})))
        .ask(create("d", json!({"min": 1, "max": 2, "sum": 4})))
        .ask(create("e", json!({"max": 5, "list": [{"n": 1}, {"n": 0}]})))
        .ask(create("f", json!({"max": 5, "list": [{}]})))
        .ask(create("g", json!({"max": 5, "map": {"k": "b"}})))
        .ask(create("h", json!({"max": 5, "after": "2h"})))
        .ask(create("i", json!({"min": 6, "max": "x"})))
        .ask(create("j", json!({"min": 102, "max": 101})))
        .ask(create("k", json!({})))
        .ask(change(json!({"class": "b"})))
        .ask(change(json!({"max": 7})))
        .ask(change(json!({"min": 8})))
}

fn definitions() -> Case {
    let schemas = [
        ("no type", json!({})),
        ("a string", json!({"type": "string"})),
        (
            "a property without a type",
            json!({"type": "object", "properties": {"a": {}}}),
        ),
        (
            "a type that is none",
            json!({"type": "object", "properties": {"a": {"type": "text"}}}),
        ),
        (
            "an array without items",
            json!({"type": "object", "properties": {"a": {"type": "array"}}}),
        ),
        (
            "a type within anyOf",
            json!({"type": "object", "properties": {"a": {"type": "object", "anyOf": [{"type": "object"}]}}}),
        ),
        (
            "a pattern that is none",
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}),
        ),
        (
            "metadata",
            json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"uid": {"type": "string"}}}}}),
        ),
        (
            "a map without keys",
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object"}}}}),
        ),
        (
            "properties and others",
            json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": {"type": "string"}}}}),
        ),
    ];
    let asks = schemas.into_iter().map(|(name, schema)| {
        post(&format!("{DEFINITIONS}?dryRun=All"), &definition_of(schema))
            .named(name)
            .only(["/code", "/reason"])
    });
    Case::new("schemas-refused").asks(asks)
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        values(),
        metadata(),
        fields(),
        changes(),
        later(),
        rules(),
        definitions(),
    ]
}
