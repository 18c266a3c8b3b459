//! Parts of objects with a form of their own, reviews, and events as both of their groups have them.

use kube_sim::{Controller, Sim};
use serde_json::{Value, json};

use crate::client::{Client, WIDGETS, widget, widget_definition};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

#[tokio::test]
async fn a_scale_is_read_and_changed() {
    let client = Client::empty();
    let selector = json!({
        "matchLabels": {"b": "c"},
        "matchExpressions": [{"key": "a", "operator": "In", "values": ["2", "1"]}, {"key": "d", "operator": "DoesNotExist"}],
    });
    let pod = json!({"metadata": {"labels": {"a": "1", "b": "c"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"replicas": 2, "selector": selector, "template": pod});
    let deployment = json!({"metadata": {"name": "d"}, "spec": spec});
    client.post(DEPLOYMENTS, deployment).await.ok();
    let path = format!("{DEPLOYMENTS}/d/scale");
    let scale = client.get(&path).await.ok();
    assert_eq!(
        (&scale["kind"], &scale["apiVersion"]),
        (&json!("Scale"), &json!("autoscaling/v1"))
    );
    assert_eq!(scale["spec"], json!({"replicas": 2}));
    assert_eq!(
        scale["status"],
        json!({"replicas": 0, "selector": "a in (1,2),b=c,!d"})
    );

    let with = |replicas: i64| json!({"metadata": {"name": "d"}, "spec": {"replicas": replicas}});
    let scaled = client.put(&path, with(5)).await.ok();
    assert_eq!(scaled["spec"]["replicas"], 5);
    let whole = client.get(&format!("{DEPLOYMENTS}/d")).await.ok();
    assert_eq!(
        (&whole["spec"]["replicas"], &whole["metadata"]["generation"]),
        (&json!(5), &json!(2))
    );
    assert_eq!(
        client.merge(&path, json!({"spec": {"replicas": 7}})).await.ok()["spec"]["replicas"],
        7
    );
    let old = json!({"metadata": {"name": "d", "resourceVersion": "1"}, "spec": {"replicas": 1}});
    assert_eq!(client.put(&path, old).await.code, 409);
    let (code, _, message) = client.put(&path, with(-1)).await.refusal();
    let refusal = "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!((code, message.as_str()), (422, refusal));
    assert_eq!(
        client.put(&format!("{path}?dryRun=All"), with(9)).await.ok()["spec"]["replicas"],
        9
    );
    assert_eq!(client.get(&path).await.ok()["spec"]["replicas"], 7);
    assert_eq!(client.get(&format!("{DEPLOYMENTS}/none/scale")).await.code, 404);
    // What is applied need not repeat the name; what replaces it does.
    let apply = format!("{path}?fieldManager=m&force=true");
    let applied = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 7}});
    let scaled = client
        .patch(&apply, "application/apply-patch+yaml", applied)
        .await
        .ok();
    assert_eq!(scaled["spec"]["replicas"], 7);
    assert_eq!(
        client.put(&path, json!({"spec": {"replicas": 8}})).await.code,
        400
    );
    assert_eq!(client.delete(&path, json!(null)).await.code, 405);
}

