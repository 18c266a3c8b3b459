//! Server-side apply, and who owns which fields after writes of every kind.

use crate::case::{Ask, Case, any, delete, get, json_patch, merge, post, put};
use crate::objects::{CONFIG_MAPS, DEFINITIONS, GROUP, WIDGETS, pod};
use serde_json::{Value, json};

const A: &str = "/api/v1/namespaces/{ns}/configmaps/a";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/{ns}/deployments";
const SERVICES: &str = "/api/v1/namespaces/{ns}/services";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles";
const W: &str = "/apis/{ns}.example.com/v1/namespaces/{ns}/widgets/w";

/// What `manager` applies; it may have more parameters behind its name.
fn apply(path: &str, manager: &str, config: &Value) -> Ask {
    any("PATCH", &format!("{path}?fieldManager={manager}"))
        .text(&config.to_string())
        .content_type("application/apply-patch+yaml")
}

fn map(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

fn with(metadata: Value, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
}

fn managers() -> Case {
    let a = |manager: &str, data: Value| apply(A, manager, &map("a", data));
    let yaml =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y\n  labels: {b: c}\ndata:\n  k: |\n    v\n";
    Case::new("apply")
        .ask(a("one", json!({"k": "1", "l": "1"})).named("create").save_version("first"))
        .ask(a("one", json!({"k": "1", "l": "1"})).named("nothing changes"))
        .ask(a("two", json!({"k": "1"})).named("another manager, the same value"))
        .ask(a("two", json!({"k": "1"})).named("and again"))
        .ask(a("two", json!({"k": "2"})).named("another value"))
        .ask(a("two", json!({"k": "2", "l": "2"})).named("two other values"))
        .ask(a("two&force=false", json!({"k": "2"})).named("not by force"))
        .ask(a("two&force=true&dryRun=All", json!({"k": "2"})).named("by force, dry run"))
        .ask(a("two&force=true", json!({"k": "2"})).named("by force"))
        .ask(a("one", json!({"k": "1", "l": "1"})).named("what was lost"))
        .ask(a("one", json!({"l": "1"})).named("what is let go to its owner"))
        .ask(a("three", json!({"l": "1", "m": "1"})).named("a third manager"))
        .ask(a("one", json!({"n": "1"})).named("what is let go and owned by another"))
        .ask(a("three", json!({"m": "1"})).named("what is let go by the last owner"))
        .ask(a("one", json!({})).named("no fields"))
        .ask(a("one", json!({})).named("no fields again"))
        .ask(merge(&format!("{A}?fieldManager=four"), &json!({"data": {"m": "4", "o": "4"}})).named("a patch takes fields"))
        .ask(a("three", json!({"m": "1"})).named("a conflict with an update"))
        .ask(a("one", json!({"m": "1", "o": "1", "k": "1"})).named("conflicts with two managers").only(["/message", "/reason"]))
        .ask(put(&format!("{A}?fieldManager=five"), &map("a", json!({"k": "5"}))).named("an update takes and removes fields"))
        .ask(put(&format!("{A}?fieldManager=five"), &map("a", json!({"k": "5"}))).named("an update that changes nothing"))
        .ask(json_patch(&format!("{A}?fieldManager=four"), &json!([{"op": "remove", "path": "/data"}])).named("a patch removes a field"))
                .ask(apply(A, "one", &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"x": "y"}, "annotations": {}}})).named("labels and no annotations"))
        .ask(apply(A, "one", &json!({"apiVersion": "v1", "kind": "ConfigMap"})).named("nothing at all"))
        .ask(any("PATCH", "/api/v1/namespaces/{ns}/configmaps/y?fieldManager=one").text(yaml).content_type("application/apply-patch+yaml").named("YAML"))
        .ask(a("one&dryRun=All", json!({"k": "d"})).named("dry run"))
        .ask(apply("/api/v1/namespaces/{ns}/configmaps/dry", "one&dryRun=All", &map("dry", json!({"k": "d"}))).named("dry run of a creation"))
        .ask(get("/api/v1/namespaces/{ns}/configmaps/dry").named("nothing came of it"))
        .ask(get(A).named("in the end"))
}

