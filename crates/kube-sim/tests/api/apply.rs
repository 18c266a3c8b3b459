//! Server-side apply and `managedFields`, over HTTP on a clock that the test holds.

use std::time::Duration;

use http::Method;
use kube_sim::Sim;
use serde_json::{Value, json};

use crate::client::{Answer, CONFIGMAPS, Client, WIDGETS, configmap};

const APPLY: &str = "application/apply-patch+yaml";
const A: &str = "/api/v1/namespaces/default/configmaps/a";

fn map(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

impl Client {
    async fn apply(&self, path: &str, manager: &str, config: Value) -> Answer {
        self.patch(&format!("{path}?fieldManager={manager}"), APPLY, config)
            .await
    }
}

/// The managers of an object, each with its operation and fields.
fn managers(object: &Value) -> Vec<(String, String, Value)> {
    let entries = object["metadata"]["managedFields"].as_array();
    let entries = entries.into_iter().flatten().map(|entry| {
        let text = |name: &str| entry[name].as_str().unwrap_or("").to_owned();
        (text("manager"), text("operation"), entry["fieldsV1"].clone())
    });
    entries.collect()
}

fn owns(manager: &str, operation: &str, fields: Value) -> (String, String, Value) {
    (manager.to_owned(), operation.to_owned(), fields)
}

#[tokio::test]
async fn two_managers_share_an_object_until_they_disagree() {
    let client = Client::empty();
    let made = client.apply(A, "one", map(json!({"k": "1", "l": "1"}))).await;
    assert_eq!(made.code, 201);
    let shared = client.apply(A, "two", map(json!({"l": "1", "m": "2"}))).await;
    assert_eq!(shared.code, 200);
    let shared = shared.json();
    assert_eq!(shared["data"], json!({"k": "1", "l": "1", "m": "2"}));
    assert_eq!(
        managers(&shared),
        [
            owns("one", "Apply", json!({"f:data": {"f:k": {}, "f:l": {}}})),
            owns("two", "Apply", json!({"f:data": {"f:l": {}, "f:m": {}}})),
        ]
    );
    let refused = client.apply(A, "two", map(json!({"k": "2", "l": "1"}))).await;
    let message = "Apply failed with 1 conflict: conflict with \"one\": .data.k";
    assert_eq!(refused.refusal(), (409, "Conflict".into(), message.into()));
    assert_eq!(
        refused.json()["details"]["causes"],
        json!([{"reason": "FieldManagerConflict", "message": "conflict with \"one\"", "field": ".data.k"}])
    );
    let forced = client
        .apply(A, "two&force=true", map(json!({"k": "2", "l": "1"})))
        .await;
    let forced = forced.ok();
    // What nobody applies any more is gone.
    assert_eq!(forced["data"], json!({"k": "2", "l": "1"}));
    assert_eq!(
        managers(&forced),
        [
            owns("one", "Apply", json!({"f:data": {"f:l": {}}})),
            owns("two", "Apply", json!({"f:data": {"f:k": {}, "f:l": {}}})),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn times_and_versions_stay_where_nothing_changes() {
    let client = Client::empty();
    let first = client.apply(A, "one", map(json!({"k": "1"}))).await.ok();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(client.apply(A, "one", map(json!({"k": "1"}))).await.ok(), first);
    assert_eq!(client.merge(A, json!({"data": {"k": "1"}})).await.ok(), first);
    let time = |object: &Value| object["metadata"]["managedFields"][0]["time"].clone();
    let changed = client.apply(A, "one", map(json!({"k": "2"}))).await.ok();
    assert_ne!(time(&changed), time(&first));
    assert_ne!(
        changed["metadata"]["resourceVersion"],
        first["metadata"]["resourceVersion"]
    );
}

#[tokio::test]
async fn writes_of_every_kind_are_kept_with_their_manager() {
    let client = Client::empty();
    let agent = [
        ("user-agent", "my-controller/v1.2 (linux)"),
        ("content-type", "application/json"),
    ];
    let body = configmap("a", 1).to_string();
    let made = client.send(Method::POST, CONFIGMAPS, &agent, body).await.ok();
    let whole = json!({
        "f:data": {".": {}, "f:k": {}}, "f:metadata": {"f:labels": {".": {}, "f:n": {}}},
    });
    assert_eq!(managers(&made), [owns("my-controller", "Update", whole)]);
    let patched = client
        .merge(&format!("{A}?fieldManager=two"), json!({"data": {"k": "9"}}))
        .await
        .ok();
    assert_eq!(
        managers(&patched)[1],
        owns("two", "Update", json!({"f:data": {"f:k": {}}}))
    );
    let unnamed = client.merge(A, json!({"data": {"x": "y"}})).await.ok();
    assert_eq!(managers(&unnamed)[2].0, "unknown");
    // The owner of the server writes as it likes, and the managers stay.
    let mut object = client.get(A).await.json();
    object["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("managedFields");
    object["data"]["k"] = json!("owner");
    let updated = client.store().update(object).unwrap();
    assert_eq!(managers(&updated), managers(&unnamed));
    assert_eq!(managers(&client.store().create(configmap("b", 1)).unwrap()), []);
}

#[tokio::test]
async fn what_was_there_before_the_first_apply_is_owned() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let config = json!({"k": "9"});
    let refused = client.apply(A, "one", map(config.clone())).await;
    let message = "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.k";
    assert_eq!(refused.refusal().2, message);
    let forced = client.apply(A, "one&force=true", map(config)).await.ok();
    assert_eq!(
        managers(&forced)[0],
        owns("one", "Apply", json!({"f:data": {"f:k": {}}}))
    );
    assert_eq!(managers(&forced)[1].0, "before-first-apply");
}

#[tokio::test]
async fn items_of_a_list_map_belong_to_who_applies_them() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"ports": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
        "items": {"type": "object", "properties": {
            "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "name": {"type": "string"},
        }},
    }}}}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.sim.example"},
        "spec": {
            "group": "sim.example", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    let client = Client::new(Sim::builder().crd(definition).build().unwrap());
    let path = format!("{WIDGETS}/w");
    let widget = |ports: Value| {
        json!({
            "apiVersion": "sim.example/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"ports": ports},
        })
    };
    let port = |port: u16, protocol: &str| json!({"port": port, "protocol": protocol});
    let both = widget(json!([port(80, "TCP"), port(80, "UDP")]));
    client.apply(&path, "one", both).await.ok();
    // The protocol is TCP by default: the item is the one that is there.
    let named = widget(json!([{"port": 80, "name": "web"}]));
    let named = client.apply(&path, "two", named).await.ok();
    let web = json!({"port": 80, "protocol": "TCP", "name": "web"});
    assert_eq!(named["spec"]["ports"], json!([web, port(80, "UDP")]));
    let none = client.apply(&path, "one", widget(json!([]))).await.ok();
    let left = none["spec"]["ports"].as_array().unwrap();
    assert_eq!((left.len(), &left[0]["name"]), (1, &json!("web")));
}

