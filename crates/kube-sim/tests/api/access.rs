//! Tokens, roles, and who may do what; how refusals are worded is held against a real server by the table of `conformance`.

use http::Method;
use kube_sim::{Controller, Sim};
use serde_json::{Value, json};

use super::client::{Answer, CONFIGMAPS, Client, configmap};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

/// A cluster with access control, in which `admin` is the token of an administrator and `jane` that of a user.
fn guarded() -> Client {
    let sim =
        Sim::builder()
            .token("admin", "admin", ["system:masters"])
            .token("jane", "jane", ["developers"]);
    Client::new(sim.build().unwrap())
}

/// A request with a bearer token.
async fn ask(client: &Client, method: Method, path: &str, token: &str, body: Value) -> Answer {
    let bearer = format!("Bearer {token}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    client.send(method, path, &headers, body.to_string()).await
}

async fn get(client: &Client, path: &str, token: &str) -> u16 {
    ask(client, Method::GET, path, token, json!(null)).await.code
}

/// Gives a role of the cluster to a subject, in the namespace `default`.
fn bind(client: &Client, role: &str, subject: Value) {
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "subjects": [subject],
        "metadata": {"name": role, "namespace": "default"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
    });
    client.store().create(binding).unwrap();
}

fn jane() -> Value {
    json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"})
}

#[tokio::test]
async fn a_token_says_who_asks() {
    let client = guarded();
    assert_eq!(get(&client, CONFIGMAPS, "admin").await, 200);
    assert_eq!(get(&client, CONFIGMAPS, "jane").await, 403);
    assert_eq!(get(&client, "/api", "jane").await, 200);
    let (code, reason, message) = ask(&client, Method::GET, CONFIGMAPS, "x", json!(null))
        .await
        .refusal();
    assert_eq!(
        (code, reason.as_str(), message.as_str()),
        (401, "Unauthorized", "Unauthorized")
    );
    let (code, _, message) = client.get(CONFIGMAPS).await.refusal();
    assert_eq!(code, 403);
    assert!(message.contains("\"system:anonymous\" cannot list"), "{message}");
    assert_eq!(client.get("/version").await.code, 200);
    assert_eq!(client.get("/api").await.code, 403);
}

#[tokio::test]
async fn answers_say_of_which_flow_their_request_was() {
    let first = [Controller::BootstrapObjects, Controller::BootstrapRoles];
    let sim = Sim::builder()
        .controllers(first)
        .token("admin", "admin", ["system:masters"]);
    let client = Client::new(sim.token("jane", "jane", ["developers"]).build().unwrap());
    let flows = "/apis/flowcontrol.apiserver.k8s.io/v1";
    for (token, path, schema, level) in [
        ("admin", "/livez/ping", "exempt", "exempt"),
        ("admin", CONFIGMAPS, "exempt", "exempt"),
        ("jane", "/api", "global-default", "global-default"),
    ] {
        let answer = ask(&client, Method::GET, path, token, json!(null)).await;
        for (part, plural, name) in [
            ("flowschema", "flowschemas", schema),
            ("prioritylevel", "prioritylevelconfigurations", level),
        ] {
            let read = ask(
                &client,
                Method::GET,
                &format!("{flows}/{plural}/{name}"),
                "admin",
                json!(null),
            )
            .await;
            let told = answer.headers.get(format!("x-kubernetes-pf-{part}-uid"));
            let told = told.map(|uid| uid.to_str().unwrap());
            assert_eq!(
                told,
                read.ok()["metadata"]["uid"].as_str(),
                "{token} {path} {part}"
            );
        }
    }
}

#[tokio::test]
async fn a_role_is_had_from_its_binding_on() {
    let client = guarded();
    bind(&client, "edit", jane());
    let made = ask(&client, Method::POST, CONFIGMAPS, "jane", configmap("a", 0)).await;
    assert_eq!(made.code, 201);
    // What the role has from others that it is made of.
    assert_eq!(get(&client, "/api/v1/namespaces/default/pods", "jane").await, 200);
    assert_eq!(
        get(&client, "/api/v1/namespaces/kube-system/pods", "jane").await,
        403
    );
    let widgets = "/apis/sim.example/v1/namespaces/default/widgets";
    assert_eq!(get(&client, widgets, "jane").await, 403);
    let more = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "widgets", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
        "rules": [{"apiGroups": ["sim.example"], "resources": ["widgets"], "verbs": ["list"]}],
    });
    client.store().create(more).unwrap();
    assert_eq!(get(&client, widgets, "jane").await, 404);
    client
        .store()
        .delete(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            Some("default"),
            "edit",
        )
        .unwrap();
    assert_eq!(get(&client, CONFIGMAPS, "jane").await, 403);
}

