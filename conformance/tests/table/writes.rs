//! Creations and updates, and why they are refused.

use crate::case::{Ask, Case, any, delete, get, json_patch, merge, post, put, strategic};
use crate::objects::{CONFIG_MAPS, DEFINITIONS, PODS, WIDGETS, config_map, definition, pod, widget};
use serde_json::{Value, json};

fn create(name: &str, object: Value) -> Ask {
    post(CONFIG_MAPS, &object).named(name)
}

fn update(name: &str, object: Value) -> Ask {
    put(&format!("{CONFIG_MAPS}/a"), &object).named(name)
}

fn metadata(metadata: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": "v"}})
}

fn creations() -> Case {
    let long = "a".repeat(254);
    Case::new("create")
        .ask(create("a", config_map("a", "web")))
        .ask(create("a again", config_map("a", "web")))
        .ask(create("no name", metadata(json!({}))))
        .ask(create(
            "no metadata",
            json!({"apiVersion": "v1", "kind": "ConfigMap"}),
        ))
        .ask(create(
            "a generated name",
            metadata(json!({"generateName": "made-"})),
        ))
        .ask(create(
            "a name and a generated one",
            metadata(json!({"name": "b", "generateName": "made-"})),
        ))
        .ask(
            create(
                "a generated name that is not valid",
                metadata(json!({"generateName": "Made_"})),
            )
            .only(["/reason", "/code"]),
        )
        .ask(create(
            "a name that is not valid",
            metadata(json!({"name": "Not_Valid"})),
        ))
        .ask(create("a name that is too long", metadata(json!({"name": long}))))
        .ask(create("a name with a slash", metadata(json!({"name": "a/b"}))))
        .ask(create("a name that is a number", metadata(json!({"name": 5}))))
        .ask(create(
            "another namespace",
            metadata(json!({"name": "c", "namespace": "default"})),
        ))
        .ask(create(
            "the namespace",
            metadata(json!({"name": "c", "namespace": "{ns}"})),
        ))
        .ask(create(
            "a resource version",
            metadata(json!({"name": "d", "resourceVersion": "1"})),
        ))
        .ask(create(
            "a resource version that is none",
            metadata(json!({"name": "version-x", "resourceVersion": "x"})),
        ))
        .ask(create(
            "resource version 0",
            metadata(json!({"name": "version-0", "resourceVersion": "0"})),
        ))
        .ask(create(
            "a uid",
            metadata(json!({"name": "e", "uid": "11111111-2222-3333-4444-555555555555"})),
        ))
        .ask(create(
            "a deletion time",
            metadata(json!({"name": "f", "deletionTimestamp": "2020-01-01T00:00:00Z", "generation": 7})),
        ))
        .ask(create(
            "a creation time",
            metadata(json!({"name": "g", "creationTimestamp": "2020-01-01T00:00:00Z"})),
        ))
        .ask(create(
            "finalizers and owners",
            metadata(json!({
                "name": "h", "finalizers": ["example.com/f"],
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}],
            })),
        ))
        .ask(create(
            "a finalizer that is not valid",
            metadata(json!({"name": "i", "finalizers": ["f f"]})),
        ))
        .ask(create(
            "a label value that is not valid",
            metadata(json!({"name": "i", "labels": {"a": "b c"}})),
        ))
        .ask(create(
            "a label key that is not valid",
            metadata(json!({"name": "i", "labels": {"a b": "c"}})),
        ))
        .ask(create(
            "a label that is a number",
            metadata(json!({"name": "i", "labels": {"a": 5}})),
        ))
        .ask(create(
            "an annotation key that is not valid",
            metadata(json!({"name": "i", "annotations": {"a b": "c d"}})),
        ))
        .ask(create(
            "empty labels",
            metadata(json!({"name": "j", "labels": {}, "annotations": null})),
        ))
        .ask(create(
            "another kind",
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "k"}}),
        ))
        .ask(create(
            "another version",
            json!({"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "k"}}),
        ))
        .ask(create("no kind", json!({"metadata": {"name": "k"}})))
        .ask(create(
            "an unknown field",
            json!({"metadata": {"name": "l"}, "bogus": 1}),
        ))
        .ask(create("a list", json!([])))
        .ask(create("text that is no JSON", json!(null)).text("{bogus"))
        .ask(
            create("longer text that is no JSON", json!(null))
                .text("{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", bogus"),
        )
        .ask(create("text in quotes", json!(null)).text("\"text\""))
        .ask(create("a number", json!(null)).text("5"))
        .ask(create("a boolean", json!(null)).text("true"))
        .ask(create("a long list", json!(null)).text("[\"more than thirty bytes of text\"]"))
        .ask(create("an empty body", json!(null)).text(""))
        .ask(create("null", json!(null)))
        .ask(create("another content type", config_map("m", "web")).content_type("text/plain"))
        .ask(
            create("merge patch as the content type", config_map("m", "web"))
                .content_type("application/merge-patch+json"),
        )
        .ask(
            create("a content type with a charset", config_map("n", "web"))
                .content_type("application/json; charset=utf-8"),
        )
        .ask(post(&format!("{CONFIG_MAPS}?dryRun=All"), &config_map("o", "web")).named("dry run"))
        .ask(get(&format!("{CONFIG_MAPS}/o")).named("nothing came of the dry run"))
        .ask(
            post(&format!("{CONFIG_MAPS}?dryRun=All"), &config_map("a", "web"))
                .named("dry run of what exists"),
        )
        .ask(post(&format!("{CONFIG_MAPS}?dryRun=bogus"), &config_map("o", "web")).named("dry run bogus"))
        .ask(
            post(&format!("{CONFIG_MAPS}?fieldManager=me"), &config_map("q", "web")).named("a field manager"),
        )
        .ask(
            post(
                &format!("{CONFIG_MAPS}?fieldValidation=bogus"),
                &config_map("s", "web"),
            )
            .named("field validation bogus"),
        )
        .ask(
            post("/api/v1/namespaces/nowhere/configmaps", &config_map("a", "web"))
                .named("a namespace that does not exist"),
        )
        .ask(post("/api/v1/configmaps", &config_map("a", "web")).named("no namespace"))
        .ask(
            post("/api/v1/namespaces", &json!({"metadata": {"name": "default"}}))
                .named("a namespace that exists"),
        )
        .ask(post("/api/v1/namespaces", &json!({"metadata": {"name": "{ns}-more"}})).named("a namespace"))
        .ask(
            post("/api/v1/namespaces", &json!({"metadata": {"name": "a.b"}}))
                .named("a namespace that is not valid"),
        )
        .ask(post(PODS, &pod("p")).named("a pod").only([
            "/metadata",
            "/status/phase",
            "/spec/containers/0/name",
        ]))
        .ask(
            post("/api/v1/nodes", &json!({"metadata": {"name": "{ns}-node"}}))
                .named("a node")
                .only(["/metadata/name", "/metadata/uid"]),
        )
        .ask(
            post(
                &format!("{CONFIG_MAPS}?fieldValidation=Strict"),
                &json!({"metadata": {"name": "r"}, "bogus": 1}),
            )
            .named("an unknown field, strictly"),
        )
}

fn updates() -> Case {
    let with_version = |version: &str| metadata(json!({"name": "a", "resourceVersion": version}));
    Case::new("update")
        .ask(
            create("a", config_map("a", "web"))
                .save_version("first")
                .save("uid", "/metadata/uid"),
        )
        .ask(update("without a version", config_map("a", "db")).save_version("second"))
        .ask(update("nothing changes", config_map("a", "db")))
        .ask(update("an old version", with_version("{first}")))
        .ask(update("this version", with_version("{second}")).save_version("third"))
        .ask(update("version 0", with_version("0")))
        .ask(update("a version that is no number", with_version("abc")))
        .ask(update("a version far ahead", with_version("9999999999")))
        .ask(update("this uid", metadata(json!({"name": "a", "uid": "{uid}"}))))
        .ask(update(
            "another uid",
            metadata(json!({"name": "a", "uid": "11111111-2222-3333-4444-555555555555"})),
        ))
        .ask(update("another name", metadata(json!({"name": "b"}))))
        .ask(update("no name", metadata(json!({}))))
        .ask(update(
            "another namespace",
            metadata(json!({"name": "a", "namespace": "default"})),
        ))
        .ask(update(
            "another kind",
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}),
        ))
        .ask(update(
            "a creation time",
            metadata(json!({"name": "a", "creationTimestamp": "2020-01-01T00:00:00Z", "labels": {"x": "y"}})),
        ))
        .ask(update(
            "a deletion time",
            metadata(json!({"name": "a", "deletionTimestamp": "2020-01-01T00:00:00Z", "labels": {"x": "z"}})),
        ))
        .ask(update(
            "a label that is not valid",
            metadata(json!({"name": "a", "labels": {"x": "y z"}})),
        ))
        .ask(put(&format!("{CONFIG_MAPS}/a?dryRun=All"), &config_map("a", "dry")).named("dry run"))
        .ask(get(&format!("{CONFIG_MAPS}/a")).named("as it is now"))
        .ask(put(&format!("{CONFIG_MAPS}/missing"), &config_map("missing", "web")).named("what is missing"))
        .ask(
            put(
                &format!("{CONFIG_MAPS}/missing"),
                &metadata(json!({"name": "missing", "resourceVersion": "5"})),
            )
            .named("what is missing, with a version"),
        )
        .ask(
            put(
                &format!("{CONFIG_MAPS}/missing"),
                &metadata(json!({"name": "missing", "uid": "11111111-2222-3333-4444-555555555555"})),
            )
            .named("what is missing, with a uid"),
        )
        .ask(
            any("PUT", &format!("{CONFIG_MAPS}/a"))
                .text("{bogus")
                .named("text that is no JSON"),
        )
        .ask(
            any("PUT", &format!("{CONFIG_MAPS}/a"))
                .text("")
                .named("an empty body"),
        )
}

