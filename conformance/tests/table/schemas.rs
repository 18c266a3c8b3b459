//! What schemas make of custom resources, and what they refuse.

use crate::case::{Ask, Case, get, json_patch, merge, post, put};
use crate::objects::DEFINITIONS;
use serde_json::{Value, json};

pub(crate) const THINGS: &str = "/apis/{ns}.example.com/v1/namespaces/{ns}/things";
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

pub(crate) fn definition_of(schema: Value) -> Value {
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

pub(crate) fn thing(name: &str, spec: Value) -> Value {
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
        .ask(patch(json!({"metadata": {"uid": "b"}})))
        .ask(patch(json!({"metadata": {"uid": ""}})))
        .ask(patch(json!({"metadata": {"labels": {"-": ""}}})))
        .ask(patch(json!({"metadata": {"ownerReferences": [{"kind": "x"}]}})))
        .ask(patch(json!({"metadata": {"finalizers": ["bad_"]}})))
        .ask(patch(
            json!({"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"}}),
        ))
        .ask(
            json_patch(
                THING,
                &json!([{"op": "replace", "path": "/metadata/uid", "value": "b"}]),
            )
            .named("another uid"),
        )
        .ask(
            json_patch(THING, &json!([{"op": "remove", "path": "/metadata/uid"}]))
                .named("the uid is removed"),
        )
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
            "of": {
                "type": "object",
                "properties": {"namespace": {"type": "string"}, "for": {"type": "string"}},
                "x-kubernetes-validations": [
                    {"rule": "!has(self.namespace) || self.namespace != 'x'"},
                    {"rule": "!has(self.__namespace__) || self.__namespace__ != 'y'"},
                    {"rule": "!has(self.for) || self.for.startsWith('a')"},
                ],
            },
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
        .ask(create("l", json!({"max": 5, "of": {"namespace": "x"}})))
        .ask(create("m", json!({"max": 5, "of": {"namespace": "y"}})))
        .ask(create(
            "n",
            json!({"max": 5, "of": {"namespace": "z", "for": "b"}}),
        ))
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

/// A definition of things whose spec has these properties, and the first request that they are served for.
pub(crate) fn defined_as(name: &str, properties: Value) -> Case {
    let schema =
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}});
    Case::new(name)
        .ask(
            post(DEFINITIONS, &definition_of(schema))
                .named("define")
                .only(["/kind"]),
        )
        .until(get(THINGS), 200)
}

