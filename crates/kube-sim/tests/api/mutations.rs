//! MutatingAdmissionPolicies beside webhooks, and what they do with an object. The answers are compared with a real server's by
//! `conformance`.

use serde_json::{Value, json};

use crate::client::{Answer, CONFIGMAPS, Client, configmap};
use crate::webhook::{Webhook, configure, hook};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

/// Binds a policy that changes config maps by a JSON patch.
async fn bind(client: &Client, name: &str, again: &str, expression: &str) {
    let policy = json!({"metadata": {"name": name}, "spec": {
        "reinvocationPolicy": again,
        "matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"],
        }]},
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}],
    }});
    let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name}});
    client
        .post(&format!("{GROUP}/mutatingadmissionpolicies"), policy)
        .await
        .ok();
    client
        .post(&format!("{GROUP}/mutatingadmissionpolicybindings"), binding)
        .await
        .ok();
}

/// Adds a letter to a value of the data.
fn adds(key: &str, letter: &str) -> String {
    format!(
        "[JSONPatch{{op: 'add', path: '/data/{key}', value: (has(object.data.{key}) ? object.data.{key} : '') + '{letter}'}}]"
    )
}

async fn data(client: &Client, name: &str) -> Value {
    client.post(CONFIGMAPS, configmap(name, 1)).await.ok()["data"].clone()
}

#[tokio::test]
async fn webhooks_see_what_policies_have_changed() {
    let client = Client::empty();
    bind(&client, "p", "Never", &adds("trace", "p")).await;
    let webhook = Webhook::annotates("w").await;
    configure(
        &client,
        "Mutating",
        "w",
        json!([hook("w", webhook.client_config(), json!({}))]),
    )
    .await;
    assert_eq!(data(&client, "a").await["trace"], "p");
    assert_eq!(webhook.asked()[0]["object"]["data"]["trace"], "p");
}

#[tokio::test]
async fn a_policy_that_wants_that_sees_what_webhooks_have_changed() {
    let client = Client::empty();
    let sees = "has(object.metadata.annotations) ? [JSONPatch{op: 'add', path: '/data/seen', value: object.metadata.annotations.w}] : []";
    bind(&client, "p", "IfNeeded", sees).await;
    let webhook = Webhook::annotates("w").await;
    let more = json!({"reinvocationPolicy": "IfNeeded"});
    configure(
        &client,
        "Mutating",
        "w",
        json!([hook("w", webhook.client_config(), more)]),
    )
    .await;
    assert_eq!(data(&client, "a").await["seen"], "1");
    // The webhook is asked again, since the policy has changed the object after it.
    assert_eq!(webhook.asked().len(), 2);
    assert_eq!(webhook.asked()[1]["object"]["data"]["seen"], "1");
}

#[tokio::test]
async fn copies_of_a_patch_are_bounded_together() {
    let client = Client::empty();
    let copies =
        "lists.range(200).map(n, JSONPatch{op: 'copy', from: '/data/large', path: '/data/x' + string(n)})";
    bind(&client, "p", "Never", copies).await;
    let map = json!({"metadata": {"name": "m"}, "data": {"large": "x".repeat(20_000)}});
    let (code, _, message) = client.post(CONFIGMAPS, map).await.refusal();
    assert_eq!(code, 403);
    let why = "denied request: JSON Patch: Unable to complete the copy, the accumulated size increase of copy is 3160316, \
               exceeding the limit 3145728";
    assert!(message.ends_with(why), "{message}");
}

#[tokio::test]
async fn one_policy_is_evaluated_on_what_another_has_left() {
    let client = Client::empty();
    bind(&client, "a", "Never", &adds("trace", "a")).await;
    bind(&client, "b", "IfNeeded", &adds("trace", "b")).await;
    bind(&client, "c", "Never", &adds("trace", "c")).await;
    assert_eq!(data(&client, "m").await["trace"], "abcb");
}

#[tokio::test]
async fn nothing_is_changed_that_is_deleted_or_not_matched() {
    let client = Client::empty();
    bind(&client, "p", "Never", &adds("trace", "p")).await;
    let secrets = CONFIGMAPS.replace("configmaps", "secrets");
    let secret = client
        .post(
            &secrets,
            json!({"metadata": {"name": "s"}, "stringData": {"a": "b"}}),
        )
        .await
        .ok();
    assert!(secret["data"].get("trace").is_none());
    data(&client, "a").await;
    client.delete(&format!("{CONFIGMAPS}/a"), Value::Null).await.ok();
}

