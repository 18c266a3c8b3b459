//! Custom resources in versions with schemas of their own; definitions that want the same names, or end.

use crate::case::{Ask, Case, delete, get, json_patch, merge, post, put};
use crate::objects::{DEFINITION, DEFINITIONS, GROUP, WIDGETS, definition};
use serde_json::{Value, json};

const W1: &str = "/apis/{ns}.example.com/v1/namespaces/{ns}/widgets";
const W2: &str = "/apis/{ns}.example.com/v2/namespaces/{ns}/widgets";
const W3: &str = "/apis/{ns}.example.com/v3/namespaces/{ns}/widgets";

/// Version 1 with a status, a scale and a field for selectors; version 2 with other fields and none of these.
fn two_versions(storage: &str) -> Value {
    let integer = json!({"type": "integer"});
    let schema = |spec: Value| {
        let status = json!({"type": "object", "properties": {"a": {"type": "string"}, "replicas": integer}});
        json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}, "status": status}}})
    };
    let string = json!({"type": "string"});
    let mut definition = definition();
    definition["spec"]["versions"] = json!([
        {
            "name": "v1", "served": true, "storage": storage == "v1",
            "schema": schema(json!({"a": string, "one": string, "replicas": integer, "first": {"type": "string", "default": "by v1"}})),
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
            "selectableFields": [{"jsonPath": ".spec.one"}],
            "additionalPrinterColumns": [{"name": "One", "type": "string", "jsonPath": ".spec.one"}],
        },
        {
            "name": "v2", "served": true, "storage": storage == "v2",
            "schema": schema(json!({"a": string, "two": string, "second": {"type": "string", "default": "by v2"}})),
            "selectableFields": [{"jsonPath": ".spec.a"}],
        },
        {
            "name": "v3", "served": storage == "v2", "storage": false,
            "schema": schema(json!({"a": string, "first": string, "second": string})),
        },
    ]);
    definition
}

fn widget(version: &str, name: &str, rest: Value) -> Value {
    let mut widget =
        json!({"apiVersion": format!("{GROUP}/{version}"), "kind": "Widget", "metadata": {"name": name}});
    widget
        .as_object_mut()
        .unwrap()
        .extend(rest.as_object().unwrap().clone());
    widget
}

fn all(case: Case, when: &str, versions: &[(&str, &str)]) -> Case {
    versions.iter().fold(case, |case, (version, path)| {
        case.ask(get(&format!("{path}/w")).named(format!("w in {version}, {when}")))
            .ask(get(&format!("{path}/x")).named(format!("x in {version}, {when}")))
            .ask(get(path).named(format!("all in {version}, {when}")))
    })
}

