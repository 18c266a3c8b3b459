//! Encodings: what is answered in protobuf and in YAML is what is answered in JSON.

use bytes::Buf as _;
use http::Method;
use http_body_util::BodyExt as _;
use kube_protobuf::{Descriptor, UnknownFields, from_message, to_value, to_vec};
use kube_sim::Sim;
use serde_json::{Value, json};

use crate::client::{Answer, CONFIGMAPS, Client, WIDGETS, configmap, with_widgets};

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

fn media_type(answer: &Answer) -> &str {
    answer.headers["content-type"].to_str().unwrap()
}

#[track_caller]
fn protobuf(answer: &Answer) -> Value {
    assert_eq!(
        media_type(answer).split(';').next(),
        Some(PROTOBUF),
        "{:?}",
        answer.body
    );
    to_value(&answer.body).unwrap()
}

#[track_caller]
fn yaml(answer: &Answer) -> Value {
    assert_eq!(media_type(answer), YAML);
    serde_saphyr::from_slice(&answer.body).unwrap()
}

#[tokio::test]
async fn objects_and_lists_are_equal_in_every_encoding() {
    let sim = Sim::builder().nodes(3).pods(40).build().unwrap();
    let client = Client::new(sim);
    client.configmaps(&["a", "b"]);
    let name = client.get("/api/v1/pods?limit=1").await.names().remove(0);
    let one = format!("/api/v1/namespaces/default/pods/{name}");
    for path in [
        "/api/v1/pods",
        "/api/v1/pods?limit=7",
        "/api/v1/pods?labelSelector=none%3Dthere",
        "/api/v1/nodes",
        "/api/v1/namespaces/default",
        "/apis/apps/v1/replicasets",
        CONFIGMAPS,
        &one,
    ] {
        let expected = client.get(path).await.json();
        assert_eq!(yaml(&client.get_as(path, YAML).await), expected, "{path}");
        let mut answer = protobuf(&client.get_as(path, PROTOBUF).await);
        with_zeros_as(&expected, &mut answer);
        assert_eq!(answer, expected, "{path}");
    }
}

/// Removes what protobuf makes of fields that an object should have but does not: zeros that a real server would have in
/// JSON, too.
fn with_zeros_as(expected: &Value, answer: &mut Value) {
    match (expected, answer) {
        (Value::Object(expected), Value::Object(answer)) => {
            answer.retain(|name, value| expected.contains_key(name) || !is_zero(value));
            for (name, value) in answer {
                if let Some(expected) = expected.get(name) {
                    with_zeros_as(expected, value);
                }
            }
        }
        (Value::Array(expected), Value::Array(answer)) => {
            for (expected, answer) in expected.iter().zip(answer) {
                with_zeros_as(expected, answer);
            }
        }
        _ => {}
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.values().all(is_zero),
        Value::Null => true,
        value => [json!(0), json!(""), json!(false), json!([])].contains(value),
    }
}

#[tokio::test]
async fn metadata_and_discovery_come_in_protobuf_tables_do_not() {
    let client = with_widgets();
    client.configmaps(&["a", "b"]);
    let metadata = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    for path in [CONFIGMAPS, WIDGETS] {
        let mut expected = client.get_as(path, &format!("{JSON};{metadata}")).await.json();
        if expected["items"].is_null() {
            expected["items"] = json!([]);
        }
        let answer = client.get_as(path, &format!("{PROTOBUF};{metadata}")).await;
        assert_eq!(protobuf(&answer), expected);
    }
    let answer = client.get_as("/api", PROTOBUF).await;
    assert_eq!(protobuf(&answer)["versions"], json!(["v1"]));
    for path in ["/apis", "/apis/apps", "/api/v1", "/apis/apps/v1"] {
        let expected = client.get(path).await.json();
        let mut answer = protobuf(&client.get_as(path, PROTOBUF).await);
        with_zeros_as(&expected, &mut answer);
        assert_eq!(answer, expected, "{path}");
    }
    let aggregated = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let answer = client.get_as("/apis", &format!("{PROTOBUF};{aggregated}")).await;
    assert_eq!(media_type(&answer), format!("{PROTOBUF};{aggregated}"));
    assert_eq!(protobuf(&answer)["kind"], "APIGroupDiscoveryList");

    let table = "as=Table;g=meta.k8s.io;v=v1";
    let answer = client.get_as(CONFIGMAPS, &format!("{PROTOBUF};{table}")).await;
    assert_eq!(answer.refusal().0, 406);
    let both = format!("{PROTOBUF};{table}, {JSON};{table}");
    assert_eq!(client.get_as(CONFIGMAPS, &both).await.ok()["kind"], "Table");
    let answer = client.get_as(CONFIGMAPS, &format!("{YAML};{table}")).await;
    assert_eq!(yaml(&answer)["kind"], "Table");
}

