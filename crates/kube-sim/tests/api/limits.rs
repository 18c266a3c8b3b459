//! Large and deeply nested bodies and patches, with the limits and answers of a real kube-apiserver 1.36.

use http::Method;
use serde_json::{Value, json};

use crate::client::{Answer, CONFIGMAPS, Client, WIDGETS, widget, with_widgets};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const JSON: &str = "application/json-patch+json";
const UNPROCESSABLE: &str = "the server rejected our request due to an error in our request";

/// So many objects around a number.
fn nested(levels: usize) -> String {
    "{\"a\":".repeat(levels) + "1" + &"}".repeat(levels)
}

fn deep_widget(name: &str, levels: usize, version: &str) -> String {
    let metadata = format!(r#"{{"name":"{name}","namespace":"default"{version}}}"#);
    let head = format!(r#"{{"apiVersion":"sim.example/v1","kind":"Widget","metadata":{metadata}"#);
    format!(r#"{head},"spec":{}}}"#, nested(levels - 1))
}

/// A built-in kind that may have anything as its data.
fn deep_revision(levels: usize) -> String {
    format!(
        r#"{{"metadata":{{"name":"c"}},"revision":1,"data":{}}}"#,
        nested(levels - 1)
    )
}

const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";

async fn send(client: &Client, method: Method, path: &str, kind: &str, body: &str) -> Answer {
    client
        .send(method, path, &[("content-type", kind)], body.to_owned())
        .await
}

/// The levels of an answer, which clients' parsers may not take.
fn levels(answer: &Answer) -> usize {
    let (mut depth, mut most) = (0, 0);
    for byte in &answer.body {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// The levels of an answer with an object of so many: `managedFields` have more, and are left out where that is too many.
fn managed(depth: usize) -> usize {
    if depth + 5 <= 10_000 { depth + 4 } else { depth }
}

#[tokio::test(start_paused = true)]
async fn objects_of_ten_thousand_levels_are_taken_by_every_verb() {
    let client = with_widgets();
    let w = format!("{WIDGETS}/w");
    for depth in [200, 1000, 9999, 10_000] {
        let made = send(
            &client,
            Method::POST,
            WIDGETS,
            "application/json",
            &deep_widget("w", depth, ""),
        )
        .await;
        assert_eq!((made.code, levels(&made)), (201, managed(depth)));
        for accept in ["application/json", TABLE] {
            for path in [&w, WIDGETS, &format!("{WIDGETS}?watch=1&timeoutSeconds=1")] {
                let answer = client.get_as(path, accept).await;
                assert_eq!(answer.code, 200, "{depth} {path}");
            }
        }
        let patch = json!({"spec": {"b": 1}}).to_string();
        assert_eq!(send(&client, Method::PATCH, &w, MERGE, &patch).await.code, 200);
        let patch = json!([{"op": "copy", "from": "/metadata/name", "path": "/spec/c"}]).to_string();
        let patched = send(&client, Method::PATCH, &w, JSON, &patch).await;
        assert_eq!((patched.code, levels(&patched)), (200, managed(depth)));
        // The whole object again, deep in a patch and replaced.
        let patch = format!(r#"{{"spec":{}}}"#, nested(depth - 1));
        assert_eq!(send(&client, Method::PATCH, &w, MERGE, &patch).await.code, 200);
        let patch = format!(
            r#"[{{"op":"replace","path":"/spec","value":{}}}]"#,
            nested(depth - 2)
        );
        assert_eq!(send(&client, Method::PATCH, &w, JSON, &patch).await.code, 200);
        let version = format!(r#","resourceVersion":"{}""#, client.store().resource_version());
        let put = deep_widget("w", depth, &version);
        let put = send(&client, Method::PUT, &w, "application/json", &put).await;
        assert_eq!(put.code, 200, "{depth} {:?}", put.body.get(..200));
        // Others are not concerned, and the caller's stack is not either.
        assert_eq!(client.post(WIDGETS, widget("other", 1)).await.code, 201);
        let why = client
            .store()
            .get("sim.example/v1", "Widget", Some("default"), "w")
            .unwrap_err();
        assert!(why.message().contains("too deep"), "{why}");
        assert_eq!(
            client.delete(&format!("{WIDGETS}/other"), json!(null)).await.code,
            200
        );
        let options = format!(r#"{{"x":{}}}"#, nested(depth - 1));
        assert_eq!(
            send(&client, Method::DELETE, &w, "application/json", &options)
                .await
                .code,
            200
        );

        let made = send(
            &client,
            Method::POST,
            REVISIONS,
            "application/json",
            &deep_revision(depth),
        )
        .await;
        assert_eq!(made.code, 201, "{depth}");
        let patch = format!(r#"{{"data":{}}}"#, nested(depth - 1));
        let c = format!("{REVISIONS}/c");
        assert_eq!(
            send(&client, Method::PATCH, &c, STRATEGIC, &patch).await.code,
            200
        );
        assert_eq!(client.get_as(REVISIONS, TABLE).await.code, 200);
        assert_eq!(client.delete(REVISIONS, json!(null)).await.code, 200);
    }
}

#[tokio::test]
async fn more_than_ten_thousand_levels_are_refused() {
    let client = with_widgets();
    client.post(WIDGETS, widget("w", 1)).await.ok();
    client.configmaps(&["c"]);
    let (w, c) = (format!("{WIDGETS}/w"), format!("{CONFIGMAPS}/c"));
    let why = "invalid character '{' exceeded max depth";
    let unrecognized = "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json \
                        parse error: ";
    for depth in [10_001, 100_000, 500_000] {
        let (object, patch) = (
            deep_widget("w", depth, ""),
            format!(r#"{{"spec":{}}}"#, nested(depth - 1)),
        );
        let operations = format!(r#"[{{"op":"add","path":"/spec","value":{}}}]"#, nested(depth - 2));
        for (method, path, kind, body, head) in [
            (Method::POST, WIDGETS, "application/json", &object, unrecognized),
            (Method::PUT, &w, "application/json", &object, unrecognized),
            (Method::PATCH, &w, MERGE, &patch, "error decoding patch: "),
            (Method::PATCH, &w, JSON, &operations, "error decoding patch: "),
            (Method::PATCH, &c, STRATEGIC, &patch, ""),
            (
                Method::DELETE,
                &w,
                "application/json",
                &patch,
                "couldn't get version/kind; json parse error: ",
            ),
        ] {
            let refusal = send(&client, method.clone(), path, kind, body).await.refusal();
            let tail = match head == unrecognized {
                true => format!(" ({} ...)", &body[..30]),
                false => String::new(),
            };
            assert_eq!(
                refusal,
                (400, "BadRequest".into(), format!("{head}{why}{tail}")),
                "{method} {depth}"
            );
        }
    }
    let too_deep: Value = (0..10_001).fold(json!(1), |value, _| Value::Array(vec![value]));
    assert_eq!(client.store().create(too_deep).unwrap_err().code(), 400);
}

/// An operation puts what there is deeper by the length of its path.
#[tokio::test]
async fn operations_may_not_nest_beyond_the_limit_either() {
    let client = with_widgets();
    let w = format!("{WIDGETS}/w");
    client.post(WIDGETS, widget("w", 1)).await.ok();
    let unprocessable = (422, "Invalid".into(), UNPROCESSABLE.into());
    let deeper: Vec<_> = (0..3333)
        .flat_map(|_| {
            [
                json!({"op": "add", "path": "/t", "value": {}}),
                json!({"op": "move", "from": "/spec", "path": "/t/a"}),
                json!({"op": "move", "from": "/t", "path": "/spec"}),
            ]
        })
        .collect();
    for times in 1..=2 {
        let patched = client.patch(&w, JSON, json!(deeper)).await;
        assert_eq!((patched.code, levels(&patched)), (200, managed(2 + 3333 * times)));
    }
    let patched = client.patch(&w, JSON, json!(deeper[..9000])).await;
    assert_eq!(
        (patched.code, levels(&patched)),
        (200, managed(2 + 3333 * 2 + 3000))
    );
    assert_eq!(
        client.patch(&w, JSON, json!(deeper)).await.refusal(),
        unprocessable
    );
    let path = "/a".repeat(5000);
    let value = nested(5000);
    let patch = format!(r#"[{{"op":"add","path":"/spec{path}","value":{value}}}]"#);
    assert_eq!(
        send(&client, Method::PATCH, &w, JSON, &patch).await.refusal(),
        unprocessable
    );
    assert_eq!(client.delete(&w, json!(null)).await.code, 200);
}

#[tokio::test]
async fn copies_of_a_patch_are_limited_and_so_are_its_operations() {
    let client = with_widgets();
    let w = format!("{WIDGETS}/w");
    client.post(WIDGETS, widget("w", 1)).await.ok();
    let add = json!([{"op": "add", "path": "/spec/a", "value": "x".repeat(1000)}]);
    client.patch(&w, JSON, add).await.ok();
    // Each doubles the spec.
    let doubling = |times: usize| {
        let copies =
            (0..times).map(|n| json!({"op": "copy", "from": "/spec", "path": format!("/spec/k{n}")}));
        copies.collect::<Value>()
    };
    client.patch(&w, JSON, doubling(5)).await.ok();
    let before = client.get(&w).await.ok();
    for times in [10, 30, 4000] {
        let refusal = client.patch(&w, JSON, doubling(times)).await.refusal();
        assert_eq!(refusal, (422, "Invalid".into(), UNPROCESSABLE.into()), "{times}");
    }
    let operations = |n: usize| json!(vec![json!({"op": "test", "path": "/spec/size", "value": 1}); n]);
    client.patch(&w, JSON, operations(10_000)).await.ok();
    let message =
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001";
    let refusal = client.patch(&w, JSON, operations(10_001)).await.refusal();
    assert_eq!(refusal, (413, "RequestEntityTooLarge".into(), message.into()));
    assert_eq!(client.get(&w).await.ok(), before);
}

#[tokio::test]
async fn objects_larger_than_etcd_takes_are_refused() {
    let client = with_widgets();
    let w = format!("{WIDGETS}/w");
    client.post(WIDGETS, widget("w", 1)).await.ok();
    let before = client.store().resource_version();
    for (megabytes, message) in [
        (1.5, "etcdserver: request is too large"),
        (
            2.2,
            "rpc error: code = ResourceExhausted desc = trying to send message larger than max (",
        ),
    ] {
        let mut object = widget("large", 1);
        object["spec"]["text"] = "x".repeat((megabytes * 1024.0 * 1024.0) as usize).into();
        let (code, _, why) = client.post(WIDGETS, object.clone()).await.refusal();
        assert!(code == 500 && why.starts_with(message), "{code} {why}");
        let (code, _, why) = client.merge(&w, json!({"spec": object["spec"]})).await.refusal();
        assert!(code == 500 && why.starts_with(message), "{code} {why}");
    }
    // Copied, a body that is small enough is not.
    let text = "x".repeat(1_200_000);
    let patch = json!([
        {"op": "add", "path": "/spec/a", "value": text},
        {"op": "copy", "from": "/spec/a", "path": "/spec/b"},
    ]);
    assert_eq!(client.patch(&w, JSON, patch).await.code, 500);
    assert_eq!(client.store().resource_version(), before, "nothing was stored");
    client
        .merge(&w, json!({"spec": {"text": "x".repeat(1_400_000)}}))
        .await
        .ok();
    let mut object = widget("owner", 1);
    object["spec"]["text"] = "x".repeat(4_000_000).into();
    client.store().create(object).expect("the owner may");
}