fn several() -> Case {
    let spec = json!({"a": "1", "one": "1", "two": "1", "replicas": 2});
    let given = json!({"spec": spec, "status": {"a": "given"}});
    let both = [("v1", W1), ("v2", W2)];
    let case = Case::new("versions")
        .ask(
            post(DEFINITIONS, &two_versions("v1"))
                .named("define")
                .only(["/kind"]),
        )
        .until(get(W1), 200)
        .until(get(W2), 200)
        .ask(get(W3).named("a version that is not served"))
        .ask(post(W1, &widget("v1", "w", given.clone())).named("create in v1"))
        .ask(post(W2, &widget("v2", "x", given.clone())).named("create in v2"))
        .ask(post(&format!("{W2}?dryRun=All"), &widget("v2", "y", given)).named("dry run in v2"));
    let case = all(case, "created", &both)
        .ask(merge(&format!("{W2}/w"), &json!({"spec": {"two": "2", "a": "2"}})).named("change v2 of w"))
        .ask(merge(&format!("{W1}/x"), &json!({"spec": {"one": "2"}})).named("change v1 of x"))
        .ask(merge(&format!("{W1}/w/status"), &json!({"status": {"a": "v1"}})).named("the status in v1"))
        .ask(merge(&format!("{W2}/w/status"), &json!({"status": {"a": "v2"}})).named("the status in v2"))
        .ask(
            merge(&format!("{W2}/w"), &json!({"status": {"a": "v2"}}))
                .named("the status beside the object in v2"),
        )
        .ask(get(&format!("{W1}/w/scale")).named("the scale in v1"))
        .ask(get(&format!("{W2}/w/scale")).named("the scale in v2"))
        .ask(get(&format!("{W1}?fieldSelector=spec.one=2")).named("by a field of v1"))
        .ask(get(&format!("{W2}?fieldSelector=spec.one=2")).named("by a field of v1 in v2"))
        .ask(get(&format!("{W2}?fieldSelector=spec.a=2")).named("by a field of v2"))
        .ask(
            get(W1)
                .accept("application/json;as=Table;g=meta.k8s.io;v=v1")
                .named("a table in v1")
                .only(["/columnDefinitions/1/name", "/rows/0/cells", "/rows/1/cells/0"]),
        )
        .ask(
            get(W2)
                .accept("application/json;as=Table;g=meta.k8s.io;v=v1")
                .named("a table in v2")
                .only(["/columnDefinitions/1/name", "/rows/0/cells/0", "/rows/1/cells/0"]),
        );
    let case = ["v1", "v2"].iter().fold(case, |case, version| {
        let of_version = get(&format!("/apis/{GROUP}/{version}"));
        case.ask(of_version.named(format!("discovery of {version}")).only([
            "/resources/0/name",
            "/resources/1/name",
            "/resources/2/name",
        ]))
    });
    let versions = |storage: &str| json!({"spec": {"versions": two_versions(storage)["spec"]["versions"]}});
    let mut without = two_versions("v2")["spec"]["versions"].clone();
    without.as_array_mut().unwrap().remove(0);
    let case = case
        .ask(
            merge(DEFINITION, &versions("v2"))
                .named("store v2")
                .only(["/status/storedVersions", "/metadata/generation"]),
        )
        .until(get(W3), 200);
    let all_three = [("v1", W1), ("v2", W2), ("v3", W3)];
    let case = all(case, "with v2 stored", &all_three)
        .ask(
            get(&format!("{W2}/w"))
                .named("before it is stored anew")
                .save_version("before"),
        )
        .ask(
            merge(&format!("{W2}/w"), &json!({}))
                .named("change nothing")
                .save_version("after"),
        )
        .ask(merge(&format!("{W2}/w"), &json!({})).named("change nothing again"))
        .ask(merge(&format!("{W1}/x"), &json!({})).named("change nothing of x in v1"));
    all(case, "stored anew", &all_three)
        .ask(
            merge(DEFINITION, &json!({"spec": {"versions": without}}))
                .named("without a version that may be stored")
                .only(["/reason", "/message", "/details/causes/0/field"]),
        )
        .ask(nothing_is_stored_in_v1())
        .ask(
            merge(DEFINITION, &json!({"spec": {"versions": without}}))
                .named("without a version that is not stored")
                .only(["/reason", "/message", "/status/storedVersions"]),
        )
        .until(get(W1), 404)
        .ask(get(&format!("{W2}/w")).named("w without v1"))
        .ask(
            merge(DEFINITION, &json!({"spec": {"scope": "Cluster"}}))
                .named("another scope")
                .only(["/reason", "/message"]),
        )
        .ask(
            merge(DEFINITION, &json!({"spec": {"names": {"kind": "Other"}}}))
                .named("another kind")
                .only(["/reason", "/message"]),
        )
}