#[tokio::test]
async fn custom_resources_scale_where_their_definition_says() {
    let mut definition = widget_definition();
    definition["spec"]["versions"][0]["subresources"]["scale"] = json!({
        "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.ready", "labelSelectorPath": ".status.selector",
    });
    let client = Client::new(Sim::builder().crd(definition).build().unwrap());
    client.post(WIDGETS, widget("w", 3)).await.ok();
    let status = json!({"status": {"ready": 1, "selector": "a=b"}});
    client.merge(&format!("{WIDGETS}/w/status"), status).await.ok();
    let path = format!("{WIDGETS}/w/scale");
    let scale = client.merge(&path, json!({"spec": {"replicas": 4}})).await.ok();
    assert_eq!(scale["spec"]["replicas"], 4);
    assert_eq!(scale["status"], json!({"replicas": 1, "selector": "a=b"}));
    assert_eq!(client.get(&format!("{WIDGETS}/w")).await.ok()["spec"]["size"], 4);
    let sizeless =
        json!({"apiVersion": "sim.example/v1", "kind": "Widget", "metadata": {"name": "x"}, "spec": {}});
    client.post(WIDGETS, sizeless).await.ok();
    let (code, _, message) = client.get(&format!("{WIDGETS}/x/scale")).await.refusal();
    assert_eq!(
        (code, message.as_str()),
        (
            500,
            "Internal error occurred: the spec replicas field \".spec.size\" does not exist"
        )
    );
    // There is no scale to be read, but one can be set.
    let path = format!("{WIDGETS}/x/scale");
    let (code, _, message) = client
        .merge(&path, json!({"metadata": {"labels": null}}))
        .await
        .refusal();
    assert_eq!(
        (code, message.as_str()),
        (400, "the spec replicas field \".spec.size\" cannot be empty")
    );
    let scale = client.merge(&path, json!({"spec": {"replicas": 2}})).await.ok();
    assert_eq!(scale["spec"]["replicas"], 2);
}

