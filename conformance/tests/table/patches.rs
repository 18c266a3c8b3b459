//! Patches of every type.

use crate::case::{Ask, Case, any, get, json_patch, merge, post, strategic};
use crate::objects::{CONFIG_MAPS, PODS, config_map, pod};
use serde_json::{Value, json};

const A: &str = "/api/v1/namespaces/{ns}/configmaps/a";
const P: &str = "/api/v1/namespaces/{ns}/pods/p";

fn text(content_type: &'static str, body: &str) -> Ask {
    any("PATCH", A)
        .text(body)
        .content_type(content_type)
        .named(format!("{content_type} {body}"))
}

fn named(patch: fn(&str, &Value) -> Ask, path: &str, body: Value) -> Ask {
    let ask = patch(path, &body);
    let name = format!("{} {body}", ask.content_type);
    ask.named(name)
}

/// Who makes a patch of the difference to a manifest takes away what only the server knows.
fn without_uid() -> Case {
    let nulls = json!({"metadata": {"uid": null, "creationTimestamp": null, "resourceVersion": null}, "data": {"a": "2"}});
    Case::new("patch-without-uid")
        .ask(
            post(
                CONFIG_MAPS,
                &json!({"metadata": {"name": "a"}, "data": {"a": "1"}}),
            )
            .named("a map"),
        )
        .ask(merge(A, &json!({"metadata": {"uid": null}})).named("a null for the uid"))
        .ask(merge(A, &json!({"metadata": {"uid": ""}})).named("an empty uid"))
        .ask(merge(A, &nulls).named("nulls for all that the server chose"))
        .ask(json_patch(A, &json!([{"op": "remove", "path": "/metadata/uid"}])).named("the uid is removed"))
        .ask(
            strategic(A, &json!({"metadata": {"uid": null}, "data": {"a": "3"}}))
                .named("by a strategic patch"),
        )
}

fn merges() -> Case {
    let bodies = [
        json!({"data": {"l": "w"}}),
        json!({"data": {"k": null}}),
        json!({"data": {"l": "w"}}),
        json!({"data": null}),
        json!({}),
        json!({"metadata": {"labels": {"x": "y", "app": null}}}),
        json!({"metadata": {"annotations": {"x": "y"}}}),
        json!({"metadata": {"labels": null}}),
        json!({"metadata": {"resourceVersion": "{first}"}, "data": {"m": "n"}}),
        json!({"metadata": {"resourceVersion": "abc"}}),
        json!({"metadata": {"name": "b"}}),
        json!({"metadata": {"namespace": "default"}}),
        json!({"metadata": {"uid": "11111111-2222-3333-4444-555555555555"}}),
        json!({"metadata": {"creationTimestamp": null}}),
        json!({"metadata": {"labels": {"x": 5}}}),
        json!({"metadata": {"labels": "x"}}),
        json!({"kind": "Secret"}),
        json!({"apiVersion": "v2"}),
        json!({"metadata": null}),
        json!([]),
        json!("x"),
        json!(null),
    ];
    // What the simulator takes and a real server does not; on another object, so that nothing follows from it.
    let without_schema = [
        json!({"bogus": 1}),
        json!({"data": {"k": 5}}),
        json!({"data": []}),
    ];
    const B: &str = "/api/v1/namespaces/{ns}/configmaps/b";
    let mut number = 0;
    Case::new("merge-patch")
        .ask(
            post(CONFIG_MAPS, &config_map("a", "web"))
                .named("create a")
                .save_version("first"),
        )
        .asks(bodies.map(|body| {
            number += 1;
            let name = format!("{number}: {body}");
            // The messages about what is no config map have all of it in them.
            let ask = named(merge, A, body).named(name);
            if (15..=18).contains(&number) {
                ask.only(["/reason"])
            } else {
                ask
            }
        }))
        .ask(text("application/merge-patch+json", "{bogus"))
        .ask(text("application/merge-patch+json", ""))
        .ask(text("application/json", "{}"))
        .ask(text("text/plain", "{}"))
        .ask(text(
            "application/merge-patch+json; charset=utf-8",
            "{\"data\":{\"c\":\"d\"}}",
        ))
        .ask(merge(&format!("{CONFIG_MAPS}/missing"), &json!({"data": {}})).named("what is missing"))
        .ask(merge(&format!("{A}?dryRun=All"), &json!({"data": {"dry": "run"}})).named("dry run"))
        .ask(merge(&format!("{A}?force=true"), &json!({"data": {"f": "g"}})).named("force"))
        .ask(get(A).named("in the end"))
        .ask(post(CONFIG_MAPS, &config_map("b", "web")).named("create b"))
        .asks(without_schema.map(|body| named(merge, B, body).only(["/reason", "/bogus"])))
}