/// What a scale takes, and who owns what then.
fn scales() -> Case {
    let path = format!("{W1}/w/scale");
    let scale = |replicas: Value| json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "w"}, "spec": {"replicas": replicas}});
    let apply = |path: &str, manager: &str, object: &Value| {
        let ask = merge(&format!("{path}?fieldManager={manager}"), object);
        ask.content_type("application/apply-patch+yaml")
    };
    let managed = |name: &str| get(&format!("{W1}/w")).named(name.to_owned());
    Case::new("versions-scale")
        .ask(
            post(DEFINITIONS, &two_versions("v1"))
                .named("define")
                .only(["/kind"]),
        )
        .until(get(W1), 200)
        .ask(
            apply(
                &format!("{W1}/w"),
                "one",
                &widget("v1", "w", json!({"spec": {"replicas": 1, "one": "1"}})),
            )
            .named("apply"),
        )
        .ask(put(&path, &scale(json!(2_147_483_647_i64))).named("the largest number"))
        .ask(put(&path, &scale(json!(2_147_483_648_i64))).named("more than the largest number"))
        .ask(put(&path, &scale(json!(1.5))).named("a fraction"))
        .ask(put(&path, &scale(json!("1"))).named("a string"))
        .ask(
            merge(&path, &json!({"spec": {"replicas": 2_147_483_648_i64}}))
                .named("patch more than the largest number")
                .only(["/reason", "/details/causes/0/field"]),
        )
        .ask(
            json_patch(
                &path,
                &json!([{"op": "replace", "path": "/spec/replicas", "value": 4}]),
            )
            .named("patch"),
        )
        .ask(managed("after the patch"))
        .ask(
            apply(&path, "two", &scale(json!(2_147_483_648_i64))).named("apply more than the largest number"),
        )
        .ask(apply(&path, "two", &scale(json!(5))).named("apply a conflict"))
        .ask(apply(&path, "two&force=true", &scale(json!(5))).named("apply by force"))
        .ask(managed("after the scale was applied"))
        .ask(
            apply(
                &format!("{W1}/w"),
                "one",
                &widget("v1", "w", json!({"spec": {"replicas": 6}})),
            )
            .named("apply the object"),
        )
        .ask(apply(&path, "two", &scale(json!(5))).named("apply the same again"))
        .ask(put(&format!("{path}?fieldManager=three"), &scale(json!(7))).named("put"))
        .ask(managed("in the end"))
        .ask(
            merge(
                &format!("{W1}/w"),
                &json!({"spec": {"replicas": 2_147_483_648_i64}}),
            )
            .named("a number in the object that no scale has"),
        )
        .ask(
            merge(&format!("{W1}/w/status"), &json!({"status": {"replicas": -1}}))
                .named("less than none in the status"),
        )
}

/// Two definitions that want the same kind, and others that want more of the same names.
fn names() -> Case {
    let gadgets = |names: Value| {
        let mut gadgets = definition();
        gadgets["metadata"]["name"] = format!("gadgets.{GROUP}").into();
        gadgets["spec"]["names"] = names;
        gadgets
    };
    let path = format!("{DEFINITIONS}/gadgets.{GROUP}");
    let list = "/apis/{ns}.example.com/v1/namespaces/{ns}/gadgets";
    let shown = |name: &str| {
        get(&path).named(name.to_owned()).only([
            "/status/acceptedNames",
            "/status/conditions/0/type",
            "/status/conditions/0/status",
            "/status/conditions/0/reason",
            "/status/conditions/0/message",
            "/status/conditions/1/type",
            "/status/conditions/1/status",
            "/status/conditions/1/reason",
            "/status/conditions/1/message",
        ])
    };
    let names = json!({"plural": "gadgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList", "shortNames": ["wd", "gd", "widgets"], "categories": ["all"]});
    let half =
        json!({"spec": {"names": {"singular": "gadget", "listKind": "GadgetList", "shortNames": ["gd"]}}});
    Case::new("definition-names")
        .ask(post(DEFINITIONS, &definition()).named("define").only(["/kind"]))
        .until(get(WIDGETS), 200)
        .ask(
            post(DEFINITIONS, &gadgets(names))
                .named("the same names")
                .only(["/kind"]),
        )
        .until_shown(get(&path), "/status/conditions/1/reason", "NotAccepted")
        .ask(shown("what it got"))
        .ask(get(list).named("what is not served"))
        .ask(merge(&path, &half).named("all but the kind").only(["/kind"]))
        .until_shown(get(&path), "/status/acceptedNames/singular", "gadget")
        .ask(shown("what it got of others"))
        .ask(get(list).named("what is still not served"))
        .ask(delete(DEFINITION).named("delete the first").only(["/kind"]))
        .until(get(DEFINITION), 404)
        .until_shown(get(&path), "/status/conditions/1/reason", "InitialNamesAccepted")
        .until(get(list), 200)
        .ask(shown("what it got in the end"))
        .ask(get(list).named("what is served"))
        .ask(
            merge(
                &path,
                &json!({"spec": {"names": {"shortNames": ["gd", "gg"], "categories": ["some"]}}}),
            )
            .named("more names")
            .only(["/kind"]),
        )
        .until_shown(get(&path), "/status/acceptedNames/shortNames/1", "gg")
        .ask(shown("more names, accepted"))
}

