//! PodSecurity, and what clients are told of objects that are taken.

use serde_json::{Value, json};

use crate::client::{Answer, Client};

const NAMESPACES: &str = "/api/v1/namespaces";

fn namespace(name: &str, labels: Value) -> Value {
    json!({"metadata": {"name": name, "labels": labels}})
}

fn pod(name: &str, spec: Value) -> Value {
    let mut spec = spec;
    spec["containers"] = json!([{"name": "c", "image": "i"}]);
    json!({"metadata": {"name": name}, "spec": spec})
}

fn pods(namespace: &str) -> String {
    format!("{NAMESPACES}/{namespace}/pods")
}

fn warnings(answer: &Answer) -> Vec<&str> {
    let all = answer.headers.get_all("warning").into_iter();
    all.map(|warning| warning.to_str().unwrap()).collect()
}

#[tokio::test]
async fn a_pod_that_violates_the_policy_of_its_namespace_is_refused() {
    let client = Client::empty();
    let labels = json!({"pod-security.kubernetes.io/enforce": "baseline"});
    client.post(NAMESPACES, namespace("n", labels)).await.ok();
    client.post(&pods("n"), pod("fine", json!({}))).await.ok();
    let wild = client
        .post(&pods("n"), pod("wild", json!({"hostPID": true})))
        .await;
    let message = "pods \"wild\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostPID=true)";
    assert_eq!(wild.refusal(), (403, "Forbidden".into(), message.into()));
    client
        .post(&pods("default"), pod("wild", json!({"hostPID": true})))
        .await
        .ok();
}

#[tokio::test]
async fn a_template_of_pods_that_will_be_refused_is_taken_with_a_warning() {
    let client = Client::empty();
    let labels = json!({"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/warn-version": "v1.20"});
    client.post(NAMESPACES, namespace("n", labels)).await.ok();
    let template = json!({
        "metadata": {"labels": {"a": "b"}},
        "spec": {"hostIPC": true, "containers": [{"name": "c", "image": "i"}]},
    });
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    let made = client
        .post(
            "/apis/apps/v1/namespaces/n/deployments",
            json!({"metadata": {"name": "d"}, "spec": spec}),
        )
        .await;
    assert_eq!(made.code, 201);
    assert_eq!(
        warnings(&made),
        [r#"299 - "would violate PodSecurity \"baseline:v1.20\": host namespaces (hostIPC=true)""#]
    );
}

#[tokio::test]
async fn a_new_policy_is_held_against_the_first_three_thousand_pods() {
    let client = Client::empty();
    let owner =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "o", "namespace": "default"}});
    let owner = client.store().create(owner).unwrap();
    let reference = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": owner["metadata"]["uid"], "controller": true,
    });
    for n in 0..3_002 {
        let mut pod = pod(&format!("p{n:04}"), json!({"hostPID": true}));
        pod["apiVersion"] = "v1".into();
        pod["kind"] = "Pod".into();
        pod["metadata"]["namespace"] = "default".into();
        // All but the last are of one controller, of which one is looked at first.
        match n {
            3_001 => pod["spec"]["containers"][0]["securityContext"] = json!({"privileged": true}),
            _ => pod["metadata"]["ownerReferences"] = json!([reference]),
        }
        client.store().create(pod).unwrap();
    }
    let label = |level: &str| json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": level}}});
    let path = format!("{NAMESPACES}/default");
    let labelled = client.merge(&path, label("baseline")).await;
    assert_eq!(
        warnings(&labelled),
        [
            r#"299 - "new PodSecurity enforce level only checked against the first 3000 of 3002 existing pods""#,
            r#"299 - "existing pods in namespace \"default\" violate the new PodSecurity enforce level \"baseline:latest\"""#,
            r#"299 - "p0000 (and 2998 other pods): host namespaces""#,
            r#"299 - "p3001: host namespaces, privileged""#,
        ]
    );
    assert_eq!(warnings(&client.merge(&path, label("privileged")).await), [""; 0]);
    let (code, _, message) = client.merge(&path, label("strict")).await.refusal();
    let why = "must be one of privileged, baseline, restricted";
    let label = "metadata.labels[pod-security.kubernetes.io/enforce]";
    assert_eq!(code, 422);
    assert_eq!(
        message,
        format!("Namespace \"default\" is invalid: {label}: Invalid value: \"strict\": {why}")
    );
}

#[tokio::test]
async fn annotations_of_profiles_become_fields() {
    let client = Client::empty();
    let mut pod = pod("p", json!({}));
    pod["metadata"]["annotations"] =
        json!({"container.apparmor.security.beta.kubernetes.io/c": "localhost/x"});
    let made = client.post(&pods("default"), pod).await;
    assert_eq!(
        made.json()["spec"]["containers"][0]["securityContext"],
        json!({"appArmorProfile": {"type": "Localhost", "localhostProfile": "x"}})
    );
    assert_eq!(warnings(&made).len(), 1);
}

#[tokio::test]
async fn large_pods_are_not_all_held_against_a_new_policy() {
    let client = Client::empty();
    for n in 0..20 {
        let mut pod = pod(&format!("p{n}"), json!({"hostPID": true}));
        pod["apiVersion"] = "v1".into();
        pod["kind"] = "Pod".into();
        pod["metadata"]["namespace"] = "default".into();
        pod["spec"]["containers"][0]["env"] = json!([{"name": "A", "value": "x".repeat(1_000_000)}]);
        client.store().create(pod).unwrap();
    }
    let patch = json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "baseline"}}});
    let labelled = client.merge(&format!("{NAMESPACES}/default"), patch).await;
    assert_eq!(
        warnings(&labelled)[0],
        r#"299 - "new PodSecurity enforce level only checked against the first 17 of 20 existing pods""#
    );
}

#[tokio::test]
async fn what_was_taken_before_may_stay_but_not_come_anew() {
    let client = Client::empty();
    let peers = |ranges: &[&str]| -> Value {
        let peers = ranges.iter().map(|range| json!({"ipBlock": {"cidr": range}}));
        json!({"spec": {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": peers.collect::<Vec<_>>()}]}})
    };
    let mut policy = peers(&["10.0.0.1/8"]);
    policy["apiVersion"] = "networking.k8s.io/v1".into();
    policy["kind"] = "NetworkPolicy".into();
    policy["metadata"] = json!({"name": "p", "namespace": "default"});
    client.store().create(policy).unwrap();
    let path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies/p";
    let moved = client.merge(path, peers(&["1.0.0.0/8", "10.0.0.1/8"])).await;
    assert_eq!((moved.code, warnings(&moved).len()), (200, 1));
    let added = client.merge(path, peers(&["10.0.0.1/8", "11.0.0.1/8"])).await;
    let (code, _, message) = added.refusal();
    assert!(
        code == 422 && message.contains("11.0.0.1/8") && !message.contains("10.0.0.1/8"),
        "{message}"
    );
}

#[tokio::test]
async fn numbers_of_a_job_in_the_store_are_only_numbers() {
    let client = Client::empty();
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "default"},
        "spec": {"completionMode": "Indexed", "completions": i64::MIN, "template": {"spec": {"containers": []}}},
    });
    client.store().create(job).unwrap();
    let patch = json!({"spec": {"completions": 3, "parallelism": 3}});
    let answer = client
        .merge("/apis/batch/v1/namespaces/default/jobs/j", patch)
        .await;
    assert_eq!(answer.code, 200);
}
