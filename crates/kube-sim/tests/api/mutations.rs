//! MutatingAdmissionPolicies beside webhooks, and what they do with an object. The answers are compared with a real server's by
//! `conformance`.

use serde_json::{Value, json};

use crate::admission::{Webhook, configure, hook};
use crate::client::{CONFIGMAPS, Client, configmap};

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
