//! What a node would answer, as far as a server refuses it itself; what a pod may use, changed while it runs.

use serde_json::{Value, json};

use crate::case::{Ask, Case, any, get, post, put, strategic};
use crate::objects::PODS;

const SERVICES: &str = "/api/v1/namespaces/{ns}/services";

fn pod(name: &str, rest: Value) -> Value {
    let mut spec = json!({"containers": [{"name": "c", "image": "i"}]});
    if let (Some(spec), Value::Object(rest)) = (spec.as_object_mut(), rest) {
        spec.extend(rest);
    }
    json!({"metadata": {"name": name}, "spec": spec})
}

fn logs() -> Case {
    let two = json!({"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]});
    let asks = [
        "p/log",
        "p/log?container=none",
        "p/log?container=d",
        "none/log",
        "none/log?tailLines=-1",
        "p/log?container=d&tailLines=abc",
        "p/log?container=d&tailLines=",
        "p/log?container=d&tailLines=99999999999999999999",
        "p/log?container=d&limitBytes=0",
        "p/log?container=d&limitBytes=0&tailLines=-3",
        "p/log?container=d&sinceSeconds=0",
        "p/log?container=d&sinceSeconds=5&sinceTime=2020-01-01T00:00:00Z",
        "p/log?container=d&sinceTime=zzz",
        "p/log?container=d&stream=Stdout",
        "p/log?container=d&previous=true&timestamps=x",
    ];
    Case::new("logs")
        .ask(post(PODS, &pod("p", two)).named("create").only(["/kind"]))
        .asks(asks.map(|ask| get(&format!("{PODS}/{ask}")).named(ask)))
        .ask(post(&format!("{PODS}/p/log?container=d"), &json!({})).named("post"))
        .ask(any("DELETE", &format!("{PODS}/p/log?container=d")).named("delete"))
}

fn proxies() -> Case {
    let of = |prefix: &str, names: &[&str]| {
        let named = |name: &&str| get(&format!("{prefix}/{name}/proxy/")).named(format!("{prefix} {name}"));
        names.iter().map(named).collect::<Vec<_>>()
    };
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80, "name": "web"}]}});
    let nowhere = json!({"nodeName": "proxies-nowhere"});
    Case::new("proxies")
        .ask(
            post("/api/v1/nodes", &json!({"metadata": {"name": "proxies"}}))
                .named("a node")
                .only(["/kind"]),
        )
        .ask(post(PODS, &pod("p", json!({}))).named("a pod").only(["/kind"]))
        .ask(
            post(PODS, &pod("bound", json!({"nodeName": "proxies"})))
                .named("a pod of it")
                .only(["/kind"]),
        )
        .ask(
            post(PODS, &pod("lost", nowhere))
                .named("a pod of none")
                .only(["/kind"]),
        )
        .ask(post(SERVICES, &service).named("a service").only(["/kind"]))
        .asks(of(
            PODS,
            &["p", "p:80", "http:p:80", "x:p:80", "p:80:1:2", "none", ":p:"],
        ))
        .asks(of(
            SERVICES,
            &["s", "s:80", "s:web", "s:99", "none", "none:80", "x:s:80"],
        ))
        .asks(of(
            "/api/v1/nodes",
            &["proxies", "proxies:80", "none", "x:proxies:80"],
        ))
        .asks(["bound", "lost"].into_iter().flat_map(|name| {
            let parts = [
                "log",
                "exec?command=a&stdout=1",
                "portforward?ports=1",
                "attach?stdout=1",
            ];
            parts.map(move |part| get(&format!("{PODS}/{name}/{part}")).named(format!("{name} {part}")))
        }))
        .ask(
            any("DELETE", "/api/v1/nodes/proxies")
                .named("the node goes")
                .only(["/status"]),
        )
}