/// Numbers that are the same and are written in several ways.
fn numbers() -> Case {
    let properties = json!({
        "i": {"type": "integer"}, "i32": {"type": "integer", "format": "int32"}, "n": {"type": "number"},
        "either": {"x-kubernetes-int-or-string": true},
        "set": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "set", "items": {"type": "number"}},
        "keyed": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
            "type": "object", "required": ["k"], "properties": {"k": {"type": "integer"}}}},
        "of": {"type": "integer", "enum": [1, 2]}, "nof": {"type": "number", "enum": [1, 2.5]},
        "rule": {"type": "integer", "x-kubernetes-validations": [{"rule": "self % 2 == 1"}]},
        "equal": {"type": "integer", "x-kubernetes-validations": [{"rule": "self == 1"}]},
        "half": {"type": "number", "x-kubernetes-validations": [{"rule": "self > 0.5 && self == 1.0"}]},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    });
    let texts = [
        ("i", "1.0"),
        ("i", "1e3"),
        ("i", "-0"),
        ("i", "-0.0"),
        ("i", "1.5e1"),
        ("i", "9223372036854775807"),
        ("i", "9223372036854775808"),
        ("i32", "1.0"),
        ("i32", "2147483648.0"),
        ("n", "1"),
        ("n", "1.0"),
        ("n", "1.10"),
        ("n", "1e20"),
        ("n", "1e21"),
        ("n", "1e-7"),
        ("n", "0.000001"),
        ("n", "123456789012345678901"),
        ("n", "-0.0"),
        ("n", "1E2"),
        ("n", "100000000000000000000000.0"),
        ("either", "1.0"),
        ("either", "1e2"),
        ("set", "[1, 1.0]"),
        ("set", "[1.0, 1.0]"),
        ("keyed", "[{\"k\": 1}, {\"k\": 1.0}]"),
        ("of", "1.0"),
        ("nof", "1"),
        ("nof", "1.0"),
        ("nof", "2.50"),
        ("rule", "1"),
        ("rule", "1.0"),
        ("equal", "1.0"),
        ("half", "1"),
        ("half", "1.0"),
        ("free", "{\"a\": 1.0, \"b\": [2.0, 1e2]}"),
    ];
    let written = |name: &str, field: &str, text: &str| {
        format!(
            r#"{{"apiVersion": "{{ns}}.example.com/v1", "kind": "Thing", "metadata": {{"name": "{name}"}}, "spec": {{"{field}": {text}}}}}"#
        )
    };
    let asks = texts.iter().enumerate().map(|(n, (field, text))| {
        post(THINGS, &json!(null))
            .text(&written(&format!("t{n}"), field, text))
            .named(format!("{field}: {text}"))
    });
    let patched = |text: &str| {
        merge(THING, &json!(null))
            .text(text)
            .named(format!("merge {text}"))
    };
    let operated = |text: &str| {
        json_patch(THING, &json!(null))
            .text(text)
            .named(format!("json {text}"))
    };
    let applied = |manager: &str, field: &str, text: &str| {
        crate::case::any("PATCH", &format!("{THING}?fieldManager={manager}"))
            .text(&written("t", field, text))
            .content_type("application/apply-patch+yaml")
            .named(format!("apply {manager} {field}: {text}"))
    };
    defined_as("schemas-numbers", properties)
        .asks(asks)
        .ask(post(THINGS, &thing("t", json!({"i": 1, "n": 1, "free": {"a": 1, "b": 1.5}}))).named("create"))
        .ask(patched(r#"{"spec": {"i": 1.0}}"#))
        .ask(patched(r#"{"spec": {"i": 1.0, "n": 1.0}}"#))
        .ask(patched(r#"{"spec": {"free": {"a": 1.0, "b": 1.50}}}"#))
        .ask(put(THING, &json!(null)).text(&written("t", "i", "1.0")).named("put").only(["/message"]))
        .ask(operated(r#"[{"op": "test", "path": "/spec/i", "value": 1.0}, {"op": "add", "path": "/spec/n", "value": 2.0}]"#))
        .ask(applied("one", "i", "1.0"))
        .ask(applied("two", "i", "1"))
        .ask(applied("two", "i", "1.0"))
        .ask(applied("two", "i", "2.0").only(["/code", "/reason"]))
        .ask(get(THING).named("in the end"))
}

/// Regular expressions as Go reads them.
const PATTERNS: &[(&str, &[&str])] = &[
    (r"^\pN+$", &["1", "٣", "a"]),
    (r"^\p{Greek}\P{Greek}$", &["αa", "aα"]),
    (r"^\p{^Lu}$", &["a", "A"]),
    (r"^\p{Lu}\p{Nd}$", &["A1", "a1"]),
    (r"^\d\s\w$", &["1 a", "٣ a", "1\u{a0}a", "1\u{b}a"]),
    (r"^\Qa.b\E.$", &["a.bc", "axbc"]),
    (r"^\Qa.b", &["a.b", "axb"]),
    (r"^(?P<name>a)(?<other>b)$", &["ab", "a"]),
    (r"^[[:alpha:]]+[[:^digit:]]$", &["ab", "a1", "éb"]),
    (r"^[[:word:]]$", &["_", "-"]),
    (r"^[a[b]$", &["[", "c"]),
    (r"^[a&&b]$", &["&", "c"]),
    (r"^[+--b]$", &[",", "b", "a"]),
    (r"^[~~a]$", &["~"]),
    (r"^[]a]+$", &["]a", "b"]),
    (r"^[^]a]$", &["b", "]"]),
    (r"^[a-]$", &["-", "b"]),
    (r"^[\d-x]$", &["-", "1", "y"]),
    (r"^[^\d\s]$", &["a", "1", " "]),
    (r"^\x41\x{42}\103$", &["ABC", "abc"]),
    (r"^\07\0$", &["\u{7}\u{0}", "0"]),
    (r"^a\<b\>$", &["a<b>", "ab"]),
    (r"^a\_\-\/$", &["a_-/", "a"]),
    (r"\bé", &["é", "aé"]),
    (r"\Bb", &["ab", "b", "éb"]),
    (r"^a{$", &["a{", "a"]),
    (r"^a{,2}$", &["a{,2}", "aa"]),
    (r"^a{x}$", &["a{x}", "a"]),
    (r"^a{2,}$", &["aa", "a"]),
    (r"^a{1000}$", &["a"]),
    (r"^(?:a{10}){100}$", &["a"]),
    (r"(?i)^straße$", &["STRAßE", "strasse"]),
    (r"(?s)^a.b$", &["a\nb"]),
    (r"^a.b$", &["a\nb", "axb"]),
    (r"(?m)^b$", &["a\nb", "ab"]),
    (r"(?U)^a+$", &["aa"]),
    (r"^a(?:)b$", &["ab"]),
    (r"^a|$", &["", "b"]),
    (r"\Aa\z", &["a", "a\n"]),
    (r"^a$", &["a\n", "a"]),
    (r"^\a\f\t\n\r\v$", &["\u{7}\u{c}\t\n\r\u{b}"]),
    (r"^#[ ]x$", &["# x"]),
    (r"^a*?b+?c??$", &["aabc"]),
    (r"^(?i:a)b$", &["Ab", "AB"]),
    (r"^(?i-s)a$", &["A"]),
];

/// What Go does not take for a regular expression, but others do.
const REFUSED: &[&str] = &[
    "(",
    ")",
    "a)",
    "[",
    "[a",
    "[b-a]",
    "[a-\\d]",
    "*",
    "a**",
    "a+*",
    "a{2}{3}",
    "a*??",
    "a{1001}",
    "a{2,1}",
    "(?:a{100}){11}",
    "(?x)a",
    "(?u)a",
    "(?R)a",
    "(?=a)",
    "(?<=a)",
    "(?!a)",
    "\\1",
    "\\8",
    "\\Z",
    "\\h",
    "\\y",
    "\\k",
    "a\\",
    "\\p{Bogus}",
    "\\p{Alphabetic}",
    "\\p",
    "\\pX",
    "\\x{110000}",
    "\\x4",
    "\\xg",
    "\\u0041",
    "(?P<n>a)(?P<n>b)",
    "(?P<>a)",
    "(?P<a-b>a)",
    "(?P=n)",
    "(?P<n",
    "[[:bogus:]]",
    "(?i",
    "(?",
    "(?)",
    "(?i)(?-)",
    "(?a)",
    "(?ii)a",
    "[\\",
    "\\Q",
    "(?<1>a)",
    "(?#a)",
    "[[.a.]]",
    "[[=a=]]",
    "++",
    "^*",
    "$+",
    "(|a)*",
    "(*)",
    "|*",
    "(?i)*",
    "x{2}*",
    "x{2}?",
    "\\b*",
    "[a--b]",
    "^\\C$",
];

fn patterns() -> Case {
    let properties: Value = PATTERNS
        .iter()
        .enumerate()
        .map(|(n, (pattern, _))| (format!("p{n}"), json!({"type": "string", "pattern": pattern})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let asks = PATTERNS.iter().enumerate().flat_map(|(n, (pattern, texts))| {
        texts.iter().map(move |text| {
            post(
                &format!("{THINGS}?dryRun=All"),
                &thing("t", json!({format!("p{n}"): text})),
            )
            .named(format!("{pattern:?} in {text:?}"))
            .only(["/code", "/message"])
        })
    });
    let refused = REFUSED.iter().map(|pattern| {
        let schema =
            json!({"type": "object", "properties": {"spec": {"type": "string", "pattern": pattern}}});
        post(&format!("{DEFINITIONS}?dryRun=All"), &definition_of(schema))
            .named(format!("define {pattern:?}"))
            .only(["/code", "/details/causes/0/message"])
    });
    defined_as("schemas-patterns", properties)
        .asks(asks)
        .asks(refused)
}

/// Alternatives of what has not changed.
fn alternatives() -> Case {
    let ab = |kind: &str| json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, kind: [{"required": ["a"]}, {"required": ["b"]}]});
    let first = json!({
        "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        "any": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        "all": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        "not": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        "texts": {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}}},
        "list": {"type": "array", "items": {"type": "string"}},
        "n": {"type": "integer"},
    });
    let mut later = first.clone();
    later["one"] = ab("oneOf");
    later["any"] = ab("anyOf");
    later["all"] = ab("allOf");
    later["not"]["not"] = json!({"properties": {"a": {"enum": ["q"]}}});
    later["texts"]["oneOf"] =
        json!([{"properties": {"x": {"maxLength": 2}}}, {"properties": {"y": {"maxLength": 2}}}]);
    later["list"]["items"]["oneOf"] = json!([{"maxLength": 2}, {"pattern": "^a"}]);
    let schema = |properties: &Value| {
        json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": properties}, "status": {"type": "object", "properties": {"n": {"type": "integer"}}},
        }})
    };
    let versions = &definition_of(schema(&later))["spec"]["versions"];
    let patch = |patch: Value| {
        merge(THING, &patch).named(format!("merge {patch}")).only([
            "/spec",
            "/message",
            "/metadata/generation",
        ])
    };
    let of_status = |patch: Value| {
        merge(&format!("{THING}/status"), &patch)
            .named(format!("status {patch}"))
            .only(["/status", "/message"])
    };
    let spec = json!({
        "one": {"a": "1", "b": "1"}, "any": {"c": 1}, "all": {"a": "1"}, "not": {"a": "q"}, "texts": {"x": "long", "y": "long"}, "list": ["ab", "bcd"],
    });
    Case::new("schemas-alternatives")
        .ask(
            post(DEFINITIONS, &definition_of(schema(&first)))
                .named("define")
                .only(["/kind"]),
        )
        .until(get(THINGS), 200)
        .ask(post(THINGS, &thing("t", spec)).named("create").only(["/kind"]))
        .ask(
            merge(DEFINITION, &json!({"spec": {"versions": versions}}))
                .named("define again")
                .only(["/kind"]),
        )
        .until(
            post(
                &format!("{THINGS}?dryRun=All"),
                &thing("u", json!({"one": {"a": "1", "b": "1"}})),
            ),
            422,
        )
        .ask(merge(THING, &json!({})).named("nothing"))
        .ask(
            merge(THING, &json!({"metadata": {"labels": {"a": "b"}}}))
                .named("a label")
                .only(["/message", "/metadata/labels"]),
        )
        .ask(patch(json!({"spec": {"n": 1}})))
        .ask(patch(json!({"spec": {"one": {"a": "2"}}})))
        .ask(patch(json!({"spec": {"any": {"b": "2"}}})))
        .ask(patch(json!({"spec": {"all": {"a": "2"}}})))
        .ask(patch(json!({"spec": {"not": {"b": "2"}}})))
        .ask(patch(json!({"spec": {"not": {"a": "r"}}})))
        .ask(patch(json!({"spec": {"not": {"a": "r", "b": "3"}}})))
        .ask(patch(json!({"spec": {"texts": {"x": "longer"}}})))
        .ask(patch(json!({"spec": {"texts": {"y": "y"}}})))
        .ask(patch(json!({"spec": {"list": ["ab", "bcd", "a"]}})))
        .ask(patch(json!({"spec": {"list": ["ab", "bcde"]}})))
        .ask(of_status(json!({"status": {"n": 1}})))
        .ask(patch(json!({"spec": {"n": 2}})))
        .ask(of_status(json!({"status": {"n": 2}})))
}

/// Defaults that do not fit their schema.
fn defaults() -> Case {
    let string = |default: Value| json!({"type": "string", "maxLength": 3, "default": default});
    let object = |default: Value| {
        json!({"type": "object", "default": default, "required": ["a"], "properties": {
            "a": {"type": "string"}, "b": {"type": "integer", "minimum": 2, "default": 3},
        }})
    };
    let schemas = [
        ("a number for a string", string(json!(5))),
        ("a string that is too long", string(json!("long"))),
        ("null", string(json!(null))),
        (
            "null that may be",
            json!({"type": "string", "nullable": true, "default": null}),
        ),
        ("an object without what it needs", object(json!({}))),
        (
            "an object with what it does not have",
            object(json!({"a": "x", "c": 1})),
        ),
        ("an object whose part is wrong", object(json!({"a": "x", "b": 1}))),
        ("an object whose part is of another type", object(json!({"a": 5}))),
        ("an object that fits", object(json!({"a": "x"}))),
        (
            "a default within a map",
            json!({"type": "object", "additionalProperties": string(json!(5))}),
        ),
        (
            "a default within a list",
            json!({"type": "array", "items": string(json!(5))}),
        ),
        (
            "a list that is too long",
            json!({"type": "array", "maxItems": 1, "items": {"type": "string"}, "default": ["a", "b"]}),
        ),
        (
            "a set with an item twice",
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}, "default": ["a", "a"]}),
        ),
        (
            "an enum",
            json!({"type": "string", "enum": ["a", "b"], "default": "c"}),
        ),
        (
            "a pattern",
            json!({"type": "string", "pattern": "^a", "default": "c"}),
        ),
        (
            "a format",
            json!({"type": "string", "format": "date-time", "default": "yesterday"}),
        ),
        (
            "an integer that is none",
            json!({"type": "integer", "default": 1.5}),
        ),
        (
            "an integer or a string",
            json!({"x-kubernetes-int-or-string": true, "default": true}),
        ),
        (
            "a rule",
            json!({"type": "integer", "default": 1, "x-kubernetes-validations": [{"rule": "self > 1", "message": "too small"}]}),
        ),
        (
            "a rule of the parent",
            json!({"type": "object", "default": {"a": 1}, "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": [{"rule": "self.a > 1"}]}),
        ),
        (
            "an alternative",
            json!({"type": "string", "anyOf": [{"maxLength": 1}, {"pattern": "^a"}], "default": "bc"}),
        ),
        (
            "what is free",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "default": {"a": 1}}),
        ),
        (
            "an embedded object",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "default": {"kind": "Pod"}}),
        ),
        (
            "an embedded object with wrong labels",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": 5}}}}),
        ),
        ("a type that is missing", json!({"default": 5})),
        (
            "two of them",
            json!({"type": "object", "properties": {"a": string(json!(1)), "b": string(json!(2))}}),
        ),
    ];
    let define = |name: &str, schema: Value| {
        post(&format!("{DEFINITIONS}?dryRun=All"), &definition_of(schema))
            .named(name)
            .only(["/code", "/message", "/details/causes"])
    };
    let of_field = |schema: Value| json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": schema}}}});
    let asks = schemas.map(|(name, schema)| match name {
        // In any order.
        "two of them" => define(name, of_field(schema)).only(["/code", "/reason"]),
        _ => define(name, of_field(schema)),
    });
    Case::new("schemas-defaults")
        .asks(asks)
        .ask(define("of all", json!({"type": "object", "default": {"spec": {}}, "properties": {"spec": {"type": "object"}}})).only(["/code", "/reason"]))
        .ask(define("of the spec", json!({"type": "object", "properties": {"spec": {"type": "object", "default": {"a": 1}, "properties": {"a": {"type": "string"}}}}})))
        .ask(define("of the status", json!({"type": "object", "properties": {"status": {"type": "object", "default": {"a": 1}, "properties": {"a": {"type": "string"}}}}})))
        .ask(define("of the name", json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "default": "x"}}}}})))
        .ask(define("of the metadata", json!({"type": "object", "properties": {"metadata": {"type": "object", "default": {"name": "x"}}}})))
        .ask(define("of the kind", json!({"type": "object", "properties": {"kind": {"type": "string", "default": "Thing"}}})))
        .ask(define("of an alternative", of_field(json!({"type": "string", "anyOf": [{"default": "x"}]}))))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        numbers(),
        patterns(),
        alternatives(),
        defaults(),
        values(),
        metadata(),
        fields(),
        changes(),
        later(),
        rules(),
        definitions(),
    ]
}