fn json_patches() -> Case {
    let add = |path: &str, value: Value| json!([{"op": "add", "path": path, "value": value}]);
    let bodies = [
        add("/data/l", json!("w")),
        add("/metadata/labels/x", json!("y")),
        add("/bogus/deep", json!(1)),
        add("data/l", json!("w")),
        add("/metadata/labels/example.com~1x", json!("y")),
        json!([{"op": "replace", "path": "/data/k", "value": "w"}]),
        json!([{"op": "replace", "path": "/data/missing", "value": "w"}]),
        json!([{"op": "remove", "path": "/data/l"}]),
        json!([{"op": "remove", "path": "/data/missing"}]),
        json!([{"op": "copy", "from": "/data/k", "path": "/data/c"}]),
        json!([{"op": "move", "from": "/data/c", "path": "/data/d"}]),
        json!([{"op": "move", "from": "/data/missing", "path": "/data/d"}]),
        json!([{"op": "test", "path": "/data/k", "value": "w"}, {"op": "add", "path": "/data/t", "value": "u"}]),
        json!([{"op": "test", "path": "/data/k", "value": "other"}]),
        json!([{"op": "test", "path": "/data/missing", "value": null}]),
        json!([{"op": "bogus", "path": "/data/k"}]),
        json!([{"path": "/data/k"}]),
        json!([]),
        json!({}),
        json!([5]),
        json!([{"op": "test", "path": "/metadata/resourceVersion", "value": "{first}"}]),
        json!([{"op": "replace", "path": "/metadata/resourceVersion", "value": "{first}"}]),
        json!([{"op": "replace", "path": "/metadata/name", "value": "b"}]),
        json!([{"op": "remove", "path": "/metadata"}]),
    ];
    Case::new("json-patch")
        .ask(
            post(CONFIG_MAPS, &config_map("a", "web"))
                .named("create a")
                .save_version("first"),
        )
        .asks(bodies.map(|body| named(json_patch, A, body)))
        .ask(text("application/json-patch+json", "[bogus"))
        .ask(get(A).named("in the end"))
}

fn strategic_merges() -> Case {
    let bodies = [
        json!({"data": {"l": "w"}}),
        json!({"data": {"k": null}}),
        json!({"data": {"$patch": "replace", "n": "o"}}),
        json!({"metadata": {"labels": {"x": "y"}}}),
        json!({"metadata": {"$setElementOrder/finalizers": ["a/a", "b/b"], "finalizers": ["a/a", "b/b"]}}),
        json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/a"]}}),
        json!({"metadata": {"finalizers": ["c/c"]}}),
        json!({"data": {"$retainKeys": ["n"], "n": "p"}}),
        json!({"$patch": "bogus"}),
        json!([]),
    ];
    let image = |name: &str, image: &str| json!({"spec": {"containers": [{"name": name, "image": image}]}});
    let pod_patches = [
        image("main", "other"),
        json!({"spec": {"tolerations": [{"key": "example.com/t", "operator": "Exists", "effect": "NoSchedule"}]}}),
        json!({"spec": {"containers": [{"name": "added", "image": "x"}]}}),
        json!({"spec": {"containers": [{"$patch": "delete", "name": "side"}]}}),
        json!({"spec": {"containers": [{"image": "x"}]}}),
        json!({"spec": {"nodeName": "n2"}}),
    ];
    let environment = json!({"spec": {"template": {"spec": {"containers": [{
        "name": "main", "env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}, {"$patch": "delete", "name": "A"}],
    }]}}}});
    let deployment = json!({
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod("x")["spec"]}},
    });
    const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/{ns}/deployments";
    let containers = ["/spec/template/spec/containers", "/metadata/generation"];
    let d = format!("{DEPLOYMENTS}/d");
    let replaced = json!({"spec": {"template": {"spec": {"containers": [{"$patch": "replace"}, {"name": "only", "image": "i",
        "imagePullPolicy": "Always", "resources": {}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}]}}}});
    Case::new("strategic-patch")
        .ask(post(CONFIG_MAPS, &config_map("a", "web")).named("create a").save_version("first"))
        .asks(bodies.map(|body| named(strategic, A, body)))
        .ask(text("application/strategic-merge-patch+json", "{bogus"))
        .ask(post(PODS, &pod("p")).named("create p").only(["/kind"]))
        .asks(pod_patches.map(|body| named(strategic, P, body).only(["/spec/containers", "/spec/tolerations", "/message", "/reason"])))
        .ask(post(DEPLOYMENTS, &deployment).named("create d").only(containers))
        .ask(strategic(&d, &environment).named("environment").only(containers))
        .ask(strategic(&d, &json!({"spec": {"template": {"spec": {"containers": [{"$patch": "delete", "name": "side"}]}}}})).named("one container less").only(containers))
        .ask(strategic(&d, &replaced).named("other containers").only(containers))
        .ask(strategic(&d, &json!({"spec": {"replicas": 3}})).named("replicas").only(["/spec/replicas", "/metadata/generation"]))
        .ask(strategic(&format!("{d}/status"), &json!({"status": {"replicas": 2}, "spec": {"replicas": 5}})).named("status").only(["/spec/replicas", "/status/replicas", "/metadata/generation"]))
        .ask(get(A).named("in the end"))
        .ask(any("PATCH", &format!("{A}?fieldManager=me")).text("apiVersion: v1\nkind: ConfigMap\ndata: {x: z}\n")
            .content_type("application/apply-patch+yaml").named("server-side apply"))
        .ask(named(strategic, A, json!({"data": 5})))
}

