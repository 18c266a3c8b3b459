//! What expressions in CEL cost is paid by the request that they belong to: others do not wait for it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{CONFIGMAPS, Client, WIDGETS, configmap, widget, widget_definition};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

/// About half of what one expression may cost.
const COSTLY: &str = "lists.range(300).all(a, lists.range(300).all(b, a + b >= 0))";

/// A policy about secrets with ten such expressions, bound to all config maps as its parameters.
async fn costly(client: &Client) {
    let validations: Vec<_> = (0..10).map(|_| json!({"expression": COSTLY})).collect();
    let policy = json!({"metadata": {"name": "p"}, "spec": {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"],
        }]},
        "validations": validations,
    }});
    let binding = json!({"metadata": {"name": "b"}, "spec": {
        "policyName": "p", "validationActions": ["Deny"], "paramRef": {"selector": {}, "parameterNotFoundAction": "Allow"},
    }});
    for n in 0..50 {
        client.post(CONFIGMAPS, configmap(&format!("c{n}"), n)).await.ok();
    }
    client.post(POLICIES, policy).await.ok();
    client.post(BINDINGS, binding).await.ok();
}

fn secrets() -> String {
    CONFIGMAPS.replace("configmaps", "secrets")
}

fn secret() -> Value {
    json!({"metadata": {"name": "s"}})
}

#[tokio::test]
async fn others_write_while_a_policy_is_evaluated() {
    let client = Client::empty();
    costly(&client).await;
    let path = format!("{}?timeout=20s", secrets());
    let mut slow = Box::pin(client.post(&path, secret()));
    // It is on its way when nothing of it can be done at once.
    let waits = tokio::time::timeout(Duration::ZERO, &mut slow).await;
    assert!(waits.is_err(), "the policy costs nothing");
    client.post(CONFIGMAPS, configmap("other", 1)).await.ok();
    client.get(CONFIGMAPS).await.ok();
    let answered = tokio::time::timeout(Duration::ZERO, &mut slow).await;
    assert!(
        answered.is_err(),
        "the policy was evaluated before others could write"
    );
}

#[tokio::test]
async fn a_request_has_no_more_time_than_it_says_for_its_policies() {
    let client = Client::empty();
    costly(&client).await;
    let begun = Instant::now();
    let answer = client.post(&format!("{}?timeout=1s", secrets()), secret()).await;
    assert_eq!(answer.code, 504);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let (code, _, _) = client.get(&format!("{}/s", secrets())).await.refusal();
    assert_eq!(code, 404);
}

#[tokio::test]
async fn others_write_while_the_rules_of_a_schema_are_evaluated() {
    let mut definition = widget_definition();
    let rules = [COSTLY, COSTLY, "self.spec.size < 100"].map(|rule| json!({"rule": rule}));
    let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["x-kubernetes-validations"] = json!(rules);
    let client = Client::new(kube_sim::Sim::builder().crd(definition).build().unwrap());
    let mut slow = Box::pin(client.post(WIDGETS, widget("w", 1)));
    let waits = tokio::time::timeout(Duration::ZERO, &mut slow).await;
    assert!(waits.is_err(), "the rules cost nothing");
    client.post(CONFIGMAPS, configmap("other", 1)).await.ok();
    // What was found while the lock was free is what the write is answered with.
    slow.await.ok();
    client.get(&format!("{WIDGETS}/w")).await.ok();
    let (code, _, message) = client.post(WIDGETS, widget("v", 100)).await.refusal();
    assert_eq!(code, 422);
    assert!(message.contains("failed rule: self.spec.size < 100"), "{message}");
}