/// A definition whose objects are held.
fn ends() -> Case {
    let w = format!("{WIDGETS}/w");
    let create = |name: &str| post(WIDGETS, &widget("v1", name, json!({"spec": {}})));
    let held = json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Widget", "metadata": {"name": "w", "finalizers": ["example.com/held"]}});
    let of_definition = |ask: Ask, name: &str| {
        ask.named(name.to_owned()).only([
            "/kind",
            "/metadata/generation",
            "/metadata/finalizers",
            "/metadata/deletionTimestamp",
            "/metadata/deletionGracePeriodSeconds",
            "/status/conditions/2/type",
            "/status/conditions/2/status",
            "/status/conditions/2/reason",
            "/status/conditions/2/message",
        ])
    };
    let apply = merge(
        &format!("{WIDGETS}/new?fieldManager=m"),
        &widget("v1", "new", json!({})),
    );
    Case::new("definition-ends")
        .ask(post(DEFINITIONS, &definition()).named("define").only(["/kind"]))
        .until(get(WIDGETS), 200)
        .ask(post(WIDGETS, &held).named("one that is held"))
        .ask(create("x").named("one that is not"))
        .ask(of_definition(delete(&format!("{DEFINITION}?dryRun=All")), "try to delete the definition"))
        .ask(of_definition(get(DEFINITION), "not deleted"))
        .ask(of_definition(delete(DEFINITION), "delete the definition"))
        .until_shown(get(DEFINITION), "/status/conditions/2/reason", "InstanceDeletionInProgress")
        .until(get(&format!("{WIDGETS}/x")), 404)
        .ask(of_definition(get(DEFINITION), "it waits"))
        .until(post(&format!("{WIDGETS}?dryRun=All"), &widget("v1", "y", json!({}))), 403)
        .ask(create("y").named("another"))
        .ask(post(WIDGETS, &json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Widget", "metadata": {"generateName": "y-"}})).named("another with a generated name"))
        .ask(apply.content_type("application/apply-patch+yaml").named("apply another"))
        .ask(get(WIDGETS).named("what is left").only(["/kind", "/items/0/metadata/name", "/items/0/metadata/finalizers"]))
        .ask(merge(&w, &json!({"spec": {"size": 2}})).named("change what is left").only(["/spec", "/metadata/generation"]))
        .ask(post(DEFINITIONS, &definition()).named("define again"))
        .ask(of_definition(delete(DEFINITION), "delete the definition again"))
        .ask(merge(&w, &json!({"metadata": {"finalizers": null}})).named("let go").only(["/metadata/finalizers", "/metadata/generation"]))
        .until(get(DEFINITION), 404)
        .until(get(WIDGETS), 404)
        .ask(get(&w).named("gone with it"))
}

/// Definitions that are refused, and why.
fn refused() -> Case {
    let change = |pointer: &str, value: Value| {
        let mut changed = definition();
        *changed.pointer_mut(pointer).expect("a place in the definition") = value;
        changed
    };
    let with = |field: &str, value: Value| {
        let mut changed = definition();
        changed["spec"]["versions"][0][field] = value;
        changed
    };
    let ask = |name: &str, definition: Value| {
        post(DEFINITIONS, &definition)
            .named(name.to_owned())
            .only(["/reason", "/message", "/details/causes"])
    };
    let column = |column: Value| with("additionalPrinterColumns", json!([column]));
    let names = |name: &str, value: Value| {
        let mut changed = definition();
        changed["spec"]["names"][name] = value;
        changed
    };
    Case::new("definition-causes")
        .ask(ask(
            "a version with a capital",
            change("/spec/versions/1/name", json!("V1")),
        ))
        .ask(ask(
            "a deprecation that is none",
            with("deprecationWarning", json!("x")),
        ))
        .ask(ask(
            "a column without a type",
            column(json!({"name": "A", "jsonPath": ".a"})),
        ))
        .ask(ask(
            "a column of another type",
            column(json!({"name": "A", "type": "text", "jsonPath": ".a"})),
        ))
        .ask(ask(
            "a column of another format",
            column(json!({"name": "A", "type": "string", "format": "x", "jsonPath": ".a"})),
        ))
        .ask(ask(
            "a column elsewhere",
            column(json!({"name": "A", "type": "string", "jsonPath": "a"})),
        ))
        .ask(ask("a kind with a dot", names("kind", json!("A.b"))))
        .ask(ask(
            "a short name with a capital",
            names("shortNames", json!(["Wd"])),
        ))
        .ask(ask(
            "a category with a capital",
            names("categories", json!(["All"])),
        ))
        .ask(ask("kind and list kind", names("listKind", json!("Widget"))))
        .ask(ask(
            "another conversion",
            change("/spec/conversion/strategy", json!("Magic")),
        ))
        .ask(ask(
            "webhooks without a client",
            change(
                "/spec/conversion",
                json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}),
            ),
        ))
}

