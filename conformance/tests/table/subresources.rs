//! Scales, evictions, bindings and the like; reviews; events in both of their groups.

use crate::case::{Ask, Case, any, delete, get, merge, post, put};
use crate::objects::{PODS, pod};
use serde_json::{Value, json};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/{ns}/deployments";
const BUDGETS: &str = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets";

fn scales() -> Case {
    let labels = json!({"a": "b", "x": "1"});
    let selector = json!({
        "matchLabels": {"a": "b"},
        "matchExpressions": [
            {"key": "x", "operator": "In", "values": ["2", "1"]}, {"key": "c", "operator": "DoesNotExist"},
            {"key": "d", "operator": "NotIn", "values": ["1"]}, {"key": "a", "operator": "Exists"},
        ],
    });
    let template =
        json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let deployment = json!({"metadata": {"name": "d"}, "spec": {"replicas": 2, "selector": selector, "template": template}});
    let path = format!("{DEPLOYMENTS}/d/scale");
    let scale = |replicas: i64| json!({"metadata": {"name": "d"}, "spec": {"replicas": replicas}});
    let versioned = |version: &str| json!({"metadata": {"name": "d", "resourceVersion": version}, "spec": {"replicas": 3}});
    Case::new("scales")
        .ask(post(DEPLOYMENTS, &deployment).named("create").only(["/kind"]))
        .ask(get(&path).named("get").save_version("first"))
        .ask(put(&path, &scale(5)).named("put"))
        .ask(put(&path, &versioned("{first}")).named("put an old version"))
        .ask(put(&path, &versioned("x")).named("put a version that is none"))
        .ask(put(&path, &scale(-1)).named("put less than none"))
        .ask(put(&path, &scale(0)).named("put none"))
        .ask(
            put(
                &path,
                &json!({"metadata": {"name": "e"}, "spec": {"replicas": 1}}),
            )
            .named("put another name"),
        )
        .ask(put(&path, &json!({"metadata": {"name": "d"}})).named("put no replicas"))
        .ask(merge(&path, &json!({"spec": {"replicas": 7}})).named("patch"))
        .ask(put(&format!("{path}?dryRun=All"), &scale(9)).named("dry run"))
        .ask(
            get(&format!("{DEPLOYMENTS}/d"))
                .named("the deployment")
                .only(["/spec/replicas", "/metadata/generation"]),
        )
        .ask(get(&format!("{DEPLOYMENTS}/none/scale")).named("of none"))
        .ask(
            put(
                &format!("{DEPLOYMENTS}/none/scale"),
                &json!({"metadata": {"name": "none"}}),
            )
            .named("put of none"),
        )
        .ask(delete(&path).named("delete"))
        .ask(post(&path, &json!({})).named("post"))
}

fn evictions() -> Case {
    let eviction =
        |name: &str| json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
    let evict = |name: &str| post(&format!("{PODS}/{name}/eviction"), &eviction(name));
    let create = |name: &str| {
        let mut pod = pod(name);
        pod["spec"].as_object_mut().unwrap().remove("nodeName");
        post(PODS, &pod).named(format!("create {name}")).only(["/kind"])
    };
    let running = |name: &str| {
        let status =
            json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        merge(&format!("{PODS}/{name}/status"), &status)
            .named(format!("{name} runs"))
            .only(["/kind"])
    };
    let budget = json!({"metadata": {"name": "pdb"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}});
    let allow = |allowed: u64| {
        let status = json!({"status": {
            "observedGeneration": 1, "disruptionsAllowed": allowed, "desiredHealthy": 1, "currentHealthy": 1 + allowed,
            "expectedPods": 2,
        }});
        merge(&format!("{BUDGETS}/pdb/status"), &status)
            .named(format!("allow {allowed}"))
            .only(["/kind"])
    };
    let gone = |name: &str| get(&format!("{PODS}/{name}")).named(format!("{name} is gone"));
    Case::new("evictions")
        .asks(["a", "b", "c", "d"].map(create))
        .ask(evict("a").named("a pending one"))
        .ask(gone("a"))
        .ask(evict("none").named("none"))
        .ask(post(&format!("{PODS}/b/eviction"), &eviction("c")).named("another name"))
        .ask(any("GET", &format!("{PODS}/b/eviction")).named("get"))
        .asks(["b", "c", "d"].map(running))
        .ask(evict("b").named("without a budget"))
        .ask(gone("b"))
        .ask(post(BUDGETS, &budget).named("create a budget").only(["/kind"]))
        .ask(evict("c").named("before the budget is counted"))
        .ask(allow(0))
        .ask(evict("c").named("without room"))
        .ask(allow(1))
        .ask(post(&format!("{PODS}/c/eviction?dryRun=All"), &eviction("c")).named("dry run"))
        .ask(evict("c").named("with room"))
        .ask(gone("c"))
        .ask(evict("d").named("with no room left"))
}

