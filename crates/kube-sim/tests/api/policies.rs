//! ValidatingAdmissionPolicies: where they count, and what they say. The answers are compared with a real server's by `conformance`.

use serde_json::{Value, json};

use crate::client::{Answer, CONFIGMAPS, Client, configmap};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

/// A policy about config maps, with more in its spec.
fn policy(spec: Value) -> Value {
    let mut policy = json!({
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"],
            }]},
            "validations": [{"expression": "has(object.data.k)"}],
        },
    });
    policy["spec"]
        .as_object_mut()
        .unwrap()
        .extend(spec.as_object().unwrap().clone());
    policy
}

fn binding(name: &str, spec: Value) -> Value {
    let mut binding = json!({
        "metadata": {"name": name}, "spec": {"policyName": "p", "validationActions": ["Deny"]},
    });
    binding["spec"]
        .as_object_mut()
        .unwrap()
        .extend(spec.as_object().unwrap().clone());
    binding
}

async fn bound(of_policy: Value, of_binding: Value) -> Client {
    let client = Client::empty();
    client.post(POLICIES, policy(of_policy)).await.ok();
    client.post(BINDINGS, binding("b", of_binding)).await.ok();
    client
}

fn without_key(name: &str) -> Value {
    let mut map = configmap(name, 1);
    map["data"] = json!({"other": "1"});
    map
}

#[tokio::test]
async fn a_write_that_breaks_a_policy_is_denied() {
    let client = bound(json!({}), json!({})).await;
    client.post(CONFIGMAPS, configmap("good", 1)).await.ok();
    let (code, reason, message) = client.post(CONFIGMAPS, without_key("bad")).await.refusal();
    let expected = "configmaps \"bad\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: \
                    failed expression: has(object.data.k)";
    assert_eq!(
        (code, reason.as_str(), message.as_str()),
        (422, "Invalid", expected)
    );
    let path = format!("{CONFIGMAPS}/good");
    assert_eq!(client.merge(&path, json!({"data": {"k": null}})).await.code, 422);
    // Nothing is there when an object is deleted: the expression fails, and so does the deletion.
    let (code, _, message) = client.delete(&path, json!(null)).await.refusal();
    assert_eq!(code, 422);
    assert!(message.contains("resulted in error"), "{message}");
    client
        .store()
        .delete("v1", "ConfigMap", Some("default"), "good")
        .unwrap();
}

#[tokio::test]
async fn a_policy_that_is_not_bound_does_nothing() {
    let client = Client::empty();
    client.post(POLICIES, policy(json!({}))).await.ok();
    client.post(CONFIGMAPS, without_key("a")).await.ok();
    client.post(BINDINGS, binding("b", json!({}))).await.ok();
    assert_eq!(client.post(CONFIGMAPS, without_key("c")).await.code, 422);
    client.delete(&format!("{BINDINGS}/b"), json!(null)).await.ok();
    client.post(CONFIGMAPS, without_key("c")).await.ok();
}

#[tokio::test]
async fn a_warning_does_not_deny() {
    let client = bound(json!({}), json!({"validationActions": ["Warn", "Audit"]})).await;
    let answer = client.post(CONFIGMAPS, without_key("a")).await;
    let warning = "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed expression: has(object.data.k)\"";
    assert_eq!(answer.headers["warning"], warning);
    answer.ok();
}

#[tokio::test]
async fn a_binding_says_where_a_policy_counts() {
    let labelled = json!({"matchResources": {"objectSelector": {"matchLabels": {"n": "1"}}}});
    let client = bound(json!({}), labelled).await;
    let mut other = without_key("other");
    other["metadata"]["labels"]["n"] = "2".into();
    client.post(CONFIGMAPS, other).await.ok();
    assert_eq!(client.post(CONFIGMAPS, without_key("a")).await.code, 422);
}