fn established(name: &str) -> Ask {
    get(DEFINITION).named(name.to_owned()).only([
        "/status/conditions/1/type",
        "/status/conditions/1/status",
        "/status/conditions/1/reason",
        "/status/conditions/1/message",
    ])
}

/// Defaults of the version in which an object is written are for what the client sends; what it may not write stays.
fn defaults_of_a_part() -> Case {
    let schema = |default: Value| {
        let field = match default {
            Value::Null => json!({"type": "string"}),
            default => json!({"type": "string", "default": default}),
        };
        let part = json!({"type": "object", "properties": {"a": {"type": "string"}, "c": field}});
        json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": part, "status": part}}})
    };
    let versions = |default: Value| {
        let version = |name: &str, default: Value| {
            json!({
                "name": name, "served": true, "storage": name == "v2", "subresources": {"status": {}}, "schema": schema(default),
            })
        };
        json!([version("v1", default), version("v2", Value::Null)])
    };
    let mut undefaulted = definition();
    undefaulted["spec"]["versions"] = versions(Value::Null);
    let w = format!("{W1}/w");
    let status = widget("v1", "w", json!({"status": {"a": "1"}}));
    Case::new("versions-parts")
        .ask(post(DEFINITIONS, &undefaulted).named("define").only(["/kind"]))
        .until(get(W1), 200)
        .ask(post(W1, &widget("v1", "w", json!({"spec": {"a": "1"}}))).named("create"))
        .ask(
            merge(DEFINITION, &json!({"spec": {"versions": versions(json!("C"))}}))
                .named("a default")
                .only(["/kind"]),
        )
        .until_shown(
            post(
                &format!("{W1}?dryRun=All"),
                &widget("v1", "x", json!({"spec": {}})),
            ),
            "/spec/c",
            "C",
        )
        .ask(get(&w).named("read"))
        .ask(put(&format!("{w}/status"), &status).named("write the status"))
        .ask(get(&w).named("read the status"))
        .ask(merge(&w, &json!({"spec": {"a": "2"}})).named("patch the spec"))
}

fn nothing_is_stored_in_v1() -> Ask {
    let stored = json!({"status": {"storedVersions": ["v2"]}});
    merge(&format!("{DEFINITION}/status"), &stored)
        .named("nothing is stored in v1")
        .only(["/status/storedVersions"])
}