#[tokio::test]
async fn objects_are_written_in_every_encoding() {
    let client = Client::empty();
    let headers = [("content-type", PROTOBUF), ("accept", PROTOBUF)];
    let object = configmap("a", 1);
    let body = to_vec(&object, UnknownFields::Deny).unwrap();
    let created = client.send(Method::POST, CONFIGMAPS, &headers, body).await;
    assert_eq!(created.code, 201);
    let mut created = protobuf(&created);
    assert_eq!(created["data"], object["data"]);

    created["data"]["new"] = "x".into();
    let body = to_vec(&created, UnknownFields::Deny).unwrap();
    let path = format!("{CONFIGMAPS}/a");
    let replaced = protobuf(&client.send(Method::PUT, &path, &headers, body).await);
    assert_eq!(replaced["data"]["new"], "x");
    assert_eq!(client.get(&path).await.json()["data"]["new"], "x");

    let merge = [
        ("content-type", "application/merge-patch+json"),
        ("accept", PROTOBUF),
    ];
    let patched = client
        .send(Method::PATCH, &path, &merge, r#"{"data":{"new":"y"}}"#)
        .await;
    assert_eq!(protobuf(&patched)["data"]["new"], "y");

    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "another"}});
    let body = to_vec(&options, UnknownFields::Deny).unwrap();
    let refused = client.send(Method::DELETE, &path, &headers, body).await;
    assert_eq!(
        (refused.code, protobuf(&refused)["reason"].as_str()),
        (409, Some("Conflict"))
    );
    let deleted = client.send(Method::DELETE, &path, &headers, "").await;
    assert_eq!(
        (deleted.code, protobuf(&deleted)["status"].as_str()),
        (200, Some("Success"))
    );

    let headers = [("content-type", YAML), ("accept", YAML)];
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  n: '1'\n";
    let created = client.send(Method::POST, CONFIGMAPS, &headers, text).await;
    assert_eq!(yaml(&created)["data"], json!({"n": "1"}));
    let refused = client.send(Method::POST, CONFIGMAPS, &headers, "a: [").await;
    assert_eq!(
        (refused.code, yaml(&refused)["reason"].as_str()),
        (400, Some("BadRequest"))
    );
}

#[tokio::test]
async fn custom_resources_are_not_in_protobuf() {
    let client = with_widgets();
    let both = format!("{PROTOBUF},{JSON}");
    assert_eq!(media_type(&client.get_as(WIDGETS, &both).await), JSON);
    // A refusal is no custom resource.
    let refused = client.get_as(WIDGETS, PROTOBUF).await;
    assert_eq!((refused.code, media_type(&refused)), (406, PROTOBUF));
    let headers = [("content-type", PROTOBUF)];
    let refused = client.send(Method::POST, WIDGETS, &headers, "k8s\0").await;
    let (code, _, message) = refused.refusal();
    assert_eq!(code, 415);
    assert!(
        message.ends_with("include: application/json, application/yaml"),
        "{message}"
    );
}

#[tokio::test]
async fn what_is_no_protobuf_is_refused() {
    let client = Client::empty();
    let headers = [("content-type", PROTOBUF)];
    for body in [&b"{}"[..], b"k8s\0\x0a", b"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Nobody"] {
        let refused = client.send(Method::POST, CONFIGMAPS, &headers, body).await;
        assert_eq!(refused.refusal().0, 400);
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_in_protobuf_tells_what_one_in_json_tells() {
    let client = Client::empty();
    client.configmaps(&["a", "b"]);
    let path = format!(
        "{CONFIGMAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=60"
    );
    let mut json = Vec::new();
    let mut watch = client.watch_as(&path, JSON).await;
    let answer = client.get_as(&path, PROTOBUF);
    let (answer, ()) = tokio::join!(answer, async {
        while let Some(event) = watch.next().await {
            json.push(event);
        }
    });
    assert_eq!(media_type(&answer), format!("{PROTOBUF};stream=watch"));
    assert!(json.len() >= 3);
    assert_eq!(events(&answer), json);
}

/// The events of a watch in protobuf that has ended.
fn events(answer: &Answer) -> Vec<Value> {
    let (mut body, mut events) = (answer.body.clone(), Vec::new());
    while body.has_remaining() {
        let length = body.get_u32() as usize;
        let event = from_message(Descriptor::watch_event(), &body.split_to(length));
        events.push(event.unwrap());
    }
    events
}

/// An object's message is kept: it is another one of its metadata, and of a deletion, which has its own version.
#[tokio::test(start_paused = true)]
async fn changes_are_equal_in_both_encodings_each_time() {
    let client = Client::empty();
    client.configmaps(&["a", "b"]);
    let since = client.store().resource_version();
    client.store().update(configmap("a", 5)).unwrap();
    client
        .store()
        .delete("v1", "ConfigMap", Some("default"), "b")
        .unwrap();
    let path = format!("{CONFIGMAPS}?watch=1&resourceVersion={since}&timeoutSeconds=5");
    for form in ["", ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", ""] {
        let answer = client.get_as(&path, &format!("{JSON}{form}")).await;
        let lines = answer
            .body
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        let expected: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
        assert_eq!(expected.len(), 2);
        assert_eq!(expected[1]["type"], "DELETED");
        for _ in 0..2 {
            let answer = client.get_as(&path, &format!("{PROTOBUF}{form}")).await;
            assert_eq!(events(&answer), expected, "{form}");
        }
    }
}

/// An autoscaler has annotations in its old version for what that has no fields for.
#[tokio::test]
async fn metadata_in_two_versions_has_a_message_in_each() {
    let client = Client::empty();
    let autoscaler = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {
            "maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 5}},
        },
    });
    client.store().create(autoscaler).unwrap();
    let form = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let mut seen = Vec::new();
    for version in ["v1", "v2", "v1"] {
        let path = format!("/apis/autoscaling/{version}/horizontalpodautoscalers");
        let expected = client.get_as(&path, &format!("{JSON};{form}")).await.json();
        let answer = client.get_as(&path, &format!("{PROTOBUF};{form}")).await;
        assert_eq!(protobuf(&answer), expected, "{version}");
        seen.push(expected);
    }
    assert_ne!(seen[0], seen[1]);
}