/// The budget's status is what its controller would write.
#[tokio::test]
async fn evictions_keep_to_the_budget() {
    let client = Client::empty();
    for (name, phase) in [("a", "Running"), ("b", "Running"), ("c", "Pending")] {
        let pod = json!({"metadata": {"name": name, "labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        client.post(PODS, pod).await.ok();
        let status = json!({"status": {"phase": phase, "conditions": [{"type": "Ready", "status": "True"}]}});
        client.merge(&format!("{PODS}/{name}/status"), status).await.ok();
    }
    let evict = async |name: &str, query: &str| {
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
        client
            .post(&format!("{PODS}/{name}/eviction{query}"), eviction)
            .await
    };
    let budget = json!({"metadata": {"name": "pdb"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}});
    client.post(BUDGETS, budget).await.ok();
    let refused = async |name: &str| {
        let refusal = evict(name, "").await;
        assert_eq!(
            refusal.refusal().2,
            "Cannot evict pod as it would violate the pod's disruption budget."
        );
        let retry = refusal
            .headers
            .get("retry-after")
            .map(|value| value.to_str().unwrap().to_owned());
        (refusal.json()["details"]["causes"][0]["message"].clone(), retry)
    };
    let processing = json!("The disruption budget pdb is still being processed by the server.");
    assert_eq!(refused("a").await, (processing, Some("10".into())));
    let allow = async |allowed: u64| {
        let status = json!({"status": {
            "observedGeneration": 1, "disruptionsAllowed": allowed, "desiredHealthy": 1, "currentHealthy": 1 + allowed,
        }});
        client.merge(&format!("{BUDGETS}/pdb/status"), status).await.ok();
    };
    allow(1).await;
    assert_eq!(evict("a", "?dryRun=All").await.code, 201);
    assert_eq!(evict("a", "").await.code, 201);
    assert_eq!(client.get(&format!("{PODS}/a")).await.code, 404);
    let counted = client.get(&format!("{BUDGETS}/pdb")).await.ok();
    assert_eq!(counted["status"]["disruptionsAllowed"], 0);
    assert!(counted["status"]["disruptedPods"]["a"].is_string());
    let spent = json!("The disruption budget pdb does not allow evicting pods currently");
    assert_eq!(refused("b").await, (spent, None));
    // What does not run yet needs no budget.
    assert_eq!(evict("c", "").await.code, 201);
    assert_eq!(evict("none", "").await.code, 404);
    let (code, _, message) = client
        .post(&format!("{PODS}/b/eviction"), json!({"metadata": {"name": "x"}}))
        .await
        .refusal();
    assert_eq!(
        (code, message.as_str()),
        (400, "name in URL does not match name in Eviction object")
    );
}

#[tokio::test]
async fn a_binding_gives_a_pod_its_node_once() {
    let client = Client::empty();
    client
        .post(
            PODS,
            json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
        )
        .await
        .ok();
    let bind = async |target: Value| {
        let binding = json!({"metadata": {"name": "p", "annotations": {"why": "room"}}, "target": target});
        client.post(&format!("{PODS}/p/binding"), binding).await
    };
    assert_eq!(
        bind(json!({"kind": "Node"})).await.refusal().2,
        "target.name: Required value"
    );
    assert_eq!(
        bind(json!({"kind": "Pod", "name": "n"})).await.refusal().2,
        "target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\""
    );
    assert_eq!(bind(json!({"kind": "Node", "name": "n1"})).await.code, 201);
    let pod = client.get(&format!("{PODS}/p")).await.ok();
    assert_eq!(pod["spec"]["nodeName"], "n1");
    assert_eq!(pod["status"]["conditions"][0]["type"], "PodScheduled");
    assert_eq!(
        (
            &pod["metadata"]["annotations"]["why"],
            &pod["metadata"]["generation"]
        ),
        (&json!("room"), &json!(1))
    );
    let (code, _, message) = bind(json!({"kind": "Node", "name": "n2"})).await.refusal();
    let refusal =
        "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\"";
    assert_eq!((code, message.as_str()), (409, refusal));
}

#[tokio::test]
async fn ephemeral_containers_are_only_added() {
    let client = Client::empty();
    client
        .post(
            PODS,
            json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
        )
        .await
        .ok();
    let path = format!("{PODS}/p/ephemeralcontainers");
    let with = |containers: Value| json!({"metadata": {"labels": {"no": "no"}}, "spec": {"nodeName": "n", "ephemeralContainers": containers}});
    let debug = json!([{"name": "debug", "image": "i"}]);
    let pod = client.merge(&path, with(debug)).await.ok();
    assert_eq!(pod["spec"]["ephemeralContainers"][0]["name"], "debug");
    assert_eq!(pod["spec"]["nodeName"], json!(null));
    assert_eq!(pod["metadata"]["labels"], json!(null));
    let (code, _, message) = client.merge(&path, with(json!([]))).await.refusal();
    assert_eq!(code, 422);
    assert!(
        message.ends_with("existing ephemeral containers \"debug\" may not be removed\n"),
        "{message}"
    );
}

/// By `O=g`, signed by a key that nobody has any more.
const REQUEST: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIUk1Ib0NBUUF3R0RFS01BZ0dBMVVFQXd3QmVERUtNQWdHQTFVRUNnd0JaekJaTUJNR0J5cUdTTTQ5QWdFRwpDQ3FHU000OUF3RUhBMElBQk4xM0VZVFdldjdZZDdEWVZ4OTF4TGx6dk9wZ3hZYS9GQjZhUFloaHc0aDUxYWZ0CjVtZ2h1SGhMSkk0ZVQ5NTVDaXJYc2xQak1sZ0RJWk5YSVM1aWdYV2dBREFLQmdncWhrak9QUVFEQWdOSEFEQkUKQWlBNEprNnVzRDc4WjBXUC82L1hrL0J6OXFsbjZaRGhDVHZBS0ltVjdBMFhQZ0lnUGZzQWVEcDFwblJNQzkxcQpZdFpBd29QYkppQ3ZobjFueDA1V2kwTTBLSzg9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";

/// Of the request, an approval changes labels and conditions only.
#[tokio::test]
async fn a_request_for_a_certificate_is_approved_once() {
    let client = Client::empty();
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let spec = json!({"request": REQUEST, "signerName": "example.com/x", "usages": ["client auth"]});
    let made = json!({"metadata": {"name": "a"}, "spec": spec});
    let mut request = client.post(requests, made).await.ok();
    let path = format!("{requests}/a/approval");
    request["metadata"]["labels"] = json!({"l": "1"});
    request["spec"]["signerName"] = "example.com/y".into();
    request["status"] =
        json!({"conditions": [{"type": "Approved", "status": "True"}], "certificate": "eA=="});
    let approved = client.put(&path, request).await.ok();
    assert_eq!(approved["metadata"]["labels"]["l"], "1");
    assert_eq!(approved["spec"]["signerName"], "example.com/x");
    assert_eq!(approved["status"]["certificate"], json!(null));
    let condition = &approved["status"]["conditions"][0];
    assert!(condition["lastUpdateTime"].is_string() && condition["lastTransitionTime"].is_string());
    assert_eq!(client.get(&path).await.ok(), approved);
    let denied = json!([{"type": "Approved", "status": "True"}, {"type": "Denied", "status": "True"}]);
    for (subresource, conditions, refusal) in [
        (
            "approval",
            json!([]),
            "updates may not remove a condition of type \"Approved\"",
        ),
        (
            "status",
            json!([]),
            "updates may not remove a condition of type \"Approved\"",
        ),
        (
            "approval",
            denied,
            "Approved and Denied conditions are mutually exclusive",
        ),
    ] {
        let patch = json!({"status": {"conditions": conditions}});
        let refused = client
            .merge(&format!("{requests}/a/{subresource}"), patch)
            .await
            .refusal();
        assert!(refused.0 == 422 && refused.2.ends_with(refusal), "{refused:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_are_known_while_they_are_good() {
    let client = Client::new(Sim::builder().controllers(Controller::ALL).build().unwrap());
    let path = "/api/v1/namespaces/default/serviceaccounts/default/token";
    let made = client
        .post(path, json!({"spec": {"expirationSeconds": 600}}))
        .await;
    assert_eq!(made.code, 201);
    let token = made.json()["status"]["token"].clone();
    let reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    let review = async |token: &Value| {
        client.post(reviews, json!({"spec": {"token": token}})).await.ok()["status"].clone()
    };
    let known = review(&token).await;
    assert_eq!(
        (&known["authenticated"], &known["user"]["username"]),
        (&json!(true), &json!("system:serviceaccount:default:default"))
    );
    assert_eq!(
        review(&json!("x")).await,
        json!({"user": {}, "error": "invalid bearer token"})
    );
    tokio::time::advance(std::time::Duration::from_secs(601)).await;
    assert_eq!(review(&token).await["error"], "invalid bearer token");
    let short = client
        .post(path, json!({"spec": {"expirationSeconds": 60}}))
        .await
        .refusal();
    assert!(
        short
            .2
            .ends_with("60: may not specify a duration less than 10 minutes"),
        "{short:?}"
    );
    assert_eq!(
        client
            .post(&path.replace("/default/token", "/none/token"), json!({}))
            .await
            .code,
        404
    );
}

#[tokio::test]
async fn reviews_are_answered_and_not_kept() {
    let client = Client::empty();
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let asked = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let answer = client.post(path, asked).await;
    assert_eq!(
        (answer.code, &answer.json()["status"]),
        (201, &json!({"allowed": true}))
    );
    assert_eq!(client.get(path).await.code, 405);
    let list = client.get("/apis/authorization.k8s.io/v1").await.ok();
    assert_eq!(list["resources"][1]["verbs"], json!(["create"]));
    let refused = client
        .store()
        .create(json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}));
    assert!(refused.unwrap_err().message().contains("not stored"));
}

#[tokio::test]
async fn events_have_no_empty_reporter_in_their_own_group() {
    let client = Client::empty();
    let old = "/api/v1/namespaces/default/events";
    let event = json!({
        "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}, "message": "m",
    });
    let made = client.post(old, event).await.ok();
    assert_eq!(made["reportingComponent"], "");
    let own = old.replace("/api/v1", "/apis/events.k8s.io/v1");
    let mut read = client.get(&format!("{own}/e")).await.ok();
    assert_eq!(
        [read.get("reportingController"), read.get("reportingInstance")],
        [None, None]
    );
    read["note"] = "changed".into();
    client.put(&format!("{own}/e"), read).await.ok();
    let read = client.get(&format!("{old}/e")).await.ok();
    assert_eq!(
        [
            &read["message"],
            &read["reportingComponent"],
            &read["reportingInstance"]
        ],
        ["changed", "", ""]
    );
}

/// As a recorder writes an event, and as everybody else reads it.
#[tokio::test(start_paused = true)]
async fn events_are_the_same_in_both_groups() {
    let client = Client::empty();
    let (new, old) = (
        "/apis/events.k8s.io/v1/namespaces/default/events",
        "/api/v1/namespaces/default/events",
    );
    let regarding = json!({"kind": "Pod", "namespace": "default", "name": "p"});
    let event = json!({
        "metadata": {"name": "e"}, "eventTime": "2026-11-22T13:00:00.000000Z", "reportingController": "example.com/c",
        "reportingInstance": "c-1", "action": "Act", "reason": "Why", "regarding": regarding, "note": "hi", "type": "Normal",
    });
    let made = client.post(new, event).await.ok();
    assert_eq!(
        (&made["apiVersion"], &made["note"]),
        (&json!("events.k8s.io/v1"), &json!("hi"))
    );
    assert_eq!(made["deprecatedFirstTimestamp"], json!(null));
    let read = client.get(&format!("{old}/e")).await.ok();
    assert_eq!(read["involvedObject"], regarding);
    assert_eq!(
        (&read["message"], &read["reportingComponent"]),
        (&json!("hi"), &json!("example.com/c"))
    );
    assert_eq!((&read["note"], &read["apiVersion"]), (&json!(null), &json!("v1")));

    let series =
        json!({"series": {"count": 2, "lastObservedTime": "2026-11-22T13:00:01.000000Z"}, "note": "again"});
    let kind = "application/strategic-merge-patch+json";
    client.patch(&format!("{new}/e"), kind, series).await.ok();
    assert_eq!(client.get(&format!("{old}/e")).await.ok()["message"], "again");
    let selected = |field: &str| format!("?fieldSelector={field}%3DPod");
    assert_eq!(
        client
            .get(&format!("{new}{}", selected("regarding.kind")))
            .await
            .names(),
        ["e"]
    );
    assert_eq!(
        client
            .get(&format!("{old}{}", selected("involvedObject.kind")))
            .await
            .names(),
        ["e"]
    );
    let mut watch = client.watch(&format!("{new}?watch=true&timeoutSeconds=1")).await;
    let seen = watch.next().await.unwrap();
    assert_eq!(
        (&seen["type"], &seen["object"]["note"]),
        (&json!("ADDED"), &json!("again"))
    );
    let refused = client.get(&format!("{new}/none")).await.refusal();
    assert_eq!(refused.2, "events.events.k8s.io \"none\" not found");
    let stored = client
        .store()
        .get("events.k8s.io/v1", "Event", Some("default"), "e")
        .unwrap();
    assert_eq!(stored["note"], "again");
    client.delete(&format!("{new}/e"), json!(null)).await.ok();
    assert_eq!(client.get(old).await.names(), [""; 0]);
}

#[tokio::test]
async fn a_pod_without_a_node_has_an_empty_log_and_no_processes() {
    let client = Client::empty();
    let containers = json!([{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]);
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": containers}});
    client.post(PODS, pod).await.ok();
    assert_eq!(client.get(&format!("{PODS}/p/log?container=a")).await.code, 204);
    for (path, expected) in [
        (
            "log",
            "a container name must be specified for pod p, choose one of: [a b]",
        ),
        ("log?container=x", "container x is not valid for pod p"),
        (
            "exec?container=a&command=ls",
            "pod p does not have a host assigned",
        ),
        ("portforward", "pod p does not have a host assigned"),
    ] {
        let (code, _, message) = client.get(&format!("{PODS}/p/{path}")).await.refusal();
        assert_eq!((code, message.as_str()), (400, expected), "{path}");
    }
}

#[tokio::test]
async fn what_only_a_node_could_answer_is_refused_with_a_reason() {
    let client = Client::empty();
    let node = json!({"metadata": {"name": "n"}});
    client.post("/api/v1/nodes", node).await.ok();
    let addresses = json!({"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}});
    client.merge("/api/v1/nodes/n/status", addresses).await.ok();
    client
        .post(
            PODS,
            json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}}),
        )
        .await
        .ok();
    let address = json!({"status": {"podIP": "10.0.0.2", "podIPs": [{"ip": "10.0.0.2"}]}});
    client.merge(&format!("{PODS}/p/status"), address).await.ok();
    for subresource in [
        "log?follow=true",
        "exec?command=ls",
        "attach",
        "portforward",
        "proxy/a/b",
    ] {
        let (code, reason, message) = client.get(&format!("{PODS}/p/{subresource}")).await.refusal();
        assert_eq!((code, reason.as_str()), (501, "NotImplemented"), "{subresource}");
        assert!(message.contains("without kubelets"), "{message}");
    }
    let posted = client
        .post(&format!("{PODS}/p/exec?command=ls"), json!(null))
        .await;
    assert_eq!(posted.code, 501);
    assert_eq!(client.get(&format!("{PODS}/none/log")).await.code, 404);
    let services = "/api/v1/namespaces/default/services";
    let proxied = format!("{services}/https:s:443/proxy/healthz");
    assert_eq!(client.get(&proxied).await.code, 404);
    let ports = json!([{"port": 443}]);
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": ports}});
    client.post(services, service).await.ok();
    let subsets = json!([{"addresses": [{"ip": "10.0.0.2"}], "ports": ports}]);
    let endpoints = json!({"metadata": {"name": "s"}, "subsets": subsets});
    client
        .post("/api/v1/namespaces/default/endpoints", endpoints)
        .await
        .ok();
    assert_eq!(client.get(&proxied).await.code, 501);
    assert_eq!(
        client
            .get("/api/v1/namespaces/default/configmaps/m/log")
            .await
            .code,
        404
    );
}

#[tokio::test]
async fn the_first_address_of_a_pod_has_a_field_of_its_own() {
    let client = Client::empty();
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    client.post(PODS, pod).await.ok();
    let path = format!("{PODS}/p/status");
    let listed = |addresses: &[&str]| {
        let addresses = addresses.iter().map(|address| json!({"ip": address}));
        addresses.collect::<Value>()
    };
    let both = json!({"podIP": "10.0.0.3", "podIPs": listed(&["10.0.0.3", "fd00::1"])});
    for (patch, first, all) in [
        (json!({"podIP": "10.0.0.1"}), "10.0.0.1", &["10.0.0.1"][..]),
        (
            json!({"podIP": null, "podIPs": listed(&["10.0.0.2"])}),
            "10.0.0.2",
            &["10.0.0.2"],
        ),
        (
            json!({"podIP": "10.0.0.3", "podIPs": listed(&["10.0.0.4", "fd00::1"])}),
            "10.0.0.3",
            &["10.0.0.3"],
        ),
        (json!({"podIP": null}), "10.0.0.3", &["10.0.0.3"]),
        (json!({"podIPs": null}), "10.0.0.3", &["10.0.0.3"]),
        (both, "10.0.0.3", &["10.0.0.3", "fd00::1"]),
        (
            json!({"podIPs": listed(&["10.0.0.4", "fd00::1"])}),
            "10.0.0.3",
            &["10.0.0.3"],
        ),
    ] {
        let changed = client.merge(&path, json!({"status": patch})).await.ok();
        let status = &changed["status"];
        assert_eq!(
            (&status["podIP"], &status["podIPs"]),
            (&first.into(), &listed(all)),
            "{patch}"
        );
    }
    for none in [
        json!({"podIP": null, "podIPs": null}),
        json!({"podIP": "", "podIPs": []}),
    ] {
        let changed = client.merge(&path, json!({"status": none})).await.ok();
        let status = &changed["status"];
        assert_eq!((status.get("podIP"), status.get("podIPs")), (None, None));
    }
    let (code, _, message) = client
        .merge(&path, json!({"status": {"podIP": "bad"}}))
        .await
        .refusal();
    assert!(code == 422 && message.contains("status.podIPs[0]: "), "{message}");
    // That of its host stands alone.
    let changed = client
        .merge(&path, json!({"status": {"hostIP": "10.0.0.1"}}))
        .await
        .ok();
    assert_eq!(changed["status"].get("hostIPs"), None);
}
