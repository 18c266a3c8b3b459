//! Creations.

use super::*;

#[tokio::test]
async fn creation_fills_in_what_the_server_knows() {
    let client = Client::empty();
    let answer = client
        .post(
            CONFIGMAPS,
            json!({"kind": "ConfigMap", "metadata": {"name": "a", "uid": "mine"}}),
        )
        .await;
    assert_eq!(answer.code, 201);
    let made = answer.json();
    let metadata = &made["metadata"];
    assert_eq!(
        (&made["apiVersion"], &metadata["namespace"]),
        (&json!("v1"), &json!("default"))
    );
    assert_eq!(metadata["uid"].as_str().unwrap().len(), 36);
    assert_eq!(
        metadata["creationTimestamp"].as_str().unwrap().len(),
        "2026-11-21T13:53:22Z".len()
    );
    assert_eq!(version(&made), client.store().resource_version());
    assert_eq!(metadata["generation"], json!(null));

    let named = client
        .post(CONFIGMAPS, json!({"metadata": {"generateName": "gen-"}}))
        .await
        .ok();
    let name = named["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("gen-") && name.len() == 9, "{name}");

    // A pod has a generation, and its status is not the client's.
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}, "status": {"phase": "Running"}});
    let pod = client.post("/api/v1/namespaces/default/pods", pod).await.ok();
    assert_eq!(
        (&pod["metadata"]["generation"], &pod["status"]["phase"]),
        (&json!(1), &json!("Pending"))
    );
}

#[tokio::test]
async fn a_name_that_is_taken_may_be_on_its_way_out() {
    let client = Client::empty();
    let mut map = json!({"metadata": {"name": "a", "generateName": "a-", "finalizers": ["x.io/y"]}});
    client.post(CONFIGMAPS, map.clone()).await.ok();
    let text = "configmaps \"a\" already exists";
    let drawn = ", the server was not able to generate a unique name for the object";
    let (_, _, message) = client.post(CONFIGMAPS, map.clone()).await.refusal();
    assert_eq!(message, format!("{text}{drawn}"));
    client.delete(&format!("{CONFIGMAPS}/a"), json!({})).await.ok();
    let (code, _, message) = client.post(CONFIGMAPS, map.clone()).await.refusal();
    assert_eq!(
        (code, message),
        (409, format!("object is being deleted: {text}{drawn}"))
    );
    map["metadata"]["generateName"] = json!("");
    let (_, _, message) = client.post(CONFIGMAPS, map).await.refusal();
    assert_eq!(message, format!("object is being deleted: {text}"));
}

/// Two bytes of what ends with a dash are not looked at, as in a real server.
#[tokio::test]
async fn what_a_name_begins_with_is_told_of_itself() {
    let client = Client::empty();
    for (prefix, is_told_of) in [
        ("é-", true),
        ("aé-", true),
        ("A-", false),
        ("--", false),
        ("-", true),
    ] {
        let map = json!({"metadata": {"generateName": prefix}});
        let (code, _, message) = client.post(CONFIGMAPS, map).await.refusal();
        let found = message.contains("metadata.generateName: Invalid value");
        assert_eq!((code, found), (422, is_told_of), "{prefix}: {message}");
    }
}