#[tokio::test]
async fn the_token_of_an_account_is_good_while_it_is_there() {
    let client = guarded();
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": "default"}});
    client.store().create(account).unwrap();
    bind(
        &client,
        "view",
        json!({"kind": "ServiceAccount", "name": "robot", "namespace": "default"}),
    );
    let path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
    let request = |audiences: Value| json!({"spec": {"audiences": audiences}});
    let made = ask(&client, Method::POST, path, "admin", request(json!([])))
        .await
        .ok();
    let token = made["status"]["token"].as_str().unwrap();
    assert_eq!(get(&client, CONFIGMAPS, token).await, 200);
    // One that somebody has written himself, and one that is for somebody else.
    let (claims, _) = token.rsplit_once('.').unwrap();
    assert_eq!(get(&client, CONFIGMAPS, &format!("{claims}.x")).await, 401);
    let other = ask(&client, Method::POST, path, "admin", request(json!(["other"])))
        .await
        .ok();
    assert_eq!(
        get(&client, CONFIGMAPS, other["status"]["token"].as_str().unwrap()).await,
        401
    );
    client
        .store()
        .delete("v1", "ServiceAccount", Some("default"), "robot")
        .unwrap();
    assert_eq!(get(&client, CONFIGMAPS, token).await, 401);
}

#[tokio::test]
async fn applying_what_is_not_there_needs_the_right_to_create() {
    let client = guarded();
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}]);
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "patch"}, "rules": rules});
    client.store().create(role).unwrap();
    bind(&client, "patch", jane());
    client.configmaps(&["there"]);
    for (name, code) in [("there", 200), ("none", 403)] {
        let path = format!("{CONFIGMAPS}/{name}?fieldManager=m");
        let headers = [
            ("authorization", "Bearer jane"),
            ("content-type", "application/apply-patch+yaml"),
        ];
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        assert_eq!(
            client
                .send(Method::PATCH, &path, &headers, map.to_string())
                .await
                .code,
            code,
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_user_of_the_process_needs_no_token() {
    let client = guarded();
    let roles = format!("{RBAC}/clusterroles");
    let list = async |name: &str, groups: &[&str]| {
        let groups: Vec<String> = groups.iter().map(|group| (*group).to_owned()).collect();
        let kube = kube::Client::new(client.sim.service().as_user(name, groups), "default");
        let request = http::Request::get(roles.as_str()).body(Vec::new()).unwrap();
        kube.request_text(request).await.is_ok()
    };
    assert!(list("root", &["system:masters"]).await);
    assert!(!list("nobody", &[]).await);
}

#[tokio::test]
async fn impersonation_is_a_right_like_any_other() {
    let client = guarded();
    let list = async |token: &str, headers: &[(&str, &str)]| {
        let bearer = format!("Bearer {token}");
        let headers: Vec<_> = headers
            .iter()
            .copied()
            .chain([("authorization", bearer.as_str())])
            .collect();
        client
            .send(Method::GET, CONFIGMAPS, &headers, String::new())
            .await
    };
    let as_bob = [
        ("impersonate-user", "bob"),
        ("impersonate-group", "system:masters"),
    ];
    assert_eq!(list("admin", &as_bob).await.code, 200);
    let (code, _, message) = list("admin", &as_bob[..1]).await.refusal();
    assert_eq!(code, 403);
    assert!(message.contains("User \"bob\" cannot list"), "{message}");
    let (code, _, message) = list("jane", &as_bob).await.refusal();
    assert_eq!(code, 403);
    assert!(
        message.contains("User \"jane\" cannot impersonate-on:user-info:list resource \"configmaps\""),
        "{message}"
    );
    assert_eq!(list("admin", &as_bob[1..]).await.code, 400);
    let rules = json!([
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["impersonate-on:user-info:list"]},
        {"apiGroups": ["authentication.k8s.io"], "resources": ["users"], "verbs": ["impersonate:user-info"], "resourceNames": ["bob"]},
    ]);
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "as-bob"}, "rules": rules,
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "as-bob"},
        "subjects": [jane()], "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "as-bob"},
    });
    client.store().create(role).unwrap();
    client.store().create(binding).unwrap();
    let (_, _, message) = list("jane", &as_bob).await.refusal();
    assert!(
        message.contains("cannot impersonate:user-info resource \"groups\""),
        "{message}"
    );
    let (_, _, message) = list("jane", &as_bob[..1]).await.refusal();
    assert!(message.contains("User \"bob\" cannot list"), "{message}");
}