/// What is owned in a version that is no longer served is compared in it all the same. One that is gone is in the way.
fn owners_in_versions_not_served() -> Case {
    let schema = |item: &Value| {
        let list = json!({"type": "array", "items": {"type": "object", "properties": item}});
        let string = json!({"type": "string"});
        let spec = json!({"type": "object", "properties": {"a": string, "b": string, "list": list}});
        json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}})
    };
    let old = json!({"k": {"type": "string"}});
    let new = json!({"k": {"type": "string"}, "mode": {"type": "string", "default": "Ignore"}});
    let version = |name: &str, item: &Value| {
        let served = name == "v2";
        json!({"name": name, "served": served, "storage": served, "schema": schema(item)})
    };
    let versions =
        |versions: Value| merge(DEFINITION, &json!({"spec": {"versions": versions}})).only(["/kind"]);
    let mut first = definition();
    let both = json!({"name": "v1", "served": true, "storage": true, "schema": schema(&old)});
    first["spec"]["versions"] = json!([both]);
    let apply = |version: &str, name: &str, manager: &str| {
        let path = format!("/apis/{GROUP}/{version}/namespaces/{{ns}}/widgets/{name}?fieldManager={manager}");
        let spec = match name {
            "list" => json!({"list": [{"k": "1"}]}),
            _ => json!({"a": "1"}),
        };
        let ask = merge(&path, &widget(version, name, json!({"spec": spec})));
        ask.content_type("application/apply-patch+yaml")
            .named(format!("{manager} applies {name} in {version}"))
    };
    let change = |name: &str, value: &str| {
        let path = format!("{W2}/{name}?fieldManager=two");
        merge(&path, &json!({"spec": {"b": value}})).named(format!("change {name} to {value}"))
    };
    let names = ["list", "same", "changed"];
    let applied = |case: Case, version: &str, manager: &str, when: &str| {
        names.iter().fold(case, |case, name| {
            let ask = apply(version, name, manager);
            let shown = format!("{}, {when}", ask.name);
            case.ask(ask.named(shown))
        })
    };
    let case = Case::new("versions-not-served")
        .ask(post(DEFINITIONS, &first).named("define").only(["/kind"]))
        .until(get(W1), 200);
    let case = applied(case, "v1", "one", "served")
        .ask(versions(json!([version("v1", &old), version("v2", &old)])).named("serve v2 only"))
        .until(get(W2), 200)
        .until(get(W1), 404)
        .ask(change("list", "1"))
        .ask(apply("v2", "same", "one"))
        .ask(change("changed", "1"))
        .ask(versions(json!([version("v1", &old), version("v2", &new)])).named("a default in v2"))
        .until_shown(get(&format!("{W2}/list")), "/spec/list/0/mode", "Ignore");
    let case = applied(case, "v2", "three", "with a field that v1 does not have")
        .ask(apply("v2", "list", "one"))
        .ask(change("list", "2"))
        .ask(apply("v2", "list", "four"))
        .ask(nothing_is_stored_in_v1())
        .ask(versions(json!([version("v2", &new)])).named("without v1"))
        .until_shown(get(DEFINITION), "/spec/versions/0/name", "v2");
    applied(case, "v2", "four", "without v1")
        .ask(apply("v2", "changed", "one"))
        .ask(change("changed", "3"))
        .ask(apply("v2", "changed", "two"))
}