#[tokio::test]
async fn an_object_in_two_versions_has_a_message_in_each() {
    let client = Client::empty();
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "a", "namespace": "default"}, "message": "m",
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "Started", "type": "Normal", "count": 3,
    });
    client.store().create(event).unwrap();
    for _ in 0..2 {
        for path in ["/api/v1/events", "/apis/events.k8s.io/v1/events"] {
            let expected = client.get(path).await.json();
            let mut answer = protobuf(&client.get_as(path, PROTOBUF).await);
            with_zeros_as(&expected, &mut answer);
            assert_eq!(answer, expected, "{path}");
        }
    }
}

#[tokio::test]
async fn an_expired_watch_in_protobuf_ends_with_a_status() {
    let client = Client::empty();
    client.configmaps(&["a", "b", "c"]);
    client.store().compact(client.store().resource_version());
    let path = format!("{CONFIGMAPS}?watch=1&resourceVersion=1");
    let request = http::Request::get(path).header("accept", PROTOBUF);
    let response = client.open(request.body(Default::default()).unwrap()).await;
    let mut body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body.get_u32() as usize, body.len());
    let event: Value = from_message(Descriptor::watch_event(), &body).unwrap();
    assert_eq!(
        (&event["type"], &event["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
}

#[tokio::test]
async fn what_does_not_fit_its_kind_is_an_error_in_protobuf_only() {
    let client = Client::empty();
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"n": 1}});
    assert_eq!(client.post(CONFIGMAPS, object.clone()).await.code, 400);
    // A store takes anything.
    client.store().create(object).unwrap();
    for path in [CONFIGMAPS, &format!("{CONFIGMAPS}/a")] {
        client.get(path).await.ok();
        let answer = client.get_as(path, PROTOBUF).await;
        let status = protobuf(&answer);
        assert_eq!((answer.code, &status["code"]), (500, &json!(500)));
        let message = status["message"].as_str().unwrap();
        assert!(
            message.ends_with("data[\"n\"]: a string is expected, not a number"),
            "{message}"
        );
    }
    // A watch tells of what comes before, and ends.
    client.configmaps(&["0"]);
    let answer = client.get_as(&format!("{CONFIGMAPS}?watch=1"), PROTOBUF).await;
    let events = events(&answer);
    let told: Vec<_> = events
        .iter()
        .map(|event| (&event["type"], &event["object"]["code"]))
        .collect();
    assert_eq!(
        told,
        [(&json!("ADDED"), &Value::Null), (&json!("ERROR"), &json!(500))]
    );
}

#[tokio::test]
async fn large_lists_are_compressed_for_those_who_take_gzip() {
    use std::io::Read as _;

    let client = Client::new(Sim::builder().pods(100).build().unwrap());
    let zipped = [("accept-encoding", "gzip")];
    let get = async |path: &str, headers: &[(&str, &str)]| client.send(Method::GET, path, headers, "").await;
    let plain = get("/api/v1/pods", &[]).await;
    assert!(plain.body.len() > 128 * 1024 && !plain.headers.contains_key("content-encoding"));
    for accept in ["application/json", "application/vnd.kubernetes.protobuf"] {
        let headers = [("accept", accept), zipped[0]];
        let whole = get("/api/v1/pods", &headers[..1]).await.body;
        let answer = get("/api/v1/pods", &headers).await;
        assert_eq!(answer.headers["content-encoding"], "gzip");
        assert!(answer.body.len() < whole.len() / 3);
        let mut unzipped = Vec::new();
        flate2::read::GzDecoder::new(&answer.body[..])
            .read_to_end(&mut unzipped)
            .unwrap();
        assert!(unzipped == whole);
    }
    let small = get("/api/v1/pods?limit=3", &zipped).await;
    assert!(!small.headers.contains_key("content-encoding"));
    let watch = "/api/v1/pods?watch=true&resourceVersion=0&timeoutSeconds=1";
    assert!(!get(watch, &zipped).await.headers.contains_key("content-encoding"));
}