#[tokio::test]
async fn a_token_that_is_bound_to_a_pod_ends_with_it() {
    let client = guarded();
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": "default"}});
    client.store().create(account).unwrap();
    let subject = json!({"kind": "ServiceAccount", "name": "robot", "namespace": "default"});
    bind(&client, "view", subject);
    for (pod, runs_as) in [("a", "robot"), ("b", "other")] {
        let spec = json!({"serviceAccountName": runs_as, "containers": [{"name": "c", "image": "i"}]});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod, "namespace": "default"}, "spec": spec});
        client.store().create(pod).unwrap();
    }
    let path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
    let request =
        |name: &str| json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": name}}});
    let (code, _, message) = ask(&client, Method::POST, path, "admin", request("b"))
        .await
        .refusal();
    assert_eq!(
        (code, message.as_str()),
        (
            400,
            "cannot bind token for serviceaccount \"robot\" to pod running with different serviceaccount name."
        )
    );
    let made = ask(&client, Method::POST, path, "admin", request("a")).await.ok();
    let token = made["status"]["token"].as_str().unwrap();
    assert_eq!(get(&client, CONFIGMAPS, token).await, 200);
    let who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let who = ask(&client, Method::POST, who, token, json!({})).await.ok();
    let extra = &who["status"]["userInfo"]["extra"];
    assert_eq!(extra["authentication.kubernetes.io/pod-name"], json!(["a"]));
    client.store().delete("v1", "Pod", Some("default"), "a").unwrap();
    assert_eq!(get(&client, CONFIGMAPS, token).await, 401);
}

#[tokio::test]
async fn the_rules_of_aggregated_roles_follow_what_they_select() {
    let client = guarded();
    let rules = |name: &str| {
        let role = client
            .store()
            .get("rbac.authorization.k8s.io/v1", "ClusterRole", None, name);
        role.unwrap()["rules"].as_array().map_or(0, Vec::len)
    };
    let before = ["view", "edit", "admin", "cluster-admin"].map(rules);
    assert!(
        before[0] > 0 && before[1] > before[0] && before[2] > before[1],
        "{before:?}"
    );
    let more = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "widgets", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
        "rules": [{"apiGroups": ["sim.example"], "resources": ["widgets"], "verbs": ["list"]}],
    });
    client.store().create(more).unwrap();
    let after = before.map(|rules| rules + 1);
    assert_eq!(["view", "edit", "admin"].map(rules), after[..3]);
    client
        .store()
        .delete("rbac.authorization.k8s.io/v1", "ClusterRole", None, "widgets")
        .unwrap();
    assert_eq!(["view", "edit", "admin", "cluster-admin"].map(rules), before);
}

/// Gives jane a role of the cluster with these rules, everywhere.
fn may(client: &Client, name: &str, rules: Value) {
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules});
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name}, "subjects": [jane()],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
    });
    client.store().create(role).unwrap();
    client.store().create(binding).unwrap();
}

/// Merges a patch as jane.
async fn merge(client: &Client, path: &str, patch: Value) -> Answer {
    let headers = [
        ("authorization", "Bearer jane"),
        ("content-type", "application/merge-patch+json"),
    ];
    client
        .send(Method::PATCH, path, &headers, patch.to_string())
        .await
}

#[tokio::test]
async fn aggregated_roles_that_select_each_other_come_to_rest() {
    let client = guarded();
    let rule = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
    for (name, selects, rules) in [("a", "b", json!([])), ("b", "a", json!([rule]))] {
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": {"is": name}}, "rules": rules,
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"is": selects}}]},
        });
        let made = ask(
            &client,
            Method::POST,
            &format!("{RBAC}/clusterroles"),
            "admin",
            role,
        )
        .await;
        assert_eq!(made.code, 201);
    }
    for name in ["a", "b"] {
        let path = format!("{RBAC}/clusterroles/{name}");
        let role = ask(&client, Method::GET, &path, "admin", json!(null)).await;
        assert_eq!(role.json()["rules"], json!([rule]), "{name}");
    }
}