/// Versions that are empty or zero: nothing is asked of what is there, unless the kind wants to be asked.
fn unversioned() -> Case {
    const W: &str = "/apis/{ns}.example.com/v1/namespaces/{ns}/widgets/w";
    const L: &str = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l";
    const A: &str = "/api/v1/namespaces/{ns}/configmaps/a";
    let objects = [
        (
            "map",
            A,
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
        ),
        (
            "lease",
            L,
            json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {}}),
        ),
        ("widget", W, widget("w", 1)),
    ];
    let asks = objects.into_iter().flat_map(|(kind, path, object)| {
        let labelled = |n: usize, version: Value| {
            let mut object = object.clone();
            object["metadata"]["labels"] = json!({"n": format!("{n}")});
            object["metadata"]["resourceVersion"] = version;
            object
        };
        let change = |n: usize, version: &Value| json!({"metadata": {"labels": {"p": format!("{n}")}, "resourceVersion": version}});
        let replaced = |n: usize, op: Value| json!([{"op": "add", "path": "/metadata/labels", "value": {"j": format!("{n}")}}, op]);
        let mut asks = Vec::new();
        for (n, version) in [json!(""), json!("0"), json!(null), json!("00"), json!("-1")].into_iter().enumerate() {
            asks.push(put(path, &labelled(n, version.clone())).named(format!("{kind}: put {version}")));
            asks.push(merge(path, &change(n, &version)).named(format!("{kind}: merge {version}")));
            asks.push(strategic(path, &change(n, &version)).named(format!("{kind}: strategic {version}")));
            let op = json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version});
            asks.push(json_patch(path, &replaced(n, op)).named(format!("{kind}: json {version}")));
            asks.push(
                any("PATCH", &format!("{path}?fieldManager=one&force=true"))
                    .text(&labelled(10 + n, version.clone()).to_string())
                    .content_type("application/apply-patch+yaml")
                    .named(format!("{kind}: apply {version}")),
            );
        }
        let op = json!({"op": "remove", "path": "/metadata/resourceVersion"});
        asks.push(json_patch(path, &replaced(9, op)).named(format!("{kind}: json removed")));
        asks.into_iter().map(|ask| ask.only(["/metadata/labels", "/message", "/reason", "/details/causes"])).collect::<Vec<_>>()
    });
    Case::new("unversioned")
        .ask(post(DEFINITIONS, &definition()).named("define").only(["/kind"]))
        .until(get(WIDGETS), 200)
        .ask(create("a map", metadata(json!({"name": "a"}))).only(["/kind"]))
        .ask(
            post(
                "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases",
                &json!({"metadata": {"name": "l"}}),
            )
            .named("a lease")
            .only(["/kind"]),
        )
        .ask(post(WIDGETS, &widget("w", 1)).named("a widget").only(["/kind"]))
        .asks(asks)
}

