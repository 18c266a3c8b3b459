//! Definitions whose objects a webhook converts. What single requests are answered when it is not there is compared with a real server
//! by `conformance`.

use kube_sim::Sim;
use serde_json::{Value, json};

use crate::client::{Client, WIDGETS, widget, widget_definition};
use crate::webhook::Webhook;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Version 1 has a size, which is a number; version 2 has a length, which is a text with a unit.
pub(crate) async fn converter() -> Webhook {
    Webhook::new(|request| {
        let wanted = &request["desiredAPIVersion"];
        let objects = request["objects"].as_array().unwrap().iter();
        let converted: Option<Vec<Value>> = objects.map(|object| converted(object, wanted)).collect();
        match converted {
            Some(objects) => json!({"convertedObjects": objects, "result": {"status": "Success"}}),
            None => json!({"result": {"status": "Failed", "message": "not a length"}}),
        }
    })
    .await
}

pub(crate) fn converted(object: &Value, wanted: &Value) -> Option<Value> {
    let mut object = object.clone();
    object["apiVersion"] = wanted.clone();
    object["spec"] = match wanted == "sim.example/v1" {
        true => {
            let length = object["spec"]["length"].as_str()?.strip_suffix("cm")?;
            json!({"size": length.parse::<i64>().ok()?})
        }
        false => json!({"length": format!("{}cm", object["spec"]["size"].as_i64()?)}),
    };
    Some(object)
}

pub(crate) fn definition(webhook: &Webhook) -> Value {
    let mut definition = widget_definition();
    let version = |name: &str, field: &str, of: &str| {
        json!({
            "name": name, "served": true, "storage": name == "v1", "subresources": {"status": {}},
            "selectableFields": [{"jsonPath": format!(".spec.{field}")}],
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {field: {"type": of}}},
                "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }}},
        })
    };
    definition["spec"]["versions"] = json!([
        version("v1", "size", "integer"),
        version("v2", "length", "string")
    ]);
    definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": webhook.client_config(), "conversionReviewVersions": ["v1"],
    }});
    definition
}

pub(crate) fn long(name: &str, length: &str) -> Value {
    json!({
        "apiVersion": "sim.example/v2", "kind": "Widget", "metadata": {"name": name}, "spec": {"length": length},
    })
}

async fn cluster() -> (Client, Webhook, String) {
    let webhook = converter().await;
    let client = Client::new(Sim::builder().crd(definition(&webhook)).build().unwrap());
    (client, webhook, WIDGETS.replace("/v1/", "/v2/"))
}

#[tokio::test]
async fn a_webhook_converts_what_is_written_and_read() {
    let (client, webhook, v2) = cluster().await;
    let made = client.post(&v2, long("a", "3cm")).await.ok();
    assert_eq!(made["spec"], json!({"length": "3cm"}));
    assert_eq!(made["apiVersion"], "sim.example/v2");
    let read = client.get(&format!("{WIDGETS}/a")).await.ok();
    assert_eq!(read["spec"], json!({"size": 3}));
    assert_eq!(
        read["metadata"]["resourceVersion"],
        made["metadata"]["resourceVersion"]
    );
    client.post(WIDGETS, widget("b", 5)).await.ok();
    let list = client.get(&v2).await.ok();
    let lengths: Vec<_> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["spec"]["length"].clone())
        .collect();
    assert_eq!(lengths, ["3cm", "5cm"]);
    let one = format!("{v2}/b");
    let patched = client.merge(&one, json!({"spec": {"length": "7cm"}})).await.ok();
    assert_eq!(patched["spec"], json!({"length": "7cm"}));
    let mut read = client.get(&one).await.ok();
    read["status"] = json!({"ready": true});
    client.put(&format!("{one}/status"), read).await.ok();
    let read = client.get(&format!("{WIDGETS}/b")).await.ok();
    assert_eq!(
        (&read["spec"]["size"], &read["status"]["ready"]),
        (&json!(7), &json!(true))
    );
    let asked = webhook.asked().len();
    client.get(&format!("{WIDGETS}/b")).await.ok();
    assert_eq!(
        webhook.asked().len(),
        asked,
        "what is stored as it is asked for is not converted"
    );
    let deleted = client.delete(&one, Value::Null).await.ok();
    assert_eq!(deleted["status"], "Success");
}

#[tokio::test]
async fn a_watch_selects_what_a_webhook_has_converted() {
    let (client, _webhook, v2) = cluster().await;
    client.post(WIDGETS, widget("a", 3)).await.ok();
    client.post(WIDGETS, widget("b", 4)).await.ok();
    let selected = format!("{v2}?fieldSelector=spec.length%3D3cm");
    let list = client.get(&selected).await.ok();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    let mut watch = client.watch(&format!("{selected}&watch=1")).await;
    let event = watch.next().await.unwrap();
    assert_eq!(
        (&event["type"], &event["object"]["spec"]),
        (&json!("ADDED"), &json!({"length": "3cm"}))
    );
    let size = |size: i64| json!({"spec": {"size": size}});
    client.merge(&format!("{WIDGETS}/b"), size(3)).await.ok();
    let (kind, name, _) = watch.event().await;
    assert_eq!((kind.as_str(), name.as_str()), ("ADDED", "b"));
    client.merge(&format!("{WIDGETS}/a"), size(9)).await.ok();
    let event = watch.next().await.unwrap();
    assert_eq!(
        (&event["type"], &event["object"]["spec"]),
        (&json!("DELETED"), &json!({"length": "3cm"}))
    );
}