#[tokio::test]
async fn a_watch_path_deletes_nothing() {
    let client = guarded();
    client.configmaps(&["a", "b"]);
    let rules =
        json!([{"apiGroups": [""], "resources": ["configmaps", "configmaps/status"], "verbs": ["delete"]}]);
    may(&client, "delete", rules);
    let path = "/api/v1/watch/namespaces/default/configmaps";
    for (path, code) in [
        (path.to_owned(), 405),
        (format!("{path}/a"), 405),
        (format!("{path}/a/status"), 404),
    ] {
        let refused = ask(&client, Method::DELETE, &path, "jane", json!(null)).await;
        let (refused, _, message) = refused.refusal();
        assert_eq!(refused, 403, "{path}");
        assert!(message.contains("cannot watch"), "{message}");
        let answer = ask(&client, Method::DELETE, &path, "admin", json!(null)).await;
        assert_eq!(answer.code, code, "{path}");
    }
    let left = ask(&client, Method::GET, CONFIGMAPS, "admin", json!(null)).await;
    assert_eq!(left.names(), ["a", "b"]);
}

#[tokio::test]
async fn a_collection_is_not_deleted_by_the_right_to_one() {
    let client = guarded();
    client.configmaps(&["a", "b"]);
    let rules = json!([{
        "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"], "verbs": ["list", "watch", "deletecollection"],
    }]);
    may(&client, "one", rules);
    let one = format!("{CONFIGMAPS}?fieldSelector=metadata.name%3Da");
    assert_eq!(get(&client, &one, "jane").await, 200);
    assert_eq!(
        ask(&client, Method::DELETE, &one, "jane", json!(null)).await.code,
        403
    );
    // The old way to watch has the name in its path only.
    let watch =
        "/api/v1/watch/namespaces/default/configmaps?timeoutSeconds=1&fieldSelector=metadata.name%3Da";
    assert_eq!(get(&client, watch, "jane").await, 403);
}

#[tokio::test]
async fn who_is_impersonated_is_never_left_out() {
    let client = guarded();
    let list = async |name: &str, value: &[u8]| {
        let request = http::Request::get(CONFIGMAPS)
            .header("authorization", "Bearer admin")
            .header(name, http::HeaderValue::from_bytes(value).unwrap());
        let request = request.body(http_body_util::Full::default()).unwrap();
        let response = client.open(request).await;
        let (parts, body) = response.into_parts();
        let body = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
        (parts.status.as_u16(), String::from_utf8_lossy(&body).into_owned())
    };
    let (code, message) = list("impersonate-user", "jörg".as_bytes()).await;
    assert_eq!(code, 403);
    assert!(message.contains("User \\\"jörg\\\" cannot list"), "{message}");
    for name in [
        "impersonate-user",
        "impersonate-group",
        "impersonate-uid",
        "impersonate-extra-a",
        "impersonate-extra-%ff",
    ] {
        let (code, message) = list(name, b"\xff").await;
        assert_eq!(code, 400, "{name}");
        assert!(message.contains("is not UTF-8"), "{message}");
    }
}

#[tokio::test]
async fn what_a_role_has_is_asked_for_whatever_changes() {
    let client = guarded();
    let rules = json!([{
        "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles", "clusterrolebindings"], "verbs": ["patch"],
    }]);
    may(&client, "patch-roles", rules);
    let selectors = json!([{"matchLabels": {"of": "nobody"}}]);
    let aggregated = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "aggregated"},
        "aggregationRule": {"clusterRoleSelectors": selectors},
    });
    client.store().create(aggregated).unwrap();
    let role = |name: &str| format!("{RBAC}/clusterroles/{name}");
    let label = json!({"metadata": {"labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}});
    let beyond = "is attempting to grant RBAC permissions not currently held";
    let (code, _, message) = merge(&client, &role("cluster-admin"), label.clone())
        .await
        .refusal();
    assert_eq!(code, 403);
    assert!(message.contains(beyond), "{message}");
    let binding = format!("{RBAC}/clusterrolebindings/cluster-admin");
    let (code, _, message) = merge(&client, &binding, label.clone()).await.refusal();
    assert_eq!(code, 403);
    assert!(message.contains(beyond), "{message}");
    for change in [
        json!({"aggregationRule": null}),
        json!({"rules": []}),
        label.clone(),
    ] {
        let changed = merge(&client, &role("aggregated"), change.clone()).await;
        if changed.code == 200 {
            // It had no rules before.
            assert_eq!(change, json!({"rules": []}));
            continue;
        }
        let (code, _, message) = changed.refusal();
        assert_eq!(code, 403);
        let why = "must have cluster-admin privileges to use the aggregationRule";
        assert!(message.contains(why), "{message}");
    }
    // What the garbage collector writes asks for nothing; one's own rights can be given on.
    let finalizers = json!({"metadata": {"finalizers": ["sim.example/held"]}});
    assert_eq!(merge(&client, &role("cluster-admin"), finalizers).await.code, 200);
    assert_eq!(merge(&client, &role("patch-roles"), label).await.code, 200);
}

#[tokio::test]
async fn applying_a_status_of_nothing_finds_nothing() {
    let client = guarded();
    let rules = json!([{"apiGroups": ["apps"], "resources": ["deployments/status"], "verbs": ["patch"]}]);
    may(&client, "status", rules);
    let path = "/apis/apps/v1/namespaces/default/deployments/none/status?fieldManager=m";
    let headers = [
        ("authorization", "Bearer jane"),
        ("content-type", "application/apply-patch+yaml"),
    ];
    let status = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "none"}, "status": {"replicas": 1}});
    let answer = client
        .send(Method::PATCH, path, &headers, status.to_string())
        .await;
    assert_eq!(answer.code, 404);
}

