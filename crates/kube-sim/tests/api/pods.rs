//! What pods ask for, beside LimitRanges, ResourceQuotas and RuntimeClasses, with the answers of a real kube-apiserver 1.36.

use serde_json::{Value, json};

use crate::client::{Answer, Client};

const NAMESPACE: &str = "/api/v1/namespaces/default";
const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const CLASSES: &str = "/apis/node.k8s.io/v1/runtimeclasses";

fn pod(name: &str, cpu: &str, limit: &str) -> Value {
    let resources = json!({"requests": {"cpu": cpu}, "limits": {"cpu": limit}});
    let container = json!({"name": "c", "image": "image", "resources": resources});
    json!({"metadata": {"name": name}, "spec": {"containers": [container]}})
}

async fn create(client: &Client, pod: Value) -> Answer {
    client.post(&format!("{NAMESPACE}/pods"), pod).await
}

/// A range of which containers get limits, and may have no more than `500m`.
async fn range(client: &Client) {
    let limit = json!({
        "type": "Container", "max": {"cpu": "500m"}, "default": {"cpu": "300m"}, "defaultRequest": {"cpu": "50m"},
    });
    let range = json!({"metadata": {"name": "range"}, "spec": {"limits": [limit]}});
    client.post(&format!("{NAMESPACE}/limitranges"), range).await.ok();
}

/// A quota of 300m, of which nothing is used.
async fn quota(client: &Client) {
    let hard = json!({"requests.cpu": "300m", "pods": "10"});
    let quota = json!({"metadata": {"name": "quota"}, "spec": {"hard": hard}});
    client
        .post(&format!("{NAMESPACE}/resourcequotas"), quota)
        .await
        .ok();
    let status = json!({"status": {"hard": hard, "used": {"requests.cpu": "0", "pods": "0"}}});
    let path = format!("{NAMESPACE}/resourcequotas/quota/status");
    client.merge(&path, status).await.ok();
}

async fn used(client: &Client) -> Value {
    let quota = client.get(&format!("{NAMESPACE}/resourcequotas/quota")).await;
    quota.ok()["status"]["used"].clone()
}

async fn resize(client: &Client, cpu: &str, limit: &str, query: &str) -> Answer {
    let patch = json!({"spec": pod("a", cpu, limit)["spec"]});
    let path = format!("{NAMESPACE}/pods/a/resize{query}");
    client
        .patch(&path, "application/strategic-merge-patch+json", patch)
        .await
}

#[tokio::test]
async fn a_resize_is_within_ranges_and_quotas() {
    let client = Client::empty();
    range(&client).await;
    quota(&client).await;
    create(&client, pod("a", "100m", "200m")).await.ok();
    assert_eq!(
        resize(&client, "100m", "600m", "").await.refusal().2,
        "pods \"a\" is forbidden: maximum cpu usage per Container is 500m, but limit is 600m"
    );
    assert_eq!(
        resize(&client, "400m", "500m", "").await.refusal().2,
        "pods \"a\" is forbidden: exceeded quota: quota, requested: requests.cpu=300m, used: requests.cpu=100m, limited: \
         requests.cpu=300m"
    );
    resize(&client, "150m", "300m", "?dryRun=All").await.ok();
    assert_eq!(used(&client).await, json!({"requests.cpu": "100m", "pods": "1"}));
    resize(&client, "200m", "300m", "").await.ok();
    assert_eq!(used(&client).await, json!({"requests.cpu": "200m", "pods": "1"}));
    // A controller gives back what is not used any more.
    resize(&client, "50m", "300m", "").await.ok();
    assert_eq!(used(&client).await, json!({"requests.cpu": "200m", "pods": "1"}));
}