/// A policy that changes what is sent to subresources.
async fn bind_to_subresources(client: &Client, mutation: Value) {
    let policy = json!({"metadata": {"name": "p"}, "spec": {
        "reinvocationPolicy": "IfNeeded",
        "matchConstraints": {"resourceRules": [{
            "apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE", "CONNECT"], "resources": ["*/*"],
        }]},
        "mutations": [mutation],
    }});
    let binding = json!({"metadata": {"name": "p"}, "spec": {"policyName": "p"}});
    for (plural, object) in [("policies", policy), ("policybindings", binding)] {
        let path = format!("{GROUP}/mutatingadmission{plural}");
        client.post(&path, object).await.ok();
    }
}

const NAMESPACE: &str = "/api/v1/namespaces/default";

async fn with_pod() -> Client {
    let client = Client::empty();
    let containers = json!([{"name": "c", "image": "i"}]);
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": containers}});
    client.post(&format!("{NAMESPACE}/pods"), pod).await.ok();
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers}});
    let controller = json!({"metadata": {"name": "c"}, "spec": {"replicas": 1, "selector": {"a": "b"}, "template": template}});
    let path = format!("{NAMESPACE}/replicationcontrollers");
    client.post(&path, controller).await.ok();
    let account = json!({"metadata": {"name": "s"}});
    client
        .post(&format!("{NAMESPACE}/serviceaccounts"), account)
        .await
        .ok();
    client
}

/// What is sent to the subresources of pods, controllers and accounts that have a form of their own.
async fn forms(client: &Client) -> [Answer; 5] {
    let named = |name: &str, more: Value| {
        let mut object = json!({"metadata": {"name": name}});
        object
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        object
    };
    let at = |path: &str| format!("{NAMESPACE}/{path}");
    let scale = json!({"spec": {"replicas": 3}});
    let node = json!({"target": {"kind": "Node", "name": "n"}});
    [
        client
            .post(&at("serviceaccounts/s/token"), json!({"spec": {}}))
            .await,
        client.merge(&at("replicationcontrollers/c/scale"), scale).await,
        client.get(&at("pods/p/exec?command=ls&stdout=true")).await,
        client.post(&at("pods/p/binding"), named("p", node)).await,
        client.post(&at("pods/p/eviction"), named("p", json!({}))).await,
    ]
}

#[tokio::test]
async fn policies_patch_what_has_a_form_of_its_own() {
    let client = with_pod().await;
    let labels =
        "has(object.metadata) ? [JSONPatch{op: 'add', path: '/metadata/labels', value: {'x': 'y'}}] : []";
    let mutation = json!({"patchType": "JSONPatch", "jsonPatch": {"expression": labels}});
    bind_to_subresources(&client, mutation).await;
    let [token, scale, exec, binding, eviction] = forms(&client).await;
    assert_eq!([token.code, binding.code, eviction.code], [201, 201, 201]);
    assert_eq!(scale.ok()["spec"]["replicas"], 3);
    assert_eq!(exec.refusal().2, "pod p does not have a host assigned");
}

#[tokio::test]
async fn what_has_a_form_of_its_own_has_no_type_to_merge_by() {
    let client = with_pod().await;
    let labels = "Object{metadata: Object.metadata{labels: {'x': 'y'}}}";
    let mutation = json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": labels}});
    bind_to_subresources(&client, mutation).await;
    let [token, scale, exec, binding, eviction] = forms(&client).await;
    assert_eq!(binding.code, 201);
    for (answer, kind) in [
        (token, "authentication.k8s.io/v1, Kind=TokenRequest"),
        (scale, "autoscaling/v1, Kind=Scale"),
        (exec, "/v1, Kind=PodExecOptions"),
        (eviction, "policy/v1, Kind=Eviction"),
    ] {
        let (code, reason, message) = answer.refusal();
        assert_eq!((code, &*reason), (403, "Invalid"), "{message}");
        let why = format!("typed object: no corresponding type for {kind}");
        assert!(message.ends_with(&why), "{message}");
    }
}
