//! Answers as text: the order of fields, and line breaks for people.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use serde_json::json;

use crate::client::{CONFIGMAPS, Client};

async fn text(client: &Client, path: &str, agent: &str) -> String {
    let request = Request::get(path)
        .header("user-agent", agent)
        .body(Full::new(Bytes::new()))
        .unwrap();
    let body = client.open(request).await.into_body().collect().await.unwrap();
    String::from_utf8(body.to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn a_refusal_has_the_order_of_a_real_server() {
    let client = Client::empty();
    let expected = concat!(
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"none\" not found","#,
        r#""reason":"NotFound","details":{"name":"none","kind":"configmaps"},"code":404}"#,
        "\n"
    );
    assert_eq!(
        text(&client, &format!("{CONFIGMAPS}/none"), "test").await,
        expected
    );
}

#[tokio::test]
async fn who_asks_for_it_gets_line_breaks() {
    let client = Client::empty();
    let expected = "{\n  \"kind\": \"ConfigMapList\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {\n    \"resourceVersion\": ";
    let pretty = format!("{CONFIGMAPS}?pretty=true");
    for (path, agent) in [(&*pretty, "test"), (CONFIGMAPS, "curl/8.0")] {
        let text = text(&client, path, agent).await;
        assert!(text.starts_with(expected), "{path}: {text}");
        assert!(text.ends_with("\"items\": []\n}"), "{path}: {text}");
    }
    let plain = format!("{CONFIGMAPS}?pretty=false");
    assert_eq!(text(&client, &plain, "curl/8.0").await.lines().count(), 1);
    let watch = format!("{CONFIGMAPS}?watch=true&timeoutSeconds=1&resourceVersion=0");
    client
        .post(CONFIGMAPS, json!({"metadata": {"name": "a"}}))
        .await
        .ok();
    assert_eq!(text(&client, &watch, "curl/8.0").await.lines().count(), 1);
}

#[tokio::test]
async fn groups_are_in_the_order_of_a_real_server() {
    let client = crate::client::with_widgets();
    let groups = client.get("/apis").await.ok();
    let names: Vec<_> = groups["groups"].as_array().unwrap().iter().collect();
    let name = |n: usize| names[n]["name"].as_str().unwrap();
    assert_eq!(
        [name(0), name(1), name(2), name(names.len() - 1)],
        ["apiregistration.k8s.io", "apps", "events.k8s.io", "sim.example"]
    );
    assert_eq!(client.get("/api/v1").await.ok().get("apiVersion"), None);
    let paths = client.get("/").await.ok();
    let paths = paths["paths"].as_array().unwrap();
    for path in ["/apis/apps/v1", "/apis/sim.example", "/version"] {
        assert!(paths.contains(&json!(path)), "{path}");
    }
}

/// A strategic merge patch is read by another library of Go than a body.
#[tokio::test]
async fn a_strategic_patch_of_another_type_is_refused_in_other_words() {
    let client = Client::empty();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    client.post(pods, pod).await.ok();
    for (patch, why) in [
        (
            json!({"metadata": {"labels": "x"}}),
            "cannot restore map from string",
        ),
        (
            json!({"metadata": {"labels": [1]}}),
            "cannot restore map from slice",
        ),
        (
            json!({"metadata": {"annotations": 1.5}}),
            "cannot restore map from float64",
        ),
        (
            json!({"metadata": {"labels": {"a": 1}}}),
            "cannot convert int64 to string",
        ),
        (json!({"metadata": "x"}), "cannot restore struct from: string"),
        (
            json!({"spec": {"tolerations": "x"}}),
            "cannot restore slice from string",
        ),
        (json!({"spec": {"hostNetwork": "x"}}), "unrecognized type: bool"),
        (
            json!({"spec": {"activeDeadlineSeconds": "x"}}),
            "unrecognized type: int64",
        ),
    ] {
        let kind = "application/strategic-merge-patch+json";
        let refused = client.patch(&format!("{pods}/p"), kind, patch).await.refusal();
        assert_eq!(
            refused.2,
            format!(" \"\" is invalid: patch: Invalid value: {{}}: {why}")
        );
    }
}