fn paths() -> Case {
    let asks = [
        get("/api"),
        get("/api/v1/bogus"),
        get("/api/v2/pods"),
        get("/apis/bogus/v1/things"),
        get("/apis/apps/v2/deployments"),
        get("/apis/apps/v1/bogus"),
        get("/bogus"),
        get("/api/v1/namespaces/{ns}/pods/p/bogus"),
        get("/api/v1/namespaces/{ns}/nodes"),
        get("/api/v1/nodes/missing"),
        get("/api/v1/namespaces/missing"),
        get("/apis/apps/v1/namespaces/{ns}/deployments/missing"),
        get("/api/v1/namespaces/{ns}/configmaps/missing/status"),
        get("/api/v1/namespaces/{ns}/pods/missing/status"),
        any("POST", "/api/v1/namespaces/{ns}/configmaps/a").text("{}"),
        any("PUT", CONFIG_MAPS).text("{}"),
        any("PATCH", CONFIG_MAPS)
            .text("{}")
            .content_type("application/merge-patch+json"),
        any("DELETE", "/api/v1/configmaps"),
        any("DELETE", "/api/v1/namespaces"),
        any("OPTIONS", CONFIG_MAPS),
        any("HEAD", CONFIG_MAPS),
        any("BOGUS", CONFIG_MAPS),
        any("POST", "/api/v1/namespaces/{ns}/pods/p/status").text("{}"),
        any("DELETE", "/api/v1/namespaces/{ns}/pods/p/status"),
        delete("/api/v1/namespaces/default"),
        delete("/api/v1/namespaces/kube-system"),
        delete("/api/v1/namespaces/missing"),
        get("/readyz"),
        get("/livez"),
        get("/healthz"),
        get("/api/v1/namespaces/{ns}/configmaps/"),
        get("/api/v1/namespaces/{ns}/configmaps//a"),
    ];
    let asks = asks.map(|ask| {
        if ask.path == "/api" {
            ask.only(["/kind", "/versions"])
        } else {
            ask
        }
    });
    Case::new("paths").asks(asks)
}

pub(crate) fn cases() -> Vec<Case> {
    vec![creations(), updates(), unversioned(), paths()]
}
