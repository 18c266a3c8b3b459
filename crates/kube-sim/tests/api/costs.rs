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

#[tokio::test]
async fn others_write_while_rules_look_at_a_deep_object() {
    let mut definition = widget_definition();
    let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["x-kubernetes-validations"] = json!([{"rule": COSTLY}, {"rule": COSTLY}]);
    let client = Client::new(kube_sim::Sim::builder().crd(definition).build().unwrap());
    let mut deep = widget("w", 1);
    deep["spec"]["deep"] = (0..200).fold(json!({}), |inner, _| json!({"inner": inner}));
    let mut slow = Box::pin(client.post(WIDGETS, deep));
    let waits = tokio::time::timeout(Duration::ZERO, &mut slow).await;
    assert!(waits.is_err(), "the rules were evaluated where others wait");
    assert_eq!(slow.await.code, 201);
}

/// A policy about config maps with these expressions and variables.
fn policy_of(expressions: &[String], variables: Vec<Value>) -> Value {
    let validations = expressions
        .iter()
        .map(|expression| json!({"expression": expression}));
    json!({"metadata": {"name": "p"}, "spec": {
        "matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"],
        }]},
        "variables": variables,
        "validations": validations.collect::<Vec<_>>(),
    }})
}

/// What a config map is answered under such a policy.
async fn under(policy: Value) -> (u16, String) {
    let client = Client::empty();
    client.post(POLICIES, policy).await.ok();
    let binding =
        json!({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}});
    client.post(BINDINGS, binding).await.ok();
    let answer = client.post(CONFIGMAPS, configmap("a", 1)).await;
    let message = answer.json()["message"].as_str().unwrap_or("").to_owned();
    (answer.code, message)
}

#[tokio::test]
async fn expressions_of_many_levels_fit_on_the_stack() {
    let expressions = [
        format!("{}true{}", "(".repeat(90), ")".repeat(90)),
        format!("1{} > 0", "+1".repeat(240)),
        format!("'a'{} == 'a'", ".trim()".repeat(240)),
        format!("{}1{}.size() == 1", "[".repeat(90), "]".repeat(90)),
        format!("{}true", "true?true:".repeat(90)),
    ];
    let (code, message) = under(policy_of(&expressions, Vec::new())).await;
    assert_eq!(code, 201, "{message}");
    let client = Client::empty();
    for source in [
        "1 > 0 + ".to_owned() + &"1+".repeat(1000),
        "object".to_owned() + &".a".repeat(1000),
    ] {
        let policy = policy_of(&[source.clone() + "1"], Vec::new());
        let (code, _, message) = client.post(POLICIES, policy).await.refusal();
        assert_eq!(code, 422);
        let why = "compilation failed: ERROR: <input>:-1:0: max recursion depth exceeded";
        assert!(message.ends_with(why), "{message}");
    }
}

#[tokio::test]
async fn variables_that_refer_to_many_others_fit_on_the_stack() {
    let variable = |n: usize, expression: String| json!({"name": format!("v{n}"), "expression": expression});
    let chain = |length: usize, with: fn(usize) -> String| -> Vec<Value> {
        let rest = (1..length).map(|n| variable(n, with(n - 1)));
        std::iter::once(variable(0, "1".into())).chain(rest).collect()
    };
    let plain = chain(5000, |before| format!("variables.v{before}"));
    let (code, message) = under(policy_of(&["variables.v4999 == 1".into()], plain)).await;
    assert_eq!(code, 201, "{message}");
    let nested = chain(400, |before| format!("[[[variables.v{before}]]]"));
    let (code, message) = under(policy_of(&["variables.v399.size() == 1".into()], nested)).await;
    assert_eq!(code, 422);
    assert!(
        message.ends_with("operation cancelled: actual cost limit exceeded"),
        "{message}"
    );
}

#[tokio::test]
async fn a_pattern_costs_the_same_each_time() {
    // To compile it costs nearly as much as one expression may.
    let computed = "lists.range(3000).all(n, 'a'.matches('(abcdefghi){1100}|' + 'a'))";
    let client = Client::empty();
    let policy = policy_of(&[computed.to_owned()], Vec::new());
    client.post(POLICIES, policy).await.ok();
    let binding =
        json!({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}});
    client.post(BINDINGS, binding).await.ok();
    for name in ["a", "b", "c"] {
        let (code, _, message) = client.post(CONFIGMAPS, configmap(name, 1)).await.refusal();
        assert_eq!(code, 422, "{name}");
        assert!(message.ends_with("actual cost limit exceeded"), "{message}");
    }
}