fn refusals() -> Case {
    let a = |name: &str, config: Value| apply(A, "one", &config).named(name);
    let text = |name: &str, body: &str| {
        any("PATCH", &format!("{A}?fieldManager=one"))
            .text(body)
            .content_type("application/apply-patch+yaml")
            .named(name)
    };
    let uid = "11111111-2222-3333-4444-555555555555";
    let long = "x".repeat(129);
    let refused = ["/message", "/reason", "/details"];
    Case::new("apply-refused")
        .ask(a("create", map("a", json!({"k": "1"}))).save_version("first"))
        .ask(
            any("PATCH", A)
                .text("{}")
                .content_type("application/apply-patch+yaml")
                .named("no manager"),
        )
        .ask(
            any("PATCH", &format!("{A}?fieldManager={long}"))
                .text("{}")
                .content_type("application/apply-patch+yaml")
                .named("a manager that is too long"),
        )
        .ask(apply(A, "a%09b", &map("a", json!({}))).named("a manager that cannot be printed"))
        .ask(
            post(
                &format!("{CONFIG_MAPS}?fieldManager={long}"),
                &map("b", json!({})),
            )
            .named("a creator that is too long"),
        )
        .ask(merge(&format!("{A}?force=true"), &json!({})).named("another patch by force"))
        .ask(a(
            "another kind",
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}),
        ))
        .ask(a(
            "another version",
            json!({"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}}),
        ))
        .ask(a(
            "no version",
            json!({"kind": "ConfigMap", "metadata": {"name": "a"}}),
        ))
        .ask(a(
            "no kind",
            json!({"apiVersion": "v1", "metadata": {"name": "a"}}),
        ))
        .ask(a("an empty object", json!({})))
        .ask(text("an empty body", ""))
        .ask(text("a list", "[]"))
        .ask(text("a string", "x"))
        .ask(a("another name", map("b", json!({}))))
        .ask(a(
            "another namespace",
            with(json!({"name": "a", "namespace": "default"}), json!({})),
        ))
        .ask(a(
            "an old version",
            with(json!({"name": "a", "resourceVersion": "1"}), json!({"l": "1"})),
        ))
        .ask(a(
            "this version",
            with(
                json!({"name": "a", "resourceVersion": "{first}"}),
                json!({"k": "1", "l": "1"}),
            ),
        ))
        .ask(
            a("another uid", with(json!({"name": "a", "uid": uid}), json!({}))).only(["/message", "/reason"]),
        )
        .ask(a(
            "managers",
            with(json!({"name": "a", "managedFields": []}), json!({})),
        ))
        .ask(a(
            "managers that are null",
            with(json!({"name": "a", "managedFields": null}), json!({"k": "1"})),
        ))
        .ask(a("a wrong type", map("a", json!({"k": 5}))))
        .ask(a("wrong types", map("a", json!({"k": 5, "l": true, "m": 1.5}))).only(["/reason", "/code"]))
        .ask(a("no map", map("a", json!("x"))))
        .ask(a(
            "an unknown field",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "bogus": 1}),
        ))
        .ask(a(
            "an item twice",
            with(json!({"name": "a", "finalizers": ["a/b", "a/b"]}), json!({})),
        ))
        .ask(a(
            "a key twice",
            with(
                json!({"name": "a", "ownerReferences": [{"uid": "x"}, {"uid": "x"}]}),
                json!({}),
            ),
        ))
        .ask(
            a(
                "a label that is not valid",
                with(json!({"name": "a", "labels": {"x": "y z"}}), json!({})),
            )
            .only(["/reason", "/code"]),
        )
        .ask(
            any("PATCH", &format!("{A}?fieldManager=one"))
                .text("x")
                .content_type("application/apply-patch+cbor")
                .named("CBOR")
                .only(["/reason", "/code"]),
        )
        .ask(
            any("PATCH", &format!("{A}?fieldManager=one"))
                .text("{}")
                .content_type("application/apply-patch+json")
                .named("JSON")
                .only(["/reason", "/code"]),
        )
        .ask(
            apply(
                "/api/v1/namespaces/{ns}/configmaps/new",
                "one",
                &with(json!({"name": "new", "uid": uid}), json!({})),
            )
            .named("a uid of what is not there"),
        )
        .ask(
            apply(
                "/api/v1/namespaces/{ns}/configmaps/new",
                "one",
                &with(json!({"name": "new", "resourceVersion": "5"}), json!({"k": "1"})),
            )
            .named("a version of what is not there"),
        )
        .ask(
            apply(
                "/api/v1/namespaces/{ns}/configmaps/newer",
                "one",
                &with(json!({}), json!({})),
            )
            .named("no name of what is not there"),
        )
        .ask(
            apply(
                &format!("{DEPLOYMENTS}/d/status"),
                "one",
                &json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}}),
            )
            .named("a status of what is not there"),
        )
        .ask(
            apply(&format!("{A}/status"), "one", &map("a", json!({})))
                .named("a status that no object has")
                .only(refused),
        )
        .ask(
            apply(CONFIG_MAPS, "one", &map("a", json!({})))
                .named("a collection")
                .only(refused),
        )
        .ask(
            apply(
                "/api/v1/namespaces/{ns}-nowhere/configmaps/a",
                "one",
                &map("a", json!({})),
            )
            .named("a namespace that does not exist"),
        )
        .ask(get(A).named("in the end"))
}

