//! Deletions: of objects, of collections, of namespaces.

use super::*;

#[tokio::test]
async fn deletion_answers_with_a_status_or_the_object() {
    let client = with_widgets();
    let made = client.post(CONFIGMAPS, configmap("a", 0)).await.ok();
    let gone = client.delete(A, json!(null)).await.ok();
    assert_eq!(
        (&gone["kind"], &gone["status"]),
        (&json!("Status"), &json!("Success"))
    );
    assert_eq!(
        gone["details"],
        json!({"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]})
    );
    assert_eq!(
        client.delete(A, json!(null)).await.refusal(),
        refused(404, "NotFound", "configmaps \"a\" not found")
    );

    client.store().create(widget("w", 1)).unwrap();
    let gone = client.delete(&format!("{WIDGETS}/w"), json!(null)).await.ok();
    assert_eq!(
        (&gone["details"]["kind"], &gone["details"]["group"]),
        (&json!("widgets"), &json!("sim.example"))
    );

    let pods = "/api/v1/namespaces/default/pods";
    client
        .post(
            pods,
            json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
        )
        .await
        .ok();
    let gone = client.delete(&format!("{pods}/p"), json!(null)).await.ok();
    assert_eq!(gone["kind"], "Pod");
    assert!(gone["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(client.get(&format!("{pods}/p")).await.code, 404);
}

#[tokio::test]
async fn clients_do_not_say_when_an_object_is_deleted() {
    let client = with_widgets();
    let time = json!("2020-01-01T00:00:00Z");
    let both = json!({"metadata": {"deletionTimestamp": time, "deletionGracePeriodSeconds": 0}});
    for (path, object) in [(CONFIGMAPS, configmap("a", 0)), (WIDGETS, widget("a", 1))] {
        let one = format!("{path}/a");
        let mut object = object;
        object["metadata"]["finalizers"] = json!(["x/y"]);
        client.post(path, object).await.ok();
        let (stamp, grace) = (
            "metadata.deletionTimestamp",
            "metadata.deletionGracePeriodSeconds",
        );
        assert_eq!(
            client.merge(&one, both.clone()).await.refused_fields(),
            [stamp, grace, stamp, grace],
            "{path}"
        );

        client.delete(&one, json!(null)).await.ok();
        let deleted = client.get(&one).await.ok()["metadata"].clone();
        // The time is kept as it is; the period must not be another one.
        let patched = client.merge(&one, both.clone()).await.ok()["metadata"].clone();
        assert_eq!(patched, deleted, "{path}");
        let none = json!({"metadata": {"deletionTimestamp": null, "deletionGracePeriodSeconds": null}});
        assert_eq!(client.merge(&one, none).await.ok()["metadata"], deleted, "{path}");
        let (code, _, message) = client
            .merge(&one, json!({"metadata": {"deletionGracePeriodSeconds": 5}}))
            .await
            .refusal();
        assert_eq!(code, 422);
        assert!(
            message.ends_with(
                "\"a\" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable"
            ),
            "{message}"
        );

        // An old copy with another time still ends it.
        let mut last = client.get(&one).await.ok();
        last["metadata"]["deletionTimestamp"] = time.clone();
        last["metadata"]["finalizers"] = json!([]);
        client.put(&one, last).await.ok();
        assert_eq!(client.get(&one).await.code, 404, "{path}");
    }
}

#[tokio::test]
async fn deletion_has_preconditions() {
    let client = Client::empty();
    let made = client.post(CONFIGMAPS, configmap("a", 0)).await.ok();
    let (code, reason, message) = client
        .delete(A, json!({"preconditions": {"uid": "abc"}}))
        .await
        .refusal();
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    assert!(message.starts_with("Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (abc) does not match"), "{message}");
    let old = json!({"preconditions": {"resourceVersion": "1"}});
    assert_eq!(client.delete(A, old).await.code, 409);
    assert_eq!(
        client.delete(A, json!({"propagationPolicy": "Foo"})).await.code,
        422
    );
    assert_eq!(client.send(Method::DELETE, A, &[], "{bad").await.code, 400);
    assert_eq!(
        client.delete(&format!("{A}?dryRun=All"), json!(null)).await.code,
        200
    );
    let fits = json!({"preconditions": {"uid": made["metadata"]["uid"], "resourceVersion": made["metadata"]["resourceVersion"]}});
    client.delete(A, fits).await.ok();
}

/// The query counts for deletions without a body only.
#[tokio::test]
async fn a_deletion_with_a_body_ignores_its_query() {
    let client = Client::empty();
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
    for (query, body, expected) in [
        (
            "?propagationPolicy=Orphan",
            json!(null),
            json!(["a.b/c", "orphan"]),
        ),
        ("?orphanDependents=true", json!(null), json!(["a.b/c", "orphan"])),
        ("?propagationPolicy=Orphan", options.clone(), json!(["a.b/c"])),
        ("?orphanDependents=true", options.clone(), json!(["a.b/c"])),
        ("?dryRun=All", options.clone(), json!(["a.b/c"])),
        ("?gracePeriodSeconds=x", options.clone(), json!(["a.b/c"])),
    ] {
        let mut object = configmap("a", 0);
        object["metadata"]["finalizers"] = json!(["a.b/c"]);
        client.post(CONFIGMAPS, object).await.ok();
        let answer = client.delete(&format!("{A}{query}"), body).await.ok();
        assert_eq!(answer["metadata"]["finalizers"], expected, "{query}");
        let marked = client.get(A).await.ok();
        assert!(marked["metadata"]["deletionTimestamp"].is_string(), "{query}");
        client
            .merge(A, json!({"metadata": {"finalizers": null}}))
            .await
            .ok();
    }
    client.post(CONFIGMAPS, configmap("a", 0)).await.ok();
    for (query, body, expected) in [
        ("?dryRun=", json!(null), 422),
        ("?dryRun=Bogus", json!(null), 422),
        ("?propagationPolicy=", json!(null), 422),
        (
            "?orphanDependents=true&propagationPolicy=Orphan",
            json!(null),
            422,
        ),
        ("?gracePeriodSeconds=", json!(null), 400),
        ("", json!({"dryRun": ["All", "Bogus"]}), 422),
        ("?dryRun=All", json!(null), 200),
    ] {
        let code = client.delete(&format!("{A}{query}"), body).await.code;
        assert_eq!(code, expected, "{query}");
        assert!(
            client.get(A).await.ok()["metadata"]["deletionTimestamp"].is_null(),
            "{query}"
        );
    }
    for query in ["limit=", "timeoutSeconds="] {
        let (code, _, message) = client.get(&format!("{CONFIGMAPS}?{query}")).await.refusal();
        assert_eq!(
            (code, message.as_str()),
            (400, "strconv.ParseInt: parsing \"\": invalid syntax")
        );
    }
}

#[tokio::test]
async fn finalizers_hold_an_object() {
    let client = Client::empty();
    let mut object = configmap("a", 0);
    object["metadata"]["finalizers"] = json!(["a.b/c"]);
    client.post(CONFIGMAPS, object).await.ok();
    let marked = client.delete(A, json!(null)).await.ok();
    assert!(marked["metadata"]["deletionTimestamp"].is_string());
    // Again, and nothing happens.
    assert_eq!(client.delete(A, json!(null)).await.ok(), marked);
    let (code, _, message) = client
        .merge(A, json!({"metadata": {"finalizers": ["a.b/c", "d/e"]}}))
        .await
        .refusal();
    assert!(
        code == 422 && message.ends_with("found new finalizers []string{\"d/e\"}"),
        "{message}"
    );
    // Nobody takes the mark away.
    let kept = client
        .merge(
            A,
            json!({"metadata": {"deletionTimestamp": null, "labels": {"x": "y"}}}),
        )
        .await
        .ok();
    assert_eq!(
        kept["metadata"]["deletionTimestamp"],
        marked["metadata"]["deletionTimestamp"]
    );

    let mut watch = client
        .watch(&format!(
            "{CONFIGMAPS}?watch=1&resourceVersion={}",
            version(&kept)
        ))
        .await;
    client
        .merge(A, json!({"metadata": {"finalizers": null}}))
        .await
        .ok();
    assert_eq!(client.get(A).await.code, 404);
    assert_eq!(
        watch.event().await,
        ("DELETED".into(), "a".into(), client.store().resource_version())
    );
}

#[tokio::test]
async fn a_collection_can_be_deleted() {
    let client = Client::empty();
    client.configmaps(&["a", "b", "c"]);
    let deleted = client
        .delete(&format!("{CONFIGMAPS}?labelSelector=n+in+(0,2)"), json!(null))
        .await;
    assert_eq!(deleted.names(), ["a", "c"]);
    assert_eq!(client.get(CONFIGMAPS).await.names(), ["b"]);
}

#[tokio::test]
async fn namespaces_hold_their_objects() {
    let client = with_widgets();
    let made = client
        .post("/api/v1/namespaces", json!({"metadata": {"name": "team"}}))
        .await
        .ok();
    assert_eq!(
        (
            &made["status"]["phase"],
            &made["metadata"]["labels"]["kubernetes.io/metadata.name"]
        ),
        (&json!("Active"), &json!("team"))
    );
    for kind in ["pods", "configmaps"] {
        client
            .post(
                &format!("/api/v1/namespaces/team/{kind}"),
                json!({"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
            )
            .await
            .ok();
    }
    let mut watch = client.watch("/api/v1/pods?watch=1").await;
    watch.event().await;
    assert_eq!(
        client.delete("/api/v1/namespaces/team", json!(null)).await.ok()["status"]["phase"],
        "Terminating"
    );
    assert_eq!(watch.event().await.0, "MODIFIED");
    assert_eq!(watch.event().await.0, "DELETED");
    assert_eq!(client.get("/api/v1/namespaces/team").await.code, 404);
    assert_eq!(client.get("/api/v1/configmaps").await.names(), [""; 0]);
    let (code, reason, _) = client
        .delete("/api/v1/namespaces/default", json!(null))
        .await
        .refusal();
    assert_eq!((code, reason.as_str()), (403, "Forbidden"));
    assert_eq!(
        client.get("/api/v1/namespaces").await.names(),
        ["default", "kube-node-lease", "kube-public", "kube-system"]
    );
}