#[tokio::test]
async fn parameters_are_found_in_the_objects_namespace() {
    let spec = json!({
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"],
        }]},
        "variables": [{"name": "most", "expression": "int(params.data.most)"}],
        "validations": [{
            "expression": "object.data.size() <= variables.most",
            "messageExpression": "'more than ' + string(variables.most) + ' in ' + namespaceObject.metadata.name",
            "reason": "Forbidden",
        }],
    });
    let reference = json!({"paramRef": {"name": "limit", "parameterNotFoundAction": "Deny"}});
    let client = bound(spec, reference).await;
    let secrets = CONFIGMAPS.replace("configmaps", "secrets");
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"a": "b", "c": "d"}});
    let (code, _, message) = client.post(&secrets, secret.clone()).await.refusal();
    assert_eq!(code, 422);
    let expected = "no params found for policy binding with `Deny` parameterNotFoundAction";
    assert!(message.contains(expected), "{message}");
    let limit = |most: &str| json!({"metadata": {"name": "limit"}, "data": {"most": most}});
    client.post(CONFIGMAPS, limit("1")).await.ok();
    let (code, reason, message) = client.post(&secrets, secret.clone()).await.refusal();
    assert_eq!((code, reason.as_str()), (403, "Forbidden"));
    assert!(
        message.ends_with("denied request: more than 1 in default"),
        "{message}"
    );
    client.put(&format!("{CONFIGMAPS}/limit"), limit("2")).await.ok();
    client.post(&secrets, secret).await.ok();
}

#[tokio::test]
async fn a_failure_counts_as_the_policy_says() {
    let missing = json!([{"expression": "object.data.missing == 'x'"}]);
    for (policy, code) in [("Fail", 422), ("Ignore", 201)] {
        let client = bound(
            json!({"validations": missing, "failurePolicy": policy}),
            json!({}),
        )
        .await;
        let answer = client.post(CONFIGMAPS, configmap("a", 1)).await;
        assert_eq!(answer.code, code, "{policy}");
    }
    let conditions = json!([{"name": "mine", "expression": "request.name.startsWith('a')"}]);
    let client = bound(json!({"matchConditions": conditions}), json!({})).await;
    client.post(CONFIGMAPS, without_key("b")).await.ok();
    assert_eq!(client.post(CONFIGMAPS, without_key("a")).await.code, 422);
}

/// What a policy that denies everything says of a write.
async fn said(expression: &str, write: impl AsyncFnOnce(&Client) -> Answer) -> String {
    let rule = json!({"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["configmaps", "pods/*"]});
    let spec = json!({
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "false", "messageExpression": expression}],
    });
    let client = Client::empty();
    client.post(CONFIGMAPS, configmap("a", 1)).await.ok();
    client.post(POLICIES, policy(spec)).await.ok();
    client.post(BINDINGS, binding("b", json!({}))).await.ok();
    let (_, _, message) = write(&client).await.refusal();
    message.rsplit("denied request: ").next().unwrap_or("").to_owned()
}

#[tokio::test]
async fn policies_see_what_a_request_comes_to() {
    let options = "request.options.kind + (has(request.options.force) ? ' with force' : '')";
    let map = &format!("{CONFIGMAPS}/a");
    let patched = said(options, async |client| {
        client.merge(map, json!({"data": {"k": "w"}})).await
    });
    assert_eq!(patched.await, "UpdateOptions");
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let path = format!("{map}?fieldManager=me&force=true");
    let applied = said(options, async |client| {
        client.patch(&path, "application/apply-patch+yaml", config).await
    });
    assert_eq!(applied.await, "UpdateOptions");
    let exec = "/api/v1/namespaces/default/pods/p/exec?command=ls";
    let connected = said("string(request.options == null)", async |client| {
        client.get(exec).await
    });
    assert_eq!(connected.await, "true");
}

#[tokio::test]
async fn policies_see_the_name_that_was_generated() {
    let map = json!({"metadata": {"generateName": "made-"}});
    let name = said("request.name + ' ' + object.metadata.name", async |client| {
        client.post(CONFIGMAPS, map).await
    });
    let name = name.await;
    let (of_request, of_object) = name.split_once(' ').expect("two names");
    assert!(of_request.starts_with("made-"), "{name}");
    assert_eq!(of_request, of_object);
}
