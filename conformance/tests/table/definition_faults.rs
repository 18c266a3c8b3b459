//! What a definition lacks, and what is told of it all at once.

use crate::case::{Ask, Case, post};
use crate::objects::DEFINITIONS;
use serde_json::{Value, json};

/// A definition whose spec has these fields in the place of others; a null takes one away.
fn with(name: &str, changes: &Value) -> Ask {
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}});
    let mut spec = json!({
        "group": "{ns}.example.com", "scope": "Namespaced", "names": {"plural": "es", "kind": "E"}, "versions": [version],
    });
    let fields = spec.as_object_mut().unwrap();
    for (name, value) in changes.as_object().into_iter().flatten() {
        match value {
            Value::Null => fields.remove(name),
            value => fields.insert(name.clone(), value.clone()),
        };
    }
    let definition = json!({"metadata": {"name": "es.{ns}.example.com"}, "spec": spec});
    post(&format!("{DEFINITIONS}?dryRun=All"), &definition)
        .named(name)
        .only(["/message", "/details/causes"])
}

/// The same with a version that is this one.
fn of_version(name: &str, changes: &Value) -> Ask {
    let mut version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}});
    for (field, value) in changes.as_object().into_iter().flatten() {
        version[field] = value.clone();
    }
    with(name, &json!({"versions": [version]}))
}

fn faults() -> Case {
    let nothing = json!({"group": null, "scope": null, "names": null, "versions": null});
    let hook = |webhook: Value| json!({"conversion": {"strategy": "Webhook", "webhook": webhook}});
    let client =
        json!({"clientConfig": {"url": "https://a.example.com"}, "conversionReviewVersions": ["v1"]});
    Case::new("definitionfaults")
        .ask(with("nothing", &nothing))
        .ask(with("no group", &json!({"group": null})))
        .ask(with("a bad group", &json!({"group": "X_Y"})))
        .ask(with("no scope", &json!({"scope": null})))
        .ask(with("a bad scope", &json!({"scope": "X"})))
        .ask(with("no names", &json!({"names": null})))
        .ask(with("no plural", &json!({"names": {"kind": "E"}})))
        .ask(with("no kind", &json!({"names": {"plural": "es"}})))
        .ask(with(
            "a bad plural",
            &json!({"names": {"plural": "Es", "kind": "E"}}),
        ))
        .ask(with("no versions", &json!({"versions": null})))
        .ask(with("an empty list of versions", &json!({"versions": []})))
        .ask(with(
            "no versions and no scope",
            &json!({"versions": [], "scope": null}),
        ))
        .ask(of_version("a version without a name", &json!({"name": null})))
        .ask(of_version("a version of a bad name", &json!({"name": "V_1"})))
        .ask(of_version("no schema", &json!({"schema": null})))
        .ask(of_version("an empty schema", &json!({"schema": {}})))
        .ask(of_version(
            "an empty column",
            &json!({"additionalPrinterColumns": [{}]}),
        ))
        .ask(with(
            "fields that are not pruned",
            &json!({"preserveUnknownFields": true}),
        ))
        .ask(with(
            "no webhook",
            &json!({"conversion": {"strategy": "Webhook"}}),
        ))
        .ask(with("an empty webhook", &hook(json!({}))))
        .ask(with(
            "a webhook for nothing",
            &json!({"conversion": {"strategy": "None", "webhook": client}}),
        ))
}

/// The fields by which objects may be selected.
fn selectable() -> Case {
    let properties = json!({
        "a": {"type": "string"}, "a-b": {"type": "string", "enum": ["x"]}, "b": {"type": "boolean"}, "n": {"type": "number"},
        "i": {"type": "integer"}, "l": {"type": "array", "items": {"type": "string"}}, "x": {"x-kubernetes-int-or-string": true},
        "m": {"type": "object", "additionalProperties": {"type": "string"}}, "o": {"type": "object", "properties": {"a": {"type": "string"}}},
    });
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
        "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
        "spec": {"type": "object", "properties": properties},
    }}});
    let of = |name: &str, fields: &[&str]| {
        let fields: Vec<_> = fields.iter().map(|path| json!({"jsonPath": path})).collect();
        of_version(name, &json!({"schema": schema, "selectableFields": fields}))
    };
    let paths = [
        "",
        ".spec.a",
        "spec.a",
        ".spec",
        ".spec.a-b",
        ".spec.b",
        ".spec.i",
        ".spec.n",
        ".spec.x",
        ".spec.l",
        ".spec.l[0]",
        ".spec.m",
        ".spec.m.k",
        ".spec.m['k']",
        ".spec['a']",
        "['spec'].a",
        ".spec.o.a",
        ".spec.o.b",
        ".spec.none",
        ".spec.a.b",
        ".metadata.name",
        ".metadata",
        ".kind",
        "..spec",
        ".spec..a",
        ".spec.a.",
        ".",
        "[0]",
        "]",
        ".spec]a",
        ".spec.a b",
        ".spec.\"a\"",
    ];
    let version = |name: &str, field: &str| json!({"name": name, "served": true, "storage": name == "v1", "schema": schema, "selectableFields": [{"jsonPath": field}]});
    let mut other = version("v2", ".spec.bad");
    other["schema"] =
        json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}});
    Case::new("definitionselectable")
        .asks(paths.map(|path| of(&format!("{path:?}"), &[path])))
        .ask(of("a path twice", &[".spec.a", ".spec.b", ".spec.a"]))
        .ask(of("two that are wrong", &[".spec", "", "x"]))
        .ask(of(
            "eight",
            &[
                ".spec.m.a",
                ".spec.m.b",
                ".spec.m.c",
                ".spec.m.d",
                ".spec.m.e",
                ".spec.m.f",
                ".spec.m.g",
                ".spec.m.h",
            ],
        ))
        .ask(of(
            "nine",
            &[
                ".spec.m.a",
                ".spec.m.b",
                ".spec.m.c",
                ".spec.m.d",
                ".spec.m.e",
                ".spec.m.f",
                ".spec.m.g",
                ".spec.m.h",
                ".spec.a",
            ],
        ))
        .ask(of(
            "nine of which two are one",
            &[
                ".spec.m.a",
                ".spec.m.b",
                ".spec.m.c",
                ".spec.m.d",
                ".spec.m.e",
                ".spec.m.f",
                ".spec.m.g",
                ".spec.m.h",
                ".spec.m.h",
            ],
        ))
        .ask(of_version(
            "no path",
            &json!({"schema": schema, "selectableFields": [{}]}),
        ))
        .ask(of_version(
            "no schema to select by",
            &json!({"schema": null, "selectableFields": [{"jsonPath": ".spec.a"}]}),
        ))
        .ask(with(
            "two versions",
            &json!({"versions": [version("v1", ".spec.a"), version("v2", ".spec.b")]}),
        ))
        .ask(with(
            "the second of two versions",
            &json!({"versions": [version("v1", ".spec.a"), version("v2", ".spec.bad")]}),
        ))
        .ask(with(
            "both of two versions",
            &json!({"versions": [version("v1", ".spec.bad"), version("v2", ".spec.bad")]}),
        ))
        .ask(with(
            "two versions with schemas of their own",
            &json!({"versions": [version("v1", ".spec.bad"), other]}),
        ))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![faults(), selectable()]
}
