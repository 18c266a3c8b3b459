//! Who may do what: requests of users that an administrator impersonates.

use serde_json::{Value, json};

use crate::case::{Ask, Case, any, delete, get, merge, post, put};
use crate::objects::{CONFIG_MAPS, PODS};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1";

const JANE: &str = "access-jane";
const DEV: &str = "access-dev";

fn role(name: &str, rules: Value) -> Value {
    json!({"metadata": {"name": name}, "rules": rules})
}

fn rule(resources: &[&str], verbs: &[&str]) -> Value {
    let group = match resources[0].contains("role") {
        true => "rbac.authorization.k8s.io",
        false => "",
    };
    json!({"apiGroups": [group], "resources": resources, "verbs": verbs})
}

fn binding(name: &str, kind: &str, role: &str, subject: Value) -> Value {
    json!({
        "metadata": {"name": name}, "subjects": [subject],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
    })
}

fn user(name: &str) -> Value {
    json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name})
}

fn group(name: &str) -> Value {
    json!({"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": name})
}

/// What the administrator sets up; answers to it have other tables.
fn setup(ask: Ask) -> Ask {
    ask.only(["/reason"])
}

/// A request of jane, of which only a refusal is compared.
fn jane(ask: Ask) -> Ask {
    ask.impersonating(JANE, &[DEV])
        .only(["/message", "/reason", "/details"])
}

fn requests() -> Case {
    let map = format!("{CONFIG_MAPS}/a");
    let account = "system:serviceaccount:access:robot";
    let reader = role("access-reader", json!([rule(&["pods"], &["get", "list"])]));
    let map_editor = role(
        "editor",
        json!([rule(&["configmaps"], &["create", "get", "update"]), {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["s"], "verbs": ["get", "watch", "list"]}]),
    );
    let new = json!({"metadata": {"name": "a"}});
    Case::new("access")
        .ask(setup(post(&format!("{RBAC}/clusterroles"), &reader)).named("a role of the cluster"))
        .ask(
            setup(post(
                &format!("{RBAC}/clusterrolebindings"),
                &binding("access-reader", "ClusterRole", "access-reader", group(DEV)),
            ))
            .named("its binding"),
        )
        .ask(setup(post(ROLES, &map_editor)).named("a role"))
        .ask(
            setup(post(BINDINGS, &binding("editor", "Role", "editor", user(JANE))))
                .named("its binding to a user"),
        )
        .ask(
            setup(post(
                BINDINGS,
                &binding(
                    "robot",
                    "ClusterRole",
                    "access-reader",
                    json!({"kind": "ServiceAccount", "name": "robot", "namespace": "access"}),
                ),
            ))
            .named("its binding to an account"),
        )
        // A real server notices bindings a moment later.
        .until(jane(get(PODS)), 200)
        .until(jane(get("/api/v1/namespaces/{ns}/configmaps/none")), 404)
        .until(get(PODS).impersonating(account, &[]), 200)
        .ask(jane(get(PODS)).named("list"))
        .ask(jane(get("/api/v1/pods")).named("list all"))
        .ask(jane(get(&format!("{PODS}?watch=true&timeoutSeconds=1"))).named("watch"))
        .ask(jane(get(&format!("{PODS}/none"))).named("get"))
        .ask(jane(get(&format!("{PODS}/none/log"))).named("a subresource"))
        .ask(jane(post(PODS, &new)).named("create"))
        .ask(jane(post(CONFIG_MAPS, &new)).named("create a map"))
        .ask(jane(put(&map, &new)).named("update a map"))
        .ask(jane(merge(&map, &json!({}))).named("patch a map"))
        .ask(jane(delete(&map)).named("delete a map"))
        .ask(jane(delete(CONFIG_MAPS)).named("delete all maps"))
        .ask(jane(get("/api/v1/namespaces/default/configmaps")).named("maps elsewhere"))
        .ask(jane(get("/api/v1/namespaces/{ns}/secrets/s")).named("a named secret"))
        .ask(jane(get("/api/v1/namespaces/{ns}/secrets/t")).named("another secret"))
        .ask(jane(get("/api/v1/namespaces/{ns}/secrets")).named("all secrets"))
        .ask(
            jane(get(
                "/api/v1/namespaces/{ns}/secrets?fieldSelector=metadata.name%3Ds",
            ))
            .named("a list of a named secret"),
        )
        .ask(jane(get("/api/v1/namespaces/{ns}")).named("a namespace"))
        .ask(jane(get("/apis/apps/v1/namespaces/{ns}/deployments/x/scale")).named("a scale"))
        .ask(jane(get("/apis/bogus.example/v1/things")).named("what is not there"))
        .ask(jane(get("/api/v1/bogus")).named("a resource that is not there"))
        .ask(jane(get("/bogus")).named("a path"))
        .ask(jane(get("/healthz")).only(["/kind"]).named("health"))
        .ask(jane(get("/api")).only(["/kind"]).named("discovery"))
        .ask(
            get(PODS)
                .impersonating("access-nobody", &[])
                .named("nobody")
                .only(["/message", "/reason", "/details"]),
        )
        .ask(
            get(PODS)
                .impersonating(account, &[])
                .named("an account")
                .only(["/kind"]),
        )
        .ask(
            post(CONFIG_MAPS, &new)
                .impersonating(account, &[])
                .named("an account that writes")
                .only(["/message"]),
        )
        .ask(
            get(PODS)
                .impersonating("", &[DEV])
                .named("a group without a user")
                .only(["/reason"]),
        )
        .ask(
            setup(post(BINDINGS, &binding("dangling", "Role", "none", user(JANE))))
                .named("a binding to no role"),
        )
        .until_shown(
            jane(get("/api/v1/namespaces/{ns}/services")),
            "/message",
            "services is forbidden: User \"access-jane\" cannot list resource \"services\" in API group \"\" in the namespace \
             \"access\": RBAC: role.rbac.authorization.k8s.io \"none\" not found",
        )
        .ask(jane(get("/api/v1/namespaces/{ns}/services")).named("with a role that is not there"))
}

