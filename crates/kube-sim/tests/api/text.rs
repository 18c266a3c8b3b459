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