/// A Service without addresses, with all that a real server would fill in.
fn service(ports: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"clusterIP": "None", "type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster", "ports": ports},
    })
}

fn lists() -> Case {
    let s = format!("{SERVICES}/s");
    let port =
        |name: &str, port: u16| json!({"name": name, "port": port, "protocol": "TCP", "targetPort": port});
    let udp = json!({"name": "dns", "port": 80, "protocol": "UDP", "targetPort": 80});
    let no_protocol = json!({"name": "a", "port": 80});
    let ports = ["/spec/ports", "/metadata/managedFields", "/message"];
    let service_of = |manager: &str, ports: Value| apply(&s, manager, &service(ports));
    let role = |verbs: [&str; 2]| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}],
        })
    };
    let r = format!("{ROLES}/r");
    let finalizers = |names: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "f", "finalizers": names}});
    let f = format!("{CONFIG_MAPS}/f");
    let selector = |selector: Value| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {
            "type": "ExternalName", "externalName": "a.example", "sessionAffinity": "None", "selector": selector,
        }})
    };
    let x = format!("{SERVICES}/x");
    let selectors = ["/spec/selector", "/message"];
    Case::new("apply-lists")
        .ask(
            service_of("one", json!([port("a", 80), port("b", 443)]))
                .named("create")
                .only(ports),
        )
        .ask(
            service_of("two", json!([udp]))
                .named("a port of the same number")
                .only(ports),
        )
        .ask(
            service_of("two", json!([udp, port("c", 443)]))
                .named("a conflict in a port")
                .only(ports),
        )
        .ask(
            service_of("two", json!([udp, no_protocol]))
                .named("a key by default")
                .only(ports),
        )
        .ask(
            service_of("two", json!([port("z", 90), udp, port("y", 100)]))
                .named("in another order")
                .only(ports),
        )
        .ask(
            service_of("one", json!([port("b", 443)]))
                .named("an item is let go")
                .only(ports),
        )
        .ask(
            service_of("two", json!([port("z", 90)]))
                .named("items are let go by their last owner")
                .only(ports),
        )
        .ask(
            apply(&x, "three", &selector(json!({"a": "b"})))
                .named("an atomic map")
                .only(selectors),
        )
        .ask(
            apply(&x, "four", &selector(json!({"c": "d"})))
                .named("a conflict in an atomic map")
                .only(selectors),
        )
        .ask(
            apply(&x, "four&force=true", &selector(json!({"c": "d"})))
                .named("an atomic map is replaced")
                .only(selectors),
        )
        .ask(apply(&r, "one", &role(["get", "list"])).named("an atomic list"))
        .ask(apply(&r, "two", &role(["get", "watch"])).named("a conflict in an atomic list"))
        .ask(apply(&r, "two&force=true", &role(["get", "watch"])).named("an atomic list is replaced"))
        .ask(apply(&f, "one", &finalizers(json!(["a/a", "b/b"]))).named("a set"))
        .ask(apply(&f, "two", &finalizers(json!(["c/c", "a/a"]))).named("more of a set"))
        .ask(apply(&f, "one", &finalizers(json!(["b/b"]))).named("less of a set, not of the object"))
        .ask(apply(&f, "two", &finalizers(json!([]))).named("an empty set"))
        .ask(apply(&f, "one", &finalizers(json!([]))).named("nothing of a set"))
        .ask(
            delete(&f)
                .named("no finalizers hold it")
                .only(["/kind", "/status"]),
        )
}

