//! Requests that are a little wrong, and what answers carry beside their bodies.

use http::Method;
use kube_sim::{Controller, Sim};
use serde_json::json;

use super::client::{CONFIGMAPS, Client, WIDGETS, configmap, with_widgets};

const JSON: (&str, &str) = ("content-type", "application/json");

const MERGE: (&str, &str) = ("content-type", "application/merge-patch+json");

#[tokio::test]
async fn options_of_a_deletion_have_their_types() {
    let client = Client::empty();
    client.post(CONFIGMAPS, configmap("a", 1)).await.ok();
    let path = format!("{CONFIGMAPS}/a");
    let field = "into Go struct field";
    for (body, message) in [
        (
            r#"{"gracePeriodSeconds":"x"}"#,
            format!("string {field} DeleteOptions.gracePeriodSeconds of type int64"),
        ),
        (
            r#"{"gracePeriodSeconds":1.5}"#,
            format!("number 1.5 {field} DeleteOptions.gracePeriodSeconds of type int64"),
        ),
        (
            r#"{"dryRun":"All"}"#,
            format!("string {field} DeleteOptions.dryRun of type []string"),
        ),
        (
            r#"{"dryRun":[1]}"#,
            format!("number {field} DeleteOptions.dryRun of type string"),
        ),
        (
            r#"{"preconditions":1}"#,
            format!("number {field} DeleteOptions.preconditions of type v1.Preconditions"),
        ),
        (
            r#"{"preconditions":{"uid":1}}"#,
            format!("number {field} Preconditions.preconditions.uid of type types.UID"),
        ),
        (r#"{"kind":1}"#, format!("number {field} .kind of type string")),
        ("[]", "array into Go value of type struct".to_owned()),
    ] {
        let (code, _, found) = client.send(Method::DELETE, &path, &[JSON], body).await.refusal();
        assert_eq!(code, 400, "{body}");
        assert!(
            found.contains(&format!("json: cannot unmarshal {message}")),
            "{found}"
        );
    }
    for content_type in ["text/plain", "application/merge-patch+json"] {
        let headers = [("content-type", content_type)];
        assert_eq!(client.send(Method::DELETE, &path, &headers, "{}").await.code, 415);
        assert_eq!(
            client.send(Method::DELETE, CONFIGMAPS, &headers, "{}").await.code,
            415
        );
    }
    client.get(&path).await.ok();
    let yaml = [("content-type", "application/yaml")];
    client
        .send(Method::DELETE, &path, &yaml, "dryRun: [All]")
        .await
        .ok();
    client
        .send(Method::DELETE, &path, &[JSON], r#"{"dryRun":null}"#)
        .await
        .ok();
    assert_eq!(client.get(&path).await.code, 404);
}

#[tokio::test]
async fn a_namespace_without_a_name_is_all_of_them() {
    let client = with_widgets();
    client.post(CONFIGMAPS, configmap("a", 1)).await.ok();
    let all = client.get("/api/v1/namespaces//configmaps").await.ok();
    assert_eq!(all["items"][0]["metadata"]["name"], "a");
    client.get("/apis/sim.example/v1/namespaces//widgets").await.ok();
    let made = client
        .post(
            "/api/v1/namespaces//configmaps",
            json!({"metadata": {"name": "q"}}),
        )
        .await;
    let (code, _, message) = made.refusal();
    assert_eq!(
        (code, message.as_str()),
        (
            422,
            "ConfigMap \"q\" is invalid: metadata.namespace: Required value"
        )
    );
    for (path, code) in [
        ("/api/v1/namespaces//configmaps/a", 400),
        ("/api/v1/nodes//status", 400),
        ("/apis/sim.example/v1/namespaces//widgets/a", 404),
        ("/api/v1/namespaces//", 200),
        ("/api/v1//configmaps", 404),
        ("/api/v1/namespaces/default//configmaps", 404),
        ("//api", 404),
        ("//api/v1/configmaps", 404),
        ("/api//v1", 404),
        ("/api//", 200),
        ("/apis/", 200),
        ("/apis//", 404),
        ("/apis//apps", 404),
        ("//", 404),
        ("/healthz/", 404),
        ("/healthz", 200),
        ("/openapi/v3/", 404),
        ("/version/", 200),
    ] {
        assert_eq!(client.get(path).await.code, code, "{path}");
    }
}

#[tokio::test]
async fn where_a_method_matters_it_is_looked_at() {
    let client = with_widgets();
    for (method, path, code) in [
        (Method::POST, "/api", 405),
        (Method::HEAD, "/api/v1", 405),
        (Method::DELETE, "/apis/apps/v1", 405),
        (Method::PUT, "/version", 405),
        (Method::POST, "/apis", 200),
        (Method::POST, "/apis/sim.example/v1", 200),
        (Method::POST, "/healthz", 200),
        (Method::GET, "/api/v1/bindings", 404),
        (Method::POST, "/api/v1/bindings", 404),
        (Method::GET, "/api/v1/namespaces/default/bindings", 405),
        (
            Method::GET,
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x",
            404,
        ),
    ] {
        let answer = client.send(method.clone(), path, &[JSON], "").await;
        assert_eq!(answer.code, code, "{method} {path}");
    }
    for (method, verb) in [(Method::POST, "create"), (Method::DELETE, "delete")] {
        let path = format!("{WIDGETS}/a/status");
        let (code, _, message) = client.send(method, &path, &[JSON], "").await.refusal();
        let why = format!("{verb} is not supported on resources of kind \"widgets.sim.example\"");
        assert_eq!((code, message), (405, why));
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_found_whatever_is_to_become_of_it() {
    let client = with_widgets();
    for collection in [CONFIGMAPS, WIDGETS] {
        let path = format!("{collection}/a");
        assert_eq!(client.send(Method::PATCH, &path, &[MERGE], "{").await.code, 404);
        let yaml = [("content-type", "application/yaml")];
        assert_eq!(client.send(Method::PATCH, &path, &yaml, "{").await.code, 415);
        let list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        assert_eq!(client.get_as(&path, list).await.code, 404);
    }
    client.post(CONFIGMAPS, configmap("a", 1)).await.ok();
    let path = format!("{CONFIGMAPS}/a");
    assert_eq!(client.send(Method::PATCH, &path, &[MERGE], "{").await.code, 400);
}

#[tokio::test]
async fn a_watch_has_media_types_of_its_own() {
    let client = Client::empty();
    let path = format!("{CONFIGMAPS}?watch=1&timeoutSeconds=1");
    for accept in [
        "application/yaml",
        "application/yaml,application/json",
        "application/json;q=0.5,application/yaml",
    ] {
        let answer = client.get_as(&path, accept).await;
        let told = String::from_utf8_lossy(&answer.body).replace("\n  ", " ");
        assert_eq!(answer.code, 406, "{accept}");
        let types = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
        assert!(told.contains(&format!("are accepted: {types}")), "{told}");
    }
    for (accept, code) in [
        ("application/json;stream=other", 406),
        ("application/yaml;stream=watch", 406),
        ("application/json;stream=watch", 200),
    ] {
        assert_eq!(client.get_as(&path, accept).await.code, code, "{accept}");
    }
}

#[tokio::test]
async fn an_empty_list_of_metadata_has_no_items_at_all() {
    let client = with_widgets();
    let accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    for path in [CONFIGMAPS, WIDGETS] {
        assert_eq!(client.get(path).await.ok()["items"], json!([]));
        let list = client.get_as(path, accept).await.ok();
        assert!(list.get("items").is_some_and(|items| items.is_null()), "{list}");
    }
}

#[tokio::test]
async fn a_refusal_has_its_flow_and_every_answer_an_id() {
    let first = [Controller::BootstrapObjects, Controller::BootstrapRoles];
    let sim = Sim::builder()
        .controllers(first)
        .token("jane", "jane", ["developers"]);
    let client = Client::new(sim.build().unwrap());
    for (token, code, flows) in [("jane", 403, true), ("nobody", 401, false)] {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str()), ("audit-id", "abc")];
        let answer = client.send(Method::GET, CONFIGMAPS, &headers, "").await;
        assert_eq!(answer.code, code);
        assert_eq!(answer.headers["audit-id"], "abc");
        for header in [
            "x-kubernetes-pf-flowschema-uid",
            "x-kubernetes-pf-prioritylevel-uid",
        ] {
            assert_eq!(answer.headers.contains_key(header), flows, "{header}");
        }
    }
    let id = |answer: super::client::Answer| answer.headers["audit-id"].clone();
    let (one, other) = (id(client.get("/version").await), id(client.get("/version").await));
    assert_eq!(one.len(), 36);
    assert_ne!(one, other);
}