/// Where the server counts generations the client's is not kept; elsewhere it is, as by a real server.
#[tokio::test]
async fn a_generation_is_the_servers_and_never_wraps() {
    let client = with_widgets();
    let pods = "/api/v1/namespaces/default/pods";
    for given in [json!(7), json!(i64::MAX), json!(-1), json!(null)] {
        let mut thing = widget("w", 1);
        thing["metadata"]["generation"] = given.clone();
        let made = client.post(WIDGETS, thing).await.ok();
        assert_eq!(made["metadata"]["generation"], 1, "{given}");
        let path = format!("{WIDGETS}/w");
        let patch = json!({"metadata": {"generation": given}, "spec": {"size": 2}});
        let patched = client.merge(&path, patch).await.ok();
        assert_eq!(patched["metadata"]["generation"], 2, "{given}");
        client.delete(&path, json!(null)).await.ok();

        let pod = json!({"metadata": {"name": "p", "generation": given}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let made = client.post(pods, pod).await.ok();
        assert_eq!(made["metadata"]["generation"], 1, "{given}");
        client.delete(&format!("{pods}/p"), json!(null)).await.ok();
    }
    let mut largest = configmap("a", 0);
    largest["metadata"]["generation"] = json!(i64::MAX);
    let made = client.post(CONFIGMAPS, largest).await.ok();
    assert_eq!(made["metadata"]["generation"], i64::MAX);
    let patch = json!({"metadata": {"generation": 3}, "data": {"k": "2"}});
    let patched = client.merge(A, patch).await.ok();
    assert_eq!(patched["metadata"]["generation"], i64::MAX);
    client
        .delete(A, json!({"gracePeriodSeconds": i64::MAX}))
        .await
        .ok();
    let post = async |generation: Value| {
        let mut configmap = configmap("a", 0);
        configmap["metadata"]["generation"] = generation;
        client.post(CONFIGMAPS, configmap).await.refusal()
    };
    let why = "ConfigMap \"a\" is invalid: metadata.generation: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!(post(json!(-1)).await, refused(422, "Invalid", why));
    let why = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct \
               field ObjectMeta.metadata.generation of type int64";
    assert_eq!(post(json!("x")).await, refused(400, "BadRequest", why));
}

#[tokio::test]
async fn creations_that_are_wrong_are_refused() {
    let client = Client::empty();
    client.configmaps(&["a"]);
    let post = async |path: &str, object: Value| client.post(path, object).await.refusal();
    assert_eq!(
        post(CONFIGMAPS, configmap("a", 0)).await,
        refused(409, "AlreadyExists", "configmaps \"a\" already exists")
    );
    assert_eq!(
        post(
            CONFIGMAPS,
            json!({"metadata": {"name": "z", "namespace": "other"}})
        )
        .await,
        refused(
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    );
    assert_eq!(
        post(CONFIGMAPS, json!({"metadata": {}})).await,
        refused(
            422,
            "Invalid",
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"
        )
    );
    assert_eq!(
        post(
            "/api/v1/namespaces/nowhere/configmaps",
            json!({"metadata": {"name": "a"}})
        )
        .await,
        refused(404, "NotFound", "namespaces \"nowhere\" not found")
    );
    assert_eq!(
        post(
            CONFIGMAPS,
            json!({"metadata": {"name": "z", "resourceVersion": "5"}})
        )
        .await,
        refused(
            500,
            "",
            "resourceVersion should not be set on objects to be created"
        )
    );
    let (code, _, message) = post(CONFIGMAPS, json!({"metadata": {"name": "Bad_Name"}})).await;
    assert!(
        code == 422 && message.contains("metadata.name: Invalid value: \"Bad_Name\": a lowercase RFC 1123"),
        "{message}"
    );
    for wrong in [
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "z"}}),
        json!({"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "z"}}),
        json!({"metadata": {"name": "z", "labels": {"q": 5}}}),
        json!({"metadata": "text"}),
        json!([]),
    ] {
        assert_eq!(client.post(CONFIGMAPS, wrong.clone()).await.code, 400, "{wrong}");
    }
    assert_eq!(
        client
            .post(
                CONFIGMAPS,
                json!({"metadata": {"name": "z", "labels": {"x y": "a"}}})
            )
            .await
            .code,
        422
    );

    let (code, reason, message) = client
        .send(Method::POST, CONFIGMAPS, &[], "{\"password\": bad")
        .await
        .refusal();
    assert_eq!((code, reason.as_str()), (400, "BadRequest"));
    assert!(
        message.ends_with("({\"password\": bad)"),
        "how the body begins: {message}"
    );
    let text = client
        .send(
            Method::POST,
            CONFIGMAPS,
            &[("content-type", "text/plain")],
            "a: b",
        )
        .await;
    assert_eq!(text.code, 415);
    let large = client
        .send(Method::POST, CONFIGMAPS, &[], vec![b' '; 4 << 20])
        .await;
    assert_eq!(large.code, 413);
    assert_eq!(client.store().list("v1", "ConfigMap", None).unwrap().len(), 1);
}