fn deployment(containers: Value) -> Value {
    let mut spec = pod("x")["spec"].clone();
    for name in [
        "nodeName",
        "enableServiceLinks",
        "priority",
        "preemptionPolicy",
        "tolerations",
    ] {
        spec.as_object_mut().unwrap().remove(name);
    }
    spec["containers"] = containers;
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": spec},
            "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10, "replicas": 2,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}},
        },
    })
}

fn scale(name: &str, replicas: u8) -> Value {
    json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}, "spec": {"replicas": replicas}})
}

fn subresources() -> Case {
    let d = format!("{DEPLOYMENTS}/d");
    let container = |name: &str, env: Value| {
        json!({
            "name": name, "image": "i", "imagePullPolicy": "Always", "resources": {}, "env": env,
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        })
    };
    let status = |status: Value| {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "annotations": {"x": "y"}, "labels": {"x": "y"}},
            "spec": {"replicas": 9}, "status": status,
        })
    };
    let condition = |status: &str| {
        json!([{
            "type": "Available", "status": status, "reason": "r", "message": "m", "lastUpdateTime": "2020-01-01T00:00:00Z",
            "lastTransitionTime": "2020-01-01T00:00:00Z",
        }])
    };
    let env = |name: &str| json!([{"name": name, "value": "1"}]);
    let only = [
        "/spec/template/spec/containers",
        "/metadata/managedFields",
        "/message",
    ];
    let of_status = [
        "/status",
        "/metadata/managedFields",
        "/metadata/labels",
        "/spec/replicas",
        "/message",
    ];
    let bare = |container: Value| {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
            "spec": {"template": {"spec": {"containers": [container]}}},
        })
    };
    let replicas = |replicas: u8| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": replicas}});
    Case::new("apply-subresources")
        .ask(
            post(
                &format!("{DEPLOYMENTS}?fieldManager=creator"),
                &deployment(json!([container("c", env("A"))])),
            )
            .named("create")
            .only(only),
        )
        .ask(
            apply(&d, "one", &bare(json!({"name": "c", "env": env("B")})))
                .named("a variable")
                .only(only),
        )
        .ask(apply(&d, "one", &bare(json!({"name": "c", "image": "j"}))).named("a conflict with the creator"))
        .ask(
            apply(&d, "one", &bare(json!({"name": "c"})))
                .named("the variable is let go")
                .only(only),
        )
        .ask(
            apply(
                &format!("{d}/status"),
                "one",
                &status(json!({"replicas": 2, "conditions": condition("True")})),
            )
            .named("apply a status")
            .only(of_status),
        )
        .ask(
            merge(
                &format!("{d}/status?fieldManager=two"),
                &json!({"status": {"replicas": 3, "readyReplicas": 1}}),
            )
            .named("patch a status")
            .only(of_status),
        )
        .ask(
            apply(&format!("{d}/status"), "one", &status(json!({"replicas": 4})))
                .named("a conflict in a status"),
        )
        .ask(
            apply(&d, "one", &status(json!({"replicas": 5})))
                .named("a status where there is none")
                .only(of_status),
        )
        .ask(
            merge(
                &format!("{d}?fieldManager=three"),
                &json!({"status": {"replicas": 6}, "metadata": {"labels": {"l": "m"}}}),
            )
            .named("patch a status where there is none")
            .only(of_status),
        )
        .ask(
            merge(
                &format!("{d}/scale?fieldManager=four"),
                &json!({"spec": {"replicas": 7}}),
            )
            .named("scale")
            .only(["/spec/replicas"]),
        )
        .ask(apply(&d, "five", &replicas(8)).named("a conflict with a scale"))
        .ask(
            apply(&d, "five", &replicas(7))
                .named("as it is scaled")
                .only(of_status),
        )
        .ask(
            apply(&format!("{d}/scale"), "seven", &scale("d", 8))
                .named("a conflict in a scale")
                .only(["/message", "/reason"]),
        )
        .ask(
            apply(&format!("{d}/scale"), "seven&force=true", &scale("d", 8))
                .named("apply a scale")
                .only(["/spec", "/metadata/name"]),
        )
        .ask(
            apply(&format!("{d}/scale"), "seven", &deployment(json!([]))).named("apply a scale that is none"),
        )
        .ask(apply(&format!("{d}/scale"), "seven", &scale("e", 8)).named("apply a scale of another name"))
        .ask(
            put(
                &format!("{d}/scale?fieldManager=six"),
                &json!({"metadata": {"name": "d"}, "spec": {"replicas": 1}}),
            )
            .named("scale what is applied")
            .only(["/spec/replicas"]),
        )
        .ask(get(&d).named("in the end").only(of_status))
}