#[tokio::test]
async fn nothing_is_written_that_a_webhook_does_not_convert() {
    let (client, _webhook, v2) = cluster().await;
    let refused = client.post(&v2, long("a", "three")).await;
    assert_eq!(refused.code, 500);
    assert_eq!(
        refused.json()["message"],
        "conversion webhook for sim.example/v2, Kind=Widget failed: not a length"
    );
    assert_eq!(client.get(&format!("{WIDGETS}/a")).await.code, 404);
    client.post(&v2, long("a", "3cm")).await.ok();
    let shorter = json!({"spec": {"length": "short"}});
    let refused = client.merge(&format!("{v2}/a"), shorter).await;
    assert_eq!(refused.code, 500);
    assert_eq!(client.get(&format!("{WIDGETS}/a")).await.ok()["spec"]["size"], 3);
}

#[tokio::test]
async fn deletions_lose_nothing_that_a_webhook_would_convert() {
    let (client, _webhook, v2) = cluster().await;
    for name in ["a", "b"] {
        let mut held = widget(name, 3);
        held["metadata"]["finalizers"] = json!(["sim.example/held"]);
        client.post(WIDGETS, held).await.ok();
    }
    client.post(&v2, long("c", "4cm")).await.ok();
    let held = client.delete(&format!("{v2}/a"), Value::Null).await.ok();
    assert_eq!(held["spec"], json!({"length": "3cm"}));
    let deleted = client.delete(&v2, Value::Null).await.ok();
    assert_eq!(deleted["items"][2]["spec"], json!({"length": "4cm"}));
    let left = client.get(WIDGETS).await.ok();
    let sizes: Vec<_> = left["items"].as_array().unwrap().iter().collect();
    assert_eq!(sizes.len(), 2);
    assert!(
        sizes
            .iter()
            .all(|left| left["spec"]["size"] == 3 && !left["metadata"]["deletionTimestamp"].is_null())
    );
}

#[tokio::test]
async fn who_applies_in_one_version_conflicts_in_another() {
    let (client, _webhook, v2) = cluster().await;
    let apply = async |path: String, manager: &str, object: Value| {
        let path = format!("{path}/a?fieldManager={manager}");
        client.patch(&path, "application/apply-patch+yaml", object).await
    };
    apply(v2.clone(), "x", long("a", "5cm")).await.ok();
    apply(v2, "x", long("a", "6cm")).await.ok();
    let mut other = widget("a", 7);
    other["spec"] = json!({"size": 7});
    let refused = apply(WIDGETS.to_owned(), "y", other).await;
    assert_eq!(
        (refused.code, refused.refusal().2.as_str()),
        (
            409,
            "Apply failed with 1 conflict: conflict with \"x\": .spec.length"
        )
    );
}

#[tokio::test]
async fn what_a_manager_applies_in_another_version_takes_the_place_of_what_it_applied() {
    let webhook = Webhook::new(|request| {
        let wanted = &request["desiredAPIVersion"];
        let objects = request["objects"].as_array().unwrap().iter();
        // While it is found out what is no longer applied, an object may be without its length.
        let objects = objects.map(|object| {
            converted(object, wanted).unwrap_or_else(|| {
                let mut object = object.clone();
                object["apiVersion"] = wanted.clone();
                object
            })
        });
        json!({"convertedObjects": objects.collect::<Vec<_>>(), "result": {"status": "Success"}})
    })
    .await;
    let client = Client::new(Sim::builder().crd(definition(&webhook)).build().unwrap());
    let apply = async |path: &str, object: Value| {
        let path = format!("{path}/a?fieldManager=x");
        client.patch(&path, "application/apply-patch+yaml", object).await
    };
    let mut first = long("a", "5cm");
    first["metadata"]["labels"] = json!({"first": "1"});
    apply(&WIDGETS.replace("/v1/", "/v2/"), first).await.ok();
    let second = json!({
        "apiVersion": "sim.example/v1", "kind": "Widget", "metadata": {"name": "a", "labels": {"second": "2"}}, "spec": {"size": 7},
    });
    let applied = apply(WIDGETS, second).await.ok();
    assert_eq!(applied["apiVersion"], "sim.example/v1");
    assert_eq!(applied["spec"], json!({"size": 7}));
    assert_eq!(applied["metadata"]["labels"], json!({"second": "2"}));
}

#[tokio::test]
async fn a_definition_can_get_a_webhook_later() {
    let webhook = converter().await;
    let client = Client::empty();
    let mut plain = definition(&webhook);
    plain["spec"]["conversion"] = json!({"strategy": "None"});
    client.post(DEFINITIONS, plain).await.ok();
    client.post(WIDGETS, widget("a", 3)).await.ok();
    let v2 = format!("{}/a", WIDGETS.replace("/v1/", "/v2/"));
    assert_eq!(client.get(&v2).await.ok()["spec"], json!({}));
    let conversion = json!({"spec": {"conversion": definition(&webhook)["spec"]["conversion"]}});
    let path = format!("{DEFINITIONS}/widgets.sim.example");
    client.merge(&path, conversion).await.ok();
    assert_eq!(client.get(&v2).await.ok()["spec"], json!({"length": "3cm"}));
}