/// Webhooks of definitions that cannot be asked.
fn webhooks_refused() -> Case {
    let url = |url: &str| json!({"url": url});
    let service = |more: Value| {
        let mut service = json!({"name": "a", "namespace": "b"});
        service
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({"service": service})
    };
    let good = url("https://127.0.0.1:1/x");
    let clients = [
        ("http", url("http://a/x")),
        ("no scheme", url("a/x")),
        ("a query", url("https://a/x?b=c")),
        ("a fragment", url("https://a/x#b")),
        ("a user", url("https://a:b@c/x")),
        ("a port that is none", url("https://a:b/")),
        ("an escape that is none", url("https://a/%zz")),
        (
            "both",
            json!({"url": "https://a", "service": {"name": "a", "namespace": "b"}}),
        ),
        ("neither", json!({})),
        ("no name", json!({"service": {}})),
        ("port 0", service(json!({"port": 0}))),
        ("a relative path", service(json!({"path": "x//y/"}))),
        ("a path with capitals", service(json!({"path": "/a_b/C"}))),
    ];
    let versions = [
        ("no versions", json!([])),
        ("a version twice", json!(["v1", "v1"])),
        ("no version that is known", json!(["v9"])),
        ("versions that are none", json!(["v1", "V_2", ""])),
    ];
    let conversion = |client: &Value, versions: &Value| json!({"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": versions}});
    let accepted = json!(["v1"]);
    let clients = clients
        .iter()
        .map(|(name, client)| (*name, conversion(client, &accepted)));
    let versions = versions
        .iter()
        .map(|(name, versions)| (*name, conversion(&good, versions)));
    let mut none = conversion(&good, &accepted);
    none["strategy"] = "None".into();
    let others = [
        ("a webhook that is not asked", none),
        ("no webhook", json!({"strategy": "Webhook"})),
    ];
    let refused = clients.chain(versions).chain(others).fold(
        Case::new("webhooksrefused"),
        |case, (name, conversion)| {
            let mut definition = definition();
            definition["spec"]["conversion"] = conversion;
            case.ask(post(DEFINITIONS, &definition).named(name))
        },
    );
    let mut unreadable = definition();
    unreadable["spec"]["conversion"] = conversion(&service(json!({})), &accepted);
    unreadable["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = "Z2FyYmFnZQ==".into();
    let bundle =
        |bundle: &str| json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle}}}}});
    refused
        .ask(
            post(DEFINITIONS, &unreadable)
                .named("authorities that cannot be read")
                .only(["/spec/conversion"]),
        )
        .until(get(WIDGETS), 500)
        .until_shown(get(DEFINITION), "/status/conditions/1/reason", "InvalidCABundle")
        .ask(established("not established"))
        .until(get("/apis/{ns}.example.com/v1"), 404)
        .ask(get("/apis/{ns}.example.com").named("the group is shown"))
        .ask(get("/apis/{ns}.example.com/v1").named("its resources are not"))
        .ask(get(WIDGETS).named("read without authorities"))
        .ask(get(&format!("{WIDGETS}/a")).named("get without authorities"))
        .ask(merge(&format!("{WIDGETS}/a"), &json!({})).named("write without authorities"))
        .ask(
            merge(DEFINITION, &bundle("Z2FyYmFnZTI="))
                .named("others that cannot be read")
                .only(["/spec/conversion"]),
        )
        .ask(
            merge(DEFINITION, &bundle(""))
                .named("no authorities")
                .only(["/spec/conversion"]),
        )
        .until_shown(get(DEFINITION), "/status/conditions/1/status", "True")
        .ask(established("established"))
}

/// Nobody answers where the definition says that its objects are converted.
fn unconverted() -> Case {
    let mut definition = two_versions("v1");
    definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": {"url": "https://127.0.0.1:1/convert"}, "conversionReviewVersions": ["v1"],
    }});
    let spec = json!({"spec": {"a": "1"}});
    Case::new("unconverted")
        .ask(post(DEFINITIONS, &definition).named("define").only(["/kind"]))
        .until(get(W1), 200)
        .until(get(&format!("{W2}/none")), 404)
        .ask(post(W2, &widget("v2", "w", spec.clone())).named("create in v2"))
        .ask(post(W1, &widget("v1", "w", spec.clone())).named("create in v1"))
        .ask(get(&format!("{W2}/w")).named("get in v2"))
        .ask(merge(&format!("{W2}/w"), &spec).named("change v2"))
        .ask(merge(&format!("{W1}/w"), &spec).named("change v1"))
        .ask(delete(&format!("{W2}/w")).named("delete in v2"))
        .ask(delete(&format!("{W1}/w")).named("delete in v1"))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        several(),
        scales(),
        names(),
        ends(),
        refused(),
        webhooks_refused(),
        defaults_of_a_part(),
        owners_in_versions_not_served(),
        unconverted(),
    ]
}