/// Widgets with every type of list and map.
fn definition() -> Value {
    let strings = json!({"type": "string"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "conversion": {"strategy": "None"},
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {
                        "size": {"type": "integer"},
                        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": strings},
                        "atomic": {"type": "array", "items": strings},
                        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "n"], "items": {
                            "type": "object", "required": ["name"],
                            "properties": {"name": strings, "n": {"type": "integer", "default": 1}, "value": strings},
                        }},
                        "map": {"type": "object", "additionalProperties": strings},
                        "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": strings, "b": strings}},
                        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    }},
                    "status": {"type": "object", "properties": {"done": {"type": "boolean"}}},
                }}},
            }],
        },
    })
}

fn custom() -> Case {
    let widget = |spec: Value| json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Widget", "metadata": {"name": "w"}, "spec": spec});
    let w = |manager: &str, spec: Value| apply(W, manager, &widget(spec));
    let all = json!({
        "size": 1, "set": ["a", "b"], "atomic": ["a"], "keyed": [{"name": "a", "n": 2, "value": "x"}, {"name": "b", "n": 1}],
        "map": {"a": "b"}, "whole": {"a": "1"}, "free": {"a": {"b": [1, 2]}, "c": {}},
    });
    let more =
        json!({"set": ["c"], "keyed": [{"name": "c", "n": 1}], "map": {"c": "d"}, "free": {"a": {"c": 1}}});
    Case::new("apply-custom")
        .ask(post(DEFINITIONS, &definition()).named("define").only(["/kind"]))
        .until(get(WIDGETS), 200)
        .ask(w("one", all.clone()).named("create"))
        .ask(w("two", more).named("more"))
        .ask(w("two", json!({"size": 2, "atomic": ["b"], "keyed": [{"name": "a", "n": 2, "value": "y"}], "whole": {"b": "2"}, "free": {"a": {"b": []}}})).named("conflicts"))
        .ask(w("two&force=true", json!({"atomic": ["b"], "keyed": [{"name": "a", "n": 2, "value": "y"}], "whole": {"b": "2"}})).named("by force"))
        .ask(w("one", json!({"size": 1, "free": {"c": {"d": 1}}})).named("less"))
        .ask(w("one", json!({"bogus": 1})).named("an unknown field"))
        .ask(w("one", json!({"size": "x"})).named("a wrong type"))
        .ask(w("one&dryRun=All", json!({"keyed": [{"n": 2}]})).named("no name").only(["/reason", "/code"]))
        .ask(apply(&format!("{W}/status"), "one", &json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Widget", "metadata": {"name": "w", "labels": {"a": "b"}}, "spec": {"size": 5}, "status": {"done": true}})).named("a status"))
        .ask(merge(&format!("{W}/status?fieldManager=three"), &json!({"status": {"done": false}})).named("patch the status"))
        .ask(merge(&format!("{W}?fieldManager=three"), &json!({"spec": {"set": ["x"], "map": {"a": "z"}, "size": null}})).named("patch"))
        .ask(w("two&force=true", json!({})).named("nothing any more"))
        .ask(delete(W).named("delete").only(["/status"]))
        .ask(post(&format!("{WIDGETS}?fieldManager=four"), &widget(all)).named("create by post"))
}

/// Explicit nulls in custom resources.
fn nulls() -> Case {
    let string = json!({"type": "string"});
    let nullable = json!({"type": "string", "nullable": true});
    let object = json!({"type": "object", "properties": {"a": string, "b": string}});
    let mut nullable_object = object.clone();
    nullable_object["nullable"] = true.into();
    let properties = json!({
        "s": string, "n": nullable, "d": {"type": "string", "default": "D"},
        "nd": {"type": "string", "nullable": true, "default": "N"},
        "o": object, "no": nullable_object,
        "m": {"type": "object", "additionalProperties": string}, "mn": {"type": "object", "additionalProperties": nullable},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": string},
        "list": {"type": "array", "items": nullable},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
            "type": "object", "required": ["name"], "properties": {"name": string, "v": string, "n": nullable},
        }},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    });
    let mut definition = definition();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] =
        properties;
    let widget = |name: &str, spec: Value| json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Widget", "metadata": {"name": name}, "spec": spec});
    let w = |manager: &str, spec: Value| {
        let name = format!("{manager} {spec}");
        apply(W, manager, &widget("w", spec)).named(name)
    };
    let fresh = |n: usize, spec: Value| {
        let name = format!("new {spec}");
        apply(&format!("{WIDGETS}/n{n}"), "one", &widget(&format!("n{n}"), spec)).named(name)
    };
    let all = json!({
        "s": "1", "n": "1", "d": "1", "nd": "1", "o": {"a": "1", "b": "1"}, "no": {"a": "1"}, "m": {"a": "1", "b": "1"},
        "mn": {"a": "1"}, "set": ["a"], "list": ["a"], "keyed": [{"name": "a", "v": "1", "n": "1"}], "free": {"a": 1, "b": {"c": 1}},
    });
    let nulls = [
        json!({"s": null}),
        json!({"n": null}),
        json!({"d": null}),
        json!({"nd": null}),
        json!({"o": null}),
        json!({"o": {"a": null}}),
        json!({"no": null}),
        json!({"m": null}),
        json!({"m": {"a": null}}),
        json!({"mn": null}),
        json!({"mn": {"a": null}}),
        json!({"set": null}),
        json!({"set": [null]}),
        json!({"list": [null]}),
        json!({"keyed": null}),
        json!({"keyed": [{"name": "a", "v": null, "n": null}]}),
        json!({"keyed": [null]}),
        json!({"keyed": [{"name": null}]}),
        json!({"free": null}),
        json!({"free": {"a": null}}),
        json!({"free": {"b": {"c": null, "d": null}}}),
    ];
    Case::new("apply-nulls")
        .ask(post(DEFINITIONS, &definition).named("define").only(["/kind"]))
        .until(get(WIDGETS), 200)
        .asks(nulls.iter().cloned().enumerate().map(|(n, spec)| fresh(n, spec)))
        .ask(w("one", all))
        .asks(
            nulls
                .iter()
                .cloned()
                .map(|spec| w("two&dryRun=All&force=true", spec)),
        )
        .asks(nulls.iter().cloned().map(|spec| w("one&dryRun=All", spec)))
        .ask(w("two", json!({"s": null, "n": null})))
        .ask(w(
            "two&force=true",
            json!({"n": null, "o": null, "m": {"a": null}}),
        ))
        .ask(w("one", json!({"n": null, "o": {"a": "1"}})))
        .ask(w("two", json!({})))
        .ask(get(W).named("in the end"))
}