#[tokio::test(start_paused = true)]
async fn a_token_outlives_the_end_of_its_pod_by_a_minute() {
    let client = guarded();
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": "default"}});
    client.store().create(account).unwrap();
    let subject = json!({"kind": "ServiceAccount", "name": "robot", "namespace": "default"});
    bind(&client, "view", subject);
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
    let node = client.store().create(node).unwrap();
    let spec =
        json!({"serviceAccountName": "robot", "nodeName": "n", "containers": [{"name": "c", "image": "i"}]});
    let metadata = json!({"name": "a", "namespace": "default", "finalizers": ["sim.example/held"]});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
    client.store().create(pod).unwrap();
    let path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
    let mut tokens = Vec::new();
    for (kind, name) in [("Pod", "a"), ("Node", "n")] {
        let bound = json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name}}});
        let made = ask(&client, Method::POST, path, "admin", bound).await.ok();
        let token = made["status"]["token"].as_str().unwrap().to_owned();
        let who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        let who = ask(&client, Method::POST, who, &token, json!({})).await.ok();
        let extra = &who["status"]["userInfo"]["extra"];
        for (field, value) in [("node-name", &json!("n")), ("node-uid", &node["metadata"]["uid"])] {
            assert_eq!(
                extra[format!("authentication.kubernetes.io/{field}")],
                json!([value])
            );
        }
        tokens.push(token);
    }
    // Its finalizer holds the pod, its node may go before it.
    let pod = "/api/v1/namespaces/default/pods/a";
    let now = json!({"gracePeriodSeconds": 0});
    assert_eq!(ask(&client, Method::DELETE, pod, "admin", now).await.code, 200);
    client.store().delete("v1", "Node", None, "n").unwrap();
    assert_eq!(get(&client, CONFIGMAPS, &tokens[1]).await, 401);
    assert_eq!(get(&client, CONFIGMAPS, &tokens[0]).await, 200);
    tokio::time::advance(std::time::Duration::from_secs(62)).await;
    assert_eq!(get(&client, CONFIGMAPS, &tokens[0]).await, 401);
    assert_eq!(get(&client, pod, "admin").await, 200);
}

#[tokio::test]
async fn whoever_issues_tokens_says_by_which_key_they_are_known() {
    let client = Client::empty();
    let configuration = client.get("/.well-known/openid-configuration").await;
    assert_eq!(configuration.headers["cache-control"], "public, max-age=3600");
    let configuration = configuration.ok();
    assert_eq!(
        configuration["id_token_signing_alg_values_supported"],
        json!(["ES256"])
    );
    let keys = client.get("/openid/v1/jwks").await;
    assert_eq!(keys.headers["content-type"], "application/jwk-set+json");
    let key = keys.ok()["keys"][0].clone();
    let account = json!({"metadata": {"name": "robot"}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    client.post(accounts, account).await.ok();
    let made = client
        .post(&format!("{accounts}/robot/token"), json!({"spec": {}}))
        .await
        .ok();
    let token = made["status"]["token"].as_str().unwrap();
    let part = |at: usize| -> Value {
        use base64::Engine as _;
        let part = token.split('.').nth(at).unwrap();
        let part = base64::engine::general_purpose::URL_SAFE_NO_PAD
            .decode(part)
            .unwrap();
        serde_json::from_slice(&part).unwrap()
    };
    assert_eq!(part(0), json!({"alg": "ES256", "kid": key["kid"]}));
    assert_eq!(part(1)["iss"], configuration["issuer"]);
    assert_eq!(
        (&key["kty"], &key["crv"], &key["use"]),
        (&json!("EC"), &json!("P-256"), &json!("sig"))
    );
}