fn bindings() -> Case {
    let mut free = pod("p");
    free["spec"].as_object_mut().unwrap().remove("nodeName");
    let bind = |name: &str, target: Value| {
        post(
            &format!("{PODS}/p/binding"),
            &json!({"metadata": {"name": name, "annotations": {"a": "b"}}, "target": target}),
        )
    };
    let bind_named = |name: &str, target: Value| {
        let binding =
            json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target});
        post("/api/v1/namespaces/{ns}/bindings", &binding)
    };
    let mut other = free.clone();
    other["metadata"]["name"] = "q".into();
    let node = json!({"kind": "Node", "name": "n1"});
    let ephemeral = format!("{PODS}/p/ephemeralcontainers");
    let with = |containers: Value| json!({"metadata": {"labels": {"no": "no"}}, "spec": {"ephemeralContainers": containers}});
    Case::new("bindings")
        .ask(post(PODS, &free).named("create").only(["/kind"]))
        .ask(bind("p", json!({"kind": "Node"})).named("to no name"))
        .ask(bind("p", json!({"kind": "Pod", "name": "x"})).named("to a pod"))
        .ask(bind("p", node.clone()).named("bind"))
        .ask(get(&format!("{PODS}/p")).named("the pod").only([
            "/spec/nodeName",
            "/metadata/generation",
            "/metadata/annotations",
            "/status/conditions/0/type",
            "/status/conditions/0/status",
        ]))
        .ask(bind("p", node.clone()).named("bind again"))
        .ask(post(PODS, &other).named("create another").only(["/kind"]))
        .ask(bind_named("q", node.clone()).named("bind by the name in the binding"))
        .ask(bind_named("q", node.clone()).named("bind by the name in the binding again"))
        .ask(bind_named("none", node.clone()).named("bind none by the name in the binding"))
        .ask(bind_named("", node.clone()).named("bind without a name"))
        .ask(get("/api/v1/namespaces/{ns}/bindings").named("list bindings"))
        .ask(
            post(
                &format!("{PODS}/none/binding"),
                &json!({"metadata": {"name": "none"}, "target": node}),
            )
            .named("bind none"),
        )
        .ask(get(&format!("{PODS}/p/binding")).named("get"))
        .ask(
            merge(&ephemeral, &with(json!([{"name": "debug", "image": "i"}])))
                .named("an ephemeral container")
                .only([
                    "/metadata/labels",
                    "/spec/ephemeralContainers/0/name",
                    "/spec/nodeName",
                ]),
        )
        .ask(merge(&ephemeral, &with(json!([]))).named("without it"))
}

fn reviews() -> Case {
    let access =
        json!({"spec": {"user": "nobody", "resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let review = |group: &str, kind: &str, body: Value| post(&format!("/apis/{group}/v1/{kind}"), &body);
    let account = "/api/v1/namespaces/{ns}/serviceaccounts";
    let token = |name: &str, seconds: u64| {
        post(
            &format!("{account}/{name}/token"),
            &json!({"spec": {"expirationSeconds": seconds}}),
        )
    };
    let kinds = |ask: Ask| ask.only(["/kind", "/apiVersion", "/metadata/name"]);
    Case::new("reviews")
        .ask(
            review(
                "authorization.k8s.io",
                "selfsubjectaccessreviews",
                json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}),
            )
            .named("may I"),
        )
        .ask(kinds(review("authorization.k8s.io", "subjectaccessreviews", access)).named("may somebody"))
        .ask(
            review(
                "authentication.k8s.io",
                "tokenreviews",
                json!({"spec": {"token": "x"}}),
            )
            .named("a token that is none"),
        )
        .ask(kinds(review("authentication.k8s.io", "selfsubjectreviews", json!({}))).named("who am I"))
        .ask(get("/apis/authorization.k8s.io/v1/subjectaccessreviews").named("a list of reviews"))
        .ask(
            post(account, &json!({"metadata": {"name": "a"}}))
                .named("an account")
                .only(["/kind"]),
        )
        .ask(kinds(token("a", 3600)).named("a token of it"))
        .ask(token("a", 60).named("a short one"))
        .ask(token("none", 3600).named("a token of none"))
}

fn events() -> Case {
    let new = "/apis/events.k8s.io/v1/namespaces/{ns}/events";
    let old = "/api/v1/namespaces/{ns}/events";
    let regarding = json!({"kind": "Pod", "namespace": "{ns}", "name": "p", "apiVersion": "v1"});
    let event = json!({
        "metadata": {"name": "e"}, "eventTime": "2026-11-22T13:00:00.000000Z", "reportingController": "example.com/c",
        "reportingInstance": "i", "action": "Act", "reason": "Why", "regarding": regarding, "note": "hi", "type": "Normal",
    });
    let series = json!({"series": {"count": 2, "lastObservedTime": "2026-11-22T13:00:01.000000Z"}});
    let named = "fieldSelector=regarding.kind%3DPod%2CreportingController%3Dexample.com/c";
    Case::new("events")
        .ask(post(new, &event).named("create"))
        .ask(get(&format!("{old}/e")).named("get it from the core group"))
        .ask(merge(&format!("{new}/e"), &series).named("patch"))
        .ask(get(&format!("{new}?{named}")).named("select"))
        .ask(get(&format!("{old}?fieldSelector=involvedObject.kind%3DPod")).named("select in the core group"))
        .ask(get(&format!("{new}?fieldSelector=note%3Dx")).named("select by what cannot be"))
        .ask(get(&format!("{new}/none")).named("none"))
        .ask(delete(&format!("{new}/e")).named("delete"))
        .ask(get(old).named("gone"))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![scales(), evictions(), bindings(), reviews(), events()]
}