/// Managers of one object in several versions, whose schemas differ.
fn versions() -> Case {
    let string = json!({"type": "string"});
    let list = |kind: &str| json!({"type": "array", "x-kubernetes-list-type": kind, "items": string});
    let version = |name: &str, storage: bool, list_type: &str, more: Value| {
        let mut properties = json!({"a": string, "b": string, "list": list(list_type)});
        properties
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({"name": name, "served": true, "storage": storage, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {
                "spec": {"type": "object", "properties": properties},
                "status": {"type": "object", "properties": {"done": {"type": "boolean"}, "a": string}},
            },
        }}})
    };
    let mut definition = definition();
    definition["spec"]["versions"] = json!([
        version("v1", true, "set", json!({"later": {"type": "integer"}})),
        version("v1beta1", false, "atomic", json!({})),
    ]);
    const OLD: &str = "/apis/{ns}.example.com/v1beta1/namespaces/{ns}/widgets/w";
    let widget = |version: &str, rest: Value| {
        let mut widget =
            json!({"apiVersion": format!("{GROUP}/{version}"), "kind": "Widget", "metadata": {"name": "w"}});
        widget
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        widget
    };
    let named = |name: &str| name.to_owned();
    let new = |name: &str, manager: &str, spec: Value| {
        apply(W, manager, &widget("v1", json!({"spec": spec}))).named(named(name))
    };
    let old = |name: &str, manager: &str, spec: Value| {
        apply(OLD, manager, &widget("v1beta1", json!({"spec": spec}))).named(named(name))
    };
    let patch = |path: &str, manager: &str, spec: Value| {
        merge(&format!("{path}?fieldManager={manager}"), &json!({"spec": spec}))
    };
    let status = |path: &str, version: &str, manager: &str, status: Value| {
        apply(
            &format!("{path}/status"),
            manager,
            &widget(version, json!({"status": status})),
        )
    };
    Case::new("apply-versions")
        .ask(post(DEFINITIONS, &definition).named("define").only(["/kind"]))
        .until(get(WIDGETS), 200)
        .ask(old(
            "create in the old version",
            "one",
            json!({"a": "x", "list": ["a"]}),
        ))
        .ask(new(
            "another in the new version",
            "two",
            json!({"list": ["b"], "later": 1}),
        ))
        .ask(get(OLD).named("as the old version has it"))
        .ask(old(
            "the old version of a list that is a set in the new",
            "one",
            json!({"a": "x", "list": ["c"]}),
        ))
        .ask(old(
            "by force",
            "one&force=true",
            json!({"a": "x", "list": ["c"]}),
        ))
        .ask(new(
            "the same manager in the new version",
            "one",
            json!({"a": "x", "list": ["d"]}),
        ))
        .ask(old("and in the old one again", "one", json!({"b": "y"})))
        .ask(patch(W, "three", json!({"a": "1"})).named("an update in the new version"))
        .ask(patch(OLD, "three", json!({"a": "2"})).named("an update in the old version"))
        .ask(patch(OLD, "three", json!({"b": "2"})).named("another update in the old version"))
        .ask(new("a conflict with both", "four", json!({"a": "3", "b": "3"})))
        .ask(status(W, "v1", "one", json!({"done": true})).named("a status"))
        .ask(status(OLD, "v1beta1", "one", json!({"a": "x"})).named("a status in the old version"))
        .ask(new(
            "the same manager beside its status",
            "one",
            json!({"later": 2}),
        ))
        .ask(status(W, "v1", "four", json!({"a": "y"})).named("a conflict with a status"))
        .ask(get(W).named("in the end"))
}