#[tokio::test]
async fn a_configuration_must_fit_its_request() {
    let client = Client::empty();
    for (manager, config, code) in [
        ("", map(json!({})), 422),
        (
            "one",
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}),
            400,
        ),
        (
            "one",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}),
            400,
        ),
        (
            "one",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": []}}),
            400,
        ),
        ("one", json!([]), 400),
        ("one", map(json!({"k": 1})), 500),
    ] {
        let answer = client.apply(A, manager, config.clone()).await;
        assert_eq!(answer.code, code, "{config}");
    }
    assert_eq!(client.get(A).await.code, 404);
    let dry = client.apply(A, "one&dryRun=All", map(json!({"k": "1"}))).await;
    assert_eq!((dry.code, client.get(A).await.code), (201, 404));
}

/// The spec of a deployment.
fn selected_pods() -> Value {
    let pod =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    json!({"selector": {"matchLabels": {"a": "b"}}, "template": pod})
}

#[tokio::test]
async fn a_status_is_owned_apart() {
    let client = Client::empty();
    let path = "/apis/apps/v1/namespaces/default/deployments/d";
    let deployment = |part: &str, value: Value| {
        let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}});
        object[part] = value;
        object
    };
    client
        .apply(path, "one", deployment("spec", selected_pods()))
        .await
        .ok();
    let status = deployment("status", json!({"replicas": 1}));
    let without = client.apply(path, "two", status.clone()).await.ok();
    assert_eq!(managers(&without).len(), 1);
    let with = client.apply(&format!("{path}/status"), "two", status).await.ok();
    let entry = &with["metadata"]["managedFields"][1];
    assert_eq!(
        (&entry["manager"], &entry["subresource"]),
        (&json!("two"), &json!("status"))
    );
    assert_eq!(entry["fieldsV1"], json!({"f:status": {"f:replicas": {}}}));
    assert_eq!(with["status"]["replicas"], 1);
}

#[tokio::test]
async fn what_is_owned_as_a_whole_has_the_fields_of_its_schema() {
    let client = Client::empty();
    let path = "/apis/apps/v1/namespaces/default/deployments/d";
    let deployment = |selector: Value| {
        let mut spec = selected_pods();
        spec["selector"] = selector;
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec})
    };
    let misspelt = client
        .apply(path, "m", deployment(json!({"matchLabel": {"a": "b"}})))
        .await;
    let (code, _, message) = misspelt.refusal();
    assert_eq!(code, 500, "{message}");
    assert!(
        message.contains(".spec.selector.matchLabel: field not declared in schema"),
        "{message}"
    );
    let right = client
        .apply(path, "m", deployment(json!({"matchLabels": {"a": "b"}})))
        .await;
    assert_eq!(right.code, 201);
}