fn reviews() -> Case {
    let review = |kind: &str, spec: Value| post(&format!("{REVIEWS}/{kind}"), &json!({"spec": spec}));
    let own = |what: &str, spec: Value| {
        let ask = review("selfsubjectaccessreviews", spec).impersonating(JANE, &[DEV]);
        ask.only(["/status", "/message", "/details"]).named(what)
    };
    let of_resource = |verb: &str, resource: &str| json!({"resourceAttributes": {"verb": verb, "resource": resource, "namespace": "access-reviews"}});
    let other = |what: &str, spec: Value| {
        let ask = review("subjectaccessreviews", spec);
        ask.only(["/status", "/message", "/details"]).named(what)
    };
    Case::new("access-reviews")
        .ask(setup(post(ROLES, &role("reader", json!([rule(&["configmaps"], &["get"])])))).named("a role"))
        .ask(setup(post(BINDINGS, &binding("reader", "Role", "reader", user(JANE)))).named("its binding"))
        .until(get("/api/v1/namespaces/{ns}/configmaps/none").impersonating(JANE, &[DEV]), 404)
        .ask(own("allowed", of_resource("get", "configmaps")))
        .ask(own("not allowed", of_resource("list", "configmaps")))
        .ask(own("a path", json!({"nonResourceAttributes": {"verb": "get", "path": "/api/v1"}})))
        .ask(own("another path", json!({"nonResourceAttributes": {"verb": "get", "path": "/bogus"}})))
        .ask(own("nothing", json!({})))
        .ask(own("both", json!({"nonResourceAttributes": {"verb": "get", "path": "/x"}, "resourceAttributes": {"verb": "get", "resource": "pods"}})).only(["/reason"]))
        .ask(review("selfsubjectaccessreviews", of_resource("get", "configmaps")).only(["/status/allowed"]).named("an administrator"))
        .ask(review("subjectaccessreviews", json!({"user": "x"})).impersonating(JANE, &[DEV]).only(["/message", "/reason"]).named("about somebody else"))
        .ask(other("somebody else", json!({"user": JANE, "resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "access-reviews"}})))
        .ask(other("nobody", of_resource("get", "configmaps")))
        .ask(other("a group", json!({"groups": ["system:masters"], "resourceAttributes": {"verb": "get", "resource": "configmaps"}})).only(["/status/allowed"]))
        .ask(post(&format!("{REVIEWS}/namespaces/{{ns}}/localsubjectaccessreviews"), &json!({"spec": {"user": JANE, "resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "other"}}})).only(["/message", "/details"]).named("elsewhere"))
        .ask(post(&format!("{REVIEWS}/namespaces/{{ns}}/localsubjectaccessreviews"), &json!({"spec": {"user": JANE, "resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "access-reviews"}}})).only(["/status"]).named("here"))
        .ask(review("selfsubjectrulesreviews", json!({"namespace": "access-reviews"})).impersonating("access-nobody", &[]).only(["/status/resourceRules", "/status/incomplete"]).named("rules"))
        .ask(review("selfsubjectrulesreviews", json!({})).impersonating(JANE, &[]).only(["/message", "/reason"]).named("rules of no namespace"))
        .ask(post("/apis/authentication.k8s.io/v1/selfsubjectreviews", &json!({})).impersonating(JANE, &[DEV]).only(["/status"]).named("who"))
        .ask(post("/apis/authentication.k8s.io/v1/tokenreviews", &json!({"spec": {"token": "bogus"}})).only(["/status"]).named("a token"))
        .ask(post("/apis/authentication.k8s.io/v1/tokenreviews", &json!({"spec": {}})).only(["/message"]).named("no token"))
}

fn escalation() -> Case {
    let granter = role(
        "access-granter",
        json!([
            rule(
                &["roles", "rolebindings", "clusterroles"],
                &["create", "update", "patch", "get"]
            ),
            rule(&["pods"], &["get"])
        ]),
    );
    let held = json!([rule(&["pods"], &["get"])]);
    let more = json!([rule(&["pods"], &["get", "delete"]), {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["x"], "verbs": ["get"]}]);
    let aggregated = json!({"metadata": {"name": "access-aggregated"}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}});
    let paths = role(
        "access-paths",
        json!([{"nonResourceURLs": ["/x"], "verbs": ["get"]}]),
    );
    Case::new("access-escalation")
        .ask(setup(post(&format!("{RBAC}/clusterroles"), &granter)).named("a role"))
        .ask(
            setup(post(
                &format!("{RBAC}/clusterrolebindings"),
                &binding(
                    "access-granter",
                    "ClusterRole",
                    "access-granter",
                    user("access-granter"),
                ),
            ))
            .named("its binding"),
        )
        .until(
            get(&format!("{ROLES}/none")).impersonating("access-granter", &[DEV]),
            404,
        )
        .asks(
            [
                post(ROLES, &role("held", held.clone())).named("what is held"),
                post(ROLES, &role("more", more.clone())).named("more than is held"),
                merge(&format!("{ROLES}/held"), &json!({"rules": more})).named("more by a patch"),
                merge(
                    &format!("{ROLES}/held"),
                    &json!({"metadata": {"labels": {"a": "b"}}}),
                )
                .named("a label"),
                post(&format!("{RBAC}/clusterroles"), &paths).named("a path"),
                post(&format!("{RBAC}/clusterroles"), &aggregated).named("an aggregated role"),
                post(
                    BINDINGS,
                    &binding("all", "ClusterRole", "cluster-admin", user("x")),
                )
                .named("a binding to all"),
                post(
                    BINDINGS,
                    &binding("none", "ClusterRole", "access-none", user("x")),
                )
                .named("a binding to nothing"),
                post(BINDINGS, &binding("held", "Role", "held", user("x")))
                    .named("a binding to what is held"),
            ]
            .map(|ask| {
                ask.impersonating("access-granter", &[DEV])
                    .only(["/message", "/reason", "/details"])
            }),
        )
}

/// Connections to what runs in a pod, by somebody who may read there, and by somebody who may also create.
fn connections() -> Case {
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let parts = [
        "pods/exec",
        "pods/attach",
        "pods/portforward",
        "pods/log",
        "pods/proxy",
    ];
    let asks = |user: &'static str| {
        let paths = [
            "p/exec?command=a&stdout=1",
            "p/attach?stdout=1",
            "p/portforward?ports=1",
            "p/log",
            "p/proxy/",
            "none/exec?command=a&stdout=1",
        ];
        let methods = paths
            .into_iter()
            .flat_map(|path| ["GET", "POST"].map(|method| (method, path)));
        methods.map(move |(method, path)| {
            any(method, &format!("{PODS}/{path}"))
                .impersonating(user, &[])
                .only(["/message", "/reason", "/details", "/code"])
                .named(format!("{user}: {method} {path}"))
        })
    };
    let mut case = Case::new("access-connections").ask(setup(post(PODS, &pod)).named("a pod"));
    for (name, verbs) in [
        ("access-reader", &["get"][..]),
        ("access-user", &["get", "create"]),
    ] {
        case = case
            .ask(setup(post(ROLES, &role(name, json!([rule(&parts, verbs)])))).named(format!("role {name}")))
            .ask(
                setup(post(BINDINGS, &binding(name, "Role", name, user(name))))
                    .named(format!("binding {name}")),
            )
            .until(get(&format!("{PODS}/p/log")).impersonating(name, &[]), 204);
    }
    case.asks(asks("access-reader"))
        .asks(asks("access-user"))
        .ask(setup(post(BINDINGS, &binding("dangling", "Role", "none", user("access-reader")))).named("a binding to no role"))
        .until_shown(
            get(&format!("{PODS}/p")).impersonating("access-reader", &[]),
            "/message",
            "pods \"p\" is forbidden: User \"access-reader\" cannot get resource \"pods\" in API group \"\" in the namespace \
             \"access-connections\": RBAC: role.rbac.authorization.k8s.io \"none\" not found",
        )
        .asks(asks("access-reader").take(1).map(|ask| ask.named("with a role that is not there")))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![requests(), reviews(), escalation(), connections()]
}