fn kept() -> Case {
    let b = format!("{CONFIG_MAPS}/b");
    let by = |n: u8| {
        merge(
            &format!("{CONFIG_MAPS}/many?fieldManager=m{n:02}"),
            &json!({"data": {format!("k{n:02}"): "v"}}),
        )
        .named(format!("updater {n:02}"))
        .only(["/data"])
    };
    let owned =
        |metadata: Value| json!({"op": "replace", "path": "/metadata/managedFields", "value": metadata});
    let entry = json!({"manager": "mine", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:k": {}}}});
    let annotation = |value: &str| {
        let last = map("csa", json!({"k": value, "l": "1"})).to_string();
        json!({"name": "csa", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": format!("{last}\n")}})
    };
    let csa = format!("{CONFIG_MAPS}/csa");
    Case::new("managed-fields")
        .ask(post(&format!("{CONFIG_MAPS}?fieldManager=one"), &with(json!({
            "name": "a", "labels": {"x": "y"}, "annotations": {}, "finalizers": ["a/b"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}],
        }), json!({"k": "v"}))).named("create"))
        .ask(post(&format!("{CONFIG_MAPS}?fieldManager=one"), &json!({"metadata": {"name": "b"}, "data": {"k": "v"}})).named("create b"))
        .ask(post(&format!("{CONFIG_MAPS}?fieldManager=one"), &json!({"metadata": {"name": "c", "managedFields": [entry]}, "data": {"k": "v", "l": "w"}})).named("create with managers"))
        .ask(post(&format!("{CONFIG_MAPS}?fieldManager=one"), &json!({"metadata": {"name": "d"}})).named("create nothing"))
        .ask(post("/api/v1/namespaces?fieldManager=one", &json!({"metadata": {"name": "{ns}-more"}})).named("a namespace"))
        .ask(merge(&format!("{b}?fieldManager=two"), &json!({"data": {"l": "w"}})).named("patch"))
        .ask(merge(&format!("{b}?fieldManager=two"), &json!({"data": {"k": "w"}})).named("take"))
        .ask(merge(&format!("{b}?fieldManager=two"), &json!({"data": null})).named("remove"))
        .ask(merge(&format!("{b}?fieldManager=three"), &json!({"data": {"k": "1", "l": "2"}})).named("add"))
        .ask(json_patch(&b, &json!([owned(json!([entry]))])).named("other managers"))
        .ask(json_patch(&b, &json!([owned(json!([{"manager": "mine"}]))])).named("managers that are not valid"))
        .ask(put(&format!("{b}?fieldManager=one"), &with(json!({"name": "b"}), json!({"k": "1", "l": "2"}))).named("an update without managers"))
        .ask(put(&format!("{b}?fieldManager=one"), &with(json!({"name": "b", "managedFields": []}), json!({"k": "1", "l": "3"}))).named("an update that resets them"))
        .ask(merge(&format!("{b}?fieldManager=one"), &json!({"data": {"k": "4"}})).named("no longer kept"))
        .ask(apply(&b, "two", &map("b", json!({"m": "1"}))).named("the first apply"))
        .ask(apply(&b, "two", &map("b", json!({"k": "5"}))).named("a conflict with what was there"))
        .ask(json_patch(&b, &json!([owned(json!([{}]))])).named("reset by an empty entry"))
        .ask(post(&format!("{CONFIG_MAPS}?fieldManager=m00"), &map("many", json!({"k": "v"}))).named("create many").only(["/data"]))
        .asks((1..=13).map(by))
        .ask(get(&format!("{CONFIG_MAPS}/many")).named("too many updaters"))
        .ask(post(&format!("{CONFIG_MAPS}?fieldManager=kubectl-client-side-apply"), &with(annotation("1"), json!({"k": "1", "l": "1"}))).named("client-side apply"))
        .ask(apply(&csa, "other", &map("csa", json!({"k": "2"}))).named("not an upgrade"))
        .ask(apply(&csa, "kubectl", &map("csa", json!({"k": "2", "l": "1"}))).named("upgrade"))
        .ask(apply(&csa, "kubectl", &map("csa", json!({"k": "<3>"}))).named("applied after the upgrade"))
        .ask(post("/api/v1/namespaces/{ns}/events?fieldManager=one", &json!({"metadata": {"name": "e", "namespace": "{ns}"}, "involvedObject": {"kind": "Pod", "namespace": "{ns}"}, "reason": "r"})).named("an event").only(["/metadata/managedFields"]))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        managers(),
        refusals(),
        lists(),
        subresources(),
        custom(),
        nulls(),
        versions(),
        kept(),
    ]
}