fn resizes() -> Case {
    let with =
        |resources: Value| json!({"containers": [{"name": "c", "image": "i", "resources": resources}]});
    let path = |name: &str| format!("{PODS}/{name}/resize");
    let resize = |what: &str, name: &str, spec: Value| {
        strategic(&path(name), &json!({"spec": spec})).named(what).only([
            "/message",
            "/details",
            "/metadata/generation",
            "/metadata/labels",
            "/spec/containers/0/resources",
            "/spec/containers/0/image",
        ])
    };
    let some = json!({"requests": {"cpu": "1"}});
    let same = json!({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}});
    let container = |rest: Value| json!({"containers": [rest]});
    let resources = |resources: Value| container(json!({"name": "c", "resources": resources}));
    Case::new("resizes")
        .ask(post(PODS, &pod("a", with(some))).named("create").only(["/kind"]))
        .ask(post(PODS, &pod("none", with(json!({})))).named("create without").only(["/kind"]))
        .ask(post(PODS, &pod("same", with(same))).named("create with limits").only(["/kind"]))
        .ask(get(&path("a")).named("get").only(["/kind", "/spec/containers/0/resources"]))
        .ask(resize("a request", "a", resources(json!({"requests": {"cpu": "2"}}))))
        .ask(resize("an image", "a", container(json!({"name": "c", "image": "x"}))))
        .ask(resize("another resource", "a", resources(json!({"requests": {"example.com/x": "2"}}))))
        .ask(resize("another container", "a", container(json!({"name": "z", "image": "i"}))))
        .ask(resize("a policy", "a", container(json!({
            "name": "c", "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
        }))))
        .ask(resize("no request", "a", resources(json!({"requests": {"cpu": null}}))))
        .ask(resize("a limit", "a", resources(json!({"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}}))))
        .ask(resize("what the limit says", "a", resources(json!({"requests": {"memory": null}}))))
        .ask(resize("no limit", "a", resources(json!({"limits": null}))))
        .ask(resize("another class from none", "none", resources(json!({"requests": {"cpu": "2"}}))))
        .ask(resize("another class", "same", resources(json!({"requests": {"cpu": "500m"}}))))
        .ask(resize("a limit below the request", "same", resources(json!({"limits": {"cpu": "500m"}}))))
        .ask(resize("both", "same", resources(json!({"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}))))
        .ask(put(&path("a"), &json!({
            "metadata": {"name": "a", "labels": {"no": "no"}},
            "spec": with(json!({"requests": {"cpu": "4", "memory": "1Gi"}, "limits": {"memory": "2Gi"}})),
        })).named("put").only(["/metadata/generation", "/metadata/labels", "/spec/containers/0/resources"]))
        .ask(resize("none", "missing", resources(json!({}))))
        .ask(any("DELETE", &path("a")).named("delete"))
        .ask(post(&path("a"), &json!({})).named("post"))
}

/// What a node says of itself to its pods, and what it has for them.
fn nodes() -> Case {
    let node = |name: &str, labels: Value| {
        let capacity = json!({"cpu": "2", "memory": "1Gi"});
        json!({"metadata": {"name": name, "labels": labels}, "status": {"capacity": capacity}})
    };
    let zone = "topology.kubernetes.io/zone";
    let own = json!({zone: "z", "topology.kubernetes.io/region": "r", "topology.kubernetes.io/x": "x", "sub.topology.kubernetes.io/zone": "s"});
    let labelled = |name: &str, spec: Value| {
        let mut pod = pod(name, spec);
        pod["metadata"]["labels"] = json!({zone: "other", "topology.kubernetes.io/x": "own"});
        pod
    };
    let labels = |ask: Ask| ask.only(["/message", "/metadata/labels"]);
    let on = |node: &str| json!({"nodeName": node});
    let bind = |target: Value| json!({"metadata": {"name": "bound"}, "target": target});
    let resize = |pod: &str, amounts: Value| {
        let resources = json!({"containers": [{"name": "c", "resources": {"requests": amounts}}]});
        strategic(&format!("{PODS}/{pod}/resize"), &json!({"spec": resources}))
            .named(format!("resize {pod} to {amounts}"))
            .only(["/message", "/details", "/reason"])
    };
    let some = |node: &str| json!({"nodeName": node, "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "1Mi"}}}]});
    let only_kind = |path: &str, object: &Value, what: &str| post(path, object).named(what).only(["/kind"]);
    Case::new("nodes-of-pods")
        .ask(only_kind("/api/v1/nodes", &node("topology-{ns}", own), "a node"))
        .ask(only_kind("/api/v1/nodes", &node("windows-{ns}", json!({"kubernetes.io/os": "windows"})), "another node"))
        .until(get("/api/v1/nodes/windows-{ns}"), 200)
        .ask(labels(post(PODS, &pod("here", on("topology-{ns}"))).named("a pod of it")))
        .ask(labels(post(PODS, &labelled("labelled", on("topology-{ns}"))).named("with labels of its own")))
        .ask(labels(post(PODS, &pod("lost", on("none"))).named("a pod of none")))
        .ask(labels(post(PODS, &labelled("bound", json!({}))).named("a pod without one")))
        .ask(post(&format!("{PODS}/bound/binding"), &bind(json!({"kind": "Node", "name": "topology-{ns}"}))).named("bind"))
        .ask(labels(get(&format!("{PODS}/bound")).named("as it is bound")))
        .ask(only_kind(PODS, &pod("untyped", json!({})), "one to be bound to what has no kind"))
        .ask(post(&format!("{PODS}/untyped/binding"), &json!({"metadata": {"name": "untyped"}, "target": {"name": "topology-{ns}"}})).named("bind to what has no kind"))
        .ask(labels(get(&format!("{PODS}/untyped")).named("as it is bound so")))
        .ask(only_kind(PODS, &pod("by-name", json!({})), "one to be bound by name"))
        .ask(post("/api/v1/namespaces/{ns}/bindings", &json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "by-name"}, "target": {"kind": "Node", "name": "topology-{ns}"}})).named("bind by name"))
        .ask(labels(get(&format!("{PODS}/by-name")).named("as it is bound by name")))
        .ask(only_kind(PODS, &pod("small", some("topology-{ns}")), "a pod that asks for little"))
        .ask(only_kind(PODS, &pod("odd", some("windows-{ns}")), "one on another system"))
        .ask(only_kind(PODS, &pod("nowhere", some("none")), "one on no node"))
        .ask(resize("small", json!({"cpu": "1500m"})))
        .ask(resize("small", json!({"cpu": "2001m"})))
        .ask(resize("small", json!({"cpu": "4", "memory": "2Gi"})))
        .ask(resize("odd", json!({"cpu": "1500m"})))
        .ask(resize("odd", json!({"cpu": "1"})))
        .ask(resize("nowhere", json!({"cpu": "1500m"})))
        .ask(any("DELETE", "/api/v1/nodes/topology-{ns}").named("the node goes").only(["/status"]))
        .ask(any("DELETE", "/api/v1/nodes/windows-{ns}").named("the other node goes").only(["/status"]))
}

/// What is in a pod beside the resources that change.
fn resized_beside() -> Case {
    let of = |list: &str, container: Value| json!({"spec": {list: [container]}});
    Case::new("resizes-beside")
        .ask(post(PODS, &json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}})).named("create").only(["/kind"]))
        .ask(
            strategic(&format!("{PODS}/p/ephemeralcontainers"), &of("ephemeralContainers", json!({"name": "e", "image": "i"})))
                .named("a debugger")
                .only(["/message"]),
        )
        .ask(
            strategic(&format!("{PODS}/p/resize"), &of("containers", json!({"name": "c", "resources": {"requests": {"cpu": "2"}}})))
                .named("resize")
                .only(["/message", "/spec/containers/0/resources"]),
        )
        .ask(
            post(PODS, &json!({"metadata": {"name": "q"}, "spec": {"containers": [{"name": "c", "image": "i", "securityContext": {"procMount": "Unmasked"}}]}}))
                .named("unmasked")
                .only(["/message"]),
        )
}

pub(crate) fn cases() -> Vec<Case> {
    vec![logs(), proxies(), resizes(), resized_beside(), nodes()]
}