#[tokio::test]
async fn a_container_that_admission_adds_gets_its_limits() {
    let client = Client::empty();
    range(&client).await;
    let adds = "[JSONPatch{op: 'add', path: '/spec/containers/-', value: Object.spec.containers{name: 'side', image: 'i'}}]";
    let policy = json!({"metadata": {"name": "p"}, "spec": {
        "reinvocationPolicy": "Never",
        "matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"],
        }]},
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": adds}}],
    }});
    let binding = json!({"metadata": {"name": "p"}, "spec": {"policyName": "p"}});
    for (plural, object) in [("policies", policy), ("policybindings", binding)] {
        let path = format!("{GROUP}/mutatingadmission{plural}");
        client.post(&path, object).await.ok();
    }
    let created = create(&client, pod("a", "10m", "20m")).await.ok();
    let side = &created["spec"]["containers"][1];
    assert_eq!(
        side["resources"],
        json!({"limits": {"cpu": "300m"}, "requests": {"cpu": "50m"}})
    );
    assert_eq!(
        created["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
        "LimitRanger plugin set: cpu request for container side; cpu limit for container side"
    );
}

#[tokio::test]
async fn what_several_containers_break_is_said_once() {
    let client = Client::empty();
    let limit = json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "2", "memory": "2"}});
    let range = json!({"metadata": {"name": "range"}, "spec": {"limits": [limit]}});
    client.post(&format!("{NAMESPACE}/limitranges"), range).await.ok();
    let mut pod = pod("a", "10m", "30m");
    let mut second = pod["spec"]["containers"][0].clone();
    second["name"] = json!("d");
    pod["spec"]["containers"].as_array_mut().unwrap().push(second);
    let (_, _, message) = create(&client, pod).await.refusal();
    assert_eq!(
        message.matches("provided ratio is 3.000000").count(),
        1,
        "{message}"
    );
    assert_eq!(message.matches("no request is specified").count(), 1, "{message}");
}

fn of_class(class: &str, more: Value) -> Value {
    let mut pod = pod("a", "10m", "20m");
    pod["spec"]["runtimeClassName"] = json!(class);
    let spec = pod["spec"].as_object_mut().unwrap();
    spec.extend(more.as_object().unwrap().clone());
    pod
}

#[tokio::test]
async fn a_pod_gets_what_its_runtime_class_says() {
    let client = Client::empty();
    let class = json!({"metadata": {"name": "class"}, "handler": "h", "overhead": {"podFixed": {"cpu": "5m"}}, "scheduling": {
        "nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "operator": "Exists"}],
    }});
    client.post(CLASSES, class).await.ok();
    let given = json!({"overhead": {"cpu": "0.005"}, "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}]});
    let spec = create(&client, of_class("class", given)).await.ok()["spec"].clone();
    assert_eq!(
        (&spec["overhead"], &spec["nodeSelector"]),
        (&json!({"cpu": "5m"}), &json!({"a": "b"}))
    );
    let keys: Vec<_> = spec["tolerations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["key"])
        .collect();
    assert_eq!(
        keys,
        [
            "node.kubernetes.io/not-ready",
            "node.kubernetes.io/unreachable",
            "k"
        ]
    );
}

#[tokio::test]
async fn a_pod_that_is_not_as_its_runtime_class_is_refused() {
    let client = Client::empty();
    let plain = json!({"metadata": {"name": "plain"}, "handler": "h"});
    let class = json!({
        "metadata": {"name": "class"}, "handler": "h", "overhead": {"podFixed": {"cpu": "5m"}},
        "scheduling": {"nodeSelector": {"a": "b"}},
    });
    client.post(CLASSES, plain).await.ok();
    client.post(CLASSES, class).await.ok();
    let mut without = pod("a", "10m", "20m");
    without["spec"]["overhead"] = json!({"cpu": "1m"});
    let unfounded = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
    for (pod, why) in [
        (
            of_class("missing", json!({})),
            "pod rejected: RuntimeClass \"missing\" not found",
        ),
        (without, unfounded),
        (of_class("plain", json!({"overhead": {"cpu": "6m"}})), unfounded),
        (
            of_class("class", json!({"overhead": {"cpu": "6m"}})),
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
        (
            of_class("class", json!({"nodeSelector": {"a": "c"}})),
            "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c",
        ),
    ] {
        let (code, reason, message) = create(&client, pod).await.refusal();
        assert_eq!((code, &*reason), (403, "Forbidden"));
        assert_eq!(message, format!("pods \"a\" is forbidden: {why}"));
    }
    create(&client, of_class("plain", json!({}))).await.ok();
}