/// In which order a list is after its elements were merged.
fn strategic_order() -> Case {
    const D: &str = "/apis/apps/v1/namespaces/{ns}/deployments/d";
    let names = |names: &str| {
        names
            .chars()
            .map(|name| json!({"name": name.to_string()}))
            .collect::<Vec<_>>()
    };
    let added = |name: &str| json!([{"name": name, "image": "i"}]);
    let of_pods = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
    let order = "$setElementOrder/containers";
    let patches = [
        of_pods(json!({"containers": added("c")})),
        of_pods(json!({order: names("bac")})),
        of_pods(json!({order: names("adb"), "containers": added("d")})),
        of_pods(json!({order: names("a"), "containers": [{
            "name": "a", "$setElementOrder/env": names("CA"), "env": [{"name": "A", "value": "9"}],
        }]})),
        of_pods(
            json!({order: names("ebad"), "containers": [{"$patch": "delete", "name": "c"}, {"name": "e", "image": "i"}]}),
        ),
        of_pods(json!({order: 5})),
        of_pods(json!({order: [{"image": "a"}], "containers": added("a")})),
        of_pods(json!({order: names("a"), "containers": added("b")})),
        json!({"metadata": {"finalizers": ["x/x", "y/y"]}}),
        json!({"metadata": {"finalizers": ["z/z", "y/y"]}}),
        json!({"metadata": {"$setElementOrder/finalizers": ["y/y", "x/x", "w/w"], "finalizers": ["w/w"]}}),
        json!({"metadata": {"$setElementOrder/finalizers": ["x/x", "z/z"], "$deleteFromPrimitiveList/finalizers": ["w/w"]}}),
        json!({"metadata": {"finalizers": null}}),
    ];
    let value = |name: &str| json!({"name": name, "value": name});
    let spec = json!({"containers": [
        {"name": "a", "image": "i", "env": [value("A"), value("B"), value("C")]}, {"name": "b", "image": "i"},
    ]});
    let deployment = json!({
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": spec}},
    });
    let seen = [
        "/spec/template/spec/containers",
        "/metadata/finalizers",
        "/message",
    ];
    Case::new("strategic-order")
        .ask(
            post("/apis/apps/v1/namespaces/{ns}/deployments", &deployment)
                .named("create d")
                .only(["/kind"]),
        )
        .asks(patches.map(|body| named(strategic, D, body).only(seen)))
}

/// Which lists of objects are merged, and which are replaced.
fn strategic_lists() -> Case {
    const NODES: &str = "/api/v1/nodes";
    const DRIVERS: &str = "/apis/storage.k8s.io/v1/csinodes";
    const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices";
    const SERVICES: &str = "/api/v1/namespaces/{ns}/services";
    let taint = |key: &str, effect: &str| json!({"key": key, "effect": effect});
    let driver = |name: &str, id: &str| json!({"name": name, "nodeID": id, "topologyKeys": ["t"]});
    let node = json!({"metadata": {"name": "{ns}"}, "spec": {"taints": [taint("a", "NoSchedule"), taint("b", "NoSchedule")]}});
    let drivers = json!({"metadata": {"name": "{ns}"}, "spec": {"drivers": [driver("a", "1")]}});
    let port = |name: &str, port: u16| json!({"name": name, "port": port});
    let slice = json!({"metadata": {"name": "a"}, "addressType": "IPv4", "endpoints": [], "ports": [port("a", 1), port("c", 3)]});
    let service = json!({"metadata": {"name": "a"}, "spec": {"ports": [port("a", 1), port("c", 3)]}});
    Case::new("strategic-lists")
        .ask(post(NODES, &node).named("a node").only(["/kind"]))
        .ask(
            strategic(
                &format!("{NODES}/{{ns}}"),
                &json!({"spec": {"taints": [taint("b", "NoExecute")]}}),
            )
            .named("its taints")
            .only(["/spec/taints"]),
        )
        .ask(post(DRIVERS, &drivers).named("a node's drivers").only(["/kind"]))
        .ask(
            strategic(
                &format!("{DRIVERS}/{{ns}}"),
                &json!({"spec": {"drivers": [driver("b", "2")]}}),
            )
            .named("another driver")
            .only(["/spec/drivers", "/message"]),
        )
        .ask(post(SLICES, &slice).named("a slice").only(["/kind"]))
        .ask(
            strategic(&format!("{SLICES}/a"), &json!({"ports": [port("b", 2)]}))
                .named("its ports")
                .only(["/ports"]),
        )
        .ask(post(SERVICES, &service).named("a service").only(["/kind"]))
        .ask(
            strategic(
                &format!("{SERVICES}/a"),
                &json!({"spec": {"ports": [port("b", 2)]}}),
            )
            .named("another port")
            .only(["/spec/ports"]),
        )
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        merges(),
        json_patches(),
        strategic_merges(),
        strategic_order(),
        strategic_lists(),
        without_uid(),
    ]
}
